#!/usr/bin/env python3
"""nn-Meter's Figure 9 with BRP-NAS as a peer (Dudziak et al., NeurIPS 2020, §3.1): a graph convolutional network learns from
whole networks and predicts others, the same as the other rows of that figure in committed.py, most of them of families that it
has not seen. Needs PyTorch. Writes experiments/paper/brp_nas/; an interrupted run goes on where it was.

  experiments/paper/brp_nas.py [TRAININGS]   so many more, all unless said; the page shows what there is of them"""

import copy
import csv
import math
import random
import statistics
import subprocess
import sys
import time

import torch

import committed

sys.path.append(str(committed.ROOT / "experiments/cells"))
from middle_ranks import ranks  # noqa: E402

OUT = committed.ROOT / "experiments/paper/brp_nas"
COLUMNS = ["runtime", "features", "seed", "learned", "validated", "predicted", "epochs", "acc10", "acc10_published",
           "median_error", "mape", "spearman", "seconds"]
TYPES, SIZES = "types", "types and sizes"
SEEDS = (1, 2)
# The settings that the authors' code has for latencies, and nn-Meter's authors had for these graphs.
LAYERS, HIDDEN, DROPOUT = 4, 600, 0.002
EPOCHS, RATE, DECAY = 250, 8e-4, 5e-4
PATIENCE_OF_RATE, PATIENCE, FIRST_JUDGED = 10, 35, 20
VALIDATED = 10  # one in ten of the networks to learn from


def type_of(spec):
    """What a node is called: its operator, its function and the height of its window."""
    name = " ".join([spec["kind"], spec.get("name", "")]).strip()
    if spec["kind"] == "convolution":
        groups, channels = spec.get("groups", 1), spec["inputs"][0][1]
        name = ("depthwise " if groups == channels > 1 else "grouped " if groups > 1 else "") + name
    windowed = spec["kind"] in ("convolution", "max_pool", "average_pool")
    return f'{name} {spec.get("kernel", [1, 1])[0]}' if windowed else name


def sizes_of(spec):
    """Logarithms of what an operator's latency depends on, in tens of powers of two."""
    first, output = spec["inputs"][0], spec["output"]
    image = lambda shape: shape[2] if len(shape) == 4 else 1
    channels = lambda shape: shape[1] if len(shape) == 4 else shape[-1]
    values = [image(first), image(output), channels(first), channels(output), spec.get("kernel", [1, 1])[0],
              spec.get("stride", [1, 1])[0], spec.get("groups", 1)]
    return [math.log2(max(value, 1)) / 10 for value in values]


class Graphs:
    """A network as BRP-NAS has a cell: a global node that hears all, the input, the operators, the output. A node hears
    itself and the nodes that read what it computes. A type that no network to learn from has is no feature."""

    def __init__(self, networks, learned, with_sizes):
        self.networks, self.with_sizes = networks, with_sizes
        self.types = sorted({type_of(networks.specifications[index])
                             for name in learned for index in networks.operators[name]})
        self.place = {name: place + 3 for place, name in enumerate(self.types)}
        self.width = len(self.types) + 3 + (7 if with_sizes else 0)

    def features_of(self, spec):
        row = [0.0] * self.width
        if type_of(spec) in self.place:
            row[self.place[type_of(spec)]] = 1.0
        if self.with_sizes:
            row[-7:] = sizes_of(spec)
        return row

    def of(self, name):
        """(adjacency [nodes, nodes], sparse, features [nodes, width]); node 0 is the global one."""
        operators, sources = self.networks.operators[name], self.networks.sources[name]
        nodes = len(operators) + 3
        special = [[float(column == place) for column in range(self.width)] for place in range(3)]
        features = [special[0], special[1],
                    *(self.features_of(self.networks.specifications[index]) for index in operators), special[2]]
        edges = {(0, node) for node in range(nodes)} | {(node, node) for node in range(nodes)}
        read = set()
        for place, of in enumerate(sources):
            edges.update((source + 2, place + 2) for source in of)  # source -1 is the input, node 1
            read.update(of)
        edges.update((place + 2, nodes - 1) for place in range(len(operators)) if place not in read)
        rows, columns = zip(*sorted(edges))
        adjacency = torch.sparse_coo_tensor([rows, columns], torch.ones(len(rows)), (nodes, nodes)).coalesce()
        return adjacency, torch.tensor(features)


class GraphNetwork(torch.nn.Module):
    """Four graph convolutions, each normalised over its units, and a linear layer over the global node."""

    def __init__(self, width):
        super().__init__()
        sizes = [width] + [HIDDEN] * LAYERS
        bound = 1 / math.sqrt(HIDDEN)
        uniform = lambda *shape: torch.nn.Parameter(torch.empty(*shape).uniform_(-bound, bound))
        self.weights = torch.nn.ParameterList(uniform(sizes[i], HIDDEN) for i in range(LAYERS))
        self.biases = torch.nn.ParameterList(uniform(HIDDEN) for _ in range(LAYERS))
        self.norms = torch.nn.ModuleList(torch.nn.LayerNorm(HIDDEN) for _ in range(LAYERS))
        self.dropout = torch.nn.Dropout(DROPOUT)
        self.last = torch.nn.Linear(HIDDEN, 1)

    def forward(self, adjacency, features):
        for i in range(LAYERS):
            if i == LAYERS - 1:  # the global node alone is read, and hears all
                features = features.sum(0, keepdim=True) @ self.weights[i]
            else:
                features = torch.sparse.mm(adjacency, features @ self.weights[i])
            features = self.dropout(torch.relu(self.norms[i](features + self.biases[i])))
        return self.last(features).squeeze()


