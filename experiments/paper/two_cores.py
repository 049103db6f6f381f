#!/usr/bin/env python3
"""Li et al.'s Figures 2, 3 and 14 on the two cores of this machine: networks and their operators with one thread and with two, on
libtorch-frozen and opencv-dnn. Writes experiments/paper/two_cores/.

  experiments/paper/two_cores.py measure RUNTIME [SECONDS]   goes on where the last piece stopped
  experiments/paper/two_cores.py compare

The second core should have nothing else to do: "chrt -f 5 taskset -c 0,1"
before the command takes both."""

import csv
import statistics
import subprocess
import sys
import time
from collections import defaultdict

import committed

sys.path[:0] = [str(committed.ROOT / "experiments/kernels"), str(committed.ROOT / "experiments/networks")]
import isolation_modes  # noqa: E402
import own_networks  # noqa: E402

OUT = committed.ROOT / "experiments/paper/two_cores"
PUBLISHED, ROUNDS, RUNS, PROFILED = 40, 5, 4, 8
THREADS = (1, 2)
RUNTIMES = ["libtorch-frozen", "opencv-dnn"]
SPECIFICATION = isolation_modes.SPECIFICATION


def chosen():
    """The synthetic space of Li et al., and published networks without attention, drawn by their names."""
    family = {row["network"]: row["family"] for row in committed.read(committed.DATA / "networks/families.csv")}
    known = isolation_modes.roles()
    published = [name for name in known if not family[name].startswith("synthetic")]
    synthetic = [name for name, kind in family.items() if kind == "synthetic"]
    return {**{name: "synthetic" for name in synthetic},
            **{name: "published" for name in sorted(published, key=lambda name: own_networks.hashed("1", name))[:PUBLISHED]}}


def measure(runtime, seconds):
    import small_networks
    import torch
    torch.set_grad_enabled(False)
    OUT.mkdir(exist_ok=True)
    files = {name: OUT / f"{runtime}_{name}.csv" for name in ("networks", "operators")}
    headers = {"networks": ["network", "of", "threads", "fastest_ms", "median_ms", "variation"],
               "operators": ["network", "threads", "kernel", *SPECIFICATION, "latency_ms"]}
    for name, file in files.items():
        if not file.exists():
            file.write_text(",".join(headers[name]) + "\n")
    done, start, data = {row["network"] for row in committed.read(files["networks"])}, time.perf_counter(), isolation_modes.document()
    by_name = {network["name"]: network for network in data["networks"]}
    for name, of in chosen().items():
        if name in done:
            continue
        if time.perf_counter() - start > seconds:
            print("to be continued", flush=True)
            return
        graph = small_networks.whole(data, by_name[name])
        kernels = isolation_modes.kernels_of(graph, isolation_modes.rules_of(runtime))
        try:
            network = small_networks.RUNTIMES[runtime](graph)
        except Exception as error:  # what OpenCV throws has no class of its own
            print(f"{name}: {str(error)[-200:]}", flush=True)
            continue
        times, profiles = defaultdict(list), {}
        for _ in range(ROUNDS):
            for threads in THREADS:  # in turns
                small_networks.set_threads(threads)
                network.run()
                times[threads] += [small_networks.timed(network, 1) for _ in range(RUNS)]
        for threads in THREADS:
            small_networks.set_threads(threads)
            network.run()
            profiles[threads] = network.profile(PROFILED)
        rows = {"networks": [], "operators": []}
        for threads in THREADS:
            fastest = sorted(times[threads])[1]  # the fastest that repeats
            rows["networks"].append([name, of, threads, f"{fastest:.6g}", f"{statistics.median(times[threads]):.6g}",
                                     f"{statistics.stdev(times[threads]) / statistics.fmean(times[threads]):.4f}"])
            took = defaultdict(list)
            for kind, nodes in kernels:
                took[kind, *map(str, isolation_modes.columns_of(isolation_modes.leading(graph, nodes)))].append(
                    sum(profiles[threads][node] for node in nodes))
            rows["operators"] += [[name, threads, *key, f"{statistics.median(ms):.5g}"] for key, ms in took.items() if max(ms) > 0]
        for file in ("operators", "networks"):
            with files[file].open("a") as table:
                csv.writer(table, lineterminator="\n").writerows(rows[file])
    print("all measured", flush=True)


def table_of(runtime, name):
    path = OUT / f"{runtime}_{name}.csv"
    return committed.read(path if path.exists() else path.with_name(path.name + ".gz"))


def quartiles(values):
    first, middle, last = statistics.quantiles(values, n=4)
    return f"{middle:.2f} [{first:.2f}, {last:.2f}]"


def compare():
    results, whole, kinds = [], [], defaultdict(dict)
    for runtime in RUNTIMES:
        networks, operators = table_of(runtime, "networks"), table_of(runtime, "operators")
        fastest = {(row["network"], row["threads"]): float(row["fastest_ms"]) for row in networks}
        for of in ("published", "synthetic"):
            names = [row["network"] for row in networks if row["of"] == of and row["threads"] == "1"]
            gains = [fastest[name, "1"] / fastest[name, "2"] for name in names]
            variation = [quartiles([100 * float(row["variation"]) for row in networks if row["of"] == of and row["threads"] == threads])
                         for threads in "12"]
            whole.append([runtime, of, len(names), quartiles(gains), f"{100 * statistics.fmean(gain < 1 for gain in gains):.0f} %", *variation])
            results.append([runtime, f"speedup of {of} networks", f"{statistics.median(gains):.4f}"])
        by_kind = defaultdict(lambda: [0.0, 0.0])
        for row in operators:
            channels = row["inputs"].split()[0].split("x")[1]
            kind = ("depthwise convolution" if row["operation"] == "convolution" and row["groups"] not in ("1",) and row["groups"] == channels
                    else row["function"] or row["operation"])
            by_kind[kind][int(row["threads"]) - 1] += float(row["latency_ms"])
        for kind, (one, two) in by_kind.items():
            if one >= 1 and two > 0:
                kinds[kind][runtime] = f"{one / two:.2f} ({one:.0f} ms)"
                results.append([runtime, f"speedup of {kind}", f"{one / two:.4f}"])
    with (OUT / "results.csv").open("w", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([["runtime", "what", "value"], *results])
    text = (OUT / "text.md").read_text()
    text = text.replace("WHOLE", committed.table(["runtime", "networks", "how many", "one thread over two", "slower with two", "variation, one thread, %", "two, %"], whole))
    text = text.replace("KINDS", committed.table(["kind", *RUNTIMES], [[kind, *(of.get(name, "–") for name in RUNTIMES)] for kind, of in sorted(kinds.items())]))
    (OUT / "README.md").write_text(text)
    sys.exit(subprocess.run([sys.executable, committed.ROOT / "experiments/pages.py", "--made", "two_cores"], check=False).returncode)


if __name__ == "__main__":
    if sys.argv[1:2] == ["measure"]:
        measure(sys.argv[2], float(sys.argv[3]) if len(sys.argv) > 3 else 280)
    elif sys.argv[1:] == ["compare"]:
        compare()
    else:
        sys.exit(__doc__)
