"""Random lives of filters that are built once, and of deltas. No key that was built in is ever answered "no": whatever builds it, in
every form of the filter, by every reader, when its builders are killed, stopped, and run out of disk and memory, when the file is
damaged, and while readers that follow the path ask.

    static_storm_test.py LIBRARY [--lives N] [--seed S] [--only KIND]

BF, KILL_LIBRARY and BFR_SHIM name bf, tests/bf/kill_at.c and tests/format/reader_shim.c. The last line counts what happened. A life
has its own seed, which a failure names: --seed and --lives 1 show it again, but for the moments of kills.
"""
import argparse
import ctypes
import errno
import filecmp
import mmap
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import traceback
import unittest
from collections import Counter

FOLDER = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [FOLDER, os.path.join(FOLDER, "..", "support"), os.path.join(FOLDER, "..", "format")]
import bfstore_ctypes as bfs
import reader
import single_header
from static_keys import BF, ISAS, SECRET, Asker, Keys, WrongNo

BODY, LIVE_PAGE = 16384, 12288
ERRNOS = (errno.EIO, errno.ENOSPC, errno.ENOMEM, errno.EINTR, errno.EACCES)
ALLOWED_EXITS = (0, 2, 3)  # a child of this test ends with 3 after an error, and bf with 2
NO_LIBRARIES = 127  # the loader had no memory for them


def file_id_of(path):
    with open(path, "rb") as file:
        return file.read(104)[88:]


def seconds():
    return time.monotonic()  # clock: it says how long a campaign took, and at which moments a process is killed


