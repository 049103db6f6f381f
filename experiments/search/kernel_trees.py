#!/usr/bin/env python3
"""Settings of `kernels train --learner boosted --correction composition`, chosen inside the networks to learn from: five
folds by family of the hundred networks of each split of experiments/kernels/inside_networks.py, four runtimes. It calls
XGBoost's library itself, with the features and the weights of trainer/predictors/kernels, so that settings can differ that
the verb does not offer. Appends to experiments/search/kernel_trees.csv; an interrupted run goes on.

  /usr/bin/python3 experiments/search/kernel_trees.py"""

import collections
import csv
import ctypes
import math
import statistics
import sys
from pathlib import Path

import numpy
from scipy.optimize import nnls

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path[:0] = [str(ROOT / f"experiments/{folder}") for folder in ("kernels", "paper", "networks")]
import committed  # noqa: E402
import own_networks  # noqa: E402
from inside_networks import SPLITS, to_learn_from  # noqa: E402

OUT = Path(__file__).with_suffix(".csv")
CHOSEN = {"line": True, "details": True, "depth": 4, "rounds": 150, "leaf": 3, "weight": 0.5}
VARIANTS = {"as it is": {}, "no line": {"line": False}, "no details": {"details": False}, "depth 3": {"depth": 3},
            "depth 6": {"depth": 6}, "equal weights": {"weight": 0}, "weighted by time": {"weight": 1},
            "leaves of 1": {"leaf": 1}, "300 rounds": {"rounds": 300}}
PENALTIES = (0.1, 0.3, 1, 3)  # of the composition, times the number of networks
XGB = ctypes.CDLL("libxgboost.so.0")


def check(status):
    if status:
        sys.exit(f"XGBoost failed with {status}")


def matrix(rows):
    rows, handle = numpy.ascontiguousarray(rows, numpy.float32), ctypes.c_void_p()
    check(XGB.XGDMatrixCreateFromMat(rows.ctypes.data_as(ctypes.c_void_p), ctypes.c_uint64(rows.shape[0]),
                                     ctypes.c_uint64(rows.shape[1]), ctypes.c_float(math.nan), ctypes.byref(handle)))
    return handle


def boosted(rows, targets, weights, asked, settings):
    """What trees that learn from the rows say of others."""
    data, trees = matrix(rows), ctypes.c_void_p()
    for name, values in (("label", targets), ("weight", weights)):
        values = numpy.ascontiguousarray(values, numpy.float32)
        check(XGB.XGDMatrixSetFloatInfo(data, name.encode(), values.ctypes.data_as(ctypes.c_void_p), ctypes.c_uint64(len(values))))
    check(XGB.XGBoosterCreate(ctypes.byref(data), ctypes.c_uint64(1), ctypes.byref(trees)))
    for name, value in {"verbosity": 0, "nthread": 1, "base_score": numpy.average(targets, weights=weights), "tree_method": "hist",
                        "lambda": 0, "eta": 0.1, "max_depth": settings["depth"], "min_child_weight": settings["leaf"],
                        "subsample": 0.7, "colsample_bynode": 0.5, "seed": 1}.items():
        check(XGB.XGBoosterSetParam(trees, name.encode(), str(value).encode()))
    for each in range(settings["rounds"]):
        check(XGB.XGBoosterUpdateOneIter(trees, each, data))
    count, values, others = ctypes.c_uint64(), ctypes.POINTER(ctypes.c_float)(), matrix(asked)
    check(XGB.XGBoosterPredict(trees, others, 0, ctypes.c_uint(0), 0, ctypes.byref(count), ctypes.byref(values)))
    found = numpy.ctypeslib.as_array(values, shape=(count.value,)).astype(float)
    check(XGB.XGBoosterFree(trees)), check(XGB.XGDMatrixFree(data)), check(XGB.XGDMatrixFree(others))
    return found


