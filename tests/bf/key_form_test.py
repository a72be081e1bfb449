"""--key-form says what the lines of a list are, and so which bytes the keys have. A line that has no such form is named. A
command that makes a file keeps the form in its note, and the commands that read keys follow it.
"""
import os
import struct

from bf_case import SURE, BfCase, header, main

# A form, a line, and the key's bytes.
CASES = [
    ("text", "Ab\u00e9", "Ab\u00e9".encode()),
    ("upper", "da39a3e\u00e9/z", "DA39A3E\u00e9/Z".encode()),
    ("lower", "DA39A3E\u00c9/Z", "da39a3e\u00c9/z".encode()),
    ("hex", "00ff7F0a", b"\x00\xff\x7f\x0a"), ("hex", "", b""),
    ("json", '"a\\n\\u00e9\\ud83d\\ude00\\u0000"', "a\n\u00e9\U0001f600\0".encode()), ("json", ' "x" ', b"x"), ("json", " 1.50 ", b"1.50"),
    ("json", '{"b": 1, "a": [null]}', b'{"b": 1, "a": [null]}'),
    ("utf16le", "a\u00e9\u4e16\U0001f600", "a\u00e9\u4e16\U0001f600".encode("utf-16-le")), ("utf16le", "", b""),
    ("int32le", "-2", struct.pack("<i", -2)), ("int32le", "2147483647", struct.pack("<i", 2**31 - 1)), ("int32le", "-2147483648", struct.pack("<i", -2**31)),
    ("int64le", "007", struct.pack("<q", 7)), ("int64le", "-9223372036854775808", struct.pack("<q", -2**63)),
    ("double", "-1.5e3", struct.pack("<d", -1500)), ("double", "0.1", struct.pack("<d", 0.1)),
    ("lower,hex", "FF00", b"\xff\x00"), ("json,upper", '"\\u0061"', b"A"), ("hex,text,lower", "4142", b"ab"),
]
# A form, and lines that do not have it.
BAD = [
    ("hex", ["0", "0g", "g0", "0x00", " 00", "00 "]),
    ("json", ["", "a", '"a', "1 2", '"\\ud800"', "'a'", '{"a":}']),
    ("utf16le", [b"\xff", b"a\xc3", b"\xc0\x80", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\xf8\x88\x80\x80\x80", b"\xe0\x80\x80", b"\x80"]),
    ("int32le", ["", "2147483648", "-2147483649", "1.0", "+1", " 1", "1 ", "0x1", "one"]),
    ("int64le", ["9223372036854775808", "", "1e3"]),
    ("double", ["", "nan", "-nan", "1e999", "1,5", "0x1p3x", "1 "]),
    ("json,int32le", ['"x"', "2147483648"]),
    ("upper,hex", ["xy"]),
]
RAW = ["--order", "little", "--hash", "murmur3", "--bits", "100000", "--probes", "10"]


def line_of(text):
    return text if isinstance(text, bytes) else text.encode()


class Forms(BfCase):
    def test_a_line_becomes_the_bytes_that_its_form_says(self):
        for form, line, key in CASES:
            with self.subTest(form=form, line=line):
                for name, its in (("hexed", "hex"), ("like", form), ("plain", "text")):
                    self.good("create", name, "--force", "-q", *SURE, "--key-form", its)
                self.write("digest", self.good("digest", "hexed", key.hex()))  # no list has a key with a NUL in it
                self.good("build", "f", "--force", "-q", "--like", "like", "--digests", "--from", "digest")
                self.assertEqual(self.good("contains", "f", "--key-form", form, input=line_of(line) + b"\n"), b"maybe\t" + line_of(line) + b"\n")
                self.assertEqual(self.good("contains", "f", "--key-form", form, "--", line), b"maybe\t" + line_of(line) + b"\n")
                if line_of(line) != key:
                    self.good("build", "asis", "--force", "-q", "--like", "plain", "--digests", "--from", "digest")
                    self.good("contains", "asis", "--", line, code=1)
                for name, its, text in (("g", form, line), ("h", "hex", key.hex())):
                    self.good("create", name, "--force", "-q", *SURE, "--layout", "counting", "--key-form", its)
                    self.good("add", name, "-q", "--key-form", its, "--", text)
                self.assertEqual(self.good("count", "g", "--key-form", form, "--", line), b"1\t" + line_of(line) + b"\n")
                self.assertEqual(self.body("g"), self.body("h"))

    def body(self, name):
        with open(self.path(name), "rb") as file:
            return file.read()[16384:-8]  # the end word is the file's own

    def test_no_key_is_added_in_a_form_that_the_note_does_not_name(self):
        # The key was added as "bob", with exit code 0, and bf contains then called BOB absent.
        self.good("create", "f", "-q", *SURE)
        for command in (["add", "f"], ["add", "f", "--from", "-"]):
            self.refused(*command, "--key-form", "lower", *([] if "-" in command else ["BOB"]), input=b"BOB\n",
                         says=["f: its note names no form of keys", "(bf create --key-form lower)", "bf merge NEW f --key-form lower."])
        self.good("contains", "f", "BOB", "bob", code=1)
        self.good("add", "f", "-q", "--key-form", "text", "bob")
        self.good("merge", "new", "f", "-q", "--key-form", "lower")
        self.good("add", "new", "-q", "--key-form", "lower", "ALICE")
        self.assertEqual(self.good("contains", "new", "BOB", "aLICE", "Carol"), b"maybe\tBOB\nmaybe\taLICE\nabsent\tCarol\n")
        self.good("create", "c", "-q", *SURE, "--layout", "counting", "--note", "of mine")
        self.good("add", "c", "-q", "bob")
        self.refused("add", "c", "--key-form", "lower", "BOB", says="c: its note names no form")
        self.refused("remove", "c", "--key-form", "lower", "BOB", says="--key-form")  # it takes the form of the note alone
        self.assertEqual(self.good("count", "c", "bob"), b"1\tbob\n")

    def test_dedup_and_merge_add_no_key_in_a_form_that_the_note_does_not_name(self):
        # bf dedup added "Zed" as "zed", and bf contains then called Zed absent.
        self.good("create", "f", "-q", *SURE)
        for command in (["dedup", "f"], ["dedup", "f", "--from", "-"]):
            self.refused(*command, "--key-form", "lower", *([] if "-" in command else ["Zed"]), input=b"Zed\n",
                         says=["f: its note names no form of keys", "(bf create --key-form lower)", "bf merge NEW f --key-form lower."])
        self.refused("dedup", "f", "--create", *SURE, "--key-form", "lower", "Zed", says=["f: is there", "the form text, and not lower"])
        self.good("create", "low", "-q", *SURE, "--key-form", "lower")
        self.good("add", "low", "-q", "ANN")
        self.refused("dedup", "f", "--create", "--like", "low", "Zed", says=["f: is there", "the form text, and not lower"])
        self.refused("merge", "f", "low", "--into", "--key-form", "lower", says=["f: its note names no form of keys", "bf merge NEW f --key-form lower."])
        self.good("contains", "f", "Zed", "zed", "ann", code=1)
        self.assertEqual(self.good("dedup", "f", "--key-form", "text", "Zed"), b"Zed\n")
        self.assertEqual(self.good("dedup", "made", "--create", *SURE, "--key-form", "lower", "Zed", "ZED"), b"Zed\n")
        self.assertEqual(self.good("dedup", "made", "--create", *SURE, "--key-form", "lower", "zeD"), b"")
        self.assertEqual(self.good("contains", "made", "ZED"), b"maybe\tZED\n")

    def test_a_question_in_a_form_that_no_note_names_gets_no_answer(self):
        # BOB was there, and was looked for as "bob": absent.
        self.good("create", "f", "-q", *SURE, "--layout", "counting", "--note", "of mine")
        self.good("add", "f", "-q", "BOB")
        self.good("copy", "f", "g", "-q")
        for command in (["contains", "f"], ["count", "f"], ["contains", "f", "--any", "g"]):
            self.refused(*command, "--key-form", "lower", "BOB", says=["f: its note names no form of keys", "leave --key-form out", "bf merge NEW f --key-form lower, and ask NEW."])
            self.good(*command, "--key-form", "text", "BOB")
        self.good("create", "import", "-q", "-m", "1Mi", "-k", "10", "--hash", "murmur3", "--layout", "classic")
        self.good("add", "import", "-q", "bob")
        self.good("contains", "import", "--key-form", "lower", "BOB")  # only the user knows what another program did
        self.refused("contains", "import", "--any", "f", "--key-form", "lower", "BOB", says="import: its note names no form of keys")
        self.good("create", "low", "-q", "--like", "f", "--key-form", "lower")
        self.good("contains", "low", "--key-form", "lower", "BOB", code=1)

    def test_a_line_that_has_no_such_form_is_named(self):
        good = {"hex": b"00", "json": b"1", "utf16le": b"a", "int32le": b"1", "int64le": b"1", "double": b"1", "json,int32le": b"1", "upper,hex": b"00"}
        for form, bad in BAD:
            for line in map(line_of, bad):
                with self.subTest(form=form, line=line):
                    self.write("keys", good[form] + b"\n" + good[form] + b"\n" + line + b"\n")
                    self.good("create", "g", "--force", "-q", *SURE, "--key-form", form)
                    for command in (["contains", "g"], ["add", "g"]):
                        done = self.run_bf(*command, "--key-form", form, "--from", "keys")
                        self.assertEqual((done.returncode, done.stdout), (2, b""), done)
                        self.assert_complaint(done.stderr, ["keys: key 3 ('", "has not the form " + form.split(",")[-1]])
                        self.refused(*command, "--key-form", form, "--", line, says="KEY: key 1 ('")
        self.good("create", "h", "-q", *SURE, "--key-form", "hex")
        self.good("contains", "h", "--key-form", "hex", "00", code=1)

    def test_lines_before_a_bad_one_are_numbered_over_batches_and_answered(self):
        self.good("create", "f", "-q", *SURE, "--key-form", "hex")
        self.write("keys", b"00\n" * 10_000 + b"xy\n")
        done = self.run_bf("contains", "f", "--key-form", "hex", "--from", "keys", "--count")
        self.assert_complaint(done.stderr, ["keys: key 10001 ('xy')", "Only the first 8,192 keys of it got an answer"])
        self.assertEqual((done.returncode, done.stdout), (2, b"maybe\t0\nabsent\t8192\n"))
        self.good("create", "g", "-q", *SURE, "--key-form", "hex")
        done = self.run_bf("add", "g", "--from", "keys")
        self.assert_complaint(done.stderr, ["keys: key 10001 ('xy')", "8,192 keys of it were added"])

    def test_a_form_that_does_not_exist_is_refused(self):
        self.good("create", "f", "-q", *SURE)
        for form in ("rot13", "", "lower,", ",hex", "lower;hex", "Hex"):
            self.refused("contains", "f", "--key-form", form, "alice", says=["--key-form: '" + form + "' is not a form", "utf16le"])


class Notes(BfCase):
    """The bits of a program whose keys are upper-case digests."""

    def setUp(self):
        super().setUp()
        self.good("create", "other", "-q", "--hash", "murmur3", "--bits", "100000", "--probes", "10")
        self.good("add", "other", "-q", "DA39A3EE", "0BEEC7B5")
        self.good("export", "other", "bits", "-q", "--order", "little")
        self.write("keys", b"da39a3ee\n0beec7b5\n")

    def imported(self, name, *options):
        self.good("import", "bits", name, "-q", *RAW, *options)
        return header(self.path(name))["note"].decode()

    def test_import_checks_and_keeps_the_form_and_the_others_follow_it(self):
        self.refused("import", "bits", "f", *RAW, "--check", "keys", says=["'da39a3ee'", "form of the keys"])
        self.assertEqual(self.imported("f", "--key-form", "upper", "--check", "keys"), "key-form: upper")
        self.assertEqual(self.good("contains", "f", "da39a3ee", "dA39A3eE", "nobody"), b"maybe\tda39a3ee\nmaybe\tdA39A3eE\nabsent\tnobody\n")
        self.good("contains", "f", "--key-form", "upper", "da39a3ee")
        self.good("add", "f", "-q", "alice")
        self.good("add", "f", "-q", "--from", "keys")
        self.good("contains", "f", "ALICE", "alIce")
        self.good("export", "f", "more", "-q", "--order", "little")
        self.assertEqual(self.good("contains", "more", "--format", "raw", *RAW, "ALICE", "alice"), b"maybe\tALICE\nabsent\talice\n")
        self.assertEqual(self.good("contains", "more", "--format", "raw", *RAW, "--key-form", "upper", "alice"), b"maybe\talice\n")
        self.good("recover", "f", "-q", "carol")
        self.good("contains", "f", "CAROL")

    def test_another_form_than_that_of_the_file_is_refused(self):
        self.imported("f", "--key-form", "upper")
        self.refused("contains", "f", "--key-form", "text", "alice", says=["f: its keys have the form upper", "the form text would make"])
        self.refused("add", "f", "--key-form", "lower", "alice", says="its keys have the form upper")
        self.refused("import", "bits", "g", "--order", "little", "--like", "f", "--key-form", "text", says="f: its keys have the form upper")
        self.assertEqual(self.imported("t", "--key-form", "text"), "key-form: text")
        self.refused("contains", "t", "--key-form", "upper", "alice", says="t: its keys have the form text")

    def test_like_passes_the_form_on(self):
        self.imported("f", "--key-form", "upper", "--note", "of the first one")
        self.good("import", "bits", "g", "-q", "--order", "little", "--like", "f", "--check", "keys")
        self.assertEqual(header(self.path("g"))["note"], b"key-form: upper")
        self.good("contains", "bits", "--format", "raw", "--order", "little", "--like", "f", "da39a3ee")
        self.refused("contains", "bits", "--format", "raw", "--order", "little", "--like", "f", "--key-form", "text", "da39a3ee", says="form upper")

    def test_the_form_has_a_line_of_its_own_after_the_note(self):
        self.assertEqual(self.imported("f", "--key-form", "lower,hex", "--note", "mine"), "mine\nkey-form: lower,hex")
        self.assertEqual(self.imported("g", "--key-form", "text,upper", "--note", "mine\n"), "mine\nkey-form: upper")
        self.assertEqual(self.imported("h", "--note", "my key-form: upper"), "my key-form: upper")
        self.good("contains", "h", "da39a3ee", code=1)
        self.assertEqual(self.imported("i", "--key-form", "upper", "--note", "key-form: upper"), "key-form: upper")
        self.refused("import", "bits", "j", *RAW, "--key-form", "lower", "--note", "key-form: upper", says="--note: its keys have the form upper")
        room = 1024 - len("\nkey-form: upper")
        self.imported("k", "--key-form", "upper", "--note", "n" * room)
        self.refused("import", "bits", "l", *RAW, "--key-form", "upper", "--note", "n" * (room + 1), says=["--note", "1025 bytes", "at most 1024"])
        self.good("contains", "k", "da39a3ee")

    def test_a_form_of_a_later_bf_is_refused(self):
        self.imported("f", "--note", "x")
        self.refused("import", "bits", "g", *RAW, "--note", "key-form: rot13", "--check", "keys", says="does not know")
        self.good("create", "h", "-q", *SURE, "--note", "key-form: rot13")
        for command in (["contains", "h", "a"], ["add", "h", "a"], ["contains", "h", "--key-form", "text", "a"]):
            self.refused(*command, says=["h: its note", "'rot13'", "does not know"])

    def test_a_build_follows_its_note_from_a_file_and_from_a_pipe(self):
        note = ["--note", "key-form: upper", "-q", "--fpr", "0.0000001"]
        self.good("build", "f", *note, "--from", "keys")
        self.good("build", "g", *note, "--from", "-", input=b"da39a3ee\n0beec7b5\n")
        for name in "fg":
            self.good("contains", name, "DA39A3EE", "da39a3ee")
            self.assertEqual(self.good("contains", name, "--count", "--from", "keys"), b"maybe\t2\nabsent\t0\n")

    def test_count_and_remove_follow_the_note(self):
        self.good("create", "f", "-q", *SURE, "--layout", "counting", "--note", "key-form: hex")
        self.good("add", "f", "-q", "ff00", "FF00")
        self.assertEqual(self.good("count", "f", "fF00", "00"), b"2\tfF00\n0\t00\n")
        self.write("removed", b"ff00\nFf00\n")
        self.good("remove", "f", "-q", "--from", "removed")
        self.good("contains", "f", "ff00", code=1)


# SURE, but of two parts.
HALVES = ["--bits", "128Ki", "--probes", "10", "--seed", "7"]


class NewFiles(BfCase):
    """The commands that make a file write the form of its keys into its note, and those that add to it or ask it follow it."""

    def note(self, name):
        return header(self.path(name))["note"].decode()

    def test_create_build_and_add_write_the_form_that_is_given(self):
        self.write("keys", b"ff00\n")
        self.good("create", "created", "-q", *SURE, "--key-form", "hex")
        self.good("add", "created", "-q", "ff00")
        self.good("build", "built", "-q", "--fpr", "0.0000001", "--from", "keys", "--key-form", "hex", "--note", "mine")
        self.good("build", "piped", "-q", "--fpr", "0.0000001", "--from", "-", "--key-form", "hex", input=b"ff00\n")
        self.good("add", "added", "-q", "--create", *SURE, "--key-form", "hex", "ff00")
        for name in ("created", "built", "piped", "added"):
            with self.subTest(name=name):
                self.assertEqual(self.note(name), "mine\nkey-form: hex" if name == "built" else "key-form: hex")
                self.assertEqual(self.good("contains", name, "Ff00", "ff01"), b"maybe\tFf00\nabsent\tff01\n")
        for command in (["create", "g", *SURE], ["build", "g", "--from", "keys"], ["add", "g", "--create", *SURE, "ff"]):
            self.refused(*command, "--key-form", "hex", "--note", "key-form: lower", says="--note: its keys have the form lower")
        self.assertFalse(os.path.exists(self.path("g")))

    def test_add_create_adds_in_no_other_form_than_that_of_a_file_that_is_there(self):
        self.good("add", "f", "-q", "--create", *SURE, "--key-form", "upper", "alice")
        self.good("add", "f", "-q", "--create", *SURE, "--key-form", "upper", "bob")
        self.good("add", "f", "-q", "--create", *SURE, "carol")
        self.assertEqual(self.good("contains", "f", "--count", "ALICE", "BOB", "CAROL"), b"maybe\t3\nabsent\t0\n")
        self.refused("add", "f", "--create", *SURE, "--key-form", "lower", "dave", says=["f: is there", "the form upper, and not lower"])
        self.refused("add", "f", "--create", *SURE, "--note", "key-form: lower", "dave", says=["f: is there", "the form upper, and not lower"])
        self.good("create", "plain", "-q", *SURE)
        self.good("add", "plain", "-q", "--create", *SURE, "--key-form", "text", "alice")
        self.refused("add", "plain", "--create", *SURE, "--key-form", "upper", "alice", says=["plain: is there", "the form text, and not upper"])
        self.refused("add", "plain", "--create", "--like", "f", "alice", says=["plain: is there", "the form text, and not upper"])
        self.good("contains", "plain", "ALICE", code=1)

    def test_a_file_like_another_takes_its_form_and_no_other(self):
        self.good("create", "like", "-q", *HALVES, "--key-form", "upper", "--note", "of the first one")
        self.write("keys", b"alice\n")
        self.good("create", "created", "-q", "--like", "like")
        self.good("add", "created", "-q", "alice")
        self.good("build", "built", "-q", "--like", "like", "--from", "keys", "--note", "mine")
        self.good("build", "piped", "-q", "--like", "like", "--from", "-", "--parts", "2", input=b"alice\n")
        self.good("add", "added", "-q", "--create", "--like", "like", "--from", "keys")
        self.good("create", "part", "-q", "--like", "like", "--part", "0/2")
        for name in ("created", "built", "piped", "added", "part"):
            with self.subTest(name=name):
                self.assertEqual(self.note(name), "mine\nkey-form: upper" if name == "built" else "key-form: upper")
                if name != "part":
                    self.assertEqual(self.good("contains", name, "Alice", "bob"), b"maybe\tAlice\nabsent\tbob\n")
        for command in (["create", "g"], ["build", "g", "--from", "keys"], ["add", "g", "--create", "--from", "keys"]):
            self.refused(*command, "--like", "like", "--key-form", "lower", says="like: its keys have the form upper")
            self.refused(*command, "--like", "like", "--note", "key-form: lower", says="--note: its keys have the form lower")

    def test_digests_are_of_keys_in_the_form_of_the_file(self):
        self.good("create", "like", "-q", *HALVES, "--key-form", "hex")
        self.good("create", "plain", "-q", *HALVES)  # the same seed
        self.write("keys", b"414243\n4142\n")
        expected = self.good("digest", "plain", "ABC", "AB")
        self.assertEqual(self.good("digest", "like", "414243", "4142"), expected)
        self.assertEqual(self.good("digest", "like", "--from", "keys"), expected)
        self.write("bad", b"414243\nxy\n")
        self.refused("digest", "like", "--from", "bad", says=["bad: key 2 ('xy')", "hex"])
        self.refused("digest", "like", "xy", says="KEY: key 1 ('xy')")
        self.write("digests", expected)
        self.good("build", "f", "-q", "--like", "like", "--from", "digests", "--digests")
        self.assertEqual(self.note("f"), "key-form: hex")
        self.assertEqual(self.good("contains", "f", "414243", "4142", "43"), b"maybe\t414243\nmaybe\t4142\nabsent\t43\n")
        self.refused("build", "g", "--like", "like", "--from", "digests", "--digests", "--key-form", "hex", says=["--digests", "--key-form"])
        self.refused("build", "g", "--like", "plain", "--from", "digests", "--digests", "--note", "key-form: hex",
                     says=["--note: its keys have the form hex, and those of plain the form text", "The digests are of keys"])
        self.good("digest", "like", "--parts", "2", "--to", "sorted.", "--from", "keys")
        self.good("build", "h", "-q", "--like", "like", "--part", "0/2", "--from", "sorted.0", "--digests")
        self.good("build", "i", "-q", "--like", "like", "--part", "1/2", "--from", "sorted.1", "--digests")
        self.good("join", "whole", "h", "i", "-q")
        self.assertEqual(self.note("whole"), "key-form: hex")
        self.assertEqual(self.good("contains", "whole", "--count", "--from", "keys"), b"maybe\t2\nabsent\t0\n")


class Derived(BfCase):
    """A file that is made of others has keys in their form, and its note says so. Filters whose keys have two forms go together
    in nothing."""

    def setUp(self):
        super().setUp()
        for name, note in (("upper", "key-form: upper"), ("more", "mine\nkey-form: upper"), ("lower", "key-form: lower"), ("plain", ""), ("named", "key-form: text"),
                           ("other", "other")):
            self.good("create", name, "-q", *SURE, *(["--note", note] if note else []))
            self.good("add", name, "-q", "Alice", "Bob" + name)

    def note(self, name):
        return header(self.path(name))["note"].decode()

    def test_a_copy_a_fold_and_a_seal_keep_the_note(self):
        self.good("create", "large", "-q", "--bits", "8Mi", "--probes", "7", "--key-form", "upper", "--note", "mine")
        self.good("add", "large", "-q", "Alice")
        self.good("copy", "large", "copied", "-q")
        self.good("fold", "large", "folded", "-q", "--to-fpr", "0.0001")
        self.good("seal", "large", "sealed", "-q")
        self.good("clear", "large", "-q", "--force")
        for name in ("copied", "folded", "sealed", "large"):
            self.assertEqual(self.note(name), "mine\nkey-form: upper")
            self.good("contains", name, "aLICE", code=1 if name == "large" else 0)

    def test_one_filter_of_several_keeps_their_form(self):
        for command in ("merge", "intersect"):
            for names, note in ((["upper", "upper"], "key-form: upper"), (["upper", "more"], "key-form: upper"), (["more", "more"], "mine\nkey-form: upper"),
                                (["plain", "named"], "key-form: text"), (["plain", "other"], ""), (["other", "other"], "other")):
                with self.subTest(command=command, names=names):
                    self.good(command, "both", *names, "--force", "--accept-loss", "-q")
                    self.assertEqual(self.note("both"), note)
                    self.assertEqual(self.good("contains", "both", "aliCe", "Alice", "nobody"),
                                     b"maybe\taliCe\nmaybe\tAlice\nabsent\tnobody\n" if "upper" in note else b"absent\taliCe\nmaybe\tAlice\nabsent\tnobody\n")

    def test_two_forms_go_together_in_nothing(self):
        for command in (["merge", "both", "upper", "lower"], ["intersect", "both", "upper", "lower"], ["merge", "upper", "lower", "--into"],
                        ["compare", "upper", "lower"], ["compare", "upper", "lower", "-q"],
                        ["contains", "upper", "--any", "more", "--any", "lower", "alice"]):
            self.refused(*command, says=["lower: its keys have the form lower, and those of upper the form upper. "])
        self.assertFalse(os.path.exists(self.path("both")))
        self.good("contains", "upper", "boblower", code=1)
        for command in (["merge", "both", "plain", "upper"], ["intersect", "both", "plain", "upper"], ["merge", "plain", "upper", "--into"],
                        ["compare", "plain", "upper"], ["contains", "plain", "--any", "upper", "alice"]):
            said = self.refused(*command, says=["upper: its keys have the form upper, and those of plain the form text", "The note of plain names no form", "give --key-form upper."])
            self.assertNotIn(b"note of upper", said)
        self.refused("merge", "both", "upper", "plain", says=["plain: its keys have the form text", "The note of plain names no form", "give --key-form upper."])
        self.assertIn(b"keys of both: about ", self.good("compare", "upper", "plain", "--key-form", "upper", code=1))
        said = self.refused("merge", "both", "upper", "named", says="named: its keys have the form text")
        self.assertNotIn(b"names no form", said)

    def test_the_user_says_the_form_of_a_file_whose_note_names_none(self):
        self.good("create", "silent", "-q", *SURE)
        self.good("add", "silent", "-q", "ALICE", "SILENT")
        for command in ("merge", "intersect"):
            self.good(command, "both", "silent", "upper", "-q", "--force", "--accept-loss", "--key-form", "upper")
            self.assertEqual(self.note("both"), "key-form: upper")
            self.good("contains", "both", "alice")
        self.good(command, "both", "silent", "silent", "-q", "--force", "--accept-loss", "--key-form", "upper")
        self.assertEqual(self.note("both"), "key-form: upper")
        self.good("merge", "upper", "silent", "-q", "--into", "--key-form", "upper")
        self.good("contains", "upper", "Silent")
        self.good("contains", "silent", "--any", "upper", "--key-form", "upper", "Silent")
        self.refused("merge", "both", "silent", "upper", "--force", "--key-form", "lower", says="upper: its keys have the form upper, so the form lower")

    def test_the_parts_of_a_set_and_of_a_join_have_one_form(self):
        shape = ["--capacity", "2000", "--fpr", "0.0000001", "--seed", "7", "-q"]
        self.write("keys", b"alice\nbob\ncarol\ndave\n")
        for number in (0, 1):
            for name, form in (("upper", "upper"), ("lower", "lower"), ("text", "text")):
                self.good("build", f"{name}{number}", *shape, "--from", "keys", "--part", f"{number}/2", "--key-form", form)
        self.write("set", b"bfstore-set 1\nupper0\nupper1\n")
        self.assertEqual(self.good("contains", "--set", "set", "aLice", "Bob", "nobody"), b"maybe\taLice\nmaybe\tBob\nabsent\tnobody\n")
        self.refused("contains", "--set", "set", "--key-form", "text", "alice", says=["upper0: its keys have the form upper, so the form text"])
        self.write("set", b"bfstore-set 1\nupper0\nlower1\n")
        self.refused("contains", "--set", "set", "alice", says=["lower1: its keys have the form lower, and those of ", "upper0 the form upper"])
        self.good("join", "whole", "upper0", "upper1", "-q")
        self.assertEqual(self.note("whole"), "key-form: upper")
        self.assertEqual(self.good("contains", "whole", "--count", "--from", "keys"), b"maybe\t4\nabsent\t0\n")
        self.refused("join", "none", "upper0", "lower1", says=["lower1: its keys have the form lower, and those of upper0 the form upper"])
        self.assertFalse(os.path.exists(self.path("none")))


if __name__ == "__main__":
    main()
