#!/usr/bin/env python3
"""Latency of a convolution against one of its sizes: nn-Meter's Figures 7 and 8 (staircases) and MONNET's Figure 5 (sweeps over
channels), on libtorch-frozen and opencv-dnn. Writes experiments/paper/staircases/.

  experiments/paper/staircases.py measure   two minutes of one processor
  experiments/paper/staircases.py page"""

import csv
import statistics
import subprocess
import sys

import committed

sys.path.insert(0, str(committed.ROOT / "experiments/kernels"))

OUT = committed.ROOT / "experiments/paper/staircases"
ROUNDS, RUNS = 5, 3
RUNTIMES = ["libtorch-frozen", "opencv-dnn"]


def sweeps():
    """[(figure, sweep, size that is swept, (height, width, channels, filters, kernel x, kernel y))]"""
    points = [("nn-Meter 7a", "window", k, (224, 224, 3, 32, k, k)) for k in (1, 3, 5, 7, 9)]
    points += [("nn-Meter 7b", "image", side, (side, side, 64, 64, 3, 3)) for side in (*range(1, 29), *range(32, 225, 8))]
    points += [("nn-Meter 8", "filters", filters, (112, 112, 32, filters, 3, 3)) for filters in range(16, 81)]
    for height, width, window in ((25, 17, 1), (24, 17, 1), (25, 17, 3), (24, 17, 3)):
        points += [("MONNET 5", f"channels at {height}x{width}, {window}x{window}", channels, (height, width, channels, 64, window, window))
                   for channels in range(64, 1537, 64)]
    return points


def measure():
    import small_networks
    import torch
    torch.set_grad_enabled(False)
    small_networks.set_threads(1)
    OUT.mkdir(exist_ok=True)
    rows = []
    for name in RUNTIMES:
        for figure in dict.fromkeys(point[0] for point in sweeps()):
            networks = []
            for point in sweeps():
                if point[0] == figure:
                    height, width, channels, filters, kernel_x, kernel_y = point[3]
                    layer = {"kind": "convolution", "inputs": [[1, channels, height, width]], "output": [1, filters, height, width],
                             "kernel": [kernel_y, kernel_x], "bias": True}
                    normed = {"kind": "batch_norm", "inputs": [layer["output"]], "output": layer["output"]}
                    chain = small_networks.chain(layer["inputs"][0], layer, normed, small_networks.activation(layer["output"]))
                    networks.append((point, small_networks.RUNTIMES[name](chain)))
            # In rounds, so that what the machine does for a while is in all sizes alike.
            times = [[small_networks.timed(network, RUNS) for _, network in networks] for _ in range(ROUNDS)]
            for (point, _), of in zip(networks, zip(*times)):
                rows.append([name, *point[:3], f"{statistics.median(of):.6g}", f"{min(of):.6g}"])
            print(name, figure, len(networks), flush=True)
    with (OUT / "results.csv").open("w", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([["runtime", "figure", "swept", "size", "latency_ms", "fastest_ms"], *rows])


def curve(rows, runtime, figure, swept=None):
    return {int(row["size"]): float(row["fastest_ms"]) for row in rows
            if (row["runtime"], row["figure"]) == (runtime, figure) and swept in (None, row["swept"])}


def stair(of, width):
    """Median rise, in percent, where a size begins a new group of `width` and where it stays in one."""
    rises = {True: [], False: []}
    for size, ms in of.items():
        if size - 1 in of:
            rises[(size - 1) % width == 0].append(100 * (ms / of[size - 1] - 1))
    return f"{statistics.median(rises[True]):+.1f} / {statistics.median(rises[False]):+.1f}"


def picture(rows):
    """A panel for each of 7b, 8 and 5; a line for each runtime, over its own largest latency."""
    panels = [("nn-Meter 7b", None, "image, 64 to 64 channels, 3x3"), ("nn-Meter 8", None, "filters, image 112, 32 channels, 3x3"),
              ("MONNET 5", "channels at 25x17, 1x1", "channels, 25x17, 1x1, 64 filters"), ("MONNET 5", "channels at 25x17, 3x3", "channels, 25x17, 3x3, 64 filters")]
    colours, side, step = {"libtorch-frozen": "#0b6e4f", "opencv-dnn": "#c8102e"}, 230, 275
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {40 + 4 * step} {side + 90}" font-family="sans-serif" font-size="11">'
             f'<title>Latency of a convolution against one of its sizes</title><rect width="{40 + 4 * step}" height="{side + 90}" fill="white"/>']
    for panel, (figure, swept, title) in enumerate(panels):
        left = 40 + panel * step
        sizes = curve(rows, RUNTIMES[0], figure, swept)
        parts.append(f'<text x="{left}" y="20">{title}</text><path d="M{left} 30v{side}h{side}" fill="none" stroke="#888"/>'
                     f'<text x="{left}" y="{side + 45}">{min(sizes)}</text><text x="{left + side}" y="{side + 45}" text-anchor="end">{max(sizes)}</text>')
        for name, colour in colours.items():
            of = curve(rows, name, figure, swept)
            line = " ".join(f"{left + side * size / max(of):.1f},{30 + side * (1 - ms / max(of.values())):.1f}" for size, ms in sorted(of.items()))
            parts.append(f'<polyline points="{line}" fill="none" stroke="{colour}"><title>{name}, to {max(of.values()):.3g} ms</title></polyline>')
    for i, (name, colour) in enumerate(colours.items()):
        parts.append(f'<rect x="{40 + 160 * i}" y="{side + 60}" width="10" height="10" fill="{colour}"/><text x="{55 + 160 * i}" y="{side + 69}">{name}</text>')
    return "\n".join([*parts, "</svg>"]) + "\n"


