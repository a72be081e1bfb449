"""Parts of a filter: bf build --part, bf digest, bf join, and builds of all parts, one after the other."""
import gzip
import os
import shutil
import pathlib
import pty
import re
import signal
import struct
import subprocess
import unittest

from bf_case import BF, PATIENCE, BfCase, header, main

KEYS = b"".join(b"key %d\n" % number for number in range(20_000))
SIZE = ["--bits", str(512 * 4 * 120), "--probes", "6", "--capacity", "20000", "--seed", "11"]

# worker INPUT COMMAND...: runs the command on the input. The first time, it gets half of the input and is killed. The other
# half is in no buffer: a pipe holds 64 KiB, and bf 512 KiB at most.
KILLED_ONCE = """#!/bin/sh
input=$1; shift
mkfifo "half of $input" 2>/dev/null || exec "$@" <"$input"
"$@" <"half of $input" & worker=$!
exec 3>"half of $input"
head -c $(($(wc -c <"$input") / 2)) "$input" >&3
kill -9 $worker
wait $worker
code=$?
for file in "$input".digests.* part*; do [ -e "$file" ] && wc -c "$file" >>"after kills"; done
exit $code
"""


def is_gnu_parallel():
    """Returns whether `parallel` is GNU's: another program has the same name."""
    if not shutil.which("parallel"):
        return False
    return b"GNU" in subprocess.run(["parallel", "--version"], stdin=subprocess.DEVNULL, capture_output=True, check=False).stdout


