#!/usr/bin/env python3
"""What experiments/networks/measure_sizes.sh and sizes.sh do with tables.

    python3 sizes.py rounds VISITS.csv OUT.csv    measurements of what sizes_onnxruntime.js visited in several rounds
    python3 sizes.py describe DEVICE RUNTIME       says in the device-runtime's file what it is
    python3 sizes.py card POOL ZOO                 the pool's page as Markdown
    python3 sizes.py predict TENSHOT WORK OUT.csv [TARGET …]    what is predicted of kinds that are held out, a row each
    python3 sizes.py table RESULTS.csv             that as Markdown
"""
import collections
import csv
import hashlib
import json
import math
import os
import shutil
import statistics
import subprocess
import sys
from pathlib import Path


def read(path):
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


def visits_of(path):
    """The visits of each network that ran, and why others did not."""
    visits, refused = collections.defaultdict(list), {}
    for row in read(path):
        if row["latency_ms"]:
            visits[row["network"]].append((float(row["latency_ms"]), int(row["runs"])))
        else:
            refused[row["network"]] = row["refused"]
    return visits, refused


def rounds(path, out):
    visits, _ = visits_of(path)
    with open(out, "w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["architecture", "latency_ms", "stddev_ms", "runs"])
        for network, found in visits.items():
            latency_ms, runs = min(found)  # what disturbs a visit makes it longer
            writer.writerow([network, f"{latency_ms:.6g}", "", runs])


def describe(device, runtime):
    file = device / "device.json"
    described = json.loads(file.read_text())
    described.update({"device": "AMD EPYC", "precision": "fp32", "threads": 1,
                      "runtime": "onnxruntime" if runtime.startswith("onnxruntime") else runtime})
    file.write_text(json.dumps(described, indent=2, sort_keys=True) + "\n")


CARD = """# Tiny and huge networks

Latencies of {tiny} networks that take less than a millisecond, of {second} that take about a second, and of {usual} of [the pool
of networks](../networks/README.md), which tie both pools together: this is another virtual machine. End to end, batch 1,
one thread. The tiny ones are those of MLPerf Tiny (keyword spotting, visual wake words, ResNet-8, a dense autoencoder) at
several widths, and small MLPs, LSTMs, GRUs, 1-D and 3-D convolutions, U-Nets, transformers, super-resolution and a generator;
the huge ones are of the same families, and seven published CNNs at high resolution. Weights are random.
`experiments/networks/sizes_zoo.py` makes them, `experiments/networks/measure_sizes.sh` measured them while nothing else
ran, in twenty minutes; `families.csv` says to which family each belongs. The ONNX files themselves are not kept.

A latency of LibTorch's runtimes is the median of its runs (`tenshot collect`, twelve in four rounds; of those that take a
second, two runs, on two of the runtimes, of ten networks). One of ONNX Runtime is the median of the faster of two visits,
each of at least two runs and 100 ms (`experiments/networks/sizes_onnxruntime.js`): seven microseconds can be measured there,
since a run goes from Node straight into the library.

| device-runtime | networks | tiny | huge | least, median, most ms | left out |
|---|---|---|---|---|---|"""


def card(pool, zoo):
    size = {row["network"]: row["size"] for row in read(f"{zoo}.csv")}
    counts = collections.Counter(size.values())
    print(CARD.format(**counts))
    for device in sorted(path.parent for path in pool.glob("*/device.json")):
        latency = {row["architecture"]: float(row["latency_ms"]) for row in read(device / "latencies.csv")}
        of = collections.Counter(size[name] for name in latency)
        print(f"| `{device.name}` | {len(latency)} | {of['tiny']} | {of['second']} | {min(latency.values()):.4f}, "
              f"{statistics.median(latency.values()):.2f}, {max(latency.values()):.0f} | {len(size) - len(latency)} |")
    print()
    for path in sorted(Path(zoo).parent.glob(f"{Path(zoo).name}-onnxruntime-*.csv")):
        visits, refused = visits_of(path)
        differences = [abs(a[0] - b[0]) / min(a[0], b[0]) for a, b in visits.values()]
        print(f"On `{path.stem[len(Path(zoo).name) + 1:]}` the two visits differ by {100 * statistics.median(differences):.1f} % "
              f"(median), by {100 * max(differences):.0f} % at most.\n")
        for network, reason in refused.items():
            print(f"It cannot run {network}: {reason}\n")
    left_out = collections.defaultdict(set)
    for path in sorted(Path(zoo).parent.glob(f"{Path(zoo).name}-*/*/device.json")):
        for entry in json.loads(path.read_text())["environment"].get("left_out", []):
            left_out[entry["architecture"]].add(path.parent.name)
    if left_out:
        print("LibTorch's runtimes have no recurrent layers and no 3-D convolutions, and leave out\n"
              + ", ".join(f"`{name}`" for name in sorted(left_out)) + ".")


POOL, NETWORKS, FOLDS, SAMPLES = Path("datasets/data/sizes"), Path("datasets/data/networks"), 4, 10
ALIKE = {"gru": "lstm", "autoencoder": "mlp"}  # are held out together
COLUMNS = ["target", "pool", "measured", "fold", "network", "family", "size", "latency_ms", "predicted_ms", "lower_ms",
           "upper_ms"]


def folds_of(families):
    """The fold of each family: as many kinds in each, in an order that says nothing."""
    kinds = sorted({ALIKE.get(family, family) for family in families}, key=lambda k: hashlib.sha256(k.encode()).digest())
    return {family: kinds.index(ALIKE.get(family, family)) % FOLDS for family in families}


def write(path, columns, rows):
    with open(path, "w", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([columns, *rows])


def latencies(device):
    return {row["architecture"]: float(row["latency_ms"]) for row in read(device / "latencies.csv")}


def pool_without(kinds, kept, folder, pool=POOL):
    """A pool without some networks, and with the device-runtimes of `kept`."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    shutil.copy(pool / "networks.json", folder)
    for device in kept:
        (folder / device.name).mkdir()
        shutil.copy(device / "device.json", folder / device.name)
        rows = [(name, ms) for name, ms in latencies(device).items() if name not in kinds]
        write(folder / device.name / "latencies.csv", ["architecture", "latency_ms"], rows)


def predict_fold(tenshot, work, target, fold, family, size):
    """Rows of COLUMNS: the networks of the fold's families, by both pools and from either kind of ten."""
    def run(*command):
        subprocess.run([str(word) for word in command], check=True, stdout=subprocess.DEVNULL)

    work.mkdir(parents=True, exist_ok=True)
    truth = latencies(target)
    folds = folds_of({family[n] for n in family if size[n] != "usual"})
    held_out = [n for n in family if size[n] != "usual" and folds[family[n]] == fold]
    runtime = target.name.split("_")[0]
    others = [path.parent for path in sorted(POOL.glob("*/device.json")) if path.parent.name.split("_")[0] != runtime]
    pool_without(set(held_out), others, work / "pool")
    networks = ["--networks", POOL / "networks.json"]
    rows = []
    for pool in ("networks", "networks and sizes"):
        more = ["--pool", work / "pool"] if pool != "networks" else []
        checkpoint = work / "both.tenshot" if more else work.parent / f"{target.name}.tenshot"  # the same for all folds
        if more or not checkpoint.exists():
            run(tenshot, "train", "-q", "--pool", NETWORKS, *more, "--without", f"{runtime}_*", "--predictor", "operators",
                "--out", checkpoint)
        for measured in ("usual ones", "all sizes") if more else ("usual ones",):
            known = [n for n in truth if n not in held_out and (size[n] == "usual" or measured == "all sizes")]
            write(work / "known.csv", ["architecture"], [[n] for n in known])
            run(tenshot, "plan", "-q", "--checkpoint", checkpoint, *networks, "--archs", work / "known.csv", "--samples",
                SAMPLES, "--out", work / "ten.csv")
            ten = [row["architecture"] for row in read(work / "ten.csv")]
            write(work / "measured.csv", ["architecture", "latency_ms"], [(n, truth[n]) for n in ten])
            run(tenshot, "adapt", "-q", "--checkpoint", checkpoint, *networks, "--measurements", work / "measured.csv",
                "--out", work / "device.tenshot")
            asked = [n for n in truth if n in held_out or size[n] == "usual" and n not in ten]
            write(work / "asked.csv", ["architecture"], [[n] for n in asked])
            run(tenshot, "predict", "-q", "--predictor", work / "device.tenshot", *networks, "--archs", work / "asked.csv",
                "--out", work / "predicted.csv")
            found = {row["architecture"]: row for row in read(work / "predicted.csv")}
            for n in asked:
                own = found.get(n, {})
                rows.append([target.name, pool, measured, fold, n, family[n], size[n], truth[n]] +
                            [own.get(key, "") for key in ("latency_ms", "lower_ms", "upper_ms")])
    return rows


def predict(tenshot, work, out, *targets):
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    family = {row["network"]: row["family"] for row in read(POOL / "families.csv")}
    usual = {row["network"] for row in read(NETWORKS / "families.csv")}
    longest = collections.defaultdict(float)
    devices = sorted(path.parent for path in POOL.glob("*/device.json"))
    for device in devices:
        for network, ms in latencies(device).items():
            longest[network] = max(longest[network], ms)
    size = {n: "usual" if n in usual else "huge" if longest[n] > 100 else "tiny" for n in family}
    rows = []
    for target in [device for device in devices if not targets or device.name in targets]:
        for fold in range(FOLDS):
            done = work / f"{target.name}_{fold}.json"
            if not done.exists():
                found = predict_fold(tenshot, work / f"{target.name}_{fold}", target, fold, family, size)
                done.with_suffix(".part").write_text(json.dumps(found))
                done.with_suffix(".part").rename(done)
                print(target.name, fold, len(found), file=sys.stderr, flush=True)
            rows += json.loads(done.read_text())
    write(out, COLUMNS, rows)


def table(results):
    rows = read(results)
    groups = collections.defaultdict(list)
    for row in rows:
        kind = "usual" if row["size"] == "usual" else row["size"] + (", published" if row["family"] == "large" else "")
        for target in ("all", row["target"]):
            groups[row["pool"], row["measured"], kind, target].append(row)
    print("| the pool holds | ten of | predicted | device-runtime | predictions | within ±10 % | within ±25 % | "
          "median error, factor | 90 % intervals hold, % | median width, factor | refused |")
    print("|---|---|---|---|---|---|---|---|---|---|---|")
    for key in sorted(groups, key=lambda key: (key[0], key[1] != "usual ones", key[2], key[3] != "all", key[3])):
        if key[3] != "all" and (key[0], key[1]) != ("networks and sizes", "all sizes"):
            continue
        own = [row for row in groups[key] if row["predicted_ms"]]
        errors = [abs(math.log(float(r["predicted_ms"]) / float(r["latency_ms"]))) for r in own]
        holds = [float(r["lower_ms"]) <= float(r["latency_ms"]) <= float(r["upper_ms"]) for r in own]
        widths = [float(r["upper_ms"]) / float(r["lower_ms"]) for r in own]
        share = lambda limit: 100 * statistics.mean(math.exp(e) - 1 <= limit for e in errors)  # noqa: E731
        print("| " + " | ".join([*key, str(len(own)), f"{share(.1):.1f}", f"{share(.25):.1f}",
                                 f"{math.exp(statistics.median(errors)):.2f}", f"{100 * statistics.mean(holds):.1f}",
                                 f"{statistics.median(widths):.1f}", str(len(groups[key]) - len(own))]) + " |")


if __name__ == "__main__":
    if sys.argv[1] == "rounds":
        rounds(*sys.argv[2:])
    elif sys.argv[1] == "describe":
        describe(Path(sys.argv[2]), sys.argv[3])
    elif sys.argv[1] == "card":
        card(Path(sys.argv[2]), sys.argv[3])
    elif sys.argv[1] == "predict":
        predict(sys.argv[2], Path(sys.argv[3]), *sys.argv[4:])
    else:
        table(sys.argv[2])
