#!/usr/bin/env python3
"""How far a kernel alone is from the operator inside its network, by the way in which it is isolated, and what nn-Meter's forests
make of kernels that were measured in each way. Runtimes libtorch-frozen, libtorch-xnnpack and opencv-dnn, called from Python (small_networks.py
says what that needs). Networks, families and rules as in measuring_time.

  experiments/kernels/isolation_modes.py measure RUNTIME [SECONDS]   kernels; goes on where the last piece stopped
  experiments/kernels/isolation_modes.py layers RUNTIME [SECONDS]    all other kernels of these networks, in MONNET's modes alone
  experiments/kernels/isolation_modes.py networks RUNTIME [SECONDS]  networks, likewise; all want one processor to themselves
  experiments/kernels/isolation_modes.py quarters RUNTIME [SECONDS]  checks what a runtime tells of its operators
  experiments/kernels/isolation_modes.py compare                     experiments/kernels/isolation_modes/README.md, of its tables

TENSHOT names the program, build/tenshot unless said."""

import csv
import json
import math
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path[:0] = [str(ROOT / "experiments/paper"), str(ROOT / "experiments/networks")]
import committed  # noqa: E402
import own_networks  # noqa: E402

OUT = ROOT / "experiments/kernels/isolation_modes"
TENSHOT = os.environ.get("TENSHOT", str(ROOT / "build/tenshot"))
OF_NETWORK = 8      # kernels of a network that are isolated
AROUND = 16         # channels of the feeding and of the consuming convolution
PROFILED_RUNS, MOST_RUNS = 20, 25
QUARTERED = 40      # networks whose quarters are measured
LEAST_KERNELS = 8   # of a kind, for a line in the table
LEAST_MS = 0.005    # inside: what takes less is the noise of a call
BUDGET = 120        # seconds of the device in which kernels are measured
FOLDS = 5           # of the networks to learn from, by family, in which learners are compared
FACTORS = [10, 100]  # networks whose latencies say by how much all sums are multiplied
RUNTIMES = ["libtorch-frozen", "libtorch-xnnpack", "opencv-dnn"]
MONNET = ["alone", "fed", "embedded"]
MODES = [*MONNET, "cold", "neighbours", "neighbours, cold"]
INSIDE_ALONE = ["opencv-dnn-mixed", "onnxruntime"]  # networks and what is inside them alone; OpenCV once more, all networks mixed
LEARNERS = {"forest": [*MODES, "inside", "inside, all"], "boosted": ["alone", "inside", "inside, all"]}  # in which modes
COMPARED = ["opencv-dnn", *INSIDE_ALONE]  # runtimes that have other learners than forests
SPECIFICATION = ["operation", "function", "inputs", "output", "window", "stride", "dilation", "groups", "bias"]
KERNELS = ["network", "kernel", *SPECIFICATION, "inside_ms", *MODES, *(f"{mode}: s" for mode in MODES)]
NETWORKS = ["network", "role", "latency_ms", "profiled_ms", "build_s", "latency_s", "profile_s"]
INSIDE = ["network", "kernel", *SPECIFICATION, "latency_ms"]
LAYERS = ["network", "kernel", *SPECIFICATION, "inside_ms", *MONNET]


def document():
    return json.loads((ROOT / "datasets/data/networks/networks.json").read_text())


def roles():
    return {row["network"]: row["role"] for row in committed.read(ROOT / "datasets/data/kernels/split.csv")}


def called(runtime):
    """What a runtime is called elsewhere."""
    return runtime.removesuffix("-mixed")


def rules_of(runtime):
    return ROOT / f"datasets/data/kernels/{called(runtime)}/rules.json"


def type_of(name):
    """A kernel's type: batch norms behind something are part of its weights."""
    parts = name.split("++")
    return "++".join(part for i, part in enumerate(parts) if part != "batch_norm" or i == 0)


def operator_type(spec):
    if spec["kind"] == "activation":
        return spec.get("name") or "activation"
    if spec["kind"] != "convolution" or spec.get("groups", 1) == 1:
        return spec["kind"]
    return "depthwise_convolution" if spec["groups"] == spec["inputs"][0][1] else "grouped_convolution"


