#!/usr/bin/env python3
"""What experiments/networks/measure_kinds.sh and kinds.sh do with tables. Run by Debian's python3.

    python3 kinds.py visits RUNTIME LIST.csv ROUNDS OUT.csv    times PyTorch modules, as sizes_onnxruntime.js does files
    python3 kinds.py card POOL LIST.csv                        the pool's page as Markdown
    python3 kinds.py predict TENSHOT WORK OUT.csv              what is predicted of kinds that are held out, a row each
    python3 kinds.py table RESULTS.csv                         that as Markdown
"""
import collections
import csv
import hashlib
import json
import math
import os
import statistics
import subprocess
import sys
import time
import warnings
from pathlib import Path

import sizes

POOL, NETWORKS, SIZES = Path("datasets/data/kinds"), Path("datasets/data/networks"), Path("datasets/data/sizes")
SOURCES = Path("experiments/networks/kinds_sources.json")
WARM_UP_S, RUNS_S, LEAST_RUNS, MOST_RUNS = .05, .1, 2, 50
FOLDS, SAMPLES = 4, 10
# Held out together.
ALIKE = {"einsum": "transformer", "dynamic": "quantised", "vocoder": "decoder", "wavenet": "decoder", "sound": "decoder",
         "softmax": "mlp"}
# Runtimes that are one library: all are left out with each.
LIBRARIES = {"pytorch": ("pytorch", "libtorch"), "onnxruntime": ("onnxruntime",), "opencv": ("opencv",)}
COLUMNS = ["target", "known", "fold", "network", "kind", "latency_ms", "predicted_ms", "lower_ms", "upper_ms"]


def modules():
    """How each network that is a PyTorch module is made: a function that returns the module and its inputs."""
    import kinds_zoo
    import sizes_zoo
    import torch

    def usual(make, shape):
        torch.manual_seed(1)
        return make().eval(), (torch.randn(*shape),)
    made = {name: (lambda make=make, shape=shape: usual(make, shape)) for _, name, make, shape in sizes_zoo.anchors()}
    made.update({row[1]: (lambda row=row: kinds_zoo.build(row)) for row in kinds_zoo.zoo()})
    return made


def runner(runtime, module, inputs):
    """A function without arguments that runs the module as it is, or traced, frozen and optimised."""
    import torch
    if runtime == "pytorch-frozen":
        traced = torch.jit.trace(module, inputs, check_trace=False)
        module = torch.jit.optimize_for_inference(torch.jit.freeze(traced))
    return lambda: module(*inputs)


def visit(run):
    """The median of some runs in ms, and how many there were."""
    start = time.perf_counter()
    run()
    while time.perf_counter() - start < WARM_UP_S:
        run()
    times, spent = [], 0
    while len(times) < LEAST_RUNS or (spent < RUNS_S and len(times) < MOST_RUNS):
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
        spent += times[-1]
    return 1e3 * statistics.median(times), len(times)


def visits(runtime, networks, rounds, out):
    import torch
    torch.set_num_threads(1)
    warnings.filterwarnings("ignore")
    made, out = modules(), Path(out)
    if not out.exists():
        out.write_text("network,round,latency_ms,runs,refused\n")
    done = {(row["network"], row["round"]) for row in sizes.read(out)}
    for number in range(1, int(rounds) + 1):
        for name in [row["network"] for row in sizes.read(networks)]:
            if (name, str(number)) in done or name not in made:
                continue
            with torch.no_grad():
                row = [name, number, *visit(runner(runtime, *made[name]())), ""]
            with open(out, "a", newline="") as file:
                csv.writer(file, lineterminator="\n").writerow(row)


