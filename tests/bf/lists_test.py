"""Lists of keys as people have them: with other line ends, encodings and compressions, joined, cut, or no lists at all. bf reads
every key of a list, or refuses the list by its name and says what to do. No command reads a list wrongly without a message."""
import bz2
import gzip
import io
import itertools
import lzma
import os
import pathlib
import pickle
import random
import re
import resource
import shutil
import signal
import sqlite3
import subprocess
import tarfile
import unittest
import zipfile

from bf_case import SCALE, SURE, BfCase, header, main

WORDS = "alice bob carol dave eve mallory straße Ærøskøbing Łódź Чехов 東京 naïve ключ".split()
ROOMY = ["--capacity", "5000", "--fpr", "0.0000001", "--seed", "7"]
COUNTING = [*ROOMY, "--layout", "counting"]
MARK = b"\xef\xbb\xbf"


def run(program):
    """Returns a compression by a program of the machine, or None."""
    def compressed(data):
        return subprocess.run([program, "-c"], input=data, stdout=subprocess.PIPE, check=True).stdout
    return compressed if shutil.which(program) else None


# The programs that bf runs, but gzip, which every Debian has, and the packages that have them.
PACKAGES = {"bzip2": "bzip2", "xz": "xz-utils", "zstd": "zstd", "lz4": "lz4"}


def without(name):
    """Returns why a list of this kind, or of this program, cannot be read on this machine, or None."""
    program = name.split(",")[0]
    if program not in PACKAGES or shutil.which(program):
        return None
    return f"{program} is not on this machine (Debian's package {PACKAGES[program]} has it)"


def tarred(data, form=tarfile.GNU_FORMAT):
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w", format=form) as archive:
        entry = tarfile.TarInfo("names.txt")
        entry.size = len(data)
        archive.addfile(entry, io.BytesIO(data))
    return made.getvalue()


def zipped(data):
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        archive.writestr("names.txt", data)
    return made.getvalue()


def in_sqlite(data):
    with sqlite3.connect(":memory:") as database:
        database.execute("CREATE TABLE names (name TEXT)")
        database.executemany("INSERT INTO names VALUES (?)", [(line,) for line in data.decode().splitlines()])
        return database.serialize(name="main")


def lines(keys, end=b"\n", last=True):
    return end.join(keys) + (end if last else b"")


def mixed(keys, chance):
    ends = [chance.choice([b"\n", b"\r\n"]) for _ in keys]
    ends[chance.randrange(len(ends))] = b"\n"
    other = chance.randrange(len(ends))
    ends[other] = b"\r\n" if ends.count(b"\r\n") == 0 else ends[other]
    if len(set(ends)) == 1:
        ends[0] = b"\r\n" if ends[0] == b"\n" else b"\n"
    return b"".join(key + end for key, end in zip(keys, ends))


