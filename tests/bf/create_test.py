"""bf create: every way to give a size, every option, every refusal."""
import json
import os
import re
import stat

from bf_case import CLEAN, PATIENCE, SURE, BfCase, header, main


class Create(BfCase):
    def made(self, *options):
        self.good("create", "f", "--force", "-q", *options)
        return header(self.path("f"))

    def test_capacity_alone_promises_one_in_a_hundred(self):
        made = self.made("--capacity", "1000")
        self.assertEqual((made["n"], made["p"]), (1000, 0.01))

    def test_capacity_and_fpr_are_what_the_file_says(self):
        made = self.made("--capacity", "10k", "--fpr", "1e-3")
        self.assertEqual((made["n"], made["p"], made["layout"], made["hash"], made["state"]),
                         (10000, 1e-3, 1, 1, CLEAN))
        self.assertGreater(made["m"], 10000 * 14.3)

    def test_capacity_and_bits_per_key_give_m(self):
        made = self.made("--capacity", "1000", "--bits-per-key", "12.5", "--layout", "classic")
        self.assertEqual((made["m"], made["n"]), (12500, 1000))

    def test_capacity_and_max_bytes_fill_that_many_bytes(self):
        made = self.made("--capacity", "1000", "--max-bytes", "64KiB")
        self.assertEqual(os.path.getsize(self.path("f")), 65536 - 4096 + 8)  # one page more would not leave room for 8 bytes
        self.assertEqual(made["m"], (65536 - 4096 - 16384) * 8)

    def test_a_hash_with_only_one_k_takes_every_size(self):
        for name, number in (("java-bytes", 20), ("parquet", 16)):
            made = {size: self.made("--hash", name, *size) for size in (
                ("--capacity", "1000"), ("--capacity", "1000", "--fpr", "0.001"), ("--capacity", "1000", "--bits-per-key", "25.6"),
                ("--capacity", "1000", "--max-bytes", "64KiB"), ("--bits", "25600"), ("--bits", "25600", "--capacity", "1000"))}
            for size, of_size in made.items():
                self.assertEqual((of_size["hash"], of_size["k"]), (number, 8), size)
            usual, rare, *of_bits = made.values()
            self.assertEqual((usual["n"], usual["p"], rare["n"], rare["p"]), (1000, 0.01, 1000, 0.001))
            self.assertLess(usual["m"], rare["m"])
            self.assertEqual((of_bits[0]["m"], of_bits[0]["p"]), (25600, of_bits[3]["p"]))
            self.refused("create", "g", "--hash", name, "--bits", "25600", "--probes", "7", says="a k of 8")
            self.assertIn(b'"num_probes": 8', self.good("plan", "--like", "f", "--layout", "classic", "--json"))

    def test_what_the_library_refuses_is_said_with_the_names_of_options(self):
        seeds = ["--hash", "java-polynomial", "--seeds", "5,7,11,13,31,37,61"]
        for name in ("f", "num_bits"):
            self.refused("create", name, *seeds, "--capacity", "100M", "--fpr", "0.01", says=[name + ": ", "Give --bits with --seeds, such as 1073741824."])
            self.refused("create", name, *seeds, "--capacity", "9", "--fpr", "0.1", says="Give one seed for each probe, or --bits and --seeds.")
            self.refused("create", name, *seeds[:2], "--capacity", "9", says="Give --seeds, such as 5,7,11,13,31,37,61.")

    def test_a_refusal_of_another_programs_hash_says_which_numbers_it_takes(self):
        for name, m, k, needs, way_out in (
                ("parquet", 1000, 3, "an m that is a multiple of 256 and at most 17179868928, and a k of 8", "Give m 1024 and k 8, or use xxh3."),
                ("rocksdb", 1000, 3, "an m that is a multiple of 512 and at most 34359737856", "Give m 1024 and k 3, or use xxh3."),
                ("jaybird", 1001, 60, "an m that is a multiple of k", "Give m 1020 and k 60, or use xxh3."),
                ("murmur3", 10**10, 3, "an m of at most 4294967296", "Ask for fewer keys or a higher rate, or use xxh3.")):
            self.refused("create", "f", "--hash", name, "--bits", str(m), "--probes", str(k),
                         says=f"f: a filter with m {m} and k {k} cannot have the hash {name}, which needs {needs}. {way_out}")
            if way_out.startswith("Give"):
                m, k = re.findall(r"\b\d+", way_out)[:2]
                self.good("create", "as told", "--hash", name, "--bits", m, "--probes", k, "--force", "-q")

    def test_the_most_keys_that_may_come_give_a_size_that_many_numbers_divide(self):
        exact, most = self.made("--capacity", "100k", "--fpr", "0.02"), self.made("--capacity-at-most", "100k", "--fpr", "0.02")
        self.assertEqual((most["n"], most["p"], most["k"]), (100000, 0.02, exact["k"]))
        self.assertTrue(exact["m"] <= most["m"] <= exact["m"] * 1.02, (exact, most))
        units = most["m"] // 512
        self.assertGreaterEqual(sum(units % i == 0 for i in range(1, units + 1)), 20)
        self.assertEqual(self.made("--capacity-at-most", "100k")["p"], 0.01)
        for other in (["--capacity", "5"], ["--bits", "8Mi"], ["--max-bytes", "1MiB"], ["--bits-per-key", "9"], ["--like", "f"], ["--probes", "5"]):
            self.refused("create", "g", "--capacity-at-most", "100k", *other, says=(other[0], "--capacity"))
        self.refused("create", "g", "--capacity-at-most", "100k", "--layout", "static",
                     says="cannot be folded to their size later. Give capacity instead of --capacity-at-most, or another layout.")
        self.refused("create", "g", "--fpr", "0.01", says="no size given")

    def test_a_name_that_controls_a_terminal_is_escaped(self):
        self.assertTrue(self.good("create", "\x1b[31mred", "-n", "10").startswith(b"\\x1b[31mred: created, "))

    def test_bits_and_probes_are_taken_as_they_are(self):
        made = self.made("--bits", "64Ki", "--probes", "5")
        self.assertEqual((made["m"], made["k"]), (65536, 5))

    def test_of_bits_and_probes_the_one_that_is_not_given_is_the_best(self):
        # Each of them alone was refused.
        for layout in ("blocked", "classic", "counting", "window"):
            more = ["--layout", layout, *(["--window", "1h"] if layout == "window" else [])]
            planned = lambda *given: json.loads(self.good("plan", "--json", "--layout", layout, *given))["layouts"][0]
            for given, plan in ((["-m", "1M"], planned("-m", "1M", "-p", "1%")), (["-m", "1M", "-n", "50k"], planned("-m", "1M", "-n", "50k")),
                                (["-k", "5", "-n", "50k"], planned("-k", "5", "-n", "50k", "-p", "1%")),
                                (["-k", "5", "-n", "50k", "-p", "2%"], planned("-k", "5", "-n", "50k", "-p", "2%")),
                                (["-k", "5", "-n", "50k", "--bits-per-key", "12"], planned("-k", "5", "-n", "50k", "--bits-per-key", "12"))):
                made = self.made(*given, *more)
                self.assertEqual((made["m"], made["k"], made["n"]), (plan["num_bits"], plan["num_probes"], plan["capacity"]), given)
        shape = lambda made: [made[name] for name in ("layout", "m", "k", "n", "p")]
        self.assertEqual(shape(self.made("--window", "1h", "-m", "1M")), shape(self.made("--window", "1h", "-m", "1M", "--layout", "window")))
        self.assertEqual(self.made("-m", "1M", "--hash", "murmur3")["layout"], 2)

    def test_a_number_of_bits_that_was_rounded_up_is_told(self):
        # It said nothing without --probes, and of a part it said that 4096 was rounded up to 1,024.
        for given in (("--probes", "1"), (), ("--capacity", "10"), ("--layout", "window", "--window", "1h")):
            with self.subTest(given=given):
                said = self.good("create", "f", "--bits", "3", *given).decode()
                self.assertRegex(said, r"\. --bits 3 was rounded up to [\d,]+: the layout \w+ has whole lines of 64 bytes\n$")
                self.assertEqual(header(self.path("f"))["m"], int(re.search(r"up to ([\d,]+)", said)[1].replace(",", "")))
                os.unlink(self.path("f"))
        self.assertIn(b"--bits 3 was rounded up to 512", self.good("build", "f", "--bits", "3", "-n", "10", input=b"a\n"))
        self.assertIn(b"--bits 3 was rounded up to 512", self.good("add", "h", "--create", "--bits", "3", "-n", "10", "a"))
        self.assertIn(b"--bits 3 was rounded up to 2,048 in all parts", self.good("create", "p", "--bits", "3", "--part", "0/4"))
        self.assertNotIn(b"rounded", self.good("create", "q", "--bits", "4096", "--probes", "5", "--part", "0/4"))
        self.assertNotIn(b"rounded", self.good("create", "c", "--bits", "1000", "--layout", "classic"))
        self.assertNotIn("rounded", self.good("create", "g", "--bits", "64Ki", "--probes", "1").decode())

    def test_bits_with_a_B_are_bytes_of_eight_bits(self):
        self.assertEqual(self.made("--bits", "64KiB", "--probes", "5")["m"], 65536 * 8)

    def test_bits_probes_and_capacity_promise_a_rate_for_it(self):
        few = self.made("--bits", "64Ki", "--probes", "5", "--capacity", "1000")
        many = self.made("--bits", "64Ki", "--probes", "5", "--capacity", "10000")
        self.assertEqual((few["n"], many["n"]), (1000, 10000))
        self.assertLess(few["p"], many["p"])

    def test_like_copies_shape_and_seed(self):
        self.good("create", "other", "--capacity", "1234", "--fpr", "0.02", "--layout", "classic", "-q")
        other, made = header(self.path("other")), self.made("--like", "other")
        for field in ("m", "k", "n", "p", "layout", "hash", "seed"):
            self.assertEqual(made[field], other[field], field)

    def test_a_filter_that_is_filling_answers_nothing_until_that_is_finished(self):
        made = self.good("create", "f", "--filling", *SURE)
        self.assertIn(b"answers maybe until bf finish-filling", made)
        self.good("add", "f", "alice", "-q")
        self.refused("contains", "f", "alice", says="f: no answers: the filter is still being filled")
        self.refused("seal", "f", "sealed", says="Finish the filling (bf finish-filling) first")
        self.assertIn(b"filled, and answers now", self.good("finish-filling", "f"))
        self.assertEqual(self.good("contains", "f", "alice", "bob"), b"maybe\talice\nabsent\tbob\n")
        self.assertIn(b"was not being filled", self.good("finish-filling", "f"))
        self.good("seal", "f", "sealed", "-q")
        self.refused("finish-filling", "sealed", says="sealed")
        self.refused("finish-filling", "none", says="none")

    def test_layout_hash_seed_and_note_arrive(self):
        made = self.made("--capacity", "9", "--layout", "classic", "--hash", "xxh3", "--seed", "0xff", "--note",
                         "a b")
        self.assertEqual((made["layout"], made["hash"], made["seed"], made["note"]), (2, 1, 255, b"a b"))
        self.assertEqual(self.made("--capacity", "9", "--layout", "blocked", "--hash", "xxh3")["layout"], 1)
        self.assertEqual(self.made("--capacity", "9", "--hash", "external")["hash"], 2)
        self.assertEqual(self.made("--capacity", "9", "--seed", "18446744073709551615")["seed"], 2**64 - 1)

    def test_a_note_is_bytes_and_nothing_in_it_is_special(self):
        for note in [b"[a,b]", b"{}", b"%%", b"--", b"\xff\x80", b"- x", b"x" * 1024]:
            self.assertEqual(self.made("--capacity", "9", b"--note=" + note)["note"], note)
            if not note.startswith(b"-"):
                self.assertEqual(self.made("--capacity", "9", "--note", note)["note"], note)
        made = self.made("--capacity", "9", "--note=", "--layout", "classic")
        self.assertEqual((made["note"], made["layout"]), (b"", 2))
        self.assertEqual(self.made("--capacity", "9", "--note", "")["note"], b"")

    def test_seeds_are_random_if_not_given(self):
        first = self.made("--capacity", "9")["seed"]
        self.assertNotEqual(first, self.made("--capacity", "9", "--hash", "xxh3")["seed"])
        os.unlink(self.path("f"))
        self.assertNotEqual(first, self.made("--capacity", "9")["seed"])

    def mode_made(self, *options, umask=0o022):
        before = os.umask(umask)
        try:
            self.run_bf("create", "f", "--force", "--capacity", "9", *options)
        finally:
            os.umask(before)
        return stat.S_IMODE(os.stat(self.path("f")).st_mode)

    def test_mode_is_octal_less_the_umask_and_0600_by_default(self):
        self.assertEqual(self.mode_made(), 0o600)
        self.assertEqual(self.mode_made("--mode", "0664"), 0o644)
        self.assertEqual(self.mode_made("--mode", "640", umask=0), 0o640)

    # Under the umask 077 --mode 0644 made a file that its web server could not read, without a word.
    def test_a_umask_that_takes_rights_away_is_warned_of(self):
        for mode, umask in (("0644", "022"), ("0664", "002"), ("0666", "000"), ("0640", "022")):
            done = self.run_bf("create", "f" + mode, "-q", "-n", "9", "--mode", mode, preexec_fn=lambda: os.umask(0o077))
            self.assertEqual(done.returncode, 0)
            self.assert_warning(done.stderr, f"--mode: the umask 077 takes rights away, so the file gets the mode 0600. For {mode}: umask {umask} before bf, or chmod {mode} after it.")
            self.assertEqual(self.mode_made("--mode", mode, umask=int(umask, 8)), int(mode, 8))

    def test_one_line_says_what_was_made_and_quiet_says_nothing(self):
        line = self.good("create", "f", "--capacity", "1000", "--fpr", "0.001")
        self.assertRegex(line, rb"^f: created, room for 1,000 keys at a false-positive rate of 0\.001; "
                               rb"blocked, \d+ probes, [0-9.]+ KiB\n$")
        self.assertEqual(self.good("create", "g", "--capacity", "1000", "-q"), b"")
        self.assertEqual(self.good("create", "h", "--capacity", "1000", "--quiet"), b"")


