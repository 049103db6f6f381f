#!/usr/bin/env python3
"""Prints what maple_edge_descriptor_search.json chooses for each runtime, inside the pool that its targets have.

    python3 experiments/search/maple_edge_descriptor_search.py RESULTS.csv

For each left-out runtime: the mean share within +-10 % of every method over the other runtimes' targets, by the number
of samples; the method with the best mean over all of them; and that method's score on the left-out runtime itself,
which takes no part in the choice.
"""
import collections
import csv
import sys


def choices(rows):
    """{left-out runtime: (means {method: mean}, chosen method, {samples: its score outside})}."""
    inside, outside = (collections.defaultdict(lambda: collections.defaultdict(list)) for _ in range(2))
    for row in rows:
        runtime = row["pool"].removeprefix("without ")
        if runtime == row["pool"]:
            raise SystemExit(f"pool '{row['pool']}', expected 'without RUNTIME'")
        if runtime in row["target"]:
            outside[runtime][row["method"], int(row["samples"])].append(float(row["acc10"]))
        else:
            inside[runtime][row["method"]].append(float(row["acc10"]))
    result = {}
    for runtime, methods in inside.items():
        sizes = {len(values) for values in methods.values()}
        if len(sizes) != 1:
            raise SystemExit(f"without {runtime}: methods have {sorted(sizes)} rows, expected as many of each")
        means = {name: sum(values) / len(values) for name, values in methods.items()}
        chosen = max(means, key=means.get)
        scores = {samples: sum(values) / len(values)
                  for (name, samples), values in sorted(outside[runtime].items()) if name == chosen}
        result[runtime] = (means, chosen, scores)
    return result


def main():
    if len(sys.argv) != 2:
        raise SystemExit(__doc__)
    with open(sys.argv[1], newline="") as file:
        found = choices(csv.DictReader(file))
    for runtime, (means, chosen, scores) in found.items():
        inner = ", ".join(f"{name} {100 * mean:.1f}" for name, mean in means.items())
        outer = ", ".join(f"{samples} samples {100 * score:.1f}" for samples, score in scores.items())
        print(f"without {runtime}: inside {inner}; chosen: {chosen}; on {runtime}: {outer}")


if __name__ == "__main__":
    main()
