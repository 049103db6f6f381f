#!/usr/bin/env python3
"""How well nn-Meter's forests predict single kernels (its Table 9): learns from four fifths of the samples of each kernel in
datasets/data/kernels and predicts the others, five times. Writes experiments/paper/by_kernel/ in minutes.

  experiments/paper/by_kernel.py [tenshot, build/tenshot unless said]"""

import collections
import csv
import hashlib
import json
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import committed

OUT = committed.ROOT / "experiments/paper/by_kernel"
FOLDS = 5


def specification(row):
    """A row of kernels.csv as an operator of networks.json."""
    numbers = lambda text: [int(number) for number in text.split("x")]
    spec = {"kind": row["operation"], "inputs": [numbers(shape) for shape in row["inputs"].split()],
            "output": numbers(row["output"])}
    if row["function"]:
        spec["name"] = row["function"]
    for name, column in (("kernel", "window"), ("stride", "stride"), ("dilation", "dilation")):
        if row[column] != "1x1":
            spec[name] = numbers(row[column])
    if int(row["groups"]) > 1:
        spec["groups"] = int(row["groups"])
    if row["bias"] == "1":
        spec["bias"] = True
    return spec


def networks_of(rows):
    """A network for each kernel: its operator, and behind it what it is fused with."""
    operators, networks = [], []
    for number, row in enumerate(rows):
        leading = specification(row)
        chain = [leading] + [{"kind": "activation", "name": name, "inputs": [leading["output"]], "output": leading["output"]}
                             for name in row["kernel"].split("++")[1:]]
        name = f"kernel_{number}"
        networks.append({"name": name, "hash": hashlib.sha256(name.encode()).hexdigest(),
                         "operators": list(range(len(operators), len(operators) + len(chain))),
                         "sources": [[-1] * len(leading["inputs"]), *([place] for place in range(len(chain) - 1))]})
        operators += chain
    return {"format": "tenshot.networks/1", "networks": networks, "operators": operators}


def predicted(tenshot, rules, learned, document, folder):
    """ms of each network of the document, by forests of the kernels that are learned."""
    with (folder / "kernels.csv").open("w", newline="") as file:
        table = csv.DictWriter(file, learned[0].keys())
        table.writeheader()
        table.writerows(learned)
    (folder / "networks.json").write_text(json.dumps(document))
    (folder / "names.csv").write_text("\n".join(["architecture", *(network["name"] for network in document["networks"])]) + "\n")
    for arguments in (["kernels", "train", "--kernels", "kernels.csv", "--rules", rules, "--out", "forests.tenshot"],
                      ["predict", "--predictor", "forests.tenshot", "--networks", "networks.json", "--archs", "names.csv",
                       "--out", "predictions.csv"]):
        subprocess.run([tenshot, *arguments, "--quiet"], cwd=folder, check=True)
    found = {row["architecture"]: float(row["latency_ms"]) for row in committed.read(folder / "predictions.csv")}
    return [found[network["name"]] for network in document["networks"]]


def main():
    tenshot = Path(sys.argv[1] if len(sys.argv) > 1 else committed.ROOT / "build/tenshot").resolve()
    cells, rows_kept = collections.defaultdict(dict), []
    for runtime in committed.SAMPLED:
        folder = committed.DATA / "kernels" / runtime
        rows = [row for row in committed.read(folder / "kernels.csv") if row["purpose"] == "sample" and not row["refused"]]
        place = collections.Counter()
        fold = []
        for row in rows:  # in the order of measuring, so that a fold holds some of each round
            fold.append(place[row["kernel"]] % FOLDS)
            place[row["kernel"]] += 1
        ratios, errors = collections.defaultdict(list), collections.defaultdict(list)
        for number in range(FOLDS):
            learned = [row for row, of in zip(rows, fold) if of != number]
            asked = [row for row, of in zip(rows, fold) if of == number]
            with tempfile.TemporaryDirectory() as temporary:
                values = predicted(tenshot, folder / "kernels_rules.json", learned, networks_of(asked), Path(temporary))
            for row, value in zip(asked, values):
                measured = float(row["latency_ms"])
                ratios[row["kernel"]].append(value / measured)
                errors[row["kernel"]].append(value - measured)
        for kernel, of in ratios.items():
            rmse = statistics.fmean(error ** 2 for error in errors[kernel]) ** 0.5
            median = 100 * statistics.median(abs(ratio - 1) for ratio in of)
            rows_kept.append([runtime, kernel, len(of), f"{committed.within(of) / 100:.4f}", f"{rmse:.5g}", f"{median:.2f}"])
            cells[kernel][runtime] = f"{committed.within(of):.0f} ({median:.0f} %, {rmse:.2g} ms)"
    with (OUT / "results.csv").open("w", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows(
            [["runtime", "kernel", "kernels", "acc10", "rmse_ms", "median_error"], *rows_kept])
    (OUT / "README.md").write_text(
        "# Accuracy by kernel\n\n`experiments/paper/by_kernel.py`: nn-Meter's forests (Table 9) learn from four fifths of the "
        "samples of each kernel and predict the others, five times. Share within ±10 %, in percent, and in brackets the median "
        "error and the root mean square error. The paper has 89.1 % of convolutions and 97.4 % of depthwise ones on the CPU, "
        "82.0 and 98.7 on the GPU, 67.9 and 89.4 on the VPU, from ten to a hundred times the "
        "[samples](../committed/README.md#nn-meter-table-6).\n\n"
        + committed.table(["kernel", *committed.SAMPLED], [[f"`{kernel}`", *(of.get(runtime, "–") for runtime in committed.SAMPLED)]
                                                           for kernel, of in sorted(cells.items())]))
    sys.exit(subprocess.run([sys.executable, committed.ROOT / "experiments/pages.py", "--made", "by_kernel"],
                            check=False).returncode)


if __name__ == "__main__":
    main()