class Life:
    def __init__(self, library, seed, stats):
        self.library, self.chance, self.stats = library, random.Random(seed), stats
        self.asker = Asker(library, self.chance, stats)
        self.folder = tempfile.mkdtemp(prefix="bfstore-static-")
        self.children = []
        self.mounted = False
        self.secret_file = self.path("secret")
        with open(self.secret_file, "wb") as file:
            file.write(SECRET.hex().encode())
        os.chmod(self.secret_file, 0o600)

    def end(self):
        for child in self.children:
            if child.poll() is None:
                child.kill()
                child.wait()
        if self.mounted:
            subprocess.run(["umount", "-l", self.path("disk")], check=True)
        shutil.rmtree(self.folder)

    def path(self, name):
        return os.path.join(self.folder, name)

    def mount(self, kib):
        """True if there is a small disk of its own now."""
        os.mkdir(self.path("disk"))
        command = ["mount", "-t", "tmpfs", "-o", f"size={kib}k", "none", self.path("disk")]
        self.mounted = os.geteuid() == 0 and subprocess.run(command, stderr=subprocess.DEVNULL, check=False).returncode == 0
        self.stats["small disks"] += self.mounted
        return self.mounted

    # --- The filter to build ---

    def number_of_keys(self, most=60000):
        draw = self.chance.random()
        if draw < 0.12:
            return self.chance.choice((1, 1, 2, 3, 5, 31, 32, 33, 63, 64, 65))
        if draw < 0.5:
            return self.chance.randint(1, 3000)
        return self.chance.randint(1, most)

    def draw_shape(self):
        """Draws hash, seed, secret and rate. Sets self.given, which every builder gets."""
        self.hash = self.chance.choice(("xxh3", "xxh3", "siphash", "external"))
        self.columns = self.chance.choice((1, 2, 3, 5, 7, 8, 9, 10, 15, 16, 17, 20, 24, 31, 32))
        self.secret = SECRET if self.hash == "siphash" else None
        self.given = {"layout": "static", "hash": self.hash, "fpr": 2.0 ** -self.columns}
        if self.hash == "xxh3":
            self.given["seed"] = self.chance.getrandbits(64)
        if self.hash == "siphash":
            self.given["secret"] = SECRET
        return self.given

    def draw_form(self, forms=("fixed", "column", "text", "digests")):
        return "digests" if self.hash == "external" else self.chance.choice(forms)

    def gather(self, path, sets, flags, given, threads):
        """A handle that gathered these (keys, count), by several threads, some keys twice. It is not published yet."""
        handle = bfs.create(self.library, os.fsencode(path), flags | bfs.UNPUBLISHED | bfs.EXCLUSIVE, threads=threads, **given)
        work = []
        for keys, count in sets:
            first = 0
            while first < count:
                now = min(count - first, self.chance.choice((1, 7, 100, 5000, 30000)) if count < 20000 else count)
                work.append((keys, first, now))
                first += now
        work += [self.chance.choice(work) for _ in range(min(len(work), 3)) if work]
        self.chance.shuffle(work)
        gatherers = 1 if self.lacks_memory else self.chance.randint(1, 4)  # a thread of Python's would not start, and say nothing
        failures = []

        def add_share(mine):
            for keys, first, now in mine:
                if now == 1 and keys.form != "digests":
                    key = keys.one(first)
                    code = self.library.bfs_add(handle, key, len(key))
                else:
                    code = self.library.bfs_add_keys(handle, ctypes.byref(keys.some(first, now)))
                if code < 0:
                    failures.append(code)
                if self.library.bfs_contains_keys(handle, ctypes.byref(keys.some(first, 1)), (ctypes.c_uint8 * 1)()) != 1:
                    failures.append("no while it is gathered")

        each = [threading.Thread(target=add_share, args=(work[i::gatherers],)) for i in range(1, gatherers)]
        for thread in each:
            thread.start()
        add_share(work[::gatherers])
        for thread in each:
            thread.join()
        if failures:
            self.library.bfs_abandon(handle)
            raise MemoryError(failures) if failures[0] == bfs.ENOMEM else AssertionError(failures)
        return handle

    def build(self, path, sets, flags=0, given=None):
        """Builds the file of these (keys, count) in this process, and checks the builder's own handle."""
        given, threads = given or self.given, self.chance.randint(1, 4)
        if len(sets) == 1 and self.chance.random() < 0.4:
            keys, count = sets[0]
            handle = bfs.build(self.library, os.fsencode(path), ctypes.byref(keys.some(0, count)), flags, threads=threads, **given)
        else:
            handle = self.gather(path, sets, flags, given, threads)
            error = bfs.new_error()
            code = self.library.bfs_publish(handle, ctypes.byref(error))
            if code < 0:
                self.library.bfs_abandon(handle)
                raise bfs.CodeError(error)
        for keys, count in sets:
            self.asker.all_found(handle, keys, count, "the builder")
        self.library.bfs_close(handle, None)
        self.stats["built"] += 1

    def bf_build(self, path, keys, count):
        """The command of bf that builds a file of text keys."""
        given = ["--layout", "static", "--hash", self.hash, "--fpr", repr(2.0 ** -self.columns)]
        given += ["--seed", str(self.given["seed"])] if self.hash == "xxh3" else []
        given += ["--secret-file", self.secret_file] if self.secret else []
        source = self.path(f"keys-{self.chance.getrandbits(30)}")
        with open(source, "wb") as file:
            file.write(keys.lines(count))
        return [BF, "build", path, "-q", "--force", "--from", source, *given]

    # --- Checks ---

    def opened(self, path, flags, **fields):
        os.environ["BFSTORE_FORCE_ISA"] = self.chance.choice(ISAS)
        if not os.environ["BFSTORE_FORCE_ISA"]:
            del os.environ["BFSTORE_FORCE_ISA"]
        try:
            return bfs.open_path(self.library, path and os.fsencode(path), flags, secret=self.secret, **fields)
        finally:
            os.environ.pop("BFSTORE_FORCE_ISA", None)

    def has_all(self, handle, sets, where):
        for keys, count in sets:
            self.asker.all_found(handle, keys, count, where)

    def check_handle(self, handle, sets, where, real=True):
        self.has_all(handle, sets, where)
        if real and sets:
            self.asker.answers_are_real(handle, sets[0][0].form, 2.0 ** -self.columns, where)
        self.library.bfs_close(handle, None)

    def reading_flags(self):
        flags = bfs.READ
        for flag in (bfs.POPULATE, bfs.RANDOM, bfs.PRIVATE, bfs.GUARD, bfs.NO_WRITE, bfs.FOLLOW):
            if self.chance.random() < 0.25:
                flags |= flag
        flags |= self.chance.choice((0, bfs.VERIFY, bfs.TOLERATE_DAMAGE)) if self.is_sealed else 0
        return flags & ~bfs.POPULATE if flags & bfs.PRIVATE else flags

    is_sealed = True
    lacks_memory = False

    def check_file(self, path, sets, real=True):
        """Every reader finds every key."""
        for _ in range(2):
            flags = self.reading_flags()
            self.check_handle(self.opened(path, flags), sets, f"a reader with flags {flags:#x}", real)
        if self.is_sealed:
            assert bfs.verify(self.library, os.fsencode(path)) == []
        self.in_another_process(path, sets, real)
        if self.hash != "murmur3":  # they have the hashes of bfstore
            self.ask_independent_readers(path, sets)
        for keys, count in sets:
            if keys.form == "text" and self.chance.random() < 0.5:
                self.asker.tool_finds(path, keys, count, self.secret and self.secret_file, "bf")

    def in_another_process(self, path, sets, real):
        def ask():
            self.check_handle(self.opened(path, bfs.READ), sets, "another process", real)
        child = Child(ask)
        assert child.wait() == 0, "another process finds a wrong no: see above"

    def ask_independent_readers(self, path, sets):
        flags = single_header.ANY_FILESYSTEM | self.chance.choice((0, single_header.COPY))
        theirs = single_header.open_file(path, self.secret, flags)
        slow = reader.open_file(path, self.secret) if self.chance.random() < 0.3 and os.path.getsize(path) < 2**20 else None
        for keys, count in sets:
            some = [keys.one(self.chance.randrange(count)) for _ in range(min(count, 500))]
            of_digests = keys.form == "digests"
            if of_digests:
                numbers = [int.from_bytes(key, "little") for key in some]
                answers = theirs.contains_digests((ctypes.c_uint64 * len(some))(*numbers))
                mine = [slow.contains_digest(number) for number in numbers[:20]] if slow else []
            else:
                answers = theirs.contains_column(*single_header.column(some))
                mine = [slow.contains(key) for key in some[:20]] if slow else []
            if 0 in answers or not all(mine):
                raise WrongNo("an independent reader")
            self.stats["asked"] += len(some)
        theirs.close()

    def check_forms(self, path, sets):
        """Copies, seals, dumps, loads, ranges and descriptors have every key."""
        source = self.opened(path, bfs.READ | self.chance.choice((0, bfs.PRIVATE)))
        copy = self.path("copy.bf")
        for flags in (0, bfs.SEALED):
            bfs.copy(self.library, source, os.fsencode(copy), flags | bfs.REPLACE)
            self.check_handle(self.opened(copy, bfs.READ), sets, "a copy")
        if self.is_sealed:
            assert bfs.verify(self.library, os.fsencode(copy)) == []
        os.unlink(copy)
        dumped = bfs.dump(self.library, source, self.chance.choice((0, bfs.SAME_FILE_ID)))
        self.library.bfs_close(source, None)
        buffer = ctypes.create_string_buffer(len(dumped) + 256)
        start = -ctypes.addressof(buffer) % 64
        for off, flags in ((start, bfs.READ), (start + self.chance.randrange(64), bfs.READ | bfs.PRIVATE)):
            ctypes.memmove(ctypes.addressof(buffer) + off, dumped, len(dumped))
            self.check_handle(bfs.open_memory(self.library, ctypes.addressof(buffer) + off, len(dumped), flags, self.secret), sets, "memory")
        before = 64 * self.chance.randrange(100)
        with open(self.path("range"), "wb") as file:
            file.write(self.chance.randbytes(before) + dumped + self.chance.randbytes(self.chance.randrange(200)))
        flags = bfs.READ | self.chance.choice((0, bfs.GUARD, bfs.PRIVATE, bfs.RANDOM))
        self.check_handle(self.opened(self.path("range"), flags, range=(before, len(dumped))), sets, "a range of a file")
        with open(path, "rb") as file:
            whole = file.read()
            self.check_handle(self.opened(None, bfs.READ, fd=file.fileno()), sets, "a descriptor")
        self.check_handle(bfs.open_memory(self.library, ctypes.c_char_p(whole), len(whole), bfs.READ | bfs.PRIVATE, self.secret), sets, "the bytes of a file")
        self.stats["forms"] += 6


