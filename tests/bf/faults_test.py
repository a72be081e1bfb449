"""bf and files that are in use, killed, copied, overwritten, too large, or on a poor filesystem."""
import json
import os
import resource
import shutil
import signal
import unittest

from bf_case import CLEAN, MORE_THAN_MEMORY, PATIENCE, SURE, BfCase, header, main, preloaded

LIVE_WORD_AT = 12288


def limit_files_to_a_mebibyte():
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20))


def limit_memory():
    resource.setrlimit(resource.RLIMIT_AS, (64 << 20, 64 << 20))


class Faults(BfCase):
    def setUp(self):
        super().setUp()
        self.good("create", "f", "-q", *SURE)

    def overwrite(self, data):
        with open(self.path("f"), "r+b") as file:
            file.seek(LIVE_WORD_AT)
            file.write(data)

    def wait_for_a_key(self, process):
        self.wait_until_it(process, lambda: header(self.path("f"))["keys_added"] > 0)

    def test_a_filter_zeroed_under_contains_gives_no_more_answers(self):
        self.good("add", "f", "-q", "one")
        for choice in [[], ["--absent"], ["--count"]]:
            before = header(self.path("f"))
            asking = self.spawn("contains", "f", *choice)
            os.write(asking.stdin.fileno(), b"two\n")
            self.wait_until_it_reads(asking)
            with open(self.path("f"), "rb") as file:
                whole = file.read()
            self.overwrite(bytes(len(whole) - LIVE_WORD_AT))
            stdout, stderr = asking.communicate(b"one\n", timeout=PATIENCE)
            expected = {"": b"absent\ttwo\n", "--absent": b"two\n", "--count": b""}["".join(choice)]
            self.assertEqual((asking.returncode, stdout), (2, expected))
            self.assert_complaint(stderr, says=["f: ", "no answers after 1 key"])
            self.overwrite(whole[LIVE_WORD_AT:])
            self.assertEqual(header(self.path("f")), before)

    def test_without_memory_for_a_key_it_is_an_error_and_no_answer(self):
        start = self.run_bf("--version", preexec_fn=limit_memory)
        if start.returncode != 0:  # a sanitizer needs all the address space there is
            return self.assertIn(b"Sanitizer", start.stderr)
        key = b"k" * (100 << 20)
        for command in (["contains", "f"], ["contains", "f", "--absent"], ["contains", "f", "--count"], ["add", "f"],
                        ["build", "g", "--from", "-"]):
            self.refused(*command, input=key, preexec_fn=limit_memory, says=["standard input: out of memory: a key has more than ", " are needed to read on. This process may have 64.0 MiB of addresses: raise that limit (ulimit -v)."])
        self.assertEqual(self.files(), ["f"])
        self.assertEqual(header(self.path("f"))["keys_added"], 0)

    def test_a_filter_zeroed_under_add_is_an_error(self):
        adding = self.spawn("add", "f")
        os.write(adding.stdin.fileno(), b"one\n")
        self.wait_for_a_key(adding)
        self.overwrite(bytes(8))
        stdout, stderr = adding.communicate(b"two\n", timeout=PATIENCE)
        self.assertEqual((adding.returncode, stdout), (2, b""))
        self.assert_complaint(stderr, says=["f: adding stopped after 1 key: the file was truncated, overwritten or zero-filled while it was in use. Another program wrote to "
                                            "the file, or the disk failed. Build it again from all keys (bf build --force), or put a copy back by the three steps of bf copy --help."])

    def test_a_filter_truncated_under_a_remove_is_built_again_without_the_keys_of_the_list(self):
        self.good("create", "g", "-q", "--layout", "counting", *SURE)
        self.good("add", "g", "-q", "one", "two")
        removing = self.spawn("remove", "g")
        os.write(removing.stdin.fileno(), b"one\n")
        self.wait_until_it(removing, lambda: json.loads(self.run_bf("inspect", "--json", "g").stdout)["keys_removed"] == 1)
        os.truncate(self.path("g"), LIVE_WORD_AT + 4096)
        stdout, stderr = removing.communicate(b"two\n", timeout=PATIENCE)
        self.assertEqual((removing.returncode, stdout), (2, b""))
        self.assert_complaint(stderr, says=["g: removing stopped after 1 key: ", "Build it again from all keys (bf build --force --layout counting)",
                                            "The first 1 of the list are done", "Leave all keys of the list out when you build it again."])

    def asked_one_key(self, *flags):
        """Starts a bf contains that has answered one key and waits for more."""
        self.good("add", "f", "-q", "one")
        asking = self.spawn("contains", "f", *flags)
        os.write(asking.stdin.fileno(), b"one\n")
        self.assertEqual(asking.stdout.readline(), b"maybe\tone\n")
        return asking

    def test_a_filter_truncated_under_contains_gives_no_more_answers(self):
        for size in (LIVE_WORD_AT + 4096, 0):
            asking = self.asked_one_key()
            with open(self.path("f"), "rb") as file:
                whole = file.read()
            os.truncate(self.path("f"), size)
            stdout, stderr = asking.communicate(b"two\n", timeout=PATIENCE)
            self.assertEqual((asking.returncode, stdout), (2, b""))
            self.assert_complaint(stderr, says=["f: ", "no answers after 1 key", "could not be read"])
            with open(self.path("f"), "r+b") as file:
                file.write(whole)

    def test_a_filter_truncated_under_add_is_an_error(self):
        for size in (LIVE_WORD_AT + 4096, 0):
            self.good("create", "g", "-q", *SURE)
            adding = self.spawn("add", "g")
            os.write(adding.stdin.fileno(), b"one\n")
            self.wait_until_it(adding, lambda: header(self.path("g"))["keys_added"] > 0)
            os.truncate(self.path("g"), size)
            stdout, stderr = adding.communicate(b"two\n", timeout=PATIENCE)
            self.assertEqual((adding.returncode, stdout), (2, b""))
            self.assert_complaint(stderr, says=["g: ", "could not be read"])
            os.unlink(self.path("g"))

    def test_a_copy_in_memory_is_asked_whatever_happens_to_the_file(self):
        asking = self.asked_one_key("--copy")
        os.truncate(self.path("f"), 0)
        stdout, stderr = asking.communicate(b"two\none\n", timeout=PATIENCE)
        self.assertEqual((asking.returncode, stdout, stderr), (0, b"absent\ttwo\nmaybe\tone\n", b""))

    def test_an_add_tells_that_another_program_moved_the_file_away_or_removed_it(self):
        for gone in (lambda path: os.rename(path, path + ".old"), os.unlink):  # once it said "added", with exit code 0
            self.good("create", "g", "-q", *SURE)
            adding = self.spawn("add", "g")
            os.write(adding.stdin.fileno(), b"one\n")
            self.wait_until_it(adding, lambda: header(self.path("g"))["keys_added"] > 0)
            gone(self.path("g"))
            stdout, stderr = adding.communicate(b"two\n", timeout=PATIENCE)
            self.assertEqual((adding.returncode, stdout), (2, b""))
            self.assert_complaint(stderr, says=["g: another program moved it away or removed it", "Add all of these keys again"])
        self.assertEqual(self.good("contains", "g.old", "one", "two"), b"maybe\tone\nmaybe\ttwo\n")

    def test_a_remove_tells_that_another_program_moved_the_file_away(self):
        self.good("create", "g", "-q", "--layout", "counting", *SURE)
        self.good("add", "g", "-q", "one", "two")
        removing = self.spawn("remove", "g")
        self.wait_until_it_reads(removing)
        os.rename(self.path("g"), self.path("h"))
        stdout, stderr = removing.communicate(b"one\n", timeout=PATIENCE)
        self.assertEqual((removing.returncode, stdout), (2, b""))
        self.assert_complaint(stderr, says=["g: another program moved it away or removed it", "1 key removed", "Do not remove these again"])
        self.assertEqual(self.good("contains", "h", "one", "two"), b"absent\tone\nmaybe\ttwo\n")

    def test_a_truncated_filter_names_the_safe_way_to_put_a_copy_back(self):
        os.truncate(self.path("f"), os.path.getsize(self.path("f")) - 1)
        for command in (["contains", "f", "x"], ["inspect", "f"]):
            done = self.run_bf(*command)
            self.assertEqual(done.returncode, 2)
            said = " ".join((done.stdout + done.stderr).decode().split())  # once "Use a copy", which makes wrong noes
            self.assertIn("put a copy back by the three steps of bf copy --help", said)
            self.assertNotRegex(said, r"Use a (good )?copy")

    def test_a_killed_add_loses_nothing(self):
        adding = self.spawn("add", "f")
        os.write(adding.stdin.fileno(), b"one\ntwo\n")
        self.wait_until_it(adding, lambda: header(self.path("f"))["keys_added"] == 2)
        self.wait_until_it_reads(adding)  # killed in a question to the kernel, it would leave an unclean file
        adding.kill()
        adding.wait()
        self.assertEqual(self.good("contains", "f", "one", "two", "three"),
                         b"maybe\tone\nmaybe\ttwo\nabsent\tthree\n")
        self.assertEqual(self.good("add", "f", "three"), b"f: 1 key added (1 certainly new)\n")
        self.assertEqual((header(self.path("f"))["keys_added"], header(self.path("f"))["state"]), (3, CLEAN))

    def test_a_copy_of_a_file_in_use_is_refused(self):
        adding = self.spawn("add", "f")
        os.write(adding.stdin.fileno(), b"one\n")
        self.wait_for_a_key(adding)
        shutil.copy(self.path("f"), self.path("copy"))
        self.refused("contains", "copy", "one", says="copy: ")
        self.refused("add", "copy", "one", says="copy: ")
        self.assertEqual(self.good("contains", "f", "one"), b"maybe\tone\n")

    def test_a_file_beyond_the_size_limit_is_an_error_and_leaves_nothing(self):
        self.refused("create", "g", "--capacity", "10M", preexec_fn=limit_files_to_a_mebibyte, says="g: ")
        self.refused("build", "g", "--from", "-", "--capacity", "10M", preexec_fn=limit_files_to_a_mebibyte,
                     says="g: ")
        self.assertEqual(self.files(), ["f"])

    def test_a_limit_of_open_files_is_named_with_the_command_that_raises_it(self):
        for files in range(5, 9):
            done = self.run_bf("contains", "f", "one", preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (files, files)))
            if done.returncode == 2 and b"shared libraries" not in done.stderr:
                self.assert_complaint(done.stderr, says="Too many open files. Close some files, or raise the limit of open files (ulimit -n).")

    def test_a_file_without_permission_says_for_what_and_who_has_it(self):
        self.write("keys", b"one\n")
        os.chmod(self.path("keys"), 0o600)
        os.chmod(self.path("f"), 0o644)
        os.chmod(self.dir, 0o755)
        self.without_privileges()
        if not self.user:
            return self.assertNotEqual(os.geteuid(), 0)
        rights = ", its owner user 0, its group 0, and this process is user 65534."
        for command in (["add", "f", "one"], ["add", "f", "one", "--create", *SURE], ["recover", "f", "one"], ["finish-filling", "f"]):
            self.refused(*command, says=["f: opening it for writing: Permission denied.", "Its mode is 0644" + rights])
        self.refused("contains", "f", "--from", "keys", says=["keys: cannot open the keys: Permission denied.", "Its mode is 0600" + rights])
        self.refused("plan", "-n", "100", "--svg", "picture.svg", says=["picture.svg: cannot make it in its folder: Permission denied.", "The mode of the folder is 0755" + rights])

    def test_a_spool_beyond_the_size_limit_names_the_directory(self):
        env = dict(os.environ, TMPDIR=self.dir)
        self.refused("build", "g", "--from", "-", env=env, input=MORE_THAN_MEMORY,
                     preexec_fn=limit_files_to_a_mebibyte,
                     says=self.dir + ": cannot keep what was read there: File too large. Raise the limit of file sizes (ulimit -f), or give --capacity, which keeps nothing.")
        self.write("keys", MORE_THAN_MEMORY * 4)
        said = self.refused("build", "g", "--from", "keys", "--parts", "2", env=env, preexec_fn=limit_files_to_a_mebibyte,
                            says=[self.dir + ": ", "(ulimit -f)", "or leave --parts out, which takes 8 bytes of each key there."])
        self.assertNotIn(b"--capacity", said)  # with it --parts keeps as much
        os.unlink(self.path("keys"))
        self.assertEqual(self.files(), ["f"])