# name: (the function that makes a list of keys, whether bf reads it)
KINDS = {
    "lines": (lambda keys, _: lines(keys), True),
    "without a last line end": (lambda keys, _: lines(keys, last=False), True),
    "CR LF": (lambda keys, _: lines(keys, b"\r\n"), True),
    "CR LF, without a last line end": (lambda keys, _: lines(keys, b"\r\n", last=False), True),
    "a byte order mark": (lambda keys, _: MARK + lines(keys), True),
    "a byte order mark and CR LF": (lambda keys, _: MARK + lines(keys, b"\r\n"), True),
    "gzip": (lambda keys, _: gzip.compress(lines(keys)), True),
    "gzip, twice in one file": (lambda keys, _: gzip.compress(lines(keys[:1])) + gzip.compress(lines(keys[1:])), True),
    "gzip of CR LF": (lambda keys, _: gzip.compress(lines(keys, b"\r\n")), True),
    "gzip of a byte order mark": (lambda keys, _: gzip.compress(MARK + lines(keys)), True),
    "bzip2": (lambda keys, _: bz2.compress(lines(keys)), True),
    "xz": (lambda keys, _: lzma.compress(lines(keys)), True),
    "zstd": (lambda keys, _: run("zstd")(lines(keys)), True),
    "lz4": (lambda keys, _: run("lz4")(lines(keys)), True),
    "CR": (lambda keys, _: lines(keys, b"\r"), False),
    "CR without a last one": (lambda keys, _: lines(keys, b"\r", last=False), False),
    "mixed line ends": (lambda keys, chance: mixed(keys, chance), False),
    "the last line alone in CR LF": (lambda keys, _: lines(keys) + b"zoe\r\n", False),
    "the first line alone in CR LF": (lambda keys, _: b"zoe\r\n" + lines(keys), False),
    "cut within CR LF": (lambda keys, _: lines(keys, b"\r\n")[:-1], False),
    "UTF-16 with a mark": (lambda keys, _: lines(keys).decode().encode("utf-16"), False),
    "UTF-16, big-endian, with a mark": (lambda keys, _: b"\xfe\xff" + lines(keys).decode().encode("utf-16-be"), False),
    "UTF-16": (lambda keys, _: lines(keys).decode().encode("utf-16-le"), False),
    "UTF-16, big-endian": (lambda keys, _: lines(keys).decode().encode("utf-16-be"), False),
    "UTF-32 with a mark": (lambda keys, _: lines(keys).decode().encode("utf-32"), False),
    "UTF-32": (lambda keys, _: lines(keys).decode().encode("utf-32-be"), False),
    "two lists joined, each with a mark": (lambda keys, _: MARK + lines(keys) + MARK + lines(keys), False),
    "a list joined to one in UTF-16": (lambda keys, _: lines(keys) + lines(keys).decode().encode("utf-16"), False),
    "a compressed list joined to another": (lambda keys, _: lines(keys) + gzip.compress(lines(keys) * 50), False),
    "a list joined to a compressed one": (lambda keys, _: gzip.compress(lines(keys)) + lines(keys), False),
    "gzip, cut": (lambda keys, chance: gzip.compress(lines(keys))[:-chance.randrange(1, 9)], False),
    "gzip, damaged": (lambda keys, _: gzip.compress(lines(keys))[:-8] + b"\1" * 8, False),
    "xz, cut": (lambda keys, chance: lzma.compress(lines(keys))[:-chance.randrange(1, 20)], False),
    "bzip2, cut": (lambda keys, chance: bz2.compress(lines(keys))[:-chance.randrange(1, 9)], False),
    "gzip of gzip": (lambda keys, _: gzip.compress(gzip.compress(lines(keys))), False),
    "gzip of UTF-16": (lambda keys, _: gzip.compress(lines(keys).decode().encode("utf-16")), False),
    "gzip of a tar archive": (lambda keys, _: gzip.compress(tarred(lines(keys))), False),
    "a tar archive": (lambda keys, _: tarred(lines(keys)), False),
    "a zip archive": (lambda keys, _: zipped(lines(keys)), False),
    "a database": (lambda keys, _: in_sqlite(lines(keys)), False),
    "GB18030 with a mark": (lambda keys, _: ("\ufeff" + lines(keys).decode()).encode("gb18030"), False),
    "a PDF document": (lambda keys, _: b"%PDF-2.0\n" + lines(keys), False),
    "a page that a server sent instead": (lambda _, __: b"<!DOCTYPE html>\n<html><body>404 not found</body></html>\n", False),
    "a pointer of Git LFS": (lambda _, __: b"version https://git-lfs.github.com/spec/v1\noid sha256:%064d\nsize 12345\n" % 7, False),
    "encrypted with OpenPGP": (lambda _, __: b"-----BEGIN PGP MESSAGE-----\n\nhF4Dx\n=abcd\n-----END PGP MESSAGE-----\n", False),
    "a pickle": (lambda keys, _: pickle.dumps(keys), False),
    "any bytes": (lambda _, chance: chance.randbytes(5000), False),
}


