"""bf contains --format asks a file of another program where it is: it answers as the filter that bf import makes of the file,
takes no word that the bytes say themselves, and ends with an error when the file changes. Without --format it says which
format the file may have. And: bf import of one filter of a file.
"""
import csv
import os
import re
import shutil
import struct

from bf_case import SURE, BfCase, header, main
from jaybird_test import Published, lines, words
from raw_test import SEEDS_0_TO_3, bits_of

DATA = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "data", "foreign")
OPTIONS = {"hash": "--hash", "column": "--column", "num_bits": "--bits", "num_probes": "--probes", "seeds": "--seeds"}
FORMS = {"utf8": "text", "utf16le": "utf16le", "int32le": "int32le", "int64le": "int64le"}
JAYBIRD = ["--format", "jaybird", "--hash", "jaybird"]


class InPlace(BfCase):
    def setUp(self):
        super().setUp()
        bloom = Published(1000, 0.01, "jaybird")
        self.keys = words(1, 900)
        for key in self.keys:
            bloom.add(key)
        self.file = bloom.to_bytes()
        self.write("raw", self.file)
        self.write("keys", lines(self.keys))
        self.write("asked", lines(words(2, 3000)))

    def read(self, name):
        with open(self.path(name), "rb") as file:
            return file.read()

    def test_a_file_of_another_format_than_was_given_is_named_with_a_way_out(self):
        self.write("text", b"1\n2\n" * 9)
        for words in (["import", "text", "f", "--format", "guava"], ["contains", "text", "--format", "guava", "k"],
                      ["plan", "--like", "text", "--format", "guava", "-n", "5"]):
            self.refused(*words, says="text: is not a filter that Guava wrote: its strategy is 49, not 0 or 1. Give another --format (bf help formats), or the "
                                      "file as the other program wrote it.")
        self.good("build", "g", "--layout", "classic", "--hash", "guava", "-n", "900", "-q", input=b"k\n")
        self.good("export", "g", "guava", "--format", "guava", "-q")
        for words in (["import", "guava", "f", "--format", "dcso"], ["contains", "guava", "--format", "dcso", "k"]):
            self.refused(*words, says="guava: is not a file of DCSO's bloom: it does not begin with the number 1. It looks like one of the format guava: give "
                                      "--format guava.")

    def test_a_filter_of_bfstore_has_no_other_format(self):
        # "its strategy is 137, not 0 or 1", of a file that --format alone made unreadable.
        self.good("create", "f", "-q", *SURE)
        for name in ("guava", "jaybird", "parquet"):
            more = ["--column", "c"] if name == "parquet" else []
            for words in (["contains", "f", "--format", name, *more, "k"], ["plan", "--like", "f", "--format", name, *more, "-n", "5"]):
                self.refused(*words, says="f: is a bfstore filter, and --format is for files of other programs. Leave --format out.")
            self.refused("import", "f", "g", "--format", name, *more, says="f: is a bfstore filter already. For another one of its keys: bf copy f g.")
        self.good("copy", "f", "g", "-q")

    def test_a_filter_that_a_format_has_no_place_for_is_refused_with_the_one_to_build(self):
        self.good("build", "blocked", "-q", input=b"k\n")
        self.good("build", "classic", "--layout", "classic", "-q", input=b"k\n")
        for name, why in (("blocked", "those of the classic layout."), ("classic", "have guava or guava-32.")):
            self.refused("export", name, "new", "--format", "guava",
                         says=[why + " Build one from all keys: bf build NEW --from KEYS --layout classic --hash guava."])
        self.refused("export", "blocked", "new", "--order", "little", says="Build one from all keys: bf build NEW --from KEYS --layout classic.")
        for name, more in (("bits-and-blooms-json", " The format bits-and-blooms is written."), ("jaybird-scalable", ""), ("parquet", " The format sbbf is written.")):
            for words in ([], ["-q"]):
                said = self.refused("export", "blocked", "new", "--format", name, *words)
                self.assertEqual(said.decode(), f"bf: blocked: nothing is written in the format {name}, which is only read.{more}\n")
        # The command of the hint was refused: the sizes and the seeds of these formats are not those that bf build chooses.
        for name in ("bip37", "pybloomfilter"):
            self.assertNotIn(b"bf build", self.refused("export", "blocked", "new", "--format", name, says="those of the classic layout."))

    def test_every_answer_is_that_of_the_import_in_every_output(self):
        self.good("import", "raw", "f", "-q", *JAYBIRD, "--check", "keys")
        for ways in ([], ["--maybe"], ["--absent"], ["--count"]):
            for source in (["--from", "asked"], ["--from", "keys"], ["--", self.keys[0]], ["--", "nobody at all", "nor this"]):
                with self.subTest(ways=ways, source=source):
                    there, file = (self.run_bf("contains", *one, *ways, *source) for one in (["raw", *JAYBIRD], ["f"]))
                    self.assertEqual((there.returncode, there.stdout, there.stderr), (file.returncode, file.stdout, file.stderr))
        self.assertIn(b"maybe", self.run_bf("contains", "f", "--from", "asked").stdout)  # false positives, too
        self.assertEqual(self.good("contains", "raw", *JAYBIRD, "--count", "--from", "keys"), b"maybe\t%d\nabsent\t0\n" % len(self.keys))
        self.assertEqual(self.good("contains", "raw", *JAYBIRD, "--absent", "nobody", code=1), b"nobody\n")
        self.assertEqual(self.good("contains", "raw", *JAYBIRD, "-0", input=self.keys[5].encode() + b"\0"), b"maybe\t" + self.keys[5].encode() + b"\0")
        self.assertEqual(self.read("raw"), self.file)
        self.assertEqual(self.files(), ["asked", "f", "keys", "raw"])

    def test_a_plain_array_is_asked_with_all_that_its_bytes_do_not_say(self):
        self.good("create", "f", "-q", "--hash", "murmur3", "--bits", "10007", "--seeds", "41..47")
        self.good("add", "f", "-q", "--from", "keys", "--binary")
        for order in ("little", "big"):
            self.good("export", "f", "bits", "--force", "-q", "--order", order)
            said = ["--format", "raw", "--order", order]
            expected = self.run_bf("contains", "f", "--from", "asked")
            for unsaid in (["--hash", "murmur3", "--bits", "10007", "--seeds", "41..47"], ["--like", "f"]):
                there = self.run_bf("contains", "bits", *said, *unsaid, "--from", "asked")
                self.assertEqual((there.returncode, there.stdout, there.stderr), (expected.returncode, expected.stdout, b""))

    def test_a_hash_that_makes_digests_is_imported_first(self):
        self.good("create", "f", "-q", "--hash", "xxh3", "--seed", "5", "--layout", "classic", "--bits", "20032", "--probes", "7")
        self.good("export", "f", "bits", "-q", "--order", "little")
        self.refused("export", "f", "no", "--format", "parquet", says="f: nothing is written in the format parquet, which is only read.")
        for unsaid in (["--hash", "xxh3", "--seed", "5", "--bits", "20032", "--probes", "7"], ["--like", "f"]):
            self.refused("contains", "bits", "--format", "raw", "--order", "little", *unsaid, "alice", says=["bits", "xxh3", "bf import"])
        os.chmod(self.write("secret", bytes(range(16))), 0o600)
        self.refused("contains", "raw", *JAYBIRD, "--secret-file", "secret", "alice", says=["contains: --secret-file", "siphash"])

    def test_a_file_without_its_format_is_recognized(self):
        says = ["raw: is no bfstore filter", "looks like one of the format jaybird", "give --format jaybird and --hash jaybird or"]
        self.refused("contains", "raw", "alice", says=says)
        self.refused("contains", "raw", "--from", "keys", says=says)
        self.write("short", Published(1, 0.5, "jaybird").to_bytes())
        self.assertLess(os.path.getsize(self.path("short")), 4096)
        self.refused("contains", "short", "alice", says="--format jaybird")
        self.write("large", Published(100_000, 0.01, "jaybird").to_bytes())
        self.refused("contains", "large", "alice", says="--format jaybird")
        self.write("text", b"alice\n" * 1000)
        self.refused("contains", "text", "alice", says="text: is no bfstore filter, and looks like a list of keys.")
        for name, data in (("cut", self.file[:-1]), ("longer", self.file + b"\0")):
            self.write(name, data)
            said = self.refused("contains", name, "alice", says=name)
            self.assertIn(b"not a bfstore file", said)
            self.assertTrue(said.endswith(b"Give the path of a filter. If it is another program's filter, give --format.\n"), said)
        self.write("zeros", bytes(5000))
        self.assertTrue(self.refused("contains", "zeros", "alice").endswith(b"If it is another program's filter: bf contains --format.\n"))
        self.good("create", "f", *SURE, "-q")
        with open(self.path("f"), "rb") as file:
            self.write("cut", file.read(9000))
        self.assertNotIn(b"--format", self.refused("contains", "cut", "alice", says="it was truncated"))

    def test_a_hash_that_the_bytes_do_not_tell_is_in_the_hint(self):
        for program in ("rbloom", "dcso"):
            file = next(row["file"] for row in originals() if row["format"] == program)
            hint = f"--format {program} --hash {program}." if program == "rbloom" else f"--format {program}."
            self.refused("contains", os.path.join(DATA, file), "alice", says="give " + hint)
        self.write("short", Published(1, 0.5, "jaybird").to_bytes())
        self.refused("contains", "short", "alice", says="give --format jaybird and --hash jaybird or --hash pybloom-live.")

    def test_unknown_bytes_are_planned_like_and_imported_with_their_format(self):
        self.write("text", b"alice\n" * 1000)
        self.refused("plan", "--like", "text", says="Give its --format.")
        self.refused("import", "text", "f", says="import: no size given. Give --format if the file is of a format that says its size, or --bits")
        self.refused("contains", "nothing", "alice", says="no such file. Give the path of a filter. To make one: bf build")
        self.refused("contains", "nothing", *JAYBIRD, "alice", says="nothing")

    def test_what_the_bytes_do_not_say_has_to_be_said_and_nothing_else(self):
        self.refused("contains", "raw", "--format", "jaybird", "alice", says=["MD5", "pybloom-live"])
        self.refused("contains", "raw", "--format", "pickle", "alice", says=["'pickle' is not a format", "jaybird"])
        self.refused("contains", "raw", *JAYBIRD, "--bits", "70", "--probes", "7", "alice", says="tells its size")
        self.refused("contains", "raw", *JAYBIRD, "--order", "big", "alice", says="tells its size")
        self.refused("contains", "raw", *JAYBIRD, "--column", "users", "alice", says="no columns")
        self.write("bits", bits_of({3}, 124, "big"))
        for options, says in ((SEEDS_0_TO_3, "--order"), (["--order", "big", "--bits", "124", "--probes", "4"], "no hash given"),
                              (["--order", "big", "--hash", "murmur3"], "no size given"),
                              (["--order", "big", "--hash", "xxh3", "--bits", "124", "--probes", "4"], "no seed given"),
                              (["--order", "big", "--hash", "murmur3", "--bits", "133", "--probes", "4"], "17")):
            self.refused("contains", "bits", "--format", "raw", *options, "alice", says=says)
        for option, value in (("--order", "big"), ("--hash", "murmur3"), ("--bits", "5"), ("--member", "1"), ("--column", "c"), ("--like", "raw")):
            self.refused("contains", "raw", option, value, "alice", says=[option, "--format"])

    def test_options_that_are_for_bfstore_files_are_refused(self):
        for option in ("--set", "--verify", "--tolerate-damage"):
            self.refused("contains", "raw", *JAYBIRD, option, "alice", says=["contains: " + option, "Leave it or --format out"])

    def test_one_filter_of_a_file_has_a_number(self):
        self.good("contains", "raw", *JAYBIRD, "--member", "1", "--", self.keys[0])
        self.good("import", "raw", "f", "-q", *JAYBIRD, "--member", "1", "--check", "keys")
        for command in (["contains", "raw"], ["import", "raw", "g"]):
            self.refused(*command, *JAYBIRD, "--member", "2", says=["raw: has 1 filter", "no number 2"])
            self.refused(*command, *JAYBIRD, "--member", "0", says="--member")
            self.refused(*command, *JAYBIRD, "--column", "c", says="no columns")
            self.refused(*command, *JAYBIRD, "--column", "", says="--column")
        self.assertEqual(self.files(), ["asked", "f", "keys", "raw"])

    def ask(self, process, key):
        process.stdin.write(key + b"\n")
        process.stdin.flush()
        return process.stdout.readline()

    def test_a_change_ends_the_answers_and_a_copy_does_not_see_it(self):
        process = self.spawn("contains", "raw", *JAYBIRD)
        copy = self.spawn("contains", "raw", *JAYBIRD, "--copy")
        for one in (process, copy):
            self.assertEqual(self.ask(one, b"nobody"), b"absent\tnobody\n")
        self.write("raw", bytes(len(self.file)))
        out, said = process.communicate(b"nor this\n")
        self.assert_complaint(said, ["raw: no answers after 1 key", "--copy"])
        self.assertEqual((process.returncode, out), (2, b""))
        self.assertEqual(self.ask(copy, b"nor this"), b"absent\tnor this\n")
        self.assertEqual(copy.communicate(self.keys[0].encode() + b"\n"), (b"maybe\t" + self.keys[0].encode() + b"\n", b""))
        self.assertEqual(copy.returncode, 0)


