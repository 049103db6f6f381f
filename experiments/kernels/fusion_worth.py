#!/usr/bin/env python3
"""What knowing of fusion is worth: numbers of kernels, sums of operators and of kernels against networks, and `operators`, without
rules of fusion, with those that test cases detect, and with those that are true. Writes experiments/kernels/fusion_worth/.

  experiments/kernels/fusion_worth.py measure RUNTIME    a minute or two of one processor: libtorch-frozen, libtorch-xnnpack or opencv-dnn
  experiments/kernels/fusion_worth.py switch             OpenCV with its fusion switched on and off, two minutes of one processor
  experiments/kernels/fusion_worth.py predict            what is learned: half an hour, goes on where it stopped
  experiments/kernels/fusion_worth.py page

TENSHOT names the program, build/tenshot unless said. Kernels alone are those of isolation_modes.py."""

import csv
import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

import isolation_modes
from isolation_modes import ROOT, SPECIFICATION, TENSHOT, chains_of, kernels_of, pairs_of
import committed
import own_networks
import inside_networks

OUT = ROOT / "experiments/kernels/fusion_worth"
WORK = Path(os.environ.get("TENSHOT_WORK", ROOT / "build/experiments/fusion_worth"))
MEASURED = ["libtorch-frozen", "libtorch-xnnpack", "opencv-dnn"]
DETECTED = ["libtorch-frozen", "libtorch-xnnpack", "opencv-dnn", "onnxruntime"]
DEVICE = {**{name: f"{name}_t1_b1" for name in DETECTED}, "onnxruntime": "onnxruntime_fp32_t1_b1_all"}
MISSED = {"opencv-dnn": {("depthwise_convolution", "sigmoid")}}  # fused, and not detected: fusion_detection
OF_FAMILY = 1       # networks of each family of those to predict that are measured operator by operator
SPLITS = range(1, 6)
SWITCHED = 40       # published networks with fusion and without
MOST_CHECKED = 1e9  # multiply-adds of a network whose kernels are checked
KNOWN = {"convolution", "batch_norm", "activation", "add", "concatenate", "global_pool", "multiply", "max_pool", "split", "linear",
         "average_pool", "shuffle", "pad", "reshape"}


def rules(runtime, which):
    """A file of rules, or "none"."""
    return "none" if which == "none" else isolation_modes.rules_of(runtime)


def measure(runtime):
    import small_networks
    import torch
    torch.set_grad_enabled(False)
    OUT.mkdir(exist_ok=True)
    isolating, data = isolation_modes.Isolating(runtime), isolation_modes.document()
    by_name = {network["name"]: network for network in data["networks"]}
    family = {row["network"]: row["family"] for row in committed.read(ROOT / "datasets/data/networks/families.csv")}
    alone, sums, seen, families = [], [], {}, defaultdict(int)

    def took(graph, nodes):
        kernel = isolating.here.cut(graph, nodes)
        key = ("+".join(graph.nodes[node]["kind"] + graph.nodes[node].get("name", "") for node in nodes),
               *map(str, isolation_modes.columns_of(isolation_modes.leading(graph, nodes))))
        if key not in seen:
            seen[key] = isolating.signed([(kernel, 1), (isolating.here.CALL, -1)])
        return seen[key]

    for name, role in isolation_modes.roles().items():
        graph = small_networks.whole(data, by_name[name])
        if role == "train":
            operators = {}
            for kind, nodes in kernels_of(graph, "none"):
                operators.setdefault((kind, *map(str, isolation_modes.columns_of(graph.nodes[nodes[0]]))), nodes)
            fresh = sorted((key for key in operators if key[1] != "reshape"), key=lambda key: own_networks.hashed("1", " ".join(key)))
            for key in fresh[:isolation_modes.OF_NETWORK]:
                ms, seconds = took(graph, operators[key])
                alone.append([name, *key, f"{ms:.6g}", f"{seconds:.4g}"])
        elif families[family[name]] < OF_FAMILY and not family[name].startswith("synthetic"):
            try:
                network = small_networks.RUNTIMES[runtime](graph)
            except Exception as error:  # what OpenCV throws has no class of its own
                print(f"{name}: {str(error)[-200:]}", flush=True)
                continue
            families[family[name]] += 1
            latency = small_networks.timed(network, 15)
            row = [name, f"{latency:.6g}"]
            for which in ("none", isolation_modes.rules_of(runtime)):
                kernels = kernels_of(graph, which)
                total = sum(took(graph, nodes)[0] for _, nodes in kernels if graph.nodes[nodes[0]]["kind"] != "reshape")
                row += [len(kernels), f"{total:.6g}"]
            sums.append(row)
            print(*row, flush=True)
    for file, header, rows in (("operators", ["network", "kernel", *SPECIFICATION, "latency_ms", "seconds"], alone),
                               ("sums", ["network", "latency_ms", "operators", "operators_ms", "kernels", "kernels_ms"], sums)):
        with (OUT / f"{runtime}_{file}.csv").open("w", newline="") as table:
            csv.writer(table, lineterminator="\n").writerows([header, *rows])


