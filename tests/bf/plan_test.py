"""bf plan: its table, its JSON, its picture, and the filters that bf create makes of the same numbers."""
import json
import os
import re
import stat
import subprocess
import xml.etree.ElementTree

from bf_case import BfCase, PATIENCE, header, main

LAYOUTS = {"blocked": 1, "classic": 2}


class Plan(BfCase):
    def planned(self, *args):
        """Returns {layout: its facts}, and the whole."""
        whole = json.loads(self.good("plan", "--json", *args))
        self.assertEqual(whole["schema"], 2)
        return {one["layout"]: one for one in whole["layouts"]}, whole

    def rows(self, *args, **options):
        """Returns {name of a row: its cells}."""
        text = self.good("plan", *args, **options).decode().split("\n\n")[1]
        return {line[:30].strip(): line[30:].split() for line in text.splitlines()}

    def test_every_layout_is_a_column_and_every_fact_a_row(self):
        rows = self.rows("-n", "100M", "-p", "1%", "--formulas")
        for layout in LAYOUTS:
            self.assertIn(layout, rows[""])
        at = rows[""].index("blocked")
        self.assertEqual(rows["keys (n)"][at], "100,000,000")
        self.assertEqual(rows["false-positive rate (p)"][at], "0.01")
        self.assertEqual(rows["bits per key"][at], "9.92")
        self.assertEqual(rows["probes per key (k)"][at], "6")
        self.assertEqual(rows["cache lines per lookup"][at], "1")
        self.assertEqual((rows["(1 - e^(-kn/m))^k"][at], rows["(m/n) ln 2"][at]), ("0.00875", "6.87"))
        classic = rows[""].index("classic")
        self.assertTrue(rows["-n ln p / (ln 2)^2"][classic].startswith("958,5"))  # -10^8 ln(0.01) / (ln 2)^2
        self.assertEqual(rows["(m/n) ln 2"][classic], "6.65")
        counting = rows[""].index("counting")
        self.assertEqual([rows[name][at] for name in ("removes keys", "intersects")], ["no", "yes"])
        self.assertEqual([rows[name][counting] for name in ("removes keys", "intersects")], ["yes", "no"])
        self.assertNotIn("grows", rows)

    def test_the_first_line_is_the_answer(self):
        def first(*args):
            return self.good("plan", *args).decode().splitlines()[0]
        self.assertEqual(first("-n", "100M", "-p", "1%"), "100,000,000 keys at 1 %: 120.2 MiB, blocked")
        self.assertEqual(first("-n", "100M", "-p", "1e-6", "--layout", "classic"), "100,000,000 keys at a rate of 1e-06: 344.8 MiB, classic")
        self.refused("plan", "-n", "100M", "-p", "1e-15", says="keeps a false-positive rate of 1e-15 at 100,000,000 keys. Ask")
        self.refused("plan", "-n", "10M", "--max-bytes", "20000", says="bf: 20,000 bytes (--max-bytes) are too few")
        self.refused("plan", "-n", "10000000000000000000", says="is too large: at most 9,223,372,036,854,775,807")
        self.assertEqual(first("-n", "2M", "-p", "2.5%", "--layout", "counting"), "2,000,000 keys at 2.5 %: 9.9 MiB, counting")
        self.assertRegex(first("-n", "1"), r"^1 key at a rate of [0-9.e-]+: 20\.0 KiB, blocked$")
        # A rate of 0.781 % was said first, where 1 % was asked for, and nothing said why.
        for given, why in ((["-n", "1M", "--layout", "static"], "This is less than 1 %, which was asked for: static has whole columns, and each halves the rate."),
                           (["-n", "5", "-p", "0.5"], "This is less than 50 %, which was asked for: so few keys get whole cache lines, and need less."),
                           (["-n", "1M"], ""), (["-n", "5", "-m", "8MiB"], "")):
            self.assertEqual(" ".join(self.good("plan", *given).decode().split("\n\n")[0].splitlines()[1:]), why)
        rows = self.rows("-m", "8MiB")
        self.assertEqual(first("-m", "8MiB"), f"{rows['keys at a rate of 0.01'][0]} keys at 1 %: {' '.join(rows['file'][:2])}, blocked")

    def test_formulas_are_in_the_table_only_where_they_are_asked_for(self):
        for given, there in (([], False), (["--formulas"], True)):
            text = self.good("plan", "-n", "1M", *given).decode()
            self.assertEqual([words in text for words in ("(m/n) ln 2", "-n ln p", "(1 - e^", "Bloom's")], [there] * 4)
        self.refused("plan", "-n", "1M", "--json", "--formulas", says="--formulas")

    def test_what_layouts_have_in_common_is_a_line(self):
        text = self.good("plan", "-n", "100M", "-p", "1%").decode()
        self.assertIn("\nSmallest file: classic.\nFewest cache lines: blocked and counting (bf create makes blocked by default).\n"
                      "Each layout adds keys, merges and folds.\nNone of these grows or expires keys; --window 24h expires them.\n"
                      "If nobody knows how many keys will come: bf plan --grow-to (and bf help fold).\n"
                      "If all keys are known, and none comes later: --layout static, 87.7 MiB.\n", text)
        alone = self.good("plan", "-n", "100M", "-p", "1%", "--layout", "counting").decode()
        self.assertIn("\ncounting adds keys, removes keys, merges and folds.\nIt never grows, expires keys or intersects.\n", alone)
        self.assertNotIn("Smallest", alone)

    def test_the_smallest_is_named_only_where_the_table_shows_a_difference(self):
        for given in (["-n", "3"], ["--max-bytes", "64MiB", "-p", "1%"]):
            rows, text = self.rows(*given), self.good("plan", *given).decode()
            self.assertEqual("Smallest file" in text, len(set(zip(rows["file"][::2], rows["file"][1::2]))) > 1, text)
        self.assertRegex(self.good("plan", "-n", "1M").decode(), r"\nSmallest file: blocked and classic\.\n")

    def test_the_space_before_the_bits_of_a_long_file_is_told(self):
        self.assertIn("The first 2 MiB of a file are nearly all a hole", self.good("plan", "-n", "10M").decode())
        self.assertIn("Files of 2 MiB of bits or more begin with a hole", self.good("plan", "-n", "1M").decode())  # counting alone has it
        self.assertNotIn("2 MiB", self.good("plan", "-n", "3").decode())

    def test_the_table_and_one_curve_fit_on_a_screen(self):
        for layout, given in (("blocked", []), ("classic", ["--layout", "classic"]), ("window", ["--window", "24h"])):
            text = self.good("plan", "-n", "50M", "-p", "0.001", *given).decode()
            self.assertEqual(re.findall(r"False-positive rate of (\w+) as it fills", text), [layout])
            self.assertLessEqual(len(text.splitlines()), 45)

    def test_the_layout_that_is_built_once_says_so_and_its_command_builds_it(self):
        text = self.good("plan", "-n", "70k", "-p", "1%", "--layout", "static").decode()
        self.assertIn("\nIt never adds keys, removes keys, grows, expires keys, merges, intersects or\nfolds.\n"
                      "static is built once, of all keys (bf build), and takes none later.\n", text)
        line = text.partition("\nTo make one of them:\n")[2].strip()
        self.assertEqual(line, "bf build filter.bf --from keys.txt --layout static -n 70_000 -p 0.01")
        self.write("keys.txt", b"".join(b"%d\n" % i for i in range(70_000)))
        self.good(*line.split()[1:], "-q")
        made, plan = header(self.path("filter.bf")), self.planned("-n", "70k", "-p", "1%", "--layout", "static")[0]["static"]
        self.assertEqual((made["m"], made["k"], made["n"]), (plan["num_bits"], plan["num_probes"], plan["capacity"]))
        self.assertEqual(plan["can"], {**dict.fromkeys(plan["can"], False), "build": True})
        self.assertEqual(list(self.planned("--like", "filter.bf", "-n", "1M")[0]), ["blocked", "classic", "counting", "static"])
        self.assertNotIn("static", self.good("plan", "-n", "70k", "-m", "1M").decode())

    def test_no_line_is_wider_than_80_columns_nor_a_sentence_than_the_terminal(self):
        # "It never adds keys, ... intersects or folds." had 83 columns.
        for given in (["-n", "1M"], ["-n", "1M", "--layout", "static"], ["-n", "100M", "-p", "1e-9"], ["-n", "1M", "-m", "8M", "-p", "1%"], ["-n", "5", "-p", "0.5"],
                      ["-n", "10M", "--window", "24h"], ["-n", "1M", "--formulas"], ["-n", "1G", "--layout", "counting", "-p", "1%"], ["-m", "8MiB"]):
            for columns in ("200", "80", "60"):
                text = self.run_bf("plan", *given, env={**os.environ, "COLUMNS": columns}).stdout.decode()
                self.assertLessEqual(max(map(len, text.splitlines()), default=0), 80, text)
                sentences = [line for line in text.splitlines() if re.match(r"[A-Za-z]", line) and "   " not in line and not line.startswith("False-")]
                self.assertLessEqual(max(map(len, sentences), default=0), int(columns), text)

    def test_the_textbooks_m_is_that_of_the_rate_that_was_asked_for(self):
        self.assertEqual(self.rows("-n", "50M", "-p", "0.001", "--formulas")["-n ln p / (ln 2)^2"], ["718,879,378"] * 3)

    def test_the_hash_set_follows_the_length_of_the_keys(self):
        self.assertEqual(self.rows("-n", "100M")["a hash set of the keys"][:2], ["11.2", "GiB"])
        sizes = [self.planned("-n", "1M", "--key-bytes", length)[0]["blocked"]["hash_set_bytes"]
                 for length in ("8", "15", "16", "64")]
        self.assertEqual(sizes, [72_000_000, 72_000_000, 104_000_000, 152_000_000])

    def test_what_is_planned_is_what_create_makes(self):
        for number, options in enumerate([["--capacity", "1M", "--fpr", "0.001"], ["--capacity", "1M", "--fpr", "0.1%"],
                                          ["--capacity", "5000", "--bits-per-key", "14"],
                                          ["--capacity", "70k", "--max-bytes", "256KiB"],
                                          ["--bits", "1M", "--probes", "5"]]):
            layouts, _ = self.planned(*options)
            for layout, row in LAYOUTS.items():
                name = f"{layout}{number}"
                self.good("create", name, "-q", "--layout", layout, *options)
                made, plan = header(self.path(name)), layouts[layout]
                self.assertEqual((made["layout"], made["m"], made["k"], made["n"]),
                                 (row, plan["num_bits"], plan["num_probes"], plan["capacity"]))
                self.assertEqual(os.path.getsize(self.path(name)), plan["file_bytes"])

    def test_the_short_names_are_the_long_ones(self):
        self.assertEqual(self.planned("-n", "1M", "-p", "0.01"), self.planned("--capacity", "1M", "--fpr", "1%"))
        self.assertEqual(self.planned("-m", "8MiB", "-k", "4"), self.planned("--bits", "64Mi", "--probes", "4"))

    def test_json_has_what_was_given_and_a_curve_through_the_promise(self):
        layouts, whole = self.planned("--max-bytes", "1M", "--fpr", "0.02", "--curve")
        self.assertEqual(whole["given"], {"capacity": None, "fpr": 0.02, "bits_per_key": None, "max_bytes": 1_000_000,
                                          "num_bits": None, "num_probes": None, "window_ms": None})
        for plan in (layouts[name] for name in LAYOUTS):
            self.assertLessEqual(plan["file_bytes"], 1_000_000)
            self.assertLessEqual(plan["fpr"], 0.02)
            rates = [point["fpr"] for point in plan["curve"]]
            self.assertEqual(rates, sorted(rates))
            self.assertEqual(len(rates), 128)
            self.assertIn({"keys": plan["capacity"], "fpr": plan["fpr"]}, plan["curve"])
            self.assertEqual(plan["can"], {"add": True, "remove": False, "grow": False, "expire": False, "merge": True,
                                           "fold": True, "intersect": True, "build": False})
            self.assertAlmostEqual(plan["curve"][-1]["keys"] / plan["capacity"], 2, delta=1e-3)

    def test_json_has_no_curve_unless_it_is_asked_for(self):
        # It was 35 KB by default.
        layouts, _ = self.planned("-n", "100M", "-p", "1%")
        self.assertEqual([one["curve"] for one in layouts.values()], [None] * len(layouts))
        self.assertLess(len(self.good("plan", "--json", "-n", "100M", "-p", "1%")), 3000)

    def test_a_fact_has_one_name_in_each_json(self):
        # m was num_bits in one and m in the other.
        self.good("create", "f", "-q", "--capacity", "70k", "--fpr", "0.003", "--layout", "classic")
        shown, planned = json.loads(self.good("inspect", "--json", "f")), self.planned("--like", "f")[0]["classic"]
        for name in ("layout", "capacity", "num_bits", "num_probes", "body_bytes", "file_bytes"):
            self.assertEqual(shown[name], planned[name], name)
        self.assertAlmostEqual(shown["fpr"], planned["fpr"], delta=1e-5)
        self.assertAlmostEqual(shown["bits_per_key"], planned["bits_per_key"], delta=0.01)
        self.assertLessEqual({"m", "k", "n", "p"} & set(shown), set())
        self.good("create", "g", "-q", "--bits", "64Ki", "--probes", "5")
        compared = json.loads(self.good("compare", "--json", "f", "g", code=1))
        self.assertEqual((compared["schema"], compared["differ"]), (2, ["layout", "seed", "num_probes", "num_bits"]))

    def test_a_size_alone_says_how_many_keys_it_holds_at_each_rate(self):
        # It was refused: too few numbers.
        for size in (["-m", "8MiB"], ["--max-bytes", "1M"], ["-m", "9"]):
            rows, (_, whole) = self.rows(*size), self.planned(*size)
            for rate in ("0.1", "0.05", "0.01", "0.001", "0.0001"):
                cells = rows[f"keys at a rate of {rate}"]
                for layout, cell in zip(rows[""], cells):
                    if cell == "none":
                        self.refused("plan", *size, "-p", rate, "--layout", layout)
                        continue
                    plan = self.planned(*size, "-p", rate)[0][layout]
                    self.assertEqual(cell, f"{plan['capacity']:,}")
                    self.assertIn(plan, whole["layouts"])
        text = self.good("plan", "-m", "8MiB").decode()
        self.assertLessEqual(max(map(len, text.splitlines())), 80)
        self.assertTrue(text.endswith("\n  bf plan -m 67_108_864 -p 1%\n"), text)
        self.good(*text.splitlines()[-1].split()[1:])
        self.assertEqual(self.rows("-m", "1M", "--layout", "window")[""], ["window"])
        self.refused("plan", "--max-bytes", "10", says="too few for a header")
        self.refused("plan", "-n", "100", "-p", "0.01", "--max-bytes", "1",
                     says="1 byte (--max-bytes) is too little for a header and a filter, whatever the other numbers are. The smallest file has 20,488 bytes.")
        self.good("plan", "-n", "1", "--max-bytes", "20_488")

    def test_a_layout_that_cannot_says_why_and_the_others_are_planned(self):
        layouts, whole = self.planned("-n", "1000", "-p", "1e-9")
        self.assertEqual(list(layouts), ["classic"])
        self.assertIn("blocked", [one["layout"] for one in whole["impossible"] if "1e-09 is below" in one["why"]])
        self.assertIn("blocked: a false-positive rate of 1e-09", self.good("plan", "-n", "1000", "-p", "1e-9").decode())
        self.refused("plan", "-n", "1000", "-p", "1e-9", "--layout", "blocked", says="Use the classic layout")

    def test_one_layout_alone(self):
        self.assertEqual(list(self.planned("-n", "9", "--layout", "classic")[0]), ["classic"])
        self.refused("plan", "-n", "9", "--layout", "square", says="--layout: 'square' is not a layout. Give one of blocked, classic, counting, static, window, window-4, window-2 or growing")

    def test_curves_are_braille_in_utf_8_and_plain_ascii_elsewhere(self):
        locales = os.environ | {"LC_ALL": "C.UTF-8"}, os.environ | {"LC_ALL": "C"}
        braille, plain = (self.good("plan", "-n", "1M", "--layout", "blocked", env=env).decode() for env in locales)
        self.assertTrue(any("\u2800" < char <= "\u28ff" for char in braille))
        self.assertTrue(plain.isascii())
        chart = plain[plain.index("as it fills"):].splitlines()[1:10]
        self.assertEqual([line[8] for line in chart], ["|"] * 9)
        self.assertEqual([line[:8].strip() for line in chart], ["1", "", "0.1", "", "0.01", "", "0.001", "", "0.0001"])
        last = [line.rindex("*") for line in chart if "*" in line]
        self.assertEqual(last, sorted(last, reverse=True))  # the curve rises to the right
        self.assertEqual(max(last), 8 + 64)
        small = self.good("plan", "-n", "1M", "-p", "1e-7", "--layout", "classic", env=locales[1]).decode()
        labels = re.findall(r"^(\S+) *\|", small, re.M)
        self.assertEqual((labels[:3], labels[5:8]), (["1", "0.1", "0.01"], ["0.00001", "0.000001", "1e-07"]))

    def test_the_last_lines_make_exactly_the_filters_that_were_planned(self):
        for given in (["-n", "70k"], ["-n", "70k", "-p", "0.3%"], ["-n", "70k", "--bits-per-key", "12.5"], ["-m", "1M", "-k", "5"],
                      ["-n", "70k", "--window", "90min"], ["-p", "0.02", "--max-bytes", "1M", "--window", "1500ms"],
                      ["-n", "70k", "--max-bytes", "256KiB"], ["-p", "0.02", "--max-bytes", "1M"], ["-n", "70k", "-m", "1M", "-p", "0.1"]):
            layouts, _ = self.planned(*given)
            lines = self.good("plan", *given).decode().partition("\nTo make one of them:\n")[2].splitlines()
            self.assertEqual(len(lines), len(layouts))
            for line, (name, plan) in zip(lines, layouts.items()):
                self.assertTrue(line.startswith(f"  bf create filter.bf --layout {name} "), line)
                self.good(*line.split()[1:], "--force", "-q")
                made = header(self.path("filter.bf"))
                self.assertEqual((made["m"], made["k"], made["n"]), (plan["num_bits"], plan["num_probes"], plan["capacity"]), line)
                self.assertEqual(json.loads(self.good("inspect", "--json", "filter.bf"))["window_ms"], plan["window_ms"])
        self.good("create", "secret", "-q", "--hash", "java-polynomial", "--seeds", "3,5,7", "--bits", "100000", "--capacity", "10000")
        text = self.good("plan", "--like", "secret").decode()
        self.assertEqual(re.findall(r"bf create filter.bf --layout (\w+)", text), ["blocked", "counting"])

    def test_a_picture_has_its_legend_below_all_curves(self):
        for given in (["-n", "1M"], ["-n", "1M", "-p", "1e-9"], ["-m", "8MiB", "-k", "4"]):
            self.good("plan", *given, "--svg", "rates.svg", "--force")
            picture = xml.etree.ElementTree.parse(self.path("rates.svg")).getroot()
            curves = [one for one in picture.iter() if one.tag.endswith("polyline")]
            lowest = max(float(point.split(",")[1]) for one in curves for point in one.get("points").split())
            legend = [float(one.get("y")) for one in picture.iter() if one.tag.endswith("}text") and " bits per key" in one.text]
            self.assertEqual(len(legend), len(curves))
            self.assertGreater(min(legend) - 12, lowest)
            self.assertLess(max(legend), float(picture.get("viewBox").split()[3]))

    def test_a_pictures_axis_has_round_numbers_of_keys_and_a_capacity_of_all_layouts_has_no_layouts_colour(self):
        for given, ticks in ((["-n", "100M"], [0, 50_000_000, 100_000_000, 150_000_000, 200_000_000]), (["-n", "3"], [0, 2, 4, 6]),
                             (["--max-bytes", "64MiB", "-p", "0.001"], [0, 20_000_000, 40_000_000, 60_000_000])):
            self.good("plan", *given, "--svg", "rates.svg", "--force")
            picture = xml.etree.ElementTree.parse(self.path("rates.svg")).getroot()
            shown = [one.text for one in picture.iter() if one.tag.endswith("text") and re.fullmatch(r"[\d,]+", one.text or "")]
            self.assertEqual([int(text.replace(",", "")) for text in shown[1:]], ticks)  # the first one is the rate 1
            dashed = [one.get("stroke") for one in picture.iter() if one.get("stroke-dasharray") and one.get("x1") == one.get("x2")]
            colours = [one.get("stroke") for one in picture.iter() if one.tag.endswith("polyline")]
            self.assertEqual(dashed, colours if "--max-bytes" in given else ["#555"])

    def test_a_picture_has_a_dark_form_with_a_colour_for_each_thing_that_is_drawn(self):
        for given in (["-n", "10M"], ["--max-bytes", "64MiB", "-p", "0.001"], ["-n", "10M", "--window", "24h"]):
            picture = xml.etree.ElementTree.fromstring(self.good("plan", *given, "--svg", "-"))
            self.assertEqual([picture.get("font-size"), picture.get("viewBox").split()[2]], ["14", "820.0"])
            style, = (one.text for one in picture if one.tag.endswith("}style"))
            self.assertRegex(style, r"^@media \(prefers-color-scheme: dark\) \{ .* text \{ fill: #\w+; \} .*\}$")
            for one in picture.iter():
                name = one.tag.rpartition("}")[2]
                if name in ("rect", "line", "polyline"):
                    self.assertRegex(style, rf"\.{one.get('class')} \{{ {'fill' if name == 'rect' else 'stroke'}: #\w+; \}}")
                self.assertFalse(name == "text" and one.get("fill"))

    def test_a_picture_has_a_line_at_the_rate_that_was_asked_for(self):
        picture = xml.etree.ElementTree.fromstring(self.good("plan", "-n", "1M", "-p", "0.01", "--svg", "-"))
        level, = [float(one.get("y1")) for one in picture.iter() if one.get("stroke-dasharray") and one.get("y1") == one.get("y2")]
        label, = [float(one.get("y")) for one in picture.iter() if one.tag.endswith("}text") and one.text == "0.01"]
        self.assertAlmostEqual(label - 5, level, delta=0.11)
        self.assertIn("asked for: 0.01", [one.text for one in picture.iter()])

    def test_the_rate_of_a_static_filter_is_drawn_as_steps(self):
        # It was sloped, as if there were filters with a rate in between.
        picture = xml.etree.ElementTree.fromstring(self.good("plan", "-n", "1M", "--layout", "static", "--svg", "-"))
        points, = [one.get("points").split() for one in picture.iter() if one.tag.endswith("}polyline")]
        pairs = [tuple(map(float, point.split(","))) for point in points]
        self.assertEqual([pair for pair in zip(pairs, pairs[1:]) if pair[0][0] != pair[1][0] and pair[0][1] != pair[1][1]], [])
        self.assertGreater(len({y for _, y in pairs}), 1)

    def test_a_dark_picture_alone_in_a_browser_has_no_white_around_it(self):
        picture = xml.etree.ElementTree.fromstring(self.good("plan", "-n", "1M", "--svg", "-"))
        style, = (one.text for one in picture if one.tag.endswith("}style"))
        self.assertIn(f".{picture.get('class')} {{ background: #1b1f24; }}", style)

    def test_a_picture_has_a_title_and_a_description_and_names_its_axes(self):
        text = self.good("plan", "-n", "1", "--svg", "rates.svg").decode()
        self.assertTrue(text.endswith("\nrates.svg: has the picture of these rates\n"), text)
        picture = xml.etree.ElementTree.parse(self.path("rates.svg")).getroot()
        self.assertEqual([one.tag.rpartition("}")[2] for one in picture][:2], ["title", "desc"])
        self.assertRegex(picture[1].text, r"blocked: .* at 1 key, .* bits per key, .*\. counting: ")
        words = [one.text for one in picture.iter() if one.tag.endswith("}text")]
        self.assertLess({"keys", "false-positive rate"}, set(words))
        self.assertNotIn("1 keys", " ".join(words))
        self.assertIn("are left out", "".join(self.good("plan", "-n", "1000", "--svg", "-").decode()))
        window = self.good("plan", "-n", "10M", "--window", "24h", "--svg", "-").decode()
        self.assertRegex(window, r">window-4: 0\.01 at 10,000,000 keys, 20\.5 bits per key, 26\.5 MiB, epochs of 8 h<")
        self.assertIn(">keys of one window<", window)
        self.assertNotIn("are left out", self.good("plan", "-n", "100", "-p", "0.9", "--svg", "-").decode())

    def test_layouts_whose_keys_expire_are_beside_each_other_for_a_window(self):
        # --window was refused: plan them by --layout window, one by one, without a word of epochs.
        layouts, whole = self.planned("-n", "10M", "--window", "24h")
        self.assertEqual(whole["given"]["window_ms"], 86_400_000)
        self.assertEqual({name: (one["epochs"], one["epoch_ms"], one["longest_found_ms"]) for name, one in layouts.items()},
                         {"window": (8, 12_342_858, 98_742_864), "window-4": (4, 28_800_000, 115_200_000), "window-2": (2, 86_400_000, 172_800_000)})
        for one in layouts.values():
            self.assertEqual((one["window_ms"], one["turn_bytes"], one["can"]["expire"]), (86_400_000, one["body_bytes"], True))
        rows = {line[:30].strip(): re.split("  +", line[30:]) for line in self.good("plan", "-n", "10M", "--window", "24h").decode().split("\n\n")[1].splitlines()}
        self.assertEqual(rows[""], list(layouts))
        for name, cells in (("an epoch ends after", ["3.43 h", "8 h", "24 h"]), ("its turn writes", ["30.7 MiB", "24.5 MiB", "28.7 MiB"]),
                            ("a key is found for at least", ["24 h"] * 3), ("a key is found for at most", ["27.4 h", "32 h", "48 h"]),
                            ("cache lines per lookup", ["1"] * 3), ("probes per key (k)", ["7"] * 3), ("bits per key", ["25.7", "20.5", "24"])):
            self.assertEqual(rows[name], cells, name)
        self.assertNotIn("(m/n) ln 2", rows)  # a formula for a filter whose keys stay
        self.assertEqual([one["epoch_ms"] for one in self.planned("-n", "10M")[0].values()], [None] * 3)

    def test_how_long_epochs_are_is_read_at_a_glance(self):
        for window, epoch, most in (("7d", "24 h", "8 d"), ("1w", "24 h", "8 d"), ("10min", "1.43 min", "11.4 min"), ("1s", "143 ms", "1.14 s"), ("8000d", "1,142 d", "9,142 d"),
                                    ("1ms", "1 ms", "8 ms")):
            text = self.good("plan", "-n", "1M", "--window", window, "--layout", "window").decode()
            self.assertRegex(text, rf"an epoch ends after +{epoch}\n")
            self.assertRegex(text, rf"a key is found for at most +{most}\n")

    def test_a_window_goes_with_a_size_and_with_another_filter(self):
        for size in (["-m", "8MiB"], ["--max-bytes", "1M"]):
            text = self.good("plan", *size, "--window", "90min").decode()
            self.assertEqual(text.split("\n\n")[1].split("\n", 1)[0].split(), ["window", "window-4", "window-2"])
            self.assertRegex(text, r"\n  bf plan \S+ \S+ --window 90min -p 1%\n$")
            self.good(*text.splitlines()[-1].split()[1:])
        self.good("create", "seen", "-q", "-n", "70k", "--window", "10min")
        like = self.planned("--like", "seen")[0]
        self.assertEqual({name: one["epoch_ms"] for name, one in like.items()}, {"window": 85_715, "blocked": None, "classic": None, "counting": None})
        self.assertEqual(self.rows("--like", "seen")["its turn writes"][:3], ["-"] * 3)
        self.good("create", "plain", "-q", "-n", "70k")
        self.assertEqual(list(self.planned("--like", "plain", "--window", "1h")[0]), ["blocked", "window", "window-4", "window-2"])
        self.assertEqual(self.planned("--like", "seen", "--window", "7min")[0]["window"]["epoch_ms"], 60_000)
        self.refused("plan", "-n", "9", "--layout", "classic", "--window", "1h", says="the keys of the layout classic do not expire. Leave --window out")
        self.refused("plan", "-n", "9", "--window", "24", says="--window: '24' is not a time")

    def test_numbers_of_keys_that_are_long_do_not_touch_on_an_axis(self):
        for number, ticks in (("1G", ["0", "500M", "1G", "1.5G", "2G"]), ("1T", ["0", "500G", "1T", "1.5T", "2T"])):
            picture = xml.etree.ElementTree.fromstring(self.good("plan", "-n", number, "--svg", "-"))
            words = [one.text for one in picture.iter() if one.tag.endswith("}text")]
            self.assertEqual([text for text in words if text in ticks], ticks)
            chart = self.good("plan", "-n", number, env={**os.environ, "LC_ALL": "C"}).decode().partition("as it fills\n")[2].splitlines()
            axis = next(at for at, line in enumerate(chart) if line.lstrip().startswith("+--"))
            self.assertEqual((chart[axis + 1].split(), len(chart[axis + 1])), (["0", ticks[2], ticks[4], "keys"], 8 + 64))

    def test_a_picture_without_a_file_is_printed_alone(self):
        # It was a file with the name "-".
        self.assertTrue(self.good("plan", "-n", "1M", "--svg", "-").startswith(b"<svg"))
        self.assertEqual(self.files(), [])
        self.refused("plan", "-n", "1M", "--svg", "-", "--json", says=["--json and --svg -", "a file"])

    def test_a_picture_is_whole_and_replaces_no_file_without_force(self):
        self.good("plan", "-n", "1M", "--svg", "rates.svg")
        picture = xml.etree.ElementTree.parse(self.path("rates.svg")).getroot()
        names = [element.tag.rpartition("}")[2] for element in picture.iter()]
        self.assertEqual(picture.tag, "{http://www.w3.org/2000/svg}svg")
        self.assertGreaterEqual(names.count("polyline"), len(LAYOUTS))
        self.assertTrue(any("blocked: 0.01 at 1,000,000 keys" in (one.text or "") for one in picture.iter()))
        mask = os.umask(0)
        os.umask(mask)
        self.assertEqual(stat.S_IMODE(os.stat(self.path("rates.svg")).st_mode), 0o666 & ~mask)
        self.write("mine", b"mine")
        self.refused("plan", "-n", "1M", "--svg", "mine", says=["mine: exists already", "--force"])
        with open(self.path("mine"), "rb") as file:
            self.assertEqual(file.read(), b"mine")
        # A list of keys was gone.
        for other in (b"mine", b"alice\nbob\n", b"<html>"):
            self.write("mine", other)
            self.refused("plan", "-n", "1M", "--svg", "mine", "--force",
                         says="mine: is no picture (SVG), and --force replaces such pictures alone. Choose another name, or move it away first (mv).")
            with open(self.path("mine"), "rb") as file:
                self.assertEqual(file.read(), other)
        for mine in (b"", b"<?xml version='1.0'?>\n<!DOCTYPE svg PUBLIC 'x'>\n<svg>"):
            self.write("mine", mine)
            self.good("plan", "-n", "1M", "--svg", "mine", "--force")
        self.good("plan", "-n", "1M", "--svg", "mine", "--force")
        self.refused("plan", "-n", "1M", "--svg", "none/picture.svg", says="none/picture.svg: its folder does not exist. Create it first, or correct the path.")
        self.good("create", "filter", "-q", "--capacity", "10")
        self.refused("plan", "-n", "1M", "--svg", "filter", "--force", says=["filter: is a filter", "another name"])
        self.good("contains", "filter", "x", code=1)
        self.assertEqual(self.files(), ["filter", "mine", "rates.svg"])

    # A device and a FIFO became regular files, and a link a file with the mode of links, 777.
    def test_a_picture_replaces_no_link_and_no_fifo(self):
        self.write("mine", b"mine")
        os.symlink("mine", self.path("link"))
        os.symlink("none", self.path("dangling"))
        os.mkfifo(self.path("fifo"))
        for force in ([], ["--force"]):
            self.refused("plan", "-n", "1M", "--svg", "link", *force, says="link: a symbolic link to mine, and bf writes through no link")
            self.refused("plan", "-n", "1M", "--svg", "dangling", *force, says="dangling: a symbolic link to none, which does not exist")
            self.refused("plan", "-n", "1M", "--svg", "fifo", *force, says="fifo: not a regular file. Choose another name.")
        self.assertEqual(self.files(), ["dangling", "fifo", "link", "mine"])
        self.assertEqual([stat.S_IFMT(os.lstat(self.path(name)).st_mode) for name in self.files()],
                         [stat.S_IFLNK, stat.S_IFIFO, stat.S_IFLNK, stat.S_IFREG])

    def test_a_picture_that_cannot_be_written_is_not_there(self):
        script = 'ulimit -f 1; exec "$0" plan -n 1M --svg rates.svg'
        done = subprocess.run(["sh", "-c", script, self.program], cwd=self.dir, capture_output=True, timeout=PATIENCE, check=False)
        self.assert_complaint(done.stderr, "rates.svg: cannot write it")
        self.assertEqual((done.returncode, self.files()), (2, []))

    def test_a_filter_with_fewer_keys_than_the_curve_has_points_and_one_with_more_than_can_be_counted(self):
        few, _ = self.planned("-n", "3", "-p", "1%", "--layout", "classic", "--curve")
        self.assertEqual([point["keys"] for point in few["classic"]["curve"]], [1, 2, 3, 4, 5, 6])
        many, _ = self.planned("-m", "2Gi", "--bits-per-key", "3e-10", "--layout", "blocked", "--curve")
        self.assertLess(many["blocked"]["curve"][-1]["keys"], 2**63)
        self.assertEqual(many["blocked"]["fpr"], 1)
        self.good("plan", "-m", "2Gi", "--bits-per-key", "3e-10", "--svg", "full.svg")

    def test_no_line_is_too_long_for_a_terminal_of_80_columns(self):
        for args in (["-n", "100M", "-p", "1%"], ["-n", "1000", "-p", "1e-7", "--layout", "classic"], ["-m", "8Gi", "-k", "4"], ["-n", "10M", "--window", "24h"]):
            text = self.good("plan", *args, env={**os.environ, "LC_ALL": "C.UTF-8"}).decode()
            self.assertLessEqual(max(map(len, text.splitlines())), 80, text)

    def test_columns_are_apart_however_long_their_numbers_are(self):
        rows = self.rows("-n", "1T", "-p", "1%")
        self.assertEqual(rows["keys (n)"], ["1,000,000,000,000"] * len(rows[""]))
        self.assertEqual(len(rows["m"]), len(rows[""]))

    def test_a_rate_is_that_of_digests_of_64_bits_however_many_bits_there_are(self):
        rows = self.rows("-n", "1M", "-m", "10Ti", "-p", "50%", "--layout", "classic", "--formulas")
        self.assertEqual(rows["-n ln p / (ln 2)^2"], ["62,134,611"])

    def test_where_no_layout_can_the_nearest_says_why_and_what_all_say_is_said_once(self):
        self.refused("plan", "-n", "1", "-p", "1e-300", says=["classic comes nearest: no filter of at most 2^48 bits"])
        refused = self.run_bf("plan", "-n", "1M", "-p", "1%", "--bits", "8M")  # once three sentences for each layout
        self.assert_complaint(refused.stderr, says=["classic comes nearest: 1,000,000 keys in 8,000,000 bits", "0.02158 at best. For 0.01 give 9,592,957 bits"])
        self.assertLess(len(refused.stderr), 200)
        self.good("plan", "-n", "1M", "-p", "1%", "--bits", "9592957", "--layout", "classic")
        done = self.run_bf("plan", "--max-bytes", "100", "-p", "1%")
        self.assertEqual((done.returncode, done.stderr.count(b"too few for a header")), (2, 1))

    def test_too_few_numbers_and_contradictions_are_named(self):
        for args in ([], ["-p", "1%"], ["-k", "7"], ["--bits-per-key", "10"]):
            self.refused("plan", *args, says=["too few numbers", "Give --capacity, --bits or --max-bytes alone, or two of"])
        for more in (["--json", "--curve"], ["--svg", "-"]):
            self.refused("plan", "-m", "1M", *more, says=["a size alone has no curve", "--fpr or --capacity"])
        self.refused("plan", "-n", "1M", "--curve", says=["--curve", "--json"])
        self.refused("plan", "-n", "9", "-m", "1M", "--max-bytes", "1M", says=["--bits", "--max-bytes"])
        for size in (["-m", "1M"], ["--max-bytes", "1M"]):
            self.refused("plan", "-n", "9", "--bits-per-key", "9", *size, says="two give the third")
        self.refused("plan", "-n", "100", "-m", "512", "-p", "0.01", says="100 keys in 512 bits")
        self.refused("plan", "-n", "x", says="--capacity: 'x'")
        self.refused("plan", "-n", "1", "-p", "100%", says="--fpr: '100")


