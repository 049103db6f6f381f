#!/usr/bin/env python3
"""Sums of operators that were timed inside networks: what 10, 30 and 100 networks of the pool, as a whole and operator by
operator (datasets/data/operators), let `tenshot kernels train` predict of networks of other families. Five splits, four
runtimes. Keeps experiments/kernels/inside_networks; an interrupted run goes on.

  experiments/kernels/inside_networks.py [tenshot, build/tenshot unless said]"""

import csv
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path[:0] = [str(ROOT / "experiments/paper"), str(ROOT / "experiments/networks")]
import committed  # noqa: E402
import own_networks  # noqa: E402

OUT = ROOT / "experiments/kernels/inside_networks"
SPLITS = range(1, 6)
LATENCY_RUNS, PROFILE_RUNS = 28, 23  # 25 and 20 timed ones, and three to warm up: seconds are counted, not measured
# (networks to learn from, learner, correction)
VARIANTS = [(100, "boosted", "composition"), (100, "boosted", "factor"), (30, "boosted", "composition"), (30, "boosted", "factor"),
            (10, "boosted", "composition"), (10, "boosted", "factor"), (100, "lasso", "factor"), (100, "lasso", "composition")]
HEADER = ["runtime", "split", "learner", "correction", "networks", "seconds", "predicted", "acc10", "mape", "coverage90"]


def to_learn_from(families, split):
    """The networks to learn from, families mixed, and those to predict."""
    train, test = own_networks.order(families, str(split))
    return sorted(train, key=lambda name: own_networks.hashed(str(split), name)), test


class Runtime:
    def __init__(self, networks, name):
        self.networks, self.known = networks, networks.on(name)
        self.rows = {committed.row_key(row): row for row in committed.read(committed.DATA / f"operators/{name}_t1_b1.csv")}

    def write(self, folder, learned, asked):
        """The operators and the latencies of the networks to learn from, and the names of those to predict."""
        with (folder / "operators.csv").open("w", newline="") as file:
            table = csv.DictWriter(file, [*next(iter(self.rows.values())), "purpose"])
            table.writeheader()
            for name in learned:
                keys = {committed.specification_key(self.networks.specifications[i]) for i in self.networks.operators[name]}
                table.writerows({**self.rows[key], "purpose": f"network {name}"} for key in sorted(keys) if key in self.rows)
        for file, names in (("measured.csv", learned), ("asked.csv", asked)):
            lines = [f"{name},{self.known[name]}" for name in names]
            (folder / file).write_text("\n".join(["architecture,latency_ms", *lines]) + "\n")


def predictions(tenshot, folder, learner, correction):
    """[(ms, lower, upper)] of asked.csv."""
    pool = ["--networks", committed.DATA / "networks/networks.json"]
    for arguments in (["kernels", "train", "--kernels", "operators.csv", "--learner", learner, "--measurements", "measured.csv",
                       "--correction", correction, *pool, "--out", "sums.tenshot"],
                      ["predict", "--predictor", "sums.tenshot", *pool, "--archs", "asked.csv", "--out", "predictions.csv"]):
        done = subprocess.run([tenshot, *arguments, "--quiet"], cwd=folder, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            sys.exit(f"{' '.join(map(str, arguments))}: {done.stderr}")
    return {row["architecture"]: [float(row[key]) for key in ("latency_ms", "lower_ms", "upper_ms")]
            for row in committed.read(folder / "predictions.csv")}


def compare(tenshot):
    networks = committed.Networks()
    families = list(networks.family.items())
    kept = OUT / "results.csv"
    if not kept.exists():
        kept.write_text(",".join(HEADER) + "\n")
    done = {tuple(row[key] for key in HEADER[:5]) for row in committed.read(kept)}
    runtimes = {name: Runtime(networks, name) for name in committed.PROFILED}
    for count, learner, correction in VARIANTS:
        for name, runtime in runtimes.items():
            for split in SPLITS:
                key = (name, str(split), learner, correction, str(count))
                if key in done:
                    continue
                train, test = ([n for n in side if n in runtime.known] for side in to_learn_from(families, split))
                with tempfile.TemporaryDirectory() as folder:
                    runtime.write(Path(folder), train[:count], test)
                    found = predictions(tenshot, Path(folder), learner, correction)
                ratios = [found[n][0] / runtime.known[n] for n in test]
                inside = statistics.fmean(found[n][1] <= runtime.known[n] <= found[n][2] for n in test)
                seconds = (LATENCY_RUNS + PROFILE_RUNS) * sum(runtime.known[n] for n in train[:count]) / 1000
                row = [*key, f"{seconds:.1f}", len(test), f"{committed.within(ratios) / 100:.4f}",
                       f"{statistics.fmean(abs(ratio - 1) for ratio in ratios):.4f}", f"{inside:.4f}"]
                with kept.open("a") as file:
                    file.write(",".join(map(str, row)) + "\n")
                print(*row, flush=True)


def spread(values, digits=1):
    return f"{statistics.fmean(values):.{digits}f} ± {statistics.stdev(values):.{digits}f}"


def really_took(networks, name):
    """Share predicted by the sums of what the operators of each network took, with one factor of those to learn from."""
    runtime, shares = Runtime(networks, name), []
    total = {}
    for network, indices in networks.operators.items():
        keys = [committed.specification_key(networks.specifications[i]) for i in indices if networks.specifications[i]["kind"] != "reshape"]
        if network in runtime.known and all(key in runtime.rows for key in keys):
            total[network] = runtime.known[network] / sum(float(runtime.rows[key]["latency_ms"] or 0) for key in keys)
    for split in SPLITS:
        train, test = ([n for n in side if n in total] for side in to_learn_from(list(networks.family.items()), split))
        factor = statistics.median(total[n] for n in train[:100])
        shares.append(committed.within([factor / total[n] for n in test]))
    return spread(shares)


def page():
    rows = committed.read(OUT / "results.csv")
    lines = {}
    for row in rows:
        key = (row["networks"], row["learner"], row["correction"])
        lines.setdefault(key, {}).setdefault(row["runtime"], []).append(row)
    body = []
    for (count, learner, correction), of in lines.items():
        if any(len(of.get(name, [])) < len(SPLITS) for name in committed.PROFILED):
            continue  # interrupted
        cells = [f"{spread([100 * float(row['acc10']) for row in of[name]])} ({100 * statistics.fmean(float(row['mape']) for row in of[name]):.1f} %)"
                 for name in committed.PROFILED]
        held = statistics.fmean(100 * float(row["coverage90"]) for found in of.values() for row in found)
        body.append([count, f"`{learner}`", f"`{correction}`", *cells, f"{held:.0f}"])
    networks = committed.Networks()
    body.append([100, "what the operators took", "`factor`", *(really_took(networks, name) for name in committed.PROFILED), "–"])
    text = (OUT / "text.md").read_text()
    (OUT / "README.md").write_text(text + "\n" + committed.table(
        ["networks", "`--learner`", "`--correction`", *committed.PROFILED, "90 % intervals hold"], body))
    return subprocess.run([sys.executable, ROOT / "experiments/pages.py", "--made", "inside_networks"], check=False).returncode


if __name__ == "__main__":
    if "--page" not in sys.argv:
        compare(Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "build/tenshot").resolve())
    sys.exit(page())
