"""Cold starts of ONNX Runtime with its saved model, without one, and of the engine's plan on one core, in turn.

    saved_model.py TENSHOT MODEL.onnx STORAGE STARTS.csv   starts of one network; resumes
    saved_model.py page FOLDER                             FOLDER/README.md of its starts.csv
"""
import json
import shutil
import statistics
import sys
from pathlib import Path

from cold import ROUNDS, STARTS, append, geometric_mean, header, line, rows_of, run, start_onnxruntime

RUNNER = "datasets/kit/board/run_onnx.js"
SAVE = """
const ort = require(require('path').resolve(process.env.TENSHOT_NODE_MODULES, 'onnxruntime-node'));
const [, model, saved] = process.argv;
ort.InferenceSession.create(model, { executionProviders: ['cpu'], intraOpNumThreads: 1, optimizedModelFilePath: saved,
  graphOptimizationLevel: 'all' }).catch((error) => { console.error(error.message); process.exitCode = 1; });
"""
FIELDS = ["network", "start", "round", "cold_ms", "load_ms", "prepare_ms", "first_ms"]


def engine(tenshot, plan, *options):
    start = json.loads(run([tenshot, "cold", "run", plan, "--json", "--touch-memory", "--drop-page-cache", *options]).stdout)
    if start["page_cache"] != "dropped":
        sys.exit(f"{plan}: page cache {start['page_cache']}")
    return start


def measure(tenshot, given, storage, table):
    network = given.stem
    done = {(row["start"], int(row["round"])) for row in rows_of(table) if row["network"] == network}
    if len(done) == 3 * ROUNDS:
        return
    folder = storage / network
    folder.mkdir(parents=True, exist_ok=True)
    model, saved, plan, said = (folder / name for name in ("model.onnx", "saved.onnx", "plan.json", "said.json"))
    shutil.copy(given, model)
    run(["node", "-e", SAVE, model, saved])
    run([tenshot, "cold", "measure", model, "--out", folder / "stages.json"])
    run([tenshot, "cold", "plan", folder / "stages.json", "--preparing-cores", "0", "--starts", str(STARTS), "--out", plan])
    run([tenshot, "cold", "run", plan])  # makes the file of its weights
    starts = {"ONNX Runtime": lambda: start_onnxruntime(RUNNER, model, said),
              "ONNX Runtime, saved model": lambda: start_onnxruntime(RUNNER, saved, said, "disabled"),
              "planned, one core": lambda: engine(tenshot, plan)}
    table.parent.mkdir(parents=True, exist_ok=True)
    for number in range(ROUNDS):
        for name, start in starts.items():
            if (name, number) not in done:
                found = start()
                append(table, FIELDS, {"network": network, "start": name, "round": number,
                                       **{field: round(found[field], 3) for field in FIELDS[3:] if field in found}})
    shutil.rmtree(folder)
    print(network, flush=True)


def page(folder):
    rows = rows_of(folder / "starts.csv")
    networks, names = (list(dict.fromkeys(row[key] for row in rows)) for key in ("network", "start"))
    median = {(network, name): statistics.median(float(row["cold_ms"]) for row in rows
                                                 if row["network"] == network and row["start"] == name)
              for network in networks for name in names}
    gain = {name: geometric_mean([median[network, name] / median[network, names[2]] for network in networks])
            for name in names}
    spread = statistics.median(abs(float(row["cold_ms"]) / median[row["network"], row["start"]] - 1) for row in rows)
    preparing = statistics.median(float(row["prepare_ms"]) / float(row["cold_ms"]) for row in rows if row["start"] == names[1])
    text = ["# ONNX Runtime with the model that it saved", "",
            "By `experiments/cold/saved_model.sh`. ONNX Runtime spends most of a cold start in preparing: it optimises the graph "
            "and lays the weights out. It can save the optimised model and start from that without optimising again. Each network "
            f"was started {ROUNDS} times in each way, in turn, on one core, from a storage of 400 MB/s (files in memory, throttled), "
            "the pages of its files dropped before. Milliseconds from the file to the first output, medians:", "",
            header(["network", *names])]
    text += [line([network, *(f"{median[network, name]:.1f}" for name in names)]) for network in networks]
    text += [line(["times the plan's start, geometric mean", *(f"{gain[name]:.2f}" for name in names)]), "",
             f"With the saved model ONNX Runtime starts {gain[names[0]] / gain[names[1]]:.2f} times as fast as without, and "
             f"preparing is {preparing:.0%} of that start. The median start is {spread:.1%} off its median.", ""]
    (folder / "README.md").write_text("\n".join(text))


if __name__ == "__main__":
    if sys.argv[1] == "page":
        page(Path(sys.argv[2]))
    else:
        measure(sys.argv[1], *map(Path, sys.argv[2:5]))
