"""Filters with java-polynomial are those of the tutorials' program in Java: equal bits and equal answers, into bfstore and
back, by the program itself (tutorial.java, run by Java 11 or later; without Java that test is skipped) and by its
definition in Python.
"""
import random
import subprocess
from pathlib import Path

from bf_case import BfCase, PATIENCE, header, main, programs

PROGRAM = Path(__file__).resolve().parent / "tutorial.java"
SEEDS = (5, 7, 11, 13, 31, 37, 61)
OPTIONS = ["--hash", "java-polynomial", "--seeds", ",".join(map(str, SEEDS))]


def positions(key, num_bits, seeds=SEEDS):
    """Computes it by its definition: Java's int, and the UTF-16 units of the decoded bytes."""
    text = key.decode("utf-8", "replace").encode("utf-16-le")
    for seed in seeds:
        h = 0
        for i in range(0, len(text), 2):
            h = (seed * h + int.from_bytes(text[i:i + 2], "little")) % 2**32
        yield h & num_bits - 1


def words(seed, count):
    choose = random.Random(seed)
    letters = "abcdefghijklmnopqrstuvwxyz0123456789./:äßé世\U0001f600"
    return sorted({"".join(choose.choices(letters, k=choose.randrange(1, 30))) for _ in range(count)})


class Java(BfCase):
    def bits(self, num_bits):
        """Returns the filter's bits, as bf exports them in the order of Java's BitSet."""
        array = self.good("export", "f", "-", "--order", "little")
        self.assertEqual(len(array), num_bits // 8)
        return array

    def test_any_bytes_are_keys_and_have_the_bits_of_the_definition(self):
        choose = random.Random(5)
        pieces = [b"a", b"\x80", b"\xc3\xa9", b"\xc3", b"\xe4\xb8\x96", b"\xe4\xb8", b"\xed\xa0\x80", b"\xed\xbf\xbf", b"\xf0\x9f\x98\x80",
                  b"\xf0\x9f\x98", b"\xf4\x90\x80\x80", b"\xff", b"\xc0\xaf", b"\xef\xbf\xbd", b"\xef\xbb\xbf", b"\0"]
        present = [b"".join(choose.choices(pieces, k=choose.randrange(0, 9))) for _ in range(2000)] + [bytes([i]) for i in range(256) if i != 10]
        absent = [b"".join(choose.choices(pieces, k=choose.randrange(1, 9))) for _ in range(2000)]
        for num_bits in (64, 15 * 2**12, 1000 * 8, 2**20, 2**24):
            self.write("keys", b"".join(key + b"\n" for key in present))
            self.write("asked", b"".join(key + b"\n" for key in absent))
            self.good("create", "f", "--force", "-q", *OPTIONS, "--bits", str(num_bits), "--capacity", "100000")
            self.good("add", "f", "-q", "--binary", "--from", "keys")
            expected = {position for key in present for position in positions(key, num_bits)}
            array = self.bits(num_bits)
            self.assertEqual({8 * i + j for i, byte in enumerate(array) if byte for j in range(8) if byte & 1 << j}, expected)
            answers = b"".join((b"maybe\t" if expected.issuperset(positions(key, num_bits)) else b"absent\t") + key + b"\n" for key in absent)
            self.assertEqual(self.run_bf("contains", "f", "--binary", "--from", "asked").stdout, answers)
        self.assertIn(b"absent\t", answers)

    def test_the_program_in_java_has_the_same_bits_and_answers_there_and_back(self):
        try:
            compiler = programs.find("javac", "17")  # java needs it to start a program from its source
        except programs.Missing as missing:
            self.skipTest(missing)
        present, absent = words(1, 5000), words(2, 5000)
        self.write("keys", "".join(key + "\n" for key in present).encode())
        self.write("asked", "".join(key + "\n" for key in present + absent).encode())
        for num_bits in (1 << 16, 2 << 24, 15 * 1024 * 1024 * 8):
            said = subprocess.run([Path(compiler).resolve().parent / "java", "-Xshare:auto", str(PROGRAM), str(num_bits), "keys", "asked", "raw"], cwd=self.dir, check=True,
                                  capture_output=True, timeout=PATIENCE).stdout
            size = [*OPTIONS, "--bits", str(num_bits), "--capacity", "100000"]
            self.good("import", "raw", "g", "--force", "-q", "--order", "little", *size, "--check", "keys")
            self.assertEqual(self.good("contains", "g", "--from", "asked"), said)
            self.good("create", "f", "--force", "-q", *size)
            self.good("add", "f", "-q", "--from", "keys")
            with open(self.path("raw"), "rb") as file:
                self.assertEqual(self.bits(num_bits), file.read())
            self.good("compare", "f", "g", "-q")

    def test_the_number_of_bits_is_that_of_the_program_and_the_seeds_are_listed(self):
        self.refused("create", "f", *OPTIONS, "--bits", "2Gi", says=["java-polynomial", "at most 2147483647"])
        self.refused("create", "f", *OPTIONS, "--capacity", "1000", says=["power of two", "16384"])
        self.refused("create", "f", "--hash", "java-polynomial", "--bits", "1024", "--probes", "7", says="no usual list of seeds. Give --seeds, such as 5,7,11")
        self.refused("create", "f", *OPTIONS, "--capacity", "1000", says="java-polynomial")
        self.assertEqual(self.files(), [])
        self.good("create", "f", "-q", *OPTIONS, "--bits", str(2 << 24))
        self.assertEqual([header(self.path("f"))[field] for field in ("hash", "k", "m", "layout")], [6, 7, 2 << 24, 2])
        for num_bits in (1, 1000, 15 * 2**23, 2**31 - 1):
            self.good("create", "g", "--force", "-q", *OPTIONS, "--bits", str(num_bits))
            self.assertEqual(header(self.path("g"))["m"], num_bits)


if __name__ == "__main__":
    main()