class Numbers(BfCase):
    def test_the_short_names_of_numbers_are_those_of_plan_in_each_command(self):
        self.good("create", "long", "-q", "--seed", "1", "--capacity", "1000", "--fpr", "0.001")
        self.write("keys", b"a\n")
        for command in (["create", "short"], ["build", "short", "--from", "keys"], ["add", "short", "--create", "a"]):
            self.good(*command, "-q", "--seed", "1", "-n", "1e3", "-p", "0.1%")
            self.assertEqual(os.path.getsize(self.path("short")), os.path.getsize(self.path("long")))
            os.unlink(self.path("short"))
        for command in ("create", "build", "add", "import", "contains", "plan"):
            for names in ("-n, ?--capacity N", "-p, ?--fpr P", "-m, ?--bits M", "-k, ?--probes K"):
                self.assertRegex(self.good(command, "--help").decode(), "\n  " + names)
        self.refused("create", "f", "-n", says=["-n needs a value"])
        self.refused("create", "f", "-n", "x", says=["--capacity: 'x'"])

    def test_suffixes_are_exact(self):
        for text, number in [("1", 1), ("007", 7), ("10k", 10**4), ("10K", 10**4), ("3M", 3 * 10**6), ("1Ki", 1024),
                             ("2Mi", 2**21), ("1.5k", 1500), ("1.50k", 1500), ("0.5Ki", 512),
                             ("1.234567M", 1234567), ("4.0", 4), ("1e6", 10**6), ("1E6", 10**6), ("1e+06", 10**6),
                             ("1.5e6", 1500000), ("1.2345e2k", 123450), ("1_000", 1000), ("1_234_567", 1234567),
                             ("1.234_5M", 1234500), ("1,000", 1000), ("12,345,678", 12345678), ("1,500.5k", 1500500), ("2,000k", 2 * 10**6)]:
            self.good("create", "f", "--force", "-q", "--capacity", text, "--bits", "1k", "--probes", "1")
            self.assertEqual(header(self.path("f"))["n"], number, text)

    def test_a_rate_may_have_a_blank_before_its_sign(self):
        self.good("create", "f", "-q", "-n", "1000", "-p", "0.5 %")
        self.assertEqual(header(self.path("f"))["p"], 0.005)
        for text in ("5  %", " 5%", "%", " %"):
            self.refused("create", "g", "-n", "1000", "-p", text, says="--fpr: ")

    def test_a_rate_that_is_lost_in_the_percent_is_refused(self):
        self.refused("create", "f", "--capacity", "9", "--fpr", "1e-323%", says="too close to 0")

    def test_a_rate_that_is_a_percentage_without_its_sign_is_explained(self):
        self.refused("create", "f", "--capacity", "9", "--fpr", "5", says="such as 0.01 or 1%. 5 percent is 5%")
        self.assertNotIn(b"percent is", self.refused("create", "f", "--capacity", "9", "--fpr", "500", says="--fpr: '500'"))

    def test_large_numbers_are_exact_too(self):
        for text, number in [("1.5G", 1500000000), ("9E", 9 * 10**18), ("7Ei", 7 * 2**60), ("5T", 5 * 10**12),
                             ("1Pi", 2**50), ("2Gi", 2**31), ("3Ti", 3 * 2**40), ("4P", 4 * 10**15),
                             ("9223372036854775807", 2**63 - 1)]:
            self.good("create", "f", "--force", "-q", "--capacity", text, "--bits", "1k", "--probes", "1")
            self.assertEqual(header(self.path("f"))["n"], number, text)

    def test_rubbish_is_refused_with_the_name_of_the_option(self):
        for text in ["", "x", "10Q", "10m", "1e", "1e-3", "1e6e6", "1e6q", "e6", "_1", "1_", "1__0", "1_k", "1_.5k",
                     "1,00", "1,0000", "1000,000", ",000", "1,,000", "1,000,00", "1,000,", " 1", "1 ", "+1", "0x10", ".5k", "5.", "1.k",
                     "10kk", "10iB", "10Mib", "10Mb", "M", "1..5k", "\u0661"]:
            self.refused("create", "f", "--capacity", text, says=["--capacity: '", "is not a number of keys"])
        for text in ["0", "0k", "0.0M"]:
            self.refused("create", "f", "--capacity", text, says=["--capacity: '", "too small"])
        for text in ["1.5", "1.2345k", "0.1Ki", "1.00000000000000000001k", "1.2345e3"]:
            self.refused("create", "f", "--capacity", text, says=["--capacity: '", "is not a whole number"])
        self.assertEqual(self.files(), [])

    def test_numbers_that_overflow_are_refused(self):
        for text in ["18446744073709551616", "9223372036854775808", "99E", "16Ei", "18446744073709551617k", "9" * 60,
                     "1e19", "1e99999999999"]:
            self.refused("create", "f", "--capacity", text, says=["--capacity: '", "too large"])
        self.refused("create", "f", "--bits", "257Ti", "--probes", "1", says=["--bits: '257Ti'", "281,474,976,710,656"])
        self.refused("create", "f", "--bits", "3EiB", "--probes", "1", says=["--bits: '3EiB'", "too large"])

    def test_keys_are_not_counted_in_bytes(self):
        self.refused("create", "f", "--capacity", "64MiB", says=["--capacity: '64MiB'", "bytes"])
        self.refused("create", "f", "--capacity", "10B", says=["--capacity: '10B'", "bytes"])

    def test_other_numbers_are_refused_with_the_name_of_the_option(self):
        for option, texts in [("--fpr", ["0", "1", "-0.1", "nan", "inf", "100%", "0%", "%", "1  %", "", "0,01", "0x1", " 0.1", "1e-400"]),
                              ("--bits-per-key", ["0", "-1", "nan", "inf", "1e300", "ten"]),
                              ("--max-bytes", ["0", "1.5", "64Mb"]),
                              ("--seed", ["-1", "18446744073709551616", "0xg", "0x", ""]),
                              ("--mode", ["rw", "0888", "1777", "0", "-1", ""]),
                              ("--layout", ["Blocked", "", "cuckoo"]), ("--hash", ["XXH3", "md5", ""]),
                              ("--note", ["x" * 1025])]:
            for text in texts:
                self.refused("create", "f", "--capacity", "9", f"{option}={text}", says=f"{option}: ")
        for text in ["0", "65", "1.5", "-1", "4294967297", "x"]:
            self.refused("create", "f", "--bits", "64", f"--probes={text}", says=f"--probes: '{text}'")
        self.assertEqual(self.files(), [])


