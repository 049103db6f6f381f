#!/usr/bin/env python3
"""How a device that nobody has measured fares with more and more in the pool (experiments/networks/pool_growth.sh).

    pool_growth.py run TENSHOT POOLS TABLES WORK CLASS SPLIT POOL   one class of devices, one split, one pool: appends to
                                                                    WORK/results.csv, which keeps what is there
    pool_growth.py cut POOLS TABLE [SEED]                           the part of each board of a table, as JSON
    pool_growth.py page WORK FOLDER                                 means over devices and splits: FOLDER/results.csv, and as Markdown

A class is left out by board: the boards are cut in parts, and part SPLIT is predicted from what the others know. Classes of
new networks leave half of the phones' and a third of the boards' networks out of the pool; another table of `everything` may
hold a like network under another name. Ten networks are chosen by `tenshot plan`, the others are predicted.
"""
import csv
import json
import random
import shutil
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

TABLES = {"mobile-cnn": ("operators.csv", 4, 2), "ncnn-boards": ("networks.json", 5, 3)}  # networks, parts, one in n new
CLASSES = {  # the table, whether GPUs, whether networks are new
    "phones, processors, new networks": ("mobile-cnn", False, True),
    "phones, GPUs, new networks": ("mobile-cnn", True, True),
    "boards, processors": ("ncnn-boards", False, False),
    "boards, GPUs": ("ncnn-boards", True, False),
    "boards, processors, new networks": ("ncnn-boards", False, True),
    "boards, GPUs, new networks": ("ncnn-boards", True, True),
}
POOLS = ("kind", "table", "everything")
OURS = ("networks", "sizes")
EVERYTHING = ("mobile-cnn", "ncnn-boards", "help-fbnet", "help-ofa", *OURS)


def read(path):
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


def write(path, rows, columns):
    with open(path, "w", newline="") as file:
        writer = csv.DictWriter(file, columns, lineterminator="\n", extrasaction="ignore")
        writer.writeheader()
        writer.writerows(rows)


def is_gpu(device):
    return "GPU" in device["runtime"] or "Vulkan" in device["runtime"]


def devices_of(folder):
    found = {}
    for path in sorted(folder.glob("*/device.json")):
        device = json.loads(path.read_text())
        device["folder"] = path.parent
        found[device["id"]] = device
    return found


def copy_pool(source, out, left_out, unseen):
    """The pool without the devices `left_out` and the networks `unseen`."""
    shutil.copytree(source, out, ignore=lambda folder, names: [n for n in names if n in left_out])
    for path in out.glob("*/latencies.csv"):
        rows = [row for row in read(path) if row["architecture"] not in unseen]
        write(path, rows, ["architecture", "latency_ms"])
        if not rows:
            shutil.rmtree(path.parent)
    for path in out.glob("*/operators.csv"):
        rows = [row for row in read(path) if row["purpose"] not in unseen]
        write(path, rows, list(rows[0]))


def scores_of(truth, predictions):
    sums = dict.fromkeys(("within_10", "within_20", "held"), 0)
    for row in truth:
        measured, found = float(row["latency_ms"]), predictions[row["architecture"]]
        error = abs(float(found["latency_ms"]) / measured - 1)
        sums["within_10"] += error <= 0.1
        sums["within_20"] += error <= 0.2
        sums["held"] += float(found["lower_ms"]) <= measured <= float(found["upper_ms"])
    return {key: round(value / len(truth), 4) for key, value in sums.items()}


def cut_of(devices, parts, seed=7):
    """The part of each board."""
    order = sorted({device["device"] for device in devices.values()})
    random.Random(seed).shuffle(order)
    return {board: number % parts for number, board in enumerate(order)}


def cut(pools, table, seed=7):
    print(json.dumps(cut_of(devices_of(Path(pools) / table), TABLES[table][1], int(seed))))


