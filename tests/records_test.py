"""tools/records.py: a record covers the files that it was made of, and no other contents, names or lengths.

Argument: the project's root.
"""
import pathlib
import sys
import tempfile
import unittest

ROOT = pathlib.Path(sys.argv.pop(1))
sys.path.insert(0, str(ROOT / "tools"))
import records  # found only now

SOURCE = """// A comment with a "quote in it
#if 1
/* two
lines */
int n = 1'000;  // ends here, isn't it
char quote = '\\'', text[] = "a \\" // no comment", raw[] = R"(/*)";
TEST_CASE("one" " name") { CHECK(f(a, b)); }  // */
#endif
"""


class Records(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        for name, text in (("src/a.cpp", SOURCE), ("src/deep/b.hpp", "b"), ("src/notes.md", "c")):
            self.write(name, text)
        (self.root / "tests").mkdir()
        self.part = records.Part(["src/**/*.[ch]pp"], 10)

    def write(self, name, text):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")

    def record(self, length=10):
        records.write_record(self.root, records.Record("x", records.hash_of(self.root, self.part.paths), length, "7", "2026-11-26"))

    def why_not(self):
        return records.why_not(self.root, "x", self.part)

    def test_what_has_no_record_is_not_covered(self):
        self.assertEqual(self.why_not(), "no campaign is recorded")
        self.record()
        self.assertEqual(self.why_not(), "")
        self.assertEqual(records.why_not(self.root, "y", self.part), "no campaign is recorded")

    def test_another_content_name_or_file_is_not_covered(self):
        self.record()
        for change, undo in (*((lambda old=old, new=new: self.write("src/a.cpp", SOURCE.replace(old, new)), lambda: self.write("src/a.cpp", SOURCE))
                               for old, new in (("1'000", "1'001"), ("'\\''", "'\\\\'"), ('" // no comment"', '" // a comment"'), ("/*", "//*"),
                                                ("(a, b)", "(a, /* no */ c)"), ("#endif", ""), ('R"(/*)"', 'R"(//)"'))),
                             (lambda: self.write("src/new.cpp", ""), (self.root / "src/new.cpp").unlink),
                             (lambda: (self.root / "src/deep/b.hpp").rename(self.root / "src/deep/c.hpp"),
                              lambda: (self.root / "src/deep/c.hpp").rename(self.root / "src/deep/b.hpp"))):
            change()
            self.assertEqual(self.why_not(), "what it depends on has changed since the campaign of 2026-11-26")
            undo()
            self.assertEqual(self.why_not(), "")

    def test_the_headers_of_tests_that_a_file_includes_count_and_no_others(self):
        self.write("src/a.cpp", '#include "one.hpp"\n#include "deep/b.hpp"\n')
        for name, text in (("one", '#include "support/two.hpp"'), ("support/two", '#include "../one.hpp"'), ("support/three", "")):
            self.write(f"tests/{name}.hpp", text + "\n")
        self.record()
        for name, text, covered in (("support/two", "int two;", False), ("one", "int one;", False), ("support/three", "int three;", True)):
            before = (self.root / f"tests/{name}.hpp").read_text("utf-8")
            self.write(f"tests/{name}.hpp", before + text)
            self.assertEqual(self.why_not() == "", covered, name)
            self.write(f"tests/{name}.hpp", before)

    def test_comments_blank_lines_and_names_of_cases_may_change(self):
        self.record()
        for old, new in (("// A comment with", "// Another one without"), ("  // ends", "//ends"), ("/* two\nlines */\n", ""), ("#endif", "\n\n#endif"),
                         ('TEST_CASE("one" " name")', 'TEST_CASE("another")')):
            self.assertIn(old, SOURCE)
            self.write("src/a.cpp", SOURCE.replace(old, new))
            self.assertEqual(self.why_not(), "", old)

    def test_what_it_does_not_depend_on_may_change(self):
        self.record()
        self.write("src/notes.md", "C")
        self.write("other.cpp", "")
        self.assertEqual(self.why_not(), "")

    def test_a_campaign_that_was_too_short_covers_nothing(self):
        self.record(9)
        self.assertEqual(self.why_not(), "the campaign of 2026-11-26 had length 9, and 10 is the least")

    def test_a_record_takes_the_place_of_the_one_before_and_leaves_the_others(self):
        for name, length in (("x", 1), ("y", 2), ("x", 3)):
            records.write_record(self.root, records.Record(name, "hash", length, "7", "2026-11-26"))
        self.assertEqual({name: record.length for name, record in records.read_records(self.root).items()}, {"x": 3, "y": 2})

    def test_a_shorter_campaign_of_the_same_files_leaves_the_record_and_one_of_others_does_not(self):
        self.record(20)
        self.record(10)
        self.assertEqual(records.read_records(self.root)["x"].length, 20)
        self.write("src/a.cpp", "A")
        self.record(10)
        self.assertEqual((records.read_records(self.root)["x"].length, self.why_not()), (10, ""))

    def test_a_file_that_is_no_list_of_records_is_an_error(self):
        self.write("tests/records.tsv", "<<<<<<< HEAD\n")
        self.assertRaises(IndexError, self.why_not)

    def test_what_no_record_covers_comes_first_and_then_what_is_oldest(self):
        known = {name: records.Part(self.part.paths, 1) for name in "abc"}
        digest = records.hash_of(self.root, self.part.paths)
        for name, date in (("a", "2026-11-26"), ("c", "2026-11-25")):
            records.write_record(self.root, records.Record(name, digest, 1, "7", date))
        self.assertEqual(records.oldest_first(self.root, known), ["b", "c", "a"])

    def test_every_test_of_an_engine_runs_where_no_record_covers_its_engine(self):
        rows = (ROOT / "tests/engines/meson.build").read_text("utf-8")
        for path in (ROOT / "tests/engines").glob("*_test.py"):
            engine = path.stem.split("_")[0]
            self.assertIn(engine, records.ENGINES, path.name)
            self.assertIn(path, {found for pattern in records.ENGINES[engine] for found in ROOT.glob(pattern)})
            self.assertTrue(f"'{path.stem.removesuffix('_test')}':" in rows or f"'{path.name}'" in rows, path.name)

    def test_every_part_depends_on_files_that_are_there(self):
        self.assertGreater(len(records.parts()), 40)
        for name, part in records.parts().items():
            for pattern in part.paths:
                self.assertTrue(any(ROOT.glob(pattern)), f"{name}: {pattern}")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