class Child:
    """A forked process that calls `work`. Its exit code is 0, 3 after an error of the library or of memory, and 1 after a wrong no."""

    def __init__(self, work, loud=False):
        sys.stdout.flush()
        sys.stderr.flush()
        self.status = None
        self.pid = os.fork()
        if self.pid != 0:
            return
        code = 1
        try:
            work()
            code = 0
        except (bfs.CodeError, MemoryError, OSError):
            if loud:
                traceback.print_exc()
            code = 3
        except RuntimeError as error:  # no more threads
            code = 3 if "thread" in str(error) else 1
        except BaseException:  # pylint: disable=broad-except  # a child never returns
            traceback.print_exc()
        finally:
            os._exit(code)

    def _ended(self, status):
        self.status = -os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)
        return self.status

    def poll(self):
        if self.status is None:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                self._ended(status)
        return self.status

    def wait(self):
        return self.status if self.status is not None else self._ended(os.waitpid(self.pid, 0)[1])

    def send_signal(self, number):
        if self.poll() is None:
            os.kill(self.pid, number)

    def kill(self):
        self.send_signal(signal.SIGKILL)


class Board:
    """Memory that a life's processes share: numbers of 8 bytes."""
    STOP, PROMISED, WRONG, FIRST_READER = 0, 1, 2, 8

    def __init__(self):
        self.numbers = (ctypes.c_uint64 * 512).from_buffer(mmap.mmap(-1, 4096))  # no store is torn, as those of struct are

    def __getitem__(self, i):
        return self.numbers[i]

    def __setitem__(self, i, number):
        self.numbers[i] = number


