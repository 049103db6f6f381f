#!/usr/bin/env python3
"""Which measures of an operator's shape the predictor `operators` might have, compared inside the pools.

  TENSHOT_TABLES=folder operator_shapes.py   the measures, as a table
  operator_shapes.py fusions                 fusion rules, alone and as hypotheses, on our own networks

Networks that experiments/networks/mobile_cnn.sh and experiments/networks/own_networks.sh predict are never read: of each split only the
networks that its pools know are, of which a third (own_networks: four tenths of the families) are held out in turn. A
phone or a runtime is left out as the one that is tested there, and each of the others is predicted from ten networks by
the rest. A prototype in numpy of trainer/predictors/operators plans, fits and adapts. Needs scipy.
"""
import collections
import csv
import hashlib
import json
import math
import os
import pathlib
import sys

import numpy as np
from scipy.optimize import nnls

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "networks"))
import own_networks  # noqa: E402

NOISES, CLOSENESS, KEPT, SMALLEST, PLAN_NOISE = (.015, .03, .06, .12), (.1, .3, 1, 2), 60, .02, .1
ALIKE, LENGTH, SIMILAR_NOISE, RESIDUAL = .15, .15, .3, 1.5
GROUPS = {"linear": "linear", "matrix_product": "matrix", "max_pool": "pool", "average_pool": "pool",
          "global_pool": "global", "reduce": "global", "activation": "activation", "add": "elementwise",
          "multiply": "elementwise", "elementwise": "elementwise", "concatenate": "concatenation",
          "pad": "padding", "batch_norm": "norm", "layer_norm": "norm", "group_norm": "norm", "softmax": "norm"}
PRODUCTS = ("pointwise", "spatial", "depthwise", "grouped", "linear")
FUSIONS = {"nothing": (), "activations": ("activation",), "activations and additions": ("activation", "elementwise")}
CONVOLUTIONS = ("spatial", "depthwise", "grouped")
Operator = collections.namedtuple(
    "Operator", "group kernel stride inputs outputs positions work read written weights held", defaults=(0,))
# held: what a convolution's windows hold, all positions together. padding: images that a runtime pads before a window
# reads them. large: the arithmetic of depthwise windows over 3x3. other: that of windows other than 3x3 with stride 1.
# narrow: the arithmetic for at most so many input channels, output channels and positions.
CHOSEN = ("held", "padding", "large")
NARROW = (8, 16, 49)
FORMS = {"none": (), "what windows hold": ("held",), "padding": ("padding",),
         "large depthwise windows": ("large",), "the three": CHOSEN,
         "the three, and windows other than 3×3 with stride 1": (*CHOSEN, "other"),
         "the three, and few channels or positions": (*CHOSEN, "narrow")}


def group_of_convolution(groups, channels, kernel):
    if groups > 1:
        return "depthwise" if groups == channels else "grouped"
    return "pointwise" if kernel == 1 else "spatial"


def of_json(described):
    """None for a reshape, which moves no number."""
    kind, out = described["kind"], described["output"]
    if kind == "reshape":
        return None
    inputs = described.get("inputs") or [out]
    channels = [shape[1] if len(shape) == 4 else shape[-1] for shape in (inputs[0], out)]
    kernel, groups = described.get("kernel", [1, 1]), described.get("groups", 1)
    own, work, weights = channels[0] // groups, 0, 0
    group = GROUPS.get(kind, "movement")
    if kind == "convolution":
        group = group_of_convolution(groups, channels[0], max(kernel))
        work = math.prod(out) * own * math.prod(kernel)
        weights = channels[1] * own * math.prod(kernel)
    elif kind in ("linear", "matrix_product"):
        work = math.prod(out) * inputs[0][-1]
        weights = inputs[0][-1] * out[-1] if kind == "linear" else 0
    elif group == "pool":
        work = math.prod(out) * math.prod(kernel)
    positions = math.prod(out) / channels[1]
    held = positions * channels[0] * math.prod(kernel) if group in ("spatial", "grouped") and max(kernel) > 1 else 0
    return Operator(group, max(kernel), max(described.get("stride", [1, 1])), own, channels[1], positions, work,
                    sum(map(math.prod, inputs)), math.prod(out), weights, held)