def chains_of(nodes, sources, pairs):
    """[nodes of a kernel] under rules of pairs alone, without branches: an operator joins the kernel of the one operator that it
    reads where it is that operator's only reader. `kernels find` says the same (fusion_worth.py checks that), but wants weights."""
    readers, kernel_of, members = defaultdict(set), list(range(len(nodes))), [[i] for i in range(len(nodes))]
    for node, of in enumerate(sources):
        for source in of:
            readers[source].add(node)
    for node, of in enumerate(sources):
        if len(set(of)) != 1 or of[0] < 0 or len(readers[of[0]]) != 1:
            continue
        kernel = kernel_of[of[0]]
        if (operator_type(nodes[members[kernel][0]]), operator_type(nodes[node])) in pairs:
            members[kernel].append(node)
            members[node], kernel_of[node] = [], kernel
    return [of for of in members if of]


def pairs_of(of_rules):
    return set() if of_rules == "none" else {tuple(pair) for pair in json.loads(Path(of_rules).read_text())["pairs"]}


def kernels_of(graph, rules):
    """[(type, nodes)]"""
    return [(type_of("++".join(operator_type(graph.nodes[node]) for node in of)), of)
            for of in chains_of(graph.nodes, graph.sources, pairs_of(rules))]


def kernels_by_program(graph, rules):
    """The same, as the program says."""
    import onnx
    import small_networks
    import re
    with tempfile.NamedTemporaryFile(suffix=".onnx") as file:
        onnx.save(small_networks.onnx_of(graph), file.name)
        found = json.loads(subprocess.run([TENSHOT, "kernels", "find", "--rules", rules, file.name, "--json"], check=True,
                                          capture_output=True, text=True).stdout)
    kernels = []
    for kernel in found["kernels"]:
        nodes = sorted({int(re.search(r"n(\d+)", name)[1]) for name in kernel["operators"]})
        kernels.append((type_of(kernel["kernel"]), nodes))
    return kernels


def multiply_adds(spec):
    if spec["kind"] == "convolution":
        return math.prod(spec["output"]) * spec["inputs"][0][1] // spec.get("groups", 1) * math.prod(spec.get("kernel", [1, 1]))
    return math.prod(spec["output"]) * spec["inputs"][0][-1] if spec["kind"] == "linear" else 0


def leading(graph, nodes):
    return max((graph.nodes[node] for node in nodes), key=multiply_adds)


def columns_of(spec):
    pair = lambda name: "x".join(map(str, spec.get(name, [1, 1])))
    return [spec["kind"], spec.get("name", ""), " ".join("x".join(map(str, shape)) for shape in spec["inputs"]),
            "x".join(map(str, spec["output"])), pair("kernel"), pair("stride"), pair("dilation"), spec.get("groups", 1),
            int(spec.get("bias", False))]


class Isolating:
    """Times kernels of a runtime in every mode."""

    def __init__(self, runtime):
        import small_networks
        self.here, self.runtime = small_networks, small_networks.RUNTIMES[runtime]
        small_networks.set_threads(1)
        self.call = self.runtime(small_networks.CALL)

    def signed(self, signed, before=None, rounds=5):
        """Σ sign · time, the median over rounds in which all take turns; seconds with building."""
        start, prepared = time.perf_counter(), []
        for graph, sign in signed:
            prepared.append((self.call if graph is self.here.CALL else self.runtime(graph), sign))
        for network, _ in prepared:
            network.run()
        runs = 1 if before else 3
        values = [sum(sign * self.here.timed(network, runs, before) for network, sign in prepared) for _ in range(rounds)]
        return max(statistics.median(values), 1e-4), time.perf_counter() - start

    def surrounded(self, kernel, consumed):
        """MONNET's modes 1 and 2."""
        here, shape, out = self.here, kernel.inputs[0], kernel.nodes[-1]["output"]
        feed = here.convolution([1, AROUND, *shape[2:]], shape[1])
        feeding = here.chain(feed["inputs"][0], feed)
        moved = [[source + 1 if source >= 0 else 0 for source in of] for of in kernel.sources]
        fed = here.Graph(feeding.inputs, [feed, *kernel.nodes], [[-1], *moved], [len(kernel.nodes)])
        if not consumed:
            return [(fed, 1), (feeding, -1)]
        consume = here.convolution(out, AROUND)
        whole = here.Graph(fed.inputs, [*fed.nodes, consume], [*fed.sources, [len(kernel.nodes)]], [len(fed.nodes)])
        return [(whole, 1), (feeding, -1), (here.chain(out, consume), -1), (here.CALL, 1)]

    def modes(self, graph, nodes, before=(), asked_for=tuple(MODES)):
        """{mode: (ms, s)} of the kernel of these nodes; `before`: the nodes of the two kernels before it."""
        kernel = self.here.cut(graph, nodes)
        image = len(kernel.inputs) == 1 and len(kernel.inputs[0]) == 4 and len(kernel.nodes[-1]["output"]) == 4
        alone = [(kernel, 1), (self.here.CALL, -1)]
        asked = {"alone": (alone, None, 5), "cold": (alone, self.here.sweep, 7)}
        if image:
            asked.update(fed=(self.surrounded(kernel, False), None, 5), embedded=(self.surrounded(kernel, True), None, 5))
        if before:
            neighbours = [(self.here.cut(graph, before + nodes), 1), (self.here.cut(graph, before), -1)]
            asked.update({"neighbours": (neighbours, None, 5), "neighbours, cold": (neighbours, self.here.sweep, 9)})
        found = {}
        for mode, (signed, sweep, rounds) in asked.items():
            if mode not in asked_for:
                continue
            try:
                found[mode] = self.signed(signed, sweep, rounds)
            except self.here.cv2.error as error:  # OpenCV cannot run some pieces: it lets two layers share memory
                print(f"{mode}: {str(error)[-120:]}", flush=True)
        return found


