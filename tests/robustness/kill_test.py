#!/usr/bin/env python3
"""Kills every verb that writes, by SIGKILL, and looks at what it leaves.

    tests/robustness/kill_test.py build/tenshot [--kills 30] [--seed 1] [--verbs TEXT]

Half of the kills come at a random moment of the run, half within five milliseconds of the first file or folder that the
run makes beside its results. After each kill a result holds its old bytes or all of its new ones; what is measured, and
so never the same twice, is read by the verb that reads it. After the last kill of a verb the same command runs to its
end: it must give the bytes, or mean the same, as an undisturbed run, and leave no temporary file or folder.
--verbs takes only those whose words contain TEXT.
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

from verbs import VERBS, prepare

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


def reset(folder, verb):
    """An empty folder `o`, or one with old files where the results are to be."""
    shutil.rmtree(folder / "o", ignore_errors=True)
    (folder / "o").mkdir()
    for output in verb.outputs if verb.old else ():
        (folder / output).write_text("old")


def meanings(bench, verb):
    """What its results mean: their bytes, or what their reader says of them."""
    return {output: verb.meaning(bench, bench.folder / output) if verb.meaning else content(bench.folder / output)
            for output in verb.outputs}


def names_below(folder):
    """The paths of everything below a folder that other processes write to."""
    found, folders = set(), [str(folder)]
    while folders:
        try:
            with os.scandir(folders.pop()) as entries:
                for entry in entries:
                    found.add(entry.path)
                    if entry.is_dir(follow_symlinks=False):
                        folders.append(entry.path)
        except FileNotFoundError:
            pass
    return found


def kill_once(bench, verb, duration, at_first_file):
    """Whether it was still running when it was killed."""
    before = names_below(bench.folder / "o")
    process = bench.start(verb.words)
    if at_first_file:
        delay = bench.generator.choice([0, 0.001, 0.005]) * bench.generator.random()
        deadline = time.monotonic() + 5 * duration + 5
        while process.poll() is None and names_below(bench.folder / "o") <= before and time.monotonic() < deadline:
            pass
        time.sleep(delay)
    else:
        time.sleep(bench.generator.uniform(0, 1.05 * duration))
    process.send_signal(signal.SIGKILL)
    process.communicate()
    return process.returncode == -signal.SIGKILL


def what_is_wrong(bench, verb, old, new):
    """Of what a kill left: a file that holds neither its old bytes nor its new ones."""
    for output in verb.outputs:
        path = bench.folder / output
        if verb.meaning:
            if path.is_file() and content(path) != old[output] and verb.meaning(bench, path) != new[output]:
                return f"a strange {output}"
        elif path.is_file():
            if content(path) not in (old[output], new[output]):
                return f"neither the old nor the new {output}"
        elif path.is_dir():
            for name, found in content(path).items():
                if name == verb.marker and (path / name).read_text().count("\n") == 1:
                    continue
                if name in new[output] and found != new[output][name]:
                    return f"neither the old nor the new {output}/{name}"
    return ""


def kill_verb(bench, verb, kills):
    """Kills it `kills` times; returns what is wrong, and how many of the kills hit it at work."""
    name, hits = verb.name(), 0
    durations = []
    for _ in range(2):
        reset(bench.folder, verb)
        begin = time.monotonic()
        bench.run(*verb.words)
        durations.append(time.monotonic() - begin)
    new, names = meanings(bench, verb), names_below(bench.folder / "o")
    reset(bench.folder, verb)
    old = {output: content(bench.folder / output) for output in verb.outputs}
    for kill in range(kills):
        if kill_once(bench, verb, min(durations), kill % 2 == 1):
            hits += 1
        wrong = what_is_wrong(bench, verb, old, new)
        if wrong:
            return f"{name}: kill {kill + 1} left {wrong}", hits
        if all((bench.folder / output).exists() and meanings(bench, verb)[output] == new[output]
               for output in verb.outputs):
            reset(bench.folder, verb)  # it is done: from the beginning again
    time.sleep(0.2)  # children die with their parent, not before it
    bench.run(*verb.words)
    found = meanings(bench, verb)
    for output in verb.outputs:
        if found[output] != new[output]:
            return f"{name}: {output} is not as without {kills} kills", hits
    left = sorted({*bench.leftovers(), *names_below(bench.folder / "o") - names})
    return (f"{name}: left {', '.join(left)}" if left else ""), hits


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--kills", type=int, default=30)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--verbs", default="")
    options = parser.parse_args()
    wrong, all_hits = [], 0
    with tempfile.TemporaryDirectory(prefix="kills-") as folder:
        bench = Bench(str(pathlib.Path(options.program).resolve()), pathlib.Path(folder), options.seed)
        bench.prepare()
        lacking = prepare(bench)
        verbs = [verb for verb in VERBS if options.verbs in verb.name() and verb.needs not in lacking]
        for index, verb in enumerate(verbs):
            kills = options.kills // len(verbs) + (index < options.kills % len(verbs))
            complaint, hits = kill_verb(bench, verb, kills)
            all_hits += hits
            print(f"{verb.name()}: {kills} kills, {hits} of them at work: {complaint or 'sound'}", flush=True)
            if complaint:
                wrong.append(complaint)
    print(f"{options.kills} kills of {len(verbs)} verbs, {all_hits} of them at work: {len(wrong)} complaints")
    for lack in sorted(lacking):
        print(f"verbs that need {lack} were left out")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
