"""bf add --create: makes the file if there is none, of any number of processes one, and adds to it."""
import gzip
import itertools
import os
import subprocess

from bf_case import BF, CLEAN, PATIENCE, SURE, BfCase, header, heed_signals, main

ROUNDS, PROCESSES = 40, 4


class AddCreate(BfCase):
    def test_it_says_whether_it_made_the_file(self):
        self.assertRegex(self.good("add", "f", "a", "b", "--create", *SURE),
                         rb"^f: created, room for 2,000 keys at [^\n]*; 2 keys added \(2 of them certainly new\)\n$")
        self.assertEqual(self.good("add", "f", "c", "--create", *SURE), b"f: 1 key added (1 certainly new)\n")
        self.assertEqual(self.good("add", "f", "d", "--create", "-q", *SURE), b"")
        self.assertEqual((header(self.path("f"))["state"], header(self.path("f"))["keys_added"]), (CLEAN, 4))
        self.assertEqual(self.good("contains", "f", "--maybe", *"abcde"), b"a\nb\nc\nd\n")

    def test_keys_of_a_file_and_of_a_pipe_make_one_too(self):
        self.write("keys", b"a\nb\n")
        self.assertRegex(self.good("add", "f", "--create", *SURE, "--from", "keys"), rb"^f: created, [^\n]*; 2 keys added")
        self.assertRegex(self.good("add", "g", "--create", *SURE, input=b"a\n"), rb"^g: created, [^\n]*; 1 key added")

    # A producer that failed in a pipe was once a success without keys.
    def test_a_list_without_keys_is_an_error(self):
        self.write("empty", b"")
        self.write("empty.gz", gzip.compress(b""))
        self.good("create", "f", *SURE, "-q")
        for words, name in ([], "standard input"), (["--from", "empty"], "empty"), (["-q", "--from", "empty.gz"], "empty.gz"), (["-0"], "standard input"):
            with self.subTest(words):
                self.refused("add", "f", *words, input=b"", says=f"bf: {name}: holds no keys, so none were added to f.")
        self.refused("add", "g", "--create", *SURE, input=b"", says="none were added to g, which is new and empty.")
        self.assertEqual(header(self.path("f"))["state"], CLEAN)

    def test_the_new_file_is_as_that_of_bf_create(self):
        options = ["--capacity", "1000", "--fpr", "0.001", "--layout", "classic", "--seed", "5", "--note", "ours", "--mode", "644"]
        self.good("create", "f", *options, "-q")
        self.good("add", "f", "a", "-q")
        self.good("add", "g", "a", "-q", "--create", *options)
        self.assertEqual(header(self.path("g")), header(self.path("f")))
        self.assertEqual(os.stat(self.path("g")).st_mode, os.stat(self.path("f")).st_mode)
        self.good("add", "h", "a", "-q", "--create", "--like", "f")
        self.assertEqual(header(self.path("h"))["seed"], 5)
        self.good("add", "part", "a", "-q", "--create", *SURE, "--part", "0/1")

    def test_a_file_that_is_there_keeps_its_size(self):
        self.good("create", "f", *SURE, "-q")
        before = header(self.path("f"))["m"]
        self.good("add", "f", "a", "-q", "--create", "--capacity", "9M")
        self.assertEqual(header(self.path("f"))["m"], before)

    def test_a_file_that_is_there_and_is_another_one_gets_no_key(self):
        self.good("create", "f", *SURE, "-q")
        for options, what in (("--layout classic", "layout"), ("--seed 8", "seed"), ("--hash murmur3", "hash"), ("--part 1/2", "part")):
            self.refused("add", "f", "a", "--create", "--capacity", "9", *options.split(), says=["f: ", f"another {what}"])
        self.assertEqual(header(self.path("f"))["keys_added"], 0)
        self.write("text", b"no filter")
        self.refused("add", "text", "a", "--create", *SURE, says="text: ")

    def test_a_secret_is_of_both(self):
        self.write("secret", b"0123456789abcdef")
        os.chmod(self.path("secret"), 0o600)
        secret = ["--capacity", "9", "--hash", "siphash", "--secret-file", "secret"]
        for key in "ab":
            self.good("add", "f", key, "-q", "--create", *secret)
        self.write("secret", b"another secret..")
        self.refused("add", "f", "c", "--create", *secret, says=["f: ", "--secret-file"])
        self.refused("add", "g", "c", "--create", *secret[:-2], says="siphash needs a secret")

    def test_an_online_build_begins_with_it(self):
        self.assertIn(b"created", self.good("add", "f", "a", "--create", "--filling", *SURE))
        self.refused("contains", "f", "b", says="still being filled")
        self.good("finish-filling", "f", "-q")
        self.assertEqual(self.good("contains", "f", "--maybe", "a", "b"), b"a\n")

    def test_the_options_go_together(self):
        self.refused("add", "f", "a", "--capacity", "9", says=["--capacity", "--create", "bf add --help"])
        self.refused("add", "f", "a", "--filling", says=["--filling", "--create"])
        self.refused("add", "f", "a", "--create", says=["add: no size given", "--capacity"])
        self.refused("add", "f", "a", "--create", "--probes", "3", says="--probes alone gives no size. Give --capacity N or --bits M, too.")
        self.refused("add", "f", "a", "--create", "--capacity", "9", "--hash", "external", says="takes digests")
        self.refused("add", "f", "a", "--create", *SURE, "--force", says="--force")
        self.assertEqual(self.files(), [])

    def test_a_place_where_no_file_can_be_is_an_error_at_once(self):
        self.refused("add", "none/f", "a", "--create", *SURE, says="none")
        os.symlink("nowhere", self.path("link"))
        self.refused("add", "link", "a", "--create", *SURE, says=["link: a symbolic link to ", "symbolic link"])
        os.mkdir(self.path("folder"))
        self.refused("add", "folder", "a", "--create", *SURE, says="folder: ")
        self.refused("add", "f", "--from", "none", "--create", *SURE, says="none: ")
        self.assertEqual(self.files(), ["folder", "link"])

    def at_the_gate(self, *words):
        """A bf that begins when the fifo `gate` is opened."""
        process = subprocess.Popen(["sh", "-c", ': < gate; exec "$0" "$@"', BF, *words], cwd=self.dir, stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, preexec_fn=heed_signals)
        self.addCleanup(self.reap, process)
        return process

    def test_of_several_at_the_same_moment_one_makes_the_file_and_no_key_is_lost(self):
        os.mkfifo(self.path("gate"))
        succeeded = 0
        for turn in range(ROUNDS):
            name, keys = f"f{turn}", [[f"{turn}-{number}-{key}" for key in range(3)] for number in range(PROCESSES)]
            for number, own in enumerate(keys):
                self.write(f"keys{number}", "".join(key + "\n" for key in own).encode())
            # In odd rounds two are the only writer, if they can be.
            given = [["--from", f"keys{number}"] if turn % 2 and number % 2 else own for number, own in enumerate(keys)]
            racers = [self.at_the_gate("add", name, *own, "--create", *SURE) for own in given]
            with open(self.path("gate"), "wb"):
                done = [racer.communicate(timeout=PATIENCE) for racer in racers]
            self.assertEqual([racer.returncode for racer in racers], [0] * PROCESSES, done)
            self.assertEqual(sum(b": created, " in said for said, _ in done), 1, done)
            self.assertEqual(header(self.path(name))["state"], CLEAN)
            everything = "".join(key + "\n" for key in itertools.chain(*keys)).encode()
            self.assertEqual(self.good("contains", name, "--maybe", input=everything), everything)
            succeeded += len(racers)
        self.assertEqual(succeeded, ROUNDS * PROCESSES)
        self.assertEqual(len([name for name in self.files() if name.startswith("f")]), ROUNDS)


if __name__ == "__main__":
    main()
