"""The pages of `tenshot report` in Chromium, at three widths, light and dark:
/usr/bin/python3 report_test.py PROGRAM SOURCE_FOLDER [FOLDER_FOR_SCREENSHOTS]

A page says nothing on the console, asks for no address, is no wider than its window, no text of a picture covers another
or leaves its picture, everything can be read against what is behind it, a legend names the lines that are drawn, and what
scrolls shows where there is more. Without Chromium the test says so and exits
with 77, which ctest counts as skipped."""
import base64
import csv
import json
import os
import pathlib
import shlex
import subprocess
import sys
import tempfile
import unittest

import chromium
from chromium import FAINT_TEXTS, WIDE_ELEMENTS

PROGRAM, SOURCE = sys.argv[1], pathlib.Path(sys.argv[2]).resolve()
SHOTS = pathlib.Path(sys.argv[3]) if len(sys.argv) > 3 else None
WIDTHS = (400, 1200, 1600)
LATENCIES = SOURCE / "datasets" / "data" / "libtorch-eager_t1_b1" / "latencies.csv"

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

# Lines of a picture whose colour its legend does not have, and colours of a legend that nothing is drawn in.
UNNAMED_LINES = """
const bad = [];
for (const svg of document.querySelectorAll('svg')) {
  const swatches = [...svg.querySelectorAll('rect[width="14"][height="10"]')];
  const named = swatches.map(s => s.getAttribute('fill'));
  const drawn = [...svg.querySelectorAll('polyline, circle, path, line, polygon, rect')].filter(e => !swatches.includes(e));
  for (const line of svg.querySelectorAll('polyline')) {
    if (!named.includes(line.getAttribute('stroke'))) bad.push('not in the legend: ' + line.getAttribute('stroke'));
  }
  for (const colour of named) {
    const uses = e => e.getAttribute('fill') === colour || e.getAttribute('stroke') === colour;
    if (!drawn.some(uses)) bad.push('not drawn: ' + colour);
  }
}
return bad;"""

# What is wider than its card and scrolls there: the indices of those among all that may.
SCROLLING = """
return [...document.querySelectorAll('.scrolled, .broad')].map((e, i) => e.scrollWidth > e.clientWidth + 1 ? i : -1)
  .filter(i => i >= 0);"""


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


