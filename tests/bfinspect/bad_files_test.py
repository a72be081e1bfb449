"""bfinspect on bad filter files. It reports every broken rule, not only the first. Nothing of the file reaches a terminal
raw. The exit code is 2, or 3 if the file cannot be read at all."""
import os
import random
import re
import shutil
import socket
import struct
import unittest

from inspector import BFINSPECT, LIVE, PAGE, SLOT_A, SLOT_B, SYNCING, Bytes, InspectorCase

NAN = float("nan")


class BrokenRules(InspectorCase):
    made = []  # the bytes of a good file, made once

    def raw(self):
        """Makes a new good file, to break."""
        path = self.path("bad.bf")
        if os.path.exists(path):
            os.unlink(path)
        if not self.made:
            self.made.append(Bytes(self.make("--capacity", "1000", "--note", "a note", name="good.bf")).data)
        with open(path, "wb") as file:
            file.write(self.made[0])
        return Bytes(path)

    def test_each_field_out_of_its_rule_is_reported_with_its_own_code(self):
        body = Bytes(self.make(name="whole")).get(80, "Q")
        broken = {
            "BFS_EVERSION": [(8, "H", 1), (8, "H", 3), (8, "H", 0)],
            "BFS_EFORM": [(28, "H", 2), (28, "H", 9)],
            "BFS_EHEADERSIZE": [(12, "I", 0), (12, "I", 4095), (12, "I", 2**32 - 1)],
            "BFS_ERESERVED": [(30, "H", 1), (116, "I", 1), (120, "Q", 1), (4000, "Q", 1), (SYNCING, "Q", 2), (LIVE + 16, "Q", 1),
                              (LIVE + 24, "Q", 2), (SLOT_A + 80, "Q", 1), (SLOT_B + 88, "Q", 1), (SLOT_B + 96, "Q", 1)],
            "BFS_EFEATURE": [(24, "I", 1 << 31)],
            "BFS_ELAYOUT": [(32, "H", 0), (32, "H", 9)],
            "BFS_EHASH": [(34, "H", 0), (34, "H", 7)],
            "BFS_EPROBES": [(36, "I", 0), (36, "I", 65), (36, "I", 2**32 - 1)],
            "BFS_EBITS": [(40, "Q", 0), (40, "Q", 1000), (40, "Q", 2**48 + 512), (40, "Q", 2**64 - 1)],
            "BFS_ECAPACITY": [(48, "Q", 0), (48, "Q", 2**64 - 1), (56, "d", 0), (56, "d", 1.5), (56, "d", NAN),
                              (56, "d", float("inf")), (56, "d", -0.01)],
            "BFS_EBODY": [(80, "Q", body + 64), (80, "Q", 0), (72, "Q", 4096), (72, "Q", 16385), (72, "Q", 2**64 - 4096),
                          (72, "Q", 2**40)],
            "BFS_ERECORD": [(112, "I", 2**32 - 8), (112, "I", 3), (132, "I", 5000)],
            "BFS_ECANARY": [(104, "Q", 0)],
            "BFS_ECHECKSUM": [],
        }
        for code, changes in broken.items():
            for offset, layout, value in changes:
                raw = self.raw().put(offset, layout, value)
                if code != "BFS_EHEADERSIZE":
                    raw.seal()
                with self.subTest(code=code, offset=offset, value=value):
                    self.assertIn(code, self.codes(raw.write()))

    def test_slots_and_the_live_word_are_rules_too(self):
        raw = self.raw()
        raw.data[SLOT_A + 50] ^= 1
        raw.data[SLOT_B + 50] ^= 1
        raw.put(LIVE, "Q", 0)
        codes = self.codes(raw.write())
        self.assertEqual(codes, ["BFS_ESLOTS", "BFS_ELIVEWORD"])
        self.assertIsNone(self.json(raw.path, code=2)["state"])

    def test_a_foreign_live_word_is_reported(self):
        for word in (0, 1, 2**64 - 1):
            self.assertEqual(self.codes(self.raw().put(LIVE, "Q", word).write()), ["BFS_ELIVEWORD"])

    def test_a_later_state_is_a_feature(self):
        for bit in range(6, 15):
            self.assertEqual(self.codes(self.raw().live(1 << bit).write()), ["BFS_ELATER"])

    def test_every_broken_rule_is_reported_at_once(self):
        raw = self.raw()
        for offset, layout, value in ((8, "H", 3), (24, "I", 4), (32, "H", 9), (34, "H", 9), (36, "I", 99), (40, "Q", 0),
                                      (48, "Q", 0), (72, "Q", 1), (120, "Q", 1), (112, "I", 12), (LIVE, "Q", 0)):
            raw.put(offset, layout, value)
        raw.data[SLOT_A + 50] ^= 1
        raw.data[SLOT_B + 50] ^= 1
        codes = self.codes(raw.write())
        for code in ("VERSION", "CHECKSUM", "RESERVED", "FEATURE", "LAYOUT", "HASH", "PROBES", "BITS", "CAPACITY", "BODY",
                     "RECORD", "SLOTS", "LIVEWORD"):
            self.assertIn("BFS_E" + code, codes)

    def test_unknown_persisted_numbers_are_shown_as_such(self):
        raw = self.raw().put(32, "H", 9).put(34, "H", 65535).put(8, "H", 9)
        found = self.json(raw.seal().write(), code=2)
        self.assertEqual((found["layout"], found["hash"], found["format_version"]), ("unknown (9)", "unknown (65535)", "9.0"))
        page = self.text(raw.path, code=2)
        self.assertIn("unknown (9)", page)
        self.assertIn("unknown (65535)", page)

    def test_numbers_of_a_broken_header_are_shown_as_they_are_and_finite(self):
        raw = self.raw().put(40, "QQd", 2**64 - 1, 2**64 - 1, NAN).put(64, "QQQ", 2**64 - 1, 2**64 - 1, 2**64 - 1)
        found = self.json(raw.seal().write(), code=2)
        self.assertEqual((found["num_bits"], found["capacity"], found["fpr"], found["seed"]), (2**64 - 1, 2**64 - 1, None, str(2**64 - 1)))
        page = self.text(raw.path, code=2)
        self.assertIn("18,446,744,073,709,551,615", page)
        shape = page[page.index("\nShape"):]  # after the problems, whose text may say what is wrong
        self.assertRegex(shape, r"promised \(p\) +unknown\n")
        self.assertNotRegex(shape, r"(?i)(?<![a-z])(nan|inf)(?![a-z])")
        self.json(self.raw().put(48, "Qd", 0, NAN).seal().write(), code=2)

    def test_no_flipped_byte_of_the_identity_goes_unseen(self):
        good = self.raw()
        for offset in [*range(0, 128), *range(128, 160, 5), *random.Random(7).sample(range(160, PAGE), 20), *range(PAGE - 8, PAGE)]:
            raw = Bytes(good.path)
            raw.data[offset] ^= 1 << offset % 8
            bad = raw.write(self.path("flipped"))
            with self.subTest(offset=offset):
                codes = [problem["code"] for problem in self.json(bad, code=2)["problems"]]
                self.assertIn("BFS_EMAGIC" if offset < 8 else
                              "BFS_EHEADERSIZE" if 12 <= offset < 16 else "BFS_ECHECKSUM", codes)

    def test_no_flipped_byte_of_a_slot_goes_unseen(self):
        good = self.raw()
        for start in (SLOT_A, SLOT_B):
            for offset in [*range(0, 80, 3), 320, 2000, PAGE - 8, PAGE - 1]:
                raw = Bytes(good.path)
                raw.data[start + offset] ^= 1 << offset % 8
                self.assertEqual(self.json(raw.write(self.path("flipped")), code=1)["state"], "unclean")

    def test_random_bytes_behind_the_magic_always_parse(self):
        random_bytes = random.Random(1)
        for turn in range(30):
            raw = self.raw()
            raw.data[8:PAGE] = random_bytes.randbytes(PAGE - 8)
            if turn % 2:
                raw.put(8, "HHI", 2, 0, PAGE)
                raw.seal_identity()
            self.json(raw.write(), code=2)
            self.text(raw.path, code=2)

    def test_a_truncated_body_is_reported(self):
        path = self.make()
        os.truncate(path, os.stat(path).st_size - 1)
        self.assertEqual(self.codes(path), ["BFS_EBODY"])
        self.assertIsNone(self.json(path, code=2)["fill_ratio"])
        # The page for a browser said three times what to do, and the state was "Synced and closed".
        for page in (self.text(path, code=2), self.run_inspector("--html", "-", path).stdout.decode()):
            self.assertEqual(len(re.findall(r"(?s)Rebuild\s", page)), 1)
            self.assertNotIn("Synced and closed", page)

    def test_a_file_cut_inside_its_header_is_too_short(self):
        # One of 100 bytes was "truncated", and the way out was to make a new filter.
        whole = Bytes(self.make()).data
        for length in (1, 7, 8, 100, 127, 128, 4095, 4096, 8192, 16383):
            with open(self.path("cut"), "wb") as file:
                file.write(whole[:length])
            with self.subTest(length=length):
                codes = self.codes(self.path("cut"))
                self.assertEqual(codes[0], "BFS_ETOOSHORT")
                self.assertNotIn("BFS_EMAGIC", codes)
                if length < 4096:  # otherwise slots are missing, too
                    self.assertEqual(codes[1:], ["BFS_EBODY"] if length >= 128 else [])
                page = " ".join(self.text(self.path("cut"), code=2).split())
                self.assertRegex(page, r"\* not a good filter file .* it was truncated\. (.* )?what to do Do not trust its \"no\"\.")
                self.assertNotRegex(page, "bf create|Give the path|damaged")

    def test_a_broken_file_is_never_called_healthy_for_its_state(self):
        page = self.text(self.raw().put(36, "I", 0).seal().write(), code=2)
        self.assertIn("not a good filter file", page.splitlines()[0])
        self.assertIn("what to do", page)