class Lists(BfCase):
    def setUp(self):
        super().setUp()
        self.chance = random.Random(1)
        self.turns = itertools.count()

    def keys(self):
        # One line would say nothing about the ends of the others.
        return ["{} {}".format(self.chance.choice(WORDS), number).encode() for number in range(self.chance.choice([2, 3, 100, 3000]))]

    def fill(self, name, keys, *shape):
        self.good("create", name, "-q", "--force", *(shape or ROOMY))
        self.good("add", name, "-q", "--binary", input=lines(keys))

    def only_note(self, done):
        """Checks that bf ended well, and said nothing except that it left out CRs or a byte order mark."""
        self.assertEqual(done.returncode, 0, done)
        expected = rb"bf: warning: .*(: replaced a filter of about .* compared with those of the new file\.|ends the last key, which may be cut\. It was taken as it is\.)\n"
        said = re.sub(expected, b"", done.stderr)
        if said:
            self.assert_warning(said)
            self.assertRegex(said, rb"CR LF\. The CRs are|CR LF\. The mark and the CRs are|byte order mark, which is no part")

    def check_refusal(self, done, name):
        self.assertEqual(done.returncode, 2, done)
        self.assertIn(name, done.stderr)
        self.assertIn(b"bf: ", done.stderr)

    def sources(self, data):
        """Returns the arguments and the input by which bf gets these bytes: a file, a pipe, a file as standard input. A shortened
        test takes one of the ways, in turn."""
        self.write("list", data)
        ways = [(["--from", "list"], {}, b"list"), (["--from", "-"], {"input": data}, b"standard input"),
                ([], {"input": data}, b"standard input")]
        return ways if SCALE == 1 else [ways[next(self.turns) % 3]]

    def check_taken(self, keys, data):
        for source, options, _ in self.sources(data):
            if source:
                self.only_note(self.run_bf("build", "f", "--force", "-q", "--fpr", "1e-7", "--seed", "7", *source, **options))
                self.assertEqual(header(self.path("f"))["n"], len(keys))
                self.assertEqual(self.good("contains", "f", "--binary", "--absent", input=lines(keys)), b"")
            self.good("create", "g", "-q", "--force", *ROOMY)
            self.only_note(self.run_bf("add", "g", "-q", *source, **options))
            self.only_note(self.run_bf("recover", "g", "-q", *source, **options))
            done = self.run_bf("contains", "g", *source, **options)
            self.only_note(done)
            self.assertEqual(done.stdout, b"".join(b"maybe\t%s\n" % key for key in keys))
        self.fill("c", keys, *COUNTING)
        done = self.run_bf("remove", "c", input=data)
        if done.returncode == 0:
            self.assertIn(f"c: {len(keys):,} keys removed, 0 certainly absent; 0 keys left".encode(), done.stdout)
        else:
            self.assertIn(b"does not end with a newline", done.stderr)

    def check_refused(self, keys, data):
        for source, options, name in self.sources(data):
            if source:
                self.check_refusal(self.run_bf("build", "new", "-q", "--fpr", "1e-7", *source, **options), name)
                self.assertNotIn("new", self.files())
            self.fill("f", [b"a key"])
            for command in ("add", "contains", "recover", "digest"):
                done = self.run_bf(command, "f", *source, **options)
                self.check_refusal(done, name)
            self.fill("c", keys, *COUNTING)
            self.check_refusal(self.run_bf("count", "c", *source, **options), name)
            self.check_refusal(self.run_bf("remove", "c", *source, **options), name)

    def test_of_every_kind_all_keys_are_taken_in_or_the_list_is_refused(self):
        for name, (make, good) in KINDS.items():
            with self.subTest(name):
                if without(name):
                    self.skipTest(without(name))
                keys = self.keys()
                (self.check_taken if good else self.check_refused)(keys, make(keys, self.chance))

    def test_a_hundred_lists_are_taken_in_as_they_are_or_refused(self):
        kinds = [name for name in KINDS if name not in ("zstd", "lz4") and not without(name)]
        for number in range(100 if SCALE == 1 else 20):
            name = self.chance.choice(kinds)
            with self.subTest(number=number, name=name):
                make, good = KINDS[name]
                keys = self.keys()
                (self.check_taken if good else self.check_refused)(keys, make(keys, self.chance))

    def test_what_is_meant_is_taken_as_it_is(self):
        for data, keys in ((b"a\r\nb\n", [b"a\r", b"b"]), (MARK + b"a\n", [MARK + b"a"]), (b"a\0b\n", [b"a\0b"])):
            self.good("build", "f", "--force", "-q", "--binary", "--fpr", "1e-7", "--seed", "7", "--from", "-", input=data)
            self.assertEqual(self.good("contains", "f", "--binary", "--maybe", input=lines(keys)), lines(keys))
        packed = gzip.compress(b"a\n")
        self.good("build", "f", "--force", "-q", "--binary", "--capacity", "99", "--from", "-", input=packed)
        self.good("contains", "f", "--binary", "--count", "--from", "-", input=packed)

    def test_keys_that_end_in_nul_may_have_any_other_byte_and_may_be_compressed(self):
        self.good("create", "f", "-q", *SURE)
        self.good("add", "f", "-q", "-0", input=gzip.compress(b"a\r\0\r\nb\0" + MARK + b"c\0"))
        self.assertEqual(self.good("contains", "f", "-0", "--maybe", input=b"a\r\0\r\nb\0" + MARK + b"c\0a\0"),
                         b"a\r\0\r\nb\0" + MARK + b"c\0")

    def test_keys_that_end_in_nul_are_no_lines_and_no_archive(self):
        for data, words in ((b"alice\nbob\n", "Leave -0 out"), (zipped(b"a\0"), "a zip archive"), (tarred(b"a\0"), "a tar archive"), (in_sqlite(b"a\n"), "SQLite"),
                            ("alice\nbob\n".encode("utf-16"), "UTF-16")):
            self.refused("build", "f", "-0", "--from", "-", "--capacity", "99", input=data, says=words)
        self.only_note(self.run_bf("build", "f", "-q", "-0", "--from", "-", *ROOMY, input=MARK + b"alice\0bob\0"))
        self.assertEqual(self.good("contains", "f", "--maybe", "alice", "bob", "x"), b"alice\nbob\n")
        self.good("build", "g", "-q", "-0", "--from", "-", *ROOMY, input=b"a\nb\0c")
        self.assertEqual(self.good("contains", "g", "-0", "--maybe", input=b"a\nb\0c\0"), b"a\nb\0c\0")

    def test_the_command_for_utf_16_without_a_mark_is_the_one_that_works(self):
        # It was "iconv -t utf-8", which copies the file where the locale is UTF-8.
        for code in ("utf-16-le", "utf-16-be"):
            self.write("list", "alice\nbob\n".encode(code))
            said = self.refused("build", "f", "--force", "--from", "list", says="is a NUL, so these are not lines of text. Text in UTF-16 has such bytes (").decode()
            command = said.split("such bytes (")[1].split(")")[0]
            self.assertEqual(command, f"iconv -f {code.upper().replace('16-', '16')} -t UTF-8")
            self.good("build", "f", "--force", "-q", *ROOMY, input=subprocess.run([*command.split(), "list"], cwd=self.dir, stdout=subprocess.PIPE, check=True).stdout)
            self.assertEqual(self.good("contains", "f", "--maybe", "alice", "bob", "x"), b"alice\nbob\n")

    def test_a_tar_archive_is_named_as_one(self):
        # Its NULs were taken for those of UTF-16.
        for form in (tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT, tarfile.PAX_FORMAT):
            archive = tarred(b"alice\nbob\n", form)
            for data in (archive, gzip.compress(archive)):
                self.write("list", data)
                for source, options in ((["--from", "list"], {}), (["--from", "-"], {"input": data})):
                    self.refused("build", "f", *source, **options, says="is a tar archive, and not a list of keys. Take the keys out")

    # The advice was of NULs and of UTF-16.
    def test_a_filter_an_image_and_a_program_are_named(self):
        self.good("create", "f", "-q", "-n", "10")
        self.good("create", "other", "-q", "-n", "10")
        self.write("image", b"\x89PNG\r\n\x1a\n" + bytes(100))
        self.write("photo", b"\xff\xd8\xff\xe0" + bytes(100))
        self.write("program", b"\x7fELF" + bytes(100))
        self.write("set", b"bfstore-set 1\npart0.bf\n")
        self.good("copy", "other", "newer", "-q")
        self.good("add", "newer", "x", "-q")
        self.good("delta", "other", "newer", "delta", "-q")
        for name, what in (("other", "a bfstore filter"), ("image", "a PNG image"), ("photo", "a JPEG image"), ("program", "a program or a library (ELF)"),
                           ("delta", "a delta"), ("set", "a list of parts of a filter")):
            for command in ("add", "contains", "dedup"):
                self.refused(command, "f", "--from", name, says=f"{name}: is {what}, and not a list of keys. ")

    def test_a_list_in_the_place_of_the_filter_is_named(self):
        self.write("names.txt", b"one\ntwo\n" * 20)
        self.write("short", b"one\n")
        for name in ("names.txt", "short"):
            for command in ("add", "contains", "count", "dedup", "recover"):
                self.refused(command, name, "x", says=f"{name}: is no bfstore filter, and looks like a list of keys. The filter comes first, and then --from {name}.")
        self.refused("add", "names.txt", "--from", "names.txt", says="names.txt: is no bfstore filter, and looks like a list of keys.")
        self.write("zeros", bytes(100))
        self.assertNotIn(b"looks like a list", self.refused("add", "zeros", "x", says="zeros: "))

    # "Not a bfstore file (first bytes '\\x1f\\x8b\\x08\\x08'). If it is another program's filter, give --format."
    def test_what_is_in_the_place_of_the_filter_is_named(self):
        self.good("create", "f", "-q", "-n", "10")
        self.good("copy", "f", "newer", "-q")
        self.good("add", "newer", "x", "-q")
        self.good("delta", "f", "newer", "d.delta", "-q")
        self.write("names.gz", gzip.compress(b"one\ntwo\n"))
        self.write("wide", "one\ntwo\n".encode("utf-16"))
        self.write("page", b"<!DOCTYPE html><html>")
        unpacked = "If a filter is in it, give that: gzip -dc names.gz > FILE."
        for name, what, as_list, alone in (
                ("names.gz", "compressed with gzip", f"If it is a list of keys, the filter comes first, and then --from names.gz. {unpacked}", unpacked),
                ("d.delta", "a delta", None, "bf apply makes the newer filter of it."),
                ("wide", "text in UTF-16", "If it is a list of keys, the filter comes first, and then --from wide.", "Give the path of a filter."),
                ("page", "a page of HTML", None, "Look at it: servers send such a page instead of a file that they do not have.")):
            for command in (["contains"], ["add"], ["count"], ["dedup"]):
                self.refused(*command, name, "x", says=f"{name}: is no bfstore filter, but {what}. {as_list or alone}")
            for command in (["copy", name, "made"], ["merge", "made", "f", name], ["compare", "f", name], ["verify", name], ["delta", name, "f", "made"]):
                self.refused(*command, says=f"{name}: is no bfstore filter, but {what}. {alone}")
        self.assertNotIn("made", self.files())

    def test_a_list_that_has_the_word_of_tar_in_its_place_is_a_list(self):
        for word in (b"ustar", b"ustar  "):
            keys = [b"k" * 256, word, b"zoe"]
            self.assertEqual(lines(keys).find(b"ustar"), 257)
            self.good("build", "f", "--force", "-q", "--from", "-", *ROOMY, input=lines(keys))
            self.assertEqual(self.good("contains", "f", "--maybe", input=lines(keys)), lines(keys))

    def test_a_cut_list_is_cut_though_the_parent_ignores_its_children(self):
        packed = gzip.compress(b"".join(b"key %d\n" % number for number in range(20_000)))
        ignoring = {"preexec_fn": lambda: signal.signal(signal.SIGCHLD, signal.SIG_IGN)}
        self.refused("build", "f", "--from", "-", input=packed[:-9], says="gzip could not decompress", **ignoring)
        self.good("build", "f", "-q", "--from", "-", input=packed, **ignoring)

    def test_what_a_program_leaves_out_is_no_end_of_a_list(self):
        # bzip2 ignores foreign bytes after a list, and says so. lzip ignores them without a word.
        tails = [b"plain\n", gzip.compress(b"c\n"), b"BZh9\x31\x41\x59\x26\x53\x58" + bytes(20)]
        for program, packed in (("bzip2", bz2.compress(b"a\nb\n")), ("lzip", (run("lzip") or bytes)(b"a\nb\n"))):
            if not shutil.which(program):
                continue
            for tail in tails:
                with self.subTest(program, tail=tail):
                    self.refused("build", program, "--from", "-", *ROOMY, input=packed + tail, says="standard input: ")
            self.good("build", program, "-q", "--from", "-", *ROOMY, input=packed * 2)

    def test_what_a_user_wants_of_these_programs_otherwise_does_not_matter_here(self):
        if without("xz"):
            self.skipTest(without("xz"))
        packed = lzma.compress(b"a\n") + lzma.compress(b"b\n")
        self.good("build", "f", "-q", "--from", "-", *ROOMY, input=packed,
                  env={**os.environ, "XZ_OPT": "--single-stream", "XZ_DEFAULTS": "--single-stream", "GZIP": "-t"})
        self.assertEqual(self.good("contains", "f", "--maybe", "a", "b"), b"a\nb\n")
        self.good("add", "f", "-q", input=gzip.compress(b"c\n"), env={**os.environ, "GZIP": "-1"})
        self.good("contains", "f", "c")

    def test_a_list_whose_beginning_can_not_be_looked_at_is_not_read(self):
        self.fill("f", [b"alice"])
        few = {"preexec_fn": lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (7, 7))}
        done = self.run_bf("contains", "f", "-0", input=gzip.compress(b"alice\0"), **few)
        self.assertEqual((done.returncode, done.stdout), (2, b""), done)

    def test_a_program_that_is_not_there_is_named(self):
        self.fill("f", [b"a key"])
        empty = self.path("bin")
        os.mkdir(empty)
        done = self.run_bf("add", "f", input=gzip.compress(b"a\n"), env={**os.environ, "PATH": empty})
        self.check_refusal(done, b"gzip cannot be run")

    def test_a_large_list_is_the_same_compressed(self):
        keys = [b"key %d" % number for number in range(200000)]
        self.write("list.gz", gzip.compress(lines(keys), 1))
        self.good("build", "f", "-q", "--fpr", "1e-6", "--seed", "7", "--from", "list.gz")
        self.assertEqual(self.good("contains", "f", "--count", input=lines(keys)), b"maybe\t200000\nabsent\t0\n")
        self.good("build", "p", "-q", "--parts", "3", "--fpr", "1e-6", "--seed", "7", "--from", "list.gz")
        self.assertEqual(self.good("contains", "p", "--count", input=lines(keys)), b"maybe\t200000\nabsent\t0\n")

    def test_a_large_list_is_looked_at_to_its_end_by_every_thread(self):
        """From 32 MiB on several threads read the list, each a part of it."""
        size = 34 << 20
        line = b"x" * 99 + b"\n"
        for at in (1000, size // 2 + 1000, size - 1000):
            at -= at % 100
            for odd, what in ((b"y" * 98 + b"\r\n", "CR LF"), (b"y" * 50 + b"\0" + b"y" * 48 + b"\n", "NUL")):
                with open(self.path("list"), "wb") as file:
                    file.write(line * (at // 100) + odd + line * ((size - at) // 100))
                self.refused("build", "f", "-q", "--from", "list", says=["list: ", what])
        self.assertEqual(self.files(), ["list"])

    def test_what_was_done_before_is_said(self):
        good_lines = b"".join(b"%d\n" % i for i in range(300000))
        self.good("create", "f", "-q", "--capacity", "1M")
        self.refused("add", "f", input=good_lines + b"a\r\n", says=["standard input: ", "CR LF", "Before that 2", "were added"])
        done = self.run_bf("contains", "f", "--count", input=good_lines + b"a\r\n")
        self.assertEqual(done.returncode, 2)
        self.assert_complaint(done.stderr, says=["Only the first 2", "got an answer"])
        self.good("create", "c", "-q", "--capacity", "1M", "--layout", "counting")
        self.good("add", "c", "-q", input=good_lines)
        self.refused("remove", "c", input=good_lines + b"a\r\n", says=["removing stopped after 2", "CR LF"])

    def test_a_byte_order_mark_that_is_left_out_is_named(self):
        self.good("create", "f", "-q", *SURE)
        self.write("list", MARK + b"zed\nalice\n")
        done = self.run_bf("add", "f", "--from", "list")
        self.assertEqual((done.returncode, done.stdout), (0, b"f: 2 keys added (2 of them certainly new)\n"))
        self.assert_warning(done.stderr, says="list: begins with a byte order mark, which is no part of the first key.")
        done = self.run_bf("contains", "f", input=MARK + b"zed\n")
        self.assertEqual((done.returncode, done.stdout), (0, b"maybe\tzed\n"))
        self.assert_warning(done.stderr, says="standard input: begins with a byte order mark")
        self.assertEqual(self.good("contains", "f", "--binary", input=MARK + b"zed\n", code=1), b"absent\t" + MARK + b"zed\n")
        self.assertIn("byte order mark", " ".join(self.good("help", "keys").decode().split()))

    def test_a_last_key_that_nothing_ends_is_taken_and_named(self):
        # It was the end of the line about success, which -q leaves out.
        words = "list: no newline ends the last key, which may be cut. It was taken as it is."
        self.write("list", b"one\ntwo")
        for quiet in ([], ["-q"]):
            for command in (["build", "f"], ["add", "f"], ["recover", "f"], ["build", "g", "--capacity", "9"]):
                self.assert_warning(self.run_bf(*command, "--from", "list", *quiet).stderr, says=words)
            self.assert_warning(self.run_bf("add", "f", "-0", *quiet, input=b"one\0two").stderr, says="standard input: no NUL ends the last key")
            self.assertEqual(self.good("contains", "f", "two"), b"maybe\ttwo\n")
            for name in "fg":
                os.unlink(self.path(name))
        self.write("list", b"one\ntwo\n")
        self.good("build", "f", "--from", "list")
        self.good("add", "f", "--from", "list")
        self.good("add", "f", "one")

    def test_digests_that_are_given_as_lines_are_named(self):
        # It spoke of a CR or of a NUL, and with --binary it said nothing of a filter of other keys.
        self.good("create", "like", "-q", "-n", "1000", "--seed", "1")
        self.write("digests", self.good("digest", "like", input=b"".join(b"%d\n" % i for i in range(1000))))
        for command in (["build", "f"], ["add", "like"], ["contains", "like"]):
            self.refused(*command, "--from", "digests", says="digests: is no text. If bf digest wrote it, bf build takes it (--digests --like FILTER), and bf merge --into adds what it makes.")
        self.good("build", "f", "-q", "--from", "digests", "--digests", "--like", "like")
        self.good("merge", "like", "f", "--into", "-q")
        self.good("contains", "like", "-q", "999")
        done = self.run_bf("build", "g", "--from", "digests", "--binary", "-q")
        self.assertEqual(done.returncode, 0)
        self.assertIn(b"bf: warning: digests: looks like digests, and is taken for keys that end in LF. If bf digest wrote it: --digests instead of --binary.\n", done.stderr)
        for keys in (bytes(800), "\u0437\u0434\u0435\u0441\u044c\n".encode("koi8-r") * 100, b"key \x01\n" * 100):
            self.write("keys", keys)
            self.assertNotIn(b"looks like digests", self.run_bf("build", "g", "--from", "keys", "--binary", "--force").stderr)

    def test_a_few_digests_that_are_given_as_lines_are_named(self):
        # Less than 33 were added as keys, without a word.
        self.good("create", "f", "-q", "-n", "1000", "--seed", "1")
        for count in (1, 2, 31, 32):
            digests = self.write("digests", self.good("digest", "f", input=b"".join(b"%d\n" % i for i in range(count))))
            for command in (["build", "g"], ["add", "f"], ["contains", "f"], ["dedup", "f"]):
                self.refused(*command, "--from", "digests", says="digests: is no text. If bf digest wrote it, bf build takes it (--digests --like FILTER)")
            self.good("build", "g", "-q", "--force", "--from", "digests", "--binary")
        for text in (b"\xc3\xa4bcdefg", b"abcdefg\xe4\n"[-8:], b"abcdef\xe4", b"abcdefgh"):
            self.write("text", text)
            self.assertEqual(self.run_bf("add", "f", "--from", "text", "-q").returncode, 0, text)

    def test_a_filter_that_was_transferred_as_text_is_named(self):
        # It was "not a bfstore file", though gzip's files were named. The magic bytes show it.
        self.good("create", "f", "-q", "-n", "1000", "--seed", "1")
        self.good("create", "g", "-q", "--like", "f")
        whole = pathlib.Path(self.path("f")).read_bytes()
        for changed, what in ((whole.replace(b"\r\n", b"\n"), "a filter file whose line ends were converted"),
                              (whole.replace(b"\n", b"\r\n"), "a filter file whose line ends were converted"),
                              (bytes(byte & 127 for byte in whole), "a filter file that lost the eighth bit of its bytes"),
                              (whole.decode("latin-1").encode(), "a filter file that was taken for text and written in another encoding"),
                              (whole.decode("utf-8", "replace").encode(), "a filter file that was taken for text and written in another encoding")):
            self.write("sent", changed)
            for command in (["contains", "sent", "x"], ["add", "sent", "x"], ["copy", "sent", "made"], ["merge", "--into", "g", "sent"]):
                self.refused(*command, says=f"sent: is no bfstore filter, but {what}. Copy it again, in binary mode.")
            self.refused("add", "g", "--from", "sent", says=f"sent: is {what}, and not a list of keys. A filter does not give its keys back")
            self.assertIn(what + ": copy it again, in binary mode", " ".join(self.run_bf("inspect", "sent").stdout.decode().split()))

    def test_what_a_crash_left_of_a_filter_is_named_with_the_option_that_replaces_it(self):
        # "Not a bfstore file (it is empty). Give the path of a filter." and "exists already, and is no filter. Choose another name."
        self.good("create", "good", "-q", "-n", "100")
        for content, says in ((b"", "left: is empty. To make a filter in its place: bf build, create or copy with --force."),
                              (bytes(9000), "left: begins with zeros, as a file does whose content a crash took. If it was a filter, build it again (bf build --force), "
                                            "or put a copy back by the three steps of bf copy --help.")):
            for command in (["build", "left", "--from", "-"], ["create", "left", "-n", "100"], ["copy", "good", "left"]):
                self.write("left", content)
                for asking in (["contains", "left", "x"], ["add", "left", "x"], ["copy", "left", "made"], ["verify", "left"]):
                    self.refused(*asking, says=says)
                self.refused(*command, input=b"x\n", says="left: exists already, and is empty. Replace it (--force)" if content == b"" else "--force")
                if content and command[0] == "copy":
                    command.append("--filling")  # the first of the three steps
                self.assertEqual(self.run_bf(*command, "--force", input=b"x\n").returncode, 0)
        self.write("left", b"")
        self.assertIn("make one in its place (--force)", " ".join(self.run_bf("inspect", "left").stdout.decode().split()))

    def test_a_list_whose_keys_are_not_there_ends_a_remove_before_it_changes_anything(self):
        self.fill("counts", [b"a", b"b", b"c"], *COUNTING)
        self.refused("remove", "counts", input=b"a\nb\nx\n", says=["the key 'x' (number 3) is certainly absent", "Nothing was removed.", "--skip-absent"])
        self.assertEqual(self.good("count", "counts", "a", "b", "c"), b"1\ta\n1\tb\n1\tc\n")
        self.assertEqual(self.good("remove", "counts", "--skip-absent", input=b"a\nb\nx\n"),
                         b"counts: 2 keys removed, 1 certainly absent; 1 key left\n")

    def test_a_dash_is_standard_input_and_a_key_after_two_dashes(self):
        self.good("create", "f", "-q", *SURE)
        self.good("add", "f", "-q", "-", input=b"alice\n")
        self.assertEqual(self.good("contains", "f", "--", "alice", "-"), b"maybe\talice\nabsent\t-\n")
        self.good("add", "f", "-q", "--", "-")
        self.assertEqual(self.good("contains", "f", "-", input=b"-\nbob\n"), b"maybe\t-\nabsent\tbob\n")
        self.refused("add", "f", "-", "bob", says="standard input")

    def test_a_first_line_that_begins_as_a_compressed_list_is_answered_at_once(self):
        """bf waits for more only if no line has ended yet."""
        self.good("create", "f", "-q", *SURE)
        asking = self.spawn("contains", "f")
        for piece in (b"B", b"Z\n", b"(\n"):
            asking.stdin.write(piece)
            asking.stdin.flush()
        self.assertEqual(asking.stdout.readline() + asking.stdout.readline(), b"absent\tBZ\nabsent\t(\n")
        asking.stdin.close()
        self.assertEqual(asking.wait(), 1)


if __name__ == "__main__":
    main()