def kit_page(folder):
    """A predictor from a kit that measure.sh measured on a board of stand-ins, and further measurements half of which
    are two thirds too long: the verdict does not hold on them."""
    with open(LATENCIES, newline="") as file:
        rows = list(csv.DictReader(file))
    run("plan", "--checkpoint", SOURCE / "checkpoints" / "pool.tenshot", "--samples", "10", "--candidates", LATENCIES, "--kit",
        folder / "kit", "--out", folder / "kit.csv")
    latency_ms = {row["architecture"]: float(row["latency_ms"]) for row in rows}
    for model in json.loads((folder / "kit" / "manifest.json").read_text())["models"]:
        time_ms = latency_ms.get(model.get("architecture"), 0.1)
        times = "".join(f"{time_ms * (1 + 0.001 * run)}\n" for run in range(5))
        (folder / "kit" / "models" / f"{model['id']}.times").write_text(times)
    cpu = folder / "sys" / "devices" / "system" / "cpu" / "cpu0" / "cpufreq"
    cpu.mkdir(parents=True)
    for name in ("cur", "min", "max"):
        (cpu / f"scaling_{name}_freq").write_text("1510400\n")
    board = dict(os.environ, PATH=f"{SOURCE / 'tests' / 'kit' / 'board'}:{os.environ['PATH']}", TENSHOT_SYS=str(folder / "sys"))
    subprocess.run(["sh", folder / "kit" / "measure.sh", "--command", ": {model} {runs}; cat {stem}.times", "--no-perf",
                    "--no-quantities"], check=True, env=board, capture_output=True)
    run("adapt", "--checkpoint", SOURCE / "checkpoints" / "pool.tenshot", "--measurements", folder / "kit", "--out",
        folder / "kit.tenshot")
    with open(folder / "wrong.csv", "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["architecture", "latency_ms"])
        writer.writerows([row["architecture"], float(row["latency_ms"]) * (1 + i % 2 * 2 / 3)] for i, row in enumerate(rows[:200]))
    run("report", folder / "kit.tenshot", "--measurements", folder / "wrong.csv", "--out", folder / "kit.html")


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


PAGES = {"device": device_page, "board": board_page, "kit": kit_page, "plain": plain_page, "experiment": experiment_page}


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
        self.assertEqual(self.browser.run(UNNAMED_LINES), [])

    def test_pages_are_quiet_and_fit_their_window(self):
        for page in PAGES:
            for width in WIDTHS:
                for dark in (False, True):
                    with self.subTest(page=page, width=width, dark=dark):
                        self.look_at(page, width, dark)

    def edges(self, index):
        """Pictures of both edges of what scrolls, as far as its shadows reach, with the shadows and without them."""
        box = self.browser.run(f"""
          const box = document.querySelectorAll('.scrolled, .broad')[{index}].getBoundingClientRect();
          return {{left: box.left + scrollX, right: box.right + scrollX, top: box.top + scrollY, height: box.height}};""")
        pictures = []
        for cue in ("", "transparent"):
            self.browser.run(f"document.documentElement.style.setProperty('--cue', '{cue}')")
            pictures.append([self.browser.picture(x, box["top"], 16, box["height"]) for x in (box["left"], box["right"] - 16)])
        self.browser.run("document.documentElement.style.removeProperty('--cue')")
        return pictures

    def test_what_scrolls_shows_where_there_is_more(self):
        for page, dark in (("board", False), ("experiment", True)):
            self.browser.open(self.folder / f"{page}.html", 400, dark)
            self.browser.run("""
              document.documentElement.style.scrollbarWidth = 'none';  // a picture beyond the window has none
              document.querySelectorAll('details').forEach(d => d.open = true);""")
            scrolling = self.browser.run(SCROLLING)
            self.assertNotEqual(scrolling, [])
            for index in scrolling:
                with self.subTest(page=page, index=index):
                    seen, without = self.edges(index)
                    self.assertEqual(seen[0], without[0])  # nothing is left of the beginning
                    self.assertNotEqual(seen[1], without[1])
                    self.browser.run(f"document.querySelectorAll('.scrolled, .broad')[{index}].scrollLeft = 1e6")
                    seen, without = self.edges(index)
                    self.assertNotEqual(seen[0], without[0])
                    self.assertEqual(seen[1], without[1])  # nor right of the end

    def test_a_click_selects_a_command_and_the_command_makes_the_page(self):
        self.browser.open(self.folder / "kit.html", 1200)
        before = (self.folder / "kit.html").read_bytes()
        place = self.browser.run("""
          const command = [...document.querySelectorAll('pre')].find(p => p.textContent.startsWith('tenshot report'));
          command.scrollIntoView();
          const box = command.getBoundingClientRect();
          return {x: box.left + 20, y: box.top + 15};""")
        for kind in ("mousePressed", "mouseReleased"):
            self.browser.command("Input.dispatchMouseEvent", type=kind, button="left", clickCount=1, **place)
        command = self.browser.run("return getSelection().toString()").strip()
        self.assertEqual(shlex.split(command)[:2], ["tenshot", "report"])
        (self.folder / "kit.html").unlink()
        path = dict(os.environ, PATH=f"{pathlib.Path(PROGRAM).resolve().parent}:{os.environ['PATH']}")
        subprocess.run(["sh", "-c", command], check=True, env=path)
        self.assertEqual((self.folder / "kit.html").read_bytes(), before)

    def test_a_kits_page_says_how_it_was_measured(self):
        self.browser.open(self.folder / "kit.html", 400)
        facts = self.browser.run("return [...document.querySelectorAll('.facts div')].map(d => d.innerText.split('\\n'))")
        facts = {fact[0]: " ".join(fact[1:]) for fact in facts}
        self.assertEqual(facts["power mode"], "MAXN")
        self.assertEqual(facts["clocks"], "CPU at 1510 of 1510 MHz")
        self.assertEqual(facts["precision"], "fp32, threads: 1, batch: 1")
        self.assertTrue(facts["runtime"].startswith("custom, "), facts)
        self.assertRegex(facts["date"], r"^20\d\d-\d\d-\d\d \d\d:\d\d UTC$")
        self.assertIn("board", facts)

    def test_a_promise_that_measurements_contradict_is_said_first(self):
        verdict = "return document.querySelector('.verdict').innerText"
        self.browser.open(self.folder / "kit.html", 400)
        self.assertRegex(self.browser.run(verdict), r"^Contradicted by measurements: nine of ten .* within ±[\d.]+ %")
        self.assertRegex(self.browser.run(verdict), r"Checked on \d+ networks that it was not adapted on: [45]\d\.\d % of")
        self.browser.open(self.folder / "device.html", 400)
        self.assertRegex(self.browser.run(verdict), r"^Good: .*\n\s*Checked on 990 networks .*: 9\d\.\d % .* within ±10 %")

    def listed(self, caption):
        """The names below a caption that begins so."""
        return self.browser.run(f"""
          const caption = [...document.querySelectorAll('.caption')].find(c => c.textContent.startsWith('{caption}'));
          return [...caption.nextElementSibling.querySelectorAll('li > span:first-child')].map(s => s.textContent);""")

    def test_lists_are_of_useful_networks_and_of_the_users_own(self):
        self.browser.open(self.folder / "device.html", 1200)
        for caption in ("The fastest with a convolution", "The nearest within 5 ms"):
            names = self.listed(caption)
            self.assertEqual(len(names), 5)
            self.assertTrue(all("conv" in name for name in names), names)
        self.assertEqual(len(self.listed("The most accurate within 5 ms")), 1)
        with open(self.folder / "ten.csv", newline="") as file:
            own = {row["network"] for row in csv.DictReader(file)}
        self.browser.open(self.folder / "board.html", 1200)
        names = self.listed("The fastest")
        self.assertEqual(len(names), 5)
        self.assertLessEqual(set(names), own)

    def test_a_cost_below_zero_is_explained(self):
        self.browser.open(self.folder / "device.html", 1200)
        card = "[...document.querySelectorAll('.card')].find(c => c.querySelector('h2').textContent === 'What operators cost')"
        hints = self.browser.run(f"return [...{card}.querySelectorAll('title')].map(t => t.textContent)")
        self.assertEqual(any(": -" in hint for hint in hints),
                         "below zero is drawn at zero" in self.browser.run(f"return {card}.textContent"))

    def test_dark_pages_are_dark(self):
        backgrounds = []
        for dark in (False, True):
            self.browser.open(self.folder / "device.html", 1200, dark)
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
        self.browser.open(self.folder / "device.html", 1200)
        hint = self.browser.run("""
          const point = document.querySelector('svg circle'), box = point.getBoundingClientRect();
          scrollTo(0, box.top - 100);
          const now = point.getBoundingClientRect();
          const found = document.elementFromPoint(now.left + now.width / 2, now.top + now.height / 2);
          return found.querySelector('title').textContent;""")
        self.assertRegex(hint, r"^\|.*\|\nmeasured [\d.]+ ms, predicted [\d.]+ ms \([+-][\d.]+ %\)$")

    def test_warnings_reach_the_page(self):
        self.browser.open(self.folder / "board.html", 1200)
        self.assertIn("whole numbers of ms", self.browser.run("return document.querySelector('.warnings').textContent"))
        self.assertIn("Doubtful", self.browser.run("return document.querySelector('.verdict').textContent"))

    def test_an_explained_predictions_bars_add_up_to_it(self):
        self.browser.open(self.folder / "board.html", 1200)
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
