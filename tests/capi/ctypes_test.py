"""The C ABI as Python's ctypes uses it: makes filters, adds, asks, shares; every kind of wrong argument.

Arguments: the shared library, capi/bfstore.h.
"""
import ctypes
import errno
import os
import stat
import subprocess
import sys
import unittest
from ctypes import byref

from support import CODES, COUNT, EINVAL, HEADER, LIBRARY, LIBRARY_PATH, Case, answers_for, bfs, bfstore_header, pointers


class Arguments(Case):
    def test_no_handle_is_an_error_that_is_never_a_no(self):
        self.assertEqual(LIBRARY.bfs_add(None, b"k", 1), EINVAL)
        self.assertEqual(LIBRARY.bfs_contains(None, b"k", 1), EINVAL)
        self.assertEqual(LIBRARY.bfs_contains_digest(None, 1), EINVAL)
        self.assertEqual(LIBRARY.bfs_add_digest(None, 1), EINVAL)
        self.assertEqual(LIBRARY.bfs_remove(None, b"k", 1), EINVAL)
        self.assertEqual(LIBRARY.remove_digest(None, 1), EINVAL)
        self.assertEqual(LIBRARY.bfs_remove_keys(None, byref(bfs.many_keys(bfs.KEYS_DIGESTS, 0))), EINVAL)
        counts = answers_for(1, 0)
        self.assertEqual(LIBRARY.bfs_count_keys(None, byref(bfs.many_keys(bfs.KEYS_DIGESTS, 1, (ctypes.c_uint64 * 1)())), counts),
                         EINVAL)
        self.assertEqual(list(counts), [15])
        self.assertEqual(LIBRARY.bfs_digest(None, b"k", 1, byref(ctypes.c_uint64())), EINVAL)
        self.assertEqual(LIBRARY.bfs_sync(None, None, None), EINVAL)
        self.assertEqual(LIBRARY.bfs_get_mark(None, 0, 0), 0)
        self.assertEqual(LIBRARY.bfs_list_marks(None, None, 0, None), EINVAL)
        self.assertEqual(LIBRARY.bfs_drop_owner(None, 0, None), EINVAL)
        handle = self.create()
        self.assertEqual(LIBRARY.bfs_list_marks(handle, None, 1, None), EINVAL)
        self.assertEqual(LIBRARY.bfs_list_marks(handle, None, 0, None), 0)
        self.close(handle)
        self.assertEqual(LIBRARY.bfs_publish(None, None), EINVAL)
        self.assertEqual(LIBRARY.bfs_stats(None, 0, byref(bfs.Statistics(struct_bytes=ctypes.sizeof(bfs.Statistics))), None), EINVAL)
        self.assertEqual(LIBRARY.bfs_close(None, None), 0)
        answers = answers_for(3, 0)
        self.assertEqual(LIBRARY.contains_digests(None, (ctypes.c_uint64 * 3)(), 3, answers), EINVAL)
        self.assertEqual(list(answers), [1, 1, 1])

    def test_no_place_for_the_handle_or_no_path_or_no_options(self):
        options = bfs.options(capacity=10)
        self.assertEqual(LIBRARY.bfs_create(self.path, 0, options, None, None), EINVAL)
        self.assertFalse(os.path.exists(self.path), "nothing was made")
        self.fails("BFS_EINVAL", LIBRARY.bfs_create, None, 0, options)
        self.fails("BFS_EINVAL", LIBRARY.bfs_create, self.path, 0, None)
        self.fails("BFS_EINVAL", LIBRARY.bfs_open, None, bfs.READ, None)
        self.assertEqual(LIBRARY.bfs_open(self.path, bfs.READ, None, None, None), EINVAL)
        self.fails("BFS_EINVAL", LIBRARY.bfs_open, None, bfs.READ, None)
        self.fails("BFS_EINVAL", LIBRARY.bfs_open, None, bfs.WRITE | bfs.CREATE, options)
        self.assertEqual(LIBRARY.bfs_open(self.path, bfs.WRITE | bfs.CREATE, options, None, None), EINVAL)
        keep, address = bfs.aligned_buffer(4096)
        self.assertEqual(LIBRARY.bfs_format(address, 4096, 0, options, None, None), EINVAL)
        self.assertEqual(LIBRARY.bfs_format(None, 0, 0, None, None, None), EINVAL, "no size")
        self.fails("BFS_EINVAL", LIBRARY.bfs_open_memory, None, 1000, bfs.READ, None)
        self.assertEqual(LIBRARY.bfs_open_memory(address, 4096, bfs.READ, None, None, None), EINVAL)
        self.fails("BFS_EINVAL", LIBRARY.bfs_build, None, 0, None, byref(bfs.many_keys(bfs.KEYS_PAIRS, 0)))
        self.fails("BFS_EINVAL", LIBRARY.bfs_build, self.path, 0, None, None)
        self.assertEqual(os.listdir(self.folder), [])
        del keep

    def test_a_buffer_that_is_not_there_tells_how_long_it_has_to_be(self):
        options, out = bfs.options(capacity=100), ctypes.c_void_p(1)
        needed = bfs.bytes_needed(LIBRARY, 0, options)
        self.assertEqual(LIBRARY.bfs_format(None, 2**64 - 1, 0, options, byref(out), None), needed)
        self.assertIsNone(out.value)
        keep, address = bfs.aligned_buffer(needed)
        self.assertEqual(LIBRARY.bfs_format(address, needed, 0, options, byref(out), None), needed)
        self.close(out)
        self.assertLess(bfs.bytes_needed(LIBRARY, bfs.BARE, options), needed)
        del keep

    def test_keys_are_removed_and_counted_where_the_layout_counts(self):
        handle = self.create()
        for call in (LIBRARY.bfs_remove, LIBRARY.count):
            self.assertEqual(call(handle, b"k", 1), CODES["BFS_EUNSUPPORTED"])
        self.assertEqual(LIBRARY.bfs_remove(handle, None, 5), EINVAL)
        keys = bfs.many_keys(bfs.KEYS_DIGESTS, 0)
        self.assertEqual(LIBRARY.bfs_remove_keys(handle, byref(keys)), CODES["BFS_EUNSUPPORTED"])
        self.assertEqual(LIBRARY.bfs_remove_keys(handle, None), EINVAL)
        self.close(handle)
        for hash_name, taken in (("xxh3", 1), ("external", CODES["BFS_EDIGESTONLY"])):
            options = bfs.options(capacity=100, layout="counting", hash=hash_name)
            size = bfs.bytes_needed(LIBRARY, 0, options)
            keep, address = bfs.aligned_buffer(size)
            handle = bfs.call(LIBRARY.bfs_format, address, size, 0, options)
            for call in (LIBRARY.bfs_add, LIBRARY.count, LIBRARY.bfs_remove):
                self.assertEqual(call(handle, b"k", 1), taken)
            self.assertEqual([LIBRARY.bfs_add_digest(handle, 2**63), LIBRARY.count_digest(handle, 2**63),
                              LIBRARY.remove_digest(handle, 2**63), LIBRARY.remove_digest(handle, 2**63)], [1, 1, 1, 0])
            self.close(handle)
            reader = bfs.open_memory(LIBRARY, address, size)
            self.assertEqual(LIBRARY.remove_digest(reader, 1), CODES["BFS_EREADONLY"])
            self.assertEqual(LIBRARY.count_digest(reader, 2**63), 0)
            self.close(reader)
            del keep

    def test_a_key_without_an_address_and_a_digest_without_a_place(self):
        handle = self.create()
        self.assertEqual(LIBRARY.bfs_add(handle, None, 5), EINVAL)
        self.assertEqual(LIBRARY.bfs_contains(handle, None, 5), EINVAL)
        self.assertEqual(LIBRARY.bfs_digest(handle, b"k", 1, None), EINVAL)

    def test_threads_are_for_the_only_writer_and_1_to_64(self):
        self.close(self.create())
        for mode, threads in ((bfs.READ, 2), (bfs.WRITE, 2), (bfs.EXCLUSIVE, 65), (bfs.EXCLUSIVE, 2**32 - 1)):
            with self.subTest(mode=mode, threads=threads):
                self.fails("BFS_EINVAL", LIBRARY.bfs_open, self.path, mode, bfs.options(threads=threads))
        for threads in (1, 2, 64):
            self.close(bfs.open_path(LIBRARY, self.path, bfs.EXCLUSIVE, threads=threads))
        for flags, threads in ((0, 2), (bfs.EXCLUSIVE, 65)):
            self.fails("BFS_EINVAL", LIBRARY.bfs_create, self.path + b"2", flags, bfs.options(capacity=10, threads=threads))
            self.assertFalse(os.path.exists(self.path + b"2"), "a file that was made, and an error")
        self.close(bfs.create(LIBRARY, self.path + b"2", bfs.EXCLUSIVE, capacity=10, threads=2))

    def test_flags_that_are_not_known(self):
        self.close(self.create())
        for flags in (0, 3, 5, 6, 7, bfs.POPULATE, bfs.READ | bfs.RECOVER, bfs.READ | bfs.ACCEPT_LOSS,
                      bfs.READ | bfs.LIMIT, bfs.WRITE | bfs.RECOVER | bfs.ACCEPT_LOSS,
                      bfs.WRITE | bfs.PRIVATE, bfs.WRITE | bfs.NO_WRITE):
            self.fails("BFS_EINVAL", LIBRARY.bfs_open, self.path, flags, None)
        handle = bfs.open_path(LIBRARY, self.path)
        stats = bfs.Statistics(struct_bytes=ctypes.sizeof(bfs.Statistics))
        self.assertEqual(LIBRARY.bfs_stats(handle, 2, byref(stats), None), EINVAL)
        error = bfs.new_error()
        self.assertEqual(LIBRARY.bfs_stats(handle, bfs.STATS_FILL | 2, byref(stats), byref(error)), EINVAL)
        self.assertIn(b"BFS_WRITE", error.message)
        self.close(handle)

    def test_the_kernel_can_be_chosen_and_what_can_not_run_is_refused(self):
        self.close(self.create())
        self.addCleanup(os.environ.pop, "BFSTORE_FORCE_ISA", None)
        best = bfs.statistics(LIBRARY, self.create(self.path + b".best")).isa
        chosen = []
        for isa in ("scalar", "avx2", "avx512", "neon"):
            os.environ["BFSTORE_FORCE_ISA"] = isa
            try:
                handle = bfs.open_path(LIBRARY, self.path)
            except bfs.CodeError as error:
                self.assertEqual(error.code, EINVAL)
                self.assertIn(b"BFSTORE_FORCE_ISA=" + isa.encode(), error.message)
                continue
            chosen.append(bfs.statistics(LIBRARY, handle).isa)
            self.assertEqual(chosen[-1], isa.encode())
            self.close(handle)
        self.assertIn(b"scalar", chosen)
        self.assertIn(best, chosen)
        self.assertFalse({b"neon", b"avx2"} <= set(chosen), "no CPU has both")
        os.environ["BFSTORE_FORCE_ISA"] = "mmx"
        buffer = ctypes.create_string_buffer(1 << 16)
        aligned = (ctypes.addressof(buffer) + 63) & ~63
        for function, arguments in ((LIBRARY.bfs_open, (self.path, bfs.READ, None)),
                                    (LIBRARY.bfs_create, (self.path + b"2", 0, bfs.options(capacity=10))),
                                    (LIBRARY.bfs_format, (aligned, 1 << 15, 0, bfs.options(capacity=10)))):
            self.assertIn(b"BFSTORE_FORCE_ISA=mmx", self.fails("BFS_EINVAL", function, *arguments))
        self.assertFalse(os.path.exists(self.path + b"2"))

    def test_no_function_touches_errno(self):
        library = bfs.load(LIBRARY_PATH, use_errno=True)
        handle, options, digest = ctypes.c_void_p(), bfs.options(capacity=1000), ctypes.c_uint64()
        stats = bfs.Statistics(struct_bytes=ctypes.sizeof(bfs.Statistics))
        for function, arguments in (
                (library.bfs_open, (self.folder + b"/nonexistent/x.bf", bfs.READ, None, byref(handle), None)),
                (library.bfs_open, (self.folder, bfs.READ, None, byref(handle), None)),
                (library.bfs_create, (self.folder + b"/nonexistent/x.bf", 0, options, byref(handle), None)),
                (library.bfs_create, (self.path, 0, options, byref(handle), None)),
                (library.bfs_add, (handle, b"key", 3)), (library.bfs_digest, (handle, b"key", 3, byref(digest))),
                (library.bfs_sync, (handle, bfs.mark(1, 0, 1), None)), (library.bfs_get_mark, (handle, 1, 0)),
                (library.bfs_list_marks, (handle, None, 0, None)), (library.bfs_drop_owner, (handle, 1, None)),
                (library.bfs_stats, (handle, bfs.STATS_FILL, byref(stats), None)),
                (library.bfs_health, (handle,)),
                (library.bfs_close, (handle, None)), (library.bfs_create, (self.path, 0, options, byref(handle), None)),
                (library.bfs_open, (self.path, bfs.READ, None, byref(handle), None)), (library.bfs_close, (handle, None)),
                (library.bfs_open, (self.path, bfs.WRITE | bfs.CREATE, options, byref(handle), None)), (library.bfs_close, (handle, None)),
                (library.bfs_open, (self.path, bfs.READ, bfs.options(range=(2**40, 0)), byref(handle), None))):
            with self.subTest(function=function.__name__):
                ctypes.set_errno(4711)
                function(*arguments)
                self.assertEqual(ctypes.get_errno(), 4711)

    def test_an_error_record_without_its_size_is_left_alone(self):
        error, handle = bfs.Error(struct_bytes=0, code=77), ctypes.c_void_p()
        code = LIBRARY.bfs_open(self.folder + b"/nonexistent/x.bf", bfs.READ, None, byref(handle), byref(error))
        self.assertEqual(code, CODES["BFS_ENOENT"])
        self.assertEqual((error.code, error.message), (77, b""))

    def test_an_error_names_the_thing_and_the_errno_and_long_paths_are_cut_to_fit(self):
        error, handle = bfs.new_error(), ctypes.c_void_p()
        path = self.folder + b"/" + b"d" * 200 + b"/" + b"e" * 200 + b"/" + b"f" * 200
        self.assertEqual(LIBRARY.bfs_open(path, bfs.READ, None, byref(handle), byref(error)), CODES["BFS_ENOENT"])
        self.assertEqual((error.code, error.os_errno, error.rule), (CODES["BFS_ENOENT"], 2, 0))
        self.assertTrue(error.message.startswith(self.folder))
        self.assertEqual(len(error.message), 495)
        self.assertTrue(error.message.endswith(b"does not exist. Create it first, or correct the path."), error.message)
        self.assertIn(b" ... ", error.message)
        short = self.folder + b"/absent \xff.bf"
        self.assertIn(self.folder + b"/absent \\xFF.bf", self.fails("BFS_ENOENT", LIBRARY.bfs_open, short, bfs.READ, None))

    def test_messages_are_utf_8_wherever_a_long_path_is_cut(self):
        for text in ("\u00e9", "\u20ac", "\U0001f600"):
            character = text.encode()
            for shift in range(4):
                for last in range(4):
                    path = self.folder + b"/" + b"x" * shift + character * (900 // len(character)) + b"y" * last
                    error, handle = bfs.new_error(), ctypes.c_void_p()
                    self.assertLess(LIBRARY.bfs_open(path, bfs.READ, None, byref(handle), byref(error)), 0)
                    message = error.message.decode("utf-8")  # decode() raises if a character was cut
                    self.assertGreater(len(error.message), 480)
                    self.assertNotIn("\\x", message)

    def test_bytes_that_are_not_utf_8_are_written_as_numbers(self):
        for wrong in (b"\x80", b"\xc0\xaf", b"\xc3", b"\xe2\x82", b"\xed\xa0\x80", b"\xf0\x80\x80\x80", b"\xf4\x90\x80\x80", b"\xf5",
                      b"\xff"):
            with self.subTest(wrong=wrong):
                message = self.fails("BFS_ENOENT", LIBRARY.bfs_open, self.folder + b"/" + wrong + b".bf", bfs.READ, None)
                self.assertIn("".join(f"\\x{byte:02X}" for byte in wrong) + ".bf", message.decode("utf-8"))

    def test_a_code_comes_with_the_errno_that_says_the_same(self):
        self.close(self.create())
        expected = {"BFS_EEXIST": errno.EEXIST, "BFS_EINVAL": errno.EINVAL, "BFS_EBUSY": errno.EBUSY}
        handle = bfs.open_path(LIBRARY, self.path, bfs.WRITE)
        for code, function, arguments in (
                ("BFS_EEXIST", LIBRARY.bfs_create, (self.path, 0, bfs.options(capacity=10))),
                ("BFS_EINVAL", LIBRARY.bfs_open, (self.path, 0, None)),
                ("BFS_EBUSY", LIBRARY.bfs_open, (self.path, bfs.EXCLUSIVE, None))):
            with self.assertRaises(bfs.CodeError) as raised:
                bfs.call(function, *arguments)
            self.assertEqual((raised.exception.code, raised.exception.os_errno), (CODES[code], expected[code]))
        self.close(handle)

    def test_a_flag_that_a_function_does_not_take_is_named(self):
        self.close(self.create())
        for flags, name in ((bfs.READ | bfs.REPLACE, b"BFS_REPLACE"), (bfs.READ | bfs.BARE, b"BFS_BARE"),
                            (bfs.READ | bfs.FILLING, b"BFS_FILLING"), (bfs.READ | 1 << 63, b"0x8000000000000000, which is no flag"),
                            (bfs.READ | 1 << 32, b"0x100000000, which is no flag"),
                            (bfs.READ | bfs.STATS_FILL, b"BFS_STATS_FILL")):
            self.assertEqual(b"bfs_open: does not take " + name + b"; remove it from the flags",
                             self.fails("BFS_EINVAL", LIBRARY.bfs_open, self.path, flags, None))
        new, given = self.path + b"2", bfs.options(capacity=10)
        for flags, name in ((bfs.READ, b"BFS_READ"), (bfs.STRICT, b"BFS_STRICT"), (bfs.CREATE, b"BFS_CREATE"), (1 << 30, b"0x40000000")):
            self.assertIn(b"bfs_create: does not take " + name, self.fails("BFS_EINVAL", LIBRARY.bfs_create, new, flags, given))
        for flags, name in ((bfs.EXCLUSIVE, b"BFS_EXCLUSIVE"), (bfs.FILLING, b"BFS_FILLING"), (bfs.UNPUBLISHED, b"BFS_UNPUBLISHED")):
            self.assertIn(b"bfs_build: does not take " + name,
                          self.fails("BFS_EINVAL", LIBRARY.bfs_build, new, flags, given, byref(bfs.many_keys(bfs.KEYS_PAIRS, 0))))
        for flags, name in ((bfs.REPLACE, b"BFS_REPLACE"), (bfs.UNPUBLISHED, b"BFS_UNPUBLISHED"), (bfs.EXCLUSIVE | bfs.BARE, b"BFS_BARE")):
            self.assertIn(b"does not take " + name,
                          self.fails("BFS_EINVAL", LIBRARY.bfs_open, new, bfs.WRITE | bfs.CREATE | flags, given))
        handle = bfs.open_path(LIBRARY, self.path)
        for flags, name in ((bfs.GUARD, b"BFS_GUARD"), (bfs.EXCLUSIVE, b"BFS_EXCLUSIVE"), (bfs.CREATE, b"BFS_CREATE")):
            with self.assertRaises(bfs.CodeError) as refused:
                bfs.copy(LIBRARY, handle, new, flags)
            self.assertEqual(refused.exception.code, EINVAL)
            self.assertIn(b"bfs_copy: does not take " + name, refused.exception.message)
        self.close(handle)
        error = bfs.new_error()
        self.assertEqual(LIBRARY.bfs_verify(self.path, bfs.GUARD, None, 0, byref(error)), EINVAL)
        self.assertIn(b"bfs_verify: does not take BFS_GUARD", error.message)
        self.assertFalse(os.path.exists(new))

    def test_a_field_that_a_function_does_not_take_is_named(self):
        """Each field of bfs_options, given to each function: it is taken, or its name is in the message."""
        given = {"mode": 0o600, "capacity": 100, "fpr": 0.1, "layout": 1, "hash": 1, "like": self.path, "secret": bytes(16),
                 "lock_timeout_ms": 1, "writeback_check_ms": 1, "threads": 1, "num_probes": 3, "part": 1, "num_parts": 2, "window_ms": 1,
                 "capacity_at_most": 100,
                 "bits_per_key": 8.0, "max_bytes": 100_000, "num_bits": 512, "note": b"n", "seeds": [1], "seed": 1,
                 "file_id": bytes(range(16)), "range": (64, 0), "fd": 0}
        fields = {name for name, _ in bfs.Options._fields_} - {"struct_bytes", "secret_bytes", "note_bytes", "num_seeds"}
        self.assertEqual(set(given), fields)
        opening = {"secret", "lock_timeout_ms", "writeback_check_ms", "threads"}
        copying = {"mode", "lock_timeout_ms"}
        self.close(self.create())
        handle, new, error = bfs.open_path(LIBRARY, self.path), self.path + b"2", bfs.new_error()
        out, one = ctypes.c_void_p(), (ctypes.c_void_p * 1)(handle)
        none = bfs.many_keys(bfs.KEYS_PAIRS, 0)
        keep, address = bfs.aligned_buffer(4096)
        functions = {
            "bfs_create": (fields - {"range", "fd"}, lambda o: LIBRARY.bfs_create(new, 0, o, byref(out), byref(error))),
            "bfs_build": (fields - {"range", "fd"}, lambda o: LIBRARY.bfs_build(new, 0, o, byref(none), byref(out), byref(error))),
            "bfs_open with BFS_CREATE": (fields - {"range", "fd"}, lambda o: LIBRARY.bfs_open(
                new, bfs.WRITE | bfs.CREATE, o, byref(out), byref(error))),
            "bfs_open": (opening | {"range", "fd"}, lambda o: LIBRARY.bfs_open(self.path, bfs.READ, o, byref(out), byref(error))),
            "bfs_copy": (copying | {"fpr"}, lambda o: LIBRARY.bfs_copy(handle, new, 0, o, byref(error))),
            "bfs_intersect": (copying, lambda o: LIBRARY.bfs_intersect(one, 1, new, 0, o, byref(error))),
            "bfs_make_delta": (copying, lambda o: LIBRARY.bfs_make_delta(self.path, self.path, new, 0, o, byref(error))),
            "bfs_apply_delta": (copying, lambda o: LIBRARY.bfs_apply_delta(self.path, self.path, new, 0, o, byref(error))),
            "bfs_join": (copying, lambda o: LIBRARY.bfs_join(one, 1, new, 0, o, byref(error))),
            "bfs_format": (fields - {"range", "fd", "mode", "lock_timeout_ms", "writeback_check_ms", "part", "num_parts"},
                           lambda o: LIBRARY.bfs_format(None, 0, 0, o, None, byref(error))),
            "bfs_open_memory": ({"secret"}, lambda o: LIBRARY.bfs_open_memory(address, 4096, bfs.READ, o, byref(out), byref(error))),
        }
        for function, (taken, call) in functions.items():
            for name, value in given.items():
                with self.subTest(function=function, name=name):
                    error.message = b""
                    code = call(bfs.options(**{name: value}))
                    if code >= 0:
                        LIBRARY.bfs_close(out, None)
                        out.value = None
                        if os.path.exists(new):
                            os.unlink(new)
                    group = "part" if name == "num_parts" else name
                    unless = " without BFS_CREATE" if function == "bfs_open" else ""
                    words = f"{function}: does not take bfs_options.{group}{unless}; leave it 0".encode()
                    self.assertEqual((code == EINVAL and error.message == words), name not in taken, error.message)
        self.close(handle)
        del keep

    def test_no_bit_has_two_meanings(self):
        flags = bfstore_header.flags(HEADER)
        self.assertEqual(len(set(flags.values())), len(flags))
        self.assertTrue(all(number.bit_count() == 1 for number in flags.values()), flags)
        self.assertGreater(len(flags), 20)

    def test_codes_have_names_and_classes(self):
        for name, code in CODES.items():
            self.assertEqual(LIBRARY.bfs_code_name(code).decode(), name)
        for code in (1, -99, -199, -299, -1000, -(2**31)):
            self.assertEqual(LIBRARY.bfs_code_name(code), b"BFS_E?")
        self.assertTrue(all(-300 < code <= 0 for code in CODES.values()))
        self.assertEqual({name: CODES[name] // -100 for name in ("BFS_EBUSY", "BFS_EPOISONED", "BFS_EMALFORMED")},
                         {"BFS_EBUSY": 0, "BFS_EPOISONED": 1, "BFS_EMALFORMED": 2})

    def test_layouts_and_hashes_have_names_and_no_unknown_one_gets_that_of_another(self):
        for prefix, name_of, named in (("BFS_LAYOUT_", LIBRARY.bfs_layout_name, LIBRARY.bfs_layout_named),
                                       ("BFS_HASH_", LIBRARY.bfs_hash_name, LIBRARY.bfs_hash_named)):
            known = {number: name.removeprefix(prefix).lower().replace("_", "-").encode()
                     for name, number in bfstore_header.constants(HEADER).items() if name.startswith(prefix)}
            self.assertGreater(len(known), 2)
            for number, name in known.items():
                self.assertEqual((name_of(number), named(name)), (name, number))
                # A number of the file has 16 bits, and one of the ABI 32.
                self.assertEqual((name_of(number | 1 << 16), name_of(number | 1 << 31)), (None, None))
                for other in (name.upper(), name[:-1], name + b" "):
                    self.assertEqual(named(other), EINVAL, other)
            for number in {*range(300), 2**16 - 1, 2**32 - 1} - set(known):
                self.assertIsNone(name_of(number), number)
            for name in (None, b"", b"\xff", b"1", b"counter"):
                self.assertEqual(named(name), EINVAL, name)

    def test_a_handle_that_is_shut_answers_maybe_and_has_closed_its_file(self):
        handle = self.create()
        self.assertEqual(LIBRARY.bfs_add(handle, b"key", 3), 1)
        self.assertEqual(LIBRARY.bfs_contains(handle, b"another", 7), 0)
        self.assertEqual(LIBRARY.bfs_shut(handle, None), 0)
        self.assertEqual(LIBRARY.bfs_contains(handle, b"another", 7), 1)
        for refused in (LIBRARY.bfs_add(handle, b"late", 4), LIBRARY.bfs_health(handle)):
            self.assertEqual(refused, CODES["BFS_ESHUT"])
        self.assertEqual(LIBRARY.bfs_sync(handle, bfs.mark(1, 0, 1), None), CODES["BFS_ESHUT"])
        self.assertEqual(LIBRARY.bfs_shut(None, None), CODES["BFS_EINVAL"])
        other = bfs.open_path(LIBRARY, self.path, bfs.READ | bfs.NO_WRITE)  # it is clean
        self.assertEqual((LIBRARY.bfs_contains(other, b"key", 3), LIBRARY.bfs_contains(other, b"late", 4)), (1, 0))
        self.close(other)
        self.close(handle)

    def test_a_handle_that_is_abandoned_leaves_a_file_as_a_killed_process_does(self):
        handle = self.create()
        self.assertEqual(LIBRARY.bfs_add(handle, b"key", 3), 1)
        LIBRARY.bfs_abandon(handle)
        handle.value = None
        LIBRARY.bfs_abandon(None)
        self.fails("BFS_EUNCLEAN", LIBRARY.bfs_open, self.path, bfs.READ | bfs.STRICT, None)  # dirty, and no writer
        self.fails("BFS_EUNCLEAN", LIBRARY.bfs_open, self.path, bfs.READ | bfs.NO_WRITE, None)  # it would have to sync it
        handle = bfs.open_path(LIBRARY, self.path, bfs.EXCLUSIVE)  # adopted: no lock is left
        self.assertEqual(LIBRARY.bfs_contains(handle, b"key", 3), 1)
        self.close(handle)
        self.close(bfs.open_path(LIBRARY, self.path, bfs.READ | bfs.NO_WRITE))

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
                ("BFS_EINVAL", {"capacity": 10, "layout": 99}), ("BFS_EINVAL", {"capacity": 10, "hash": 65535}),
                ("BFS_EINVAL", {"capacity": 10, "hash": "external", "seed": 1}),
                ("BFS_EINVAL", {"capacity": 10, "note": b"n" * 1025}), ("BFS_EINVAL", {"capacity": 2**63}),
                ("BFS_ESIZING", {"capacity": 10**9, "fpr": 1e-10}), ("BFS_ESIZING", {"capacity": 2**60, "fpr": 0.01})):
            with self.subTest(given=given):
                self.fails(code, LIBRARY.bfs_create, self.path, 0, bfs.options(**given))
                self.assertEqual(os.listdir(self.folder), [], "something was left behind")

    # A number that the caller gives is an argument. BFS_EFEATURE is for files that have such a number.
    def test_an_unknown_number_is_named(self):
        keep, address = bfs.aligned_buffer(4096)
        for wrong, words in (({"layout": 99}, [b"layout", b"99"]), ({"layout": 70000}, [b"layout", b"70000"]),
                             ({"hash": 65535}, [b"hash", b"65535"]), ({"hash": 70000}, [b"hash", b"70000"])):
            options = bfs.options(capacity=10, **wrong)
            for call, before in ((LIBRARY.bfs_create, (self.path, 0)), (LIBRARY.bfs_format, (address, 4096, 0)),
                                 (LIBRARY.bfs_open, (self.path, bfs.WRITE | bfs.CREATE)), (LIBRARY.bfs_format, (None, 0, 0))):
                with self.subTest(call=call.__name__, wrong=wrong):
                    said = self.fails("BFS_EINVAL", call, *before, options)
                    for word in words:
                        self.assertIn(word, said)
        self.assertEqual(os.listdir(self.folder), [], "something was left behind")
        del keep

    def test_a_buffer_that_is_too_small_or_not_aligned_or_not_a_filter(self):
        options = bfs.options(capacity=100)
        size = bfs.bytes_needed(LIBRARY, 0, options)
        keep, address = bfs.aligned_buffer(size + 64)
        for start, length in ((address, size - 1), (address, 0), (address + 8, size),
                              (address + 32, size)):
            self.fails("BFS_EINVAL", LIBRARY.bfs_format, start, length, 0, options)
        self.fails("BFS_EINVAL", LIBRARY.bfs_open_memory, address + 8, size, bfs.READ, None)
        self.fails("BFS_EMAGIC", LIBRARY.bfs_open_memory, address, size, bfs.READ, None)
        self.assertEqual(ctypes.string_at(address, size), bytes(size), "a failed call wrote to the buffer")
        for flags in (0, bfs.BARE, bfs.PRIVATE, bfs.READ | bfs.WRITE, bfs.EXCLUSIVE, bfs.POPULATE | bfs.READ):
            self.fails("BFS_EINVAL", LIBRARY.bfs_open_memory, address, size, flags, None)
        with open(self.path, "wb") as file:
            file.write(bytes(4096))
        self.fails("BFS_EINVAL", LIBRARY.bfs_open, self.path, bfs.READ, bfs.options(range=(8, 0)))
        self.fails("BFS_EMAGIC", LIBRARY.bfs_open, self.path, bfs.READ, bfs.options(range=(64, 0)))
        del keep


class Files(Case):
    def test_murmur3_takes_keys_and_seeds_and_no_digests(self):
        seeds, code = [41, 2**32 - 1, 7], CODES["BFS_EKEYONLY"]
        handle = self.create(hash="murmur3", capacity=0, fpr=0, num_bits=1000, seeds=seeds)
        stats = bfs.statistics(LIBRARY, handle)
        self.assertEqual((stats.num_bits, stats.num_probes, stats.layout, stats.hash),
                         (1000, 3, bfs.LAYOUTS["classic"], bfs.HASHES["murmur3"]))
        self.assertEqual(LIBRARY.bfs_add(handle, b"foo", 3), 1)
        self.assertEqual([LIBRARY.bfs_contains(handle, key, 3) for key in (b"foo", b"bar")], [1, 0])
        digests, answers = (ctypes.c_uint64 * 2)(1, 2), answers_for(2, 0)
        self.assertEqual(LIBRARY.bfs_add_digest(handle, 1), code)
        self.assertEqual(LIBRARY.bfs_contains_digest(handle, 1), code)
        self.assertEqual(LIBRARY.bfs_digest(handle, b"foo", 3, digests), code)
        self.assertEqual(LIBRARY.add_digests(handle, digests, 2), code)
        self.assertEqual(LIBRARY.contains_digests(handle, digests, 2, answers), code)
        self.assertEqual((list(answers), list(digests)), ([1, 1], [1, 2]))
        keys, lengths = pointers([b"foo", b"bar"])
        self.assertEqual(LIBRARY.contains_many(handle, keys, lengths, 2, answers), 1)
        self.assertEqual(list(answers), [1, 0])
        other = self.create(path=self.path + b".like", capacity=0, fpr=0, like=self.path)
        for one in (handle, other):
            stats = bfs.statistics(LIBRARY, one)
            self.assertEqual((stats.num_seeds, list(stats.seeds)), (3, [*seeds, *[0] * 61]))
        self.assertEqual(LIBRARY.bfs_merge(other, handle, None), 0)
        self.assertEqual(LIBRARY.bfs_contains(other, b"foo", 3), 1)

    def test_bit_arrays_come_and_go_in_both_orders(self):
        handle = self.create(hash="murmur3", capacity=0, fpr=0, num_bits=12, num_probes=2)
        bits, error = ctypes.create_string_buffer(2), bfs.new_error()
        self.assertEqual(LIBRARY.bfs_import_bits(handle, b"\x81\x30", 2, bfs.BITS_BIG, None), 0)  # bits 0, 7, 10 and 11
        for order, expected in ((bfs.BITS_BIG, b"\x81\x30"), (bfs.BITS_LITTLE, b"\x81\x0c")):
            self.assertEqual(LIBRARY.bfs_export_bits(handle, bits, 2, order, None), 0)
            self.assertEqual(bits.raw, expected)
        for array, order in ((b"\0", 1), (b"\0\0\0", 1), (b"\0\x10", 1), (b"\0\x08", 2), (b"\0\0", 0), (b"\0\0", 3)):
            self.assertEqual(LIBRARY.bfs_import_bits(handle, array, len(array), order, byref(error)), EINVAL, (array, order))
        self.assertEqual(LIBRARY.bfs_import_bits(handle, None, 2, 1, None), EINVAL)
        self.assertEqual(LIBRARY.bfs_import_bits(None, b"\0\0", 2, 1, None), EINVAL)
        self.assertEqual(LIBRARY.bfs_import_bits(handle, b"\0\0", 2**64 - 1, 1, None), EINVAL)
        self.assertEqual(bfs.statistics(LIBRARY, handle, bfs.STATS_FILL).set_bits, 4)
        for size, order in ((1, 1), (2, 3)):  # a caller that ignores the code has an array that says maybe
            array = ctypes.create_string_buffer(2)
            self.assertEqual(LIBRARY.bfs_export_bits(handle, array, size, order, byref(error)), EINVAL)
            self.assertEqual(array.raw, (b"\xff" * size).ljust(2, b"\0"))
        self.assertEqual(LIBRARY.bfs_export_bits(handle, None, 2, 1, None), EINVAL)
        self.assertEqual(LIBRARY.bfs_export_bits(handle, bits, 2**64 - 1, 1, None), EINVAL)
        self.assertEqual(LIBRARY.bfs_export_bits(None, bits, 2, 1, None), EINVAL)

    def test_seeds_and_their_number_are_given_together(self):
        options = bfs.options(hash="murmur3", num_bits=1000, seeds=[1, 2, 3])
        self.assertGreater(bfs.bytes_needed(LIBRARY, 0, options), 125)
        options.num_seeds = 65
        self.fails("BFS_EINVAL", LIBRARY.bfs_create, self.path, 0, options)
        options.num_seeds = 0
        self.fails("BFS_EINVAL", LIBRARY.bfs_create, self.path, 0, options)
        options.seeds, options.num_seeds = None, 3
        self.fails("BFS_EINVAL", LIBRARY.bfs_create, self.path, 0, options)

    def test_the_sizing_of_tutorials(self):
        handle = self.create(hash="murmur3", capacity=20, fpr=0.05, flags=bfs.TUTORIAL_SIZING)
        stats = bfs.statistics(LIBRARY, handle)
        self.assertEqual((stats.num_bits, stats.num_probes, stats.capacity), (124, 4, 20))

    def test_the_hashes_of_python_bloomfilter_take_neither_seeds_nor_digests(self):
        for number, name in ((7, "jaybird"), (8, "pybloom-live")):
            handle = self.create(path=self.path + name.encode(), hash=name, capacity=1000, fpr=0.001, flags=bfs.TUTORIAL_SIZING)
            stats = bfs.statistics(LIBRARY, handle)
            self.assertEqual((stats.hash, stats.layout, stats.num_bits, stats.num_probes, stats.capacity, stats.fpr),
                             (number, bfs.LAYOUTS["classic"], 10 * 1438, 10, 1000, 0.001))
            self.assertEqual(LIBRARY.bfs_add(handle, b"foo", 3), 1)
            self.assertEqual([LIBRARY.bfs_contains(handle, key, 3) for key in (b"foo", b"bar")], [1, 0])
            self.assertEqual(LIBRARY.bfs_contains_digest(handle, 1), CODES["BFS_EKEYONLY"])
            self.assertEqual(stats.num_seeds, 0)
            for wrong in ({"num_bits": 1001, "num_probes": 10}, {"num_bits": 1000, "num_probes": 10, "seeds": [1] * 10}):
                self.fails("BFS_EINVAL", LIBRARY.bfs_create, self.path, 0, bfs.options(hash=name, **wrong))

    def test_the_external_hash_takes_digests_and_no_keys(self):
        handle, code = self.create(hash="external"), CODES["BFS_EDIGESTONLY"]
        keys, lengths = pointers([b"a", b"b"])
        self.assertEqual(LIBRARY.bfs_add(handle, b"k", 1), code)
        self.assertEqual(LIBRARY.bfs_contains(handle, b"k", 1), code)
        self.assertEqual(LIBRARY.add_many(handle, keys, lengths, 2), code)
        answers = answers_for(2, 0)
        self.assertEqual(LIBRARY.contains_many(handle, keys, lengths, 2, answers), code)
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

    def test_sixty_four_owners_of_marks_and_no_more(self):
        handle = self.create()
        for owner in range(64):
            self.assertEqual(LIBRARY.bfs_sync(handle, bfs.mark(owner, 0, 100 + owner), None), 0)
        self.assertEqual(LIBRARY.bfs_sync(handle, bfs.mark(64, 0, 1), None), CODES["BFS_EOWNERS"])
        self.assertEqual(LIBRARY.bfs_sync(handle, bfs.mark(64, 0, 0), None), 0, "mark 0 stores none")
        self.assertEqual(LIBRARY.bfs_sync(handle, bfs.mark(3, 0, 1000), None), 0)
        self.close(handle)
        handle = bfs.open_path(LIBRARY, self.path)
        self.assertEqual([LIBRARY.bfs_get_mark(handle, owner, 0) for owner in range(65)],
                         [1000 if owner == 3 else 100 + owner for owner in range(64)] + [0])
        self.assertEqual(LIBRARY.bfs_sync(handle, bfs.mark(3, 0, 2000), None), CODES["BFS_EREADONLY"])
        self.close(handle)

    def test_a_guarded_filter_that_is_truncated_answers_maybe_and_refuses_what_is_added(self):
        self.close(self.create())
        for flags in (bfs.READ | bfs.GUARD, bfs.WRITE | bfs.GUARD, 0):
            if flags:
                handle = bfs.open_path(LIBRARY, self.path, flags)
            else:
                handle = bfs.create(LIBRARY, self.path, bfs.GUARD | bfs.REPLACE, capacity=1000)
            self.assertEqual(LIBRARY.bfs_contains(handle, b"k", 1), 0)
            with open(self.path, "rb") as file:
                whole = file.read()
            os.truncate(self.path, 16384)
            self.assertEqual(LIBRARY.bfs_contains(handle, b"k", 1), 1)
            fault = CODES["BFS_EREADONLY" if flags & bfs.READ else "BFS_EFAULT"]
            self.assertEqual(LIBRARY.bfs_add(handle, b"k", 1), fault)
            self.assertEqual(LIBRARY.bfs_sync(handle, bfs.mark(1, 0, 1), None), fault)
            self.assertEqual(bfs.statistics(LIBRARY, handle).health, CODES["BFS_EFAULT"])
            self.assertEqual(LIBRARY.bfs_close(handle, None), 0 if flags & bfs.READ else fault)
            with open(self.path, "wb") as file:
                file.write(whole)

    def test_a_copy_answers_as_the_file_did(self):
        handle = self.create()
        LIBRARY.bfs_add(handle, b"k", 1)
        self.close(handle)
        handle = bfs.open_path(LIBRARY, self.path, bfs.READ | bfs.PRIVATE)
        os.truncate(self.path, 0)
        self.assertEqual(LIBRARY.bfs_contains(handle, b"k", 1), 1)
        self.assertEqual(LIBRARY.bfs_contains(handle, b"l", 1), 0)
        self.assertEqual(LIBRARY.bfs_is_current(handle, None), 0)
        self.close(handle)

    def test_an_unpublished_filter_that_is_never_published_leaves_nothing(self):
        handle = self.create(flags=bfs.UNPUBLISHED)
        self.assertEqual(LIBRARY.bfs_add(handle, b"k", 1), 1)
        self.assertEqual(os.listdir(self.folder), [])
        self.close(handle)
        self.assertEqual(os.listdir(self.folder), [])

    def test_publishing_over_a_file_that_appeared_meanwhile_is_refused_and_can_be_tried_again(self):
        handle = self.create(flags=bfs.UNPUBLISHED)
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
        handle = bfs.open_path(LIBRARY, self.path)
        self.assertEqual(LIBRARY.bfs_contains(handle, b"k", 1), 1)
        self.close(handle)

    def test_another_process_sees_what_was_added_at_once_and_its_own_adds_come_back(self):
        handle = self.create()
        LIBRARY.bfs_add(handle, b"from here", 9)
        script = ("import sys; sys.path.insert(0, sys.argv[1]); import bfstore_ctypes as bfs\n"
                  "lib = bfs.load(sys.argv[2]); f = bfs.open_path(lib, sys.argv[3].encode(), bfs.WRITE)\n"
                  "assert lib.bfs_contains(f, b'from here', 9) == 1 and lib.bfs_contains(f, b'from there', 10) == 0\n"
                  "assert lib.bfs_add(f, b'from there', 10) == 1 and lib.bfs_close(f, None) == 0\n")
        support = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support")
        subprocess.run([sys.executable, "-B", "-c", script, support, LIBRARY_PATH, self.path], check=True, timeout=600)
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
        self.assertEqual(LIBRARY.contains_fixed(handle, bytes(600 * 4), 4, 600, answers), 600)
        self.assertEqual(list(answers), [1] * 600)
        self.assertEqual(LIBRARY.bfs_add(handle, b"m", 1), lost)
        self.assertEqual(LIBRARY.add_fixed(handle, bytes(600 * 4), 4, 600), lost)
        self.assertEqual(bfs.statistics(LIBRARY, handle).health, lost)
        self.assertEqual(LIBRARY.bfs_sync(handle, bfs.mark(1, 0, 1), None), lost)
        self.assertEqual(LIBRARY.bfs_close(handle, None), lost)
        handle.value = None
        with open(self.path, "rb") as file:
            self.assertEqual(set(file.read()), {0}, "closing wrote to a file that is not a filter any more")

    def test_a_poisoned_file_says_maybe_and_takes_no_keys(self):
        handle, poisoned = self.create(), CODES["BFS_EPOISONED"]
        with open(self.path, "rb") as file:
            word = int.from_bytes(file.read()[12288:12296], "little")
        self.overwrite(12288, (word | 1 << 1).to_bytes(8, "little"))
        self.assertEqual(LIBRARY.bfs_contains(handle, b"k", 1), 1)
        self.assertEqual(LIBRARY.bfs_add(handle, b"k", 1), poisoned)
        self.assertEqual(bfs.statistics(LIBRARY, handle).health, poisoned)
        self.assertEqual(LIBRARY.bfs_sync(handle, bfs.mark(1, 0, 1), None), poisoned)
        self.assertEqual(LIBRARY.bfs_close(handle, None), poisoned)
        handle.value = None
        for flags in (bfs.READ, bfs.WRITE, bfs.EXCLUSIVE):
            self.fails("BFS_EPOISONED", LIBRARY.bfs_open, self.path, flags, None)

    def test_a_writer_hears_that_its_file_is_replaced(self):
        handle = self.create()
        self.assertEqual(LIBRARY.bfs_is_current(handle, None), 1)
        self.close(bfs.create(LIBRARY, self.path, bfs.REPLACE, capacity=10))
        self.assertEqual(LIBRARY.bfs_is_current(handle, None), 0)
        superseded = CODES["BFS_ESUPERSEDED"]
        self.assertEqual(LIBRARY.bfs_add(handle, b"k", 1), superseded)
        self.assertEqual(LIBRARY.bfs_contains(handle, b"k", 1), 1)
        self.assertEqual(bfs.statistics(LIBRARY, handle).health, superseded)
        self.close(handle)
        handle = bfs.open_path(LIBRARY, self.path)
        self.assertEqual(bfs.statistics(LIBRARY, handle).capacity, 10)
        self.close(handle)


if __name__ == "__main__":
    unittest.main(verbosity=2)