class Refusals(BfCase):
    def test_a_size_is_wanted_and_only_one(self):
        self.refused("create", "f", says=["--capacity", "--bits", "--like"])
        for options, name in [(["--capacity", "9", "--fpr", "0.1", "--bits-per-key", "9"], "--bits-per-key"),
                              (["--capacity", "9", "--fpr", "0.1", "--max-bytes", "9"], "--max-bytes"),
                              (["--capacity", "9", "--bits-per-key", "9", "--max-bytes", "9"], "--max-bytes"),
                              (["--fpr", "0.1"], "--capacity"), (["--bits-per-key", "9"], "--capacity"),
                              (["--max-bytes", "1M"], "--capacity"), (["--probes", "9"], "Give --capacity N or --bits M, too."),
                              (["--bits", "9", "--probes", "1", "--capacity", "9", "--fpr", "0.1"], "--fpr"),
                              (["--like", "x", "--capacity", "9"], "--capacity"),
                              (["--like", "x", "--bits", "9", "--probes", "1"], "--bits"),
                              (["--like", "x", "--fpr", "0.1"], "--fpr"),
                              (["--like", "x", "--seed", "9"], "--seed"),
                              (["--like", "x", "--layout", "classic"], "--layout"),
                              (["--like", "x", "--hash", "xxh3"], "--hash"),
                              (["--capacity", "9", "--capacity", "9"], "--capacity"), (["--capacity"], "--capacity"),
                              (["--capacity", "9", "--nonsense"], "--nonsense"),
                              (["--capacity", "9", "another"], "another")]:
            self.refused("create", "f", *options, says=[name, "bf create --help"])
        self.refused("create", "--capacity", "9", says="FILE")
        self.refused("create", "", "--capacity", "9", says="FILE")
        self.assertEqual(self.files(), [])

    def test_a_rate_that_no_layout_reaches_names_none(self):
        # It named classic, which refuses the rate, too.
        for keys, rate in (("1M", "1e-20"), ("10M", "1e-13")):
            self.refused("create", "f", "-n", keys, "-p", rate, says="below what the blocked layout reaches (1e-08). Ask for a higher rate.")
            self.refused("create", "f", "-n", keys, "-p", rate, "--layout", "classic", says="Ask for fewer keys or a higher rate.")

    def test_a_rate_below_the_floor_of_blocked_names_classic(self):
        self.refused("create", "f", "--capacity", "1M", "--fpr", "1e-12", says=["f: ", "classic"])
        self.good("create", "f", "--capacity", "1k", "--fpr", "1e-12", "--layout", "classic", "-q")

    def test_an_existing_file_is_never_touched_without_force(self):
        for data in [b"precious", b""]:
            self.write("f", data)
            says = "is no filter. Choose another name." if data else "is empty. Replace it (--force), or choose another name."
            self.refused("create", "f", "--capacity", "9", says="f: exists already, and " + says)
            self.refused("build", "f", "--from", "-", says="f: exists already, and " + says)
            with open(self.path("f"), "rb") as file:
                self.assertEqual(file.read(), data)
        self.good("create", "f", "--capacity", "9", "--force", "-q")
        with open(self.path("f"), "rb") as file:
            data = file.read()
        self.refused("create", "f", "--capacity", "9", says="f: exists already. Add to it (bf add), replace it and lose its keys (--force)")
        self.refused("build", "f", "--from", "-", says="f: exists already. Add to it (bf add), replace it and lose its keys (--force)")
        with open(self.path("f"), "rb") as file:
            self.assertEqual(file.read(), data)
        self.assertEqual(self.files(), ["f"])

    def test_force_replaces_a_filter(self):
        self.good("create", "f", "--capacity", "9", "-q")
        self.good("create", "f", "--capacity", "99", "-q", "--force")
        self.assertEqual(header(self.path("f"))["n"], 99)
        self.assertEqual(self.files(), ["f"])

    def test_force_replaces_a_file_that_somebody_writes_to_and_he_hears_of_it(self):
        self.good("create", "f", "-q", *SURE)
        writer = self.spawn("add", "f")
        writer.stdin.write(b"one\n")
        writer.stdin.flush()
        while header(self.path("f"))["keys_added"] == 0:
            self.assertIsNone(writer.poll())
        self.good("create", "f", "--capacity", "9", "--force", "-q")
        complaint = writer.communicate(b"two\n", timeout=PATIENCE)[1]
        self.assertEqual(writer.returncode, 2)
        self.assert_complaint(complaint, "f: ")
        self.assertIn(b"The new file has none of these keys: add all of them again.", complaint)
        self.assertEqual(header(self.path("f"))["n"], 9)

    def test_a_filter_that_says_maybe_to_everything_is_named(self):
        done = self.run_bf("create", "f", "-n", "10k", "-m", "100", "-k", "3")
        self.assertEqual(done.returncode, 0)
        self.assert_warning(done.stderr, says=["f: has so few bits that with 10,000 keys nearly every absent key is maybe", "--bits"])
        self.write("keys", b"one\n")
        self.write("bits", bytes(64))
        for command in (["build", "f", "--from", "keys"], ["add", "h", "one", "--create"],
                        ["import", "bits", "f", "--order", "little", "--hash", "murmur3"]):
            size = "512" if command[0] == "import" else "100"
            done = self.run_bf(*command, *(["--force"] if "f" in command else []), "--bits", size, "--probes", "3", "--capacity", "10k")
            self.assertEqual(done.returncode, 0, done.stderr)
            said = [line for line in done.stderr.splitlines(True) if b": replaced a " not in line]
            self.assert_warning(b"".join(said), says="has so few bits that with 10,000 keys nearly every absent key is maybe")
        self.good("create", "g", "-n", "10k", "-m", "100k", "-k", "3")

    # It said nothing, and the old keys were absent.
    def test_what_is_replaced_by_other_keys_is_named(self):
        self.write("list", b"a\n")
        for command in (["create", "f", "-n", "10", "--force"], ["build", "f", "--from", "list", "--force"]):
            self.good("create", "f", "-q", "--force", *SURE)
            self.good(*command)  # it had no keys
            self.good("add", "f", "-q", "one", "two")
            held = "3" if command[0] == "build" else "2"
            said = f"f: replaced a filter of about {held} keys. Its keys were not compared with those of the new file"
            writer = self.spawn("add", "f")
            self.wait_until_it_reads(writer)
            self.assert_warning(self.run_bf(*command).stderr, says=said + ", and a writer had it open, which gets an error.")
            writer.communicate()
            self.good("add", "f", "-q", "three")
            self.assert_warning(self.run_bf(*command).stderr, says="f: replaced a filter of about ")
            self.good("add", "f", "-q", "three")
            quiet = self.run_bf(*command, "-q")  # -q once hid it
            self.assertEqual(quiet.stdout, b"")
            self.assert_warning(quiet.stderr, says="f: replaced a filter of about ")

    def test_what_is_no_file_is_never_replaced(self):
        os.mkdir(self.path("d"))
        os.mkfifo(self.path("fifo"))
        for force in [[], ["--force"]]:
            self.refused("create", "d", "--capacity", "9", *force, says="d: a directory")
            self.refused("create", "fifo", "--capacity", "9", *force, says="fifo: not a regular file")
            self.refused("create", "/dev/null", "--capacity", "9", *force, says="/dev/null: not a regular file")
        self.assertEqual(os.listdir(self.path("d")), [])
        self.assertTrue(stat.S_ISFIFO(os.stat(self.path("fifo")).st_mode))

    def test_a_symbolic_link_is_not_followed(self):
        self.good("create", "real", "-q", *SURE)
        before = header(self.path("real"))
        self.write("list", b"a\n")
        os.symlink("real", self.path("link"))
        os.symlink("nowhere", self.path("dangling"))
        for force in [[], ["--force"]]:
            self.refused("create", "link", "--capacity", "9", *force, says=["link: ", "symbolic link"])
            self.refused("create", "dangling", "--capacity", "9", *force, says=["dangling: ", "symbolic link"])
            self.refused("create", "dangling", "--capacity", "9", *force, says=["dangling: a symbolic link to ", ", which does not exist. Make that file"])
            self.refused("build", "link", "--from", "list", *force, says=["link: ", "symbolic link"])
        self.assertEqual((header(self.path("real")), self.files()), (before, ["dangling", "link", "list", "real"]))

    def test_a_missing_directory_is_named(self):
        self.refused("create", "no/f", "--capacity", "9", says="no/f")
        self.write("file", b"")
        self.refused("create", "file/f", "--capacity", "9", says=["file/f: ", "A part of the path is a file and not a folder. Correct the path."])

    def test_like_names_what_is_wrong_with_the_other_file(self):
        self.refused("create", "f", "--like", "missing", says="missing: ")
        self.write("foreign", b"SQLite format 3\0" * 2000)
        self.refused("create", "f", "--like", "foreign", says="foreign: not a bfstore file")
        self.assertEqual(self.files(), ["foreign"])

    def test_a_directory_without_permission_is_named(self):
        self.without_privileges()
        os.mkdir(self.path("d"), 0o500)
        owner = os.geteuid()
        user = self.user.get("user", owner)
        self.refused("create", "d/f", "--capacity", "9", says=[
            "d/f: creating it in its folder: Permission denied. Check the permissions of the file and its folder. "
            f"The mode of the folder is 0500, its owner user {owner}, its group ", f"and this process is user {user}."])
        self.refused("plan", "-n", "9", "--svg", "d/f", says=f"d/f: cannot make it in its folder: Permission denied. Check the permissions of the file and its folder. The mode of the folder is 0500, its owner user ")

    def test_messages_are_one_safe_line_whatever_the_name(self):
        line = self.refused("create", b"no\n\x1b[31m\xff\xc2\x9b\xc3\xa9/f", "--capacity", "9")
        self.assertIn(b"no\\n\\x1b[31m\\xff\\xc2\\x9b\xc3\xa9/f", line)
        self.refused("create", "f", "--capacity", "1\n\x1b[2J", says="'1\\n\\x1b[2J'")


if __name__ == "__main__":
    main()
