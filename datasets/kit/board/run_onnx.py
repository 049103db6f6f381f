#!/usr/bin/env python3
"""Times an ONNX model with ONNX Runtime on the CPU: run_onnx.py MODEL RUNS WARMUP OUT.json [THREADS [SHAPE]]

Writes {"format": "tenshot.times/1", "times_ms": [...], "version": ...}, one time per run after WARMUP untimed ones.
TENSHOT_COLD=1 times one cold start in place of runs, from the model's file to the first output, and writes
{"format": "tenshot.cold-start/1", "cold_ms": ..., "load_ms": ..., "prepare_ms": ..., "first_ms": ..., "warm_ms": ...}.
--version prints ONNX Runtime's version. TENSHOT_OPTIMIZATION is all (unless said), extended, basic or disabled.
"""
import json
import os
import sys
import time

import onnxruntime


def main(arguments):
    if arguments == ["--version"]:
        print(onnxruntime.__version__)
        return 0
    if not 4 <= len(arguments) <= 6:
        print(__doc__, file=sys.stderr)
        return 2
    import numpy  # comes with onnxruntime

    model, runs, warmup, out = arguments[0], int(arguments[1]), int(arguments[2]), arguments[3]
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = int(arguments[4]) if len(arguments) > 4 else 1
    options.inter_op_num_threads = 1
    level = {"extended": "ORT_ENABLE_EXTENDED", "basic": "ORT_ENABLE_BASIC", "disabled": "ORT_DISABLE_ALL"}.get(
        os.environ.get("TENSHOT_OPTIMIZATION"))
    if level:
        options.graph_optimization_level = getattr(onnxruntime.GraphOptimizationLevel, level)
    cold = os.environ.get("TENSHOT_COLD") == "1"
    begin = time.perf_counter()
    source = model
    if cold:
        with open(model, "rb") as file:
            source = file.read()
    loaded = time.perf_counter()
    session = onnxruntime.InferenceSession(source, options, providers=["CPUExecutionProvider"])
    prepared = time.perf_counter()
    tensor = session.get_inputs()[0]
    shape = [size if isinstance(size, int) else 1 for size in tensor.shape]
    if len(arguments) > 5:
        shape = [int(size) for size in arguments[5].split("x")]
    values = numpy.random.RandomState(1).uniform(-1, 1, shape).astype(numpy.float32)

    def timed():
        start = time.perf_counter()
        session.run(None, {tensor.name: values})
        return 1e3 * (time.perf_counter() - start)

    def write(result):
        with open(out + ".new", "w") as file:
            json.dump({**result, "version": onnxruntime.__version__}, file)
        os.replace(out + ".new", out)
        return 0

    if cold:
        first = timed()
        warm = sorted(timed() for _ in range(runs))
        return write({"format": "tenshot.cold-start/1", "cold_ms": 1e3 * (prepared - begin) + first,
                      "load_ms": 1e3 * (loaded - begin), "prepare_ms": 1e3 * (prepared - loaded), "first_ms": first,
                      "warm_ms": warm[len(warm) // 2] if warm else None})
    times_ms = []
    for run in range(warmup + runs):
        ms = timed()
        if run >= warmup:
            times_ms.append(ms)
    return write({"format": "tenshot.times/1", "times_ms": times_ms})


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
