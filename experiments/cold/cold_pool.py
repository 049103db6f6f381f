#!/usr/bin/env python3
"""Cold starts of the engine (descriptor/cold) for the pool of cold starts, and that pool's files and tables.

    cold_pool.py engine TENSHOT MODELS NAMES OUT STORAGE   stages, plans and starts of half of the networks, resumably
    cold_pool.py pool TENSHOT WORK POOL                    device-runtimes of POOL from what cold_pool.sh kept in WORK/RATE
    cold_pool.py card WORK POOL                            the tables of POOL's README, as Markdown on standard output
"""
import csv
import json
import platform
import shutil
import statistics
import subprocess
import sys
from pathlib import Path

from cold import append, rows_of

# name: kernels, cache, starts by which the stages are corrected; the other core serves the storage, and prepares nothing
STRATEGIES = {"onednn-planned": ("planned", "planned", 2), "onednn-warm": ("warm", "none", 0),
              "onednn-preferred": ("preferred", "none", 0), "onednn-compiled": ("compiled", "planned", 0)}
REPETITIONS = 3  # of each stage
STARTS = 6       # of each plan, networks and strategies in turn
KIT_STARTS = 3   # in each round of ONNX Runtime's kit (cold_pool.sh), of which it says the median
FIELDS = ["network", "strategy", "start", "cold_ms", "start_ms", "prepare_ms", "wait_ms", "execute_ms"]


