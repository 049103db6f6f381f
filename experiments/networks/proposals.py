#!/usr/bin/env python3
"""What networks made to be measured are worth: `operators` adapts to each device-runtime of the pool of networks from ten
measurements that a plan chose among different candidates. Runtime and families of networks are new, as in own_networks.

    python3 proposals.py TENSHOT WORK_DIR [SPLIT …]      prints the table; what was done already is not done again
"""
import csv
import json
import os
import statistics
import subprocess
import sys
from pathlib import Path

from own_networks import order

POOL, PROBES = Path("datasets/data/networks"), Path("datasets/data/probes")
FAMILIES = json.loads(Path("experiments/networks/own_networks.json").read_text())["pools"][0]["families"]
SAMPLES = 10
MEASURES = [("acc10", "within ±10 %", 100, 1), ("mape", "mean error, %", 100, 1), ("spearman", "Spearman's ρ", 1, 3),
            ("coverage", "90 % intervals hold, %", 100, 1)]


def run(*command):
    return subprocess.run([str(word) for word in command], check=True, capture_output=True, text=True).stdout


def rows_of(device):
    with open(device / "latencies.csv", newline="") as file:
        return {row["architecture"]: float(row["latency_ms"]) for row in csv.DictReader(file)}


def write_rows(path, rows):
    with open(path, "w", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([("architecture", "latency_ms"), *rows])


def merged_networks():
    """networks.json of the pool and of the probes."""
    merged = json.loads((POOL / "networks.json").read_text())
    probes = json.loads((PROBES / "networks.json").read_text())
    first = len(merged["operators"])
    merged["operators"] += probes["operators"]
    for network in probes["networks"]:
        merged["networks"].append({**network, "operators": [first + index for index in network["operators"]]})
    return merged


def siblings(name):
    for patterns in FAMILIES:
        prefixes = [pattern.rstrip("*") for pattern in patterns]
        if any(name.startswith(prefix) for prefix in prefixes):
            return prefixes
    sys.exit(f"{name} belongs to no runtime of own_networks.json")


def candidates_of(published, synthetic, probes):
    return {"published": (published, []), "synthetic CNNs": (synthetic, []), "both": (published + synthetic, []),
            "both, and probes proposed": (published + synthetic, probes), "probes alone": (None, probes)}


def compare(tenshot, work, split):
    with open(POOL / "families.csv", newline="") as file:
        families = [(row["network"], row["family"]) for row in csv.DictReader(file)]
    family_of = dict(families)
    train, test = order(families, split)
    folder = work / split
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "networks.json").write_text(json.dumps(merged_networks()))
    devices = {path.parent.name: rows_of(path.parent) for path in sorted(POOL.glob("*/device.json"))}
    probes_on = {path.parent.name: rows_of(path.parent) for path in sorted(PROBES.glob("*/device.json"))}
    for target in [name for name in devices if name in probes_on]:
        done = folder / f"{target}.json"
        if done.exists():
            continue
        pool = folder / target
        pool.mkdir(exist_ok=True)
        (pool / "networks.json").write_bytes((POOL / "networks.json").read_bytes())
        for name, rows in devices.items():
            if any(name.startswith(prefix) for prefix in siblings(target)):
                continue
            (pool / name).mkdir(exist_ok=True)
            (pool / name / "device.json").write_bytes((POOL / name / "device.json").read_bytes())
            write_rows(pool / name / "latencies.csv", [(n, rows[n]) for n in train if n in rows])
        checkpoint = folder / f"{target}.tenshot"
        run(tenshot, "train", "-q", "--pool", pool, "--predictor", "operators", "--out", checkpoint)
        truth = {**devices[target], **probes_on[target]}
        write_rows(folder / "test.csv", [(n, truth[n]) for n in test if n in truth])
        known = [n for n in train if n in truth]
        published = [n for n in known if family_of[n] != "synthetic"]
        synthetic = [n for n in known if family_of[n] == "synthetic"]
        result = {}
        probes = sorted(probes_on[target])
        plans = {method: plan(tenshot, folder, checkpoint, candidates, known, proposals)
                 for method, (candidates, proposals) in candidates_of(published, synthetic, probes).items()}
        plans["all probes and no other network"] = probes
        plans["all probes beside the ten of both"] = plans["both"] + probes
        for method, chosen in plans.items():
            write_rows(folder / "measured.csv", [(n, truth[n]) for n in chosen])
            run(tenshot, "adapt", "-q", "--checkpoint", checkpoint, "--measurements", folder / "measured.csv",
                "--networks", folder / "networks.json", "--out", folder / "device.tenshot")
            scores = json.loads(run(tenshot, "evaluate", "-q", "--predictor", folder / "device.tenshot", "--networks",
                                    folder / "networks.json", "--measurements", folder / "test.csv", "--json"))
            result[method] = {**scores, "chosen": chosen}
        partial = done.with_suffix(".part")
        partial.write_text(json.dumps(result))
        partial.rename(done)
        print(split, target, {m: round(100 * r["acc10"], 1) for m, r in result.items()}, file=sys.stderr, flush=True)


def plan(tenshot, folder, checkpoint, candidates, known, proposals):
    """Ten of the candidates and proposals. With no candidates the known networks say what is to be predicted, and the
    plan goes on until ten proposals are in it."""
    archs, extra = folder / "candidates.csv", folder / "proposals.json"
    with open(archs, "w") as file:
        file.write("architecture\n" + "".join(name + "\n" for name in (candidates or known)))
    command = [tenshot, "plan", "-q", "--checkpoint", checkpoint, "--networks", folder / "networks.json", "--archs", archs,
               "--out", "-"]
    if proposals:
        probes = json.loads((PROBES / "networks.json").read_text())
        probes["networks"] = [network for network in probes["networks"] if network["name"] in proposals]
        extra.write_text(json.dumps(probes))
        command += ["--proposals", extra]
    samples = SAMPLES
    while True:
        rows = list(csv.DictReader(run(*command, "--samples", samples).splitlines()))
        names = [row["architecture"] for row in rows]
        if candidates is not None:
            return names[:SAMPLES]
        own = [name for name in names if name in proposals]
        if len(own) >= SAMPLES or samples >= len(known):
            return own[:SAMPLES]
        samples = min(2 * samples, len(known))


def table(work, splits):
    cells = {}
    for split in splits:
        for path in sorted((work / split).glob("*_b1*.json")):
            for method, scores in json.loads(path.read_text()).items():
                cells.setdefault(method, {}).setdefault(split, []).append(scores)
    print("| the ten are chosen among | " + " | ".join(label for _, label, _, _ in MEASURES) + " | probes among the ten |")
    print("|---|" + "---|" * (len(MEASURES) + 1))
    for method, by_split in cells.items():
        line = []
        for key, _, factor, digits in MEASURES:
            means = [factor * statistics.mean(s[key] for s in scores) for scores in by_split.values()]
            spread = f" ± {statistics.stdev(means):.{digits}f}" if len(means) > 1 else ""
            line.append(f"{statistics.mean(means):.{digits}f}{spread}")
        share = statistics.mean(sum(name.startswith("probe_") for name in s["chosen"])
                                for scores in by_split.values() for s in scores)
        print(f"| {method} | " + " | ".join(line) + f" | {share:.1f} |")


def main():
    tenshot, work, splits = sys.argv[1], Path(sys.argv[2]), sys.argv[3:] or ["1", "2", "3", "4", "5"]
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    for split in splits:
        compare(tenshot, work, split)
    table(work, splits)


if __name__ == "__main__":
    main()
