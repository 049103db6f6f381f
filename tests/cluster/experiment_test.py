#!/usr/bin/env python3
"""Runs an experiment in parts by experiments/cluster, one of them killed in the middle: the results have the same bytes.

    tests/cluster/experiment_test.py build/tenshot parallel
    tests/cluster/slurm.sh tests/cluster/experiment_test.py build/tenshot slurm
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "robustness"))
from kill_test import write_table  # noqa: E402

import random  # noqa: E402

# Stands for the program: the first time that it runs part 2 it is killed once the part has results, by the engine's own
# means where it has some.
KILLED_ONCE = """#!/usr/bin/env bash
case "$*" in *--shard\\ 2/3*) ;; *) exec {program} "$@" ;; esac
if [ -e {folder}/killed ]; then exec {program} "$@"; fi
{program} "$@" &
pid=$!
while kill -0 $pid && ! ls {folder}/parts/cells/* >/dev/null 2>&1; do sleep 0.02; done
kill -0 $pid && touch {folder}/killed
if [ -n "${{SLURM_JOB_ID:-}}" ]; then scancel --signal=KILL --full "$SLURM_JOB_ID"; sleep 60; fi
kill -9 $pid
wait $pid
"""


def results(folder):
    return {name: (folder / name).read_bytes() for name in ("README.md", "results.csv", "results.json", "predictions.csv")}


def main(program, engine):
    program = pathlib.Path(program).resolve()
    with tempfile.TemporaryDirectory(prefix="cluster-") as name:
        folder = pathlib.Path(name)
        write_table(folder / "table.csv", 60, random.Random(1))
        subprocess.run([program, "dataset", "import", "--quiet", "--table", "table.csv", "--out", "pool"], cwd=folder,
                       check=True)
        spec = {"format": "tenshot.experiment/1", "name": "made-up", "data": {"pool": "pool"},
                "split": {"train": "0:40", "test": "40:60"}, "targets": ["*"], "pools": ["others"],
                "samplers": ["random"], "samples": [5], "methods": ["flops", "transfer", "structured"], "trials": 6}
        (folder / "spec.json").write_text(json.dumps(spec))
        subprocess.run([program, "experiment", "spec.json", "--out", "whole", "--jobs", "1", "--quiet"], cwd=folder,
                       check=True)
        killer = folder / "tenshot"
        killer.write_text(KILLED_ONCE.format(program=program, folder=folder))
        killer.chmod(0o755)
        environment = dict(os.environ, TENSHOT=str(killer), TENSHOT_PARALLEL="--jobs 2")
        subprocess.run([ROOT / "experiments/cluster/experiment.sh", engine, "spec.json", "parts", "3"], cwd=folder,
                       env=environment, check=True)
        if not (folder / "killed").exists():
            sys.exit("the part was done before it could be killed")
        found, expected = results(folder / "parts"), results(folder / "whole")
        for file, content in expected.items():
            if found[file] != content:
                sys.exit(f"{file} of the merged parts has other bytes than that of one run")
        left = [path.name for path in (folder / "parts").iterdir() if path.name.startswith("parts-")]
        if left:
            sys.exit(f"{left[0]} is left")
    print(f"{engine}: three parts, one killed, the same bytes")


if __name__ == "__main__":
    main(*sys.argv[1:])
