"""Files: every option, marks, recovery, online builds, seals, copies, sets, bits, plans, bare filters, and the header's whole list."""

import datetime
import hashlib
import math
import mmap
import os
import re
import struct
import time
import unittest
import unittest.mock
from array import array

import arrow
import bfstore
from bfstore import _bfstore
from case import HEADERS, HERE, JAYBIRD, Case

SECRET = b"sixteen bytes..."
TEXT = "".join(re.sub(r"/\*.*?\*/", " ", one.read_text("utf-8"), flags=re.DOTALL) for one in HEADERS)


class Header(unittest.TestCase):
    sources = "".join(path.read_text("utf-8") for path in (HERE / "bfstore").glob("*.[ch]"))

    def test_every_function_is_called(self):
        declared = set(re.findall(r"BFS_API[^;(]*?\b(bfs_\w+)\s*\(", TEXT))
        self.assertGreater(len(declared), 45)
        same = {"bfs_layout_named", "bfs_hash_named"}  # here the names of all numbers are known
        self.assertEqual({name for name in declared if not re.search(rf"\b{name}\b", self.sources)}, same)

    def test_a_number_that_the_library_does_not_know_is_its_own_name(self):
        self.assertEqual([_bfstore.layout_name(one) for one in (1, 0, 99, 2**16 + 1, 2**32 + 1)],
                         ["blocked", "0", "99", "65537", "4294967297"])
        self.assertEqual([_bfstore.hash_name(one) for one in (8, 999)], ["pybloom-live", "999"])

    def test_every_flag_is_taken(self):
        python = (HERE / "bfstore" / "__init__.py").read_text("utf-8")
        flags = set(re.findall(r"#define BFS_(\w+) 0x[0-9a-f]+ull", TEXT))
        self.assertGreater(len(flags), 25)
        by_name = {name.upper() for name in bfstore._FLAGS}
        self.assertEqual({name for name in flags if f"_bfstore.{name}" not in python and name not in by_name}, set())

    def test_every_option_is_taken(self):
        fields = set(re.findall(r"\b(\w+)[,;]", re.search(r"typedef struct bfs_options \{(.*?)\}", TEXT, re.DOTALL)[1]))
        fields -= {"struct_bytes", "secret_bytes", "note_bytes", "num_seeds"}
        taken = bfstore._CREATE | bfstore._OPEN | bfstore._OPEN_OR_CREATE | bfstore._FORMAT | bfstore._COPY
        found = {bfstore._CONVERTED.get(name, (name,))[0] for name in taken} - bfstore._FLAGS.keys() - {"offset", "length"}
        self.assertEqual(found | {"range", "fd", "num_parts"}, fields)

    def test_the_stubs_name_every_layout_and_hash(self):
        stubs = (HERE / "bfstore" / "__init__.pyi").read_text("utf-8")
        for alias, known in (("_Layout", bfstore._LAYOUTS), ("_Hash", bfstore._HASHES), ("_Order", bfstore._ORDERS)):
            said = re.search(rf"^{alias}: TypeAlias = Literal\[(.*?)\]", stubs, re.DOTALL | re.MULTILINE)[1]
            self.assertEqual(sorted(re.findall(r'"([^"]+)"', said)), sorted(known), alias)


