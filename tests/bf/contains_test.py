"""bf contains: what it prints and how it ends; where keys begin and end."""
import os

from bf_case import SURE, BfCase, main


class Contains(BfCase):
    def setUp(self):
        super().setUp()
        self.good("create", "f", "-q", *SURE)
        self.good("add", "f", "-q", "one", "two")

    def test_answers_come_in_order_with_a_tab(self):
        self.assertEqual(self.good("contains", "f", "two", "three", "one"), b"maybe\ttwo\nabsent\tthree\nmaybe\tone\n")

    def test_keys_come_from_arguments_a_file_or_standard_input(self):
        expected = b"maybe\tone\nabsent\tthree\n"
        self.write("keys", b"one\nthree\n")
        self.assertEqual(self.good("contains", "f", "one", "three"), expected)
        self.assertEqual(self.good("contains", "f", "--from", "keys"), expected)
        self.assertEqual(self.good("contains", "f", "--from=keys"), expected)
        self.assertEqual(self.good("contains", "f", input=b"one\nthree\n"), expected)
        self.assertEqual(self.good("contains", "f", "--from", "-", input=b"one\nthree\n"), expected)
        with open(self.path("keys"), "rb") as keys:
            keys.seek(4)
            self.assertEqual(self.good("contains", "f", input=None, stdin=keys, code=1), b"absent\tthree\n")

    def test_the_exit_code_says_whether_any_key_may_be_there(self):
        for choice in ["--maybe", "--absent", "--count", "-0"]:
            self.good("contains", "f", choice, "three", "one", "four", code=0)
            self.good("contains", "f", choice, "three", "four", code=1)
        self.assertEqual(self.good("contains", "f", "three", code=1), b"absent\tthree\n")
        self.assertEqual(self.run_bf("contains", "f", input=b"").returncode, 2)  # it was 1, as if all were absent

    def test_maybe_and_absent_print_only_those_keys(self):
        keys = b"one\nthree\ntwo\nfour\n"
        self.assertEqual(self.good("contains", "f", "--maybe", input=keys), b"one\ntwo\n")
        self.assertEqual(self.good("contains", "f", "--absent", input=keys), b"three\nfour\n")

    def test_separators_are_kept(self):
        keys = b"one\0three\0a\nb\0two"
        self.assertEqual(self.good("contains", "f", "-0", input=keys),
                         b"maybe\tone\0absent\tthree\0absent\ta\nb\0maybe\ttwo\0")
        self.assertEqual(self.good("contains", "f", "--null", "--maybe", input=keys), b"one\0two\0")
        self.assertEqual(self.good("contains", "f", "-0", "--absent", input=keys), b"three\0a\nb\0")

    def test_quiet_answers_by_the_exit_code_alone(self):
        for keys, code in ((["one"], 0), (["three"], 1), (["three", "one"], 0)):
            for args in (["-q", *keys], [*keys, "--quiet"]):
                done = self.run_bf("contains", "f", *args)
                self.assertEqual((done.returncode, done.stdout, done.stderr), (code, b"", b""))
        self.refused("contains", "none", "-q", "one", says="none: no such file")
        self.refused("contains", "f", "-q", "--count", "one", says="--count")

    def test_answers_are_not_appended_to_the_list_of_the_keys(self):
        # bf read its answers as keys, and answered these, until the disk was full.
        self.write("keys", b"one\nthree\n")
        for command in (["contains", "f"], ["contains", "f", "--absent"], ["dedup", "f"], ["digest", "f"]):
            for source in (["--from", "keys"], []):
                with open(self.path("keys"), "ab") as output, open(self.path("keys"), "rb") as keys:
                    done = self.spawn(*command, *source, stdin=keys, stdout=output)
                    said = done.communicate()[1]
                name = source[1] if source else "standard input"
                self.assertEqual((done.returncode, said.decode()), (2, f"bf: {name}: is also the standard output, so the output would be read as keys. Write to another file.\n"))
        with open(self.path("keys"), "rb") as keys:
            self.assertEqual(keys.read(), b"one\nthree\n")
        with open("/dev/null", "r+b") as nothing:
            done = self.spawn("contains", "f", "--from", "keys", stdin=nothing, stdout=nothing)
            self.assertEqual((done.communicate()[1], done.returncode), (b"", 0))

    def test_count_prints_two_numbers(self):
        self.assertEqual(self.good("contains", "f", "--count", input=b"one\nthree\ntwo\n"), b"maybe\t2\nabsent\t1\n")
        self.assertEqual(self.run_bf("contains", "f", "--count", input=b"").stdout, b"maybe\t0\nabsent\t0\n")

    def test_several_filters_are_asked_and_those_that_may_have_a_key_are_named(self):
        self.good("create", "g", "-q", "--like", "f")
        self.good("create", "h", "-q", "--hash", "murmur3", "--bits", "10000", "--probes", "9")
        self.good("add", "g", "-q", "two", "three")
        self.good("add", "h", "-q", "four", "two")
        both, keys = ["--any", "g", "--any", "h"], b"one\ntwo\nthree\nfour\nfive\n"
        self.assertEqual(self.good("contains", "f", *both, input=keys),
                         b"maybe\tone\tf\nmaybe\ttwo\tf\tg\th\nmaybe\tthree\tg\nmaybe\tfour\th\nabsent\tfive\n")
        self.assertEqual(self.good("contains", "f", *both, "--maybe", input=keys), b"one\ntwo\nthree\nfour\n")
        self.assertEqual(self.good("contains", "f", *both, "--count", input=keys), b"maybe\t4\nabsent\t1\n")
        self.assertEqual(self.good("contains", "f", "--any", "g", "five", code=1), b"absent\tfive\n")
        self.refused("contains", "f", "--any", "missing", "one", says=["missing: no such file"])
        self.refused("contains", "--set", "f", "--any", "g", "one", says=["--any", "--set"])
        self.refused("contains", "f", "--format", "raw", "--any", "g", "one", says=["--any"])

    def test_several_filters_whose_keys_have_different_forms_are_not_asked_at_once(self):
        self.good("create", "u", "-q", *SURE, "--note", "key-form: upper")
        self.refused("contains", "f", "--any", "u", "one", says=["u: ", "upper", "text"])
        self.refused("contains", "u", "--any", "f", "one", says=["f: ", "upper", "text"])
        self.good("contains", "u", "--any", "u", "one", code=1)

    def test_choices_exclude_each_other(self):
        for a, b in [("--maybe", "--absent"), ("--absent", "--count"), ("--count", "--maybe")]:
            self.refused("contains", "f", a, b, "one", says=[a, b])
        self.refused("contains", "f", "one", "--from", "keys", says=["--from", "KEY"])

    def test_a_file_of_keys_that_can_not_be_read_is_named(self):
        self.refused("contains", "f", "--from", "missing", says=["missing: ", "no such file"])
        os.mkdir(self.path("d"))
        self.refused("contains", "f", "--from", "d", says=["d: ", "directory"])
        self.refused("contains", "f", "--from", "", says="--from")
        self.refused("contains", "f", "--from", says="--from")

    def test_a_file_of_keys_without_permission_is_named(self):
        self.without_privileges()
        os.chmod(self.path("f"), 0o644)
        os.chmod(self.write("keys", b"one\n"), 0)
        self.refused("contains", "f", "--from", "keys", says="keys: ")


