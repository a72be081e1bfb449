"""bfinspect --html: one page for a browser, that says what the JSON says, whatever is in the file."""
import csv
import glob
import json
import os
import re
import stat
import subprocess

from inspector import BF, BFINSPECT, DIRTY, SLICES, SLOT_A, SLOT_B, Bytes, InspectorCase, unittest
from html_reader import Page, contrast
from waiting import PATIENCE

DATA = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "data")
HOSTILE = """<script>alert(1)</script>'"><img src=x onerror=alert(1)></title></style>&lt;b&gt;<!-- http://evil.example url(x)"""
SENTENCES = {"what to do"}  # rows that need no meaning


class HtmlCase(InspectorCase):
    def page(self, path, *arguments, code=0):
        """Returns the page. It must be HTML without an error, and have no element or attribute of another kind."""
        done = self.run_inspector("--html", "-", *arguments, "--", path)
        self.assertEqual((done.returncode, done.stderr), (code, b""), done.stderr)
        page = Page(done.stdout)
        self.assertEqual(page.foreign_matter(), [])
        self.assertEqual(len(page.texts("h1")), 1)
        self.assertEqual(page.tree.attrib["lang"], "en")
        for picture in page.tree.iter("svg"):
            self.assertEqual((picture.attrib["role"], picture[0].tag), ("img", "title"))
        return page

    def says_what_json_says(self, path, *arguments):
        told = self.run_inspector("--json", *arguments, "--", path)
        found, page = json.loads(told.stdout), self.page(path, *arguments, code=told.returncode)
        text = page.text()
        # It stood on every page, also of a damaged file.
        self.assertNotIn("always right", text)
        for key in ("num_bits", "capacity", "set_bits", "file_bytes", "body_bytes", "body_offset", "keys_added", "keys_removed", "whole_capacity"):
            if found[key] and not (key == "body_bytes" and found["foreign_formats"]):
                self.assertIn(f"{found[key]:,}", text, key)
        for key in ("num_probes", "layout", "hash", "file_id", "format_version", "secret_check"):
            if found[key] is not None:
                self.assertIn(str(found[key]), text, key)
        for problem in found["problems"]:
            self.assertIn(" ".join(problem["text"].split(" Rebuild it, or put a copy back")[0].split(" Give the path of a filter")[0].split()), text)
            self.assertIn(problem["code"], page.texts("dt"))
        for label, value, meaning in page.rows():
            self.assertTrue(value, label)
            self.assertEqual(meaning != "", label not in SENTENCES and not label.startswith("BFS_"), label)
        return found, page


