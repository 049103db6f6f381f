#!/usr/bin/env python3
"""Tabulates profiled_search.sh: share within ±10 % as Markdown, mean over splits.

    profiled_search.py WORK    of the results WORK/SPLIT/out/results.csv, whose rows are kept in profiled_search.csv
    profiled_search.py         of the rows that are kept
"""
import csv
import statistics
import sys
from pathlib import Path

KEPT = Path(__file__).with_suffix(".csv")
COLUMNS = ["split", "target", "samples", "method", "acc10", "coverage90"]


def read(file):
    with open(file, newline="") as table:
        return list(csv.DictReader(table))


def keep(work):
    rows = [{"split": file.parent.parent.name, **row} for file in Path(work).glob("*/out/results.csv") for row in read(file)]
    rows.sort(key=lambda row: (row["split"], row["target"], int(row["samples"])))
    with open(KEPT, "w", newline="") as file:
        table = csv.DictWriter(file, COLUMNS, extrasaction="ignore", lineterminator="\n")
        table.writeheader()
        table.writerows(rows)


def main():
    if sys.argv[1:]:
        keep(sys.argv[1])
    rows = sorted(read(KEPT), key=lambda row: int(row["samples"]))
    targets = sorted({row["target"] for row in rows})
    print("| networks | method | " + " | ".join(targets) + " | mean |\n|---|---|" + "---|" * (len(targets) + 1))
    for samples, method in dict.fromkeys((row["samples"], row["method"]) for row in rows):
        shares = [statistics.mean(100 * float(row["acc10"]) for row in rows
                                  if (row["samples"], row["method"], row["target"]) == (samples, method, target))
                  for target in targets]
        print(f"| {samples} | {method} | " + " | ".join(f"{share:.1f}" for share in [*shares, statistics.mean(shares)]) + " |")


if __name__ == "__main__":
    main()
