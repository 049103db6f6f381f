"""Cold starts of published classifiers: measures their stages, plans, and starts each plan in fresh processes.

    cold.py measure TENSHOT EXPORTS OUT NETWORK     stages, plans and starts of one network; resumes
    cold.py switch TENSHOT EXPORTS OUT NETWORK      runs after the start, whose kernels change; resumes
    cold.py onnxruntime RUNNER EXPORTS OUT NETWORK  ONNX Runtime, from file to output, in fresh processes
    cold.py table OUT                               the tables of OUT, as Markdown on standard output
    cold.py plot OUT FILE.svg                       planned and other starts as bars
"""
import csv
import json
import math
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

# name: kernels, cache, preparing cores, page cache that it is planned for
STRATEGIES = {
    "warm": ("warm", "none", 0, "dropped"),
    "preferred": ("preferred", "none", 0, "dropped"),
    "untransformed": ("untransformed", "none", 0, "dropped"),
    "warm-cached": ("warm", "all", 0, "dropped"),
    "preferred-cached": ("preferred", "all", 0, "dropped"),
    "compiled": ("compiled", "none", 0, "dropped"),
    "compiled-cached": ("compiled", "all", 0, "dropped"),
    "K": ("planned", "none", 0, "dropped"),
    "KC": ("planned", "planned", 0, "dropped"),
    "KCP": ("planned", "planned", 1, "dropped"),
    "KCP-memory": ("planned", "planned", 1, "kept"),
}
POLICIES = ["warm", "preferred", "untransformed", "warm-cached", "preferred-cached",
            "compiled", "compiled-cached"]
FROM_MEMORY = ["warm", "KC", "KCP", "KCP-memory"]
ROUNDS = 7
STARTS = 5  # by which a plan is corrected
PEERS = {"onnxruntime": "ONNX Runtime", "libtorch-frozen": "LibTorch, frozen", "opencv-dnn": "OpenCV DNN"}
FIELDS = ["network", "strategy", "page_cache", "round", "cold_ms", "start_ms", "prepare_ms", "wait_ms", "execute_ms",
          "warm_ms", "predicted_ms", "predicted_warm_ms", "lower_bound_ms", "stored_mb"]
CONVOLUTION = ("googlenet", [64, 192], [1, 192, 56, 56])  # the layer of Yi et al., Table 2


def run(command):
    return subprocess.run(command, check=True, capture_output=True, text=True)


def append(path, fields, row):
    new = not path.exists()
    with path.open("a", newline="") as file:
        writer = csv.DictWriter(file, fields, lineterminator="\n")
        if new:
            writer.writeheader()
        writer.writerow(row)


def rows_of(path):
    if not path.exists():
        return []
    with path.open() as file:
        return list(csv.DictReader(file))


def megabytes(path):
    return path.stat().st_size / 1e6 if path.exists() else 0


