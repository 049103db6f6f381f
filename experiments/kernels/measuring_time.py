#!/usr/bin/env python3
"""Which networks are learned from and which are predicted, and what came of it as a page and a picture.

    python3 measuring_time.py split FAMILIES.csv        network,role on standard output
    python3 measuring_time.py page FOLDER DATA          its README.md and accuracy-against-time.svg, of its *.csv
"""
import csv
import math
import statistics
import sys
from collections import defaultdict
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "networks"))
from own_networks import hashed, order  # noqa: E402

# What has attention or channels last: kernels without a convolution, for which no paper here has a predictor.
LEFT_OUT = {"vit", "mixer", "convnext"}
PRECISE = 0.1  # standard error of a layer inside of its network, over its cost, at which it is compared


def split(families_csv):
    with open(families_csv, newline="") as file:
        families = [(row["network"], row["family"]) for row in csv.DictReader(file) if row["family"] not in LEFT_OUT]
    train, test = order(families, "1")
    print("network,role")
    for role, networks in (("train", train), ("test", test)):
        # Families mixed, so that the kernels of the first few networks are of several.
        for network in sorted(networks, key=lambda name: hashed("1", name)):
            print(f"{network},{role}")


COLOURS = {"operators": "#0b6e4f", "operators + kernels": "#7a3db8", "nn-Meter": "#c8102e", "nn-Meter, one factor": "#ff7a8a", "Li, lasso": "#e08b00",
           "Li, forest": "#b8860b", "Li, boosting": "#8c6d1f", "Li, perceptron": "#5f5a2c", "MONNET": "#1f6fb2",
           "flops": "#777777", "lasso": "#333333"}
WIDTH, HEIGHT, LEFT, TOP, PLOT = 1080, 400, 60, 40, 300
LEAST_SECONDS, MOST_SECONDS = 1.0, 1000.0


def place(seconds, accuracy, panel):
    share = math.log(max(seconds, LEAST_SECONDS) / LEAST_SECONDS) / math.log(MOST_SECONDS / LEAST_SECONDS)
    return LEFT + panel * (PLOT + 45) + share * PLOT, TOP + (1 - accuracy) * PLOT


