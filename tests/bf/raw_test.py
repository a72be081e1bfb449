"""bf import and bf export: the bit arrays that Python programs with mmh3 and bitarray write, in both orders of bits, and
back. Bad arrays are refused, and a file is there whole or not at all.
"""
import os
import random
import stat

from bf_case import BfCase, main
from packages import bitarray, mmh3, needs_packages

ORDERS = ("little", "big")
SEEDS_0_TO_3 = ["--hash", "murmur3", "--bits", "124", "--probes", "4"]


def bits_of(numbers, num_bits, order):
    """Makes an array by its definition, without any package."""
    made = bytearray(-(-num_bits // 8))
    for number in numbers:
        made[number // 8] |= 1 << number % 8 if order == "little" else 0x80 >> number % 8
    return bytes(made)


def numbers_of(array, order):
    return {8 * i + j for i, byte in enumerate(array) for j in range(8) if byte & (1 << j if order == "little" else 0x80 >> j)}


@needs_packages
class WithBitarray(BfCase):
    def array_of(self, keys, num_bits, seeds, order):
        """Writes the other program's array to the file `raw`."""
        bits = bitarray.bitarray(num_bits, endian=order)
        bits.setall(0)
        for key in keys:
            for seed in seeds:
                bits[mmh3.hash(key, seed) % num_bits] = True
        with open(self.path("raw"), "wb") as file:
            bits.tofile(file)
        return bits

    def test_every_key_is_there_every_answer_is_equal_and_the_bits_come_back(self):
        choose = random.Random(3)
        word = lambda: "".join(choose.choices("abcdefghijklmnopqrstuvwxyzäé世", k=choose.randrange(1, 15)))
        absent = sorted({word() for _ in range(3000)})
        for order in ORDERS:
            for num_bits, seeds, count in ((124, range(4), 20), (9, [5], 3), (4099, [7, 7, 2**32 - 1], 900), (500_000, range(41, 48), 30_000)):
                with self.subTest(order=order, num_bits=num_bits):
                    present = [word() + str(i) for i in range(count)]
                    bits = self.array_of(present, num_bits, seeds, order)
                    self.write("keys", "".join(key + "\n" for key in present).encode())
                    self.write("asked", "".join(key + "\n" for key in absent).encode())
                    self.good("import", "raw", "f", "--force", "-q", "--order", order, "--hash", "murmur3", "--bits", str(num_bits),
                              "--seeds", ",".join(map(str, seeds)), "--capacity", str(2 * count + 50), "--check", "keys")
                    self.assertEqual(self.good("contains", "f", "--from", "keys", "--count"), b"maybe\t%d\nabsent\t0\n" % count)
                    expected = "".join(("maybe\t" if all(bits[mmh3.hash(key, seed) % num_bits] for seed in seeds) else "absent\t") +
                                       key + "\n" for key in absent)
                    self.assertEqual(self.run_bf("contains", "f", "--from", "asked").stdout.decode(), expected)
                    for out in ORDERS:
                        self.good("export", "f", "back", "--force", "-q", "--order", out)
                        back = bitarray.bitarray(endian=out)
                        with open(self.path("back"), "rb") as file:
                            back.fromfile(file)
                        self.assertFalse(back[num_bits:].any())
                        self.assertEqual(list(back[:num_bits]), list(bits))

    def test_a_wrong_word_about_the_bits_is_found_by_the_keys(self):
        keys = [f"word {i}" for i in range(20)]
        self.write("keys", "".join(key + "\n" for key in keys).encode())
        self.array_of(keys, 128, range(4), "big")
        good = {"--order": "big", "--hash": "murmur3", "--bits": "128", "--seeds": "0..3"}
        for option, wrong in (("--order", "little"), ("--hash", "siphash"), ("--bits", "121"), ("--seeds", "1..4"), ("--seeds", "41")):
            with self.subTest(option=option, wrong=wrong):
                options = dict(good, **{option: wrong})
                if wrong == "siphash":
                    os.chmod(self.write("secret", bytes(16)), 0o600)
                    options.update({"--secret-file": "secret", "--layout": "classic", "--probes": "4"})
                    del options["--seeds"]
                words = [word for pair in options.items() for word in pair]
                says = ["after the last one"] if option == "--bits" else ["is not in these bits", "Nothing was made"]
                self.refused("import", "raw", "f", *words, "--check", "keys", says=says)
                self.assertNotIn("f", self.files())
        self.good("import", "raw", "f", *[word for pair in good.items() for word in pair], "--check", "keys")


class Arrays(BfCase):
    def read(self, name):
        with open(self.path(name), "rb") as file:
            return file.read()

    def test_bits_are_where_their_order_says_and_come_back_from_a_pipe_too(self):
        numbers = {0, 1, 7, 8, 15, 64, 90, 122, 123}
        for order in ORDERS:
            raw = bits_of(numbers, 124, order)
            self.write("raw", raw)
            self.good("import", "raw", "f", "--force", "-q", "--order", order, *SEEDS_0_TO_3)
            self.good("import", "-", "g", "--force", "-q", "--order", order, *SEEDS_0_TO_3, input=raw)
            self.good("compare", "f", "g", "-q")
            for out in ORDERS:
                self.assertEqual(numbers_of(self.good("export", "f", "-", "--order", out), out), numbers)
        self.good("import", "raw", "h", "-q", "--order", "big", "--like", "g")
        self.good("compare", "g", "h", "-q")

    def test_what_is_imported_has_an_estimate_of_its_keys(self):
        self.write("raw", bits_of(range(0, 1000, 4), 1000, "big"))
        said = self.good("import", "raw", "f", "--order", "big", "--hash", "murmur3", "--bits", "1000", "--probes", "4").decode()
        self.assertRegex(said, r"^f: imported 1,000 bits, as full as with 72 keys; room for 17\d keys ")
        self.write("raw", b"\xff" * 125)
        done = self.run_bf("import", "raw", "f", "--force", "--order", "big", "--hash", "murmur3", "--bits", "1000", "--probes", "4")
        self.assertEqual(done.returncode, 0)
        self.assertIn(b"fuller", done.stderr)

    def test_another_length_or_bits_after_the_last_one_are_refused(self):
        raw = bits_of({3}, 124, "little")
        for array, says in ((raw[:-1], "has 15 bytes"), (raw + b"\0", "has 17 bytes"), (b"", "has 0 bytes"),
                            (raw[:-1] + b"\x10", "after the last one of 124"), (raw[:-1] + b"\x80", "after the last one of 124")):
            self.write("raw", array)
            self.refused("import", "raw", "f", "--order", "little", *SEEDS_0_TO_3, says=says)
        for array, says in ((raw[:-1], "ends after 15 bytes"), (raw + b"\0", "more bytes")):
            self.refused("import", "-", "f", "--order", "little", *SEEDS_0_TO_3, input=array, says=["standard input", says])
        self.assertEqual(self.files(), ["raw"])

    def test_what_bf_cannot_know_has_to_be_said(self):
        self.write("raw", bytes(16))
        for words, says in ((SEEDS_0_TO_3, "--order"), (["--order", "middle", *SEEDS_0_TO_3], "little or big"),
                            (["--order", "big", "--bits", "124", "--probes", "4"], "no hash given"),
                            (["--order", "big", "--hash", "murmur3"], "no size given"),
                            (["--order", "big", "--hash", "murmur3", "--bits", "124"], "--probes"),
                            (["--order", "big", "--hash", "xxh3", "--layout", "classic", "--bits", "124", "--probes", "4"], "no seed given"),
                            (["--order", "big", "--hash", "xxh3", "--seed", "1", "--bits", "512", "--probes", "4"], "exactly 64"),
                            (["--order", "big", "--hash", "murmur3", "--layout", "blocked", "--bits", "128", "--probes", "4"], "classic"),
                            (["--order", "big", "--layout", "counting", "--hash", "xxh3", "--seed", "1", "--bits", "128", "--probes", "4"], "counting")):
            self.refused("import", "raw", "f", *words, says=says)
        self.refused("import", "none", "f", "--order", "big", *SEEDS_0_TO_3, says="none: no such file. Give the path of a file with the bits.")
        self.refused("import", ".", "f", "--order", "big", *SEEDS_0_TO_3, says=".: a directory. Give the path of a file with the bits")
        self.refused("import", "-", "f", "--order", "big", *SEEDS_0_TO_3, "--check", "-", says="both be standard input")
        self.write("keys", b"")
        self.refused("import", "raw", "f", "--order", "big", *SEEDS_0_TO_3, "--check", "keys", says="holds no keys")
        self.assertEqual(self.files(), ["keys", "raw"])

    def test_what_is_replaced_gives_its_mode_and_owner(self):
        self.good("create", "f", "-q", *SEEDS_0_TO_3)
        self.write("raw", bits_of({3}, 124, "little"))
        os.chmod(self.path("raw"), 0o664)
        if os.geteuid() == 0:
            os.chown(self.path("raw"), 12345, 12346)
        before = os.stat(self.path("raw"))
        self.good("export", "f", "raw", "--order", "little", "--force", "-q")
        after = os.stat(self.path("raw"))
        self.assertEqual((after.st_mode, after.st_uid, after.st_gid), (before.st_mode, before.st_uid, before.st_gid))
        self.assertNotEqual(after.st_ino, before.st_ino)
        self.good("export", "f", "raw", "--order", "little", "--force", "-q", "--mode", "600")
        self.assertEqual(stat.S_IMODE(os.stat(self.path("raw")).st_mode), 0o600)

    def test_a_name_that_is_taken_is_refused_and_force_replaces_it(self):
        self.write("raw", bits_of({3}, 124, "little"))
        self.good("create", "f", "-q", *SEEDS_0_TO_3)
        self.good("add", "f", "-q", "alice")
        self.refused("import", "raw", "f", "--order", "little", *SEEDS_0_TO_3, says="exists already. Add to it (bf add), replace it and lose its keys (--force)")
        self.refused("import", "raw", "raw", "--order", "little", "--force", *SEEDS_0_TO_3, says="the bit array itself")
        self.write("keys", b"carol\n")
        self.refused("import", "raw", "keys", "--order", "little", "--force", *SEEDS_0_TO_3, "--check", "keys",
                     says="keys: is the list of keys to check")
        self.assertEqual(self.read("keys"), b"carol\n")
        os.unlink(self.path("keys"))
        self.refused("export", "f", "raw", "--order", "little", says="exists already. Replace it (--force)")
        self.good("create", "other", "-q", "--like", "f")
        self.refused("export", "f", "other", "--force", "--order", "little", says=["other: is a filter", "another name"])
        os.unlink(self.path("other"))
        self.refused("export", "f", "f", "--force", "--order", "little", says="the filter itself")
        self.assertEqual(self.read("raw"), bits_of({3}, 124, "little"))
        self.good("contains", "f", "alice")
        self.good("import", "raw", "f", "--force", "-q", "--order", "little", *SEEDS_0_TO_3)
        self.assertEqual(self.run_bf("contains", "f", "alice").returncode, 1)
        self.good("export", "f", "raw", "--force", "-q", "--order", "big")
        self.assertEqual(self.read("raw"), bits_of({3}, 124, "big"))
        self.good("export", "f", "new", "-q", "--order", "big")
        self.assertEqual(stat.S_IMODE(os.stat(self.path("new")).st_mode), 0o600)
        self.assertEqual(self.files(), ["f", "new", "raw"])

    def test_a_list_and_a_file_of_a_known_kind_are_not_replaced(self):
        # The list of keys was gone.
        self.good("create", "f", "-q", *SEEDS_0_TO_3)
        for text, why in ((b"alice\nbob\n", "looks like a list of keys"), (b"SQLite format 3\0" + bytes(99), "is an SQLite database"),
                          (b"\x1f\x8b\x08" + bytes(20), "is compressed with gzip")):
            self.write("keys", text)
            self.refused("export", "f", "keys", "--order", "big", "--force", "-q",
                         says=f"keys: {why}, and --force replaces exported filters alone. Choose another name, or move it away first (mv).")
            self.assertEqual(self.read("keys"), text)
        for old in (b"", bytes(8), bits_of({3, 9}, 124, "big")):
            self.write("raw", old)
            self.good("export", "f", "raw", "--order", "big", "--force", "-q")

    def test_only_classic_filters_are_exported(self):
        self.good("create", "f", "-q", "--capacity", "10")
        self.refused("export", "f", "raw", "--order", "big", says="classic")
        self.assertEqual(self.files(), ["f"])


if __name__ == "__main__":
    main()
