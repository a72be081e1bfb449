"""bf when memory runs out."""
import resource

from bf_case import CLEAN, SURE, BfCase, header, main


def limit_memory():
    resource.setrlimit(resource.RLIMIT_AS, (64 << 20, 64 << 20))


class Memory(BfCase):
    def test_out_of_memory_is_an_error_and_no_answer(self):
        # Exit code 1 would say that every key is absent.
        self.good("create", "f", "-q", *SURE)
        self.write("keys", b"one\n" + b"x" * (80 << 20))
        self.good("add", "f", "-q", "one")
        for command in (["contains", "f", "--absent"], ["contains", "f", "--count"], ["add", "f"], ["recover", "f"],
                        ["build", "g", "--capacity", "9"]):
            with self.subTest(command):
                done = self.run_bf(*command, "--from", "keys", preexec_fn=limit_memory)
                self.assertEqual((done.returncode, done.stdout, done.stderr), (2, b"", b"bf: out of memory\n"))
        self.good("create", "large", "-q", "--capacity", "9", "--max-bytes", "100MiB")
        for command in (["contains", "large", "--copy", "one"], ["contains", "large", "one"], ["add", "large", "one"]):
            self.refused(*command, preexec_fn=limit_memory, says="large: ")
        self.assertEqual((self.files(), header(self.path("f"))["state"]), (["f", "keys", "large"], CLEAN))


if __name__ == "__main__":
    main()