def picture(rows):
    """One panel for each runtime: seconds (x, logarithmic; nothing measured stands at one) and share within ±10 % (y)."""
    runtimes = sorted({row["runtime"] for row in rows})
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT + 60}" font-family="sans-serif" '
             'font-size="11"><title>Accuracy against measuring time</title>'
             f'<rect width="{WIDTH}" height="{HEIGHT + 60}" fill="white"/>']
    for panel, runtime in enumerate(runtimes):
        left, top = place(LEAST_SECONDS, 1, panel)
        parts.append(f'<text x="{left}" y="{top - 12}" font-size="13">{runtime}</text>')
        for accuracy in (0, 0.25, 0.5, 0.75, 1):
            _, y = place(LEAST_SECONDS, accuracy, panel)
            parts.append(f'<path d="M{left} {y:.1f}h{PLOT}" stroke="#ddd"/>'
                         f'<text x="{left - 4}" y="{y + 4:.1f}" text-anchor="end">{100 * accuracy:.0f}</text>')
        for seconds in (1, 10, 100, 1000):
            x, _ = place(seconds, 0, panel)
            parts.append(f'<path d="M{x:.1f} {top}v{PLOT}" stroke="#ddd"/>'
                         f'<text x="{x:.1f}" y="{top + PLOT + 16}" text-anchor="middle">{seconds} s</text>')
        for method, colour in COLOURS.items():
            mine = [row for row in rows if row["runtime"] == runtime and row["method"] == method]
            points = [(*place(float(r["seconds"]), float(r["acc10"]), panel), r) for r in front(mine)]
            line = " ".join(f"{x:.1f},{y:.1f}" for x, y, _ in points)
            parts.append(f'<polyline points="{line}" fill="none" stroke="{colour}" stroke-width="1.5"/>')
            for x, y, row in points:
                hint = f'{method}, {row["budget"]}: {float(row["seconds"]):.1f} s, {100 * float(row["acc10"]):.0f} %'
                parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{colour}"><title>{hint}</title></circle>')
    for i, (method, colour) in enumerate(COLOURS.items()):
        x, y = LEFT + (i % 5) * 190, TOP + PLOT + 45 + 20 * (i // 5)
        parts.append(f'<rect x="{x}" y="{y}" width="12" height="12" fill="{colour}"/><text x="{x + 18}" y="{y + 10}">'
                     f'{method}</text>')
    parts.append(f'<text x="{LEFT}" y="{HEIGHT + 50}">Seconds of the device that measuring took (logarithmic), and the '
                 'share of unseen networks predicted within ±10 %</text></svg>')
    return "\n".join(parts) + "\n"


def front(rows):
    """In the order of their cost. Of the combination, which has two budgets, what no cheaper one beats."""
    rows = sorted(rows, key=lambda row: float(row["seconds"]))
    if not rows or rows[0]["method"] != "operators + kernels":
        return rows
    kept, best = [], -1.0
    for row in rows:
        if float(row["acc10"]) > best:
            best = float(row["acc10"])
            kept.append(row)
    return kept


def isolation_table(data):
    """MONNET's Table 1: layers isolated in three modes against one more of the layer inside of its network."""
    lines = ["| runtime | layers | mode 0: over inside, median error | mode 1 | mode 2 |", "|---|---|---|---|---|"]
    for path in sorted(data.glob("*/isolation.csv")):
        layers = defaultdict(dict)
        with open(path, newline="") as file:
            for row in csv.DictReader(file):
                layers[(row["network"], row["layer"])][row["way"]] = row
        cells, used = [], 0
        for way in ("mode 0", "mode 1", "mode 2"):
            ratios = []
            for found in layers.values():
                inside = float(found["inside"]["latency_ms"])
                error = float(found["inside"]["deviation_ms"]) / math.sqrt(float(found["inside"]["rounds"]))
                if error < PRECISE * inside:
                    ratios.append(float(found[way]["latency_ms"]) / inside)
            used = len(ratios)
            errors = [abs(ratio - 1) for ratio in ratios]
            cells.append("–" if not ratios else
                         f"{statistics.median(ratios):.2f}, {100 * statistics.median(errors):.0f} %")
        lines.append(f"| {path.parent.name} | {used} of {len(layers)} | " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def monnet_table(rows):
    """MONNET's Figure 4: errors on single layers and on whole networks, by how fine the grid is."""
    lines = ["| runtime | grid | points | layers: median error | RMSPE | networks: median error | RMSPE |",
             "|---|---|---|---|---|---|---|"]
    by_key = {(row["runtime"], row["budget"], row["method"]): row for row in rows}
    for (runtime, budget, method), networks in by_key.items():
        if method != "MONNET":
            continue
        layers = by_key[(runtime, budget, "MONNET, single layers")]
        cells = [f'{100 * float(row[key]):.1f} %' for row in (layers, networks) for key in ("median_error", "rmspe")]
        lines.append(f'| {runtime} | {budget} | {networks["kernels"]} | ' + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def page(results, data):
    out = results
    rows = []
    for path in sorted(results.glob("*.csv")):
        with open(path, newline="") as file:
            rows += list(csv.DictReader(file))
    runtimes = sorted({row["runtime"] for row in rows})
    text = (Path(__file__).parent / "measuring_time/text.md").read_text()
    text += "\n| method | budget | " + " | ".join(f"{r}: s, ±10 %, median error" for r in runtimes) + " |\n"
    text += "|---|---|" + "---|" * len(runtimes) + "\n"
    by_key = defaultdict(dict)
    for row in rows:
        by_key[(row["method"], row["budget"])][row["runtime"]] = row
    for (method, budget), found in by_key.items():
        if method == "MONNET, single layers":
            continue
        cells = []
        for runtime in runtimes:
            row = found.get(runtime)
            if row is None:
                cells.append("–")
                continue
            error = f', {100 * float(row["median_error"]):.1f} %' if row["median_error"] else ""
            cells.append(f'{float(row["seconds"]):.1f} s, **{100 * float(row["acc10"]):.0f}**{error}')
        text += f"| {method} | {budget} | " + " | ".join(cells) + " |\n"
    text += ("\n## MONNET's errors (Fig. 4)\n\nSingle layers are the convolutions of the networks to learn from, each measured "
             "alone; no grid was given them. Whole networks are those of the table above, with their one factor.\n\n"
             + monnet_table(rows))
    text += ("\n## Layers isolated (MONNET, Table 1)\n\nConvolutions whose output is shaped as their input: alone (mode 0), "
             "behind a feeding convolution (mode 1), between a feeding and a consuming one (mode 2), over what one more of "
             "the layer costs inside of its network (four copies). Layers whose cost inside has a standard error of 10 % or "
             "more are left out.\n\n" + isolation_table(data))
    (out / "README.md").write_text(text)
    (out / "accuracy-against-time.svg").write_text(picture(rows))


if __name__ == "__main__":
    if sys.argv[1] == "split":
        split(sys.argv[2])
    else:
        page(Path(sys.argv[2]), Path(sys.argv[3]))
