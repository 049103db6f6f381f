#!/usr/bin/env python3
"""Splits the pool of networks by families, and tabulates what was predicted of it.

    python3 own_networks.py split POOL SPLIT SPEC OUT    OUT/pool, its rows in the split's order, and OUT/spec.json
    python3 own_networks.py split POOL SPLIT SPEC OUT OPERATORS    with the devices' tables of that folder as operators.csv
    python3 own_networks.py table RESULTS.csv POOL       the results of all splits as Markdown
    python3 own_networks.py between RESULTS.csv          those of between_spaces.sh
"""
import collections
import csv
import hashlib
import json
import statistics
import sys
from pathlib import Path

SHARE = 0.6  # of the networks of each kind, published and synthetic, to train on and to adapt with
SYNTHETIC = ("synthetic", "synthetic_blocks")  # each a kind: single networks of it are left out, not the whole
INNER = "inner"
BETWEEN = ("synthetic-to-published", "published-to-synthetic")  # splits of between_spaces.sh
MEASURES = [("acc10", "within ±10 %", 100, 1), ("acc5", "within ±5 %", 100, 1), ("mape", "mean error, %", 100, 1),
            ("spearman", "Spearman's ρ", 1, 3), ("coverage90", "90 % intervals hold, %", 100, 1)]


def hashed(*words):
    return hashlib.sha256(" ".join(words).encode()).hexdigest()


def order(families, split):
    """The networks to train on, then those to test on: whole families, drawn by the split; or all of one side and all of
    the other, where the split is called so. A split "inner1" splits once more what split 1 trains on."""
    sides = {True: [network for network, family in families if family in SYNTHETIC],
             False: [network for network, family in families if family not in SYNTHETIC]}
    if split in BETWEEN:
        learned = split == BETWEEN[0]
        return sides[learned], sides[not learned]
    if split.startswith(INNER):
        known = set(order(families, split[len(INNER):])[0])
        families = [row for row in families if row[0] in known]
    by_family = collections.defaultdict(list)
    for network, family in families:
        by_family[family].append(network)
    synthetic = [sorted(by_family.pop(kind, []), key=lambda network: hashed(split, network)) for kind in SYNTHETIC]
    published = sum(len(networks) for networks in by_family.values())
    train, test = [], []
    for family in sorted(by_family, key=lambda name: hashed(split, name)):
        (train if len(train) < SHARE * published else test).extend(by_family[family])
    for networks in synthetic:
        cut = round(SHARE * len(networks))
        train, test = train + networks[:cut], test + networks[cut:]
    return train, test


def families_of(pool):
    with open(pool / "families.csv", newline="") as file:
        return [(row["network"], row["family"]) for row in csv.DictReader(file)]


def predicted_of(pool, splits):
    """How many networks each split predicts, and how many of these are synthetic."""
    families = families_of(pool)
    kind = dict(families)
    tests = [order(families, split)[1] for split in splits]
    return [len(test) for test in tests], [sum(kind[network] in SYNTHETIC for network in test) for test in tests]


def split_pool(pool, split, spec, out, operators=None):
    families = families_of(pool)
    train, test = order(families, split)
    place = {network: i for i, network in enumerate(train + test)}
    devices = sorted(path.parent for path in pool.glob("*/device.json"))
    (out / "pool").mkdir(parents=True, exist_ok=True)
    (out / "pool" / "networks.json").write_bytes((pool / "networks.json").read_bytes())
    for number, device in enumerate(devices):
        folder = out / "pool" / device.name
        folder.mkdir(exist_ok=True)
        (folder / "device.json").write_bytes((device / "device.json").read_bytes())
        table = operators / f"{device.name}.csv" if operators else None
        if table and table.exists():
            (folder / "operators.csv").write_bytes(table.read_bytes())
        with open(device / "latencies.csv", newline="") as file:
            rows = list(csv.reader(file))
        rows[1:] = [row for row in rows[1:] if row[0] in place]
        if number == 0 and len(rows) != len(place) + 1:
            sys.exit(f"{device}: has {len(rows) - 1} of {len(place)} networks, and its order is that of the rows")
        with open(folder / "latencies.csv", "w", newline="") as file:
            csv.writer(file, lineterminator="\n").writerows(
                rows[:1] + sorted(rows[1:], key=lambda row: place[row[0]]))
    described = json.loads(spec.read_text())
    described["data"] = {"pool": str((out / "pool").resolve())}
    described["split"] = {"train": f"0:{len(train)}", "test": f"{len(train)}:{len(train) + len(test)}"}
    (out / "spec.json").write_text(json.dumps(described, indent=2) + "\n")


