"""tools/abigen: the files in the repository are those that it would write now. A new declaration in a header comes into
every language's layer. Text that the reader does not understand is an error.
"""
import os
import pathlib
import re
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "tools", "abigen"))
import declarations
import layers
import words

HEADERS = {path.name: path.read_text(encoding="utf-8") for path in declarations.headers()}
SOURCES = [path for folder in ("src", "capi") for path in sorted((layers.ROOT / folder).rglob("*.[ch]pp")) if "bindings" not in path.parts]


def read(*texts):
    """Returns the Abi of headers with these texts."""
    with tempfile.TemporaryDirectory(prefix="bfstore-abigen-") as folder:
        paths = [pathlib.Path(folder) / f"bfstore{i}.h" for i in range(len(texts))]
        for path, text in zip(paths, texts):
            path.write_text(text, encoding="utf-8")
        return declarations.read(paths)


def made_with(old, new):
    """Returns every file, after this change of the one header that has the text."""
    assert sum(text.count(old) for text in HEADERS.values()) == 1, old
    return layers.made(read(*(text.replace(old, new) for text in HEADERS.values())))


class Copies(unittest.TestCase):
    """Structs that pages to copy, and nginx's script, declare by hand. They have the length and the places of the header's."""

    structs = {one.name: one for one in declarations.read().structs}
    samples = layers.ROOT / "capi" / "bindings" / "samples"
    declared = re.compile(r"typedef struct ?\w* ?\{([^{}]*)\} ?(bfs_\w+);")
    # Languages in which a number is the length.
    lengths = {
        "bf.cs": {r"Size = (\d+)\)\]\s*public struct Options\b": "bfs_options", r"Size = (\d+)\)\]\s*public struct Keys\b": "bfs_keys"},
        "bf.pl": {r"\$error = struct\((\d+)": "bfs_error", r"\$options = struct\((\d+)": "bfs_options", r"\$column = struct\((\d+)": "bfs_keys"},
        "bf.rb": {r"error = struct\((\d+)": "bfs_error", r"CREATE, Bfs\.struct\((\d+)": "bfs_options", r"yield\(Bfs\.struct\((\d+)": "bfs_keys"},
        "bfs.f90": {rf":: {name}\s+integer\(c_int32_t\) :: struct_bytes = (\d+)": name for name in ("bfs_error", "bfs_options", "bfs_keys")},
    }

    def check(self, path, names):
        text = re.sub(r"//[^\n]*", "", path.read_text("utf-8"))
        found = read("typedef struct bfs_filter bfs_filter;\n" + "\n".join(
            f"typedef struct {name} {{{' '.join(fields.split())}}} {name};" for fields, name in self.declared.findall(text))).structs
        self.assertEqual({one.name for one in found}, names, path)
        for one in found:
            expected = self.structs[one.name]
            self.assertEqual(one.bytes, expected.bytes, f"{path}: the length of {one.name}. Change its last field")
            places = {field.name: field.offset for field in expected.fields}
            for field in one.fields:
                if field.name not in ("before", "after", "rest"):
                    self.assertEqual(field.offset, places[field.name], f"{path}: {one.name}.{field.name}")

    def test_structs_that_are_declared_as_in_c_are_those_of_the_header(self):
        self.check(self.samples / "bf.lua", {"bfs_error", "bfs_options", "bfs_key", "bfs_keys"})
        self.check(self.samples / "bf.php", {"bfs_error", "bfs_options", "bfs_keys"})
        self.check(layers.ROOT / "capi" / "engines" / "nginx" / "filter.lua", {"bfs_options"})

    def test_lengths_that_are_numbers_are_those_of_the_header(self):
        for name, patterns in self.lengths.items():
            text = (self.samples / name).read_text("utf-8")
            for pattern, struct in patterns.items():
                self.assertEqual(re.findall(pattern, text), [str(self.structs[struct].bytes)], f"{name}: the length of {struct}")

    def test_no_page_to_copy_is_left_out(self):
        self.assertEqual({path.name for path in self.samples.iterdir() if path.suffix != ".md"}, {*self.lengths, "bf.lua", "bf.php"})