class Strangers(InspectorCase):
    def stranger(self, content, name="stranger"):
        with open(self.path(name), "wb") as file:
            file.write(content)
        return self.path(name)

    def test_a_list_of_parts_is_told_from_a_list_of_keys(self):
        for parts, number in ((b"part0\npart1\n", "2 parts"), (b"part0\n", "1 part"), (b"part\n" * 9000, "parts"), (b"", "parts")):
            path = self.stranger(b"bfstore-set 1\n" + parts)
            self.assertEqual(self.json(path, code=2)["looks_like"], "a set: the list of the parts of a filter")
            page = " ".join(self.text(path, code=2).split())
            self.assertIn(f"is a set of {number}, which only lookups take as one file.", page)
            self.assertIn("Give the paths of the parts that it lists. To ask all of them together: bf contains.", page)
            self.assertNotIn("bf build", page)

    def test_a_file_that_is_no_filter_is_said_to_be_what_it_looks_like(self):
        png_like = b"\x89BFS\n\x1a\n" + bytes(20000)
        for content, likeness in ((b"SQLite format 3\0" + bytes(20000), "SQLite"), (b"hello\nworld\n" * 3000, "text"),
                                  ("Grüße und Küsse".encode() * 2000, "text"), (bytes(20000), "zeros"),
                                  (b"\x1f\x8b\x08" + bytes(20000), "gzip"), (png_like, "line ends were converted"),
                                  (b"\x89BFSxxxx" + bytes(20000), "first bytes are damaged"),
                                  (b"\x01\x02\x03\xff" * 5000, "unknown data"), (b"", "empty"), (b"abc", "text"), (b"some key\n" * 11, "text")):
            path = self.stranger(content)
            found = self.json(path, code=2)
            self.assertIn(likeness, found["looks_like"])
            self.assertEqual(bytes.fromhex(found["first_bytes"]), content[:16])
            # A short file had two problems, with two pieces of advice.
            self.assertEqual(["BFS_ETOOSHORT" if len(content) < 16384 else "BFS_EMAGIC"], [problem["code"] for problem in found["problems"]])
            for key in ("num_bits", "num_probes", "capacity", "fpr", "seed", "layout", "hash", "state", "fill_ratio", "keys_added", "note", "file_id",
                        "overfull", "body_bytes", "format_version"):
                self.assertIsNone(found[key], key)
            page = self.text(path, code=2)
            self.assertIn(likeness, " ".join(page.split()))
            self.assertIn("not a filter file", page.splitlines()[0])
            self.assertIn("bf create", " ".join(page.split()))
            self.assertNotIn("Use a", page)

    def test_a_tar_archive_is_recognized_as_bf_does(self):
        for sign in (b"ustar\x0000", b"ustar  \0"):
            path = self.stranger(b"users.bf".ljust(257, b"\0") + sign + bytes(9000))
            self.assertIn("a tar archive", self.json(path, code=2)["looks_like"])
        self.assertNotIn("tar", self.json(self.stranger(b"users.bf".ljust(258, b"\0") + b"ustar  \0" + bytes(9000)), code=2)["looks_like"])

    def test_the_advice_is_given_once(self):
        page = " ".join(self.text(self.stranger(b"hello\n" * 9), code=2).split())
        self.assertEqual((page.count("Give the path of a filter"), page.count("Give the")), (1, 1))

    def test_a_delta_is_said_to_be_one_and_of_which_files(self):
        self.bf("create", "-q", "--capacity", "100", self.path("f"))
        self.bf("seal", "-q", self.path("f"), self.path("before"))
        self.bf("add", "-q", self.path("f"), "key")
        self.bf("seal", "-q", self.path("f"), self.path("after"))
        self.bf("delta", "-q", self.path("before"), self.path("after"), self.path("d"))
        before, after = (self.json(self.path(name))["file_id"] for name in ("before", "after"))
        likeness = self.json(self.path("d"), code=2)["looks_like"]
        self.assertRegex(likeness, f"^a delta: with the filter of file_id {before} it makes the filter of file_id {after}, which has \\d bits more")
        self.assertIn("a delta: with the filter", " ".join(self.text(self.path("d"), code=2).split()))
        with open(self.path("d"), "rb") as file:
            content = file.read()
        path = self.stranger(content[:-1])
        self.assertEqual(self.json(path, code=2)["looks_like"], "a damaged delta: get it again")

    def test_a_list_of_keys_is_what_a_filter_may_be_built_of(self):
        for content, list_of_keys in ((b"alice\nbob\n", None), (b"\x01\x02\x03\xff" * 5000, "KEYS")):
            path = self.stranger(content)
            page = "".join(self.text(path, code=2).split())  # the path may be wrapped
            self.assertIn(f"orbfbuildFILE--from{list_of_keys or path}.", page)

    def test_the_first_bytes_are_escaped(self):
        page = self.text(self.stranger(b"\x1b]0;gotcha\x07\n\xff'" + bytes(20000)), code=2)
        self.assertIn(r"'\x1b]0;gotcha\x07\n\xff'\x00", page)
        self.assertNotIn(r"\\", page)
        self.assertNotIn("\x1b", page)

    def test_an_empty_file_is_too_short_and_no_filter(self):
        self.assertEqual(self.codes(self.stranger(b"")), ["BFS_ETOOSHORT"])

    def test_a_symbolic_link_is_followed_as_readers_do_and_named_with_its_target(self):
        target = self.make(name="target\x1b[31m")
        os.symlink(target, self.path("link"))
        told, of_target = self.json(self.path("link")), self.json(target)
        self.assertEqual((told["link_target"], of_target["link_target"]), (target, None))
        self.assertEqual(told["file_id"], of_target["file_id"])
        page = self.text(self.path("link"))
        self.assertIn(r"leads to", page)
        self.assertNotIn("\x1b", page)
        os.symlink(self.stranger(b"text"), self.path("to a stranger"))
        self.assertIn("leads to", self.text(self.path("to a stranger"), code=2))

    def test_a_symbolic_link_that_leads_nowhere_is_an_error(self):
        os.symlink("no such\nfile", self.path("dangling"))
        os.symlink("loop", self.path("loop"))
        for name in ("dangling", "loop"):
            self.assertIn("symbolic link", self.json(self.path(name), code=3)["error"]["text"])
        # The target was not named, nor what to do.
        said = self.run_inspector(self.path("dangling")).stderr.decode()
        self.assertIn("dangling: a symbolic link to no such\\nfile, which does not exist. Make that file under its own name, or correct", said)

    def test_what_is_no_regular_file_is_named_and_does_not_block(self):
        os.mkfifo(self.path("fifo"))
        os.mkdir(self.path("folder"))
        for path, likeness in ((self.path("fifo"), "FIFO"), (self.path("folder"), "directory"), ("/dev/null", "device")):
            self.assertEqual(self.codes(path), ["BFS_ENOTREGULAR"])
            self.assertIn(likeness, self.json(path, code=2)["looks_like"])
            self.assertIn(likeness, self.text(path, code=2))

    def test_a_socket_is_no_filter(self):
        with socket.socket(socket.AF_UNIX) as server:
            server.bind(self.path("s"))
            done = self.run_inspector(self.path("s"))
            self.assertIn(done.returncode, (2, 3))
            self.assertIn(b"socket", done.stdout + done.stderr)

    def test_an_embedded_filter_is_no_filter_file(self):
        raw = Bytes(self.make()).put(28, "H", 2)
        found = self.json(raw.seal().write(), code=2)
        self.assertEqual([problem["code"] for problem in found["problems"]][0], "BFS_EFORM")
        self.assertEqual(found["form"], "embedded")


