#!/usr/bin/env python3
"""Means over CPU settings and over GPU settings of results.csv that experiments/mobile_cnn.sh joined, as Markdown."""
import collections
import csv
import statistics
import sys

MEASURES = [("acc10", "within ±10 %", 100, 1), ("mape", "mean error, %", 100, 1), ("spearman", "Spearman's ρ", 1, 3),
            ("coverage90", "90 % intervals hold, %", 100, 1)]


def main():
    with open(sys.argv[1], newline="") as file:
        rows = list(csv.DictReader(file))
    by_setting = collections.defaultdict(list)
    for row in rows:
        by_setting[row["method"], "GPU" if "_gpu_" in row["target"] else "CPU"].append(row)
    print("# mobile_cnn\n")
    print("`TENSHOT_TABLES=folder experiments/mobile_cnn.sh`: the 102 published CNNs of Li, Paolieri and Golubchik (EdgeSys")
    print("2024) under TensorFlow Lite on four phones. Each phone is left out of the pool with all its settings; the ten")
    print("measured networks come from one half of the networks, the other half is predicted. Mean over settings and")
    print("splits, ± the standard deviation over the means of the splits.\n")
    print("| method | settings | " + " | ".join(label for _, label, _, _ in MEASURES) + " |")
    print("|---|---|" + "---|" * len(MEASURES))
    for (method, setting), group in by_setting.items():
        cells = []
        for key, _, factor, digits in MEASURES:
            means = [statistics.mean(factor * float(row[key]) for row in group if row["split"] == split)
                     for split in sorted({row["split"] for row in group})]
            spread = statistics.stdev(means) if len(means) > 1 else 0.0
            cells.append(f"{statistics.mean(means):.{digits}f} ± {spread:.{digits}f}")
        targets = len({row["target"] for row in group})
        print(f"| {method} | {targets} {setting} | " + " | ".join(cells) + " |")


if __name__ == "__main__":
    main()
