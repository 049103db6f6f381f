"""Cold starts while another program keeps the other core busy: Yi et al. (NNV12), Fig. 11.

    load.py plan TENSHOT MODEL.onnx FOLDER            stages and plans of one network; resumes
    load.py start TENSHOT NETWORK FOLDER STARTS.csv   starts of one network under each load, in turn; resumes
    load.py page FOLDER                               FOLDER/README.md of its starts.csv
"""
import json
import shutil
import statistics
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

from cold import STARTS, append, geometric_mean, header, line, rows_of, run

ROUNDS = 11
LOADS = [0, 50, 90]  # percent of the time, in periods of ten milliseconds, that the other core is taken away
BUSY = """
import sys, time
share, period, now = int(sys.argv[1]) / 100, .01, time.perf_counter
while True:
    began = now()
    while now() - began < share * period:
        pass
    time.sleep(max(0, began + period - now()))
"""
ONE, TWO, STEALING = "one core", "two cores", "two cores, stealing"
WAYS = {ONE: ("one", []), TWO: ("two", []), STEALING: ("two", ["--steal"])}
FIELDS = ["network", "start", "load", "round", "cold_ms", "prepare_ms", "wait_ms", "execute_ms", "stolen"]


def plan(tenshot, given, folder):
    work = folder / given.stem
    work.mkdir(parents=True, exist_ok=True)
    model, stages = work / "model.onnx", work / "stages.json"
    if not stages.exists():
        shutil.copy(given, model)
        run([tenshot, "cold", "measure", model, "--quiet", "--out", stages])
    for name, cores in (("one", 0), ("two", 1)):
        path = work / f"{name}.json"
        if not path.exists():
            run([tenshot, "cold", "plan", stages, "--preparing-cores", str(cores), "--starts", str(STARTS), "--quiet", "--out",
                 path])
        run([tenshot, "cold", "run", path, "--quiet"])  # makes the file of its weights
    print(given.stem, flush=True)


@contextmanager
def busy(load):
    """The first core, which prepares in the plans for two: the last one executes (descriptor/onednn/cold_start.cpp). The
    program goes before the start where the system lets it, below the storage's."""
    first = ["chrt", "-f", "15"] if subprocess.run(["chrt", "-f", "15", "true"], check=False).returncode == 0 else []
    program = subprocess.Popen([*first, "taskset", "-c", "0", sys.executable, "-c", BUSY, str(load)]) if load else None
    time.sleep(.1)
    try:
        yield
    finally:
        if program:
            program.kill()
            program.wait()


def dropped_start(tenshot, path, options):
    """Another program may just have kept a page of the files from being dropped: tried three times."""
    for _ in range(3):
        found = json.loads(run([tenshot, "cold", "run", path, "--json", "--touch-memory", "--drop-page-cache", *options]).stdout)
        if found["page_cache"] == "dropped":
            return found
    sys.exit(f"{path}: page cache {found['page_cache']}")


def start(tenshot, network, folder, table):
    done = {(row["start"], int(row["load"]), int(row["round"])) for row in rows_of(table) if row["network"] == network}
    for number in range(ROUNDS):
        for load in LOADS:
            with busy(load):
                for name, (planned, options) in WAYS.items():
                    if (name, load, number) in done:
                        continue
                    found = dropped_start(tenshot, folder / network / f"{planned}.json", options)
                    append(table, FIELDS, {"network": network, "start": name, "load": load, "round": number,
                                           **{field: round(found[field], 3) for field in FIELDS[4:]}})
    print(network, flush=True)


def page(folder):
    rows = rows_of(folder / "starts.csv")
    networks = list(dict.fromkeys(row["network"] for row in rows))

    def median(network, name, load, field="cold_ms"):
        return statistics.median(float(row[field]) for row in rows if row["network"] == network and row["start"] == name
                                 and int(row["load"]) == load)

    columns = [(name, load) for name in WAYS for load in LOADS]
    text = ["# Cold starts beside another program", "",
            "By `experiments/cold/load.sh`. A program takes the core that prepares away for a share of the time, in periods of ten "
            "milliseconds; the core that executes is left alone (Yi et al., NNV12, Fig. 11). With stealing "
            "(`cold run --steal`), the core that executes prepares layers of the other one rather than wait for them. Each network "
            f"was started {ROUNDS} times in each way and under each load, in turn, from a storage of 400 MB/s (files in memory, "
            "throttled), the pages of its files dropped before. Milliseconds from the file to the first output, medians:", "",
            header(["network", *(f"{name}, {load} %" for name, load in columns)])]
    text += [line([network, *(f"{median(network, *column):.1f}" for column in columns)]) for network in networks]
    idle = [network for network in networks if median(network, TWO, LOADS[-1], "wait_ms") < .1]  # nothing for the second core
    ratio = {column: geometric_mean([median(network, *column) / median(network, ONE, 0) for network in networks
                                     if network not in idle]) for column in columns}
    text += [line([f"times one core without load, geometric mean{' of the others' if idle else ''}",
                   *(f"{ratio[column]:.2f}" for column in columns)]), ""]
    text += [f"The plan for two cores of `{network}` leaves the second one nothing to prepare: its starts wait for the storage.\n"
             for network in idle]
    text += ["Layers that were stolen, and how long the core that executes waited, medians:", "",
             header(["network", *(f"stolen, {load} %" for load in LOADS), *(f"waited, ms, {name}, {load} %"
                                                                           for name in (TWO, STEALING) for load in LOADS)])]
    for network in networks:
        text.append(line([network, *(f"{median(network, STEALING, load, 'stolen'):.0f}" for load in LOADS),
                          *(f"{median(network, name, load, 'wait_ms'):.1f}" for name in (TWO, STEALING) for load in LOADS)]))
    spread = statistics.median(abs(float(row["cold_ms"]) / median(row["network"], row["start"], int(row["load"])) - 1)
                               for row in rows)
    text += ["", f"The median start is {spread:.1%} off its median. All was started with `chrt -f 10`, on a machine that had other work. The "
             "system takes a core that real-time programs want all the time away from them for a twentieth of every second. That "
             "adds to some starts, to most at 90 %."]
    (folder / "README.md").write_text("\n".join(text) + "\n")


if __name__ == "__main__":
    verb, *words = sys.argv[1:]
    if verb == "plan":
        plan(words[0], Path(words[1]), Path(words[2]))
    elif verb == "start":
        start(words[0], words[1], Path(words[2]), Path(words[3]))
    else:
        page(Path(words[0]))
