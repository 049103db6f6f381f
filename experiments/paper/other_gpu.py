#!/usr/bin/env python3
"""nn-Meter's Table 11: what kernels of one GPU predict of another one. Four phones' GPUs under TensorFlow Lite (Li, Paolieri and
Golubchik, EdgeSys 2024); five splits of the networks by families. Writes experiments/paper/other_gpu/.

  TENSHOT_TABLES=folder experiments/paper/other_gpu.py [tenshot, build/tenshot unless said]"""

import csv
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import committed

sys.path.insert(0, str(committed.ROOT / "experiments/networks"))
import own_networks  # noqa: E402

OUT = committed.ROOT / "experiments/paper/other_gpu"
GPUS = ["pixel4_gpu_float", "s10_gpu_float", "mi8se_gpu_float", "iphonexs_gpu_float"]
PHONES = ["Pixel 4", "Galaxy S10", "Mi 8 SE", "iPhone XS"]
SPLITS = range(1, 6)
PEERS = ["kernels of one GPU", "the same, one factor from ten of its networks"]


def family(network):
    """The letters that its name begins with, as order_networks.sh has them."""
    for known in ("mobilenet", "preresnet", "resnet", "regnet"):
        if network.startswith(known):
            return known
    return network.split("_")[0].rstrip("0123456789")


def run(*arguments):
    done = subprocess.run([*map(str, arguments)], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, arguments))}: {done.stderr}")


def learned(tenshot, pool, gpu, train, folder):
    """Predictions, ms, of all networks by forests of the GPU's operators inside the networks to learn from."""
    rows = [row for row in committed.read(pool / gpu / "operators.csv") if row["purpose"] in train]
    with (folder / "kernels.csv").open("w", newline="") as file:
        table = csv.DictWriter(file, rows[0])
        table.writeheader()
        table.writerows(rows)
    names = committed.latencies(pool / gpu)
    (folder / "asked.csv").write_text("\n".join(["architecture", *names]) + "\n")
    run(tenshot, "kernels", "train", "--kernels", folder / "kernels.csv", "--out", folder / "sums.tenshot", "--quiet")
    run(tenshot, "predict", "--predictor", folder / "sums.tenshot", "--networks", pool / "networks.json", "--archs",
        folder / "asked.csv", "--out", folder / "predicted.csv", "--quiet")
    return {row["architecture"]: float(row["latency_ms"]) for row in committed.read(folder / "predicted.csv")}


def measure(tenshot, pool):
    with (OUT / "results.csv").open("w", newline="") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(["split", "learned_of", "asked", "networks", "acc10", "acc10_factor"])
        for split in SPLITS:
            latencies = {gpu: committed.latencies(pool / gpu) for gpu in GPUS}
            names = sorted(latencies[GPUS[0]])
            train, test = own_networks.order([(name, family(name)) for name in names], str(split))
            for source in GPUS:
                with tempfile.TemporaryDirectory() as folder:
                    found = learned(tenshot, pool, source, set(train), Path(folder))
                for asked in GPUS:
                    ratios = {n: found[n] / latencies[asked][n] for n in names if n in found and n in latencies[asked]}
                    ten = sorted((n for n in train if n in ratios), key=lambda n: own_networks.hashed(str(split), n))[:10]
                    factor = statistics.median(ratios[n] for n in ten)
                    of_test = [ratios[n] for n in test if n in ratios]
                    scaled = committed.within([ratio / factor for ratio in of_test])
                    table.writerow([split, source, asked, len(of_test), f"{committed.within(of_test) / 100:.4f}",
                                    f"{scaled / 100:.4f}"])
                print(split, source, flush=True)


def page():
    rows = committed.read(OUT / "results.csv")
    text = (OUT / "text.md").read_text()
    for title, key in zip(PEERS, ("acc10", "acc10_factor")):
        body = []
        for source, phone in zip(GPUS, PHONES):
            cells = []
            for asked in GPUS:
                shares = [100 * float(row[key]) for row in rows if row["learned_of"] == source and row["asked"] == asked]
                cells.append(f"{statistics.fmean(shares):.1f} ± {statistics.stdev(shares):.1f}")
            body.append([phone, *cells])
        text += f"\n## {title[0].upper() + title[1:]}\n\n" + committed.table(["kernels of", *PHONES], body)
    (OUT / "README.md").write_text(text)
    return subprocess.run([sys.executable, committed.ROOT / "experiments/pages.py", "--made", "other_gpu"], check=False).returncode


if __name__ == "__main__":
    program = Path(sys.argv[1] if len(sys.argv) > 1 else committed.ROOT / "build/tenshot").resolve()
    tables = Path(os.environ.get("TENSHOT_TABLES", "")) / "mobile-cnn"
    if not (tables / "latency_ms.csv").exists():
        sys.exit("Set TENSHOT_TABLES to a folder with mobile-cnn/latency_ms.csv")
    OUT.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as work:
        columns = ",".join(f"{gpu}={gpu.split('_')[0]}_gpu_ms" for gpu in GPUS)
        run(program, "dataset", "import", "--space", "networks", "--networks", tables / "operators.csv", "--operator-latencies",
            columns, "--table", tables / "latency_ms.csv", "--out", Path(work) / "pool", "--quiet")
        measure(program, Path(work) / "pool")
    sys.exit(page())
