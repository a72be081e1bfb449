"""bfs_save, bfs_dump and bfs_load, and a file_id of the caller's choice, as a binding uses them.

Arguments: the shared library, capi/bfstore.h.
"""
import ctypes
import os
import pathlib
import struct
import threading
import unittest
from ctypes import byref, c_char, c_uint64

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


def save(handle, path, flags=0, mode=0):
    error = bfs.new_error()
    return LIBRARY.bfs_save(handle, path, byref(bfs.copy_options(flags, mode)), byref(error)), error.message


def dump(handle, flags=0, skew=0):
    """Returns the bytes, which are written `skew` bytes after an address that is a multiple of 64."""
    size = c_uint64()
    assert LIBRARY.bfs_dump(handle, None, 0, flags, byref(size), None) == 0
    memory = (c_char * (size.value + 128))()
    address = -(-ctypes.addressof(memory) // 64) * 64 + skew
    assert LIBRARY.bfs_dump(handle, address, size.value, flags, None, None) == 0
    return ctypes.string_at(address, size.value)


class Save(Case):
    def load(self, data, flags=bfs.READ, key=None):
        memory = ctypes.create_string_buffer(data, len(data))
        handle = bfs.call(LIBRARY.bfs_load, ctypes.addressof(memory), len(data), bfs.open_options(flags, key))
        ctypes.memset(memory, 0xff, len(data))  # the handle has its own
        self.addCleanup(lambda: handle.value and LIBRARY.bfs_close(handle, None))
        return handle

    def open(self, path, flags=bfs.READ, **given):
        handle = bfs.open_with(LIBRARY, path, flags, **given)
        self.addCleanup(lambda: handle.value and LIBRARY.bfs_close(handle, None))
        return handle

    def test_a_filter_goes_from_a_file_to_memory_and_back(self):
        for layout in bfs.LAYOUTS:
            for key in (None, SECRET):
                with self.subTest(layout=layout, keyed=key is not None):
                    path = self.folder + b"/" + layout.encode() + (b"-keyed" if key else b"")
                    source = fill(self.create(path, layout=layout, key=key, hash="siphash" if key else "xxh3", note=b"mine"))
                    false_positives = maybes(source)
                    self.assertLess(false_positives, COUNT // 20)
                    for skew in (0, 1, 63):
                        loaded = self.load(dump(source, skew=skew), key=key)
                        self.assertTrue(has_all(loaded))
                        self.assertEqual(maybes(loaded), false_positives)
                        self.assertEqual(LIBRARY.bfs_add(loaded, b"k", 1), CODES["BFS_EREADONLY"])
                    writable = self.load(dump(source), bfs.WRITE, key)
                    self.assertGreaterEqual(LIBRARY.bfs_add(writable, b"late", 4), 0)
                    self.assertEqual(save(writable, path + b".saved"), (0, b""))
                    saved = self.open(path + b".saved", bfs.WRITE, key=key)
                    self.assertTrue(has_all(saved))
                    self.assertEqual(LIBRARY.bfs_contains(saved, b"late", 4), 1)
                    self.close(saved)
                    with open(path + b".saved", "rb") as file:
                        self.assertTrue(has_all(self.load(file.read(), key=key)))

    def test_a_saved_file_has_the_marks_and_the_count_of_its_source(self):
        source = fill(self.create())
        self.assertEqual(LIBRARY.bfs_sync(source, 3, 4, 5, None), 0)
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
        self.assertEqual(LIBRARY.bfs_sync(loaded, 3, 4, 6, None), EINVAL)
        self.assertEqual(save(source, copy)[0], CODES["BFS_EEXIST"])
        self.assertEqual(save(source, copy, bfs.OPTION_REPLACE)[0], 0)
        self.assertEqual(LIBRARY.bfs_health(saved), CODES["BFS_ESUPERSEDED"])

    # Once the length came from one file, and the bytes from the next one.
    def test_a_handle_that_follows_its_path_tells_of_one_file_in_one_call(self):
        def publish(number):
            options = dict(capacity=COUNT * (1 + number % 2 * 9), seed=7, flags=bfs.OPTION_UNPUBLISHED | bfs.OPTION_REPLACE)
            made = bfs.call(LIBRARY.bfs_create, self.path, bfs.options(**options))
            self.assertEqual(LIBRARY.bfs_publish(made, None), 0)
            self.assertEqual(LIBRARY.bfs_close(made, None), 0)

        publish(0)
        handle = self.open(self.path, bfs.READ | bfs.OPEN_FOLLOW)
        self.assertEqual(LIBRARY.bfs_health(handle), 0)
        over, wrong = threading.Event(), []

        def follow():
            while not over.is_set():
                LIBRARY.bfs_is_current(handle, None)

        def ask():
            size, buffer = c_uint64(), (c_char * (COUNT * 40))()
            while not over.is_set():
                if LIBRARY.bfs_dump(handle, buffer, len(buffer), 0, byref(size), None) == 0:
                    offset, body = struct.unpack_from("<QQ", buffer, 72)
                    if offset + body + 8 != size.value:
                        wrong.append((offset + body + 8, size.value))

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
        bare = self.load(dump(fill(self.create(seed=0)), bfs.OPEN_BARE), bfs.READ | bfs.OPEN_BARE)
        self.assertTrue(has_all(bare))
        error = bfs.new_error()
        size = c_uint64()
        seeded = self.create(self.folder + b"/seeded", seed=1)
        self.assertEqual(LIBRARY.bfs_dump(seeded, None, 0, bfs.OPEN_BARE, byref(size), byref(error)), EINVAL)
        self.assertIn(b"seed", error.message)

    def test_replicas_with_one_file_id_are_equal_byte_for_byte(self):
        files = []
        for number in range(2):
            path = self.folder + b"/replica-%d" % number
            handle = fill(self.create(path, seed=1, file_id=FILE_ID, flags=bfs.OPTION_UNPUBLISHED))
            self.assertEqual(LIBRARY.bfs_publish(handle, None), 0)
            files.append(path)
            dumped = dump(handle, bfs.OPTION_FILE_ID)
            self.assertEqual(dumped, dump(handle, bfs.OPTION_FILE_ID))
            self.assertNotEqual(dumped, dump(handle))
            self.assertEqual(save(handle, path + b".saved", bfs.OPTION_FILE_ID)[0], 0)
            files.append(path + b".saved")
        contents = {pathlib.Path(os.fsdecode(path)).read_bytes() for path in files}
        self.assertEqual(len(contents), 1)
        self.assertEqual(contents.pop()[88:104], FILE_ID)
        self.assertIn(b"file_id", self.fails("BFS_EINVAL", LIBRARY.bfs_create, files[0],
                                             bfs.options(capacity=1, file_id=FILE_ID, flags=bfs.OPTION_REPLACE)))
        self.fails("BFS_EINVAL", LIBRARY.bfs_create, self.path, bfs.options(capacity=1, file_id=bytes(16)))

    def test_a_note_and_a_file_id_can_be_read_back_wherever_the_filter_is(self):
        note = b"built of users.db\0" + bytes(range(256))
        handle = bfs.call(LIBRARY.bfs_create, self.path, bfs.options(capacity=COUNT, note=note, file_id=FILE_ID))
        data = dump(handle, bfs.OPTION_FILE_ID)
        for where in (handle, self.load(data)):
            buffer = (c_char * 2000)()
            self.assertEqual(LIBRARY.bfs_get_note(where, buffer, 2000, None), len(note))
            self.assertEqual(buffer.raw, note.ljust(2000, b"\0"))
            buffer = (c_char * 2000)()
            self.assertEqual(LIBRARY.bfs_get_note(where, buffer, 5, None), len(note))
            self.assertEqual(buffer.raw, note[:5].ljust(2000, b"\0"))
            self.assertEqual(LIBRARY.bfs_get_note(where, None, 0, None), len(note))
            self.assertEqual(bytes(bfs.statistics(LIBRARY, where).file_id), bytes(FILE_ID))
            self.assertEqual(LIBRARY.bfs_get_note(where, None, 1, None), EINVAL)
            self.close(where)
        self.assertEqual(LIBRARY.bfs_get_note(None, None, 0, None), EINVAL)
        bare = self.load(dump(self.create(self.path + b"2", seed=0), bfs.OPEN_BARE), bfs.READ | bfs.OPEN_BARE)
        self.assertEqual(LIBRARY.bfs_get_note(bare, None, 0, None), 0)
        self.assertEqual(bytes(bfs.statistics(LIBRARY, bare).file_id), bytes(16))
        self.close(bare)

    def test_an_older_state_that_takes_its_place_answers_maybe_until_its_owner_has_compared_it(self):
        """A follower of the path must not get a "no" for a key that the log has and the older state has not."""
        handle = self.create()
        older = dump(handle)
        self.assertGreaterEqual(LIBRARY.bfs_add(handle, b"later", 5), 0)
        follower = bfs.call(LIBRARY.bfs_open, self.path, bfs.READ | bfs.OPEN_FOLLOW)
        loaded = self.load(older)
        code, message = save(loaded, self.path, bfs.OPTION_REPLACE | bfs.OPTION_FILLING)
        self.assertEqual((code, message), (0, b""))
        self.assertEqual(LIBRARY.bfs_is_current(follower, None), 1)  # the follower has moved
        self.assertEqual(LIBRARY.bfs_contains(follower, b"later", 5), 1)
        self.assertEqual(LIBRARY.bfs_health(follower), CODES["BFS_EFILLING"])
        writer = bfs.call(LIBRARY.bfs_open, self.path, bfs.WRITE)
        self.assertGreaterEqual(LIBRARY.bfs_add(writer, b"later", 5), 0)
        self.assertEqual(LIBRARY.bfs_finish_filling(writer, None), 0)
        self.assertEqual(LIBRARY.bfs_health(follower), 0)
        self.assertEqual(LIBRARY.bfs_contains(follower, b"later", 5), 1)
        self.assertLess(maybes(follower), COUNT)
        for one in (writer, follower, loaded):
            self.close(one)

    def test_a_filter_that_is_too_large_is_saved_in_the_size_that_its_keys_need(self):
        source = fill(self.create(num_bits=512 * 4096, num_probes=7, capacity=0, fpr=0))
        self.assertEqual(LIBRARY.bfs_sync(source, 3, 4, 5, None), 0)
        error, smaller = bfs.new_error(), self.folder + b"/smaller"
        self.assertEqual(LIBRARY.bfs_save(source, smaller, byref(bfs.copy_options(fpr=0.02)), byref(error)), 0, error.message)
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
            self.assertEqual(LIBRARY.bfs_save(source, self.folder + b"/no", byref(bfs.copy_options(fpr=fpr)), byref(error)),
                             CODES[code], (fpr, error.message))
        self.assertEqual(LIBRARY.bfs_seal(smaller, self.folder + b"/no", byref(bfs.copy_options(fpr=0.1)), byref(error)), EINVAL)
        self.assertFalse(os.path.exists(self.folder + b"/no"))

    def test_wrong_arguments_are_refused(self):
        handle = self.create()
        size, out = c_uint64(7), ctypes.c_void_p(1)
        self.assertEqual(LIBRARY.bfs_save(None, self.path, None, None), EINVAL)
        self.assertEqual(LIBRARY.bfs_save(handle, None, None, None), EINVAL)
        self.assertEqual(save(handle, self.path + b"2", mode=0o1000)[0], EINVAL)
        self.assertEqual(LIBRARY.bfs_dump(None, None, 0, 0, byref(size), None), EINVAL)
        self.assertEqual(LIBRARY.bfs_dump(handle, None, 0, 0, None, None), EINVAL)
        buffer = (c_char * 100)()
        self.assertEqual(LIBRARY.bfs_dump(handle, buffer, 100, 0, byref(size), None), EINVAL)
        self.assertGreater(size.value, 100)
        self.assertEqual(bytes(buffer), bytes(100))
        options = bfs.open_options()
        for arguments in ((None, 100, options, out), (buffer, 100, None, out), (buffer, 100, options, None)):
            error = bfs.new_error()
            data, length, given, to = arguments
            self.assertEqual(LIBRARY.bfs_load(data, length, byref(given) if given else None, byref(to) if to else None,
                                              byref(error)), EINVAL)
            self.assertNotEqual(error.message, b"")
        self.assertIsNone(out.value)
        self.assertEqual(LIBRARY.bfs_load(buffer, 100, byref(options), byref(out), None), CODES["BFS_ETOOSHORT"])
        self.assertEqual(LIBRARY.bfs_load(buffer, 0, byref(options), byref(out), None), CODES["BFS_ETOOSHORT"])

    def test_every_flag_that_is_not_taken_is_named(self):
        handle = self.create()
        taken = {"bfs_save": bfs.OPEN_ANY_FILESYSTEM | bfs.OPTION_REPLACE | bfs.OPTION_FILE_ID |
                 bfs.OPTION_FILLING,
                 "bfs_dump": bfs.OPEN_BARE | bfs.OPTION_FILE_ID, "bfs_load": bfs.READ | bfs.WRITE | bfs.OPEN_BARE}
        size, out, buffer = c_uint64(), ctypes.c_void_p(), (c_char * 100)()
        for bit in (1 << i for i in range(64)):
            for name, flags in taken.items():
                if bit & flags:
                    continue
                error = bfs.new_error()
                code = {"bfs_save": lambda: LIBRARY.bfs_save(handle, self.path + b"2", byref(bfs.copy_options(bit)),
                                                             byref(error)),
                        "bfs_dump": lambda: LIBRARY.bfs_dump(handle, None, 0, bit, byref(size), byref(error)),
                        "bfs_load": lambda: LIBRARY.bfs_load(buffer, 100, byref(bfs.open_options(bfs.READ | bit)),
                                                             byref(out), byref(error))}[name]()
                self.assertEqual(code, EINVAL, (name, hex(bit)))
                self.assertIn(name.encode() + b": does not take", error.message)
        self.assertEqual(os.listdir(self.folder), [os.path.basename(self.path)])


if __name__ == "__main__":
    unittest.main(verbosity=2)
