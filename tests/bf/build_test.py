"""bf build counts the keys, sizes the filter, loads it, and publishes it when it is complete; and bf add."""
import itertools
import json
import os
import re
import signal
import subprocess
import threading

from bf_case import CLEAN, DIRTY, MORE_THAN_MEMORY, PATIENCE, STEPS_APART, SURE, BfCase, header, main, unread_bytes, without_warnings

KEYS = [b"key-%d" % i for i in range(30000)]
LINES = b"\n".join(KEYS) + b"\n"


class Large(BfCase):
    """Files that are large enough (32 MiB and more) to be read by several threads, each a part of its own."""

    def check(self, text, keys):
        self.write("keys", text)
        words = f"{keys:,} keys".encode()
        self.assertIn(b"f: built from " + words, self.taken("build", "f", "--from", "keys", "--seed", "1"))
        self.assertEqual(header(self.path("f"))["n"], keys)
        maybe = b"maybe\t%d\nabsent\t0\n" % keys
        self.assertEqual(self.good("contains", "f", "--count", "--from", "keys"), maybe)
        self.good("create", "g", "--capacity", str(keys), "-q")
        self.assertIn(b"g: " + words + b" added", self.taken("add", "g", "--from", "keys"))
        self.assertEqual(self.good("contains", "g", "--count", "--from", "keys"), maybe)
        with open(self.path("keys"), "rb") as file:
            self.good("build", "h", "--from", "-", "-q", "--seed", "1", stdin=file, input=None)
            self.assertEqual(file.read(), b"", "standard input is where its end is")
        self.assertEqual(self.body("f"), self.body("h"))

    def taken(self, *args):
        """As good(), of a list whose last key may lack its end, which is warned of."""
        done = self.run_bf(*args)
        self.assertEqual((done.returncode, without_warnings(done.stderr)), (0, b""), done)
        return done.stdout

    def body(self, name):
        with open(self.path(name), "rb") as file:
            return file.read()[16384:-8]  # without the end word

    def test_no_key_is_divided_or_lost(self):
        lines = b"".join(b"%0*d\n" % (16 + i % 33, i) for i in range(1100000))
        self.check(lines, 1100000)
        self.check_again(lines[:-1], 1100000)

    def check_again(self, text, keys):
        for name in ("f", "g", "h"):
            os.remove(self.path(name))
        self.check(text, keys)

    def test_standard_input_is_read_by_several_threads_from_where_it_stands(self):
        self.write("keys", b"early\n" + b"%63d\n" % 1 * (33 << 14))
        self.good("create", "f", "-q", "--capacity", "600k", "--fpr", "1e-7", "--seed", "7")
        with open(self.path("keys"), "rb") as keys:
            keys.seek(6)
            self.assertIn(b"f: 540,672 keys added (1 of them certainly new)", self.good("add", "f", "--from", "-", stdin=keys, input=None))
        self.assertEqual(self.good("contains", "f", "early", b"%63d" % 1), b"absent\tearly\nmaybe\t%63d\n" % 1)

    def test_a_key_may_be_longer_than_a_part(self):
        long = b"x" * (40 << 20)
        self.check(b"a\n" + long + b"\n\nb\n", 4)
        self.check_again(long + b"\nb", 2)
        empty = (33 << 20) // int(os.environ.get("KEY_SCALE", "1"))
        self.check_again(b"\n" * empty, empty)


