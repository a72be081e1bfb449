"""Every code is an exception with words, of the class of the code, and of Python's own class if one exists."""

import io
import mmap
import os
import pickle
import re
import unittest

import bfstore
from bfstore import _bfstore
from case import HEADERS, Case

CODES = {name: int(number) for header in HEADERS
         for name, number in re.findall(r"^#define (BFS_E[A-Z]+) \((-\d+)\)", header.read_text("utf-8"), re.MULTILINE)}
NATURAL = {"BFS_EINVAL": ValueError, "BFS_ENOMEM": MemoryError, "BFS_ESYSTEM": OSError, "BFS_EBUSY": BlockingIOError,
           "BFS_EEXIST": FileExistsError, "BFS_ENOENT": FileNotFoundError, "BFS_EACCES": PermissionError, "BFS_ENOSPC": OSError,
           "BFS_EREADONLY": io.UnsupportedOperation, "BFS_EDIGESTONLY": TypeError, "BFS_EKEYONLY": TypeError, "BFS_ESHUT": ValueError}


class Classes(unittest.TestCase):
    def test_every_code_is_an_error_of_its_range(self):
        self.assertGreater(len(CODES), 35)
        for name, code in CODES.items():
            with self.subTest(name):
                error = bfstore._error(code, 2, "words: what to do", 3)
                ranges = [kind for kind in (bfstore.CallError, bfstore.StateError, bfstore.MalformedError) if isinstance(error, kind)]
                expected = bfstore.CallError if code > -100 else bfstore.StateError if code > -200 else bfstore.MalformedError
                self.assertEqual(ranges, [expected])
                self.assertIsInstance(error, NATURAL.get(name, bfstore.Error))
                self.assertEqual((error.code, error.code_name, error.os_errno, error.rule), (code, name, 2, 3))
                self.assertTrue(str(error).startswith("words: what to do"), str(error))
                self.assertTrue(bfstore.strerror(code))

    def test_a_number_that_is_no_code_of_32_bits_is_refused(self):
        with self.assertRaises(OverflowError):
            bfstore.strerror(2**32 - 1)  # -1 in 32 bits

    def test_a_wrong_option_is_named(self):
        for options, error, words in (({"capacity": -1}, OverflowError, "capacity is negative or too large: -1"),
                                      ({"capacity": "10M"}, TypeError, "capacity is not an integer: '10M'"),
                                      ({"capacity": True}, TypeError, "capacity is not an integer: True"),
                                      ({"fpr": True}, TypeError, "fpr is not a number: True"),
                                      ({"capacity": 9, "fpr": "1%"}, TypeError, "fpr is not a number: '1%'"),
                                      ({"window": "24h"}, TypeError, "window is not a timedelta or a number of seconds: '24h'"),
                                      ({"lock_timeout": "5"}, TypeError, "lock_timeout is not a number of seconds: '5'"),
                                      ({"lock_timeout": -1}, ValueError, "lock_timeout is a number of seconds, 0 or more, not -1"),
                                      ({"part": 4}, TypeError, "part= is (i, n), two integers, not 4"),
                                      ({"part": ("0", 4)}, TypeError, "part= is (i, n), two integers, not ('0', 4)"),
                                      ({"note": "hi"}, TypeError, "note is not bytes: 'hi'"),
                                      ({"secret": "hi"}, TypeError, "secret is not bytes, but of type str: encode() it"),
                                      ({"file_id": "hi"}, TypeError, "file_id is not bytes: 'hi'"),
                                      ({"like": 5}, TypeError, "like is not a path: 5"),
                                      ({"permissions": "644"}, TypeError, "permissions is not an integer such as 0o644: '644'"),
                                      ({"seed": -1}, OverflowError, "seed is negative or too large: -1"),
                                      ({"seeds": ["1"]}, TypeError, "seeds is not an integer: '1'"),
                                      ({"populate": "yes"}, TypeError, "populate is not True or False: 'yes'")):
            with self.subTest(options), self.assertRaises(error) as caught:
                bfstore.create("nothing", **{"capacity": 9, **options})
            self.assertEqual(str(caught.exception), words)

    def test_an_option_that_is_not_taken_says_where_it_belongs(self):
        got = "got an unexpected keyword argument"
        for call, words in ((lambda: bfstore.open("no", "a", capacity=5, replace=True), f"open() {got} 'replace': it is for create()"),
                            (lambda: bfstore.open("no", unpublished=True), f"open() {got} 'unpublished': it is for create()"),
                            (lambda: bfstore.create("no", 5, strict=True), f"create() {got} 'strict': it is for open() with mode \"a\""),
                            (lambda: bfstore.create("no", 5, offset=64), f"create() {got} 'offset': it is for open()"),
                            (lambda: bfstore.create("no", 5, mode=0o644), f"create() {got} 'mode'. Did you mean permissions=0o644?"),
                            (lambda: bfstore.create("no", capcity=5), f"create() {got} 'capcity'. Did you mean capacity=?"),
                            (lambda: bfstore.create("no", 5, qqq=5), f"create() {got} 'qqq'")):
            with self.subTest(words), self.assertRaises(TypeError) as caught:
                call()
            self.assertEqual(str(caught.exception), words)

    def test_a_code_of_a_later_release_is_treated_as_its_range(self):
        self.assertEqual([type(bfstore._error(code, 0, "")) for code in (-99, -199, -299, -5000)],
                         [bfstore.CallError, bfstore.StateError, bfstore.MalformedError, bfstore.Error])

    def test_the_table_names_codes_that_are_there(self):
        self.assertLessEqual(set(bfstore._CLASSES), set(CODES.values()))

    def test_every_class_is_public_and_has_words(self):
        for name, kind in vars(bfstore).items():
            if isinstance(kind, type) and issubclass(kind, bfstore.Error):
                self.assertIn(name, bfstore.__all__)
                self.assertTrue(kind.__doc__)

    def test_an_error_goes_through_pickle(self):
        for code in CODES.values():
            error = bfstore._error(code, 5, "words", 7)
            again = pickle.loads(pickle.dumps(error))
            self.assertEqual((type(again), again.code, again.os_errno, again.rule, str(again)), (type(error), code, 5, 7, str(error)))