def before(graph, kernels, number):
    """Nodes of the kernel that made the first input of a kernel, and of the one that made its input."""
    owner = {node: i for i, (_, nodes) in enumerate(kernels) for node in nodes}
    found, current = [], number
    for _ in range(2):
        inside = set(kernels[current][1])
        source = next((s for node in kernels[current][1] for s in graph.sources[node] if s not in inside), -1)
        if source < 0:
            break
        current = owner[source]
        found += kernels[current][1]
    return found


def table_for(runtime, name, header):
    folder = OUT / runtime
    folder.mkdir(parents=True, exist_ok=True)
    if not (folder / f"{name}.csv").exists():
        (folder / f"{name}.csv").write_text(",".join(f'"{column}"' for column in header) + "\n")
    return folder / f"{name}.csv"


def append(table, rows):
    with table.open("a") as file:
        csv.writer(file, lineterminator="\n").writerows(rows)


def inside_of(graph, rules, profile):
    """{(kernel, specification …): [(ms inside, number of the kernel)]}, and the kernels."""
    kernels, inside = kernels_of(graph, rules), {}
    for number, (kind, nodes) in enumerate(kernels):
        key = (kind, *map(str, columns_of(leading(graph, nodes))))
        inside.setdefault(key, []).append((sum(profile[node] for node in nodes), number))
    return inside, kernels


def each_network(runtime, names, done, seconds):
    """(name, graph, network ready to run), until the time is over."""
    import small_networks
    import torch
    torch.set_grad_enabled(False)
    data, start = document(), time.perf_counter()
    by_name = {network["name"]: network for network in data["networks"]}
    for name in names:
        if name in done:
            continue
        if time.perf_counter() - start > seconds:
            print("to be continued", flush=True)
            return
        graph = small_networks.whole(data, by_name[name])
        network = small_networks.RUNTIMES[called(runtime)](graph)
        for _ in range(3):
            network.run()
        yield name, graph, network
    print("all measured", flush=True)


def key_of(row):
    return tuple(row[key] for key in ("kernel", *SPECIFICATION))


def texts(values):
    return [f"{value:.6g}" if value is not None else "" for value in values]


def fresh(inside, known):
    """Kernels that have a time and are not known yet, in an order drawn by a hash."""
    found = (key for key in inside if key not in known and key[1] != "reshape" and max(inside[key])[0] > 0)
    return sorted(found, key=lambda key: own_networks.hashed("1", " ".join(key)))


