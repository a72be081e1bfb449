"""The consoles of capi/guide/shipping.md, line by line, and that what it says of forged files is true."""
import os
import re
import shutil
import subprocess
import unittest

from bf_case import BF, BfCase, PATIENCE, main

PAGE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "capi", "guide", "shipping.md")


@unittest.skipIf(shutil.which("minisign") is None, "minisign is not installed")
class Shipping(BfCase):
    def type(self, line, code=0):
        path = os.path.dirname(os.path.abspath(BF)) + os.pathsep + os.environ["PATH"]
        done = subprocess.run(["sh", "-c", line], cwd=self.dir, env={**os.environ, "PATH": path}, capture_output=True, text=True,
                              stdin=subprocess.DEVNULL, timeout=PATIENCE, check=False)
        self.assertEqual(done.returncode, code, (line, done.stdout, done.stderr))
        return done

    def type_the_page(self):
        with open(PAGE, encoding="utf-8") as file:
            page = file.read()
        os.mkdir(self.path("machine"))
        self.write("machine/update", re.search(r"```sh\n(.*?)```", page, re.S)[1].encode())
        parts = [part for text in re.findall(r"```console\n(.*?)```", page, re.S) for part in text.split("$ ")[1:]]
        for line, _, output in (part.partition("\n") for part in parts):
            done = self.type(line)
            self.assertEqual((done.stdout, done.stderr), (output, ""), line)
        self.assertGreater(len(parts), 8)

    def active(self, name="active.bf"):
        with open(self.path("machine/" + name), "rb") as file:
            return file.read()

    def check_refused(self, says):
        before = self.active()
        done = self.type("sh machine/update", code=1)
        self.assertIn(says, done.stderr)
        self.assertEqual(self.active(), before)
        self.assertTrue(os.path.exists(self.path("machine/list.bf")))  # the script ended there

    def test_what_the_page_types_prints_what_it_says(self):
        self.type_the_page()

    def test_the_script_ends_at_what_fails_and_leaves_the_old_list_in_place(self):
        self.type_the_page()
        self.type("bf build list.bf --from today.txt --layout static --force -q")  # signed by nobody
        self.type("cp list.bf list.bf.minisig machine/")
        self.check_refused("Signature verification failed")
        self.type("printf x | dd of=list.bf bs=1 seek=20000 conv=notrunc status=none")
        self.type("minisign -S -s list.key -m list.bf -t 'list of 2025-11-30' && cp list.bf list.bf.minisig machine/")
        self.check_refused("damaged")  # signed by its publisher as it is
        self.type("bf build list.bf --from today.txt --layout static --force -q")
        for said, why in (("list of 2025-11-01", "'list of 2025-11-01' is older than 'list of 2025-11-29', which is in place."),
                          ("list of 9999-01-01", "'list of 9999-01-01' is of the future; here it is "),
                          ("lists of 2025-12-01", "'lists of 2025-12-01' is not 'list of YYYY-MM-DD'.")):
            self.type(f"minisign -S -s list.key -m list.bf -t '{said}' && cp list.bf list.bf.minisig machine/")
            self.check_refused("machine/update: list.bf: " + why)
        self.type("minisign -S -s list.key -m list.bf -t 'list of 2025-11-29 14:00' && cp list.bf list.bf.minisig machine/")
        self.type("sh machine/update")  # a second one of that day

    def test_the_same_list_once_more_leaves_the_list_before_and_what_was_put_back(self):
        self.type_the_page()
        before = self.active(), self.active("yesterday.bf")
        self.type("cp list.bf list.bf.minisig machine/ && sh machine/update")
        self.assertEqual((self.active(), self.active("yesterday.bf")), before)

    def test_a_list_that_is_gone_or_damaged_on_the_machine_comes_back_with_the_same_one(self):
        self.type_the_page()
        yesterday = self.active("yesterday.bf")
        for harm in ("rm machine/active.bf", "truncate -s 20000 machine/active.bf",
                     "printf x | dd of=machine/active.bf bs=1 seek=20000 conv=notrunc status=none"):
            self.type(harm + " && cp list.bf list.bf.minisig machine/")
            self.assertIn("active.bf", self.type("sh machine/update").stderr)
            self.assertEqual(self.type("bf verify -q machine/active.bf && bf contains machine/active.bf 100001").stdout, "maybe\t100001\n")
        self.assertEqual(self.active("yesterday.bf"), yesterday)

    # A mirror that kept an old list, and a publisher who made no new one, were never noticed.
    def test_a_list_that_is_the_newest_for_too_many_days_is_mailed(self):
        self.type_the_page()
        for days, code, said in ((2, 0, ""), (5, 1, "machine/update: no newer list than 'list of 2025-11-29' came for more than 3 days: ask the publisher.")):
            self.type("cp list.bf list.bf.minisig machine/")
            then = os.stat(self.path("machine")).st_mtime - days * 86400
            os.utime(self.path("machine/date"), (then, then))
            self.assertEqual(self.type("sh machine/update", code).stderr.partition(" The list")[0].rstrip("\n"), said)
        self.type("minisign -S -s list.key -m list.bf -t 'list of 2025-11-30' && cp list.bf list.bf.minisig machine/ && sh machine/update")
        self.type("cp list.bf list.bf.minisig machine/ && sh machine/update")

    def test_a_umask_does_not_hide_the_list_from_those_who_ask_it(self):
        self.type_the_page()
        os.unlink(self.path("machine/active.bf"))
        self.type("cp list.bf list.bf.minisig machine/ && rm machine/date && umask 077 && sh machine/update")
        self.assertEqual(os.stat(self.path("machine/active.bf")).st_mode & 0o777, 0o644)

    def test_a_follower_takes_the_new_list(self):
        self.type("seq 9 | bf build list.bf --layout static -q && bf copy list.bf active.bf -q")
        seed = re.search(r"seed +(\d+)", self.type("bf inspect active.bf").stdout)[1]
        self.type("seq 99 | bf build list.bf --layout static --force -q && bf copy list.bf active.bf --force --accept-loss -q")
        self.assertIn(seed, self.type("bf inspect active.bf").stdout)  # as the page says: --force keeps it


if __name__ == "__main__":
    main()