def measure(tenshot, exports, out, network):
    folder = out / "work" / network
    folder.mkdir(parents=True, exist_ok=True)
    model, stages = exports / f"{network}.onnx", folder / "stages.json"
    if not stages.exists():
        began = time.time()
        run([tenshot, "cold", "measure", model, "--out", stages])
        measured_s = time.time() - began
        began = time.time()
        run([tenshot, "cold", "plan", stages, "--out", folder / "KCP.json", "--starts", str(STARTS)])
        document = json.loads(stages.read_text())
        (folder / "KCP.planned").touch()
        append(out / "networks.csv", ["network", "model_mb", "layers", "kernels", "measure_s", "plan_s"], {
            "network": network, "model_mb": round(megabytes(model), 1), "layers": len(document["stages"]),
            "kernels": sum(len(layer["kernels"]) for layer in document["stages"]), "measure_s": round(measured_s, 1),
            "plan_s": round(time.time() - began, 2)})
        if network == CONVOLUTION[0]:
            convolution(document, out)
    done = {(row["strategy"], row["page_cache"], int(row["round"])) for row in rows_of(out / "starts.csv")
            if row["network"] == network}
    for name, (kernels, cache, cores, pages) in STRATEGIES.items():
        if not (folder / f"{name}.done").exists():
            if not (folder / f"{name}.planned").exists():  # the time that KCP takes to plan was measured above
                run([tenshot, "cold", "plan", stages, "--out", folder / f"{name}.json", "--kernels", kernels,
                     "--cache", cache, "--preparing-cores", str(cores), "--page-cache", pages, "--starts",
                     str(STARTS)])
            run([tenshot, "cold", "run", folder / f"{name}.json"])
            (folder / f"{name}.done").touch()
    for number in range(ROUNDS):  # strategies in turn: the machine's speed changes by the minute
        for name in STRATEGIES:
            for dropped in (True, False):
                pages = "dropped" if dropped else "as it was"
                if (name, pages, number) in done or not (dropped or name in FROM_MEMORY):
                    continue
                command = [tenshot, "cold", "run", folder / f"{name}.json", "--json", "--warm-runs", "10",
                           "--touch-memory"]
                start = json.loads(run(command + (["--drop-page-cache"] if dropped else [])).stdout)
                if start["page_cache"] != pages or start["slow_layers"]:
                    raise SystemExit(f"{network}, {name}: page cache {start['page_cache']}, {start['slow_layers']}")
                row = {"network": network, "strategy": name, "page_cache": pages, "round": number}
                row.update({field: round(start[field], 3) for field in FIELDS[4:-1]})
                row["stored_mb"] = round(megabytes(folder / f"{name}.json.weights" / "start.weights"), 1)
                append(out / "starts.csv", FIELDS, row)


def switch(tenshot, exports, out, network):
    """Starts with several runs, of the plan that changes its kernels and of the one that keeps them."""
    folder = out / "work" / network
    folder.mkdir(parents=True, exist_ok=True)
    stages = folder / "stages.json"
    if not stages.exists():
        run([tenshot, "cold", "measure", exports / f"{network}.onnx", "--out", stages])
    done = {(row["plan"], int(row["round"])) for row in rows_of(out / "switching.csv") if row["network"] == network}
    plans = {"keeps": [], "switches": ["--switch"]}
    for name, options in plans.items():
        if not (folder / f"{name}.done").exists():
            run([tenshot, "cold", "plan", stages, "--out", folder / f"{name}.json", "--starts", str(STARTS), *options])
            run([tenshot, "cold", "run", folder / f"{name}.json"])
            (folder / f"{name}.done").touch()
    for number in range(ROUNDS):
        for name in plans:
            if (name, number) in done:
                continue
            start = json.loads(run([tenshot, "cold", "run", folder / f"{name}.json", "--json", "--drop-page-cache",
                                    "--touch-memory", "--runs", "6", "--warm-runs", "20"]).stdout)
            row = {"network": network, "plan": name, "round": number, "switches": start["switches"],
                   "switched_in_run_2": start["runs"][1]["switched"], "predicted_ms": round(start["predicted_ms"], 3)}
            row.update({f"run_{i}_ms": round(one["ms"], 3) for i, one in enumerate(start["runs"], 1)})
            row["warm_ms"] = round(start["warm_ms"], 3)
            append(out / "switching.csv", list(row), row)


def convolution(document, out):
    """The stages of one convolution: Yi et al., Table 2."""
    tensors = document["network"]["tensors"]
    for layer, stages in zip(document["network"]["layers"], document["stages"]):
        shape = tensors[layer["inputs"][0]]
        if layer["kind"] == "convolution" and tensors[layer["output"]] == CONVOLUTION[2] and shape[1] == 64 \
                and layer.get("window", [1])[0] == 3:
            fields = ["kernel", "read_raw_ms", "transform_ms", "read_cached_ms", "create_ms", "execute_ms", "cached_mb"]
            for kernel in stages["kernels"]:
                row = {field: round(kernel[field], 2) for field in fields[2:-1]}
                row.update({"kernel": kernel["name"], "read_raw_ms": round(stages["read_raw_ms"], 2),
                            "cached_mb": round(kernel["cached_bytes"] / 1e6, 2)})
                append(out / "convolution.csv", fields, row)
            return