def mean_error(network, rows):
    """Of (graph, ms) rows: the mean absolute error, in ms."""
    network.eval()
    with torch.no_grad():
        return statistics.fmean(abs(network(*graph).item() - measured) for graph, measured in rows)


def trained(rows, judges, width, seed):
    """The state that the judges find best, and after how many epochs it ended."""
    torch.manual_seed(seed)
    network, order = GraphNetwork(width), random.Random(seed)
    optimizer = torch.optim.AdamW(network.parameters(), lr=RATE, weight_decay=DECAY)
    scheduler = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, factor=0.5, patience=PATIENCE_OF_RATE, threshold=0.01)
    best, least, waited = None, math.inf, 0
    for epoch in range(1, EPOCHS + 1):
        network.train()
        for graph, measured in order.sample(rows, len(rows)):
            optimizer.zero_grad()
            abs(network(*graph) - measured).backward()
            optimizer.step()
        error = mean_error(network, judges)
        waited = 0 if error < least else waited + 1
        if error < least:
            best, least = copy.deepcopy(network.state_dict()), error
        if epoch > FIRST_JUDGED:
            scheduler.step(error)
            if waited >= PATIENCE:
                break
    network.load_state_dict(best)
    return network, epoch


def row_of(networks, runtime, features, seed):
    role = {row["network"]: row["role"] for row in committed.read(committed.DATA / "kernels/split.csv")}
    known = {row["network"]: float(row["latency_ms"])
             for row in committed.read(committed.DATA / f"kernels/{runtime}/networks.csv") if not row["refused"]}
    train, test = ([name for name in known if role[name] == side] for side in ("train", "test"))
    random.Random(seed).shuffle(train)
    judges, learned = train[:len(train) // VALIDATED], train[len(train) // VALIDATED:]
    graphs = Graphs(networks, learned, features == SIZES)
    rows = lambda names: [(graphs.of(name), known[name]) for name in names]
    start = time.monotonic()
    network, epochs = trained(rows(learned), rows(judges), graphs.width, seed)
    seconds = time.monotonic() - start
    network.eval()
    with torch.no_grad():
        predicted = [network(*graphs.of(name)).item() for name in test]
    measured = [known[name] for name in test]
    ratios = dict(zip(test, (ms / true for ms, true in zip(predicted, measured))))
    errors = [abs(ratio - 1) for ratio in ratios.values()]
    published = [ratios[name] for name in test if not networks.family[name].startswith("synthetic")]
    return [runtime, features, seed, len(learned), len(judges), len(test), epochs,
            f"{committed.within(ratios.values()) / 100:.4f}", f"{committed.within(published) / 100:.4f}",
            f"{statistics.median(errors):.4f}", f"{statistics.fmean(errors):.4f}", f"{statistics.correlation(ranks(predicted), ranks(measured)):.4f}",
            f"{seconds:.0f}"]


def page(rows):
    cells = []
    for features in (TYPES, SIZES):
        cells.append([features])
        for runtime in committed.SAMPLED:
            of = [row for row in rows if (row["runtime"], row["features"]) == (runtime, features)]
            column = lambda name, of=of: [float(row[name]) for row in of]
            shares = [100 * share for share in column("acc10")]
            cells[-1].append(f"{' / '.join(f'{share:.1f}' for share in shares)} "
                             f"({100 * statistics.fmean(column('median_error')):.0f} %), "
                             f"{100 * statistics.fmean(column('acc10_published')):.1f}, {statistics.fmean(column('spearman')):.2f}")
    return committed.table(["features of a node", *committed.SAMPLED], cells)


def main():
    torch.set_num_threads(1)
    networks = committed.Networks()
    file = OUT / "results.csv"
    OUT.mkdir(exist_ok=True)
    rows = committed.read(file) if file.exists() else []
    done = {(row["runtime"], row["features"], int(row["seed"])) for row in rows}
    wanted = [(runtime, features, seed) for seed in SEEDS for runtime in committed.SAMPLED for features in (TYPES, SIZES)]
    left = [cell for cell in wanted if cell not in done]
    for cell in left[:int(sys.argv[1]) if len(sys.argv) > 1 else len(left)]:
        rows.append(dict(zip(COLUMNS, map(str, row_of(networks, *cell)))))
        print(*rows[-1].values(), flush=True)
        with file.open("w", newline="") as kept:
            table = csv.DictWriter(kept, COLUMNS, lineterminator="\n")
            table.writeheader()
            table.writerows(sorted(rows, key=lambda row: [row[name] for name in COLUMNS[:3]]))
    print(f"{len(rows)} of {len(wanted)} trainings")
    text = (OUT / "text.md").read_text().replace("CELLS", page(rows))
    (OUT / "README.md").write_text(text)
    sys.exit(subprocess.run([sys.executable, committed.ROOT / "experiments/pages.py", "--made", "brp_nas"],
                            check=False).returncode)


if __name__ == "__main__":
    main()
