#!/usr/bin/env python3
"""Kills every verb that writes, by SIGKILL at random moments, and looks at what it leaves.

    tests/robustness/kill_test.py build/tenshot [--kills 30] [--seed 1]

After each kill a result holds its old bytes or all of its new ones. After the last kill of a verb the same command runs
to its end: it must give the bytes that an undisturbed run gave, and leave no temporary file or folder.
"""

import argparse
import hashlib
import json
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

OPERATIONS = ["none", "skip_connect", "nor_conv_1x1", "nor_conv_3x3", "avg_pool_3x3"]
COSTS = [0.0, 0.1, 0.5, 1.0, 0.4]


def architecture(generator):
    """A cell that connects its input to its output, and a made-up cost of it."""
    choices = [generator.randrange(5) for _ in range(5)] + [0]
    choices[3] = generator.randrange(1, 5)  # the edge from the input to the output
    edges = [(0,), (0, 1), (0, 1, 2)]
    parts, at = [], 0
    for inputs in edges:
        parts.append("|" + "|".join(f"{OPERATIONS[choices[at + i]]}~{node}" for i, node in enumerate(inputs)) + "|")
        at += len(inputs)
    return "+".join(parts), 2 + sum(COSTS[choice] for choice in choices)


def write_table(path, rows, generator):
    lines, known = ["architecture,slow,fast,wide"], set()
    while len(lines) <= rows:
        text, cost = architecture(generator)
        if text in known:
            continue
        known.add(text)
        latencies = [speed * cost * (1 + 0.01 * generator.gauss(0, 1)) for speed in (10, 1, 3)]
        lines.append(",".join([text] + [f"{latency:.6f}" for latency in latencies]))
    path.write_text("\n".join(lines) + "\n")


def content(path):
    """The bytes of a file, or of every file below a folder; nothing of what does not exist."""
    if not path.exists():
        return None
    if path.is_file():
        return hashlib.sha256(path.read_bytes()).hexdigest()
    return {str(p.relative_to(path)): content(p) for p in sorted(path.rglob("*")) if p.is_file()}


class Bench:
    def __init__(self, program, folder, seed):
        self.program, self.folder = program, folder
        self.generator = random.Random(seed)
        self.temporary = folder / "temporary"
        self.temporary.mkdir()
        self.environment = dict(os.environ, TMPDIR=str(self.temporary))

    def start(self, words):
        return subprocess.Popen([self.program, *words], cwd=self.folder, env=self.environment,
                                stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL)

    def run(self, *words):
        process = self.start(words)
        error = process.communicate()[1].decode(errors="replace")
        if process.returncode != 0:
            sys.exit(f"tenshot {' '.join(words)}: exit code {process.returncode}: {error}")

    def leftovers(self):
        found = [str(p) for p in self.folder.rglob("*") if ".tmp-" in p.name or p.name.endswith(".partial")]
        return found + [str(p) for p in self.temporary.iterdir()]

    def prepare(self):
        write_table(self.folder / "table.csv", 60, self.generator)
        self.run("dataset", "import", "--table", "table.csv", "--out", "pool")
        self.run("train", "--pool", "pool", "--predictor", "flops", "--out", "flops.tenshot")
        rows = (self.folder / "pool/slow/latencies.csv").read_text().splitlines()
        (self.folder / "measured.csv").write_text("\n".join(rows[:13]) + "\n")
        self.run("adapt", "--quiet", "--checkpoint", "flops.tenshot", "--measurements", "measured.csv", "--out",
                 "device.tenshot")
        spec = {"format": "tenshot.experiment/1", "name": "made-up", "data": {"pool": "pool"},
                "split": {"train": "0:40", "test": "40:60"}, "targets": ["*"], "pools": ["others"],
                "samplers": ["random"], "samples": [5], "methods": ["flops", "transfer"], "trials": 2}
        (self.folder / "spec.json").write_text(json.dumps(spec))


# Each verb: its words, what it writes, and whether old bytes are to be found there before it runs.
VERBS = [
    (["dataset", "import", "--table", "table.csv", "--out", "o/pool"], ["o/pool"], False),
    (["train", "--pool", "pool", "--predictor", "flops", "--out", "o/p.tenshot"], ["o/p.tenshot"], True),
    (["train", "--pool", "pool", "--predictor", "maple-edge", "--epochs", "60", "--hidden", "32", "--out",
      "o/m.tenshot"], ["o/m.tenshot"], True),
    (["plan", "--checkpoint", "flops.tenshot", "--samples", "2", "--resolution", "8", "--out", "o/plan.csv", "--kit",
      "o/kit"], ["o/plan.csv", "o/kit"], False),
    (["adapt", "--checkpoint", "flops.tenshot", "--measurements", "measured.csv", "--out", "o/d.tenshot"],
     ["o/d.tenshot"], True),
    (["predict", "--predictor", "device.tenshot", "--out", "o/p.csv"], ["o/p.csv"], True),
    (["export", "--predictor", "device.tenshot", "--torchscript", "o/d.pt", "--document", "o/d.json"],
     ["o/d.pt", "o/d.json"], True),
    (["report", "device.tenshot", "--measured", "pool/slow/latencies.csv", "--out", "o/r.html"], ["o/r.html"], True),
    (["experiment", "spec.json", "--jobs", "2", "--resume", "--out", "o/results"], ["o/results/results.csv"], False),
]


def kill_verb(bench, words, outputs, old, kills):
    """Kills it `kills` times; returns what is wrong."""
    folder, name = bench.folder, " ".join(words[:2])
    shutil.rmtree(folder / "o", ignore_errors=True)
    (folder / "o").mkdir()
    begin = time.monotonic()
    bench.run(*words)
    duration = time.monotonic() - begin
    reference = {output: content(folder / output) for output in outputs}
    shutil.rmtree(folder / "o")
    (folder / "o").mkdir()
    if old:
        for output in outputs:
            (folder / output).write_text("old")
    allowed = {output: [content(folder / output), reference[output]] for output in outputs}
    for kill in range(kills):
        process = bench.start(words)
        time.sleep(bench.generator.uniform(0, 1.05 * duration))
        process.send_signal(signal.SIGKILL)
        process.communicate()
        for output in outputs:
            found = content(folder / output)
            if found not in allowed[output] and (folder / output).is_file():
                return f"{name}: kill {kill + 1} left neither the old nor the new {output}"
    time.sleep(0.2)  # children die with their parent, not before it
    bench.run(*words)
    for output in outputs:
        if content(folder / output) != reference[output]:
            return f"{name}: {output} has other bytes after {kills} kills"
    left = bench.leftovers()
    return f"{name}: left {', '.join(left)}" if left else ""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--kills", type=int, default=30)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    wrong = []
    with tempfile.TemporaryDirectory(prefix="kills-") as folder:
        bench = Bench(str(pathlib.Path(options.program).resolve()), pathlib.Path(folder), options.seed)
        bench.prepare()
        for index, (words, outputs, old) in enumerate(VERBS):
            kills = options.kills // len(VERBS) + (index < options.kills % len(VERBS))
            complaint = kill_verb(bench, words, outputs, old, kills)
            print(f"{' '.join(words[:2])}: {kills} kills: {complaint or 'sound'}", flush=True)
            if complaint:
                wrong.append(complaint)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