class Unreadable(InspectorCase):
    def failed(self, path, code, **more):
        found = self.json(path, code=3, **more)
        self.assertEqual((found["error"]["code"], found["valid"], found["healthy"]), (code, None, False))
        self.assertEqual([key for key in found if found[key] is not None and "path" not in key], ["schema", "healthy", "error"])
        done = self.run_inspector("--", path, **more)
        self.assertEqual((done.returncode, done.stdout), (3, b""))
        self.assertRegex(done.stderr, rb"\Abfinspect: [^\n\x1b]+\n\Z")
        return done.stderr.decode()

    def test_a_missing_file_is_named(self):
        message = self.failed(self.path("no\nsuch\x1b.bf"), "BFS_ENOENT")
        self.assertIn("no\\nsuch\\x1b.bf", message)
        self.assertTrue(message.endswith(": no such file. Give the path of a filter.\n"), message)

    def test_an_empty_name_is_a_missing_file(self):
        self.failed("", "BFS_ENOENT")

    def test_a_file_below_a_file_is_missing(self):
        self.failed(self.make() + "/below", "BFS_ENOENT")

    def test_a_file_without_permission_is_an_error_of_its_own(self):
        path = self.make()
        os.chmod(path, 0)
        somebody = {}
        if os.geteuid() == 0:  # root may read everything
            os.chmod(self.folder, 0o755)
            program = shutil.copy(BFINSPECT, self.path("bfinspect"))
            os.chmod(program, 0o755)
            somebody = {"user": 65534, "group": 65534, "extra_groups": [], "program": program}
        self.assertIn("f.bf", self.failed(path, "BFS_EACCES", **somebody))


