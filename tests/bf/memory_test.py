"""bf when memory runs out."""
import os
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
                self.assertEqual((done.returncode, done.stdout), (2, b""))
                self.assertRegex(done.stderr, rb"^bf: keys: out of memory: a key has more than [0-9.]+ MiB, and [0-9.]+ MiB are needed to read on\. "
                                              rb"This process may have 64\.0 MiB of addresses: raise that limit \(ulimit -v\)\.\n$")
        self.good("create", "large", "-q", "--capacity", "9", "--max-bytes", "100MiB")
        for command in (["contains", "large", "--copy", "one"], ["contains", "large", "one"], ["add", "large", "one"]):
            self.refused(*command, preexec_fn=limit_memory, says="large: ")
        self.assertEqual((self.files(), header(self.path("f"))["state"]), (["f", "keys", "large"], CLEAN))

    def test_so_many_parts_take_no_more_memory_or_files_than_few(self):
        # Each part once had 32 KiB in a build, and 64 KiB in bf digest; and more than 1,000 files were too many.
        def limits():
            limit_memory()
            resource.setrlimit(resource.RLIMIT_NOFILE, (100, 5000))
        self.write("keys", b"".join(b"%d\n" % number for number in range(20_000)))
        size = ["--bits", str(512 * 4096), "--probes", "6", "--capacity", "200k", "--seed", "1", "-q"]
        self.good("build", "at once", "--from", "keys", *size)
        self.good("build", "by parts", "--from", "keys", "--parts", "4096", *size, preexec_fn=limits)
        self.assertIn(b"bits: equal", self.good("compare", "at once", "by parts"))
        self.good("digest", "at once", "--from", "keys", "--parts", "1200", "--to", "digests.", preexec_fn=limits)
        sizes = [os.path.getsize(self.path(name)) for name in self.files() if name.startswith("digests.")]
        self.assertEqual((len(sizes), sum(sizes)), (1200, 8 * 20_000))
        self.refused("build", "more", "--from", "keys", "--parts", "4096", *size, says="ulimit -Hn",
                     preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (100, 100)))
        self.assertNotIn("more", self.files())


if __name__ == "__main__":
    main()