def touch_memory(model):
    """As `cold run --touch-memory`: a virtual machine may have given free memory back to its host."""
    run(["dd", "if=/dev/zero", "of=/dev/null", f"bs={4 * model.stat().st_size + (256 << 20)}", "count=1"])


def start_onnxruntime(runner, model, said, optimization="all", shape="1x3x224x224"):
    """What a start of ONNX Runtime says by a kit's runner for node, the page cache of the model's file dropped before."""
    touch_memory(model)
    with model.open("rb") as file:
        os.fsync(file.fileno())
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
    subprocess.run(["node", runner, model, "10", "0", said, "1", shape], check=True, capture_output=True,
                   env={**os.environ, "TENSHOT_COLD": "1", "TENSHOT_OPTIMIZATION": optimization})
    return json.loads(said.read_text())


def onnxruntime(runner, exports, out, network):
    model, said = exports / f"{network}.onnx", out / "work" / "onnxruntime.json"
    done = {int(row["round"]) for row in rows_of(out / "onnxruntime.csv") if row["network"] == network}
    for number in set(range(ROUNDS)) - done:
        start = start_onnxruntime(runner, model, said)
        fields = ["cold_ms", "load_ms", "prepare_ms", "first_ms", "warm_ms"]
        append(out / "onnxruntime.csv", ["network", "round"] + fields,
               {"network": network, "round": number, **{field: round(start[field], 3) for field in fields}})


def preparing_share(out):
    """Of ONNX Runtime's start, from reading the file to the first output: what creating its session takes."""
    rows = rows_of(out / "onnxruntime.csv")
    return statistics.median(float(row["prepare_ms"]) / float(row["cold_ms"]) for row in rows) if rows else math.nan


def geometric_mean(values):
    return math.exp(statistics.fmean(math.log(value) for value in values))


def line(cells):
    return "| " + " | ".join(cells) + " |"


def header(cells):
    return line(cells) + "\n" + "|" + "---|" * len(cells)