def measure(runtime, seconds):
    """Kernels of the networks to learn from, in every mode, and beside each what it takes inside its network."""
    isolating = Isolating(runtime)
    kernels_table, gone = table_for(runtime, "kernels", KERNELS), table_for(runtime, "gone", ["network"])
    known = {key_of(row) for row in committed.read(kernels_table)}
    learned = [name for name, role in roles().items() if role == "train"]
    for name, graph, network in each_network(runtime, learned, {row["network"] for row in committed.read(gone)}, seconds):
        inside, kernels = inside_of(graph, rules_of(runtime), network.profile(PROFILED_RUNS))
        rows = []
        for key in fresh(inside, known)[:OF_NETWORK]:
            number = inside[key][0][1]
            found = isolating.modes(graph, kernels[number][1], before(graph, kernels, number))
            if "alone" not in found or "cold" not in found:
                continue
            of = [found.get(mode, (None, None)) for mode in MODES]
            rows.append([name, *key, f"{statistics.median(ms for ms, _ in inside[key]):.6g}", *texts(ms for ms, _ in of), *texts(s for _, s in of)])
            known.add(key)
        append(kernels_table, rows)
        append(gone, [[name]])


def layers(runtime, seconds):
    """All kernels of the networks to learn from that measure() left, in MONNET's modes, and beside each what it takes inside."""
    isolating = Isolating(runtime)
    table, gone = table_for(runtime, "layers", LAYERS), table_for(runtime, "layers_gone", ["network"])
    known = {key_of(row) for row in [*read(OUT / runtime / "kernels.csv"), *committed.read(table)]}
    learned = [name for name, role in roles().items() if role == "train"]
    for name, graph, network in each_network(runtime, learned, {row["network"] for row in committed.read(gone)}, seconds):
        inside, kernels = inside_of(graph, rules_of(runtime), network.profile(PROFILED_RUNS))
        rows = []
        for key in fresh(inside, known):
            found = isolating.modes(graph, kernels[inside[key][0][1]][1], asked_for=MONNET)
            rows.append([name, *key, *texts([statistics.median(ms for ms, _ in inside[key]), *(found.get(mode, [None])[0] for mode in MONNET)])])
            known.add(key)
        append(table, rows)
        append(gone, [[name]])


def networks(runtime, seconds):
    """All networks as a whole and what their kernels take inside, those to learn from and those to predict mixed: this machine
    is faster at one time than at another."""
    import small_networks
    small_networks.set_threads(1)
    of, table = roles(), table_for(runtime, "networks", NETWORKS)
    inside_tables = {table_for(runtime, "inside", INSIDE): rules_of(runtime), table_for(runtime, "operators", INSIDE): "none"}
    mixed, begin = sorted(of, key=lambda name: own_networks.hashed("2", name)), time.perf_counter()
    for name, graph, network in each_network(runtime, mixed, {row["network"] for row in committed.read(table)}, seconds):
        built = time.perf_counter()
        latency = small_networks.timed(network, max(8, min(MOST_RUNS, int(1000 / small_networks.timed(network, 1)))))
        timed = time.perf_counter()
        profile = network.profile(PROFILED_RUNS)
        profiled = time.perf_counter()
        if of[name] == "train":
            for inside_table, rules in inside_tables.items():
                inside, _ = inside_of(graph, rules, profile)
                append(inside_table, [[name, *key, f"{statistics.median(ms for ms, _ in times):.6g}"] for key, times in inside.items() if max(times)[0] > 0])
        append(table, [[name, of[name], *(f"{value:.6g}" for value in (latency, sum(profile), built - begin, timed - built, profiled - timed))]])
        begin = time.perf_counter()