class Followed(Life):
    """A path whose file is replaced while readers follow it. The first PROMISED keys are in each file that the path has."""

    def begin_readers(self, path, keys, number):
        self.board = Board()
        self.board[Board.PROMISED] = self.promised
        self.readers = [Child(lambda i=i: self.follow(path, keys, i), loud=True) for i in range(number)]
        self.children += self.readers
        self.readers_go_on()  # they have opened this file

    def follow(self, path, keys, number):
        """A reader: asks until it is told to stop."""
        chance = self.asker.chance = self.chance = random.Random(number)
        flags = bfs.READ | bfs.FOLLOW | chance.choice((0, bfs.GUARD, bfs.POPULATE, bfs.RANDOM, bfs.VERIFY if self.is_sealed else 0))
        handle = self.opened(path, flags)
        stranger = Keys(chance, "fixed" if keys.form != "digests" else "digests", 20, may_skew=False)
        at = Board.FIRST_READER + 2 * number
        parent = os.getppid()
        while not self.board[Board.STOP] and os.getppid() == parent:  # a test that is killed leaves no readers
            promised = self.board[Board.PROMISED]
            first = chance.randrange(promised)
            count = min(promised, first + chance.choice((1, 10, 500, 5000)))
            try:
                self.asker.all_found(handle, keys, count, f"reader {number}, follows", first)
            except WrongNo:
                self.board[Board.WRONG] += 1
                raise
            self.board[at] += count - first
            if self.asker.many(handle, stranger, 0, 20, "many") > 0:
                self.board[at + 1] += 1
            if chance.random() < 0.05:
                self.library.bfs_is_current(handle, None)
            time.sleep(0.0005)
        self.library.bfs_close(handle, None)

    def check_readers(self):
        if self.board[Board.WRONG] or any(child.poll() is not None for child in self.readers):
            while self.board[Board.WRONG] and all(child.poll() is None for child in self.readers):  # it says what it found
                time.sleep(0.001)
            raise WrongNo("a reader that follows the path: see above")

    def readers_go_on(self):
        """Waits until each reader has asked, and has had a real no."""
        ats = [Board.FIRST_READER + 2 * i for i in range(len(self.readers))]
        before = [(self.board[at], self.board[at + 1]) for at in ats]
        while any(self.board[at] == asked or self.board[at + 1] == noes for at, (asked, noes) in zip(ats, before)):
            self.check_readers()
            time.sleep(0.001)

    def end_readers(self):
        self.board[Board.STOP] = 1
        for child in self.readers:
            assert child.wait() == 0, "a reader failed: see above"
        self.stats["followed"] += sum(self.board[Board.FIRST_READER + 2 * i] for i in range(len(self.readers)))

    # --- Accidents ---

    def draw_accident(self, of_bf):
        kinds = ["none", "kill", "kill", "stop", "disk", "memory"] + (["kill at", "fail at", "fail at", "stop at"] if of_bf else [])
        return self.chance.choice(kinds)

    def limits(self, accident, bytes_made):
        """What the child calls before it works."""
        def before():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            if accident == "disk":
                most = self.limit_draw % (bytes_made + 4096)
                resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))
            if accident == "memory":
                with open("/proc/self/statm", encoding="ascii") as file:
                    now = int(file.read().split()[0]) * 4096
                most = now + (self.limit_draw >> 8) % (1 << 17 + self.limit_draw % 6) if not self.of_bf else (8 << 20) + self.limit_draw % (40 << 20)
                resource.setrlimit(resource.RLIMIT_AS, (most, most))
        self.limit_draw = self.chance.getrandbits(40)
        return before

    def run(self, work, accident, bytes_made):
        """Runs a command of bf, or a function in a child, and lets the accident happen. Returns the exit code; None: it was killed."""
        self.of_bf, self.lacks_memory = isinstance(work, list), accident == "memory"
        before = self.limits(accident, bytes_made)
        began = seconds()
        if self.of_bf:
            environment = dict(os.environ)
            if accident.endswith(" at"):
                variable = accident.replace(" ", "_").upper()
                environment |= {"LD_PRELOAD": os.environ["KILL_LIBRARY"], variable: str(self.chance.randint(1, self.calls)),
                                "FAIL_ERRNO": str(self.chance.choice(ERRNOS)), "ASAN_OPTIONS": "verify_asan_link_order=0"}
            child = subprocess.Popen(work, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, env=environment, preexec_fn=before)
        else:
            child = Child(lambda: (before(), work()))
        self.lacks_memory = False
        self.children.append(child)
        if accident in ("kill", "stop"):
            time.sleep(self.chance.random() * 1.3 * self.usual.get(self.of_bf, 0.05))
        if accident == "kill":
            child.kill()
        elif accident == "stop":
            child.send_signal(signal.SIGSTOP)
            self.while_stopped(child)
        elif accident == "stop at":
            if os.waitid(os.P_PID, child.pid, os.WSTOPPED | os.WEXITED | os.WNOWAIT).si_code == os.CLD_STOPPED:
                self.while_stopped(child)
        code = child.wait()
        if self.of_bf:
            self.said = child.stderr.read()
            child.stderr.close()
        if accident == "none":
            self.usual[self.of_bf] = seconds() - began
            assert code == 0, (code, work if self.of_bf else "", self.said)
        killed = code == -signal.SIGKILL
        self.stats["kills"] += killed
        self.stats[accident] += 1
        if accident == "memory" and code == NO_LIBRARIES:
            code = 2
        assert killed or code in ALLOWED_EXITS, (accident, code, self.said)
        return None if killed else code

    def while_stopped(self, child):
        """Other processes continue, and it is killed, or continues."""
        before = self.board[Board.FIRST_READER]
        while self.board[Board.FIRST_READER] == before:
            self.check_readers()
            time.sleep(0.001)
        child.send_signal(self.chance.choice((signal.SIGKILL, signal.SIGCONT, signal.SIGCONT)))

    said = b""
    calls = 40


class Built(Life):
    """A filter of random keys and shape, with every reader, in every form."""

    def live(self):
        self.draw_shape()
        forms = [self.draw_form()] + (["digests"] if self.hash != "external" and self.chance.random() < 0.3 else [])
        count = self.number_of_keys()
        big = self.chance.random() < BIG
        if big:  # around the sizes at which the number of shards changes, and up to a few million
            forms = ["digests" if self.hash == "external" else "fixed"]
            edge = 2 ** 24 * self.chance.choice((1, 1, 2, 4)) / (1.1 * self.columns + 0.2)
            count = min(int(edge * self.chance.uniform(0.93, 1.05)), self.chance.choice((600000, 600000, 4000000)))
        sets = [(Keys(self.chance, form, count), count) for form in forms]
        total = count * len(sets)
        given = dict(self.given)
        if self.chance.random() < 0.2:
            given["capacity"] = total + self.chance.choice((0, 1, 100, total))
        elif self.chance.random() < 0.15:
            given["bits_per_key"], given["capacity"] = self.chance.uniform(self.columns * 1.2 + 2, 40), total
            self.columns, _ = 1, given.pop("fpr")
        elif self.chance.random() < 0.15:
            given["num_bits"], given["num_probes"] = int(max(total, 20) * (self.columns * 1.15 + 1)) + self.chance.randint(0, 40000), self.columns
            given.pop("fpr")
        if self.chance.random() < 0.3:
            given["file_id"] = self.chance.randbytes(15) + b"x"
        path = self.path("static.bf")
        try:
            self.build(path, sets, given=given)
        except bfs.CodeError as error:
            skewed = big and any(keys.skewed for keys, _ in sets)  # a shard gets too many
            assert (skewed or {"num_bits", "bits_per_key"} & given.keys()) and error.code in (bfs.EFULL, bfs.ESIZING), error
            assert not os.path.exists(path)
            return
        self.check_file(path, sets)
        self.check_forms(path, sets)
        if forms == ["text"] and "num_bits" not in given:
            self.gather_in_processes(path, *sets[0])
        if "file_id" in given and self.hash == "xxh3":
            other = self.path("other.bf")
            self.build(other, sets, given=given)
            assert filecmp.cmp(path, other, shallow=False), "equal keys, seed and file_id, and another file"


    def gather_in_processes(self, like, keys, count):
        """Processes of bf hash a share of the keys each, and another one builds the file of all digests."""
        secret = ["--secret-file", self.secret_file] if self.secret else []
        lines, shares = keys.lines(count).splitlines(keepends=True), self.chance.randint(1, 4)
        hashers = []
        for i in range(shares):
            with open(self.path(f"lines{i}"), "wb") as file:
                file.writelines(lines[i::shares])
            if lines[i::shares]:
                hashers.append(subprocess.Popen([BF, "digest", like, "--from", self.path(f"lines{i}"), *secret], stdout=subprocess.PIPE))
        with open(self.path("digests"), "wb") as file:
            file.writelines(hasher.communicate()[0] for hasher in hashers)
        assert not any(hasher.returncode for hasher in hashers)
        made = self.path("of-digests.bf")
        subprocess.run([BF, "build", made, "-q", "--digests", "--from", self.path("digests"), "--like", like, *secret], check=True)
        self.check_file(made, [(keys, count)])
        self.stats["built by several processes"] += 1


