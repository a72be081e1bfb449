"""Hostile surroundings through the C ABI: paths that are not regular files, links, permissions, sizes at and past every
edge, headers that promise more than there is, limits of memory, file size and descriptors, and descriptors that other
code closed. Everything is an error that names the thing, nothing is a wrong "no", and nothing is left over.

Arguments: the shared library, capi/bfstore.h.
"""
import os
import re
import resource
import signal
import socket
import subprocess
import sys
import traceback
import unittest

from support import CODES, LIBRARY, Case, bfs

from breakage import end_word, put, seal_identity

KEYS = [b"key %d" % i for i in range(100)]
NAN, INFINITY = float("nan"), float("inf")
SANITIZED = "asan" in os.environ.get("LD_PRELOAD", "")  # a sanitizer needs all the address space there is


class Hostile(Case):
    def fill(self, path=None, **given):
        handle = self.create(path, **given)
        for key in KEYS:
            self.assertGreaterEqual(LIBRARY.bfs_add(handle, key, len(key)), 0)
        self.close(handle)

    def has_keys(self, handle):
        return [LIBRARY.bfs_contains(handle, key, len(key)) for key in KEYS] == [1] * len(KEYS)

    def openers(self):
        """Returns every function that opens a path, as (name, function of the path)."""
        seal = self.folder + b"/new"
        return [("read", lambda path: bfs.open_path(LIBRARY, path)),
                ("write", lambda path: bfs.open_path(LIBRARY, path, bfs.WRITE)),
                ("range", lambda path: bfs.open_path(LIBRARY, path, range=(0, 0))),
                ("verify", lambda path: bfs.verify(LIBRARY, path)),
                ("seal", lambda path: bfs.seal(LIBRARY, path, seal)),
                ("like", lambda path: bfs.create(LIBRARY, seal, like=path))]

    def refused_by_all(self, path, code, skip=()):
        before = sorted(os.listdir(self.folder))
        for name, opens in self.openers():
            if name in skip:
                continue
            with self.subTest(opener=name, path=path):
                with self.assertRaises(bfs.CodeError) as refused:
                    opens(path)
                self.assertEqual((refused.exception.code, refused.exception.rule), bfs.said(code), refused.exception.message)
                self.assertIn(path[:200], refused.exception.message)
        self.assertEqual(sorted(os.listdir(self.folder)), before)

    def in_child(self, deed):
        """Runs it in a child with limits, a user and descriptors of its own. The child must print nothing."""
        sys.stdout.flush()
        sys.stderr.flush()
        child = os.fork()
        if child == 0:
            code = 1
            try:
                deed()
                code = 0
            except BaseException:
                traceback.print_exc()
            finally:
                os._exit(code)
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), 0)

    # --- What is no regular file -------------------------------------------------------------------------------------

    def test_fifos_sockets_devices_and_folders_are_told_apart_and_do_not_block(self):
        fifo, endpoint = self.folder + b"/fifo", self.folder + b"/socket"
        os.mkfifo(fifo)
        listening = socket.socket(socket.AF_UNIX)
        self.addCleanup(listening.close)
        listening.bind(endpoint)
        signal.alarm(600)
        for path in (fifo, endpoint, self.folder, b"/dev/null", b"/dev/zero"):
            self.refused_by_all(path, "BFS_ENOTREGULAR")
        signal.alarm(0)
        for path in (self.folder, fifo):
            self.fails("BFS_EEXIST", LIBRARY.bfs_create, path, 0, bfs.options(capacity=10))
            self.fails("BFS_ENOTREGULAR", LIBRARY.bfs_create, path, bfs.REPLACE, bfs.options(capacity=10))

    def test_a_symbolic_link_is_followed_for_reading_and_nothing_is_written_through_one(self):
        self.fill()
        link, loop, hanging = (self.folder + name for name in (b"/link", b"/loop", b"/hanging"))
        os.symlink(self.path, link)
        os.symlink(loop, loop)
        os.symlink(self.folder + b"/nothing", hanging)
        self.assertTrue(self.has_keys(bfs.open_path(LIBRARY, link)))
        self.fails("BFS_ENOENT", LIBRARY.bfs_open, hanging, bfs.READ, None)
        self.fails("BFS_ESYSTEM", LIBRARY.bfs_open, loop, bfs.READ, None)  # ELOOP
        for path in (link, loop, hanging):
            self.fails("BFS_ESYMLINK", LIBRARY.bfs_open, path, bfs.READ | bfs.NOFOLLOW, None)
            for mode in (bfs.WRITE, bfs.EXCLUSIVE):
                self.fails("BFS_ESYMLINK", LIBRARY.bfs_open, path, mode, None)
            self.fails("BFS_EEXIST", LIBRARY.bfs_create, path, 0, bfs.options(capacity=10))
            self.fails("BFS_ESYMLINK", LIBRARY.bfs_create, path, bfs.REPLACE, bfs.options(capacity=10))
            self.assertTrue(os.path.islink(path))
        os.symlink(self.folder, self.folder + b"/folder")
        self.assertTrue(self.has_keys(bfs.open_path(LIBRARY, self.folder + b"/folder/filter.bf")))

    def test_a_link_that_the_kernel_does_not_follow_is_not_followed(self):
        """A stranger's link in a sticky folder (fs.protected_symlinks): reading its text would go round the kernel."""
        self.fill()
        shared = self.folder + b"/shared"
        os.mkdir(shared)
        os.chmod(shared, 0o1777)
        os.symlink(self.path, shared + b"/link.bf")
        if os.geteuid() == 0:
            os.lchown(shared + b"/link.bf", 65534, 65534)
        try:
            os.close(os.open(shared + b"/link.bf", os.O_RDONLY))
        except PermissionError:
            self.fails("BFS_EACCES", LIBRARY.bfs_open, shared + b"/link.bf", bfs.READ, None)
        else:
            self.assertTrue(self.has_keys(bfs.open_path(LIBRARY, shared + b"/link.bf")))

    def test_a_link_that_is_switched_makes_its_handles_not_current(self):
        """Releases are switched in this way: current -> v17."""
        for name in (b"/v1", b"/v2"):
            os.mkdir(self.folder + name)
        self.fill()
        os.rename(self.path, self.folder + b"/v1/a.bf")
        current = self.folder + b"/current.bf"
        os.symlink(b"v1/a.bf", current)
        handles = [bfs.open_path(LIBRARY, current)]
        before = os.getcwd()
        os.chdir(self.folder)
        handles.append(bfs.open_path(LIBRARY, b"current.bf"))
        os.chdir(before)
        for handle in handles:
            self.assertEqual(LIBRARY.bfs_is_current(handle, None), 1)
        self.close(self.create(path=self.folder + b"/v2/a.bf"))
        os.symlink(b"v2/a.bf", current + b".new")
        os.rename(current + b".new", current)
        for handle in handles:
            self.assertEqual(LIBRARY.bfs_is_current(handle, None), 0)
            self.assertTrue(self.has_keys(handle))  # it answers from the old file

    def test_two_names_of_one_file_are_one_file(self):
        self.fill()
        other = self.folder + b"/other"
        os.link(self.path, other)
        one, two = (bfs.open_path(LIBRARY, path, bfs.WRITE) for path in (self.path, other))
        self.assertEqual(LIBRARY.bfs_add(one, b"new", 3), 1)
        self.assertEqual(LIBRARY.bfs_contains(two, b"new", 3), 1)
        self.fails("BFS_EBUSY", LIBRARY.bfs_open, other, bfs.EXCLUSIVE, None)
        self.close(one)
        self.fails("BFS_EBUSY", LIBRARY.bfs_open, self.path, bfs.EXCLUSIVE, None)
        self.close(two)
        self.close(bfs.open_path(LIBRARY, other, bfs.EXCLUSIVE))

    def test_paths_that_lead_nowhere(self):
        self.fill()
        for path, code in ((b"", "BFS_ENOENT"), (self.path + b"/below a file", "BFS_ENOENT"),
                           (self.folder + b"/no/such", "BFS_ENOENT"), (self.folder + b"/" + b"n" * 256, "BFS_ESYSTEM")):
            self.refused_by_all(path, code, skip=("like",) if not path else ())

    # --- Permissions -------------------------------------------------------------------------------------------------

    def as_nobody(self, deed):
        if os.geteuid() != 0:
            return deed()

        def without_power():
            os.setgroups([])
            os.setgid(65534)
            os.setuid(65534)
            deed()
        os.chmod(self.folder, 0o777)
        return self.in_child(without_power)

    def test_who_may_only_read_reads_and_who_may_not_is_told(self):
        self.fill()
        os.chmod(self.path, 0o444)

        def reads():
            handle = bfs.open_path(LIBRARY, self.path)
            assert self.has_keys(handle)
            assert LIBRARY.bfs_contains(handle, b"no such key", 11) == 0
            for flags in (bfs.WRITE, bfs.EXCLUSIVE):
                self.assertIn(self.path, self.fails("BFS_EACCES", LIBRARY.bfs_open, self.path, flags, None))
        self.as_nobody(reads)
        os.chmod(self.path, 0)
        self.as_nobody(lambda: self.refused_by_all(self.path, "BFS_EACCES"))

    def test_folders_that_may_not_be_searched_or_written_to_are_told(self):
        self.fill()
        os.mkdir(self.folder + b"/closed", 0o700)
        os.mkdir(self.folder + b"/fixed")
        os.chmod(self.folder + b"/fixed", 0o555)

        def tries():
            if os.geteuid() == 0:
                return
            if os.stat(self.folder).st_uid != os.geteuid():
                self.refused_by_all(self.folder + b"/closed/f", "BFS_EACCES")
            self.fails("BFS_EACCES", LIBRARY.bfs_create, self.folder + b"/fixed/f", 0, bfs.options(capacity=10))
        self.as_nobody(tries)
        self.assertEqual(os.listdir(self.folder + b"/fixed"), [])

    # --- Sizes -------------------------------------------------------------------------------------------------------

    def test_sizes_at_and_past_every_edge(self):
        good, bad = {"capacity": 100, "fpr": 0.01}, ("BFS_EINVAL", "BFS_ESIZING", "BFS_ENOSPC")
        for given, fits in (
                [({"num_bits": 512, "num_probes": k}, 1 <= k <= 64) for k in (0, 1, 64, 65, 2**31, 2**32 - 1)] +
                [({"num_bits": m, "num_probes": 1, "layout": "classic"}, fits) for m, fits in (
                    (0, False), (1, True), (63, True), (64, True), (65, True), (2**48 + 1, False), (2**63, False), (2**64 - 1, False))] +
                [({"num_bits": m, "num_probes": 1}, True) for m in (1, 511, 512, 513)] +
                [({"capacity": n, "fpr": 0.01}, fits) for n, fits in (
                    (0, False), (1, True), (2**63 - 1, False), (2**63, False), (2**64 - 1, False))] +
                [({"capacity": n, "num_bits": 512, "num_probes": 1}, fits) for n, fits in (
                    (1, True), (2**63 - 1, True), (2**63, False), (2**64 - 1, False))] +
                [({**good, "fpr": p}, fits) for p, fits in (
                    (5e-324, False), (1e-300, False), (1e-9, False), (1e-7, True), (1 - 2**-53, True), (1.0, False),
                    (1 + 2**-52, False), (2.0, False), (-5e-324, False), (-1.0, False), (NAN, False), (INFINITY, False),
                    (-INFINITY, False))] +
                [({"capacity": 100, "fpr": 1e-16, "layout": "classic"}, True)] +
                [({"capacity": 100, "bits_per_key": b}, fits) for b, fits in (
                    (5e-324, True), (1.0, True), (64.0, True), (2.0**48, False), (1e308, False), (-1.0, False), (NAN, False),
                    (INFINITY, False))] +
                [({"capacity": 100, "max_bytes": b}, fits) for b, fits in (
                    (1, False), (16384, False), (16384 + 4096 + 7, False), (16384 + 4096 + 8, True), (2**64 - 1, False))] +
                [({**good, "note": b"n" * 1024}, True), ({**good, "note": b"n" * 1025}, False)] +
                [({**good, "mode": mode}, fits) for mode, fits in ((0o777, True), (0o1000, False), (2**32 - 1, False))]):
            with self.subTest(given=given):
                try:
                    handle = bfs.create(LIBRARY, self.path, **given)
                except bfs.CodeError as refused:
                    self.assertFalse(fits, refused.message)
                    self.assertIn(refused.code, [CODES[code] for code in bad], refused.message)
                    self.assertRegex(refused.message, re.escape(self.path) + b"|bfs_options|the note")
                    self.assertEqual(os.listdir(self.folder), [])
                    continue
                self.assertTrue(fits)
                self.assertGreaterEqual(LIBRARY.bfs_add(handle, b"key", 3), 0)
                self.assertEqual(LIBRARY.bfs_contains(handle, b"key", 3), 1)
                self.assertEqual(LIBRARY.bfs_close(handle, None), 0)
                self.close(bfs.open_path(LIBRARY, self.path, bfs.WRITE))
                os.unlink(self.path)

    def test_a_filter_that_can_not_fit_on_any_disk_is_refused_at_once_and_leaves_nothing(self):
        for m in (2**48, 2**46):
            message = self.fails("BFS_ENOSPC", LIBRARY.bfs_create, self.path, 0, bfs.options(num_bits=m, num_probes=4))
            self.assertIn(b"are free", message)  # the check comes before the disk is filled
        self.assertEqual(os.listdir(self.folder), [])

    def header_for(self, m, layout="blocked"):
        """Returns the header of a clean file whose identity promises a body of m bits."""
        self.fill(num_bits=512, num_probes=4, capacity=0, fpr=0, layout=layout)
        with open(self.path, "rb") as file:
            data = bytearray(file.read())
        os.unlink(self.path)
        put(data, 40, "Q", m)
        put(data, 80, "Q", m // 8)
        seal_identity(data)
        return bytes(data[:16384])

    def write_sparse(self, file, m):
        header = self.header_for(m)
        file.write(header)
        file.seek(16384 + m // 8)
        file.write(end_word(header))

    def test_a_header_that_promises_2_to_the_48_bits_on_a_small_file(self):
        for m in (2**48, 2**47, 2**40, 2**20):
            header = self.header_for(m)
            with open(self.path, "wb") as file:
                file.write(header + bytes(64))
            self.refused_by_all(self.path, "BFS_EBODY", skip=("range",))
            os.unlink(self.path)

    def test_a_sparse_file_of_a_tebibyte_opens_at_once_and_is_not_written_to_without_its_blocks(self):
        path = self.folder + b"/sparse"
        with open(path, "wb") as file:
            self.write_sparse(file, 2**43)
        if self.is_in_memory(path):
            self.skipTest(f"{self.folder.decode()} is in memory")
        faults = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
        handle = bfs.open_path(LIBRARY, path)
        self.assertEqual(LIBRARY.bfs_contains(handle, b"key", 3), 0)
        self.assertEqual(LIBRARY.bfs_close(handle, None), 0)
        self.assertIn(path, self.fails("BFS_ENOSPC", LIBRARY.bfs_open, path, bfs.WRITE, None))
        self.assertLess(os.stat(path).st_blocks * 512, 2**20)
        # Each page that is read is a fault, or several pages are one fault. A tebibyte has 2^28 pages.
        self.assertLess(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - faults, 10_000)

    def test_a_sparse_file_of_a_tebibyte_in_memory_is_refused_at_once(self):
        path = b"/dev/shm/bfstore-sparse-%d" % os.getpid()
        try:
            file = open(path, "wb")
        except OSError as error:
            self.skipTest(f"/dev/shm: {error}")
        self.addCleanup(os.unlink, path)
        with file:
            self.write_sparse(file, 2**43)
        if not self.is_in_memory(path):
            self.skipTest("/dev/shm is not in memory")
        faults = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
        for flags in (bfs.READ, bfs.READ | bfs.POPULATE, bfs.WRITE):
            self.assertIn(path, self.fails("BFS_ENOSPC", LIBRARY.bfs_open, path, flags, None))
        self.assertLess(os.stat(path).st_blocks * 512, 2**20)
        self.assertLess(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - faults, 10_000)

    @staticmethod
    def is_in_memory(path):
        return subprocess.run(["stat", "-f", "-c", "%T", path], stdout=subprocess.PIPE, check=True).stdout.strip() == b"tmpfs"

    # --- Limits ------------------------------------------------------------------------------------------------------

    def limit_of_memory(self):
        path = self.folder + b"/large"
        with open(path, "wb") as file:
            self.write_sparse(file, 2**33)
        self.fill()

        def small():
            resource.setrlimit(resource.RLIMIT_AS, (2**29, 2**29))
            for flags in (bfs.READ, bfs.WRITE):
                message = self.fails("BFS_ENOMEM", LIBRARY.bfs_open, path, flags, None)
                assert path in message and b"memory" in message, message
            assert self.has_keys(bfs.open_path(LIBRARY, self.path))
        self.in_child(small)
        self.close(bfs.open_path(LIBRARY, path, bfs.WRITE))  # the file is still clean

    if not SANITIZED:
        test_a_limit_of_memory_is_an_error_that_names_the_file_and_changes_nothing = limit_of_memory

    def test_a_limit_of_file_size_is_an_error_and_leaves_nothing(self):
        self.fill()

        def limited():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (40000, 40000))
            new = self.folder + b"/new"
            self.fails("BFS_ENOSPC", LIBRARY.bfs_create, new, 0, bfs.options(capacity=10**6))
            handle = bfs.open_path(LIBRARY, self.path, bfs.WRITE)
            assert LIBRARY.bfs_add(handle, b"new", 3) == 1 and LIBRARY.bfs_sync(handle, bfs.mark(1, 0, 1), None) == 0
            assert LIBRARY.bfs_close(handle, None) == 0
            resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 40000))
            with self.assertRaises(bfs.CodeError):
                bfs.seal(LIBRARY, self.path, new)
        self.in_child(limited)
        self.assertEqual(os.listdir(self.folder), [b"filter.bf"])
        self.assertTrue(self.has_keys(bfs.open_path(LIBRARY, self.path)))

    def test_a_limit_of_descriptors_is_an_error_at_every_number_and_loses_nothing(self):
        self.fill()

        def limited():
            free = os.open("/dev/null", os.O_RDONLY)
            os.close(free)
            opened = 0
            for more in range(12):
                resource.setrlimit(resource.RLIMIT_NOFILE, (free + more, 4096))
                for flags in (bfs.READ, bfs.WRITE):
                    try:
                        handle = bfs.open_path(LIBRARY, self.path, flags)
                    except bfs.CodeError as refused:
                        assert refused.os_errno == 24, refused  # EMFILE
                        continue
                    assert self.has_keys(handle) and LIBRARY.bfs_close(handle, None) in (0, CODES["BFS_ESYSTEM"])
                    opened += 1
            assert opened >= 2
        self.in_child(limited)
        self.assertTrue(self.has_keys(bfs.open_path(LIBRARY, self.path)))

    # --- Descriptors -------------------------------------------------------------------------------------------------

    def test_a_handle_whose_descriptor_somebody_closed_says_maybe_or_an_error(self):
        for reused in (False, True):
            with self.subTest(reused=reused):
                other = self.folder + b"/other"
                self.fill(self.path)
                with open(other, "wb") as file:
                    file.write(b"somebody's data" * 5000)
                before = open(other, "rb").read()

                def closes():
                    handle = bfs.open_path(LIBRARY, self.path, bfs.WRITE)
                    os.closerange(3, 256)
                    fillers = [os.open(other, os.O_RDWR) for _ in range(8)] if reused else []
                    child = os.fork()
                    if child == 0:  # the child still has our descriptors, whatever their numbers are
                        os._exit(sum(os.read(filler, 8) != b"somebody" for filler in fillers[:1]))
                    assert os.waitpid(child, 0)[1] == 0
                    assert self.has_keys(handle)
                    assert LIBRARY.bfs_add(handle, b"new", 3) >= 0
                    assert LIBRARY.bfs_contains(handle, b"new", 3) == 1
                    assert LIBRARY.bfs_sync(handle, bfs.mark(1, 0, 1), None) < 0
                    assert LIBRARY.bfs_is_current(handle, None) != 1
                    assert LIBRARY.bfs_close(handle, None) < 0
                    del fillers
                self.in_child(closes)
                self.assertEqual(open(other, "rb").read(), before)
                for path in (self.path, other):
                    os.unlink(path)

    def test_what_a_program_prints_never_goes_into_a_filter(self):
        self.fill()

        def prints():
            for number in (0, 1, 2):
                os.close(number)
            handle = bfs.open_path(LIBRARY, self.path, bfs.WRITE)
            made = bfs.create(LIBRARY, self.folder + b"/made", capacity=10)
            for number in (0, 1, 2):
                try:
                    os.write(number, b"printed")
                except OSError:
                    continue
                os._exit(9)
            assert LIBRARY.bfs_close(handle, None) == 0 and LIBRARY.bfs_close(made, None) == 0
        self.in_child(prints)
        for path in (self.path, self.folder + b"/made"):
            self.close(bfs.open_path(LIBRARY, path, bfs.WRITE))


if __name__ == "__main__":
    unittest.main(verbosity=2)
