"""The C ABI as Python's ctypes uses it: makes filters, adds, asks, every kind of batch, every kind of wrong argument.

Arguments: the shared library, capi/bfstore.h.
"""
import array
import ctypes
import os
import stat
import subprocess
import sys
import tempfile
import unittest
from ctypes import byref

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import bfstore_ctypes as bfs
import bfstore_header

HEADER = sys.argv.pop(2)
CODES = bfstore_header.codes(HEADER)
LIBRARY_PATH = sys.argv.pop(1)
LIBRARY = bfs.load(LIBRARY_PATH)
EINVAL = CODES["BFS_EINVAL"]
COUNT = 2000


def column(keys, kind):
    offsets = array.array(kind, [0])
    for key in keys:
        offsets.append(offsets[-1] + len(key))
    element = ctypes.c_int32 if kind == "i" else ctypes.c_int64
    return b"".join(keys), (element * len(offsets)).from_buffer(offsets)


def pointers(keys):
    return (ctypes.c_char_p * len(keys))(*keys), (ctypes.c_size_t * len(keys))(*map(len, keys))


def answers_for(count, fill=7):
    return (ctypes.c_uint8 * count)(*([fill] * count))


class Case(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="bfstore-ctypes-")
        self.addCleanup(folder.cleanup)
        self.folder = os.fsencode(folder.name)
        self.path = self.folder + b"/filter.bf"

    def create(self, path=None, **given):
        options = bfs.options(**{"capacity": COUNT, "fpr": 0.01, **given})
        handle = bfs.call(LIBRARY.bfs_create, path or self.path, options)
        self.addCleanup(lambda: handle.value and LIBRARY.bfs_close(handle))
        return handle

    def close(self, handle):
        self.assertEqual(LIBRARY.bfs_close(handle), 0)
        handle.value = None

    def fails(self, code, function, *arguments):
        """The message that comes with the code."""
        with self.assertRaises(bfs.CodeError) as raised:
            bfs.call(function, *arguments)
        self.assertEqual(raised.exception.code, CODES[code], raised.exception.message)
        self.assertNotEqual(raised.exception.message, b"")
        return raised.exception.message


