#!/usr/bin/env python3
"""How long tenshot takes from start to end where it has next to nothing to do, beside starting Python.

    tests/benchmarks/start.py build/tenshot [RUNS, 41 unless said] [--out tests/benchmarks/results/start.md]

Three commands take turns: `python3 -c pass`, `tenshot --help`, and `tenshot predict` of one architecture with a structured
predictor that it adapts first. Of each it prints the median and the fastest wall time, the processor's time of the fastest
quarter (which other programs disturb least), and what of that is Python's.
"""
import os
import statistics
import subprocess
import sys
import tempfile
import time

SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PYTHON = "/usr/bin/python3"


def timed(command):
    """Wall and processor milliseconds of a command."""
    begin = time.perf_counter()
    child = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    wall = time.perf_counter() - begin
    child.returncode = status
    if status != 0:
        sys.exit("failed: " + " ".join(command))
    return 1e3 * wall, 1e3 * (usage.ru_utime + usage.ru_stime)


def main(arguments):
    out = None
    if "--out" in arguments:
        out = arguments[arguments.index("--out") + 1]
        arguments = arguments[:arguments.index("--out")]
    tenshot = os.path.abspath(arguments[0])
    runs = int(arguments[1]) if len(arguments) > 1 else 41
    with tempfile.TemporaryDirectory() as folder:
        ten, device = os.path.join(folder, "ten.csv"), os.path.join(folder, "device.tenshot")
        with open(os.path.join(SOURCE, "datasets/data/libtorch-eager_t1_b1/latencies.csv")) as file:
            lines = file.readlines()[:11]
        with open(ten, "w") as file:
            file.writelines(lines)
        subprocess.run([tenshot, "adapt", "--quiet", "--checkpoint", os.path.join(SOURCE, "checkpoints/pool.tenshot"),
                        "--measurements", ten, "--out", device], check=True)
        commands = {"`python3 -c pass`": [PYTHON, "-c", "pass"], "`tenshot --help`": [tenshot, "--help"],
                    "`tenshot predict`, one architecture": [tenshot, "predict", "--predictor", device,
                                                            lines[5].split(",")[0]]}
        times = {name: [] for name in commands}
        for command in commands.values():  # once, so that all files are in memory
            timed(command)
        for _ in range(runs):
            for name, command in commands.items():
                times[name].append(timed(command))
    text = "| command | median, ms | fastest, ms | processor, ms | of Python's |\n|---|---|---|---|---|\n"
    python = None
    for name, rows in times.items():
        walls = sorted(wall for wall, _ in rows)
        processor = statistics.mean(sorted(cpu for _, cpu in rows)[:max(1, runs // 4)])
        python = python or processor
        text += f"| {name} | {statistics.median(walls):.1f} | {walls[0]:.1f} | {processor:.1f} | {processor / python:.2f} |\n"
    print(text, end="")
    if out:
        with open(out, "w") as file:
            file.write(f"# Starting\n\n`tests/benchmarks/start.py build/tenshot {runs}`, the commands in turn, on {os.cpu_count()} "
                       f"processors. {os.getloadavg()[0]:.0f} programs ran or waited for them: with more than processors, "
                       "wall times are long and processor times tell more.\n\n" + text)


if __name__ == "__main__":
    main(sys.argv[1:])