class Keys(BfCase):
    """Keys are bytes: an added key is found, and a key that differs in one byte is not."""

    def setUp(self):
        super().setUp()
        self.good("create", "f", "-q", *SURE)

    def test_arguments_are_keys_as_they_are(self):
        odd = ["[a,b]", "[]", "++", "{}", "%%", "", " ", "a b", " a", "add", "create", "contains", "FILE", "a=b", "/x",
               "\x01", b"\xff\xfe", "a\nb", "a,b", "\t"]
        for key in odd:
            raw = key if isinstance(key, bytes) else key.encode()
            self.assertEqual(self.good("contains", "f", key, code=1), b"absent\t" + raw + b"\n")
            self.assertIn(b"1 key added (1 certainly new)", self.good("add", "f", key))
            self.assertEqual(self.good("contains", "f", key), b"maybe\t" + raw + b"\n")
        self.good("contains", "f", "a", "b", code=1)
        self.assertEqual(self.good("contains", "f", "--count", *odd), b"maybe\t%d\nabsent\t0\n" % len(odd))

    def test_keys_behind_two_dashes_may_begin_with_one(self):
        self.good("add", "f", "-q", "plain", "--", "-x", "--from", "--", "-5", "-0", "-")
        self.assertEqual(self.good("contains", "f", "--maybe", "--", "-x", "--from", "--", "-5", "-0", "-", "plain", "-y"),
                         b"-x\n--from\n--\n-5\n-0\n-\nplain\n")
        self.refused("contains", "f", "-x", says=["-x", "bf contains --help"])
        self.refused("contains", "f", "-5", says=["'-5'", "--"])
        self.refused("contains", "f", "-05", says=["'-5'", "--"])

    def test_options_may_come_before_between_and_behind_keys(self):
        self.good("add", "-q", "f", "one")
        self.good("add", "f", "two", "-q", "three")
        self.assertEqual(self.good("contains", "--maybe", "f", "one", "two", "three", "four"), b"one\ntwo\nthree\n")
        self.assertEqual(self.good("contains", "f", "four", "--absent", "one"), b"four\n")

    def test_lines_are_keys_byte_for_byte(self):
        odd = [b"a\r", b"a\0b", b"\xef\xbb\xbfa"]  # lists_test.py tests them in lines of text
        lines = [b"a", b" a", b"a ", b"\ta", b"A", b"\xc3\xa4", b"a\xcc\x88", b"\xe4", b"\xff" * 300, b"a\xef\xbb\xbf"]
        for index, line in enumerate(lines + odd):
            binary = ["--binary"] if line in odd else []
            self.assertEqual(self.good("contains", "f", "--count", *binary, input=b"x\n" + line + b"\n", code=1),
                             b"maybe\t0\nabsent\t2\n")
            self.good("add", "f", "-q", *binary, input=b"%d\n" % index + line + b"\n")
            self.good("contains", "f", "--count", *binary, input=b"x\n" + line + b"\n")

    def test_a_blank_line_is_the_empty_key(self):
        self.assertEqual(self.good("contains", "f", input=b"\n", code=1), b"absent\t\n")
        self.good("add", "f", "-q", input=b"a\n\nb\n")
        self.assertEqual(self.good("contains", "f", input=b"\n"), b"maybe\t\n")
        self.assertEqual(self.good("contains", "f", ""), b"maybe\t\n")

    def test_a_last_line_feed_adds_no_empty_key(self):
        for data in [b"a\nb\n", b"a\nb", b"a\n", b"a"]:
            self.good("add", "f", "-q", input=data)
            self.assertEqual(self.good("contains", "f", "", code=1), b"absent\t\n", data)

    def test_a_last_line_without_line_feed_is_a_key(self):
        self.good("add", "f", "-q", input=b"a\nlast")
        self.assertEqual(self.good("contains", "f", input=b"x\nlast"), b"absent\tx\nmaybe\tlast\n")

    def test_the_locale_changes_nothing(self):
        for locale in ["C", "C.UTF-8", "tr_TR.UTF-8", "nonsense"]:
            env = dict(os.environ, LC_ALL=locale, LANG=locale)
            self.good("add", "f", "-q", b"I\xc4\xb1\xff", env=env)
            self.assertEqual(self.good("contains", "f", b"I\xc4\xb1\xff", b"i", env=env),
                             b"maybe\tI\xc4\xb1\xff\nabsent\ti\n")
            self.assertIn(b"1,500 keys at a false-positive rate of 0.001",
                          self.good("create", "l", "--force", "--capacity", "1.5k", "--fpr", "0.001", env=env))

    def test_keys_longer_than_the_buffer_work(self):
        for size in [(256 << 10) - 1, 256 << 10, (256 << 10) + 1, (1 << 20) + 17, 5 << 20]:
            long = b"L" * size
            self.good("add", "f", "-q", input=b"short\n" + long + b"\nafter\n")
            self.assertEqual(self.good("contains", "f", input=long + b"\nafter\nshort"),
                             b"maybe\t" + long + b"\nmaybe\tafter\nmaybe\tshort\n")
            self.good("contains", "f", "--count", input=b"M" + long + b"\n" + long + b"M", code=1)

    def test_many_keys_of_all_lengths_cross_every_buffer(self):
        keys = [b"%d" % i + b"x" * (i * 37 % 3000) for i in range(2000)]
        data = b"\n".join(keys)
        self.good("add", "f", "-q", input=data)
        self.assertEqual(self.good("contains", "f", "--maybe", input=data), data + b"\n")

    def test_lines_that_end_in_cr_lf_are_told_of_once(self):
        done = self.run_bf("add", "f", "-q", input=b"a\r\nb\r\nc\r\n" * 5000)
        self.assertEqual((done.returncode, done.stdout), (0, b""))
        self.assert_warning(done.stderr, says=["standard input: ", "CR LF"])
        self.write("keys", b"a\r\nq\r\n")
        done = self.run_bf("contains", "f", "--from", "keys")
        self.assertEqual((done.returncode, done.stdout), (0, b"maybe\ta\nabsent\tq\n"))
        self.assert_warning(done.stderr, says=["keys: ", "CR LF"])

    def test_nothing_is_told_of_a_cr_that_is_meant(self):
        for data in [b"a\nb\r\n", b"a\rb\n", b"a\r", b"\n\r\n"]:
            self.good("add", "f", "-q", "--binary", input=data)
        self.good("add", "f", "-q", "-0", input=b"a\r\n\0b\r\0")
        self.good("add", "f", "-q", "-0", input=b"a\r\0")
        self.good("add", "f", "-q", "a\r")


