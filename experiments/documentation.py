#!/usr/bin/env python3
"""The documentation as a site that opens from disk: /usr/bin/python3 experiments/documentation.py [--out out/site]

Every committed Markdown page becomes an HTML page, as GitHub shows it, and so does a notebook with its outputs. What pages
link to is copied beside them. index.html lists all pages and searches them. Nothing asks the network. Needs Debian's
python3-markdown-it.
"""
import argparse
import html
import json
import os
import pathlib
import re
import shutil
import sys

try:
    from markdown_it import MarkdownIt
except ImportError:
    sys.exit("markdown_it not found; apt install python3-markdown-it, and run with /usr/bin/python3")

ROOT = pathlib.Path(__file__).resolve().parent.parent
FOLDERS = ["checkpoints", "datasets", "descriptor", "experiments", "nasbench", "sampling", "tests", "trainer"]
SHOWN_AS_THEY_ARE = {".svg", ".png"}
MARKDOWN = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])

STYLE = """
:root { color-scheme: light dark; --paper: #f7f8fa; --card: #fff; --ink: #1c1e21; --soft: #555b63; --line: #dfe2e6; --link: #0b57a4; }
@media (prefers-color-scheme: dark) { :root { --paper: #101318; --card: #191d23; --ink: #e8eaed; --soft: #a6adb6;
  --line: #363c44; --link: #7dbcf2; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--ink); font: 1rem/1.55 system-ui, sans-serif; }
header, main { max-width: 62rem; margin: 0 auto; padding: .7rem 1rem; overflow-wrap: anywhere; }
header { display: flex; flex-wrap: wrap; gap: .5rem 1rem; align-items: center; justify-content: space-between; }
a { color: var(--link); }
h1, h2, h3, h4 { line-height: 1.25; margin: 1.5em 0 .5em; } h1 { margin-top: .3em; }
h2 { border-top: 1px solid var(--line); padding-top: .6em; }
img, svg { max-width: 100%; height: auto; } svg { background: #fff; }
pre, code { font: .88em/1.45 ui-monospace, monospace; }
code { background: var(--card); border-radius: .25rem; padding: .05em .25em; }
pre { background: var(--card); border: 1px solid var(--line); border-radius: .4rem; padding: .7rem; overflow-x: auto; }
pre code { padding: 0; background: none; }
.scrolled { overflow-x: auto; margin: 1em 0; }
table { border-collapse: collapse; font-size: .92em; overflow-wrap: normal; }
th, td { border: 1px solid var(--line); padding: .3rem .5rem; text-align: left; vertical-align: top; }
input { font: inherit; color: inherit; background: var(--card); border: 1px solid var(--soft); border-radius: .4rem;
  padding: .35rem .6rem; width: min(100%, 22rem); }
.pages { list-style: none; padding: 0; } .pages li { margin: .55rem 0; } .pages span, .where { color: var(--soft); display: block; }
"""

SEARCH = """
const found = document.getElementById('found'), field = document.getElementById('query'), pages = document.getElementById('pages');
function search() {
  const words = field.value.toLowerCase().split(/\\s+/).filter(w => w);
  pages.hidden = words.length > 0;
  found.replaceChildren();
  if (!words.length) return;
  const rank = ([, title, heading, , text]) => words.reduce((sum, w) => sum + 4 * heading.toLowerCase().includes(w) +
    2 * title.toLowerCase().includes(w) + Math.min(3, text.toLowerCase().split(w).length - 1), 0);
  const hits = SECTIONS.filter(s => words.every(w => (s[1] + ' ' + s[2] + ' ' + s[4]).toLowerCase().includes(w)))
    .map(s => [rank(s), s]).sort((a, b) => b[0] - a[0]).slice(0, 30);
  for (const [, [page, title, heading, anchor, text]] of hits) {
    const at = Math.max(0, text.toLowerCase().indexOf(words[0]) - 60);
    const item = document.createElement('li'), link = document.createElement('a'), said = document.createElement('span');
    link.href = page + (anchor ? '#' + anchor : '');
    link.textContent = heading === title ? title : title + ': ' + heading;
    said.textContent = (at > 0 ? '… ' : '') + text.slice(at, at + 200);
    item.append(link, said);
    found.append(item);
  }
  if (!hits.length) found.textContent = 'No page has all of these words.';
}
field.addEventListener('input', search);
field.value = new URLSearchParams(location.search).get('q') || '';
search();
"""


def shell(title, body, up):
    """A page; `up` leads to the site's folder."""
    return (f'<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<meta name="viewport" content="width=device-width">\n'
            f'<title>{html.escape(title)}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<header><a href="{up}index.html">tenshot: all '
            f'pages</a><form action="{up}index.html"><input name="q" type="search" placeholder="Search" aria-label="Search"></form>'
            f'</header>\n<main>\n{body}\n</main>\n</body>\n</html>\n')


