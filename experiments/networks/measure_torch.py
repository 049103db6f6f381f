#!/usr/bin/env python3
"""Measures ONNX files one after the other, in PyTorch or ONNX Runtime, on a GPU or on processors, until a deadline.

  measure_torch.py strip MODELS NEW              copies without weights, to travel to the device
  measure_torch.py gpu MODELS LIST OUT SECONDS [eager,graph,half]
      PyTorch: eager, as a CUDA graph, and as one in half precision and channels-last
  measure_torch.py cpu MODELS LIST OUT SECONDS THREADS torch|onnxruntime
  measure_torch.py check MODELS                  compares the outputs of one network in four with ONNX Runtime's

LIST is a CSV whose column `network` or `architecture` names networks, in the order in which they are measured: what
`tenshot plan` wrote is one, and `tenshot adapt --measurements OUT/DEVICE` reads what was measured. Writes OUT/DEVICE/latencies.csv
and device.json, as a pool has them. Latencies are medians of runs that each wait for the device; batch 1. The first
network is the sentinel: it is measured again after every twenty, and what it took stands in each row. At the end the
first networks are measured again, as long as there is time: OUT/DEVICE/again.csv.
"""

import csv
import json
import os
import platform
import statistics
import subprocess
import sys
import time
from pathlib import Path

import onnx
import torch_graph

START = time.time()


def spread(times):
    middle = statistics.median(times)
    return 1.4826 * statistics.median(abs(one - middle) for one in times)


def timed(run, wait, least_runs=12, most_runs=40, least_s=0.15):
    """Milliseconds of single runs, after some that warm up."""
    for _ in range(4):
        run()
    wait()
    times, begin = [], time.perf_counter()
    while len(times) < least_runs or (len(times) < most_runs and time.perf_counter() - begin < least_s):
        start = time.perf_counter()
        run()
        wait()
        times.append(1e3 * (time.perf_counter() - start))
    return times


def gpu_ways(chosen):
    """What runs a network on the GPU, by the device-runtime's name."""
    import torch

    def eager(model):
        return torch_graph.Graph(model, "cuda")

    def half(model):
        return captured(torch_graph.Graph(model, "cuda", torch.float16, True))

    def graph(model):
        return captured(torch_graph.Graph(model, "cuda"))

    def captured(module):
        stream = torch.cuda.Stream()
        with torch.cuda.stream(stream):
            for _ in range(3):
                module()
        stream.synchronize()
        recorded = torch.cuda.CUDAGraph()
        with torch.cuda.graph(recorded, stream=stream):
            recorded.kept = module()
        return recorded.replay

    gpu = torch.cuda.get_device_name().replace("NVIDIA ", "").replace(" ", "-").lower()
    ways = {"eager": (eager, "fp32"), "graph": (graph, "fp32"), "half": (half, "fp16")}
    ways = {f"{gpu}_pytorch-{way}_{ways[way][1]}_b1": ways[way] for way in chosen.split(",")}
    return ways, torch.cuda.synchronize, f"PyTorch {torch.__version__}, GPU", torch.cuda.get_device_name()


def cpu_name():
    for line in open("/proc/cpuinfo", encoding="utf-8"):
        if line.startswith("model name"):
            return line.split(":")[1].strip()
    return platform.processor()


def cpu_ways(threads, engine):
    name = cpu_name()
    key = f"{'-'.join(name.lower().split()[:4])}_{engine}_fp32_t{threads}_b1".replace("(r)", "").replace("(tm)", "")
    if engine == "torch":
        import torch
        torch.set_num_threads(threads)
        torch.set_grad_enabled(False)
        return {key: (lambda model: torch_graph.Graph(model, "cpu"), "fp32")}, lambda: None, f"PyTorch {torch.__version__}", name
    import numpy
    import onnxruntime

    def session(model):
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
        made = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
        entry = made.get_inputs()[0]
        feeds = {entry.name: numpy.random.default_rng(1).random(entry.shape, dtype=numpy.float32)}
        return lambda: made.run(None, feeds)

    return {key: (session, "fp32")}, lambda: None, f"ONNX Runtime {onnxruntime.__version__}", name


