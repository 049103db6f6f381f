"""The verbs that write, for kill_test.py: their words, what they write, and how what they wrote is compared."""

import dataclasses
import json
import subprocess
import typing


@dataclasses.dataclass
class Verb:
    words: list
    outputs: list  # files and folders below o/
    old: bool = False  # files stand there before it runs
    # What a result says, where it is measured and never has the same bytes twice; None where the bytes are compared.
    meaning: typing.Optional[typing.Callable] = None
    needs: str = ""  # "oneDNN" where the program may have been built without it
    note: str = ""
    # A file of the result that holds nothing but its first line until all others are there.
    marker: str = ""

    def name(self):
        verb = " ".join(self.words[:2 if self.words[0] in ("cold", "dataset", "kernels", "network") else 1])
        return verb + (f" ({self.note})" if self.note else "")


def says(bench, *words):
    """Standard output of the program; None where it fails."""
    outcome = subprocess.run([bench.program, *map(str, words)], cwd=bench.folder, env=bench.environment,
                             stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL, check=False)
    return outcome.stdout if outcome.returncode == 0 else None


def rules(bench, path):
    """What is fused is measured: that they are rules, which `find` takes."""
    return path.exists() and says(bench, "kernels", "find", "--rules", path, "models/" + bench.model) is not None


def stages(bench, path):
    """The network; `plan` takes them. Which kernels are worth keeping is measured."""
    if not path.exists() or says(bench, "cold", "plan", path, "--out", "any-plan.json") is None:
        return None
    return json.loads(path.read_text())["network"]


def device_runtime(bench, path):
    """Which architectures were measured; `dataset validate` finds nothing wrong."""
    if not path.exists() or says(bench, "dataset", "validate", path) is None:
        return None
    return sorted(line.split(",")[0] for table in path.glob("*/latencies.csv") for line in table.read_text().splitlines())


TRAIN = ["train", "--pool", "pool", "--predictor"]
COLLECT = ["collect", "--runtime", "libtorch-eager", "--attempts", "1", "--runs", "2", "--rounds", "1"]

VERBS = [
    Verb(["dataset", "import", "--table", "table.csv", "--out", "o/pool"], ["o/pool"]),
    Verb(["dataset", "import", "--kit", "measured-kit", "--out", "o/pool"], ["o/pool"], note="of a kit"),
    Verb(TRAIN + ["flops", "--out", "o/p.tenshot"], ["o/p.tenshot"], old=True),
    Verb(TRAIN + ["structured", "--out", "o/s.tenshot"], ["o/s.tenshot"], old=True, note="structured"),
    Verb(TRAIN + ["maple-edge", "--epochs", "60", "--hidden", "32", "--out", "o/m.tenshot"], ["o/m.tenshot"], old=True,
         note="maple-edge"),
    Verb(["plan", "--checkpoint", "flops.tenshot", "--samples", "2", "--resolution", "8", "--out", "o/plan.csv", "--kit",
          "o/kit"], ["o/plan.csv", "o/kit"], marker="models.tsv"),
    Verb(["plan", "--checkpoint", "networks.tenshot", "--networks", "models", "--samples", "2", "--out", "o/plan.csv",
          "--kit", "o/kit"], ["o/plan.csv", "o/kit"], note="of networks", marker="models.tsv"),
    Verb(["adapt", "--checkpoint", "flops.tenshot", "--measurements", "measured.csv", "--out", "o/d.tenshot"],
         ["o/d.tenshot"], old=True),
    Verb(["adapt", "--checkpoint", "structured.tenshot", "--measurements", "measured-kit", "--out", "o/d.tenshot"],
         ["o/d.tenshot"], old=True, note="of a kit"),
    Verb(["predict", "--predictor", "device.tenshot", "--out", "o/p.csv"], ["o/p.csv"], old=True),
    Verb(["export", "--predictor", "device.tenshot", "--torchscript", "o/d.pt", "--document", "o/d.json"],
         ["o/d.pt", "o/d.json"], old=True),
    Verb(["report", "device.tenshot", "--measured", "pool/slow/latencies.csv", "--out", "o/r.html"], ["o/r.html"],
         old=True),
    Verb(["report", "experiment", "--out", "o/r.html", "--pictures", "o/pictures"], ["o/r.html", "o/pictures"],
         note="of an experiment"),
    Verb(["experiment", "spec.json", "--jobs", "2", "--resume", "--out", "o/results"], ["o/results/results.csv"]),
    Verb(["network", "generate", "--count", "4", "--seed", "1", "--out", "o/models"], ["o/models"]),
    Verb(["kernels", "detect", "--runtime", "libtorch-eager", "--channels", "4", "--size", "16", "--rounds", "8",
          "--operators", "relu,batch_norm", "--out", "o/rules.json"], ["o/rules.json"], meaning=rules),
    Verb(["cold", "measure", "small/small.onnx", "--repetitions", "1", "--out", "o/stages.json"], ["o/stages.json"],
         meaning=stages, needs="oneDNN"),
    Verb(["cold", "plan", "stages.json", "--out", "o/plan.json"], ["o/plan.json"], old=True, needs="oneDNN"),
    Verb(["cold", "run", "plan.json", "--weights", "o/weights"], ["o/weights"], needs="oneDNN"),
    Verb(COLLECT + ["--resolution", "8", "--archs", "6", "--out", "o/measured"], ["o/measured"], meaning=device_runtime),
    Verb(COLLECT + ["--networks", "small", "--out", "o/measured"], ["o/measured"], meaning=device_runtime,
         note="of networks"),
]


def prepare(bench):
    """Makes what the verbs read; returns what the program is built without."""
    folder = bench.folder
    bench.run("train", "--pool", "pool", "--predictor", "structured", "--out", "structured.tenshot")
    bench.run("plan", "--checkpoint", "structured.tenshot", "--samples", "6", "--resolution", "8", "--out", "kit-plan.csv",
              "--kit", "measured-kit")
    subprocess.run(["./measure.sh", "--backend", "custom", "--runs", "10", "--no-perf", "--no-quantities", "--command",
                    "for i in 1 2 3 4 5 6 7 8 9 10; do echo 5.$i; done # {model} {runs}"], cwd=folder / "measured-kit",
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
    bench.run("network", "generate", "--count", "12", "--seed", "2", "--out", "models")
    models = sorted((folder / "models").glob("*.onnx"), key=lambda path: path.stat().st_size)
    (folder / "small").mkdir()
    (folder / "small/small.onnx").write_bytes(models[0].read_bytes())
    bench.model = models[0].name
    lines = ["architecture,one,two"] + [f"{path.stem},{3 + i % 5},{7 + i % 3}" for i, path in enumerate(models)]
    (folder / "networks.csv").write_text("\n".join(lines) + "\n")
    bench.run("dataset", "import", "--table", "networks.csv", "--space", "networks", "--networks", "models", "--out",
              "networks-pool")
    bench.run("train", "--pool", "networks-pool", "--out", "networks.tenshot")
    bench.run("experiment", "spec.json", "--out", "experiment")
    if says(bench, "cold", "measure", "small/small.onnx", "--repetitions", "1", "--out", "stages.json") is None:
        return {"oneDNN"}
    bench.run("cold", "plan", "stages.json", "--cache", "all", "--out", "plan.json")
    return set()
