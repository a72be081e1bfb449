"""bfinspect on good files: every field is the file's, the same as page and as JSON, and nothing is changed by looking."""
import json
import math
import os
import re
import subprocess
import unittest

from inspector import BF, DIRTY, LAYOUTS, PAGE, Bytes, InspectorCase, sees_everybody


def cells_set(layout: str, body: bytes) -> int:
    """Returns the number of cells that are set; in the counting layout, of counters that are not 0."""
    if layout == "counting":
        return sum((byte & 15 != 0) + (byte >> 4 != 0) for byte in body)
    return sum(bin(byte).count("1") for byte in body)


def rate(bins, set_bins, k, equal):
    """Returns the estimate of FORMAT.md, "Rates and estimates", for a line or a whole classic filter with this number of set bits."""
    empty = max(bins - set_bins, 0.5) / bins
    throws = math.log(empty) / math.log1p(-1 / bins)
    both = math.expm1(throws * (math.log1p(-2 / bins) - 2 * math.log1p(-1 / bins)))
    variance = (empty - empty**2) / bins + (1 - 1 / bins) * empty**2 * both
    keys = max(0, throws + variance / (2 * empty**2) / math.log1p(-1 / bins)) / k
    fill = set_bins / bins
    return min(1, fill**k + keys * equal * (1 + 2 * sum(fill**j for j in range(1, k))))