class AnyEncoding(InspectorCase):
    NOTES = (b"plain", "Grüße, 日本 😀".encode(), b"\x1b]0;title\x07\x1b[2J\x9b31m", b"\xff\xfe\x80", b"nul\0inside",
             "right\u202eto left".encode(), b"line\nline\r\tend\\", b'"quoted"', b"\xed\xa0\x80", b" ", bytes(range(256)) * 4)

    def test_notes_in_any_encoding_survive_in_json(self):
        for note in self.NOTES:
            raw = Bytes(self.make()).records((1, note)).seal()
            found = self.json(raw.write())
            self.assertEqual(bytes.fromhex(found["note_bytes"]), note)
            try:
                self.assertEqual(found["note"], note.decode())
            except UnicodeDecodeError:
                self.assertIsNone(found["note"])
            os.unlink(raw.path)

    def test_no_note_reaches_a_terminal_raw(self):
        for note in self.NOTES:
            raw = Bytes(self.make()).records((1, note)).seal()
            raw.write()
            for locale in ("C", "C.UTF-8"):
                page = self.text(raw.path, environment={"LC_ALL": locale})
                self.assertNotRegex(page, "[\x00-\x09\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")
                self.assertEqual(page.isascii(), locale == "C")
            os.unlink(raw.path)
        self.make("--capacity", "10", "--note", "\x1b[31mrot")
        self.assertIn(r"\x1b[31mrot", self.text(self.path()))

    def test_paths_in_any_encoding_survive(self):
        for name in (b"new\nline", b"\xff\xfe.bf", b"\x1b[31mred", "Grün".encode(), b"[a,b]", b"{}", b"++", b"%%", b"a b ",
                     b"-dash", b"--json", "\u202etxt".encode(), b"'quote\"", b"#x", b"\\"):
            path = os.path.join(os.fsencode(self.folder), name)
            self.bf("create", path, "--capacity", "10")
            found = self.json(path)
            self.assertEqual(bytes.fromhex(found["path_bytes"]), path)
            try:
                self.assertEqual(found["path"], path.decode())
            except UnicodeDecodeError:
                self.assertIsNone(found["path"])
            page = self.text(path, environment={"LC_ALL": "C.UTF-8"})
            self.assertNotRegex(page, "[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]")
            self.assertEqual(self.json(name, cwd=self.folder)["path_bytes"], name.hex())


if __name__ == "__main__":
    unittest.main(verbosity=2)
