"""bfinspect --prometheus: what Prometheus' own parser reads in the metrics is what the JSON says, for any number of files."""
import glob
import json
import os
import re

import subprocess

from inspector import BFINSPECT, DIRTY, LIVE, POISONED, SLICES, Bytes, InspectorCase, unittest
import programs

programs.need_module("prometheus_client", "python3-prometheus-client")
from prometheus_client.parser import text_string_to_metric_families

DATA = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "data")
# The metric, and the key of the JSON with the same number.
SAME = {"bfstore_capacity_keys": "capacity", "bfstore_estimated_keys": "estimated_keys", "bfstore_remaining_keys": "remaining_keys",
        "bfstore_keys_added_total": "keys_added", "bfstore_keys_removed_total": "keys_removed", "bfstore_fill_ratio": "fill_ratio",
        "bfstore_false_positive_ratio": "estimated_fpr", "bfstore_promised_false_positive_ratio": "fpr", "bfstore_file_bytes": "file_bytes",
        "bfstore_disk_bytes": "allocated_bytes", "bfstore_overfull": "overfull", "bfstore_leaky": "leaky", "bfstore_bits_may_be_missing": "bits_may_be_missing", "bfstore_filling": "filling", "bfstore_healthy": "healthy"}


class MetricsCase(InspectorCase):
    def samples(self, *arguments, code=0, **more):
        """Returns {name: {labels: value}}. Each metric has one HELP and one TYPE, before all of its samples."""
        done = self.run_inspector("--prometheus", *arguments, **more)
        self.assertEqual(done.returncode, code, done)
        text = done.stdout.decode("utf-8")
        self.assertTrue(text.endswith("\n"))
        found = {}
        for family in text_string_to_metric_families(text):
            self.assertTrue(family.documentation.endswith("."), family)
            for sample in family.samples:
                labels = frozenset(sample.labels.items())
                self.assertNotIn(labels, found.setdefault(sample.name, {}))
                found[sample.name][labels] = sample.value
        order = [re.match(r"# (HELP|TYPE) (\w+)|(\w+)\{", line).groups() for line in text.split("\n")[:-1]]
        names = [kind[1] or kind[2] for kind in order]
        self.assertEqual(len({name for at, name in enumerate(names) if at == 0 or names[at - 1] != name}), len(found))
        for name in found:
            self.assertEqual([kind for kind, of, _ in order if of == name], ["HELP", "TYPE"])
            self.assertEqual([kind[0] for kind, of in zip(order, names) if of == name][:2], ["HELP", "TYPE"])
        return found

    def of_file(self, found, path):
        return {name: values[frozenset({("file", path)})] for name, values in found.items() if frozenset({("file", path)}) in values}


