#!/usr/bin/env python3
"""MONNET's grids with all their six dimensions (its Tables 3 and 4) and its errors on single layers (Figure 4), separable
convolutions among them, on libtorch-frozen or opencv-dnn. Writes experiments/paper/layer_grids/, whose page shows the runtimes that
were measured.

  experiments/paper/layer_grids.py measure RUNTIME [SECONDS]   goes on where the last piece stopped; wants a processor to itself
  experiments/paper/layer_grids.py page"""

import csv
import gc
import hashlib
import itertools
import math
import statistics
import subprocess
import sys
import time

import numpy

import committed

sys.path.insert(0, str(committed.ROOT / "experiments/kernels"))

OUT = committed.ROOT / "experiments/paper/layer_grids"
RUNTIMES = ["libtorch-frozen", "opencv-dnn"]
SIZES = ["image", "channels", "filters", "window_x", "window_y", "stride"]
COLUMNS = ["layer", "purpose", *SIZES, "latency_ms"]
CONVOLUTION, SEPARABLE = "convolution", "separable convolution"
AXES = {kind: [[4, 6, 8, 14, 20, 28, 56, 112], [8, 24, 48, 96, 192, 384, 768, 1536], [8, 16, 32, 64, 128, 256, 512, 1024],
               windows, windows, [1, 2]] for kind, windows in ((SEPARABLE, [3, 5, 7]), (CONVOLUTION, [1, 3, 7]))}
MOST, RUNS, LAYERS, LEAST_MS = 5e8, 5, 800, 1e-4


def multiply_adds(kind, sizes):
    image, channels, filters, across, down, stride = sizes
    pixels = math.ceil(image / stride) ** 2
    if kind == SEPARABLE:
        return pixels * channels * (across * down + filters)
    return pixels * channels * filters * across * down


def layers_of_networks(networks):
    """{kind: sizes that networks of the pool have}. A separable convolution is a depthwise one and the convolution of 1 × 1
    that alone reads it, whatever normalises or activates between them."""
    found = {CONVOLUTION: set(), SEPARABLE: set()}
    for name, operators in networks.operators.items():
        specs, readers = [networks.specifications[index] for index in operators], {}
        for place, sources in enumerate(networks.sources[name]):
            for source in sources:
                readers.setdefault(source, []).append(place)
        for place, spec in enumerate(specs):
            if spec["kind"] != "convolution" or len(spec["output"]) != 4 or spec["inputs"][0][2] != spec["inputs"][0][3]:
                continue
            channels, kind, last = spec["inputs"][0][1], CONVOLUTION, place
            if spec.get("groups", 1) == channels > 1:
                kind = SEPARABLE
                while len(readers.get(last, [])) == 1:
                    last = readers[last][0]
                    if specs[last]["kind"] not in ("batch_norm", "activation"):
                        break
                pointwise = specs[last]
                if pointwise["kind"] != "convolution" or {"kernel", "stride", "groups"} & pointwise.keys():
                    continue
            elif spec.get("groups", 1) > 1:
                continue
            window, stride = spec.get("kernel", [1, 1]), spec.get("stride", [1, 1])
            if max(window) <= 7 and max(stride) <= 2 and stride[0] == stride[1]:
                found[kind].add((spec["inputs"][0][2], channels, specs[last]["output"][1], window[1], window[0], stride[0]))
    return found


def hashed(row):
    return hashlib.sha256(str(row).encode()).hexdigest()


def wanted(networks):
    """[(kind, purpose, sizes)] in an order that mixes them, so that what the machine does for a while is nowhere alone."""
    rows = []
    for kind, sizes in layers_of_networks(networks).items():
        points = {point for point in itertools.product(*AXES[kind]) if multiply_adds(kind, point) <= MOST}
        layers = sorted(sizes - points, key=hashed)[:LAYERS]
        rows += [(kind, "grid", point) for point in points] + [(kind, "network", layer) for layer in layers]
    return sorted(rows, key=hashed)


def graph_of(small_networks, kind, sizes):
    image, channels, filters, across, down, stride = sizes
    shape, side = [1, channels, image, image], math.ceil(image / stride)
    first = {"kind": "convolution", "inputs": [shape], "output": [1, channels if kind == SEPARABLE else filters, side, side],
             "kernel": [down, across], "stride": [stride, stride], "groups": channels if kind == SEPARABLE else 1, "bias": True}
    if kind == CONVOLUTION:
        return small_networks.chain(shape, first)
    return small_networks.chain(shape, first, small_networks.convolution(first["output"], filters, 1))


def measure(runtime, seconds):
    import small_networks
    import torch
    torch.set_grad_enabled(False)
    small_networks.set_threads(1)
    start = time.monotonic()
    OUT.mkdir(exist_ok=True)
    file = OUT / f"{runtime}.csv"
    if not file.exists():
        file.write_text(",".join(COLUMNS) + "\n")
    done = {(row["layer"], tuple(int(row[size]) for size in SIZES)) for row in committed.read(file)}
    empty = small_networks.RUNTIMES[runtime](small_networks.CALL)
    call_ms = statistics.median(small_networks.timed(empty, 50) for _ in range(5))
    left = [row for row in wanted(committed.Networks()) if (row[0], row[2]) not in done]
    with file.open("a", newline="") as kept:
        table = csv.writer(kept, lineterminator="\n")
        for number, (kind, purpose, sizes) in enumerate(left):
            if time.monotonic() - start > seconds:
                sys.exit(f"{len(left) - number} are left; the same command goes on")
            network = small_networks.RUNTIMES[runtime](graph_of(small_networks, kind, sizes))
            network.run()
            latency_ms = max(small_networks.timed(network, RUNS) - call_ms, LEAST_MS)
            table.writerow([kind, purpose, *sizes, f"{latency_ms:.4g}"])
            if number % 500 == 0:
                gc.collect()
                print(f"{number} of {len(left)}, {time.monotonic() - start:.0f} s", flush=True)