CARD = """# Networks of many kinds

Latencies of {unusual} small networks of {families} kinds, most of which hold operators that no other pool here has: decoders
and vocoders with transposed convolutions, embeddings, recurrent taggers, attention by einsum, volumes, graphs, samplers,
recommenders, selections of the best, sums and softmaxes, layers that are quantised as they run or by hand, tables and forests.
Beside them stand {usual} of [the pool of networks](../networks/README.md), which tie the pools together: this is another
virtual machine.
End to end, batch 1, one thread, random weights. `experiments/networks/kinds_zoo.py` makes them,
`experiments/networks/measure_kinds.sh` measured them while nothing else measured, in fifteen minutes; `families.csv` says to
which kind each belongs. The ONNX files themselves are not kept.

A latency is the median of the fastest of four visits, each of at least two runs and 100 ms, or fifty runs. ONNX Runtime 1.30
was called from Node (`experiments/networks/sizes_onnxruntime.js`), PyTorch 1.13 from Python: as it is (`pytorch-eager`), and
traced, frozen and optimised for inference (`pytorch-frozen`). Networks that are written as ONNX graphs are no modules of
PyTorch and were not run there. OpenCV's DNN module ran what `tenshot collect` can give it, twelve runs in four rounds.

| device-runtime | networks | of them usual | least, median, most ms |
|---|---|---|---|"""


def card(pool, networks):
    usual = {row["network"] for row in sizes.read(NETWORKS / "families.csv")}
    family = {row["network"]: row["family"] for row in sizes.read(networks) if row["network"] not in usual}
    print(CARD.format(unusual=len(family), families=len(set(family.values())), usual=len(sizes.read(networks)) - len(family)))
    for device in sorted(path.parent for path in Path(pool).glob("*/device.json")):
        latency = sizes.latencies(device)
        print(f"| `{device.name}` | {len(latency)} | {len(usual & set(latency))} | {min(latency.values()):.4f}, "
              f"{statistics.median(latency.values()):.2f}, {max(latency.values()):.0f} |")


def run(*command):
    subprocess.run([str(word) for word in command], check=True, stdout=subprocess.DEVNULL)


def train(tenshot, checkpoint, *options):
    """Trains on the networks, the sizes and what the options add, unless that is done."""
    if not checkpoint.exists():
        run(tenshot, "train", "-q", "--predictor", "operators", "--pool", NETWORKS, "--pool", SIZES, *options, "--out",
            checkpoint)


def predicted(path, truth, asked):
    """Of each network asked its name, its latency, and what the file says of it, which is empty where it was refused."""
    found = {row["architecture"]: row for row in sizes.read(path)}
    return [(n, truth[n], *(found.get(n, {}).get(key, "") for key in ("latency_ms", "lower_ms", "upper_ms"))) for n in asked]


def predict_fold(tenshot, work, target, held_out, usual):
    """What each way of knowing the target predicts of the networks held out; from ten, of the other usual ones too."""
    truth, library = sizes.latencies(target), LIBRARIES[target.name.replace("-", "_").split("_")[0]]
    work.mkdir(parents=True, exist_ok=True)
    new = [n for n in truth if n in held_out]
    networks = ["--networks", POOL / "networks.json", "--archs", work / "asked.csv", "--out", work / "predicted.csv"]
    sizes.write(work / "usual.csv", ["architecture"], [[n] for n in truth if n in usual])
    others = [path.parent for path in sorted(POOL.glob("*/device.json")) if not path.parent.name.startswith(library)]
    without = [word for name in library for word in ("--without", f"{name}*")]
    rows = {}
    for known in ("ten usual networks", "ten usual networks, other kinds in the pool"):
        checkpoint, more = work.parent / f"{library[0]}.tenshot", []  # the same for all folds
        if known.endswith("pool"):
            sizes.pool_without(held_out, others, work / "pool", POOL)
            checkpoint, more = work / "pool.tenshot", ["--pool", work / "pool"]
        train(tenshot, checkpoint, *more, *without)
        run(tenshot, "plan", "-q", "--checkpoint", checkpoint, "--networks", POOL / "networks.json", "--archs",
            work / "usual.csv", "--samples", SAMPLES, "--out", work / "ten.csv")
        ten = [row["architecture"] for row in sizes.read(work / "ten.csv")]
        asked = new + [n for n in truth if n in usual and n not in ten]
        sizes.write(work / "measured.csv", ["architecture", "latency_ms"], [(n, truth[n]) for n in ten])
        sizes.write(work / "asked.csv", ["architecture"], [[n] for n in asked])
        run(tenshot, "adapt", "-q", "--checkpoint", checkpoint, "--networks", POOL / "networks.json", "--measurements",
            work / "measured.csv", "--out", work / "device.tenshot")
        run(tenshot, "predict", "-q", "--predictor", work / "device.tenshot", *networks)
        rows[known] = predicted(work / "predicted.csv", truth, asked)
    sizes.write(work / "asked.csv", ["architecture"], [[n] for n in new])
    for known, left_out, beside, checkpoint in (
            ("the usual networks, known device", set(truth) - usual, [], work.parent / f"{target.name}.tenshot"),
            ("the usual networks and other kinds, known device", held_out, others, work / "known.tenshot")):
        sizes.pool_without(left_out, [*beside, target], work / "pool", POOL)
        train(tenshot, checkpoint, "--pool", work / "pool", "--knowledge", SOURCES)
        run(tenshot, "predict", "-q", "--checkpoint", checkpoint, "--device", target.name, *networks)
        rows[known] = predicted(work / "predicted.csv", truth, new)
    return [[known, *row] for known, found in rows.items() for row in found]


