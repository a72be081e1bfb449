"""The consoles and the two scripts of capi/guide/shipping.md, and that they do what the page says when something goes wrong."""
import datetime
import fcntl
import functools
import http.server
import os
import re
import shutil
import socket
import subprocess
import threading
import unittest

from bf_case import BF, BfCase, PATIENCE, main

PAGE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "capi", "guide", "shipping.md")
TIME = re.compile(r"revoked \d{14}")
GO_BACK = "seq 1 100009"  # the first line that the page types there
REFUSED = ": it was refused here (refused.bf), so an older list stays in place\n"
ANEW = "active.bf is not the list of now.bf: it is made anew\n"
OLD, NEW = ("absent", "maybe")  # what the list of the page's first part answers to 100001, and what the last one does


def at(**ago):
    """Returns the time as it is signed."""
    # clock: lists are hours or days older or younger than the time of the test, which takes minutes
    return (datetime.datetime.now(datetime.timezone.utc) - datetime.timedelta(**ago)).strftime("%Y%m%d%H%M%S")


class Silent(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


@unittest.skipIf(None in map(shutil.which, ("minisign", "curl", "flock")), "minisign, curl or flock is not installed")
class Shipping(BfCase):
    def setUp(self):
        super().setUp()
        self.environment = {**os.environ, "no_proxy": "*", "PATH": os.path.dirname(os.path.abspath(BF)) + os.pathsep + os.environ["PATH"]}
        with open(PAGE, encoding="utf-8") as file:
            self.page = file.read()
        os.mkdir(self.path("machine"))
        for script in re.findall(r"```sh\n(.*?)```", self.page, re.S):
            self.write(re.search(r"^# (\S+)$", script, re.M)[1], script.encode())

    def run_line(self, line):
        return subprocess.run(["sh", "-c", line], cwd=self.dir, env=self.environment, capture_output=True, text=True, stdin=subprocess.DEVNULL,
                              timeout=PATIENCE, check=False)

    def type(self, line, code=0, says="", errors=None):
        done = self.run_line(line)
        self.assertEqual(done.returncode, code, (line, done.stdout, done.stderr))
        self.assertIn(says, done.stdout)
        if code == 0 and errors is None:
            self.assertEqual(done.stderr, "", line)
        self.assertIn(errors or "", done.stderr)
        return done

    def type_the_page(self, until=None):
        """Types its lines, all or those before the first one that begins so."""
        parts = [part for text in re.findall(r"```console\n(.*?)```", self.page, re.S) for part in text.split("$ ")[1:]]
        for line, _, output in (part.partition("\n") for part in parts):
            if until and line.startswith(until):
                return
            if line.startswith("export url="):
                self.environment["url"] = self.run_line(line + '; printf %s "$url"').stdout
                continue
            done = self.run_line(line)
            self.assertEqual(TIME.sub("TIME", done.stdout + done.stderr), TIME.sub("TIME", output), line)
            self.assertEqual(done.returncode, 1 if done.stderr and REFUSED not in done.stderr else 0, line)
        self.assertIsNone(until)

    def offer(self, said, path="list.bf"):
        """Puts a list on the server that the publisher has signed as this."""
        self.type(f"rm -rf offer && mkdir offer && cp {path} offer/list.bf && minisign -S -s list.key -m offer/list.bf -t '{said}' && "
                  "tar -C offer -czf public/revoked.tar.gz list.bf list.bf.minisig")

    def build(self, last, path="other.bf"):
        self.type(f"rm -f {path} && seq 1 {last} | bf build {path} --layout static --fpr 0.001 --seed 7 -q")
        return path

    def content(self, name):
        with open(self.path(name), "rb") as file:
            return file.read()

    def answers(self, answer, key=100001):
        self.assertEqual(self.type(f"bf contains machine/active.bf 1 {key}").stdout, f"maybe\t1\n{answer}\t{key}\n")

    def check_refused(self, says, step="checking what came from file://"):
        before = {name: self.content("machine/" + name) for name in os.listdir(self.path("machine")) if name.endswith((".bf", "signed", "placed"))}
        done = self.type("sh machine/update", code=1)
        self.assertIn(says, done.stderr)
        self.assertRegex(done.stderr, f"\nmachine/update on {os.uname().nodename}, \\d{{14}}: failed while {step}")
        self.assertIn("The list in place stays.\n" if "active.bf" in before else "No list is in place.\n", done.stderr)
        self.assertEqual(before, {name: self.content("machine/" + name) for name in before})

    def test_what_the_page_types_prints_what_it_says(self):
        self.type_the_page()

    # A list that was cut went to all machines without a word.
    def test_a_list_that_was_cut_is_not_published_unless_its_publisher_says_so(self):
        self.type_the_page(GO_BACK)
        self.type("seq 1 100000 > today.txt && sh publish")
        before = self.content("public/revoked.tar.gz")
        self.type("seq 1 89999 > today.txt")
        self.type("sh publish", code=1, errors="today.txt has less than 90000 keys. If it may: least=89999 sh publish\npublish: nothing was published\n")
        self.type("seq 1 100000 | head -c -3 > today.txt")
        self.type("sh publish", code=1, errors="today.txt: its last line has no end, so it may have been cut\npublish: nothing was published\n")
        self.type(": > today.txt")
        self.type("sh publish", code=2, errors="bf: today.txt: holds no keys, and an empty filter calls every key absent. Look at the list.\npublish: nothing was published\n")
        self.type("rm today.txt")
        self.type("sh publish", code=2, errors="publish: nothing was published\n")
        self.assertEqual(self.content("public/revoked.tar.gz"), before)
        self.type("seq 1 89999 > today.txt && least=89999 sh publish && seq 1 81000 > today.txt && sh publish && sh machine/update")
        self.answers("absent", 81001)

    def test_the_first_list_needs_a_number_of_keys(self):
        self.type("mkdir public && seq 9 > today.txt")
        self.type("sh publish", code=1, errors="no list was published before. Say how many keys this one has at least: least=N sh publish\n")

    def test_equal_lists_are_equal_files_and_move_the_time_alone(self):
        self.type_the_page(GO_BACK)
        self.type("sh publish", code=1, errors="")  # 50,000 keys, as the page ends
        self.type("(echo 7; seq 100000 -1 1) > today.txt")  # the same keys
        list_ = self.content("list.bf")
        self.write("machine/signed", at(hours=1).encode())
        self.type("sh publish")
        self.assertEqual(self.content("list.bf"), list_)
        active = os.stat(self.path("machine/active.bf")).st_ino
        self.type("sh machine/update", says="it has not changed\n")
        self.assertEqual(os.stat(self.path("machine/active.bf")).st_ino, active)
        self.assertGreaterEqual(self.content("machine/signed").decode().strip(), at(minutes=30))
        self.assertFalse(os.path.exists(self.path("machine/before.bf")))

    def test_what_is_forged_damaged_or_of_another_time_or_name_is_refused(self):
        self.type_the_page()
        self.offer("revoked " + at())
        self.build(99, "offer/list.bf")
        self.type("tar -C offer -czf public/revoked.tar.gz list.bf list.bf.minisig")
        self.check_refused("list.bf was not signed by the key of list.pub\n")
        self.build(99999)
        for said, why in (("revoked " + at(hours=-2), "is of the future\n"),
                          ("revoked " + at(hours=1), "is older than the last list, 'revoked 2"),
                          ("revoked " + at(days=4), "is more than 3 days old: ask the publisher, or look at the clock here. If it may be: days=N sh machine/update\n"),
                          ("blocked " + at(), "and not as 'revoked' and a time\n"), (at(), "and not as 'revoked' and a time\n"),
                          ("revoked", "and not as 'revoked' and a time\n"), ("revoked today", "and not as 'revoked' and a time\n")):
            self.offer(said, "other.bf")
            self.check_refused("'" + said + "'")
            self.check_refused(why)
        self.type("printf x | dd of=other.bf bs=1 seek=20000 conv=notrunc status=none")
        self.offer("revoked " + at(), "other.bf")
        self.check_refused("bf: new/list.bf: 1 of 2 chunks of 64 KiB is damaged.")  # signed by its publisher as it is

    # The age of a list was that of its arrival.
    def test_a_machine_without_a_list_takes_no_old_one_unless_its_operator_says_so(self):
        self.type_the_page("sh machine/update")
        self.offer("revoked " + at(days=4))
        self.check_refused("is more than 3 days old")
        self.assertFalse(os.path.exists(self.path("machine/active.bf")))
        self.type("days=5 sh machine/update", says="a new list\n")
        self.check_refused("is more than 3 days old")  # a publisher who died after that
        self.offer("revoked " + at(days=2))
        self.type("sh machine/update", says="it has not changed\n")

    # A list that was signed once more after going back returned, and the list before was the bad one, too.
    def test_a_list_that_was_refused_stays_away_until_another_one_comes(self):
        self.type_the_page()
        self.answers(OLD)
        self.type("sh machine/update back", says="it went back before: refused.bf is the list that was refused\n")
        for harm in ("rm machine/active.bf", "truncate -s 20000 machine/active.bf"):
            self.type(harm)
            done = self.type("sh machine/update > /dev/null", errors=ANEW)
            self.assertIn(REFUSED, done.stderr)
            self.answers(OLD)
        self.offer("revoked " + at(), self.build(100020))
        self.type("sh machine/update", says="a new list\n")
        self.answers(NEW, 100020)
        self.type("sh machine/update back")
        self.answers(OLD)
        self.type("rm machine/refused.bf && sh machine/update", says="a new list\n")
        self.answers(NEW, 100020)

    def test_a_list_that_is_gone_or_damaged_on_the_machine_comes_back_also_without_the_server(self):
        self.type_the_page()
        self.type("rm machine/refused.bf && sh machine/update")
        before = self.content("machine/before.bf")
        # The last one: an operator put an old backup back.
        for harm in ("rm machine/active.bf", "truncate -s 20000 machine/active.bf",
                     "printf x | dd of=machine/active.bf bs=1 seek=20000 conv=notrunc status=none",
                     "cp machine/before.bf machine/old && mv machine/old machine/active.bf"):
            self.type(harm)
            self.type("url=file:///nowhere sh machine/update", code=37, errors=ANEW)
            self.type("bf verify -q machine/active.bf")
            self.answers(NEW)
        for harm in ("rm machine/now.bf", ": > machine/now.bf", "printf x | dd of=machine/now.bf bs=1 seek=20000 conv=notrunc status=none"):
            self.type(harm)
            self.type("sh machine/update", says="a new list\n", errors="" if "rm" in harm else "bf: now.bf: ")
            self.type("cmp machine/now.bf list.bf")
            self.answers(NEW)
        self.assertEqual(self.content("machine/before.bf"), before)

    def test_a_bf_that_does_not_run_removes_no_list(self):
        self.type_the_page()
        os.mkdir(self.path("shims"))
        self.write("shims/bf", b"#!/bin/sh\nexit 127\n")
        now = self.content("machine/now.bf")
        self.type("chmod +x shims/bf && PATH=$PWD/shims:$PATH sh machine/update", code=127, errors=": failed while looking at what is here. The list in place stays.\n")
        self.assertEqual(self.content("machine/now.bf"), now)

    def scripts_that_are_killed(self):
        """Yields machine/update with a kill after each line that changes a file."""
        lines = self.content("machine/update").decode().splitlines(keepends=True)
        changes = re.compile(r"\b(mv|ln|rm|mkdir|curl|bf seal) |> (new|placed)")
        for number, line in enumerate(lines, 1):
            if changes.search(line):
                yield "".join([*lines[:number], "kill -9 $$\n", *lines[number:]]).encode()

    # A run that was killed between two steps left an old list as that of now.
    def test_a_kill_anywhere_leaves_what_the_next_run_mends(self):
        self.type_the_page(GO_BACK)
        self.type("seq 1 100009 > today.txt && sh publish && cp -r machine machine.first")
        first = self.content("machine/now.bf")
        kills = 0
        for script in self.scripts_that_are_killed():
            self.write("killed", script)
            self.type("rm -r machine && cp -r machine.first machine && mv killed machine")
            kills += self.run_line("sh machine/killed").returncode in (-9, 137)
            self.type("bf verify -q machine/active.bf && sh machine/update && bf contains -q machine/active.bf 100001 && cmp machine/now.bf list.bf && "
                      "cd machine && sha256sum -c --status placed && bf verify -q active.bf", errors="")
            self.assertEqual(self.content("machine/before.bf"), first)
            self.assertGreaterEqual(self.content("machine/signed"), self.content("machine.first/signed"))
        self.assertGreater(kills, 8)

    def test_a_kill_while_an_operator_goes_back_leaves_the_one_list_or_the_other(self):
        self.type_the_page("sh machine/update back")
        self.type("cp -r machine machine.first")
        seen = set()
        for script in self.scripts_that_are_killed():
            self.write("killed", script)
            self.type("rm -r machine && cp -r machine.first machine && mv killed machine")
            self.run_line("sh machine/killed back")
            self.type("sh machine/update", errors="")
            gone_back = self.content("machine/now.bf") == self.content("machine.first/before.bf")
            self.answers(OLD if gone_back else NEW)
            seen.add(gone_back)
            self.type("sh machine/update back", says="it went back" + (" before" if gone_back else ": "))
            self.answers(OLD)
        self.assertEqual(seen, {True, False})

    def test_back_needs_a_list_that_is_good_and_another_one(self):
        self.type_the_page("sh machine/update back")
        self.type("cp machine/before.bf good && : > machine/before.bf")
        self.type("sh machine/update back", code=1, errors="there is no list before\n")
        self.type("cp machine/now.bf machine/before.bf")
        self.type("sh machine/update back", code=1, errors="there is no list before\n")
        self.answers(NEW)
        self.assertFalse(os.path.exists(self.path("machine/refused.bf")))
        self.type("mv good machine/before.bf && rm machine/now.bf && sh machine/update back")
        self.answers(OLD)

    def test_a_publisher_without_its_folder_its_key_or_its_last_list_publishes_nothing(self):
        self.type_the_page(GO_BACK)
        self.type("seq 1 100009 > today.txt && mv public elsewhere")
        self.type("sh publish", code=2, errors="publish: nothing was published\n")
        self.assertFalse(os.path.exists(self.path("public")))
        self.type("mv elsewhere public && cp list.pub kept && minisign -G -f -W -p list.pub -s other.key > log")
        before = self.content("public/revoked.tar.gz")
        self.type("sh publish", code=1, errors="publish: nothing was published\n")
        self.type("mv kept list.pub && : > list.bf")
        self.type("sh publish", code=1, errors="list.bf is damaged. Say how many keys this list has at least: least=N sh publish\n")
        self.assertEqual(self.content("public/revoked.tar.gz"), before)
        self.type("least=90000 sh publish")

    def test_a_server_does_not_fill_the_disk(self):
        self.type_the_page(GO_BACK)
        self.type("sed -i 's/^ulimit -f [0-9]*/ulimit -f 1000/' machine/update && head -c 3000000 /dev/zero > zeros && gzip -c zeros > public/zeros.gz")
        for name in ("zeros", "public/zeros.gz"):
            done = self.run_line(f"url=file://$PWD/{name} sh machine/update")
            self.assertNotEqual(done.returncode, 0)
            self.assertIn(" The list in place stays.\n", done.stderr)
            self.assertFalse(os.path.exists(self.path("machine/new")))

    def test_two_runs_at_once_are_one(self):
        self.type_the_page(GO_BACK)
        for lock, script, says in (("lock", "publish", "publish: nothing was published\n"), ("machine/lock", "machine/update", "failed while waiting for its turn")):
            with open(self.path(lock), "wb") as file:
                fcntl.flock(file, fcntl.LOCK_EX)
                os.makedirs(self.path("machine/new"), exist_ok=True)
                done = self.type("sh " + script, code=1, errors="another run has not ended yet\n")
                self.assertIn(says, done.stderr)
                self.assertTrue(os.path.exists(self.path("machine/new")))  # it is the other run's

    def test_the_machines_do_not_all_come_at_once(self):
        self.type_the_page(GO_BACK)
        os.mkdir(self.path("shims"))
        self.write("shims/shuf", b'#!/bin/sh\necho "$*" >> asked\necho 5\n')
        self.write("shims/sleep", b'#!/bin/sh\necho "$*" >> asked\n')
        self.type("chmod +x shims/* && PATH=$PWD/shims:$PATH delay=3600 sh machine/update")
        self.assertEqual(self.content("machine/asked"), b"-n 1 -i 0-3600\n5\n")

    def test_a_server_that_lacks_the_file_or_answers_nothing_or_rubbish(self):
        self.type_the_page(GO_BACK)
        self.type("seq 1 100009 > today.txt && sh publish")
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Silent, directory=self.path("public")))
        self.addCleanup(server.server_close)
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        self.addCleanup(thread.join)
        self.addCleanup(server.shutdown)
        at_server = f"http://127.0.0.1:{server.server_port}/"
        done = self.type(f"url={at_server}gone.tar.gz sh machine/update", code=22, errors="404")
        self.assertIn(f": failed while fetching {at_server}gone.tar.gz. The list in place stays.\n", done.stderr)
        self.write("public/page.tar.gz", b"<html>Please log in</html>")
        self.type(f"url={at_server}page.tar.gz sh machine/update", code=2, errors=f": failed while fetching {at_server}page.tar.gz.")
        with socket.create_server(("127.0.0.1", 0)) as hung:
            self.type(f"seconds=1 url=http://127.0.0.1:{hung.getsockname()[1]}/ sh machine/update", code=28, errors=": failed while fetching http:")
        self.answers(OLD)
        self.type(f"url={at_server}revoked.tar.gz sh machine/update", says="a new list\n")
        self.answers(NEW)

    def test_a_umask_does_not_hide_the_list_from_those_who_ask_it(self):
        self.type_the_page("sh machine/update")
        self.type("umask 077 && sh publish", code=1, errors="")
        self.type("seq 1 100000 > today.txt && umask 077 && sh publish && sh machine/update")
        for name in ("machine/active.bf", "public/revoked.tar.gz"):
            self.assertEqual(os.stat(self.path(name)).st_mode & 0o777, 0o644)

    def test_a_follower_takes_the_new_list(self):
        self.type_the_page()
        seeds = {re.search(r"seed +(\d+)", self.type(f"bf inspect machine/{name}.bf").stdout)[1] for name in ("active", "now", "refused")}
        self.assertEqual(seeds, {"7"})


if __name__ == "__main__":
    main()
