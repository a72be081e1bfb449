"""All languages at once: each finds the keys that another one adds, and their answers, files and errors are the same.

Each language of languages.py, each sample, and C takes part by its program `agree`, whose interface is in languages.py.
Arguments: the root of the repository, libbfstore.a, libbfstore.so, the C compiler, a folder for what is built.
"""

import concurrent.futures
import dataclasses
import os
import pathlib
import re
import shlex
import shutil
import stat
import struct
import subprocess
import sys
import tempfile
import traceback
import unittest

import languages
import samples

import bfstore_header  # found by languages
from waiting import PATIENCE

ROOT, ARCHIVE, LIBRARY, COMPILER, OUT = sys.argv[1:6]
HEADER = pathlib.Path(ROOT) / "capi" / "bfstore.h"
SAMPLES = HEADER.parent / "bindings" / "samples"
CODES = bfstore_header.codes(HEADER)
KEYS = 50  # of each language
ABSENT = 10_000
ROUNDS = 3
TURNS = 4
LINES, COLUMNS = 95, 120  # the most of a sample
# The fields of the identity (src/format/FORMAT.md) that are random in each file, or follow from a random one.
RANDOM = {"seed": (64, 72), "file_id": (88, 104), "canary": (104, 112), "checksum": (4088, 4096)}


@dataclasses.dataclass(frozen=True)
class Party:
    name: str
    command: list  # the beginning of `agree`
    environment: dict
    folder: pathlib.Path = None

    def run(self, *words):
        environment = {**os.environ, **self.environment, "LC_ALL": "C.UTF-8"}  # command lines in this locale are UTF-8
        return subprocess.run([*self.command, *map(str, words)], env=environment, cwd=self.folder, capture_output=True,
                              encoding="utf-8", timeout=PATIENCE, check=False)

    def do(self, *words):
        done = self.run(*words)
        if done.returncode != 0:
            raise AssertionError(f"{self.name}: agree {shlex.join(map(str, words))}: exit code {done.returncode}\n{done.stderr}")
        return done.stdout.strip("\n")


def c_party():
    pathlib.Path(OUT).mkdir(parents=True, exist_ok=True)
    program = pathlib.Path(OUT) / "agree_c"
    subprocess.run([*shlex.split(COMPILER), "-std=c99", f"-I{HEADER.parent}", pathlib.Path(__file__).parent / "agree.c", ARCHIVE,
                    "-lstdc++", "-lm", "-pthread", "-o", program], check=True)
    return Party("c", [str(program)], {})


def package_party(name):
    binding, environment = languages.prepared(name, ROOT, ARCHIVE, LIBRARY, COMPILER, OUT)
    return Party(name, binding.agree, environment, binding.folder)


def sample_party(sample):
    tree = languages.tree_of("samples", ROOT, ARCHIVE, LIBRARY, COMPILER, OUT)
    command, folder, environment = samples.build(tree, sample)
    return Party(sample.file, command, environment, folder)


def together(calls):
    """Makes the calls, a few at a time. Returns their results in order."""
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        return [future.result() for future in [pool.submit(*call) for call in calls]]


MAKERS = {**{name: (package_party, name) for name in languages.LANGUAGES},
          **{sample.file: (sample_party, sample) for sample in samples.all_samples(ROOT)}}
PARTIES, MISSING, BROKEN = [], {}, {}


def setUpModule():
    PARTIES.append(c_party())
    for name, (make, argument) in MAKERS.items():
        try:
            PARTIES.append(make(argument))
        except languages.Missing as missing:
            MISSING[name] = str(missing)
        except (Exception, SystemExit):  # the other languages are tested all the same
            BROKEN[name] = traceback.format_exc()


class Case(unittest.TestCase):
    maxDiff = 2000

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="bfstore-agree-"))
        self.addCleanup(shutil.rmtree, self.folder)
        self.c = PARTIES[0]

    def missing_pairs(self, path, writers):
        """Returns each (asker, writer) for which a key is not found. `writers`: {name of a writer: prefix of its keys}."""
        pairs = [(asker, name) for asker in PARTIES for name in writers]
        answers = together((asker.do, "ask", path, writers[name], KEYS) for asker, name in pairs)
        self.assertEqual(len(answers), len(PARTIES) * len(writers))
        return [(asker.name, name) for (asker, name), answer in zip(pairs, answers) if answer != "1" * KEYS]


