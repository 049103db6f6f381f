#!/usr/bin/env python3
"""How long tenshot takes from start to end where it has next to nothing to do, beside starting Python.

    tests/benchmarks/start.py build/tenshot [RUNS, 41 unless said] [--out tests/benchmarks/results/start.md]

The commands take turns: `python3 -c pass`, `tenshot --help`, and `tenshot predict` of one architecture, of one ONNX file
(MobileNetV2 of torchvision, where Debian's python3-torchvision is installed) and of a folder of 1,000 files, with predictors
that it adapts first; and a known device, and a description, of that one file. Of each it prints the median and the fastest wall time, the processor's time of the fastest quarter
(which other programs disturb least), what of that is Python's, and the most memory.
"""
import glob
import os
import statistics
import subprocess
import sys
import tempfile
import time

SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PYTHON = "/usr/bin/python3"


def timed(command):
    """Wall and processor milliseconds of a command, and the MiB that it held at most."""
    begin = time.perf_counter()
    child = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    wall = time.perf_counter() - begin
    child.returncode = status
    if status != 0:
        sys.exit("failed: " + " ".join(command))
    return 1e3 * wall, 1e3 * (usage.ru_utime + usage.ru_stime), usage.ru_maxrss / 1024


def network_commands(tenshot, folder):
    """Predicting files with a predictor of networks, which is adapted to ten made-up measurements: MobileNetV2, and 1,000
    files, which are links to 40."""
    def run(*arguments):
        subprocess.run([tenshot, *arguments, "--quiet"], check=True)

    made, many, exports = (os.path.join(folder, name) for name in ("made", "many", "exports"))
    run("network", "generate", "--space", "synthetic-cnn", "--count", "40", "--out", made)
    names = sorted(os.listdir(made))
    os.mkdir(many)
    for i in range(1000):
        os.link(os.path.join(made, names[i % 40]), os.path.join(many, f"network{i:03}.onnx"))
    ten, device = os.path.join(folder, "ten.csv"), os.path.join(folder, "networks.tenshot")
    with open(ten, "w") as file:
        file.write("network,latency_ms\n" + "".join(f"{name[:-5]},{10 + i}\n" for i, name in enumerate(names[:10])))
    run("adapt", "--checkpoint", os.path.join(SOURCE, "checkpoints/networks.tenshot"), "--networks", made,
        "--measurements", ten, "--out", device)
    predict = [tenshot, "predict", "--predictor", device]
    commands = {"`tenshot predict --networks`, 1,000 ONNX files": [*predict, "--networks", many, "--out", "-"]}
    exporting = [PYTHON, os.path.join(SOURCE, "tests/networks/export_networks.py"), exports, "mobilenet_v2"]
    if subprocess.run(exporting, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode == 0:
        file = os.path.join(exports, "mobilenet_v2.onnx")
        commands["`tenshot predict`, MobileNetV2's ONNX file"] = [*predict, file]
        commands["`tenshot predict --device`, the same"] = [tenshot, "predict", "--device", "pixel4_gpu_float", file]
        commands["`tenshot network describe`, the same"] = [tenshot, "network", "describe", file]
    return commands


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
                                                            lines[5].split(",")[0]], **network_commands(tenshot, folder)}
        times = {name: [] for name in commands}
        for command in commands.values():  # once, so that all files are in memory
            timed(command)
        for _ in range(runs):
            for name, command in commands.items():
                times[name].append(timed(command))
    text = "| command | median, ms | fastest, ms | processor, ms | of Python's | memory, MiB |\n" + "|---" * 6 + "|\n"
    python = None
    for name, rows in times.items():
        walls = sorted(wall for wall, _, _ in rows)
        processor = statistics.mean(sorted(cpu for _, cpu, _ in rows)[:max(1, runs // 4)])
        python = python or processor
        text += f"| {name} | {statistics.median(walls):.1f} | {walls[0]:.1f} | {processor:.1f} | {processor / python:.2f} | "
        text += f"{max(memory for _, _, memory in rows):.0f} |\n"
    print(text, end="")
    if out:
        def engines_of(files):
            libraries = "".join(subprocess.run(["ldd", file], capture_output=True, text=True, check=True).stdout for file in files)
            return ", ".join(name for name, file in (("LibTorch", "libtorch_cpu"), ("OpenCV", "libopencv_dnn"),
                                                     ("oneDNN", "libdnnl"), ("XGBoost", "libxgboost")) if file in libraries)

        late = glob.glob(os.path.join(os.path.dirname(tenshot), "libtenshot_*.so"))
        engines = (f"the program is linked with {engines_of([tenshot]) or 'no engine'}, and loads "
                   f"{engines_of(late) or 'none'} when they are needed")
        with open(out, "w") as file:
            file.write(f"# Starting\n\n`tests/benchmarks/start.py build/tenshot {runs}`, the commands in turn, on {os.cpu_count()} "
                       f"processors; {engines}. {os.getloadavg()[0]:.0f} programs ran or waited for them: with more than processors, "
                       "wall times are long and processor times tell more.\n\n" + text)


if __name__ == "__main__":
    main(sys.argv[1:])
