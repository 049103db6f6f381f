#!/usr/bin/env python3
"""Puts first the networks whose profiles tell most of the operators of all networks that a plan may choose from.

    python3 profiled_plan.py SPLIT_FOLDER    OUT of `own_networks.py split`: sorts the rows of its pool that are trained on
    python3 profiled_plan.py table RESULTS.csv    the results of all splits as Markdown

A Gaussian process over the logarithm of an operator's time, alike where operators are of one kind and of alike sizes
(trainer/predictors/operators/operator_process.h), is uncertain about every operator of the candidates, by its share of
their arithmetic. The profile of a network observes all of its operators. Networks are taken one by one, each the one that
leaves the least uncertainty, as a plan takes them that knows that it will be measured with --profile.
"""
import csv
import json
import statistics
import sys
from pathlib import Path

import numpy

PLANNED = 10
NOISE = 0.1  # of an observed operator's log time, against a spread of 1
LENGTH = 1.5  # of the logarithms of sizes, within which operators are alike


def elements(shape):
    return numpy.prod([max(extent, 1) for extent in shape]) if shape else 1


def features(operator):
    inputs = operator.get("inputs") or [operator["output"]]
    taken, given = inputs[0], operator["output"]
    kernel = operator.get("kernel", [1, 1])
    kernel = kernel if isinstance(kernel, list) else [kernel, kernel]
    groups = operator.get("groups", 1)
    channels = (taken[1] if len(taken) > 1 else 1, given[1] if len(given) > 1 else 1)
    window = kernel[0] * kernel[1] if "conv" in operator["kind"] else 1
    work = elements(given) * window * (channels[0] / groups if operator["kind"] in ("convolution", "linear") else 1)
    numbers = [numpy.log(elements(taken)), numpy.log(elements(given)), numpy.log(channels[0]), numpy.log(channels[1]),
               2 * numpy.log(kernel[0]), 2 * numpy.log(groups == channels[0] and groups > 1 and 4 or 1), numpy.log(work)]
    kind = operator["kind"] + (" depthwise" if groups > 1 and groups == channels[0] else "")
    return kind, numbers, work


def ordered(networks, operators):
    """The networks' names, the most telling ten first."""
    described = [features(operator) for operator in operators]
    share = numpy.zeros(len(operators))
    for network in networks:
        work = numpy.array([described[o][2] for o in network["operators"]], dtype=float)
        numpy.add.at(share, network["operators"], numpy.sqrt(work / work.sum()))
    used = numpy.flatnonzero(share)
    kinds = numpy.array([described[o][0] for o in used])
    numbers = numpy.array([described[o][1] for o in used])
    numbers = numbers.astype(numpy.float32)
    squares = (numbers**2).sum(1)
    distance = numpy.maximum(squares[:, None] + squares[None, :] - 2 * numbers @ numbers.T, 0)
    covariance = numpy.exp(-distance / (2 * LENGTH**2)) * (kinds[:, None] == kinds[None, :])
    weight = share[used] / share[used].sum()
    place = {o: i for i, o in enumerate(used)}
    rows = {network["name"]: sorted({place[o] for o in network["operators"]}) for network in networks}
    chosen = []
    for _ in range(PLANNED):
        best = None
        for name, own in rows.items():
            if name in chosen:
                continue
            inner = covariance[numpy.ix_(own, own)] + NOISE**2 * numpy.eye(len(own), dtype=numpy.float32)
            across = covariance[:, own]
            told = (across * numpy.linalg.solve(inner, across.T).T).sum(1) @ weight
            if best is None or told > best[0]:
                best = (told, name, own)
        _, name, own = best
        chosen.append(name)
        inner = covariance[numpy.ix_(own, own)] + NOISE**2 * numpy.eye(len(own), dtype=numpy.float32)
        across = covariance[:, own]
        covariance = covariance - across @ numpy.linalg.solve(inner, across.T)
    return chosen + [network["name"] for network in networks if network["name"] not in chosen]


def sort_pool(folder):
    described = json.loads((folder / "pool" / "networks.json").read_text())
    by_name = {network["name"]: network for network in described["networks"]}
    train = int(json.loads((folder / "spec.json").read_text())["split"]["train"].split(":")[1])
    place = None
    for device in sorted(path.parent for path in (folder / "pool").glob("*/device.json")):
        with open(device / "latencies.csv", newline="") as file:
            rows = list(csv.reader(file))
        if place is None:  # the first device has all networks
            names = [row[0] for row in rows[1:]]
            plan = ordered([by_name[name] for name in names[:train]], described["operators"])
            place = {name: i for i, name in enumerate(plan + names[train:])}
            print(", ".join(plan[:PLANNED]))
        with open(device / "latencies.csv", "w", newline="") as file:
            csv.writer(file, lineterminator="\n").writerows(rows[:1] + sorted(rows[1:], key=lambda row: place[row[0]]))


if __name__ == "__main__":
    sort_pool(Path(sys.argv[1]))
