#!/usr/bin/env python3
"""A latency-constrained architecture search in Python, with nothing of tenshot but one exported file.

    tenshot export --predictor device.tenshot --torchscript device.pt
    python3 experiments/use_from_python.py device.pt [--accuracies accuracies.csv] [--limit-ms 5]

Scores all 15,625 architectures of NAS-Bench-201, keeps those whose latency is below the limit with 90 % confidence
where the predictor has intervals, and prints the Pareto front: the architectures that no faster one beats in accuracy.

--accuracies is a CSV with the columns architecture,accuracy. Without it accuracies are MADE UP from the number of
convolutions, so that there is something to search; they are no one's measurements.
"""
import argparse
import csv
import itertools
import math
import random
import statistics
import time

import torch

OPERATIONS = ["none", "skip_connect", "nor_conv_1x1", "nor_conv_3x3", "avg_pool_3x3"]


def all_architectures():
    """The strings of NAS-Bench-201: three nodes, each reading all before it (Dong and Yang, ICLR 2020)."""
    return [
        f"|{a}~0|+|{b}~0|{c}~1|+|{d}~0|{e}~1|{f}~2|"
        for a, b, c, d, e, f in itertools.product(OPERATIONS, repeat=6)
    ]


def made_up_accuracies(architectures):
    """SYNTHETIC: grows with the convolutions, falls where nothing connects; seeded noise. Not measured by anyone."""
    noise = random.Random(1)
    table = {}
    for architecture in architectures:
        work = architecture.count("nor_conv_3x3") + 0.6 * architecture.count("nor_conv_1x1")
        paths = architecture.count("skip_connect") + 0.3 * architecture.count("avg_pool_3x3")
        score = 94.5 - 14 * math.exp(-0.7 * work - 0.3 * paths) - 1.5 * architecture.count("none")
        table[architecture] = score + noise.gauss(0, 0.2)
    return table


def read_accuracies(path):
    """A CSV with the columns architecture,accuracy."""
    with open(path, newline="", encoding="utf-8") as file:
        return {row["architecture"]: float(row["accuracy"]) for row in csv.DictReader(file)}


def pareto_front(candidates):
    """Of (latency, accuracy, architecture): those more accurate than everything faster, fastest first."""
    front, best = [], -math.inf
    for latency, accuracy, architecture in sorted(candidates):
        if accuracy > best:
            front.append((latency, accuracy, architecture))
            best = accuracy
    return front


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("predictor", help="what `tenshot export --torchscript` wrote")
    parser.add_argument("--accuracies", help="CSV: architecture,accuracy (default: made up)")
    parser.add_argument("--limit-ms", type=float, help="latency not to exceed (default: the median of all)")
    parser.add_argument("--repeats", type=int, default=5, help="times the scoring is timed")
    arguments = parser.parse_args()

    torch.set_num_threads(1)
    predictor = torch.jit.load(arguments.predictor)
    architectures = all_architectures()
    for _ in range(2):
        predictor.predict(architectures)  # the first calls compile
    seconds, processor_seconds = [], []
    for _ in range(arguments.repeats):
        start, processor_start = time.perf_counter(), time.process_time()
        latency_ms = predictor.predict(architectures).tolist()
        seconds.append(time.perf_counter() - start)
        processor_seconds.append(time.process_time() - processor_start)
    print(f"{len(architectures)} architectures from their strings in {statistics.median(seconds):.3f} s "
          f"(median of {arguments.repeats}, {min(seconds):.3f} to {max(seconds):.3f} s; "
          f"of the processor {statistics.median(processor_seconds):.3f} s; one thread)")

    safe_ms = latency_ms
    if hasattr(predictor, "predict_interval"):
        safe_ms = predictor.predict_interval(architectures, 0.9)[2].tolist()
    limit_ms = arguments.limit_ms or statistics.median(latency_ms)
    if arguments.accuracies:
        accuracies = read_accuracies(arguments.accuracies)
    else:
        accuracies = made_up_accuracies(architectures)
        print("Accuracies are made up (synthetic): give --accuracies for yours")
    candidates = [
        (latency, accuracies[architecture], architecture)
        for latency, safe, architecture in zip(latency_ms, safe_ms, architectures)
        if safe <= limit_ms and architecture in accuracies
    ]
    front = pareto_front(candidates)
    print(f"{len(candidates)} of them stay under {limit_ms:.3g} ms; on the Pareto front, {len(front)}:")
    print("latency_ms,accuracy,architecture")
    for latency, accuracy, architecture in front:
        print(f"{latency:.3f},{accuracy:.2f},{architecture}")


if __name__ == "__main__":
    main()
