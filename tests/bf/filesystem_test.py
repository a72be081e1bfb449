"""bf on a network filesystem: refused, unless --any-filesystem insists."""

from bf_case import SURE, BfCase, main, preloaded


class Network(BfCase):
    def setUp(self):
        super().setUp()
        self.env = preloaded("NETWORK")
        self.good("create", "f", "-q", *SURE)
        self.good("add", "f", "-q", "one")
        self.good("seal", "f", "sealed", "-q")
        self.write("keys", b"two\n")

    def test_every_command_is_refused_and_does_it_when_asked_twice(self):
        for words, code in ((["create", "g", *SURE], 0), (["build", "h", "--from", "keys"], 0), (["add", "f", "two"], 0),
                            (["add", "f", "--from", "keys"], 0), (["contains", "f", "two"], 0),
                            (["contains", "f", "none"], 1), (["contains", "f", "--copy", "two"], 0),
                            (["recover", "f", "two"], 0), (["recover", "f", "--accept-loss"], 0), (["seal", "f", "s"], 0)):
            with self.subTest(words):
                before = self.files()
                self.refused(*words, env=self.env, says=": on a network")
                self.assertEqual(self.files(), before)
                self.good(*words, "--any-filesystem", code=code, env=self.env)

    def test_help_does_not_say_that_overlays_are_refused(self):
        said = " ".join(self.good("contains", "--help").decode().split())
        self.assertIn("use a file on a network filesystem or a read-only overlay", said)

    def test_a_sealed_filter_is_verified_wherever_it_is(self):
        self.good("verify", "sealed", env=self.env)


if __name__ == "__main__":
    main()
