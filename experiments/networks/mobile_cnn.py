#!/usr/bin/env python3
"""Joins what experiments/networks/mobile_cnn.sh or experiments/search/mobile_cnn_search.sh found in its splits, and puts it into words.

  mobile_cnn.py spec NAME SPEC TABLE   prints SPEC for the rows of TABLE, which are in the order of one split
  mobile_cnn.py NAME WORK RESULTS   WORK has one folder of `tenshot experiment` for each split; RESULTS gets results.csv,
                                    with the split and the median error of each cell, and README.md
"""
import collections
import csv
import json
import pathlib
import re
import statistics
import sys

MEASURES = [("acc10", "within ±10 %", 100, 1), ("acc5", "±5 %", 100, 1), ("median_error", "median error, %", 100, 1),
            ("spearman", "Spearman's ρ", 1, 3), ("coverage90", "90 % intervals hold, %", 100, 1)]
PROTOCOLS = {
    "mobile_cnn": """`TENSHOT_TABLES=folder experiments/networks/mobile_cnn.sh`: the 102 published CNNs of Li, Paolieri and Golubchik (EdgeSys
2024) under TensorFlow Lite on four phones. Each phone is left out of the pool with all its settings; the ten
measured networks come from one half of the networks, the other half is predicted. The GPUs of the pool's phones also
say what each operator of the networks that the pool knows took (the table's profiles); of the phone that is left
out no such time is read. Mean over settings and splits, ± the standard deviation over the means of the splits.""",
    "mobile_cnn_families": """`TENSHOT_TABLES=folder experiments/networks/mobile_cnn.sh families`: as [mobile_cnn](../mobile_cnn/README.md), but families
of networks stay whole: of each of 25 families (mobilenet, preresnet, resnet, regnet and so on, by the letters that a
name begins with) all networks are on one side of a split, the sides about as large as each other.""",
    "mobile_cnn_known": """`TENSHOT_TABLES=folder experiments/networks/mobile_cnn.sh known`: as [mobile_cnn](../mobile_cnn/README.md), but the pool knows all
networks on its phones: only the phone is new. The ten still come from one half of the networks, and the other half is
predicted.""",
    "mobile_cnn_profiled": """`TENSHOT_TABLES=folder experiments/networks/mobile_cnn.sh profiled`: the GPUs of [mobile_cnn](../mobile_cnn/README.md),
where the board also tells what each operator of the measured networks took. A profile holds an operator's median over all
networks that have it, since the table's operators are read so. How profiles are used was settled
on [runtimes of this machine](../profiled_networks/README.md). Two settings were asked of these rows by hand too, before the
error of the others from which own operators count more became .06: one of .05, without what is corrected nearby, had 85.5 %
(intervals held 87.8), and twice the weight 85.1 (89.9), where the program before had 84.3 (91.2).""",
    "mobile_cnn_search": """`TENSHOT_TABLES=folder experiments/search/mobile_cnn_search.sh`: what `operators` assumes, one assumption changed at a time,
inside the pools of [mobile_cnn](../mobile_cnn/README.md). Of each split (1 and 2) and each phone tested there, only the
other three phones and the half of the networks that their pool knows are seen; each of the three is predicted by the
other two, and a third of the networks is new to the pool. ± is the standard deviation over the eight. `operators` plans with
a noise of 0.1. Where the operators' times are not learned, the plan still knows them."""}


def family(network):
    """As experiments/networks/order_networks.sh."""
    letters = re.sub(r"[0-9_].*", "", network)
    return re.sub(r"^(mobilenet|preresnet|resnet|regnet).*", r"\1", letters)


def spec_of(name, spec, ordered):
    described = json.loads(pathlib.Path(spec).read_text())
    described["data"]["table"] = ordered
    with open(ordered, newline="") as file:
        networks = [row[0] for row in list(csv.reader(file))[1:]]
    rows, middle = len(networks), len(networks) // 2
    if name == "mobile_cnn_families":  # the end of a family that is nearest to the middle
        ends = [i for i in range(1, rows) if family(networks[i - 1]) != family(networks[i])]
        middle = min(ends, key=lambda end: abs(end - middle))
    described["split"] = {"train": f"0:{middle}", "test": f"{middle}:{rows}"}
    if name == "mobile_cnn_profiled":
        described["targets"] = ["*_gpu_float"]
        described["methods"] = [{"name": f"operators{samples}{profiled}", "predictor": "operators", **options}
                                for samples, count in (("", {}), (", three samples", {"samples": 3}))
                                for profiled, options in (("", count), (", profiled", {**count, "profiled": True}))]
    if name == "mobile_cnn_known":
        described["split"]["pool"] = f"0:{rows}"
    return json.dumps(described, indent=2)


def median_errors(cells):
    """One for each cell, in the order of results.csv, with the share within ±10 % to check that order by."""
    for path in sorted(cells.glob("*.json")):
        cell = json.loads(path.read_text())
        errors = [abs(p / m - 1) for p, m in zip(cell["predicted_ms"], cell["measured_ms"])]
        yield statistics.median(errors), cell["metrics"]["acc10"]


def rounded(value):
    """Six digits of what is no whole number: there are thousands of rows."""
    try:
        return f"{float(value):.6g}" if "." in value else value
    except ValueError:
        return value


def joined(work):
    rows = []
    for folder in sorted(path.parent for path in work.glob("*/results.csv")):
        with open(folder / "results.csv", newline="") as file:
            own = list(csv.DictReader(file))
        for row, (median_error, acc10) in zip(own, median_errors(folder / "cells"), strict=True):
            if abs(float(row["acc10"]) - acc10) > 1e-6:
                raise SystemExit(f"{folder}: the cells are in another order than results.csv")
            rows.append({"split": folder.name, **{key: rounded(value) for key, value in row.items()},
                         "median_error": f"{median_error:.6g}"})
    return rows


def table(rows):
    by_setting = collections.defaultdict(list)
    for row in rows:
        by_setting[row["method"], "GPU" if "_gpu_" in row["target"] else "CPU"].append(row)
    yield "| method | settings | " + " | ".join(label for _, label, _, _ in MEASURES) + " |"
    yield "|---|---|" + "---|" * len(MEASURES)
    for (method, setting), group in by_setting.items():
        cells = []
        for key, _, factor, digits in MEASURES:
            measured = [row for row in group if row[key]]  # no intervals, or no rank correlation of constant predictions
            if not measured:
                cells.append("–")
                continue
            means = [statistics.mean(factor * float(row[key]) for row in measured if row["split"] == split)
                     for split in sorted({row["split"] for row in measured})]
            spread = statistics.stdev(means) if len(means) > 1 else 0.0
            cells.append(f"{statistics.mean(means):.{digits}f} ± {spread:.{digits}f}")
        targets = len({row["target"] for row in group})
        yield f"| {method} | {targets} {setting} | " + " | ".join(cells) + " |"


def main():
    if sys.argv[1] == "spec":
        return print(spec_of(*sys.argv[2:]))
    name, work, results = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
    rows = joined(work)
    with open(results / "results.csv", "w", newline="") as file:
        writer = csv.DictWriter(file, rows[0].keys(), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    text = "\n".join([f"# {name}", "", PROTOCOLS[name], "", *table(rows)]) + "\n"
    (results / "README.md").write_text(text)
    print(text)


if __name__ == "__main__":
    main()
