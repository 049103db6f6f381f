"""Spearman's ρ of an experiment's first trial on all architectures, and on those of medium latency: HELP's authors leave a tenth
out at each end.

    middle_ranks.py PREDICTIONS.csv >ranks.csv     of a folder that `tenshot experiment` wrote
"""
import collections
import csv
import statistics
import sys


def ranks(values):
    """Ties have their mean rank."""
    places = collections.defaultdict(list)
    for place, value in enumerate(sorted(values)):
        places[value].append(place)
    return [statistics.fmean(places[value]) for value in values]


def main(path):
    found = collections.defaultdict(list)
    with open(path, newline="") as file:
        for row in csv.DictReader(file):
            found[row["method"], row["target"]].append((float(row["measured_ms"]), float(row["predicted_ms"])))
    print("method,target,all,middle")
    for (method, target), pairs in found.items():
        pairs.sort()
        middle = pairs[len(pairs) // 10:len(pairs) - len(pairs) // 10]
        print(f'"{method}",{target},' + ",".join(f"{statistics.correlation(*map(ranks, zip(*part))):.3f}"
                                                 for part in (pairs, middle)))


if __name__ == "__main__":
    main(sys.argv[1])