def jumps(of):
    """The largest rise and the largest fall from one size to the next, less what a line through nothing would rise."""
    sizes = sorted(of)
    over = {size: 100 * ((of[size] / of[last]) / (size / last) - 1) for last, size in zip(sizes, sizes[1:])}
    most, least = max(over, key=over.get), min(over, key=over.get)
    return f"{over[most]:+.0f} % at {most}, {over[least]:+.0f} % at {least}"


def page():
    rows = committed.read(OUT / "results.csv")
    windows = [[name, *(f"{curve(rows, name, 'nn-Meter 7a')[k]:.2f}" for k in (1, 3, 5, 7, 9))] for name in RUNTIMES]
    stairs = [[name, *(stair(curve(rows, name, "nn-Meter 8"), width) for width in (2, 4, 8, 16))] for name in RUNTIMES]
    images = [[name, *(f"{curve(rows, name, 'nn-Meter 7b')[side]:.3g}" for side in (7, 8, 13, 14, 15, 16, 27, 28, 32, 56, 112, 224))] for name in RUNTIMES]
    channels = [[name, swept.removeprefix("channels at "), jumps(curve(rows, name, "MONNET 5", swept))]
                for name in RUNTIMES for swept in dict.fromkeys(row["swept"] for row in rows if row["figure"] == "MONNET 5")]
    text = (OUT / "text.md").read_text()
    for word, header, body in (("WINDOWS", ["runtime", *(f"{k} × {k}" for k in (1, 3, 5, 7, 9))], windows),
                               ("IMAGES", ["runtime", *(7, 8, 13, 14, 15, 16, 27, 28, 32, 56, 112, 224)], images),
                               ("STAIRS", ["runtime", *(f"of {width}" for width in (2, 4, 8, 16))], stairs),
                               ("CHANNELS", ["runtime", "image and window", "largest rise and fall beyond the channels' own"], channels)):
        text = text.replace(word, committed.table([str(cell) for cell in header], body))
    (OUT / "README.md").write_text(text)
    (OUT / "sweeps.svg").write_text(picture(rows))
    sys.exit(subprocess.run([sys.executable, committed.ROOT / "experiments/pages.py", "--made", "staircases"], check=False).returncode)


if __name__ == "__main__":
    if sys.argv[1:] not in (["measure"], ["page"]):
        sys.exit(__doc__)
    {"measure": measure, "page": page}[sys.argv[1]]()