class Batches(Case):
    """Each form of a batch gives the answers of the single calls."""

    def setUp(self):
        super().setUp()
        self.present = [b"", b"\0", b"a\0b"] + [b"key %d" % i * (1 + i % 9) for i in range(COUNT - 3)]
        self.absent = [b"not %d" % i for i in range(COUNT)]
        self.asked = self.absent + self.present
        self.single = self.create(self.path + b".single", seed=1)
        self.fresh = sum(LIBRARY.bfs_add(self.single, key, len(key)) for key in self.present)
        self.expected = [LIBRARY.bfs_contains(self.single, key, len(key)) for key in self.asked]
        self.assertEqual(self.expected[COUNT:], [1] * COUNT)
        self.assertLess(sum(self.expected[:COUNT]), COUNT // 20)
        self.batch = self.create(seed=1)

    def check(self, contains, *arguments):
        answers = answers_for(len(self.asked))
        self.assertEqual(contains(self.batch, *arguments, len(self.asked), answers), sum(self.expected))
        self.assertEqual(list(answers), self.expected)

    def check_count(self):
        self.assertEqual(bfs.statistics(LIBRARY, self.batch).keys_added, self.fresh)

    def test_pointers_and_lengths(self):
        keys, lengths = pointers(self.present)
        self.assertEqual(LIBRARY.bfs_add_many(self.batch, keys, lengths, COUNT), self.fresh)
        self.assertEqual(LIBRARY.bfs_add_many(self.batch, keys, lengths, COUNT), 0, "the second time nothing is new")
        self.check(LIBRARY.bfs_contains_many, *pointers(self.asked))
        self.check_count()

    def test_a_column_with_32_bit_offsets(self):
        self.assertEqual(LIBRARY.bfs_add_column32(self.batch, *column(self.present, "i"), COUNT), self.fresh)
        self.check(LIBRARY.bfs_contains_column32, *column(self.asked, "i"))
        self.check_count()

    def test_a_column_with_64_bit_offsets(self):
        self.assertEqual(LIBRARY.bfs_add_column64(self.batch, *column(self.present, "q"), COUNT), self.fresh)
        self.check(LIBRARY.bfs_contains_column64, *column(self.asked, "q"))
        self.check_count()

    def test_a_slice_of_a_column_whose_first_offset_is_not_zero(self):
        data, offsets = column([b"before"] + self.present + [b"behind"], "i")
        inner = ctypes.cast(ctypes.addressof(offsets) + 4, ctypes.POINTER(ctypes.c_int32))
        self.assertEqual(LIBRARY.bfs_add_column32(self.batch, data, inner, COUNT), self.fresh)
        self.check(LIBRARY.bfs_contains_column32, *column(self.asked, "i"))

    def test_digests(self):
        asked, digest = (ctypes.c_uint64 * len(self.asked))(), ctypes.c_uint64()
        for i, key in enumerate(self.asked):
            self.assertEqual(LIBRARY.bfs_digest(self.single, key, len(key), byref(digest)), 0)
            asked[i] = digest.value
        present = (ctypes.c_uint64 * COUNT)(*asked[COUNT:])
        self.assertEqual(LIBRARY.bfs_add_digests(self.batch, present, COUNT), self.fresh)
        self.check(LIBRARY.bfs_contains_digests, asked)
        self.check_count()

    def test_an_array_of_keys_of_equal_width(self):
        for width in (1, 4, 8, 16, 23):
            with self.subTest(width=width):
                path = self.path + b"%d" % width
                keys = [os.urandom(width) for _ in range(300)]
                one, other = self.create(path, seed=2), self.create(path + b".other", seed=2)
                fresh = sum(LIBRARY.bfs_add(one, key, width) for key in keys)
                self.assertEqual(LIBRARY.bfs_add_fixed(other, b"".join(keys), width, 300), fresh)
                asked, answers = [os.urandom(width) for _ in range(500)] + keys, answers_for(800)
                expected = [LIBRARY.bfs_contains(one, key, width) for key in asked]
                self.assertEqual(LIBRARY.bfs_contains_fixed(other, b"".join(asked), width, 800, answers), sum(expected))
                self.assertEqual(list(answers), expected)

    def test_batches_of_every_small_length_and_of_none(self):
        keys, lengths = pointers(self.present)
        for count in [*range(70), 127, 128, 129, 1000]:
            answers = answers_for(count + 1)
            self.assertEqual(LIBRARY.bfs_contains_many(self.single, keys, lengths, count, answers), count)
            self.assertEqual(list(answers), [1] * count + [7], "exactly count answers are written")
        self.assertEqual(LIBRARY.bfs_add_many(self.batch, None, None, 0), 0)
        self.assertEqual(LIBRARY.bfs_contains_many(self.batch, None, None, 0, None), 0)
        self.assertEqual(LIBRARY.bfs_add_digests(self.batch, None, 0), 0)
        self.assertEqual(bfs.statistics(LIBRARY, self.batch).keys_added, 0)

    def test_an_empty_key_may_have_no_address(self):
        keys, lengths = (ctypes.c_char_p * 2)(None, b"x"), (ctypes.c_size_t * 2)(0, 1)
        self.assertEqual(LIBRARY.bfs_add_many(self.batch, keys, lengths, 2), 2)
        self.assertEqual(LIBRARY.bfs_contains(self.batch, None, 0), 1)

    def test_wrong_arguments_add_nothing_and_answer_maybe(self):
        good, offsets32 = column(self.present, "i")
        _, offsets64 = column(self.present, "q")
        keys, lengths = pointers(self.present)
        keys[COUNT - 1] = None  # with a length that is not 0
        offsets32[COUNT // 2] += 1000
        offsets64[0] = -1
        many = (LIBRARY.bfs_add_many, LIBRARY.bfs_contains_many, (keys, lengths))
        for add, contains, arguments in (
                many, (LIBRARY.bfs_add_many, LIBRARY.bfs_contains_many, (None, lengths)),
                (LIBRARY.bfs_add_many, LIBRARY.bfs_contains_many, (keys, None)),
                (LIBRARY.bfs_add_column32, LIBRARY.bfs_contains_column32, (good, offsets32)),
                (LIBRARY.bfs_add_column32, LIBRARY.bfs_contains_column32, (good, None)),
                (LIBRARY.bfs_add_column64, LIBRARY.bfs_contains_column64, (good, offsets64)),
                (LIBRARY.bfs_add_column64, LIBRARY.bfs_contains_column64, (None, column(self.present, "q")[1])),
                (LIBRARY.bfs_add_fixed, LIBRARY.bfs_contains_fixed, (None, 8)),
                (LIBRARY.bfs_add_digests, LIBRARY.bfs_contains_digests, (None,))):
            with self.subTest(add=add.__name__, arguments=[type(a).__name__ for a in arguments]):
                answers = answers_for(COUNT, 0)
                self.assertEqual(add(self.batch, *arguments, COUNT), EINVAL)
                self.assertEqual(contains(self.batch, *arguments, COUNT, answers), EINVAL)
                self.assertEqual(list(answers), [1] * COUNT)
                self.assertEqual(contains(self.batch, *arguments, COUNT, None), EINVAL)
        self.assertEqual(bfs.statistics(LIBRARY, self.batch, bfs.STATS_FILL).set_bits, 0)

    def test_a_width_of_0_and_a_width_times_a_count_that_overflows(self):
        answers = answers_for(5, 0)
        self.assertEqual(LIBRARY.bfs_add_fixed(self.batch, b"x", 2**40, 2**40), EINVAL)
        self.assertEqual(LIBRARY.bfs_add_fixed(self.batch, b"x", 0, 5), EINVAL)
        self.assertEqual(LIBRARY.bfs_contains_fixed(self.batch, b"x", 0, 5, answers), EINVAL)
        self.assertEqual(list(answers), [1] * 5)


class Arguments(Case):
    def test_ctypes_knows_every_function_of_the_header(self):
        self.assertEqual(set(bfs.SIGNATURES), set(bfstore_header.functions(HEADER)))

    def test_no_handle_is_an_error_that_is_never_a_no(self):
        self.assertEqual(LIBRARY.bfs_add(None, b"k", 1), EINVAL)
        self.assertEqual(LIBRARY.bfs_contains(None, b"k", 1), EINVAL)
        self.assertEqual(LIBRARY.bfs_contains_digest(None, 1), EINVAL)
        self.assertEqual(LIBRARY.bfs_add_digest(None, 1), EINVAL)
        self.assertEqual(LIBRARY.bfs_digest(None, b"k", 1, byref(ctypes.c_uint64())), EINVAL)
        self.assertEqual(LIBRARY.bfs_sync(None, 0, 0), EINVAL)
        self.assertEqual(LIBRARY.bfs_mark(None, 0), 0)
        self.assertEqual(LIBRARY.bfs_publish(None, None), EINVAL)
        self.assertEqual(LIBRARY.bfs_stats(None, 0, byref(bfs.Statistics(struct_bytes=112))), EINVAL)
        self.assertEqual(LIBRARY.bfs_close(None), 0)
        answers = answers_for(3, 0)
        self.assertEqual(LIBRARY.bfs_contains_digests(None, (ctypes.c_uint64 * 3)(), 3, answers), EINVAL)
        self.assertEqual(list(answers), [1, 1, 1])

    def test_no_place_for_the_handle_or_no_path_or_no_options(self):
        options = bfs.options(capacity=10)
        self.assertEqual(LIBRARY.bfs_create(self.path, options, None, None), EINVAL)
        self.assertFalse(os.path.exists(self.path), "nothing was made")
        self.fails("BFS_EINVAL", LIBRARY.bfs_create, None, options)
        self.fails("BFS_EINVAL", LIBRARY.bfs_create, self.path, None)
        self.fails("BFS_EINVAL", LIBRARY.bfs_open, None, bfs.READ)
        self.assertEqual(LIBRARY.bfs_open(self.path, bfs.READ, None, None), EINVAL)
        self.fails("BFS_EINVAL", LIBRARY.bfs_open_range, None, 0, 0)
        self.fails("BFS_EINVAL", LIBRARY.bfs_format, None, 1000, options)
        self.fails("BFS_EINVAL", LIBRARY.bfs_wrap, None, 1000, bfs.READ)
        self.assertEqual(LIBRARY.bfs_required_bytes(byref(options), None, None), EINVAL)
        self.assertEqual(LIBRARY.bfs_required_bytes(None, byref(ctypes.c_uint64()), None), EINVAL)

    def test_a_key_without_an_address_and_a_digest_without_a_place(self):
        handle = self.create()
        self.assertEqual(LIBRARY.bfs_add(handle, None, 5), EINVAL)
        self.assertEqual(LIBRARY.bfs_contains(handle, None, 5), EINVAL)
        self.assertEqual(LIBRARY.bfs_digest(handle, b"k", 1, None), EINVAL)

    def test_flags_that_are_not_known(self):
        self.close(self.create())
        for flags in (0, 3, 5, 6, 7, 8, 16, 1 << 31, bfs.READ | 16):
            self.fails("BFS_EINVAL", LIBRARY.bfs_open, self.path, flags)
        for flags in (16, 1 << 31):
            self.fails("BFS_EINVAL", LIBRARY.bfs_create, self.path + b"2", bfs.options(capacity=10, flags=flags))
        handle = bfs.call(LIBRARY.bfs_open, self.path, bfs.READ)
        stats = bfs.Statistics(struct_bytes=ctypes.sizeof(bfs.Statistics))
        self.assertEqual(LIBRARY.bfs_stats(handle, 2, byref(stats)), EINVAL)
        self.close(handle)

    def test_options_of_another_size(self):
        class Larger(ctypes.Structure):
            _fields_ = [("now", bfs.Options), ("later", ctypes.c_uint64)]
        create = ctypes.CDLL(LIBRARY_PATH).bfs_create
        create.restype = ctypes.c_int32
        for size, later, code in ((0, 0, EINVAL), (4, 0, EINVAL), (95, 0, EINVAL), (104, 1, EINVAL), (104, 0, 0)):
            with self.subTest(size=size, later=later):
                options, handle = Larger(bfs.options(capacity=10), later), ctypes.c_void_p()
                options.now.struct_bytes = size
                self.assertEqual(create(self.path, byref(options), byref(handle), None), code)
                self.assertEqual(os.path.exists(self.path), code == 0)
                self.assertEqual(LIBRARY.bfs_close(handle), 0)

    def test_statistics_of_another_size(self):
        handle = self.create()
        for size in (0, 4, 40, 111):
            stats = bfs.Statistics(struct_bytes=size, num_bits=4711)
            self.assertEqual(LIBRARY.bfs_stats(handle, 0, byref(stats)), EINVAL)
            self.assertEqual(stats.num_bits, 4711)
        self.assertEqual(LIBRARY.bfs_stats(handle, 0, None), EINVAL)

    def test_no_function_touches_errno(self):
        library = bfs.load(LIBRARY_PATH, use_errno=True)
        handle, options, digest = ctypes.c_void_p(), bfs.options(capacity=1000), ctypes.c_uint64()
        for function, arguments in (
                (library.bfs_open, (b"/nonexistent/x.bf", bfs.READ, byref(handle), None)),
                (library.bfs_open, (self.folder, bfs.READ, byref(handle), None)),
                (library.bfs_create, (b"/nonexistent/x.bf", options, byref(handle), None)),
                (library.bfs_create, (self.path, options, byref(handle), None)),
                (library.bfs_add, (handle, b"key", 3)), (library.bfs_digest, (handle, b"key", 3, byref(digest))),
                (library.bfs_sync, (handle, 1, 1)), (library.bfs_mark, (handle, 1)),
                (library.bfs_stats, (handle, 1, byref(bfs.Statistics(struct_bytes=112)))),
                (library.bfs_close, (handle,)), (library.bfs_create, (self.path, options, byref(handle), None)),
                (library.bfs_open, (self.path, bfs.READ, byref(handle), None)), (library.bfs_close, (handle,)),
                (library.bfs_open_range, (self.path, 2**40, 0, byref(handle), None))):
            with self.subTest(function=function.__name__):
                ctypes.set_errno(4711)
                function(*arguments)
                self.assertEqual(ctypes.get_errno(), 4711)

    def test_an_error_record_without_its_size_is_left_alone(self):
        error, handle = bfs.Error(struct_bytes=0, code=77), ctypes.c_void_p()
        code = LIBRARY.bfs_open(b"/nonexistent/x.bf", bfs.READ, byref(handle), byref(error))
        self.assertEqual(code, CODES["BFS_ENOENT"])
        self.assertEqual((error.code, error.message), (77, b""))

    def test_an_error_names_the_thing_and_the_errno_and_long_paths_are_cut_to_fit(self):
        error, handle = bfs.new_error(), ctypes.c_void_p()
        path = self.folder + b"/" + b"d" * 200 + b"/" + b"e" * 200 + b"/" + b"f" * 200
        self.assertEqual(LIBRARY.bfs_open(path, bfs.READ, byref(handle), byref(error)), CODES["BFS_ENOENT"])
        self.assertEqual((error.code, error.os_errno, error.reserved), (CODES["BFS_ENOENT"], 2, 0))
        self.assertTrue(error.message.startswith(self.folder))
        self.assertLessEqual(len(error.message), 495)
        short = self.folder + b"/absent \xff.bf"
        self.assertIn(short, self.fails("BFS_ENOENT", LIBRARY.bfs_open, short, bfs.READ))

    def test_sizes_that_contradict_each_other_or_can_not_be(self):
        for code, given in (
                ("BFS_EINVAL", {}), ("BFS_EINVAL", {"capacity": 10, "fpr": 0.1, "bits_per_key": 9}),
                ("BFS_EINVAL", {"num_bits": 512}), ("BFS_EINVAL", {"num_probes": 3}), ("BFS_EINVAL", {"fpr": 0.1}),
                ("BFS_EINVAL", {"capacity": 10, "num_bits": 512, "num_probes": 3, "fpr": 0.1}),
                ("BFS_EINVAL", {"capacity": 10, "fpr": 1.0}), ("BFS_EINVAL", {"capacity": 10, "fpr": -0.1}),
                ("BFS_EINVAL", {"capacity": 10, "fpr": float("nan")}),
                ("BFS_EINVAL", {"capacity": 10, "bits_per_key": -1}),
                ("BFS_EINVAL", {"num_bits": 512, "num_probes": 65}),
                ("BFS_EINVAL", {"num_bits": 2**48 + 1, "num_probes": 1}),
                ("BFS_ELAYOUT", {"capacity": 10, "layout": 3}), ("BFS_EHASH", {"capacity": 10, "hash": 3}),
                ("BFS_EINVAL", {"capacity": 10, "note": b"n" * 1025}), ("BFS_EINVAL", {"capacity": 2**63}),
                ("BFS_ESIZING", {"capacity": 10**9, "fpr": 1e-10}), ("BFS_ESIZING", {"capacity": 2**60, "fpr": 0.01})):
            with self.subTest(given=given):
                self.fails(code, LIBRARY.bfs_create, self.path, bfs.options(**given))
                self.assertEqual(os.listdir(self.folder), [], "something was left behind")

    def test_a_buffer_that_is_too_small_or_not_aligned_or_not_a_filter(self):
        options, size = bfs.options(capacity=100), ctypes.c_uint64()
        self.assertEqual(LIBRARY.bfs_required_bytes(byref(options), byref(size), None), 0)
        keep, address = bfs.aligned_buffer(size.value + 64)
        for start, length in ((address, size.value - 1), (address, 0), (address + 8, size.value),
                              (address + 32, size.value)):
            self.fails("BFS_EINVAL", LIBRARY.bfs_format, start, length, options)
        self.fails("BFS_EINVAL", LIBRARY.bfs_wrap, address + 8, size.value, bfs.READ)
        self.fails("BFS_EMAGIC", LIBRARY.bfs_wrap, address, size.value, bfs.READ)
        self.assertEqual(ctypes.string_at(address, size.value), bytes(size.value), "a failed call wrote to the buffer")
        for flags in (0, bfs.WRAP_BARE, bfs.READ | bfs.WRITE, bfs.EXCLUSIVE, 16 | bfs.READ):
            self.fails("BFS_EINVAL", LIBRARY.bfs_wrap, address, size.value, flags)
        with open(self.path, "wb") as file:
            file.write(bytes(4096))
        self.fails("BFS_EINVAL", LIBRARY.bfs_open_range, self.path, 8, 0)
        self.fails("BFS_EMAGIC", LIBRARY.bfs_open_range, self.path, 64, 0)
        del keep


class Files(Case):
    def test_the_external_hash_takes_digests_and_no_keys(self):
        handle, code = self.create(hash="external"), CODES["BFS_EDIGESTONLY"]
        keys, lengths = pointers([b"a", b"b"])
        self.assertEqual(LIBRARY.bfs_add(handle, b"k", 1), code)
        self.assertEqual(LIBRARY.bfs_contains(handle, b"k", 1), code)
        self.assertEqual(LIBRARY.bfs_add_many(handle, keys, lengths, 2), code)
        answers = answers_for(2, 0)
        self.assertEqual(LIBRARY.bfs_contains_many(handle, keys, lengths, 2, answers), code)
        self.assertEqual(list(answers), [1, 1])
        self.assertEqual(LIBRARY.bfs_add_digest(handle, 2**64 - 1), 1)
        self.assertEqual(LIBRARY.bfs_contains_digest(handle, 2**64 - 1), 1)

    def test_permissions_are_0600_or_what_was_asked_less_the_umask(self):
        self.addCleanup(os.umask, os.umask(0o027))
        for mode, expected in ((0, 0o600), (0o640, 0o640), (0o666, 0o640), (0o400, 0o400)):
            with self.subTest(mode=oct(mode)):
                self.close(self.create(mode=mode))
                self.assertEqual(stat.S_IMODE(os.stat(self.path).st_mode), expected)
                os.unlink(self.path)

    def test_a_note_with_any_bytes_does_not_change_an_answer(self):
        with_note = self.create(self.path + b"1", note=bytes(range(256)) * 4, seed=3)
        without = self.create(self.path + b"2", seed=3)
        for handle in (with_note, without):
            LIBRARY.bfs_add(handle, b"key", 3)
        for i in range(1000):
            key = b"%d" % i
            self.assertEqual(LIBRARY.bfs_contains(with_note, key, len(key)),
                             LIBRARY.bfs_contains(without, key, len(key)))

    def test_sixteen_owners_of_marks_and_no_more(self):
        handle = self.create()
        for owner in range(16):
            self.assertEqual(LIBRARY.bfs_sync(handle, owner, 100 + owner), 0)
        self.assertEqual(LIBRARY.bfs_sync(handle, 16, 1), CODES["BFS_EOWNERS"])
        self.assertEqual(LIBRARY.bfs_sync(handle, 16, 0), 0, "mark 0 stores none")
        self.assertEqual(LIBRARY.bfs_sync(handle, 3, 1000), 0)
        self.close(handle)
        handle = bfs.call(LIBRARY.bfs_open, self.path, bfs.READ)
        self.assertEqual([LIBRARY.bfs_mark(handle, owner) for owner in range(17)],
                         [1000 if owner == 3 else 100 + owner for owner in range(16)] + [0])
        self.assertEqual(LIBRARY.bfs_sync(handle, 3, 2000), CODES["BFS_EREADONLY"])
        self.close(handle)

    def test_an_unpublished_filter_that_is_never_published_leaves_nothing(self):
        handle = self.create(flags=bfs.OPTION_UNPUBLISHED)
        self.assertEqual(LIBRARY.bfs_add(handle, b"k", 1), 1)
        self.assertEqual(os.listdir(self.folder), [])
        self.close(handle)
        self.assertEqual(os.listdir(self.folder), [])

    def test_publishing_over_a_file_that_appeared_meanwhile_is_refused_and_can_be_tried_again(self):
        handle = self.create(flags=bfs.OPTION_UNPUBLISHED)
        LIBRARY.bfs_add(handle, b"k", 1)
        with open(self.path, "wb") as file:
            file.write(b"mine")
        error = bfs.new_error()
        self.assertEqual(LIBRARY.bfs_publish(handle, byref(error)), CODES["BFS_EEXIST"])
        self.assertIn(self.path, error.message)
        with open(self.path, "rb") as file:
            self.assertEqual(file.read(), b"mine")
        os.unlink(self.path)
        self.assertEqual(LIBRARY.bfs_publish(handle, None), 0)
        self.assertEqual(LIBRARY.bfs_publish(handle, None), EINVAL, "only once")
        self.close(handle)
        handle = bfs.call(LIBRARY.bfs_open, self.path, bfs.READ)
        self.assertEqual(LIBRARY.bfs_contains(handle, b"k", 1), 1)
        self.close(handle)

    def test_another_process_sees_what_was_added_at_once_and_its_own_adds_come_back(self):
        handle = self.create()
        LIBRARY.bfs_add(handle, b"from here", 9)
        script = ("import sys; sys.path.insert(0, sys.argv[1]); import bfstore_ctypes as bfs\n"
                  "lib = bfs.load(sys.argv[2]); f = bfs.call(lib.bfs_open, sys.argv[3].encode(), bfs.WRITE)\n"
                  "assert lib.bfs_contains(f, b'from here', 9) == 1 and lib.bfs_contains(f, b'from there', 10) == 0\n"
                  "assert lib.bfs_add(f, b'from there', 10) == 1 and lib.bfs_close(f) == 0\n")
        tests = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
        subprocess.run([sys.executable, "-B", "-c", script, tests, LIBRARY_PATH, self.path], check=True, timeout=60)
        self.assertEqual(LIBRARY.bfs_contains(handle, b"from there", 10), 1)
        self.assertEqual(bfs.statistics(LIBRARY, handle).keys_added, 2)

    def overwrite(self, offset, content):
        with open(self.path, "r+b") as file:
            file.seek(offset)
            file.write(content)

    def test_a_file_that_is_zero_filled_under_its_handle_says_maybe_and_takes_no_keys(self):
        handle, lost, answers = self.create(), CODES["BFS_ELOST"], answers_for(600, 0)
        LIBRARY.bfs_add(handle, b"k", 1)
        self.overwrite(0, bytes(os.path.getsize(self.path)))
        self.assertEqual(LIBRARY.bfs_contains(handle, b"k", 1), 1)
        self.assertEqual(LIBRARY.bfs_contains_fixed(handle, bytes(600 * 4), 4, 600, answers), 600)
        self.assertEqual(list(answers), [1] * 600)
        self.assertEqual(LIBRARY.bfs_add(handle, b"m", 1), lost)
        self.assertEqual(LIBRARY.bfs_add_fixed(handle, bytes(600 * 4), 4, 600), lost)
        self.assertEqual(bfs.statistics(LIBRARY, handle).health, lost)
        self.assertEqual(LIBRARY.bfs_sync(handle, 1, 1), lost)
        self.assertEqual(LIBRARY.bfs_close(handle), lost)
        handle.value = None
        with open(self.path, "rb") as file:
            self.assertEqual(set(file.read()), {0}, "closing wrote to a file that is not a filter any more")

    def test_a_poisoned_file_says_maybe_and_takes_no_keys(self):
        handle, poisoned = self.create(), CODES["BFS_EPOISONED"]
        with open(self.path, "rb") as file:
            word = int.from_bytes(file.read()[12288:12296], "little")
        self.overwrite(12288, (word | 1 << 32).to_bytes(8, "little"))
        self.assertEqual(LIBRARY.bfs_contains(handle, b"k", 1), 1)
        self.assertEqual(LIBRARY.bfs_add(handle, b"k", 1), poisoned)
        self.assertEqual(bfs.statistics(LIBRARY, handle).health, poisoned)
        self.assertEqual(LIBRARY.bfs_sync(handle, 1, 1), poisoned)
        self.assertEqual(LIBRARY.bfs_close(handle), poisoned)
        handle.value = None
        for flags in (bfs.READ, bfs.WRITE, bfs.EXCLUSIVE):
            self.fails("BFS_EPOISONED", LIBRARY.bfs_open, self.path, flags)

    def test_replacing_a_file_that_a_writer_has_open_is_refused(self):
        handle = self.create()
        options = bfs.options(capacity=10, flags=bfs.OPTION_REPLACE)
        self.fails("BFS_EBUSY", LIBRARY.bfs_create, self.path, options)
        self.close(handle)
        self.close(bfs.call(LIBRARY.bfs_create, self.path, options))
        handle = bfs.call(LIBRARY.bfs_open, self.path, bfs.READ)
        self.assertEqual(bfs.statistics(LIBRARY, handle).capacity, 10)
        self.close(handle)


if __name__ == "__main__":
    unittest.main()