class Layers(unittest.TestCase):
    made = layers.made(declarations.read())

    def test_the_files_are_what_the_headers_say(self):
        self.assertEqual(layers.stale(self.made), [], f"make them again: {layers.COMMAND}")

    def test_their_first_line_says_that_they_are_made(self):
        for path, text in self.made.items():
            self.assertIn(layers.MARK, text.split("\n")[0], path)

    def check_new(self, new, other, files):
        """Checks that each file with the `other` name has the new one now, and that no further file has changed."""
        having = {path for path, text in self.made.items() if re.search(rf"\b(BFS_|bfs_)?{other}\b", text)}
        self.assertNotEqual(having, set())
        self.assertEqual({path for path, text in files.items() if new in text}, having)
        self.assertEqual({path for path, text in files.items() if text != self.made[path]}, having)

    def test_a_new_constant_needs_nothing_more(self):
        self.check_new("NEW_FLAG", "TOLERATE_DAMAGE", made_with(
            "#define BFS_TOLERATE_DAMAGE 0x40000ull", "#define BFS_NEW_FLAG 0x40000000ull\n#define BFS_TOLERATE_DAMAGE 0x40000ull"))

    def test_a_new_code_needs_nothing_more(self):
        self.check_new("ENEW", "EINVAL", made_with("#define BFS_EINVAL (-1)", "#define BFS_ENEW (-77)\n#define BFS_EINVAL (-1)"))

    def test_a_new_field_needs_nothing_more(self):
        self.check_new("new_field", "counters_at_15", made_with("set_bits, counters_at_15;", "set_bits, new_field, counters_at_15;"))

    def test_a_new_function_needs_nothing_more(self):
        self.check_new("bfs_new", "finish_filling", made_with(
            "BFS_API BFS_CHECK int32_t bfs_finish_filling(bfs_filter* filter, bfs_error* error);",
            "BFS_API BFS_CHECK int32_t bfs_finish_filling(bfs_filter* filter, bfs_error* error);\n"
            "BFS_API int64_t bfs_new(const bfs_filter* filter, bfs_error* error);"))


class Words(unittest.TestCase):
    """The messages of the library are in its sources, where a literal may go over several lines."""

    sources = re.sub(r'"\s*\n\s*"', "", "\n".join(path.read_text("utf-8") for path in SOURCES))
    # A command that does more than a call, or whose option has the words before it.
    commands_alone = {"(bf create with --capacity and --fpr)", '(bf import --hash " +'}

    def test_the_library_says_what_is_translated(self):
        for theirs, _ in words.PHRASES:
            self.assertIn(theirs, self.sources, "no message has it any longer: tools/abigen/words.py")

    def test_every_command_of_bf_in_a_message_has_a_call_instead(self):
        said = set(re.findall(r"\(bf [^)\n]*\)?", re.sub(r"//.*", "", self.sources)))
        self.assertGreater(len(said), 8)
        translated = {command for theirs, _ in words.PHRASES for command in re.findall(r"\(bf [^)]*\)", theirs)}
        self.assertEqual(said - translated, self.commands_alone)

    def test_every_language_has_every_way_out(self):
        for name, language in words.LANGUAGES.items():
            self.assertEqual(set(language.ways), set(words.LANGUAGES["python"].ways), name)
            for theirs, own in words.phrases(language):
                self.assertNotIn("(bf ", own, theirs)


class Reader(unittest.TestCase):
    def test_headers_are_read_one_after_the_other(self):
        abi = read("#define BFS_A 1\ntypedef struct bfs_a { uint32_t b, d; double c; } bfs_a;",
                   "#define BFS_D (-1) /* no\n * more */\ntypedef struct bfs_e { bfs_a f[2]; char g; } bfs_e;")
        self.assertEqual([(one.name, one.value, one.is_code) for one in abi.constants], [("BFS_A", 1, False), ("BFS_D", -1, True)])
        self.assertEqual([(one.name, one.bytes) for one in abi.structs], [("bfs_a", 16), ("bfs_e", 40)])
        self.assertEqual([(one.name, one.offset, one.bytes) for one in abi.structs[1].fields], [("f", 0, 32), ("g", 32, 1)])

    def test_a_type_says_what_each_star_points_to(self):
        function, = read("typedef struct bfs_e bfs_e; BFS_API void bfs_a(const bfs_e* const* b, bfs_e** c, size_t d);").functions
        self.assertEqual([one.type.points_to_const for one in function.parameters], [(True, True), (False, False), ()])
        self.assertEqual((function.result.base, function.result.is_pointer), ("void", False))

    def test_what_is_not_understood_is_an_error_and_not_skipped(self):
        for text in ("#define BFS_A 1u + 1", "#define BFS_A BFS_B", "enum bfs_a { BFS_B };", "int32_t bfs_a(void);",
                     "BFS_API int32_t bfs_a(int32_t (*b)(void));", "typedef struct bfs_a { uint32_t* b, c; } bfs_a;",
                     "typedef struct bfs_a { unsigned long b; } bfs_a;", "typedef uint32_t bfs_a;",
                     "typedef struct bfs_a { float b; } bfs_a;", "BFS_API float bfs_a(void);", "BFS_API void bfs_a(bfs_b* c);"):
            with self.subTest(text), self.assertRaises(declarations.Unreadable):
                read(text)


if __name__ == "__main__":
    unittest.main(verbosity=2)
