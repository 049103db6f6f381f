#!/usr/bin/env python3
"""Cold starts of the engine (descriptor/cold) for the pool of cold starts, and that pool's table.

    cold_pool.py engine TENSHOT MODELS LIST OUT      stages, plans and starts of the listed networks; resumes
    cold_pool.py table OUT CSV                       medians of the starts: one row a network, one column a strategy
    cold_pool.py rounds DEVICE ROUND...             one device-runtime of those that a kit measured in several rounds
    cold_pool.py describe POOL VERSION               the engine's conditions into the device files that were imported
    cold_pool.py card POOL                           the table of POOL's README, as Markdown on standard output
    cold_pool.py halves OUT                         how far the medians of every other start and of the rest agree
    cold_pool.py repeat POOL EARLIER                 how far the cold starts of two measurements of the same runtimes agree
"""
import csv
import json
import statistics
import subprocess
import sys
from pathlib import Path

from cold import append, rows_of

# name: kernels, cache, preparing cores, starts by which the stages are corrected
STRATEGIES = {"onednn-planned": ("planned", "planned", 1, 2), "onednn-warm": ("warm", "none", 0, 0),
              "onednn-preferred": ("preferred", "none", 0, 0),
              "onednn-compiled": ("compiled", "planned", 0, 0)}
REPETITIONS = 3  # of each stage
STARTS = 7       # of each plan, networks and strategies in turn
KIT_STARTS = 2   # of each network in each round (cold_pool.sh)
FIELDS = ["network", "strategy", "start", "cold_ms", "start_ms", "prepare_ms", "wait_ms", "execute_ms"]