def print_table(results, pool):
    with open(results, newline="") as file:
        rows = list(csv.DictReader(file))
    splits = sorted({row["split"] for row in rows})
    print("# own_networks\n")
    print("`experiments/networks/own_networks.sh`: the networks of [datasets/data/networks](../../../datasets/data/networks/README.md).")
    print("Each runtime is left out of the pool with all its settings, and four tenths of the families of networks are left")
    print(f"out with it: both the runtime and the networks that are predicted are new. Mean over device-runtimes and {len(splits)}")
    print("splits of the families, ± the standard deviation over the means of the splits.\n")
    predicted, synthetic = predicted_of(pool, splits)
    print(f"A split predicts {min(predicted)} to {max(predicted)} networks. {max(synthetic)} of them are synthetic networks, of "
          "which the pool\nholds others of the same two kinds; the rest are published ones of families that it does not hold.\n")
    print("| method | device-runtime | " + " | ".join(label for _, label, _, _ in MEASURES) + " |")
    print("|---|---|" + "---|" * len(MEASURES))
    methods = list(dict.fromkeys(row["method"] for row in rows))
    targets = sorted({row["target"] for row in rows})
    for method in methods:
        for target in ["all"] + (targets if method == methods[0] else []):
            cells = []
            for key, _, factor, digits in MEASURES:
                means = []
                for split in splits:
                    values = [factor * float(row[key]) for row in rows if row["method"] == method and row[key] and
                              row["split"] == split and target in ("all", row["target"])]
                    means += [statistics.mean(values)] if values else []
                spread = f" ± {statistics.stdev(means):.{digits}f}" if len(means) > 1 else ""
                cells.append(f"{statistics.mean(means):.{digits}f}{spread}" if means else "–")
            print(f"| {method} | {target} | " + " | ".join(cells) + " |")


def print_between(results):
    with open(results, newline="") as file:
        rows = list(csv.DictReader(file))
    targets = sorted({row["target"] for row in rows})
    print("# between_spaces\n")
    print("`experiments/networks/between_spaces.sh`: the networks of [datasets/data/networks](../../../datasets/data/networks/"
          "README.md), 170 synthetic ones of two kinds (the space of Li et al., and blocks of published networks drawn for each "
          "stage) and 131 published ones. Each of four runtimes is left out of the pool with all its settings; pool and measured "
          "networks are of one side, the predicted ones all of the other. Ten networks chosen by information, or all of the side. "
          "Share within ±10 %, in percent, and in brackets the mean error.\n")
    for split in BETWEEN:
        print(f"## {split.replace('-', ' ').capitalize()}\n")
        print("| method | " + " | ".join(targets) + " | mean |")
        print("|---" * (len(targets) + 2) + "|")
        for method in dict.fromkeys(row["method"] for row in rows):
            of = {row["target"]: row for row in rows if row["split"] == split and row["method"] == method}
            means = [statistics.mean(100 * float(of[target][key]) for target in targets) for key in ("acc10", "mape")]
            cells = [f"{100 * float(of[target]['acc10']):.1f} ({100 * float(of[target]['mape']):.0f} %)" for target in targets]
            print(f"| {method} | " + " | ".join(cells) + f" | **{means[0]:.1f}** ({means[1]:.0f} %) |")
        print()


if __name__ == "__main__":
    if sys.argv[1] == "between":
        print_between(sys.argv[2])
        sys.exit()
    if sys.argv[1] == "split":
        split_pool(Path(sys.argv[2]), sys.argv[3], Path(sys.argv[4]), Path(sys.argv[5]), *map(Path, sys.argv[6:]))
    else:
        print_table(sys.argv[2], Path(sys.argv[3]))
