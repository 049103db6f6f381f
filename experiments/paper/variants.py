#!/usr/bin/env python3
"""nn-Meter's Table 8 on a sample: variants of eleven of its thirteen networks, measured on libtorch-frozen and predicted by
forests of kernels. Writes experiments/paper/variants/.

  experiments/paper/variants.py measure [VARIANTS [SECONDS]]   of each network, 40 unless said; goes on where the last piece stopped
  experiments/paper/variants.py page [tenshot]                 build/tenshot unless said"""

import csv
import hashlib
import math
import random
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import by_kernel
import committed

sys.path.insert(0, str(committed.ROOT / "experiments/kernels"))
from isolation_modes import SPECIFICATION  # noqa: E402

OUT = committed.ROOT / "experiments/paper/variants"
RUNTIME, RUNS, RUNS_OF_ORIGINAL = "libtorch-frozen", 15, 25
NETWORKS = ["alexnet_r224", "vgg11_r96", "densenet121_r128", "resnet18_r224", "squeezenet1_1_r224", "googlenet_r128",
            "mobilenet_v1_w1_r224", "mobilenet_v2_w1.0_r224", "mobilenet_v3_large_w1.0_r224", "shufflenet_v2_x1_0_r224",
            "mnasnet_w1.0_r224"]
LEAST, MOST, WINDOWS, CLASSES = 0.2, 1.8, (1, 3, 5, 7), 1000


class Variant:
    """A network with other numbers of channels, each from a fifth to nine fifths of what it was, and other windows. What has to
    have as many channels as something else, since both are added or are halves of a split, goes on having as many."""

    def __init__(self, specs, sources, rng):
        self.specs, self.sources, self.rng = specs, sources, rng
        self.parent, self.size, self.fixed = {}, {}, set()
        self.channels = []  # of each node: the convolutions whose outputs its channels are, in order
        for place in range(len(specs)):
            self.channels.append(self.find_channels(place))
        self.drawn, self.nodes = {}, []
        for place in range(len(specs)):
            self.nodes.append(self.made(place))

    def root(self, convolution):
        while self.parent[convolution] != convolution:
            convolution = self.parent[convolution]
        return convolution

    def tie(self, left, right):
        if len(left) == len(right) and all(self.size[a] == self.size[b] for a, b in zip(left, right)):
            for a, b in zip(left, right):
                self.parent[self.root(a)] = self.root(b)
        else:  # a sum of some has to be that of others: all stay as they were
            self.fixed.update([*left, *right])

    def of(self, source):
        return self.channels[source] if source >= 0 else ["image"]

    def find_channels(self, place):
        spec, of = self.specs[place], [self.of(source) for source in self.sources[place]]
        self.parent.setdefault("image", "image")
        self.size["image"] = 3
        self.fixed.add("image")
        if spec["kind"] == "linear" or (spec["kind"] == "convolution" and spec.get("groups", 1) == 1):
            self.parent[place], self.size[place] = place, spec["output"][1]
            if spec["kind"] == "linear" or spec["output"][1] == CLASSES:
                self.fixed.add(place)
            return [place]
        if spec["kind"] == "concatenate":
            return [convolution for part in of for convolution in part]
        if spec["kind"] in ("split", "shuffle"):
            half = len(of[0]) // 2
            self.tie(of[0][:half], of[0][half:])
            return of[0][:half] if spec["kind"] == "split" else of[0]
        for other in of[1:]:
            self.tie(of[0], other)
        return of[0]

    def count(self, place):
        """Channels of a node of the variant."""
        total = 0
        for convolution in self.channels[place]:
            root = self.root(convolution)
            if root not in self.drawn:
                kept = any(self.root(other) == root for other in self.fixed)
                factor = 1 if kept else self.rng.uniform(LEAST, MOST)
                self.drawn[root] = max(1, round(self.size[root] * factor))
            total += self.drawn[root]
        return total

    def made(self, place):
        spec, kind = dict(self.specs[place]), self.specs[place]["kind"]
        inputs = [self.nodes[source]["output"] if source >= 0 else spec["inputs"][number]
                  for number, source in enumerate(self.sources[place])]
        spec["inputs"], channels = inputs, self.count(place)
        if kind == "convolution":
            stride = spec.get("stride", [1, 1])
            if max(spec.get("kernel", [1, 1])) > 1:
                spec["kernel"] = [self.rng.choice(WINDOWS)] * 2
            if spec.get("groups", 1) > 1:
                spec["groups"] = inputs[0][1]
            spec["output"] = [1, channels, *(math.ceil(size / step) for size, step in zip(inputs[0][2:], stride))]
        elif kind in ("max_pool", "average_pool"):
            old, window, stride = self.specs[place], spec.get("kernel", [1, 1]), spec.get("stride", [1, 1])
            spec["output"] = [1, channels, *(self.pooled(old, inputs[0], axis, window[axis], stride[axis]) for axis in (0, 1))]
        elif kind == "reshape":
            spec["output"] = [1, math.prod(inputs[0])]
        elif kind == "global_pool" or kind == "linear":
            spec["output"] = [1, channels, *spec["output"][2:]]
        elif kind in ("activation", "batch_norm", "add", "multiply", "concatenate", "split", "shuffle"):
            spec["output"] = [1, channels, *max(inputs, key=math.prod)[2:]]
        else:
            raise ValueError(f"no variant of a network with {kind}")
        return {key: value for key, value in spec.items() if value != [1, 1] or key not in ("kernel", "stride")}

    @staticmethod
    def pooled(old, shape, axis, window, stride):
        """As many rows more or less as the image has, by the zeros that the pooling had."""
        before, behind = zeros_around(old["inputs"][0][2 + axis], old["output"][2 + axis], window, stride)
        return (shape[2 + axis] + before + behind - window) // stride + 1