def run(command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def listed(path):
    with open(path, newline="") as file:
        return [row[0] for row in list(csv.reader(file))[1:]]


def stages_and_plans(tenshot, network, models, folder):
    """What the starts of a network need: the stages of its kernels, a plan for each strategy, and the plans' files."""
    folder.mkdir(parents=True, exist_ok=True)
    stages = folder / "stages.json"
    if not stages.exists():
        run([tenshot, "cold", "measure", models / f"{network}.onnx", "--repetitions", str(REPETITIONS), "--quiet",
             "--out", stages])
    for name, (kernels, cache, cores, correcting) in STRATEGIES.items():
        plan = folder / f"{name}.json"
        if not plan.exists():
            run([tenshot, "cold", "plan", stages, "--kernels", kernels, "--cache", cache, "--preparing-cores",
                 str(cores), "--starts", str(correcting), "--quiet", "--out", plan])
        run([tenshot, "cold", "run", plan, "--quiet"])  # makes the files of its weights


def engine(tenshot, models, names, out):
    out.mkdir(parents=True, exist_ok=True)
    table = out / "engine.csv"
    networks = listed(names)
    done = {(row["network"], row["strategy"], int(row["start"])) for row in rows_of(table)}
    left = [network for network in networks
            if any((network, name, number) not in done for name in STRATEGIES for number in range(STARTS))]
    for network in left:
        stages_and_plans(tenshot, network, models, out / "work" / network)
        print(f"{network}: planned", flush=True)
    for number in range(STARTS):
        for network in left:
            for name in STRATEGIES:
                if (network, name, number) in done:
                    continue
                said = json.loads(run([tenshot, "cold", "run", out / "work" / network / f"{name}.json", "--json",
                                       "--drop-page-cache", "--touch-memory"]))
                if said["page_cache"] != "dropped":
                    sys.exit(f"{network}: the page cache could not be dropped: {said['page_cache']}")
                append(table, FIELDS, {"network": network, "strategy": name, "start": number,
                                       **{field: round(said[field], 4) for field in FIELDS[3:]}})
        print(f"start {number + 1} of {STARTS}", flush=True)
    for weights in out.glob("work/*/*.weights/*"):
        weights.unlink()  # as large as the models, three times


def table(out, path):
    starts = {}
    for row in rows_of(out / "engine.csv"):
        starts.setdefault(row["network"], {}).setdefault(row["strategy"], []).append(float(row["cold_ms"]))
    with open(path, "w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["architecture", *STRATEGIES])
        for network, own in starts.items():
            writer.writerow([network, *(round(statistics.median(own[name]), 4) for name in STRATEGIES)])


def halves(out):
    """Of every plan's starts the first, third, fifth … against the others."""
    starts = {}
    for row in rows_of(out / "engine.csv"):
        starts.setdefault(row["strategy"], {}).setdefault(row["network"], []).append(float(row["cold_ms"]))
    print("| device-runtime | networks | halves within 10 % of each other |\n|---|---|---|")
    for name, networks in starts.items():
        ratios = [statistics.median(own[0::2]) / statistics.median(own[1::2]) for own in networks.values()]
        print(f"| `{name}` | {len(ratios)} | {sum(abs(ratio - 1) <= .1 for ratio in ratios) / len(ratios):.0%} |")


def rounds(folder, measured):
    """The device-runtime of several rounds: medians, and 1.4826 × the median absolute deviation of what rounds found."""
    tables = [{row["architecture"]: float(row["cold_ms"]) for row in rows_of(one / "cold.csv")} for one in measured]
    document = json.loads((measured[-1] / "device.json").read_text())
    document["environment"].update({"rounds": len(measured), "starts": len(measured) * KIT_STARTS})
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / "cold.csv", "w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["architecture", "cold_ms", "stddev_ms", "runs"])
        for network in tables[0]:
            own = [table[network] for table in tables]
            median = statistics.median(own)
            spread = 1.4826 * statistics.median(abs(one - median) for one in own)
            writer.writerow([network, round(median, 4), round(spread, 4), len(own) * KIT_STARTS])
    (folder / "device.json").write_text(json.dumps(document, indent=2) + "\n")


def describe(pool, version):
    """The conditions of the engine's device-runtimes, beside those that libtorch-eager's device file has."""
    of_machine = json.loads((pool / "libtorch-eager_t1_b1_cold" / "device.json").read_text())
    for name, (kernels, cache, cores, _) in STRATEGIES.items():
        path = pool / name / "device.json"
        document = json.loads(path.read_text())
        document.update({"device": of_machine["device"], "runtime": name, "precision": "fp32", "batch": 1, "threads": 1})
        document["environment"] = {key: of_machine["environment"][key] for key in ("cpu", "kernel", "cores")}
        document["environment"].update({"runtime_version": version, "kernels": kernels, "cache": cache,
                                        "preparing_cores": cores, "starts": STARTS,
                                        "free_memory": "touched before each start"})
        path.write_text(json.dumps(document, indent=2) + "\n")


def card(pool):
    print("| device-runtime | networks | cold | load | prepare | first | warm | spread | disturbed networks |")
    print("|---|---|---|---|---|---|---|---|---|")
    for device in sorted(pool.glob("*/device.json")):
        document = json.loads(device.read_text())
        rows = rows_of(device.parent / document["latencies"])

        def median(field, digits=1):
            values = [float(row[field]) for row in rows if row.get(field)]
            return f"{statistics.median(values):.{digits}f}" if values else "–"

        spreads = [float(row["stddev_ms"]) / float(row["cold_ms"]) for row in rows if row.get("stddev_ms")]
        spread = f"{100 * statistics.median(spreads):.1f} %" if spreads else "–"
        disturbed = document.get("environment", {}).get("disturbed_networks", "–")
        print(f"| `{document['id']}` | {len(rows)} | {median('cold_ms')} | {median('load_ms')} | {median('prepare_ms')} | "
              f"{median('first_ms')} | {median('warm_ms', 2)} | {spread} | {disturbed} |")


def repeat(pool, earlier):
    """Of the networks of both, after the factor by which the median network differs."""
    print("| device-runtime | networks | factor | within 10 % |\n|---|---|---|---|")
    for device in sorted(earlier.glob("*/device.json")):
        name = device.parent.name
        if not (pool / name).exists():
            continue
        table, before = ({row["architecture"]: float(row["cold_ms"]) for row in rows_of(folder / name / "cold.csv")}
                         for folder in (pool, earlier))
        ratios = [table[network] / before[network] for network in table if network in before]
        factor = statistics.median(ratios)
        agree = sum(abs(factor / ratio - 1) <= .1 for ratio in ratios)
        print(f"| `{name}` | {len(ratios)} | {factor:.2f} | {agree / len(ratios):.0%} |")


if __name__ == "__main__":
    verb, *words = sys.argv[1:]
    if verb == "engine":
        engine(words[0], Path(words[1]), words[2], Path(words[3]))
    elif verb == "table":
        table(Path(words[0]), words[1])
    elif verb == "describe":
        describe(Path(words[0]), words[1])
    elif verb == "halves":
        halves(Path(words[0]))
    elif verb == "rounds":
        rounds(Path(words[0]), [Path(word) for word in words[1:]])
    elif verb == "repeat":
        repeat(Path(words[0]), Path(words[1]))
    else:
        card(Path(words[0]))