class Grid:
    """Time = efficiency · multiply-adds; the efficiency is interpolated linearly along each axis, and that of the edge counts
    outside. What was not measured is between its neighbours along the first axis on which both were, else the least of the
    grid (MONNET, §§3.1, 4)."""

    def __init__(self, kind, axes, measured):
        self.kind, self.axes = kind, axes
        values = numpy.full([len(axis) for axis in axes], numpy.nan)
        for place in numpy.ndindex(values.shape):
            point = tuple(axis[i] for axis, i in zip(axes, place))
            if point in measured:
                values[place] = measured[point] / multiply_adds(kind, point)
        self.points, self.missing = int((~numpy.isnan(values)).sum()), int(numpy.isnan(values).sum())
        self.values, least = values.copy(), numpy.nanmin(values)
        for place in zip(*numpy.nonzero(numpy.isnan(values))):
            self.values[place] = next((value for d in range(values.ndim) if not numpy.isnan(value := self.between(values, place, d))),
                                      least)

    def between(self, values, place, d):
        axis, i = self.axes[d], place[d]
        if i == 0 or i + 1 == len(axis):
            return numpy.nan
        before, after = (values[(*place[:d], i + step, *place[d + 1:])] for step in (-1, 1))
        return before + (after - before) * (axis[i] - axis[i - 1]) / (axis[i + 1] - axis[i - 1])

    def predict(self, sizes):
        values = self.values
        for axis, size in zip(self.axes, sizes):
            place = min(max(numpy.searchsorted(axis, size, side="right") - 1, 0), len(axis) - 2)
            share = min(max((size - axis[place]) / (axis[place + 1] - axis[place]), 0), 1)
            values = values[place] + share * (values[place + 1] - values[place])
        return float(values) * multiply_adds(self.kind, sizes)


def thinned(axes, step):
    """Every so many points along the sizes of images and channels, the last one too."""
    return [sorted({*axis[::step], axis[-1]}) if i < 3 else axis for i, axis in enumerate(axes)]


def errors_of(grid, layers):
    """[share within ±10 %, median error, RMSPE], in percent."""
    errors = [abs(grid.predict(sizes) / ms - 1) for sizes, ms in layers.items()]
    return [100 * statistics.fmean(error <= 0.1 for error in errors), 100 * statistics.median(errors),
            100 * statistics.fmean(error ** 2 for error in errors) ** 0.5]


def inside(axes, layers):
    return {sizes: ms for sizes, ms in layers.items() if all(axis[0] <= size <= axis[-1] for axis, size in zip(axes, sizes))}


def page():
    rows, kept = [], []
    for runtime in RUNTIMES:
        file = next((path for path in (OUT / f"{runtime}.csv", OUT / f"{runtime}.csv.gz") if path.exists()), None)
        if file is None:
            continue
        table = committed.read(file)
        for kind, axes in AXES.items():
            of = lambda purpose, kind=kind: {tuple(int(row[size]) for size in SIZES): float(row["latency_ms"]) for row in table
                                             if (row["layer"], row["purpose"]) == (kind, purpose)}
            measured, layers = of("grid"), of("network")
            for step in (4, 2, 1):
                grid = Grid(kind, thinned(axes, step), measured)
                for which, of_them in (("all", layers), ("inside the grid", inside(axes, layers))):
                    numbers = errors_of(grid, of_them)
                    kept.append([runtime, kind, which, grid.points, grid.missing, len(of_them), *(f"{number:.2f}" for number in numbers)])
                    rows.append([runtime, kind, " × ".join(str(len(axis)) for axis in grid.axes), f"{grid.points:,}",
                                 f"{grid.missing:,}", f"{which}, {len(of_them)}", *(f"{number:.1f} %" for number in numbers)])
    with (OUT / "results.csv").open("w", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows(
            [["runtime", "layer", "which", "points", "missing", "layers", "acc10", "median_error", "rmspe"], *kept])
    text = (OUT / "text.md").read_text().replace("ERRORS", committed.table(
        ["runtime", "layer", "grid", "measured", "filled", "layers of networks", "within ±10 %", "median error", "RMSPE"], rows))
    (OUT / "README.md").write_text(text)
    for runtime in RUNTIMES:
        if (OUT / f"{runtime}.csv").exists():
            subprocess.run([committed.ROOT / "experiments/shared/keep_table.sh", OUT / f"{runtime}.csv", OUT], check=True)
    sys.exit(subprocess.run([sys.executable, committed.ROOT / "experiments/pages.py", "--made", "layer_grids"],
                            check=False).returncode)


if __name__ == "__main__":
    if sys.argv[1:2] == ["measure"] and len(sys.argv) > 2 and sys.argv[2] in RUNTIMES:
        measure(sys.argv[2], float(sys.argv[3]) if len(sys.argv) > 3 else math.inf)
    elif sys.argv[1:] == ["page"]:
        page()
    else:
        sys.exit(__doc__)
