"""One contract for what is exported: README's snippet runs on every kind of space, the TorchScript file says what the
program says, and its gradients with respect to a relaxed encoding are those of finite differences, for every predictor.
ONNX Runtime (npm's onnxruntime-node) says the same of the ONNX file; what needs it is skipped where it is not. The search by gradients of trainer/README.md finds networks that are fast.

/usr/bin/python3 torchscript_test.py FOLDER_OF_MODULE PROGRAM SOURCE_FOLDER"""
import csv
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
import warnings

try:
    import torch
except ImportError:
    print("skipped: torch not found; apt install python3-torch")
    sys.exit(77)

MODULE_FOLDER, PROGRAM, SOURCE = (pathlib.Path(argument).resolve() for argument in sys.argv[1:4])
sys.path[:0] = [str(MODULE_FOLDER)]
import tenshot  # noqa: E402

DEVICES = ["libtorch-eager_t1_b1", "libtorch-optimized_t1_b1", "libtorch-int8_t1_b1"]
SMALL = ["--epochs", "1", "--hidden", "16", "--descriptor-kind", "inferred"]
OF_CELLS = {"structured": [], "maple-edge": SMALL, "maple-edge-plain": SMALL, "maple": SMALL, "transfer": [],
            "forest": [], "flops": [], "flops-memory": [], "look-up": [], "additive": [], "constant": [], "help": []}
OF_LAYERS = ["operators", "flops", "flops-memory", "lasso", "additive", "forest", "constant", "help"]
FIXTURES = ["flops", "forest", "maple-edge", "operators", "structured"]  # predictors of release 0.1
OF_NETWORKS = ["operators", "flops", "flops-memory", "lasso", "constant"]
# Layers that cost more with a larger image, which is the last decision.
SIZES = {"format": "tenshot.space/1", "name": "sizes", "input": {"channels": 3, "resolution": 16}, "classes": 10,
         "resolution": [16, 24, 32], "width": [0.5, 1],
         "option_sets": {"kernels": [{"name": f"k{size}", "operators": [{"kind": "convolution", "channels": "out",
                                                                        "kernel": size}]} for size in (1, 3, 5)]
                                    + [{"name": "pool", "operators": [
                                        {"kind": "max_pool", "kernel": 3},
                                        {"kind": "convolution", "channels": "out", "unless": "same_shape"}]}]},
         "layers": [{"out": 8, "repeat": 4, "options": "kernels"}],
         "head": [{"kind": "global_pool"}, {"kind": "linear", "channels": "classes"}]}


def run(*words):
    subprocess.run([PROGRAM, *map(str, words), "--quiet"], check=True)


def snippet(page, beginning):
    """The Python of a page whose second line or any other begins so."""
    blocks = re.findall(r"```python\n(.*?)```", (SOURCE / page).read_text(), re.S)
    found = [block for block in blocks if beginning in block]
    assert len(found) == 1, f"{page} has {len(found)} snippets with {beginning}"
    return found[0]


def node_modules():
    """The folder of ONNX Runtime, which npm puts beside the program; None where it cannot."""
    home = PROGRAM.parent / "onnxruntime"
    done = subprocess.run([SOURCE / "experiments/shared/install_onnxruntime.sh", home], stderr=subprocess.PIPE, text=True)
    if done.returncode != 0:
        print(f"not compared with ONNX Runtime: {done.stderr}")
    return home / "node_modules" if done.returncode == 0 else None


class TorchScriptTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.node_modules = node_modules()

    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(self.folder)

    def write_table(self, latencies, column="latency_ms"):
        lines = [f"architecture,{column}", *(f"{text},{ms}" for text, ms in latencies.items())]
        (self.folder / "measured.csv").write_text("\n".join(lines) + "\n")
        return self.folder / "measured.csv"

    def import_pool(self, latencies, *words):
        """Three devices that are not quite alike."""
        lines = ["architecture,one,two,three"]
        for i, (name, ms) in enumerate(latencies.items()):
            lines.append(f"{name},{ms},{2 * ms * (1 + 0.01 * (i % 3))},{5 * ms + 1}")
        (self.folder / "wide.csv").write_text("\n".join(lines) + "\n")
        run("dataset", "import", "--table", "wide.csv", "--out", "pool", *words)

    def train(self, predictor, *words):
        """A checkpoint of the pool, pool.tenshot: of HELP after a few episodes, which a spec can ask for."""
        if predictor != "help":
            run("train", "--pool", "pool", "--out", "pool.tenshot", "--predictor", predictor, *words)
            return
        targets = sorted(path.name for path in pathlib.Path("pool").iterdir())[:1]
        spec = {"format": "tenshot.experiment/1", "name": "few", "data": {"pool": "pool"}, "split": {"train": "0:50", "test": "50:60"},
                "targets": targets, "pools": ["others"], "samplers": ["random"], "samples": [10], "trials": 1,
                "methods": [{"predictor": "help", "episodes": 20, "devices_per_episode": 2, "query": 30}]}
        pathlib.Path("few.json").write_text(json.dumps(spec))
        run("experiment", "few.json", "--out", "few")
        shutil.copy(next(pathlib.Path("few/models").iterdir()), "pool.tenshot")

    def exported(self, measured, predictor, *words, column="latency_ms"):
        """The predictor, and what is exported of it in out/device.pt."""
        self.train(predictor, *words)
        run("adapt", "--checkpoint", "pool.tenshot", "--measurements", self.write_table(measured, column), "--out",
            "device.tenshot")
        run("export", "--predictor", "device.tenshot", "--torchscript", "out/device.pt", "--onnx", "out/device.onnx",
            "--confidence", "0.8")
        return tenshot.load("device.tenshot")

    def expect_contract(self, predictor, texts):
        """README's snippet on these architectures, and each method against the program's library."""
        expected = torch.tensor(predictor.predict(texts))
        code = re.sub(r"^cells = .*$", "cells = given", snippet("README.md", "torch.jit.load(\"out/device.pt\")"),
                      flags=re.M)
        if not predictor.has_intervals:
            code = re.sub(r"^.*predict_interval.*$", "", code, flags=re.M)
        names = {"given": texts}
        exec(code, names)
        module = names["predictor"]
        self.expect_close(module.predict(texts), expected)
        self.expect_close(module.forward(module.encode(texts)), expected)
        self.assertEqual(hasattr(module, "predict_interval"), predictor.has_intervals)
        if predictor.has_intervals:
            for found, bound in zip(module.predict_interval(texts, 0.8), predictor.predict_interval(texts, 0.8)):
                self.expect_close(found, torch.tensor(bound), 1e-2)
        self.expect_same_in_onnx("out/device.onnx", module.encode(texts), predictor, texts)
        with self.assertRaisesRegex(Exception, "neither-this-nor-that"):
            module.predict([texts[0], "neither-this-nor-that"])
        self.assertEqual(module.predict([]).numel(), 0)
        return module

    def expect_same_in_onnx(self, model, encoding, predictor, texts, confidence=0.8):
        """ONNX Runtime gives of these encodings what the predictor says of the architectures."""
        if self.node_modules is None:
            return
        encoding.float().numpy().tofile("input.bin")
        pathlib.Path("jobs.json").write_text(json.dumps([{"model": str(model), "input": "input.bin", "output": "output.bin",
                                                          "shape": list(encoding.shape)}]))
        subprocess.run(["node", SOURCE / "tests/integration/infer_onnx.js", "jobs.json"], check=True,
                       env={**os.environ, "TENSHOT_NODE_MODULES": str(self.node_modules)})
        found = torch.from_file("output.bin", size=os.path.getsize("output.bin") // 4).view(-1, len(texts))
        expected = predictor.predict_interval(texts, confidence) if predictor.has_intervals else [predictor.predict(texts)]
        self.assertEqual(len(found), len(expected))
        for values, others in zip(found, expected):
            self.expect_close(values, torch.tensor(others), 1e-6)

    def expect_close(self, found, expected, tolerance=1e-5):
        self.assertEqual(found.shape, expected.shape)
        self.assertLess(float((found.double() / expected - 1).abs().max()), tolerance)

    def expect_gradients(self, module, points):
        """Of latency at each of the points, against central differences along three directions."""
        module = module.double()
        random = torch.Generator().manual_seed(7)
        steepest = 0.0
        for point in points:
            point = point.double().unsqueeze(0).requires_grad_()
            latency = module(point)
            latency.sum().backward()
            for _ in range(3):
                direction = torch.randn(point.shape, generator=random, dtype=torch.float64) * point.detach()
                step = 1e-6
                with torch.no_grad():
                    differences = float((module(point + step * direction) - module(point - step * direction)).sum())
                slope = float((point.grad * direction).sum())
                self.assertAlmostEqual(slope / float(latency), differences / (2 * step) / float(latency), delta=1e-6)
                steepest = max(steepest, abs(slope) / float(latency))
        return steepest

    def relaxed(self, decisions, count=4):
        """Encodings that hold probabilities of options."""
        random = torch.Generator().manual_seed(5)
        return [torch.cat([torch.softmax(torch.randn(options, generator=random), 0) for options in decisions])
                for _ in range(count)]

    def expect_contract_of_a_space(self, space, latencies, predictors, *words):
        self.import_pool(latencies, *words)
        texts = list(latencies)
        for name in predictors:
            with self.subTest(predictor=name):
                predictor = self.exported(dict(list(latencies.items())[:10]), name)
                module = self.expect_contract(predictor, texts[10:30])
                self.assertEqual(list(module.decisions), list(space.decisions))
                steepest = self.expect_gradients(module, self.relaxed(space.decisions))
                self.assertEqual(steepest > 1e-4, name != "constant")

    def test_cells(self):
        for device in DEVICES:
            target = self.folder / "pool" / device
            target.mkdir(parents=True)
            shutil.copy(SOURCE / "datasets/data" / device / "device.json", target)
            lines = (SOURCE / "datasets/data" / device / "latencies.csv").read_text().splitlines()[:61]
            (target / "latencies.csv").write_text("\n".join(lines) + "\n")
        measured = dict(line.split(",")[:2] for line in lines[1:11])
        space = tenshot.Space("nasbench201")
        for name, words in OF_CELLS.items():
            with self.subTest(predictor=name):
                module = self.expect_contract(self.exported(measured, name, *words), space.random(40, seed=3))
                steepest = self.expect_gradients(module, self.relaxed(space.decisions))
                self.assertEqual(steepest > 1e-4, name != "constant")

    def test_expected_latency_of_relaxed_cells_is_the_mean_over_all_cells(self):
        ten = tenshot.Space("nasbench201").random(10, seed=2)
        predictor = tenshot.adapt(SOURCE / "checkpoints/pool.tenshot", {text: 3.0 + len(text) / 9 for text in ten})
        predictor.export_torchscript("device.pt")
        module = torch.jit.load("device.pt")
        chances = self.relaxed(module.decisions, 1)[0].double()
        all_cells = tenshot.Space("nasbench201").list()
        probability = torch.where(module.encode(all_cells) > 0.5, chances, torch.ones(())).prod(1)
        self.assertAlmostEqual(float(probability.sum()), 1, delta=1e-6)
        self.assertAlmostEqual(float(module(chances.unsqueeze(0)) / (probability @ module.predict(all_cells))), 1,
                               delta=1e-6)

    def test_fbnet(self):
        space = tenshot.Space("fbnet")
        latencies = {text: 3 + 2e-8 * space.multiply_adds(text) for text in space.random(60, seed=2)}
        self.expect_contract_of_a_space(space, latencies, OF_LAYERS, "--space", "fbnet")

    def test_once_for_all_whose_resolution_is_a_decision(self):
        space = tenshot.Space("ofa")
        latencies = {text: 3 + 2e-8 * space.multiply_adds(text) for text in space.random(60, seed=2)}
        self.expect_contract_of_a_space(space, latencies, ["operators", "flops"], "--space", "ofa")

    def test_detectors_whose_width_and_depths_are_decisions(self):
        file = str(SOURCE / "nasbench/spaces/examples/yolo.json")
        space = tenshot.Space(file)
        latencies = {text: 3 + 2e-9 * space.multiply_adds(text) for text in space.random(60, seed=2)}
        self.expect_contract_of_a_space(space, latencies, ["operators", "lasso"], "--space", file)

    def test_a_space_of_ones_own_warm_and_cold(self):
        pathlib.Path("sizes.json").write_text(json.dumps(SIZES))
        space = tenshot.Space("sizes.json")
        latencies = {text: 3 + 1e-6 * space.multiply_adds(text) for text in space.random(80, seed=2)}
        self.expect_contract_of_a_space(space, latencies, ["operators", "flops-memory"], "--space", "sizes.json")
        shutil.rmtree("pool")
        starts = {text: 20 + 9 * ("pool" in text) + 7 * ("k5" in text) + 1e-6 * space.multiply_adds(text)
                  for text in latencies}
        self.import_pool(starts, "--space", "sizes.json", "--quantity", "cold")
        predictor = self.exported(dict(list(starts.items())[:10]), "operators", "--quantity", "cold", column="cold_ms")
        module = self.expect_contract(predictor, list(starts)[10:40])
        self.assertEqual((module.quantity, module.unit), ("cold", "ms"))
        self.expect_gradients(module, self.relaxed(space.decisions))

    def test_networks_by_name_and_files_that_nobody_knew(self):
        rows = ["network,index,operation,input_size,input_channels,output_size,stride,kernel,filters,groups"]
        for i in range(24):  # of convolutions and a linear layer: all else is unknown
            width = 16 + 4 * i
            rows += [f"plain{i},0,conv_2d,64,3,32,2,3,{width},1", f"plain{i},1,conv_2d,32,{width},32,1,{1 + 2 * (i % 3)},{width},1",
                     f"plain{i},2,fully_connected,,{width},,,,{1000 - 30 * i},"]
        pathlib.Path("plain.csv").write_text("\n".join(rows) + "\n")
        names = tenshot.networks("plain.csv")
        latencies = {name: 2.0 + 0.1 * i for i, name in enumerate(names)}
        self.import_pool(latencies, "--space", "networks", "--networks", "plain.csv")
        run("network", "generate", "--space", "synthetic-cnn", "--count", "12", "--seed", "3", "--out", "others")
        others = sorted(str(path) for path in pathlib.Path("others").glob("*.onnx"))
        for name in OF_NETWORKS:
            with self.subTest(predictor=name):
                predictor = self.exported(dict(list(latencies.items())[:10]), name)
                self.expect_contract_of_networks(predictor, names, others)

    def test_sums_of_kernels(self):
        rows = ["kernel,operation,inputs,output,window,stride,dilation,groups,latency_ms"]
        for size in (8, 16, 32):
            for width in (16, 48, 96):
                rows.append(f"convolution,convolution,1x{width}x{size}x{size},1x{width}x{size}x{size},3x3,1x1,1x1,1,"
                            f"{1e-3 + 1e-8 * 9 * (width * size) ** 2:.6f}")
        pathlib.Path("kernels.csv").write_text("\n".join(rows) + "\n")
        run("network", "generate", "--space", "synthetic-cnn", "--count", "12", "--seed", "3", "--out", "models")
        networks = sorted(str(path) for path in pathlib.Path("models").glob("*.onnx"))
        names = tenshot.networks("models")
        measured = self.write_table({name: 5 + 0.5 * i for i, name in enumerate(names[:8])})
        for words in ([], ["--networks", "models", "--measurements", measured]):
            with self.subTest(words=words):
                run("kernels", "train", "--kernels", "kernels.csv", "--out", "device.tenshot", *words)
                run("export", "--predictor", "device.tenshot", "--torchscript", "out/device.pt", "--onnx", "out/device.onnx",
                    "--confidence", "0.8")
                predictor = tenshot.load("device.tenshot")
                self.expect_contract_of_networks(predictor, names[:8] if words else [], networks)

    def expect_contract_of_networks(self, predictor, names, others):
        """Of names that the file carries, and of files by their features."""
        module = self.expect_contract(predictor, names) if names else torch.jit.load("out/device.pt")
        run("network", "features", "--predictor", "device.tenshot", *others, "--out", "features.csv")
        with open("features.csv", newline="") as file:
            rows = list(csv.reader(file))
        self.assertEqual([row[0] for row in rows[1:]], [pathlib.Path(other).stem for other in others])
        warnings.simplefilter("ignore")  # that they are unlike the pool
        features = torch.tensor([[float(value) for value in row[1:]] for row in rows[1:]], dtype=torch.float64)
        self.expect_close(module(features), torch.tensor(predictor.predict(others)))
        self.expect_same_in_onnx("out/device.onnx", features, predictor, others)
        self.expect_gradients(module, features)
        if not predictor.has_intervals:
            return
        self.assertGreater(float(features[:, -1].max()), 0, "no network has operators that the pool has not")
        for found, bound in zip(module.forward_interval(features, 0.8), predictor.predict_interval(others, 0.8)):
            self.expect_close(found, torch.tensor(bound), 1e-2)

    def test_predictors_of_earlier_releases_in_onnx(self):
        for name in FIXTURES:
            with self.subTest(predictor=name):
                predictor = tenshot.load(SOURCE / f"tests/fixtures/1/{name}-device.tenshot")
                predictor.export_torchscript("old.pt")
                predictor.export_onnx("old.onnx", confidence=0.95)
                own = SOURCE / "tests/fixtures/space.json"
                texts = tenshot.Space(own if name == "operators" else "nasbench201").random(50, seed=4)
                encoding = torch.jit.load("old.pt").encode(texts)
                self.expect_same_in_onnx("old.onnx", encoding, predictor, texts, 0.95)
        with self.assertRaisesRegex(tenshot.InputError, "confidence 1.5"):
            predictor.export_onnx("old.onnx", confidence=1.5)

    def test_features_of_a_predictor_that_reads_strings_are_refused(self):
        ten = tenshot.Space("nasbench201").random(10, seed=2)
        tenshot.adapt(SOURCE / "checkpoints/pool.tenshot", {text: 3.0 + len(text) / 9 for text in ten}).save("d.tenshot")
        done = subprocess.run([PROGRAM, "network", "features", "--predictor", "d.tenshot", "a.onnx", "--out", "f.csv"],
                              stderr=subprocess.PIPE, text=True)
        self.assertEqual(done.returncode, 1)
        self.assertIn("features are of networks by name", done.stderr)
        self.assertFalse(pathlib.Path("f.csv").exists())

    def test_search_that_asks_and_tells(self):
        sys.path[:0] = [str(SOURCE / "experiments")]
        import ask_and_tell
        space = tenshot.Space("fbnet")
        latencies = {text: 3 + 2e-8 * space.multiply_adds(text) for text in space.random(60, seed=2)}
        self.import_pool(latencies, "--space", "fbnet")
        predictor = self.exported(dict(list(latencies.items())[:10]), "operators")
        module = torch.jit.load("out/device.pt")
        worth = torch.rand(sum(space.decisions), generator=torch.Generator().manual_seed(1)).split(list(space.decisions))
        worth = [options.tolist() for options in worth]
        drawn = space.random(1000, seed=9)
        upper = predictor.predict_interval(drawn, 0.9)[2]
        limit = float(sorted(upper)[300])
        value, choices = ask_and_tell.search(module, worth, limit, 1500).best
        self.assertLessEqual(predictor.predict_interval([space.format(choices)], 0.9)[2][0], limit * 1.001)
        within = [sum(options[choice] for options, choice in zip(worth, space.parse(text)))
                  for text, bound in zip(drawn, upper) if bound <= limit]
        self.assertGreater(value, max(within), "no better than the best of a thousand random ones within the limit")

    def test_search_by_gradients(self):
        space = tenshot.Space("fbnet")
        latencies = {text: 3 + 2e-8 * space.multiply_adds(text) for text in space.random(60, seed=2)}
        self.import_pool(latencies, "--space", "fbnet")
        predictor = self.exported(dict(list(latencies.items())[:10]), "operators")
        worth = torch.rand(sum(space.decisions), generator=torch.Generator().manual_seed(1))
        names = {"task_loss": lambda chances: -(worth * chances).sum()}
        shutil.copy("out/device.pt", "device.pt")
        torch.manual_seed(1)
        exec(snippet("trainer/README.md", "predictor.decisions"), names)
        found = space.format(names["best"])
        drawn = space.random(1000, seed=9)

        def loss_of(texts):
            encoding = names["predictor"].encode(texts)
            return torch.log(names["predictor"](encoding)) - encoding.double() @ worth.double()
        self.assertLess(float(loss_of([found])), float(loss_of(drawn).min()), "no better than a thousand random ones")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
