#!/usr/bin/env python3
"""Times an ONNX model with ONNX Runtime on the CPU: run_onnx.py MODEL RUNS WARMUP OUT.json [THREADS [SHAPES]]

SHAPES is 1x3x32x32, or of several inputs and other types int64:1x128,int64:1x128, in the model's order.
Writes {"format": "tenshot.times/1", "times_ms": [...], "version": ...}, one time per run after WARMUP untimed ones.
TENSHOT_COLD=1 times one cold start in place of runs, from the model's file to the first output, and writes
{"format": "tenshot.cold-start/1", "cold_ms": ..., "load_ms": ..., "prepare_ms": ..., "first_ms": ..., "warm_ms": ...}.
TENSHOT_PROFILE names a file that gets ONNX Runtime's profile of the runs.
--version prints ONNX Runtime's version. TENSHOT_OPTIMIZATION is all (unless said), extended, basic or disabled.
"""
import json
import os
import sys
import time

import onnxruntime


def feeds_of(inputs, shapes, numpy):
    """A value for each input: random floats, and whole numbers 1, which are a token, a position and an open mask."""
    wanted = shapes.split(",") if shapes else ["x".join(str(size if isinstance(size, int) else 1) for size in one.shape)
                                               for one in inputs]
    if len(wanted) != len(inputs):
        raise ValueError("the model takes %d inputs, and the list has %d shapes" % (len(inputs), len(wanted)))
    random = numpy.random.RandomState(1)
    feeds = {}
    for one, text in zip(inputs, wanted):
        kind, _, extents = text.rpartition(":")
        shape = [int(size) for size in extents.split("x")]
        is_float = kind in ("", "float16", "float32", "float64")
        values = random.uniform(-1, 1, shape) if is_float else numpy.ones(shape)
        feeds[one.name] = values.astype(kind or "float32")
    return feeds


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
    profile = os.environ.get("TENSHOT_PROFILE")
    if profile:
        options.enable_profiling = True
        options.profile_file_prefix = profile + ".ort"
    cold = os.environ.get("TENSHOT_COLD") == "1"
    begin = time.perf_counter()
    source = model
    if cold:
        with open(model, "rb") as file:
            source = file.read()
    loaded = time.perf_counter()
    session = onnxruntime.InferenceSession(source, options, providers=["CPUExecutionProvider"])
    prepared = time.perf_counter()
    feeds = feeds_of(session.get_inputs(), arguments[5] if len(arguments) > 5 else "", numpy)

    def timed():
        start = time.perf_counter()
        session.run(None, feeds)
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
    if profile:
        os.replace(session.end_profiling(), profile)
    return write({"format": "tenshot.times/1", "times_ms": times_ms})


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
