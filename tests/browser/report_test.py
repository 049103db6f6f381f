"""The pages of `tenshot report` in Chromium, at three widths, light and dark:
/usr/bin/python3 report_test.py PROGRAM SOURCE_FOLDER [FOLDER_FOR_SCREENSHOTS]

A page says nothing on the console, asks for no address, is no wider than its window, no text of a picture covers another
or leaves its picture, and everything can be read against what is behind it. Without Chromium the test says so and exits
with 77, which ctest counts as skipped."""
import base64
import csv
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

import chromium

PROGRAM, SOURCE = sys.argv[1], pathlib.Path(sys.argv[2])
SHOTS = pathlib.Path(sys.argv[3]) if len(sys.argv) > 3 else None
WIDTHS = (400, 900, 1600)
LATENCIES = SOURCE / "datasets" / "data" / "libtorch-eager_t1_b1" / "latencies.csv"

# Elements that stick out of the window, and are not inside one that scrolls by itself.
WIDE_ELEMENTS = """
const scrolls = e => e && e !== document.body && (getComputedStyle(e).overflowX === 'auto' || scrolls(e.parentElement));
return [...document.querySelectorAll('body *')]
  .filter(e => e.getBoundingClientRect().right > innerWidth + 1 && !scrolls(e.parentElement))
  .map(e => e.tagName + ' ' + e.textContent.slice(0, 60));"""

# Texts of a picture that overlap, or that leave it.
BAD_TEXTS = """
const bad = [];
for (const svg of document.querySelectorAll('svg')) {
  const frame = svg.getBoundingClientRect();
  const texts = [...svg.querySelectorAll('text')].map(t => ({text: t.textContent, box: t.getBoundingClientRect()}));
  texts.forEach((a, i) => {
    const inside = a.box.left >= frame.left - 1 && a.box.right <= frame.right + 1 && a.box.top >= frame.top - 1 &&
                   a.box.bottom <= frame.bottom + 1;
    if (!inside) bad.push('outside: ' + a.text);
    for (const b of texts.slice(i + 1)) {
      const across = Math.min(a.box.right, b.box.right) - Math.max(a.box.left, b.box.left);
      const down = Math.min(a.box.bottom, b.box.bottom) - Math.max(a.box.top, b.box.top);
      if (across > 1 && down > 4) bad.push(a.text + ' covers ' + b.text);
    }
  });
}
return bad;"""

# Contrast of texts with what is behind them (WCAG 2.1, 1.4.3), below 4.5.
FAINT_TEXTS = """
const channels = text => text.match(/[\\d.]+/g).map(Number);
const light = c => { c /= 255; return c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4; };
const luminance = c => 0.2126 * light(c[0]) + 0.7152 * light(c[1]) + 0.0722 * light(c[2]);
const behind = e => {
  for (; e; e = e.parentElement) {
    const c = channels(getComputedStyle(e).backgroundColor);
    if (c.length === 3 || c[3] === 1) return c;
  }
  return [255, 255, 255];
};
const opacity = e => e ? Number(getComputedStyle(e).opacity) * opacity(e.parentElement) : 1;
const faint = [];
for (const e of document.querySelectorAll('h1, h2, p, li, dt, dd, td, th, caption, figcaption, summary, text')) {
  const back = behind(e), share = opacity(e), style = getComputedStyle(e);
  const front = channels(e.tagName === 'text' ? style.fill : style.color).slice(0, 3)
    .map((c, i) => share * c + (1 - share) * back[i]);
  const [low, high] = [luminance(front), luminance(back)].sort((a, b) => a - b);
  if ((high + 0.05) / (low + 0.05) < 4.5) faint.push(e.tagName + ' ' + e.textContent.slice(0, 40));
}
return faint;"""


def run(*arguments):
    subprocess.run([PROGRAM, *map(str, arguments), "--quiet"], check=True)


