#!/usr/bin/env python3
"""Li et al.'s Figures 12, 13, 16, 20 and 24 from what synthetic_networks.py measured: their four learners, and two of ours, add up
operators. Keeps experiments/paper/synthetic_networks/.

  experiments/paper/synthetic_learners.py compare RUNTIME [SECONDS [LEARNER …]]   learns and predicts; goes on where the last piece
                                                                                  stopped; RUNTIME_t2 with two threads;
                                                                                  LEARNER=NETWORKS from so many alone
  experiments/paper/synthetic_learners.py cores                                   Figure 13 from what two_cores.py measured; goes on
  experiments/paper/synthetic_learners.py page

What networks execute is read of the files that "synthetic_networks.py make" writes. TENSHOT is the program, build/tenshot unless
said."""

import collections
import csv
import itertools
import json
import re
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import committed
from synthetic_networks import BLOCKS, FIRST_SEED, OUT, RUNTIMES, TENSHOT, THREADS, Networks, measured_as, published, set_of

sys.path[:0] = [str(committed.ROOT / "experiments/kernels"), str(committed.ROOT / "experiments/networks")]
import isolation_modes  # noqa: E402
import own_networks  # noqa: E402

LEARNERS = ["lasso", "small-forest", "small-boosted", "perceptron", "forest", "boosted"]  # four of theirs, nn-Meter's, ours
WHOLE = ["whole-forest", "whole-boosted", "whole-perceptron"]  # three of theirs with all settings that they name
COUNTS, COUNTS_OF_SIZES, PREDICTED = [400, 100, 30, 900], 400, 100  # networks
RANGES = [0.03, 0.1, 0.3, 1.0]  # ms of a convolution, between which Figure 16 counts
RESULTS = ["runtime", "learned", "networks", "learner", "tested", "predicted", "mape", "acc10", "overhead_ms", "seconds"]
BY_RANGE = ["runtime", "learned", "networks", "learner", "tested", "from_ms", "convolutions", "mape"]
FOLDS = 5
COLUMNS = isolation_modes.SPECIFICATION


class Measured:
    """What was kept of a runtime."""

    def __init__(self, runtime, networks):
        self.specifications, self.latency, self.operators, self.sum = networks.specifications, {}, {}, {}
        for row in committed.read(next(OUT.glob(f"{runtime}.csv*"))):
            name, counts = row["network"], networks.counts[row["network"]]
            self.latency[name] = float(row["latency_ms"])
            # [(what is executed, how often, ms)]
            self.operators[name] = [(*of, float(ms)) for of, ms in zip(counts.items(), row["operators_ms"].split(), strict=True)]
            self.sum[name] = sum(count * ms for _, count, ms in self.operators[name])
        self.published = published()

    def sides(self, kind):
        """Networks of a kind to learn from, in an order drawn once, and a hundred to predict. Synthetic ones of the first half come
        first, and those to predict are of it: it was measured before the other half."""
        drawn = lambda name: own_networks.hashed("1", name)
        names = sorted((name for name in self.latency if set_of(name) == kind), key=drawn)
        if kind == "synthetic":
            names.sort(key=lambda name: int(name.split("_")[2]) >= FIRST_SEED + BLOCKS // 2)
        return names[PREDICTED:], names[:PREDICTED]

    def tested(self):
        """{set: networks to predict}"""
        asked = {"synthetic": self.sides("synthetic")[1], "sizes": self.sides("sizes")[1],
                 "published": [name for name in self.latency if name in self.published]}
        return {kind: names for kind, names in asked.items() if names}

    def overhead(self, names):
        """T_overhead (§4.2), in ms."""
        return statistics.fmean(self.latency[name] - self.sum[name] for name in names)

    def kind(self, index):
        return isolation_modes.operator_type(self.specifications[index])

    def convolutions(self, names):
        """{what is executed: ms in the median} of the convolutions of one group."""
        found = collections.defaultdict(list)
        for index, _, ms in (operator for name in names for operator in self.operators[name]):
            if self.kind(index) == "convolution" and ms > 0:
                found[index].append(ms)
        return {index: statistics.median(values) for index, values in found.items()}


def write_asked(folder, measured, names, single):
    """The networks to predict, each as a list of operators, and single operators as networks of one."""
    lists = {name: [index for index, count, _ in measured.operators[name] for _ in range(count)] for name in names}
    lists.update({f"operator {index}": [index] for index in single})
    networks = [{"name": name, "hash": own_networks.hashed(name), "operators": indices,
                 "sources": [[-1] * len(measured.specifications[index]["inputs"]) for index in indices]} for name, indices in lists.items()]
    (folder / "networks.json").write_text(json.dumps({"format": "tenshot.networks/1", "networks": networks,
                                                      "operators": measured.specifications}))
    (folder / "asked.csv").write_text("\n".join(["architecture", *lists]) + "\n")


def run(folder, *arguments):
    done = subprocess.run([TENSHOT, *map(str, arguments), "--quiet"], cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, arguments))}: {done.stderr}")


