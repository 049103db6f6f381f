"""Predicts cold starts of networks whose families were never started, and starts them.

    cold_predict.py measure TENSHOT MODELS OUT NETWORK ...   stages of each, corrected by starts; resumes
    cold_predict.py predict TENSHOT MODELS OUT NETWORK ...   each by the stages of the other families
    cold_predict.py start TENSHOT MODELS OUT NETWORK ...     plans of predicted and of own stages, started in turn
    cold_predict.py table OUT                                the tables of OUT, as Markdown on standard output
"""
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from cold import append, rows_of

REPETITIONS = 3  # of each stage
STARTS = 3       # by which stages are corrected
ROUNDS = 12      # starts of a plan that was made of predicted stages
NETWORK_FIELDS = ["network", "family", "known_networks", "mmacs", "predicted_ms", "low_ms", "high_ms", "warm_ms", "own_ms"]


def family(network):
    """mobilenet of mobilenet_v2_w1.0_r224: as `tenshot cold predict` tells families apart."""
    return re.match("[a-z]*", network.lower()).group()


def run(command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def measure(tenshot, models, out, networks):
    (out / "stages").mkdir(parents=True, exist_ok=True)
    for network in networks:
        target = out / "stages" / f"{network}.json"
        if target.exists():
            continue
        with tempfile.TemporaryDirectory(dir=out) as folder:
            stages, plan = Path(folder) / "stages.json", Path(folder) / "plan.json"
            run([tenshot, "cold", "measure", models / f"{network}.onnx", "--repetitions", str(REPETITIONS), "--quiet",
                 "--out", stages])
            run([tenshot, "cold", "plan", stages, "--starts", str(STARTS), "--corrected", Path(folder) / "corrected.json",
                 "--quiet", "--out", plan])
            os.replace(Path(folder) / "corrected.json", target)
        print(network, flush=True)


def megamacs(stages):
    """Multiply-adds in millions: each weight is used once for every position of the output."""
    total = 0
    for layer, measured in zip(stages["network"]["layers"], stages["stages"]):
        if measured["raw_bytes"] == 0:
            continue
        shape = stages["network"]["tensors"][layer["output"]]
        positions = shape[2] * shape[3] if len(shape) == 4 else 1
        total += (measured["raw_bytes"] / 4 - shape[1]) * positions
    return total / 1e6


def predict(tenshot, models, out, networks):
    (out / "predicted").mkdir(parents=True, exist_ok=True)
    for network in networks:
        own, said = out / "stages" / f"{network}.json", out / "predicted" / f"{network}.said"
        if said.exists() or not own.exists():
            continue
        others = [path for path in sorted((out / "stages").glob("*.json")) if family(path.stem) != family(network)]
        with tempfile.TemporaryDirectory(dir=out) as folder:
            for path in others:
                (Path(folder) / path.name).symlink_to(path.resolve())
            words = run([tenshot, "cold", "predict", models / f"{network}.onnx", "--stages", folder, "--json", "--quiet",
                         "--out", out / "predicted" / f"{network}.json"])
        said.write_text(json.dumps({"known_networks": len(others), **json.loads(words)}))
        print(network, flush=True)


def start(tenshot, models, out, networks):
    del models
    done = {row["network"] for row in rows_of(out / "networks.csv")}
    rounds = {(row["network"], int(row["round"])) for row in rows_of(out / "starts.csv") if row["plan"] == "own"}
    for network in networks:
        own, predicted = out / "stages" / f"{network}.json", out / "predicted" / f"{network}.json"
        missing = [number for number in range(ROUNDS) if (network, number) not in rounds]
        if not missing or not predicted.exists():
            continue
        said = json.loads(predicted.with_suffix(".said").read_text())
        with tempfile.TemporaryDirectory(dir=out) as name:
            folder, plans = Path(name), {"predicted": predicted, "own": own}
            for which, stages in plans.items():
                run([tenshot, "cold", "plan", stages, "--quiet", "--out", folder / f"{which}.plan"])
                run([tenshot, "cold", "run", folder / f"{which}.plan", "--quiet"])
            for number in missing:  # in turn: the machine's speed changes by the minute
                for which in plans:
                    one = json.loads(run([tenshot, "cold", "run", folder / f"{which}.plan", "--json",
                                          "--drop-page-cache", "--touch-memory"]))
                    append(out / "starts.csv", ["network", "plan", "round", "cold_ms", "page_cache"],
                           {"network": network, "plan": which, "round": number, "cold_ms": round(one["cold_ms"], 3),
                            "page_cache": one["page_cache"]})
            own_ms = json.loads((folder / "own.plan").read_text())["predicted_ms"]
        if network in done:
            continue
        row = {"network": network, "family": family(network), "known_networks": said["known_networks"],
               "mmacs": round(megamacs(json.loads(own.read_text())), 1), "predicted_ms": said["cold_ms"],
               "low_ms": said["low_ms"], "high_ms": said["high_ms"], "warm_ms": said["warm_ms"], "own_ms": own_ms}
        row.update({field: round(row[field], 3) for field in NETWORK_FIELDS[4:]})
        append(out / "networks.csv", NETWORK_FIELDS, row)
        print(network, flush=True)


def ranks(values):
    order = sorted(range(len(values)), key=lambda i: values[i])
    return [order.index(i) for i in range(len(values))]


def table(out):
    rows = rows_of(out / "networks.csv")
    starts = {}
    for row in rows_of(out / "starts.csv"):
        starts.setdefault((row["network"], row["plan"]), []).append(float(row["cold_ms"]))
    rounds = min(len(times) for times in starts.values())
    families = dict.fromkeys(row["family"] for row in rows)
    print(f"{len(rows)} networks of {len(families)} families, each predicted by the stages of the others, planned with its "
          f"predicted stages, and started {rounds} times; in turn with that, planned with its own stages, as three starts "
          "corrected them. Errors are relative to the fastest start, which other programs disturbed least, and to the median "
          "one.\n")
    print("| method | median error, fastest start | median error, median start | within 20 % of the fastest "
          "| rank correlation with the fastest |\n|---|---|---|---|---|")
    least = {key: min(times) for key, times in starts.items()}
    middle = {key: statistics.median(times) for key, times in starts.items()}

    def scaled(field):
        """The field times the median factor of the other families, whose own plans were started."""
        return lambda row, truth: statistics.median(
            truth[other["network"], "own"] / float(other[field]) for other in rows
            if other["family"] != row["family"]) * float(row[field])

    methods = {"predicted stages, simulated": (lambda row, truth: float(row["predicted_ms"]), "predicted"),
               "predicted warm latency, scaled": (scaled("warm_ms"), "predicted"),
               "multiply-adds, scaled": (scaled("mmacs"), "predicted"),
               "its own stages, simulated": (lambda row, truth: float(row["own_ms"]), "own")}
    for name, (method, plan) in methods.items():
        errors = [[abs(method(row, truth) / truth[row["network"], plan] - 1) for row in rows] for truth in (least, middle)]
        correlation = statistics.correlation(ranks([method(row, least) for row in rows]),
                                             ranks([least[row["network"], plan] for row in rows]))
        print(f"| {name} | {statistics.median(errors[0]):.1%} | {statistics.median(errors[1]):.1%} "
              f"| {sum(e <= .2 for e in errors[0]) / len(rows):.0%} | {correlation:.3f} |")
    inside = [sum(float(r["low_ms"]) <= truth[r["network"], "predicted"] <= float(r["high_ms"]) for r in rows) / len(rows)
              for truth in (least, middle)]
    gain = statistics.median(least[r["network"], "predicted"] / least[r["network"], "own"] for r in rows)
    spread = statistics.median(middle[key] / least[key] for key in least)
    print(f"\nOf the 90 % intervals {inside[0]:.0%} hold the fastest start and {inside[1]:.0%} the median one. The plan of "
          f"predicted stages takes {gain:.2f} times what the plan of the network's own stages takes (median of fastest "
          f"starts). A median start takes {spread:.2f} times the fastest one.\n\n## Networks\n\nMilliseconds.\n")
    print("| network | known networks | predicted | 90 % | fastest start | median | own stages | fastest start | median |\n"
          "|---|---|---|---|---|---|---|---|---|")
    for r in sorted(rows, key=lambda r: r["network"]):
        name = r["network"]
        print(f"| {name} | {r['known_networks']} | {float(r['predicted_ms']):.1f} "
              f"| {float(r['low_ms']):.1f} to {float(r['high_ms']):.1f} | {least[name, 'predicted']:.1f} "
              f"| {middle[name, 'predicted']:.1f} | {float(r['own_ms']):.1f} | {least[name, 'own']:.1f} "
              f"| {middle[name, 'own']:.1f} |")


if __name__ == "__main__":
    verb, arguments = sys.argv[1], sys.argv[2:]
    if verb == "table":
        table(Path(arguments[0]))
    else:
        step = {"measure": measure, "predict": predict, "start": start}[verb]
        step(arguments[0], Path(arguments[1]), Path(arguments[2]), arguments[3:])