def type_of(spec):
    if spec["kind"] == "convolution":
        groups = spec.get("groups", 1)
        return "convolution" if groups == 1 else "depthwise" if groups == spec["inputs"][0][1] else "grouped"
    return spec.get("name") or spec["kind"]


def sizes_of(spec):
    """What a line sees, and the details of operation_features.cpp."""
    first, output = spec["inputs"][0], spec["output"]
    axis = -1 if spec["kind"] in ("linear", "matrix_product", "layer_norm") or len(first) < 4 and spec["kind"] != "convolution" else 1
    window, stride = spec.get("kernel", [1, 1]), spec.get("stride", [1, 1])
    groups, channels, filters = spec.get("groups", 1), first[axis], output[axis]
    edge = lambda shape, at: shape[at] if len(shape) > at else 1
    read, written = sum(map(math.prod, spec["inputs"])), math.prod(output)
    parameters = products = 0
    if spec["kind"] == "convolution":
        parameters = math.prod(window) * channels // groups * filters
        products = written * math.prod(window) * channels // groups
    elif spec["kind"] in ("linear", "matrix_product"):
        parameters, products = channels * filters * (spec["kind"] == "linear"), written * channels
    work = math.prod(window) * written if "pool" in spec["kind"] else products
    moved, filled = read + written + parameters, lambda size: math.ceil(size / 16) * 16 / size
    line = [edge(first, 2), channels, edge(output, 2), filters, read, written, parameters, work]
    return line, [edge(first, 2), channels, read, edge(output, 2), edge(output, 3), filters, written, edge(output, 2) * edge(output, 3),
                  parameters, work, stride[0], *window, spec.get("dilation", [1])[0], groups, len(spec["inputs"]),
                  math.prod(spec["inputs"][-1]), len(output), moved, max(work, written) / moved, math.prod(window) * channels / groups,
                  channels / groups, filters / groups, filled(channels), filled(filters), filled(edge(output, 3)), read / written]


class Pool:
    def __init__(self, networks):
        self.specs, self.networks = networks.specifications, networks
        self.types = numpy.array([type_of(spec) for spec in self.specs])
        self.all = {kind: numpy.flatnonzero(self.types == kind) for kind in set(self.types) if kind != "reshape"}
        self.line, self.details = (numpy.array(part, float) for part in zip(*map(sizes_of, self.specs)))

    def times(self, ms, learned, settings):
        """ms of every operator, from those of the networks to learn from."""
        used = collections.Counter(index for name in learned for index in set(self.networks.operators[name]) if not math.isnan(ms[index]))
        found = numpy.zeros(len(self.specs))
        for kind, every in self.all.items():
            seen = numpy.array([index for index in every if index in used], int)
            rows = seen[ms[seen] > 0] if len(seen) else seen
            if not len(rows):
                continue
            count = numpy.array([used[index] for index in rows], float)
            columns = numpy.c_[numpy.ones(len(self.specs)), self.line / (self.line[every].max(0) + 1e-12)]
            slope = nnls(columns[rows] / ms[rows, None] * numpy.sqrt(count)[:, None], numpy.sqrt(count))[0]
            line = numpy.maximum(columns @ slope, ms[rows].min()) if settings["line"] else numpy.ones(len(self.specs))
            features = numpy.c_[self.details if settings["details"] else self.line, line]
            weights = count * ms[rows] ** settings["weight"]
            trees = boosted(features[rows], numpy.log(ms[rows] / line[rows]), weights / weights.mean(), features[every], settings)
            found[every] = line[every] * numpy.exp(trees) * len(rows) / len(seen)
        return found

    def composition(self, found, name):
        """As SumOfKernels::composition."""
        indices = [index for index in self.networks.operators[name] if self.types[index] != "reshape"]
        ms = found[indices]
        share = lambda wanted: ms[[wanted(index) for index in indices]].sum() / ms.sum()
        kinds = [lambda index, kind=kind: self.types[index] == kind for kind in ("convolution", "depthwise", "grouped", "linear")]
        kinds += [lambda index: self.specs[index]["kind"] in ("activation", "add", "multiply", "elementwise", "batch_norm"),
                  lambda index: self.types[index] == "convolution" and math.prod(self.specs[index].get("kernel", [1, 1])) == 1]
        amounts = [len(indices), self.line[indices, 7].sum(), self.line[indices, 4:6].sum()]
        return [math.log(ms.sum()), *(math.log((amount + 1) / ms.sum()) for amount in amounts), *map(share, kinds)]


