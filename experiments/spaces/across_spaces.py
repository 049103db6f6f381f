#!/usr/bin/env python3
"""What experiments/spaces/across_spaces.sh needs of its files.

  across_spaces.py truth MANIFEST LATENCIES    name,latency_ms of the kit's networks, as measured on a device-runtime
  across_spaces.py table WORK                  the metrics of all runtimes as Markdown
"""
import csv
import json
import pathlib
import sys

MEASURES = [("acc10", "within ±10 %", 100, 1), ("acc5", "±5 %", 100, 1), ("mape", "mean error, %", 100, 1),
            ("spearman", "Spearman's ρ", 1, 3), ("coverage", "90 % intervals hold, %", 100, 1)]


def truth(manifest, latencies):
    with open(latencies, newline="") as file:
        measured = {row["architecture"]: row["latency_ms"] for row in csv.DictReader(file)}
    for model in json.loads(pathlib.Path(manifest).read_text())["models"]:
        if model.get("architecture") in measured:
            print(f"{pathlib.Path(model['file']).stem},{measured[model['architecture']]}")


def table(work):
    print("# across_spaces\n\n`experiments/spaces/across_spaces.sh`: a pool of published and synthetic networks without any "
          "setting of a runtime, ten of\nits networks measured on that runtime, and forty networks of a space predicted, "
          "which were measured on the same\nmachine an hour later and of which no latency on any device was seen. The "
          "pool that predicts `libtorch-frozen` holds\n`libtorch-eager`, which is much like it. Cells of NAS-Bench-201 "
          "take images of 32 × 32, where the networks of the pool\ntake 96 × 96 to 224 × 224.\n")
    print("| space | runtime | " + " | ".join(label for _, label, _, _ in MEASURES) + " |\n|---|---|" +
          "---|" * len(MEASURES))
    for space, called in (("fbnet_40", "FBNet"), ("cells", "NAS-Bench-201")):
        for path in sorted(pathlib.Path(work).glob(f"*.{space}.json")):
            metrics = json.loads(path.read_text())
            print(f"| {called} | {path.name.split('.')[0]} | " +
                  " | ".join(f"{factor * metrics[key]:.{digits}f}" for key, _, factor, digits in MEASURES) + " |")


if __name__ == "__main__":
    {"truth": truth, "table": table}[sys.argv[1]](*sys.argv[2:])
