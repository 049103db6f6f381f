"""A board of networks by name whose latencies nobody measured: what tests of the space `networks` predict with."""
import pathlib
import subprocess


def write(program, folder):
    """Makes a pool of twelve networks and three devices in `folder`, its checkpoint pool.tenshot and, from eight
    latencies, the predictor board.tenshot, whose path it gives."""
    folder = pathlib.Path(folder)
    models = folder / "models"

    def run(*arguments):
        subprocess.run([program, *map(str, arguments), "--quiet"], check=True)

    run("network", "generate", "--space", "synthetic-cnn", "--count", "12", "--seed", "2", "--out", models)
    names = sorted(path.stem for path in models.glob("*.onnx"))
    rows = [f"{name},{1 + i},{3 + 2 * i},{9 + 3 * i}" for i, name in enumerate(names)]
    (folder / "wide.csv").write_text("\n".join(["architecture,one,two,three", *rows]) + "\n")
    run("dataset", "import", "--table", folder / "wide.csv", "--space", "networks", "--networks", models, "--out",
        folder / "pool")
    run("train", "--pool", folder / "pool", "--out", folder / "pool.tenshot")
    measured = [f"{name},{2.5 + i}" for i, name in enumerate(names[:8])]
    (folder / "eight.csv").write_text("\n".join(["network,latency_ms", *measured]) + "\n")
    run("adapt", "--checkpoint", folder / "pool.tenshot", "--measurements", folder / "eight.csv", "--out",
        folder / "board.tenshot")
    return folder / "board.tenshot"
