"""bf recover: keys that a crash may have taken, added again, and nothing answered "absent" before they all are."""
import os
import struct
import unittest

import xxhash

from bf_case import SURE, BfCase

DIRTY, RECOVERING, PAUSED = 2, 3, 4
SLOTS = (4096, 8192)


class Recover(BfCase):
    def read(self, name):
        with open(self.path(name), "rb") as file:
            return file.read()

    def edit_slots(self, name, change):
        """Changes both slots' bytes and seals them again (FORMAT.md, "State slots")."""
        data = bytearray(self.read(name))
        file_id = struct.unpack_from("<Q", data, 88)[0]
        for at in SLOTS:
            slot = data[at:at + 4088]
            change(slot)
            data[at:at + 4088] = slot
            struct.pack_into("<Q", data, at + 4088, xxhash.xxh3_64_intdigest(bytes(slot), file_id))
        self.write(name, data)

    def unclean(self, *owners):
        """A filter with the keys a and b, left by a machine that went down, with marks of these owners."""
        self.good("create", "f", "-q", *SURE)
        self.good("add", "f", "-q", "a", "b")

        def go_down(slot):
            struct.pack_into("<I", slot, 8, DIRTY)
            slot[16:32] = os.urandom(16)
            for lane, owner in enumerate(owners):
                struct.pack_into("<QQ", slot, 128 + 24 * lane, owner, 100)

        self.edit_slots("f", go_down)
        self.refused("contains", "f", "a", says="bf recover")

    def state(self):
        with open(self.path("f"), "rb") as file:
            page = file.read(16384)
        return max(struct.unpack_from("<QI", page, at) for at in SLOTS)[1]

    def test_keys_are_added_again_and_the_filter_answers(self):
        self.unclean()
        self.assertEqual(self.good("recover", "f", "c", "d"), b"f: 2 keys added again; recovered\n")
        self.assertEqual(self.good("contains", "f", "a", "c", "x"), b"maybe\ta\nmaybe\tc\nabsent\tx\n")

    def test_keys_come_from_a_file_or_a_pipe_and_may_be_none(self):
        for args, text in (["--from", "keys"], b""), (["-0"], b"c\0d\0"), ([], b""):
            with self.subTest(args=args, text=text):
                self.write("keys", b"c\nd\n")
                self.unclean()
                self.good("recover", "f", "-q", *args, input=text)
                self.assertEqual(self.good("contains", "f", "a"), b"maybe\ta\n")
                self.good("create", "f", "--force", "-q", *SURE)
                os.unlink(self.path("f"))

    def test_the_only_owner_is_meant_where_nobody_is_named(self):
        self.unclean(7)
        self.good("recover", "f", "-q", "c")
        self.good("contains", "f", "c")

    def test_of_several_owners_one_has_to_be_named_and_all_are_waited_for(self):
        self.unclean(7, 8)
        before = self.read("f")
        self.refused("recover", "f", "c", says=["7, 8", "--owner", "--all-owners"])
        self.assertEqual(self.read("f"), before)
        self.assertIn(b"owners 8", self.good("recover", "f", "--owner", "7", "c"))
        self.assertEqual(self.state(), PAUSED)
        self.refused("contains", "f", "c", says="recovery")
        self.refused("add", "f", "z", says="recovery")
        self.assertIn(b"recovered", self.good("recover", "f", "--owner", "8", "d"))
        self.assertEqual(self.good("contains", "f", "c", "d", "x"), b"maybe\tc\nmaybe\td\nabsent\tx\n")

    def test_quiet_does_not_hide_that_others_are_waited_for(self):
        self.unclean(7, 8, 9)
        words = b"f: 1 key added again. It answers maybe until the keys of the owners %s are added, too.\n"
        self.assertEqual(self.good("recover", "f", "-q", "--owner", "8", "c"), words % b"7, 9")
        self.assertEqual(self.good("recover", "f", "-q", "--owner", "7", "c"), words % b"9")
        self.assertEqual(self.good("recover", "f", "-q", "--owner", "9", "c"), b"")
        self.assertEqual(self.good("contains", "f", "c", "x"), b"maybe\tc\nabsent\tx\n")

    def test_all_owners_at_once(self):
        self.unclean(7, 8)
        self.good("recover", "f", "-q", "--all-owners", "c")
        self.good("contains", "f", "c")

    def test_accepting_the_loss(self):
        self.unclean(7, 8)
        self.assertIn(b"may be missing", self.good("recover", "f", "--accept-loss"))
        self.assertEqual(self.good("contains", "f", "a", "x"), b"maybe\ta\nabsent\tx\n")

    def test_a_filter_that_needs_no_recovery(self):
        self.good("create", "f", "-q", *SURE)
        self.assertIn(b"needed no recovery", self.good("recover", "f", "c"))
        self.good("contains", "f", "c")

    def test_wrong_words(self):
        self.unclean(7)
        self.write("keys", b"c\n")
        for words in (["--accept-loss", "c"], ["--accept-loss", "--from", "keys"], ["--owner", "7", "--all-owners", "c"],
                      ["--accept-loss", "--owner", "7"], ["--accept-loss", "--all-owners"]):
            self.refused("recover", "f", *words, says="recover: ")
        self.refused("recover", "f", "--owner", "x", "c", says="--owner: ")
        self.refused("recover", "nothing", "c", says="nothing: ")
        self.refused("recover", "f", "--from", "f", says="f: ")
        self.refused("recover", "f", "--from", "no-list", says="no-list: ")
        self.assertEqual(self.state(), DIRTY)

    def test_what_is_no_filter_or_too_damaged_is_refused(self):
        self.write("text", b"some words\n" * 3000)
        self.refused("recover", "text", "c", says="text: ")
        self.unclean(7)
        with open(self.path("f"), "r+b") as file:
            file.seek(12288)
            file.write(bytes(8))
        self.refused("recover", "f", "c", says="live word")
        self.refused("recover", "f", "--accept-loss", says="live word")


if __name__ == "__main__":
    unittest.main(verbosity=2)
