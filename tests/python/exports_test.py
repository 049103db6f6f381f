"""The program, the C++ library, exported TorchScript and the exported document, read by experiments/read_document.py,
predict the same: all 15,625 cells of nasbench201 for every predictor, and random architectures of fbnet.

/usr/bin/python3 exports_test.py FOLDER_OF_MODULE PROGRAM LIBRARY_PREDICTIONS SOURCE_FOLDER
    [--architectures 20000] [--every 10] [--help-too]

--architectures: how many of fbnet. --every: of those the document, whose plain Python is slow, reads one of so many.
--help-too: the predictor help as well, whose training takes a minute.
"""
import argparse
import csv
import json
import multiprocessing
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

import torch

parser = argparse.ArgumentParser()
parser.add_argument("module")
parser.add_argument("program")
parser.add_argument("library")
parser.add_argument("source", type=pathlib.Path)
parser.add_argument("--architectures", type=int, default=20000)
parser.add_argument("--every", type=int, default=10)
parser.add_argument("--help-too", action="store_true")
parser.add_argument("tests", nargs="*")
options = parser.parse_intermixed_args()
sys.path[:0] = [options.module, str(options.source / "experiments")]
import read_document  # noqa: E402
import tenshot  # noqa: E402

DEVICES = ["libtorch-eager_t1_b1", "libtorch-optimized_t1_b1", "libtorch-int8_t1_b1"]
NETWORK = ["--epochs", "1", "--hidden", "16", "--descriptor-kind", "inferred"]
# Every predictor of nasbench201, and settings that make its network small: plain Python multiplies it.
PREDICTORS = {"structured": [], "maple-edge": NETWORK, "maple-edge-plain": NETWORK, "maple": NETWORK, "transfer": [],
              "forest": [], "flops": [], "flops-memory": [], "look-up": [], "additive": []}
READ_SELDOM = {"help": 20}  # a network that cannot be made small: one cell of so many by the document
TOLERANCE = 1e-5  # relative; documents and tables have as many digits


def run(*words, **more):
    return subprocess.run([str(word) for word in words], check=True, stdout=subprocess.PIPE, **more).stdout


def by_document(job):
    """In a process of its own."""
    path, texts = job
    document = json.loads(pathlib.Path(path).read_text())
    return [read_document.latency_ms(document, text) for text in texts]


def pieces(texts, size=10000):
    return [texts[i:i + size] for i in range(0, len(texts), size)]


class ExportsTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))

    def write_table(self, path, latencies):
        lines = ["architecture,latency_ms", *(f"{text},{ms}" for text, ms in latencies.items())]
        path.write_text("\n".join(lines) + "\n")
        return path

    def adapted(self, pool, measured, *words):
        run(options.program, "train", "--quiet", "--pool", pool, "--out", self.folder / "pool.tenshot", *words)
        device = self.folder / "device.tenshot"
        run(options.program, "adapt", "--quiet", "--checkpoint", self.folder / "pool.tenshot", "--measurements",
            self.write_table(self.folder / "measured.csv", measured), "--out", device)
        return device

    def expect_agreement(self, device, texts, every=1):
        folder, program = self.folder, options.program
        (folder / "texts.csv").write_text("architecture\n" + "\n".join(texts) + "\n")
        run(program, "predict", "--quiet", "--predictor", device, "--archs", folder / "texts.csv", "--out",
            folder / "p.csv")
        with (folder / "p.csv").open() as file:
            expected = {row["architecture"]: float(row["latency_ms"]) for row in csv.DictReader(file)}
        self.assertEqual(len(expected), len(texts))
        self.assertGreater(len({f"{ms:.6g}" for ms in expected.values()}), len(texts) // 1000, "one number for many")
        run(program, "export", "--quiet", "--predictor", device, "--torchscript", folder / "d.pt", "--document",
            folder / "d.json")

        library = run(options.library, device, input="\n".join(texts).encode()).decode().split()
        self.expect_equal("C++ library", texts, map(float, library), expected)
        module = torch.jit.load(str(folder / "d.pt"))
        script = [ms for piece in pieces(texts) for ms in module.predict(piece).tolist()]
        self.expect_equal("TorchScript", texts, script, expected)
        some = texts[::every]
        with multiprocessing.Pool(2) as pool:
            read = pool.map(by_document, [(folder / "d.json", piece) for piece in pieces(some, 500)], chunksize=1)
        self.expect_equal("document", some, [ms for piece in read for ms in piece], expected)
        print(f"{len(texts)} architectures, {len(some)} of the document", flush=True)

    def expect_equal(self, what, texts, found, expected):
        found = list(found)
        self.assertEqual(len(found), len(texts), what)
        wrong = [text for text, ms in zip(texts, found) if not abs(ms / expected[text] - 1) <= TOLERANCE]
        self.assertEqual(wrong, [], f"{what}: {len(wrong)} of {len(texts)} differ")

    def test_all_cells(self):
        for device in DEVICES:
            target = self.folder / "pool" / device
            target.mkdir(parents=True)
            shutil.copy(options.source / "datasets/data" / device / "device.json", target)
            lines = (options.source / "datasets/data" / device / "latencies.csv").read_text().splitlines()[:61]
            (target / "latencies.csv").write_text("\n".join(lines) + "\n")
        measured = dict(line.split(",")[:2] for line in lines[1:11])
        names = ["none", "skip_connect", "nor_conv_1x1", "nor_conv_3x3", "avg_pool_3x3"]
        cells = []
        for number in range(5 ** 6):
            edges = [names[number // 5 ** i % 5] for i in range(6)]
            cells.append("|{}~0|+|{}~0|{}~1|+|{}~0|{}~1|{}~2|".format(*edges))
        for name, words in {**PREDICTORS, **({"help": []} if options.help_too else {})}.items():
            with self.subTest(predictor=name):
                self.expect_agreement(self.adapted(self.folder / "pool", measured, "--predictor", name, *words), cells,
                                      READ_SELDOM.get(name, 1))

    def test_random_architectures_of_a_larger_space(self):
        drawn = tenshot.Space("fbnet").random(options.architectures + 100, seed=1)
        texts = list(dict.fromkeys(drawn))[:options.architectures]
        lines = ["architecture,one,two,three"]
        latencies = {text: 3 + 0.01 * sum(map(len, text.split("|"))) + 0.02 * text.count("k5") for text in texts[:60]}
        for i, (text, ms) in enumerate(latencies.items()):
            lines.append(f"{text},{ms},{2 * ms * (1 + 0.01 * (i % 3))},{5 * ms + 1}")
        (self.folder / "wide.csv").write_text("\n".join(lines) + "\n")
        run(options.program, "dataset", "import", "--quiet", "--table", self.folder / "wide.csv", "--space", "fbnet",
            "--out", self.folder / "pool")
        device = self.adapted(self.folder / "pool", dict(list(latencies.items())[:10]), "--predictor", "operators")
        self.expect_agreement(device, texts, options.every)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *options.tests], verbosity=2)
