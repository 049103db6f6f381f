#!/usr/bin/env python3
"""Li et al.'s Figures 12 and 17 with forests, on runtimes of this machine: what operators take inside their networks
(datasets/data/operators) teaches a forest for each kind, and the sum and T_overhead predict other networks. Writes
experiments/paper/inside/ in minutes.

  experiments/paper/inside.py [tenshot, build/tenshot unless said]"""

import csv
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import committed

sys.path.insert(0, str(committed.ROOT / "experiments/networks"))
import own_networks

OUT = committed.ROOT / "experiments/paper/inside"
RUNTIMES = ["libtorch-eager", "libtorch-channels-last", "libtorch-int8"]  # which call operator after operator
FOLDS = 5


def splits_of(networks):
    """[(what is shown, [(networks to learn from, networks to predict)])]"""
    of = lambda wanted: [name for name in networks.operators if wanted(networks.family[name])]
    space, synthetic, published = (of(lambda family: family == "synthetic"),
                                   of(lambda family: family.startswith("synthetic")),
                                   of(lambda family: not family.startswith("synthetic")))
    folds = [([name for i, name in enumerate(space) if i % FOLDS != fold], space[fold::FOLDS]) for fold in range(FOLDS)]
    families = list(networks.family.items())
    return [("Fig. 12: 40 of the synthetic space to 10 others of it", folds),
            ("Fig. 17: 50 of the synthetic space to 131 published", [(space, published)]),
            ("170 synthetic of two kinds to 131 published", [(synthetic, published)]),
            ("131 published to 170 synthetic", [(published, synthetic)]),
            ("families held out, six tenths to four tenths", [own_networks.order(families, str(split)) for split in range(1, 6)])]


def predicted(tenshot, networks, rows, learned, folder):
    """ms of every network by the forests of the operators that the learned ones have; none where a kind is unknown."""
    kept = {committed.specification_key(networks.specifications[index])
            for name in learned for index in networks.operators[name]}
    with (folder / "operators.csv").open("w", newline="") as file:
        table = csv.DictWriter(file, rows[0].keys())
        table.writeheader()
        table.writerows(row for row in rows if committed.row_key(row) in kept)
    (folder / "names.csv").write_text("\n".join(["architecture", *networks.operators]) + "\n")
    for arguments in (["kernels", "train", "--kernels", "operators.csv", "--rules", "none", "--out", "forests.tenshot"],
                      ["predict", "--predictor", "forests.tenshot", "--networks", committed.DATA / "networks/networks.json",
                       "--archs", "names.csv", "--out", "predictions.csv"]):
        subprocess.run([tenshot, *arguments, "--quiet"], cwd=folder, check=True, stderr=subprocess.DEVNULL)
    return {row["architecture"]: float(row["latency_ms"]) for row in committed.read(folder / "predictions.csv")}


def main():
    tenshot = Path(sys.argv[1] if len(sys.argv) > 1 else committed.ROOT / "build/tenshot").resolve()
    networks = committed.Networks()
    rows_kept, cells = [], {}
    for runtime in RUNTIMES:
        known = networks.on(runtime)
        rows = committed.read(committed.DATA / f"operators/{runtime}_t1_b1.csv")
        for shown, splits in splits_of(networks):
            shares, errors, count = [], [], 0
            for number, (learned, asked) in enumerate(splits, 1):
                with tempfile.TemporaryDirectory() as temporary:
                    sums = predicted(tenshot, networks, rows, learned, Path(temporary))
                overhead = statistics.fmean(known[name] - sums[name] for name in learned if name in known and name in sums)
                ratios = [(sums[name] + overhead) / known[name] for name in asked if name in known and name in sums]
                count += len(ratios)
                shares.append(committed.within(ratios))
                errors.append(100 * statistics.fmean(abs(ratio - 1) for ratio in ratios))
                rows_kept.append([runtime, shown, number, len(learned), len(ratios), f"{shares[-1] / 100:.4f}",
                                  f"{errors[-1] / 100:.4f}", f"{overhead:.4f}"])
                print(*rows_kept[-1], flush=True)
            cells.setdefault(shown, []).append(f"{statistics.fmean(shares):.1f} ({statistics.fmean(errors):.1f} %), {count}")
    with (OUT / "results.csv").open("w", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows(
            [["runtime", "shown", "split", "learned", "predicted", "acc10", "mape", "overhead_ms"], *rows_kept])
    (OUT / "README.md").write_text(
        "# Operators inside their networks, other networks predicted\n\n`experiments/paper/inside.py`: a random forest for each "
        "kind of operator learns from what operators took [inside their networks](../../../datasets/data/operators/README.md), "
        "and the sum and T_overhead, the mean difference on the networks to learn from, predict others (Li et al., §4.2, with "
        "nn-Meter's forests and features). Share within ±10 %, in percent, in brackets the mean error, and how many networks were "
        "predicted: those are left out that have a kind of operator which was never seen. An operator that networks of both "
        "sides have is one row of the data, the median over all of them, so that a part of what is learned was measured in "
        "networks that are predicted: of eager LibTorch, 20, 3, 20, 17 and 32 % of their time, row by row. In the last row 68 of "
        "the 113 to 120 predicted networks are synthetic, of kinds that are learned. T_overhead comes out negative: what forests "
        "add up is too much. The paper has 2.8 % mean error for forests on CPUs (TensorFlow Lite) from 900 synthetic networks to 100 "
        "others of the space.\n\n"
        + committed.table(["networks", *RUNTIMES], [[shown, *values] for shown, values in cells.items()]))
    sys.exit(subprocess.run([sys.executable, committed.ROOT / "experiments/pages.py", "--made", "inside"],
                            check=False).returncode)


if __name__ == "__main__":
    main()