class AddAlone(BfCase):
    """bf add is the only writer while it reads a file, if it can be."""

    def setUp(self):
        super().setUp()
        self.write("keys", LINES)
        self.write("more", b"".join(b"more-%d\n" % i for i in range(30000)))
        self.create()

    def create(self):
        self.good("create", "f", "--capacity", "100000", "-q", "--force")

    def check_all(self, names):
        for name in names:
            self.assertEqual(self.good("contains", "f", "--count", "--from", name), b"maybe\t30000\nabsent\t0\n")

    def test_two_at_once_lose_nothing(self):
        for _ in range(5):
            running = [self.spawn("add", "f", "--from", name) for name in ("keys", "more")]
            for process in running:
                process.communicate()
                self.assertEqual(process.returncode, 0)
            self.check_all(["keys", "more"])
            self.assertEqual(header(self.path("f"))["state"], CLEAN)

    def test_it_waits_until_another_lone_writer_has_closed_the_file(self):
        first = self.stopped_where(lambda: header(self.path("f"))["keys_added"] > 0, "add", "f", "--from", "keys", prepare=self.create)
        self.assertEqual(header(self.path("f"))["state"], DIRTY)
        second = self.spawn("add", "f", "late")
        self.assertRegex(second.stderr.readline(), rb"^bf: waiting for (process %d \(\S+\)|another process) to close f, up to 60 s\n$" % first.pid)
        self.wait_until_it_slept(second, 4)
        os.kill(first.pid, signal.SIGCONT)
        for process in (first, second):
            self.assertEqual((process.communicate(timeout=PATIENCE)[1], process.returncode), (b"", 0))
        self.good("contains", "f", "late")
        self.check_all(["keys"])

    def test_beside_another_writer_it_adds_as_others_do(self):
        writer = self.spawn("add", "f", "--from", "-", stdin=subprocess.PIPE)
        writer.stdin.write(b"slow\n")
        writer.stdin.flush()
        self.wait_until(lambda: self.run_bf("contains", "f", "slow").returncode == 0)
        self.good("add", "f", "--from", "keys")
        writer.communicate(b"end\n")
        self.assertEqual(writer.returncode, 0)
        self.check_all(["keys"])
        self.good("contains", "f", "slow", "end")


