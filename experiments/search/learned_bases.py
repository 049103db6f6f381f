"""Bases of costs that are learned from all device-runtimes of a pool at once, beside those of `operators`, which are written by
hand. A network maps an operator's sizes to what it adds to BASES bases, a network of operators is their sum, and its latency on
a device-runtime a positive combination of these; both are learned together (a LibTorch network by way of Python, and Adam).
A new device-runtime's combination is like one of the pool's: a mixture over which one, how like, and how noisy, each a
Gaussian around its logarithm that the measurements narrow (Gauss-Newton), weighted by the root of its evidence. The settings are
the first that were tried. experiments/networks/pool_growth.py trains it and asks.
"""
import collections
import math

import numpy as np
import torch
from operator_shapes import GROUPS

BASES, WIDTH, STEPS, RATE, DECAY = 12, 48, 800, 5e-3, 1e-4
PULL = 0.02  # of combinations to their mean
SHARP = 0.05  # errors of log latency beyond it count by their size, smaller ones by their square
FEWEST = 6  # networks of a device-runtime
LIKE, NOISES, SCALE = (0.1, 0.3, 1.0), (0.03, 0.06, 0.12), 2.0  # deviations: of combinations, relative; of log latency; of its scale
ROUNDS, KEPT, FARTHEST = 4, 60, 3.0  # of Gauss-Newton; hypotheses; from a pool's combination
KINDS = sorted({*GROUPS.values(), "depthwise", "grouped", "pointwise", "spatial", "movement"})


def inputs_of(operators):
    """[operators, inputs], and the logarithm of a usual cost in ms, from which the network learns to depart."""
    rows = np.array([[math.log1p(size) for size in (o.inputs, o.outputs, o.positions, o.work, o.read, o.written, o.weights, o.held)] +
                     [o.kernel, o.stride] + [float(o.group == kind) for kind in KINDS] for o in operators])
    rows = np.clip((rows - rows.mean(0)) / (rows.std(0) + 1e-6), -4, 4)
    usual = [math.log(o.work / 2e7 + (o.read + o.written + o.weights) * 4 / 1e7 + 2e-3) for o in operators]
    return torch.tensor(rows, dtype=torch.float32), torch.tensor(usual, dtype=torch.float32)


class LearnedBases:
    """`pools`: of each pool its {network: ms} by device-runtime, and its networks' operators, those of new networks as well."""

    def __init__(self, pools, seed=1):
        torch.set_num_threads(1)
        torch.manual_seed(seed)
        names = [(p, name) for p, (_, networks) in enumerate(pools) for name in sorted(networks)]
        self.place = {name: i for i, name in enumerate(names)}
        number, at = {}, []  # of each unlike operator; (network, operator)
        for i, (p, name) in enumerate(names):
            at += [(i, number.setdefault(operator, len(number))) for operator in pools[p][1][name]]
        holds = torch.sparse_coo_tensor(list(zip(*at)), torch.ones(len(at)), (len(names), len(number))).coalesce()
        devices = [(device, p) for p, (own, _) in enumerate(pools) for device in own if len(device) >= FEWEST]
        latency = torch.full((len(devices), len(names)), math.nan)
        for d, (device, p) in enumerate(devices):
            latency[d, [self.place[p, name] for name in device]] = torch.tensor([math.log(ms) for ms in device.values()])
        of_pool = collections.Counter(p for _, p in devices)
        weight = torch.tensor([of_pool[p]**-0.5 for _, p in devices])  # a pool counts by the root of its device-runtimes
        self.combinations, self.bases = learned(holds, *inputs_of(list(number)), latency, weight / weight.mean())

    def predict(self, pool, measured, asked):
        """{network: ms} of the networks `asked`, from {network: ms} `measured`, both of the pool of this number."""
        rows, wanted = (self.bases[[self.place[pool, name] for name in names]] for names in (measured, asked))
        log_ms, count = np.log(list(measured.values())), len(measured)
        device, like, noise = (a.ravel() for a in np.meshgrid(range(len(self.combinations)), LIKE, NOISES, indexing="ij"))
        mean = self.combinations[device]
        prior = like[:, None, None]**2 * (np.cov(self.combinations.T) + 1e-4 * np.eye(BASES))
        found = mean
        for _ in range(ROUNDS):
            costs = np.exp(found) @ rows.T
            slope = np.exp(found)[:, None] * rows / costs[:, :, None]
            system = slope @ prior @ slope.transpose(0, 2, 1) + noise[:, None, None]**2 * np.eye(count) + SCALE**2
            error = log_ms - np.log(costs) + np.einsum("hnb,hb->hn", slope, found - mean)
            solved = np.linalg.solve(system, error[:, :, None])[:, :, 0]
            found = mean + np.einsum("hbc,hnc,hn->hb", prior, slope, solved)
            found = np.clip(found, mean - FARTHEST, mean + FARTHEST)
        evidence = -0.5 * ((error * solved).sum(1) + np.linalg.slogdet(system)[1])
        best = np.argsort(-evidence, kind="stable")[:KEPT]
        share = np.exp(0.5 * (evidence[best] - evidence[best[0]]))
        scale = np.mean(log_ms - np.log(np.exp(found[best]) @ rows.T), 1)
        said = np.log(np.exp(found[best]) @ wanted.T) + scale[:, None]
        return dict(zip(asked, np.exp(share / share.sum() @ said).tolist()))


def learned(holds, inputs, usual, latency, weight):
    """Logarithms of the device-runtimes' combinations, [device-runtimes, bases], and the networks' bases, [networks, bases], of
    log latencies, [device-runtimes, networks], NaN where nothing was measured."""
    known = torch.isfinite(latency)
    latency, counts = torch.where(known, latency, 0.0), known.sum(1)
    network = torch.nn.Sequential(torch.nn.Linear(inputs.shape[1], WIDTH), torch.nn.SiLU(), torch.nn.Linear(WIDTH, WIDTH),
                                  torch.nn.SiLU(), torch.nn.Linear(WIDTH, BASES))

    def bases():
        return torch.sparse.mm(holds, torch.exp(usual[:, None] + network(inputs) - math.log(BASES)))

    with torch.no_grad():
        network[-1].weight *= 3  # unlike bases to begin with
        off = torch.where(known, latency - torch.log(torch.sparse.mm(holds, torch.exp(usual)[:, None])).T, 0.0)
    scale = torch.nn.Parameter(off.sum(1) / counts)
    combinations = torch.nn.Parameter(0.1 * torch.randn(len(latency), BASES))
    optimizer = torch.optim.AdamW([{"params": network.parameters(), "weight_decay": DECAY},
                                   {"params": [scale, combinations], "weight_decay": 0, "lr": 4 * RATE}], lr=RATE)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, STEPS)
    for _ in range(STEPS):
        optimizer.zero_grad()
        found = torch.log(torch.exp(combinations) @ bases().T) + scale[:, None]
        error = torch.where(known, found - latency, 0.0)
        size = (torch.sqrt(error**2 + SHARP**2) - SHARP).sum(1) / counts
        loss = (weight * size).mean() + PULL * ((combinations - combinations.mean(0))**2).mean()
        loss.backward()
        optimizer.step()
        schedule.step()
    with torch.no_grad():
        return combinations.numpy().astype(float), bases().numpy().astype(float)
