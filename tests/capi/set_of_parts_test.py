"""bfs_open of a list of parts: its arguments, and every function of the header with its handle. Each returns a right answer, or a code
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
            made.append(bfs.create(LIBRARY, self.part(part), capacity=COUNT, num_bits=3 * size.num_bits, num_probes=size.num_probes,
                                   seed=5, layout=self.layout, part=part, num_parts=PARTS))
        for key in KEYS[::2]:
            digest = ctypes.c_uint64()
            self.assertEqual(LIBRARY.bfs_digest(self.whole, key, len(key), byref(digest)), 0)
            self.assertEqual(LIBRARY.bfs_add(made[(digest.value * PARTS) >> 64], key, len(key)), 1)
        self.close(self.whole)
        os.remove(self.path)
        bfs.join(LIBRARY, made, self.path)
        for part in made:
            self.assertEqual(LIBRARY.bfs_close(part, None), 0)
        self.whole = bfs.open_path(LIBRARY, self.path)
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

    def open_set(self, flags=bfs.READ, **given):
        handle = bfs.open_path(LIBRARY, self.folder + b"/set", flags, **given)
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
        self.assertEqual(LIBRARY.contains_digests(handle, digests, COUNT, answers), sum(expected))
        self.assertEqual(list(answers), expected)
        self.assertEqual([LIBRARY.bfs_contains_digest(handle, digest) for digest in digests], expected)
        indices = (ctypes.c_uint32 * COUNT)()
        self.assertEqual(LIBRARY.bfs_select_keys(handle, byref(keys), indices), sum(expected))
        self.assertEqual(indices[:sum(expected)], [i for i, answer in enumerate(expected) if answer])

    def test_flags_and_fields_that_a_set_does_not_take_are_refused(self):
        path = self.folder + b"/set"
        for flags in (bfs.WRITE, bfs.EXCLUSIVE, bfs.READ | bfs.FOLLOW, bfs.WRITE | bfs.RECOVER):
            self.fails("BFS_EINVAL", LIBRARY.bfs_open, path, flags, None)
        for flags in (bfs.RECOVER, bfs.ACCEPT_LOSS, bfs.LIMIT, bfs.BARE):
            self.fails("BFS_EINVAL", LIBRARY.bfs_open, path, bfs.READ | flags, None)
        self.fails("BFS_EINVAL", LIBRARY.bfs_open, path, 0, None)
        for name, value in (("range", (0, 0)), ("threads", 2), ("capacity", 1)):
            with self.subTest(name=name), self.assertRaises(bfs.CodeError):
                bfs.open_path(LIBRARY, path, **{name: value})
        for flag in (bfs.POPULATE, bfs.RANDOM, bfs.PRIVATE, bfs.GUARD, bfs.STRICT, bfs.ANY_FILESYSTEM, bfs.NOFOLLOW, bfs.NO_WRITE):
            self.assertEqual(self.one_by_one(self.open_set(bfs.READ | flag)), self.one_by_one(self.whole))
        self.assertEqual(self.one_by_one(self.open_set(lock_timeout_ms=1)), self.one_by_one(self.whole))

    def test_a_list_is_never_made_or_replaced_by_a_filter(self):
        with open(self.folder + b"/set", "rb") as file:
            before = file.read()
        for mode in (bfs.WRITE, bfs.EXCLUSIVE):
            self.fails("BFS_EINVAL", LIBRARY.bfs_open, self.folder + b"/set", mode | bfs.CREATE, bfs.options(capacity=10))
        with open(self.folder + b"/set", "rb") as file:
            self.assertEqual(file.read(), before)

    def calls(self, handle, new):
        """Returns (function, its result, the call), for every function that takes a handle, except those that end it."""
        error, spare = bfs.new_error(), ctypes.create_string_buffer(1 << 16)
        fails = {name: CODES["BFS_" + name] for name in ("EINVAL", "EREADONLY", "EUNSUPPORTED")}
        removing = fails["EREADONLY"] if self.layout == "counting" else fails["EUNSUPPORTED"]
        counted = 1 if self.layout == "counting" else fails["EUNSUPPORTED"]
        key, size = KEYS[0], len(KEYS[0])
        digest = ctypes.c_uint64()
        LIBRARY.bfs_digest(self.whole, key, size, byref(digest))
        digests = (ctypes.c_uint64 * 1)(digest.value)
        keys = byref(bfs.many_keys(bfs.KEYS_DIGESTS, 1, digests))
        one, answers, indices = (ctypes.c_void_p * 1)(handle), answers_for(1), (ctypes.c_uint32 * 1)()
        comparison = bfs.Comparison(struct_bytes=ctypes.sizeof(bfs.Comparison))
        statistics = bfs.Statistics(struct_bytes=ctypes.sizeof(bfs.Statistics))
        marks = (bfs.OwnerMark * 64)()
        said, raw = byref(error), bfs.foreign_form(b"raw", bfs.BITS_LITTLE)
        return error, [
            ("bfs_publish", fails["EINVAL"], lambda: LIBRARY.bfs_publish(handle, said)),
            ("bfs_supersede", fails["EINVAL"], lambda: LIBRARY.bfs_supersede(handle, said)),
            ("bfs_copy", fails["EINVAL"], lambda: LIBRARY.bfs_copy(handle, new, 0, None, said)),
            ("bfs_copy", fails["EINVAL"], lambda: LIBRARY.bfs_copy(handle, new, bfs.SEALED, None, said)),
            ("bfs_dump", fails["EINVAL"], lambda: LIBRARY.bfs_dump(handle, spare, 1 << 16, 0, said)),
            ("bfs_dump", fails["EINVAL"], lambda: LIBRARY.bfs_dump(handle, None, 0, 0, said)),
            ("bfs_merge", fails["EREADONLY"], lambda: LIBRARY.bfs_merge(handle, self.whole, said)),
            ("bfs_intersect", fails["EINVAL"], lambda: LIBRARY.bfs_intersect(one, 1, new, 0, None, said)),
            ("bfs_join", fails["EINVAL"], lambda: LIBRARY.bfs_join(one, 1, new, 0, None, said)),
            ("bfs_compare", fails["EINVAL"], lambda: LIBRARY.bfs_compare(handle, self.whole, byref(comparison), said)),
            ("bfs_compare", fails["EINVAL"], lambda: LIBRARY.bfs_compare(self.whole, handle, byref(comparison), said)),
            ("bfs_import_bits", fails["EREADONLY"], lambda: LIBRARY.bfs_import_bits(handle, bytes(8), 8, 1, said)),
            ("bfs_export_bits", fails["EUNSUPPORTED"], lambda: LIBRARY.bfs_export_bits(handle, spare, 8, 1, said)),
            ("bfs_foreign_export", fails["EUNSUPPORTED"], lambda: LIBRARY.bfs_foreign_export(handle, byref(raw), spare, 8, said)),
            ("bfs_sync", fails["EINVAL"], lambda: LIBRARY.bfs_sync(handle, bfs.mark(1, 1, 1), said)),
            ("bfs_list_marks", fails["EINVAL"], lambda: LIBRARY.bfs_list_marks(handle, marks, 64, said)),
            ("bfs_drop_owner", fails["EINVAL"], lambda: LIBRARY.bfs_drop_owner(handle, 1, said)),
            ("bfs_finish_recovery", fails["EINVAL"], lambda: LIBRARY.bfs_finish_recovery(handle, 1, said)),
            ("bfs_finish_filling", fails["EINVAL"], lambda: LIBRARY.bfs_finish_filling(handle, said)),
            ("bfs_turn", fails["EINVAL"], lambda: LIBRARY.bfs_turn(handle, 0, said)),
            ("bfs_get_mark", 0, lambda: LIBRARY.bfs_get_mark(handle, 1, 1)),
            ("bfs_health", 0, lambda: LIBRARY.bfs_health(handle)),
            ("bfs_is_current", 1, lambda: LIBRARY.bfs_is_current(handle, said)),
            ("bfs_stats", 0, lambda: LIBRARY.bfs_stats(handle, 0, byref(statistics), said)
             or (statistics.keys_added, statistics.note_bytes, statistics.num_seeds, statistics.part, statistics.num_parts)
             != (COUNT // 2, 0, 0, 0, 1)),
            ("bfs_add", fails["EREADONLY"], lambda: LIBRARY.bfs_add(handle, key, size)),
            ("bfs_add_digest", fails["EREADONLY"], lambda: LIBRARY.bfs_add_digest(handle, digest)),
            ("bfs_add_keys", fails["EREADONLY"], lambda: LIBRARY.bfs_add_keys(handle, keys)),
            ("bfs_remove", removing, lambda: LIBRARY.bfs_remove(handle, key, size)),
            ("bfs_remove_keys", removing, lambda: LIBRARY.bfs_remove_keys(handle, keys)),
            ("bfs_count_keys", counted, lambda: LIBRARY.bfs_count_keys(handle, keys, answers)),
            ("bfs_contains", 1, lambda: LIBRARY.bfs_contains(handle, key, size)),
            ("bfs_contains_digest", 1, lambda: LIBRARY.bfs_contains_digest(handle, digest)),
            ("bfs_contains_keys", 1, lambda: LIBRARY.bfs_contains_keys(handle, keys, answers)),
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
                if returns == EINVAL:
                    self.assertIn(self.folder + b"/set: is a set of %d part" % PARTS, error.message)
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

    def test_a_file_is_taken_for_a_list_by_its_first_line_alone(self):
        for text in (b"", b"bfstore-set", b"bfstore-set 2\npart0\n", b"\nbfstore-set 1\npart0\n", b"part0\n" * 5000):
            with open(self.folder + b"/set", "wb") as file:
                file.write(text)
            with self.subTest(text=text[:20]), self.assertRaises(bfs.CodeError) as refused:
                self.open_set()
            self.assertTrue(-300 < refused.exception.code <= -200, refused.exception.message)
            self.assertIn(self.folder + b"/set", refused.exception.message)
        part = bfs.open_path(LIBRARY, self.part(0))  # a part by itself is a filter
        stats = bfs.statistics(LIBRARY, part)
        self.assertEqual((stats.part, stats.num_parts), (0, PARTS))
        self.close(part)

    def test_messages_name_the_list_the_line_and_the_file(self):
        self.list([0, 7])
        said = self.fails("BFS_ENOENT", LIBRARY.bfs_open, self.folder + b"/set", bfs.READ, None)
        self.assertIn(self.folder + b"/set, line 3: " + self.part(7), said)
        self.list([1, 0, 1])
        said = self.fails("BFS_EMISMATCH", LIBRARY.bfs_open, self.folder + b"/set", bfs.READ, None)
        self.assertIn(b"both part 1 of 3", said)


class SetOfCountingParts(SetOfParts):
    layout = "counting"

    def test_a_key_of_a_part_that_is_not_listed_may_be_there_often(self):
        self.list([1])
        handle = self.open_set()
        for key in KEYS:
            digest = ctypes.c_uint64()
            self.assertEqual(LIBRARY.bfs_digest(handle, key, len(key), byref(digest)), 0)
            expected = LIBRARY.count(self.whole, key, len(key)) if (digest.value * PARTS) >> 64 == 1 else 15
            self.assertEqual(LIBRARY.count(handle, key, len(key)), expected)


if __name__ == "__main__":
    unittest.main(verbosity=2)
