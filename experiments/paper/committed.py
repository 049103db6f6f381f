#!/usr/bin/env python3
"""Tables and figures of the five papers that measurements in datasets/data already hold, without measuring anything:
writes experiments/paper/committed/README.md in seconds.

  TENSHOT_TABLES=folder experiments/paper/committed.py

The folder holds mobile-cnn/latency_ms.csv (Li, Paolieri and Golubchik, EdgeSys 2024)."""

import collections
import csv
import gzip
import json
import math
import os
import re
import statistics
import subprocess
import sys
from pathlib import Path

import numpy

ROOT = Path(__file__).resolve().parent.parent.parent
DATA = ROOT / "datasets/data"
OUT = ROOT / "experiments/paper/committed/README.md"
PROFILED = ["libtorch-eager", "libtorch-channels-last", "libtorch-int8", "opencv-dnn"]
SAMPLED = ["libtorch-frozen", "libtorch-xnnpack", "opencv-dnn"]
PARTS = ["convolution", "depthwise convolution", "linear", "pooling", "element-wise and normalisation", "others"]


def read(path):
    with gzip.open(path, "rt") if path.suffix == ".gz" else path.open() as file:
        return list(csv.DictReader(file))


def latencies(folder):
    rows = read(folder / "latencies.csv")
    return {row["architecture"]: float(row["latency_ms"]) for row in rows}


def table(header, rows):
    lines = ["| " + " | ".join(header) + " |", "|---" * len(header) + "|"]
    return "\n".join(lines + ["| " + " | ".join(map(str, row)) + " |" for row in rows]) + "\n"


def within(ratios, bound=0.1):
    return 100 * statistics.fmean(abs(ratio - 1) <= bound for ratio in ratios)


def geometric_mean(values):
    return math.exp(statistics.fmean(map(math.log, values)))