class Replaced(Followed):
    """A static file is replaced under its path again and again, while readers follow it and builders meet accidents."""

    def live(self):
        self.draw_shape()
        keys = Keys(self.chance, self.draw_form(("fixed", "text", "text", "column", "digests")), 2 * self.number_of_keys(25000) + 10)
        base = self.promised = max(1, keys.count // 4)
        path = os.path.join(self.folder, "followed.bf")
        if self.chance.random() < 0.3 and self.mount(120 + keys.count * (self.columns * 2 + 4) // 1024):
            path = os.path.join(self.path("disk"), "followed.bf")
        grows = self.chance.random() < 0.5
        self.usual = {}
        publisher = self.gather(path, [(keys, base)], 0, self.given, 2)
        assert self.library.bfs_publish(publisher, None) == 0
        old_handles = [publisher, self.opened(path, bfs.READ), self.opened(path, bfs.READ | bfs.PRIVATE), self.opened(path, bfs.READ | bfs.FOLLOW)]
        self.begin_readers(path, keys, 2)
        known = {file_id_of(path): base}
        here = base
        for _ in range(self.chance.randint(3, 7)):
            if self.hash == "xxh3" and self.chance.random() < 0.15:
                self.replace_by_a_stranger(path, keys, known)
            count = self.chance.randint(here if grows else base, keys.count)
            of_bf = keys.form == "text" and self.chance.random() < 0.7
            accident = self.draw_accident(of_bf)
            work = self.bf_build(path, keys, count) if of_bf else self.builder(path, keys, count, known)
            ships = not self.mounted and self.chance.random() < 0.25
            if ships:
                work, of_bf = self.shipper(path, keys, count, known)
                accident = self.draw_accident(of_bf)
            rival = None if of_bf or self.chance.random() < 0.7 else Child(self.builder(path, keys, self.chance.randint(here, keys.count), known))
            if self.mounted and accident == "none":
                accident = "full"
            if rival:
                self.children.append(rival)
                accident = "rival" if accident == "none" else accident
            code = self.run(work, accident, os.path.getsize(path) * 2)
            if rival:
                assert rival.wait() in ALLOWED_EXITS, "a rival builder failed: see above"
                code = "with a rival"
            self.check_readers()
            here = self.look(path, keys, known, here, count, code)
            for handle in old_handles:
                self.asker.all_found(handle, keys, base, f"a handle from the beginning ({old_handles.index(handle)})")
            if grows:
                self.board[Board.PROMISED] = here
        self.stats["replacements"] += len(known) - 1
        if not self.poisoned:
            self.readers_go_on()
        self.end_readers()
        for handle in old_handles:
            self.library.bfs_close(handle, None)

    def shipper(self, path, keys, count, known):
        """Returns what copies a file that was built elsewhere to the path, and whether that is bf."""
        side = self.path("side.bf")
        self.builder(side, keys, count, {})()
        self.stats["shipped"] += 1
        if self.chance.random() < 0.6:
            secret = ["--secret-file", self.secret_file] if self.secret else []
            return [BF, "copy", side, path, "--force", "--accept-loss", "-q", *secret], True

        def copy():
            source = self.opened(side, bfs.READ)
            bfs.copy(self.library, source, os.fsencode(path), bfs.REPLACE)
            self.library.bfs_close(source, None)
        return copy, False

    def builder(self, path, keys, count, known, **more):
        file_id = self.chance.randbytes(15) + b"x"
        known[file_id] = count
        return lambda: self.build(path, [(keys, count)], bfs.REPLACE, {**self.given, "file_id": file_id, **more})

    def replace_by_a_stranger(self, path, keys, known):
        """The next file has another seed. No reader takes it, and all say maybe."""
        if self.mounted or self.poisoned:
            return
        ats = [Board.FIRST_READER + 2 * i for i in range(len(self.readers))]
        self.builder(path, keys, 1, known, seed=self.given["seed"] ^ 1)()
        before = [self.board[at] for at in ats]
        while any(self.board[at] < was + 1000 for at, was in zip(ats, before)):
            self.check_readers()
            time.sleep(0.001)
        self.stats["strangers"] += 1

    poisoned = False

    def look(self, path, keys, known, before, count, code):
        """The path has the whole old file, or the whole new one. Returns its number of keys."""
        try:
            handle = self.opened(path, bfs.READ)
        except bfs.CodeError as error:  # the folder could not be synced, and the builder said so
            assert error.code == bfs.EPOISONED and code in (2, 3), (error, code, self.said)
            self.poisoned = True
            self.stats["poisoned"] += 1
            return before
        self.library.bfs_close(handle, None)
        now = known.setdefault(file_id_of(path), count)
        self.poisoned = False
        if now == 1 < self.promised:  # another seed's, and the builder did not replace it
            assert code != 0, code
            self.check_handle(self.opened(path, self.reading_flags()), [(keys, 1)], f"after {code}")
            self.poisoned = True
            return before
        assert code != 0 or now == count, (code, now, count)
        self.check_handle(self.opened(path, self.reading_flags()), [(keys, now)], f"after {code}")
        assert bfs.verify(self.library, os.fsencode(path)) == []
        if code in (2, 3):
            assert now == before, (code, now, before, count, self.said)
        if self.chance.random() < 0.3:
            self.ask_independent_readers(path, [(keys, now)])
        return now


class Damaged(Life):
    """A static file is damaged: it is refused, or its keys are maybe."""

    def live(self):
        self.draw_shape()
        big = self.chance.random() < 4 * BIG  # several shards, and few keys in each
        count = self.number_of_keys(3000 if big else 60000)
        keys = Keys(self.chance, self.draw_form(), count)
        path = self.path("whole.bf")
        if big:
            del self.given["fpr"]
            self.given |= {"num_bits": self.chance.randint(2 ** 24, 5 * 2 ** 24), "num_probes": self.columns}
        self.build(path, [(keys, count)])
        with open(path, "rb") as file:
            self.whole = file.read()
        handle = self.opened(path, bfs.READ)
        self.dumped = bfs.dump(self.library, handle)
        self.library.bfs_close(handle, None)
        for _ in range(8 if big else 20):
            kind, data = self.damage(self.whole)
            self.ask_damaged(kind, data, [(keys, count)])
        for _ in range(3):
            self.damage_in_use([(keys, count)])

    def damage(self, whole):
        data = bytearray(whole)
        chance = self.chance
        kind = chance.choice(("bytes", "bits", "zeros", "ones", "cut", "longer", "moved", "chance", "header"))
        first = chance.randrange(len(data))
        if chance.random() < 0.5 and len(data) > BODY:
            first = chance.randrange(BODY, len(data))
        if chance.random() < 0.3:
            first = first // 4096 * 4096
        end = min(len(data), first + chance.choice((1, 8, 64, 4096, 65536, len(data))))
        if kind == "bytes":
            for _ in range(chance.randint(1, 40)):
                data[chance.randrange(len(data))] ^= chance.randint(1, 255)
        elif kind == "bits":
            data[first] ^= 1 << chance.randrange(8)
        elif kind == "header":
            at = chance.choice((chance.randrange(512), chance.randrange(4096, 4352), chance.randrange(8192, 8448), chance.randrange(12288, 12800)))
            data[min(at, len(data) - 1)] ^= 1 << chance.randrange(8)
        elif kind in ("zeros", "ones"):
            data[first:end] = (b"\0" if kind == "zeros" else b"\xff") * (end - first)
        elif kind == "cut":
            del data[first:]
            if chance.random() < 0.4:
                data += bytes(len(whole) - first)
        elif kind == "longer":
            data += bytes(chance.choice((1, 8, 4096))) if chance.random() < 0.5 else data[-8:]
        elif kind == "moved":
            there = chance.randrange(len(data))
            data[first:end] = data[there:there + end - first].ljust(end - first, b"\0")
        else:
            data[first:end] = chance.randbytes(end - first)
        self.stats["damages"] += 1
        return kind, bytes(data)

    def ask_damaged(self, kind, data, sets):
        path = self.path("damaged.bf")
        with open(path, "wb") as file:
            file.write(data)
        body_is_whole = data[BODY:len(self.whole)] == self.whole[BODY:] and len(data) >= len(self.whole)
        ways = [lambda: self.opened(path, bfs.READ | bfs.VERIFY | self.chance.choice((0, bfs.PRIVATE, bfs.GUARD))),
                lambda: self.opened(path, bfs.READ | bfs.TOLERATE_DAMAGE | self.chance.choice((0, bfs.PRIVATE, bfs.GUARD))),
                lambda: bfs.open_memory(self.library, ctypes.c_char_p(data), len(data), bfs.READ | bfs.PRIVATE, self.secret)]
        try:
            is_whole = bfs.verify(self.library, os.fsencode(path)) == []
        except bfs.CodeError:
            is_whole = False
        if is_whole or body_is_whole:  # the header alone is looked at
            ways.append(lambda: self.opened(path, bfs.READ | self.chance.choice((0, bfs.PRIVATE, bfs.GUARD, bfs.FOLLOW))))
        for number, way in enumerate(ways):
            try:
                handle = way()
            except bfs.CodeError:
                self.stats["damage refused"] += 1
                continue
            self.check_handle(handle, sets, f"damage {kind}, way {number}", real=False)
            self.stats["damage asked"] += 1
        self.copy_damaged(path, sets)

    def copy_damaged(self, path, sets):
        """A copy of a damaged file is none, or has every key."""
        try:
            handle = self.opened(path, bfs.READ | self.chance.choice((0, bfs.TOLERATE_DAMAGE)) | self.chance.choice((0, bfs.PRIVATE)))
        except bfs.CodeError:
            return
        copy = self.path("copy.bf")
        try:
            bfs.copy(self.library, handle, os.fsencode(copy), bfs.REPLACE | self.chance.choice((0, bfs.SEALED)))
            self.check_handle(self.opened(copy, bfs.READ), sets, "a copy of a damaged file", real=False)
            dumped = bfs.dump(self.library, handle)
            self.check_handle(bfs.open_memory(self.library, ctypes.c_char_p(dumped), len(dumped), bfs.READ | bfs.PRIVATE, self.secret), sets,
                              "a dump of a damaged file", real=False)
        except bfs.CodeError:
            pass
        self.library.bfs_close(handle, None)

    def damage_in_use(self, sets):
        """The file is cut, zero-filled up to its end, or grown while handles have it: maybe, a signal without a guard, or an answer."""
        path = self.path("used.bf")
        in_range = self.chance.random() < 0.3
        before = bytes(64 * self.chance.randrange(1, 200)) if in_range else b""
        range_of = (len(before), len(self.dumped)) if in_range else None
        with open(path, "wb") as file:
            file.write(before + self.dumped if in_range else self.whole)
        length = os.path.getsize(path)
        cut = min(length - 1, self.chance.choice((0, 1, 4096, 8192, 12288, 12289, 16384, length, length - 9, self.chance.randrange(length))))
        kind = self.chance.choice(("cut", "cut and grown", "zeros", "foreign"))
        guarded = self.chance.random() < 0.5

        def ask():
            flags = bfs.READ | (bfs.GUARD if guarded else 0)
            follows = 0 if in_range else bfs.FOLLOW
            handles = [self.opened(path, each, range=range_of) for each in (flags, flags | follows, bfs.READ | bfs.PRIVATE)]
            if self.chance.random() < 0.5:
                self.has_all(handles[0], sets, "before the damage")
            with open(path, "r+b") as file:
                if kind == "zeros":
                    file.seek(cut)
                    file.write(bytes(length - cut))
                elif kind == "foreign":
                    file.seek(cut)
                    file.write(b"\xa5" * (length - cut))
                else:
                    os.ftruncate(file.fileno(), cut)
                if kind == "cut and grown":
                    os.ftruncate(file.fileno(), length + self.chance.choice((0, 0, 4096)))
            for handle in reversed(handles):
                self.has_all(handle, sets, f"in use: {kind} at {cut} of {length}, range {range_of}")
                self.library.bfs_close(handle, None)
        code = Child(ask).wait()
        assert code == 0 or code == -signal.SIGBUS and not guarded and kind.startswith("cut"), (kind, cut, guarded, code)
        self.stats["damages"] += 1
        self.stats["signals"] += code != 0


class Deltas(Followed):
    """A chain of deltas, applied in order, in a wrong order, twice and damaged, by processes that meet accidents, while readers follow."""

    def live(self):
        chance = self.chance
        layout = chance.choice(("blocked", "classic"))
        self.hash = chance.choice(("xxh3", "xxh3", "siphash", "external") + (("murmur3",) if layout == "classic" else ()))
        self.secret = SECRET if self.hash == "siphash" else None
        self.is_sealed = chance.random() < 0.6
        states = chance.randint(2, 5)
        forms = ("fixed", "column", "text")
        keys = Keys(chance, "digests" if self.hash == "external" else chance.choice(forms), self.number_of_keys(60000) + states)
        counts = sorted(chance.sample(range(1, keys.count + 1), states))
        self.columns = 7
        given = {"layout": layout, "hash": self.hash, "secret": self.secret, "capacity": keys.count, "fpr": 2.0 ** -self.columns}
        if chance.random() < 0.2:
            given["capacity"] *= chance.choice((5, 50))
        self.make_states(given, keys, counts)
        self.usual, self.calls = {}, 60
        path = self.path("list.bf")
        shutil.copyfile(self.state(0), path)
        self.promised = counts[0]
        self.begin_readers(path, keys, 2)
        self.apply_all(path, keys, counts)
        self.readers_go_on() if counts[-1] * 10 < given["capacity"] * 11 else None
        self.end_readers()
        assert filecmp.cmp(path, self.state(states - 1), shallow=False), "the deltas make another file"
        self.check_file(path, [(keys, counts[-1])], real=False)
        self.damage_state(keys, counts)
        if not self.is_sealed:
            for _ in range(10):
                self.race_with_a_writer(keys, counts)

    def race_with_a_writer(self, keys, counts):
        """A process adds keys to the earlier file, and may be killed, while the delta replaces it: a key whose close was good is there."""
        path, board = self.path("race.bf"), Board()
        shutil.copyfile(self.state(0), path)
        more = Keys(self.chance, keys.form, 40)
        wait = self.chance.random() * 0.004

        def add():
            time.sleep(wait)
            for i in range(more.count):
                handle = self.opened(path, bfs.WRITE)
                added = self.library.bfs_add_keys(handle, ctypes.byref(more.some(i, 1)))
                if self.library.bfs_close(handle, None) < 0 or added < 0:
                    break
                board[0] = i + 1
        writer = Child(add)
        self.children.append(writer)
        applied = False
        for _ in range(20):
            try:
                self.apply(path, self.delta(0), path)
                applied = True
                break
            except bfs.CodeError as error:
                if error.code == bfs.EMISMATCH:
                    break
        if self.chance.random() < 0.3:
            writer.kill()
        assert writer.wait() in (0, 3, -signal.SIGKILL), "a writer failed: see above"
        self.stats["races"] += 1
        self.stats["races that the delta won"] += applied
        try:
            handle = self.opened(path, bfs.WRITE if self.chance.random() < 0.5 else bfs.READ)
        except bfs.CodeError as error:  # killed in a sync
            assert error.code in (bfs.EUNCLEAN, bfs.EPOISONED) and writer.status == -signal.SIGKILL, error
            return
        self.check_handle(handle, [(keys, counts[1 if applied else 0]), (more, board[0])], "a race with a writer", real=False)

    def state(self, i):
        return self.path(f"state{i}.bf")

    def delta(self, i):
        return self.path(f"delta{i}")

    def make_states(self, given, keys, counts):
        writer = bfs.create(self.library, os.fsencode(self.path("maker.bf")), **given)
        for i, count in enumerate(counts):
            first = counts[i - 1] if i else 0
            assert self.library.bfs_add_keys(writer, ctypes.byref(keys.some(first, count - first))) >= 0
            bfs.copy(self.library, writer, os.fsencode(self.state(i)), bfs.SEALED if self.is_sealed else 0)
        self.library.bfs_close(writer, None)
        for i in range(len(counts) - 1):
            error = bfs.new_error()
            code = self.library.bfs_make_delta(os.fsencode(self.state(i)), os.fsencode(self.state(i + 1)), os.fsencode(self.delta(i)), 0, None, ctypes.byref(error))
            assert code == 0, error.message
            self.stats["deltas"] += 1

    def apply(self, before, delta, after):
        error = bfs.new_error()
        code = self.library.bfs_apply_delta(os.fsencode(before), os.fsencode(delta), os.fsencode(after), bfs.REPLACE, None, ctypes.byref(error))
        if code < 0:
            raise bfs.CodeError(error)

    def apply_all(self, path, keys, counts):
        here = 0
        while here < len(counts) - 1:
            if self.chance.random() < 0.4:
                self.apply_wrong(path, here, len(counts))
            of_bf = self.chance.random() < 0.5
            accident = self.draw_accident(of_bf)
            work = [BF, "apply", path, self.delta(here), path, "-q"]
            code = self.run(work if of_bf else lambda here=here: self.apply(path, self.delta(here), path), accident, os.path.getsize(path))
            self.check_readers()
            here = self.look(path, keys, counts, here, code)
            self.board[Board.PROMISED] = counts[here]
            self.stats["applied"] += code == 0

    def look(self, path, keys, counts, before, code):
        """The path has the earlier state, or the whole later one. Returns its number."""
        ids = [file_id_of(self.state(i)) for i in range(len(counts))]
        now = ids.index(file_id_of(path))
        assert now in (before, before + 1) and (code != 0 or now == before + 1), (now, before, code, self.said)
        try:
            handle = self.opened(path, bfs.READ)
        except bfs.CodeError as error:
            assert error.code == bfs.EPOISONED and now > before and code in (2, 3), (error, code, self.said)
            self.stats["poisoned"] += 1
            os.rename(shutil.copyfile(self.state(now), self.path("again")), path)  # a file that was sent as a whole
            handle = self.opened(path, bfs.READ)
        self.check_handle(handle, [(keys, counts[now])], f"a delta, {code}", real=False)
        with open(path, "rb") as one, open(self.state(now), "rb") as other:
            assert one.read()[BODY:] == other.read()[BODY:], "other bits than those of the maker"
        return now

    def apply_wrong(self, path, here, states):
        """A delta of another state, one that was applied before, and a damaged one make no file."""
        before = file_id_of(path)
        to = self.chance.choice((path, self.path("none.bf")))
        number = self.chance.choice([i for i in range(states - 1) if i != here] or [here])
        delta = self.delta(number)
        if number == here or self.chance.random() < 0.5:
            with open(self.delta(here), "rb") as file:
                data = bytearray(file.read())
            if self.chance.random() < 0.3:
                del data[self.chance.randrange(len(data)):]
            else:
                data[self.chance.randrange(len(data))] ^= 1 << self.chance.randrange(8)
            delta = self.path("damaged")
            with open(delta, "wb") as file:
                file.write(data)
        try:
            self.apply(path, delta, to)
            raise AssertionError("a delta of another file was applied, or a damaged one")
        except bfs.CodeError:
            self.stats["refused deltas"] += 1
        assert file_id_of(path) == before and not os.path.exists(self.path("none.bf"))

    def damage_state(self, keys, counts):
        """A damaged earlier file makes an error, or the later file."""
        damaged, made = self.path("damaged.bf"), self.path("made.bf")
        with open(self.state(0), "rb") as file:
            data = bytearray(file.read())
        for _ in range(5):
            bad = bytearray(data)
            bad[self.chance.randrange(len(bad))] ^= 1 << self.chance.randrange(8)
            with open(damaged, "wb") as file:
                file.write(bad)
            try:
                self.apply(damaged, self.delta(0), made)
            except bfs.CodeError:
                continue
            self.check_handle(self.opened(made, bfs.READ), [(keys, counts[1])], "a delta on a damaged file", real=False)
            with open(made, "rb") as one, open(self.state(1), "rb") as other:
                assert one.read() == other.read()


KINDS = {"built": Built, "replaced": Replaced, "damaged": Damaged, "deltas": Deltas}
BIG = 0.04  # the share of lives with a filter of several shards


def summary(stats, began):
    return f"seed {ARGUMENTS.seed}, {seconds() - began:.0f} s: " + ", ".join(f"{count:,} {name}" for name, count in sorted(stats.items()))


class Storm(unittest.TestCase):
    def test_no_key_that_was_built_in_is_answered_no(self):
        stats, began = Counter(), seconds()
        kinds = [ARGUMENTS.only] if ARGUMENTS.only else list(KINDS)
        for number in range(ARGUMENTS.lives):
            seed = ARGUMENTS.seed + number
            kind = kinds[seed % len(kinds)]
            life = KINDS[kind](LIBRARY, seed, stats)
            try:
                life.live()
            except BaseException:
                print(f"life {number}, {kind}: --only {kind} --lives 1 --seed {seed}", file=sys.stderr)
                raise
            finally:
                life.end()
            stats["lives"] += 1
            if sys.stdout.isatty() or ARGUMENTS.progress and number % ARGUMENTS.progress == 0:
                print(summary(stats, began), flush=True)
        print(summary(stats, began))


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("library")
    parser.add_argument("--lives", type=int, default=40)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", choices=KINDS)
    parser.add_argument("--big", type=float)
    parser.add_argument("--progress", type=int, default=0)
    ARGUMENTS = parser.parse_args()
    BIG = BIG if ARGUMENTS.big is None else ARGUMENTS.big
    LIBRARY = bfs.load(os.path.abspath(ARGUMENTS.library))
    unittest.main(argv=sys.argv[:1], verbosity=2)