def switch():
    """Li et al.'s Figures 6 and 7 on OpenCV: networks, and kinds of operators inside them, with fusion and without."""
    import small_networks
    small_networks.set_threads(1)
    data, published = isolation_modes.document(), committed.Networks().published()
    by_name = {network["name"]: network for network in data["networks"]}
    rows = [["network", "what", "fused_ms", "unfused_ms"]]
    for name in sorted(published, key=lambda name: own_networks.hashed("1", name))[:SWITCHED]:
        graph = small_networks.whole(data, by_name[name])
        try:
            both = [small_networks.OpenCV(graph, fused) for fused in (True, False)]
        except Exception as error:  # what OpenCV throws has no class of its own
            print(f"{name}: {str(error)[-200:]}", flush=True)
            continue
        rounds = [[small_networks.timed(network, 4) for network in both] for _ in range(5)]
        rows.append([name, "network", *(f"{statistics.median(times):.5g}" for times in zip(*rounds))])
        of_kind = defaultdict(lambda: [0, 0])
        for side, network in enumerate(both):
            for node, ms in enumerate(network.profile(isolation_modes.PROFILED_RUNS)):
                of_kind[isolation_modes.operator_type(graph.nodes[node])][side] += ms
        rows += [[name, kind, *(f"{ms:.5g}" for ms in times)] for kind, times in sorted(of_kind.items())]
        print(*rows[-len(of_kind) - 1], flush=True)
    with (OUT / "switch.csv").open("w", newline="") as table:
        csv.writer(table, lineterminator="\n").writerows(rows)


class Results:
    """Rows that are kept as they come."""

    def __init__(self):
        self.path = OUT / "results.csv"
        if not self.path.exists():
            self.path.write_text("part,runtime,rules,case,split,predicted,acc10,median_error\n")
        self.known = {tuple(row[key] for key in ("part", "runtime", "rules", "case", "split")) for row in committed.read(self.path)}

    def add(self, key, ratios):
        self.put(key, len(ratios), committed.within(ratios) / 100, statistics.median(abs(ratio - 1) for ratio in ratios))

    def put(self, key, *values):
        row = [*key, values[0], *(f"{value:.4f}" for value in values[1:])]
        with self.path.open("a") as file:
            csv.writer(file, lineterminator="\n").writerow(row)
        print(*row, flush=True)


def sums_of_alone(results):
    """nn-Meter's Figure 11: forests of operators alone without rules, of kernels alone with them."""
    for runtime in MEASURED:
        networks = [row for row in isolation_modes.read(isolation_modes.OUT / runtime / "networks.csv") if row["latency_ms"]]
        measured = {row["network"]: float(row["latency_ms"]) for row in networks}
        learned = [row["network"] for row in networks if row["role"] == "train"]
        operators = [[row["kernel"], *(row[key] for key in SPECIFICATION), row["latency_ms"]]
                     for row in isolation_modes.read(OUT / f"{runtime}_operators.csv")]
        kernels = isolation_modes.within_budget(isolation_modes.read(isolation_modes.OUT / runtime / "kernels.csv"), "alone")[0]
        for which, rows in (("none", operators), ("detected", kernels)):
            if ("alone", runtime, which, "one factor", "1") in results.known:
                continue
            values = isolation_modes.predicted(rows, rules(runtime, which), measured)
            factor = statistics.median(measured[name] / values[name] for name in learned if name in values)
            tested = [name for name in values if name not in set(learned)]
            for case, times in (("sum", 1), ("one factor", factor)):
                results.add(("alone", runtime, which, case, "1"), [times * values[name] / measured[name] for name in tested])


