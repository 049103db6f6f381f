#!/usr/bin/env python3
"""What each operator takes, the median over the networks of a device-runtime that have it.

    operators_table.py DEVICE_FOLDER OUT_FOLDER    OUT_FOLDER/<id>.csv from DEVICE_FOLDER/operators.csv
"""
import collections
import csv
import statistics
import sys
from pathlib import Path

WHAT = ["kernel", "operation", "function", "inputs", "output", "window", "stride", "dilation", "groups", "bias"]


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


if __name__ == "__main__":
    main()