class Metrics(MetricsCase):
    def test_the_slices_of_a_file_that_grows_are_those_of_the_json(self):
        for keys, slices, times in SLICES:
            path = self.grown(keys, name=f"of {keys}")
            mine, found = self.of_file(self.samples(path), path), self.json(path)
            self.assertEqual([mine["bfstore_" + name] for name in ("slices", "slices_at_most", "capacity_keys", "capacity_at_most_keys", "overfull")],
                             [slices, 5, 1000 * times, 121000, 0])
            self.assertEqual(mine["bfstore_remaining_keys"], found["remaining_keys"])
            self.assertAlmostEqual(mine["bfstore_fill_at_capacity_ratio"], 0.41, delta=0.05)
        other = self.make("--capacity", "1000", name="other")
        self.assertFalse({"bfstore_slices", "bfstore_slices_at_most", "bfstore_capacity_at_most_keys"} & set(self.samples(other)))
        self.assertEqual([self.json(other)[key] for key in ("growth", "num_slices", "most_slices", "first_capacity", "capacity_at_most", "keys_until_next_slice")], [None] * 6)

    def test_every_number_of_every_kept_file_is_that_of_the_json(self):
        paths = sorted(glob.glob(os.path.join(DATA, "*.bf"))) + sorted(glob.glob(os.path.join(DATA, "foreign", "*.bloom")))
        found = self.samples(*paths, code=2)
        self.assertEqual(set(found["bfstore_up"].values()), {1})
        for path in paths:
            with self.subTest(file=os.path.basename(path)):
                told, mine = json.loads(self.run_inspector("--json", path).stdout), self.of_file(found, path)
                for metric, key in SAME.items():
                    if told["valid"] or key in ("file_bytes", "allocated_bytes", "healthy"):
                        maybe_alone = told["filling"] or told["state"] in ("recovering", "poisoned", "superseded")
                        self.assertEqual(mine.get(metric), 1 if maybe_alone and metric == "bfstore_false_positive_ratio" else told[key], metric)
                self.assertEqual(mine["bfstore_problems"], len(told["problems"]))
                self.assertAlmostEqual(mine["bfstore_modified_timestamp_seconds"], os.stat(path).st_mtime, places=3)
                states = {dict(labels)["state"]: value for labels, value in found["bfstore_state"].items() if ("file", path) in labels}
                if told["state"] in states:
                    self.assertEqual([state for state, value in states.items() if value], [told["state"]])
                    self.assertEqual(len(states), 7)

    def test_each_state_and_mark_has_its_labels(self):
        clean = self.make(name="clean")
        dirty = Bytes(self.make(name="dirty")).slots(DIRTY, marks=((7, 1000, 3), (8, 2**64 - 1))).seal().write()
        found = self.samples(clean, dirty, code=1)
        self.assertEqual([value for labels, value in found["bfstore_state"].items() if {("file", dirty), ("state", "unclean")} <= labels], [1])
        self.assertEqual([value for labels, value in found["bfstore_state"].items() if {("file", clean), ("state", "unclean")} <= labels], [0])
        self.assertEqual({tuple(dict(labels)[name] for name in ("file", "owner", "epoch")): value for labels, value in found["bfstore_synced_mark"].items()},
                         {(dirty, "7", "3"): 1000, (dirty, "8", "0"): 2**64})
        self.assertEqual((self.of_file(found, clean)["bfstore_healthy"], self.of_file(found, dirty)["bfstore_healthy"]), (1, 0))

    def test_a_mark_means_every_key_up_to_it(self):
        dirty = Bytes(self.make()).slots(DIRTY, marks=((7, 1000, 3),)).seal().write()
        help_text, = re.findall(r"# HELP bfstore_synced_mark (.*)", self.run_inspector("--prometheus", dirty).stdout.decode())
        self.assertIn("every key up to it is on the disk", help_text)
        self.assertIn("all keys up to it are on the disk", self.run_inspector("--html", "-", dirty).stdout.decode())

    def test_any_name_of_a_file_comes_back_out_of_the_label(self):
        for name in ('"} 1\nbfstore_up{file="x', "back\\slash\\n", "Grüße"):
            path = self.make(name=name)
            self.assertEqual(self.samples(path)["bfstore_up"], {frozenset({("file", path)}): 1})
        self.make(name="[a,b]")  # two words for the reader of the command line, unless it is told otherwise
        self.assertEqual(self.samples("[a,b]", cwd=self.folder)["bfstore_up"], {frozenset({("file", "[a,b]")}): 1})
        path = self.make(name="f\udcff\x1b[31m")
        self.assertEqual(self.samples(path)["bfstore_up"], {frozenset({("file", self.path(r"f\xff\x1b[31m"))}): 1})

    def test_a_file_that_cannot_be_read_is_down_and_the_others_are_there(self):
        good, none = self.make(), self.path("none")
        found = self.samples(good, none, code=3)
        self.assertEqual({dict(labels)["file"]: value for labels, value in found["bfstore_up"].items()}, {good: 1, none: 0})
        self.assertEqual(self.of_file(found, none), {"bfstore_up": 0, "bfstore_healthy": 0})
        self.assertEqual(self.of_file(found, good)["bfstore_capacity_keys"], 1000)
        self.assertIn(b"no such file", self.run_inspector("--prometheus", good, none).stderr)

    def test_with_quick_the_bits_have_no_metric_and_the_header_says_whether_it_is_overfull(self):
        # A filter for 100 keys, with 2,000 and every bit set, was healthy.
        good, full = self.make(name="good"), self.make("--capacity", "100", name="full", keys=range(2000))
        found = self.samples("--quick", good, full, code=1)
        self.assertIn("bfstore_capacity_keys", found)
        for metric in ("bfstore_fill_ratio", "bfstore_estimated_keys", "bfstore_remaining_keys", "bfstore_false_positive_ratio"):
            self.assertNotIn(metric, found)
        for path, overfull in ((good, 0), (full, 1)):
            told = self.of_file(found, path)
            self.assertEqual((told["bfstore_overfull"], told["bfstore_healthy"]), (overfull, 1 - overfull))

    def test_a_file_being_filled_gives_maybe_to_every_absent_key(self):
        path = self.make("--capacity", "1000", "--filling")
        told = self.of_file(self.samples(path, code=1), path)
        self.assertEqual((told["bfstore_filling"], told["bfstore_false_positive_ratio"]), (1, 1))

    def test_a_damaged_sealed_file_is_unhealthy(self):
        self.bf("seal", "-q", self.make(keys=range(9)), self.path("sealed"))
        raw = Bytes(self.path("sealed"))
        raw.data[16384] ^= 255
        told = self.of_file(self.samples(raw.write(), code=2), raw.path)
        self.assertEqual((told["bfstore_healthy"], told["bfstore_problems"]), (0, 1))

    def test_every_good_file_has_its_layout_hash_and_versions(self):
        path = self.make("--layout", "classic", "--capacity", "9")
        info, = self.samples(path)["bfstore_info"]
        version = subprocess.run([BFINSPECT, "--version"], capture_output=True, check=True).stdout.decode().split()[-1]
        self.assertEqual(dict(info), {"file": path, "layout": "classic", "hash": "xxh3", "format": "2.0", "bfinspect": version})

    def test_the_metrics_replace_their_file_whole_or_not_at_all(self):
        good, metrics = self.make(), self.path("bfstore.prom")
        for _ in range(2):
            done = self.run_inspector("--prometheus", "--output", metrics, good, self.path("none"))
            self.assertEqual((done.returncode, done.stdout), (3, b""), done)
        with open(metrics, "rb") as file:
            before = file.read()
        self.assertEqual(before, self.run_inspector("--prometheus", good, self.path("none")).stdout)
        script = 'ulimit -f 1; exec "$0" --prometheus --output "$1" "$2"'
        done = subprocess.run(["sh", "-c", script, BFINSPECT, metrics, good], capture_output=True, timeout=600, check=False)
        self.assertEqual((done.returncode, b"cannot write it" in done.stderr), (3, True), done)
        with open(metrics, "rb") as file:
            self.assertEqual(before, file.read())
        self.assertEqual(sorted(os.listdir(self.folder)), ["bfstore.prom", "f.bf"])
        self.assertIn(b"--output is for --prometheus alone", self.run_inspector("--output", metrics, good).stderr)

    def test_a_file_that_has_no_metrics_is_not_replaced(self):
        good, other = self.make(), self.path("bfstore.prom")
        for text in (b"alice\n" * 9, b"# HELP node_up\n"):
            with open(other, "wb") as file:
                file.write(text)
            done = self.run_inspector("--prometheus", "--output", other, good)
            self.assertEqual((done.returncode, b"bfstore.prom: has no metrics of bfstore, and --output replaces these alone. Choose another name, or move it away first (mv)." in done.stderr), (3, True), done)
            with open(other, "rb") as file:
                self.assertEqual(file.read(), text)
        refused = self.run_inspector("--prometheus", "--output", good, good)
        self.assertEqual((refused.returncode, b"f.bf: is a filter, whose users would not learn that it is gone." in refused.stderr), (3, True), refused)
        os.truncate(other, 0)
        self.assertEqual(self.run_inspector("--prometheus", "--output", other, good).returncode, 0)

    def test_the_metrics_replace_no_link_no_fifo_and_no_device(self):
        self.make(name="good")
        self.refused_for_others_than_files("good", "--prometheus", "--output")


