"""Shared by bfinspect's tests: running the tools, and taking filter files apart and together as FORMAT.md says.

The environment has BF and BFINSPECT, the built programs.
"""
import json
import os
import re
import shutil
import stat
import struct
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import programs  # found only now

programs.need_module("xxhash", "python3-xxhash")
import xxhash

from bfstore_ctypes import LASTING_LAYOUTS as LAYOUTS  # found only now; the tests take it from here
from waiting import PATIENCE, wait_until

BF = os.environ["BF"]
BFINSPECT = os.environ["BFINSPECT"]
PAGE = 4096
SLOT_A, SLOT_B, LIVE = PAGE, 2 * PAGE, 3 * PAGE
CLEAN, DIRTY, RECOVERING, PAUSED = 1, 2, 3, 4
POISONED, SUPERSEDED, LIVE_RECOVERING = (1 << bit for bit in (1, 2, 3))
SYNCING = LIVE + 8  # a word of its own

KEYS = {
    "schema", "path", "path_bytes", "valid", "healthy", "state", "syncing", "filling", "epochs", "window_ms", "epoch", "turned_at", "turn_due", "state_sequence", "slots", "marks", "keys_added", "keys_removed",
    "file_bytes", "allocated_bytes", "num_bits", "num_probes", "capacity", "growth", "num_slices", "most_slices", "first_capacity", "capacity_at_most", "fpr", "seed", "seeds", "part", "num_parts", "whole_capacity", "layout", "hash", "secret_check", "bits_per_key",
    "format_version", "form", "file_id", "header_bytes", "compat", "ro_compat", "incompat", "body_offset", "body_bytes",
    "sealed", "checksums_offset", "num_chunks", "damaged", "set_bits", "fill_ratio",
    "estimated_keys", "estimated_keys_low", "estimated_keys_high", "estimated_fpr", "counters_at_15", "keys_of_epochs", "leaked_keys", "leaky",
    "bits_may_be_missing", "stretches", "emptier_stretches", "remaining_keys", "keys_until_next_slice", "overfull", "resident_bytes", "huge_page_bytes", "open_by",
    "open_by_complete", "processes_not_looked_at", "note", "note_bytes", "key_form", "key_form_bytes",
    "foreign_formats", "foreign_filters", "foreign_keys", "looks_like", "first_bytes", "link_target",
    "link_target_bytes", "problems", "error"}

# Numbers of keys of InspectorCase.grown(), the number of slices that it then has, and how many times as many keys as the first one these hold.
SLICES = ((0, 1, 1), (900, 1, 1), (1100, 2, 4), (3500, 2, 4), (20000, 4, 40), (100000, 5, 121))


def sees_everybody():
    """Returns whether this user can look into every process: not in a container, and not where even root may not."""
    if os.geteuid() != 0 or os.readlink("/proc/self/ns/pid") != "pid:[4026531836]":
        return False
    for process in filter(str.isdigit, os.listdir("/proc")):
        try:
            for descriptor in os.listdir(f"/proc/{process}/fd"):
                os.stat(f"/proc/{process}/fd/{descriptor}")
        except PermissionError:
            return False
        except OSError:  # the process ended, or the descriptor is no file
            continue
    return True


def without_colour(text):
    return re.sub(r"\x1b\[[0-9;]*m", "", text)


def boot_id():
    with open("/proc/sys/kernel/random/boot_id") as file:
        return bytes.fromhex(file.read().strip().replace("-", ""))