class Networks:
    """The pool's networks: what each executes, its family, and latencies by runtime."""

    def __init__(self):
        document = json.loads((DATA / "networks/networks.json").read_text())
        self.specifications = document["operators"]
        self.operators = {network["name"]: network["operators"] for network in document["networks"]}
        self.sources = {network["name"]: network["sources"] for network in document["networks"]}  # of each operator
        self.family = {row["network"]: row["family"] for row in read(DATA / "networks/families.csv")}

    def published(self):
        return [name for name in self.operators if not self.family[name].startswith("synthetic")]

    def multiply_adds(self, name):
        total = 0
        for index in self.operators[name]:
            spec = self.specifications[index]
            if spec["kind"] == "convolution":
                total += (math.prod(spec["output"]) * math.prod(spec.get("kernel", [1, 1])) * spec["inputs"][0][1]
                          // spec.get("groups", 1))
            elif spec["kind"] == "linear":
                total += math.prod(spec["output"]) * spec["inputs"][0][-1]
        return total

    def memory_access(self, name):
        """Values of all feature maps and weights, which nn-Meter calls MAC."""
        total = 0
        for index in self.operators[name]:
            spec = self.specifications[index]
            total += math.prod(spec["output"])
            if spec["kind"] == "convolution":
                total += (spec["output"][1] * spec["inputs"][0][1] * math.prod(spec.get("kernel", [1, 1]))
                          // spec.get("groups", 1))
            elif spec["kind"] == "linear":
                total += spec["output"][-1] * spec["inputs"][0][-1]
        return total

    @staticmethod
    def on(runtime, suffix="_t1_b1"):
        return latencies(DATA / "networks" / (runtime + suffix))


def kind_of(row):
    """Of a row of datasets/data/operators."""
    if row["operation"] == "convolution":
        channels = row["inputs"].split()[0].split("x")[1]
        return "depthwise convolution" if int(row["groups"]) > 1 and row["groups"] == channels else "convolution"
    return row["operation"]


def part_of(kind):
    if kind in PARTS[:3]:
        return kind
    if "pool" in kind:
        return "pooling"
    if kind in ("add", "multiply", "activation", "batch_norm", "layer_norm", "subtract", "divide", "softmax"):
        return PARTS[4]
    return PARTS[5]


def specification_key(spec):
    """An operator of networks.json as datasets/data/operators writes it."""
    pair = lambda name: "x".join(map(str, spec.get(name, [1, 1])))
    return (spec["kind"], spec.get("name", ""), " ".join("x".join(map(str, shape)) for shape in spec["inputs"]),
            "x".join(map(str, spec["output"])), pair("kernel"), pair("stride"), str(spec.get("groups", 1)))


def row_key(row):
    return (row["operation"], row["function"], row["inputs"], row["output"], row["window"], row["stride"], row["groups"])


class Inside:
    """What each operator takes inside its networks."""

    def __init__(self, runtime):
        self.time, self.kind = {}, {}
        for row in read(DATA / f"operators/{runtime}_t1_b1.csv"):
            self.kind[row_key(row)] = kind_of(row)
            self.time[row_key(row)] = float(row["latency_ms"]) if row["latency_ms"] else 0.0

    def of(self, networks, name):
        """{part: ms}, or None where an operator is not in the table."""
        parts = collections.Counter()
        for index in networks.operators[name]:
            key = specification_key(networks.specifications[index])
            if key[0] == "reshape":
                continue  # nothing is computed
            if key not in self.time:
                return None
            parts[part_of(self.kind[key])] += self.time[key]
        return parts


def maple_edge_table_1():
    rows = []
    for folder in sorted(DATA.glob("*/latencies.csv")):
        values = list(latencies(folder.parent).values())
        rows.append([f"`{folder.parent.name}`", len(values),
                     f"{statistics.fmean(values):.2f} ± {statistics.stdev(values):.2f}"])
    return ("Mean latency of the pool's architectures of NAS-Bench-201, 32 × 32 pixels, ± their standard deviation. The "
            "paper's are of 224 × 224 pixels: 0.6 to 1.1 s under TensorFlow Lite and 0.03 to 0.07 s under TensorRT.\n\n"
            + table(["device-runtime", "architectures", "ms"], rows))


def nn_meter_table_2(networks):
    families = collections.defaultdict(list)
    for name in networks.operators:
        families[networks.family[name]].append(name)
    runtimes = ["libtorch-eager", "libtorch-frozen", "libtorch-xnnpack", "opencv-dnn"]
    known = {runtime: networks.on(runtime) for runtime in runtimes}
    rows = []
    for family, names in sorted(families.items()):
        row = [family, len(names), f"{statistics.fmean(networks.multiply_adds(name) for name in names) / 1e6:.0f}"]
        for runtime in runtimes:
            values = [known[runtime][name] for name in names if name in known[runtime]]
            row.append(f"{min(values):.1f} to {max(values):.1f}" if values else "–")
        rows.append(row)
    return ("The networks that are measured here: 301 where the paper has 26,000, 2,000 of each of thirteen kinds. "
            "Multiply-adds of convolutions and linear layers in millions, mean; latency in ms, least and most.\n\n"
            + table(["family", "networks", "multiply-adds", *runtimes], rows))


def nn_meter_table_3():
    rows = []
    for row in read(ROOT / "experiments/kernels/fusion_detection/pairs.csv.gz"):
        if (row["first"], row["second"]) != ("average_pool", "relu"):
            continue
        first, second, both = (1000 * float(row[name]) for name in ("first_ms", "second_ms", "connected_ms"))
        rows.append([row["runtime"], f"{first:.2f}", f"{second:.2f}", f"{both:.2f} ({first + second:.2f})",
                     "yes" if row["detected"] == "1" else "no", "yes" if row["really_fused"] == "1" else "no"])
    return ("An average pooling and the ReLU behind it, of 32 channels of 2 × 2, in µs. In brackets is the sum of both.\n\n"
            + table(["runtime", "pooling", "ReLU", "together", "detected as fused", "is fused"], rows))


def nn_meter_figure_6(networks, inside):
    rows = []
    for runtime in PROFILED:
        shares = collections.defaultdict(list)
        count = 0
        for name in networks.published():
            parts = inside[runtime].of(networks, name)
            total = sum(parts.values()) if parts else 0
            if total <= 0:
                continue
            count += 1
            for part in PARTS:
                shares[part].append(100 * parts[part] / total)
        rows.append([runtime, count, *(f"{statistics.fmean(shares[part]):.1f}" for part in PARTS)])
    return ("Share of the sum of operators inside their networks, in percent, mean over the published networks; what a "
            "runtime executes with another operator counts there. nn-Meter has 94 % for both kinds of convolution on the "
            "CPU.\n\n" + table(["runtime", "networks", *PARTS], rows))


def nn_meter_table_6():
    counts = {runtime: collections.Counter() for runtime in SAMPLED}
    for runtime in SAMPLED:
        for row in read(DATA / f"kernels/{runtime}/kernels.csv"):
            if row["purpose"] == "sample" and not row["refused"]:
                counts[runtime][row["kernel"]] += 1
    kernels = sorted(set().union(*counts.values()))
    rows = [[f"`{kernel}`", *(counts[runtime][kernel] or "–" for runtime in SAMPLED)] for kernel in kernels]
    rows.append(["all", *(sum(counts[runtime].values()) for runtime in SAMPLED)])
    return ("Measured samples of each kernel. The paper starts from N = 10,000 convolutions, 5,000 depthwise ones and 2,000 "
            "of each other kernel, adds M = 10 around each large error, and ends with 14,040 to 39,968 convolutions. Here "
            "N is 200, 80 and 25, with M = 2 in three rounds at most and no more than 2 N of a kernel, in four minutes or less of "
            "a runtime (the paper: one to four and a half days).\n\n" + table(["kernel", *SAMPLED], rows))


def nn_meter_figure_9(networks):
    """Linear regressions by ordinary least squares, as the paper's, on the networks of measuring_time."""
    role = {row["network"]: row["role"] for row in read(DATA / "kernels/split.csv")}
    features = {"FLOPs": [networks.multiply_adds],
                "FLOPs + MAC": [networks.multiply_adds, networks.memory_access]}
    cells = collections.defaultdict(list)
    for runtime in SAMPLED:
        known = {row["network"]: float(row["latency_ms"]) for row in read(DATA / f"kernels/{runtime}/networks.csv")
                 if not row["refused"]}
        train, test = ([name for name in known if role[name] == side] for side in ("train", "test"))
        for called, of in features.items():
            inputs = lambda names, of=of: numpy.array([[1.0, *(feature(name) for feature in of)] for name in names])
            weights = numpy.linalg.lstsq(inputs(train), numpy.array([known[name] for name in train]), rcond=None)[0]
            ratios = [value / known[name] for name, value in zip(test, inputs(test) @ weights)]
            cells[called].append(
                f"{within(ratios):.0f} ({100 * statistics.median(abs(ratio - 1) for ratio in ratios):.0f} %)")
        rows = {(row["method"], row["budget"]): row for row in read(ROOT / f"experiments/kernels/measuring_time/{runtime}.csv")}
        for called, key in (("nn-Meter: sums of kernels", ("nn-Meter", "100 % of samples")),
                            ("the same, one factor", ("nn-Meter, one factor", "100 % of samples")),
                            ("`operators`, 50 networks", ("operators", "50 networks"))):
            row = rows[key]
            cells[called].append(f"{100 * float(row['acc10']):.0f} ({100 * float(row['median_error']):.0f} %)")
        trainings = [row for row in read(ROOT / "experiments/paper/brp_nas/results.csv") if row["runtime"] == runtime]
        for known_of in dict.fromkeys(row["features"] for row in trainings):
            mean = lambda name, known_of=known_of: 100 * statistics.fmean(
                float(row[name]) for row in trainings if row["features"] == known_of)
            cells[f"BRP-NAS, {known_of} of operators"].append(f"{mean('acc10'):.0f} ({mean('median_error'):.0f} %)")
    return ("63 networks, for OpenCV 61, by what is learned from 100 and 98 other whole networks, and by sums of kernels: share "
            "within ±10 %, in percent, and in brackets the median error. 43 of them are published ones of families that nobody has "
            "seen. The others are of the synthetic space, of which 30 and 28 are learned from. FLOPs and MAC (all values of feature "
            "maps and weights) are a linear regression on all networks to learn from, as in the paper, which has 22.1, 17.1, 8.5 for "
            "BRP-NAS and 89.2 for nn-Meter, mean over three devices. The rows of BRP-NAS are means over one or two seeds "
            "([brp_nas](../brp_nas/README.md)), the other rows are of [measuring_time](../../kernels/measuring_time/README.md).\n\n"
            + table(["method", *SAMPLED], [[called, *values] for called, values in cells.items()]))


def li_figure_14(networks):
    rows = []
    for folder in sorted((DATA / "networks").glob("*/latencies.csv")):
        spreads = [100 * float(row["stddev_ms"]) / float(row["latency_ms"]) for row in read(folder)
                   if row["stddev_ms"] and networks.family[row["architecture"]] == "synthetic"]
        if spreads:
            quartiles = statistics.quantiles(spreads, n=4)
            rows.append([f"`{folder.parent.name}`", len(spreads), f"{statistics.median(spreads):.1f}",
                         f"{quartiles[0]:.1f} to {quartiles[2]:.1f}"])
    return ("Spread of the runs of a synthetic network (1.4826 × the median absolute deviation) over its latency, in "
            "percent.\n\n" + table(["device-runtime", "networks", "median", "quartiles"], rows))


def li_figures_2_and_4_of_phones(path):
    """The authors' own measurements: 102 networks, cores of four phones."""
    rows = read(path)
    settings = [re.match(r"(.*)_(\d.*)_(float|quant)$", column) for column in rows[0]]
    column = lambda phone, cores, kind: [float(row[f"{phone}_{cores}_{kind}"]) for row in rows]
    lines = []
    for phone, cores in dict.fromkeys((found[1], found[2]) for found in settings if found):
        single = re.sub(r"^\d+", "1", cores) if re.fullmatch(r"\d+[a-z]+", cores) else "1large"
        floats, quantised = column(phone, cores, "float"), column(phone, cores, "quant")
        alone = column(phone, single, "float")
        lines.append([phone, cores, f"{statistics.median(floats):.1f}",
                      f"{geometric_mean(one / many for one, many in zip(alone, floats)):.2f}",
                      f"{geometric_mean(slow / fast for slow, fast in zip(floats, quantised)):.2f}",
                      f"{100 * statistics.fmean(slow < fast for slow, fast in zip(floats, quantised)):.0f}"])
    return ("What the authors published of TensorFlow Lite on four of their six phones (EdgeSys 2024), counted again: 102 "
            "networks. The gain of several cores is over one core of that kind, and of cores of two kinds over one large "
            "one.\n\n" + table(["phone", "cores", "median, float32, ms", "gain of the cores", "gain of int8",
                                "slower in int8, %"], lines))


def li_figure_5(networks, inside):
    eager, quantised = inside["libtorch-eager"], inside["libtorch-int8"]
    ratios = collections.defaultdict(list)
    for key, time in eager.time.items():
        if time > 0 and quantised.time.get(key, 0) > 0:
            ratios[part_of(eager.kind[key])].append(time / quantised.time[key])
    rows = [[part, len(ratios[part]), f"{statistics.median(ratios[part]):.2f}",
             f"{100 * statistics.fmean(ratio < 1 for ratio in ratios[part]):.0f}"] for part in PARTS if ratios[part]]
    return ("Time of an operator inside its networks in float32 over the same in int8 (`libtorch-eager` over "
            "`libtorch-int8`). As in the paper, some kinds get slower.\n\n"
            + table(["operators", "number", "median gain", "slower in int8, %"], rows))


def li_figures_4_and_6(networks):
    def gain(slow, fast, names=None):
        both = [slow[name] / fast[name] for name in slow if name in fast and (names is None or name in names)]
        quartiles = statistics.quantiles(both, n=4)
        return [len(both), f"{geometric_mean(both):.2f}", f"{quartiles[0]:.2f} to {quartiles[2]:.2f}",
                f"{100 * statistics.fmean(ratio < 1 for ratio in both):.0f}"]

    published = set(networks.published())
    on, onnx = networks.on, lambda level: networks.on("onnxruntime_fp32", "_t1_b1_" + level)
    pairs = [
        ("int8 over float32 (Fig. 4)", "`libtorch-eager`, `libtorch-int8`", on("libtorch-eager"), on("libtorch-int8")),
        ("the same, optimised (Fig. 4)", "`libtorch-optimized`, `libtorch-int8`", on("libtorch-optimized"),
         on("libtorch-int8")),
        ("the same, AVX2 (Fig. 4)", "`libtorch-eager`, `libtorch-int8`", on("libtorch-eager", "_t1_b1_avx2"),
         on("libtorch-int8", "_t1_b1_avx2")),
        ("fusion (Fig. 6)", "`libtorch-eager`, `libtorch-frozen`", on("libtorch-eager"), on("libtorch-frozen")),
        ("fusion and layouts (Fig. 6)", "`libtorch-eager`, `libtorch-optimized`", on("libtorch-eager"),
         on("libtorch-optimized")),
        ("fusion (Fig. 6)", "`onnxruntime`, disabled and basic", onnx("disabled"), onnx("basic")),
        ("fusion and layouts (Fig. 6)", "`onnxruntime`, disabled and all", onnx("disabled"), onnx("all")),
    ]
    rows = [[what, runtimes, *gain(slow, fast, published)] for what, runtimes, slow, fast in pairs]
    return ("Latency of a published network before over after, 131 networks of the pool or what both runtimes run. A "
            "runtime's switch turns on more than fusion, and the rows say what. The paper: fusion is worth up to 1.22 on "
            "TensorFlow Lite and 1.48 on PyTorch Mobile, both on GPUs.\n\n"
            + table(["what", "before and after", "networks", "gain, geometric mean", "quartiles", "slower, %"], rows))


def nnv12_figure_2():
    rows = []
    for folder in sorted((DATA / "cold").glob("*mbs")):
        starts = [row for row in read(folder / "cold.csv") if row.get("warm_ms")]
        if not starts:
            continue
        ratios = [float(row["cold_ms"]) / float(row["warm_ms"]) for row in starts]
        rows.append([f"`{folder.name}`", len(ratios), f"{statistics.median(ratios):.1f}",
                     f"{min(ratios):.1f} to {max(ratios):.1f}"])
    return ("From the file to the first output, over a warm inference in the same process. The paper has 1.5 to 12.7 on "
            "CPUs, of three networks and three libraries.\n\n"
            + table(["device-runtime", "networks", "cold over warm, median", "least to most"], rows))


def nnv12_table_1():
    rows = []
    folder = ROOT / "experiments/cold/cold"
    stages = ["load_ms", "prepare_ms", "first_ms", "cold_ms", "warm_ms"]
    for runtime in ("libtorch-frozen", "opencv-dnn", "onnxruntime"):
        of = [row for row in read(folder / f"{runtime}.csv") if row.get("architecture", row.get("network")) == "resnet50"]
        rows.append([runtime, *(f"{statistics.median(float(row[stage]) for row in of):.1f}" for stage in stages)])
    return ("A cold start of ResNet-50, in ms. The paper's stages of a Pixel 5: reading 36.5, transforming 1,135, executing "
            "190, in all 1,363; warm 186.\n\n"
            + table(["runtime", "reading", "preparing", "first run", "cold", "warm"], rows))


def main():
    phones = Path(os.environ.get("TENSHOT_TABLES", "")) / "mobile-cnn/latency_ms.csv"
    if not phones.is_file():
        sys.exit("set TENSHOT_TABLES to a folder with mobile-cnn/latency_ms.csv, of the repository qed-usc/mobile-ml-benchmark")
    networks = Networks()
    inside = {runtime: Inside(runtime) for runtime in PROFILED}
    sections = [
        ("MAPLE-Edge, Table 1", maple_edge_table_1()),
        ("nn-Meter, Table 2", nn_meter_table_2(networks)),
        ("nn-Meter, Table 3", nn_meter_table_3()),
        ("nn-Meter, Figure 6, and Li et al., Figure 10", nn_meter_figure_6(networks, inside)),
        ("nn-Meter, Table 6", nn_meter_table_6()),
        ("nn-Meter, Figure 9", nn_meter_figure_9(networks)),
        ("Li et al., Figures 2 and 4, on phones", li_figures_2_and_4_of_phones(phones)),
        ("Li et al., Figures 4 and 6", li_figures_4_and_6(networks)),
        ("Li et al., Figure 5", li_figure_5(networks, inside)),
        ("Li et al., Figure 14", li_figure_14(networks)),
        ("NNV12, Figure 2", nnv12_figure_2()),
        ("NNV12, Table 1", nnv12_table_1()),
    ]
    text = ("# Tables that committed measurements hold\n\nBy `experiments/paper/committed.py`, which measures nothing: tables "
            "and figures of [the five papers](../README.md) that are a matter of counting in [the data](../../../datasets/"
            "data/README.md).\n\n")
    OUT.write_text(text + "\n".join(f"## {title}\n\n{body}" for title, body in sections))
    sys.exit(subprocess.run([sys.executable, ROOT / "experiments/pages.py", "--made", "committed"], check=False).returncode)


if __name__ == "__main__":
    main()