class Files(HtmlCase):
    def test_every_kept_file_good_or_bad_has_a_page_that_says_what_json_says(self):
        paths = sorted(glob.glob(os.path.join(DATA, "*.bf")))
        self.assertGreater(len(paths), 80)
        drawn = 0
        for path in paths:
            with self.subTest(file=os.path.basename(path)):
                found, page = self.says_what_json_says(path)
                self.assertEqual("Not to be trusted" in page.text(), not found["valid"])
                self.assertEqual(len(page.texts("polyline")), 1 if found["valid"] and found["set_bits"] is not None else 0)
                drawn += len(page.texts("polyline"))
        self.assertGreater(drawn, 5)

    def test_every_other_programs_file_has_a_page_that_says_what_json_says(self):
        with open(os.path.join(DATA, "foreign", "files.tsv"), newline="", encoding="utf-8") as file:
            rows = list(csv.DictReader(file, delimiter="\t"))
        for row in rows:
            with self.subTest(file=row["file"]):
                named = re.search(r"column=(\w+)", row["options"])
                column = ["--column", named[1]] if named else []
                found, page = self.says_what_json_says(os.path.join(DATA, "foreign", row["file"]), "--format", row["format"], *column)
                self.assertIn("another program's filter", page.texts("title")[0])
                self.assertEqual("Bits set" in page.text(), found["set_bits"] is not None)
                self.assertEqual(len(page.texts("polyline")), 1 if found["set_bits"] is not None and found["foreign_filters"] == 1 else 0)

    # Its rows had no words about what they mean.
    def test_the_rows_of_a_window_say_what_they_mean(self):
        found, page = self.says_what_json_says(self.make("--capacity", "1000", "--window", "24h"))
        self.assertEqual(found["epochs"], 8)
        self.assertLessEqual({"window", "epoch", "keys of epochs"}, {label for label, _, _ in page.rows()})

    def box(self, path, code=0):
        """Returns the words of the box on top, of the page that says what the text and JSON say."""
        found, page = self.says_what_json_says(path)
        headline, advice = page.texts("strong")[0], " ".join(page.texts("p")[0].split())
        self.assertIn(headline.partition(": ")[2], self.text(path, code=code).splitlines()[0])
        self.assertIn(headline.partition(": ")[2], page.texts("title")[0])
        return found, headline, advice

    def over(self, *arguments, name, keys=()):
        """Makes a window whose epoch is over, however fast this machine is."""
        path = self.make(*arguments, "--window", "1ms", name=name, keys=keys)
        while not json.loads(self.run_inspector("--json", path).stdout)["turn_due"]:
            pass
        return path

    # The box on top said "clean", and nothing of a turn.
    def test_the_box_on_top_says_that_an_epoch_is_over_and_how_to_end_it(self):
        for layout in ("window", "window-4", "window-2"):
            found, headline, advice = self.box(self.over("--capacity", "1000", "--layout", layout, name=layout))
            self.assertEqual((headline, found["healthy"]), ("Healthy: clean, its epoch is over", True))
            self.assertIn("Its epoch is over: end it (bf turn).", advice)
            _, page = self.says_what_json_says(self.path(layout))
            self.assertEqual([value for label, value, _ in page.rows() if label == "a key of now"],
                             ["stays for 1 ms at least, and for longer the later the turn comes that is due"])
        _, headline, advice = self.box(self.make("--capacity", "1000", "--window", "24h", name="now"))
        self.assertEqual(headline, "Healthy: clean")
        self.assertNotIn("bf turn", advice)

    # It said "more keys than it was made for", of a window with fewer, and gave bf build, which has no keys to build from.
    def test_the_box_of_an_overfull_window_says_what_happened_and_what_helps(self):
        path = self.make("--capacity", "10k", "--window", "24h", name="burst", keys=range(6000))
        found, headline, advice = self.box(path, code=1)
        self.assertLess(found["estimated_keys"], found["capacity"])
        self.assertEqual(headline, "Needs attention: clean, overfull")
        self.assertTrue(advice.startswith("It has more keys in one epoch, or in all, than it was made for"), advice)
        self.assertIn("The rate falls as epochs end (bf turn). If so many keys of one epoch will come again, make a larger one (bf create).", advice)
        self.assertNotIn("bf build", advice + self.text(path, code=1))
        both = self.over("--capacity", "10k", "--layout", "window-2", name="both", keys=range(60000))
        _, headline, advice = self.box(both, code=1)
        self.assertEqual(headline, "Needs attention: clean, its epoch is over, overfull")
        self.assertIn("Its epoch is over: end it (bf turn).", advice)

    def test_until_when_a_key_of_now_stays_is_that_of_whole_epochs(self):
        # An epoch was rounded down, and its last milliseconds were in the minute before.
        window_ms = 1000 * 8766 * 3_600_000 + 1  # a thousand years: it is not over
        longest_ms = -(-window_ms // 7) * 8
        raw = Bytes(self.make("--capacity", "1000", "--window", f"{window_ms}ms"))
        minute_ms = 1_700_000_000_000 // 60_000 * 60_000
        for slot in (SLOT_A, SLOT_B):
            raw.put(slot + 88, "QQ", (minute_ms - longest_ms % 60_000) * 10**6, 0)
        end = (minute_ms - longest_ms % 60_000 + longest_ms) // 60_000 % 60
        self.assertRegex(" ".join(self.text(raw.seal().write()).split()), rf"and until \d+-\d\d-\d\d \d\d:{end:02} UTC at most, if each turn comes in time")

    # With six times its capacity a filter had no number there.
    def test_the_number_of_the_capacity_is_at_the_axis_however_far_left_it_is(self):
        for name, capacity, keys, words in (("one", "1000", 900, "1,000"), ("six", "10k", 60000, "10,000"), ("many", "10", 9000, "10")):
            for window in ([], ["--window", "24h"]):
                path = self.make("--capacity", capacity, *window, name=name + str(len(window)), keys=range(keys))
                page = self.page(path, code=json.loads(self.run_inspector("--json", path).stdout)["healthy"] is False)
                axis = [text for text in page.texts("text") if text in ("0", words)]
                self.assertEqual(axis, ["0", words], (name, window))

    def test_what_is_no_filter_is_named(self):
        for content, likeness in ((b"", "an empty file"), (b"SQLite format 3\0" + bytes(20000), "an SQLite database"), (b"<b>bold</b>\n" * 3000, "text")):
            with open(self.path("stranger"), "wb") as file:
                file.write(content)
            page = self.page(self.path("stranger"), code=2)
            self.assertIn(likeness, page.text())
            self.assertIn("not a filter file", page.texts("title")[0])
            self.assertEqual(page.texts("svg"), [])

    def test_text_of_the_file_never_becomes_html(self):
        name = HOSTILE.replace("/", "\u2215")
        path = self.make("--capacity", "1000", "--note", HOSTILE, name=name)
        page = self.page(path)
        self.assertIn(HOSTILE, "".join(page.texts("section")))
        self.assertEqual(page.texts("h1"), [path])
        self.assertTrue(page.texts("title")[0].startswith(path))
        self.assertNotIn("<script", page.data)
        self.assertNotIn("onerror=alert(1)>", page.data)
        os.symlink(path, self.path("link"))
        self.assertIn(name, dict((label, value) for label, value, _ in self.page(self.path("link")).rows())["leads to"])

    def test_bytes_that_are_no_text_are_shown_by_their_number(self):
        path = self.make(name="f\udcff\x1b[31m\u202e.bf")
        page = self.page(path)
        self.assertIn(r"f\xff\x1b[31m\u{202e}.bf", page.texts("h1")[0])

    def test_the_page_has_no_seed_since_others_may_get_it(self):
        # The page had the mode 644, and the filter 600.
        for options, secret in ((("--capacity", "10", "--seed", "1234567890123"), "1234567890123"),
                                (("--hash", "murmur3", "--bits", "1000", "--seeds", "4100000001..4100000007"), "4100000001")):
            path = self.make(*options, name="seed" + secret)
            self.assertIn(secret, self.text(path))
            self.assertNotIn(secret, self.page(path).data.replace(path, ""))

    def test_while_it_is_filled_nothing_says_that_absent_keys_are_found_absent(self):
        text = self.page(self.make("--capacity", "1000", "--filling"), code=1).text()
        self.assertIn('Every answer is "maybe" until bf finish-filling', text)
        self.assertRegex(text, r"False positives now\s*100\.00 %\s*0 % by the bits, 1\.00 % promised")
        self.assertNotIn('of the absent keys get "maybe"', text)

    def test_a_full_file_is_healthy_and_says_what_to_do(self):
        text = self.page(self.make("--capacity", "30k", "--seed", "4", keys=range(30000))).text()
        self.assertIn("Healthy: clean", text)
        self.assertIn("It is full: more keys would break its promise.", text)
        self.assertNotIn("It is full", self.page(self.make(name="empty")).text())

    def test_with_quick_nothing_is_drawn_and_nothing_said_of_the_fill(self):
        page = self.page(self.make(keys=range(100)), "--quick")
        self.assertEqual(page.texts("svg"), [])
        self.assertIn("not counted (--quick)", page.text())

    def test_a_file_that_grows_has_a_page_that_says_what_json_says(self):
        for keys, slices, _ in SLICES:
            found, page = self.says_what_json_says(self.grown(keys, name=f"of {keys}"))
            self.assertEqual(found["num_slices"], slices)
            self.assertIn(f"{slices} of 5, each 3 times", page.text())
            self.assertEqual("it grows" in page.text(), slices < 5)
        self.assertIn("It has more keys than it was made for, and answers", self.page(self.grown(200000, name="over"), code=1).text())


class Pictures(HtmlCase):
    def test_the_point_of_a_burst_is_on_the_curve_and_the_bar_is_that_of_its_epoch(self):
        # The point was below the curve's first point, and the bar was red at 5.7 % with the line of the capacity at 25.7 %.
        for layout in ("window", "window-4", "window-2"):
            page = self.page(self.make("--capacity", "10k", "--window", "24h", "--layout", layout, name=layout, keys=range(7000)), code=0 if layout == "window-2" else 1)
            curve = [tuple(map(float, point.split(","))) for point in page.tree.find(".//polyline[@class='curve']").attrib["points"].split()]
            point = page.tree.find(".//circle[@class='here']")
            x, y = float(point.attrib["cx"]), float(point.attrib["cy"])
            left, right = max(one for one in curve if one[0] <= x), min(one for one in curve if one[0] >= x)
            self.assertLessEqual(right[1] - 0.2, y, layout)
            self.assertLessEqual(y, left[1] + 0.2, layout)
            bar = page.tree.find(".//figure[@class='bar']/svg")
            filled, limit = bar.findall("rect")[1], bar.findall("line")[1]
            too_full = float(filled.attrib["width"]) > float(limit.attrib["x1"])
            self.assertEqual((too_full, filled.attrib["class"]), (layout != "window-2", "bad" if layout != "window-2" else "bar"))

    def test_the_point_is_on_the_curve_in_each_slice(self):
        for keys, slices, times in ((900, 1, 1), (2500, 2, 4), (9000, 3, 13), (30000, 4, 40), (100000, 5, 121)):
            page = self.page(self.grown(keys, name=f"of {keys}"))
            curve = [tuple(map(float, point.split(","))) for point in page.tree.find(".//polyline[@class='curve']").attrib["points"].split()]
            point = page.tree.find(".//circle[@class='here']")
            x, y = float(point.attrib["cx"]), float(point.attrib["cy"])
            near = min(curve, key=lambda one: abs(one[0] - x))
            self.assertLess(abs(near[1] - y), 4, (keys, near, (x, y)))
            texts = page.texts("text")
            self.assertEqual(("next slice" in texts, "capacity" in texts), (slices < 5, slices == 5))
            self.assertIn("promises at most 1.00 % with 121,000 keys" + (", when it has all 5 slices." if slices < 5 else "."), page.text())
            self.assertIn(f"{1000 * times:,}", texts)

    def test_the_bars_are_those_of_the_slices_with_lines_between_them(self):
        for keys, slices, _ in SLICES[1:]:
            path = self.grown(keys, name=f"of {keys}")
            page, found = self.page(path), self.json(path)
            picture = page.tree.find(".//div[@class='charts']//svg")
            bars = picture.findall("rect[@class='bar']")
            upright = [line for line in picture.findall("line") if line.attrib["x1"] == line.attrib["x2"]]
            self.assertEqual(len(upright), slices - 1)
            self.assertLessEqual(len(bars), 64)
            self.assertEqual(len(bars), found["stretches"])
            said = " ".join(page.text().split())
            self.assertIn(f"The body in {len(bars)} " + ("equal stretches: " if slices == 1 else f"stretches, with a line before each of its {slices} slices but the first: "), said)
            top, bottom = (float(picture.findall("line")[at].attrib["y1"]) for at in (2, 0))
            heights = [float(bar.attrib["height"]) / (bottom - top) for bar in bars]
            self.assertLess(max(heights), 0.6)
            if slices > 1:  # a full slice, and the newest one
                self.assertGreater(heights[0], 0.3)

    def test_the_times_of_a_short_window_have_seconds(self):
        for window, form in (("7s", r"\d\d:\d\d:\d\d"), ("3599s", r"\d\d:\d\d:\d\d"), ("1h", r"\d\d:\d\d"), ("24h", r"\d\d:\d\d")):
            told = " ".join(self.text(self.make("--capacity", "1000", "--window", window, name=window)).split())
            self.assertRegex(told, rf"epoch 0, since \d+-\d\d-\d\d {form} UTC")

    def bars(self, page):
        """Returns the heights of the bars in the picture of the fill, as shares of its height."""
        picture = page.tree.find(".//div[@class='charts']//svg")
        top, bottom = (float(picture.findall("line")[at].attrib["y1"]) for at in (2, 0))
        return [float(bar.attrib["height"]) / (bottom - top) for bar in picture.findall("rect[@class='bar']")]

    def test_the_bars_are_the_shares_of_set_bits_along_the_body(self):
        # So many keys that some counters have only their highest bit set.
        for layout, cell_bits, keys, code in (("blocked", 1, 2000, 0), ("classic", 1, 2000, 0), ("counting", 4, 12000, 1)):
            path = self.make("--capacity", "3000", "--layout", layout, name=layout, keys=range(keys))
            found, bars = self.json(path, code=code), self.bars(self.page(path, code=code))
            with open(path, "rb") as file:
                body = file.read()[found["body_offset"]:][:found["body_bytes"]]
            cells = "".join(f"{byte:08b}" if cell_bits == 1 else f"{int(byte >> 4 > 0)}{int(byte & 15 > 0)}" for byte in body)
            length = (len(body) // 8 + 63) // 64 * 64 // cell_bits
            wanted = [cells[at:at + length].count("1") / min(length, found["num_bits"] - at) for at in range(0, found["num_bits"], length)]
            self.assertEqual(len(bars), len(wanted))
            for bar, share in zip(bars, wanted):
                self.assertAlmostEqual(bar, share, delta=0.001)

    def test_a_hole_in_the_body_is_seen_and_said(self):
        page = self.page(self.with_hole(), code=1)
        self.assertIn("Needs attention: clean, bits may be missing", page.text())
        self.assertNotIn("Healthy", page.text())
        emptier = int(re.search(r"(\d+) of 6\d stretches of the body are much emptier", page.text())[1])
        self.assertEqual(emptier + 1, len(page.tree.findall(".//rect[@class='hole']")))  # and the one of the legend
        self.assertIn("bits may be missing", page.texts("text"))
        self.assertIn(emptier, (3, 4, 5))
        self.assertEqual(min(self.bars(page)), 0)

    def test_where_bits_may_be_missing_no_number_of_keys_and_no_place_on_the_curve_is_told(self):
        path = self.with_hole()
        page = self.page(path, code=1)
        self.assertEqual([(one[0].text, one[1].text) for one in page.tree.findall(".//ul/li") if one[0].text in ("Keys now", "Room")],
                         [("Keys now", "unknown"), ("Room", "unknown")])
        self.assertIsNone(page.tree.find(".//circle"))
        self.assertEqual(page.tree.findall(".//line[@class='arrow']"), [])
        self.assertNotIn("you are here", page.text())
        rows = {label: value for label, value, _ in page.rows()}
        self.assertEqual((rows["keys now"], rows["room for"]), ("unknown, since bits may be missing",) * 2)
        self.assertNotIn("95 % interval", rows)
        self.assertIn("you are here", self.page(self.make("--capacity", "30k", name="whole", keys=range(20000))).text())

    def test_the_damage_of_a_sealed_file_is_drawn_where_it_is(self):
        self.bf("seal", "-q", self.make("--capacity", "200k"), self.path("sealed"))
        self.assertEqual(self.page(self.path("sealed")).tree.findall(".//rect[@class='bad']"), [])
        raw = Bytes(self.path("sealed"))
        for chunk in (0, 2):
            raw.data[16384 + chunk * 65536 + 9] ^= 4
        page = self.page(raw.write(), code=2)
        frame, = page.tree.findall(".//div[@class='charts']//rect[@class='frame']")
        left, width = float(frame.attrib["x"]), float(frame.attrib["width"])
        places = [(float(one.attrib["x"]), float(one.attrib["width"])) for one in page.tree.findall(".//div[@class='charts']//rect[@class='bad']")]
        self.assertEqual(len(places), 3)  # with the one of the legend
        for (x, wide), chunk in zip(places[1:], (0, 2)):
            self.assertAlmostEqual((x - left) / width, (16384 + chunk * 65536) / len(raw.data), delta=0.001)
            self.assertAlmostEqual(wide / width, 65536 / len(raw.data), delta=0.001)
        self.assertIn("2 places have changed since the file was sealed: 128.0 KiB", page.text())
        self.assertTrue({label: value for label, value, _ in page.rows()}["state"].startswith('"clean" is what its header says.'))

    def test_no_hole_is_seen_where_there_is_none(self):
        for layout in ("blocked", "classic", "counting"):
            for keys in (0, 1, 100, 5000):
                path = self.make("--capacity", "3000", "--layout", layout, "--seed", "7", name=f"{layout}-{keys}", keys=range(keys))
                self.assertNotIn("bits may be missing", self.page(path, code=self.run_inspector(path).returncode).text())

    def test_the_curve_ascends_and_the_filter_is_on_it(self):
        path = self.make("--capacity", "10k", keys=range(6000))
        picture = self.page(path).tree.findall(".//div[@class='charts']//svg")[1]
        points = [tuple(map(float, point.split(","))) for point in picture.find("polyline").attrib["points"].split()]
        self.assertEqual(points, sorted(points))
        self.assertEqual([y for _, y in points], sorted((y for _, y in points), reverse=True))
        here = picture.find("circle").attrib
        x, y = min(points, key=lambda point: abs(point[0] - float(here["cx"])))
        self.assertAlmostEqual(x, float(here["cx"]), delta=3)
        self.assertAlmostEqual(y, float(here["cy"]), delta=6)

    def test_of_a_rate_below_the_picture_an_arrow_points_to_it(self):
        # Most new filters had no mark at all in the picture.
        for keys in (0, 4, 300):
            page = self.page(self.make("--capacity", "1000", name=f"of{keys}", keys=range(keys)))
            self.assertIsNone(page.tree.find(".//circle"))
            self.assertIn("So low a rate is below the picture: the arrow points to it.", page.text())
            self.assertIn("you are here", page.texts("text"))
            shaft, *heads = page.tree.findall(".//line[@class='arrow']")
            axis, = (text for text in page.tree.iter("text") if text.text == "2,000")
            self.assertAlmostEqual(float(shaft.attrib["x1"]), 58 + keys / 2000 * (float(axis.attrib["x"]) - 58), delta=2)
            self.assertEqual({(head.attrib["x2"], head.attrib["y2"]) for head in heads}, {(shaft.attrib["x2"], shaft.attrib["y2"])})
            self.assertLess(float(shaft.attrib["y1"]), float(shaft.attrib["y2"]))
        half = self.page(self.make(name="half", keys=range(500)))
        self.assertNotIn("below the picture", half.text())
        self.assertEqual(half.tree.findall(".//line[@class='arrow']"), [])

    def test_a_filter_with_every_bit_set_says_the_same_number_everywhere_and_nothing_of_empty_stretches(self):
        page = self.page(self.make("--bits", "512", "--probes", "6", keys=range(3000)), code=1)
        self.assertEqual(len(set(re.findall(r"at least ([\d,]+)", page.text()))), 1)
        self.assertEqual(page.text().count("at least"), 4)  # the tile, the picture's title and caption, and the table
        self.assertNotIn("about 5", page.text())
        self.assertIn("100.0 % is set everywhere. The filter has so few bits that a hole in it would not stand out", page.text())
        self.assertNotIn("empty by chance", page.text())

    def test_the_line_of_the_capacity_has_an_edge_on_the_bar_of_the_fill(self):
        page = self.page(self.make("--capacity", "100", keys=range(500)), code=1)
        bar = page.tree.find(".//figure[@class='bar']/svg")
        self.assertEqual([line.attrib["class"] for line in bar.findall("line")], ["under", "limit"])
        self.assertEqual(len({line.attrib["x1"] for line in bar.findall("line")}), 1)

    def test_one_key_is_no_keys_and_the_axis_says_what_it_counts(self):
        page = self.page(self.make("--capacity", "1000", keys=(1,)))
        self.assertIn("With about 1 key, ", page.text())
        self.assertIn("number of keys in the filter", page.texts("text"))

    def test_the_curve_does_not_cross_the_words_you_are_here(self):
        for keys in range(380, 600, 20):
            picture = self.page(self.make("--capacity", "1000", name=f"at{keys}", keys=range(keys))).tree.findall(".//div[@class='charts']//svg")[1]
            for label in (text for text in picture.iter("text") if text.text == "you are here"):
                points = [tuple(map(float, point.split(","))) for point in picture.find("polyline").attrib["points"].split()]
                covered = [y for x, y in points if x <= float(label.get("x")) + 100]
                self.assertGreater(min(covered, default=240), float(label.get("y")), keys)

    def test_few_keys_leave_stretches_empty_and_nobody_fears_for_them(self):
        self.assertIn("empty by chance", self.page(self.make("--capacity", "1000", keys=range(4))).text())
        self.assertIn("So few bits are set that a hole would not stand out", self.page(self.make("--capacity", "30k", name="some", keys=range(2000))).text())
        self.assertIn("may have lost its bits", self.page(self.make("--capacity", "30k", name="more", keys=range(20000))).text())

    def test_of_a_layout_that_is_built_once_the_page_says_why_a_stretch_is_emptier(self):
        with open(self.path("keys"), "w", encoding="utf-8") as keys:
            keys.writelines(f"{i}\n" for i in range(20000))
        subprocess.run([BF, "build", self.path("built"), "--from", self.path("keys"), "--layout", "static", "-q"], check=True)
        text = self.page(self.path("built")).text()
        self.assertIn("The first and the last bytes of a shard have fewer ones.", text)
        self.assertNotIn("bits may be missing", text)

    def test_of_a_hash_that_may_be_uneven_the_page_says_so(self):
        self.assertIn("With the hash of this filter", self.page(self.make("--capacity", "30k", "--hash", "murmur3", keys=range(20000))).text())

    def test_the_line_of_the_promised_rate_does_not_cross_the_words_you_are_here(self):
        for keys in range(500, 1300, 50):
            path = self.make("--capacity", "1000", "--seed", "7", keys=range(keys), name=f"keys{keys}")
            picture = self.page(path, code=self.run_inspector(path).returncode).tree.findall(".//div[@class='charts']//svg")[1]
            label, = (float(text.get("y")) for text in picture.iter("text") if text.text == "you are here")
            promised, = (float(line.get("y1")) for line in picture.iter("line") if line.get("class") == "limit" and line.get("y1") == line.get("y2"))
            self.assertFalse(label - 13 < promised < label + 4, (keys, label, promised))

    # It was 119,917.
    def test_the_axis_of_keys_ends_at_a_round_number(self):
        for keys in (99930, 12345, 70):
            path = self.make("--capacity", str(max(keys // 10, 7)), name=str(keys), keys=range(keys))
            chart = self.page(path, code=1).tree.findall(".//div[@class='charts']//svg")[1]
            last, = (text for text in chart.iter("text") if text.get("text-anchor") == "end" and text.get("y") == "214.0")
            self.assertRegex(last.text, r"\A[1-9][0-9]?[0,]*\Z")
            self.assertGreaterEqual(int(last.text.replace(",", "")), json.loads(self.run_inspector("--json", path).stdout)["estimated_keys"])

    # "about 4 of 1,000", and beside it "Room about 1,027".
    def test_the_figures_of_keys_and_room_explain_each_other(self):
        figures = [" ".join(text.split()) for text in self.page(self.make(keys=range(4))).texts("li")]
        self.assertTrue(any(re.search(r"Keys now ?about 4 ?of its capacity of 1,000", text) for text in figures), figures)
        self.assertTrue(any(re.search(r"about 1,\d\d\d ?more keys until the promised rate is exceeded, 996 of them to the capacity", text) for text in figures), figures)

    # It ended with "Synced and closed."
    def test_the_box_of_a_file_that_needs_attention_does_not_end_in_comfort(self):
        for path in (self.with_hole(name="hole"), self.with_hole(name="emptied", first=0, share=1), self.make(name="full", keys=range(3000))):
            text = self.page(path, code=1).texts("p")[0]
            self.assertNotIn("Synced and closed", text)
            self.assertRegex(text.strip(), r"\(bf build[^)]*\)\.\Z")
        self.assertIn("Synced and closed.", self.page(self.make(name="good")).texts("p")[0])

    # Beside an empty half of the page was a chart without a curve.
    def test_a_curve_that_cannot_be_seen_is_left_out(self):
        foreign = self.path("few.bloom")
        self.bf("export", "-q", self.make("--capacity", "1M", "--layout", "classic", "--hash", "guava", keys=range(2)), foreign, "--format", "guava")
        for path, charts in ((foreign, 0), (self.make(name="own", keys=range(2)), 1)):
            self.assertEqual(len(self.page(path).texts("polyline")), charts)

    def test_the_room_is_told_until_the_promised_rate_is_exceeded(self):
        def room(path, code):
            return re.search(r"Room(.*?)(more keys until the promised rate is exceeded|the promised rate is (?:exceeded|reached))",
                             self.page(path, code=code).text()).groups()

        path = self.make("--capacity", "1000")
        self.assertEqual(room(path, 0), (f"about {self.keys_within_promise(self.json(path)):,}", "more keys until the promised rate is exceeded"))
        path = self.make("--capacity", "1000", name="over", keys=range(3000))
        self.assertEqual(room(path, 1), ("none", "the promised rate is exceeded"))
        # With this seed the estimated rate is above the promise by chance.
        path = self.make("--capacity", "30k", "--seed", "4", name="exact", keys=range(30000))
        self.assertEqual(room(path, 0), ("none", "the promised rate is reached"))

    def test_every_color_of_text_can_be_read_light_and_dark(self):
        for colours in self.page(self.make()).colours():
            for back in ("back", "card"):
                for name in ("text", "dim", "good", "warning", "bad"):
                    self.assertGreaterEqual(contrast(colours[name], colours[back]), 4.5, (name, back, colours))
            for name in ("bar", "curve", "limit"):
                self.assertGreaterEqual(contrast(colours[name], colours["card"]), 3, (name, colours))


class Written(HtmlCase):
    def written(self, *arguments, code=0):
        done = self.run_inspector(*arguments, cwd=self.folder)
        self.assertEqual((done.returncode, done.stdout), (code, b""), done)
        return done.stderr.decode()

    def test_the_page_is_a_new_file_and_the_exit_code_is_the_verdict(self):
        self.make(name="good", keys=range(9))
        Bytes(self.make(name="dirty")).slots(DIRTY).seal().write()
        self.written("good", "--html", "good.html")
        self.written("dirty", "--html", "dirty.html", code=1)
        for name in ("good", "dirty"):
            with open(self.path(f"{name}.html"), "rb") as file:
                self.assertEqual(Page(file.read()).texts("h1"), [name])
        mask = os.umask(0)
        os.umask(mask)
        self.assertEqual(stat.S_IMODE(os.stat(self.path("good.html")).st_mode), 0o666 & ~mask)

    # It said nothing: with exit code 1 nobody knew whether the page was there.
    def test_what_was_written_and_the_verdict_are_told(self):
        self.make(name="good", keys=range(9))
        self.make(name="full", keys=range(1500))
        self.assertEqual(self.written("good", "--html", "good.html"), "good.html: written. good: clean\n")
        self.assertEqual(self.written("full", "--html", "full.html", code=1), "full.html: written. full: clean, overfull\n")

    def test_a_file_that_exists_is_replaced_with_force_alone_and_a_filter_never(self):
        self.make(name="good")
        with open(self.path("mine"), "wb") as file:
            file.write(b"mine")
        said = self.written("good", "--html", "mine", code=3)
        self.assertIn("mine: exists already", said)
        with open(self.path("mine"), "rb") as file:
            self.assertEqual(file.read(), b"mine")
        # A list of keys was gone.
        for other in (b"mine", b"alice\nbob\n", b"<svg/>", bytes(64), b"<!--", b"<!-- <html> -->\n<svg>"):
            with open(self.path("mine"), "wb") as file:
                file.write(other)
            said = self.written("good", "--html", "mine", "--force", code=3)
            self.assertIn("mine: is no page of HTML, and --force replaces such pages alone. Choose another name, or move it away first (mv).", said)
            with open(self.path("mine"), "rb") as file:
                self.assertEqual(file.read(), other)
        for page in (b"", b"<!doctype HTML>", b"\n<HTML lang=en>", b"<!-- saved -->\n<?xml version='1.0'?>\n<html>", b"\xef\xbb\xbf<html>"):
            with open(self.path("mine"), "wb") as file:
                file.write(page)
            for _ in range(2):
                self.written("good", "--html", "mine", "--force")
                with open(self.path("mine"), "rb") as file:
                    self.assertIn(b"</html>", file.read())
        self.assertIn("is a filter", self.written("good", "--html", "good", "--force", code=3))
        self.assertIn("none/page.html: its folder does not exist. Create it first, or correct the path.", self.written("good", "--html", "none/page.html", code=3))
        self.assertEqual(self.json(self.path("good"))["state"], "clean")
        self.assertEqual(sorted(os.listdir(self.folder)), ["good", "mine"])

    # A device and a FIFO became regular files, and a link a file with the mode of links, 777.
    def test_a_page_replaces_no_link_no_fifo_and_no_device(self):
        self.make(name="good")
        self.refused_for_others_than_files("good", "--force", "--html")

    def test_a_page_that_cannot_be_written_or_has_no_file_is_not_there(self):
        self.make(name="good")
        script = 'ulimit -f 1; exec "$0" good --html page.html'
        done = subprocess.run(["sh", "-c", script, BFINSPECT], cwd=self.folder, capture_output=True, timeout=PATIENCE, check=False)
        self.assertIn(b"page.html: cannot write it", done.stderr)
        self.assertEqual(done.returncode, 3)
        self.assertIn("no such file", self.written("none", "--html", "page.html", code=3))
        self.assertEqual(os.listdir(self.folder), ["good"])

    def test_one_form_at_a_time(self):
        self.make(name="good")
        for arguments in (("--html", "-", "--json"), ("--html", "-", "--prometheus"), ("--json", "--prometheus"), ("--force",)):
            self.assertIn("--", self.written("good", *arguments, code=3))
        self.assertIn("--html takes one file", self.written("good", "good", "--html", "x", code=3))


if __name__ == "__main__":
    unittest.main(verbosity=2)