class BadFiles(BfCase):
    def everywhere(self, name, says):
        for command in (["contains", name, "k"], ["add", name, "k"], ["contains", name, "--count"],
                        ["add", name, "-0"]):
            self.refused(*command, says=says)

    def test_a_missing_file_is_named_with_the_way_out(self):
        self.everywhere("users.bf", ["users.bf: ", "bf create"])
        self.assertEqual(self.files(), [])

    def test_a_foreign_file_is_named_with_its_first_bytes(self):
        self.write("users.bf", b"Nothing known 3\0" * 2000)
        self.everywhere("users.bf", ["users.bf: not a bfstore file (first bytes 'Noth'). Give the path of a filter."])
        self.write("users.bf", b"SQLite format 3\0" * 2000)
        self.everywhere("users.bf", ["users.bf: is no bfstore filter, but an SQLite database. If a filter is in it, take it out first."])

    def test_first_bytes_are_escaped(self):
        self.write("f", b"\x1b[2J" * 9000)
        self.assertNotIn(b"\x1b", self.refused("contains", "f", "k"))

    def test_a_short_or_empty_file_is_refused(self):
        self.write("f", b"")
        self.everywhere("f", "f: ")
        self.write("f", b"\x89BFS\r\n\x1a\n")
        self.everywhere("f", "f: ")

    def test_a_link_that_cannot_be_used_is_named_with_its_target_and_what_to_do(self):
        # "a symbolic link. Give the path of the file itself": the file was not named, and was not there.
        os.symlink("nowhere.bf", self.path("dangling"))
        os.symlink("loop", self.path("loop"))
        self.good("create", "f", "-q", "--capacity", "10", "--window", "1h")
        os.symlink("f", self.path("link"))
        for command in (["add", "--create", "-n", "5"], ["add"], ["contains"], ["recover"], ["dedup"]):
            self.refused(command[0], "dangling", "x", *command[1:], says="dangling: a symbolic link to nowhere.bf, which does not exist. "
                         "Make that file under its own name, or correct the link (ln -sfn).")
        for command in (["add", "link", "x"], ["turn", "link"], ["clear", "link", "--force"]):
            self.refused(*command, says="link: a symbolic link to f, and bf writes through no link. Give the path of the file itself.")
        self.refused("add", "loop", "x", says=["loop: a symbolic link to loop: Too many levels", "correct the link"])
        circle = "Symbolic links lead in a circle: correct them, or give the path of the file itself."
        self.refused("contains", "loop", "x", says=["loop: ", "Too many levels", circle])
        self.refused("create", "loop/f", "-n", "9", says=["loop/f: opening its folder: Too many levels", circle])
        self.refused("contains", "f", "--from", "loop", says=["loop: ", "Too many levels", circle])
        self.refused("contains", "a" * 300, "x", says="Give a shorter name.")

    def test_a_symbolic_link_is_followed(self):
        self.good("build", "real", "--from", "-", "--capacity", "9", "-q", input=b"here\n")
        os.symlink("real", self.path("link"))
        self.assertEqual(self.good("contains", "link", "here"), self.good("contains", "real", "here"))

    def test_a_directory_is_named(self):
        os.mkdir(self.path("d"))
        self.everywhere("d", "d: ")

    def test_a_device_or_fifo_is_refused_and_not_waited_for(self):
        os.mkfifo(self.path("fifo"))
        self.everywhere("fifo", "fifo: ")
        self.everywhere("/dev/null", "/dev/null: ")

    def test_a_filter_of_digests_takes_no_keys(self):
        self.good("create", "f", "--capacity", "9", "--hash", "external", "-q")
        self.everywhere("f", ["f: ", "digests"])
        self.good("create", "g", "--like", "f", "-q")
        self.everywhere("g", ["g: ", "digests"])

    def test_a_file_without_permission_is_named(self):
        self.good("create", "f", "--capacity", "9", "-q")
        self.without_privileges()
        os.chmod(self.path("f"), 0)
        self.everywhere("f", "f: ")


