"""tools/starved.py: the files that it writes for control groups of both versions, and the tests that it finds.

Argument: the project's root.
"""
import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(sys.argv.pop(1), "tools")))
import starved  # found only now


class Starved(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)

    def made(self):
        group = starved.Group(self.root)
        group.make()
        return {str(path.relative_to(group.folder)): path.read_text("utf-8") for path in group.folder.iterdir()}

    def test_a_group_of_version_1_has_a_tenth_of_a_core(self):
        (self.root / "cpu").mkdir()
        self.assertEqual(self.made(), {"cpu.cfs_period_us": "100000", "cpu.cfs_quota_us": "10000"})

    def test_a_group_of_version_2_has_a_tenth_of_a_core(self):
        (self.root / "cgroup.controllers").write_text("cpu memory", "utf-8")
        self.assertEqual(self.made(), {"cpu.max": "10000 100000"})
        self.assertEqual((self.root / "cgroup.subtree_control").read_text("utf-8"), "+cpu")

    def test_a_machine_without_control_groups_is_an_error(self):
        self.assertRaises(OSError, starved.Group, self.root)

    def test_a_test_runs_in_the_build_directory(self):
        test = {"cmd": ["pwd", "-P"], "env": {}, "workdir": None}
        with open(self.root / "log", "wb") as log:
            self.assertEqual(starved.run(test, lambda: None, log, self.root), 0)
        self.assertEqual((self.root / "log").read_text("utf-8").strip(), str(self.root.resolve()))

    def test_a_test_is_found_by_its_source_or_its_name(self):
        cpp = {"name": "nobody waits for ever", "cmd": ["/build/tests/store_waits_test", "--kills=3"]}
        python = {"name": "bf streams", "cmd": ["/usr/bin/python3", "-B", "/root/tests/bf/streams_test.py"]}
        binding = {"name": "the binding for Go", "cmd": ["/usr/bin/python3", "/root/tests/bindings/run.py", "go", "/root"]}
        for wanted, test in (("tests/store/file/waits_test.cpp", cpp), ("nobody waits for ever", cpp), ("tests/bf/streams_test.py", python),
                             ("capi/bindings/go/life_test.go", binding)):
            self.assertEqual([one for one in (cpp, python, binding) if starved.matches(one, wanted)], [test], wanted)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