class Parts(BfCase):
    def setUp(self):
        super().setUp()
        with open(self.path("keys"), "wb") as file:
            file.write(KEYS)
        self.good("build", "whole", "--from", "keys", "-q", *SIZE)

    def bits(self, name):
        with open(self.path(name), "rb") as file:
            return file.read()[16384:-8]  # the end word is the file's own

    def path_text(self, name):
        return pathlib.Path(self.path(name)).read_text(encoding="utf-8")

    def check_whole(self, name):
        self.assertEqual(self.bits(name)[:512 * 4 * 120 // 8], self.bits("whole")[:512 * 4 * 120 // 8])
        self.assertEqual(self.good("contains", name, "--from", "keys", "--count"), b"maybe\t20000\nabsent\t0\n")

    def test_parts_of_one_list_join_to_the_filter_of_the_whole_list(self):
        for number in range(4):
            self.good("build", f"part{number}", "--from", "keys", "-q", "--part", f"{number}/4", *SIZE)
        said = self.good("join", "all", "part2", "part0", "part3", "part1")
        self.assertRegex(said, rb"^all: joined from 4 parts, with \d\d,\d{3} keys; room for 20,000 keys ")
        self.check_whole("all")
        self.assertEqual(header(self.path("all"))["keys_added"], header(self.path("whole"))["keys_added"])
        self.refused("join", "all", "part0", says="--force")
        self.refused("join", "other", "part0", "part3", says="missing: 1 to 2.")
        self.refused("join", "other", "part0", "part1", "part2", "part3", "part1", says="both part 1 of 4")
        self.refused("merge", "other", "part0", "part1",
                     says="part1 and part0: differ in part 1 of 4 and 0 of 4. Parts of one filter are joined, and not merged: bf join other part0 part1 makes one file of all of its parts.")
        self.assertFalse(os.path.exists(self.path("other")))

    def test_a_part_answers_for_its_own_keys_and_refuses_others(self):
        self.good("build", "part", "--from", "keys", "-q", "--part", "1/4", *SIZE)
        own = others = 0
        for key in KEYS.split()[1:160:2]:
            key = b"key " + key
            asked = subprocess.run([BF, "contains", "part", key], cwd=self.dir, capture_output=True)
            if asked.returncode == 0:
                own += 1
            else:  # never 1, which is no
                self.assertEqual(asked.returncode, 2)
                self.assertRegex(asked.stderr, b"part: is part 1/4, and the key '%s' belongs to part [023]/4. Ask all parts: bf contains --set." % key)
                others += 1
        self.assertGreater(own, 5)
        self.assertGreater(others, own)
        self.refused("add", "part", "--from", "keys", says="belongs to part ")

    def test_a_key_of_another_part_that_would_be_added_is_named_with_its_number(self):
        # "adding stopped after 0 keys: the key belongs to another part": which key, of a list of millions?
        self.good("create", "whole.0", "--part", "0/2", "-q", *SIZE)
        keys = [b"key %d" % number for number in range(100)]
        own = [key for key in keys if self.run_bf("contains", "whole.0", key).returncode == 1]
        other = next(key for key in keys if key not in own)
        said = [f"whole.0: adding stopped after 0 keys: it is part 0/2, and the key '{other.decode()}' (number ", ") belongs to part 1/2. Add it there. ",
                "To add those keys of a list that belong here: bf build NEW --like whole.0 --part 0/2 --from LIST, then bf merge whole.0 NEW --into."]
        list_ = own[:3] + [other] + own[3:]
        self.refused("add", "whole.0", input=b"\n".join(list_), says=[*said, "(number 4)"])
        self.refused("add", "whole.0", own[0], other, says=[*said, "(number 2)"])
        # Several threads read this list, so no line has a number.
        long = b"\n".join(own * ((64 << 20) // len(b"\n".join(own)))) + b"\n" + other + b"\n"
        self.write("long", long)
        self.refused("add", "whole.0", "--from", "long", says=[f"the key '{other.decode()}'", " belongs to part 1/2. "])
        # The way out was bf digest --parts. bf add took its lists for keys, and said nothing.
        self.write("LIST", b"\n".join(keys) + b"\n")
        self.good("build", "NEW", "-q", "--like", "whole.0", "--part", "0/2", "--from", "LIST")
        self.good("merge", "whole.0", "NEW", "--into", "-q")
        self.assertEqual(self.good("contains", "whole.0", "--absent", *own, code=0), b"")
        self.good("add", "whole.0", "-q", *own)

    def own(self, keys, number):
        """The lines whose keys belong to this part of four."""
        digests = struct.iter_unpack("<Q", self.good("digest", "part0", input=keys))
        return [line for line, (digest,) in zip(keys.splitlines(), digests) if digest * 4 >> 64 == number]

    def test_a_list_of_parts_is_asked_as_the_whole_filter(self):
        for number in range(4):
            self.good("build", f"part{number}", "--from", "keys", "-q", "--part", f"{number}/4", *SIZE)
        asked = b"".join(b"key %d\n" % number for number in range(0, 60_000, 3))
        whole = self.good("contains", "whole", input=asked)
        self.write("parts.set", b"bfstore-set 1\n# all of them\npart2\npart0\npart3\npart1\n")
        self.assertEqual(self.good("contains", "--set", "parts.set", input=asked), whole)
        self.assertIn(b"absent\t", whole)
        self.write("some.set", b"bfstore-set 1\npart2\n")
        # The maybes of the other parts looked like answers.
        unlisted = asked.count(b"\n") - len(self.own(asked, 2))
        for words in (["some.set", "--set"], ["some.set"]):
            done = self.run_bf("contains", *words, input=asked)
            some = done.stdout
            self.assertEqual(done.returncode, 0)
            self.assert_warning(done.stderr, says=f"some.set: lists 1 of 4 parts. {unlisted:,} keys belong to no listed part, and their maybe says nothing. "
                                                  "Add the lines of all parts to some.set.")
        one = self.own(KEYS, 2)[0]
        self.good("contains", "some.set", one)
        self.good("contains", "some.set", "--any", "whole", one)
        for words in (["some.set"], ["some.set", "--any", "whole"], ["whole", "--any", "some.set"]):
            self.assert_warning(self.run_bf("contains", *words, "-q", self.own(KEYS, 0)[0]).stderr,
                                says="some.set: lists 1 of 4 parts. 1 key belongs to no listed part, and its maybe says nothing.")
        self.assertGreater(some.count(b"absent"), 1000)
        self.assertLess(some.count(b"absent"), whole.count(b"absent") // 2)
        self.write("gone.set", b"bfstore-set 1\npart2\npart4\n")
        for words in (["--set", "gone.set"], ["gone.set"]):
            self.refused("contains", *words, "key 1", says="gone.set, line 3: part4: no such file. Put this part back, or correct its path in gone.set. "
                                                           "Without its line, each of its keys is maybe.")
        self.refused("contains", "--set", "part2", "key 1", says="part2: is a filter, and not a list of the parts of one. Leave --set out.")
        self.refused("contains", "--set", "keys", "key 1", says="keys: does not list the parts of a set")
        self.assertEqual(self.good("contains", "parts.set", input=asked), whole)
        self.refused("add", "parts.set", "key 1", says="parts.set: is a set of 4 parts, which only lookups take as one file. Give its parts one by one, such as part2, or join")

    def test_a_list_of_parts_is_named_where_one_file_is_needed(self):
        os.mkdir(self.path("sets"))
        for number in range(2):
            self.good("build", f"sets/part{number}", "--from", "keys", "-q", "--part", f"{number}/2", *SIZE)
        self.write("sets/all", b"bfstore-set 1\n# both\npart0\npart1\n")
        before = self.files()
        says = ["sets/all: is a set of 2 parts, which only lookups take as one file. Give its parts one by one, such as sets/part0, "
                "or join them to one file (bf join)."]
        for words in (["copy", "sets/all", "x"], ["fold", "sets/all", "x"], ["seal", "sets/all", "x"], ["compare", "sets/all", "sets/part0"],
                      ["compare", "sets/part0", "sets/all"], ["merge", "x", "sets/all"], ["merge", "x", "sets/part0", "sets/all"],
                      ["merge", "--into", "sets/part0", "sets/all"], ["intersect", "x", "sets/all", "sets/part0"], ["join", "x", "sets/all"],
                      ["delta", "sets/part0", "sets/all", "x"], ["verify", "sets/all"], ["plan", "--like", "sets/all"],
                      ["create", "x", "--like", "sets/all"], ["add", "sets/all", "a"], ["add", "sets/all", "--from", "keys"], ["recover", "sets/all", "a"],
                      ["recover", "sets/all", "--no-keys"], ["clear", "sets/all", "--force"], ["turn", "sets/all"], ["finish-filling", "sets/all"]):
            with self.subTest(words=words):
                self.refused(*words, says=says)
        self.assertEqual(self.files(), before)

    def test_the_paths_of_a_set_are_those_that_the_user_wrote(self):
        os.mkdir(self.path("sets"))
        self.good("build", "sets/part0", "--from", "keys", "-q", "--part", "0/2", *SIZE)
        for text, says in ((b"part0\ngone\n", "sets/all, line 3: sets/gone: no such file. Put this part back, or correct its path in sets/all."),
                           (b"part0\n./part0\n", "sets/all, line 3: sets/./part0 and sets/part0: are both part 0 of 2."),
                           (b"all\n", "sets/all, line 2: sets/all: is a set of 1 part, which only lookups take as one file."),
                           (b"part0\n/none\n", "sets/all, line 3: /none: no such file.")):
            self.write("sets/all", b"bfstore-set 1\n" + text)
            for words in (["contains", "sets/all", "a"], ["contains", "--set", "sets/all", "a"], ["copy", "sets/all", "x"]):
                with self.subTest(text=text, words=words):
                    self.assertNotIn(b"--format", self.refused(*words, says=says))

    def test_digests_of_many_lists_are_sorted_and_built_by_many_processes(self):
        self.good("create", "like", "-q", "--part", "0/4", *SIZE)
        subprocess.run(["split", "-n", "l/8", "keys", "list."], cwd=self.dir, check=True)
        run = lambda command: subprocess.run(["sh", "-c", command], cwd=self.dir, env=dict(os.environ, BF=BF), check=True)
        run("ls list.* | xargs -P 3 -I{} $BF digest like --from {} --parts 4 --to digests.")
        run("seq 0 3 | xargs -P 3 -I{} $BF build part{} --like like --part {}/4 --from digests.{} --digests -q")
        self.good("join", "all", "part0", "part1", "part2", "part3", "-q")
        self.check_whole("all")
        with open(self.path("digests.0"), "ab") as file:
            file.write(b"half")
        self.refused("build", "torn", "--like", "like", "--from", "digests.0", "--digests", says="ends within a digest")
        whole = self.good("digest", "like", "--from", "keys")
        self.assertEqual(len(whole), 8 * 20_000)
        self.good("build", "streamed", "--like", "whole", "--from", "-", "--digests", "-q", input=whole)
        self.check_whole("streamed")

    def test_a_part_like_a_file_that_has_no_parts_is_refused_with_the_name_of_that_file(self):
        for layout, says in (("growing", "model: the layout growing grows as a whole, and has no parts. Use blocked."),
                             ("classic", "model: the layout classic has the bits of a key anywhere, so that no part has all of them. Use blocked.")):
            self.good("create", "model", "--layout", layout, "-n", "1000", "-q", "--force")
            self.refused("create", "x", "--like", "model", "--part", "0/2", says="bf: " + says)

    def test_digests_are_not_written_to_a_terminal(self):
        self.good("create", "like", "-q", *SIZE)
        master, terminal = pty.openpty()
        self.addCleanup(os.close, master)
        process = self.spawn("digest", "like", "alice", stdout=terminal)
        os.close(terminal)
        complaint = process.communicate(timeout=PATIENCE)[1]
        self.assertEqual(process.returncode, 2)
        self.assert_complaint(complaint, says="digest: standard output is a terminal, and digests are bytes")
        self.assertEqual(len(self.good("digest", "like", "alice")), 8)

    def test_a_list_without_keys_has_no_digests(self):
        # The exit code was 0, and a program before it in the pipe may have failed.
        self.good("create", "like", "-q", *SIZE)
        self.write("empty.gz", gzip.compress(b""))
        self.write("empty", b"")
        for more, name in (([], "standard input"), (["--from", "/dev/null"], "/dev/null"), (["--from", "empty.gz"], "empty.gz"), (["--from", "empty"], "empty")):
            for to in ([], ["--parts", "2", "--to", "d."]):
                self.refused("digest", "like", *more, *to, says=f"{name}: holds no keys, so there is nothing to digest.")
        self.assertEqual([name for name in self.files() if "unfinished" not in name], ["empty", "empty.gz", "keys", "like", "whole"])

    def test_a_file_of_another_kind_is_not_taken_for_digests(self):
        # A tar archive, zeros and text in UTF-16 became filters.
        self.good("create", "like", "-q", *SIZE)
        digests = self.good("digest", "like", input=b"a\nb\n")
        for data, says in ((b"SQLite format 3\0" + bytes(range(240)), "is an SQLite database, and"), (bytes(8000), "begins with zeros, and"),
                           (bytes(8), "begins with zeros, and"), ("some words\n".encode("utf-16-le") * 40, "is half zeros, as text in UTF-16 is, and"),
                           ("alice\n".encode("utf-16-be") * 40, "is half zeros, as text in UTF-16 is, and"),
                           (bytes(range(1, 256)) + b"\xff\xff" + b"ustar\0" + b"00" + bytes(255), "is a tar archive, and"),
                           (gzip.compress(digests), "is compressed with gzip, and"), (b"PK\x03\x04" + bytes(range(60)), "is a zip archive, and")):
            self.write("other", data)
            said = self.refused("build", "x", "--digests", "--like", "like", "--from", "other", says=f"other: {says} not digests as bf digest writes them.")
            self.assertEqual(b" If they are in it: gzip -dc < other > DIGESTS." in said, data[:2] == b"\x1f\x8b")
        # Digests are random bytes, and may begin like these.
        for begin in (b"\x1f\x8b", b"\x1f\x9d", b"\xff\xfe", b"\xfe\xff", b"\x1f\x8b\x08\xff", bytes(3), b"\xef\xbb\xbf", b""):
            self.write("digests", begin + digests[len(begin):])
            self.good("build", "x", "--digests", "--like", "like", "--from", "digests", "--force", "-q")

    def test_digests_are_added_to_nothing_but_digests(self):
        self.good("create", "like", "-q", "--part", "0/2", *SIZE)
        shutil.copy(self.path("keys"), self.path("keys.0"))
        shutil.copy(self.path("like"), self.path("filter.1"))
        self.write("other.1", b"seven b")
        for command in (["--from", "keys.0", "--to", "keys."], ["--from", "keys", "--to", "filter."], ["--from", "keys", "--to", "other."]):
            before = {name: os.stat(self.path(name)).st_size for name in self.files()}
            self.refused("digest", "like", *command, "--parts", "2", says="to which no digests are added")
            self.assertEqual({name: os.stat(self.path(name)).st_size for name in self.files()}, before)
        self.refused("digest", "like", "--from", "keys", "--to", "d.", "--parts", "4", says="is one of 2 parts. Give --parts 2")
        self.refused("digest", "like", "--from", "keys", "--to", "none/d.", "--parts", "2", says="none/d.0: its folder does not exist. Create it first, or correct the path.")
        self.refused("digest", "like", "--from", "keys", "--to", "keys/d.", "--parts", "2", says="keys/d.0: what should be its folder is a file. Correct the path.")
        self.write("bad", b"".join(b"%d\n" % number for number in range(50_000)) + b"a\0b\n")
        self.refused("digest", "like", "--from", "bad", "--to", "d.", "--parts", "2", says=["is a NUL", "Nothing was added to the parts. Remove d.*.unfinished-"])

    def build_part(self, number):
        return ("build", f"part{number}", "-q", "--like", "like", "--part", f"{number}/2", "--from", f"digests.{number}", "--digests")

    def test_after_a_kill_at_any_time_no_part_is_built_that_lacks_keys(self):
        # A killed bf digest once left files with some of the digests, and the next lines of the guide made a filter of them: 172,044
        # keys of 2,000,000 were absent.
        self.write("one", b"".join(b"key %d\n" % number for number in range(200)))
        self.write("two", b"".join(b"other %d\n" % number for number in range(200)))
        self.good("create", "like", "-q", "--part", "0/2", *SIZE)
        digest = ("digest", "like", "--parts", "2", "--to", "digests.")
        for before in ((), ("one",)):
            unfinished = refused = built = 0
            for _, code in self.killed_at_each_step(*digest, "--from", "two", signals=[signal.SIGKILL, signal.SIGTERM]):
                unfinished += any(".unfinished-" in name for name in self.files())
                parts = [self.run_bf(*self.build_part(number)) for number in range(2)]
                if all(part.returncode == 0 for part in parts):
                    self.good("join", "all", "part0", "part1", "-q", "--force", "--accept-loss")
                    there = self.run_bf("contains", "all", "--from", "two", "--count").stdout
                    none = [b"maybe\t0\nabsent\t200\n"] if code != 0 and before else []  # it was killed before it began
                    self.assertIn(there, [b"maybe\t200\nabsent\t0\n", *none])
                    built += 1
                else:
                    refused += 1
                    for part in parts:
                        self.assertIn(part.returncode, (0, 2))
                        self.assertTrue(part.returncode == 0 or b".unfinished-" in part.stderr or b"no such file" in part.stderr, part)
                for name in self.files():
                    if name.startswith(("digests.", "part")):
                        os.remove(self.path(name))
                for name in before:
                    self.good(*digest, "--from", name)
            self.assertGreater(min(unfinished, refused), 2)
            self.assertGreater(built, 0)

    def test_a_run_that_failed_or_is_not_over_stops_a_build_of_its_parts(self):
        self.good("create", "like", "-q", "--part", "0/2", *SIZE)
        digest = ("digest", "like", "--parts", "2", "--to", "digests.")
        self.good(*digest, "--from", "keys")
        whole = [os.path.getsize(self.path(f"digests.{number}")) for number in range(2)]
        running = self.spawn(*digest)
        self.wait_until_it(running, lambda: sum(".unfinished-" in name for name in self.files()) == 2)
        self.refused(*self.build_part(1), says=["digests.1: may lack digests", "a bf digest is running"])
        self.assertEqual(running.communicate(b"later\n", timeout=PATIENCE)[1], b"")
        self.assertEqual(sum(os.path.getsize(self.path(f"digests.{number}")) for number in range(2)), sum(whole) + 8)
        self.write("bad", b"".join(b"%d\n" % number for number in range(50_000)) + b"a\0b\n")
        said = self.refused(*digest, "--from", "bad", says="Nothing was added to the parts.")
        self.refused(*self.build_part(0), says="digests.0: may lack digests")
        names = re.search(r"Remove (digests\.\*\.unfinished-\w+) before", said.decode())[1]
        subprocess.run(["sh", "-c", f"rm {names}"], cwd=self.dir, check=True)
        for number in range(2):
            self.good(*self.build_part(number))
        self.good("join", "all", "part0", "part1", "-q")
        self.good("contains", "all", "later")
        self.assertEqual(self.good("contains", "all", "--from", "keys", "--count"), b"maybe\t20000\nabsent\t0\n")

    def test_a_folder_that_cannot_be_listed_is_a_doubt(self):
        self.good("create", "like", "-q", "--part", "0/2", *SIZE)
        self.good("digest", "like", "--parts", "2", "--to", "digests.", "--from", "keys")
        os.mkdir(self.path("closed"))
        for name in ("like", "digests.0"):
            os.rename(self.path(name), self.path(f"closed/{name}"))
            os.chmod(self.path(f"closed/{name}"), 0o644)
        self.without_privileges()
        os.chmod(self.path("closed"), 0o311)
        self.addCleanup(os.chmod, self.path("closed"), 0o755)
        build = ["build", "part", "--like", "closed/like", "--part", "0/2", "--digests", "--from"]
        self.refused(*build, "closed/digests.0", says=["closed/digests.0: ", "cannot be seen", "standard input (--from -)"])
        self.refused(*build, "closed/digests.1", says="closed/digests.1: ")
        self.refused(*build, "nowhere/digests.1", says="nowhere/digests.1: no such file")

    def test_digests_for_pipes_are_written_to_them(self):
        self.good("create", "like", "-q", "--part", "0/2", *SIZE)
        for number in range(2):
            os.mkfifo(self.path(f"digests.{number}"))
        builds = [self.spawn(*self.build_part(number)) for number in range(2)]
        self.good("digest", "like", "--parts", "2", "--to", "digests.", "--from", "keys")
        for build in builds:
            self.assertEqual((build.communicate(timeout=PATIENCE)[1], build.returncode), (b"", 0))
        self.good("join", "all", "part0", "part1", "-q")
        self.check_whole("all")

    def test_a_part_that_no_key_belongs_to_has_an_empty_file_and_bf_says_how_its_filter_is_made(self):
        self.good("create", "like", "-q", "--part", "0/4", *SIZE)
        self.good("digest", "like", "key 0", "--parts", "4", "--to", "digests.")
        sizes = [os.path.getsize(self.path(f"digests.{part}")) for part in range(4)]
        self.assertEqual(sorted(sizes), [0, 0, 0, 8])
        for part, size in enumerate(sizes):
            build = ("build", f"part{part}", "--like", "like", "--part", f"{part}/4", "--from", f"digests.{part}", "--digests")
            if size:
                self.assertNotIn(b"other parts", self.good(*build))
                continue
            said = self.refused(*build, says=f"digests.{part}: holds no keys")
            command = re.search(rb"If no key belongs to this part, make it with bf (create .*)\.\n", said)
            self.good(*command[1].decode().split(), "-q")
        self.good("join", "all", "part0", "part1", "part2", "part3", "-q")
        self.assertEqual(self.good("contains", "all", "key 0", "key 1"), b"maybe\tkey 0\nabsent\tkey 1\n")

    def spread(self, jobs, options, command):
        """Returns GNU parallel's exit code, which is the number of jobs that failed."""
        environment = dict(os.environ, BF=BF, HOME=self.dir, SHELL="/bin/sh")
        return subprocess.run(["parallel", "-j", "2", *options, command], cwd=self.dir, env=environment, input="\n".join(jobs),
                              text=True, capture_output=True, check=False).returncode

    @unittest.skipUnless(is_gnu_parallel(), "GNU parallel is not installed. Debian's package: parallel")
    def test_workers_that_are_killed_and_started_again_by_gnu_parallel_make_the_same_filter(self):
        self.write("keys", b"".join(b"key %d\n" % number for number in range(600_000)))
        size = ["--bits", str(512 * 4 * 3000), "--probes", "6", "--capacity", "600k", "--seed", "11"]
        self.good("build", "at once", "--from", "keys", "-q", *size)
        self.good("create", "like", "-q", "--part", "0/4", *size)
        subprocess.run(["split", "-n", "l/2", "keys", "list."], cwd=self.dir, check=True)
        self.write("worker", KILLED_ONCE.encode())
        self.assertEqual(self.spread(["list.aa", "list.ab"], ["--retries", "2"], "rm -f {}.digests.* && "
                                     "sh ./worker {} $BF digest like --from - --parts 4 --to {}.digests."), 0)
        sizes = re.findall(r"(?m)^(\d+) list", self.path_text("after kills"))
        self.assertTrue(any(0 < int(size) < 8 * 70_000 for size in sizes), sizes)  # of 75,000 digests
        build = ("cat list.*.digests.{} >digests.{} && "
                 "sh ./worker digests.{} $BF build part{} --like like --part {}/4 --from - --digests --force -q")
        log = ["--joblog", "log"]
        self.assertEqual(self.spread("0123", log, build), 4)
        self.assertEqual([name for name in self.files() if name.startswith("part")], [])
        self.assertEqual(self.spread("0123", [*log, "--resume-failed"], build), 0)
        self.good("join", "all", "part0", "part1", "part2", "part3", "-q")
        self.assertEqual(self.bits("all")[:64 * 4 * 3000], self.bits("at once")[:64 * 4 * 3000])

    def test_a_build_in_parts_makes_the_same_filter(self):
        self.good("build", "sorted", "--from", "keys", "-q", "--parts", "16", *SIZE)
        self.check_whole("sorted")
        self.good("build", "piped", "--from", "-", "-q", "--parts", "3", *SIZE, input=KEYS)
        self.check_whole("piped")
        self.good("build", "like whole", "--from", "keys", "-q", "--parts", "7", "--like", "whole")
        self.check_whole("like whole")
        self.good("build", "counted", "--from", "-", "-q", "--parts", "7", input=KEYS)
        self.assertEqual(header(self.path("counted"))["n"], 20_000)

    def test_digests_of_another_part_seed_or_number_of_parts_make_no_filter(self):
        self.good("create", "like", "-q", "--part", "0/4", *SIZE)
        self.good("digest", "like", "--from", "keys", "--parts", "4", "--to", "four.")
        self.good("digest", "whole", "--from", "keys", "--parts", "8", "--to", "eight.")
        build = lambda name, part, digests: ("build", name, "--like", "like", "--part", part, "--digests", "--from", digests)
        self.refused(*build("no", "0/4", "four.1"), says="four.1: its digest number 1 belongs to part 1/4, and no is part 0/4.")
        self.refused(*build("no", "1/4", "eight.1"), says="eight.1: its digest number 1 belongs to part 0/4, and no is part 1/4.")
        self.refused("build", "no", "--part", "0/4", "--digests", "--from", "four.0", *SIZE, says="by which hash and seed")
        self.refused("build", "no", "--parts", "4", "--digests", "--from", "four.0", *SIZE, says="by which hash and seed")
        pathlib.Path(self.path("empty")).touch()
        self.refused(*build("no", "0/4", "empty"), says="holds no keys")
        self.refused("build", "no", "--part", "0/4", "--like", "like", "--from", "empty", says="holds no keys")
        self.good("create", "positions", "--layout", "classic", "--hash", "murmur3", "--capacity", "10", "-q")
        self.refused("build", "no", "--parts", "4", "--from", "keys", "--like", "positions", says="makes no digests")
        self.assertFalse(os.path.exists(self.path("no")))

    def test_parts_count_and_recover_their_own_keys_alone(self):
        self.good("build", "part", "-q", "--part", "0/2", "--from", "keys", "--layout", "counting", *SIZE)
        run = subprocess.run([BF, "count", "part", "--from", "keys"], cwd=self.dir, capture_output=True, text=True, check=False)
        self.assertEqual(run.returncode, 2)
        self.assertIn("another part", run.stderr)
        self.assertNotIn("18446744", run.stdout)
        self.good("build", "blocked", "-q", "--part", "0/2", "--from", "keys", *SIZE)
        self.good("recover", "blocked", "-q", "--from", "keys", "--owner", "1")

    def test_what_makes_no_sense_is_refused(self):
        build = ["build", "no", "--from", "keys"]
        self.refused(*build, "--part", "4/4", "--capacity", "10", says="does not exist")
        self.refused(*build, "--part", "4", "--capacity", "10", says="is not a part")
        self.refused(*build, "--part", "0/4", says="do not tell the size")
        self.refused(*build, "--digests", says="Give --like, the filter that bf digest was given.")
        self.refused(*build, "--digests", "--capacity", "100", "--hash", "external", says="--hash: --digests are of the hash of their filter. Give --like")
        self.refused(*build, "--part", "0/4", "--parts", "4", "--capacity", "10", says="one of the two")
        self.refused(*build, "--part", "0/4", "--capacity", "10", "--layout", "classic", says="has the bits of a key anywhere")
        self.refused(*build, "--part", "0/7", "--like", "whole", says="would not be equal")
        self.refused("digest", "whole", "--from", "keys", "--parts", "4", says="--to")
        self.assertFalse(os.path.exists(self.path("no")))


if __name__ == "__main__":
    main()