class Doubt(BfCase):
    def test_the_filter_in_doubt_is_named_among_several(self):
        # The first one was named, and bf finish-filling of it was a dead end.
        self.good("create", "f", "-q", *SURE)
        self.good("create", "g", "-q", "--filling", *SURE)
        self.refused("contains", "f", "--any", "g", "1", says=["g: no answers: the filter is still being filled, so every answer is maybe. ", "bf finish-filling g."])
        self.refused("contains", "g", "--any", "f", "1", says="g: no answers: ")
        self.good("create", "part", "-q", "--part", "0/2", *SURE)
        done = self.run_bf("contains", "f", "--any", "part", *map(str, range(20)))  # keys of both parts
        self.assert_complaint(done.stderr, says=["part: no answers", "belongs to another part"])
        self.good("create", "c", "-q", "--filling", *SURE, "--layout", "counting")
        self.refused("count", "c", "1", says="bf finish-filling c.")

    # The exit code was 1, all are absent, so a script took the failure of the program before the pipe for a no.
    def test_an_empty_list_is_an_error_and_nothing_is_absent(self):
        self.good("create", "f", "-q", *SURE)
        self.write("empty", b"")
        for command in (["--from", "empty"], [], ["-q"], ["--absent"]):
            self.refused("contains", "f", *command, says=("empty" if "--from" in command else "standard input") + ": has no keys, so nothing was asked.")
        done = self.run_bf("contains", "f", "--count")
        self.assertEqual((done.returncode, done.stdout), (2, b"maybe\t0\nabsent\t0\n"))

    def test_a_key_that_is_also_a_file_is_named(self):
        self.write("keys.txt", b"one\ntwo\n")
        self.good("create", "f", "-q", "--layout", "counting", *SURE)
        said = "'keys.txt' is also a file, and was taken for a key. For the keys in it: --from keys.txt"
        for command in (["add", "f"], ["contains", "f"], ["contains", "f", "-q"], ["count", "f"], ["dedup", "f"]):
            done = self.run_bf(*command, "keys.txt", "keys.txt")
            self.assertEqual(done.returncode, 0, done)
            self.assert_warning(done.stderr, says=said)
        self.assert_warning(self.run_bf("add", "f", "-q", "keys.txt").stderr, says=said)  # -q once hid it
        self.good("add", "f", "no-such-file", ".")

    def test_a_key_that_ends_as_a_line_of_a_list_does_is_named(self):
        # A shell's loop over a list of Windows asked for "alice\r" of each line, and bf said that it is absent.
        self.good("create", "f", "-q", "--layout", "counting", *SURE)
        self.good("add", "f", "alice")
        self.good("create", "g", "-q", *SURE)  # a recovery of a counting filter that needs none is refused
        for command, code in ((["contains", "f"], 1), (["contains", "f", "-q"], 1), (["count", "f"], 1), (["add", "f"], 0), (["remove", "f"], 0),
                              (["digest", "f"], 0), (["dedup", "f"], 0), (["recover", "g"], 0)):
            for end, name in (("\r", "CR"), ("\n", "LF"), ("\r\n", "LF")):
                key = f"{command[0]}{end}"
                with self.subTest(command=command, key=key):
                    done = self.run_bf(*command, "bob", key, key)
                    self.assertIn(done.returncode, (0, code), done)
                    self.assert_warning(done.stderr, says=[f"the key {key!r} ends in {name}, which was taken for a byte of it.", "--from LIST", "--binary"])
                    self.assertEqual(self.run_bf(*command, "--binary", key).stderr, b"")
        self.assertEqual(self.good("contains", "f", "--binary", "alice\r", code=1), b"absent\talice\r\n")
        for command, file in (("add", "f"), ("remove", "f"), ("recover", "g")):
            self.assert_warning(self.run_bf(command, file, "-q", "alice\r").stderr, says="the key 'alice\\r' ends in CR")
        self.good("add", "f", "al\rice", "al\nice", "\ralice")


if __name__ == "__main__":
    main()
