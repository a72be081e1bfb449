"""README's example does what its comments say."""

import re
import subprocess
import sys
import unittest

from case import HERE, Case


class Readme(Case):
    def test_the_example_runs(self):
        program, = re.findall(r"^```python\n(.*?)^```", (HERE / "README.md").read_text("utf-8"), re.MULTILINE | re.DOTALL)
        done = subprocess.run([sys.executable, "-B", "-c", program], cwd=self.folder, capture_output=True, text=True, check=False)
        self.assertEqual((done.stdout, done.stderr), ("True False\n[1, 0]\n", ""))


if __name__ == "__main__":
    unittest.main(verbosity=2)
