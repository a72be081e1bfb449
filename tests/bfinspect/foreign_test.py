"""bfinspect on files of other programs: a recognized format, one that is asked for, and damaged files of one. The page and the
JSON say the same, and nothing is changed by looking.
"""
import csv
import json
import os
import struct
import sys

from inspector import InspectorCase, unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "bf"))
from jaybird_test import HEADER, Published  # found only now


DATA = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "data", "foreign")


class Originals(InspectorCase):
    """Files that the other programs themselves made."""

    def test_every_one_is_shown_if_its_format_is_given_and_most_are_recognized(self):
        with open(os.path.join(DATA, "files.tsv"), newline="", encoding="utf-8") as file:
            rows = list(csv.DictReader(file, delimiter="\t"))
        recognized = 0
        for row in rows:
            with self.subTest(file=row["file"]):
                path = os.path.join(DATA, row["file"])
                column = ["--column", row["options"].removeprefix("column=")] if row["options"].startswith("column=") else []
                done = self.run_inspector("--json", "--format", row["format"], *column, path)
                found = json.loads(done.stdout)
                self.assertIn(done.returncode, (0, 1), done)
                self.assertEqual((found["problems"], found["foreign_formats"]), ([], [row["format"]]))
                self.assertGreater(found["num_bits"], 0)
                if found["set_bits"] is None:  # its bits are text
                    self.assertIn("its bits are not asked", " ".join(self.text(path, "--format", row["format"]).split()))
                else:
                    self.assertAlmostEqual(found["estimated_keys"], int(row["keys"]), delta=0.2 * int(row["keys"]))
                alone = json.loads(self.run_inspector("--json", path).stdout)["foreign_formats"]
                self.assertTrue(alone == [] or row["format"] in alone, alone)
                recognized += alone == [row["format"]]
        self.assertGreater(recognized, len(rows) // 2)

    def test_a_file_of_several_filters_has_no_promise(self):
        path = os.path.join(DATA, "jaybird.scalable-2.bloom")
        found, page = self.json(path), self.text(path)
        self.assertEqual(found["foreign_formats"], ["jaybird-scalable"])
        self.assertGreater(found["foreign_filters"], 1)
        self.assertEqual((found["capacity"], found["fpr"], found["overfull"], found["remaining_keys"], found["bits_per_key"]), (None,) * 5)
        self.assertAlmostEqual(found["estimated_keys"], 1000, delta=60)
        self.assertAlmostEqual(found["estimated_fpr"], 0.0265, delta=0.005)
        self.assertRegex(page, rf"filters +{found['foreign_filters']}: a key is in the file if one of them has it")
        self.assertRegex(page, r"capacity \(n\) +unknown")
        self.assertIn("--member N", " ".join(page.split()))

    def test_a_file_of_several_columns_needs_one(self):
        path = os.path.join(DATA, "parquet.arrow.parquet")
        self.assertEqual((self.json(path, code=1)["foreign_formats"], self.json(path, code=1)["num_bits"]), (["parquet"], None))
        self.assertIn("--format parquet --column C", " ".join(self.text(path, code=1).split()))
        done = self.run_inspector(path, "--format", "parquet")
        self.assertEqual((done.returncode, b"Give one, --column C" in done.stderr), (3, True), done)
        found = self.json(path, "--format", "parquet", "--column", "k")
        self.assertEqual((found["hash"], found["foreign_keys"]), ("parquet", "the value's plain encoding"))
        self.assertAlmostEqual(found["estimated_keys"], 1000, delta=100)
        self.assertIn("nothing", self.json(path, "--format", "parquet", "--column", "nothing", code=2)["problems"][0]["text"])

    def test_a_file_without_a_mark_is_shown_if_its_format_is_given(self):
        path = os.path.join(DATA, "leveldb.ten-bits.filter")
        self.assertEqual(self.json(path, code=2)["foreign_formats"], [])
        found = self.json(path, "--format", "leveldb")
        self.assertEqual((found["hash"], found["capacity"], found["num_probes"]), ("leveldb", None, 6))
        self.assertAlmostEqual(found["estimated_keys"], 1000, delta=60)
        self.assertRegex(self.text(path, "--format", "leveldb"), r"false positives +0\.\d+ % now\n")


class Foreign(InspectorCase):
    def jaybird(self, capacity=1000, keys=900, error_rate=0.01, name="f.jay"):
        """Writes a file of python-bloomfilter, of which n, p and the count are in the bytes."""
        bloom = Published(capacity, error_rate, "jaybird")
        for key in (f"key {i}" for i in range(keys)):
            bloom.add(key)
        self.bytes = bloom.to_bytes()
        return self.write(name, self.bytes), bloom

    def write(self, name, data):
        with open(self.path(name), "wb") as file:
            file.write(data)
        return self.path(name)

    def test_a_recognized_file_has_the_facts_that_its_bytes_say(self):
        path, bloom = self.jaybird()
        before = os.stat(path)
        found, page = self.json(path), self.text(path)
        self.assertEqual((found["foreign_formats"], found["foreign_filters"], found["foreign_keys"]), (["jaybird"], 1, "str(key) in UTF-8"))
        self.assertEqual((found["num_bits"], found["num_probes"], found["capacity"], found["fpr"], found["keys_added"]), (7 * bloom.slice, 7, 1000, 0.01, 900))
        self.assertEqual((found["layout"], found["hash"], found["seed"], found["state"], found["file_id"], found["format_version"]), ("classic", *[None] * 5))
        self.assertEqual(found["looks_like"], "a filter in the format jaybird")
        self.assertEqual(found["set_bits"], bin(int.from_bytes(self.bytes[40:], "little")).count("1"))
        self.assertAlmostEqual(found["estimated_keys"], 900, delta=40)
        self.assertAlmostEqual(found["remaining_keys"], 100, delta=40)
        self.assertEqual((found["overfull"], found["sealed"], found["file_bytes"]), (False, None, len(self.bytes)))
        self.assertRegex(page.splitlines()[0], r"f\.jay +\* another program's filter$")
        for said in (r"format +jaybird: the file of python-bloomfilter's BloomFilter", r"filters +1\n", r"keys added +900 by its own count",
                     r"keys are +str\(key\) in UTF-8", r"hash +jaybird or pybloom-live\n", rf"bits \(m\) +{7 * bloom.slice:,}\n", r"probes \(k\) +7\n",
                     r"capacity \(n\) +1,000 keys", r"promised \(p\) +1\.00 %", r"keys now +about (8|9)\d\d of 1,000", r"false positives +0\.\d+ % now, 1\.00 % promised",
                     r"bf contains --format\s+jaybird", r"bf import\s+--format\s+jaybird", "Open by"):
            self.assertRegex(page, said)
        self.assertNotRegex(page, r"(?m)^  seed|slot A|Problems")
        self.assertEqual((before.st_mtime_ns, before.st_ctime_ns), (os.stat(path).st_mtime_ns, os.stat(path).st_ctime_ns))
        self.assertEqual(found, self.json(path, "--format", "jaybird"))

    def test_a_hash_that_the_bytes_say_is_named(self):
        path, _ = self.jaybird(error_rate=0.0001)
        self.assertEqual(self.json(path)["hash"], "jaybird")
        self.assertRegex(self.text(path), r"hash +jaybird\n")

    def test_the_only_hash_of_a_format_that_does_not_tell_it_is_in_the_advice(self):
        page = self.text(os.path.join(DATA, "rbloom.text.bloom"))
        for command in ("contains", "import"):
            self.assertRegex(page, rf"bf {command}\s+--format\s+rbloom\s+--hash\s+rbloom\)")

    def test_an_overfull_file_needs_attention(self):
        bloom = Published(1000, 0.01, "jaybird")
        for key in (f"key {i}" for i in range(1400)):
            bloom.add(key)
        bloom.count = 1000
        path = self.write("f.jay", bloom.to_bytes())
        found = self.json(path, code=1)
        self.assertEqual((found["overfull"], found["remaining_keys"]), (True, 0))
        self.assertIn("overfull", self.text(path, code=1).splitlines()[0])

    def test_quick_leaves_the_fill_unknown(self):
        path, _ = self.jaybird()
        whole, quick = self.json(path), self.json(path, "--quick")
        for key in ("set_bits", "estimated_keys", "estimated_fpr", "overfull", "remaining_keys"):
            self.assertIsNotNone(whole[key], key)
            self.assertIsNone(quick[key], key)
        self.assertEqual(whole["num_bits"], quick["num_bits"])
        self.assertIn("not counted (--quick)", self.text(path, "--quick"))

    def test_a_damaged_file_of_a_given_format_says_what_is_wrong(self):
        self.jaybird()
        header = lambda **changed: struct.pack(HEADER, *{"p": 0.01, "k": 7, "slice": 1370, "n": 1000, "count": 900, **changed}.values())
        for name, data, code, says in (("cut", self.bytes[:-1], "BFS_EBODY", "exactly"), ("longer", self.bytes + b"\0", "BFS_EBODY", "exactly"),
                                       ("short", self.bytes[:20], "BFS_ETOOSHORT", "20 bytes"), ("k", header(k=0) + self.bytes[40:], "BFS_EPROBES", "k is 0"),
                                       ("zeros", bytes(5000), "BFS_ECAPACITY", "p is not"), ("text", b"alice\n" * 900, "BFS_ECAPACITY", "p is not")):
            with self.subTest(name=name):
                path = self.write(name, data)
                found = self.json(path, "--format", "jaybird", code=2)
                self.assertEqual([problem["code"] for problem in found["problems"]], [code])
                self.assertIn(says, found["problems"][0]["text"])
                self.assertEqual((found["foreign_formats"], found["num_bits"], found["set_bits"]), (["jaybird"], None, None))
                page = self.text(path, "--format", "jaybird", code=2)
                self.assertIn("not a good filter of the format jaybird", page.splitlines()[0])
                self.assertIn(code, page)
                alone = self.json(path, code=2)
                self.assertEqual((alone["foreign_formats"], alone["foreign_filters"]), ([], None))
                self.assertIn("not a filter file", self.text(path, code=2).splitlines()[0])

    def test_a_filter_file_is_no_foreign_one_unless_it_is_asked_for_as_one(self):
        path = self.make()
        found = self.json(path)
        self.assertEqual((found["foreign_formats"], found["foreign_filters"], found["foreign_keys"]), ([], None, None))
        self.assertEqual(self.json(path, "--format", "jaybird", code=2)["foreign_formats"], ["jaybird"])

    def test_a_wrong_format_or_column_is_bad_usage(self):
        path, _ = self.jaybird()
        for words_, says in ((["--format", "pickle"], "'pickle' is not a format"), (["--format", "raw"], "say nothing of their filter"),
                             (["--format", "jaybird", "--column", "c"], "has no columns"), (["--column", "c"], "--format")):
            done = self.run_inspector(path, *words_)
            self.assertEqual((done.returncode, done.stdout), (3, b""), done)
            self.assertIn(says, done.stderr.decode())
        done = self.run_inspector(self.path("nothing"), "--format", "jaybird")
        self.assertEqual((done.returncode, done.stdout), (3, b""), done)

    def test_a_file_that_is_no_regular_one_is_not_read(self):
        os.mkfifo(self.path("fifo"))
        self.assertEqual(self.json(self.path("fifo"), "--format", "jaybird", code=2)["foreign_formats"], [])
        self.assertEqual(self.json(self.folder, code=2)["looks_like"], "a directory")

    def test_the_form_of_the_keys_in_a_note_is_shown(self):
        for number, (note, form) in enumerate((("key-form: upper", "upper"), ("mine\nkey-form: lower,hex", "lower,hex"), ("key-form: a\nkey-form: \x1b[31m", "\x1b[31m"),
                                               ("no key-form: x", None), ("key-form:", None), ("key-form: ", ""))):
            path = self.make("--capacity", "10", "--note", note, name=f"note{number}")
            found, page = self.json(path), self.text(path)
            self.assertEqual(found["key_form"], form)
            self.assertEqual("key form" in page, form is not None)
            self.assertNotIn("\x1b", page)


if __name__ == "__main__":
    unittest.main(verbosity=2)
