#!/usr/bin/env python3
"""Keeps of a search what its choice rests on: the means of each way, in means.csv beside this file.

    python3 experiments/search/means.py NAME RESULTS.csv     replaces the rows of the search NAME

A row is a pool, a number of samples and a way (method): cells that were run, and of them those that used counters; trials;
the share within +-10 %, percent, and Spearman's rank correlation, each the mean over targets, with the deviation of the
first over trials.
"""
import collections
import csv
import statistics
import sys
from pathlib import Path

MEANS = Path(__file__).with_name("means.csv")
COLUMNS = ["search", "pool", "samples", "method", "cells", "with_counters", "trials", "acc10", "deviation", "spearman"]


def means_of(name, rows):
    groups = collections.defaultdict(list)
    for row in rows:
        groups[row["pool"], row["samples"], row["method"]].append(row)
    for (pool, samples, method), cells in groups.items():
        trials = collections.defaultdict(list)
        for row in cells:
            trials[row["trial"]].append(100 * float(row["acc10"]))
        means = [statistics.fmean(values) for values in trials.values()]
        deviation = f"{statistics.stdev(means):.2f}" if len(means) > 1 else ""
        counters = sum("counters" in row["descriptor"] for row in cells)
        ranks = statistics.fmean(float(row["spearman"]) for row in cells)
        yield [name, pool, samples, method, len(cells), counters, len(trials), f"{statistics.fmean(means):.2f}", deviation,
               f"{ranks:.4f}"]


def main():
    name, results = sys.argv[1:]
    with open(results, newline="") as file:
        rows = list(means_of(name, csv.DictReader(file)))
    kept = []
    if MEANS.exists():
        with MEANS.open(newline="") as file:
            kept = [row for row in list(csv.reader(file))[1:] if row[0] != name]
    with MEANS.open("w", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([COLUMNS, *sorted(kept + rows, key=lambda row: row[0])])


if __name__ == "__main__":
    main()
