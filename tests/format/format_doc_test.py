"""FORMAT.md's byte tables and persisted numbers equal the code's: name by name, offset by offset, in both directions.

Arguments: the program built from dump_layout.cpp, FORMAT.md, capi/bfstore.h.
"""
import os
import re
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import bfstore_ctypes as bfs
import bfstore_header

HEADER, DOCUMENT, DUMP = sys.argv.pop(3), sys.argv.pop(2), sys.argv.pop(1)
CODES = bfstore_header.codes(HEADER)
SECTION_OF_TABLE = {"identity": "Identity", "record": "Parameter records", "seal": "Sealed files", "part": "Parts",
                    "slot": "State slots", "live": "Live page",
                    "trailer": "Bare form", "delta": "Deltas", "code": "Codes of a delta"}
ELEMENT_BYTES = {"u8": 1, "u16": 2, "u32": 4, "u64": 8, "f64": 8, "lane": 24, "stripe": 64, "records": 0, "bytes": 0}


def bytes_of_type(text):
    element, count = re.fullmatch(r"(\w+)(?:\[(\d+)\])?", text).groups()
    return ELEMENT_BYTES[element] * int(count or 1)


class Document:
    def __init__(self, path):
        with open(path, encoding="utf-8") as file:
            pieces = re.split(r"^#+ (.*)$", file.read(), flags=re.M)
        self.sections = dict(zip(pieces[1::2], pieces[2::2]))

    def rows(self, section, table=0):
        lines = re.findall(r"(?:^\|.*\n)+", self.sections[section], flags=re.M)[table].splitlines()
        return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]

    def fields(self, section):
        """Returns [(name, offset, bytes, rule)], with the reserved fields."""
        return [(name, int(offset), bytes_of_type(kind), rule) for offset, kind, name, rule in self.rows(section)]

    def rule(self, section, field):
        return next(rule for name, _, _, rule in self.fields(section) if name == field)

    def words(self, section):
        return " ".join(self.sections[section].split())


class Code:
    def __init__(self, program):
        self.tables, self.numbers, self.records = {}, {}, {}
        for line in subprocess.run([program], check=True, capture_output=True, text=True).stdout.splitlines():
            kind, table, name, *values = line.split()
            if kind == "record":
                self.records[table] = (int(name), *map(int, values))
            elif kind == "field":
                self.tables.setdefault(table, {})[name] = tuple(map(int, values))
            elif table.endswith("magic"):
                self.numbers.setdefault(table, []).append(int(values[0]))
            else:
                self.numbers.setdefault(table, {})[name] = int(values[0])


