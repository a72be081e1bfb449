"""Files between machines of either byte order and of three processors: the library, built by cross compilers for s390x,
which is big-endian, and for aarch64, each run by an emulator, together with the library of this machine. The reader in one
header (bfstore_reader.h) reads on each what another one wrote.

Arguments: the project's root, this machine's byte_order.
"""
import concurrent.futures
import gzip
import itertools
import os
import pathlib
import platform
import subprocess
import sys
import tempfile
import unittest

ROOT, NATIVE = pathlib.Path(sys.argv[1]), sys.argv[2]
sys.path.insert(0, str(ROOT / "tests" / "support"))
from bfstore_ctypes import BUILT_LAYOUTS  # found only now
from bfstore_ctypes import LAYOUTS as ALL_LAYOUTS
from programs import missing

LAYOUTS = [layout for layout in ALL_LAYOUTS if layout not in BUILT_LAYOUTS]
KEPT_STATIC = "good_static.bf", "good_static_shards.bf.gz", "good_static_maybe.bf.gz"  # in tests/data; with the keys "key 0" to "key 39"
PROCESSORS = ("s390x", "aarch64")
FLAGS = ["-std=c++20", "-O0", "-D_FILE_OFFSET_BITS=64", "-D_GNU_SOURCE", '-DBFSTORE_VERSION="0"']


def tools(processor: str) -> tuple:
    return processor + "-linux-gnu-g++", "qemu-" + processor


def built_for(processor: str, folder: str) -> list:
    """Returns the command that runs a static byte_order of this processor.

    Boost and xxHash are only headers. The cross compiler must not see any other header of this machine.
    """
    compiler, emulator = tools(processor)
    headers = pathlib.Path(folder, "headers")
    headers.mkdir(parents=True)
    (headers / "boost").symlink_to("/usr/include/boost")
    for header in ("xxhash.h", "xxh3.h"):
        (headers / header).symlink_to("/usr/include/" + header)

    def compiled(source: pathlib.Path) -> str:
        made = os.path.join(folder, "_".join(source.parts[1:]) + ".o")
        subprocess.run([compiler, *FLAGS, f"-I{ROOT}/src", f"-I{ROOT}/include", "-isystem", headers, "-c", source, "-o", made],
                       check=True)
        return made

    def together(room: pathlib.Path) -> list:
        """Returns the room's sources as one, as in the build, which takes less time. Those of layouts, hashes and formats are apart (src/meson.build)."""
        sources = sorted(room.glob("*.cpp"))
        if room.name in ("layout", "hash", "interop"):
            return sources
        one = pathlib.Path(folder, room.name + ".cpp")
        one.write_text("".join(f'#include "{source}"\n' for source in sources))
        return [one]

    # The largest room comes first, so that no processor waits for it at the end.
    rooms = sorted({source.parent for source in (ROOT / "src").rglob("*.cpp")}, key=lambda room: (-len(list(room.glob("*.cpp"))), room))
    sources = [source for room in rooms for source in together(room)] + [ROOT / "tests/store/byte_order.cpp"]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        objects = list(pool.map(compiled, sources))
    program = os.path.join(folder, "byte_order")
    subprocess.run([compiler, "-static", *objects, "-o", program], check=True)
    return [emulator, program]


def reader_for(processor: str, folder: str) -> list:
    """Returns the command that runs ask.c, with the reader in one header, on this processor."""
    program = os.path.join(folder, "ask")
    compiler, emulator = (processor + "-linux-gnu-gcc", ["qemu-" + processor]) if processor != platform.machine() else ("gcc", [])
    os.makedirs(folder, exist_ok=True)
    subprocess.run([compiler, "-std=c99", "-O1", "-static", f"-I{ROOT}/capi", ROOT / "tests/format/ask.c", "-o", program], check=True)
    return [*emulator, program]


class Process:
    """A process that has a file open, until it is told to ask for all keys and to close it."""

    def __init__(self, machine: list, *arguments: object) -> None:
        self.process = subprocess.Popen([*machine, *map(str, arguments)], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        text=True)
        self.said = self.process.stdout.readline()

    def ends(self, keys: int = 0) -> str:
        rest, _ = self.process.communicate(f"{keys}\n" if keys else "")
        if self.process.returncode != 0:
            raise AssertionError(f"exit code {self.process.returncode}: {self.said}{rest}")
        return rest