class GoodFiles(InspectorCase):
    def test_a_fresh_filter_of_each_layout_is_clean_and_healthy_and_empty(self):
        for layout in LAYOUTS:
            found = self.json(self.make("--capacity", "1000", "--layout", layout, name=layout))
            self.assertEqual((found["layout"], found["hash"], found["state"]), (layout, "xxh3", "clean"))
            self.assertEqual((found["set_bits"], found["fill_ratio"], found["estimated_keys"], found["estimated_fpr"]),
                             (0, 0, 0, 0))
            self.assertEqual((found["capacity"], found["fpr"], found["keys_added"]), (1000, 0.01, 0))
            self.assertEqual(found["remaining_keys"], self.keys_within_promise(found))
            self.assertEqual((found["overfull"], found["problems"], found["marks"], found["note"]), (False, [], [], None))

    def test_bytes_that_another_program_appended_are_told_and_do_no_harm(self):
        path = self.make("--capacity", "1000", keys=range(10))
        self.assertNotIn("follow the end", self.text(path))
        for more, words in ((b"x", "1 byte follows the end of the filter, and is no part of it"), (b"2345", "5 bytes follow the end of the filter, and are no part of it")):
            with open(path, "ab") as file:
                file.write(more)
            self.assertIn(words, " ".join(self.text(path).split()))

    def test_every_field_is_the_one_in_the_bytes(self):
        path = self.make("--capacity", "5000", "--fpr", "0.003", "--seed", str(2**64 - 1), "--note", "the note",
                         keys=range(3000))
        found, raw = self.json(path), Bytes(path)
        offsets = {"num_probes": (36, "I"), "num_bits": (40, "Q"), "capacity": (48, "Q"), "fpr": (56, "d"), "body_offset": (72, "Q"),
                   "body_bytes": (80, "Q"), "header_bytes": (12, "I"), "compat": (16, "I"), "ro_compat": (20, "I"),
                   "incompat": (24, "I")}
        for key, (offset, layout) in offsets.items():
            self.assertEqual(found[key], raw.get(offset, layout), key)
        self.assertEqual(found["seed"], "18446744073709551615")
        self.assertEqual(found["format_version"], "2.0")
        self.assertEqual(found["form"], "file")
        self.assertEqual(found["file_id"], raw.data[88:104].hex())
        self.assertEqual(found["file_bytes"], os.stat(path).st_size)
        self.assertEqual(found["allocated_bytes"], os.stat(path).st_blocks * 512)
        self.assertEqual((found["note"], found["note_bytes"]), ("the note", b"the note".hex()))
        self.assertEqual(found["keys_added"], sum(raw.get(3 * PAGE + 64 * stripe, "Q") for stripe in range(1, 33)))
        self.assertAlmostEqual(found["bits_per_key"], found["num_bits"] / 5000)
        self.assertEqual([slot["valid"] for slot in found["slots"]], [True, True])
        self.assertEqual(found["state_sequence"], max(raw.get(PAGE, "Q"), raw.get(2 * PAGE, "Q")))

    def test_the_fill_of_a_body_that_is_read_in_several_pieces_is_counted_to_its_end(self):
        path = self.make("--capacity", "2M", "--bits-per-key", "10", keys=range(50000))
        found, raw = self.json(path), Bytes(path)
        self.assertNotEqual(found["body_bytes"] % (1 << 20), 0)
        body = raw.data[found["body_offset"]:found["body_offset"] + found["body_bytes"]]
        self.assertEqual(found["set_bits"], bin(int.from_bytes(body, "little")).count("1"))

    def test_a_sealed_file_says_so_and_where_its_checksums_are(self):
        path = self.make("--capacity", "100k", name="plain")
        self.assertEqual([self.json(path)[key] for key in ("sealed", "checksums_offset", "num_chunks", "damaged")], [False, None, None, None])
        subprocess.run([BF, "seal", "-q", path, path + ".sealed"], check=True)
        found = self.json(path + ".sealed")
        self.assertEqual((found["sealed"], found["state"], found["healthy"]), (True, "clean", True))
        self.assertEqual(found["num_chunks"], -(-found["body_bytes"] // 65536))
        self.assertEqual(found["file_bytes"], found["checksums_offset"] + 8 * found["num_chunks"] + 8)
        self.assertEqual(found["damaged"], [])
        page = self.text(path + ".sealed")
        self.assertIn("its bytes are those that were sealed", " ".join(page.split()))
        self.assertRegex(page, r"2 checksums from byte [\d,]+\n")

    def test_a_sealed_file_is_compared_with_its_checksums_if_its_bits_are_read(self):
        # It was clean, with every bit counted, where bf verify found the damage.
        path = self.make("--capacity", "100k", name="plain", keys=range(1000))
        subprocess.run([BF, "seal", "-q", path, path + ".sealed"], check=True)
        raw = Bytes(path + ".sealed")
        for at in (16384, 16384 + 65536 + 7):
            raw.data[at] ^= 1
        verified = subprocess.run([BF, "verify", raw.write()], capture_output=True, check=False).stdout.decode()
        found, page = self.json(raw.path, code=2), self.text(raw.path, code=2)
        self.assertEqual([(one["offset"], one["offset"] + one["bytes"] - 1) for one in found["damaged"]],
                         [tuple(map(int, ends)) for ends in re.findall(r"bytes (\d+) to (\d+)", verified)])
        self.assertEqual([problem["code"] for problem in found["problems"]], ["BFS_EDAMAGED"])
        self.assertTrue(page.splitlines()[0].endswith("damaged"), page)
        self.assertIn("bytes 16,384 to ", page)
        self.assertIn("--tolerate-damage", page)
        quick = self.json(raw.path, "--quick")
        self.assertIsNone(quick["damaged"])
        page = self.text(raw.path, "--quick")
        self.assertTrue(page.splitlines()[0].endswith(" sealed, not verified"), page)
        self.assertIn("bf verify says whether", " ".join(page.split()))
        self.assertRegex(page, r"2 checksums from byte [\d,]+, not verified")

    def test_the_first_line_says_sealed_and_what_was_not_looked_at(self):
        # With --quick a file whose bits were zeroed was "clean", and nothing more.
        path = self.with_hole()
        self.bf("seal", "-q", self.make(name="plain"), self.path("sealed"))
        for name, arguments, code, words in ((path, (), 1, "clean, bits may be missing"), (path, ("--quick",), 0, "clean, bits not looked at"),
                                             (self.path("sealed"), (), 0, "sealed: nothing to do"), (self.path("sealed"), ("--quick",), 0, "sealed, not verified")):
            self.assertEqual(self.text(name, *arguments, code=code).splitlines()[0], f"{name}  * {words}")
            self.assertEqual(self.json(name, *arguments, code=code)["state"], "clean")

    def test_the_fill_is_counted_from_the_bits(self):
        for layout in LAYOUTS:
            path = self.make("--capacity", "5000", "--layout", layout, name=layout, keys=range(3000))
            found, raw = self.json(path), Bytes(path)
            body = raw.data[found["body_offset"]:found["body_offset"] + found["body_bytes"]]
            set_bits = cells_set(layout, body)
            self.assertEqual(found["set_bits"], set_bits)
            self.assertAlmostEqual(found["fill_ratio"], set_bits / found["num_bits"])
            self.assertAlmostEqual(found["estimated_keys"], 3000, delta=100)
            self.assertAlmostEqual(found["remaining_keys"], self.keys_within_promise(found) - found["estimated_keys"], delta=1)
            blocks = [body] if layout == "classic" else [body[i:i + 64] for i in range(0, len(body), 64)]
            bits = {"blocked": 512, "counting": 128, "classic": found["num_bits"]}[layout]
            equal = 2**-63 if layout == "classic" else 2**-32
            rates = [rate(bits, cells_set(layout, block), found["num_probes"], equal) for block in blocks]
            self.assertAlmostEqual(found["estimated_fpr"], sum(rates) / len(rates), places=12)

    def test_the_page_says_the_same_as_the_json(self):
        path = self.make("--capacity", "2000000", "--seed", "1234567890123", "--note", "seen URLs", keys=range(500))
        found, page = self.json(path), self.text(path)
        for exact in (found["num_bits"], found["capacity"], found["body_bytes"], found["body_offset"], found["file_bytes"],
                      found["keys_added"], found["set_bits"]):
            self.assertIn(format(exact, ","), page)
        for words in ("clean", "blocked", "xxh3", "1234567890123", found["file_id"], "seen URLs", "1.00 % promised",
                      "2.00 million (2,000,000) keys", "format          2.0", "MiB (", " bytes)", "page cache", "huge pages"):
            self.assertIn(words, page)
        self.assertRegex(page, r"(?m)^  \[[#.|]+\] \d+\.\d %$")
        self.assertNotIn("Problems", page)

    def test_the_page_shows_the_rate_now_against_the_one_promised_and_how_many_fit(self):
        page = self.text(self.make("--capacity", "1000", keys=range(900)))
        self.assertRegex(page, r"false positives +0\.\d+ % now, 1\.00 % promised")
        self.assertRegex(page, r"room for +about \d+ more to its capacity, \d+ until the promised rate is\s+exceeded")
        self.assertRegex(page, r"keys now +about (8|9)\d\d of 1,000")

    def test_a_filter_that_was_built_full_has_the_room_that_its_whole_lines_leave(self):
        # The text said "about 0 more keys" of 4 keys where 3 were promised, and the HTML page that many more keep the rate.
        path = self.make("--capacity", "3", keys=range(4))
        found = self.json(path)
        self.assertGreater(found["remaining_keys"], 30)
        self.assertRegex(self.text(path), rf"room for +about {found['remaining_keys']} more keys")
        self.assertIn(f"<b>about {found['remaining_keys']}</b>", self.run_inspector("--html", "-", path).stdout.decode())
        exact = self.make("--capacity", "30k", "--seed", "4", name="exact", keys=range(30000))  # its rate is reached by chance
        self.assertEqual(self.json(exact)["remaining_keys"], 0)
        self.assertRegex(self.text(exact), "room for +none: the promised rate is reached")

    def test_a_filter_filled_exactly_to_its_capacity_is_healthy(self):
        for layout in LAYOUTS:
            for capacity in (1, 10, 1000, 100000):
                for fpr in ("0.5", "0.01", "0.0001"):
                    path = self.make("--capacity", str(capacity), "--fpr", fpr, "--layout", layout,
                                     name=f"{layout}{capacity}{fpr}", keys=range(capacity))
                    self.assertIs(self.json(path)["overfull"], False, path)

    def test_an_overfull_filter_needs_attention(self):
        for layout in LAYOUTS:
            path = self.make("--capacity", "1000", "--layout", layout, name=layout, keys=range(1200))
            found = self.json(path, code=1)
            self.assertEqual((found["overfull"], found["state"], found["remaining_keys"]), (True, "clean", 0))
            self.assertGreater(found["estimated_fpr"], found["fpr"])
            page = self.text(path, code=1)
            self.assertIn("clean, overfull", page.splitlines()[0])
            self.assertIn("bf build", page)

    def test_a_filter_with_more_keys_than_bf_add_allows_without_a_warning_is_overfull(self):
        # With 0.6 % too many keys bf add warned, and bfinspect called the file clean.
        for layout in LAYOUTS:
            most = self.keys_within_promise(self.json(self.make("--capacity", "50k", "--layout", layout, name=f"{layout}-empty")))
            for more in (-300, 0, 300, 1000):
                path = self.make("--capacity", "50k", "--layout", layout, name=f"{layout}{more}")
                keys = b"".join(b"%d\n" % key for key in range(most + more))
                said = subprocess.run([BF, "add", path], input=keys, capture_output=True, check=True, timeout=600).stderr
                warned = b"holds more than" in said
                found = json.loads(self.run_inspector("--json", path).stdout)
                if layout != "counting":  # whose count has repeated keys, so that the bits decide
                    self.assertLessEqual(warned, found["overfull"], (layout, more))
                if more in (-300, 1000):
                    self.assertEqual((warned, found["overfull"]), (more > 0, more > 0), (layout, more))
                quick = json.loads(self.run_inspector("--json", "--quick", path).stdout)
                self.assertEqual((quick["overfull"], quick["healthy"]), (warned, not warned), (layout, more))

    def test_only_a_file_that_is_read_is_said_to_lack_no_bits(self):
        path = self.make("--capacity", "30k", keys=range(20000))
        found = self.json(path)
        self.assertEqual((found["bits_may_be_missing"], found["emptier_stretches"]), (False, 0))
        self.assertIn(found["stretches"], range(60, 65))
        murmur = self.make("--capacity", "30k", "--hash", "murmur3", name="murmur3", keys=range(20000))
        for found in (self.json(path, "--quick"), self.json(murmur)):
            self.assertEqual([found[key] for key in ("bits_may_be_missing", "stretches", "emptier_stretches")], [None] * 3)

    def test_repeated_keys_of_counters_break_no_promise(self):
        path = self.make("--capacity", "1000", "--layout", "counting", keys=[key for key in range(300) for _ in range(5)])
        self.assertEqual(self.json(path)["overfull"], False)

    def test_a_filter_that_is_full_within_the_error_of_the_estimate_says_so(self):
        page = " ".join(self.text(self.make("--capacity", "30k", "--seed", "4", keys=range(30000))).split())
        self.assertIn("none: the promised rate is reached, within the error of the estimate", page)

    def test_the_room_names_the_capacity_if_whole_lines_have_more(self):
        self.assertRegex(self.text(self.make("--capacity", "1000", keys=range(4))),
                         r"room for +about 996 more to its capacity, 1,0\d\d until the promised rate\s+is\s+exceeded")

    def test_an_interval_whose_ends_are_the_same_is_one_number(self):
        self.assertRegex(self.text(self.make("--capacity", "1000", keys=range(4))), r"95 % interval +4\n")

    def test_while_it_is_filled_every_absent_key_gets_maybe(self):
        path = self.make("--capacity", "1000", "--filling", keys=range(500))
        self.assertRegex(self.text(path, code=1), r"false positives +every absent key now, 0\.\d+ % by the bits, 1\.00 % promised")

    def test_the_first_line_says_that_nothing_is_to_do_where_that_is_so(self):
        # A person who saw "clean" had to read the page to learn that.
        def first(path, *more, code=0):
            return self.text(path, *more, code=code).splitlines()[0]
        clean = self.make("--capacity", "1000", "--seed", "4", keys=range(4))
        self.assertRegex(first(clean), r"clean: nothing to do$")
        self.assertRegex(first(clean, "--quick"), r"clean, bits not looked at$")
        self.assertRegex(first(self.make("--capacity", "1000", "--filling", name="g"), code=1), "filling$")
        self.assertRegex(first(self.make("--capacity", "30k", "--seed", "4", keys=range(30000), name="h")), "clean$")
        window = self.make("--capacity", "100", "--window", "7d", name="w")
        self.assertRegex(first(window), r"clean(: nothing to do)?$")

    def test_a_slot_that_counts_no_more_is_the_state_before(self):
        path = self.make(keys=range(4))
        self.assertNotRegex(self.text(path), "slot|sequence")
        page = self.text(path, "-v")
        self.assertEqual(len(re.findall(r"slot [AB] +before: dirty, ", page)), 1, page)
        self.assertEqual(len(re.findall(r"slot [AB] +clean, ", page)), 1, page)

    def test_a_filter_of_nothing_but_ones_is_overfull_and_has_only_finite_numbers(self):
        for layout in LAYOUTS:
            raw = Bytes(self.make("--capacity", "1000", "--layout", layout, name=layout))
            offset, bits = raw.get(72, "Q"), raw.get(40, "Q") * (4 if layout == "counting" else 1)
            raw.data[offset:offset + bits // 8] = b"\xff" * (bits // 8)
            for bit in range(bits // 8 * 8, bits):
                raw.data[offset + bit // 8] |= 1 << bit % 8
            found = self.json(raw.write(), code=1)
            self.assertEqual((found["overfull"], found["fill_ratio"], found["remaining_keys"]), (True, 1, 0))
            page = self.text(raw.path, code=1)
            self.assertNotRegex(page, r"(?i)\b(nan|inf)\b")
            if layout != "counting":  # which has a lower end of the estimate
                self.assertRegex(page, r"keys now +at least \d")

    def test_quick_leaves_the_fill_unknown_and_the_rest_as_it_is(self):
        path = self.make("--capacity", "1000", keys=range(3000))
        whole, quick = self.json(path, code=1), self.json(path, "--quick", code=1)
        self.assertEqual((whole["overfull"], quick["overfull"]), (True, True))
        for key in ("set_bits", "fill_ratio", "estimated_keys", "estimated_fpr", "remaining_keys"):
            self.assertIsNotNone(whole[key], key)
            self.assertIsNone(quick[key], key)
        for key in ("num_bits", "num_probes", "capacity", "fpr", "seed", "keys_added", "state", "file_id", "slots", "valid"):
            self.assertEqual(whole[key], quick[key], key)
        self.assertIn("not counted (--quick)", self.text(path, "--quick", code=1))

    def test_an_external_hash_is_named(self):
        found = self.json(self.make("--capacity", "10", "--hash", "external"))
        self.assertEqual((found["hash"], found["seed"]), ("external", "0"))

    def test_a_hash_with_a_secret_is_named_with_its_check_and_does_not_need_it(self):
        secret = self.path("secret")
        with open(secret, "wb") as file:
            file.write(bytes(range(16)))
        os.chmod(secret, 0o600)
        path = self.make("--capacity", "10", "--hash", "siphash", "--secret-file", secret)
        found, text = self.json(path), self.text(path)
        self.assertEqual((found["hash"], found["seed"], found["valid"]), ("siphash", "0", True))
        check = "%016x" % Bytes(path).get(144, "Q")
        self.assertEqual(found["secret_check"], check)
        self.assertRegex(text, r"hash +siphash \(with a secret\)\n")
        self.assertRegex(text, rf"secret check +{check}\n")
        self.assertNotRegex(text, r"(?m)^ +seed ")
        self.assertIsNone(self.json(self.make(name="plain"))["secret_check"])

    def test_listed_seeds_take_the_place_of_the_seed(self):
        for text, seeds, shown in (("41..47", list(range(41, 48)), r"41\.\.47"), ("3,1,4", [3, 1, 4], "3, 1, 4"), ("7,8", [7, 8], "7, 8")):
            path = self.make("--hash", "murmur3", "--bits", "1000", "--seeds", text, name="seeded" + text)
            found, words = self.json(path), self.text(path)
            self.assertEqual((found["hash"], found["seeds"], found["valid"]), ("murmur3", seeds, True))
            self.assertRegex(words, rf"(?m)^ +seeds +{shown}$")
            self.assertNotRegex(words, r"(?m)^ +seed ")
        self.assertIsNone(self.json(self.make(name="plain"))["seeds"])

    def test_a_body_of_two_mebibytes_begins_at_two_mebibytes(self):
        found = self.json(self.make("--bits", str(2**24), "--probes", "5"))
        self.assertEqual((found["body_offset"], found["body_bytes"]), (2**21, 2**21))
        self.assertLess(found["allocated_bytes"], found["file_bytes"])  # the hole
        self.assertIsInstance(found["resident_bytes"], int)
        self.assertIsInstance(found["huge_page_bytes"], int)

    def test_a_later_minor_version_is_read_as_far_as_it_is_known(self):
        raw = Bytes(self.make()).put(10, "H", 3)
        self.assertEqual(self.json(raw.seal().write())["format_version"], "2.3")

    def test_looking_changes_neither_bytes_nor_times_in_any_state(self):
        clean = self.make(keys=range(10))
        dirty = Bytes(clean).slots(DIRTY).seal().write(self.path("dirty"))
        killed = self.make(name="killed")
        writer = self.writer(killed)
        writer.kill()
        writer.wait()
        for path, code in ((clean, 0), (dirty, 1), (killed, 0)):
            with open(path, "rb") as file:
                before = file.read(), os.stat(path).st_mtime_ns, os.stat(path).st_ctime_ns
            self.text(path, code=code)
            self.json(path, code=code)
            with open(path, "rb") as file:
                self.assertEqual(before, (file.read(), os.stat(path).st_mtime_ns, os.stat(path).st_ctime_ns))

    def test_a_file_without_write_permission_is_read_all_the_same(self):
        path = self.make()
        os.chmod(path, 0o444)
        self.assertEqual(self.json(path)["state"], "clean")

    def test_nobody_is_said_only_where_it_is_known(self):
        found = self.json(self.make())
        if sees_everybody():
            self.assertEqual((found["open_by"], found["open_by_complete"]), ([], True))
            self.assertRegex(self.text(self.path()), r"(?m)^  no process$")
        else:  # not even root may look into every process of this machine
            self.assertEqual((found["open_by"], found["open_by_complete"]), (None, False))
            self.assertNotRegex(self.text(self.path()), r"(?m)^  no process$")


if __name__ == "__main__":
    unittest.main(verbosity=2)
