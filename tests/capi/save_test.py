"""bfs_copy, bfs_dump and bfs_open_memory with BFS_PRIVATE, and a file_id of the caller's choice, as a binding uses them.

Arguments: the shared library, capi/bfstore.h.
"""
import ctypes
import os
import pathlib
import struct
import threading
import unittest
from ctypes import byref, c_char

from support import CODES, COUNT, EINVAL, LIBRARY, Case, bfs

KEYS = [b"key-%d" % i for i in range(COUNT // 4)]
SECRET = bytes(range(16))
FILE_ID = bytes(range(1, 17))


def fill(handle):
    for key in KEYS:
        assert LIBRARY.bfs_add(handle, key, len(key)) >= 0
    return handle


def has_all(handle):
    return all(LIBRARY.bfs_contains(handle, key, len(key)) == 1 for key in KEYS)


def maybes(handle):
    return sum(LIBRARY.bfs_contains(handle, b"absent-%d" % i, len(b"absent-%d" % i)) for i in range(COUNT))


def save(handle, path, flags=0, **given):
    error = bfs.new_error()
    return LIBRARY.bfs_copy(handle, path, flags, bfs.options(**given), byref(error)), error.message


def dump(handle, flags=0, skew=0):
    """Returns the bytes, which are written `skew` bytes after an address that is a multiple of 64."""
    size = LIBRARY.bfs_dump(handle, None, 0, flags, None)
    assert size > 0
    memory = (c_char * (size + 128))()
    address = -(-ctypes.addressof(memory) // 64) * 64 + skew
    assert LIBRARY.bfs_dump(handle, address, size, flags, None) == size
    return ctypes.string_at(address, size)


class Save(Case):
    def load(self, data, flags=bfs.READ, secret=None):
        memory = ctypes.create_string_buffer(data, len(data))
        handle = bfs.open_memory(LIBRARY, ctypes.addressof(memory), len(data), flags | bfs.PRIVATE, secret)
        ctypes.memset(memory, 0xff, len(data))  # the handle has its own
        self.addCleanup(lambda: handle.value and LIBRARY.bfs_close(handle, None))
        return handle

    def open(self, path, flags=bfs.READ, **given):
        handle = bfs.open_path(LIBRARY, path, flags, **given)
        self.addCleanup(lambda: handle.value and LIBRARY.bfs_close(handle, None))
        return handle

    def test_a_filter_that_grows_is_a_file_and_is_copied_as_one(self):
        """A bare one of its first slice was made, in which the keys of the others were absent."""
        for slices, count in ((1, 100), (2, 1000)):
            path, copy = (self.folder + b"/" + name + b"%d" % slices for name in (b"grows", b"copy"))
            source = self.create(path, layout="growing", capacity=100, seed=0)
            keys = [b"key-%d" % i for i in range(count)]
            self.assertEqual({LIBRARY.bfs_contains(source, key, len(key)) for key in keys if LIBRARY.bfs_add(source, key, len(key)) >= 0}, {1})
            for flags in (0, bfs.BARE, bfs.SAME_FILE_ID):
                with self.assertRaises(bfs.CodeError) as refused:
                    bfs.dump(LIBRARY, source, flags)
                self.assertEqual((refused.exception.code, refused.exception.message),
                                 (CODES["BFS_EUNSUPPORTED"], path + b": a filter that grows is a file, and has no other form. Copy the file."))
            for flags, given, says in ((bfs.SEALED, {}, b": grows, so it is not sealed. "), (0, {"fpr": 0.5}, b" cannot be folded. ")):
                code, message = save(source, copy, flags, **given)
                self.assertEqual(code, CODES["BFS_EUNSUPPORTED"], message)
                self.assertIn(says, message)
            self.assertEqual(save(source, copy)[0], 0)
            copied = self.open(copy)
            self.assertEqual(({LIBRARY.bfs_contains(copied, key, len(key)) for key in keys}, bfs.statistics(LIBRARY, copied).capacity), ({1}, (0, 100, 1100)[slices]))

    def test_a_filter_goes_from_a_file_to_memory_and_back(self):
        for layout in bfs.LASTING_LAYOUTS:
            for secret in (None, SECRET):
                with self.subTest(layout=layout, with_secret=secret is not None):
                    path = self.folder + b"/" + layout.encode() + (b"-secret" if secret else b"")
                    source = fill(self.create(path, layout=layout, secret=secret, hash="siphash" if secret else "xxh3", note=b"mine"))
                    false_positives = maybes(source)
                    self.assertLess(false_positives, COUNT // 20)
                    for skew in (0, 1, 63):
                        loaded = self.load(dump(source, skew=skew), secret=secret)
                        self.assertTrue(has_all(loaded))
                        self.assertEqual(maybes(loaded), false_positives)
                        self.assertEqual(LIBRARY.bfs_add(loaded, b"k", 1), CODES["BFS_EREADONLY"])
                    writable = self.load(dump(source), bfs.WRITE, secret)
                    self.assertGreaterEqual(LIBRARY.bfs_add(writable, b"late", 4), 0)
                    self.assertEqual(save(writable, path + b".saved"), (0, b""))
                    saved = self.open(path + b".saved", bfs.WRITE, secret=secret)
                    self.assertTrue(has_all(saved))
                    self.assertEqual(LIBRARY.bfs_contains(saved, b"late", 4), 1)
                    self.close(saved)
                    with open(path + b".saved", "rb") as file:
                        self.assertTrue(has_all(self.load(file.read(), secret=secret)))

    def test_a_saved_file_has_the_marks_and_the_count_of_its_source(self):
        source = fill(self.create())
        self.assertEqual(LIBRARY.bfs_sync(source, bfs.mark(3, 4, 5), None), 0)
        copy = self.folder + b"/copy"
        self.assertEqual(save(source, copy, mode=0o640), (0, b""))
        self.assertEqual(os.stat(copy).st_mode & 0o700, 0o600)
        saved = self.open(copy)
        self.assertEqual(LIBRARY.bfs_get_mark(saved, 3, 4), 5)
        self.assertEqual(bfs.statistics(LIBRARY, saved).keys_added, bfs.statistics(LIBRARY, source).keys_added)
        with open(copy, "rb") as file:
            loaded = self.load(file.read())
        self.assertEqual(LIBRARY.bfs_get_mark(loaded, 3, 4), 5)
        self.assertEqual(LIBRARY.bfs_list_marks(loaded, None, 0, None), 1)
        self.assertEqual(LIBRARY.bfs_sync(loaded, bfs.mark(3, 4, 6), None), EINVAL)
        self.assertEqual(save(source, copy)[0], CODES["BFS_EEXIST"])
        self.assertEqual(save(source, copy, bfs.REPLACE)[0], 0)
        self.assertEqual(LIBRARY.bfs_health(saved), CODES["BFS_ESUPERSEDED"])

    # Once the length came from one file, and the bytes from the next one.
    def test_a_handle_that_follows_its_path_tells_of_one_file_in_one_call(self):
        def publish(number):
            made = bfs.create(LIBRARY, self.path, bfs.UNPUBLISHED | bfs.REPLACE, capacity=COUNT * (1 + number % 2 * 9), seed=7)
            self.assertEqual(LIBRARY.bfs_publish(made, None), 0)
            self.assertEqual(LIBRARY.bfs_close(made, None), 0)

        publish(0)
        handle = self.open(self.path, bfs.READ | bfs.FOLLOW)
        self.assertEqual(LIBRARY.bfs_health(handle), 0)
        over, wrong = threading.Event(), []

        def follow():
            while not over.is_set():
                LIBRARY.bfs_is_current(handle, None)

        def ask():
            buffer = (c_char * (COUNT * 40))()
            while not over.is_set():
                size = LIBRARY.bfs_dump(handle, buffer, len(buffer), 0, None)
                if size >= 0:
                    offset, body = struct.unpack_from("<QQ", buffer, 72)
                    if offset + body + 8 != size:
                        wrong.append((offset + body + 8, size))

        threads = [threading.Thread(target=each) for each in (follow, ask)]
        for thread in threads:
            thread.start()
        for number in range(1, 250):
            publish(number)
        over.set()
        for thread in threads:
            thread.join()
        self.assertEqual(wrong, [])

    def test_the_bare_form_takes_what_fits_and_says_what_does_not(self):
        bare = self.load(dump(fill(self.create(seed=0)), bfs.BARE), bfs.READ | bfs.BARE)
        self.assertTrue(has_all(bare))
        error = bfs.new_error()
        seeded = self.create(self.folder + b"/seeded", seed=1)
        self.assertEqual(LIBRARY.bfs_dump(seeded, None, 0, bfs.BARE, byref(error)), EINVAL)
        self.assertIn(b"seed", error.message)

    def test_replicas_with_one_file_id_are_equal_byte_for_byte(self):
        files = []
        for number in range(2):
            path = self.folder + b"/replica-%d" % number
            handle = fill(self.create(path, seed=1, file_id=FILE_ID, flags=bfs.UNPUBLISHED))
            self.assertEqual(LIBRARY.bfs_publish(handle, None), 0)
            files.append(path)
            dumped = dump(handle, bfs.SAME_FILE_ID)
            self.assertEqual(dumped, dump(handle, bfs.SAME_FILE_ID))
            self.assertNotEqual(dumped, dump(handle))
            self.assertEqual(save(handle, path + b".saved", bfs.SAME_FILE_ID)[0], 0)
            files.append(path + b".saved")
        contents = {pathlib.Path(os.fsdecode(path)).read_bytes() for path in files}
        self.assertEqual(len(contents), 1)
        self.assertEqual(contents.pop()[88:104], FILE_ID)
        self.assertIn(b"file_id", self.fails("BFS_EINVAL", LIBRARY.bfs_create, files[0], bfs.REPLACE, bfs.options(capacity=1, file_id=FILE_ID)))
        self.fails("BFS_EINVAL", LIBRARY.bfs_create, self.path, 0, bfs.options(capacity=1, file_id=bytes(16)))

    def test_a_note_and_a_file_id_can_be_read_back_wherever_the_filter_is(self):
        note = b"built of users.db\0" + bytes(range(256))
        handle = bfs.create(LIBRARY, self.path, capacity=COUNT, note=note, file_id=FILE_ID)
        data = dump(handle, bfs.SAME_FILE_ID)
        for where in (handle, self.load(data)):
            stats = bfs.statistics(LIBRARY, where)
            self.assertEqual((stats.note_bytes, bytes(stats.note)), (len(note), note.ljust(1024, b"\0")))
            self.assertEqual(bytes(stats.file_id), FILE_ID)
            self.close(where)
        longest = bytes(range(256)) * 4
        handle = bfs.create(LIBRARY, self.path + b"3", capacity=COUNT, note=longest)
        self.assertEqual(bfs.note_of(LIBRARY, handle), longest)
        self.close(handle)
        bare = self.load(dump(self.create(self.path + b"2", seed=0), bfs.BARE), bfs.READ | bfs.BARE)
        self.assertEqual(bfs.note_of(LIBRARY, bare), b"")
        self.assertEqual(bytes(bfs.statistics(LIBRARY, bare).file_id), bytes(16))
        self.close(bare)

    def test_an_older_state_that_takes_its_place_answers_maybe_until_its_owner_has_compared_it(self):
        """A follower of the path must not get a "no" for a key that the log has and the older state has not."""
        handle = self.create()
        older = dump(handle)
        self.assertGreaterEqual(LIBRARY.bfs_add(handle, b"later", 5), 0)
        follower = bfs.open_path(LIBRARY, self.path, bfs.READ | bfs.FOLLOW)
        loaded = self.load(older)
        code, message = save(loaded, self.path, bfs.REPLACE | bfs.FILLING)
        self.assertEqual((code, message), (0, b""))
        self.assertEqual(LIBRARY.bfs_is_current(follower, None), 1)  # the follower has moved
        self.assertEqual(LIBRARY.bfs_contains(follower, b"later", 5), 1)
        self.assertEqual(LIBRARY.bfs_health(follower), CODES["BFS_EFILLING"])
        writer = bfs.open_path(LIBRARY, self.path, bfs.WRITE)
        self.assertGreaterEqual(LIBRARY.bfs_add(writer, b"later", 5), 0)
        self.assertEqual(LIBRARY.bfs_finish_filling(writer, None), 0)
        self.assertEqual(LIBRARY.bfs_health(follower), 0)
        self.assertEqual(LIBRARY.bfs_contains(follower, b"later", 5), 1)
        self.assertLess(maybes(follower), COUNT)
        for one in (writer, follower, loaded):
            self.close(one)

    def test_a_filter_that_is_too_large_is_saved_in_the_size_that_its_keys_need(self):
        source = fill(self.create(num_bits=512 * 4096, num_probes=7, capacity=0, fpr=0))
        self.assertEqual(LIBRARY.bfs_sync(source, bfs.mark(3, 4, 5), None), 0)
        smaller = self.folder + b"/smaller"
        self.assertEqual(save(source, smaller, fpr=0.02), (0, b""))
        saved = self.open(smaller)
        stats = bfs.statistics(LIBRARY, saved)
        self.assertTrue(has_all(saved))
        self.assertLess(stats.num_bits, 512 * 4096)
        self.assertEqual((512 * 4096) % stats.num_bits, 0)
        self.assertEqual((stats.fpr, stats.saturated), (0.02, 0))
        self.assertEqual(stats.keys_added, bfs.statistics(LIBRARY, source).keys_added)
        self.assertEqual(LIBRARY.bfs_get_mark(saved, 3, 4), 5)
        self.assertLess(maybes(saved), COUNT // 10)
        for fpr, code in ((1e-30, "BFS_ESIZING"), (1, "BFS_EINVAL"), (-1, "BFS_EINVAL"), (float("nan"), "BFS_EINVAL")):
            self.assertEqual(save(source, self.folder + b"/no", fpr=fpr)[0], CODES[code], fpr)
        sealed = self.folder + b"/sealed"
        self.assertEqual(save(source, sealed, bfs.SEALED, fpr=0.02), (0, b""))
        self.assertEqual(LIBRARY.bfs_verify(sealed, 0, None, 0, None), 0)
        self.assertEqual(bfs.statistics(LIBRARY, self.open(sealed)).num_bits, stats.num_bits)
        self.assertFalse(os.path.exists(self.folder + b"/no"))

    def test_wrong_arguments_are_refused(self):
        handle = self.create()
        out = ctypes.c_void_p(1)
        self.assertEqual(LIBRARY.bfs_copy(None, self.path, 0, None, None), EINVAL)
        self.assertEqual(LIBRARY.bfs_copy(handle, None, 0, None, None), EINVAL)
        self.assertEqual(save(handle, self.path + b"2", mode=0o1000)[0], EINVAL)
        self.assertEqual(LIBRARY.bfs_dump(None, None, 0, 0, None), EINVAL)
        buffer = (c_char * 100)()
        self.assertEqual(LIBRARY.bfs_dump(handle, buffer, 100, 0, None), EINVAL)
        self.assertGreater(LIBRARY.bfs_dump(handle, None, 0, 0, None), 100)
        self.assertEqual(bytes(buffer), bytes(100))
        for data, flags, to in ((None, bfs.READ, out), (buffer, 0, out), (buffer, bfs.READ, None), (buffer, bfs.READ | bfs.WRITE, out)):
            error = bfs.new_error()
            self.assertEqual(LIBRARY.bfs_open_memory(data, 100, flags | bfs.PRIVATE, None, to and byref(to), byref(error)), EINVAL)
            self.assertNotEqual(error.message, b"")
        self.assertIsNone(out.value)
        for length in (100, 0):
            self.fails("BFS_ETOOSHORT", LIBRARY.bfs_open_memory, buffer, length, bfs.READ | bfs.PRIVATE, None)

    def test_every_flag_that_is_not_taken_is_named(self):
        handle, out, buffer, error = self.create(), ctypes.c_void_p(), (c_char * 100)(), bfs.new_error()
        calls = {"bfs_copy": (bfs.ANY_FILESYSTEM | bfs.REPLACE | bfs.SAME_FILE_ID | bfs.FILLING | bfs.SEALED,
                              lambda bit: LIBRARY.bfs_copy(handle, self.path + b"2", bit, None, byref(error))),
                 "bfs_dump": (bfs.BARE | bfs.SAME_FILE_ID, lambda bit: LIBRARY.bfs_dump(handle, None, 0, bit, byref(error))),
                 "bfs_open_memory": (bfs.READ | bfs.WRITE | bfs.BARE | bfs.PRIVATE, lambda bit: LIBRARY.bfs_open_memory(
                     buffer, 100, bfs.READ | bit, None, byref(out), byref(error)))}
        for name, (taken, call) in calls.items():
            for bit in (1 << i for i in range(64) if not taken & 1 << i):
                self.assertEqual(call(bit), EINVAL, (name, hex(bit)))
                self.assertIn(name.encode() + b": does not take", error.message)
        self.assertEqual(os.listdir(self.folder), [os.path.basename(self.path)])


class Seal(Case):
    """BFS_SEALED, of a source in each form."""

    def check_sealed(self, path, **given):
        self.assertEqual(bfs.verify(LIBRARY, path), [])
        handle = bfs.open_path(LIBRARY, path, bfs.READ | bfs.VERIFY, **given)
        self.assertTrue(has_all(handle))
        self.assertLess(maybes(handle), COUNT // 10)
        self.close(handle)
        self.fails("BFS_ESEALED", LIBRARY.bfs_open, path, bfs.WRITE, bfs.options(**given))

    def test_a_file_that_a_writer_has_open_is_sealed_with_its_marks_to_another_place(self):
        source, sealed = fill(self.create(note=b"mine")), self.path + b".sealed"
        self.assertEqual(LIBRARY.bfs_sync(source, bfs.mark(3, 4, 5), None), 0)
        self.assertEqual(save(source, sealed, bfs.SEALED, mode=0o640), (0, b""))
        self.assertEqual(save(source, sealed, bfs.SEALED)[0], CODES["BFS_EEXIST"])
        self.check_sealed(sealed)
        handle = bfs.open_path(LIBRARY, sealed)
        self.assertEqual(LIBRARY.bfs_get_mark(handle, 3, 4), 5)
        self.assertEqual(bfs.note_of(LIBRARY, handle), b"mine")
        self.close(handle)
        self.assertGreaterEqual(LIBRARY.bfs_add(source, b"later", 5), 0)  # the source is as it was

    def test_a_file_is_sealed_in_its_own_place_while_no_process_writes_to_it(self):
        writer = fill(self.create())
        for flags in (bfs.READ, bfs.WRITE):
            second = bfs.open_path(LIBRARY, self.path, flags)
            code, message = save(second, self.path, bfs.SEALED | bfs.REPLACE)
            self.assertEqual(code, CODES["BFS_EBUSY"], message)
            self.assertIn(self.path, message)
            self.close(second)
        self.close(writer)
        reader, sealer = bfs.open_path(LIBRARY, self.path), bfs.open_path(LIBRARY, self.path)
        self.assertEqual(save(sealer, self.path, bfs.SEALED)[0], CODES["BFS_EEXIST"])
        self.assertEqual(save(sealer, self.path, bfs.REPLACE)[0], EINVAL)  # only a seal takes its source's place
        self.assertEqual(save(sealer, self.path, bfs.SEALED | bfs.REPLACE), (0, b""))
        self.assertEqual(LIBRARY.bfs_health(reader), CODES["BFS_ESUPERSEDED"])
        self.close(reader)
        LIBRARY.bfs_close(sealer, None)
        self.check_sealed(self.path)
        self.assertEqual(os.listdir(self.folder), [b"filter.bf"])

    def test_a_range_and_a_buffer_are_sealed(self):
        data = dump(fill(self.create()))
        with open(self.folder + b"/range", "wb") as file:
            file.write(bytes(64) + data)
        keep, address = bfs.aligned_buffer(len(data))
        ctypes.memmove(address, data, len(data))
        for name, handle in ((b"range", bfs.open_path(LIBRARY, self.folder + b"/range", range=(64, 0))),
                             (b"in place", bfs.open_memory(LIBRARY, address, len(data))),
                             (b"private", bfs.open_memory(LIBRARY, address, len(data), bfs.READ | bfs.PRIVATE))):
            sealed = self.folder + b"/sealed " + name
            self.assertEqual(save(handle, sealed, bfs.SEALED), (0, b""))
            self.close(handle)
            self.check_sealed(sealed)
        del keep

    def test_a_filter_with_a_secret_is_sealed(self):
        source, sealed = fill(self.create(hash="siphash", secret=SECRET)), self.path + b".sealed"
        self.assertEqual(save(source, sealed, bfs.SEALED), (0, b""))
        self.check_sealed(sealed, secret=SECRET)

    def test_what_does_not_go_with_a_seal(self):
        source = fill(self.create())
        for flags in (bfs.FILLING, bfs.SAME_FILE_ID):
            code, message = save(source, self.path + b"2", bfs.SEALED | flags)
            self.assertEqual((code, bool(message)), (EINVAL, True))
        self.assertEqual(os.listdir(self.folder), [b"filter.bf"])

    def test_a_file_in_doubt_is_not_sealed(self):
        self.close(fill(self.create(flags=bfs.FILLING)))
        handle = bfs.open_path(LIBRARY, self.path)
        self.assertEqual(save(handle, self.path + b"2", bfs.SEALED)[0], CODES["BFS_EFILLING"])
        self.assertEqual(save(handle, self.path, bfs.SEALED | bfs.REPLACE)[0], CODES["BFS_EFILLING"])
        self.close(handle)
        self.assertEqual(os.listdir(self.folder), [b"filter.bf"])


if __name__ == "__main__":
    unittest.main(verbosity=2)