FOREIGN = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "data", "foreign")


class Like(BfCase):
    def planned(self, *args):
        """Returns {layout: its facts}, and the whole."""
        whole = json.loads(self.good("plan", "--json", *args))
        return {one["layout"]: one for one in whole["layouts"]}, whole

    def foreign(self, name, *args):
        """What is planned like one of the files of other programs: n, m, k and p of the classic layout."""
        classic = self.planned("--like", os.path.join(FOREIGN, name), *args)[0]["classic"]
        return classic["capacity"], classic["num_bits"], classic["num_probes"], round(classic["fpr"], 5)

    def test_a_filter_like_a_file_of_bfstore_has_its_numbers(self):
        for layout in ("blocked", "classic", "counting"):
            self.good("create", layout, "-q", "--capacity", "70k", "--fpr", "0.003", "--layout", layout)
            made, (layouts, whole) = header(self.path(layout)), self.planned("--like", layout)
            plan = layouts[layout]
            self.assertEqual((plan["capacity"], plan["num_bits"], plan["num_probes"]), (made["n"], made["m"], made["k"]))
            self.assertLessEqual(plan["fpr"], 0.003)
            self.assertEqual(plan["file_bytes"], os.path.getsize(self.path(layout)))
            self.assertEqual((whole["given"]["capacity"], whole["given"]["num_bits"], whole["given"]["fpr"]), (made["n"], made["m"], None))
            more = self.planned("--like", layout, "-n", "140k")[0][layout]
            self.assertEqual((more["capacity"], more["num_bits"], more["num_probes"]), (140_000, made["m"], made["k"]))
            self.assertGreater(more["fpr"], 0.01)
            laxer = self.planned("--like", layout, "-p", "0.1")[0][layout]
            self.assertEqual((laxer["num_bits"], laxer["num_probes"]), (made["m"], made["k"]))
            self.assertGreater(laxer["capacity"], 140_000)
            self.assertEqual(list(self.planned("--like", layout, "--layout", layout)[0]), [layout])

    def test_its_own_layout_has_the_rate_of_its_hash(self):
        self.good("create", "f", "-q", "--hash", "java-polynomial", "--seeds", "3,5,7", "--bits", "100000", "--capacity", "10000")
        layouts = self.planned("--like", "f", "--curve")[0]
        self.assertAlmostEqual(layouts["classic"]["fpr"], header(self.path("f"))["p"], places=9)
        self.assertGreater(layouts["classic"]["fpr"], self.planned("-m", "100000", "-k", "3", "-n", "10000")[0]["classic"]["fpr"] * 1.5)
        self.assertGreater(layouts["classic"]["curve"][127]["fpr"], layouts["counting"]["curve"][127]["fpr"])

    def test_a_filter_like_that_of_another_program_is_recognized_or_named(self):
        self.assertEqual(self.foreign("dcso.data.bloom"), (777, 13118, 12, 0.0003))
        self.assertEqual(self.foreign("libbloom.one-percent.bloom"), (1000, 9585, 7, 0.01005))
        self.assertEqual(self.foreign("libbloom.one-percent.bloom", "--format", "libbloom", "-n", "2000"), (2000, 9585, 7, 0.15754))
        self.assertEqual(self.foreign("redisbloom.five-links.dump", "--member", "1")[1:3], (576, 8))
        self.assertEqual(self.foreign("bits_and_blooms.one-percent.json", "-p", "0.01")[1:3], (9586, 7))

    def test_what_the_bytes_do_not_say_is_asked_for(self):
        at = lambda name: os.path.join(FOREIGN, name)
        self.refused("plan", "--like", at("guava.utf8.bloom"), says=["guava.utf8.bloom: does not say how many keys", "--capacity N or --fpr P"])
        self.refused("plan", "--like", at("leveldb.ten-bits.filter"), says=["is no filter of bfstore", "--format"])
        self.refused("plan", "--like", at("leveldb.ten-bits.filter"), "--format", "leveldb", says="does not say how many keys")
        self.refused("plan", "--like", at("files.tsv"), "-n", "5", says=["files.tsv: is no filter of bfstore", "--format"])
        self.refused("plan", "--like", at("java_bytes.odd.bytes"), "--format", "raw", says=["raw does not say how many bits", "--bits and --probes"])
        self.refused("plan", "--like", at("dcso.data.bloom"), "--format", "guava", says="dcso.data.bloom: is not a filter that Guava wrote")
        self.refused("plan", "--like", at("redisbloom.five-links.dump"), says=["has 5 filters", "--member N"])
        self.refused("plan", "--like", at("parquet.arrow.parquet"), "-n", "5", says=["parquet.arrow.parquet: no column given"])
        self.refused("plan", "--like", "nothing", says="nothing")

    def test_numbers_that_like_gives_are_not_given_again(self):
        self.good("create", "f", "-q", "--capacity", "70k")
        for option, value in (("--bits", "5M"), ("--probes", "3"), ("--bits-per-key", "9"), ("--max-bytes", "1MiB")):
            self.refused("plan", "--like", "f", option, value, says=["--like", option])
        self.refused("plan", "--like", "f", "-n", "5", "-p", "0.1", says=["plan: --like gives m and k", "Leave one out"])
        for option in ("--format", "--column", "--member"):
            self.refused("plan", "-n", "5", option, "1" if option == "--member" else "dcso", says=[option, "--like"])
        with open(self.path("f"), "r+b") as file:
            file.seek(40)
            file.write(b"\xff")
        self.refused("plan", "--like", "f", says=["f: ", "bfinspect"])


if __name__ == "__main__":
    main()
