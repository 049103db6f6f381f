#!/usr/bin/env python3
"""Which networks are learned from and which are predicted, and what came of it as a page and a picture.

    python3 measuring_time.py split FAMILIES.csv        network,role on standard output
    python3 measuring_time.py plan TENSHOT WORK FOLDER  FOLDER/planned.csv: which seconds the networks take that
                                                        profiled_networks.sh measures, by the checkpoints in its WORK
    python3 measuring_time.py page FOLDER DATA          its README.md and accuracy-against-time.svg, of its *.csv
"""
import csv
import itertools
import math
import statistics
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "networks"), str(HERE.parent / "paper")]
import committed  # noqa: E402
from inside_networks import LATENCY_RUNS, PROFILE_RUNS, SPLITS  # noqa: E402
from own_networks import hashed, order  # noqa: E402

# What `plan` is told for each method.
PLANS = {"operators": [], "operators, profiles": ["--profile"]}
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
INSIDE_COLOURS = {"operators": "#0b6e4f", "operators, profiles": "#7a3db8", "sums, boosted, composition": "#1f6fb2",
                  "sums, boosted, factor": "#8fb8dd", "sums, lasso, factor": "#c8102e"}
PLOT, LEFT, TOP, STEP = 230, 50, 40, 275
HEIGHT = PLOT + 90  # of a row of panels and its legend
LEAST_SECONDS, MOST_SECONDS = 1.0, 1000.0


def place(seconds, accuracy, panel, row):
    share = math.log(max(seconds, LEAST_SECONDS) / LEAST_SECONDS) / math.log(MOST_SECONDS / LEAST_SECONDS)
    return LEFT + panel * STEP + share * PLOT, row * HEIGHT + TOP + (1 - accuracy) * PLOT


def planned(tenshot, work, out):
    """Seconds of the networks that `plan` chooses of those to learn from, for each runtime, split and number of networks, and
    what it chooses with --profile."""
    networks = committed.Networks()
    kept = out / "planned.csv"
    if not kept.exists():
        kept.write_text("runtime,split,method,networks,seconds\n")
    done = {(row["runtime"], row["split"]) for row in committed.read(kept)}
    for split in SPLITS:
        train, _ = order(list(networks.family.items()), str(split))
        for checkpoint in sorted((work / str(split) / "out/models").glob("*.tenshot")):
            pool = subprocess.run([tenshot, "info", checkpoint], check=True, capture_output=True, text=True).stdout
            runtime = next((name for name in committed.PROFILED if f"{name}_t1_b1" not in pool), None)
            if runtime is None or (runtime, str(split)) in done:
                continue
            known = networks.on(runtime)
            with tempfile.TemporaryDirectory() as folder, kept.open("a") as file:
                names = Path(folder) / "names.csv"
                names.write_text("\n".join(["architecture", *(name for name in train if name in known)]) + "\n")
                for count, (method, flags) in itertools.product((3, 10, 30), PLANS.items()):
                    plan = subprocess.run([tenshot, "plan", "--checkpoint", checkpoint, "--archs", names, "--samples", str(count),
                                           "--networks", committed.DATA / "networks/networks.json", "--quiet", "--out", "-", *flags],
                                          check=True, capture_output=True, text=True).stdout.splitlines()
                    chosen = [row["architecture"] for row in csv.DictReader(plan)]
                    seconds = LATENCY_RUNS * sum(known[name] for name in chosen) / 1000
                    file.write(f'{runtime},{split},"{method}",{count},{seconds:.2f}\n')
            done.add((runtime, str(split)))


