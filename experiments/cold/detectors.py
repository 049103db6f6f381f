"""Cold starts of a detector and of networks that read text, like those of the classifiers (cold.py), on one core.

    detectors.py measure TENSHOT MODEL.onnx STORAGE FOLDER   stages, plans, starts: FOLDER/networks.csv, starts.csv; resumes
    detectors.py page FOLDER                                 FOLDER/README.md of them
"""
import json
import shutil
import statistics
import subprocess
import sys
import time
from pathlib import Path

from cold import (ROUNDS, STARTS, STRATEGIES, append, geometric_mean, header, line, megabytes, rows_of, run,
                  start_onnxruntime)
from saved_model import RUNNER, SAVE, engine

POLICIES = ["warm", "warm-cached", "preferred-cached", "compiled-cached"]
PLANNED, ONNXRUNTIME, SAVED = "planned", "ONNX Runtime", "ONNX Runtime, saved model"
NETWORKS = ["network", "model_mb", "layers", "kernels", "measure_s", "plan_s", "stored_mb", "warm_ms", "refused"]
FIELDS = ["network", "start", "round", "cold_ms"]


def plans_of(tenshot, model, folder, table):
    """A plan for each policy and one that chooses, with their files of weights; none where the engine refuses the network."""
    stages = folder / "stages.json"
    began = time.time()
    measured = subprocess.run([tenshot, "cold", "measure", model, "--quiet", "--out", stages], capture_output=True, text=True,
                              check=False)
    row = {"network": model.parent.name, "model_mb": round(megabytes(model), 1), "measure_s": round(time.time() - began, 1)}
    if measured.returncode != 0:
        append(table, NETWORKS, {**row, "measure_s": "", "refused": measured.stderr.strip().removeprefix("tenshot: ")})
        return {}
    plans = {}
    for name in [PLANNED, *POLICIES]:
        kernels, cache, *_ = STRATEGIES["KC" if name == PLANNED else name]
        plans[name] = folder / f"{name}.json"
        began = time.time()
        run([tenshot, "cold", "plan", stages, "--kernels", kernels, "--cache", cache, "--preparing-cores", "0", "--starts",
             str(STARTS), "--quiet", "--out", plans[name]])
        took_s = time.time() - began
        run([tenshot, "cold", "run", plans[name], "--quiet"])  # makes the file of its weights
        if name == PLANNED:
            layers = json.loads(stages.read_text())["stages"]
            row.update({"layers": len(layers), "kernels": sum(len(layer["kernels"]) for layer in layers),
                        "plan_s": round(took_s, 1),
                        "stored_mb": round(megabytes(folder / f"{name}.json.weights" / "start.weights"), 1)})
    row["warm_ms"] = round(engine(tenshot, plans["warm"], "--warm-runs", "20")["warm_ms"], 2)
    append(table, NETWORKS, row)
    return plans


def measure(tenshot, given, storage, out):
    network, table = given.stem, out / "starts.csv"
    if any(row["network"] == network for row in rows_of(table)):
        return
    folder = storage / network
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    out.mkdir(parents=True, exist_ok=True)
    model, saved, said = (folder / name for name in ("model.onnx", "saved.onnx", "said.json"))
    shutil.copy(given, model)
    shape = "1x3x32x320" if network.startswith("crnn") else "1x3x224x224"
    run(["node", "-e", SAVE, model, saved])
    plans = plans_of(tenshot, model, folder, out / "networks.csv")
    starts = {name: lambda plan=plan: engine(tenshot, plan) for name, plan in plans.items()}
    starts[ONNXRUNTIME] = lambda: start_onnxruntime(RUNNER, model, said, shape=shape)
    starts[SAVED] = lambda: start_onnxruntime(RUNNER, saved, said, "disabled", shape)
    found = [(number, name, start()["cold_ms"]) for number in range(ROUNDS) for name, start in starts.items()]
    for number, name, cold_ms in found:
        append(table, FIELDS, {"network": network, "start": name, "round": number, "cold_ms": round(cold_ms, 3)})
    shutil.rmtree(folder)
    print(network, flush=True)


def page(folder):
    rows, networks = rows_of(folder / "starts.csv"), rows_of(folder / "networks.csv")

    def median(network, start):
        own = [float(row["cold_ms"]) for row in rows if row["network"] == network and row["start"] == start]
        return statistics.median(own) if own else None

    def shown(ms):
        return f"{ms:.1f}" if ms else "–"

    text = ["# A detector, and networks that read text", "",
            "By `experiments/cold/detectors.sh`. Yi et al. (NNV12, Table 4) start two detectors and a reader of text beside their "
            "classifiers. `ssdlite_mobilenet_v3` is torchvision's SSDLite at 224 × 224 up to its raw scores and boxes. `crnn` is the "
            "reader of Shi, Bai and Yao (2017), on lines of 32 × 320; it has transposes and recurrent layers, for which the engine has no "
            "kernels. `crnn_convolutional` has convolutions along the line in their place. All with random weights.", "",
            f"Each network was started {ROUNDS} times in each way, in turn, on one core, from a storage of 400 MB/s (files in "
            "memory, throttled), the pages of its files dropped before. Milliseconds from the file to the first output, medians; "
            f"the best policy is the fastest of {', '.join(f'`{name}`' for name in POLICIES)}. Warm is of the engine's kernels "
            "that are fastest then.", "",
            header(["network", PLANNED, "warm kernels, sequential", "best one policy, sequential", ONNXRUNTIME, SAVED, "warm"])]
    gains = {name: [] for name in ("warm", "policy", ONNXRUNTIME, SAVED)}
    for row in networks:
        network = row["network"]
        policies = {name: median(network, name) for name in POLICIES}
        best = min((name for name in POLICIES if policies[name]), key=policies.get, default=None)
        planned = median(network, PLANNED)
        text.append(line([f"`{network}`", shown(planned), shown(policies["warm"]),
                          f"{policies[best]:.1f} ({best})" if best else "–", shown(median(network, ONNXRUNTIME)),
                          shown(median(network, SAVED)), row["warm_ms"] or "–"]))
        if planned:
            for name, ms in (("warm", policies["warm"]), ("policy", policies[best]), (ONNXRUNTIME, median(network, ONNXRUNTIME)),
                             (SAVED, median(network, SAVED))):
                gains[name].append(ms / planned)
    gain = {name: geometric_mean(values) for name, values in gains.items()}
    text += ["", f"The plan starts {gain['warm']:.2f} times as fast as its warm kernels in sequence, {gain['policy']:.2f} times as "
             f"the best one policy, {gain[ONNXRUNTIME]:.2f} times as ONNX Runtime, and {gain[SAVED]:.2f} times as ONNX Runtime from "
             f"the model that it saved: geometric means of the {len(gains['warm'])} networks that the engine runs.", "",
             "## Planning and storage", "", "Planning holds the starts that correct the stages.", "",
             header(["network", "model, MB", "layers", "kernels", "measuring, s", "planning, s", "stored weights, MB"])]
    for row in networks:
        text.append(line([f"`{row['network']}`", *(row[field] or "–" for field in NETWORKS[1:7])]))
    text += [""] + [f"`{row['network']}` is refused: {row['refused']}.\n" for row in networks if row["refused"]]
    (folder / "README.md").write_text("\n".join(text).rstrip() + "\n")


if __name__ == "__main__":
    if sys.argv[1] == "page":
        page(Path(sys.argv[2]))
    else:
        measure(sys.argv[2], *map(Path, sys.argv[3:6]))