def sums_of_inside(results):
    """Operators inside networks of OpenCV: one row an operator, or one a kernel, which is what its operators take."""
    networks, runtime = committed.Networks(), "opencv-dnn"
    known = networks.on(runtime)
    rows = {committed.row_key(row): float(row["latency_ms"] or 0) for row in committed.read(committed.DATA / f"operators/{runtime}_t1_b1.csv")}
    data = isolation_modes.document()
    import small_networks
    graphs = {network["name"]: small_networks.whole(data, network) for network in data["networks"] if network["name"] in known}
    for which in ("none", "detected"):
        if all(("inside", runtime, which, case, str(split)) in results.known for case in ("factor", "composition") for split in SPLITS):
            continue
        of_network = {}
        for name, graph in graphs.items():
            of_network[name] = {}
            for kind, nodes in kernels_of(graph, rules(runtime, which)):
                times = [rows.get(committed.specification_key(graph.nodes[node])) for node in nodes]
                if None not in times and sum(times) > 0:
                    of_network[name][kind, *map(str, isolation_modes.columns_of(isolation_modes.leading(graph, nodes)))] = sum(times)
        for split in SPLITS:
            train, test = ([name for name in side if name in known] for side in inside_networks.to_learn_from(list(networks.family.items()), split))
            learned = {key: ms for name in train[:100] for key, ms in of_network[name].items()}
            for case in ("factor", "composition"):
                key = ("inside", runtime, which, case, str(split))
                if key in results.known:
                    continue
                values = boosted([[*of, ms] for of, ms in learned.items()], rules(runtime, which), {name: known[name] for name in train[:100]}, case, test)
                results.add(key, [ms / known[name] for name, ms in values.items()])


def sums_of_profiles(results):
    """The same of runtimes whose profiles isolation_modes.py read, its hundred networks and its 63."""
    for runtime in ("libtorch-xnnpack", "onnxruntime"):
        networks = [row for row in isolation_modes.read(isolation_modes.OUT / runtime / "networks.csv") if row["latency_ms"]]
        measured = {row["network"]: float(row["latency_ms"]) for row in networks}
        learned = [row["network"] for row in networks if row["role"] == "train"]
        for which, table in (("none", "operators"), ("detected", "inside")):
            kernels = isolation_modes.inside_rows(runtime, set(learned), table)
            for case in ("factor", "composition"):
                key = ("inside", runtime, which, case, "1")
                if key not in results.known:
                    values = boosted(kernels, rules(runtime, which), {name: measured[name] for name in learned}, case,
                                     [name for name in measured if name not in learned])
                    results.add(key, [ms / measured[name] for name, ms in values.items()])


def boosted(kernels, of_rules, whole, correction, asked):
    pool = ["--networks", str(ROOT / "datasets/data/networks/networks.json")]
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        with (folder / "kernels.csv").open("w", newline="") as file:
            csv.writer(file, lineterminator="\n").writerows([["kernel", *SPECIFICATION, "latency_ms"], *kernels])
        (folder / "measured.csv").write_text("\n".join(["architecture,latency_ms", *(f"{name},{ms}" for name, ms in whole.items())]) + "\n")
        (folder / "asked.csv").write_text("\n".join(["architecture", *asked]) + "\n")
        for arguments in (["kernels", "train", "--learner", "boosted", "--kernels", "kernels.csv", "--rules", of_rules, "--measurements",
                           "measured.csv", "--correction", correction, *pool, "--out", "sums.tenshot"],
                          ["predict", "--predictor", "sums.tenshot", *pool, "--archs", "asked.csv", "--out", "predictions.csv"]):
            subprocess.run([str(Path(TENSHOT).resolve()), *map(str, arguments), "--quiet"], cwd=folder, check=True, stderr=subprocess.DEVNULL)
        return {row["architecture"]: float(row["latency_ms"]) for row in committed.read(folder / "predictions.csv")}


