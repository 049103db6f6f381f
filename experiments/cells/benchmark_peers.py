"""What experiments/cells/benchmark_peers.sh holds tenshot against, in Python: prints one number, the seconds of one round.

  benchmark_peers.py train           a training step of the 35-512-128-1 network of tests/benchmarks/trainer_network.cpp,
                                     by torch.nn, autograd and torch.optim.Adam, one thread
  benchmark_peers.py csv TABLE.csv   the wide table as numbers, by the module csv
  benchmark_peers.py numpy TABLE.csv its numbers alone, by numpy.genfromtxt
"""
import csv
import sys
import time

BATCH, INPUTS, BATCHES, STEPS = 128, 35, 64, 400


def seconds_of_a_training_step():
    import torch

    torch.set_num_threads(1)
    torch.set_flush_denormal(True)
    torch.manual_seed(1)
    network = torch.nn.Sequential(
        torch.nn.Linear(INPUTS, 512), torch.nn.ReLU(), torch.nn.Linear(512, 128), torch.nn.ReLU(), torch.nn.Linear(128, 1)
    )
    optimiser = torch.optim.Adam(network.parameters(), lr=1e-3)
    one_hot = torch.nn.functional.one_hot(torch.randint(5, (BATCHES, BATCH, 6)), 5).float().flatten(2)
    inputs = torch.cat([one_hot, 0.1 * torch.randn(BATCHES, BATCH, INPUTS - 30)], 2)
    targets = 0.5 + torch.rand(BATCHES, BATCH)

    def step(i):
        target = targets[i % BATCHES]
        optimiser.zero_grad(set_to_none=True)
        error = (network(inputs[i % BATCHES]).squeeze(1) - target) / target
        error.square().mean().backward()
        optimiser.step()

    for i in range(50):
        step(i)
    start = time.perf_counter()
    for i in range(STEPS):
        step(i)
    return (time.perf_counter() - start) / STEPS


def seconds_of_numpy(path):
    import numpy

    with open(path, encoding="utf-8") as file:
        header = file.readline().strip().split(",")
    first = 2 if "index" in header else 1
    start = time.perf_counter()
    table = numpy.genfromtxt(path, delimiter=",", skip_header=1, usecols=range(first, len(header)))
    elapsed = time.perf_counter() - start
    assert len(table) > 1
    return elapsed


def seconds_of_csv(path):
    start = time.perf_counter()
    with open(path, newline="", encoding="utf-8") as file:
        reader = csv.reader(file)
        header = next(reader)
        first = 2 if "index" in header else 1
        rows = {row[header.index("architecture")]: [float(value) for value in row[first:]] for row in reader}
    elapsed = time.perf_counter() - start
    assert len(rows) > 1
    return elapsed


if __name__ == "__main__":
    what = {"train": seconds_of_a_training_step, "csv": seconds_of_csv, "numpy": seconds_of_numpy}[sys.argv[1]]
    print(what(*sys.argv[2:]))