def run(command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def listed(path):
    with open(path, newline="") as file:
        return [row[0] for row in list(csv.reader(file))[1:]]


def of_engine(names):
    """Every second network of the zoo, five cells that the pool knows and ten that are predicted."""
    zoo = [name for name in names if not name.startswith("nasbench201_")]
    cells = [f"nasbench201_{number:02}" for number in (*range(1, 11), *range(21, 26))]
    return [name for i, name in enumerate(zoo) if i % 2 == 0] + [name for name in names if name in cells]


def stages_and_plans(tenshot, network, models, kept, storage):
    """What the starts of a network need: the stages of its kernels, a plan for each strategy, and the plans' files."""
    storage.mkdir(parents=True, exist_ok=True)
    kept.mkdir(parents=True, exist_ok=True)
    stages = kept / "stages.json"
    if not stages.exists():
        run([tenshot, "cold", "measure", models / f"{network}.onnx", "--repetitions", str(REPETITIONS), "--quiet",
             "--out", storage / "stages.json"])
        shutil.copy(storage / "stages.json", stages)
    shutil.copy(stages, storage / "stages.json")
    for name, (kernels, cache, correcting) in STRATEGIES.items():
        plan = kept / f"{name}.json"
        if not plan.exists():
            run([tenshot, "cold", "plan", storage / "stages.json", "--kernels", kernels, "--cache", cache,
                 "--preparing-cores", "0", "--starts", str(correcting), "--quiet", "--out", storage / plan.name])
            shutil.copy(storage / plan.name, plan)
        shutil.copy(plan, storage / plan.name)
        run([tenshot, "cold", "run", storage / plan.name, "--quiet"])  # makes the files of its weights


def engine(tenshot, models, names, out, storage):
    """Round by round within a network: the storage holds the files of one network at a time."""
    out.mkdir(parents=True, exist_ok=True)
    table = out / "engine.csv"
    done = {(row["network"], row["strategy"], int(row["start"])) for row in rows_of(table)}
    networks = of_engine(listed(names))
    for network in networks[::2] + networks[1::2]:  # what was measured when it is interrupted is of all kinds
        left = [(number, name) for number in range(STARTS) for name in STRATEGIES if (network, name, number) not in done]
        if not left:
            continue
        folder = storage / network
        stages_and_plans(tenshot, network, models, out / "work" / network, folder)
        for number, name in left:
            said = json.loads(run([tenshot, "cold", "run", folder / f"{name}.json", "--json", "--drop-page-cache",
                                   "--touch-memory"]))
            if said["page_cache"] != "dropped":
                sys.exit(f"{network}: the page cache could not be dropped: {said['page_cache']}")
            append(table, FIELDS, {"network": network, "strategy": name, "start": number,
                                   **{field: round(said[field], 4) for field in FIELDS[3:]}})
        shutil.rmtree(folder)
        print(f"{network}: started", flush=True)


def spread(values):
    """1.4826 × the median absolute deviation."""
    middle = statistics.median(values)
    return 1.4826 * statistics.median(abs(value - middle) for value in values)


def engine_starts(folder):
    """{strategy: {network: [ms of each start]}}"""
    starts = {}
    for row in rows_of(folder / "engine.csv"):
        starts.setdefault(row["strategy"], {}).setdefault(row["network"], []).append(float(row["cold_ms"]))
    return starts


def kit_starts(folder):
    """{runtime: {network: [ms of each round]}} of ONNX Runtime's kits."""
    rounds = {}
    for device in sorted(folder.glob("round_*/*/cold.csv")):
        for row in rows_of(device):
            rounds.setdefault(device.parent.name, {}).setdefault(row["architecture"], []).append(float(row["cold_ms"]))
    return rounds


def write_device(folder, document, rows):
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    with open(folder / "cold.csv", "w", newline="") as file:
        writer = csv.DictWriter(file, rows[0].keys(), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    (folder / "device.json").write_text(json.dumps(document, indent=2) + "\n")


def rates_of(work):
    return sorted(int(folder.name) for folder in work.iterdir() if folder.name.isdigit())


def pool(tenshot, work, out):
    """Writes what WORK holds; device-runtimes that were measured at another time stay."""
    for rate in rates_of(work):
        folder = work / str(rate)
        devices = {device.parent.name: (json.loads(device.read_text()), rows_of(device.parent / "cold.csv"))
                   for device in folder.glob("first/*/device.json")}
        of_machine = (devices["libtorch-eager_t1_b1_cold"][0] if devices else
                      json.loads((out / f"libtorch-eager_t1_b1_{rate}mbs/device.json").read_text()))
        for name, networks in kit_starts(folder).items():
            document = json.loads((folder / "round_1" / name / "device.json").read_text())
            rounds = len(list(folder.glob(f"round_*/{name}")))
            document["environment"].update({"rounds": rounds, "starts": rounds * KIT_STARTS})
            devices[name] = document, starts_table(networks, KIT_STARTS)
        for name, networks in engine_starts(folder / "engine").items():
            kernels, cache, _ = STRATEGIES[name]
            document = {**of_machine, "id": name, "runtime": name}
            document["environment"] = {key: of_machine["environment"][key] for key in ("cpu", "cores")}
            kernel = f"{platform.system()} {platform.release()} {platform.machine()}"  # measured on this one, by cold_pool.sh
            document["environment"].update({"kernel": kernel, "runtime_version": onednn_version(), "kernels": kernels,
                                            "cache": cache, "preparing_cores": 0, "starts": STARTS,
                                            "free_memory": "touched before each start"})
            devices[name] = document, starts_table(networks)
        for name, (document, rows) in devices.items():
            document["id"] = f"{name.removesuffix('_cold')}_{rate}mbs"
            document["environment"]["storage"] = f"files in memory, throttled to {rate} MB/s"
            write_device(out / document["id"], document, rows)
        if (folder / "first/networks.json").exists():
            shutil.copy(folder / "first/networks.json", out)
    run([tenshot, "dataset", "validate", out])


def starts_table(networks, starts=1):
    """Of rounds of so many starts each."""
    return [{"architecture": network, "cold_ms": round(statistics.median(own), 4),
             "stddev_ms": round(spread(own), 4) if len(own) > 1 else "", "runs": len(own) * starts} for network, own in networks.items()]


def onednn_version():
    return "oneDNN " + run(["dpkg-query", "-W", "-f", "${Version}", "libdnnl-dev"])


def agreeing(first, again):
    """How many networks are in both, and of how many the medians are within 10 % of each other."""
    ratios = [again[network] / first[network] for network in first if network in again]
    return f"{len(ratios)} | {sum(abs(ratio - 1) <= .1 for ratio in ratios) / len(ratios):.0%}"


def spread_of(spreads):
    return f"{100 * statistics.median(spreads):.1f} %" if spreads else "–"


def card(work, out):
    print("| device-runtime | networks | cold | load | prepare | first | warm | spread |\n|---|---|---|---|---|---|---|---|")
    for device in sorted(out.glob("*/device.json")):
        rows = rows_of(device.parent / "cold.csv")

        def median(field, digits=1):
            values = [float(row[field]) for row in rows if row.get(field)]
            return f"{statistics.median(values):.{digits}f}" if values else "–"

        spreads = [float(row["stddev_ms"]) / float(row["cold_ms"]) for row in rows if row.get("stddev_ms")]
        print(f"| `{device.parent.name}` | {len(rows)} | {median('cold_ms')} | {median('load_ms')} | {median('prepare_ms')} | "
              f"{median('first_ms')} | {median('warm_ms', 2)} | {spread_of(spreads)} |")
    print("\n| storage | runtime | networks | within 10 % of each other |\n|---|---|---|---|")
    for rate in rates_of(work):
        folder = work / str(rate)
        for again in sorted(folder.glob("again/*/cold.csv")):
            tables = [{row["architecture"]: float(row["cold_ms"]) for row in rows_of(table)}
                      for table in (folder / "first" / again.parent.name / "cold.csv", again)]
            print(f"| {rate} MB/s | `{again.parent.name}` | {agreeing(*tables)} |")
        for what, found in (("its two rounds", kit_starts(folder)), ("every other start", engine_starts(folder / "engine"))):
            for name, networks in found.items():
                if len(next(iter(networks.values()))) < 2:
                    continue
                halves = [{network: statistics.median(own[half::2]) for network, own in networks.items()} for half in (0, 1)]
                print(f"| {rate} MB/s | `{name}`, {what} | {agreeing(*halves)} |")


if __name__ == "__main__":
    verb, *words = sys.argv[1:]
    if verb == "engine":
        engine(words[0], Path(words[1]), words[2], Path(words[3]), Path(words[4]))
    elif verb == "pool":
        pool(words[0], Path(words[1]), Path(words[2]))
    else:
        card(Path(words[0]), Path(words[1]))