@unittest.skipUnless("NO_TMPFILE" in os.environ, "NO_TMPFILE is not set to the library to preload")
class WithoutUnnamedFiles(BfCase):
    """On a filesystem without O_TMPFILE bf uses temporary names, and still leaves nothing."""

    def setUp(self):
        super().setUp()
        self.env = preloaded("NO_TMPFILE")

    def test_build_from_a_pipe_works(self):
        self.env["TMPDIR"] = self.dir
        self.good("build", "f", "--from", "-", "-q", input=b"one\ntwo\n" + MORE_THAN_MEMORY, env=self.env)
        self.assertEqual(self.files(), ["f"])
        self.assertEqual(self.good("contains", "f", "--maybe", "one", "two"), b"one\ntwo\n")

    def test_what_is_kept_of_a_pipe_has_no_name(self):
        os.mkdir(self.path("tmp"))
        self.env["TMPDIR"] = self.path("tmp")
        building = self.spawn("build", "f", "--from", "-", env=self.env)
        building.stdin.write(MORE_THAN_MEMORY)
        building.stdin.flush()
        self.wait_until_it_reads(building)
        links = [os.readlink(f"/proc/{building.pid}/fd/{fd}") for fd in os.listdir(f"/proc/{building.pid}/fd")]
        self.assertTrue([link for link in links if "/tmp/bf-spool-" in link and link.endswith(" (deleted)")], links)
        self.assertEqual(os.listdir(self.path("tmp")), [])

    def test_an_interrupted_build_leaves_nothing(self):
        for number in [signal.SIGINT, signal.SIGTERM, signal.SIGHUP]:
            building = self.spawn("build", "f", "--from", "-", "--capacity", "9", env=self.env)
            os.write(building.stdin.fileno(), b"key\n")
            self.wait_until(self.files)
            self.assertEqual(len(self.files()), 1)
            self.assertNotEqual(self.files(), ["f"])
            building.send_signal(number)
            self.assertEqual(building.wait(timeout=PATIENCE), -number)
            self.assertEqual(self.files(), [])

    def test_a_failed_build_leaves_nothing(self):
        self.refused("build", "f", "--from", "-", "--capacity", "9", says="no keys", env=self.env)
        self.refused("create", "f", "--capacity", "10M", preexec_fn=limit_files_to_a_mebibyte, says="f: ",
                     env=self.env)
        self.assertEqual(self.files(), [])


if __name__ == "__main__":
    main()
