#!/usr/bin/env python3
"""nn-Meter's Table 10: forests that learn from adaptive samples of convolutions, and from as many random ones of its Table 5,
predict the convolutions of networks of other families, on libtorch-frozen and opencv-dnn. Writes experiments/paper/random_sampling/.

  experiments/paper/random_sampling.py measure             two minutes of one processor
  experiments/paper/random_sampling.py compare [tenshot, build/tenshot unless said]"""

import csv
import random
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import by_kernel
import committed

sys.path.insert(0, str(committed.ROOT / "experiments/kernels"))

OUT = committed.ROOT / "experiments/paper/random_sampling"
KERNEL = {"libtorch-frozen": "convolution", "opencv-dnn": "convolution++relu"}  # what each executes of Conv++bn++relu
MOST_MULTIPLY_ADDS, MOST_WEIGHTS = 1e9, 2e7
ASKED = 300
SPECIFICATION = ["kernel", "operation", "function", "inputs", "output", "window", "stride", "dilation", "groups", "bias"]


def row_of(kernel, side, channels, filters, window, stride):
    out = (side + stride - 1) // stride
    return {"kernel": kernel, "operation": "convolution", "function": "", "inputs": f"1x{channels}x{side}x{side}",
            "output": f"1x{filters}x{out}x{out}", "window": f"{window}x{window}", "stride": f"{stride}x{stride}", "dilation": "1x1",
            "groups": "1", "bias": "1"}


def work(row):
    """(multiply-adds, weights)"""
    channels = int(row["inputs"].split("x")[1])
    window = int(row["window"].split("x")[0]) * int(row["window"].split("x")[1])
    _, filters, height, width = map(int, row["output"].split("x"))
    return filters * height * width * channels * window, filters * channels * window


def random_rows(kernel, count):
    """Of Table 5, but for what takes more than a billion multiply-adds."""
    rng, rows = random.Random(1), []
    while len(rows) < count:
        side, window = rng.choice([224, 112, 56, 32, 28, 27, 14, 13, 8, 7, 1]), rng.choice([1, 3, 5, 7, 9])
        row = row_of(kernel, side, rng.randrange(3, 2160), rng.randrange(16, 2048), window, rng.choice([1, 2, 4]))
        if all(value <= most for value, most in zip(work(row), (MOST_MULTIPLY_ADDS, MOST_WEIGHTS))):
            rows.append(row)
    return rows


def asked_rows(kernel):
    """Convolutions of the networks whose families nobody learns from."""
    roles = {row["network"]: row["role"] for row in committed.read(committed.DATA / "kernels/split.csv")}
    networks, found = committed.Networks(), {}
    for name, role in roles.items():
        for index in networks.operators[name] if role == "test" else []:
            spec = networks.specifications[index]
            if spec["kind"] == "convolution" and spec.get("groups", 1) == 1 and spec.get("dilation", [1, 1]) == [1, 1]:
                of = dict(zip(("operation", "function", "inputs", "output", "window", "stride", "groups"), committed.specification_key(spec)))
                row = {"kernel": kernel, **of, "dilation": "1x1", "bias": "1"}
                found[tuple(row.values())] = row
    return random.Random(1).sample(list(found.values()), min(ASKED, len(found)))


def measure():
    import small_networks
    import torch
    torch.set_grad_enabled(False)
    small_networks.set_threads(1)
    OUT.mkdir(exist_ok=True)
    kept = []
    for runtime, kernel in KERNEL.items():
        adaptive = [{key: row[key] for key in SPECIFICATION} for row in committed.read(committed.DATA / "kernels" / runtime / "kernels.csv")
                    if row["purpose"] == "sample" and row["kernel"] == kernel and not row["refused"]]
        sets = {"adaptive": adaptive, "random": random_rows(kernel, len(adaptive)), "asked": asked_rows(kernel)}
        call = small_networks.RUNTIMES[runtime](small_networks.CALL)
        everything = [(name, row) for name, rows in sets.items() for row in rows]
        random.Random(2).shuffle(everything)
        for name, row in everything:
            spec = by_kernel.specification(row)
            nodes = [spec] + [small_networks.activation(spec["output"])] * kernel.endswith("++relu")
            network = small_networks.RUNTIMES[runtime](small_networks.chain(spec["inputs"][0], *nodes))
            network.run()
            once = small_networks.timed(network, 1)
            runs = max(3, min(15, int(30 / once)))
            took = small_networks.timed(network, runs) - small_networks.timed(call, 15)
            kept.append([runtime, name, *(row[key] for key in SPECIFICATION), f"{max(took, 1e-4):.6g}"])
        print(runtime, {name: len(rows) for name, rows in sets.items()}, flush=True)
    with (OUT / "samples.csv").open("w", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([["runtime", "set", *SPECIFICATION, "latency_ms"], *kept])


def compare(tenshot):
    rows, results = committed.read(OUT / "samples.csv" if (OUT / "samples.csv").exists() else OUT / "samples.csv.gz"), []
    for runtime in KERNEL:
        of = lambda name: [row for row in rows if (row["runtime"], row["set"]) == (runtime, name)]
        asked = of("asked")
        for name in ("random", "adaptive"):
            learned = [{key: row[key] for key in (*SPECIFICATION, "latency_ms")} for row in of(name)]
            with tempfile.TemporaryDirectory() as temporary:
                values = by_kernel.predicted(tenshot, committed.DATA / "kernels" / runtime / "rules.json", learned, by_kernel.networks_of(asked),
                                             Path(temporary))
            measured = [float(row["latency_ms"]) for row in asked]
            ratios = [value / ms for value, ms in zip(values, measured)]
            rmse = statistics.fmean((value - ms) ** 2 for value, ms in zip(values, measured)) ** 0.5
            times = [float(row["latency_ms"]) for row in learned]
            results.append([runtime, name, len(learned), f"{statistics.median(times):.4f}", len(asked), f"{rmse:.4f}",
                            f"{committed.within(ratios) / 100:.4f}", f"{statistics.median(abs(ratio - 1) for ratio in ratios):.4f}"])
            print(*results[-1], flush=True)
    header = ["runtime", "sampling", "samples", "median_ms", "asked", "rmse_ms", "acc10", "median_error"]
    with (OUT / "results.csv").open("w", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([header, *results])
    body = [[runtime, name, samples, f"{float(middle):.2f} ms", f"{float(rmse):.2f} ms", f"{100 * float(share):.1f} %", f"{100 * float(error):.0f} %"]
            for runtime, name, samples, middle, _, rmse, share, error in results]
    (OUT / "README.md").write_text((OUT / "text.md").read_text() + "\n" + committed.table(
        ["runtime", "sampling", "samples", "their median latency", "RMSE", "within ±10 %", "median error"], body))
    sys.exit(subprocess.run([sys.executable, committed.ROOT / "experiments/pages.py", "--made", "random_sampling"], check=False).returncode)


if __name__ == "__main__":
    if sys.argv[1:2] == ["measure"]:
        measure()
    elif sys.argv[1:2] == ["compare"]:
        compare(Path(sys.argv[2] if len(sys.argv) > 2 else committed.ROOT / "build/tenshot").resolve())
    else:
        sys.exit(__doc__)