def originals():
    """The kept files of other programs whose keys bf can make of text."""
    with open(os.path.join(DATA, "files.tsv"), newline="", encoding="utf-8") as file:
        return [row for row in csv.DictReader(file, delimiter="\t") if row["form"] in FORMS]


def unsaid(row):
    given = [pair.split("=") for pair in row["options"].split()] if row["options"] != "-" else []
    return ["--format", row["format"], *([] if row["order"] == "-" else ["--order", row["order"]]), *[word for name, value in given for word in (OPTIONS[name], value)]]


class Originals(BfCase):
    """Files that the other programs themselves made (tests/originals)."""

    def test_every_key_is_maybe_and_as_many_absent_ones_as_in_the_program(self):
        known = re.findall(r"[\w-]+", self.refused("contains", "f", "--format", "none").decode().split(". Give ")[1])
        asked = 0
        for row in originals():
            if row["format"] not in known:
                continue
            asked += 1
            with self.subTest(file=row["file"]):
                path, said = os.path.join(DATA, row["file"]), unsaid(row)
                done = self.run_bf("import", path, "f", "--force", "-q", *said)
                imported = done.returncode == 0
                if not imported:
                    self.assertIn(b"Give the number of one of them", done.stderr)
                elif b"Import it" in self.run_bf("contains", path, *said, "key").stderr:  # its bits are text
                    path, said = "f", []
                imported = done.returncode == 0
                form = ["--key-form", FORMS[row["form"]]]
                count = int(row["keys"])
                self.write("keys", lines(row["prefix"] + str(i) for i in range(count)))
                self.assertEqual(self.good("contains", path, *said, *form, "--count", "--from", "keys"), b"maybe\t%d\nabsent\t0\n" % count)
                if row["form"] in ("utf8", "utf16le"):
                    self.write("asked", lines(f"absent-{i}" for i in range(10_000)))
                    maybes = int(row["false_positives_of_10000"])
                    counts = self.run_bf("contains", path, *said, *form, "--count", "--from", "asked").stdout
                    self.assertEqual(counts, b"maybe\t%d\nabsent\t%d\n" % (maybes, 10_000 - maybes))
                    if imported:
                        self.assertEqual(self.run_bf("contains", "f", *form, "--count", "--from", "asked").stdout, counts)
        self.assertGreater(asked, 5)

    def test_one_of_several_filters_is_imported_by_its_number(self):
        row = next(row for row in originals() if row["file"] == "jaybird.scalable-2.bloom")
        shutil.copy(os.path.join(DATA, row["file"]), self.path("raw"))
        self.refused("contains", "raw", "alice", says="one of the format jaybird-scalable: give --format jaybird-scalable and --hash jaybird or --hash pybloom-live.")
        said = self.refused("import", "raw", "f", *unsaid(row), says=["raw: has", "filters", "number of one"]).decode()
        filters = int(re.search(r"has (\d+) filters", said).group(1))
        self.refused("import", "raw", "f", *unsaid(row), "--member", str(filters + 1), says=f"no number {filters + 1}")
        keys = [row["prefix"] + str(i) for i in range(int(row["keys"]))]
        found = set()
        self.write("keys", lines(keys))
        for member in range(1, filters + 1):
            done = self.run_bf("import", "raw", f"f{member}", "-q", *unsaid(row), "--member", str(member))
            self.assertEqual(done.returncode, 0, done)
            there = self.run_bf("contains", "raw", *unsaid(row), "--member", str(member), "--maybe", "--from", "keys").stdout
            self.assertEqual(self.run_bf("contains", f"f{member}", "--maybe", "--from", "keys").stdout, there)
            self.assertLess(there.count(b"\n"), len(keys))
            found.update(there.split(b"\n"))
            with open(self.path("raw"), "rb") as pipe:
                self.run_bf("import", "-", "g", "-q", "--force", *unsaid(row), "--member", str(member), input=pipe.read())
            self.good("compare", "g", f"f{member}", "-q")
        self.assertEqual(len(found - {b""}), len(keys))

    def test_a_file_of_several_columns_is_asked_for_one(self):
        shutil.copy(os.path.join(DATA, "parquet.arrow.parquet"), self.path("raw"))
        self.refused("contains", "raw", "key-1", says="one of the format parquet: give --format parquet, and --column.")
        for command in (["contains", "raw"], ["import", "raw", "f"]):
            self.refused(*command, "--format", "parquet", says=["no column given", "--column C"])
            self.refused(*command, "--format", "parquet", "--column", "nothing", says="nothing")
        self.good("contains", "raw", "--format", "parquet", "--column", "k", "key-1")
        self.refused("import", "raw", "f", "--format", "parquet", "--column", "k", says="filters")
        self.good("import", "raw", "f", "-q", "--format", "parquet", "--column", "k", "--member", "1")

    def patched(self, file, before, after, name="raw"):
        """Copies a file of Parquet with other bytes in its footer."""
        with open(os.path.join(DATA, file), "rb") as original:
            data = original.read()
        self.assertEqual(data.count(before), 1, before)
        self.write(name, data.replace(before, after))

    def test_the_type_of_a_column_tells_the_form_of_its_keys(self):
        # "5" was asked as a text, and every key of a column of numbers was absent.
        for file, form, other in (("parquet.int32.parquet", "int32le", "int64le"), ("parquet.int64.parquet", "int64le", "int32le")):
            shutil.copy(os.path.join(DATA, file), self.path("raw"))
            asked = ["raw", "--format", "parquet", "--column", "n"]
            there = self.good("contains", *asked, "--key-form", form, "--from", "-", input=b"".join(b"%d\n" % i for i in range(2000)))
            self.assertGreater(there.count(b"maybe"), 400)
            self.assertEqual(self.good("contains", *asked, input=b"".join(b"%d\n" % i for i in range(2000))), there)
            key = re.search(rb"maybe\t(\d+)", there)[1].decode()
            self.good("contains", *asked, "--key-form", "json," + form, f" {key}")
            self.refused("contains", *asked, "five", says="has not the form " + form)
            number = ["--format", "parquet", "--column", "n", "--member", "1"]
            for wrong in ("text", other, "hex", form + ",upper"):
                for command in (["contains", *asked], ["import", "raw", "f", "--force", *number]):
                    self.refused(*command, "--key-form", wrong, *(["7"] if command[0] == "contains" else []),
                                 says=[f"raw: the values of the column n are {form[:5].upper()}", "would make every answer no. Leave --key-form out."])
            self.good("import", "raw", "f", "-q", "--force", *number)
            self.assertEqual(header(self.path("f"))["note"].decode(), "key-form: " + form)
            with open(self.path("raw"), "rb") as pipe:
                self.good("import", "-", "g", "-q", "--force", *number, input=pipe.read())
            self.good("compare", "f", "g", "-q")
            self.refused("contains", "f", "--key-form", other, key, says="its keys have the form " + form)
        shutil.copy(os.path.join(DATA, "parquet.arrow.parquet"), self.path("raw"))
        asked = ["raw", "--format", "parquet", "--column", "k"]
        self.refused("contains", *asked, "--key-form", "int64le", "7", says="the column k are BYTE_ARRAY (STRING)")
        self.assertEqual(self.good("contains", *asked, "--key-form", "lower", "KEY-1"), b"maybe\tKEY-1\n")
        self.good("import", "raw", "f", "-q", "--force", "--format", "parquet", "--column", "k", "--member", "1")
        self.assertEqual(header(self.path("f"))["note"], b"")

    def test_floats_are_keys_and_a_value_that_no_line_tells_needs_a_form(self):
        column = b"\x25\x02\x18\x01n"  # the rest of the element of the schema: optional, and the name
        asked = ["raw", "--format", "parquet", "--column", "n"]
        numbers = b"".join(b"%d\n" % i for i in range(2000))
        for file, old, new, text in (("parquet.int32.parquet", b"\x15\x02", b"\x15\x08", "<if"), ("parquet.int64.parquet", b"\x15\x04", b"\x15\x0a", "<qd")):
            shutil.copy(os.path.join(DATA, file), self.path("raw"))
            there = self.good("contains", *asked, input=numbers)
            self.patched(file, old + column + (b"\x25\x22" if text == "<if" else b"\x25\x24"), old[:1] + new[1:] + column + b"\x25\x00"[:2])
            floats = "".join(f"{struct.unpack('<' + text[2], struct.pack('<' + text[1], i))[0]!r}\n" for i in range(2000))
            got = self.good("contains", *asked, input=floats.encode())
            self.assertEqual([line.split(b"\t")[0] for line in got.splitlines()], [line.split(b"\t")[0] for line in there.splitlines()])
        for meaning, words in ((b"\x0a", "(DECIMAL)"), (b"\x0c", "(DATE)"), (b"\x0e", "(TIME)")):
            self.patched("parquet.int32.parquet", b"\x15\x02" + column + b"\x25\x22", b"\x15\x02" + column + b"\x25" + meaning)
            self.refused("contains", *asked, "7", says=["INT32 " + words, "a line does not tell their bytes", "Give --key-form int32le with the number"])
            self.refused("contains", *asked, "--key-form", "text", "7", says=["would make every answer no", "Give --key-form int32le with the number"])
            self.run_bf("contains", *asked, "--key-form", "int32le", "7")
        self.patched("parquet.int32.parquet", b"\x15\x02" + column, b"\x15\x0e" + column)
        self.refused("contains", *asked, "7", says=["FIXED_LEN_BYTE_ARRAY", "Give --key-form hex with the bytes"])
        self.refused("contains", *asked, "--key-form", "int32le", "7", says=["would make every answer no", "Give --key-form hex"])
        self.assertIn(b"maybe", self.run_bf("contains", *asked, "--key-form", "hex", input=b"".join(b"%s\n" % struct.pack("<i", i).hex().encode() for i in range(2000))).stdout)

    def test_add_and_import_name_the_format_of_another_program(self):
        shutil.copy(os.path.join(DATA, "dcso.one-percent.bloom"), self.path("raw"))
        self.refused("add", "raw", "zoe", says=["raw: is no bfstore filter", "the format dcso", "(bf import raw NEW --format dcso)."])
        self.refused("import", "raw", "f", says=["raw: looks like a filter of the format dcso. Give --format dcso."])
        self.write("text", b"alice\nbob\n" * 10)
        self.refused("add", "text", "zoe", says="text: ")
        self.refused("import", "text", "f", says="no size given")

    def test_what_only_the_last_bytes_say_is_read_in_a_large_file_too(self):
        self.good("create", "f", "-q", "--hash", "leveldb", "--bits", "1000000", "--probes", "7")
        self.good("add", "f", "-q", "alice")
        self.good("export", "f", "raw", "-q", "--format", "leveldb")
        with open(self.path("raw"), "rb") as file:
            data = file.read()
        self.assertGreater(len(data), 100_000)
        self.good("import", "raw", "g", "-q", "--format", "leveldb")
        self.good("import", "-", "h", "-q", "--format", "leveldb", input=data)
        for name in "gh":
            self.assertEqual(self.good("contains", name, "alice", "bob"), b"maybe\talice\nabsent\tbob\n")


if __name__ == "__main__":
    main()
