"""bf build and bf create with --force: readers that follow the path continue with the new file, and no other file is lost."""
import ctypes
import os
import pathlib

from bf_case import SURE, BfCase, header, main

READ, FOLLOW = 0x1, 0x8000
XXH3, SIPHASH, EXTERNAL = 1, 3, 2
SUPERSEDED = -104
KEYED = ["--hash", "siphash", "--secret-file", "secret"]


class Follower:
    """A handle with BFS_FOLLOW."""

    def __init__(self, case, path):
        self.library = ctypes.CDLL(os.environ["BFSTORE_LIBRARY"])
        self.handle = ctypes.c_void_p()
        code = self.library.bfs_open(path.encode(), ctypes.c_uint64(READ | FOLLOW), None, ctypes.byref(self.handle), None)
        case.assertEqual(code, 0)
        case.addCleanup(self.library.bfs_close, self.handle, None)

    def has(self, key):
        return self.library.bfs_contains(self.handle, key, ctypes.c_size_t(len(key)))

    def health(self):
        return self.library.bfs_health(self.handle)


class Replace(BfCase):
    def setUp(self):
        super().setUp()
        self.write("keys", b"new\n")
        for name, byte in (("secret", b"s"), ("other", b"o")):
            os.chmod(self.write(name, 16 * byte), 0o600)
        self.size = ["-n", "2000", "-p", "0.0000001"]

    def make(self, *options):
        self.good("create", "f", "-q", "--force", *self.size, *options)

    # Each build had a random seed, and every answer of such a reader was "maybe" from then on.
    def test_a_reader_that_follows_the_path_is_answered_from_the_new_file(self):
        self.make()
        seed = header(self.path("f"))["seed"]
        self.good("add", "f", "-q", "old")
        reader = Follower(self, self.path("f"))
        self.assertEqual((reader.has(b"old"), reader.has(b"new")), (1, 0))
        for more in ([], ["--parts", "2"]):
            self.good("build", "f", "-q", "--force", "--from", "keys", *self.size, *more)
            self.assertEqual(header(self.path("f"))["seed"], seed)
            self.wait_until(lambda: (reader.has(b"old"), reader.has(b"new")) == (0, 1))
        self.good("build", "f", "-q", "--force", *self.size, "--from", "-", input=b"old\n")
        self.wait_until(lambda: (reader.has(b"old"), reader.has(b"new")) == (1, 0))
        self.make()
        self.assertEqual(header(self.path("f"))["seed"], seed)
        self.wait_until(lambda: (reader.has(b"old"), reader.has(b"new")) == (0, 0))

    def test_another_seed_or_hash_is_said(self):
        for options in (["--seed", "9"], ["--hash", "xxh3"]):
            self.good("create", "f", "-q", "--force", *SURE)
            self.good("add", "f", "-q", "old")
            reader = Follower(self, self.path("f"))
            self.assert_warning(self.run_bf("build", "f", "--force", "--from", "keys", *options).stderr,
                                  says="Readers that follow the path answer maybe until they open it again: another hash or seed.")
            self.assertNotEqual(header(self.path("f"))["seed"], 7)
            self.wait_until(lambda: reader.health() == SUPERSEDED)
            self.assertEqual(reader.has(b"old"), 1)
        self.good("create", "f", "-q", "--force", *SURE)
        self.good("add", "f", "-q", "old")
        self.assertNotIn(b"Readers", self.run_bf("build", "f", "--force", "--from", "keys").stderr)
        self.assertEqual(header(self.path("f"))["seed"], 7)

    def test_the_form_of_keys_is_kept_unless_another_one_is_given(self):
        # ALICE was maybe, and absent after the same list was built again without --key-form.
        self.write("list", b"Alice\n")
        build = ["build", "low", "--from", "list", *self.size]
        self.good(*build, "-q", "--key-form", "lower", "--note", "mine")
        self.good(*build, "-q", "--force")
        self.assertEqual(header(self.path("low"))["note"], b"key-form: lower")
        self.assertEqual(self.good("contains", "low", "ALICE", "bob"), b"maybe\tALICE\nabsent\tbob\n")
        self.assertNotIn(b"form", self.run_bf(*build, "--force").stderr)
        self.assertNotIn(b"form", self.run_bf(*build, "--force", "--note", "of mine").stderr)
        self.assertEqual(header(self.path("low"))["note"], b"of mine\nkey-form: lower")
        self.good("create", "low", "-q", "--force", *self.size)
        self.good("add", "low", "-q", "Alice")
        self.good("contains", "low", "ALICE")
        said = "low: replaced a filter of about 1 key. Its keys were not compared with those of the new file. Its keys had the form lower, and the new ones have the form %s: "
        for options, form in ((["--key-form", "text"], "text"), (["--note", "key-form: upper"], "upper")):
            self.assert_warning(self.run_bf(*build, "--force", *options).stderr, says=said % form)
            self.good(*build, "-q", "--force", "--key-form", "lower")
        self.good("create", "low", "-q", "--force", *self.size)
        self.assert_warning(self.run_bf("create", "low", "--force", *self.size, "--key-form", "text").stderr,
                              says="low: replaced an empty filter. Its keys had the form lower, and the new ones have the form text: ")

    def test_what_the_new_filter_lacks_is_said(self):
        for options, words in ((["--layout", "counting"], "It had the layout counting (bf build --layout counting)."),
                               (["--layout", "classic"], "It had the layout classic (bf build --layout classic)."),
                               (["--layout", "growing"], "It had the layout growing (bf build --layout growing)."),
                               (["--window", "1h"], "It had a window of 1 h (bf build --layout window --window 1h)."),
                               (["--layout", "window-4", "--window", "90s"], "It had a window of 90 s (bf build --layout window-4 --window 90s)."),
                               (["--note", "mine"], "Its note is gone.")):
            self.good("create", "f", "-q", "--force", *self.size, *options)
            self.good("add", "f", "-q", "old")
            self.assertNotIn(words.encode(), self.run_bf("build", "f", "--force", "--from", "keys", *self.size, *options).stderr)
            self.assert_warning(self.run_bf("build", "f", "--force", "--from", "keys", *self.size).stderr, says="new file. " + words)

    # It was said that keys may be lost, and nothing of the seal.
    def test_a_seal_that_the_new_filter_lacks_is_said(self):
        build = ["build", "sealed", "--force", "--from", "keys"]
        self.good("build", "f", "--from", "keys", "-q")
        self.good("seal", "f", "sealed", "-q")
        self.assert_warning(self.run_bf(*build).stderr, says="new file. It was sealed: bf seal sealed sealed --force seals the new one.")
        self.good("seal", "sealed", "sealed", "--force", "-q")
        self.good("verify", "sealed", "-q")
        self.assert_warning(self.run_bf(*build, "--layout", "static").stderr, says="new file. It had the layout blocked (bf build --layout blocked).")
        self.assertNotIn(b"sealed", self.run_bf(*build, "--layout", "static").stderr.replace(b"bf: warning: sealed: ", b""))
        self.assert_warning(self.run_bf(*build).stderr, says="new file. It had the layout static (bf build --layout static). It was sealed.")

    def test_a_part_is_built_anew_with_the_seed_of_the_other_parts(self):
        self.good("create", "f", "-q", *SURE, "--part", "0/2")
        self.run_bf("build", "f", "--force", "-q", "--from", "-", "-n", "2000", "--part", "0/2", input=b"1\n2\n3\n4\n5\n6\n7\n8\n")
        self.assertEqual(header(self.path("f"))["seed"], 7)

    def test_a_filter_with_a_secret_is_replaced_by_one_with_that_secret(self):
        for command in (["build", "f", "--from", "keys"], ["create", "f", *self.size]):
            self.make(*KEYED)
            self.good(*command, "-q", "--force", "--secret-file", "secret")
            self.assertEqual(header(self.path("f"))["hash"], SIPHASH)
            self.good("contains", "f", "-q", "new", "--secret-file", "secret", code=0 if "build" in command else 1)
            self.refused(*command, "--force", says="f: the filter that is replaced has a secret. Give its secret (--secret-file)")
            self.refused(*command, "--force", "--secret-file", "other",
                         says=["f: the filter that is replaced has another secret.", "For a new one give --hash siphash, too; for none, --hash xxh3."])
            self.good(*command, "-q", "--force", "--secret-file", "other", "--hash", "siphash")
            self.good("add", "f", "-q", "new", "--secret-file", "other")
            self.good(*command, "-q", "--force", "--hash", "xxh3")
            self.assertEqual(header(self.path("f"))["hash"], XXH3)

    def test_a_hash_that_other_options_must_fit_is_not_kept(self):
        for options in (["--hash", "external"], ["--hash", "murmur3", "--layout", "classic"]):
            self.good("create", "f", "-q", "--force", *self.size, *options)
            self.good("build", "f", "-q", "--force", "--from", "keys")
            self.assertEqual(header(self.path("f"))["hash"], XXH3)

    # bf build keys.txt --from old.bf --force: the list was gone.
    def test_a_file_that_is_no_filter_is_not_replaced(self):
        self.write("bits", bytes(64))
        commands = (["build", "list", "--from", "keys"], ["create", "list", *self.size],
                    ["import", "bits", "list", "--order", "little", "--hash", "murmur3", "--bits", "512", "--probes", "3"])
        for command in commands:
            for text in (b"precious\n", b"x", b"\x89BFX", b"\0" * 300 + b"x"):
                self.write("list", text)
                self.refused(*command, "--force", says="list: is no filter, and --force replaces filters alone. Choose another name, or move it away first (mv).")
                self.assertEqual(pathlib.Path(self.path("list")).read_bytes()[:9], text[:9])
            for left in (b"", bytes(4096), b"\x89BFS", b"\x89BFS\r\n\x1a\nbroken"):
                self.write("list", left)
                done = self.run_bf(*command, "--force")
                self.assertEqual(done.returncode, 0)
                self.assertEqual(b"list: replaced a damaged filter." in done.stderr, left != b"", (left, done.stderr))

    def test_an_import_says_what_it_replaced(self):
        self.write("bits", bytes(64))
        self.good("create", "f", "-q", *SURE)
        self.good("add", "f", "-q", "old")
        done = self.run_bf("import", "bits", "f", "--force", "--order", "little", "--hash", "murmur3", "--bits", "512", "--probes", "3")
        self.assert_warning(done.stderr, says="f: replaced a filter of about 1 key. Its keys were not compared with those of the new file. It had the layout blocked (bf build --layout blocked). Readers that follow")


main()
