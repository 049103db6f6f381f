"""The documentation as a site (experiments/documentation.py) in Chromium, opened from disk:
/usr/bin/python3 documentation_test.py SOURCE_FOLDER [FOLDER_FOR_SCREENSHOTS]

Every page is no wider than its window at 400 and 1,200 px, says nothing on the console and asks for no address of the
network; every link leads to a page and a heading of it, or to a file; a search finds a page by its words; all is read
against what is behind it, in dark too. Without Chromium or markdown-it the test says so and exits with 77, which ctest
counts as skipped."""
import base64
import importlib.util
import pathlib
import subprocess
import sys
import tempfile
import unittest
import urllib.parse

import chromium
from chromium import FAINT_TEXTS, WIDE_ELEMENTS

SOURCE = pathlib.Path(sys.argv[1]).resolve()
SHOTS = pathlib.Path(sys.argv[2]) if len(sys.argv) > 2 else None
LINKS_AND_ANCHORS = """return [[...document.querySelectorAll('a[href], img[src]')].map(e => e.href || e.src),
                               [...document.querySelectorAll('[id]')].map(e => e.id)];"""


class DocumentationTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        subprocess.run([sys.executable, SOURCE / "experiments/documentation.py", "--out", cls.folder], check=True)
        cls.pages = sorted(cls.folder.rglob("*.html"))
        cls.browser = cls.enterClassContext(chromium.browser())

    def test_pages_fit_their_window_are_readable_ask_for_nothing_and_their_links_lead_somewhere(self):
        links, anchors = {}, {}
        for page in self.pages:
            for width, dark in ((400, True), (1200, False)):
                with self.subTest(page=str(page.relative_to(self.folder)), width=width):
                    self.browser.open(page, width, dark)
                    self.assertEqual(self.browser.run(WIDE_ELEMENTS), [])
                    self.assertEqual(self.browser.run(FAINT_TEXTS), [])
                    self.assertEqual(self.browser.messages(), [])
                    self.assertEqual([url for url in self.browser.requests() if not url.startswith(("file:", "data:"))], [])
                    if SHOTS:
                        name = "-".join(page.relative_to(self.folder).with_suffix("").parts)
                        (SHOTS / f"{name}-{width}.png").write_bytes(base64.b64decode(self.browser.screenshot()))
            found, anchors[page] = self.browser.run(LINKS_AND_ANCHORS)
            links.update((link, page) for link in found if link.startswith("file:"))
        for link, page in links.items():
            path, _, anchor = urllib.parse.unquote(link.removeprefix("file://")).partition("#")
            self.assertTrue(pathlib.Path(path).is_file(), f"{page}: {link}")
            if anchor:
                self.assertIn(anchor, anchors[pathlib.Path(path)], f"{page}: {link}")
        self.assertGreater(len(self.pages), 80)
        self.assertGreater(len(links), 150)

    def test_all_pages_are_listed_and_found_by_their_words(self):
        index = self.folder / "index.html"
        self.browser.open(index, 1200)
        listed = self.browser.run("return [...document.querySelectorAll('#pages a')].map(a => a.href);")
        self.assertEqual(len(listed), len(self.pages) - 1)
        search = """
          const field = document.getElementById('query');
          field.value = arguments[0]; field.dispatchEvent(new Event('input'));
          return [...document.querySelectorAll('#found a')].map(a => a.getAttribute('href'));"""
        self.assertIn("trainer/README.html#exporting", self.browser.run(search.replace("arguments[0]", "'torchscript strings'")))
        self.assertEqual(self.browser.run(search.replace("arguments[0]", "'no-such-word-here'")), [])
        self.browser.open(f"{index}?q=fleet%20boards", 400)
        self.assertGreater(len(self.browser.run("return [...document.querySelectorAll('#found a')].map(a => a.href);")), 2)


if __name__ == "__main__":
    absent = chromium.missing()
    if not importlib.util.find_spec("markdown_it"):
        absent = "markdown_it not found; apt install python3-markdown-it"
    if absent:
        print(f"skipped: {absent}")
        sys.exit(77)
    unittest.main(argv=sys.argv[:1], verbosity=2)