def ridge(inputs, targets, asked, penalty):
    mean, deviation = inputs.mean(0), inputs.std(0) + 1e-9
    scaled = (inputs - mean) / deviation
    weight = numpy.linalg.solve(scaled.T @ scaled + penalty * len(targets) * numpy.eye(scaled.shape[1]), scaled.T @ (targets - targets.mean()))
    return targets.mean() + numpy.clip((asked - mean) / deviation, -3, 3) @ weight


def folds_of(networks, learned, split):
    """Whole families; of synthetic networks each for itself, as in the splits."""
    group = {name: networks.family[name] if not networks.family[name].startswith("synthetic") else name for name in learned}
    order = sorted(set(group.values()), key=lambda each: own_networks.hashed("fold", str(split), each))
    return numpy.array([order.index(group[name]) % 5 for name in learned])


def shares(pool, ms, known, split, settings):
    """Within ±10 % of the networks of a fold from the other folds: one factor, and compositions by penalty."""
    learned = [name for name in to_learn_from(list(pool.networks.family.items()), split)[0] if name in known][:100]
    fold = folds_of(pool.networks, learned, split)
    compositions = numpy.zeros((len(learned), 10))
    for left_out in range(5):
        found = pool.times(ms, [name for name, at in zip(learned, fold) if at != left_out], settings)
        for at in numpy.flatnonzero(fold == left_out):
            compositions[at] = pool.composition(found, learned[at])
    targets = numpy.log([known[name] for name in learned]) - compositions[:, 0]
    errors = {"factor": targets.copy(), **{penalty: targets.copy() for penalty in PENALTIES}}
    for left_out in range(5):
        inside, others = fold == left_out, fold != left_out
        errors["factor"][inside] -= numpy.median(targets[others])
        for penalty in PENALTIES:
            errors[penalty][inside] -= ridge(compositions[others], targets[others], compositions[inside], penalty)
    return {name: committed.within(numpy.exp(-error)) for name, error in errors.items()}


def main():
    pool = Pool(committed.Networks())
    if not OUT.exists():
        OUT.write_text("variant,runtime,split,correction,acc10\n")
    done = {(row["variant"], row["runtime"], row["split"]) for row in committed.read(OUT)}
    for variant, changed in VARIANTS.items():
        for runtime in committed.PROFILED:
            table = committed.Inside(runtime).time
            ms = numpy.array([table.get(committed.specification_key(spec), math.nan) for spec in pool.specs])
            for split in SPLITS:
                if (variant, runtime, str(split)) in done:
                    continue
                found = shares(pool, ms, pool.networks.on(runtime), split, {**CHOSEN, **changed})
                with OUT.open("a") as file:
                    csv.writer(file, lineterminator="\n").writerows(
                        [variant, runtime, split, name, f"{share:.1f}"] for name, share in found.items())
    print_table()


def print_table():
    rows = collections.defaultdict(list)
    for row in committed.read(OUT):
        rows[(row["variant"], row["runtime"], row["correction"])].append(float(row["acc10"]))
    names = ["factor", *map(str, PENALTIES)]
    print(committed.table(["variant", *(f"composition, {name}" if name != "factor" else name for name in names)],
                          [[variant, *(" / ".join(f"{statistics.fmean(rows[(variant, runtime, name)]):.1f}" for runtime in committed.PROFILED
                                                  if rows[(variant, runtime, name)])
                                       for name in names)]
                           for variant in dict.fromkeys(key[0] for key in rows)]))


if __name__ == "__main__":
    print_table() if "--table" in sys.argv else main()
