#!/usr/bin/env python3
"""Measures as many synthetic networks as Li et al. have: a thousand of their space, a thousand of NATS-Bench's size space (their
Figure 24) and the published ones of the pool, each as a whole and operator by operator, on runtimes that tell what an operator takes.
synthetic_learners.py learns from them.

  experiments/paper/synthetic_networks.py make                        ONNX files (15 GB) in build/synthetic_networks
  experiments/paper/synthetic_networks.py measure RUNTIME [SECONDS [THREADS]]   goes on where the last piece stopped; a block is 1 to
                                                                                2 minutes; with two threads, the synthetic ones alone
  experiments/paper/synthetic_networks.py keep                        what was measured, in experiments/paper/synthetic_networks

TENSHOT is the program, build/tenshot unless said. One core, which nothing else should use: "taskset -c 1" before the command; with two
threads, both."""

import collections
import csv
import itertools
import json
import os
import random
import subprocess
import sys
import time
from pathlib import Path

import committed

sys.path += [str(committed.ROOT / "experiments/networks"), str(committed.ROOT / "experiments/kernels")]
from isolation_modes import operator_type  # noqa: E402

TENSHOT = Path(os.environ.get("TENSHOT", committed.ROOT / "build/tenshot")).resolve()
FOLDER = committed.ROOT / "build/synthetic_networks"
OUT = committed.ROOT / "experiments/paper/synthetic_networks"
DOCUMENT = FOLDER / "described/networks.json"  # what all of them execute
RUNTIMES, THREADS = ["libtorch-eager"], (1, 2)
BLOCKS, OF_BLOCK, FIRST_SEED = 10, 100, 100                # of the synthetic space
SIZES, SIZE_BLOCKS, CANDIDATES = 1000, 4, range(8, 65, 8)  # of NATS-Bench's size space


def size_network(channels):
    """A network of NATS-Bench's size space (Dong et al., TPAMI 2022, §3.2): the best cell of its topology space, in which the
    stem, three cells and the two residual blocks between them have channels of their own; images of 32×32 as there."""
    from torch import nn

    def convolved(inputs, outputs, stride=1):
        return nn.Sequential(nn.ReLU(), nn.Conv2d(inputs, outputs, 3, stride, 1, bias=False), nn.BatchNorm2d(outputs))

    class Cell(nn.Module):
        """|nor_conv_3x3~0|+|nor_conv_3x3~0|nor_conv_3x3~1|+|skip_connect~0|nor_conv_3x3~1|nor_conv_3x3~2|"""

        def __init__(self, inputs, outputs):
            super().__init__()
            self.edges = nn.ModuleList([convolved(inputs, outputs), convolved(inputs, outputs), *(convolved(outputs, outputs) for _ in range(3))])
            same = inputs == outputs
            self.skip = nn.Identity() if same else nn.Sequential(nn.Conv2d(inputs, outputs, 1, bias=False), nn.BatchNorm2d(outputs))

        def forward(self, x):
            first = self.edges[0](x)
            second = self.edges[1](x) + self.edges[2](first)
            return self.skip(x) + self.edges[3](first) + self.edges[4](second)

    class Reduction(nn.Module):
        def __init__(self, inputs, outputs):
            super().__init__()
            self.block = nn.Sequential(convolved(inputs, outputs, 2), convolved(outputs, outputs))
            self.short = nn.Sequential(nn.AvgPool2d(2, 2), nn.Conv2d(inputs, outputs, 1, bias=False))

        def forward(self, x):
            return self.short(x) + self.block(x)

    a, b, c, d, e = channels
    return nn.Sequential(nn.Conv2d(3, a, 3, padding=1, bias=False), nn.BatchNorm2d(a), Cell(a, a), Reduction(a, b), Cell(b, c),
                         Reduction(c, d), Cell(d, e), nn.BatchNorm2d(e), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(e, 100))


def sizes():
    """{name: channels} of networks drawn from the 32,768 of the size space."""
    drawn = random.Random(1).sample(list(itertools.product(CANDIDATES, repeat=5)), SIZES)
    return {"sizes_" + "_".join(map(str, channels)): channels for channels in drawn}


def published():
    """Names of the pool's published CNNs without depthwise convolutions, which NATS-Bench has not."""
    networks = committed.Networks()
    return {name for name in networks.published() if networks.family[name] not in ("vit", "mixer")
            and "depthwise_convolution" not in {operator_type(networks.specifications[index]) for index in networks.operators[name]}}


