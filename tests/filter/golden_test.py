"""Computes every number of golden.hpp, golden_digests.hpp and golden_test.cpp again, with tests/format/reader.py and python3-xxhash: they
share no code with the library, so a golden number that is wrong in the library is wrong here."""
import re
import sys
import unittest
from pathlib import Path

TESTS = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(TESTS / "format"), str(TESTS / "support")]
import bfstore_ctypes  # noqa: E402
import reader  # noqa: E402
from xxhash import xxh3_64_intdigest as xxh3  # noqa: E402

# By the names of their enumerators, in lower case.
HASHES = {"k" + name.replace("-", ""): number for name, number in bfstore_ctypes.HASHES.items()}
LASTING = {"k" + name.replace("-", "") for name in bfstore_ctypes.LASTING_LAYOUTS}
EXPIRING = {name for name in ("k" + name.replace("-", "") for name in bfstore_ctypes.LAYOUTS) if name.startswith("kwindow")}
BUILT = {"k" + name.replace("-", "") for name in bfstore_ctypes.BUILT_LAYOUTS}
LAYOUTS = {"k" + name.replace("-", ""): number for name, number in bfstore_ctypes.LAYOUTS.items()}


def rows(file, struct):
    """Returns each `struct{...}` of the header, or of the source, as a list of its words, without the braces inside."""
    text = (TESTS / ("filter" if file.endswith(".cpp") else "support") / file).read_text()
    found = re.findall(struct + r"\{((?:[^{};]|\{[^{}]*\})*)\}", text)
    words = [re.findall(r"\bk[a-z]\w+|\b\d\w*", row.lower()) for row in found]
    return [[word if word in LAYOUTS or word in HASHES else int(word, 0) for word in row] for row in words]


SEED = int(re.search(r"kGoldenSeed = (\w+);", (TESTS / "support" / "golden.hpp").read_text())[1], 0)


