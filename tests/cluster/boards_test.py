#!/usr/bin/env python3
"""Measures a kit on a farm of three boards by experiments/cluster/boards.sh; one board goes away in the middle.

    tests/cluster/boards_test.py build/tenshot parallel

Boards are folders here, and what stands for ssh and scp runs and copies in them.
"""

import os
import pathlib
import random
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "robustness"))
from kill_test import write_table  # noqa: E402

SSH = """#!/bin/sh
address=$1
shift
cd {folder}/"$address" || exit 255
case "$address $*" in
  two*measure.sh*)
    if [ ! -e ../gone ]; then
      sh -c "$*" & pid=$!
      while kill -0 $pid 2>/dev/null && [ ! -e tenshot-kit/results/arch_01 ]; do sleep 0.02; done
      kill -9 $pid
      touch ../gone
      exit 255
    fi ;;
esac
exec sh -c "$*"
"""
SCP = """#!/bin/sh
path() {{ case $1 in *:*) echo {folder}/"${{1%%:*}}/${{1#*:}}" ;; *) echo "$1" ;; esac; }}
exec cp -r "$(path "$1")" "$(path "$2")"
"""


def main(program, engine):
    program = pathlib.Path(program).resolve()
    with tempfile.TemporaryDirectory(prefix="boards-") as name:
        folder = pathlib.Path(name)

        def tenshot(*words):
            subprocess.run([program, *words], cwd=folder, check=True, stderr=subprocess.DEVNULL)

        write_table(folder / "table.csv", 60, random.Random(1))
        tenshot("dataset", "import", "--table", "table.csv", "--out", "pool")
        tenshot("train", "--pool", "pool", "--predictor", "flops", "--out", "flops.tenshot")
        tenshot("plan", "--checkpoint", "flops.tenshot", "--samples", "3", "--resolution", "8", "--out", "plan.csv",
                "--kit", "kit")
        for word, text in (("ssh", SSH), ("scp", SCP)):
            (folder / word).write_text(text.format(folder=folder))
            (folder / word).chmod(0o755)
        boards = ["one", "two", "three"]
        for board in boards:
            (folder / board).mkdir()
        (folder / "boards").write_text("# name address\n" + "".join(f"{b}_fp32 {b}\n\n" for b in boards))
        environment = dict(os.environ, TENSHOT=str(program), TENSHOT_SSH=str(folder / "ssh"),
                           TENSHOT_SCP=str(folder / "scp"))
        subprocess.run([ROOT / "experiments/cluster/boards.sh", engine, "boards", "kit", "farm", "--backend", "custom",
                        "--command", "test -s {model} && for i in 1 2 3; do echo 2.$i; done", "--no-perf"], cwd=folder, env=environment,
                       check=True)
        if not (folder / "gone").exists():
            sys.exit("the board was done before it could go away")
        for board in boards:
            rows = (folder / "farm" / f"{board}_fp32" / "latencies.csv").read_text().splitlines()
            if len(rows) != 4 or ",2.2," not in rows[1]:
                sys.exit(f"{board}: {rows}")
        left = [path.name for path in (folder / "farm").iterdir() if path.name.startswith(".")]
        if left:
            sys.exit(f"{left[0]} is left")
    print(f"{engine}: three boards, one of them gone in the middle, all measured")


if __name__ == "__main__":
    main(*sys.argv[1:])
