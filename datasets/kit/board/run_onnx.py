#!/usr/bin/env python3
"""Times an ONNX model with ONNX Runtime on the CPU: run_onnx.py MODEL RUNS WARMUP OUT.json [THREADS [SHAPE]]

Writes {"format": "tenshot.times/1", "times_ms": [...], "version": ...}, one time per run after WARMUP untimed ones.
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
    session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    tensor = session.get_inputs()[0]
    shape = [size if isinstance(size, int) else 1 for size in tensor.shape]
    if len(arguments) > 5:
        shape = [int(size) for size in arguments[5].split("x")]
    values = numpy.random.RandomState(1).uniform(-1, 1, shape).astype(numpy.float32)

    times_ms = []
    for run in range(warmup + runs):
        start = time.perf_counter()
        session.run(None, {tensor.name: values})
        end = time.perf_counter()
        if run >= warmup:
            times_ms.append(1e3 * (end - start))
    with open(out + ".new", "w") as file:
        json.dump({"format": "tenshot.times/1", "times_ms": times_ms, "version": onnxruntime.__version__}, file)
    os.replace(out + ".new", out)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
