"""bfinspect --prometheus: what Prometheus' own parser reads in the metrics is what the JSON says, for any number of files."""
import glob
import json
import os
import re

from inspector import DIRTY, Bytes, InspectorCase, unittest
import programs

programs.need_module("prometheus_client", "python3-prometheus-client")
from prometheus_client.parser import text_string_to_metric_families

DATA = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "data")
# The metric, and the key of the JSON with the same number.
SAME = {"bfstore_capacity_keys": "n", "bfstore_estimated_keys": "estimated_keys", "bfstore_remaining_keys": "remaining_keys",
        "bfstore_keys_added_total": "keys_added", "bfstore_keys_removed_total": "keys_removed", "bfstore_fill_ratio": "fill_ratio",
        "bfstore_false_positive_ratio": "estimated_fpr", "bfstore_promised_false_positive_ratio": "p", "bfstore_file_bytes": "file_bytes",
        "bfstore_disk_bytes": "allocated_bytes", "bfstore_overfull": "overfull", "bfstore_filling": "filling", "bfstore_healthy": "healthy"}


class Metrics(InspectorCase):
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

    def test_every_number_of_every_kept_file_is_that_of_the_json(self):
        paths = sorted(glob.glob(os.path.join(DATA, "*.bf"))) + sorted(glob.glob(os.path.join(DATA, "foreign", "*.bloom")))
        found = self.samples(*paths, code=2)
        self.assertEqual(set(found["bfstore_up"].values()), {1})
        for path in paths:
            with self.subTest(file=os.path.basename(path)):
                told, mine = json.loads(self.run_inspector("--json", path).stdout), self.of_file(found, path)
                for metric, key in SAME.items():
                    if told["valid"] or key in ("file_bytes", "allocated_bytes", "healthy"):
                        self.assertEqual(mine.get(metric), told[key], metric)
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
        self.assertEqual(self.of_file(found, none), {"bfstore_up": 0})
        self.assertEqual(self.of_file(found, good)["bfstore_capacity_keys"], 1000)
        self.assertIn(b"no such file", self.run_inspector("--prometheus", good, none).stderr)

    def test_with_quick_the_bits_have_no_metric(self):
        found = self.samples("--quick", self.make())
        self.assertIn("bfstore_capacity_keys", found)
        for metric in ("bfstore_fill_ratio", "bfstore_estimated_keys", "bfstore_remaining_keys", "bfstore_overfull", "bfstore_false_positive_ratio"):
            self.assertNotIn(metric, found)


if __name__ == "__main__":
    unittest.main(verbosity=2)