class Bytes:
    """A filter file's bytes, to change and to write; the checksums are made right again unless `seal` is left out."""

    def __init__(self, path):
        self.path = path
        with open(path, "rb") as file:
            self.data = bytearray(file.read())

    def put(self, offset, layout, *values):
        struct.pack_into("<" + layout, self.data, offset, *values)
        return self

    def get(self, offset, layout):
        return struct.unpack_from("<" + layout, self.data, offset)[0]

    def records(self, *records):
        """Sets the parameter records: pairs of a type and a value."""
        packed = b"".join(struct.pack("<HHI", kind, 0, len(value)) + value + bytes(-len(value) % 8)
                          for kind, value in records)
        self.data[128:PAGE - 8] = packed + bytes(PAGE - 8 - 128 - len(packed))
        return self.put(112, "I", len(packed))

    def slot(self, start, sequence, state, boot=bytes(16), device=0, inode=0, marks=()):
        """Writes a slot. The bytes that tell the file's inode and mount stay."""
        self.data[start:start + 48] = bytes(48)
        self.data[start + 64:start + PAGE] = bytes(PAGE - 64)
        self.put(start, "QII", sequence, state, 1)
        self.data[start + 16:start + 32] = boot
        self.put(start + 32, "QQ", device, inode)
        for lane, (owner, mark, *epoch) in enumerate(marks):
            self.put(start + 128 + 24 * lane, "QQQ", owner, mark, *(epoch or [0]))
        return self

    def slots(self, state, **more):
        """Sets both slots, the newer one with this state."""
        return self.slot(SLOT_A, 7, CLEAN).slot(SLOT_B, 8, state, **more)

    def live(self, bits):
        return self.put(LIVE, "Q", self.get(LIVE, "Q") | bits)

    def seal_identity(self):
        return self.put(PAGE - 8, "Q", xxhash.xxh3_64_intdigest(bytes(self.data[:PAGE - 8])))

    def seal_slots(self):
        seed = xxhash.xxh3_64_intdigest(bytes(self.data[88:104]))
        for start in (SLOT_A, SLOT_B):
            self.put(start + PAGE - 8, "Q", xxhash.xxh3_64_intdigest(bytes(self.data[start:start + PAGE - 8]), seed))
        return self

    def seal(self):
        return self.seal_identity().seal_slots()

    def write(self, path=None):
        """Writes into the same inode, if the file is there."""
        with open(path or self.path, "r+b" if os.path.exists(path or self.path) else "wb") as file:
            file.write(self.data)
            file.truncate()
        return path or self.path


