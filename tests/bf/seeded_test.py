"""Filters with murmur3 hold bit for bit what Python programs with mmh3 and bitarray hold: the tutorials' program, many
seeds over URLs, many probes in few bits; and bf's options for seeds and for the tutorials' sizing.
"""
import json
import math
import random
import string

from bf_case import BfCase, header, main
from packages import bitarray, mmh3, needs_packages

PRESENT = ["abound", "abounds", "abundance", "abundant", "accessible", "bloom", "blossom", "bolster", "bonny", "bonus",
           "bonuses", "coherent", "cohesive", "colorful", "comely", "comfort", "gems", "generosity", "generous", "generously",
           "genial"]
ABSENT = ["bluff", "cheater", "hate", "war", "humanity", "racism", "hurt", "nuke", "gloomy", "facebook", "geeksforgeeks",
          "twitter"]
CONVENTIONS = {"murmur3": lambda key, seed: mmh3.hash(key, seed), "murmur3-unsigned": lambda key, seed: mmh3.hash(key, seed, signed=False)}


def body(path, num_bits):
    """Returns the bits of a small file, as bytes."""
    with open(path, "rb") as file:
        page = file.read()
    start = int.from_bytes(page[72:80], "little")
    return page[start:start + -(-num_bits // 64) * 8]


class Tutorial:
    """The program of the tutorials, with bfstore's order of bits; bitarray's own is the other one."""

    def __init__(self, num_bits, seeds, convention):
        self.num_bits, self.seeds, self.hash = num_bits, seeds, CONVENTIONS[convention]
        self.bits = bitarray.bitarray(num_bits, endian="little")
        self.bits.setall(0)

    def add(self, item):
        for seed in self.seeds:
            self.bits[self.hash(item, seed) % self.num_bits] = True

    def check(self, item):
        return all(self.bits[self.hash(item, seed) % self.num_bits] for seed in self.seeds)

    def body(self):
        return self.bits.tobytes().ljust(-(-self.num_bits // 64) * 8, b"\0")


@needs_packages
class SameBits(BfCase):
    def compare(self, options, tutorial, present, absent):
        """Adds in bf and in Python, and checks that bits and answers are equal."""
        self.write("keys", "".join(key + "\n" for key in present).encode())
        self.write("asked", "".join(key + "\n" for key in present + absent).encode())
        self.good("create", "f", "--force", "-q", "--layout", "classic", *options)
        added = self.run_bf("add", "f", "-q", "--from", "keys")
        self.assertEqual(added.returncode, 0, added)  # bf may warn that there are more keys than the capacity
        for key in present:
            tutorial.add(key)
        self.assertEqual(header(self.path("f"))["m"], tutorial.num_bits)
        self.assertEqual(header(self.path("f"))["k"], len(tutorial.seeds))
        self.assertEqual(body(self.path("f"), tutorial.num_bits), tutorial.body())
        expected = "".join(("maybe\t" if tutorial.check(key) else "absent\t") + key + "\n" for key in present + absent)
        self.assertEqual(self.good("contains", "f", "--from", "asked").decode(), expected)
        self.assertEqual(expected.count("absent\t") + expected.count("maybe\t"), len(present) + len(absent))
        return expected

    def test_the_tutorials_program_of_twenty_words(self):
        num_bits = int(-(20 * math.log(0.05)) / (math.log(2) ** 2))
        num_probes = int((num_bits / 20) * math.log(2))
        self.assertEqual((num_bits, num_probes), (124, 4))
        for convention in CONVENTIONS:
            for size in (["--bits", "124", "--probes", "4"], ["--capacity", "20", "--fpr", "0.05", "--tutorial-sizing"]):
                with self.subTest(convention=convention, size=size):
                    tutorial = Tutorial(num_bits, range(num_probes), convention)
                    answers = self.compare(["--hash", convention, *size], tutorial, PRESENT, ABSENT)
                    self.assertEqual(answers.count("maybe\t"), 21 + sum(map(tutorial.check, ABSENT)))
                    self.assertGreater(answers.count("absent\t"), 5)

    def test_seven_seeds_over_urls(self):
        choose = random.Random(1)
        url = lambda: "https://%s.example/%s?id=%d" % ("".join(choose.choices(string.ascii_lowercase, k=choose.randrange(1, 20))),
                                                       choose.choice(["", "ü/", "a%20b"]), choose.randrange(10**9))
        present, absent = [[url() for _ in range(5000)] for _ in range(2)]
        for convention in CONVENTIONS:
            with self.subTest(convention):
                tutorial = Tutorial(5_000_000, range(41, 48), convention)
                self.compare(["--hash", convention, "--bits", "5000000", "--seeds", "41..47"], tutorial, present, absent)

    def test_twenty_probes_in_ten_thousand_bits_over_animals(self):
        animals = ["dog", "cat", "giraffe", "fly", "mosquito", "horse", "eagle", "bird", "bison", "boar", "butterfly", "ant",
                   "anaconda", "bear", "chicken", "dolphin", "donkey", "crow", "crocodile"]
        others = ["badger", "cow", "pig", "sheep", "bee", "wolf", "fox", "whale", "shark", "fish", "turkey", "duck", "dove",
                  "deer", "elephant", "frog", "falcon", "goat", "gorilla", "hawk"]
        for convention in CONVENTIONS:
            with self.subTest(convention):
                tutorial = Tutorial(10_000, range(20), convention)
                answers = self.compare(["--hash", convention, "--bits", "10000", "--probes", "20"], tutorial, animals, others)
                self.assertEqual(answers.count("maybe\t"), len(animals))

    def test_keys_of_every_length_and_seeds_of_every_size(self):
        choose = random.Random(2)
        letters = string.ascii_letters + "äßé世\U0001f600"
        present = ["".join(choose.choices(letters, k=length)) for length in range(1, 120)]
        seeds = [0, 1, 2**31 - 1, 2**31, 2**32 - 1, 0x9747B28C, 1]
        for convention in CONVENTIONS:
            for num_bits in (1, 63, 64, 65, 65536, 99991, 2**21):
                with self.subTest(convention=convention, num_bits=num_bits):
                    tutorial = Tutorial(num_bits, seeds, convention)
                    self.compare(["--hash", convention, "--bits", str(num_bits), "--seeds", ",".join(map(hex, seeds))], tutorial,
                                 present, ["absent " + key for key in present])

    def test_the_tutorials_sizes(self):
        for keys, rate in ((20, 0.05), (1000, 0.01), (12345, 0.003), (10**6, 0.001), (7, 0.2)):
            num_bits = int(-(keys * math.log(rate)) / (math.log(2) ** 2))
            self.good("create", "f", "--force", "-q", "--hash", "murmur3", "--capacity", str(keys), "--fpr", str(rate), "--tutorial-sizing")
            made = header(self.path("f"))
            self.assertEqual((made["m"], made["k"]), (num_bits, int((num_bits / keys) * math.log(2))))


class Options(BfCase):
    def test_a_plan_like_it_says_that_it_does_not_fold(self):
        for name, *more in (("murmur3", "--probes", "4"), ("java-polynomial", "--seeds", "5,7,11"), ("xxh3", "--probes", "4", "--layout", "classic")):
            self.good("create", name, "-q", "--hash", name, "--bits", "64Ki", *more)
            planned = json.loads(self.good("plan", "--like", name, "--layout", "classic", "--json"))["layouts"]
            self.assertEqual([layout["can"]["fold"] for layout in planned], [name == "xxh3"], name)

    def test_a_list_of_seeds_is_numbers_and_ranges(self):
        for text, seeds in (("41..47", range(41, 48)), ("3,1,4", [3, 1, 4]), ("0x10..0x12,7", [16, 17, 18, 7]), ("5", [5]),
                            ("4294967295", [2**32 - 1]), ("0..63", range(64))):
            with self.subTest(text):
                self.good("create", "f", "--force", "-q", "--hash", "murmur3", "--bits", "1000", "--seeds", text)
                with open(self.path("f"), "rb") as file:
                    page = file.read(4096)
                self.assertEqual(page[136:136 + 4 * len(seeds)], b"".join(seed.to_bytes(4, "little") for seed in seeds))
        for text in ("", "x", "1,", ",1", "1..", "..1", "5..4", "0..64", "1,0..63", "4294967296", "-1", "1 2", "0..4294967295"):
            with self.subTest(text):
                self.refused("create", "g", "--hash", "murmur3", "--bits", "1000", f"--seeds={text}", says="--seeds: '")
        self.assertEqual(self.files(), ["f"])

    def test_what_does_not_go_together_is_refused(self):
        for options, says in ((["--probes", "2"], "Give --capacity N or --bits M, too"),
                              (["--bits", "1000", "--seeds", "1..3", "--probes", "2"], "number of seeds"),
                              (["--bits", "1000", "--seeds", "1..3", "--layout", "blocked"], "classic"),
                              (["--bits", "1000", "--seeds", "1..3", "--seed", "1"], "seed"),
                              (["--bits", "8Gi", "--probes", "3"], "4294967296"),
                              (["--capacity", "10", "--tutorial-sizing"], "--fpr")):
            self.refused("create", "g", "--hash", "murmur3", *options, says=says)
        self.refused("create", "g", "--bits", "1000", "--seeds", "1..3", says="xxh3 takes none")
        self.refused("build", "g", "--hash", "murmur3", "--from", "-", input=b"key\n", says=["read only once", "--capacity"])
        self.assertEqual(self.files(), [])

    def test_a_filter_like_another_has_its_seeds_and_merges_with_it(self):
        self.good("create", "one", "-q", "--hash", "murmur3-unsigned", "--bits", "5000", "--seeds", "9,8,7")
        self.good("create", "two", "-q", "--like", "one")
        self.good("add", "one", "-q", "alice")
        self.good("add", "two", "-q", "bob")
        self.good("merge", "both", "one", "two", "-q")
        self.assertEqual(self.good("contains", "both", "alice", "bob", "carol"), b"maybe\talice\nmaybe\tbob\nabsent\tcarol\n")
        self.good("create", "other", "-q", "--hash", "murmur3-unsigned", "--bits", "5000", "--seeds", "9,7,8")
        self.refused("merge", "none", "one", "other", says="list of seeds")
        self.refused("fold", "one", "small", "--to-fpr", "0.5", says=("one: filters", "murmur3-unsigned cannot be folded", "smaller"))

    def test_a_large_file_of_keys_is_built_by_several_threads(self):
        keys = b"".join(b"key %d\n" % i for i in range(300_000))
        self.write("keys", keys)
        self.good("build", "f", "-q", "--from", "keys", "--hash", "murmur3", "--fpr", "0.01")
        self.assertEqual(self.good("contains", "f", "--from", "keys", "--count").split()[1], b"300000")


if __name__ == "__main__":
    main()