def inside_rows(out):
    """Mean over five splits: {(runtime, method): [(seconds, share, deviation, networks)]}."""
    values = defaultdict(list)
    seconds = {(row["runtime"], row["split"], row["method"], row["networks"]): float(row["seconds"])
               for row in committed.read(out / "planned.csv")}
    for row in committed.read(HERE.parent / "networks/profiled_networks/results.csv"):
        method = {"latencies alone": "operators", "both": "operators, profiles"}.get(row["method"])
        if int(row["split"]) not in SPLITS:
            continue
        runtime = row["target"].removesuffix("_t1_b1")
        if method:
            took = seconds[(runtime, row["split"], method, row["samples"])]
            took *= 1 if method == "operators" else 1 + PROFILE_RUNS / LATENCY_RUNS
            values[(runtime, method, int(row["samples"]))].append((took, float(row["acc10"])))
    for row in committed.read(HERE / "inside_networks/results.csv"):
        method = f"sums, {row['learner']}, {row['correction']}"
        if method in INSIDE_COLOURS:
            values[(row["runtime"], method, int(row["networks"]))].append((float(row["seconds"]), float(row["acc10"])))
    found = defaultdict(list)
    for (runtime, method, count), each in sorted(values.items(), key=lambda item: item[0][2]):
        if len(each) == len(SPLITS):
            took, shares = zip(*each)
            found[(runtime, method)].append((statistics.fmean(took), statistics.fmean(shares), statistics.stdev(shares), count))
    return found


def panel_axes(title, panel, row):
    left, top = place(LEAST_SECONDS, 1, panel, row)
    parts = [f'<text x="{left}" y="{top - 12}" font-size="13">{title}</text>']
    for accuracy in (0, 0.25, 0.5, 0.75, 1):
        _, y = place(LEAST_SECONDS, accuracy, panel, row)
        parts.append(f'<path d="M{left} {y:.1f}h{PLOT}" stroke="#ddd"/>'
                     f'<text x="{left - 4}" y="{y + 4:.1f}" text-anchor="end">{100 * accuracy:.0f}</text>')
    for seconds in (1, 10, 100, 1000):
        x, _ = place(seconds, 0, panel, row)
        parts.append(f'<path d="M{x:.1f} {top}v{PLOT}" stroke="#ddd"/>'
                     f'<text x="{x:.1f}" y="{top + PLOT + 16}" text-anchor="middle">{seconds} s</text>')
    return parts