def blocks(threads=1):
    """In the order in which they are measured."""
    synthetic = [f"synthetic_{block}" for block in range(BLOCKS)]
    if threads > 1:
        return synthetic
    return synthetic[:BLOCKS // 2] + ["published"] + [f"sizes_{block}" for block in range(SIZE_BLOCKS)] + synthetic[BLOCKS // 2:]


def make():
    for block in range(BLOCKS):
        folder = FOLDER / f"synthetic_{block}"
        if len(list(folder.glob("*.onnx"))) < OF_BLOCK:
            subprocess.run([TENSHOT, "network", "generate", "--space", "synthetic-cnn", "--count", str(OF_BLOCK), "--seed",
                            str(FIRST_SEED + block), "--out", folder, "--quiet"], check=True)
    import networks_zoo
    (FOLDER / "published").mkdir(exist_ok=True)
    wanted = published()
    for _, name, network, resolution in networks_zoo.zoo():
        path = FOLDER / "published" / f"{name}.onnx"
        if name in wanted and not path.exists():
            networks_zoo.export(network, resolution, path)
    for number, (name, channels) in enumerate(sizes().items()):
        path = FOLDER / f"sizes_{number % SIZE_BLOCKS}" / f"{name}.onnx"
        path.parent.mkdir(exist_ok=True)
        if not path.exists():
            networks_zoo.export(lambda _, channels=channels: size_network(channels), 32, path)


def measured_as(runtime, threads):
    """What files of a runtime with so many threads are called."""
    return runtime if threads == 1 else f"{runtime}_t{threads}"


def measure(runtime, seconds, threads):
    start = time.perf_counter()
    for block in blocks(threads):
        done = FOLDER / f"{measured_as(runtime, threads)}_{block}.done"
        if done.exists() or not (FOLDER / block).exists():
            continue
        if time.perf_counter() - start > seconds:
            print("to be continued", flush=True)
            return
        subprocess.run([TENSHOT, "collect", "--runtime", runtime, "--threads", str(threads), "--networks", FOLDER / block, "--runs", "24",
                        "--rounds", "3", "--attempts", "2", "--patience", "10", "--operators", "--out", FOLDER / "pool", "--quiet"], check=True)
        done.touch()
        print(f"{block}: measured after {time.perf_counter() - start:.0f} s", flush=True)
    print("all measured", flush=True)


def set_of(name):
    return name.split("_")[0] if name.startswith(("synthetic_cnn", "sizes_")) else "published"


class Networks:
    """What the measured networks execute."""

    def __init__(self):
        if not DOCUMENT.exists():
            describe()
        document = json.loads(DOCUMENT.read_text())
        self.specifications = document["operators"]
        self.counts = {network["name"]: collections.Counter(index for index in network["operators"]
                                                            if self.specifications[index]["kind"] != "reshape")
                       for network in document["networks"]}  # in the order in which operators come first


def describe():
    """What networks execute, of ONNX files that nothing is measured of."""
    links = FOLDER / "all"
    links.mkdir(exist_ok=True)
    files = [path for block in blocks() for path in sorted((FOLDER / block).glob("*.onnx"))]
    for path in files:
        if not (links / path.name).exists():
            os.link(path, links / path.name)
    (FOLDER / "table.csv").write_text("\n".join(["architecture,none", *(f"{path.stem},1" for path in files)]) + "\n")
    subprocess.run([TENSHOT, "dataset", "import", "--table", FOLDER / "table.csv", "--space", "networks", "--networks", links, "--out",
                    DOCUMENT.parent, "--quiet"], check=True)


def keep():
    """Of each network its latency, and what each of its different operators takes, in the order in which they come first; 0 of one
    that is executed with another one."""
    OUT.mkdir(exist_ok=True)
    networks, wanted = Networks(), published()
    for runtime, threads in itertools.product(RUNTIMES, THREADS):
        device = FOLDER / f"pool/{runtime}_t{threads}_b1"
        if not (device / "operators.csv").exists():
            continue
        took, rows = collections.defaultdict(dict), [["network", "latency_ms", "operators_ms"]]
        for row in committed.read(device / "operators.csv"):
            took[row["purpose"]][committed.row_key(row)] = float(row["latency_ms"] or 0)
        for name, latency in committed.latencies(device).items():
            if name in took and (set_of(name) != "published" or name in wanted):
                keys = [committed.specification_key(networks.specifications[index]) for index in networks.counts[name]]
                rows.append([name, f"{latency:.5g}", " ".join(f"{took[name][key]:.3g}" for key in keys)])
        table = FOLDER / f"{measured_as(runtime, threads)}.csv"
        with table.open("w", newline="") as file:
            csv.writer(file, lineterminator="\n").writerows(rows)
        subprocess.run([committed.ROOT / "experiments/shared/keep_table.sh", table, OUT], check=True)


def main():
    step, *others = sys.argv[1:] or [""]
    if step == "measure" and others:
        measure(others[0], float(others[1]) if len(others) > 1 else 480, int(others[2]) if len(others) > 2 else 1)
    elif step in ("make", "keep"):
        {"make": make, "keep": keep}[step]()
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main()