def check(data):
    """That both say the same of some networks."""
    import small_networks
    for network in sorted(data["networks"], key=lambda network: own_networks.hashed("1", network["name"]))[:40]:
        graph = small_networks.whole(data, network)
        if any(spec["kind"] not in KNOWN for spec in graph.nodes) or sum(isolation_modes.multiply_adds(spec) for spec in graph.nodes) > MOST_CHECKED:
            continue
        for runtime in DETECTED:
            of_rules = rules(runtime, "detected")
            same = [{(kind, tuple(of)) for kind, of in found}  # a split is several operators there
                    for found in (kernels_of(graph, of_rules), isolation_modes.kernels_by_program(graph, of_rules))]
            if same[0] != same[1]:
                sys.exit(f"{network['name']}: `kernels find` finds other kernels under the rules of {runtime}")
        print(f"{network['name']}: the same kernels", flush=True)


def fused_document(data, of_rules):
    """networks.json as a runtime with these rules executes it: an operator that is fused into another one is left out."""
    pairs, fused = pairs_of(of_rules), {"format": data["format"], "operators": list(data["operators"]), "networks": []}
    for network in data["networks"]:
        nodes, lead = [data["operators"][index] for index in network["operators"]], {}
        for of in chains_of(nodes, network["sources"], pairs):
            leading = max(of, key=lambda node: isolation_modes.multiply_adds(nodes[node]))
            lead.update({node: leading for node in of})
        kept = sorted(set(lead.values()))
        place = {node: i for i, node in enumerate(kept)}
        sources = [[place[lead[s]] if s >= 0 else s for s in network["sources"][node]] for node in kept]
        fused["networks"].append({**network, "operators": [network["operators"][node] for node in kept], "sources": sources})
    return fused


def operators_with_rules(results):
    """The protocol of own_networks: each runtime new, ten networks, families held out."""
    data = isolation_modes.document()
    for runtime in DETECTED:
        for which in ("none", "detected"):
            pool = WORK / runtime / which / "pool"
            if not (pool / "networks.json").exists():
                pool.parent.mkdir(parents=True, exist_ok=True)
                subprocess.run(["cp", "-rT", ROOT / "datasets/data/networks", pool], check=True)
                document = data if which == "none" else fused_document(data, rules(runtime, which))
                (pool / "networks.json").write_text(json.dumps(document))
            for split in SPLITS:
                key = ("operators", runtime, which, "ten networks", str(split))
                if key in results.known:
                    continue
                spec = json.loads((ROOT / "experiments/networks/own_networks.json").read_text())
                spec.update(targets=[DEVICE[runtime]], methods=["operators"], quick={})
                folder = WORK / runtime / which / str(split)
                folder.mkdir(exist_ok=True)
                del spec["quick"]
                (folder / "given.json").write_text(json.dumps(spec))
                own_networks.split_pool(pool, str(split), folder / "given.json", folder)
                subprocess.run([TENSHOT, "experiment", folder / "spec.json", "--out", folder / "out", "--resume", "--jobs", "1", "--quiet"],
                               check=True, stderr=subprocess.DEVNULL)
                row = committed.read(folder / "out/results.csv")[0]
                results.put(key, int(row.get("predicted") or row.get("architectures") or 0), float(row["acc10"]), float(row["mape"]))


def counts(results):
    """Li et al.'s Figure 6: how many kernels less than operators published networks have; batch norms, which every runtime folds
    into weights where it can, are not counted among either."""
    data, networks = isolation_modes.document(), committed.Networks()
    for runtime in DETECTED:
        if ("kernels", runtime, "detected", "fewer", "1") in results.known:
            continue
        pairs, shares = pairs_of(rules(runtime, "detected")), []
        for network in data["networks"]:
            if networks.family[network["name"]].startswith("synthetic"):
                continue
            nodes = [data["operators"][index] for index in network["operators"]]
            folded = chains_of(nodes, network["sources"], {(kind, "batch_norm") for kind in ("convolution", "depthwise_convolution", "grouped_convolution")})
            shares.append(1 - len(chains_of(nodes, network["sources"], pairs)) / len(folded))
        results.put(("kernels", runtime, "detected", "fewer", "1"), len(shares), statistics.fmean(shares), statistics.median(shares))