def curve(points, colour, panel, row):
    """Of (seconds, share, deviation, hint): a line, and a bar of a deviation to each side."""
    placed = [(*place(seconds, share, panel, row), deviation * PLOT, hint) for seconds, share, deviation, hint in points]
    line = " ".join(f"{x:.1f},{y:.1f}" for x, y, _, _ in placed)
    parts = [f'<polyline points="{line}" fill="none" stroke="{colour}" stroke-width="1.5"/>']
    for x, y, bar, hint in placed:
        parts.append((f'<path d="M{x:.1f} {y - bar:.1f}v{2 * bar:.1f}" stroke="{colour}"/>' if bar else "")
                     + f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{colour}"><title>{hint}</title></circle>')
    return parts


def legend(colours, row, each, width):
    parts = []
    for i, (method, colour) in enumerate(colours.items()):
        x, y = LEFT + (i % each) * width, row * HEIGHT + TOP + PLOT + 28 + 16 * (i // each)
        parts.append(f'<rect x="{x}" y="{y}" width="10" height="10" fill="{colour}"/><text x="{x + 15}" y="{y + 9}">{method}</text>')
    return parts


def picture(rows, inside):
    """A panel for each runtime: seconds (x, logarithmic; nothing measured stands at one) and share within ±10 % (y). Above
    operators inside networks, over five splits, below kernels alone."""
    width, height = LEFT + 4 * STEP, 2 * HEIGHT + 40
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif" '
             'font-size="11"><title>Accuracy against measuring time</title>'
             f'<rect width="{width}" height="{height}" fill="white"/>']
    for panel, runtime in enumerate(committed.PROFILED):
        parts += panel_axes(f"{runtime}, operators inside", panel, 0)
        for method, colour in INSIDE_COLOURS.items():
            parts += curve([(seconds, share, deviation, f"{method}, {count} networks: {seconds:.1f} s, {100 * share:.0f} ± {100 * deviation:.0f} %")
                            for seconds, share, deviation, count in inside[(runtime, method)]], colour, panel, 0)
    parts += legend(INSIDE_COLOURS, 0, 5, 210)
    for panel, runtime in enumerate(sorted({row["runtime"] for row in rows})):
        parts += panel_axes(f"{runtime}, kernels alone", panel, 1)
        for method, colour in COLOURS.items():
            mine = [row for row in rows if row["runtime"] == runtime and row["method"] == method]
            parts += curve([(float(r["seconds"]), float(r["acc10"]), 0, f'{method}, {r["budget"]}: {float(r["seconds"]):.1f} s, '
                             f'{100 * float(r["acc10"]):.0f} %') for r in front(mine)], colour, panel, 1)
    parts += legend(COLOURS, 1, 6, 170)
    parts.append(f'<text x="{LEFT}" y="{height - 10}">Seconds of the device that measuring takes (logarithmic), and the '
                 'share of unseen networks predicted within ±10 %; bars: a standard deviation over five splits</text></svg>')
    return "\n".join(parts) + "\n"


def inside_table(inside):
    methods = [(method, count) for method in INSIDE_COLOURS for count in (3, 10, 30, 100)]
    lines = ["| method | networks | " + " | ".join(f"{name}: s, ±10 %" for name in committed.PROFILED) + " |",
             "|---|---|" + "---|" * len(committed.PROFILED)]
    for method, count in methods:
        cells = [next((f"{s:.1f} s, **{100 * a:.1f}** ± {100 * d:.1f}" for s, a, d, n in inside[(name, method)] if n == count), "–")
                 for name in committed.PROFILED]
        if set(cells) != {"–"}:
            lines.append(f"| {method} | {count} | " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def alone_table(data):
    """Kernels alone over the same operator inside its network, OpenCV, by kind. Networks that were measured beside both say
    what is of the days."""
    pool = committed.Networks.on("opencv-dnn")
    days = statistics.median(float(row["latency_ms"]) / pool[row["network"]] for row in committed.read(data / "opencv-dnn/networks.csv")
                             if not row["refused"] and row["network"] in pool)
    inside, ratios, times = committed.Inside("opencv-dnn").time, defaultdict(list), defaultdict(list)
    for row in committed.read(data / "opencv-dnn/kernels.csv"):
        time = inside.get(committed.row_key(row), 0)
        if row["refused"] or not time or row["kernel"] == "call":
            continue
        for kind in (row["kernel"], "all"):
            alone = float(row["latency_ms"]) / days
            ratios[kind].append(alone / time)
            times[kind].append((alone, time))
    lines = ["| kernel | pairs | alone over inside: median | quartiles | of their sums | within ±10 % | with one factor of the kind |",
             "|---|---|---|---|---|---|---|"]
    for kind, of in sorted(ratios.items(), key=lambda item: -len(item[1])):
        if len(of) < 20:
            continue
        first, median, third = statistics.quantiles(of, n=4)
        alone, within_it = map(sum, zip(*times[kind]))
        lines.append(f"| `{kind}` | {len(of)} | {median:.2f} | {first:.2f} to {third:.2f} | {alone / within_it:.2f} | "
                     f"{committed.within(of):.0f} % | {committed.within([ratio / median for ratio in of]):.0f} % |")
    return f"The days' factor is {days:.2f}.\n\n" + "\n".join(lines) + "\n"


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
    for path in sorted(results.glob("*-*.csv")):  # of runtimes
        rows += committed.read(path)
    runtimes = sorted({row["runtime"] for row in rows})
    inside = inside_rows(out)
    text = (HERE / "measuring_time/text.md").read_text().replace("INSIDE_TABLE\n", inside_table(inside))
    text = text.replace("ALONE_TABLE\n", alone_table(data))
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
    (out / "accuracy-against-time.svg").write_text(picture(rows, inside))


if __name__ == "__main__":
    if sys.argv[1] == "split":
        split(sys.argv[2])
    elif sys.argv[1] == "plan":
        planned(*map(Path, sys.argv[2:5]))
    else:
        page(Path(sys.argv[2]), Path(sys.argv[3]))