def pages():
    """What has a title and is no piece of a page of results."""
    found = [path for folder in FOLDERS for kind in ("*.md", "*.ipynb") for path in (ROOT / folder).rglob(kind)]
    found += ROOT.glob("*.md")
    return sorted(path.relative_to(ROOT) for path in found
                  if path.name != "text.md" and re.search(r'^\s*"?# ', path.read_text(), re.M))


def anchor_of(heading, used):
    """As GitHub names it."""
    name = re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
    used[name] = used.get(name, -1) + 1
    return name if used[name] == 0 else f"{name}-{used[name]}"


def plain(tokens):
    return "".join(token.content if token.type in ("text", "code_inline") else " " if token.type == "softbreak" else ""
                   for token in tokens)


class Site:
    def __init__(self, out):
        self.out, self.all, self.sections, self.first = out, pages(), [], {}

    def address_of(self, target, page):
        """Where a link of a page leads on the site; what is no page is copied there."""
        if re.match(r"[a-z]+:", target) or target.startswith("#"):
            return target
        path, _, anchor = target.partition("#")
        named = pathlib.Path(os.path.normpath(page.parent / path))
        if (ROOT / named).is_dir():
            named = named / "README.md"
        if named in self.all:
            address = named.with_suffix(".html")
        else:
            address = named if named.suffix in SHOWN_AS_THEY_ARE else named.with_name(named.name + ".txt")
            if named.suffix == ".gz":
                address = named
            (self.out / address).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / named, self.out / address)
        return os.path.relpath(address, page.parent) + (f"#{anchor}" if anchor else "")

    def render(self, text, page, used):
        """The HTML of a page's Markdown, whose sections go into the index."""
        tokens = MARKDOWN.parse(text)
        for i, token in enumerate(tokens):
            if token.type == "heading_open":
                heading = plain(tokens[i + 1].children)
                token.attrSet("id", anchor_of(heading, used))
                self.first.setdefault(page, [heading, ""])
                self.sections.append([str(page.with_suffix(".html")), self.first[page][0], heading, token.attrs["id"], ""])
            elif token.type in ("inline", "fence"):
                said = plain(token.children) if token.type == "inline" else token.content
                if self.sections and self.sections[-1][0] == str(page.with_suffix(".html")) and tokens[i - 1].type != "heading_open":
                    self.sections[-1][4] += " ".join(said.split()) + " "
                    if token.type == "inline" and not self.first[page][1]:
                        self.first[page][1] = re.split(r"(?<=[.:])\s", said)[0]
            for child in token.children or []:
                for name in ("href", "src"):
                    if name in child.attrs:
                        child.attrSet(name, self.address_of(child.attrs[name], page))
        body = MARKDOWN.renderer.render(tokens, MARKDOWN.options, {})
        return body.replace("<table>", '<div class="scrolled"><table>').replace("</table>", "</table></div>")

    def notebook(self, text, page):
        body, used = "", {}
        for cell in json.loads(text)["cells"]:
            source = "".join(cell["source"])
            if cell["cell_type"] == "markdown":
                body += self.render(source, page, used)
                continue
            body += f"<pre><code>{html.escape(source)}</code></pre>\n"
            for output in cell.get("outputs", []):
                data = output.get("data", {})
                if "image/svg+xml" in data:
                    body += re.sub(r"^.*?(?=<svg)", "", "".join(data["image/svg+xml"]), flags=re.S)
                else:
                    body += f"<pre>{html.escape(''.join(output.get('text', data.get('text/plain', ''))))}</pre>\n"
        return body

    def write(self):
        for page in self.all:
            text = (ROOT / page).read_text()
            body = self.notebook(text, page) if page.suffix == ".ipynb" else self.render(text, page, {})
            target = self.out / page.with_suffix(".html")
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(shell(self.first[page][0], body, "../" * len(page.parent.parts)))
        listed = ""
        for folder in ["", *FOLDERS]:
            items = ""
            for page in sorted(self.all, key=lambda page: (len(page.parts), page.name != "README.md", page)):
                if (page.parts[0] if len(page.parts) > 1 else "") == folder:
                    title, said = self.first[page]
                    items += (f'<li><a href="{page.with_suffix(".html")}">{html.escape(title)}</a>'
                              f"<span>{html.escape(said[:200])}</span></li>\n")
            listed += f"<h2>{folder or 'Start here'}</h2>\n<ul class=\"pages\">\n{items}</ul>\n" if items else ""
        sections = json.dumps(self.sections, ensure_ascii=False, separators=(",", ":")).replace("</", "<\\/")
        body = (f'<h1>tenshot</h1>\n<p><input id="query" type="search" placeholder="Search all pages" aria-label="Search all pages"></p>\n'
                f'<ul id="found" class="pages"></ul>\n<div id="pages">\n{listed}</div>\n'
                f"<script>\nconst SECTIONS = {sections};\n{SEARCH}</script>")
        (self.out / "index.html").write_text(shell("tenshot: all pages", body, ""))
        print(f"{self.out}/index.html: {len(self.all)} pages, {len(self.sections)} sections to search")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("out/site"))
    Site(parser.parse_args().out).write()