def differences(runtime, seconds):
    """What a quarter of a network takes by the profile and by the difference of two networks that end where it ends and begins."""
    import small_networks
    import torch
    torch.set_grad_enabled(False)
    small_networks.set_threads(1)
    data, start, kept = document(), time.perf_counter(), OUT / runtime / "quarters.csv"
    by_name = {network["name"]: network for network in data["networks"]}
    measured = [row["network"] for row in committed.read(OUT / runtime / "networks.csv") if row["latency_ms"]]
    if not kept.exists():
        kept.write_text("network,quarter,difference_ms,profiled_ms\n")
    done = {row["network"] for row in committed.read(kept)}
    for name in measured[:QUARTERED]:
        if name in done or time.perf_counter() - start > seconds:
            continue
        graph = small_networks.whole(data, by_name[name])
        rules = kernels_of(graph, rules_of(runtime))
        ends = sorted({max(rules[len(rules) * quarter // 4 - 1][1]) for quarter in (1, 2, 3)} | {len(graph.nodes) - 1})
        networks = [small_networks.RUNTIMES[runtime](small_networks.cut(graph, range(end + 1))) for end in ends]
        rounds = [[small_networks.timed(network, 3) for network in networks] for _ in range(7)]
        profile, begin = networks[-1].profile(PROFILED_RUNS), -1
        with kept.open("a") as file:
            for quarter, end in enumerate(ends):
                took = statistics.median(of[quarter] - (of[quarter - 1] if quarter else 0) for of in rounds)
                file.write(f"{name},{quarter + 1},{took:.6g},{sum(profile[begin + 1:end + 1]):.6g}\n")
                begin = end


def of_mode(row, mode):
    """(ms, s) of a kernel in a mode; where there is no image around, or nothing before it, what it took alone."""
    if mode == "inside":
        return float(row["inside_ms"]), 0
    instead = "cold" if mode == "neighbours, cold" else "alone"
    mode = mode if row[mode] else instead
    return float(row[mode]), float(row[f"{mode}: s"])


def kind_of(row):
    return row["kernel"].split("++")[0] if row["operation"] != "activation" else row["function"]


def spread(ratios):
    middle = statistics.median(ratios)
    return f"{middle:.2f} ({committed.within([ratio / middle for ratio in ratios]):.0f} %)"


def isolated_table(rows):
    groups = {"all": rows}
    for row in rows:
        groups.setdefault(kind_of(row), []).append(row)
    body = []
    for kind, of in sorted(groups.items(), key=lambda item: -sum(float(row["inside_ms"]) for row in item[1])):
        of = [row for row in of if float(row["inside_ms"]) >= LEAST_MS]
        if len(of) < LEAST_KERNELS:
            continue
        cells = []
        for mode in MODES:
            measured = [row for row in of if row[mode]]
            cells.append(spread([float(row[mode]) / float(row["inside_ms"]) for row in measured]) if len(measured) >= LEAST_KERNELS else "–")
        body.append([f"`{kind}`" if kind != "all" else kind, len(of), *cells])
    sums = ["sum of all over sum inside", len(rows)]
    for mode in MODES:
        measured = [row for row in rows if row[mode]]
        sums.append(f"{sum(float(row[mode]) for row in measured) / sum(float(row['inside_ms']) for row in measured):.2f}")
    return committed.table(["kind", "kernels", *MODES], [*body, sums])


def predicted(kernels, rules, asked, whole=None, learner="forest"):
    """{network: ms} by the kernels; corrected by the composition of the networks `whole`, where there are any."""
    networks = ["--networks", str(ROOT / "datasets/data/networks/networks.json")]
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        with (folder / "kernels.csv").open("w", newline="") as file:
            csv.writer(file, lineterminator="\n").writerows([["kernel", *SPECIFICATION, "latency_ms"], *kernels])
        (folder / "asked.csv").write_text("\n".join(["architecture", *asked]) + "\n")
        corrected = []
        if whole:
            (folder / "measured.csv").write_text("\n".join(["architecture,latency_ms", *(f"{name},{ms}" for name, ms in whole.items())]) + "\n")
            corrected = ["--measurements", "measured.csv", "--correction", "composition", *networks]
        for arguments in (["kernels", "train", "--learner", learner, "--kernels", "kernels.csv", "--rules", rules, *corrected, "--out", "forests.tenshot"],
                          ["predict", "--predictor", "forests.tenshot", *networks, "--archs", "asked.csv", "--out", "predictions.csv"]):
            done = subprocess.run([str(Path(TENSHOT).resolve()), *map(str, arguments), "--quiet"], cwd=folder, capture_output=True, text=True, check=False)
            if done.returncode != 0:
                sys.exit(f"{' '.join(map(str, arguments))}: {done.stderr}")
        return {row["architecture"]: float(row["latency_ms"]) for row in committed.read(folder / "predictions.csv")}


def within_budget(rows, mode):
    """The kernels that BUDGET seconds measure in a mode, and those seconds."""
    chosen, seconds = [], 0
    for row in rows:
        ms, took = of_mode(row, mode)
        if seconds + took > BUDGET:
            break
        seconds += took
        if ms <= 0:
            continue  # inside a network that executes it with another one
        chosen.append([row["kernel"], *(row[column] for column in SPECIFICATION), ms])
    return chosen, seconds


def inside_rows(runtime, learned, table="inside"):
    """All kernels of these networks that have a time, as the networks have them: medians. Of the table "operators" they are what
    runtimes report, by no rules."""
    inside = {}
    for row in read(OUT / runtime / f"{table}.csv"):
        if row["network"] in learned:
            inside.setdefault((row["kernel"], *(row[column] for column in SPECIFICATION)), []).append(float(row["latency_ms"]))
    medians = {key: statistics.median(values) for key, values in inside.items()}
    return [[*key, ms] for key, ms in medians.items() if ms > 0]


def folds(runtime, learner, measured, learned):
    """Predicted over measured of each network to learn from, by the kernels of the other folds: whole families, synthetic
    networks each for itself."""
    family = {row["network"]: row["family"] for row in committed.read(ROOT / "datasets/data/networks/families.csv")}
    group = {name: name if family[name].startswith("synthetic") else family[name] for name in learned}
    order = sorted(set(group.values()), key=lambda name: own_networks.hashed("fold", name))
    ratios = []
    for fold in range(FOLDS):
        asked = [name for name in learned if order.index(group[name]) % FOLDS == fold]
        values = predicted(inside_rows(runtime, set(learned) - set(asked)), rules_of(runtime), asked, learner=learner)
        ratios += [ms / measured[name] for name, ms in values.items()]
    return ratios


def accuracy(runtime, done):
    """Adds what a runtime's rows lack to results.csv."""
    rows = [] if runtime in INSIDE_ALONE else read(OUT / runtime / "kernels.csv")
    networks = [row for row in read(OUT / runtime / "networks.csv") if row["latency_ms"]]
    measured = {row["network"]: float(row["latency_ms"]) for row in networks}
    learned = [row for row in networks if row["role"] == "train"]
    names = [row["network"] for row in learned]
    whole_s = lambda of: sum(float(row["build_s"]) + float(row["latency_s"]) for row in of)
    inside_s = whole_s(learned) + sum(float(row["profile_s"]) for row in learned)
    cases = {mode: within_budget(rows, mode) for mode in MODES}
    cases.update({"inside": (within_budget(rows, "inside")[0], inside_s), "inside, all": (inside_rows(runtime, set(names)), inside_s)})
    tested = [row["network"] for row in networks if row["role"] == "test"]

    def keep(mode, learner, correction, seconds, ratios):
        row = [runtime, mode, learner, correction, len(cases[mode][0]), f"{seconds:.1f}", len(ratios), f"{committed.within(ratios) / 100:.4f}",
               f"{statistics.median(abs(ratio - 1) for ratio in ratios):.4f}", f"{statistics.median(ratios):.4f}"]
        with (OUT / "results.csv").open("a") as file:
            csv.writer(file, lineterminator="\n").writerow(row)
        print(*row, flush=True)

    for learner, modes in LEARNERS.items():
        if runtime not in COMPARED and learner != "forest":
            continue
        if runtime in COMPARED and (runtime, "inside, all", learner, "folds") not in done:
            keep("inside, all", learner, "folds", inside_s, folds(runtime, learner, measured, names))
        for mode in modes if rows else ["inside, all"]:
            if (runtime, mode, learner, "none") in done:
                continue
            kernels, seconds = cases[mode]
            values = predicted(kernels, rules_of(runtime), measured, learner=learner)
            corrected = {"none": (1, [])}
            for count in FACTORS:
                of = learned[:count]
                factor = statistics.median(measured[row["network"]] / values[row["network"]] for row in of if row["network"] in values)
                corrected[f"factor of {len(of)} networks"] = (factor, of)
            for name, (factor, of) in corrected.items():
                more = 0 if mode.startswith("inside") else whole_s(of)  # whose latencies the profiles come with
                keep(mode, learner, name, seconds + more, [factor * values[network] / measured[network] for network in tested if network in values])
            if mode == "inside, all":
                values = predicted(kernels, rules_of(runtime), tested, {name: measured[name] for name in names}, learner)
                keep(mode, learner, "composition", seconds, [ms / measured[network] for network, ms in values.items()])


def read(path):
    return committed.read(path if path.exists() else path.with_name(path.name + ".gz"))


def honest(runtime):
    """What a runtime's profile adds up to."""
    networks = [row for row in read(OUT / runtime / "networks.csv") if row["latency_ms"]]
    over = [float(row["profiled_ms"]) / float(row["latency_ms"]) for row in networks]
    quarters = [] if runtime in INSIDE_ALONE else [float(row["difference_ms"]) / float(row["profiled_ms"]) for row in read(OUT / runtime / "quarters.csv")]
    middle = statistics.median(float(row["profiled_ms"]) / float(row["latency_ms"]) for row in networks if row["role"] == "train")
    ceiling = committed.within([float(row["profiled_ms"]) / float(row["latency_ms"]) / middle for row in networks if row["role"] == "test"])
    return [runtime, len(networks), spread(over), len(quarters) or "–", spread(quarters) if quarters else "–", f"{ceiling:.0f} %"]


def all_layers():
    """MONNET's Table 1 of all kernels: their sum in a mode over their sum inside, and the spread of single ones."""
    body = []
    for runtime in RUNTIMES:
        rows = [row for row in [*read(OUT / runtime / "kernels.csv"), *read(OUT / runtime / "layers.csv")] if float(row["inside_ms"]) >= LEAST_MS]
        cells = []
        for mode in MONNET:
            of = [(float(row[mode]), float(row["inside_ms"])) for row in rows if row[mode]]
            cells.append(f"{sum(ms for ms, _ in of) / sum(inside for _, inside in of):.2f}, {spread([ms / inside for ms, inside in of])}")
        body.append([runtime, len(rows), *cells])
    return committed.table(["runtime", "kernels", *MONNET], body)


def compare():
    kept = OUT / "results.csv"
    if not kept.exists():
        kept.write_text("runtime,mode,learner,correction,kernels,seconds,predicted,acc10,median_error,predicted_over_measured\n")
    done = {tuple(row[key] for key in ("runtime", "mode", "learner", "correction")) for row in committed.read(kept)}
    for runtime in (*RUNTIMES, *INSIDE_ALONE):
        accuracy(runtime, done)
    page()


def page():
    text = (OUT / "text.md").read_text()
    text = text.replace("HONEST", committed.table(["runtime", "networks", "profile over latency", "quarters", "difference over profile", "sums of profiles, test networks"],
                                                  [honest(runtime) for runtime in (*RUNTIMES, *INSIDE_ALONE)]))
    text = text.replace("LAYERS", all_layers())
    text = text.replace("ISOLATED", "\n".join(f"### {runtime}\n\n{isolated_table(read(OUT / runtime / 'kernels.csv'))}" for runtime in RUNTIMES))
    cells, chosen = defaultdict(dict), defaultdict(dict)
    for row in committed.read(OUT / "results.csv"):
        of = chosen if row["correction"] == "folds" else cells
        of[row["mode"], *([] if of is chosen else [row["correction"]]), row["learner"]][row["runtime"]] = (f"{row['kernels']}, {float(row['seconds']):.0f} s, **{100 * float(row['acc10']):.0f}**, "
                                                                 f"{100 * float(row['median_error']):.0f} %")
    for word, header, of in (("ACCURACY", ["mode", "correction", "learner"], cells), ("FOLDS", ["mode", "learner"], chosen)):
        columns = [*RUNTIMES, *INSIDE_ALONE]
        body = [[*key, *(by.get(runtime, "–") for runtime in columns)] for key, by in of.items()]
        text = text.replace(word, committed.table([*header, *columns], body))
    (OUT / "README.md").write_text(text)
    sys.exit(subprocess.run([sys.executable, ROOT / "experiments/pages.py", "--made", "isolation_modes"], check=False).returncode)


def main():
    step = sys.argv[1] if len(sys.argv) > 1 else ""
    seconds = float(sys.argv[3]) if len(sys.argv) > 3 else 280
    if step == "measure":
        measure(sys.argv[2], seconds)
    elif step == "layers":
        layers(sys.argv[2], seconds)
    elif step == "networks":
        networks(sys.argv[2], seconds)
    elif step == "quarters":
        differences(sys.argv[2], seconds)
    elif step in ("compare", "page"):
        {"compare": compare, "page": page}[step]()
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main()
