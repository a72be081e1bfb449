"""The consoles of capi/guide/windows.md, line by line."""
import os
import re
import subprocess

from bf_case import BF, BfCase, PATIENCE, main

PAGE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "capi", "guide", "windows.md")


class Windows(BfCase):
    def consoles(self):
        """Yields each line that is typed, and what it prints."""
        with open(PAGE, encoding="utf-8") as page:
            for text in re.findall(r"```console\n(.*?)```", page.read(), re.S):
                for part in text.split("$ ")[1:]:
                    line, _, output = part.partition("\n")
                    yield line, output

    def test_what_the_page_types_prints_what_it_says(self):
        path = os.path.dirname(os.path.abspath(BF)) + os.pathsep + os.environ["PATH"]
        typed = list(self.consoles())
        for line, output in typed:
            done = subprocess.run(["sh", "-c", line], cwd=self.dir, env={**os.environ, "PATH": path}, capture_output=True, text=True,
                                  stdin=subprocess.DEVNULL, timeout=PATIENCE, check=False)
            self.assertEqual((done.returncode, done.stdout, done.stderr), (0, output, ""), line)
        self.assertGreater(len(typed), 8)


if __name__ == "__main__":
    main()
