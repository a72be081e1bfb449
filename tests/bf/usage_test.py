"""bf's help, version and usage errors."""
import fcntl
import json
import os
import pty
import re
import struct
import termios

from bf_case import PATIENCE, BfCase, main

COMMANDS = ["plan", "create", "build", "add", "remove", "clear", "turn", "finish-filling", "contains", "dedup", "count", "compare", "merge", "join",
            "intersect", "fold", "digest", "copy", "seal", "delta", "apply", "verify", "recover", "import", "export"]
# help takes no file, and inspect is bfinspect.
HELPFUL = [*COMMANDS, "help", "inspect"]


class Usage(BfCase):
    def test_help_has_an_example_everywhere(self):
        for command in [[], *([name] for name in COMMANDS)]:
            text = self.good(*command, "--help").decode()
            self.assertIn("  bf " + " ".join(command or ["create"]), text.partition("\nExamples:\n")[2])
            self.assertIn("--version", text)

    def sections(self, *command):
        """Returns [(title, its lines)] of the long help, without the usage and what the command does."""
        return re.findall(r"(?<=\n\n)([A-Z][A-Za-z, ]*):\n((?:[^\n]+\n)+)", self.good(*command, "--help").decode())

    def test_the_sections_of_each_help_come_in_one_order_and_the_exit_codes_are_a_table_at_the_end(self):
        # Exit codes were sentences in the middle of paragraphs, and 35 options one list.
        order = ["Arguments", "Options", "Output", "Keys", "Size", "The new filter", "The file, and other processes", "Filters of other programs",
                 "What the bytes of such a filter may not say", "General", "Examples", "Exit codes"]
        for command in HELPFUL:
            sections = self.sections(command)
            titles = [title for title, _ in sections]
            self.assertEqual(titles, sorted(titles, key=order.index), command)
            self.assertEqual(titles[-3:], ["General", "Examples", "Exit codes"], command)
            codes = re.findall(r"(?m)^  (\d+)  (\S.*)$", sections[-1][1])
            self.assertEqual([code for code, _ in codes], {"contains": ["0", "1", "2"], "count": ["0", "1", "2"], "compare": ["0", "1", "2"],
                             "verify": ["0", "1", "2"], "inspect": ["0", "1", "2", "3"]}.get(command, ["0", "2"]), command)
            for title, lines in sections:
                self.assertLessEqual(len(re.findall(r"(?m)^  -", lines)), 13, (command, title))
            about = self.good(command, "--help").decode().partition("\nExamples:")[0]
            self.assertNotIn("xit code:", about)
            self.assertNotRegex(about, r" \\\n")  # a blank before a line made an example of it
        self.assertEqual([code for code, _ in re.findall(r"(?m)^  (\d+)  (\S.*)$", self.sections()[-1][1])], ["0", "1", "2", "3"])

    def test_an_option_is_in_the_same_group_in_every_command(self):
        groups = {}
        for command in COMMANDS:
            for title, lines in self.sections(command):
                if title in ("Filters of other programs", "What the bytes of such a filter may not say"):
                    continue
                for option in re.findall(r"(?m)^  (?:-\w, )?(--[\w-]+)", lines):
                    groups.setdefault(option, set()).add(title)
        self.assertEqual({option: titles for option, titles in groups.items() if len(titles) > 1}, {})
        self.assertEqual(groups["--capacity"], {"Size"})

    def test_contains_has_the_options_for_another_programs_filter_apart(self):
        # Fourteen options that only --format takes were among those of bf's own filters.
        sections = dict(self.sections("contains"))
        names = {title: re.findall(r"(?m)^  (?:-\w, )?(--[\w-]+)", lines) for title, lines in sections.items()}
        self.assertEqual(names["Filters of other programs"], ["--format", "--order", "--column", "--member"])
        self.assertEqual(len(names["What the bytes of such a filter may not say"]), 13)
        self.assertEqual(names["Options"], ["--maybe", "--absent", "--count", "--any", "--set", "--copy", "--tolerate-damage", "--verify"])
        self.assertEqual(names.keys() & {"Size", "The new filter"}, set())

    def test_topics_are_a_group_of_the_main_help_and_of_bf_help_topics(self):
        listed = re.search(r"(?m)^Topics:\n((?:  .*\n)+)", self.good("--help").decode()).group(1)
        names = re.findall(r"(?m)^  ([a-z-]+) ", listed)
        self.assertEqual(names, ["exit", "keys", "formats", "key-forms"])
        for name in names:
            self.good("help", name)
        self.assertIn(listed, self.good("help", "topics").decode())

    def test_a_key_of_dedup_has_one_name(self):
        self.assertNotIn("LINE", self.good("dedup", "--help").decode())

    def test_the_main_help_lists_the_commands_in_groups(self):
        groups = re.findall(r"(?m)^([A-Z].*):\n((?:  .*\n)+)", self.good("--help").decode())
        titles = [title for title, _ in groups if title not in ("Topics", "Options", "Examples", "Exit codes")]
        self.assertEqual(len(titles), 5, titles)
        listed = [name for title, lines in groups if title in titles for name in re.findall(r"(?m)^  ([a-z-]+) ", lines)]
        self.assertEqual(sorted(listed), sorted(HELPFUL))
        self.assertIn("bfinspect", self.good("--help").decode())

    def test_the_short_main_help_fits_one_screen_and_names_every_command_once(self):
        # It had 47 lines, of which the first ones scrolled away.
        text = self.good("-h", env={**os.environ, "COLUMNS": "80"}).decode()
        self.assertLess(len(text.splitlines()), 24)
        usual, others = re.search(r"Usual commands:\n(.*?)\n\nOther commands:\n(.*?)\n\n", text, re.S).groups()
        self.assertEqual(sorted(re.findall(r"(?m)^  ([a-z-]+) ", usual) + others.replace(",", " ").split()), sorted(HELPFUL))

    def test_no_line_of_help_is_too_long_and_no_word_is_broken(self):
        whole = {}
        for columns in ("1000", "100", "80", "60"):
            for command in [[], *([name] for name in HELPFUL)]:
                for flag in ("-h", "--help"):
                    with self.subTest(columns=columns, command=command, flag=flag):
                        text = self.good(*command, flag, env={**os.environ, "COLUMNS": columns}).decode()
                        self.assertLessEqual(max(map(len, text.splitlines())), min(int(columns), 100))
                        words = text.replace(" \\\n", " ").split()
                        self.assertEqual(words, whole.setdefault((*command, flag), words))

    def test_help_is_as_wide_as_the_terminal_and_80_columns_without_one(self):
        without = {**{name: value for name, value in os.environ.items() if name != "COLUMNS"}, "NO_COLOR": "1"}
        expected = self.good("create", "--help", env={**without, "COLUMNS": "80"})
        for said in ({}, {"COLUMNS": ""}, {"COLUMNS": "wide"}, {"COLUMNS": "0"}):
            self.assertEqual(self.good("create", "--help", env={**without, **said}), expected)
        master, terminal = pty.openpty()
        self.addCleanup(os.close, master)
        fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 66, 0, 0))
        with self.spawn("create", "-h", env=without, stdout=terminal) as process:
            os.close(terminal)
            self.assertEqual(process.wait(timeout=PATIENCE), 0)
        text = os.read(master, 1 << 16).decode().replace("\r\n", "\n")
        self.assertEqual(text, self.good("create", "-h", env={**without, "COLUMNS": "66"}).decode())
        self.assertNotEqual(text, self.good("create", "-h", env={**without, "COLUMNS": "80"}).decode())

    def test_the_short_help_has_few_options_with_the_usage_of_each_and_says_where_the_rest_is(self):
        for command in HELPFUL:
            short, long = (self.good(command, flag).decode() for flag in ("-h", "--help"))
            options = re.findall(r"(?m)^  (?:-\w, )?(--[\w-]+)", short)
            self.assertLessEqual(len(options), 7 if command == "create" else 5, short)
            self.assertNotIn("--color", options)
            self.assertNotIn("--colour", long)  # it is accepted
            self.assertEqual(short.split("\n")[0], long.split("\n")[0])
            self.assertTrue(all(option in long for option in options))
            self.assertLess(len(short.splitlines()), 24, short)
            name = "bfinspect" if command == "inspect" else "bf " + command
            self.assertTrue(short.endswith(f"\n{name} --help shows all options and examples.\n"), short)
            self.assertLessEqual(len(re.findall(rf"(?m)^(?:Usage:|      ) {name}\b", short)), 3, short)

    def test_no_help_is_cut_within_parentheses(self):
        # "static (built once" was the end of --layout's short help.
        for command in HELPFUL:
            for flag in ("-h", "--help"):
                text = self.good(command, flag).decode()
                for paragraph in re.split(r"\n(?=\n|  [\w-])", text):
                    self.assertEqual(paragraph.count("("), paragraph.count(")"), (command, paragraph))
        self.assertRegex(self.good("create", "-h").decode(), r"static \(built\s+once:\s+smallest\)")

    def test_every_option_that_the_short_help_explains_is_in_its_usage(self):
        # bf merge -h explained --into, and bf add -h --create, and neither usage had it.
        words = r"(?<![\w-])--?[\w-]+"
        of_create = set(re.findall(r"--[\w-]+", self.good("create", "--help").decode()))
        for command in HELPFUL:
            short, long = (self.good(command, flag).decode().partition("Usage: ")[2] for flag in ("-h", "--help"))
            usage = short.partition("\n\n")[0]
            of_all = set(re.findall(words, long.partition("\n\n")[0].partition("options of all: ")[2]))
            names = re.findall(r"(?m)^  (?:-(\w), )?(--[\w-]+)", short)
            shown = set(re.findall(words, usage)) | of_all | (of_create if "options of bf create" in " ".join(usage.split()) else set())
            with self.subTest(command):
                self.assertEqual([name for letter, name in names if not {name, "-" + letter} & shown], [], short)

    def at_a_terminal(self, *command, **env):
        """Returns what bf writes to a terminal of this kind, on its standard output and on its standard error."""
        master, terminal = pty.openpty()
        self.addCleanup(os.close, master)
        clean = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "TERM")}
        with self.spawn(*command, env={**clean, **env}, stdout=terminal, stderr=terminal) as process:
            os.close(terminal)
            process.wait(timeout=PATIENCE)
        return os.read(master, 1 << 16).replace(b"\r\n", b"\n")

    def test_a_warning_is_yellow_and_an_error_is_red(self):
        self.good("create", "f", "-q", "--capacity", "9")
        self.write("crlf", b"alice\r\n")
        for command, head in ((["add", "f", "-q", "--from", "crlf"], b"\x1b[33mbf: warning:\x1b[0m crlf: its lines end in CR LF."),
                              (["add", "f", "--from", "none"], b"\x1b[31mbf:\x1b[0m none: ")):
            self.assertTrue(self.run_bf(*command, "--color", "always").stderr.startswith(head), command)
            self.assertTrue(self.run_bf(*command).stderr.startswith(re.sub(rb"\x1b\[\d+m", b"", head)), command)

    def test_colour_is_for_a_terminal_that_has_it_and_for_a_user_who_wants_it(self):
        self.good("create", "f", "-q", "--capacity", "1000", "--fpr", "0.000001", "--seed", "7")
        self.good("add", "f", "-q", "alice")
        ask = ["contains", "f", "alice", "bob"]
        plain, coloured = b"maybe\talice\nabsent\tbob\n", b"\x1b[32mmaybe\x1b[0m\talice\n\x1b[2mabsent\x1b[0m\tbob\n"
        self.assertEqual(self.good(*ask, env={**os.environ, "TERM": "xterm"}), plain)
        self.assertEqual(self.at_a_terminal(*ask, TERM="xterm"), coloured)
        for env in ({"TERM": "xterm", "NO_COLOR": "1"}, {"TERM": "dumb"}, {"TERM": ""}, {}):
            self.assertEqual(self.at_a_terminal(*ask, **env), plain, env)
        self.assertEqual(self.at_a_terminal(*ask, TERM="xterm", NO_COLOR=""), coloured)
        for name in ("--color", "--colour"):
            for given in ([f"{name}=always"], [name, "always"]):
                self.assertEqual(self.good(*ask, *given), coloured)
            self.assertEqual(self.at_a_terminal(*ask, f"{name}=never", TERM="xterm"), plain)
            self.assertEqual(self.at_a_terminal(*ask, f"{name}=auto", TERM="xterm"), coloured)
        self.refused(*ask, "--color", "purple", says="--color: 'purple' is not one of auto, always and never.")
        self.assertTrue(self.at_a_terminal("contains", "nothing", "a", TERM="xterm").startswith(b"\x1b[31mbf:\x1b[0m nothing: "))
        self.assertIn(b"\n\x1b[1mUsage:\x1b[0m bf create FILE", self.at_a_terminal("create", "-h", TERM="xterm"))
        bold = self.good("create", "--help", "--color=always")
        self.assertEqual(re.sub(rb"\x1b\[[01]m", b"", bold), self.good("create", "--help"))
        self.assertIn(b"\n\x1b[1mSize:\x1b[0m\n", bold)
        # A line of text that ended with a colon was one of them.
        self.assertEqual(re.findall(rb"\x1b\[1m([^\x1b]{32,})", self.good("dedup", "--help", "--color=always")), [])
        self.assertIn(b"\x1b[1mf\x1b[0m", self.good("inspect", "f", "--color", "always"))

    def test_bf_help_is_the_long_help(self):
        self.assertEqual(self.good("help"), self.good("--help"))
        for command in HELPFUL:
            if command != "inspect":
                self.assertEqual(self.good("help", command), self.good(command, "--help"))
        self.assertIn(b"Usage: bfinspect ", self.good("help", "inspect"))
        self.refused("help", "creat", says="'creat' is no command and no topic. Did you mean create? See bf --help.")
        self.refused("help", "fromats", says="Did you mean formats?")
        for topic, words in (("formats", ["  raw ", "  dcso  ", "  rocksdb "]), ("key-forms", ["  text ", "  utf16le ", "lower,hex"]),
                             ("exit", ["  0 ", "the answer is no", "  2 ", "an error"]), ("keys", ["CR LF", "byte order mark", "--binary", "NUL", "xz"])):
            text = self.good("help", topic).decode()
            self.assertLessEqual(max(map(len, text.splitlines())), 80)
            for word in words:
                self.assertIn(word, text)
        self.refused("help", "create", "f", says="'f' is not expected here")
        for words, topic in ((["exit", "codes"], "exit"), (["Exit codes"], "exit"), (["key", "forms"], "key-forms"), (["key-forms"], "key-forms")):
            self.assertEqual(self.good("help", *words), self.good("help", topic))

    def test_a_mistyped_word_is_followed_by_the_nearest_one(self):
        for typed, meant in (("creat", "create"), ("crate", "create"), ("cotnains", "contains"), ("finishfilling", "finish-filling"),
                             ("inspekt", "inspect"), ("halp", "help"), ("list", "inspect"), ("mk", "create"), ("conta", "contains"), ("co", None), ("nwe", None), ("CREATE", None), ("frobnicate", None), ("x", None),
                             ("", None), ("a" * 100000, None)):
            said = self.refused(typed, "f", says="is not a command.").decode()
            self.assertEqual(re.findall(r" Did you mean (\S+)\?", said), [meant] if meant else [], said)
        for typed, meant in (("search", "contains"), ("serach", "contains"), ("lookup", "contains"), ("check", "contains, or verify"),
                             ("info", "inspect"), ("delete", "remove"), ("insert", "add"), ("expire", "turn"), ("windows", "turn"), ("uniq", "dedup"), ("version", "--version"), ("verison", "--version")):
            self.refused(typed, "f", says=f"'{typed}' is not a command. Did you mean {meant}? See bf --help.")
        self.refused("help", "search", says="'search' is no command and no topic. Did you mean contains? See bf --help.")
        for command, typed, meant in (("create", "--capcity", "--capacity"), ("create", "--capcity=5", "--capacity"),
                                      ("create", "-capacity", "--capacity"), ("create", "--bits-pre-key", "--bits-per-key"),
                                      ("add", "--quite", "--quiet"), ("plan", "--jsno", "--json"), ("seal", "--frobnicate", None),
                                      ("contains", "--capactiy", "--capacity"), ("verify", "--capacity", None), ("contains", "--abs", "--absent"),
                                      ("contains", "--capac=5", "--capacity"), ("contains", "--m", None)):
            said = self.refused(command, *([] if command == "plan" else ["f"]), typed, says=f"'{typed}' is not expected here.").decode()
            self.assertEqual(re.findall(r" Did you mean (\S+)\?", said), [meant] if meant else [], said)
        for command in ("add", "contains", "dedup", "count"):
            self.refused(command, "f", "-x", says="'-x' is not expected here. If it is a key: put -- before it.")
        self.refused("create", "f", "-x", says="'-x' is not expected here. See bf create --help.")
        self.refused("--hlep", says="'--hlep' is not expected here. Did you mean --help? See bf --help.")
        for early in ("--color", "--capacity=5"):
            self.refused(early, "never", "create", "f", says=f"'{early}' is not expected here. Give it after the command. See bf --help.")
        self.refused("create", "f", "--", "--capcity", says="'--capcity' is not expected here. See bf create --help.")

    def test_a_dash_as_the_name_of_a_filter_is_no_stream_and_no_file(self):
        # bf copy users.bf - > backup made a file with the name "-", and an empty backup.
        self.write("keys", b"a\nb\n")
        self.good("build", "f", "-q", "--from", "keys")
        self.good("build", "p", "-q", "--like", "f", "--part", "0/1", "--from", "keys")
        for command, name in ((["copy", "f", "-"], "COPY"), (["seal", "f", "-"], "SEALED"), (["fold", "f", "-"], "SMALLER"), (["build", "-", "--from", "keys"], "FILE"),
                              (["create", "-", "-n", "9"], "FILE"), (["create", "g", "--like", "-"], "--like"), (["add", "-", "--create", "-n", "9", "a"], "FILE"),
                              (["merge", "-", "f", "f"], "OUT"), (["merge", "f", "-"], "IN"), (["intersect", "-", "f", "f"], "OUT"), (["join", "-", "p"], "OUT"),
                              (["import", "f", "-", "--format", "guava"], "FILE"), (["delta", "f", "f", "-"], "DELTA"), (["apply", "f", "-", "g"], "DELTA"), (["contains", "-", "a"], "FILE"),
                              (["digest", "f", "--parts", "2", "--to", "-"], "--to")):
            self.refused(*command, says=f"{name}: - is no standard stream here, and would name a file. Give a path. For a file of that name: ./-")
        self.assertEqual(sorted(os.listdir(self.dir)), ["f", "keys", "p"])
        self.good("copy", "f", "./-", "-q")
        self.good("contains", "./-", "a")

    def test_a_mark_of_one_owner_too_many_has_a_way_out(self):
        self.good("create", "f", "-q", "-n", "1000")
        for owner in range(64):
            self.good("add", "f", "-q", f"key {owner}", "--mark", "1", "--owner", str(owner))
        self.refused("add", "f", "-q", "last", "--mark", "1", "--owner", "64",
                     says="f: all 64 lanes for owners of marks are taken. The keys are durable, but the mark was not stored. Give an owner that has a mark (--owner), or let a program ")
        self.good("add", "f", "-q", "last", "--mark", "2", "--owner", "63")

    def test_a_word_without_its_option_is_followed_by_the_option(self):
        self.refused("build", "f", "keys", says="'keys' is not expected here. If it is a file with the keys, put --from before it.")
        self.refused("plan", "50M", "0.001", says="'50M' is not expected here. Put -n, -p or another option before each number.")
        for from_option in ("--from", "--from=keys"):  # it was "Did you mean --fpr?"
            self.refused("create", "f", "-n", "9", from_option, says="create: '--from' is not expected here, because the new filter is empty. A filter of a list: bf build --from LIST. See")
        self.refused("create", "f", "g", says="'g' is not expected here. See bf create --help.")
        self.refused("create", "f", "1000", says="'1000' is not expected here. Put -n before the number. See bf create --help.")
        for command, words in ((["compare", "a"], "B is missing: the second filter."), (["export", "a"], "RAW is missing: the file to make."),
                               (["merge", "a"], "IN is missing: the filters whose keys it gets."), (["add"], "FILE is missing: the filter")):
            self.refused(*command, says=f"{command[0]}: {words}")
        for typed in ("-V", "-v"):
            self.refused(typed, says=f"'{typed}' is not expected here. Did you mean --version? See bf --help.")

    def test_bf_inspect_is_bfinspect(self):
        self.good("create", "f", "-q", "--capacity", "100", "--seed", "1")
        self.assertTrue(self.good("inspect", "f").startswith(b"f"))
        self.assertEqual(json.loads(self.good("inspect", "--json", "f"))["state"], "clean")
        self.write("text", b"alice\n")
        self.good("inspect", "text", code=2)
        done = self.run_bf("inspect", "nothing")
        self.assertEqual((done.returncode, done.stdout), (3, b""))
        self.assertIn(b"bfinspect: nothing: ", done.stderr)
        done = self.run_bf("inspect")
        self.assertEqual((done.returncode, done.stdout), (3, b""))
        self.assertIn(b"See bfinspect --help.", done.stderr)
        self.assertRegex(self.good("inspect", "--version"), rb"^bfinspect \d+\.\d+\.\d+\n$")

    def test_help_names_every_option_and_what_its_number_means(self):
        text = " ".join(self.good("create", "--help").decode().split())
        for option in ["--capacity", "--fpr", "--bits-per-key", "--max-bytes", "--bits", "--probes", "--like",
                       "--layout", "--hash", "--seed", "--secret-file", "--note", "--mode", "--force", "--quiet"]:
            self.assertIn(option, text)
            self.assertIn(option, self.good("build", "--help").decode())
        self.assertIn("64Mi (67,108,864)", text)
        for command in ["create", "build", "add", "recover", "seal", "merge", "copy", "fold", "intersect", "clear"]:
            self.assertIn("--lock-timeout MS", self.good(command, "--help").decode())
        for option in ["--from", "--secret-file", "--maybe", "--absent", "--count", "--null"]:
            self.assertIn(option, self.good("contains", "--help").decode())

    def test_help_advises_nothing_that_makes_a_wrong_no_of_an_old_copy(self):
        for command in ([], ["copy"]):
            said = " ".join(self.good(*command, "--help").decode().split())
            self.assertIn("Never put an old copy back with cp or mv" if command else "Never put an old copy of a filter back with cp or mv", said)
            self.assertIn("again (bf build --force), or take the", said)
            self.assertNotRegex(said, r"[Rr]emove the file first|\bmv [\w.]+ over")

    def test_help_says_with_which_code_a_command_ends(self):
        said = self.good("--help").decode()
        self.assertIn("  0  it was done\n  1  contains, count, compare and verify: ", said)
        for command, no in (("contains", "all are certainly absent"), ("count", "all are certainly absent"), ("compare", "they are not equal"),
                            ("verify", "it is damaged")):
            self.assertIn(f"\n  1  {no}\n  2  an error", self.good(command, "--help").decode())

    def test_help_wins_over_what_is_missing(self):
        self.good("create", "f", "--help")
        self.good("build", "--help", "f")

    def test_the_size_of_a_file_is_the_same_in_every_output_and_that_of_ls(self):
        created = self.good("create", "f", "--capacity", "4M", "--layout", "classic").decode()
        size = os.path.getsize(self.path("f"))
        words = f"{size / 2**20:.1f} MiB"
        self.assertTrue(created.endswith(f" probes, {words}\n"), created)
        self.assertIn(f"  length          {words} ({size:,} bytes)\n", self.good("inspect", "f").decode())
        self.assertRegex(self.good("plan", "-n", "4M", "--layout", "classic").decode(), rf"(?m)^file +{words}$")
        self.assertTrue(self.good("copy", "f", "g").decode().endswith(f", {words}\n"))

    def test_version_is_one_line_everywhere(self):
        expected = self.good("--version")
        self.assertRegex(expected, rb"^bf \d+\.\d+\.\d+\n$")
        for command in COMMANDS:
            self.assertEqual(self.good(command, "--version"), expected)

    def test_messages_say_what_to_do(self):
        self.write("empty", b"")
        for command in ("contains", "add"):
            self.refused(command, "empty", "a", says="empty: is empty. To make a filter in its place: bf build, create or copy with --force.")
        self.refused("create", "f", "--capacity", "9", "-p", "1", says="is not a number above 0 and below 1, such as 0.01 or 1%")
        self.good("create", "small", "-q", "--bits", "64Ki", "--probes", "5", "--seed", "1")
        self.good("create", "other", "-q", "--bits", "96Ki", "--probes", "5", "--seed", "1")
        self.refused("merge", "all", "small", "other", says="Only their numbers of bits may differ: that of other may be a multiple of the other")

    def test_usage_errors_are_one_line_that_names_the_word(self):
        self.refused(says=["no command", "bf --help"])
        self.refused("frobnicate", says=["'frobnicate' is not a command", "bf --help"])
        self.refused("frobnicate", "f", "--capacity", "9", says="'frobnicate' is not a command")
        self.refused("--frobnicate", says=["'--frobnicate' is not expected here.", "bf --help"])
        self.refused("", says="'' is not a command")
        self.refused("create", "f", "--frobnicate", "--capacity", "9", says=["--frobnicate", "bf create --help"])
        self.refused("Create", "f", says="'Create' is not a command")
        for command in COMMANDS:
            self.refused(command, says="bf " + command + " --help")
            file = [] if command == "plan" else ["f"]
            self.refused(command, *file, "--frobnicate=1", says=["--frobnicate", "bf " + command + " --help"])
            self.refused(command, *file, "--no\n\x1bwrap", says="--no\\n\\x1bwrap")
        self.refused("plan", "f", "-n", "9", says="'f' is not expected")
        self.refused("add", says="FILE")
        self.refused("contains", "f", "--force", says="--force")
        self.refused("contains", "f", "--maybe=2", says="--maybe takes no value")
        self.refused("create", "f", "--force=false", says="--force takes no value")
        self.refused("create", "f", "--capacity", says="--capacity needs a value")
        self.refused("add", "f", "-z", says="-z")
        self.refused("add", "f", "--from", "a", "--from", "b", says="--from")


class Twice(BfCase):
    def test_an_option_that_is_given_twice_is_named_with_its_second_value(self):
        self.refused("add", "f", "--from", "a", "--from", "b c", says="--from is given more than once: 'b c' is too many. Give one.")
        self.refused("create", "f", "-n", "1", "--capacity=2", says="--capacity is given more than once: '2' is too many.")


if __name__ == "__main__":
    main()