def conditions(key, way, runtime, device, threads, rows, complete, sentinel):
    gpu = "GPU" in runtime
    state = {"cpu": cpu_name(), "cores": os.cpu_count(), "kernel": f"{platform.system()} {platform.release()} {platform.machine()}",
             "pinned_cpus": sorted(os.sched_getaffinity(0)), "runtime_version": runtime, "complete": complete, "weight_seed": 1,
             "started_utc": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(START)),
             "saved_utc": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())}
    if sentinel:
        state["sentinel"] = {"architecture": rows[0][0], "minimum_ms": min(sentinel), "median_ms": statistics.median(sentinel),
                             "maximum_ms": max(sentinel), "values_ms": sentinel}
    if gpu:
        asked = "name,driver_version,clocks.sm,clocks.mem,temperature.gpu,power.draw"
        said = subprocess.run(["nvidia-smi", f"--query-gpu={asked}", "--format=csv,noheader"], capture_output=True, text=True, check=False)
        state["gpu"] = said.stdout.strip()
    return {"format": "tenshot.device/1", "id": key, "device": device, "runtime": runtime.split(" ")[0].lower() + ("-gpu" if gpu else ""),
            "precision": way[1], "threads": 0 if gpu else threads, "batch": 1, "space": "networks", "input_shape": [],
            "latencies": "latencies.csv", "descriptor": {"counters": [], "operators": [], "source": "none"}, "environment": state}


def written(path, head, rows):
    new = path.with_suffix(".new")
    with new.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([head, *rows])
    new.replace(path)


def measure(models, listed, out, seconds, ways, wait, runtime, device, threads):
    with open(listed, encoding="utf-8", newline="") as file:
        names = [row.get("architecture") or row["network"] for row in csv.DictReader(file)]
    rows, sentinels, again = {key: [] for key in ways}, {key: [] for key in ways}, {key: [] for key in ways}
    refused = {}

    def take(name, into, limit):
        model = torch_graph.fill(onnx.load(models / f"{name}.onnx"))
        for key, (make, _) in ways.items():
            if time.time() - START > limit:
                return False
            try:
                times = timed(make(model), wait)
            except Exception as error:  # whatever a runtime says of a network that it cannot run
                refused.setdefault(key, {})[name] = str(error).split("\n", maxsplit=1)[0][:160]
                continue
            into[key].append([name, statistics.median(times), spread(times), len(times)])
        return True

    def save(complete):
        for key, way in ways.items():
            folder = out / key
            folder.mkdir(parents=True, exist_ok=True)
            values = [row[1] for row in sentinels[key]]
            stated = conditions(key, way, runtime, device, threads, rows[key], complete, values)
            stated["environment"]["refused"] = refused.get(key, {})
            (folder / "device.json").write_text(json.dumps(stated, indent=2, sort_keys=True) + "\n", encoding="utf-8")
            head = ["architecture", "latency_ms", "stddev_ms", "runs", "sentinel_ms"]
            written(folder / "latencies.csv", head, [row[:5] for row in rows[key]])
            written(folder / "again.csv", head[:4], again[key])

    complete = True
    for at, name in enumerate(names):
        if at % 20 == 0:
            take(names[0], sentinels, seconds)
        before = {key: len(found) for key, found in rows.items()}
        if not take(name, rows, 0.85 * seconds):
            complete = False
            break
        for key, found in rows.items():
            for row in found[before[key]:]:
                row.append(sentinels[key][-1][1])
        if at % 10 == 0:
            save(False)
            print(f"{time.time() - START:.0f} s: {at + 1} of {len(names)}", flush=True)
    for name in names[:40]:
        if not take(name, again, seconds):
            break
    save(complete)


def check(models):
    """The largest difference of the outputs, relative to the largest value of each."""
    import onnxruntime
    import torch
    torch.set_grad_enabled(False)
    worst, paths = 0, sorted(models.glob("*.onnx"))[::4]
    for path in paths:
        model = torch_graph.fill(onnx.load(path))
        graph = torch_graph.Graph(model, "cpu")
        session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
        wanted = session.run(None, {graph.entry: graph.input.numpy()})[0]
        worst = max(worst, float(abs(graph().numpy() - wanted).max() / abs(wanted).max()))
    print(f"{len(paths)} networks, outputs differ by {worst:.1e} at most")


def main():
    verb, models = sys.argv[1], Path(sys.argv[2])
    if verb == "strip":
        new = Path(sys.argv[3])
        new.mkdir(parents=True, exist_ok=True)
        for path in sorted(models.glob("*.onnx")):
            (new / path.name).write_bytes(torch_graph.strip(onnx.load(path)).SerializeToString())
        return
    if verb == "check":
        check(models)
        return
    listed, out, seconds = Path(sys.argv[3]), Path(sys.argv[4]), float(sys.argv[5])
    if verb == "gpu":
        import torch
        torch.set_grad_enabled(False)
        measure(models, listed, out, seconds, *gpu_ways(sys.argv[6] if len(sys.argv) > 6 else "eager,graph,half"), 1)
    else:
        threads = int(sys.argv[6])
        measure(models, listed, out, seconds, *cpu_ways(threads, sys.argv[7]), threads)


if __name__ == "__main__":
    main()