class InspectorCase(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="bfinspect-")
        self.addCleanup(shutil.rmtree, self.folder)

    def path(self, name="f.bf"):
        return os.path.join(self.folder, name)

    def bf(self, *arguments, stdin=b""):
        subprocess.run([BF, *arguments], input=stdin, check=True, capture_output=True, timeout=PATIENCE)

    def make(self, *arguments, name="f.bf", keys=()):
        """Makes a filter. Its seed is fixed: what is estimated from the bits is the same in every run."""
        path, arguments = self.path(name), arguments or ("--capacity", "1000")
        self.bf("create", path, *arguments, *(() if {"--seed", "--hash"} & set(arguments) else ("--seed", "7")))
        if keys:
            self.bf("add", path, stdin=b"".join(b"%s\n" % str(key).encode() for key in keys))
        return path

    def grown(self, keys, name="g.bf", first="1000", most="100k"):
        """Makes a file that grows, for 1,000 keys at first, with slices each 3 times as large as the one before (SLICES), and adds keys."""
        return self.make("--layout", "growing", "--capacity", first, "--capacity-at-most", most, "--seed", "7", name=name, keys=range(keys))

    def with_hole(self, *arguments, name="f.bf", keys=range(20000), first=0.5, share=1 / 16):
        """Makes a filter, and zeroes this share of its body from this place on. Its end word stays."""
        raw = Bytes(self.make(*(arguments or ("--capacity", "30k")), name=name, keys=keys))
        offset, length = raw.get(72, "Q"), raw.get(80, "Q")
        begin, size = offset + int(length * first) // 8 * 8, int(length * share) // 8 * 8
        raw.data[begin:begin + size] = bytes(size)
        return raw.write()

    def others_than_files(self):
        """Makes a link, a dangling one and a FIFO, and for root a device. Yields each name, and what is said of it."""
        with open(self.path("mine"), "wb") as file:
            file.write(b"mine")
        os.symlink("mine", self.path("link"))
        yield "link", "link: a symbolic link to mine, and bf writes through no link"
        os.symlink("nothing", self.path("dangling"))
        yield "dangling", "dangling: a symbolic link to nothing, which does not exist"
        os.mkfifo(self.path("fifo"))
        yield "fifo", "fifo: not a regular file. Choose another name."
        try:
            os.mknod(self.path("full"), stat.S_IFCHR | 0o666, os.makedev(1, 7))
        except OSError:  # not root, or a container without the right
            return
        yield "full", "full: not a regular file. Choose another name."

    def refused_for_others_than_files(self, *arguments):
        """Gives each of them as the last argument, and expects that it is refused and stays."""
        for name, said in self.others_than_files():
            before = os.lstat(self.path(name))
            done = self.run_inspector(*arguments, name, cwd=self.folder)
            self.assertEqual((done.returncode, done.stdout), (3, b""), done)
            self.assertIn(said, done.stderr.decode())
            after = os.lstat(self.path(name))
            self.assertEqual((before.st_mode, before.st_ino), (after.st_mode, after.st_ino), name)
        with open(self.path("mine"), "rb") as file:
            self.assertEqual(file.read(), b"mine")

    def run_inspector(self, *arguments, environment=None, program=BFINSPECT, **more):
        clean = {name: value for name, value in os.environ.items() if not name.startswith(("LC_", "LANG", "NO_COLOR"))}
        clean.update({"LC_ALL": "C", **(environment or {})})
        more.setdefault("stdout", subprocess.PIPE)
        return subprocess.run([program, *arguments], stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, env=clean,
                              timeout=PATIENCE, **more)

    def text(self, path, *arguments, code=0, **more):
        done = self.run_inspector(path, *arguments, **more)
        self.assertEqual(done.returncode, code, done)
        self.assertEqual(done.stderr, b"")
        return done.stdout.decode()

    @staticmethod
    def keys_within_promise(found):
        """Returns the number of keys with which the filter of this report has its promised rate, as bf plan computes it: with all slices."""
        first = found["first_capacity"] or found["capacity"]
        numbers = ["-m", str(found["num_bits"] * first // found["capacity"]), "-k", str(found["num_probes"]), "-p", str(found["fpr"]), "--layout", found["layout"]]
        planned = subprocess.run([BF, "plan", *numbers, "--json"], check=True, capture_output=True, timeout=PATIENCE).stdout
        return max(first, json.loads(planned)["layouts"][0]["capacity"]) * ((found["capacity_at_most"] or first) // first)

    def json(self, path, *arguments, code=0, **more):
        """Returns the JSON object. It must have every key, and only printable ASCII."""
        done = self.run_inspector("--json", *arguments, "--", path, **more)
        self.assertEqual(done.returncode, code, done)
        self.assertRegex(done.stdout, rb"\A[\x20-\x7e\n]*\n\Z")

        def refuse(constant):
            self.fail(constant + " is no JSON")

        found = json.loads(done.stdout, parse_constant=refuse)
        self.assertEqual(set(found), KEYS)
        self.assertEqual(found["healthy"], code == 0)
        if code != 3:
            self.assertEqual(found["valid"], code != 2)
            self.assertEqual(found["valid"], found["problems"] == [])
            self.assertEqual(done.stderr, b"")
        return found

    def codes(self, path, **more):
        """Returns the codes of all broken rules of a bad filter file, which must be the same in both outputs."""
        codes = [problem["code"] for problem in self.json(path, code=2, **more)["problems"]]
        page = self.text(path, code=2, **more)
        for code in codes:
            self.assertIn(code, page)
        return codes

    def writer(self, path):
        """Starts a live writer, `bf add` with a pipe that is open until the test ends."""
        process = subprocess.Popen([BF, "add", path], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL)
        self.addCleanup(self.end, process)
        self.wait_for(lambda: self.state(path) == "in use")
        return process

    @staticmethod
    def end(process):
        process.kill()
        process.wait()
        for pipe in (process.stdin, process.stdout):
            if pipe:
                pipe.close()

    def state(self, path):
        return json.loads(self.run_inspector("--json", path).stdout)["state"]

    def wait_for(self, condition):
        wait_until(condition)
