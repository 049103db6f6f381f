"""experiments/read_document.py against the module, for every predictor and for every way that a document has features:
/usr/bin/python3 document_test.py FOLDER_OF_MODULE PROGRAM SOURCE_FOLDER"""
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

MODULE_FOLDER, PROGRAM, SOURCE = sys.argv[1:4]
sys.path[:0] = [MODULE_FOLDER, str(pathlib.Path(SOURCE) / "experiments")]
import read_document  # noqa: E402
import tenshot  # noqa: E402

POOL = pathlib.Path(SOURCE) / "datasets" / "data"
DEVICES = ["libtorch-eager_t1_b1", "libtorch-optimized_t1_b1", "libtorch-int8_t1_b1"]
SHORT = ["--epochs", "1", "--descriptor-kind", "inferred"]
OPTIONS = {"maple-edge": SHORT, "maple-edge-plain": SHORT, "maple": SHORT}
# The image's size is the last decision, and what every layer costs depends on it.
SIZES = {"format": "tenshot.space/1", "name": "sizes", "input": {"channels": 3, "resolution": 16}, "classes": 10,
         "resolution": [16, 24, 32],
         "option_sets": {"kernels": [{"name": f"k{size}", "operators": [{"kind": "convolution", "channels": "out",
                                                                        "kernel": size}]} for size in (1, 3, 5)]},
         "layers": [{"out": 8, "repeat": 4, "options": "kernels"}],
         "head": [{"kind": "global_pool"}, {"kind": "linear", "channels": "classes"}]}


def run(*arguments):
    subprocess.run([PROGRAM, *map(str, arguments), "--quiet"], check=True)


class DocumentTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))

    def write_table(self, latencies):
        """A wide table of three devices that are not quite alike."""
        lines = ["architecture,one,two,three"]
        for i, (name, ms) in enumerate(latencies.items()):
            lines.append(f"{name},{ms},{2 * ms * (1 + 0.01 * (i % 3))},{5 * ms + 1}")
        (self.folder / "wide.csv").write_text("\n".join(lines) + "\n")
        return self.folder / "wide.csv"

    def expect_the_same(self, predictor, texts):
        document = predictor.document()
        for text, expected in zip(texts, predictor.predict(texts)):
            self.assertAlmostEqual(read_document.latency_ms(document, text) / expected, 1, delta=1e-5)

    def adapted(self, pool, measured, *options):
        run("train", "--pool", pool, "--out", self.folder / "pool.tenshot", *options)
        return tenshot.adapt(self.folder / "pool.tenshot", measured)

    def test_every_predictor_of_nasbench201(self):
        for device in DEVICES:
            target = self.folder / "pool" / device
            target.mkdir(parents=True)
            shutil.copy(POOL / device / "device.json", target)
            lines = (POOL / device / "latencies.csv").read_text().splitlines()[:61]
            (target / "latencies.csv").write_text("\n".join(lines) + "\n")
        measured = dict(line.split(",")[:2] for line in lines[1:11])
        measured = {text: float(ms) for text, ms in measured.items()}
        texts = tenshot.Space("nasbench201").random(20, seed=7)
        for name in tenshot.predictors():
            if name in ("operators", "lasso"):  # nasbench201 does not say which operators its networks execute
                continue
            with self.subTest(predictor=name):
                predictor = self.adapted(self.folder / "pool", measured, "--predictor", name, *OPTIONS.get(name, []))
                self.assertEqual(predictor.kind, name)
                self.expect_the_same(predictor, texts)

    def test_operators_of_a_layered_space(self):
        space = tenshot.Space("fbnet")
        latencies = {text: 3 + 0.01 * sum(space.parse(text)) for text in space.random(60, seed=2)}
        run("dataset", "import", "--table", self.write_table(latencies), "--space", "fbnet", "--out", self.folder / "pool")
        predictor = self.adapted(self.folder / "pool", dict(list(latencies.items())[:10]))
        self.expect_the_same(predictor, space.random(20, seed=3))

    def test_operators_of_a_space_whose_decisions_depend_on_each_other(self):
        (self.folder / "sizes.json").write_text(json.dumps(SIZES))
        space = tenshot.Space(str(self.folder / "sizes.json"))
        latencies = {text: 3 + 0.1 * sum(space.parse(text)) for text in space.list()}
        run("dataset", "import", "--table", self.write_table(latencies), "--space", self.folder / "sizes.json",
            "--out", self.folder / "pool")
        predictor = self.adapted(self.folder / "pool", dict(list(latencies.items())[::8]))
        self.assertTrue(predictor.document()["parts"])
        self.expect_the_same(predictor, space.random(20, seed=3))

    def test_operators_of_networks_by_name(self):
        models = self.folder / "models"
        run("network", "generate", "--space", "synthetic-cnn", "--count", "20", "--seed", "1", "--out", models)
        names = sorted(path.stem for path in models.glob("*.onnx"))
        latencies = {name: 2.0 + 0.1 * i for i, name in enumerate(names)}
        run("dataset", "import", "--table", self.write_table(latencies), "--space", "networks", "--networks", models,
            "--out", self.folder / "pool")
        predictor = self.adapted(self.folder / "pool", dict(list(latencies.items())[:10]))
        self.expect_the_same(predictor, names)
        for peer in ("flops", "flops-memory", "lasso", "constant"):
            with self.subTest(predictor=peer):
                self.expect_the_same(self.adapted(self.folder / "pool", dict(list(latencies.items())[:10]), "--predictor",
                                                  peer), names)
        alone = predictor.predict(str(models / f"{names[0]}.onnx"))
        self.assertEqual(alone, predictor.predict(names[0]))

    def test_another_quantity_is_read_under_the_names_of_latencies(self):
        texts = tenshot.Space("nasbench201").random(10, seed=4)
        predictor = tenshot.adapt(pathlib.Path(SOURCE) / "checkpoints" / "pool.tenshot",
                                  {text: 40.0 + i for i, text in enumerate(texts)}, quantity="energy")
        document = read_document.with_names_of_latencies(predictor.document())
        for text, expected in zip(texts, predictor.predict(texts)):
            self.assertAlmostEqual(read_document.latency_ms(document, text) / expected, 1, delta=1e-5)

    def test_a_foreign_string_is_refused(self):
        predictor = tenshot.adapt(pathlib.Path(SOURCE) / "checkpoints" / "pool.tenshot",
                                  {text: 5.0 for text in tenshot.Space("nasbench201").random(5)})
        for text in ("nonsense", "|a~0|+|b~0|c~1|+|d~0|e~1|f~2|"):
            with self.assertRaises((KeyError, ValueError)):
                read_document.latency_ms(predictor.document(), text)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
