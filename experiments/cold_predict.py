"""Predicts cold starts of networks whose families were never started, and starts them.

    cold_predict.py measure TENSHOT MODELS OUT NETWORK ...   stages of each, corrected by starts; resumes
    cold_predict.py predict TENSHOT MODELS OUT NETWORK ...   each by the stages of the other families, and its starts
    cold_predict.py table OUT                                the tables of OUT, as Markdown on standard output
"""
import csv
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

REPETITIONS = 3  # of each stage
STARTS = 3       # by which stages are corrected
ROUNDS = 5       # starts of a plan that was made of predicted stages
FIELDS = ["network", "family", "library", "predicted_ms", "low_ms", "high_ms", "planned_ms", "scaled_ms", "round", "cold_ms"]


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


if __name__ == "__main__":
    verb, arguments = sys.argv[1], sys.argv[2:]
    if verb == "measure":
        measure(arguments[0], Path(arguments[1]), Path(arguments[2]), arguments[3:])