def predict(tenshot, work, out):
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    usual = {row["network"] for row in sizes.read(NETWORKS / "families.csv")}
    family = {row["network"]: row["family"] for row in sizes.read(POOL / "families.csv") if row["network"] not in usual}
    kinds = sorted({ALIKE.get(kind, kind) for kind in family.values()}, key=lambda k: hashlib.sha256(k.encode()).digest())
    rows = []
    for target in sorted(path.parent for path in POOL.glob("*/device.json")):
        for fold in range(FOLDS):
            done = Path(work) / f"{target.name}_{fold}.json"
            held_out = {n for n, kind in family.items() if kinds.index(ALIKE.get(kind, kind)) % FOLDS == fold}
            if not done.exists():
                found = predict_fold(tenshot, Path(work) / f"{target.name}_{fold}", target, held_out, usual)
                done.with_suffix(".part").write_text(json.dumps(found))
                done.with_suffix(".part").rename(done)
                print(target.name, fold, len(found), file=sys.stderr, flush=True)
            rows += [[target.name, known, fold, n, family.get(n, "usual"), *rest]
                     for known, n, *rest in json.loads(done.read_text())]
    sizes.write(out, COLUMNS, rows)


def table(results):
    groups = collections.defaultdict(list)
    for row in sizes.read(results):
        for target in ("all", row["target"]):
            groups[row["known"], "usual" if row["kind"] == "usual" else "new kinds", target].append(row)
    print("| what is known of the device | predicted | device-runtime | predictions | within ±25 % | within a factor of 2 "
          "| median error, factor | 90 % intervals hold, % | median width, factor | refused |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    for key in sorted(groups, key=lambda key: (not key[0].startswith("ten"), len(key[0]), key[1], key[2] != "all", key[2])):
        own = [row for row in groups[key] if row["predicted_ms"]]
        errors = [abs(math.log(float(r["predicted_ms"]) / float(r["latency_ms"]))) for r in own]
        holds = [float(r["lower_ms"]) <= float(r["latency_ms"]) <= float(r["upper_ms"]) for r in own]
        widths = [float(r["upper_ms"]) / float(r["lower_ms"]) for r in own]
        share = lambda limit: 100 * statistics.mean(e <= math.log(limit) for e in errors)  # noqa: E731
        print("| " + " | ".join([*key, str(len(own)), f"{share(1.25):.1f}", f"{share(2):.1f}",
                                 f"{math.exp(statistics.median(errors)):.2f}", f"{100 * statistics.mean(holds):.1f}",
                                 f"{statistics.median(widths):.1f}", str(len(groups[key]) - len(own))]) + " |")


if __name__ == "__main__":
    {"visits": visits, "card": card, "predict": predict, "table": table}[sys.argv[1]](*sys.argv[2:])
