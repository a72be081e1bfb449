"""The archives of kept inputs (kept.py): the build has exactly their inputs, and a damaged archive is an error.

Arguments: the folder of the archives, the folder in which the build unpacked each of them to kept_TARGET, the targets.
"""
import gzip
import io
import pathlib
import subprocess
import sys
import tarfile
import tempfile
import unittest

import kept

ARCHIVES, UNPACKED = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
TARGETS = sorted(sys.argv[3:])
INPUTS = {"b": b"second" * 100, "a": b"", "c": bytes(range(256))}


class Kept(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.archive = self.folder / "x.tar.gz"
        kept.write(self.archive, INPUTS)

    def check_refused(self, content):
        self.archive.write_bytes(content)
        with self.assertRaisesRegex(kept.KeptError, "x.tar.gz: "):
            kept.unpack(self.archive, self.folder / "unpacked")
        self.assertFalse((self.folder / "unpacked").exists())

    def test_the_build_has_the_inputs_of_every_archive_and_no_others(self):
        self.assertEqual(sorted(path.name for path in ARCHIVES.iterdir()), [f"{target}.tar.gz" for target in TARGETS])
        for target in TARGETS:
            inputs = kept.read(ARCHIVES / f"{target}.tar.gz")
            self.assertGreaterEqual(len(inputs), 50, target)
            self.assertEqual(kept.files_of(UNPACKED / f"kept_{target}"), inputs, target)

    def test_every_archive_is_made_by_this_script(self):
        for target in TARGETS:
            kept.write(self.archive, kept.read(ARCHIVES / f"{target}.tar.gz"))
            ours, theirs = (gzip.decompress(path.read_bytes()) for path in (self.archive, ARCHIVES / f"{target}.tar.gz"))
            self.assertEqual(ours, theirs, target)

    def test_what_was_packed_comes_back_and_equal_inputs_make_equal_archives(self):
        kept.unpack(self.archive, self.folder / "once")
        self.assertEqual(kept.files_of(self.folder / "once"), INPUTS)
        kept.main(["pack", str(self.folder / "once"), str(self.folder / "again.tar.gz")])
        self.assertEqual((self.folder / "again.tar.gz").read_bytes(), self.archive.read_bytes())

    def test_an_unpacked_folder_loses_what_the_archive_has_not(self):
        kept.unpack(self.archive, self.folder / "here")
        (self.folder / "here" / "old").write_bytes(b"of an older archive")
        kept.unpack(self.archive, self.folder / "here")
        self.assertEqual(kept.files_of(self.folder / "here"), INPUTS)

    def test_an_input_is_added_to_those_that_are_there(self):
        (self.folder / "crash").write_bytes(b"not survived")
        kept.main(["add", str(self.archive), str(self.folder / "crash")])
        self.assertEqual(kept.read(self.archive), INPUTS | {"crash": b"not survived"})

    def test_an_archive_that_is_cut_anywhere_is_refused(self):
        whole = self.archive.read_bytes()
        for length in range(len(whole)):
            with self.subTest(length=length):
                self.check_refused(whole[:length])

    def test_an_archive_with_a_flipped_bit_is_refused_or_has_the_same_inputs(self):
        whole, refused = self.archive.read_bytes(), 0
        for bit in range(8 * len(whole)):
            damaged = bytearray(whole)
            damaged[bit // 8] ^= 1 << bit % 8
            self.archive.write_bytes(damaged)
            try:
                self.assertEqual(kept.read(self.archive), INPUTS, f"bit {bit}")
            except kept.KeptError:
                refused += 1
        self.assertGreater(refused, 7 * len(whole))

    def test_the_script_ends_with_an_error_for_a_damaged_archive(self):
        script = [sys.executable, "-B", kept.__file__, "unpack", self.archive, self.folder / "unpacked"]
        self.assertEqual(subprocess.run(script, capture_output=True, check=False).returncode, 0)
        self.archive.write_bytes(self.archive.read_bytes()[:-1])
        done = subprocess.run(script, capture_output=True, check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn(b"x.tar.gz: ", done.stderr)

    def test_an_archive_without_inputs_is_refused_and_none_is_made(self):
        empty = io.BytesIO()
        tarfile.open(fileobj=empty, mode="w").close()
        self.check_refused(gzip.compress(empty.getvalue()))
        self.check_refused(gzip.compress(b""))
        with self.assertRaises(kept.KeptError):
            kept.write(self.archive, {})

    def test_an_input_with_a_way_to_another_folder_is_refused(self):
        kept.write(self.archive, {"../outside": b"x"})
        self.check_refused(self.archive.read_bytes())


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