def device_page(folder):
    """A predictor of NAS-Bench-201 with further measurements and accuracies (made up from the convolutions)."""
    checkpoint = SOURCE / "checkpoints" / "pool.tenshot"
    with open(LATENCIES, newline="") as file:
        rows = list(csv.DictReader(file))
    with open(folder / "accuracies.csv", "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["architecture", "accuracy"])
        writer.writerows([row["architecture"], 60 + 5 * row["architecture"].count("nor_conv")] for row in rows)
    run("plan", "--checkpoint", checkpoint, "--samples", "10", "--candidates", LATENCIES, "--out", folder / "plan.csv")
    with open(folder / "plan.csv", newline="") as file:
        planned = {row["architecture"] for row in csv.DictReader(file)}
    with open(folder / "measured.csv", "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["architecture", "latency_ms"])
        writer.writerows([row["architecture"], row["latency_ms"]] for row in rows if row["architecture"] in planned)
    run("adapt", "--checkpoint", checkpoint, "--measurements", folder / "measured.csv", "--out", folder / "device.tenshot")
    run("report", folder / "device.tenshot", "--measured", LATENCIES, "--accuracies", folder / "accuracies.csv",
        "--limit-ms", "5", "--out", folder / "device.html")


def board_page(folder):
    """A predictor of networks by name, doubtful as its ten measurements are whole milliseconds, and one of its
    predictions explained."""
    run("network", "generate", "--space", "synthetic-cnn", "--count", "24", "--seed", "1", "--out", folder / "models")
    names = sorted(path.stem for path in (folder / "models").glob("*.onnx"))
    flops = {}
    for name in names:
        described = subprocess.run([PROGRAM, "network", "describe", folder / "models" / f"{name}.onnx"], check=True,
                                   capture_output=True, text=True).stdout
        flops[name] = len(described)
    with open(folder / "wide.csv", "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["architecture", "one", "two", "three"])
        writer.writerows([name, size / 900, size / 300 + 1, size / 150 + 2] for name, size in flops.items())
    with open(folder / "ten.csv", "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["network", "latency_ms"])
        writer.writerows([name, round(flops[name] / 400)] for name in names[:10])
    run("dataset", "import", "--table", folder / "wide.csv", "--space", "networks", "--networks", folder / "models",
        "--out", folder / "pool")
    run("train", "--pool", folder / "pool", "--out", folder / "pool.tenshot")
    run("adapt", "--checkpoint", folder / "pool.tenshot", "--measurements", folder / "ten.csv", "--out",
        folder / "board.tenshot")
    run("report", folder / "board.tenshot", "--explain", folder / "models" / f"{names[-1]}.onnx", "--out",
        folder / "board.html")


def plain_page(folder):
    """A predictor without intervals."""
    run("report", SOURCE / "tests" / "fixtures" / "1" / "flops-device.tenshot", "--out", folder / "plain.html")


def experiment_page(folder):
    spec = {"format": "tenshot.experiment/1", "name": "looked at", "description": "A small comparison.",
            "data": {"pool": str(SOURCE / "datasets" / "data")}, "split": {"train": "0:60", "test": "60:200"},
            "targets": ["libtorch-eager_t1_b1", "libtorch-optimized_t1_b1", "libtorch-int8_t1_b1"], "pools": ["others"],
            "samplers": ["random"], "samples": [5, 10], "methods": ["structured", "look-up", "flops"], "trials": 2}
    (folder / "spec.json").write_text(json.dumps(spec))
    run("experiment", folder / "spec.json", "--out", folder / "experiment")
    run("report", folder / "experiment", "--out", folder / "experiment.html")


PAGES = {"device": device_page, "board": board_page, "plain": plain_page, "experiment": experiment_page}


class ReportInABrowser(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        for make in PAGES.values():
            make(cls.folder)
        cls.browser = cls.enterClassContext(chromium.browser())

    def look_at(self, page, width, dark):
        self.browser.requests()
        self.browser.open(self.folder / f"{page}.html", width, dark)
        if SHOTS:
            name = f"{page}-{width}-{'dark' if dark else 'light'}.png"
            (SHOTS / name).write_bytes(base64.b64decode(self.browser.screenshot()))
        self.assertEqual(self.browser.messages(), [])
        asked = [url for url in self.browser.requests() if not url.startswith("data:")]
        self.assertEqual(asked, [f"file://{self.folder}/{page}.html"])
        self.assertEqual(self.browser.run("return innerWidth"), width)
        self.assertLessEqual(self.browser.run("return document.documentElement.scrollWidth"), width)
        self.assertEqual(self.browser.run(WIDE_ELEMENTS), [])
        self.assertEqual(self.browser.run(BAD_TEXTS), [])
        self.assertEqual(self.browser.run(FAINT_TEXTS), [])

    def test_pages_are_quiet_and_fit_their_window(self):
        for page in PAGES:
            for width in WIDTHS:
                for dark in (False, True):
                    with self.subTest(page=page, width=width, dark=dark):
                        self.look_at(page, width, dark)

    def test_dark_pages_are_dark(self):
        backgrounds = []
        for dark in (False, True):
            self.browser.open(self.folder / "device.html", 900, dark)
            backgrounds.append(self.browser.run("return getComputedStyle(document.body).backgroundColor"))
        shades = [sum(map(int, text[4:-1].split(","))) for text in backgrounds]
        self.assertGreater(shades[0], 600)
        self.assertLess(shades[1], 150)

    def test_wide_windows_are_used(self):
        """Cards stand in more than one column where there is room, and together they fill it."""
        columns = "return new Set([...document.querySelectorAll('.card')].map(c => c.getBoundingClientRect().left)).size"
        reach = "return Math.max(...[...document.querySelectorAll('.card')].map(c => c.getBoundingClientRect().right))"
        for width, expected in zip(WIDTHS, (1, 2, 3)):
            self.browser.open(self.folder / "device.html", width)
            self.assertEqual(self.browser.run(columns), expected)
            visible = self.browser.run("return document.documentElement.clientWidth")  # without the scroll bar
            self.assertGreater(self.browser.run(reach), 0.94 * visible)

    def test_what_is_under_the_pointer_says_its_values(self):
        self.browser.open(self.folder / "device.html", 900)
        hint = self.browser.run("""
          const point = document.querySelector('svg circle'), box = point.getBoundingClientRect();
          scrollTo(0, box.top - 100);
          const now = point.getBoundingClientRect();
          const found = document.elementFromPoint(now.left + now.width / 2, now.top + now.height / 2);
          return found.querySelector('title').textContent;""")
        self.assertRegex(hint, r"^\|.*\|\nmeasured [\d.]+ ms, predicted [\d.]+ ms \([+-][\d.]+ %\)$")

    def test_warnings_reach_the_page(self):
        self.browser.open(self.folder / "board.html", 900)
        self.assertIn("whole numbers of ms", self.browser.run("return document.querySelector('.warnings').textContent"))
        self.assertIn("Doubtful", self.browser.run("return document.querySelector('.verdict').textContent"))

    def test_an_explained_predictions_bars_add_up_to_it(self):
        self.browser.open(self.folder / "board.html", 900)
        card = "[...document.querySelectorAll('.card')].find(c => c.querySelector('h2').textContent.startsWith('Where'))"
        total = float(self.browser.run(f"return {card}.querySelector('p').textContent").split()[0])
        hints = self.browser.run(f"return [...{card}.querySelectorAll('svg rect title')].map(t => t.textContent)")
        parts = [float(hint.splitlines()[1].split()[0]) for hint in hints]
        self.assertGreater(len(parts), 3)
        self.assertAlmostEqual(sum(parts) / total, 1, delta=0.02)


if __name__ == "__main__":
    if chromium.missing():
        print(f"skipped: {chromium.missing()}")
        sys.exit(77)
    unittest.main(argv=sys.argv[:1], verbosity=2)
