"""Filters with jaybird and pybloom-live are BloomFilter of python-bloomfilter: equal sizes, bits and answers, and its files
into bfstore and back; by the package itself where it is installed, in the version before its digest changed and in a later
one, and always by its published algorithm with Python's own hashlib. And: what is refused of a file.

The packages are in the folders pybloom-live-3 and pybloom-live-4 of PYTHON_PACKAGES (tools/setup.sh).
"""
import hashlib
import importlib
import io
import math
import os
import random
import struct
import sys

from bf_case import BfCase, header, main, programs

programs.need_module("xxhash", "python3-xxhash")
import xxhash


HEADER = "<dQQQQ"
SMALLEST = {"jaybird": hashlib.md5, "pybloom-live": xxhash.xxh128}


class Published:
    """BloomFilter(capacity, error_rate) by the published algorithm."""

    def __init__(self, capacity, error_rate, name):
        self.capacity, self.error_rate, self.smallest, self.count = capacity, error_rate, SMALLEST[name], 0
        self.k = math.ceil(math.log(1 / error_rate, 2))
        self.slice = math.ceil(capacity * abs(math.log(error_rate)) / (self.k * math.log(2) ** 2))
        self.bits = bytearray(-(-self.k * self.slice // 8))

    def positions(self, key):
        letter, size = ("Q", 8) if self.slice >= 2**31 else ("I", 4) if self.slice >= 2**15 else ("H", 2)
        bits, words, salt = 8 * size * self.k, [], 0
        digest = next((h for most, h in ((384, hashlib.sha512), (256, hashlib.sha384), (160, hashlib.sha256), (128, hashlib.sha1)) if bits > most),
                      self.smallest)
        while len(words) < self.k:
            salted = digest(digest(struct.pack("<I", salt)).digest() + key.encode()).digest()
            words += struct.unpack(f"<{len(salted) // size}{letter}", salted)
            salt += 1
        return [self.slice * i + words[i] % self.slice for i in range(self.k)]

    def add(self, key):
        self.count += 1
        for bit in self.positions(key):
            self.bits[bit // 8] |= 1 << bit % 8

    def __contains__(self, key):
        return all(self.bits[bit // 8] >> bit % 8 & 1 for bit in self.positions(key))

    def to_bytes(self):
        return struct.pack(HEADER, self.error_rate, self.k, self.slice, self.capacity, self.count) + bytes(self.bits)


def package(version):
    """Returns the package of that version, or None. Both have the same name."""
    folder = os.path.join(os.environ.get("PYTHON_PACKAGES", ""), f"pybloom-live-{version}")
    if not os.path.isdir(folder):
        return None
    sys.path.insert(0, folder)
    try:
        return importlib.import_module("pybloom_live")
    finally:
        sys.path.remove(folder)
        for name in [name for name in sys.modules if name.startswith("pybloom_live")]:
            del sys.modules[name]


def of_package(module, capacity, error_rate):
    """Makes the package's own BloomFilter, with to_bytes()."""
    made = module.BloomFilter(capacity, error_rate)
    module.BloomFilter.to_bytes = lambda self: (lambda file: (self.tofile(file), file.getvalue())[1])(io.BytesIO())
    return made


def words(seed, count):
    choose = random.Random(seed)
    return sorted({"".join(choose.choices("abcdefghijklmnopqrstuvwxyz0123456789./:äßé世\U0001f600", k=choose.randrange(1, 40))) + str(seed)
                   for _ in range(count)})


def lines(keys):
    return "".join(key + "\n" for key in keys).encode()


# The defaults at three sizes; and every digest and length of words that few bits reach: MD5 (or XXH3-128) twice, SHA-1 twice, SHA-256 twice,
# SHA-384, SHA-512 with one salt and with two.
SIZES = [(1000, 0.001), (100_000, 0.001), (1_000_000, 0.001), (100, 0.3), (3000, 0.01), (200_000, 0.07), (150_000, 0.04), (500, 0.0004), (2000, 1e-4),
         (60_000, 0.01), (1500, 1e-7), (4000, 1e-9), (40_000, 1e-5), (1, 0.5), (2000, 1e-12)]
LARGEST = 1_000_000 // int(os.environ.get("KEY_SCALE", "1"))  # sanitizers: a tenth


class Filters(BfCase):
    def read(self, name):
        with open(self.path(name), "rb") as file:
            return file.read()

    def answers(self, program, keys):
        return "".join(("maybe\t" if key in program else "absent\t") + key + "\n" for key in keys)

    def compare(self, name, make, sizes=SIZES):
        absent = words(2, 1000)
        self.write("asked", lines(absent))
        for capacity, error_rate in [size for size in sizes if size[0] <= LARGEST]:
            with self.subTest(hash=name, capacity=capacity, error_rate=error_rate):
                program, present = make(capacity, error_rate), words(1, min(capacity * 3 // 4 + 1, 2000))
                for key in present:
                    program.add(key)
                file = program.to_bytes()
                p, k, slice_bits, n, count = struct.unpack(HEADER, file[:40])
                self.write("keys", lines(present))
                self.write("raw", file)
                self.good("create", "f", "--force", "-q", "--hash", name, "--capacity", str(capacity), "--fpr", repr(error_rate))
                self.good("add", "f", "-q", "--from", "keys")
                made = header(self.path("f"))
                self.assertEqual((made["layout"], made["k"], made["m"], made["n"], made["p"]), (2, k, k * slice_bits, n, p))
                self.assertEqual(self.good("export", "f", "-", "--order", "little"), file[40:])
                self.assertEqual(self.run_bf("contains", "f", "--from", "asked").stdout.decode(), self.answers(program, absent))
                self.good("import", "raw", "g", "--force", "-q", "--format", "jaybird", "--hash", name, "--check", "keys")
                self.good("compare", "f", "g", "-q")
                self.assertEqual([header(self.path("g"))[field] for field in "mknp"], [k * slice_bits, k, n, p])
                for source in "fg":
                    back = self.good("export", source, "-", "--format", "jaybird")
                    self.assertEqual((back[:32], back[40:]), (file[:32], file[40:]))
                    self.assertLessEqual(abs(struct.unpack("<Q", back[32:40])[0] - count), 3 + count // 6)

    def test_the_published_algorithm_has_the_same_sizes_bits_and_answers_there_and_back(self):
        for name in SMALLEST:
            self.compare(name, lambda capacity, error_rate, name=name: Published(capacity, error_rate, name))

    def check_package(self, version, name):
        module = package(version)
        if module is None:
            self.skipTest(f"pybloom-live {version} is not installed")
        self.compare(name, lambda capacity, error_rate: of_package(module, capacity, error_rate), SIZES[:10] + SIZES[11:13])
        present = words(4, 800)
        self.write("keys", lines(present))
        for error_rate in (0.001, 0.01):
            self.good("create", "f", "--force", "-q", "--hash", name, "--capacity", "1000", "--fpr", str(error_rate), "--tutorial-sizing")
            self.good("add", "f", "-q", "--from", "keys")
            self.good("export", "f", "raw", "--force", "-q", "--format", "jaybird")
            with open(self.path("raw"), "rb") as file:
                read = module.BloomFilter.fromfile(file)
            copied = read.copy()
            self.assertTrue(all(key in read and key in copied for key in present))
            self.assertEqual(sum(key in read for key in words(5, 3000)), sum(key in copied for key in words(5, 3000)))
            read.add("one more")
            self.assertIn("one more", read)

    def test_the_package_before_version_4_has_the_same_sizes_bits_and_answers_there_and_back(self):
        self.check_package(3, "jaybird")

    def test_the_package_since_version_4_has_the_same_sizes_bits_and_answers_there_and_back(self):
        self.check_package(4, "pybloom-live")

    def test_slices_have_one_length_and_take_no_seeds(self):
        for name in SMALLEST:
            self.refused("create", "f", "--hash", name, "--bits", "1000", "--probes", "7", says=[name, "1000", "a multiple of k"])
            self.refused("create", "f", "--hash", name, "--bits", "1000", "--probes", "5", "--seeds", "1..5", says="takes none")
            self.refused("create", "f", "--hash", name, "--bits", "1000", "--probes", "5", "--seed", "1", says="seed")
            self.refused("create", "f", "--hash", name, "--bits", "1024", "--probes", "4", "--layout", "blocked", says="classic")
            self.refused("create", "f", "--hash", name, "--capacity", "1000", "--fpr", "1e-20", says="67 slices")
            self.refused("create", "f", "--hash", name, "--capacity", "1000", "--bits-per-key", "9.5", says="an m that is a multiple of k")
            self.good("create", name, "-q", "--hash", name, "--bits", "1001", "--probes", "7")
            self.assertEqual(header(self.path(name))["hash"], {"jaybird": 7, "pybloom-live": 8}[name])


class Files(BfCase):
    IMPORT = ["--format", "jaybird", "--hash", "jaybird"]

    def setUp(self):
        super().setUp()
        self.bloom = Published(1000, 0.01, "jaybird")
        self.keys = words(1, 900)
        for key in self.keys:
            self.bloom.add(key)
        self.file = self.bloom.to_bytes()
        self.write("keys", lines(self.keys))
        self.write("raw", self.file)

    def with_header(self, **changed):
        fields = {"p": 0.01, "k": 7, "slice": self.bloom.slice, "n": 1000, "count": 900, **changed}
        return struct.pack(HEADER, *fields.values()) + self.file[40:]

    def test_a_file_that_does_not_tell_its_digest_is_refused_without_one(self):
        self.refused("import", "raw", "f", "--format", "jaybird", "--check", "keys", says=["MD5", "--hash pybloom-live", "--check"])
        for name, present, says in (("pybloom-live", "keys", ["is not in these bits", "Nothing was made"]),):
            self.refused("import", "raw", "f", "--format", "jaybird", "--hash", name, "--check", present, says=says)
        self.assertEqual(self.files(), ["keys", "raw"])
        for capacity, error_rate, tells in ((1000, 0.004, False), (1000, 0.0039, True), (100_000, 0.0626, False), (100_000, 0.0624, True)):
            made = Published(capacity, error_rate, "jaybird")
            made.add("alice")
            done = self.run_bf("import", "-", "f", "--force", "--format", "jaybird", input=made.to_bytes())
            self.assertEqual(done.returncode, 0 if tells else 2, (error_rate, done))
        self.good("contains", "f", "alice")

    def test_each_number_of_the_header_is_checked(self):
        cases = {"p": ((0.0, "p is"), (1.0, "p is"), (-0.01, "p is"), (math.nan, "p is"), (math.inf, "p is")),
                 "k": ((0, "k is 0"), (65, "k is 65"), (2**64 - 1, "not from 1 to 64"), (8, "bytes"), (6, "bytes")),
                 "slice": ((0, "slices of 0"), (2**48, "2^48"), (2**64 - 1, "2^48"), (2**64 // 7 + 1, "2^48"), (2**40, "bytes"), (self.bloom.slice + 8, "bytes"),
                           (self.bloom.slice - 8, "bytes")),
                 "n": ((0, "n is 0"), (2**63, "n is"), (2**64 - 1, "n is")),
                 "count": ((1002, "1,002 keys"), (2**64 - 1, "keys"))}
        for field, wrong in cases.items():
            for value, says in wrong:
                with self.subTest(field=field, value=value):
                    file = self.with_header(**{field: value})
                    self.write("raw", file)
                    self.refused("import", "raw", "f", *self.IMPORT, says=["raw", says])
                    self.refused("import", "-", "f", *self.IMPORT, input=file)
        self.assertEqual(self.files(), ["keys", "raw"])

    def test_a_file_that_is_cut_or_longer_or_has_bits_after_the_last_one_is_refused(self):
        for size in [*range(0, 41), 41, len(self.file) - 1]:
            self.write("raw", self.file[:size])
            self.refused("import", "raw", "f", *self.IMPORT, says="raw")
            self.refused("import", "-", "f", *self.IMPORT, input=self.file[:size])
        self.write("raw", self.file + b"\0")
        self.refused("import", "raw", "f", *self.IMPORT, says="bytes")
        self.refused("import", "-", "f", *self.IMPORT, says="more bytes", input=self.file + b"\0")
        self.assertNotEqual(7 * self.bloom.slice % 8, 0)
        self.write("raw", self.file[:-1] + bytes([self.file[-1] | 0x80]))
        self.refused("import", "raw", "f", *self.IMPORT, says="after the last one")
        self.assertEqual(self.files(), ["keys", "raw"])

    def test_a_scalable_file_is_refused_in_words(self):
        self.write("raw", struct.pack("<idQd", 4, 0.9, 100, 0.001) + struct.pack("<l", 1) + struct.pack("<Q", len(self.file)) + self.file)
        self.refused("import", "raw", "f", *self.IMPORT, says=["ScalableBloomFilter", "jaybird-scalable"])

    def test_a_file_of_another_sizing_is_imported_and_not_exported(self):
        twice = Published(1000, 0.01, "jaybird")  # the sizing of the first versions of pybloom
        twice.slice *= 2
        twice.bits = bytearray(-(-7 * twice.slice // 8))
        for key in self.keys:
            twice.add(key)
        self.write("raw", twice.to_bytes())
        self.good("import", "raw", "f", "-q", *self.IMPORT, "--check", "keys")
        self.assertEqual([header(self.path("f"))[field] for field in "mkn"], [7 * twice.slice, 7, 1000])
        self.refused("export", "f", "out", "--format", "jaybird", says=["other slices", "--capacity and --fpr"])
        self.good("create", "g", "-q", "--hash", "murmur3", "--bits", "7000", "--probes", "7")
        self.refused("export", "g", "out", "--format", "jaybird", says=["murmur3", "pybloom-live"])
        self.assertEqual(self.files(), ["f", "g", "keys", "raw"])

    def test_what_the_file_tells_is_not_given(self):
        for words_ in (["--order", "little"], ["--bits", "70", "--probes", "7"], ["--capacity", "10"], ["--capacity", "10", "--fpr", "0.1"],
                       ["--layout", "classic"], ["--seeds", "1..7", "--bits", "70"]):
            self.refused("import", "raw", "f", *self.IMPORT, *words_, says="tells its size")
        self.refused("import", "raw", "f", "--format", "jaybird", "--like", "keys", says="tells its size")
        self.refused("import", "raw", "f", "--format", "jaybird", "--hash", "xxh3", says="jaybird or pybloom-live")
        self.refused("import", "raw", "f", "--format", "pickle", says=["'pickle' is not a format", "jaybird"])
        self.refused("import", "raw", "f", "--hash", "murmur3", "--bits", "8", "--probes", "1", says="--order")
        self.good("import", "raw", "f", "-q", *self.IMPORT)
        self.refused("export", "f", "out", "--format", "jaybird", "--order", "big", says="tells its size")
        self.refused("export", "f", "out", says="--order")
        self.assertEqual(self.files(), ["f", "keys", "raw"])


if __name__ == "__main__":
    main()
