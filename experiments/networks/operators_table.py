#!/usr/bin/env python3
"""What each operator takes, the median over the networks of a device-runtime that have it.

    operators_table.py DEVICE_FOLDER OUT_FOLDER    OUT_FOLDER/<id>.csv from DEVICE_FOLDER/operators.csv

Prints how the sum of a network's operators compares with its latency in DEVICE_FOLDER/latencies.csv.
"""
import collections
import csv
import json
import statistics
import sys
from pathlib import Path

WHAT = ["kernel", "operation", "function", "inputs", "output", "window", "stride", "dilation", "groups", "bias"]


NETWORKS = Path(__file__).parents[2] / "datasets/data/networks/networks.json"  # what each network executes


def written(shape):
    return "x".join(map(str, shape))


def operator_of(described):
    """An operator of networks.json as a row of operators.csv has it."""
    extents = [written(described.get(key, [1, 1])) for key in ("kernel", "stride")]
    inputs = " ".join(map(written, described.get("inputs", [])))
    return (described["kind"], described.get("name", ""), inputs, written(described["output"]), *extents,
            str(described.get("groups", 1)))


def print_sums(device):
    """Of each network all its operators, over its latency."""
    described = json.loads(NETWORKS.read_text())
    times = collections.defaultdict(dict)
    with open(device / "operators.csv", newline="") as file:
        for row in csv.DictReader(file):
            key = tuple(row[column] for column in WHAT[1:7]) + (row["groups"],)
            times[row["purpose"]][key] = float(row["latency_ms"] or 0)
    with open(device / "latencies.csv", newline="") as file:
        latency = {row["architecture"]: float(row["latency_ms"]) for row in csv.DictReader(file)}
    ratios = []
    for network in described["networks"]:
        if network["name"] in latency and network["name"] in times:
            own = times[network["name"]]
            total = sum(own.get(operator_of(described["operators"][i]), 0) for i in network["operators"])
            ratios.append(total / latency[network["name"]])
    near = sum(abs(ratio - 1) <= .1 for ratio in ratios) / len(ratios)
    print(f"sums of operators over latencies of {len(ratios)} networks: median {statistics.median(ratios):.2f}, "
          f"within 10 % of each other for {100 * near:.0f} %")


def main():
    device, out = Path(sys.argv[1]), Path(sys.argv[2])
    measured, refused = collections.defaultdict(list), {}
    with open(device / "operators.csv", newline="") as file:
        for row in csv.DictReader(file):
            key = tuple(row[column] for column in WHAT) + (row["isolation"],)
            if row["refused"]:
                refused[key] = row["refused"]
            else:
                measured[key].append(float(row["latency_ms"]))
    with open(out / f"{device.name}.csv", "w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow([*WHAT, "isolation", "latency_ms", "refused"])
        for key in sorted({*measured, *refused}):
            latency = f"{statistics.median(measured[key]):.4g}" if key in measured else ""
            writer.writerow([*key, latency, "" if latency else refused[key]])
    print(f"{out / device.name}.csv: {len(measured)} operators with a time, "
          f"{len(set(refused) - set(measured))} that others execute")
    print_sums(device)


if __name__ == "__main__":
    main()
