"""bf's --secret-file: its contents, the other users that may read it, and the commands that need it."""
import os
import pathlib

from bf_case import BfCase, header, main

SECRET = bytes.fromhex("0123456789abcdeffedcba9876543210")
WITH_SECRET = ["--capacity", "2000", "--fpr", "0.0000001", "--hash", "siphash", "--secret-file", "secret"]


class SecretFile(BfCase):
    def setUp(self):
        super().setUp()
        self.secret("secret", SECRET)
        self.secret("other", bytes(16))

    def secret(self, name, content, mode=0o600):
        path = self.write(name, content)
        os.chmod(path, mode)
        return path

    def make_with_secret(self):
        self.good("create", "f", "-q", *WITH_SECRET)
        self.good("add", "f", "--secret-file", "secret", "-q", "alice")

    def test_every_command_that_opens_a_filter_takes_its_secret(self):
        self.good("create", "f", "-q", *WITH_SECRET)
        self.assertEqual((header(self.path("f"))["hash"], header(self.path("f"))["seed"]), (3, 0))
        self.good("add", "f", "--secret-file", "secret", "-q", "alice")
        self.good("recover", "f", "--secret-file", "secret", "-q", "bob")
        self.good("recover", "f", "--secret-file", "secret", "--accept-loss", "-q")
        self.good("contains", "f", "--secret-file", "secret", "--count", "alice", "bob")
        self.assertEqual(self.good("contains", "f", "--secret-file", "secret", "alice", "bob", "eve"),
                         b"maybe\talice\nmaybe\tbob\nabsent\teve\n")
        self.write("keys", b"a\nb\n")
        self.good("add", "f", "--secret-file", "secret", "-q", "--from", "keys")
        self.good("build", "g", "--from", "keys", "--hash", "siphash", "--secret-file", "secret", "-q")
        self.good("create", "h", "--like", "g", "--secret-file", "secret", "-q")
        self.good("build", "i", "--like", "g", "--from", "keys", "--secret-file", "secret", "-q")
        for name in ("f", "g", "i"):
            self.assertEqual(self.good("contains", name, "--secret-file", "secret", "--count", "a", "b", "c"),
                             b"maybe\t2\nabsent\t1\n")

    def test_the_file_of_the_secret_is_replaced_by_no_filter(self):
        self.make_with_secret()
        self.write("keys", b"alice\n")
        os.link(self.path("secret"), self.path("again"))
        for name in ("secret", "again"):
            for command in (["build", name, "--hash", "siphash", "--from", "keys"], ["create", name, *WITH_SECRET[:-2]],
                            ["copy", "f", name], ["export", "f", name, "--order", "little"], ["merge", name, "f"]):
                self.refused(*command, "--secret-file", "secret", "--force", says=f"{name}: is the file of the secret")
                self.assertEqual(pathlib.Path(self.path(name)).read_bytes(), SECRET)

    def test_many_keys_of_a_file_are_added_with_the_same_digests(self):
        """A file of 32 MiB or more is read by several threads, which hash the keys themselves."""
        keys = b"".join(b"key %-90d\n" % i for i in range(400000))
        self.assertGreater(len(keys), 32 << 20)
        self.write("keys", keys)
        self.good("build", "f", "--from", "keys", "--hash", "siphash", "--secret-file", "secret", "-q")
        self.assertEqual(self.good("contains", "f", "--secret-file", "secret", "--count", input=keys),
                         b"maybe\t400000\nabsent\t0\n")

    def test_no_key_or_another_one_is_refused_by_every_command_and_changes_nothing(self):
        self.make_with_secret()
        with open(self.path("f"), "rb") as file:
            before = file.read()
        for command in (["add", "f", "bob"], ["contains", "f", "alice"], ["recover", "f", "bob"],
                        ["recover", "f", "--accept-loss"], ["create", "g", "--like", "f"],
                        ["build", "g", "--like", "f", "--from", "-"]):
            self.refused(*command, input=b"bob\n", says=["f: ", "no secret was given", "--secret-file"])
            self.refused(*command, "--secret-file", "other", input=b"bob\n", says=["f: ", "is not this filter's"])
        with open(self.path("f"), "rb") as file:
            self.assertEqual(file.read(), before)
        self.assertEqual(self.files(), ["f", "other", "secret"])

    def test_a_key_for_a_filter_that_has_none_is_refused(self):
        self.good("create", "f", "--capacity", "9", "-q")
        for command in (["add", "f", "bob"], ["contains", "f", "alice"], ["recover", "f", "bob"],
                        ["create", "g", "--like", "f"]):
            self.refused(*command, "--secret-file", "secret", says=["f: ", "has none", "--secret-file"])
        for hash_ in ([], ["--hash", "xxh3"], ["--hash", "external"]):
            self.refused("create", "g", "--capacity", "9", *hash_, "--secret-file", "secret", says="only siphash has one")
        self.assertEqual(self.files(), ["f", "other", "secret"])

    def test_siphash_needs_a_secret_and_takes_no_seed(self):
        self.refused("create", "f", "--capacity", "9", "--hash", "siphash", says=["siphash", "--secret-file"])
        self.refused("build", "f", "--from", "-", "--hash", "siphash", says=["siphash", "--secret-file"])
        self.refused("create", "f", *WITH_SECRET, "--seed", "0", says=["f: ", "seed"])
        self.refused("create", "f", "--capacity", "9", "--hash", "external", "--seed", "0", says=["f: ", "seed"])

    def test_the_file_holds_16_bytes_or_32_hexadecimal_digits_and_at_most_one_newline(self):
        self.make_with_secret()
        for content in (SECRET, SECRET.hex().encode(), SECRET.hex().upper().encode(), SECRET.hex().encode() + b"\n"):
            self.secret("k", content)
            self.assertEqual(self.good("contains", "f", "--secret-file", "k", "alice"), b"maybe\talice\n")
        raw = b"sixteen bytes!!\n"  # the newline is one of the sixteen bytes
        self.secret("raw", raw)
        self.good("create", "g", "--capacity", "9", "--hash", "siphash", "--secret-file", "raw", "-q")
        self.secret("hex", raw.hex().encode())
        self.good("add", "g", "--secret-file", "hex", "-q", "x")

    def test_anything_else_is_an_error_that_names_the_file_and_the_rule(self):
        self.make_with_secret()
        digits = SECRET.hex().encode()
        for content in (b"", b"\n", SECRET[:15], SECRET + b"\n", SECRET * 2, digits[:31], digits[:31] + b"\n",
                        digits + b"\n\n", digits + b"\r\n", b" " + digits, digits + b" ", digits[:31] + b"g",
                        b"0x" + digits[:30], b"0x" + digits, digits * 2, b"\0" * 33, SECRET * 100):
            self.secret("k", content)
            line = self.refused("contains", "f", "--secret-file", "k", "alice", says=["k: ", "16 bytes", "32 hex"])
            self.assertNotIn(digits[:8], line)
        self.refused("contains", "f", "--secret-file", "nowhere", "alice", says=["nowhere: no such file.", "Make one: (umask 077; head -c 16 /dev/urandom > FILE)."])
        self.refused("create", "g", "-n", "9", "--hash", "siphash", says="siphash needs a secret. Make one: (umask 077; head -c 16 /dev/urandom > FILE). Give it: --secret-file FILE.")
        self.refused("contains", "f", "--secret-file", ".", "alice", says=".: ")
        self.refused("contains", "f", "--secret-file", "", "alice", says="--secret-file")
        self.refused("contains", "f", "--secret-file", says="--secret-file")

    def test_a_secret_file_that_others_may_use_is_told_of(self):
        self.make_with_secret()
        for mode, told in ((0o600, False), (0o400, False), (0o700, False), (0o640, True), (0o604, True), (0o620, True)):
            os.chmod(self.path("secret"), mode)
            done = self.run_bf("contains", "f", "--secret-file", "secret", "alice")
            self.assertEqual((done.returncode, done.stdout), (0, b"maybe\talice\n"))
            if told:
                self.assert_warning(done.stderr, "--secret-file: secret: other users can read this secret: chmod 600 secret.")
            else:
                self.assertEqual(done.stderr, b"")

    def test_a_secret_may_come_from_a_pipe(self):
        self.make_with_secret()
        read, write = os.pipe()
        self.addCleanup(os.close, read)
        os.write(write, SECRET.hex().encode() + b"\n")
        os.close(write)
        self.good("contains", "f", "--secret-file", "/dev/fd/%d" % read, "alice", pass_fds=[read])

    def test_the_secret_is_not_in_the_filter(self):
        self.make_with_secret()
        with open(self.path("f"), "rb") as file:
            self.assertNotIn(SECRET, file.read())


if __name__ == "__main__":
    main()