def run(tenshot, pools, tables, work, name, split, pool):
    table, gpu, new = CLASSES[name]
    networks, parts, one_in = TABLES[table]
    pools, work, split = Path(pools), Path(work), int(split)
    known = devices_of(pools / table)
    boards = cut_of(known, parts)
    left_out = {i for i, device in known.items() if boards[device["device"]] == split}
    targets = [i for i in sorted(left_out) if is_gpu(known[i]) == gpu]
    names = sorted({row["architecture"] for device in known.values() for row in read(device["folder"] / "latencies.csv")})
    random.Random(11 + split).shuffle(names)
    unseen = set(names[:len(names) // one_in]) if new else set()
    rows = read(work / "results.csv") if (work / "results.csv").exists() else []
    done = {row["device"] for row in rows if (row["class"], row["split"], row["pool"]) == (name, str(split), pool)}
    if all(target in done for target in targets):
        return
    key = f"{name}_{split}_{pool}".replace(",", "").replace(" ", "_")
    pools_folder, checkpoint = work / "pools" / key, work / f"{key}.tenshot"
    if not checkpoint.exists():
        shutil.rmtree(pools_folder, ignore_errors=True)
        for source in EVERYTHING if pool == "everything" else (table,):
            folder = Path("datasets/data") / source if source in OURS else pools / source
            drop = left_out if source == table else set()
            if pool == "kind":
                drop = drop | {i for i, device in known.items() if is_gpu(device) != gpu}
            copy_pool(folder, pools_folder / source, drop, unseen)
        given = [word for source in sorted(pools_folder.iterdir()) for word in ("--pool", str(source))]
        subprocess.run([tenshot, "train", *given, "--predictor", "operators", "--out", checkpoint, "--quiet"], check=True)
        shutil.rmtree(pools_folder)
    files = work / key
    files.mkdir(exist_ok=True)
    plans = {}
    for target in targets:
        if target in done:
            continue
        truth = read(known[target]["folder"] / "latencies.csv")
        candidates = [row for row in truth if row["architecture"] not in unseen]
        predicted = [row for row in truth if row["architecture"] in unseen] if new else candidates
        least = 10 if new else 14  # four are left to predict
        if len(candidates) < least or (new and not predicted):
            continue
        asked = tuple(row["architecture"] for row in candidates)
        defined = ["--networks", f"{tables}/{table}/{networks}", "--quiet"]
        if asked not in plans:
            write(files / "candidates.csv", candidates, ["architecture"])
            subprocess.run([tenshot, "plan", "--checkpoint", checkpoint, "--archs", files / "candidates.csv", "--out",
                            files / "plan.csv", *defined], check=True)
            plans[asked] = {row["architecture"] for row in read(files / "plan.csv")}
        measured = [row for row in candidates if row["architecture"] in plans[asked]]
        write(files / "measured.csv", measured, ["architecture", "latency_ms"])
        rest = [row for row in predicted if row["architecture"] not in plans[asked]]
        write(files / "truth.csv", rest, ["architecture", "latency_ms"])
        subprocess.run([tenshot, "adapt", "--checkpoint", checkpoint, "--measurements", files / "measured.csv", "--out",
                        files / "device.tenshot", *defined], check=True, stdout=subprocess.DEVNULL)
        subprocess.run([tenshot, "predict", "--predictor", files / "device.tenshot", "--archs", files / "truth.csv",
                        "--out", files / "predictions.csv", *defined], check=True, stdout=subprocess.DEVNULL)
        scores = scores_of(rest, {p["architecture"]: p for p in read(files / "predictions.csv")})
        row = {"class": name, "split": split, "pool": pool, "device": target, "networks": len(rest), **scores}
        new_file = not (work / "results.csv").exists()
        with open(work / "results.csv", "a", newline="") as file:
            writer = csv.DictWriter(file, list(row), lineterminator="\n")
            if new_file:
                writer.writeheader()
            writer.writerow(row)
    shutil.rmtree(files)


def page(work, folder):
    groups = defaultdict(list)
    for row in read(Path(work) / "results.csv"):
        groups[row["class"], row["pool"]].append(row)
    lines = ["| device, left out by board | pool | devices × splits | within ±10 % | within ±20 % | 90 % intervals hold |",
             "|---|---|---|---|---|---|"]
    means = []
    for name in CLASSES:
        for pool in POOLS:
            rows = groups.get((name, pool))
            if not rows:
                continue
            mean = {key: 100 * sum(float(row[key]) for row in rows) / len(rows) for key in ("within_10", "within_20", "held")}
            means.append({"class": name, "pool": pool, "runs": len(rows), **{k: f"{v:.1f}" for k, v in mean.items()}})
            lines.append(f"| {name} | {pool} | {len(rows)} | {mean['within_10']:.1f} | {mean['within_20']:.1f} | "
                         f"{mean['held']:.1f} |")
    Path(folder).mkdir(parents=True, exist_ok=True)
    write(Path(folder) / "results.csv", means, list(means[0]))
    print("\n".join(lines))


if __name__ == "__main__":
    {"run": run, "cut": cut, "page": page}[sys.argv[1]](*sys.argv[2:])
