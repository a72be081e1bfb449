"""bf seal and bf verify: filters that detect damage, and bf contains on damaged ones."""
import os
import shutil

from bf_case import PATIENCE, BfCase, header, main

KEYS = b"".join(b"key %d\n" % i for i in range(20000))
BODY, CHUNK = 16384, 65536


class Seal(BfCase):
    def make(self):
        self.good("build", "f", "-q", "--from", "-", "--capacity", "200k", "--seed", "7", input=KEYS)
        self.good("seal", "f", "s", "-q")

    def damage(self, offset, content=b"\0" * 1000):
        with open(self.path("s"), "r+b") as file:
            file.seek(offset)
            file.write(content)

    def test_a_sealed_filter_answers_as_before_and_is_as_it_was_sealed(self):
        self.make()
        self.assertEqual(self.good("verify", "s"), b"s: is as it was sealed, 4 chunks of 64 KiB\n")
        self.assertEqual(self.good("verify", "-q", "s"), b"")
        with open(self.path("s"), "ab") as file:
            file.write(b"12345")
        self.assertEqual(self.good("verify", "s"), b"s: is as it was sealed, 4 chunks of 64 KiB; 5 bytes follow the end of the filter, and are no part of it\n")
        asked = [self.good("contains", file, input=KEYS + b"absent\n") for file in ("f", "s")]
        self.assertEqual(asked[0], asked[1])
        self.good("contains", "s", "--verify", "key 1")

    def test_damage_is_named_and_tolerated_where_that_is_asked_for(self):
        self.make()
        self.damage(BODY + CHUNK)
        done = self.run_bf("verify", "s")
        self.assertEqual((done.returncode, done.stdout), (1, b"s: damaged: bytes %d to %d\n" % (BODY + CHUNK, BODY + 2 * CHUNK - 1)))
        self.assert_complaint(done.stderr, "1 of 4 chunks of 64 KiB is damaged")
        self.refused("contains", "s", "--verify", "key 1", says=("damaged", "ask it with bf contains --tolerate-damage", "bytes 81920 to 147455"))
        self.assertEqual(self.good("contains", "s", "--tolerate-damage", "--count", input=KEYS), b"maybe\t20000\nabsent\t0\n")
        self.assertNotEqual(self.good("contains", "s", "--count", input=KEYS), b"maybe\t20000\nabsent\t0\n")
        absent = self.good("contains", "s", "--tolerate-damage", "--count", input=KEYS.replace(b"key", b"no key"))
        self.assertTrue(5500 > int(absent.split()[1]) > 4500, absent)

    # "Put back a copy of this same sealed file" was refused: only --accept-loss did it, which nothing said.
    def test_an_undamaged_copy_of_the_same_sealed_file_replaces_a_damaged_one(self):
        for layout in ("blocked", "static", "counting"):
            self.good("build", "f", "-q", "--force", "--from", "-", "--layout", layout, "--seed", "7", input=KEYS)
            self.good("seal", "f", "good", "-q", "--force", "--accept-loss")
            for what, at, content in (("a body", BODY, b"\xaa" * 1000), ("a slot", 4096, b"\0" * 4096), ("its keys", 12288 + 64, b"\1" * 64), ("its end", None, None)):
                for command in ("seal", "copy"):
                    with self.subTest(layout=layout, what=what, command=command):
                        shutil.copy(self.path("good"), self.path("s"))
                        if content:
                            self.damage(at, content)
                        else:
                            os.truncate(self.path("s"), BODY + 100)
                        self.assertNotEqual(self.run_bf("verify", "s").returncode, 0)
                        self.good(command, "good", "s", "--force", "-q")
                        self.assertEqual(self.good("contains", "s", "--count", input=KEYS), b"maybe\t20000\nabsent\t0\n")
            self.good("seal", "good", "s", "--force", "--accept-loss", "-q")
            self.good("verify", "s")

    def test_the_message_about_damage_has_the_command_that_mends_it(self):
        self.make()
        shutil.copy(self.path("s"), self.path("COPY"))
        self.damage(BODY)
        command = "bf seal COPY s --force"
        self.assertIn(f"({command})".encode(), self.run_bf("verify", "s").stderr)
        self.refused("contains", "s", "--verify", "key 1", says=f"({command})")
        self.refused("copy", "s", "t", says=f"({command})")
        self.good(*command.split()[1:])
        self.good("verify", "s")

    def test_a_directory_as_the_name_of_a_sealed_file_is_named(self):
        # "exists already. Replace it (--force ..."
        self.make()
        for force in ([], ["--force"]):
            self.refused("seal", "s", ".", *force, says=".: a directory. Give a file name in it.")

    def test_each_command_of_a_message_about_damage_works_for_every_layout(self):
        # Of a static file they led to the three steps of bf copy --help, whose first one failed: "Copy twice."
        ways = {"static": ["--layout", "static"], "blocked": [], "counting": ["--layout", "counting"], "window": ["--window", "24h"],
                "growing": ["--layout", "growing", "--capacity", "30k", "--capacity-at-most", "1M"]}
        accidents = {"cut": lambda: os.truncate(self.path("s"), os.path.getsize(self.path("s")) - 1), "cut in the header": lambda: os.truncate(self.path("s"), 2000),
                     "header": lambda: self.damage(40, b"XX"), "zeros": lambda: self.write("s", bytes(30000)), "empty": lambda: self.write("s", b"")}
        for layout, options in ways.items():
            for sealed in ([False] if layout in ("static", "growing") else [False, True]):
                for name, accident in accidents.items():
                    for copied in ("cp", "copy"):
                        with self.subTest(layout=layout, sealed=sealed, accident=name, copied=copied):
                            self.put_back(options, layout == "static" or sealed, sealed, accident, copied)

    def put_back(self, options, never_changes, sealed, accident, copied):
        for name in ("s", "COPY"):
            if os.path.exists(self.path(name)):
                os.unlink(self.path(name))
        if "growing" in options:
            self.good("create", "s", "-q", *options)
            self.good("add", "s", "-q", input=KEYS)
        else:
            self.good("build", "s", "-q", "--from", "-", *options, input=KEYS)
        if sealed:
            self.good("seal", "s", "s", "-q", "--force")
        if copied == "cp":
            shutil.copy(self.path("s"), self.path("COPY"))
        else:
            self.good("seal" if sealed else "copy", "s", "COPY", "-q")
        accident()
        said = self.refused("contains", "s", "key 1").decode()
        if "(bf seal COPY s --force)" in said:
            self.assertTrue(never_changes)
            done = self.run_bf("seal", "COPY", "s", "--force", "-q")
            if done.returncode != 0:  # bf cannot tell that it is a copy of this file, and says how to tell it
                self.assertIn(b"If COPY was copied from this file after its last key came, or if these keys may go: --accept-loss.", done.stderr)
                self.assertEqual(copied, "copy")
                self.good("seal", "COPY", "s", "--force", "--accept-loss", "-q")
        elif "bf copy --help" in said:
            self.three_steps(never_changes and not sealed)
        else:
            self.assertIn("s: is empty. To make a filter in its place: bf build, create or copy with --force.", said)
            self.good("copy", "COPY", "s", "--force", "-q")
        self.assertEqual(self.good("contains", "s", "--count", input=KEYS), b"maybe\t20000\nabsent\t0\n")

    def three_steps(self, static):
        help_words = " ".join(self.good("copy", "--help").decode().split())
        self.assertIn("bf copy --filling --force backup/users.bf users.bf", help_words)
        self.assertIn("A static or sealed filter gets no keys after it was made: bf seal COPY FILE --force puts a copy of the same file back in one step.", help_words)
        if not static:
            self.good("copy", "--filling", "--force", "COPY", "s", "-q")
            self.good("add", "s", "-q", input=b"key 1\n")
            self.good("finish-filling", "s", "-q")
            return
        self.refused("copy", "--filling", "--force", "COPY", "s", says="COPY: no keys are added to a filter of the layout static, so its copy has none to wait for. "
                                                                      "Leave --filling out: bf copy COPY s --force.")
        self.refused("copy", "COPY", "s", "--force", says="Build it again (bf build --force --layout static). If COPY was copied from this file after its last key came")
        self.good("seal", "COPY", "s", "--force", "--accept-loss", "-q")

    def test_a_damaged_one_is_not_replaced_by_another_file_and_that_says_that_it_is_damaged(self):
        self.make()
        self.damage(BODY)
        says = ["s: is damaged, so bf cannot tell whether keys would be lost that f lacks", "Give an undamaged copy of this same sealed file (bf seal COPY s --force), "
                "or build it again (bf build --force). If f was copied from this file after its last key came, or if these keys may go: --accept-loss."]
        self.refused("seal", "f", "s", "--force", says=says)
        self.refused("copy", "f", "s", "--force", says=says)
        self.damage(4096, bytes(8192))
        self.refused("copy", "f", "s", "--force", says=["s: is no filter file, or damaged (BFS_ESLOTS), so bf cannot tell", *says[1:]])
        self.make_anew()
        self.damage(4200, b"x" * 9)
        self.assert_complaint(self.run_bf("verify", "s").stderr, "s: its header or its checksums are damaged.")

    def make_anew(self):
        for name in "fs":
            os.unlink(self.path(name))
        self.make()

    def test_a_copy_says_that_it_is_not_sealed(self):
        self.make()
        self.assertTrue(self.good("copy", "s", "c").endswith(b"; not sealed (bf seal makes a sealed copy)\n"))
        self.assertNotIn(b"sealed", self.good("copy", "f", "d"))
        self.good("build", "static", "-q", "--from", "-", "--layout", "static", input=KEYS)
        self.assertNotIn(b"sealed", self.good("copy", "static", "e"))
        self.good("verify", "e")
        self.assertIn("The copy of a sealed filter is not sealed", " ".join(self.good("help", "copy").decode().split()))

    def test_it_is_sealed_in_its_own_place_and_never_written_to(self):
        self.make()
        self.refused("seal", "f", "s", says="--force")
        self.assertEqual(self.good("seal", "f", "f", "--force"), b"f: sealed\n")
        for command in (["add", "f", "x"], ["recover", "f", "x"], ["recover", "f", "--accept-loss"]):
            self.refused(*command, says="sealed, so it is never")
        self.good("verify", "f")
        self.good("build", "f", "--force", "-q", "--capacity", "100", "--from", "-", input=b"x\n")
        self.good("add", "f", "y", "-q")

    def test_a_filter_with_a_hole_is_copied_and_sealed_with_a_warning(self):
        self.good("build", "f", "-q", "--from", "-", "--capacity", "20k", input=KEYS)
        commands = (["copy", "f", "copied"], ["seal", "f", "sealed"], ["fold", "f", "folded", "--to-fpr", "0.1"], ["seal", "f", "f"])
        for command in commands[:3]:
            self.good(*command, "-q")
        with open(self.path("f"), "r+b") as file:
            file.seek(BODY)
            file.write(bytes(8192))
        for command in commands:
            done = self.run_bf(*command, "-q", "--force", "--accept-loss")
            self.assertEqual((done.returncode, done.stdout), (0, b""))
            self.assert_warning(done.stderr, ["f: ", " stretches of the body are much emptier than the others", 'a "no" may be wrong',
                                              *([] if command[2] == "f" else [f"{command[2]} lacks the same bits."])])

    def bytes_read(self, *args):
        """Returns how many bytes bf has read by system calls, from the disk or from memory, and what it said."""
        bf = self.spawn(*args)
        os.waitid(os.P_PID, bf.pid, os.WEXITED | os.WNOWAIT)
        with open(f"/proc/{bf.pid}/io", encoding="ascii") as counts:
            read = int(dict(line.split(": ") for line in counts)["rchar"])
        stderr = bf.communicate(timeout=PATIENCE)[1]
        self.assertEqual(bf.returncode, 0, stderr)
        os.remove(self.path(args[2]))  # comparing with what is replaced reads both, too
        return read, stderr

    def test_a_hole_is_looked_for_in_the_pass_that_copies(self):
        """A filter larger than memory was once read from the disk twice more than its copy needs."""
        self.good("build", "f", "-q", "--from", "-", "--capacity", "4M", input=KEYS)
        body = header(self.path("f"))["m"] // 8
        self.assertGreater(body, 4 << 20)
        passes = {"copy": 1, "seal": 1, "fold": 2}  # fold reads all bits to know how small the new filter may be
        rate = {"fold": ["--to-fpr", "0.1"]}
        for command, times in passes.items():
            for quiet in ([], ["-q"]):
                with self.subTest(command=command, quiet=quiet):
                    read, stderr = self.bytes_read(command, "f", "g", *rate.get(command, []), *quiet)
                    self.assertTrue(times * body <= read < (times + 0.5) * body, read / body)
                    self.assertNotIn(b"warning", stderr)
        with open(self.path("f"), "r+b") as file:
            file.seek(-8 - body // 2, os.SEEK_END)
            file.write(bytes(body // 8))
        for command, times in passes.items():
            with self.subTest(command=command, hole=True):
                read, stderr = self.bytes_read(command, "f", "g", "-q", *rate.get(command, []))
                self.assertTrue(times * body <= read < (times + 0.5) * body, read / body)
                self.assertIn(b"warning: f: 8 of 64 stretches of the body are much emptier", stderr)
                self.assertIn(b"g lacks the same bits", stderr)

    def test_a_file_whose_bits_are_all_gone_is_warned_of(self):
        """Every stretch is as empty as the others: the count of keys alone tells it."""
        self.good("build", "f", "-q", "--from", "-", "--capacity", "20k", input=KEYS)
        with open(self.path("f"), "r+b") as file:
            file.seek(BODY)
            file.write(bytes(os.path.getsize(self.path("f")) - BODY - 8))
        for command in ("copy", "seal"):
            done = self.run_bf(command, "f", command)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn(b"keys were counted, and the bits are those of about 0: a part of the file was zeroed", done.stderr)

    def test_bad_arguments_and_files_are_named(self):
        self.make()
        self.refused("verify", "f", says=("f: not sealed", "bf seal"))
        self.refused("contains", "f", "--verify", "x", says="not sealed")
        self.refused("verify", "none", says="none: no such file")
        self.refused("seal", "none", "t", says="none: no such file")
        self.refused("seal", "f", "no/t", says="no/t")
        self.refused("seal", "f", says="SEALED")
        self.refused("verify", says="FILE")
        self.refused("contains", "s", "--verify", "--tolerate-damage", "x", says="--verify")
        self.write("text", b"no filter")
        for command in (["seal", "text", "t"], ["verify", "text"], ["copy", "text", "t"], ["merge", "t", "s", "text"], ["compare", "s", "text"], ["clear", "text", "--force"]):
            self.refused(*command, says="text: is no bfstore filter, and looks like text, such as a list of keys. Give the path of a filter: bf build makes one of a list.")
        self.assertEqual(self.files(), ["f", "s", "text"])

    def test_the_mode_is_the_one_asked_for(self):
        self.make()
        self.good("seal", "f", "t", "-q", "--mode", "0440")
        self.assertEqual(os.stat(self.path("t")).st_mode & 0o777, 0o440)
        self.assertEqual(os.stat(self.path("s")).st_mode & 0o777, 0o600)


if __name__ == "__main__":
    main()
