"""The structs of the C ABI with every size that a caller can give, at the end of a page after which nothing may be
touched: garbage in struct_bytes once made the library read and write that many bytes.

Arguments: the shared library, capi/bfstore.h.
"""
import ctypes
import mmap
import os
import unittest
from ctypes import byref, c_char, c_int, c_size_t, c_void_p

from support import COUNT, EINVAL, LIBRARY, LIBRARY_PATH, Case, bfs

PAGE = mmap.PAGESIZE
C = ctypes.CDLL(None)
C.mprotect.argtypes = [c_void_p, c_size_t, c_int]
FIRST = {kind: ctypes.sizeof(kind) for kind in (bfs.Options, bfs.Statistics, bfs.Comparison, bfs.Keys, bfs.PlanRequest,
                                                  bfs.ForeignForm, bfs.Foreign)}  # of 1.0
IMPOSSIBLE = [4097, 4104, 8192, 32764, 65536, 1 << 20, 2**31 - 1, 2**31, 0x7fff0000, 2**32 - 8, 2**32 - 1]

# Loaded without the types, so that a struct's end may be anywhere.
BARE = ctypes.CDLL(LIBRARY_PATH)
for name, (result, arguments) in bfs.SIGNATURES.items():
    getattr(BARE, name).restype = result
    getattr(BARE, name).argtypes = [c_void_p if hasattr(kind, "contents") else kind for kind in arguments]


class AtTheEnd:
    """Two pages with a third one after them that nothing may touch; block(n) is the last n bytes."""

    def __init__(self):
        self.memory = mmap.mmap(-1, 3 * PAGE)
        self.address = ctypes.addressof(c_char.from_buffer(self.memory))
        assert C.mprotect(self.address + 2 * PAGE, PAGE, 0) == 0

    def block(self, length, fill=0):
        self.memory[:2 * PAGE] = bytes([fill]) * (2 * PAGE)
        return c_void_p(self.address + 2 * PAGE - length)

    def content(self, length):
        return self.memory[2 * PAGE - length:2 * PAGE]