def zeros_around(size, out, window, stride):
    import small_networks
    return small_networks.zeros_around(size, out, window, stride)


def variant_of(networks, name, number):
    """The 0th is the network itself."""
    specs, sources = [networks.specifications[index] for index in networks.operators[name]], networks.sources[name]
    nodes = specs if number == 0 else Variant(specs, sources, random.Random(f"{name} {number}")).nodes
    return nodes, sources


def graph_of(small_networks, nodes, sources):
    read = {source for of in sources for source in of}
    first = next(node["inputs"][of.index(-1)] for node, of in zip(nodes, sources) if -1 in of)
    return small_networks.Graph([first], nodes, sources, [i for i in range(len(nodes)) if i not in read])


def measure(count, seconds):
    import small_networks
    import torch
    torch.set_grad_enabled(False)
    small_networks.set_threads(1)
    OUT.mkdir(exist_ok=True)
    networks, file, start = committed.Networks(), OUT / "latencies.csv", time.monotonic()
    if not file.exists():
        file.write_text("network,variant,latency_ms,seconds\n")
    done = {(row["network"], int(row["variant"])) for row in committed.read(file)}
    with file.open("a", newline="") as kept:
        for number in range(count + 1):
            for name in NETWORKS:
                if (name, number) in done:
                    continue
                begin = time.monotonic()
                if begin - start > seconds:
                    sys.exit("to be continued by the same command")
                network = small_networks.Frozen(graph_of(small_networks, *variant_of(networks, name, number)))
                latency_ms = small_networks.timed(network, RUNS if number else RUNS_OF_ORIGINAL)
                csv.writer(kept, lineterminator="\n").writerow([name, number, f"{latency_ms:.5g}", f"{time.monotonic() - begin:.3f}"])
                kept.flush()


def document(networks, rows):
    operators, listed = [], []
    for row in rows:
        nodes, sources = variant_of(networks, row["network"], int(row["variant"]))
        name = f'{row["network"]}_v{row["variant"]}'
        listed.append({"name": name, "hash": hashlib.sha256(name.encode()).hexdigest(), "sources": sources,
                       "operators": list(range(len(operators), len(operators) + len(nodes)))})
        operators += nodes
    return {"format": "tenshot.networks/1", "networks": listed, "operators": operators}


def predicted(tenshot, kernels, rules, asked):
    """[ms] of the networks of a document by forests of kernels."""
    with tempfile.TemporaryDirectory() as temporary:
        return by_kernel.predicted(tenshot, rules, kernels, asked, Path(temporary))


def inside_kernels():
    """What each kernel takes inside a hundred networks, the median over them."""
    times = {}
    folder = committed.ROOT / "experiments/kernels/isolation_modes" / RUNTIME
    file = next(path for path in (folder / "inside.csv", folder / "inside.csv.gz") if path.exists())
    for row in committed.read(file):
        times.setdefault((row["kernel"], *(row[column] for column in SPECIFICATION)), []).append(float(row["latency_ms"]))
    return [dict(zip(["kernel", *SPECIFICATION, "latency_ms"], [*key, statistics.median(of)])) for key, of in times.items()
            if statistics.median(of) > 0]


def page(tenshot):
    networks, rows = committed.Networks(), committed.read(OUT / "latencies.csv")
    asked, folder = document(networks, rows), committed.DATA / "kernels" / RUNTIME
    alone = [row for row in committed.read(folder / "kernels.csv") if row["purpose"] == "sample" and not row["refused"]]
    ways = {"kernels alone": predicted(tenshot, alone, folder / "kernels_rules.json", asked),
            "kernels inside networks": predicted(tenshot, inside_kernels(), folder / "rules.json", asked)}
    measured = [float(row["latency_ms"]) for row in rows]
    for way in list(ways):
        factor = statistics.median(true / ms for row, true, ms in zip(rows, measured, ways[way]) if row["variant"] == "0")
        ways[f"{way}, one factor"] = [factor * ms for ms in ways[way]]
    kept, cells = [], []
    for name in [*NETWORKS, "all"]:
        places = [place for place, row in enumerate(rows) if name in (row["network"], "all") and row["variant"] != "0"]
        cells.append([name, len(places)])
        for way, values in ways.items():
            ratios = [values[place] / measured[place] for place in places]
            median = 100 * statistics.median(abs(ratio - 1) for ratio in ratios)
            kept.append([name, way, len(places), f"{committed.within(ratios) / 100:.4f}", f"{median:.2f}"])
            cells[-1].append(f"{committed.within(ratios):.0f} ({median:.0f} %)")
    with (OUT / "results.csv").open("w", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([["network", "way", "variants", "acc10", "median_error"], *kept])
    text = (OUT / "text.md").read_text().replace("CELLS", committed.table(["network", "variants", *ways], cells))
    (OUT / "README.md").write_text(text)
    sys.exit(subprocess.run([sys.executable, committed.ROOT / "experiments/pages.py", "--made", "variants"], check=False).returncode)


if __name__ == "__main__":
    if sys.argv[1:2] == ["measure"]:
        measure(int(sys.argv[2]) if len(sys.argv) > 2 else 40, float(sys.argv[3]) if len(sys.argv) > 3 else math.inf)
    elif sys.argv[1:2] == ["page"]:
        page(Path(sys.argv[2] if len(sys.argv) > 2 else committed.ROOT / "build/tenshot").resolve())
    else:
        sys.exit(__doc__)
