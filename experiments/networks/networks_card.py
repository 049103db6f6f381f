#!/usr/bin/env python3
"""Prints the card of a pool of networks by name: python3 networks_card.py FOLDER [OLD_CARD, whose remarks are kept]."""
import collections
import csv
import json
import statistics
import sys
from pathlib import Path

HEAD = """# The pool of networks

Latencies of {networks} CNNs, transformers and mixers on {devices} device-runtimes of one machine, end to end, batch 1, one
thread: {published} published networks of {families} families at several widths and resolutions, as torchvision exports them, and
{synthetic} synthetic ones of the space of Li, Paolieri and Golubchik (Operation-wise prediction, 2022, Fig. 11), and
{blocks} of the blocks of published networks, drawn for each stage (`tenshot network generate --space synthetic-blocks`).
Weights are random.
`experiments/networks/networks_zoo.sh` makes the networks, `experiments/networks/measure_networks.sh` measures them; `networks.json` says what
each executes, `families.csv` to which family each belongs. The ONNX files themselves are not kept.

By convention the first six tenths of the families are to train on and to adapt with, the others to test on; which ones they are
says `experiments/networks/own_networks.py`, which draws them by a seed.

A latency is the median of its runs, `stddev_ms` their spread (1.4826 × median absolute deviation), `runs` how many there were.
Twenty networks take turns over several rounds, with the sentinel after every ten, and are measured again where the
sentinel moved by more than a twentieth, as far as the patience goes. The sentinel is a network of NAS-Bench-201 of 1×1 convolutions. `device.json` holds all conditions.

| device-runtime | networks | left out | median ms | sentinel, ms: least, median, most | median difference when measured again | within 10 % when measured again | visits thrown away |
|---|---|---|---|---|---|---|---|"""


def row(folder):
    device = json.loads((folder / "device.json").read_text())
    environment = device["environment"]
    with open(folder / "latencies.csv", newline="") as file:
        latencies = [float(entry["latency_ms"]) for entry in csv.DictReader(file)]
    cells = [f"`{folder.name}`", str(len(latencies)), str(len(environment.get("left_out", []))),
             f"{statistics.median(latencies):.2f}"]
    sentinel = environment.get("sentinel", {})
    values = sentinel.get("values_ms", [])
    cells.append(f"{min(values):.2f}, {statistics.median(values):.2f}, {max(values):.2f}" if values else "in the rows")
    again = environment.get("repeatability")
    cells += [f"{100 * again['median_relative_difference']:.1f} %", f"{100 * again['within_10_percent']:.0f} %"] if again \
        else ["unknown", "unknown"]
    cells.append(str(environment.get("disturbed_visits", "unknown")))
    return "| " + " | ".join(cells) + " |", environment


def main():
    folder = Path(sys.argv[1])
    with open(folder / "families.csv", newline="") as file:
        families = collections.Counter(entry["family"] for entry in csv.DictReader(file))
    synthetic, blocks = families.pop("synthetic", 0), families.pop("synthetic_blocks", 0)
    devices = sorted(path.parent for path in folder.glob("*/device.json"))
    print(HEAD.format(networks=sum(families.values()) + synthetic + blocks, devices=len(devices), families=len(families),
                      published=sum(families.values()), synthetic=synthetic, blocks=blocks))
    left_out, facts = {}, {}
    for device in devices:
        line, environment = row(device)
        print(line)
        for entry in environment.get("left_out", []):
            left_out.setdefault(device.name, []).append(entry)
        facts = facts or environment
    print()
    print("Published families: " + ", ".join(f"{name} ({count})" for name, count in sorted(families.items())) + ".")
    print()
    for name, entries in left_out.items():
        print(f"`{name}` cannot run " + ", ".join(f"{e['architecture']} ({e['reason'][:120]})" for e in entries) + ".\n")
    for key in ("cpu", "kernel", "runtime_version", "started_utc"):
        if key in facts:
            print(f"- {key}: {facts[key]}")
    if len(sys.argv) > 2 and Path(sys.argv[2]).exists():
        card = Path(sys.argv[2]).read_text()
        if "## Remarks" in card:
            print("\n" + card[card.index("## Remarks"):].rstrip())


if __name__ == "__main__":
    main()
