"""The filter policy of capi/engines/leveldb in the real LevelDB: every key that was put is found, whatever the size and the address
of its filter, whichever policy wrote the table, and after its writer was killed.

Arguments: see engines.py; or --bench for the measurement of README.md.
"""
import concurrent.futures
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import unittest

import engines


TREE, ASKED = engines.arguments(kills=6, bench=False)
engines.needs(programs={"g++": "g++"},
              files={"/usr/include/leveldb/db.h": "libleveldb-dev", "/usr/lib/*/libleveldb.*": "libleveldb-dev"})


def build(source):
    program = TREE.out / pathlib.Path(source).stem
    subprocess.run(["g++", "-std=c++20", "-O2", "-Wall", "-Wextra", "-Wshadow", "-Werror", f"-I{TREE.root / 'capi'}",
                    f"-I{TREE.root / 'capi/engines/leveldb'}", TREE.root / source, TREE.archive, "-lleveldb", "-o", program],
                   check=True)
    return program


with concurrent.futures.ThreadPoolExecutor() as pool:
    DRIVER, EXAMPLE = pool.map(build, ["tests/engines/leveldb_driver.cpp", "capi/engines/leveldb/example.cpp"])


def run(*arguments, program=DRIVER):
    done = engines.run([program, *arguments])
    if done.returncode != 0:
        raise AssertionError(f"{arguments}: exit {done.returncode}: {done.stderr}")
    return done.stdout


def varint(words, at):
    number = shift = 0
    while True:
        byte = words[at]
        number |= (byte & 127) << shift
        at, shift = at + 1, shift + 7
        if byte < 128:
            return number, at


def filters_of(table):
    """Returns the place and the size of a table's block of filters (LevelDB's table_format.md)."""
    index, at = varint(table, len(table) - 48)
    size, _ = varint(table, at)
    name = b"filter.bfstore.bare.1"
    at = table.index(name, index, index + size) + len(name)
    begin, at = varint(table, at)
    return begin, varint(table, at)[0]


class LevelDB(unittest.TestCase):
    def folder(self):
        folder = engines.folder()
        if os.access("/dev/shm", os.W_OK):
            folder = pathlib.Path("/dev/shm") / folder.name
            folder.mkdir()
            self.addCleanup(shutil.rmtree, folder, True)
        return folder

    def test_filters_of_each_size_at_each_address_have_their_keys_and_what_is_no_filter_is_maybe(self):
        run("policy")

    def test_databases_of_the_built_in_policy_and_of_ours_open_with_either(self):
        policies = ("10", "builtin:10", "none", "20")
        for wrote in policies:
            folder = self.folder()
            run("write", folder, wrote, 0, 3000)
            for opens in policies:
                with self.subTest(wrote=wrote, opens=opens):
                    self.assertEqual(run("check", folder, opens, 3000), "3000\n")

    def test_tables_of_several_policies_in_one_database(self):
        folder = self.folder()
        for number, policy in enumerate(("10", "builtin:10", "none", "20", "10")):
            run("write", folder, policy, 1000 * number, 1000 * number + 1000)
            self.assertEqual(run("check", folder, policy, 1000 * number + 1000), f"{1000 * number + 1000}\n")

    def test_rows_of_a_killed_writer_are_found(self):
        rng, folder, rows, busy = random.Random(ASKED.seed), self.folder(), 0, 0
        for kill in range(ASKED.kills):
            writer = subprocess.Popen([DRIVER, "write", folder, "10", str(rows)], stdout=subprocess.PIPE, text=True)
            if kill % 2 == 0:  # the others may be killed before they have written
                said = [writer.stdout.readline() for _ in range(rng.randint(1, 300))]
            else:
                said = []
                engines.any_moment(rng, 0.05)
            writer.kill()
            said = ("".join(said) + writer.communicate()[0]).split("\n")[:-1]
            self.assertEqual(writer.returncode, -signal.SIGKILL)
            rows, busy = (int(said[-1]) + 1, busy + 1) if said else (rows, busy)
            self.assertGreaterEqual(int(run("check", folder, "10", rows)), rows)
            if rows > 50000:  # each check asks for all of them
                folder, rows = self.folder(), 0
        self.assertGreaterEqual(busy, ASKED.kills // 2, "writers that had written")

    def test_a_database_that_was_repaired_has_all_its_rows(self):
        for policies in (("10", "10"), ("10", "none"), ("none", "10"), ("builtin:10", "10")):
            with self.subTest(policies):
                folder = self.folder()
                run("write", folder, policies[0], 0, 3000)
                (folder / "CURRENT").unlink()
                run("repair", folder, policies[1])
                for opens in policies:
                    self.assertEqual(run("check", folder, opens, 3000), "3000\n")

    def rot(self, folder):
        """Takes all bits out of the bodies of all filters, and leaves their trailers."""
        tables = list(folder.glob("*.ldb"))
        for path in tables:
            table = bytearray(path.read_bytes())
            at, size = filters_of(table)
            array = int.from_bytes(table[at + size - 5:at + size - 1], "little")
            ends = [int.from_bytes(table[at + place:at + place + 4], "little") for place in range(array, size - 1, 4)]
            for begin, end in zip(ends, ends[1:]):
                if end - begin > 8:
                    table[at + begin:at + end - 8] = bytes(end - 8 - begin)
            path.write_bytes(table)
        self.assertGreater(len(tables), 0)

    def test_filters_that_rot_are_not_asked_with_paranoid_checks(self):
        folder = self.folder()
        run("write", folder, "10", 0, 3000)
        run("check", folder, "10", 3000)  # the last rows get into a table
        self.rot(folder)
        with self.assertRaisesRegex(AssertionError, "exit 7"):  # README's limit
            run("check", folder, "10", 3000)
        self.assertEqual(run("check", folder, "10", 3000, 1), "3000\n")

    def test_fewer_blocks_are_read_than_with_the_built_in_policy_and_as_many_bytes(self):
        reads, sizes = {}, {}
        for policy in ("none", "builtin:10", "builtin:17", "10"):
            read, size = run("reads", self.folder(), policy, 60000, 60000).split()
            reads[policy], sizes[policy] = float(read), int(size)
        self.addClassCleanup(print, reads, sizes)
        self.assertGreater(reads["none"], 0.99)
        self.assertLess(reads["10"], reads["builtin:10"] / 5)
        self.assertLess(reads["10"], reads["builtin:17"])
        self.assertLessEqual(sizes["10"], sizes["builtin:17"] * 1.005)

    def test_the_example(self):
        self.assertEqual(run(self.folder() / "db", program=EXAMPLE), "alice: 1\nzoe: NotFound: \n")


if __name__ == "__main__":
    if ASKED.bench:
        print(run("table"))
        sys.exit()
    engines.main()