class Sizes(Case):
    def setUp(self):
        super().setUp()
        self.end = AtTheEnd()
        self.close(self.create())

    def put(self, struct, size, later=0, room=None):
        """Puts the struct at the end of the page, as long as it says (or `room`), with `later` as its last byte."""
        room = size if room is None else room
        block, known = self.end.block(room), bytearray(bytes(struct))
        known[:4] = size.to_bytes(4, "little")
        ctypes.memmove(block, bytes(known), min(room, len(known)))
        if later:
            ctypes.memmove(block.value + room - 1, bytes([later]), 1)
        return block

    def callers(self):
        """Returns every function that reads a struct, as (its struct, function of its address)."""
        handle = c_void_p()

        def makes(call):
            code = call(self.path + b".new")
            self.assertEqual(os.path.exists(self.path + b".new"), code >= 0)
            if code >= 0:
                self.close(handle)
                os.unlink(self.path + b".new")
            return min(code, 0)

        def opens(code):
            self.assertEqual(handle.value is not None, code == 0)
            if code == 0:
                self.close(handle)
            return code
        new, nothing = bfs.options(capacity=10), bfs.many_keys(bfs.KEYS_PAIRS, 0)
        yield new, lambda block: makes(lambda path: BARE.bfs_create(path, 0, block, byref(handle), None))
        yield new, lambda block: makes(lambda path: BARE.bfs_open(path, bfs.WRITE | bfs.CREATE, block, byref(handle), None))
        yield new, lambda block: makes(lambda path: BARE.bfs_build(path, 0, block, byref(nothing), byref(handle), None))
        yield nothing, lambda block: makes(lambda path: BARE.bfs_build(path, 0, byref(new), block, byref(handle), None))
        yield new, lambda block: min(0, BARE.bfs_format(None, 0, 0, block, None, None))
        yield bfs.options(), lambda block: opens(BARE.bfs_open(self.path, bfs.READ, block, byref(handle), None))
        keep, address = bfs.aligned_buffer(bfs.bytes_needed(LIBRARY, 0, new))
        self.close(bfs.call(LIBRARY.bfs_format, address, len(keep) - 64, 0, new))
        yield bfs.options(), lambda block: opens(
            BARE.bfs_open_memory(address, len(keep) - 64, bfs.READ, block, byref(handle), None))
        plan = bfs.PlanResult(struct_bytes=ctypes.sizeof(bfs.PlanResult))
        yield (bfs.PlanRequest(struct_bytes=ctypes.sizeof(bfs.PlanRequest), capacity=10),
               lambda block: BARE.bfs_plan(block, byref(plan), None))

        told = bfs.Foreign(struct_bytes=ctypes.sizeof(bfs.Foreign))
        yield (bfs.foreign_form(b"raw"),
               lambda block: BARE.bfs_foreign_inspect(block, None, 0, 0, None, byref(told), None))
        raw = bfs.foreign_form(b"raw", bfs.BITS_BIG)
        yield (bfs.options(hash="murmur3", num_bits=8, num_probes=1),
               lambda block: BARE.bfs_foreign_inspect(byref(raw), None, 0, 0, block, byref(told), None))

        def copies(made):
            code = made(self.path + b".new")
            self.assertEqual(os.path.exists(self.path + b".new"), code == 0)
            if code == 0:
                os.unlink(self.path + b".new")
            return code
        filter_of_file = bfs.open_path(LIBRARY, self.path)
        for flags in (0, bfs.SEALED):
            yield bfs.options(), lambda block: copies(lambda path: BARE.bfs_copy(filter_of_file, path, flags, block, None))
        array = (c_void_p * 1)(filter_of_file)
        yield bfs.options(), lambda block: copies(lambda path: BARE.bfs_intersect(array, 1, path, 0, block, None))
        self.close(filter_of_file)

    def test_a_struct_is_read_as_far_as_it_says_and_no_further(self):
        for struct, call in self.callers():
            now = ctypes.sizeof(struct)
            for size in sorted({*range(FIRST[type(struct)], now + 1), now + 1, now + 4, now + 8, 2048, 4095, 4096}):
                with self.subTest(struct=type(struct).__name__, size=size):
                    self.assertEqual(call(self.put(struct, size)), 0)
                    if size > now:
                        self.assertEqual(call(self.put(struct, size, later=1)), EINVAL, "a field of a later version")

    def test_a_size_that_can_not_be_is_refused_and_nothing_is_touched(self):
        for struct, call in self.callers():
            now = ctypes.sizeof(struct)
            for size in [*range(FIRST[type(struct)]), *IMPOSSIBLE]:
                with self.subTest(struct=type(struct).__name__, size=size):
                    room = min(max(size, 4), now)  # most bytes of a large size do not exist
                    self.assertEqual(call(self.put(struct, size, room=room)), EINVAL)

    def check_filled(self, kind, fill, check):
        """Calls `fill` with structs of every size to fill in, and `check` with each result."""
        now = ctypes.sizeof(kind)
        for size in (now, now + 1, now + 8, now + 32, 2048, 4096):
            with self.subTest(size=size):
                block = self.end.block(size, fill=0xaa)
                ctypes.memmove(block, size.to_bytes(4, "little"), 4)
                self.assertEqual(fill(block), 0)
                made = kind.from_buffer_copy(self.end.content(size)[:now])
                self.assertEqual(made.struct_bytes, size)
                check(made)
                self.assertEqual(self.end.content(size)[now:], bytes(size - now))
        for size in [*range(now), *IMPOSSIBLE]:
            with self.subTest(size=size):
                room = min(max(size, 4), now)
                before = size.to_bytes(4, "little") + b"\xaa" * (room - 4)
                ctypes.memmove(self.end.block(room), before, room)
                self.assertEqual(fill(c_void_p(self.end.address + 2 * PAGE - room)), EINVAL)
                self.assertEqual(self.end.content(room), before)

    def test_what_foreign_bytes_say_fills_what_it_says_and_nothing_behind_it(self):
        form = bfs.foreign_form(b"raw")
        self.check_filled(bfs.Foreign, lambda block: BARE.bfs_foreign_inspect(byref(form), None, 0, 0, None, block, None),
                          lambda made: self.assertEqual(made.needs, 7))

    def test_statistics_fill_what_they_say_and_nothing_behind_it(self):
        handle = bfs.open_path(LIBRARY, self.path)
        self.check_filled(bfs.Statistics, lambda block: BARE.bfs_stats(handle, 0, block, None),
                          lambda made: self.assertEqual(made.capacity, COUNT))
        self.close(handle)

    def test_a_comparison_fills_what_it_says_and_nothing_behind_it(self):
        handle = bfs.open_path(LIBRARY, self.path)
        self.check_filled(bfs.Comparison, lambda block: BARE.bfs_compare(handle, handle, block, None),
                          lambda made: self.assertEqual((made.equal, made.jaccard.high), (1, 1)))
        self.close(handle)

    def test_a_plan_fills_what_it_says_and_nothing_behind_it(self):
        request = bfs.PlanRequest(struct_bytes=ctypes.sizeof(bfs.PlanRequest), capacity=COUNT)
        self.check_filled(bfs.PlanResult, lambda block: BARE.bfs_plan(byref(request), block, None),
                          lambda made: self.assertEqual((made.capacity, made.page_faults), (COUNT, 1)))

    def test_an_error_fills_what_it_says_and_nothing_behind_it(self):
        handle, path = c_void_p(), self.folder + b"/absent"
        code = BARE.bfs_open(path, bfs.READ, None, byref(handle), None)
        for size in (512, 513, 520, 4096):
            with self.subTest(size=size):
                block = self.end.block(size, fill=0xaa)
                ctypes.memmove(block, size.to_bytes(4, "little"), 4)
                self.assertEqual(BARE.bfs_open(path, bfs.READ, None, byref(handle), block), code)
                error = bfs.Error.from_buffer_copy(self.end.content(size)[:512])
                self.assertEqual((error.struct_bytes, error.code, error.os_errno), (size, code, 2))
                self.assertTrue(error.message.startswith(path))
                self.assertEqual(self.end.content(size)[512:], bytes(size - 512))
        for size in [*range(512), *IMPOSSIBLE]:
            with self.subTest(size=size):
                room = min(max(size, 4), 512)
                before = size.to_bytes(4, "little") + b"\xaa" * (room - 4)
                ctypes.memmove(self.end.block(room), before, room)
                block = c_void_p(self.end.address + 2 * PAGE - room)
                self.assertEqual(BARE.bfs_open(path, bfs.READ, None, byref(handle), block), code)
                self.assertEqual(self.end.content(room), before)

    def test_keys_are_read_as_far_as_they_say_and_no_further(self):
        handle, now = bfs.open_path(LIBRARY, self.path), ctypes.sizeof(bfs.Keys)
        answers, digests = (ctypes.c_uint8 * 2)(), (ctypes.c_uint64 * 2)(1, 2)
        keys = bfs.many_keys(bfs.KEYS_DIGESTS, 2, digests)
        for size in (now, now + 1, now + 8, 4096):
            with self.subTest(size=size):
                self.assertGreaterEqual(BARE.bfs_contains_keys(handle, self.put(keys, size), answers), 0)
                if size > now:
                    self.assertEqual(BARE.bfs_contains_keys(handle, self.put(keys, size, later=1), answers), EINVAL)
        for size in [*range(now), *IMPOSSIBLE]:
            with self.subTest(size=size):
                block = self.put(keys, size, room=min(max(size, 4), now))
                answers[0] = 9
                self.assertEqual(BARE.bfs_contains_keys(handle, block, answers), EINVAL)
                self.assertEqual(answers[0], 9, "how many answers there are is not known")
        self.close(handle)


if __name__ == "__main__":
    unittest.main(verbosity=2)