class Alerts(MetricsCase):
    """The expressions of capi/guide/operating.md, of which those without a function are computed here."""
    with open(os.path.join(DATA, "..", "..", "capi", "guide", "operating.md"), encoding="utf-8") as file:
        ROWS = re.findall(r"^\| ([^|`]+) \| `([^`]*)` \|$", file.read().partition("\n### Prometheus")[2], re.MULTILINE)

    def firing(self, *paths, code=0):
        """Returns the names of the alerts that fire for these files."""
        found, names = self.samples(*paths, code=code), set()
        for name, expression in self.ROWS:
            equal = re.fullmatch(r'(\w+)(?:\{(\w+)="(\w+)"\})? == ([01])', expression)
            for labels, value in found.get(equal[1], {}).items() if equal else ():
                if value == int(equal[4]) and (not equal[2] or (equal[2], equal[3]) in labels):
                    names.add(name)
            above = re.fullmatch(r"(bfstore_\w+) > (bfstore_\w+)", expression)
            for labels, value in found.get(above[1], {}).items() if above else ():
                if value > found[above[2]][labels]:
                    names.add(name)
            both = re.fullmatch(r"(\w+) < (\w+) and (\w+) > ([0-9.]+) \* (\w+)", expression)
            for labels, value in found.get(both[1], {}).items() if both else ():
                if value < found[both[2]][labels] and found[both[3]][labels] > float(both[4]) * found[both[5]][labels]:
                    names.add(name)
        return names

    def test_every_metric_of_an_alert_exists(self):
        window = self.make("--capacity", "100", "--window", "24h", name="window")
        counting = self.make("--capacity", "100", "--layout", "counting", name="counting")
        known = set(self.samples(self.make(keys=range(9)), window, counting, self.grown(0)))
        named = {metric for _, expression in self.ROWS for metric in re.findall(r"bfstore_\w+", expression)}
        self.assertGreater(len(named), 5)
        self.assertEqual(named - known, set())

    def test_a_file_that_could_not_grow_has_an_alert(self):
        path, name = self.grown(900), "a file that grows could not: the disk is full, or the filesystem does not allocate"
        raw = Bytes(path)
        for counted, fires in ((1250, False), (1251, True)):  # as many keys, in a slice for 1,000
            for stripe in range(LIVE + 64, LIVE + 64 * 33, 64):
                raw.put(stripe, "Q", counted if stripe == LIVE + 64 else 0)
            raw.write()
            self.assertEqual(name in self.firing(path), fires, counted)
        self.assertNotIn(name, self.firing(self.grown(200000, name="overfull"), code=1))

    def test_every_verdict_of_the_bits_has_an_alert(self):
        # bfstore_leaky had none.
        path = self.make("--capacity", "100", "--layout", "counting", keys=range(9))
        told = self.run_inspector("--prometheus", path).stdout.decode()
        verdicts = set(re.findall(r"(?m)^# HELP (bfstore_\w+) 1 if (?:the filter has|more than|parts of)", told))
        self.assertEqual(verdicts, {"bfstore_overfull", "bfstore_leaky", "bfstore_bits_may_be_missing"})
        self.assertEqual(verdicts - {metric for _, expression in self.ROWS for metric in re.findall(r"bfstore_\w+", expression)}, set())

    def test_no_alert_fires_for_a_file_that_was_just_built_full(self):
        # Its estimated rate is above the promise by chance, as it was in four of ten builds of a list of words.
        path = self.make("--capacity", "30k", "--seed", "4", name="exact", keys=range(30000))
        told = self.of_file(self.samples(path), path)
        self.assertGreater(told["bfstore_false_positive_ratio"], told["bfstore_promised_false_positive_ratio"])
        self.assertEqual(self.firing(path), set())

    def test_an_alert_fires_for_each_file_that_needs_one(self):
        attention = "a file needs attention, for any reason"
        full = self.make("--capacity", "100", name="full", keys=range(300))
        self.assertEqual(self.firing(full, code=1), {attention, "more false positives than promised"})
        self.assertEqual(self.firing(self.path("none"), code=3), {attention, "a file cannot be read"})
        dirty = Bytes(self.make(name="dirty")).live(POISONED).seal().write()
        self.assertEqual(self.firing(dirty, code=1), {attention, "a sync did not end: a kill, or the disk refused a write"})
        self.assertEqual(self.firing(self.with_hole(name="hole"), code=1), {attention, "bits may be missing"})


if __name__ == "__main__":
    unittest.main(verbosity=2)
