#!/usr/bin/env python3
"""Prepares public tables for experiments/knowledge.sh.

    knowledge.py rows TABLE PREFIX COUNT FOLDER [COLUMN…]   COUNT rows of a table of a space, evenly spaced, as networks
                                                            by name: FOLDER/archs.csv and FOLDER/latency_ms.csv, the
                                                            named columns left out, the others called PREFIX_COLUMN
    knowledge.py describe POOL KIND [RUNS]                  says in the pool's device files what the columns are of
"""
import csv
import json
import re
import sys
from pathlib import Path

PHONES = {"pixel4": "Pixel 4", "s10": "Galaxy S10", "mi8se": "Mi 8 SE", "iphonexs": "iPhone XS"}
CHIPS = {"1080ti": "GTX 1080 Ti", "2080ti": "RTX 2080 Ti", "titan_rtx": "Titan RTX", "titan_xp": "Titan Xp",
         "titanx": "Titan X", "titanxp": "Titan Xp", "silver_4114": "Xeon Silver 4114", "silver_4210r": "Xeon Silver 4210R",
         "gold_6226": "Xeon Gold 6226", "gold_6240": "Xeon Gold 6240", "samsung_a50": "Galaxy A50",
         "samsung_s7": "Galaxy S7", "essential_ph_1": "Essential PH-1", "pixel2": "Pixel 2", "pixel3": "Pixel 3",
         "raspi4": "Raspberry Pi 4", "eyeriss": "Eyeriss (simulated)", "fpga": "FPGA (ZC706)"}


def rows(table, prefix, count, folder, *left_out):
    with open(table, newline="") as file:
        read = list(csv.DictReader(file))
    columns = [c for c in read[0] if c not in ("index", "architecture", *left_out)]
    chosen = [i * len(read) // int(count) for i in range(min(int(count), len(read)))]
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / "archs.csv", "w", newline="") as archs, open(folder / "latency_ms.csv", "w", newline="") as out:
        names, latencies = (csv.writer(file, lineterminator="\n") for file in (archs, out))
        names.writerow(["architecture", "network"])
        latencies.writerow(["network", *(f"{prefix}_{column}" for column in columns)])
        for i in chosen:
            name = f"{prefix}_{i:04d}"
            names.writerow([read[i]["architecture"], name])
            latencies.writerow([name, *(read[i][column] for column in columns)])


def of_mobile_cnn(identity):
    """pixel4_1large1med_float: a phone, its cores, the precision."""
    phone, cores, precision = identity.split("_")
    threads = sum(int(number) for number in re.findall(r"\d+", cores)) if cores != "gpu" else 0
    runtime = "TensorFlow Lite" + (", GPU" if cores == "gpu" else "")
    return {"device": PHONES[phone], "runtime": runtime, "threads": threads,
            "precision": "fp32" if precision == "float" else "int8"}


def of_help(identity):
    """help-fbnet_1080ti_32: a device, and of GPUs and Xeons the images an inference."""
    name = identity.split("_", 1)[1] if identity.startswith("help-") else identity
    chip = next(known for known in sorted(CHIPS, key=len, reverse=True) if name.startswith(known))
    batch = name[len(chip) + 1:]
    phone = chip in ("samsung_a50", "samsung_s7", "essential_ph_1", "pixel2")
    other = chip in ("pixel3", "raspi4", "eyeriss", "fpga")
    gpu = CHIPS[chip].startswith(("GTX", "RTX", "Titan"))
    runtime = "TensorFlow Lite" if phone else "unknown" if other else "PyTorch, CUDA" if gpu else "PyTorch"
    return {"device": CHIPS[chip], "batch": int(batch) if batch.isdigit() else 1, "runtime": runtime}


def of_ncnn(runs):
    with open(runs, newline="") as file:
        described = {row["run"]: row for row in csv.DictReader(file)}

    def of_run(identity):
        row = described[identity]
        gpu = row["kind"] != "cpu"
        return {"device": row["board"], "runtime": "ncnn, Vulkan" if gpu else "ncnn", "precision": "fp32",
                "threads": 0 if gpu else int(row["threads"])}
    return of_run


def describe(pool, kind, runs=None):
    what = {"mobile-cnn": of_mobile_cnn, "help": of_help}.get(kind) or of_ncnn(runs)
    for path in sorted(Path(pool).glob("*/device.json")):
        device = json.loads(path.read_text())
        device.update(what(device["id"]))
        path.write_text(json.dumps(device, indent=2, sort_keys=True) + "\n")


if __name__ == "__main__":
    {"rows": rows, "describe": describe}[sys.argv[1]](*sys.argv[2:])
