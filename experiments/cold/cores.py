"""The stages of a cold start on one core and on two: Yi et al. (NNV12), Fig. 6, in PyTorch.

    cores.py measure STORAGE STAGES.csv    in turn, networks and numbers of cores
    cores.py page FOLDER                   FOLDER/README.md of its stages.csv
"""
import os
import statistics
import sys
import time
import warnings
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from cold import append, geometric_mean, header, line, rows_of

NETWORKS = ["resnet18", "resnet50", "googlenet", "mobilenet_v2"]
STAGES = ["read", "transform", "execute"]
ROUNDS = 11


def read(path, cores):
    """The file, a part by each core, its pages dropped before."""
    size = path.stat().st_size
    with path.open("rb") as file, ThreadPoolExecutor(cores) as pool:
        os.fsync(file.fileno())
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
        list(pool.map(lambda part: None, range(cores)))  # the threads are there before the time counts
        began = time.perf_counter()
        list(pool.map(lambda part: os.pread(file.fileno(), size // cores + cores, part * (size // cores)), range(cores)))
        return time.perf_counter() - began


def timed(work):
    work()
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def measure(storage, table):
    import torch
    import torchvision
    warnings.filterwarnings("ignore")
    table.unlink(missing_ok=True)
    for name in NETWORKS:
        options = {"aux_logits": False, "init_weights": False} if name == "googlenet" else {}
        network = getattr(torchvision.models, name)(weights=None, **options).eval()
        path = storage / f"{name}.weights"
        path.write_bytes(b"".join(p.detach().numpy().tobytes() for p in network.parameters()))
        layers = [(m, m.weight.detach().to_mkldnn()) for m in network.modules() if isinstance(m, torch.nn.Conv2d)]
        image = torch.zeros(1, 3, 224, 224)
        with torch.no_grad():
            frozen = torch.jit.freeze(torch.jit.trace(network, image))

            def transform():
                for m, weight in layers:
                    torch._C._nn.mkldnn_reorder_conv2d_weight(weight, m.padding, m.stride, m.dilation, m.groups)

            for _ in range(3):  # LibTorch optimises the network while it runs the first times
                frozen(image)
            for number in range(ROUNDS):
                for cores in (1, 2):
                    torch.set_num_threads(cores)
                    took = {"read": read(path, cores), "transform": timed(transform), "execute": timed(lambda: frozen(image))}
                    append(table, ["network", "cores", "round", *STAGES],
                           {"network": name, "cores": cores, "round": number,
                            **{stage: round(1000 * seconds, 3) for stage, seconds in took.items()}})
        path.unlink()


def page(folder):
    rows = rows_of(folder / "stages.csv")

    def median(network, cores, stage):
        return statistics.median(float(row[stage]) for row in rows if row["network"] == network and int(row["cores"]) == cores)

    text = ["# Stages of a cold start, by cores", "",
            "By `experiments/cold/cores.sh`. What two cores of one kind are worth to each stage of a start (Yi et al., NNV12, Fig. 6), "
            "in PyTorch: reading all weights from a storage of 400 MB/s (files in memory, throttled), reordering the weights of all "
            "convolutions for oneDNN, and executing the frozen network, each by one thread and by two. Milliseconds, medians of "
            f"{ROUNDS} rounds in turn:", "",
            header(["network", *(f"{stage}, {cores}" for stage in STAGES for cores in ("one core", "two cores"))])]
    text += [line([network, *(f"{median(network, cores, stage):.1f}" for stage in STAGES for cores in (1, 2))])
             for network in NETWORKS]
    gains = [geometric_mean([median(network, 1, stage) / median(network, 2, stage) for network in NETWORKS]) for stage in STAGES]
    text += ["", f"By two cores weights are read {gains[0]:.2f} times, transformed {gains[1]:.2f} times, and a network is executed "
             f"{gains[2]:.2f} times as fast as by one (geometric means). As in the paper, executing gains most and reading nothing."]
    (folder / "README.md").write_text("\n".join(text) + "\n")


if __name__ == "__main__":
    if sys.argv[1] == "page":
        page(Path(sys.argv[2]))
    else:
        measure(*map(Path, sys.argv[2:4]))
