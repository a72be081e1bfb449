"""bfs_open_set: its arguments, and every function of the header with its handle. Each returns a right answer, or a code
that its comment lists (which bfstore_ctypes checks).

Arguments: the shared library, capi/bfstore.h.
"""
import ctypes
import os
import unittest
from ctypes import byref

from support import CODES, COUNT, EINVAL, HEADER, LIBRARY, Case, answers_for, bfs, bfstore_header, pointers

PARTS = 3
KEYS = [b"key %d" % i for i in range(COUNT)]
WITHOUT_A_HANDLE = {one.name for one in bfs.ABI.functions if not any(each.type.is_handle for each in one.parameters)}


class SetOfParts(Case):
    layout = "blocked"

    def setUp(self):
        super().setUp()
        self.whole = self.create(seed=5, layout=self.layout)
        size = bfs.statistics(LIBRARY, self.whole)
        made = []
        for part in range(PARTS):
            options = bfs.options(capacity=COUNT, num_bits=3 * size.num_bits, num_probes=size.num_probes, seed=5,
                                  layout=self.layout)
            made.append(bfs.call(LIBRARY.bfs_create_part, self.part(part), options, part, PARTS))
        for key in KEYS[::2]:
            digest = ctypes.c_uint64()
            self.assertEqual(LIBRARY.bfs_digest(self.whole, key, len(key), byref(digest)), 0)
            self.assertEqual(LIBRARY.bfs_add(made[(digest.value * PARTS) >> 64], key, len(key)), 1)
        self.close(self.whole)
        os.remove(self.path)
        error, array = bfs.new_error(), (ctypes.c_void_p * PARTS)(*made)
        self.assertEqual(LIBRARY.bfs_join(array, PARTS, self.path, None, byref(error)), 0, error.message)
        for part in made:
            self.assertEqual(LIBRARY.bfs_close(part, None), 0)
        self.whole = bfs.call(LIBRARY.bfs_open, self.path, bfs.READ)
        self.addCleanup(LIBRARY.bfs_close, self.whole, None)
        self.list(range(PARTS))

    def part(self, number):
        return self.folder + b"/part%d" % number

    def list(self, numbers):
        with open(self.folder + b"/set", "wb") as file:
            file.write(b"bfstore-set 1\n" + b"".join(b"part%d\n" % number for number in numbers))

    def bytes_of_parts(self):
        parts = []
        for part in range(PARTS):
            with open(self.part(part), "rb") as file:
                parts.append(file.read())
        return parts

    def open_set(self, options=None):
        handle = bfs.call(LIBRARY.bfs_open_set, self.folder + b"/set", options)
        self.addCleanup(lambda: handle.value and LIBRARY.bfs_close(handle, None))
        return handle

    def one_by_one(self, handle):
        return [LIBRARY.bfs_contains(handle, key, len(key)) for key in KEYS]

    def test_answers_are_those_of_the_whole_file_in_every_form_of_keys(self):
        handle, expected = self.open_set(), self.one_by_one(self.whole)
        self.assertEqual(self.one_by_one(handle), expected)
        self.assertIn(0, expected)
        texts, lengths = pointers(KEYS)
        answers = answers_for(COUNT)
        self.assertEqual(LIBRARY.contains_many(handle, texts, lengths, COUNT, answers), sum(expected))
        self.assertEqual(list(answers), expected)
        digests = (ctypes.c_uint64 * COUNT)()
        keys = bfs.many_keys(bfs.KEYS_POINTERS, COUNT, texts, lengths=lengths)
        self.assertEqual(LIBRARY.bfs_digest_keys(handle, byref(keys), digests), COUNT)
        answers = answers_for(COUNT)
        self.assertEqual(LIBRARY.bfs_contains_digests(handle, digests, COUNT, answers), sum(expected))
        self.assertEqual(list(answers), expected)
        self.assertEqual([LIBRARY.bfs_contains_digest(handle, digest) for digest in digests], expected)
        indices = (ctypes.c_uint32 * COUNT)()
        self.assertEqual(LIBRARY.bfs_select_keys(handle, byref(keys), indices), sum(expected))
        self.assertEqual(indices[:sum(expected)], [i for i, answer in enumerate(expected) if answer])

    def test_flags_and_fields_that_a_set_does_not_take_are_named(self):
        for name in ("WRITE", "EXCLUSIVE", "OPEN_RECOVER", "OPEN_ACCEPT_LOSS", "OPEN_LIMIT", "OPEN_FOLLOW", "OPEN_RANGE",
                     "OPEN_FD", "OPEN_BARE"):
            flag = bfstore_header.constants(HEADER)["BFS_" + (name if name.startswith("OPEN") else "OPEN_" + name)]
            said = self.fails("BFS_EINVAL", LIBRARY.bfs_open_set, self.folder + b"/set",
                              bfs.open_options(bfs.READ | flag))
            self.assertIn(name.encode(), said)
        self.assertIn(b"BFS_OPEN_READ", self.fails("BFS_EINVAL", LIBRARY.bfs_open_set, self.folder + b"/set",
                                                   bfs.open_options(0)))
        for field in ("max_bytes", "fd", "writeback_check_ms"):
            self.fails("BFS_EINVAL", LIBRARY.bfs_open_set, self.folder + b"/set", bfs.open_options(**{field: 1}))
        self.fails("BFS_EINVAL", LIBRARY.bfs_open_set, None, None)
        self.assertEqual(LIBRARY.bfs_open_set(self.folder + b"/set", None, None, None), EINVAL)
        for name in ("POPULATE", "RANDOM", "COPY", "GUARD", "STRICT", "ANY_FILESYSTEM", "NOFOLLOW", "NO_WRITE"):
            flag = bfstore_header.constants(HEADER)["BFS_OPEN_" + name]
            self.assertEqual(self.one_by_one(self.open_set(bfs.open_options(bfs.READ | flag))),
                             self.one_by_one(self.whole))

    def calls(self, handle, new):
        """Returns (function, its result, the call), for every function that takes a handle, except those that end it."""
        error, spare = bfs.new_error(), ctypes.create_string_buffer(1 << 16)
        fails = {name: CODES["BFS_" + name] for name in ("EINVAL", "EREADONLY", "EUNSUPPORTED")}
        removing = fails["EREADONLY"] if self.layout == "counting" else fails["EUNSUPPORTED"]
        counted = 1 if self.layout == "counting" else fails["EUNSUPPORTED"]
        key, size = KEYS[0], len(KEYS[0])
        digest, part, parts = ctypes.c_uint64(), ctypes.c_uint32(9), ctypes.c_uint32(9)
        LIBRARY.bfs_digest(self.whole, key, size, byref(digest))
        digests = (ctypes.c_uint64 * 1)(digest.value)
        keys = byref(bfs.many_keys(bfs.KEYS_DIGESTS, 1, digests))
        one, answers, indices = (ctypes.c_void_p * 1)(handle), answers_for(1), (ctypes.c_uint32 * 1)()
        comparison = bfs.Comparison(struct_bytes=ctypes.sizeof(bfs.Comparison))
        statistics = bfs.Statistics(struct_bytes=ctypes.sizeof(bfs.Statistics))
        marks, size_of_it = (bfs.OwnerMark * 64)(), ctypes.c_uint64()
        said, raw = byref(error), bfs.foreign_form(b"raw", bfs.BITS_LITTLE)
        return error, [
            ("bfs_publish", fails["EINVAL"], lambda: LIBRARY.bfs_publish(handle, said)),
            ("bfs_supersede", fails["EINVAL"], lambda: LIBRARY.bfs_supersede(handle, said)),
            ("bfs_save", fails["EINVAL"], lambda: LIBRARY.bfs_save(handle, new, None, said)),
            ("bfs_dump", fails["EINVAL"], lambda: LIBRARY.bfs_dump(handle, spare, 1 << 16, 0, byref(size_of_it), said)),
            ("bfs_dump", fails["EINVAL"], lambda: LIBRARY.bfs_dump(handle, None, 0, 0, byref(size_of_it), said)),
            ("bfs_merge", fails["EREADONLY"], lambda: LIBRARY.bfs_merge(handle, self.whole, said)),
            ("bfs_intersect", fails["EINVAL"], lambda: LIBRARY.bfs_intersect(one, 1, new, None, said)),
            ("bfs_join", fails["EINVAL"], lambda: LIBRARY.bfs_join(one, 1, new, None, said)),
            ("bfs_compare", fails["EINVAL"], lambda: LIBRARY.bfs_compare(handle, self.whole, byref(comparison), said)),
            ("bfs_compare", fails["EINVAL"], lambda: LIBRARY.bfs_compare(self.whole, handle, byref(comparison), said)),
            ("bfs_import_bits", fails["EREADONLY"], lambda: LIBRARY.bfs_import_bits(handle, bytes(8), 8, 1, said)),
            ("bfs_export_bits", fails["EUNSUPPORTED"], lambda: LIBRARY.bfs_export_bits(handle, spare, 8, 1, said)),
            ("bfs_foreign_export", fails["EUNSUPPORTED"], lambda: LIBRARY.bfs_foreign_export(handle, byref(raw), spare, 8, None, said)),
            ("bfs_sync", fails["EINVAL"], lambda: LIBRARY.bfs_sync(handle, 1, 1, 1, said)),
            ("bfs_list_marks", fails["EINVAL"], lambda: LIBRARY.bfs_list_marks(handle, marks, 64, said)),
            ("bfs_drop_owner", fails["EINVAL"], lambda: LIBRARY.bfs_drop_owner(handle, 1, said)),
            ("bfs_finish_recovery", fails["EINVAL"], lambda: LIBRARY.bfs_finish_recovery(handle, 1, said)),
            ("bfs_finish_filling", fails["EINVAL"], lambda: LIBRARY.bfs_finish_filling(handle, said)),
            ("bfs_use_threads", fails["EINVAL"], lambda: LIBRARY.bfs_use_threads(handle, 2, said)),
            ("bfs_get_mark", 0, lambda: LIBRARY.bfs_get_mark(handle, 1, 1)),
            ("bfs_get_note", 0, lambda: LIBRARY.bfs_get_note(handle, spare, 10, said)),
            ("bfs_get_seeds", 0, lambda: LIBRARY.bfs_get_seeds(handle, indices, 1, said)),
            ("bfs_get_part", 0, lambda: LIBRARY.bfs_get_part(handle, byref(part), byref(parts), said)
             or (part.value, parts.value) != (0, 1)),
            ("bfs_health", 0, lambda: LIBRARY.bfs_health(handle)),
            ("bfs_is_current", 1, lambda: LIBRARY.bfs_is_current(handle, said)),
            ("bfs_stats", 0, lambda: LIBRARY.bfs_stats(handle, 0, byref(statistics), said)
             or statistics.keys_added != COUNT // 2),
            ("bfs_add", fails["EREADONLY"], lambda: LIBRARY.bfs_add(handle, key, size)),
            ("bfs_add_digest", fails["EREADONLY"], lambda: LIBRARY.bfs_add_digest(handle, digest)),
            ("bfs_add_keys", fails["EREADONLY"], lambda: LIBRARY.bfs_add_keys(handle, keys)),
            ("bfs_add_digests", fails["EREADONLY"], lambda: LIBRARY.bfs_add_digests(handle, digests, 1)),
            ("bfs_remove", removing, lambda: LIBRARY.bfs_remove(handle, key, size)),
            ("bfs_remove_digest", removing, lambda: LIBRARY.bfs_remove_digest(handle, digest)),
            ("bfs_remove_keys", removing, lambda: LIBRARY.bfs_remove_keys(handle, keys)),
            ("bfs_count", counted, lambda: LIBRARY.bfs_count(handle, key, size)),
            ("bfs_count_digest", counted, lambda: LIBRARY.bfs_count_digest(handle, digest)),
            ("bfs_contains", 1, lambda: LIBRARY.bfs_contains(handle, key, size)),
            ("bfs_contains_digest", 1, lambda: LIBRARY.bfs_contains_digest(handle, digest)),
            ("bfs_contains_keys", 1, lambda: LIBRARY.bfs_contains_keys(handle, keys, answers)),
            ("bfs_contains_digests", 1, lambda: LIBRARY.bfs_contains_digests(handle, digests, 1, answers)),
            ("bfs_select_keys", 1, lambda: LIBRARY.bfs_select_keys(handle, keys, indices)),
            ("bfs_digest", 0, lambda: LIBRARY.bfs_digest(handle, key, size, byref(digest))),
            ("bfs_digest_keys", 1, lambda: LIBRARY.bfs_digest_keys(handle, keys, digests)),
        ]

    def test_every_function_with_a_set_answers_or_returns_a_code_that_says_what_to_do(self):
        handle, new = self.open_set(), self.folder + b"/new"
        error, calls = self.calls(handle, new)
        ends = {"bfs_close", "bfs_shut", "bfs_abandon"}
        self.assertEqual({name for name, _, _ in calls} | ends | WITHOUT_A_HANDLE,
                         set(bfstore_header.functions(HEADER)))
        before = self.bytes_of_parts()
        for name, returns, deed in calls:
            with self.subTest(name):
                self.assertEqual(deed(), returns, error.message)
                if returns == EINVAL and name not in ("bfs_use_threads",):
                    self.assertIn(b"set of parts", error.message)
        self.assertFalse(os.path.exists(new))
        self.assertEqual(before, self.bytes_of_parts())
        target = self.create(self.folder + b"/into", seed=5, layout=self.layout)
        self.assertEqual(LIBRARY.bfs_merge(target, handle, byref(error)), EINVAL)
        self.close(target)
        self.assertEqual(LIBRARY.bfs_shut(handle, byref(error)), 0)
        self.assertEqual(LIBRARY.bfs_health(handle), CODES["BFS_ESHUT"])
        self.assertEqual(self.one_by_one(handle), [1] * COUNT)
        for name, _, deed in self.calls(handle, new)[1]:
            with self.subTest("shut, " + name):
                deed()  # its code is listed; it does not crash
        self.close(handle)
        handle = self.open_set()
        LIBRARY.bfs_abandon(handle)
        handle.value = None

    def test_a_list_or_a_part_cannot_be_used_where_a_filter_is_wanted(self):
        self.fails("BFS_ETOOSHORT", LIBRARY.bfs_open, self.folder + b"/set", bfs.READ)
        said = self.fails("BFS_EMAGIC", LIBRARY.bfs_open_set, self.part(0), None)
        self.assertIn(self.part(0), said)

    def test_messages_name_the_list_the_line_and_the_file(self):
        self.list([0, 7])
        said = self.fails("BFS_ENOENT", LIBRARY.bfs_open_set, self.folder + b"/set", None)
        self.assertIn(self.folder + b"/set, line 3: " + self.part(7), said)
        self.list([1, 0, 1])
        said = self.fails("BFS_EMISMATCH", LIBRARY.bfs_open_set, self.folder + b"/set", None)
        self.assertIn(b"both part 1 of 3", said)


class SetOfCountingParts(SetOfParts):
    layout = "counting"

    def test_a_key_of_a_part_that_is_not_listed_may_be_there_often(self):
        self.list([1])
        handle = self.open_set()
        for key in KEYS:
            digest = ctypes.c_uint64()
            self.assertEqual(LIBRARY.bfs_digest(handle, key, len(key), byref(digest)), 0)
            expected = LIBRARY.bfs_count(self.whole, key, len(key)) if (digest.value * PARTS) >> 64 == 1 else 15
            self.assertEqual(LIBRARY.bfs_count(handle, key, len(key)), expected)


if __name__ == "__main__":
    unittest.main(verbosity=2)