def of_rows(rows):
    """A network of the public table, which lists neither activations nor additions, and no padding: that shows in the
    shapes (datasets/tables/network_sources.h)."""
    sizes = set()
    for row in rows:
        o, size, channels = of_row(row), int(float(row["input_size"] or 0)), int(float(row["input_channels"]))
        smaller = max((s for s in sizes if s < size), default=0)
        if o.group in (*CONVOLUTIONS, "pool") and o.kernel > 1 and size not in sizes and 0 < size - smaller < o.kernel:
            yield Operator("padding", 1, 1, channels, channels, size**2, 0, channels * smaller**2, channels * size**2, 0)
        sizes.add(int(float(row["output_size"] or 0)))
        yield o


def of_row(row):
    number = lambda key: int(float(row[key] or 0))
    kind, channels, size = row["operation"], number("input_channels"), number("input_size") or 1
    kernel, out, filters = number("kernel") or 1, number("output_size") or 1, number("filters") or channels
    groups = channels if kind == "depthwise_conv_2d" else number("groups") or 1
    if kind in ("depthwise_conv_2d", "max_pool_2d", "average_pool_2d", "mean"):
        filters = channels
    if kind == "mean":
        out = 1
    group = {"fully_connected": "linear", "mean": "global", "concatenation": "concatenation"}.get(kind, "pool")
    work = filters * out**2 * kernel**2 if group == "pool" else 0
    weights = 0
    if "conv" in kind:
        group = group_of_convolution(groups, channels, kernel)
        weights = filters * (channels // groups) * kernel**2
        work = weights * out**2
    elif kind == "fully_connected":
        work = weights = channels * filters
    read = filters * out**2 if kind == "concatenation" else channels * size**2
    held = out**2 * channels * kernel**2 if group in ("spatial", "grouped") and kernel > 1 else 0
    return Operator(group, kernel, number("stride") or 1, channels // groups, filters, out**2, work, read,
                    filters * out**2, weights, held)


def features(networks, form):
    rows = []
    for network in networks:
        row = collections.defaultdict(float, {("base", ""): 1.})
        for o in network:
            if o.group == "padding" and "padding" not in form:
                continue
            group = "concatenation" if o.group == "padding" else o.group
            own = [("count", 1), ("work", o.work), ("read", o.read), ("written", o.written), ("weights", o.weights)]
            if "held" in form:
                own.append(("held", o.held))
            if "large" in form and group == "depthwise" and o.kernel > 3:
                own.append(("large", o.work))
            if "narrow" in form and o.work and group != "pool":
                own += [(name, o.work * min(1, enough / max(have, 1))) for name, enough, have in
                        zip(("inputs", "outputs", "positions"), NARROW, (o.inputs, o.outputs, o.positions))]
            if "other" in form and group in CONVOLUTIONS:
                own.append(("other", o.work / (9 if o.kernel == 3 and o.stride == 1 else 1)))
            for name, value in own:
                row[group, name] += value
        rows.append(row)
    keys = sorted({key for row in rows for key in row})
    return np.array([[row.get(key, 0) for key in keys] for row in rows])


def fused(network, into_products):
    """Without the operators that a runtime may carry out inside the convolution or linear layer right before them."""
    left, product = [], None
    for o in network:
        if product and o.group in into_products and o.written == product.written:
            continue
        left.append(o)
        product = o if o.group in PRODUCTS else None
    return left


def costs_of(rows, latency):
    """Mean of robust fits to 20 random subsets, in units of the median latency."""
    def solve(a, b):
        if len(a) <= 2 * a.shape[1]:
            return nnls(a, b, maxiter=2000)[0]
        gram = a.T @ a
        gram[np.diag_indices(len(gram))] += 1e-10 * (1 + gram.diagonal().max())
        lower = np.linalg.cholesky(gram)
        return nnls(lower.T, np.linalg.solve(lower, a.T @ b), maxiter=2000)[0]

    relative, weight = rows * (np.median(latency) / latency)[:, None], np.ones(len(latency))
    for _ in range(2):
        error = -np.log(np.maximum(relative @ solve(relative * weight[:, None], weight), 1e-3))
        noise = max(1.4826 * np.median(abs(error)), .02)
        weight = np.sqrt(5 / (4 + (error / noise)**2))
    rng = np.random.default_rng(1)
    subsets = [rng.random(len(latency)) < .6 for _ in range(20)]
    return np.mean([solve(relative[s] * weight[s, None], weight[s]) for s in subsets], 0)


def normal_noise(error, variance):
    """The Gaussian in the place of a Student error with gross outliers: its variance, and the error's density."""
    squared = error**2 / variance
    usual = .98 * .375 * (1 + squared / 4)**-2.5 / np.sqrt(variance)
    gross = .02 / math.sqrt(2 * math.pi) * np.exp(-.5 * error**2)
    density = usual + gross
    return density / (usual * 5 / (4 + squared) / variance + gross), density


class Library:
    """Costs of the pool's devices and what alike networks have in common beside them."""

    def __init__(self, rows, latency, known):
        mean = rows[known].mean(0)
        self.rows, self.known = rows[:, mean > 0] / mean[mean > 0], np.array(known)
        fits, residuals = [], np.zeros((len(latency), len(known)))
        for own in latency[:, known]:
            ok = np.isfinite(own)
            fits.append(costs_of(self.rows[self.known[ok]], own[ok]))
        self.costs = np.array(fits)
        shares = self.rows * self.costs.mean(0)
        total = shares.sum(1)
        place = np.column_stack([np.sqrt(shares / total[:, None]) / LENGTH, np.log(total)])
        self.kernel = np.exp(-np.sqrt(((place[:, None] - place[None])**2).sum(-1)))
        for d, own in enumerate(latency[:, known]):
            ok = np.isfinite(own)
            at = self.known[ok]
            error = np.log(own[ok] / np.median(own[ok])) - np.log(np.maximum(self.rows[at] @ fits[d], SMALLEST))
            residuals[d, ok] = np.linalg.solve(self.kernel[np.ix_(at, at)] + SIMILAR_NOISE * np.eye(len(at)), error)
        profile = np.log(np.maximum(self.costs @ self.rows[known].T, SMALLEST))
        profile -= profile.mean(1, keepdims=True)
        self.differences = ((profile[:, None] - profile[None])**2).mean(-1)
        self.offsets = residuals @ self.kernel[known]

    def of(self, devices):
        part = object.__new__(Library)
        part.__dict__.update(self.__dict__)
        part.costs, part.offsets = self.costs[devices], self.offsets[devices]
        part.differences = self.differences[np.ix_(devices, devices)]
        weights = np.exp(-part.differences / (2 * ALIKE**2))
        weights /= weights.sum(1, keepdims=True)
        typical = weights @ part.costs
        part.root = np.sqrt(weights)[:, :, None] * (part.costs[None] - typical[:, None])
        part.variance = (.3 * part.costs + .3 * typical + .003)**2
        return part

    def plan(self, count):
        rows, share = self.rows[self.known], 1 / np.exp(-self.differences / (8 * ALIKE**2)).sum(1)
        share /= share.sum()
        latency = np.maximum(self.costs @ rows.T, SMALLEST)
        spread = np.log(latency) + self.offsets[:, self.known]
        spread -= spread.mean(1, keepdims=True)
        spread -= share @ spread
        covariance = (spread * share[:, None]).T @ spread
        for e, own in enumerate(share):
            slope = rows / latency[e][:, None]
            rooted = slope @ self.root[e].T
            covariance += own * (rooted @ rooted.T + (slope * self.variance[e]) @ slope.T + 1)
        chosen = []
        for _ in range(count):
            score = (covariance**2).sum(0) / (covariance.diagonal() + PLAN_NOISE**2)
            score[chosen] = -1
            chosen.append(int(score.argmax()))
            gain = covariance[:, chosen[-1]]
            covariance = covariance - np.outer(gain, gain) / (gain[chosen[-1]] + PLAN_NOISE**2)
        return self.known[chosen]

    def hypotheses(self, measured, latency, wanted):
        """Log evidence of each hypothesis that is kept, and what it says of the wanted networks, log latency: those
        of the mixture over entry, closeness and noise, as cost_posterior.cpp."""
        log, n, floor = np.log(latency), len(measured), .3 * latency.min()
        alike = self.kernel[np.ix_(measured, measured)]
        rows = np.exp(self.offsets[:, measured])[:, :, None] * self.rows[measured][None]
        prior = np.maximum(np.einsum("enf,ef->en", rows, self.costs), SMALLEST)
        rooted = np.einsum("enf,edf->end", rows, self.root)
        spread = rooted @ rooted.transpose(0, 2, 1) + (rows * self.variance[:, None]) @ rows.transpose(0, 2, 1)
        scale = np.exp(np.median(log - np.log(prior), axis=1))
        entry, close, noise = (a.ravel() for a in np.meshgrid(np.arange(len(prior)), CLOSENESS, NOISES, indexing="ij"))
        mean = (scale[:, None] * prior)[entry]
        covariance = (close * scale[entry])[:, None, None]**2 * spread[entry] + mean[:, :, None] * mean[:, None]
        own, shared = (noise**2)[:, None] * np.ones(n), (RESIDUAL * noise)**2
        x, variance = mean, own * normal_noise(log - np.log(mean), own + .04)[0] / (own + .04)
        for step in range(5):
            x = np.maximum(x, floor)
            system = covariance / (x[:, :, None] * x[:, None]) + shared[:, None, None] * alike
            system[:, range(n), range(n)] += variance
            error = log - np.log(x) - (mean - x) / x
            weight = np.linalg.solve(system, error[:, :, None])[:, :, 0]
            pull, left, used = weight / x, variance * weight, variance
            x = mean + np.einsum("hij,hj->hi", covariance, pull)
            variance = normal_noise(left, own)[0] if step < 4 else variance
        evidence = -.5 * ((error * weight).sum(1) + np.linalg.slogdet(system)[1]) + (
            np.log(normal_noise(left, own)[1]) + .5 * (np.log(used) + left**2 / used)).sum(1)
        best = np.argsort(-evidence, kind="stable")[:KEPT]
        said = []
        for h in best:
            e, moved = entry[h], rows[entry[h]].T @ pull[h]
            costs = scale[e] * self.costs[e] + scale[e]**2 * (
                close[h]**2 * (self.root[e].T @ (self.root[e] @ moved) + self.variance[e] * moved) +
                self.costs[e] * (prior[e] @ pull[h]))
            said.append(np.log(np.maximum(self.rows[wanted] @ costs, floor)) + self.offsets[e][wanted] +
                        shared[h] * self.kernel[np.ix_(wanted, measured)] @ weight[h])
        return evidence[best], np.array(said)


def mixture(libraries, measured, latency, wanted):
    """Latencies by the best hypotheses of all libraries, weighted by the root of their evidence."""
    evidence, said = map(np.concatenate, zip(*(library.hypotheses(measured, latency, wanted) for library in libraries)))
    best = np.argsort(-evidence, kind="stable")[:KEPT]
    share = np.exp(.5 * (evidence[best] - evidence[best[0]]))
    return np.exp(share / share.sum() @ said[best])


def inside(networks, latency, folds, kin, targets, form, fusions=("nothing",)):
    """Shares within ±10 % by target. Where there are several fusions, each is a hypothesis of the target."""
    rows = [features([fused(network, FUSIONS[name]) for network in networks], form) for name in fusions]
    scores = collections.defaultdict(list)
    for known, wanted in folds:
        libraries = [Library(of_fusion, latency, known) for of_fusion in rows]
        for tested in sorted(set(kin)):
            for target in sorted(set(kin) - {tested}):
                pool = [d for d, name in enumerate(kin) if name not in (tested, target)]
                parts = [library.of(pool) for library in libraries]
                plan = parts[0].plan(13)
                for d in [d for d in targets if kin[d] == target]:
                    measured = [m for m in plan if np.isfinite(latency[d, m])][:10]
                    truth = latency[d, wanted]
                    error = abs(mixture(parts, measured, latency[d, measured], wanted) / truth - 1)
                    scores[d].append(100 * np.mean(error[np.isfinite(truth)] <= .1))
    return {d: np.mean(own) for d, own in scores.items()}


def published(tables):
    lists = collections.defaultdict(list)
    for row in csv.DictReader(open(tables / "operators.csv", newline="")):
        lists[row["network"]].append(row)
    header, *rows = csv.reader(open(tables / "latency_ms.csv", newline=""))
    latency = np.array([[float(cell or "nan") for cell in row[1:]] for row in rows]).T
    names = [row[0] for row in rows]
    folds = []
    for split in "12":
        key = lambda i, split=split: hashlib.sha256(f"{split} {names[i]}".encode()).hexdigest()[:16]
        half = sorted(range(len(names)), key=key)[:len(names) // 2]
        folds.append((half[:34], half[34:]))
    kin = [name.split("_")[0] for name in header[1:]]
    gpu = ["_gpu_" in name for name in header[1:]]
    return [list(of_rows(lists[name])) for name in names], latency, folds, kin, gpu


def networks_of(definitions):
    """{network: its operators} of a file of networks."""
    described = json.loads(pathlib.Path(definitions).read_text())
    operators = [of_json(o) for o in described["operators"]]
    return {n["name"]: [operators[i] for i in n["operators"] if operators[i]] for n in described["networks"]}


def own(pool):
    lists = networks_of(pool / "networks.json")
    families = [(row["network"], row["family"]) for row in csv.DictReader(open(pool / "families.csv", newline=""))]
    place = {network: i for i, (network, _) in enumerate(families)}
    devices = sorted(path.parent for path in pool.glob("*/latencies.csv"))
    latency = np.full((len(devices), len(place)), np.nan)
    for d, device in enumerate(devices):
        for row in csv.DictReader(open(device / "latencies.csv", newline="")):
            latency[d, place[row["architecture"]]] = float(row["latency_ms"])
    folds = []
    for split in "12":
        train, _ = own_networks.order(families, split)
        parts = own_networks.order([(n, dict(families)[n]) for n in train], "inner" + split)
        folds.append(tuple([place[n] for n in part] for part in parts))
    return [lists[n] for n, _ in families], latency, folds, [device.name.split("_")[0] for device in devices]


def main():
    print("| further measures | published CNNs, CPU | published CNNs, GPU | own networks |\n|---|---|---|---|")
    *table, gpu = published(pathlib.Path(os.environ["TENSHOT_TABLES"]) / "mobile-cnn")
    settings = [d for d in range(len(gpu)) if gpu[d] or d % 4 == 0]  # the others are much like these
    measured = own(pathlib.Path(__file__).parents[2] / "datasets/data/networks")
    for name, form in FORMS.items():
        phones = inside(*table, settings, form)
        cells = [np.mean([score for d, score in phones.items() if gpu[d] == is_gpu]) for is_gpu in (False, True)]
        cells.append(np.mean(list(inside(*measured, range(len(measured[1])), form).values())))
        print(f"| {name} | " + " | ".join(f"{cell:.1f}" for cell in cells) + " |")
        sys.stdout.flush()


def compare_fusions():
    """Of our own networks: the public table lists neither activations nor additions."""
    measured = own(pathlib.Path(__file__).parents[2] / "datasets/data/networks")
    print("| fused into convolutions and linear layers | own networks | " + " | ".join(sorted(set(measured[3]))) + " |")
    print("|---|---|" + "---|" * len(set(measured[3])))
    for fusions in [(name,) for name in FUSIONS] + [tuple(FUSIONS)]:
        found = inside(*measured, range(len(measured[1])), FORMS["none"], fusions)
        cells = [np.mean(list(found.values()))]
        cells += [np.mean([score for d, score in found.items() if measured[3][d] == kin]) for kin in sorted(set(measured[3]))]
        name = fusions[0] if len(fusions) == 1 else "the three as hypotheses"
        print(f"| {name} | " + " | ".join(f"{cell:.1f}" for cell in cells) + " |")
        sys.stdout.flush()


if __name__ == "__main__":
    compare_fusions() if sys.argv[1:] == ["fusions"] else main()
