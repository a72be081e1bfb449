"""Filters of other programs through the C ABI: each format by its name, wrong arguments and bytes, and files that are
there whole or not at all.

Arguments: the shared library, capi/bfstore.h.
"""
import ctypes
import os
import struct
import unittest
from ctypes import byref

from support import CODES, EINVAL, LIBRARY, Case, bfs

# BloomFilter(10, 0.001) of pybloom-live 3.1.0 with the keys "alice", "bob" and "café".
JAYBIRD = bytes.fromhex("fca9f1d24d62503f0a000000000000000f000000000000000a00000000000000030000000000000080c21002480200179018000904114892002200")
KEYS = [b"alice", b"bob", "café".encode()]
BITS = bytes([0, 0, 0, 0x80] + [0] * 12)


def names():
    found, index = [], 0
    while name := LIBRARY.bfs_foreign_name(index):
        found, index = [*found, name], index + 1
    return found


class Foreign(Case):
    raw, jaybird = bfs.foreign_form(b"raw", bfs.BITS_BIG), bfs.foreign_form(b"jaybird")

    def options(self, **given):
        return bfs.options(**{"hash": "murmur3", "num_bits": 124, "num_probes": 4, **given})

    def imported(self, form, data, options=None, flags=0):
        handle = bfs.foreign_import(LIBRARY, self.path, form, data, flags, options)
        self.addCleanup(lambda: handle.value and LIBRARY.bfs_close(handle, None))
        return handle

    def refused(self, code, form, data, options=None, flags=0):
        """Returns the message of a refused import, after which there is no file."""
        message = self.fails(code, LIBRARY.bfs_foreign_import, self.path, form, data, len(data), flags, options)
        self.assertEqual(os.listdir(self.folder), [])
        return message

    def test_the_formats_have_names(self):
        self.assertEqual(names()[0], b"raw")
        self.assertEqual(names()[1:], sorted(names()[1:]))
        for name in (b"java-bytes", b"jaybird", b"jaybird-scalable", b"leveldb", b"libbloom", b"parquet", b"pybloomfilter", b"rbloom",
                     b"rocksdb", b"sbbf"):
            self.assertEqual(names().count(name), 1)
        self.assertIsNone(LIBRARY.bfs_foreign_name(2**32 - 1))

    def test_a_hash_with_only_one_k_takes_a_capacity_alone(self):
        for number, name in enumerate(("java-bytes", "parquet")):
            handle = bfs.create(LIBRARY, self.path + b"%d" % number, hash=name, capacity=1000)
            stats = bfs.statistics(LIBRARY, handle)
            self.assertEqual((stats.capacity, stats.fpr, stats.num_probes), (1000, 0.01, 8), name)
            self.close(handle)

    def test_a_file_of_another_program_becomes_a_filter_and_comes_back(self):
        handle = self.imported(self.jaybird, JAYBIRD)
        self.assertEqual([LIBRARY.bfs_contains(handle, key, len(key)) for key in KEYS], [1, 1, 1])
        self.assertEqual(LIBRARY.bfs_contains(handle, b"carol", 5), 0)
        self.assertEqual(bfs.foreign_export(LIBRARY, handle, self.jaybird), JAYBIRD)
        stats = bfs.statistics(LIBRARY, handle)
        self.assertEqual((stats.capacity, stats.fpr, stats.num_bits, stats.num_probes), (10, 0.001, 150, 10))
        self.close(handle)
        again = bfs.open_path(LIBRARY, self.path, bfs.WRITE)
        self.assertEqual(LIBRARY.bfs_add(again, b"carol", 5), 1)
        self.close(again)

    def write(self, data):
        path = os.path.join(self.folder, b"foreign")
        with open(path, "wb") as file:
            file.write(data)
        return path

    def asked(self, handle, key):
        return LIBRARY.bfs_contains(handle, key, len(key))

    def test_a_file_of_another_program_is_asked_in_place(self):
        path = self.write(JAYBIRD)
        self.assertEqual(bfs.recognized(LIBRARY, path), [b"jaybird"])
        for flags in (0, bfs.PRIVATE, bfs.POPULATE | bfs.NOFOLLOW):
            handle = bfs.foreign_open(LIBRARY, path, self.jaybird, flags)
            self.assertEqual([self.asked(handle, key) for key in [*KEYS, b"carol"]], [1, 1, 1, 0])
            self.assertEqual(LIBRARY.bfs_add(handle, b"carol", 5), CODES["BFS_EREADONLY"])
            self.assertEqual(bfs.foreign_export(LIBRARY, handle, self.jaybird), JAYBIRD)
            self.close(handle)
        handle, other = (bfs.foreign_open(LIBRARY, path, self.jaybird, flags) for flags in (0, bfs.PRIVATE))
        self.write(bytes(len(JAYBIRD)))
        self.assertEqual((self.asked(handle, b"carol"), LIBRARY.bfs_health(handle)), (1, CODES["BFS_ELOST"]))
        self.assertEqual((self.asked(other, b"carol"), LIBRARY.bfs_health(other)), (0, 0))
        self.close(handle)
        self.close(other)

    def test_what_the_bytes_do_not_say_is_given_in_place_too(self):
        path, options = self.write(BITS), self.options()
        self.assertEqual(bfs.recognized(LIBRARY, path), [])
        handle = bfs.foreign_open(LIBRARY, path, self.raw, 0, options)
        self.assertEqual(bfs.statistics(LIBRARY, handle).num_bits, 124)
        self.close(handle)
        opens = lambda *rest: self.fails("BFS_EINVAL", LIBRARY.bfs_foreign_open, *rest)
        self.assertIn(b"hash", opens(path, self.raw, 0, None))
        self.assertIn(b"no columns", opens(path, bfs.foreign_form(b"raw", bfs.BITS_BIG, column=b"id"), 0, options))
        self.assertIn(b"no number 2", opens(path, bfs.foreign_form(b"raw", bfs.BITS_BIG, member=2), 0, options))
        self.assertIn(b"flag", opens(path, self.raw, bfs.REPLACE, options))
        self.assertIn(b"path is null", opens(None, self.raw, 0, options))
        self.fails("BFS_ENOENT", LIBRARY.bfs_foreign_open, path + b"2", self.raw, 0, options)

    def test_a_descriptor_is_asked_in_place(self):
        with open(self.write(JAYBIRD), "rb") as file:
            handle = bfs.foreign_open(LIBRARY, None, self.jaybird, 0, bfs.options(fd=file.fileno()))
        self.assertEqual([self.asked(handle, key) for key in [*KEYS, b"carol"]], [1, 1, 1, 0])
        self.close(handle)

    def test_several_filters_are_asked_at_once(self):
        there = bfs.foreign_open(LIBRARY, self.write(JAYBIRD), self.jaybird)
        handles = [bfs.create(LIBRARY, os.path.join(self.folder, b"%d" % number), capacity=1000, seed=number % 2) for number in range(100)]
        for number, handle in enumerate(handles):
            self.assertEqual(LIBRARY.bfs_add(handle, b"key", 3), 1)
            name = b"in %d" % number
            self.assertEqual(LIBRARY.bfs_add(handle, name, len(name)), 1)
        handles.insert(70, there)
        array, which = (ctypes.c_void_p * 101)(*handles), (ctypes.c_uint8 * 101)(*[7] * 101)
        ask = lambda key, which=None: LIBRARY.bfs_contains_any(array, 101, key, len(key), which)
        self.assertEqual((ask(b"key", which), sum(which), which[70]), (100, 100, 0))
        self.assertEqual((ask(b"key"), ask(b"alice"), ask(b"absent")), (1, 1, 0))
        self.assertEqual((ask(b"alice", which), list(which).index(1)), (1, 70))
        for number in (0, 63, 64, 99):
            self.assertEqual((ask(b"in %d" % number, which) >= 1, which[number + (number >= 70)]), (True, 1))
        array[80] = None
        self.assertEqual((ask(b"absent", which), sum(which)), (EINVAL, 101))
        self.assertEqual(LIBRARY.bfs_contains_any(None, 2, b"key", 3, None), EINVAL)
        self.assertEqual(LIBRARY.bfs_contains_any(array, 2, None, 3, None), EINVAL)
        self.assertEqual(LIBRARY.bfs_contains_any(None, 0, b"key", 3, None), 0)
        for handle in handles:
            self.close(handle)

    def test_unpublished_it_is_asked_and_added_to_first(self):
        handle = self.imported(self.raw, BITS, self.options(), bfs.UNPUBLISHED)
        self.assertEqual(os.listdir(self.folder), [])
        self.assertEqual(LIBRARY.bfs_add(handle, b"key", 3), 1)
        self.assertEqual(LIBRARY.bfs_publish(handle, None), 0)
        self.assertEqual(LIBRARY.bfs_contains(handle, b"key", 3), 1)
        self.close(handle)

    def test_an_import_replaces_a_file_if_it_may(self):
        self.close(self.create())
        self.fails("BFS_EEXIST", LIBRARY.bfs_foreign_import, self.path, self.raw, BITS, 16, 0, self.options())
        old = bfs.open_path(LIBRARY, self.path)
        handle = self.imported(self.raw, BITS, self.options(), bfs.REPLACE)
        self.assertEqual(LIBRARY.bfs_contains(old, b"absent", 6), 1)
        self.assertEqual(LIBRARY.bfs_contains(handle, b"absent", 6), 0)
        self.close(handle)
        self.assertEqual(LIBRARY.bfs_close(old, None), 0)

    def test_an_inspection_tells_what_the_bytes_say(self):
        told = bfs.foreign_inspect(LIBRARY, self.jaybird, JAYBIRD[:40])
        self.assertEqual((told.needs, told.layout, told.hash, told.num_bits, told.capacity, told.fpr, told.keys, told.bytes,
                          told.num_probes, told.has_keys), (0, 2, 7, 150, 10, 0.001, 3, len(JAYBIRD), 10, 1))
        small = struct.pack("<dQQQQ", 0.05, 5, 15, 12, 3)
        told = bfs.foreign_inspect(LIBRARY, self.jaybird, small)
        self.assertEqual((told.needs, told.hash, told.bytes), (bfs.FOREIGN_NEEDS_HASH, 0, 50))
        told = bfs.foreign_inspect(LIBRARY, self.jaybird, small, 0, bfs.options(hash="pybloom-live"))
        self.assertEqual((told.needs, told.hash, told.bytes), (bfs.FOREIGN_NEEDS_HASH, 8, 50))
        told = bfs.foreign_inspect(LIBRARY, bfs.foreign_form(b"raw"), BITS)
        self.assertEqual((told.needs, told.hash, told.num_bits, told.capacity, told.bytes, told.has_keys), (7, 0, 0, 0, 0, 0))
        told = bfs.foreign_inspect(LIBRARY, self.raw, b"", 0, self.options(capacity=20))
        self.assertEqual((told.needs, told.hash, told.num_bits, told.num_probes, told.capacity, told.bytes), (7, 4, 124, 4, 20, 16))

    def test_bad_bytes_have_the_code_of_what_is_wrong(self):
        def header(**changed):
            return struct.pack("<dQQQQ", *{"p": 0.001, "k": 10, "slice": 15, "n": 10, "count": 3, **changed}.values()) + JAYBIRD[40:]
        for code, data in (("BFS_ETOOSHORT", b""), ("BFS_ETOOSHORT", JAYBIRD[:39]), ("BFS_EBODY", JAYBIRD[:-1]), ("BFS_EBODY", JAYBIRD + b"\0"),
                           ("BFS_EBODY", JAYBIRD[:-1] + b"\xc0"), ("BFS_ECAPACITY", header(p=1.0)), ("BFS_EPROBES", header(k=65)),
                           ("BFS_EBITS", header(slice=2**60)), ("BFS_ECAPACITY", header(n=0)), ("BFS_ECAPACITY", header(count=12)),
                           ("BFS_EUNSUPPORTED", struct.pack("<idQd", 4, 0.9, 100, 0.001) + bytes(40))):
            with self.subTest(code=code, data=data[:40]):
                self.assertTrue(self.refused(code, self.jaybird, data).startswith(b"the foreign filter: "))
        named = bfs.foreign_form(b"jaybird", name=b"words.jay")
        self.assertTrue(self.refused("BFS_EBODY", named, JAYBIRD[:-1]).startswith(b"words.jay: has 58 bytes"))
        self.refused("BFS_EINVAL", self.raw, BITS[:-1], self.options())
        self.refused("BFS_EINVAL", self.raw, BITS[:-1] + b"\x01", self.options())

    def test_what_the_caller_gives_is_checked(self):
        for given, says in (({"hash": 0}, b"no hash"), ({"num_bits": 0, "num_probes": 0}, b"no size"), ({"hash": "xxh3"}, b"no seed"),
                            ({"hash": 99}, b"unknown hash"), ({"hash": 65536}, b"bfs_options.hash")):
            self.assertIn(says, self.refused("BFS_EINVAL", self.raw, BITS, self.options(**given)))
        for flags, says in ((bfs.FILLING, b"BFS_FILLING"), (bfs.READ, b"BFS_READ")):
            self.assertIn(says, self.refused("BFS_EINVAL", self.raw, BITS, self.options(), flags))
        for given in ({"capacity": 10}, {"num_bits": 150}, {"layout": "classic"}, {"seed": 1}):
            self.assertIn(b"tells its size", self.refused("BFS_EINVAL", self.jaybird, JAYBIRD, bfs.options(**given)))
        for form, says in ((bfs.foreign_form(None), b"format is null"), (bfs.foreign_form(b"pickle"), b"Give raw or"),
                           (bfs.foreign_form(b"raw"), b"order"), (bfs.foreign_form(b"raw", 3), b"neither little nor big"),
                           (bfs.foreign_form(b"jaybird", 1), b"tells its size and its order")):
            self.assertIn(says, self.refused("BFS_EINVAL", form, BITS, self.options()))

    def test_null_is_an_error_in_every_place(self):
        handle, error, out = self.imported(self.raw, BITS, self.options()), bfs.new_error(), ctypes.c_void_p()
        form, given, told, data = byref(self.raw), byref(self.options()), bfs.Foreign(struct_bytes=ctypes.sizeof(bfs.Foreign)), b"\0" * 16
        buffer = ctypes.create_string_buffer(16)
        many = 2**64 - 1
        for call in (lambda: LIBRARY.bfs_foreign_inspect(None, data, 16, 0, None, byref(told), byref(error)),
                     lambda: LIBRARY.bfs_foreign_inspect(form, None, 16, 0, None, byref(told), byref(error)),
                     lambda: LIBRARY.bfs_foreign_inspect(form, data, many, 0, None, byref(told), byref(error)),
                     lambda: LIBRARY.bfs_foreign_inspect(form, data, 16, 0, None, None, byref(error)),
                     lambda: LIBRARY.bfs_foreign_import(None, form, data, 16, 0, given, byref(out), byref(error)),
                     lambda: LIBRARY.bfs_foreign_import(self.path, None, data, 16, 0, given, byref(out), byref(error)),
                     lambda: LIBRARY.bfs_foreign_import(self.path, form, None, 16, 0, given, byref(out), byref(error)),
                     lambda: LIBRARY.bfs_foreign_import(self.path, form, data, many, 0, given, byref(out), byref(error)),
                     lambda: LIBRARY.bfs_foreign_import(self.path, form, data, 16, 0, None, byref(out), byref(error)),
                     lambda: LIBRARY.bfs_foreign_import(self.path, form, data, 16, 0, given, None, byref(error)),
                     lambda: LIBRARY.bfs_foreign_export(None, form, buffer, 16, byref(error)),
                     lambda: LIBRARY.bfs_foreign_export(handle, None, buffer, 16, byref(error)),
                     lambda: LIBRARY.bfs_foreign_export(handle, form, buffer, 15, byref(error)),
                     lambda: LIBRARY.bfs_foreign_export(handle, form, buffer, many, byref(error))):
            self.assertEqual(call(), EINVAL)
            self.assertEqual(error.code, EINVAL)
            self.assertNotEqual(error.message, b"")
        self.assertEqual(LIBRARY.bfs_foreign_export(handle, form, None, 0, None), 16)

    # A caller that ignores the code has bytes that say maybe, or that no program takes for a filter.
    def test_an_export_that_fails_leaves_no_zero(self):
        handle = self.imported(self.raw, BITS, self.options())
        for form, handed, size in ((self.raw, handle, 15), (self.jaybird, handle, 16), (bfs.foreign_form(None), handle, 16), (self.raw, None, 16),
                                   (bfs.foreign_form(b"raw"), handle, 16)):
            buffer = ctypes.create_string_buffer(16)
            self.assertLess(LIBRARY.bfs_foreign_export(handed, byref(form), buffer, size, None), 0)
            self.assertEqual(buffer.raw, (b"\xff" * size).ljust(16, b"\0"))
        blocked = self.create(self.path + b"2")
        self.assertEqual(LIBRARY.bfs_foreign_export(blocked, byref(self.raw), None, 0, None),
                         CODES["BFS_EUNSUPPORTED"])

    # Any bytes are those of java-bytes, any with a k at the end are those of leveldb, and 6 bytes are a header of Guava's.
    def test_every_format_is_tried_with_every_short_input(self):
        for name in names():
            for size in range(64):
                for fill in (b"\0", b"\x01", b"\xff"):
                    good = name == b"raw" or name == b"java-bytes" and size > 0 or name == b"leveldb" and size > 1 and fill == b"\x01" \
                        or name == b"guava" and size > 5 and fill == b"\x01"
                    told = bfs.Foreign(struct_bytes=ctypes.sizeof(bfs.Foreign))
                    code = LIBRARY.bfs_foreign_inspect(byref(bfs.foreign_form(name)), fill * size, size, 0, None, byref(told), None)
                    self.assertEqual(code == 0, good, (name, size, fill))


if __name__ == "__main__":
    unittest.main(verbosity=2)