def predicted(measured, learned, learner, names, single):
    """({network: ms}, {operator: ms}) by a learner of the operators of the learned networks."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        with (folder / "kernels.csv").open("w", newline="") as file:
            table = csv.writer(file, lineterminator="\n")
            table.writerow(["kernel", *COLUMNS, "isolation", "purpose", "latency_ms", "refused"])
            for name in learned:
                for index, _, ms in measured.operators[name]:
                    table.writerow([measured.kind(index), *isolation_modes.columns_of(measured.specifications[index]), "profile",
                                    f"network {name}", ms or "", "" if ms else "executed with another one"])
        write_asked(folder, measured, names, single)
        run(folder, "kernels", "train", "--kernels", "kernels.csv", "--learner", learner, "--out", "sums.tenshot")
        run(folder, "predict", "--predictor", "sums.tenshot", "--networks", "networks.json", "--archs", "asked.csv", "--out", "predictions.csv")
        found = {row["architecture"]: float(row["latency_ms"]) for row in committed.read(folder / "predictions.csv")}
    return {name: found[name] for name in names}, {index: found[f"operator {index}"] for index in single}


def rows_kept(file, header):
    path = OUT / file
    if not path.exists():
        path.write_text(",".join(header) + "\n")
    return path, committed.read(path)


def error(ratios):
    return f"{statistics.fmean(abs(ratio - 1) for ratio in ratios):.4f}"


def variants(measured, learners):
    """(what is learned from, how many networks, learner)"""
    for count, asked, kind in itertools.product(COUNTS, learners, ("synthetic", "sizes")):
        learner, _, alone = asked.partition("=")
        if count > len(measured.sides(kind)[0]) or alone not in ("", str(count)):
            continue
        if kind == "synthetic" or (count == COUNTS_OF_SIZES and not alone):
            yield kind, count, learner


def range_of(ms):
    return max((bound for bound in RANGES if bound <= ms), default=0)


def compare(runtime, budget_s, learners):
    measured, begin = Measured(runtime, Networks()), time.perf_counter()
    tested = measured.tested()
    single = {kind: measured.convolutions(tested[kind]) for kind in ("synthetic", "published") if kind in tested}
    results, kept = rows_kept("results.csv", RESULTS)
    by_range, _ = rows_kept("by_range.csv", BY_RANGE)
    done = {tuple(row[column] for column in RESULTS[:4]) for row in kept}
    for kind, count, learner in variants(measured, learners):
        key = (runtime, kind, str(count), learner)
        if key in done:
            continue
        if time.perf_counter() - begin > budget_s:
            print("to be continued", flush=True)
            return
        learned, start = measured.sides(kind)[0][:count], time.perf_counter()
        names = sorted({name for of in tested.values() for name in of})
        found, alone = predicted(measured, learned, learner, names, sorted({index for of in single.values() for index in of}))
        seconds = time.perf_counter() - start
        overhead = measured.overhead(learned)
        for shown, of in tested.items():
            ratios = [(found[name] + overhead) / measured.latency[name] for name in of]
            with results.open("a") as file:
                file.write(",".join([*key, shown, str(len(of)), error(ratios), f"{committed.within(ratios) / 100:.4f}",
                                     f"{overhead:.4f}", f"{seconds:.0f}"]) + "\n")
        for shown, of in single.items():
            ratios = collections.defaultdict(list)
            for index, ms in of.items():
                ratios[range_of(ms)].append(alone[index] / ms)
            with by_range.open("a") as file:
                for bound, values in sorted(ratios.items()):
                    file.write(",".join([*key, shown, str(bound), str(len(values)), error(values)]) + "\n")
        print(*key, f"{seconds:.0f} s", flush=True)
    print("all learned", flush=True)


def folds_of_cores(runtime, threads, learner):
    """Predicted over measured of two_cores.py's synthetic networks, each predicted by four fifths that it is not of."""
    folder_of = committed.ROOT / "experiments/paper/two_cores"
    networks = {row["network"]: float(row["fastest_ms"]) for row in committed.read(folder_of / f"{runtime}_networks.csv")
                if row["of"] == "synthetic" and row["threads"] == threads}
    rows = [row for row in committed.read(folder_of / f"{runtime}_operators.csv.gz")
            if row["threads"] == threads and float(row["latency_ms"]) > 0]
    pool, columns, ratios = ["--networks", committed.DATA / "networks/networks.json"], ["kernel", *COLUMNS, "latency_ms"], []
    for fold in range(FOLDS):
        asked = sorted(networks)[fold::FOLDS]
        learned = [name for name in networks if name not in asked]
        with tempfile.TemporaryDirectory() as temporary:
            folder = Path(temporary)
            with (folder / "kernels.csv").open("w", newline="") as file:
                csv.writer(file, lineterminator="\n").writerows(
                    [columns, *([row[column] for column in columns] for row in rows if row["network"] in learned)])
            (folder / "measured.csv").write_text("architecture,latency_ms\n" + "".join(f"{name},{networks[name]}\n" for name in learned))
            (folder / "asked.csv").write_text("\n".join(["architecture", *asked]) + "\n")
            run(folder, "kernels", "train", "--kernels", "kernels.csv", "--learner", learner, "--rules", isolation_modes.rules_of(runtime),
                "--measurements", "measured.csv", "--correction", "overhead", *pool, "--out", "sums.tenshot")
            run(folder, "predict", "--predictor", "sums.tenshot", *pool, "--archs", "asked.csv", "--out", "predictions.csv")
            ratios += [float(row["latency_ms"]) / networks[row["architecture"]] for row in committed.read(folder / "predictions.csv")]
    return ratios