def table(out):
    rows = rows_of(out / "starts.csv")
    networks = list(dict.fromkeys(row["network"] for row in rows))

    def median(network, strategy, field="cold_ms", pages="dropped"):
        return statistics.median(float(row[field]) for row in rows if row["network"] == network
                                 and row["strategy"] == strategy and row["page_cache"] == pages)

    def least(network, strategy):
        return min(float(row["cold_ms"]) for row in rows if row["network"] == network and row["strategy"] == strategy
                   and row["page_cache"] == "dropped")

    def peer(runtime, network):
        if runtime == "onnxruntime":
            starts = [float(row["cold_ms"]) for row in rows_of(out / "onnxruntime.csv") if row["network"] == network]
        else:
            starts = [float(row["cold_ms"]) for row in rows_of(out / f"{runtime}.csv")
                      if row["architecture"] == network]
        return statistics.median(starts) if starts else None

    print("## From file to output\n\nMilliseconds, medians; pages of the files dropped, but for `in memory`. Warm is "
          "the kernels that are fastest then.\n")
    print(header(["network", "planned", "predicted", "bound", "warm kernels, sequential", "best one policy, sequential"]
                 + list(PEERS.values()) + ["planned, in memory", "planned for memory", "warm"]))
    columns = {name: [] for name in ["memory", "for memory"]}
    gains = {plan: {name: [] for name in ["warm", "policy", *PEERS]} for plan in ("KC", "KCP")}
    for network in networks:
        planned, warm_start = median(network, "KCP"), median(network, "warm")
        policy = min(POLICIES, key=lambda name: median(network, name))
        memory, predicted = median(network, "KCP", pages="as it was"), median(network, "KCP", "predicted_ms")
        warm = median(network, "warm", "warm_ms")
        for_memory = median(network, "KCP-memory", pages="as it was")
        columns["memory"].append(memory / warm)
        columns["for memory"].append(for_memory / warm)
        others = {name: peer(name, network) for name in PEERS}
        for plan, gain in gains.items():
            start = median(network, plan)
            for name, ms in [("warm", warm_start), ("policy", median(network, policy)), *others.items()]:
                if ms:
                    gain[name].append(ms / start)
        print(line([network, f"{planned:.1f}", f"{predicted:.1f}", f"{median(network, 'KCP', 'lower_bound_ms'):.1f}",
                    f"{warm_start:.1f}", f"{median(network, policy):.1f} ({policy})"]
                   + [f"{ms:.1f}" if ms else "–" for ms in others.values()] + [f"{memory:.1f}", f"{for_memory:.1f}", f"{warm:.1f}"]))
    print(f"\n## On one core and on two\n\nHow many times as fast the plan starts, geometric means over {len(networks)} "
          "networks. The sequential starts and the other runtimes have one core. With two, the second one prepares kernels "
          f"while the first executes. ONNX Runtime was given the network as it is and no optimised model that it had saved "
          f"([with one](../saved_model/README.md)); preparing is {preparing_share(out):.0%} of its start.\n")
    print(header(["plan", "sequential, warm kernels", "sequential, best one policy", *PEERS.values()]))
    for plan, called in (("KC", "on one core"), ("KCP", "on two cores, as in the table above")):
        print(line([called] + [f"{geometric_mean(values):.2f}" if values else "–" for values in gains[plan].values()]))
    print(f"\nWith its files in memory, the plan on two cores takes {geometric_mean(columns['memory']):.2f} times the warm "
          f"latency, and the one that is planned for that {geometric_mean(columns['for memory']):.2f} times.")
    undisturbed = [geometric_mean([least(n, name) / least(n, "KCP") for n in networks]) for name in ("warm", "KC")]
    print(f"\nOf the fastest of {ROUNDS} starts each, which other programs disturbed least, planned is "
          f"{undisturbed[0]:.2f} times as fast as the sequential start with the warm kernels, and {undisturbed[1]:.2f} "
          "times as the sequential plan that caches.\n")
    print(header(["network", *STRATEGIES]))
    for network in networks:
        print(line([network] + [f"{least(network, name):.1f}" for name in STRATEGIES]))
    print("\n## What each technique is worth\n\nK: kernels selected; C: transformed weights cached; P: pipelined.\n")
    print(header(["network", "sequential", "K", "K + C", "K + C + P"]))
    for network in networks:
        print(line([network] + [f"{median(network, name):.1f}" for name in ("warm", "K", "KC", "KCP")]))
    gains = [geometric_mean([median(n, "warm") / median(n, name) for n in networks]) for name in ("K", "KC", "KCP")]
    print(line(["geometric mean of the gain", "1.00"] + [f"{gain:.2f}" for gain in gains]))
    print("\n## Predicted and measured\n\nRelative error of the predicted cold start, median over the networks.\n")
    print(header(["plan", "median error", "largest"]))
    for name, (*_, pages) in STRATEGIES.items():
        found = "dropped" if pages == "dropped" else "as it was"
        errors = [abs(median(n, name, "predicted_ms") / median(n, name, pages=found) - 1) for n in networks]
        print(line([name, f"{statistics.median(errors):.1%}", f"{max(errors):.1%}"]))
    print("\n## Planning and storage\n\nPlanning holds the starts that correct the stages.\n")
    print(header(["network", "model, MB", "layers", "kernels", "measuring, s", "planning, s", "stored weights, MB"]))
    for row in rows_of(out / "networks.csv"):
        if row["network"] not in networks:  # not started yet
            continue
        print(line([*row.values(), f"{median(row['network'], 'KCP', 'stored_mb'):.1f}"]))
    switching(out)
    print("\n## One convolution\n\n3 × 3, 64 to 192 channels, 56 × 56; milliseconds.\n")
    convolutions = rows_of(out / "convolution.csv")
    if convolutions:
        print(header(["kernel", "read raw", "transform", "read cached", "create", "execute", "stored, MB"]))
        for row in convolutions:
            print(line(list(row.values())))