class ByteOrder(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        others = [one for one in PROCESSORS if one != platform.machine()]
        without = missing(*sum(map(tools, others), ()))
        if without:
            raise unittest.SkipTest(without)
        folder = tempfile.TemporaryDirectory(prefix="bfstore-order-")
        cls.addClassCleanup(folder.cleanup)
        cls.machines = {platform.machine(): [NATIVE]}
        for processor in others:
            cls.machines[processor] = built_for(processor, os.path.join(folder.name, processor))
        cls.readers = [reader_for(processor, os.path.join(folder.name, processor)) for processor in cls.machines]

    def for_each_pair(self, use) -> None:
        """Tries each layout, made by one machine and used by another, and by big-endian ones alone."""
        pairs = [*itertools.permutations(self.machines, 2), ("s390x", "s390x")]
        for layout, (maker, other) in itertools.product(LAYOUTS, pairs):
            with self.subTest(layout=layout, maker=maker, other=other), tempfile.TemporaryDirectory() as folder:
                use(self.machines[maker], self.machines[other], os.path.join(folder, "file.bf"), layout)

    def run_once(self, machine: list, *arguments: object) -> str:
        process = Process(machine, *arguments)
        process.ends()
        return process.said

    def test_what_one_machine_wrote_and_closed_the_other_reads_and_adds_to(self) -> None:
        said = set()

        def use(maker, other, path, layout) -> None:
            self.run_once(maker, "make", path, 0, 500, layout)
            self.assertIn("maybe 500 strangers 0 added 500", self.run_once(other, "ask", path, 0, 500))
            self.run_once(other, "add", path, 500, 1000)
            said.add(self.run_once(maker, "ask", path, 0, 1000))
            self.read_in_c(path)

        self.for_each_pair(use)
        self.assertEqual(len(said), len(LAYOUTS), f"one number of bits and of keys for each layout, whoever added: {said}")
        for line in said:
            self.assertRegex(line, r"maybe 1000 strangers 0 added \d+ bits \d+ slices [14] mark 1000 health 0")
        self.assertEqual(sum(" slices 4 " in line for line in said), 1, "both added slices to the file that grows")

    def read_in_c(self, path) -> None:
        for reader, how in itertools.product(self.readers, ([], ["copy"])):
            done = subprocess.run([*reader, path, "0", "1000", *how], stdout=subprocess.PIPE, text=True, check=False)
            self.assertEqual((done.stdout, done.returncode), ("maybe 1000 strangers 0\n", 0), reader)

    def test_a_kept_static_file_has_the_same_answers_on_each(self) -> None:
        for name in KEPT_STATIC:
            kept = pathlib.Path(ROOT, "tests/data", name).read_bytes()
            with self.subTest(name), tempfile.TemporaryDirectory() as folder:
                path = os.path.join(folder, "static.bf")
                pathlib.Path(path).write_bytes(gzip.decompress(kept) if name.endswith(".gz") else kept)
                said = {self.run_once(machine, "ask", path, 0, 4000) for machine in self.machines.values()}
                self.assertEqual(len(said), 1, said)
                in_c = {subprocess.run([*reader, path, "0", "4000", *how], stdout=subprocess.PIPE, text=True, check=True).stdout
                        for reader, how in itertools.product(self.readers, ([], ["copy"]))}
                self.assertEqual(len(in_c), 1, in_c)
                self.assertEqual(in_c.pop().split()[:2], said.pop().split()[:2], "as many of these keys may be there")
                for machine in self.machines.values():
                    self.assertIn("maybe 40 ", self.run_once(machine, "ask", path, 0, 40))

    def test_two_machines_use_one_file_at_once(self) -> None:
        def use(maker, other, path, layout) -> None:
            writer = Process(maker, "make", path, 0, 300, layout)
            self.assertIn("maybe 300 strangers 0 added 300", writer.said)
            self.assertIn("maybe 300 strangers 0", self.run_once(other, "add", path, 300, 600))
            self.assertRegex(writer.ends(600), f"maybe 600 strangers 0 added .* slices {3 if layout == 'growing' else 1} mark 600 health 0")

        self.for_each_pair(use)

    def test_who_has_a_file_open_is_told_by_the_other_machine_that_it_was_replaced(self) -> None:
        def use(maker, other, path, layout) -> None:
            self.run_once(maker, "make", path, 0, 300, layout)
            reader = Process(maker, "ask", path, 0, 300)
            self.assertIn("maybe 300 strangers 0 added 300", reader.said)
            self.run_once(other, "replace", path, 0, 100, layout)
            self.assertIn("maybe 600 strangers 100 ", reader.ends(600))

        self.for_each_pair(use)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