class FormatDocument(unittest.TestCase):
    document, code = Document(DOCUMENT), Code(DUMP)
    constants = code.numbers["constant"]

    def test_every_field_of_the_document_is_the_code_s_and_the_other_way_round(self):
        self.assertEqual(self.code.tables.keys(), SECTION_OF_TABLE.keys())
        for table, section in SECTION_OF_TABLE.items():
            with self.subTest(section):
                told = self.document.fields(section)
                named = {name: (offset, size) for name, offset, size, _ in told if name != "reserved"}
                self.assertEqual(len(named), sum(name != "reserved" for name, *_ in told), "a name stands twice")
                self.assertEqual({rule for name, _, _, rule in told if name.startswith("reserved")} - {"0"}, set())
                self.assertEqual(named, self.code.tables[table])

    def test_the_tables_leave_no_gap_and_do_not_overlap(self):
        for table, size in (("identity", 128), ("record", 8), ("seal", self.code.records["seal"][3]), ("part", self.code.records["part"][3]), ("slot", 4096), ("live", 4096),
                            ("trailer", self.constants["trailer_bytes"]), ("delta", 96), ("code", 16)):
            with self.subTest(table):
                end = 0
                for name, offset, length, _ in self.document.fields(SECTION_OF_TABLE[table]):
                    if length and offset >= 0:
                        self.assertEqual(offset, end, f"{name} does not begin where the field before it ends")
                        end = offset + length
                self.assertEqual(end, size)
        self.assertEqual(self.code.tables["identity"]["records"][0], 128)
        self.assertEqual(self.code.tables["record"]["value"][0], 8)

    def test_persisted_numbers(self):
        for kind, section, field in (("form", "Identity", "form"), ("layout", "Identity", "layout"),
                                     ("hash", "Identity", "hash"), ("state", "State slots", "state")):
            with self.subTest(kind):
                told = {word: int(value) for value, word in
                        re.findall(r"(?:^|, )(\d+) ([\w-]+)", self.document.rule(section, field))}
                self.assertEqual(told, self.code.numbers[kind])

    def test_the_parameter_records_are_the_rows_of_the_code_s_table(self):
        told = {}
        for kind, name, critical, value_bytes, often, forms, there in self.document.rows("Types of parameter records"):
            if value_bytes == "reserved":
                continue
            least, most = re.fullmatch(r"(\d+)(?: to (\d+))?", value_bytes).groups()
            told[name] = (int(kind), int({"no": False, "yes": True}[critical]), int(least), int(most or least),
                          int({"once": False, "any": True}[often]), int("file" in forms), int("embedded" in forms),
                          int({"optional": False, "exactly": True}[there.split()[0]]))
        self.assertEqual(told, self.code.records)

    def test_the_bits_of_the_live_word(self):
        told, all_bits = {}, []
        for bits, name, value in self.document.rows("Live page", 1):
            first, last = re.fullmatch(r"(\d+)(?: to (\d+))?", bits).groups()
            bits = range(int(first), int(last or first) + 1)
            all_bits += bits
            told[name.strip("*").replace(" ", "_") or value] = sum(1 << bit for bit in bits)
        self.assertEqual(all_bits, list(range(64)), "each bit is in one row")
        self.assertEqual(told.pop("1") | told.pop("those of XXH3(file_id, 0)"), 2**64 - 2**16 + 1)
        told["never"] = told.pop("0; 1 in the end word")
        self.assertEqual(told["never"], 1 << self.told(r"with bit (\d+) set", "A file")[0])
        self.assertEqual(told, self.code.numbers["live"])

    def test_the_c_header_has_the_same_layouts_and_hashes(self):
        constants = bfstore_header.constants(HEADER)
        numbers = self.code.numbers
        layouts = {name[11:].lower().replace("_", "-"): value for name, value in constants.items() if name.startswith("BFS_LAYOUT_")}
        self.assertEqual(layouts, numbers["layout"])
        self.assertEqual([constants["BFS_HASH_XXH3"], constants["BFS_HASH_EXTERNAL"], constants["BFS_HASH_SIPHASH"]],
                         [numbers["hash"]["XXH3-64"], numbers["hash"]["external"], numbers["hash"]["SipHash-2-4"]])
        self.assertEqual(sum(name.startswith("BFS_HASH_") for name in constants), len(numbers["hash"]))

    def test_magic_and_marker(self):
        self.assertEqual(list(bytes.fromhex(self.document.rule("Identity", "magic"))), self.code.numbers["magic"])
        self.assertEqual(list(bytes.fromhex(self.document.rule("Deltas", "magic"))), self.code.numbers["delta_magic"])
        self.assertEqual(int(self.document.rule("Bare form", "marker"), 16), self.constants["trailer_marker"])

    def told(self, pattern, section, field=None):
        """Returns the numbers that `pattern` finds in a section's text or in a field's rule. 2^48 - 1 is a number, too."""
        text = self.document.rule(section, field) if field else self.document.words(section)
        found = re.search(pattern, text)
        self.assertIsNotNone(found, f"{section}, {field}: nothing like '{pattern}'")
        return [eval(group.replace("^", "**"), {"__builtins__": {}}) for group in found.groups()]

    def test_the_numbers_in_the_text(self):
        number = r"(\d+(?:\^\d+)?)"
        for names, pattern, section, field in (
                (["page_bytes"], f"A page is {number} bytes", "Conventions", None),
                (["version_major"], f"^{number};", "Identity", "version_major"),
                (["version_minor"], f"^{number};", "Identity", "version_minor"),
                (["page_bytes", "least_embedded_header", "most_embedded_header"],
                 f"{number} in a file; in an embedded filter a multiple of 64 from {number} to {number}",
                 "Identity", "header_bytes"),
                (["most_probes"], f"k: 1 to {number}", "Identity", "num_probes"),
                (["most_bits", "block_bits"], f"m: 1 to {number}; .*; blocked and 4 to 8: a multiple of {number}",
                 "Identity", "num_bits"),
                (["file_header_bytes"], f"a multiple of 4096, at least {number}; embedded", "Identity", "body_offset"),
                (["small_body_offset"], f"begins at byte {number} if it is shorter than 2 MiB", "A file", None),
                (["big_body_offset"], f"else at byte {number}", "A file", None),
                (["secret_bytes"], f"The secret is {number} bytes", "Hashes", None),
                (["file_header_bytes", "least_embedded_header"],
                 fr"at least {number} bytes long \(embedded: {number}\)", "A reader's checklist", None),
                (["chunk_bytes"], f"one u64 for each chunk of {number} bytes", "Sealed files", None),
                (["chunk_bytes"], f"^{number}$", "Sealed files", "chunk_bytes"),
                (["most_probes"], f"k: 1 to {number}", "Bare form", "num_probes"),
                (["delta_version"], f"^{number};", "Deltas", "version_major"),
                (["least_delta_header", "most_delta_header"], f"a multiple of 8 from {number} to {number}$", "Deltas", "header_bytes"),
                (["lanes"], f"^0 to {number}$", "Deltas", "num_lanes"),
                (["delta_piece_bytes"], f"A piece is {number} bytes of a body", "Deltas", None),
                (["most_rice_bits"], f"r, 0 to {number}$", "Codes of a delta", "rice_bits"),
                (["delta_piece_bytes"], f"at most {number}$", "Codes of a delta", "code_bytes")):
            with self.subTest(pattern=pattern):
                self.assertEqual(self.told(pattern, section, field), [self.constants[name] for name in names])
        self.assertEqual(self.constants["big_body_bytes"], 2 << 20)
        self.assertEqual(1 << self.told(f"bit {number} sealed", "Identity", "ro_compat")[0], self.constants["ro_sealed"])
        self.assertEqual(self.told(r"lane\[(\d+)\]", "State slots"), [self.constants["lanes"]])
        self.assertEqual(self.told(r"stripe\[(\d+)\].* (\d+) counters of (\d+) bytes", "Live page"),
                         [self.constants["stripes"], self.constants["stripes"], self.constants["stripe_bytes"]])
        self.assertEqual([self.constants["slot_offset"], self.constants["live_page_offset"]], [4096, 3 * 4096])

    def test_the_checklist_s_codes_are_those_of_c_and_c_plus_plus_in_the_order_of_the_rules(self):
        rows = self.document.rows("A reader's checklist")
        in_order = sorted((rule, name) for name, rule in bfs.RULES.items())
        self.assertEqual([(int(rule), name) for _, _, rule, name in rows if rule], in_order)
        for _, of_c, rule, name in rows:
            self.assertEqual((CODES[of_c], int(rule or 0)), bfs.said(name))
        self.assertEqual({of_c for _, of_c, _, _ in rows}, {name for name, code in CODES.items() if code <= -200} | {"BFS_ELATER"})


if __name__ == "__main__":
    unittest.main(verbosity=2)