def cores():
    """Figure 13 with the few networks that two_cores.py has measured on two runtimes."""
    path, kept = rows_kept("cores.csv", ["runtime", "threads", "learner", "predicted", "mape", "acc10"])
    done = {(row["runtime"], row["threads"], row["learner"]) for row in kept}
    for key in itertools.product(["libtorch-frozen", "opencv-dnn"], "12", ["small-boosted", "lasso"]):
        if key in done:
            continue
        ratios = folds_of_cores(*key)
        with path.open("a") as file:
            file.write(",".join([*key, str(len(ratios)), error(ratios), f"{committed.within(ratios) / 100:.4f}"]) + "\n")


def percent(text):
    return f"{100 * float(text):.1f}"


def by_cores(rows, few):
    """Lines of Figure 13: of two_cores.py's networks, and of as many as were measured with either number of threads."""
    many = [[runtime, threads, count, learner, cell([row for row in rows if row["runtime"] == measured_as(runtime, threads)],
                                                    "synthetic", count, learner, "synthetic")]
            for runtime, count, learner, threads in itertools.product(RUNTIMES, (900, 100), LEARNERS, THREADS)]
    found = [[row["runtime"], row["threads"], round(int(row["predicted"]) * (FOLDS - 1) / FOLDS), row["learner"],
              f"{percent(row['mape'])} ({float(row['acc10']) * 100:.0f})"] for row in few]
    return committed.table(["runtime", "threads", "networks to learn from", "`--learner`", "error (within ±10 %)"],
                           [[*of, f"`{learner}`", share] for *of, learner, share in [*many, *found] if share != "–"])


def cell(rows, learned, count, learner, tested):
    """"error (share within ±10 %)\""""
    found = [row for row in rows if (row["learned"], row["networks"], row["learner"], row["tested"]) == (learned, str(count), learner, tested)]
    return f"{percent(found[-1]['mape'])} ({float(found[-1]['acc10']) * 100:.0f})" if found else "–"


def by_own_operators(measured, learned, count, tested):
    """As cell(): the sums of what the predicted networks' own operators took, with the T_overhead of those to learn from."""
    overhead = measured.overhead(measured.sides(learned)[0][:count])
    ratios = [(measured.sum[name] + overhead) / measured.latency[name] for name in measured.tested()[tested]]
    return f"{percent(error(ratios))} ({committed.within(ratios):.0f})"


def by_count(rows, measured):
    """A line a learner, a column a number of networks to learn from."""
    counts = sorted(COUNTS)
    return committed.table(["`--learner`", *map(str, counts)], [
        *([f"`{learner}`", *(cell(rows, "synthetic", count, learner, "synthetic") for count in counts)] for learner in (*LEARNERS, *WHOLE)
          if any(row["learner"] == learner for row in rows)),
        ["measured operators", *(by_own_operators(measured, "synthetic", count, "synthetic") for count in counts)]])


def by_space(rows, measured):
    """A line a learner, a column a space to learn from and networks to predict."""
    pairs = list(itertools.product(("synthetic", "sizes"), ("synthetic", "sizes", "published")))
    return committed.table(["`--learner`", *(f"{learned} to {tested}" for learned, tested in pairs)], [
        *([f"`{learner}`", *(cell(rows, learned, COUNTS_OF_SIZES, learner, tested) for learned, tested in pairs)] for learner in LEARNERS),
        ["measured operators", *(by_own_operators(measured, learned, COUNTS_OF_SIZES, tested) for learned, tested in pairs)]])