class GoldenFilter:
    """A filter in the making: reader.py's placement of bits over a body that can be written."""

    def __init__(self, layout, m, k):
        self.filter = reader.Filter()
        self.filter.layout, self.filter.hash, self.filter.m, self.filter.k, self.filter.seed = layout, 1, m, k, SEED
        self.filter.body = bytearray(reader.body_bytes(layout, m))
        self.most = 2**reader.LAYOUTS[layout][1] - 1

    def turn(self, epoch):
        """Begins that epoch: clears its word in each line."""
        of_word = 64 // self.filter.epochs
        for at in range(of_word * (epoch % self.filter.epochs), len(self.filter.body), 64):
            self.filter.body[at:at + of_word] = bytes(of_word)

    def add_in(self, epoch, key):
        for cell in self.filter.in_each_word(self.filter.probes(self.filter.digest(key)))[epoch % self.filter.epochs]:
            self.filter.body[cell // 8] |= 1 << cell % 8

    def add(self, key):
        bits = reader.LAYOUTS[self.filter.layout][1]
        for cell in set(self.filter.probes(self.filter.digest(key))):
            old = self.filter.cell(cell)
            self.filter.body[cell * bits // 8] += min(old + 1, self.most) - old << cell * bits % 8

    def set_cells(self):
        if self.most == 1:
            return int.from_bytes(self.filter.body, "little").bit_count()
        return sum((byte % 16 != 0) + (byte > 15) for byte in self.filter.body)


class GoldenSlices:
    """A filter that grows: slices of the layout blocked."""

    def __init__(self, m, k, growth, first):
        self.m, self.k, self.growth, self.first, self.added, self.slices = m, k, growth, first, 0, []

    def add(self, key):
        """Adds the key to the newest slice, as one thread does that adds key by key. Another slice comes first if there are too many keys."""
        number = len(self.slices)
        made_for = self.first * sum(self.growth**i for i in range(number))
        if number == 0 or self.added > made_for and number < max(reader.NUMBERS):
            self.slices.append(GoldenFilter(LAYOUTS["kblocked"], self.m * self.growth**number, self.k))
        if not self.contains(key):
            self.slices[-1].add(key)
            self.added += 1

    def contains(self, key):
        return any(one.filter.contains(key) for one in self.slices)


class GoldenNumbers(unittest.TestCase):
    def test_every_digest_is_that_of_python_xxhash(self):
        digests = rows("golden_digests.hpp", "GoldenDigest")
        self.assertEqual([row[0] for row in digests[:261]], list(range(261)))
        for length, with_zero, with_seed in digests:
            key = bytes((131 * j + 17) % 256 for j in range(length))
            self.assertEqual((with_zero, with_seed), (xxh3(key, 0), xxh3(key, SEED)), f"{length} bytes")

    def test_every_canary_is_that_of_the_reader(self):
        canaries = rows("golden.hpp", "GoldenCanary")
        self.assertEqual(len(canaries), 3)
        for seed, canary in canaries:
            self.assertEqual(canary, reader.canary(1, seed), f"seed {seed}")

    def test_every_vector_of_siphash_is_that_of_the_reader(self):
        table = re.search(r"kVectors\{(.*?)\}", (TESTS / "hash" / "siphash_test.cpp").read_text(), flags=re.S)[1]
        vectors = [int(word, 0) for word in re.findall(r"0x\w+", table)]
        self.assertEqual(vectors, [reader.siphash(bytes(range(n)), bytes(range(16))) for n in range(64)])

    def test_every_probe_is_that_of_the_reader(self):
        probes = rows("golden.hpp", "GoldenProbes")
        self.assertEqual(len(probes), 36)
        for layout, m, digest, *bits in probes:
            f = reader.Filter()
            f.layout, f.m, f.k = LAYOUTS[layout], m, len(bits)
            self.assertEqual((len(bits), bits), (8, list(f.probes(digest))), f"{layout} {m} {digest:x}")

    def test_every_body_and_false_positive_is_that_of_the_reader(self):
        filters = rows("golden.hpp", "GoldenFilter")
        self.assertEqual({row[0] for row in filters}, LASTING)
        for layout, m, k, keys, body, set_bits, *false_positives in filters:
            with self.subTest(layout=layout, m=m, k=k):
                golden = GoldenFilter(LAYOUTS[layout], m, k)
                for i in range(keys):
                    golden.add(b"key-%d" % i)
                self.assertEqual(xxh3(bytes(golden.filter.body), 0), body)
                self.assertEqual(golden.set_cells(), set_bits)
                found = [i for i in range(false_positives[-1] + 1) if golden.filter.contains(b"absent-%d" % i)]
                self.assertEqual((len(found), found), (10, false_positives))

    def test_every_probe_in_an_epoch_is_that_of_the_reader(self):
        probes = rows("golden.hpp", "GoldenWindowProbes")
        self.assertEqual({row[0] for row in probes}, EXPIRING)
        for layout, m, digest, epoch, *bits in probes:
            f = reader.Filter()
            f.layout, f.m, f.k = LAYOUTS[layout], m, len(bits)
            self.assertEqual((len(bits), bits), (8, f.in_each_word(f.probes(digest))[epoch % f.epochs]), f"{layout} {m} {digest:x}")

    def test_every_body_of_a_window_and_its_false_positives_are_those_of_the_reader(self):
        filters = rows("golden.hpp", "GoldenWindow")
        self.assertEqual({row[0] for row in filters}, EXPIRING)
        for layout, m, k, keys, last, body, set_bits, *false_positives in filters:
            with self.subTest(layout=layout, m=m, k=k):
                golden = GoldenFilter(LAYOUTS[layout], m, k)
                for epoch in range(last + 1):
                    golden.turn(epoch)
                    for i in range(epoch * keys, (epoch + 1) * keys):
                        golden.add_in(epoch, b"key-%d" % i)
                self.assertEqual(xxh3(bytes(golden.filter.body), 0), body)
                self.assertEqual(golden.set_cells(), set_bits)
                found = [i for i in range(false_positives[-1] + 1) if golden.filter.contains(b"absent-%d" % i)]
                self.assertEqual((len(found), found), (10, false_positives))

    def test_every_body_of_slices_and_its_false_positives_are_those_of_the_reader(self):
        filters = rows("golden_test.cpp", "GoldenGrowing")
        self.assertEqual({row[5] for row in filters}, set(reader.NUMBERS))
        for m, k, growth, first, keys, slices, body, set_bits, *false_positives in filters:
            with self.subTest(m=m, k=k, slices=slices):
                golden = GoldenSlices(m, k, growth, first)
                for i in range(keys):
                    golden.add(b"key-%d" % i)
                self.assertEqual(len(golden.slices), slices)
                self.assertEqual(xxh3(b"".join(one.filter.body for one in golden.slices), 0), body)
                self.assertEqual(sum(one.set_cells() for one in golden.slices), set_bits)
                found = [i for i in range(false_positives[-1] + 1) if golden.contains(b"absent-%d" % i)]
                self.assertEqual((len(found), found), (10, false_positives))

    def test_every_filter_of_positions_is_that_of_the_reader(self):
        filters = rows("golden.hpp", "GoldenSeeded")
        self.assertEqual({HASHES[row[0]] for row in filters}, {number for number in HASHES.values() if number > 3})
        for hash_, m, num_seeds, *numbers in filters:
            seeds, (keys, body, set_bits, *false_positives) = numbers[:num_seeds], numbers[num_seeds:]
            with self.subTest(hash=hash_, m=m):
                bits, of = bytearray(reader.body_bytes(2, m)), lambda key: list(reader.positions(key, HASHES[hash_], m, seeds))
                for i in range(keys):
                    for bit in of(b"key-%d" % i):
                        bits[bit // 8] |= 1 << bit % 8
                self.assertEqual((xxh3(bytes(bits), 0), int.from_bytes(bits, "little").bit_count()), (body, set_bits))
                found = [i for i in range(false_positives[-1] + 1) if all(bits[bit // 8] >> bit % 8 & 1 for bit in of(b"absent-%d" % i))]
                self.assertEqual((len(found), found), (10, false_positives))


if __name__ == "__main__":
    unittest.main(verbosity=2)