class Making(Case):
    def test_what_is_given_is_what_the_filter_has(self):
        made = self.create(capacity=5000, fpr=0.001, layout="classic", seed=7, note=b"mine\0", file_id=bytes(range(16)), permissions=0o640)
        facts = made.stats()
        self.assertEqual((facts.capacity, facts.layout, facts.hash, facts.seed, facts.file_id, facts.health, facts.note, facts.part, facts.seeds),
                         (5000, "classic", "xxh3", 7, bytes(range(16)), "ok", b"mine\0", (0, 1), ()))
        self.assertAlmostEqual(facts.fpr, 0.001, 4)
        self.assertEqual((made.capacity, made.fpr, made.num_bits, made.num_probes, made.layout, made.hash, made.note, made.part, made.seeds),
                         (5000, facts.fpr, facts.num_bits, facts.num_probes, "classic", "xxh3", b"mine\0", (0, 1), ()))
        self.assertEqual(os.stat(self.path).st_mode & 0o777, 0o640 & ~_umask())
        self.assertEqual(self.create(self.folder / "like", like=self.path).stats().num_bits, facts.num_bits)
        self.assertLessEqual(self.create(self.folder / "small", max_bytes=50_000).stats().body_bytes, 50_000)
        with bfstore.create(self.folder / "most", capacity_at_most=10_000) as most:
            most.fold(self.folder / "folded", 0.01)
            with bfstore.open(self.folder / "folded") as folded:
                self.assertEqual((most.capacity, most.num_bits % folded.num_bits, folded.num_bits), (10_000, 0, 512))
        self.assertEqual(self.create(self.folder / "bits", num_bits=1024, num_probes=3).stats().num_probes, 3)
        self.assertEqual(self.create(self.folder / "per key", bits_per_key=16.0).stats().num_bits // 10_000, 16)

    def test_the_size_by_position(self):
        with bfstore.create(self.path, 5000, 0.25) as made:
            self.assertEqual((made.capacity, made.created), (5000, True))
            self.assertAlmostEqual(made.fpr, 0.25, 1)
        with bfstore.build(self.folder / "built", ["a"], 300, 0.25) as built:
            self.assertEqual((built.capacity, built.created), (300, True))
            self.assertAlmostEqual(built.fpr, 0.25, 1)

    def test_open_to_add_makes_the_file_once(self):
        with bfstore.open(self.path, "a", capacity=1000, fpr=0.001, permissions=0o640, note=b"note") as made:
            self.assertTrue(made.created)
            self.assertTrue(made.add("a"))
            self.assertEqual((made.capacity, made.note), (1000, b"note"))
            self.assertEqual(os.stat(self.path).st_mode & 0o777, 0o640 & ~_umask())
        for options in ({}, {"capacity": 77}, {"exclusive": True, "threads": 2}, {"limit": True, "accept_loss": True, "guard": True}):
            with self.subTest(options), bfstore.open(self.path, "a", **options) as again:
                self.assertFalse(again.created)
                self.assertEqual((again.capacity, "a" in again), (1000, True))
                again.add(str(options))
        with bfstore.open(self.folder / "alone", "a", capacity=10, exclusive=True) as alone:
            self.assertTrue(alone.created)
            with self.assertRaises(bfstore.BusyError):
                bfstore.open(self.folder / "alone", "a", lock_timeout=0)
        with self.open() as reader:
            self.assertFalse(reader.created)

    def test_open_to_add_refuses_a_file_with_keys_at_other_places(self):
        bfstore.create(self.path, 1000, seed=7).close()
        for other in ({"seed": 8}, {"layout": "classic"}, {"hash": "external"}, {"part": (0, 2)}):
            with self.subTest(other), self.assertRaises(bfstore.MismatchError):
                bfstore.open(self.path, "a", capacity=1000, **other)
        with self.assertRaises(bfstore.SecretError):
            bfstore.open(self.path, "a", capacity=1000, secret=SECRET)
        for wrong in ({}, {"fpr": 0.1}):
            with self.subTest(wrong), self.assertRaises(ValueError):
                bfstore.open(self.folder / "none", "a", **wrong)
        self.assertFalse((self.folder / "none").exists())

    def test_a_path_in_every_form(self):
        for number, path in enumerate((str(self.path), os.fsencode(self.path), self.path, os.fsencode(self.path) + b"\xff\xfe", "ü" + "x" * 99)):
            path = os.path.join(self.folder, path) if isinstance(path, str) else path
            with self.subTest(number), bfstore.create(path, capacity=5, replace=True) as made:
                self.assertIs(made.__enter__(), made)
                self.assertTrue(os.path.exists(path))
                self.assertIn("filter.bf" if number < 4 else "ü", repr(made))

    def test_build_appears_when_it_is_complete(self):
        keys = [b"%d" % i for i in range(1000)]
        for number, (form, how) in enumerate(((keys, {}), (iter(keys), {}), (b"".join(b"%03d" % i for i in range(500)), {"width": 3}),
                                              (set(keys), {"fpr": 0.001}), (arrow.text(keys), {"capacity": 1000}), (arrow.text(keys), {}),
                                              (arrow.Chunks([arrow.text(keys[:300]), arrow.text(keys[300:])]), {}),
                                              (iter(keys), {"capacity": 1000}), ((key for key in keys), {"capacity": 1000, "threads": 2}),
                                              (keys, {"threads": 2, "layout": "counting"}))):
            with bfstore.build(self.folder / f"{number}", form, **how) as built:
                self.assertEqual(built.stats().capacity, 500 if "width" in how else 1000)
                self.assertTrue(all(built.contains_many([b"%03d" % i for i in range(500)] if "width" in how else keys)))
                with self.assertRaises(bfstore.ReadOnlyError):
                    built.add("late")
        with bfstore.build(self.folder / "none", []) as built:
            self.assertNotIn("a", built)
        for none, how in (([], {}), ([], {"capacity": 5}), (iter([]), {}), (iter([]), {"capacity": 5})):
            with self.assertRaisesRegex(bfstore.InvalidError, "no key"):
                bfstore.build(self.folder / "0", none, replace=True, **how)
            bfstore.build(self.folder / "new", none, replace=True, **how).close()
            (self.folder / "new").unlink()

    def test_a_build_that_fails_leaves_nothing(self):
        with self.assertRaises(TypeError):
            bfstore.build(self.path, ["a", None])
        def keys():
            yield "a"
            raise ZeroDivisionError
        for how in ({}, {"capacity": 5}):
            with self.assertRaises(ZeroDivisionError):
                bfstore.build(self.path, keys(), **how)
        for form in (["a"], arrow.Chunks([arrow.text([b"a"]), arrow.text([b"b"])]), iter(["a"])):
            with self.assertRaises(bfstore.KindOfKeyError):
                bfstore.build(self.path, form, 5, hash="external")
        self.assertEqual(list(self.folder.iterdir()), [])
        with self.assertRaises(ValueError):
            bfstore.build(self.path, arrow.Chunks([arrow.text([b"a"]), arrow.Column("u", [None, struct.pack("3i", 0, 3, 1), b"abc"], 2)]))
        self.assertEqual(list(self.folder.iterdir()), [])

    def test_a_build_of_more_keys_than_its_capacity_is_full(self):
        keys = [b"%d" % i for i in range(5000)]
        columns = arrow.Chunks([arrow.text(keys[:3000]), arrow.text(keys[3000:])])
        for form in (keys, iter(keys), columns, arrow.text(keys)):
            with self.assertRaisesRegex(bfstore.FullError, "filter.bf: not built"):
                bfstore.build(self.path, form, 1000)
        self.assertEqual(list(self.folder.iterdir()), [])
        columns = arrow.Chunks([arrow.text(keys[:3000]), arrow.text(keys[3000:])])
        for form in (keys, iter(keys), columns):  # which promises no capacity
            bfstore.build(self.path, form, num_bits=4096, num_probes=3, replace=True).close()

    def test_a_static_filter_has_the_same_bytes_for_one_set_of_keys(self):
        keys = [b"%d" % i for i in range(5000)]
        twice = keys + keys[:1000]
        how = {"layout": "static", "seed": 1, "file_id": bytes(range(16))}
        files = set()
        for number, (form, more) in enumerate(((keys, {}), (keys[::-1], {}), (twice, {}), (iter(twice), {}), (set(keys), {"threads": 2}), (twice, {"capacity": 5000}),
                                               (iter(twice), {"capacity": 5000}), ((key for key in twice), {"threads": 2}), (arrow.text(twice), {}),
                                               (arrow.Chunks([arrow.text(twice[:3000]), arrow.text(twice[3000:])]), {}),
                                               (arrow.Chunks([arrow.text(twice[:3000]), arrow.text(twice[3000:])]), {"capacity": 5000}))):
            path = self.folder / f"{number}"
            with bfstore.build(path, form, **how, **more) as built:
                facts = built.stats()
                self.assertEqual((facts.layout, facts.capacity, facts.keys_added, facts.health, built.created), ("static", 5000, 5000, "ok", True), number)
                self.assertTrue(all(built.contains_many(keys)))
                self.assertLess(sum(built.contains_many([b"no %d" % i for i in range(5000)])), 100)
                with self.assertRaises(bfstore.SealedError):
                    built.add("late")
            files.add(path.read_bytes())
        made = bfstore.create(self.path, unpublished=True, **how)
        made.add_digests(array("Q", made.digest_many(twice)))
        made.publish()
        made.close()
        self.assertEqual(files, {self.path.read_bytes()})

    def test_a_static_filter_of_no_key_or_of_too_many(self):
        keys = [b"%d" % i for i in range(5000)]
        columns = arrow.Chunks([arrow.text(keys[:3000]), arrow.text(keys[3000:])])
        for form in (keys, iter(keys), columns, arrow.text(keys)):
            with self.assertRaisesRegex(bfstore.FullError, "5000 keys, and its capacity is 4999"):
                bfstore.build(self.path, form, 4999, layout="static")
        self.assertEqual(list(self.folder.iterdir()), [])
        bfstore.build(self.path, keys[:4999], layout="static").close()
        seed = bfstore.open(self.path).stats().seed
        for form in keys, iter(keys):
            with bfstore.build(self.path, form, like=self.path, replace=True) as more:
                self.assertEqual((more.stats().seed, more.capacity, more.stats().layout), (seed, 5000, "static"))
                self.assertTrue(all(more.contains_many(keys)))
        self.path.unlink()
        for none in ([], iter([])):
            with bfstore.build(self.path, none, layout="static") as built:
                self.assertNotIn("a", built)
            for how in ({"layout": "static"}, {"layout": "static", "capacity": 5}, {"like": self.path}):
                with self.assertRaisesRegex(bfstore.InvalidError, "no key was given, .* remove the file first"):
                    bfstore.build(self.path, none, replace=True, **how)
            self.path.unlink()

    def test_a_static_filter_that_is_not_published_gathers_keys(self):
        with self.assertRaises(bfstore.UnsupportedError):
            bfstore.create(self.path, layout="static")
        made = bfstore.create(self.path, layout="static", unpublished=True, seed=1)
        self.addCleanup(made.close)
        self.assertEqual((made.layout, made.health, made.add("a"), made.add_many(["b", "c", "a"]), "never" in made), ("static", "filling", False, 0, True))
        other = self.create(self.folder / "other")
        for call in (lambda: made.sync(1, mark=5), made.sync, made.supersede, made.is_current, made.finish_filling, lambda: made.remove("a"),
                     lambda: made.count("a"), lambda: made.merge(other), made.turn):
            with self.assertRaises(bfstore.UnsupportedError):
                call()
        for call in (made.dump, lambda: made.copy(self.folder / "copy"), lambda: other.merge(made), lambda: other.compare(made)):
            with self.assertRaisesRegex(bfstore.FillingError, "Publish it first"):
                call()
        self.assertFalse(self.path.exists())
        made.publish()
        self.assertEqual((made.stats().capacity, made.health, made.is_current(), [key in made for key in ("a", "b", "c", "never")]),
                         (3, "ok", True, [True, True, True, False]))
        for call, kind, words in ((lambda: made.add("late"), bfstore.SealedError, "sealed"), (lambda: made.merge(made), bfstore.SealedError, "sealed"),
                                  (lambda: made.remove("a"), bfstore.UnsupportedError, "layout"), (made.supersede, bfstore.UnsupportedError, "Build another one"),
                                  (lambda: made.sync(1, mark=5), bfstore.ReadOnlyError, "reading"), (made.publish, bfstore.InvalidError, "published already"),
                                  (lambda: bfstore.open(self.path, "r+"), bfstore.SealedError, "build another one"),
                                  (lambda: made.fold(self.folder / "small", 0.1), bfstore.UnsupportedError, "Build a smaller one")):
            with self.assertRaisesRegex(kind, words):
                call()
        made.copy(self.folder / "copy")
        self.assertEqual(bfstore.verify(self.folder / "copy"), [])

    def test_an_unpublished_file_has_no_name_and_takes_the_place_of_another(self):
        old = self.create()
        old.add("old")
        reader = self.open()
        made = self.create(unpublished=True, replace=True)
        made.add("new")
        made.supersede()
        made.publish()
        with self.assertRaisesRegex(bfstore.DoubtError, "another file replaced it"):
            old.close()
        self.assertEqual(reader.health, "superseded")
        self.assertIn("anything", reader)
        self.assertFalse(reader.is_current())
        self.assertTrue(made.is_current())
        self.assertNotIn("old", self.open())
        self.assertIn("new", self.open())

    def test_a_reader_that_follows(self):
        with self.create(seed=1) as old:
            old.add("old")
        reader = self.open(follow=True)
        bfstore.build(self.path, ["new"], replace=True, seed=1, hash="xxh3", capacity=100).close()
        self.assertTrue(reader.is_current())
        self.assertEqual([key in reader for key in ("old", "new")], [False, True])

    def test_a_secret(self):
        with self.create(hash="siphash", secret=SECRET) as made:
            made.add("a")
        self.assertIn("a", self.open(secret=SECRET))
        for wrong in (None, b"another secret!!"):
            with self.assertRaises(bfstore.SecretError):
                self.open(secret=wrong)

    def test_every_flag_that_reads(self):
        self.create().close()
        for flags in ({"populate": True}, {"random": True}, {"private": True}, {"guard": True}, {"strict": True}, {"any_filesystem": True},
                      {"follow_symlinks": False}, {"no_write": True}, {"follow": True}, {"lock_timeout": math.inf}, {"lock_timeout": 0.001},
                      {"private": False}):
            with self.subTest(flags):
                self.assertNotIn("a", self.open(**flags))
        self.assertTrue(self.open(self.path, "r+", exclusive=True, writeback_check=0, limit=True).add("a"))

    def test_a_symbolic_link_is_refused_where_that_is_said(self):
        self.create().close()
        (self.folder / "link").symlink_to(self.path)
        self.open(self.folder / "link")
        with self.assertRaises(bfstore.MalformedError) as caught:
            self.open(self.folder / "link", follow_symlinks=False)
        self.assertEqual(caught.exception.code_name, "BFS_ESYMLINK")

    def test_times_are_seconds(self):
        for seconds, number in ((0, _bfstore.LOCK_NO_WAIT), (math.inf, _bfstore.LOCK_FOREVER), (1.5, 1500), (0.00001, 1), (None, None)):
            self.assertEqual(bfstore._given("f", bfstore._OPEN, {"lock_timeout": seconds})[1].get("lock_timeout_ms"), number)
        for seconds, number in ((0, _bfstore.WRITEBACK_CHECK_EACH_ADD), (0.25, 250)):
            self.assertEqual(bfstore._given("f", bfstore._OPEN, {"writeback_check": seconds}), (0, {"writeback_check_ms": number}))
        for wrong in ({"writeback_check": math.inf}, {"lock_timeout": -1}, {"lock_timeout": math.nan}, {"lock_timeout": 5e6}):
            with self.assertRaises(ValueError):
                bfstore._given("f", bfstore._OPEN, wrong)

    def test_a_descriptor(self):
        with self.create() as made:
            made.add("a")
        with open(self.path, "rb") as file:
            opened = self.open(file.fileno())
            self.assertEqual([key in opened for key in "ab"], [True, False])

    def test_a_range_of_a_file(self):
        with self.create() as made:
            made.add("a")
            dumped = made.dump()
        whole = self.folder / "whole"
        whole.write_bytes(b"." * 640 + dumped + b"the rest")
        for more in ({"length": len(dumped)}, {}, {"private": True}):
            with self.subTest(more), self.open(whole, offset=640, **more) as opened:
                self.assertEqual([key in opened for key in "ab"], [True, False])
        with open(whole, "rb") as file, self.open(file.fileno(), offset=640) as opened:
            self.assertEqual([key in opened for key in "ab"], [True, False])
        for wrong in ({"offset": 0}, {"length": 640}, {"offset": 640, "length": 64}):
            with self.subTest(wrong), self.assertRaises(bfstore.MalformedError):
                self.open(whole, **wrong)

    def test_threads_of_an_exclusive_writer(self):
        with self.create(exclusive=True, capacity=100_000, threads=2) as made:
            made.add_many(range(50_000))
        with self.open(self.path, "r+", exclusive=True, threads=2) as again:
            again.add_many(range(50_000, 100_000))
            self.assertTrue(all(again.contains_many(range(100_000))))
        with self.assertRaises(bfstore.CallError):
            self.open(self.path, "r+", threads=2)


def _umask():
    mask = os.umask(0)
    os.umask(mask)
    return mask


class Marks(Case):
    def test_marks(self):
        made = self.create()
        made.sync()
        made.sync(7, epoch=1, mark=100)
        made.sync(owner=2**64 - 1, epoch=2**63, mark=5)
        self.assertEqual(set(made.marks()), {bfstore.Mark(7, 100, 1, False), bfstore.Mark(2**64 - 1, 5, 2**63, False)})
        self.assertEqual([made.get_mark(7, 1), made.get_mark(7, 2), made.get_mark(8, 1)], [100, 0, 0])
        made.drop_owner(7)
        self.assertEqual(made.get_mark(7, 1), 0)
        for wrong in (-1, 2**64):
            with self.assertRaises(OverflowError):
                made.sync(wrong)

    def go_down(self):
        """Leaves the file as a machine does that went down (FORMAT.md, "State slots"): dirty, in another boot."""
        data = bytearray(self.path.read_bytes())
        with bfstore.create(self.folder / "unseeded", capacity=1, seed=0) as hash_:
            seed = hash_.digest(data[88:104])
        with bfstore.create(self.folder / "xxh3", capacity=1, seed=seed) as hash_:
            for at in (4096, 8192):
                struct.pack_into("<I", data, at + 8, 2)
                data[at + 16:at + 32] = os.urandom(16)
                struct.pack_into("<Q", data, at + 4088, hash_.digest(data[at:at + 4088]))
        self.path.write_bytes(data)

    def test_a_recovery(self):
        with self.create() as made:
            made.add("before")
            made.sync(7, epoch=1, mark=1)
        self.go_down()
        with self.assertRaises(bfstore.RecoveryError) as caught:
            self.open()
        self.assertEqual(caught.exception.code_name, "BFS_EUNCLEAN")
        with self.open(self.path, "r+", recover=True) as recovering:
            self.assertEqual(recovering.health, "recovering")
            self.assertIn("anything", recovering)
            recovering.add("after")
            self.assertTrue(recovering.finish_recovery(7))
            self.assertEqual([key in recovering for key in ("before", "after", "anything")], [True, True, False])
        self.assertEqual(self.open().health, "ok")

    def test_a_loss_that_is_accepted(self):
        self.create().close()
        self.go_down()
        with self.open(self.path, "r+", accept_loss=True) as opened:
            self.assertEqual(opened.health, "ok")

    def test_an_online_build(self):
        made = self.create(filling=True)
        self.assertEqual(made.health, "filling")
        self.assertIn("anything", made)
        with self.assertRaises(bfstore.FillingError):
            made.dump()
        with bfstore.open(self.folder / "other", "a", capacity=10, filling=True) as other:
            self.assertEqual((other.created, other.health), (True, "filling"))
        made.add("a")
        made.finish_filling()
        self.assertEqual([made.health, "a" in made, "anything" in made], ["ok", True, False])


class Stop:
    """A threading.Event that is set at the second question."""

    asked = 0

    def wait(self, _):
        self.asked += 1
        return self.asked > 1


class Windows(Case):
    def test_the_loop_of_the_guide(self):
        stop, timedelta = Stop(), datetime.timedelta
        before = os.getcwd()
        self.addCleanup(os.chdir, before)
        os.chdir(self.folder)
        with bfstore.open("seen.bf", "a", capacity=10_000_000, window=timedelta(hours=24)) as seen:
            while not stop.wait(60):
                seen.turn()
        self.assertEqual((stop.asked, seen.closed, os.listdir(self.folder)), (2, True, ["seen.bf"]))

    def test_a_key_is_forgotten_when_its_epoch_is_the_oldest(self):
        for layout, epochs in (("window", 8), ("window-4", 4), ("window-2", 2)):
            made = self.create(self.folder / layout, layout=layout, window=datetime.timedelta(days=1))
            made.add("a")
            facts = made.stats()
            self.assertEqual((made.layout, facts.epochs, facts.epoch, facts.window, facts.turn_due, facts.keys_of_epochs),
                             (layout, epochs, 0, 86400.0, False, None))
            self.assertGreater(facts.turned_at, 1.7e9)
            self.assertIs(made.turn(), False)
            for epoch in range(epochs):
                self.assertIn("a", made)
                self.assertIs(made.turn(from_epoch=epoch), True)
                self.assertEqual((made.turn(epoch), made.stats().epoch), (False, epoch + 1))
            self.assertNotIn("a", made)

    def test_an_epoch_that_has_lasted_for_its_time_ends(self):
        made = self.create(layout="window-2", window=0.001)
        for epoch in (1, 2):
            time.sleep(0.01)  # at least so long
            self.assertIs(made.stats().turn_due, True)
            self.assertIs(made.turn(), True)
            self.assertEqual(made.stats().epoch, epoch)

    def test_the_keys_of_each_epoch_are_estimated(self):
        made = self.create(layout="window-4", window=3600)
        made.add_many(range(1000))
        made.turn(0)
        made.add_many(range(100))
        now, before, *others = made.stats(fill=True).keys_of_epochs
        self.assertAlmostEqual(now, 100, delta=10)
        self.assertAlmostEqual(before, 1000, delta=100)
        self.assertEqual(others, [0.0, 0.0])

    def test_other_filters_have_no_epochs(self):
        made = self.create()
        facts = made.stats(fill=True)
        self.assertEqual((facts.epochs, facts.epoch, facts.turned_at, facts.window, facts.turn_due, facts.keys_of_epochs), (0, *[None] * 5))
        for from_epoch in (None, 0):
            with self.assertRaisesRegex(bfstore.UnsupportedError, "do not expire"):
                made.turn(from_epoch)

    def test_the_window_is_a_timedelta_or_seconds(self):
        for window, number in ((datetime.timedelta(hours=24), 86_400_000), (datetime.timedelta(microseconds=1001), 2), (60, 60_000), (0.07, 70), (0.001, 1)):
            self.assertEqual(bfstore._given("f", bfstore._CREATE, {"window": window}), (0, {"window_ms": number}))
        for wrong in (0, -1, math.nan, math.inf, 1e30, 0.0004, datetime.timedelta(0), datetime.timedelta(days=-1), datetime.timedelta(milliseconds=0.4)):
            with self.subTest(wrong), self.assertRaisesRegex(ValueError, "window is a timedelta or a number of seconds, of a millisecond or more"):
                bfstore.create(self.path, 10, window=wrong)
        with self.assertRaisesRegex(TypeError, "^window is not a timedelta or a number of seconds: '24h'$"):
            bfstore.create(self.path, 10, window="24h")

    def test_the_window_is_that_of_the_file(self):
        self.create(window=60).close()
        for window in (60, datetime.timedelta(minutes=1), None):
            with bfstore.open(self.path, "a", capacity=1000, window=window) as again:
                self.assertEqual((again.created, again.layout, again.stats().window), (False, "window", 60.0))
        with self.assertRaisesRegex(bfstore.MismatchError, "window"):
            bfstore.open(self.path, "a", capacity=1000, window=61)
        for refused, error in (({"layout": "window"}, bfstore.InvalidError), ({"layout": "classic", "window": 60}, bfstore.InvalidError)):
            with self.subTest(refused), self.assertRaisesRegex(error, "window"):
                bfstore.create(self.folder / "none", 10, **refused)
        with self.assertRaisesRegex(bfstore.UnsupportedError, "Make a file"):
            bfstore.required_bytes(capacity=10, window=60)

    def test_a_turn_takes_a_number_and_a_writer(self):
        made = self.create(window=60)
        with self.open() as reader, self.assertRaises(bfstore.ReadOnlyError):
            reader.turn()
        for wrong, error in ((-1, OverflowError), (2**64, OverflowError), ("0", TypeError), (0.5, TypeError), (False, TypeError)):
            with self.subTest(wrong), self.assertRaises(error):
                made.turn(wrong)
        self.assertIs(made.turn(2**63), False)
        self.assertEqual(_bfstore.IF_DUE, 2**64 - 1)
        made.close()
        with self.assertRaises(bfstore.ClosedError):
            made.turn()


class Forms(Case):
    def filled(self, *keys, path=None, **options):
        made = self.create(path, seed=7, **options)
        made.add_many(keys)
        return made

    def test_copy_fold_dump_load(self):
        made = self.filled("a", "b", note=b"note")
        made.copy(self.folder / "copy", permissions=0o600)
        for copy in (self.open(self.folder / "copy"), bfstore.load(made.dump()), bfstore.load(bytearray(made.dump()), "r+"),
                     bfstore.load(memoryview((self.folder / "copy").read_bytes()))):
            self.assertEqual([copy.note, copy.created, *[key in copy for key in "abc"]], [b"note", False, True, True, False])
            self.assertTrue(copy.compare(made).equal)
            copy.close()
        for again in (lambda path: made.copy(path), lambda path: made.fold(path, 0.5), lambda path: made.seal(path)):
            with self.assertRaises(FileExistsError):
                again(self.folder / "copy")
        made.copy(self.folder / "copy", replace=True, same_file_id=True)
        self.assertEqual(self.open(self.folder / "copy").stats().file_id, made.stats().file_id)
        made.fold(self.folder / "folded", 0.5)
        self.assertLess(self.open(self.folder / "folded").num_bits, made.num_bits)
        made.fold(self.folder / "folded", fpr=0.5, replace=True)
        for wrong in (0, 2.0):
            with self.assertRaisesRegex(ValueError, "fpr|rate"):
                made.fold(self.folder / "no", wrong)

    def test_a_filter_for_an_unknown_number_of_keys(self):
        made = self.create(capacity=1_000_000, unpublished=True)
        made.add_many(range(500))
        made.fold(self.path, 0.01)
        made.close()
        with self.open() as folded:
            self.assertTrue(all(folded.contains_many(range(500))))
            self.assertLess(folded.num_bits, 16_000)
        self.assertEqual(list(self.folder.iterdir()), [self.path])

    def test_bare_dumps(self):
        with self.create(seed=0, num_bits=1024, num_probes=6) as made:
            made.add("a")
            bare = made.dump(bare=True)
        with bfstore.load(bare, bare=True) as loaded:
            self.assertEqual([key in loaded for key in "ab"], [True, False])
        self.assertEqual([bfstore.bare_contains(bare, key) for key in "ab"], [True, False])

    def test_a_buffer_is_formatted_and_wrapped_in_place(self):
        memory = mmap.mmap(-1, bfstore.required_bytes(capacity=1000))
        with bfstore.format(memory, capacity=1000) as made:
            made.add("a")
            with self.assertRaises(BufferError):
                memory.resize(10)
            with self.assertRaises(BufferError):
                memory.close()
        with bfstore.wrap(memory) as reader, bfstore.wrap(memory, "r+") as writer:
            writer.add("b")
            self.assertEqual([key in reader for key in "abc"], [True, True, False])
        read_only = mmap.mmap(-1, 8192, prot=mmap.PROT_READ)
        for call in (lambda: bfstore.wrap(read_only, "r+"), lambda: bfstore.format(read_only, capacity=5)):
            with self.assertRaises((BufferError, TypeError)):
                call()
        with self.assertRaises(bfstore.MalformedError):
            bfstore.wrap(read_only)
        memory.close()

    def test_the_union_of_two_filters_is_a_new_one_in_memory(self):
        with self.filled("a") as one, self.filled("b", path=self.folder / "two") as two, self.filled(path=self.folder / "none") as both:
            before = [filter.dump(same_file_id=True) for filter in (one, two)]
            with one | two as union:
                self.assertEqual(union.name, f"the union of {one.name} and {two.name}")
                self.assertEqual([key in union for key in "abc"], [True, True, False])
                both |= one
                both |= two
                self.assertTrue(union.compare(both).equal)
                self.assertTrue(union.add("c"))
            self.assertEqual([filter.dump(same_file_id=True) for filter in (one, two)], before)
            with self.assertRaises(TypeError):
                one | {"a"}
            other = self.create(self.folder / "other", capacity=1000, layout="classic")
            with self.assertRaises(bfstore.MismatchError):
                one | other

    def test_merge_and_its_operator(self):
        one, two = self.filled("a"), self.filled("b", path=self.folder / "two")
        one.merge(two)
        self.assertEqual([key in one for key in "abc"], [True, True, False])
        same = two
        two |= one
        self.assertIs(two, same)
        self.assertTrue(one.compare(two).equal)
        with self.assertRaises(TypeError):
            two |= {"a"}
        with self.assertRaises(TypeError):
            two.merge("text")
        with self.assertRaises(bfstore.MismatchError):
            one.merge(self.create(self.folder / "seed", seed=8))

    def test_compare(self):
        a, b = self.filled(*range(1000)), self.filled(*range(500, 1500), path=self.folder / "b")
        found = a.compare(b)
        self.assertTrue(found.comparable and found.some_in_both and not found.equal and not found.a_in_b)
        self.assertEqual(found.differs, frozenset())
        self.assertTrue(found.keys_both.low <= 500 <= found.keys_both.high, found.keys_both)
        self.assertAlmostEqual(found.jaccard.estimate, 1 / 3, 1)
        self.assertEqual(a.compare(self.create(self.folder / "c", layout="classic", seed=8)).differs & {"layout", "seed", "hash"}, {"layout", "seed"})

    def test_an_object_that_pretends_to_be_a_filter_is_none(self):
        pretender = unittest.mock.Mock(spec=bfstore.Filter)
        with self.create() as made:
            for call in (made.merge, made.compare, lambda other: bfstore.intersect([made, other], self.folder / "no")):
                with self.assertRaises(TypeError):
                    call(pretender)

    def test_numbers_that_are_none_of_theirs(self):
        for number in (-1, 2**64):
            with self.assertRaises(OverflowError):
                bfstore.bare_bytes(number, 8.0)
        with self.assertRaises(TypeError):  # bytes(16) is 16 zeros
            self.create(hash="siphash", secret=16)

    def test_parts(self):
        halves = [bfstore.create(self.folder / f"half{i}", part=(i, 2), capacity=100, seed=1) for i in (0, 1)]
        self.assertEqual((halves[1].part, halves[1].stats().part), ((1, 2), (1, 2)))
        for key in ("a", "b", "c", "d"):
            halves[halves[0].digest(key) >> 63].add(key)
        for call in (lambda: halves[0].add_digest(2**64 - 1), lambda: halves[1].contains_digest(0)):
            with self.assertRaises(bfstore.PartError):
                call()
        with self.assertRaises(bfstore.MismatchError):
            bfstore.join(halves[:1], self.folder / "no")
        for wrong in ((2, 2), (0, 0)):
            with self.assertRaises(ValueError):
                bfstore.create(self.folder / "no", part=wrong, capacity=100)
        for wrong in ((1,), (-1, 2), ("0", 2), (0, 2**32)):
            with self.assertRaises((TypeError, OverflowError, ValueError)):
                bfstore.create(self.folder / "no", part=wrong, capacity=100)
        self.assertFalse((self.folder / "no").exists())
        bfstore.join(halves, self.folder / "whole")
        whole = self.open(self.folder / "whole")
        self.assertTrue(all(key in whole for key in ("a", "b", "c", "d")))
        self.assertEqual(whole.part, (0, 1))
        for half in halves:
            half.close()

    def test_a_set_of_parts(self):
        options = dict(capacity=100, hash="external")
        halves = [bfstore.create(self.folder / f"half{i}", part=(i, 2), **options) for i in (0, 1)]
        halves[0].add_digest(7)
        halves[1].add_digest(2**64 - 7)
        for half in halves:
            half.close()
        (self.folder / "set").write_bytes(b"bfstore-set 1\nhalf0\nhalf1\n")
        with bfstore.open(self.folder / "set", guard=True, lock_timeout=1) as both:
            self.assertTrue(both.contains_digest(7) and both.contains_digest(2**64 - 7))
            self.assertFalse(both.contains_digest(9) or both.contains_digest(2**64 - 9))
            self.assertEqual(both.part, (0, 1))
            with self.assertRaises(bfstore.ReadOnlyError):
                both.add_digest(9)
        (self.folder / "one").write_bytes(b"bfstore-set 1\nhalf0\n")
        with bfstore.open(self.folder / "one") as one:
            self.assertTrue(one.contains_digest(2**64 - 9))
            self.assertFalse(one.contains_digest(9))
        with self.assertRaises(bfstore.InvalidError):
            bfstore.open(self.folder / "set", limit=True)
        with self.assertRaises((bfstore.InvalidError, bfstore.MalformedError)):
            bfstore.open(self.folder / "set", follow=True)
        for wrong in ("r+", "a"):
            with self.assertRaises(bfstore.Error):
                bfstore.open(self.folder / "set", wrong)
        (self.folder / "bad").write_bytes(b"bfstore-set 1\nhalf0\nhalf0\n")
        with self.assertRaisesRegex(bfstore.MismatchError, "line 3: .*both part 0 of 2"):
            bfstore.open(self.folder / "bad")

    def test_intersect(self):
        a, b = self.filled(*range(1000)), self.filled(*range(500, 1500), path=self.folder / "b")
        bfstore.intersect([a, b], self.folder / "both")
        both = self.open(self.folder / "both")
        self.assertEqual([number in both for number in (0, 600, 1400)], [False, True, False])
        for wrong in ([a, "b"], [a, None]):
            with self.assertRaises(TypeError):
                bfstore.intersect(wrong, self.folder / "no")
        with self.assertRaises(ValueError):
            bfstore.intersect([], self.folder / "no")
        b.close()
        with self.assertRaises(bfstore.ClosedError):
            bfstore.intersect([a, b], self.folder / "no")
        a.add("still open")

    def test_a_delta_makes_the_later_file(self):
        before, after, delta, made = (self.folder / name for name in ("before", "after", "delta", "made"))
        with self.filled("a") as filter:
            filter.seal(before)
            filter.add("b")
            filter.seal(after)
        with self.assertRaises(bfstore.MismatchError):
            bfstore.make_delta(after, before, delta)
        bfstore.make_delta(before, after, delta, permissions=0o644)
        with self.assertRaises(FileExistsError):
            bfstore.make_delta(before, after, delta)
        bfstore.apply_delta(before, delta, made)
        self.assertEqual(made.read_bytes(), after.read_bytes())
        bfstore.apply_delta(before, delta, before, replace=True)
        self.assertIn("b", bfstore.open(before))
        with self.assertRaises(bfstore.MismatchError):
            bfstore.apply_delta(before, delta, made, replace=True)
        with self.assertRaises(bfstore.MalformedError):
            bfstore.apply_delta(after, after, self.folder / "no")
        with self.assertRaises(TypeError):
            bfstore.apply_delta(before, delta, made, filling=True)

    def test_seal_and_verify(self):
        self.filled("a").close()
        sealed = self.folder / "sealed"
        with bfstore.open(self.path) as source:
            source.seal(sealed)
        self.assertEqual(bfstore.verify(sealed), [])
        self.assertIn("a", self.open(sealed, verify=True))
        with self.assertRaises(bfstore.SealedError):
            self.open(sealed, "r+")
        with self.assertRaises(bfstore.SealedError):
            bfstore.verify(self.path)
        data = bytearray(sealed.read_bytes())
        data[20_000] ^= 1
        sealed.write_bytes(data)
        found, = bfstore.verify(sealed)
        self.assertTrue(found.offset <= 20_000 < found.offset + found.bytes)
        with self.assertRaises(bfstore.DamagedError):
            self.open(sealed, verify=True)
        self.assertIn("anything", self.open(sealed, tolerate_damage=True))

    def test_many_damaged_ranges(self):
        self.create(capacity=20_000_000).close()
        with bfstore.open(self.path) as source:
            source.seal(self.path, replace=True)
        with open(self.path, "r+b") as file:
            for at in range(1 << 16, os.path.getsize(self.path) - 65536, 1 << 17):
                file.seek(at + 100)
                file.write(b"x")
        ranges = bfstore.verify(self.path)
        self.assertGreater(len(ranges), 100)  # more than the first call returns
        self.assertEqual(ranges, sorted(ranges, key=lambda one: one.offset))

    def test_bits_of_another_program(self):
        filter_ = self.create(layout="classic", hash="murmur3", num_bits=1000, seeds=[5, 2**32 - 1])
        self.assertEqual(filter_.seeds, (5, 2**32 - 1))
        bits = bytes(124) + b"\x03"
        filter_.import_bits(bits, order="little")
        self.assertEqual(filter_.export_bits(order="little"), bits)
        self.assertEqual(filter_.export_bits(order="big"), bytes(124) + b"\xc0")
        self.assertEqual(filter_.stats(fill=True).set_bits, 2)
        for call in (lambda: filter_.import_bits(bits, order="middle"), lambda: filter_.import_bits(b"", order="big")):
            with self.assertRaises(ValueError):
                call()

    def test_a_file_of_python_bloomfilter_becomes_a_filter_and_comes_back(self):
        data = JAYBIRD
        told = bfstore.inspect_foreign(data[:40], "jaybird")
        self.assertEqual(told, bfstore.Foreign(layout="classic", hash="jaybird", num_probes=10, num_bits=150, capacity=10, fpr=0.001, keys=3,
                                               bytes=len(data), filters=1, needs=frozenset()))
        with bfstore.import_foreign(self.path, data, "jaybird") as made:
            self.assertEqual([key in made for key in ("alice", "bob", "caf\u00e9", "carol")], [True, True, True, False])
            self.assertEqual(made.export_foreign("jaybird"), data)
            with self.assertRaises(bfstore.ReadOnlyError):
                made.add("carol")
        with self.assertRaisesRegex(bfstore.MalformedError, "^words.jay: has 58 bytes"):
            bfstore.import_foreign(self.folder / "other", data[:-1], "jaybird", name="words.jay")
        self.assertEqual([path.name for path in self.folder.iterdir()], [self.path.name])

    def test_a_plain_array_needs_the_caller_s_word(self):
        self.assertLessEqual({"raw", "jaybird"}, set(bfstore.foreign_formats()))
        bits, words = bytearray(b"\0\0\0\x80" + bytes(12)), {"hash": "murmur3", "num_bits": 124, "num_probes": 4}
        told = bfstore.inspect_foreign(bits, "raw")
        self.assertEqual((told.needs, told.num_bits, told.hash, told.keys, told.bytes), ({"size", "order", "hash"}, None, None, None, None))
        told = bfstore.inspect_foreign(b"", "raw", order="big", **words)
        self.assertEqual((told.num_bits, told.hash, told.bytes), (124, "murmur3", 16))
        for wrong, raised in (({**words, "hash": None}, ValueError), ({}, ValueError), ({**words, "order": "middle"}, ValueError),
                              ({**words, "num_bits": 132}, bfstore.InvalidError), ({**words, "format": "pickle"}, bfstore.InvalidError),
                              ({**words, "colour": 1}, TypeError)):
            with self.subTest(wrong=wrong), self.assertRaises(raised):
                bfstore.import_foreign(self.path, bits, **{"format": "raw", "order": "big", **wrong})
        self.assertEqual(list(self.folder.iterdir()), [])
        made = bfstore.import_foreign(self.path, memoryview(bits), "raw", order="big", unpublished=True, **words)
        self.assertTrue(made.add("key"))
        self.assertEqual(list(self.folder.iterdir()), [])
        made.publish()
        self.assertNotEqual(made.export_foreign("raw", order="little"), made.export_foreign("raw", order="big"))
        for call in (lambda: made.export_foreign("raw"), lambda: made.export_foreign("jaybird", order="big")):
            with self.assertRaises(bfstore.InvalidError):
                call()
        with self.assertRaises(bfstore.UnsupportedError):
            made.export_foreign("jaybird")
        made.close()
        with self.assertRaises(bfstore.ClosedError):
            made.export_foreign("raw", order="big")

    def foreign(self, data, name="foreign"):
        path = self.folder / name
        path.write_bytes(data)
        return path

    def test_a_file_of_another_program_is_asked_in_place(self):
        path = self.foreign(JAYBIRD)
        self.assertEqual(bfstore.recognize_foreign(path), ["jaybird"])
        self.assertEqual(bfstore.recognize_foreign(self.foreign(b"no filter", "text")), [])
        for options in ({}, {"private": True}, {"populate": True, "random": True, "guard": True, "any_filesystem": True}):
            with bfstore.open_foreign(path, "jaybird", **options) as opened:
                self.assertEqual([key in opened for key in ("alice", "bob", "caf\u00e9", "carol")], [True, True, True, False])
                self.assertEqual((opened.name, opened.created, opened.num_bits), (str(path), False, 150))
                with self.assertRaises(bfstore.ReadOnlyError):
                    opened.add("carol")
        with path.open("rb") as file:
            opened = bfstore.open_foreign(file.fileno(), "jaybird")
        self.assertEqual(("alice" in opened, "carol" in opened), (True, False))
        self.foreign(bytes(len(JAYBIRD)))
        self.assertEqual(("carol" in opened, opened.health), (True, "lost"))
        opened.close()
        self.assertEqual(sorted(one.name for one in self.folder.iterdir()), ["foreign", "text"])

    def test_a_plain_array_is_asked_in_place(self):
        path, words = self.foreign(bytes(16)), {"hash": "murmur3", "num_bits": 124, "num_probes": 4, "order": "big"}
        self.assertEqual(bfstore.recognize_foreign(path), [])
        with bfstore.open_foreign(path, "raw", **words) as opened:
            self.assertEqual(("key" in opened, opened.num_bits, opened.hash), (False, 124, "murmur3"))
        link = self.folder / "link"
        link.symlink_to(path)
        bfstore.open_foreign(link, "raw", **words).close()
        for call in (lambda: bfstore.open_foreign(link, "raw", follow_symlinks=False, **words), lambda: bfstore.recognize_foreign(link, follow_symlinks=False)):
            with self.assertRaisesRegex(bfstore.MalformedError, "symbolic link"):
                call()
        for wrong, raised, says in (({"hash": None}, bfstore.InvalidError, "hash"), ({"order": "middle"}, ValueError, "little, big"),
                                    ({"replace": True}, TypeError, "replace"), ({"num_bits": 132}, bfstore.InvalidError, "132")):
            with self.subTest(wrong=wrong), self.assertRaisesRegex(raised, says):
                bfstore.open_foreign(path, "raw", **{**words, **wrong})
        with self.assertRaises(FileNotFoundError):
            bfstore.open_foreign(self.folder / "none", "raw", **words)
        with self.assertRaises(FileNotFoundError):
            bfstore.recognize_foreign(self.folder / "none")

    def test_one_filter_of_a_file_and_a_column_are_named(self):
        path = self.foreign(JAYBIRD)
        calls = (lambda **form: bfstore.open_foreign(path, "jaybird", **form).close(), lambda **form: bfstore.inspect_foreign(JAYBIRD, "jaybird", **form),
                 lambda **form: bfstore.import_foreign(self.path, JAYBIRD, "jaybird", **form).close())
        for call in calls:
            with self.assertRaisesRegex(bfstore.InvalidError, "no columns"):
                call(column="id")
            for wrong in (0, -1, 2**32):
                with self.assertRaisesRegex(ValueError, "member= .* from 1"):
                    call(member=wrong)
            with self.assertRaises(TypeError):
                call(member="first")
            with self.assertRaises(ValueError):
                call(column="a\0b")
        for call in calls[::2]:
            with self.assertRaisesRegex(bfstore.InvalidError, "no number 2"):
                call(member=2)
            call(member=1)

    def test_several_filters_are_asked_at_once(self):
        filters = [self.create(self.folder / str(number), seed=number % 2) for number in range(100)]
        for number, one in enumerate(filters):
            one.update([number, "every"])
        foreign = bfstore.open_foreign(self.foreign(JAYBIRD), "jaybird")
        filters.insert(70, foreign)
        for key, numbers in (("alice", [70]), ("every", [*range(70), *range(71, 101)]), ("absent", []), (b"absent", [])):
            self.assertEqual((bfstore.which(filters, key), bfstore.contains_any(filters, key)), (numbers, bool(numbers)))
        for number in (0, 63, 64, 99):
            self.assertIn(number + (number >= 70), bfstore.which(iter(filters), number))
        self.assertEqual((bfstore.which([], "key"), bfstore.contains_any((), "key")), ([], False))
        followed = self.open(self.folder / "5", follow=True)
        self.assertEqual((bfstore.which([filters[6], followed], 5), bfstore.contains_any([followed], 5)), ([1], True))
        digests = self.create(self.folder / "digests", hash="external")
        foreign.close()
        for ask in (bfstore.which, bfstore.contains_any):
            for wrong, raised in (([filters[0], None], TypeError), (["text"], TypeError), (5, TypeError), (filters, bfstore.ClosedError),
                                  ([filters[0], digests], bfstore.KindOfKeyError)):
                with self.subTest(wrong=wrong), self.assertRaises(raised):
                    ask(wrong, "absent")
            with self.assertRaises(TypeError):
                ask(filters[:3], 1.5)
        filters[0].close()
        self.assertTrue(filters[0].closed)

    def test_bare_filters(self):
        keys = [b"%d" % i for i in range(100)]
        size = bfstore.bare_bytes(100, 10.0)
        bare = bfstore.bare_build(size, keys)
        self.assertEqual(len(bare), size)
        self.assertTrue(all(bfstore.bare_contains(bare, key) for key in keys))
        self.assertLess(sum(bfstore.bare_contains(bare, b"no %d" % i) for i in range(1000)), 100)
        digests = [int.from_bytes(hashlib.sha256(key).digest()[:8], "little") for key in keys]
        by_digest = bfstore.bare_build_digests(size, digests, hash="external")
        self.assertTrue(all(bfstore.bare_contains_digest(by_digest, digest) for digest in digests))
        self.assertTrue(bfstore.bare_contains(b"no filter", "a"))  # doubt
        self.assertEqual(bfstore.bare_bytes(0, -1.0), 0)
        for wrong in ((7, keys), (-5, keys), (size, ["a", None]), (size, arrow.text([b"a", None]))):
            with self.assertRaises((ValueError, TypeError)):
                bfstore.bare_build(*wrong)

    def test_plans(self):
        planned = bfstore.plan(capacity=1_000_000, fpr=0.01)
        self.assertEqual((planned.layout, planned.capacity), ("blocked", 1_000_000))
        self.assertLessEqual(planned.fpr, 0.01)
        self.assertIn("merge", planned.abilities)
        self.assertIn("remove", bfstore.plan(capacity=5, layout="counting").abilities)
        planned = bfstore.plan(capacity=10_000_000, fpr=0.01, layout="static")
        self.assertEqual((planned.layout, planned.abilities, planned.bits_per_key < 7.3), ("static", {"build"}, True))
        made = self.create(num_bits=planned.num_bits, num_probes=planned.num_probes, capacity=planned.capacity)
        self.assertEqual(os.path.getsize(self.path), planned.file_bytes)
        self.assertEqual(made.stats().num_bits, planned.num_bits)
        with self.assertRaises(ValueError):
            bfstore.plan()

    def test_stats(self):
        made = self.filled(*range(1000))
        few = made.stats()
        self.assertEqual([few.set_bits, few.estimated_keys, few.resident_bytes], [None] * 3)
        self.assertEqual((few.keys_added, few.saturated), (1000, False))
        more = made.stats(fill=True, memory=True)
        self.assertTrue(more.estimated_keys.low <= 1000 <= more.estimated_keys.high)
        self.assertGreater(more.resident_bytes, 0)
        self.assertIn(more.isa, ("avx512", "avx2", "neon", "scalar"))


if __name__ == "__main__":
    unittest.main(verbosity=2)