class TakingPart(unittest.TestCase):
    def test_every_sample_is_in_the_table_of_their_readme(self):
        self.assertEqual({sample.file for sample in samples.all_samples(ROOT)}, {path.name for path in SAMPLES.glob("bf*")})

    def test_no_sample_is_longer_than_a_page(self):
        for sample in samples.all_samples(ROOT):
            lines = (SAMPLES / sample.file).read_text("utf-8").splitlines()
            with self.subTest(sample=sample.file):
                self.assertLessEqual(len(lines), LINES)
                self.assertEqual([line for line in lines if len(line) > COLUMNS], [])


def sample_works(sample):
    def test(self):
        """Runs the sample as the comments at its top say, with a new file and with one that is there. A bad file is reported as an error."""
        if sample.file in MISSING:
            self.skipTest(f"{sample.file}: {MISSING[sample.file]}")
        told = [line.lstrip("/#!- ") for line in (SAMPLES / sample.file).read_text("utf-8").splitlines()[:6]]
        self.assertIn(sample.build, ["", *told])
        command, prints = next(line for line in told if "# prints: " in line).split("    # prints: ")
        self.assertEqual(command, sample.run)
        self.assertRegex(prints.lower(), r"^(true|1) \W*1\W*0\W*$")
        folder = self.folder / "copied"
        folder.mkdir()
        shutil.copy(SAMPLES / sample.file, folder)
        tree = languages.tree_of("samples", ROOT, ARCHIVE, LIBRARY, COMPILER, OUT)
        shell = Party(sample.file, ["bash", "-e", "-c"], samples.environment(tree, sample, folder), folder)
        if sample.build:
            shell.do(sample.build)
        for _ in range(2):
            self.assertEqual(shell.do(sample.run), prints)
        (folder / "users.bf").write_bytes(b"x" * 100)
        bad = shell.run(sample.run)
        self.assertNotEqual(bad.returncode, 0)
        self.assertRegex(bad.stdout + bad.stderr, r"users\.bf: .*100 bytes")
    return test


class Samples(Case):
    pass


for one in samples.all_samples(ROOT):
    setattr(Samples, "test_" + re.sub(r"\W", "_", one.file) + "_does_what_it_says", sample_works(one))


def taking_part(name):
    def test(self):
        if name in MISSING:
            self.skipTest(f"{name}: {MISSING[name]}")
        self.assertIn(name, [party.name for party in PARTIES], BROKEN.get(name))
    return test


for one in MAKERS:  # a test of its own for each, so that a language that is missing is one test that is skipped
    setattr(TakingPart, "test_" + re.sub(r"\W", "_", one) + "_takes_part", taking_part(one))


class OneFile(Case):
    def test_each_finds_the_keys_of_each(self):
        path = self.folder / "shared.bf"
        PARTIES[-1].do("create", path, 100_000)
        for party in PARTIES:
            self.assertNotIn("1" * KEYS, party.do("ask", path, party.name, KEYS))
            party.do("add", path, party.name, KEYS)
        self.assertEqual(self.missing_pairs(path, {party.name: party.name for party in PARTIES}), [])

    def test_text_that_is_not_ascii_is_the_same_key(self):
        path, text = self.folder / "text.bf", "Zu\u0308rich-Z\u00fcrich-\u4e2d\u6587-\U0001f600"
        self.c.do("create", path, 100_000)
        self.c.do("add", path, text, KEYS)
        together((party.do, "add", path, f"{party.name}-{text}", KEYS) for party in PARTIES)
        for party, answer in zip(PARTIES, together((party.do, "ask", path, text, KEYS) for party in PARTIES)):
            self.assertEqual((party.name, answer), (party.name, "1" * KEYS))
            self.assertEqual((party.name, self.c.do("ask", path, f"{party.name}-{text}", KEYS)), (party.name, "1" * KEYS))

    def test_absent_keys_get_the_same_answers_and_so_the_same_false_positives(self):
        path = self.folder / "full.bf"
        self.c.do("create", path, 5000)
        self.c.do("add", path, "there", 5000)
        answers = together((party.do, "ask", path, "absent", ABSENT) for party in PARTIES)
        self.assertEqual(len(answers[0]), ABSENT)
        self.assertTrue(30 < answers[0].count("1") < 300, answers[0].count("1"))
        self.assertEqual([party.name for party, answer in zip(PARTIES, answers) if answer != answers[0]], [])

    def test_what_all_add_at_the_same_time_each_finds(self):
        for number in range(ROUNDS):
            path, maker = self.folder / f"round-{number}.bf", PARTIES[number % len(PARTIES)]
            maker.do("create", path, 1_000_000)
            added = self.add_at_the_same_time(path)
            for prefix in [prefix for prefixes in added.values() for prefix in prefixes]:
                self.assertEqual((prefix, self.c.do("ask", path, prefix, KEYS)), (prefix, "1" * KEYS))
        self.assertEqual(self.missing_pairs(path, {name: prefixes[-1] for name, prefixes in added.items()}), [])

    def add_at_the_same_time(self, path):
        """Returns {name: prefixes}. Each adds keys of its own again until the slowest one to start has added, or a few times: languages
        that start fast would keep the processor and the file's lock from the others."""
        added = {party.name: [] for party in PARTIES}

        def keep_adding(party):
            while not all(added.values()) and len(added[party.name]) < TURNS:
                prefix = f"{party.name}-{len(added[party.name])}"
                party.do("add", path, prefix, KEYS)
                added[party.name].append(prefix)

        with concurrent.futures.ThreadPoolExecutor(len(PARTIES)) as pool:
            for future in [pool.submit(keep_adding, party) for party in PARTIES]:
                future.result()
        return added