def switching(out):
    rows = rows_of(out / "switching.csv")
    if not rows:
        return
    print("\n## Runs after the start\n\nMilliseconds, medians of starts with six runs each: of the plan that keeps its "
          "kernels, and of the one whose layers change to the kernels that are fastest once warm (`cold plan --switch`). "
          "Warm is after the runs.\n")
    print(header(["network", "plan", "layers that change", "changed in run 2", *(f"run {i}" for i in range(1, 7)), "warm"]))
    gains, starts = [], []
    for network in dict.fromkeys(row["network"] for row in rows):
        medians = {}
        for name in ("keeps", "switches"):
            own = [row for row in rows if row["network"] == network and row["plan"] == name]
            medians[name] = {field: statistics.median(float(row[field]) for row in own) for field in list(own[0])[3:]}
            m = medians[name]
            print(line([network, name, f"{m['switches']:.0f}", f"{m['switched_in_run_2']:.0f}",
                        *(f"{m[f'run_{i}_ms']:.1f}" for i in range(1, 7)), f"{m['warm_ms']:.1f}"]))
        gains.append(medians["keeps"]["warm_ms"] / medians["switches"]["warm_ms"])
        starts.append(medians["switches"]["run_1_ms"] / medians["keeps"]["run_1_ms"])
    print(f"\nGeometric means: once warm, the plan that switches is {geometric_mean(gains):.2f} times as fast as the one "
          f"that keeps its kernels; its cold run takes {geometric_mean(starts):.2f} times as long.")


def plot(out, file):
    import matplotlib
    matplotlib.use("svg")
    import matplotlib.pyplot as pyplot
    matplotlib.rcParams["svg.hashsalt"] = "tenshot"
    rows = rows_of(out / "starts.csv")
    networks = list(dict.fromkeys(row["network"] for row in rows))
    names = {"warm": "sequential, warm kernels", "K": "+ kernels selected", "KC": "+ cached", "KCP": "+ pipelined"}
    figure, axes = pyplot.subplots(figsize=(9, 4))
    for place, (strategy, name) in enumerate(names.items()):
        heights = [statistics.median(float(row["cold_ms"]) for row in rows if row["network"] == network
                                     and row["strategy"] == strategy and row["page_cache"] == "dropped")
                   for network in networks]
        axes.bar([i + 0.2 * place - 0.3 for i in range(len(networks))], heights, 0.2, label=name)
    axes.set_xticks(range(len(networks)), networks, rotation=20, ha="right")
    axes.set_yscale("log")
    axes.set_ylabel("cold start, ms")
    axes.legend(frameon=False)
    figure.tight_layout()
    figure.savefig(file, metadata={"Date": None})


if __name__ == "__main__":
    arguments = sys.argv[2:]
    if sys.argv[1] == "measure":
        measure(arguments[0], Path(arguments[1]), Path(arguments[2]), arguments[3])
    elif sys.argv[1] == "switch":
        switch(arguments[0], Path(arguments[1]), Path(arguments[2]), arguments[3])
    elif sys.argv[1] == "onnxruntime":
        onnxruntime(arguments[0], Path(arguments[1]), Path(arguments[2]), arguments[3])
    elif sys.argv[1] == "plot":
        plot(Path(arguments[0]), arguments[1])
    else:
        table(Path(arguments[0]))
