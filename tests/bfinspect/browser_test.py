"""Pages of bfinspect --html in a browser, Chromium, as wide as a screen and as a phone: nothing is wider than the window, no text of
a picture is cut or covers another one, and the browser's console stays empty.

One run of the browser opens all pages, each in frames of both widths, and a script around them measures.
"""
import html
import json
import os
import re
import subprocess
import unittest

from inspector import DIRTY, Bytes, InspectorCase
import programs
from waiting import PATIENCE

DATA = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "data")
WIDTHS = (1280, 400)
MEASURE = """
function overlaps(a, b) { return a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom; }
function measured(frame) {
  const page = frame.contentDocument, wrong = [];
  const wide = page.documentElement.scrollWidth - frame.contentWindow.innerWidth;
  if (wide > 0) wrong.push("wider than the window by " + wide);
  for (const picture of page.querySelectorAll("svg")) {
    const whole = picture.getBoundingClientRect(), texts = [...picture.querySelectorAll("text")];
    texts.forEach((text, at) => {
      const box = text.getBoundingClientRect();
      if (box.left < whole.left || box.right > whole.right || box.top < whole.top || box.bottom > whole.bottom)
        wrong.push("cut: " + text.textContent);
      if (box.height < 9) wrong.push("too small: " + text.textContent);
      for (const other of texts.slice(at + 1))
        if (overlaps(box, other.getBoundingClientRect())) wrong.push(text.textContent + " covers " + other.textContent);
    });
  }
  return {name: frame.name, width: frame.contentWindow.innerWidth, pictures: page.querySelectorAll("svg").length, wrong: wrong};
}
addEventListener("load", () => {
  document.getElementById("measured").textContent = JSON.stringify([...document.querySelectorAll("iframe")].map(measured));
});
"""


@unittest.skipIf(programs.missing("chromium"), programs.missing("chromium"))
class Browser(InspectorCase):
    def frames(self):
        """Makes files of many kinds, and returns the page of each."""
        long_name = "long " + "name-of-a-file-without-any-place-to-break" * 5
        files = [self.make("--capacity", "1M", "--note", "<script>console.log(1)</script>" + "w" * 500, name="big", keys=range(30000)),
                 self.make("--capacity", "1000", name="overfull", keys=range(9000)),
                 self.make("--capacity", "1000", name="full", keys=range(1000)),
                 self.make("--capacity", "10k", "--window", "24h", name="window", keys=range(60000)),
                 self.make("--capacity", "10", "--window", "1ms", "--layout", "window-2", name="over", keys=range(9000)),
                 self.make("--capacity", "5M", "--window", "24h", name="far left", keys=range(10)),
                 self.make("--capacity", "100k", "--fpr", "1e-9", "--layout", "classic", name="few", keys=range(2000)),
                 self.make("--capacity", "10", "--layout", "counting", name=long_name),
                 self.make("--bits", "8Mi", "--probes", "1", name="one probe", keys=range(5000)),
                 *(self.grown(keys, name=f"grown to {keys}") for keys in (0, 1100, 20000, 200000)),
                 Bytes(self.make(name="dirty")).slots(DIRTY, marks=((2**64 - 1, 2**64 - 1, 2**64 - 1),)).seal().write(),
                 os.path.join(DATA, "BFS_ERECORD__a_note_and_no_seeds.bf"), os.path.join(DATA, "good_sealed.bf"), os.path.join(DATA, "BFS_EMAGIC__zeros.bf"),
                 os.path.join(DATA, "foreign", "jaybird.scalable-2.bloom"), self.folder]
        return {path: self.run_inspector("--html", "-", "--", path).stdout.decode("utf-8") for path in files}

    def opened(self, pages):
        """Returns what the script measured in each frame, and what the browser wrote into its console."""
        frames = "".join(f'<iframe name="{html.escape(name)}" style="width: {width}px; border: 0" srcdoc="{html.escape(page)}"></iframe>'
                         for name, page in pages.items() for width in WIDTHS)
        with open(self.path("all.html"), "w", encoding="utf-8") as file:
            file.write(f'<!DOCTYPE html><meta charset="utf-8"><script>{MEASURE}</script><pre id="measured"></pre>{frames}')
        done = subprocess.run(["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--enable-logging=stderr",
                               f"--user-data-dir={self.path('profile')}", "--dump-dom", f"file://{self.path('all.html')}"],
                              env={**os.environ, "HOME": self.folder}, capture_output=True, text=True, timeout=PATIENCE, check=True)
        told = re.search(r'<pre id="measured">(.*?)</pre>', done.stdout, re.S)
        self.assertTrue(told, done)
        return json.loads(html.unescape(told[1])), re.findall(r"CONSOLE.*", done.stderr)

    def test_pages_fit_into_a_wide_and_a_narrow_window(self):
        found, console = self.opened(self.frames())
        self.assertEqual(console, [])
        self.assertEqual([one["width"] for one in found], [*WIDTHS] * 19)
        self.assertGreater(sum(one["pictures"] for one in found), 30)
        for one in found:
            with self.subTest(page=one["name"], width=one["width"]):
                self.assertEqual(one["wrong"], [])

    def test_a_page_that_does_not_fit_is_found_out(self):
        bad = ('<!DOCTYPE html><p style="width: 900px">wide</p><svg viewBox="0 0 400 100"><text x="380" y="50">cut off</text><text x="10" y="50">one</text>'
               '<text x="12" y="52">two</text></svg><script>console.error("said"); nothing();</script>')
        found, console = self.opened({"bad": bad})
        self.assertEqual(len(console), 4, console)
        self.assertEqual(found[0]["wrong"], ["cut: cut off", "one covers two"])
        self.assertEqual([wrong for wrong in found[1]["wrong"] if "small" not in wrong][1:], ["cut: cut off", "one covers two"])
        self.assertIn("wider than the window", found[1]["wrong"][0])


if __name__ == "__main__":
    unittest.main(verbosity=2)