class Build(BfCase):
    def test_the_list_is_counted_and_the_filter_has_its_size(self):
        self.write("keys", LINES)
        line = self.good("build", "f", "--from", "keys", "--fpr", "0.001")
        self.assertRegex(line, rb"^f: built from 30,000 keys \([0-9,]+ of them certainly new\), room for 30,000 keys at a "
                               rb"false-positive rate of 0\.001; blocked, \d+ probes, [0-9.]+ KiB\. --capacity leaves room for more keys\n$")
        made = header(self.path("f"))
        self.assertEqual((made["n"], made["p"], made["state"]), (30000, 0.001, CLEAN))
        self.assertNotIn(b"--capacity", self.good("build", "sized", "--from", "keys", "--capacity", "30k"))
        self.assertEqual(self.good("build", "quiet", "--from", "keys", "-q"), b"")
        self.assertEqual(self.good("contains", "f", "--count", "--from", "keys"), b"maybe\t30000\nabsent\t0\n")
        self.assertIn(b"maybe\t", self.good("contains", "f", "--count", "key-1"))

    def test_absent_keys_are_absent_but_for_the_promised_rate(self):
        self.write("keys", LINES)
        self.good("build", "f", "--from", "keys", "--fpr", "0.01", "-q", "--seed", "1")
        strangers = b"".join(b"stranger-%d\n" % i for i in range(100000))
        maybe = int(self.good("contains", "f", "--count", input=strangers).split()[1])
        self.assertLess(maybe, 1000 * 1.02 + 3 * 32)
        self.assertGreater(maybe, 0)

    def test_other_ways_to_say_the_size(self):
        self.write("keys", LINES)
        self.good("build", "a", "--from", "keys", "--bits-per-key", "12", "--layout", "classic", "-q")
        self.assertEqual((header(self.path("a"))["n"], header(self.path("a"))["m"]), (30000, 360000))
        self.good("build", "b", "--from", "keys", "--max-bytes", "128KiB", "-q")
        self.assertEqual((header(self.path("b"))["n"], os.path.getsize(self.path("b"))), (30000, 131072 - 4096 + 8))
        self.good("build", "c", "--from", "keys", "--capacity", "50k", "--fpr", "0.02", "-q")
        self.assertEqual((header(self.path("c"))["n"], header(self.path("c"))["p"]), (50000, 0.02))
        self.good("build", "d", "--from", "keys", "--bits", "1Mi", "--probes", "4", "-q")
        self.assertEqual((header(self.path("d"))["m"], header(self.path("d"))["k"]), (1 << 20, 4))
        self.good("build", "e", "--like", "c", "--from", "keys", "-q")
        self.assertEqual((header(self.path("e"))["n"], header(self.path("e"))["seed"]),
                         (50000, header(self.path("c"))["seed"]))
        self.good("build", "g", "--from", "keys", "--note", "n", "--mode", "0640", "--seed", "3", "-q")
        self.assertEqual((header(self.path("g"))["p"], header(self.path("g"))["seed"]), (0.01, 3))
        self.assertEqual(os.stat(self.path("g")).st_mode & 0o777, 0o640 & ~self.umask())
        for name in "abcdeg":
            self.assertEqual(self.good("contains", name, "--count", "--from", "keys"), b"maybe\t30000\nabsent\t0\n")

    @staticmethod
    def umask():
        mask = os.umask(0o077)
        os.umask(mask)
        return mask

    def body(self, name):
        with open(self.path(name), "rb") as file:
            return file.read()[16384:-8]  # without the end word

    def test_equal_sets_with_equal_seed_and_file_id_are_equal_static_files(self):
        file_id = "000102030405060708090a0b0c0d0eFF"
        lines = [b"%d\n" % i for i in range(3000)]
        self.write("keys", b"".join(lines))
        self.write("again", b"".join(lines[1000:] + lines[:2000]))  # another order, and some keys twice

        def made(name, keys, file_id):
            self.good("build", name, "--from", keys, "--layout", "static", "--seed", "7", "--file-id", file_id, "-q")
            with open(self.path(name), "rb") as file:
                return file.read()

        first = made("a", "keys", file_id)
        self.assertEqual(made("b", "again", file_id), first)
        self.assertNotEqual(made("c", "keys", file_id[::-1]), first)
        self.assertIn(bytes.fromhex(file_id), first[:4096])
        for wrong in ("", "00", "0" * 32, file_id + "0", file_id[1:] + "g"):
            self.refused("build", "d", "--from", "keys", "--file-id", wrong, says=["--file-id", "32 hexadecimal digits"])
        self.assertNotIn("d", self.files())

    def test_a_static_filter_of_too_few_bits_is_refused_before_it_is_built(self):
        self.write("keys", b"1\n2\n3\n")
        for size in (("--bits-per-key", "24"), ("--bits", "1Ki", "--probes", "7")):
            self.refused("build", "f", "--layout", "static", "-n", "3", "--from", "keys", *size, says=["no room for 3 keys", "more bits"])
        self.assertEqual(self.files(), ["keys"])

    def test_a_model_that_is_replaced_while_the_keys_are_read_is_an_error(self):
        """The keys that came before once had their digests by the old filter's seed: all of them were answered "absent"."""
        self.good("create", "model", "-q", "--capacity", "99", "--seed", "1")
        for seed in ("1", "2"):
            building = self.spawn("build", "f", "-q", "--like", "model", "--parts", "2", "--from", "-")
            building.stdin.write(b"a\n")
            building.stdin.flush()
            self.wait_until_it_reads(building)
            self.good("create", "model", "-q", "--force", "--capacity", "99", "--seed", seed)
            complaint = building.communicate(b"b\n", timeout=PATIENCE)[1]
            if seed == "1":
                self.assertEqual((building.returncode, complaint), (0, b""))
                self.assertEqual(self.good("contains", "f", "--maybe", "a", "b"), b"a\nb\n")
                os.unlink(self.path("f"))
        self.assertEqual(building.returncode, 2)
        self.assert_complaint(complaint, says=["model: was replaced", "Run bf again"])
        self.assertEqual(self.files(), ["model"])

    def test_a_pipe_is_read_once_and_built_like_a_file(self):
        self.write("keys", LINES)
        self.good("build", "a", "--from", "keys", "--seed", "1", "-q")
        self.good("build", "b", "--from", "-", "--seed", "1", "-q", input=LINES)
        os.mkfifo(self.path("fifo"))
        feeder = threading.Thread(target=self.write, args=("fifo", LINES))
        feeder.start()
        self.good("build", "c", "--from", "fifo", "--seed", "1", "-q")
        feeder.join()
        with open(self.path("keys"), "rb") as keys:
            self.good("build", "d", "--from", "-", "--seed", "1", "-q", input=None, stdin=keys)
        self.assertEqual(len({self.body(name) for name in "abcd"}), 1)

    def test_a_pipe_of_more_keys_than_memory_has_room_for_is_built_like_a_file(self):
        lines = b"".join(b"%d\n" % i for i in range(2 * len(MORE_THAN_MEMORY) // 4 + 5))
        self.write("keys", lines)
        self.good("build", "a", "--from", "keys", "--seed", "1", "-q")
        self.good("build", "b", "--from", "-", "--seed", "1", "-q", input=lines)
        self.assertEqual((header(self.path("a"))["n"], self.body("a")), (header(self.path("b"))["n"], self.body("b")))

    def test_the_digests_of_a_pipe_are_those_of_the_filter_whatever_its_hash(self):
        with open(os.open(self.path("secret"), os.O_CREAT | os.O_WRONLY, 0o600), "wb") as file:
            file.write(b"0123456789abcdef")
        self.write("keys", LINES)
        for how in [[], ["--seed", "0"], ["--hash", "siphash", "--secret-file", "secret"], ["--layout", "classic"]]:
            secret = how[2:] if "siphash" in how else []
            self.good("build", "f", "--from", "-", "-q", *how, input=LINES)
            self.assertEqual(self.good("contains", "f", "--count", "--from", "keys", *secret),
                             b"maybe\t30000\nabsent\t0\n")
            os.unlink(self.path("f"))

    def test_standard_input_is_read_from_where_it_stands(self):
        self.write("keys", b"first\nsecond\nthird\n")
        with open(self.path("keys"), "rb") as keys:
            keys.seek(6)
            self.good("build", "f", "--from", "-", "--fpr", "1e-7", "--seed", "1", "-q", input=None, stdin=keys)
        self.assertEqual(header(self.path("f"))["n"], 2)
        self.assertEqual(self.good("contains", "f", "first", "second", "third"),
                         b"absent\tfirst\nmaybe\tsecond\nmaybe\tthird\n")

    def test_nul_separated_keys_are_counted_as_such(self):
        for name in ["a", "b"]:
            self.good("build", name, "-0", "--from", "-", "--seed", "1", "--fpr", "1e-7", "-q", input=b"a\nb\0\0c")
            self.assertEqual(header(self.path(name))["n"], 3)
        self.good("contains", "a", "-0", "--count", input=b"a\0b", code=1)
        self.assertEqual(self.good("contains", "a", "-0", input=b"a\nb\0\0c\0a\0"),
                         b"maybe\ta\nb\0maybe\t\0maybe\tc\0absent\ta\0")

    def test_lines_that_come_twice_count_twice(self):
        self.good("build", "f", "--from", "-", input=b"same\n" * 500, code=0)
        made = header(self.path("f"))
        self.assertEqual((made["n"], made["keys_added"]), (500, 1))

    def test_long_and_unterminated_keys_are_built_in(self):
        long = b"L" * ((1 << 20) + 1)
        self.good("build", "f", "--from", "-", "--fpr", "1e-7", "--seed", "1", "-q", input=b"a\n" + long + b"\n\nz")
        self.assertEqual(header(self.path("f"))["n"], 4)
        self.assertEqual(self.good("contains", "f", "--count", input=long + b"\n\na\nz"), b"maybe\t4\nabsent\t0\n")

    def test_cr_lf_is_told_once_whether_keys_or_digests_are_added(self):
        self.write("keys", b"a\r\nb\r\n")
        for where, lines in [("keys", b""), ("-", b"a\r\nb\r\n")]:
            done = self.run_bf("build", "f", "--force", "--from", where, "-q", input=lines)
            self.assertEqual(done.returncode, 0)
            self.assert_warning(done.stderr, says="CR LF")
            os.unlink(self.path("f"))

    def test_a_static_filter_like_another_one_is_as_large_as_its_keys_need(self):
        """It once had the capacity of the other one: a list that had grown was refused."""
        self.good("build", "model", "-q", "--layout", "static", "--fpr", "0.003", "--note", "words", input=b"\n".join(KEYS[:90]))
        model = header(self.path("model"))
        keys = self.write("keys", LINES + b"\n".join(KEYS[:60]) + b"\n")
        for name, source in (("f", keys), ("of a pipe", "-")):
            text = self.good("build", name, "--like", "model", "--from", source, input=LINES + b"\n".join(KEYS[:60]) + b"\n")
            self.assertIn(b": built from 30,060 keys (30,000 different), room for 30,000 keys at a false-positive rate of 0.003; static", text)
            made = header(self.path(name))
            facts = ("layout", "hash", "k", "p", "seed")
            self.assertEqual([made[fact] for fact in facts], [model[fact] for fact in facts])
            self.assertEqual(made["n"], 30000)
            self.assertEqual(self.good("contains", name, "--count", "--from", keys), b"maybe\t30060\nabsent\t0\n")
        self.good("build", "twin", "-q", "--layout", "static", "--fpr", "0.003", "--from", keys)
        self.assertEqual(os.path.getsize(self.path("twin")), os.path.getsize(self.path("f")))
        self.assertEqual(self.run_bf("build", "model", "--like", "model", "--force", "-q", "--from", keys).returncode, 0)  # in its own place
        self.assertEqual(header(self.path("model"))["n"], 30000)
        self.refused("build", "g", "--like", "model", "--capacity", "9", "--from", keys, says="--like")
        self.refused("build", "g", "--like", "model", input=b"", says="holds no keys, and an empty filter calls every key absent. Look at the list.")
        self.assertFalse(os.path.exists(self.path("g")))

    def test_a_list_without_keys_is_an_error_and_leaves_nothing(self):
        self.refused("build", "f", "--from", "-", says=["standard input: ", "no keys", "bf create"])
        self.refused("build", "f", "--from", "-", "--capacity", "9", says="no keys")
        self.refused("build", "f", "--from", "nowhere", says="nowhere: no such file. Give the path of a file with the keys.")
        self.write("keys", b"")
        self.refused("build", "f", "--from", "keys", says="keys: ")
        self.refused("build", "f", "--from", "/dev/null", says="/dev/null: ")
        self.assertEqual(self.files(), ["keys"])

    def test_more_keys_than_room_is_warned_about_once(self):
        done = self.run_bf("build", "f", "--from", "-", "--capacity", "100", input=LINES)
        self.assertEqual((done.returncode, done.stdout[:27]), (0, b"f: built from 30,000 keys ("))
        self.assert_warning(done.stderr, says=["f: holds more than the ", " with which it keeps its promised"])

    def test_keys_that_a_whole_line_has_room_for_are_no_warning(self):
        # Three keys get a line of 512 bits, which keeps the rate of 1 % with many more.
        self.good("build", "f", "--from", "-", "-q", input=b"a\nb\nc\n")
        self.good("add", "f", "-q", *map(str, range(40)))
        done = self.run_bf("add", "f", "-q", *map(str, range(40, 80)))
        self.assertEqual(done.returncode, 0)
        self.assert_warning(done.stderr, says="f: holds more than the 51 keys with which it keeps its promised")

    def test_a_new_key_that_was_a_false_positive_is_not_counted_as_new_and_help_says_so(self):
        self.good("create", "f", "-q", "--capacity", "100", "--seed", "1")
        keys = "".join(f"{i}\n" for i in range(3000)).encode()
        done = self.run_bf("add", "f", input=keys)
        new = int(re.fullmatch(rb"f: 3,000 keys added \(([0-9,]+) of them certainly new\)\n", done.stdout)[1].replace(b",", b""))
        self.assertLess(new, 3000)
        self.assertEqual(self.good("contains", "f", "--count", input=keys), b"maybe\t3000\nabsent\t0\n")
        said = " ".join(self.good("help", "add").decode().split())
        self.assertIn("A key is certainly new if the filter called it absent just before.", said)
        self.assertIn("the more new keys are not counted", said)
        self.assertIn("Which keys are certainly new: bf help add.", " ".join(self.good("help", "build").decode().split()))

    def test_an_add_or_a_build_beyond_the_capacity_says_how_many_more_keep_the_promise(self):
        self.good("build", "built", "--from", "-", "--capacity", "3", "--seed", "1", input=b"a\nb\nc\n")
        done = self.run_bf("build", "built", "--from", "-", "--capacity", "3", "--seed", "1", "--force", input=b"a\nb\nc\nd\n")
        self.assertEqual((done.returncode, done.stdout.startswith(b"built: built from 4 keys")), (0, True))
        replaced, said = done.stderr.splitlines(True)
        self.assert_warning(replaced, says="built: replaced a filter of about 3 keys. ")
        self.assert_warning(said, says="built: has 4 keys, and was made for 3. It is a little larger than that needs, so it keeps its promised")
        self.good("create", "f", "-q", "--capacity", "3", "--seed", "1")
        self.good("add", "f", "a", "b", "c")
        for _ in ("a new key", "a key that is there"):
            done = self.run_bf("add", "f", "d")
            self.assertEqual((done.returncode, done.stdout.startswith(b"f: 1 key added (")), (0, True))
            self.assert_warning(done.stderr, says="f: has 4 keys, and was made for 3. It is a little larger than that needs, so it keeps its promised false-positive rate of 0.01 up to 51 keys. "
                                                    "Make a larger one before that, of all keys (bf build --force; if nobody knows how many will come, see bf help fold).")
        self.good("add", "f", "e", "-q")
        done = self.run_bf("add", "f", *map(str, range(80)))
        self.assert_warning(done.stderr, says="f: holds more than the 51 keys")  # and no second line

    def test_a_list_that_changes_at_any_step_breaks_nothing(self):
        size = len(LINES) * 3
        for change in (self.append, lambda step: os.truncate(self.path("keys"), size * (step % 7) // 7)):
            for step in itertools.count(1, STEPS_APART):
                self.write("keys", LINES * 3)
                building = self.stopped_at(step, "build", "f", "--from", "keys", "--force", "-q")
                if building is None:
                    break
                change(step)
                building.send_signal(signal.SIGCONT)
                said = building.communicate(timeout=PATIENCE)
                self.assertIn(building.returncode, (0, 2), said)
                if building.returncode == 0:
                    self.assertEqual(header(self.path("f"))["state"], CLEAN)
                    if change == self.append:
                        self.assertEqual(self.good("contains", "f", "--count", input=LINES), b"maybe\t30000\nabsent\t0\n")
            self.assertGreater(step, 20)

    def test_a_list_that_lost_keys_while_it_was_read_makes_no_filter(self):
        for options, change in ([], b""), ([], b"other\n" * 9), (["--capacity", "99999"], b""):
            self.write("keys", LINES * 3)
            lost = 0
            for step in itertools.count(1, STEPS_APART):
                building = self.stopped_at(step, "build", "f", "--from", "keys", "--force", "-q", *options)
                if building is None:
                    break
                self.write("keys", change)
                building.send_signal(signal.SIGCONT)
                said = building.communicate(timeout=PATIENCE)
                lost += b"was written anew, or cut, while it was read" in said[1]
                if building.returncode == 0 and header(self.path("f"))["n"] in (90_000, 99_999):
                    self.assertEqual(self.good("contains", "f", "--count", input=LINES), b"maybe\t30000\nabsent\t0\n")
                self.write("keys", LINES * 3)
            self.assertGreater(lost, 0)

    def test_a_list_that_lost_keys_while_it_was_read_gets_no_mark(self):
        # As logrotate's copytruncate does it: the mark covered keys that were never read.
        keys = [b"a key with the number %d" % i for i in range(30_000)]
        whole, cut = (b"\n".join(some) + b"\n" for some in (keys, keys[:9]))
        seen = set()
        for step in itertools.count(1, STEPS_APART):
            self.good("create", "f", "-q", "-n", "30000", "-p", "1e-7", "--force")
            self.write("keys", whole)
            adding = self.stopped_at(step, "add", "f", "--from", "keys", "--mark-after", "0", "-q")
            if adding is None:
                break
            self.write("keys", cut)
            adding.send_signal(signal.SIGCONT)
            said = adding.communicate(timeout=PATIENCE)[1]
            marks = json.loads(self.good("inspect", "--json", "f"))["marks"]
            if adding.returncode == 0:
                mark = int(marks[0]["mark"])
                self.assertEqual(self.good("contains", "f", "--absent", input=b"\n".join(keys[:mark]) + b"\n"), b"")
            else:
                self.assertRegex(said, rb"keys: was written anew, or cut, while it was read\. [0-9,]+ keys of it were added, which need not be its first ones\. "
                                       rb"No mark was stored\. Add the whole list again\.\n")
                self.assertEqual(marks, [])
            seen.add(adding.returncode)
        self.assertEqual(seen, {0, 2})

    def test_other_files_are_no_digests(self):
        self.good("build", "like", "--from", "-", "-q", input=b"a\nb\n")
        self.write("text", b"%07d\n" % 7 * 100)
        self.refused("build", "f", "--like", "like", "--from", "text", "--digests", says="text: is text, and not digests")
        self.refused("build", "f", "--like", "like", "--from", "like", "--digests", says="like: is a filter, and not digests")

    def test_digests_of_another_part_are_named_with_their_list(self):
        # "The key belongs to another part of the whole filter; ask that part": nothing was to be asked.
        self.good("create", "like", "-q", "-n", "1000", "--part", "0/2", "--seed", "1")
        self.write("digests", self.good("digest", "like", input=b"".join(b"%d\n" % i for i in range(20))))
        self.refused("build", "f", "--like", "like", "--part", "0/2", "--from", "digests", "--digests",
                     says=["digests: its digest number 1 belongs to part 1/2, and f is part 0/2. Give the digests of that part alone: "
                           "bf digest --parts 2 --to PREFIX writes them to PREFIX0."])
        self.good("digest", "like", "--parts", "2", "--to", "PREFIX", input=b"".join(b"%d\n" % i for i in range(20)))
        self.good("build", "f", "-q", "--like", "like", "--part", "0/2", "--from", "PREFIX0", "--digests")

    def append(self, step):
        with open(self.path("keys"), "ab") as keys:
            keys.write(b"more-%d\n" % step * 20000)


class BuildRefusals(BfCase):
    def test_a_source_is_one_that_can_be_read(self):
        self.refused("build", "f", "--from", "missing", says=["missing: ", "no such file"])
        os.mkdir(self.path("d"))
        self.refused("build", "f", "--from", "d", says="d: ")
        self.refused("build", "f", "key", "--from", "-", says="key")
        for quality in ["--fpr", "--bits-per-key", "--max-bytes"]:
            self.refused("build", "f", "--from", "-", quality, "0.5k" if "max" in quality else "0.5", "--like", "x",
                         says=["--like", quality])
        self.assertEqual(self.files(), ["d"])

    def test_keys_come_from_standard_input_without_from_and_from_one_list_with_it(self):
        self.assertIn(b"f: built from 2 keys", self.good("build", "f", input=b"one\ntwo\n"))
        self.refused("build", "g", "--from", "a", "--from", "b", says="Several lists: cat them, and --from -")

    def test_an_existing_file_is_refused_before_anything_is_read(self):
        self.write("f", b"precious")
        reading = self.spawn("build", "f", "--from", "-")  # its standard input stays open
        self.assertEqual(reading.wait(timeout=PATIENCE), 2)
        self.assert_complaint(reading.stderr.read(), says=["f: exists already, and is no filter. Choose another name"])
        with open(self.path("f"), "rb") as file:
            self.assertEqual(file.read(), b"precious")

    def test_a_file_that_appears_meanwhile_is_not_replaced(self):
        # The other file appears while the keys are copied, or while they are loaded.
        for options in [[], ["--capacity", "9"], ["--force"], ["--force", "--capacity", "9"]]:
            building = self.spawn("build", "f", "--from", "-", *options)
            building.stdin.write(b"one\n")
            building.stdin.flush()
            # A file that is there already is refused before the first byte is read.
            self.wait_until(lambda: unread_bytes(building.stdin.fileno()) == 0)
            self.write("f", b"precious")
            stdout, stderr = building.communicate(b"two\n", timeout=PATIENCE)
            self.assertEqual((building.returncode, stdout), (2, b""))
            self.assert_complaint(stderr, says=["f: exists already"])
            with open(self.path("f"), "rb") as file:
                self.assertEqual(file.read(), b"precious")
            self.assertEqual(self.files(), ["f"])
            os.unlink(self.path("f"))

    def test_force_replaces_and_a_writer_hears_of_it(self):
        self.good("create", "f", "-q", *SURE)
        self.good("build", "f", "--from", "-", "--force", "-q", input=b"new\n")
        self.assertEqual(header(self.path("f"))["n"], 1)
        self.good("create", "f", "-q", "--force", *SURE)
        writer = self.spawn("add", "f")
        writer.stdin.write(b"one\n")
        writer.stdin.flush()
        self.wait_until_it(writer, lambda: header(self.path("f"))["keys_added"] > 0)
        self.good("build", "f", "--from", "-", "--force", "-q", input=b"new\n")
        self.assert_complaint(writer.communicate(b"two\n", timeout=PATIENCE)[1], "f: ")
        self.assertEqual(writer.returncode, 2)
        self.assertEqual(self.good("contains", "f", "new"), b"maybe\tnew\n")
        self.assertEqual(self.files(), ["f"])

    def test_the_list_itself_is_never_replaced(self):
        self.write("keys", b"a\n")
        os.link(self.path("keys"), self.path("same"))
        self.refused("build", "keys", "--from", "keys", "--force", says="keys: ")
        self.refused("build", "same", "--from", "keys", "--force", says="same: ")
        self.good("create", "f", "-q", *SURE)
        self.refused("add", "f", "--from", "f", says="f: ")

    def test_external_is_refused(self):
        self.refused("build", "f", "--from", "-", "--hash", "external", says="--hash: ")
        self.good("create", "digests", "--capacity", "9", "--hash", "external", "-q")
        self.refused("build", "f", "--from", "-", "--like", "digests", input=b"a\n", says=["f: ", "digests"])
        self.assertEqual(self.files(), ["digests"])

    def test_a_temporary_directory_that_does_not_work_is_named_where_it_is_needed(self):
        env = dict(os.environ, TMPDIR=self.path("nowhere"))
        self.refused("build", "f", "--from", "-", env=env, input=MORE_THAN_MEMORY,
                     says=["nowhere: ", "TMPDIR", "--capacity"])
        self.good("build", "e", "--from", "-", "-q", env=env, input=b"a\n")
        self.good("build", "f", "--from", "-", "--capacity", "9", "-q", env=env, input=b"a\n")
        self.write("keys", b"a\n")
        self.good("build", "g", "--from", "keys", "-q", env=env)


class Add(BfCase):
    def setUp(self):
        super().setUp()
        self.good("create", "f", "-q", *SURE)

    def test_one_line_says_what_was_added(self):
        self.assertEqual(self.good("add", "f", "a", "b"), b"f: 2 keys added (2 of them certainly new)\n")
        self.assertEqual(self.good("add", "f", "b", "c"), b"f: 2 keys added (1 of them certainly new)\n")
        self.assertEqual(self.good("add", "f", input=b"d\n"), b"f: 1 key added (1 certainly new)\n")
        self.assertEqual(self.good("add", "f", "a", "--quiet"), b"")
        self.assertEqual(header(self.path("f"))["keys_added"], 4)
        self.assertEqual(header(self.path("f"))["state"], CLEAN)

    def test_the_file_is_clean_and_complete_afterwards(self):
        keys = [b"%d" % i for i in range(2000)]
        self.write("keys", b"\n".join(keys))
        self.good("add", "f", "--from", "keys", "-q")
        self.assertEqual(header(self.path("f"))["state"], CLEAN)
        self.assertEqual(self.good("contains", "f", "--maybe", "--from", "keys"), b"\n".join(keys) + b"\n")

    def test_several_may_add_at_once(self):
        adders = [self.spawn("add", "f", "-q") for _ in range(4)]
        for index, adder in enumerate(adders):
            adder.stdin.write(b"".join(b"%d-%d\n" % (index, i) for i in range(400)))
            adder.stdin.flush()
        for adder in adders:
            self.assertEqual((adder.communicate(timeout=PATIENCE), adder.returncode), ((b"", b""), 0))
        everything = b"".join(b"%d-%d\n" % (index, i) for index in range(4) for i in range(400))
        self.assertEqual(self.good("contains", "f", "--maybe", input=everything), everything)

    def test_too_many_keys_are_warned_about_once(self):
        self.good("create", "small", "--capacity", "10", "-q")
        self.good("add", "small", *"0123456789")
        done = self.run_bf("add", "small", "-q", input=LINES)
        self.assertEqual((done.returncode, done.stdout), (0, b""))
        self.assert_warning(done.stderr, says=["small: ", "than the 51 keys", "0.01", "bf build"])
        self.assert_warning(self.run_bf("add", "small", "-q", "x").stderr, says="small: ")

    def test_too_many_keys_of_several_are_warned_about_too(self):
        self.good("create", "small", "--capacity", "10", "-q")
        adder = self.spawn("add", "small", "-q")
        adder.stdin.write(b"one\n")
        adder.stdin.flush()
        self.wait_until(lambda: header(self.path("small"))["keys_added"] == 1)
        self.good("add", "small", "-q", *map(str, range(45)))
        stdout, stderr = adder.communicate(b"".join(b"more %d\n" % number for number in range(20)), timeout=PATIENCE)
        self.assertEqual((adder.returncode, stdout), (0, b""))
        self.assert_warning(stderr, says=["small: ", "than the 51 keys"])


if __name__ == "__main__":
    main()