def range_names():
    return [f"below {RANGES[0]} ms", *(f"{low} to {high}" for low, high in itertools.pairwise(RANGES)), f"from {RANGES[-1]} ms"]


def ranges(measured, by_range):
    """Which convolutions take the time of a network (in the mean over networks), and how far off a Lasso and trees are."""
    lines, bounds = [], (0, *RANGES)
    for shown in ("synthetic", "published"):
        names, shares = measured.tested()[shown], collections.defaultdict(list)
        for name in names:
            of = collections.Counter()
            for index, count, ms in measured.operators[name]:
                if "convolution" in measured.kind(index):
                    of[range_of(ms)] += count * ms
            for bound in bounds:
                shares[bound].append(of[bound] / measured.latency[name])
        lines.append([f"share of the latency, {shown} networks", *(f"{100 * statistics.fmean(shares[bound]):.0f} %" for bound in bounds)])
        for learner in ("lasso", "small-boosted"):
            found = {float(row["from_ms"]): f"{percent(row['mape'])} % of {row['convolutions']}" for row in by_range
                     if (row["learned"], row["networks"], row["learner"], row["tested"]) == ("synthetic", str(COUNTS_OF_SIZES), learner, shown)}
            lines.append([f"error of `{learner}`, {shown} ones", *(found.get(bound, "–") for bound in bounds)])
    return committed.table(["", *range_names()], lines)


def form_of(spec, kind):
    if kind != "convolution":
        return kind.replace("_", " ")
    window, stride = spec.get("kernel", [1, 1]), spec.get("stride", [1, 1])
    return "×".join(map(str, window)) + ("" if window == [1, 1] else f", stride {stride[0]}")


def rates(measured):
    """{form: ns for a thousand multiply-adds, quartiles} of convolutions of at least ten million, in synthetic networks."""
    found = collections.defaultdict(list)
    for name in (name for name in measured.operators if set_of(name) == "synthetic"):
        for index, _, ms in measured.operators[name]:
            spec, kind = measured.specifications[index], measured.kind(index)
            if "convolution" in kind and ms > 0 and (work := isolation_modes.multiply_adds(spec)) >= 1e7:
                found[form_of(spec, kind)].append(1e9 * ms / work)
    quartiles = lambda values: "{1:.1f} [{0:.1f}, {2:.1f}] of {3}".format(*statistics.quantiles(values, n=4), len(values))
    return {form: quartiles(values) for form, values in found.items() if len(values) >= 8}


def page():
    all_rows, by_range, few = (committed.read(OUT / f"{name}.csv") for name in ("results", "by_range", "cores"))
    rows, by_range = ([row for row in of if row["runtime"] == RUNTIMES[0]] for of in (all_rows, by_range))
    networks, text = Networks(), (OUT / "text.md").read_text()
    measured = Measured(RUNTIMES[0], networks)
    kinds = [[kind, len(names), len({index for name in names for index, _, _ in measured.operators[name]}), len(measured.convolutions(names)),
              f"{statistics.median(measured.latency[name] for name in names):.1f}",
              "{1:.2f} [{0:.2f}, {2:.2f}]".format(*statistics.quantiles([measured.sum[name] / measured.latency[name] for name in names], n=4))]
             for kind in ("synthetic", "sizes", "published") if (names := [name for name in measured.latency if set_of(name) == kind])]
    forms = rates(measured)
    tables = {
        "MEASURED": committed.table(["networks", "how many", "different operators", "different convolutions of one group", "latency, ms, median",
                                     "sum of operators over latency"], kinds),
        "COUNTS": by_count(rows, measured), "SPACES": by_space(rows, measured), "RANGES": ranges(measured, by_range),
        "RATES": committed.table(["convolution", "ns for a thousand multiply-adds"], [[form, forms[form]] for form in sorted(forms)]),
        "CORES": by_cores(all_rows, few)}
    for threads in THREADS:
        of = measured if threads == 1 else Measured(measured_as(RUNTIMES[0], threads), networks)
        tables[f"OWN{threads}"] = re.search(r"\((\d+)\)", by_own_operators(of, "synthetic", 900, "synthetic"))[1]
    for word, table in tables.items():
        text = text.replace(word, table)
    (OUT / "README.md").write_text(text)
    sys.exit(subprocess.run([sys.executable, committed.ROOT / "experiments/pages.py", "--made", "synthetic_networks"], check=False).returncode)


def main():
    step, *others = sys.argv[1:] or [""]
    if step == "compare" and others:
        compare(others[0], float(others[1]) if len(others) > 1 else float("inf"), others[2:] or LEARNERS)
    elif step in ("cores", "page"):
        {"cores": cores, "page": page}[step]()
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main()