def read_switch():
    """What OpenCV's kinds of operators take with its fusion and without, and its networks."""
    took, gains = defaultdict(lambda: [0, 0]), []
    for row in committed.read(OUT / "switch.csv"):
        fused, unfused = float(row["fused_ms"]), float(row["unfused_ms"])
        if row["what"] == "network":
            gains.append(unfused / fused)
        else:
            took[row["what"]] = [took[row["what"]][0] + fused, took[row["what"]][1] + unfused]
    body = [[f"`{kind}`", f"{unfused:.1f}", f"{fused:.1f}", f"{unfused / fused:.2f}" if fused else "executed with others"]
            for kind, (fused, unfused) in sorted(took.items(), key=lambda item: -item[1][1]) if unfused >= 0.5]
    table = committed.table(["operators", "not fused, ms", "fused, ms", "times as fast"], body)
    return f"{len(gains)} networks are {min(gains):.2f} to {max(gains):.2f} times as fast, {statistics.median(gains):.2f} in the median.\n\n{table}"


def page():
    rows = committed.read(OUT / "results.csv")
    counted = [[row["runtime"], row["predicted"], f"{100 * float(row['acc10']):.0f} %", f"{100 * float(row['median_error']):.0f} %"]
               for row in rows if row["part"] == "kernels"]
    sums = []
    for runtime in MEASURED:
        for row in committed.read(OUT / f"{runtime}_sums.csv"):
            latency = float(row["latency_ms"])
            sums.append([runtime, row["network"], f"{latency:.1f} ms", *(f"{row[of]}, {float(row[of + '_ms']) / latency:.2f}" for of in ("operators", "kernels"))])
    shares = defaultdict(lambda: defaultdict(list))
    for row in rows:
        if row["part"] != "kernels":
            shares[row["part"], row["runtime"], row["case"]][row["rules"]].append(100 * float(row["acc10"]))
    cell = lambda of: "–" if not of else f"{of[0]:.1f}" if len(of) == 1 else f"{statistics.fmean(of):.1f} ± {statistics.stdev(of):.1f}"
    learned = [[*key, max(map(len, of.values())), cell(of["none"]), cell(of["detected"])] for key, of in shares.items()
               if len(of["none"]) == len(of["detected"])]  # not what an interrupted run has
    text = (OUT / "text.md").read_text()
    switched = read_switch()
    for word, header, body in (("COUNTS", ["runtime", "networks", "mean", "median"], counted),
                               ("SUMS", ["runtime", "network", "latency", "operators, sum over latency", "kernels, sum over latency"], sums),
                               ("LEARNED", ["what", "runtime", "case", "splits", "no rules", "detected or true"], learned)):
        text = text.replace(word, committed.table(header, body))
    text = text.replace("SWITCHED", switched)
    (OUT / "README.md").write_text(text)
    sys.exit(subprocess.run([sys.executable, ROOT / "experiments/pages.py", "--made", "fusion_worth"], check=False).returncode)


def check_true(data):
    """That no network has a pair that is fused and was not detected, so that true and detected rules are one."""
    for runtime, missed in MISSED.items():
        pairs = pairs_of(isolation_modes.rules_of(runtime))
        for network in data["networks"]:
            nodes = [data["operators"][index] for index in network["operators"]]
            if chains_of(nodes, network["sources"], pairs) != chains_of(nodes, network["sources"], pairs | missed):
                sys.exit(f"{network['name']}: true rules find other kernels than those detected of {runtime}")


def predict():
    WORK.mkdir(parents=True, exist_ok=True)
    check(isolation_modes.document())
    check_true(isolation_modes.document())
    results = Results()
    for part in (counts, sums_of_alone, sums_of_inside, sums_of_profiles, operators_with_rules):
        part(results)


if __name__ == "__main__":
    if sys.argv[1:2] == ["measure"]:
        measure(sys.argv[2])
    elif sys.argv[1:] in (["switch"], ["predict"], ["page"]):
        {"switch": switch, "predict": predict, "page": page}[sys.argv[1]]()
    else:
        sys.exit(__doc__)