class Files(Case):
    def test_files_of_one_capacity_differ_only_in_what_is_random(self):
        seen = []
        for capacity in (1000, 123_457):
            paths = [self.folder / f"{party.name}-{capacity}.bf" for party in PARTIES]
            together((party.do, "create", path, capacity) for party, path in zip(PARTIES, paths))
            identities = [path.read_bytes()[:4096] for path in paths]
            num_probes, num_bits, told_capacity, fpr = struct.unpack_from("<IQQd", identities[0], 36)
            self.assertEqual((told_capacity, fpr), (capacity, 0.01))
            self.assertGreater(num_bits, 8 * capacity)
            self.assertGreater(num_probes, 1)
            for party, path, identity in zip(PARTIES, paths, identities):
                self.assertEqual((party.name, fixed_part(identity)), (party.name, fixed_part(identities[0])))
                self.assertEqual((party.name, stat.S_IMODE(path.stat().st_mode), path.stat().st_size),
                                 (party.name, 0o600, paths[0].stat().st_size))
            seen += identities
        for begin, end in (RANDOM["seed"], RANDOM["file_id"]):
            self.assertEqual(len({identity[begin:end] for identity in seen}), len(seen))


def fixed_part(identity):
    made = bytearray(identity)
    for begin, end in RANDOM.values():
        made[begin:end] = bytes(end - begin)
    return made.hex()


class Errors(Case):
    def bad_files(self):
        """Returns {path: code} of bad files."""
        good = self.folder / "good.bf"
        self.c.do("create", good, 1000)
        whole = good.read_bytes()
        flipped = bytearray(whole)
        flipped[40] ^= 2  # of num_bits
        later = bytearray(whole)
        later[8] = 3  # version_major
        contents = {"too short": whole[:100], "magic": b"x" + whole[1:], "checksum": bytes(flipped), "body": whole[:16384],
                    "BFS_EVERSION": bytes(later)}
        for name, content in contents.items():
            (self.folder / name).write_bytes(content)
        (self.folder / "BFS_ENOTREGULAR").mkdir()
        return {self.folder / name: CODES.get(name, CODES["BFS_EMALFORMED"])
                for name in (*contents, "BFS_ENOTREGULAR", "BFS_ENOENT")}

    def test_each_has_the_code_and_errno_of_the_library(self):
        for path, code in self.bad_files().items():
            expected = self.c.do("fail", path).split()[:2]
            self.assertEqual(expected[0], str(code))
            for party, said in zip(PARTIES, together((party.do, "fail", path) for party in PARTIES)):
                self.assertRegex(said, rf"^{re.escape(' '.join(expected))} \S+$", f"{party.name}, {path.name}")

    def test_each_has_the_words_of_the_library(self):
        path = self.folder / "no-such-\u00e4-file.bf"
        words = self.c.run("ask", path, "x", 1).stderr.removeprefix("agree: ").strip().removesuffix(".")  # then comes the way in a language
        self.assertIn(str(path), words)
        for party, done in zip(PARTIES, together((party.run, "ask", path, "x", 1) for party in PARTIES)):
            self.assertEqual((party.name, done.returncode), (party.name, 1))
            self.assertIn(words, done.stderr, party.name)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