class Raised(Case):
    def check(self, kind, call, *words, code=None, os_errno=None):
        with self.assertRaises(kind) as caught:
            call()
        error = caught.exception
        self.assertIsInstance(error, bfstore.Error)
        for word in words:
            self.assertIn(word, str(error))
        self.assertGreater(len(str(error)), 10)
        self.assertEqual(error.code, CODES[code] if code else error.code)
        if os_errno is not None:
            self.assertEqual((error.os_errno, error.errno), (os_errno, os_errno))

    def test_files_that_are_there_or_not(self):
        self.check(FileNotFoundError, lambda: bfstore.open(self.path), str(self.path), code="BFS_ENOENT", os_errno=2)
        self.create()
        self.check(FileExistsError, lambda: bfstore.create(self.path, capacity=5), str(self.path), code="BFS_EEXIST", os_errno=17)
        self.check(bfstore.MalformedError, lambda: bfstore.open(self.folder), code="BFS_ENOTREGULAR")
        (self.folder / "text").write_text("no filter " * 9999)
        self.check(bfstore.MalformedError, lambda: bfstore.open(self.folder / "text"), code="BFS_EMALFORMED")
        with self.assertRaises(bfstore.MalformedError) as raised:
            bfstore.open(self.folder / "text")
        self.assertGreater(raised.exception.rule, 0)

    def test_an_oserror_has_its_filename_and_errno(self):
        """Of a filter that only asks, too: add() has no bfs_error, and |= has one."""
        with self.assertRaises(FileNotFoundError) as raised:
            bfstore.open(self.path)
        error = raised.exception
        for one in (error, pickle.loads(pickle.dumps(error))):
            self.assertEqual((one.errno, one.filename), (2, str(self.path)))
            self.assertTrue(str(one).startswith(f"{self.path}: "), str(one))
        with self.assertRaises(FileNotFoundError) as raised:  # the missing file is another one
            bfstore.create(self.path, like=self.folder / "other")
        self.assertIsNone(raised.exception.filename)
        self.create().close()
        reader = self.open()
        for call in (lambda: reader.add("a"), lambda: reader.merge(reader)):
            self.check(io.UnsupportedOperation, call, code="BFS_EREADONLY", os_errno=9)
        with self.assertRaises(FileExistsError) as raised:
            bfstore.create(str(self.path), 5)
        self.assertEqual(raised.exception.filename, str(self.path))

    def test_a_second_exclusive_writer(self):
        self.create(exclusive=True)
        self.check(BlockingIOError, lambda: bfstore.open(self.path, "r+", lock_timeout=0), str(os.getpid()), code="BFS_EBUSY")

    def test_a_reader_that_adds(self):
        self.create().close()
        reader = self.open()
        for call in (lambda: reader.add("a"), lambda: reader.add_many(["a"]), lambda: reader.add_digest(1), lambda: reader.sync()):
            self.check(io.UnsupportedOperation, call, code="BFS_EREADONLY")
        self.check(bfstore.ReadOnlyError, lambda: reader.add("a"), str(self.path))

    def test_words_about_arguments_of_a_filter(self):
        made = self.create()
        for call, error, words in ((lambda: made.turn("0"), TypeError, "from_epoch is not an integer: '0'"),
                                   (lambda: made.turn(-1), OverflowError, "from_epoch is negative or too large: -1"),
                                   (lambda: made.update(None), TypeError, "keys are a list or another iterable of keys, a buffer or a column, not <class 'NoneType'>"),
                                   (lambda: made.add(), TypeError, "Filter.add() takes exactly one argument (0 given)"),
                                   (lambda: bfstore.open(True), TypeError, "a path is text or bytes, or an int, the number of a descriptor, not True"),
                                   (lambda: bfstore.open(True, "a", capacity=5), TypeError, "a path is text or bytes, or an int, the number of a descriptor, not True")):
            with self.subTest(words), self.assertRaises(error) as caught:
                call()
            self.assertTrue(str(caught.exception).endswith(words), str(caught.exception))
        made.close()
        self.check(bfstore.ClosedError, lambda: made.add("a"), "the filter was closed; open the path again")

    def test_an_error_of_many_keys_says_which_key(self):
        made = self.create()
        keys = [*map(str, range(500)), None, "a"]
        for call in (made.add_many, made.contains_many, made.digest_many, made.update):
            with self.assertRaisesRegex(TypeError, "^key 500: a key is bytes, str"):
                call(keys)
        with self.assertRaisesRegex(TypeError, "^key 70000: a key is"):  # read in pieces
            made.add_many(1.5 if i == 70_000 else i for i in range(80_000))
        with self.assertRaisesRegex(OverflowError, "^key 1: an int that is a key has 64 bits"):
            made.add_many([1, 2**64])
        with self.assertRaisesRegex(TypeError, "^key 2: a digest is"):
            made.add_digests([1, 2, True])
        with self.assertRaises(UnicodeEncodeError) as caught:
            made.add_many(["a", "\ud800"])
        self.assertEqual(caught.exception.__notes__, ["key 1"])

    def test_a_full_filter(self):
        full = self.create(capacity=100, limit=True)
        self.check(bfstore.FullError, lambda: [full.add(i) for i in range(10_000)], code="BFS_EFULL")

    def test_arguments_out_of_range(self):
        self.check(ValueError, lambda: bfstore.create(self.path, capacity=5, fpr=2.0), "false-positive rate 2", code="BFS_EINVAL")
        self.check(ValueError, lambda: bfstore.create(self.path, capacity=5, fpr=1e-12), code="BFS_ESIZING")
        for zero in (0, 0.0, -0.0):  # given, and so not the default
            for call in (bfstore.create, bfstore.build):
                self.check(ValueError, lambda call=call: call(self.path, *[["a"]] * (call is bfstore.build), capacity=5, fpr=zero),
                           "false-positive rate 0 is not", code="BFS_EINVAL")
            self.check(ValueError, lambda: bfstore.plan(capacity=5, fpr=zero), "false-positive rate 0 is not", code="BFS_EINVAL")
        self.check(ValueError, lambda: bfstore.create(self.path, capacity=5, bits_per_key=0), "bits per key 0", code="BFS_EINVAL")
        for length in (0, 15, 17):
            self.check(ValueError, lambda: bfstore.create(self.path, capacity=5, hash="siphash", secret=bytes(length)),
                       f"the secret has {length} bytes, and not 16", code="BFS_EINVAL")
        for wrong in (65, 2**31):
            self.check(ValueError, lambda: bfstore.create(self.path, 5, exclusive=True, threads=wrong), "threads=", code="BFS_EINVAL")
        self.check(ValueError, lambda: bfstore.create(self.path, 5, threads=2), "threads=", "exclusive=True", code="BFS_EINVAL")
        self.assertEqual(list(self.folder.iterdir()), [])

    def test_words_name_the_options_of_python(self):
        """Not the fields and flags of the C ABI."""
        self.create(self.folder / "secret", hash="siphash", secret=bytes(16)).close()
        self.create().close()
        reader = self.open()
        busy = self.create(self.folder / "busy")
        for kind, call, words in (
                (bfstore.SecretError, lambda: bfstore.open(self.folder / "secret"), "secret="),
                (bfstore.SecretError, lambda: bfstore.open(self.path, secret=bytes(16)), "secret="),
                (bfstore.SecretError, lambda: bfstore.create(self.folder / "no", 5, hash="siphash"), "secret="),
                (ValueError, lambda: bfstore.create(self.folder / "no", 5, hash="siphash", secret=bytes(16), seed=1), "secret="),
                (FileExistsError, lambda: bfstore.create(self.path, 5), "replace=True"),
                (bfstore.ReadOnlyError, lambda: reader.add("a"), 'mode "r+"'),
                (FileExistsError, lambda: bfstore.create(self.path, 5), 'open() with mode "a"'),
                (bfstore.SealedError, lambda: bfstore.verify(self.path), "seal()"),
                (FileNotFoundError, lambda: bfstore.open(self.folder / "no"), 'create it first (open() with mode "a")'),
                (bfstore.UnsupportedError, lambda: reader.count("a"), 'layout="counting"'),
                (bfstore.UnsupportedError, lambda: bfstore.create(self.folder / "no", layout="static"),
                 "Build it (build()), or create it unpublished (unpublished=True), add the keys and publish it (publish())."),
                (bfstore.UnsupportedError, lambda: bfstore.open(self.folder / "no", "a", layout="static"), "Build it (build())"),
                (bfstore.UnsupportedError, lambda: bfstore.format(mmap.mmap(-1, 99999), capacity=5, layout="static"), "Build another one from all keys (build())."),
                (bfstore.KindOfKeyError, lambda: self.create(self.folder / "external", hash="external").add("a"), "(add_digest(), contains_digest() and the like)"),
                (ValueError, lambda: bfstore.create(self.folder / "no", 5, permissions=0o1777), "permissions= has bits outside 0o777. Give one such as 0o640."),
                (bfstore.MismatchError, lambda: bfstore.open(self.path, "a", capacity=5, window=60), "is there, and has no window: its keys do not expire."),
                (bfstore.BusyError, lambda: bfstore.open(self.folder / "busy", "r+", exclusive=True), 'for shared writing (mode "r+" without exclusive=True).'),
                (ValueError, lambda: bfstore.create(self.folder / "no", 5, fpr=2), "Give one such as 0.01 (fpr=)."),
                (ValueError, lambda: bfstore.create(self.folder / "no", 5, layout="window"), "Give the window, for how long they are kept (window=86_400)."),
                (ValueError, lambda: bfstore.create(self.folder / "no", 5, layout="classic", window=5), 'Give no window (window=), or a layout that has one (layout="window").'),
                (bfstore.UnsupportedError, lambda: busy.turn(), "it has no epoch to end. Make a filter with a window (window=86_400)."),
                (FileNotFoundError, lambda: bfstore.open(""), "the path is empty. Give one."),
                (ValueError, lambda: bfstore.create("", 5), "the path is empty. Give one."),
                (ValueError, lambda: bfstore.create(self.folder / "no", 0), "capacity"),
                (bfstore.FillingError, lambda: self.create(self.folder / "filling", filling=True).dump(), "(finish_filling())"),
                (bfstore.RecoveryError, self.open_a_copy_of_a_file_in_use, 'mode "r+" and recover=True'),
                (bfstore.RecoveryError, self.open_a_copy_of_a_file_in_use, "accept_loss=True"),
                (bfstore.MismatchError, lambda: self.create(self.folder / "seeded", seed=8).merge(reader), "like="),
                (ValueError, lambda: bfstore.open(self.path, "r+", follow=True), "follow"),
                (ValueError, lambda: bfstore.open(self.path, "a", follow=True), "follow"),
                (ValueError, lambda: bfstore.create(self.folder / "no", 5, layout="classic", seeds=[]), "seeds"),
                (ValueError, lambda: bfstore.open(self.path, offset=64, verify=True), "verify"),
                (ValueError, lambda: bfstore.open(self.path, offset=64, lock_timeout=1), "lock_timeout=; leave it out")):
            with self.subTest(words), self.assertRaises(kind) as raised:
                call()
            self.assertIn(words, str(raised.exception))
            self.assertNotRegex(str(raised.exception), r"bfs_|BFS_|_ms\b|\(bf ")
        self.assertFalse((self.folder / "no").exists())

    def open_a_copy_of_a_file_in_use(self):
        with self.create(self.folder / "used") as used:
            used.add("a")
            (self.folder / "copied").write_bytes((self.folder / "used").read_bytes())
        try:
            bfstore.open(self.folder / "copied")
        finally:
            (self.folder / "used").unlink()

    def test_what_the_words_name_can_be_typed(self):
        options = {*bfstore._CONVERTED, *bfstore._FLAGS, *bfstore._SIZE, "permissions", "part", "threads", "offset", "note", "file_id", "follow_symlinks"}
        others = {"BFS_STATS_FILL", "BFS_STATS_MEMORY", "BFS_IF_DUE", "bfs_options.fd", "bfs_options.num_parts"}  # never in a message
        for theirs, own in bfstore._words.QUALIFIED.items():
            if theirs not in others and not own.startswith("mode "):
                self.assertIn(own.split("=")[0], options | {"sealed"}, theirs)
        for theirs, own in bfstore._words.PHRASES.items():
            for name in re.findall(r"(\w+)=", own):
                self.assertIn(name, options, theirs)
            for name in re.findall(r"(\w+)\(\)", own):
                self.assertTrue(hasattr(bfstore, name) or hasattr(bfstore.Filter, name), name)

    def test_the_names_of_c_are_translated(self):
        for said, here in (("bfs_open: does not take bfs_options.mode; leave it 0", "open: does not take permissions=; leave it out"),
                           ("bfs_create: does not take BFS_NOFOLLOW; remove it from the flags", "create: does not take follow_symlinks=False; leave it out"),
                           ("bfs_build: does not take BFS_UNPUBLISHED; remove it from the flags", "build: does not take unpublished=True; leave it out"),
                           ("bfs_options.writeback_check_ms is 7", "writeback_check= is 7"),
                           ("/tmp/bfs_options.mode: BFS_READ", "/tmp/bfs_options.mode: BFS_READ")):  # a path stays as it is
            self.assertEqual(str(bfstore._error(CODES["BFS_EINVAL"], 0, said)), here)

    def test_a_long_path_that_is_no_text_is_told_in_words(self):
        self.check(FileNotFoundError, lambda: bfstore.open(b"/no/\xff/" + "ü".encode() * 300), "\\xFF")

    def test_options_that_are_none(self):
        for call, error in (
                (lambda: bfstore.open(self.path, "w"), ValueError), (lambda: bfstore.open(self.path, "rb"), ValueError),
                (lambda: bfstore.open(self.path, exclusive=True), ValueError), (lambda: bfstore.open(self.path, capacity=5), TypeError),
                (lambda: bfstore.open(self.path, "r+", fpr=0.5), TypeError), (lambda: bfstore.open(5, "a", capacity=5), ValueError),
                (lambda: bfstore.open(self.path, "a", offset=0, capacity=5), TypeError), (lambda: bfstore.open(self.path, "r+", length=5, capacity=5), TypeError),
                (lambda: bfstore.build(self.path, ["a"], limit=True), TypeError), (lambda: bfstore.required_bytes(capacity=5, mode=1), TypeError),
                (lambda: bfstore.load(b"", "a"), ValueError), (lambda: bfstore.format(bytearray(64), capacity=5, replace=True), TypeError),
                (lambda: bfstore.create(self.path, 5, part=(0, 0)), ValueError), (lambda: bfstore.create(self.path, 5, seed=2**64), OverflowError),
                (lambda: bfstore.create(self.path, 5, seed="1"), TypeError), (lambda: bfstore.create(self.path, 5, num_parts=2), TypeError),
                (lambda: bfstore.open(self.path, replace=True), TypeError), (lambda: bfstore.create(self.path, capcity=5), TypeError),
                (lambda: bfstore.create(self.path, flags=1), TypeError), (lambda: bfstore.create(self.path, key=b""), TypeError),
                (lambda: bfstore.create(self.path, capacity=-1), OverflowError), (lambda: bfstore.create(self.path, capacity=1.5), TypeError),
                (lambda: bfstore.create(self.path, capacity=5, num_probes=2**32), OverflowError),
                (lambda: bfstore.create(self.path, capacity=5, layout="other"), ValueError),
                (lambda: bfstore.create(self.path, capacity=5, hash="md5"), ValueError),
                (lambda: bfstore.create(self.path, capacity=5, file_id=b"short"), ValueError),
                (lambda: bfstore.create(self.path, capacity=5, lock_timeout=-1), ValueError),
                (lambda: bfstore.create(self.path, capacity=5, lock_timeout=float("nan")), ValueError),
                (lambda: bfstore.create("a\0b", capacity=5), ValueError), (lambda: bfstore.open(None), TypeError),
                (lambda: bfstore.plan(capacity=5, mode=1), TypeError), (lambda: bfstore.load("text"), TypeError),
                (lambda: bfstore.Filter(), TypeError), (lambda: _bfstore.Handle(), TypeError)):
            with self.assertRaises(error):
                call()
        with self.assertRaisesRegex(TypeError, r'^a Filter comes from bfstore\.open\(path, "a", capacity=\.\.\.\), create\(\), '):
            bfstore.Filter(100_000, error_rate=0.01)  # as other packages make one
        self.assertEqual(list(self.folder.iterdir()), [])


if __name__ == "__main__":
    unittest.main(verbosity=2)
