"""The Python module against the program: /usr/bin/python3 module_test.py FOLDER_OF_MODULE PROGRAM SOURCE_FOLDER"""
import ast
import copy
import csv
import importlib.util
import inspect
import json
import os
import pathlib
import pickle
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import types
import unittest

import made_up_board
import numpy

MODULE_FOLDER, PROGRAM, SOURCE = sys.argv[1:4]
sys.path.insert(0, MODULE_FOLDER)
import tenshot  # noqa: E402

CHECKPOINT = pathlib.Path(SOURCE) / "checkpoints" / "pool.tenshot"
LATENCIES = pathlib.Path(SOURCE) / "datasets" / "data" / "libtorch-eager_t1_b1" / "latencies.csv"


def read_latencies(path):
    with open(path, newline="") as file:
        return {row["architecture"]: float(row["latency_ms"]) for row in csv.DictReader(file)}


class ModuleTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.measured = read_latencies(LATENCIES)
        cls.ten = tenshot.plan(CHECKPOINT, samples=10, candidates=list(cls.measured))
        cls.predictor = tenshot.adapt(CHECKPOINT, {text: cls.measured[text] for text in cls.ten})

    def test_plan_gives_distinct_candidates(self):
        self.assertEqual(len(set(self.ten)), 10)
        self.assertTrue(set(self.ten) <= set(self.measured))

    def test_predictions_are_those_of_the_program(self):
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            self.predictor.save(folder / "device.tenshot")
            subprocess.run([PROGRAM, "predict", "--predictor", folder / "device.tenshot", "--archs", LATENCIES,
                            "--out", folder / "predictions.csv"], check=True)
            expected = read_latencies(folder / "predictions.csv")
            loaded = tenshot.load(folder / "device.tenshot")
        texts = list(expected)
        self.assertTrue(numpy.array_equal(loaded.predict(texts), [expected[text] for text in texts]))
        self.assertEqual(loaded.predict(texts[0]), expected[texts[0]])

    def test_intervals_hold_their_latency_and_widen_with_confidence(self):
        texts = list(self.measured)[:50]
        latency, lower, upper = self.predictor.predict_interval(texts, confidence=0.8)
        _, wider_lower, wider_upper = self.predictor.predict_interval(texts, confidence=0.99)
        self.assertTrue(((lower <= latency) & (latency <= upper)).all())
        self.assertTrue(((wider_lower <= lower) & (upper <= wider_upper)).all())

    def test_ten_measurements_predict_the_others(self):
        others = [text for text in self.measured if text not in self.ten]
        error = self.predictor.predict(others) / numpy.array([self.measured[text] for text in others]) - 1
        self.assertGreater((abs(error) <= 0.1).mean(), 0.8)

    def test_a_known_device_needs_no_measurement(self):
        known = tenshot.device("libtorch-eager_t1_b1", checkpoint=CHECKPOINT)
        texts = list(self.measured)
        error = known.predict(texts) / numpy.array([self.measured[text] for text in texts]) - 1
        self.assertGreater((abs(error) <= 0.1).mean(), 0.8)
        like = tenshot.adapt(CHECKPOINT, like="libtorch-eager_t1_b1")
        self.assertTrue(numpy.array_equal(like.predict(texts), known.predict(texts)))
        with self.assertRaisesRegex(tenshot.InputError, "predicts latency, asked for energy"):
            tenshot.adapt(CHECKPOINT, like="libtorch-eager_t1_b1", quantity="energy")
        with self.assertRaisesRegex(tenshot.InputError, "most like it: libtorch-eager_t1_b1"):
            tenshot.device("libtorch-eagr_t1_b1", checkpoint=CHECKPOINT)
        with self.assertRaisesRegex(tenshot.InputError, "needs measurements"):
            tenshot.adapt(CHECKPOINT)

    def test_without_a_checkpoint_the_shipped_one_is_taken(self):
        self.assertEqual(len(tenshot.plan(samples=3, candidates=list(self.measured), profile=True)), 3)
        self.assertEqual(tenshot.adapt(like="pixel4_gpu_float").space, "networks")

    def test_what_runs_the_networks_is_said_where_it_tells_something(self):
        for use in (lambda: tenshot.plan(CHECKPOINT, samples=3, runtime="ncnn"),
                    lambda: tenshot.adapt(CHECKPOINT, self.measured, runtime="ncnn")):
            with self.assertRaisesRegex(tenshot.InputError, "makes nothing of a device's runtime"):
                use()

    def test_what_would_have_no_effect_is_refused(self):
        for use in (lambda: tenshot.plan(CHECKPOINT, samples=0), lambda: tenshot.plan(CHECKPOINT, samples=3, fleet=True),
                    lambda: tenshot.adapt(CHECKPOINT, like="libtorch-eager_t1_b1", fleet=True),
                    lambda: self.predictor.predict(self.ten, shapes={"image": [1, 3, 2, 2]})):
            self.assertRaises(tenshot.InputError, use)

    def test_in_a_list_what_is_refused_is_nan(self):
        slowest = sorted(self.measured, key=self.measured.get)[-3:]
        wild = tenshot.adapt(CHECKPOINT, {text: self.measured[text] * factor for text, factor in zip(slowest, (1, 30, 1 / 30))})
        with self.assertWarnsRegex(UserWarning, "of 15625 predictions are NaN: .* is too unlike all that was measured"):
            refused = wild.to_frame()["latency_ms"].isna()
        self.assertGreater(refused.sum(), 0)
        self.assertLess(refused.sum(), 15625)
        with self.assertRaisesRegex(tenshot.InputError, "is too unlike all that was measured"):
            wild.predict(refused.index[refused][0])

    def test_errors_are_classes_of_the_module(self):
        with self.assertRaises(tenshot.InputError) as raised:
            self.predictor.predict("|nonsense|")
        self.assertIsInstance(raised.exception, ValueError)
        self.assertIsInstance(raised.exception, tenshot.Error)
        with self.assertRaises(tenshot.FileError):
            tenshot.load("missing.tenshot")
        with self.assertRaises(tenshot.FormatError):
            tenshot.load(LATENCIES)
        with self.assertRaises(tenshot.InputError):
            tenshot.adapt(CHECKPOINT, {self.ten[0]: -1.0})
        with self.assertRaises(tenshot.InputError):
            self.predictor.predict_interval(self.ten, confidence=1.5)

    def test_card_says_what_the_predictor_was_made_from(self):
        self.assertEqual(self.predictor.card["predictor"], "structured")
        self.assertEqual(self.predictor.space, "nasbench201")
        self.assertIn("structured", tenshot.predictors())

    def test_energies_have_their_own_unit(self):
        energies = {text: 3 * self.measured[text] for text in self.ten}
        predictor = tenshot.adapt(CHECKPOINT, energies, quantity="energy")
        self.assertEqual((predictor.quantity, predictor.unit), ("energy", "mJ"))
        self.assertEqual((self.predictor.quantity, self.predictor.unit), ("latency", "ms"))
        self.assertEqual(predictor.card["quantity"], "energy")
        self.assertNotIn("quantity", self.predictor.card)
        self.assertIn("costs_mj", predictor.document()["components"][0])
        with self.assertRaises(tenshot.InputError):
            tenshot.adapt(CHECKPOINT, energies, quantity="speed")

    def test_threads_share_one_predictor(self):
        texts = list(self.measured)[:200]
        expected = self.predictor.predict(texts)
        found = [None] * 4

        def predict(i):
            found[i] = self.predictor.predict(texts)

        threads = [threading.Thread(target=predict, args=(i,)) for i in range(len(found))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for result in found:
            self.assertTrue(numpy.array_equal(result, expected))

    def test_planning_adapting_and_predicting_load_no_libtorch(self):
        script = (
            "import sys; sys.path.insert(0, sys.argv[1]); import tenshot\n"
            "ten = tenshot.plan(sys.argv[2]); tenshot.adapt(sys.argv[2], {text: 5.0 for text in ten}).predict(ten)\n"
            "assert 'libtorch' not in open('/proc/self/maps').read()\n")
        subprocess.run([sys.executable, "-c", script, MODULE_FOLDER, CHECKPOINT], check=True)

    def test_predicting_an_onnx_file_loads_no_libtorch(self):
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run([PROGRAM, "network", "generate", "--space", "synthetic-cnn", "--count", "2", "--seed", "1", "--out",
                            folder, "--quiet"], check=True)
            script = (
                "import sys; sys.path.insert(0, sys.argv[1]); import glob, tenshot\n"
                "predictor = tenshot.load(sys.argv[2]); assert predictor.kind == 'operators'\n"
                "files = sorted(glob.glob(sys.argv[3] + '/*.onnx')); latency = predictor.predict(files)\n"
                "assert latency.shape == (2,) and (latency > 0).all()\n"
                "assert 'libtorch' not in open('/proc/self/maps').read() and 'torch' not in sys.modules\n")
            subprocess.run([sys.executable, "-c", script, MODULE_FOLDER, made_up_board.write(PROGRAM, folder), folder], check=True)

    def test_networks_of_a_folder_are_planned_adapted_to_and_predicted(self):
        with tempfile.TemporaryDirectory() as folder:
            made_up_board.write(PROGRAM, folder)
            folder = pathlib.Path(folder)
            subprocess.run([PROGRAM, "network", "generate", "--space", "synthetic-cnn", "--count", "3", "--seed", "7", "--out",
                            folder / "new", "--quiet"], check=True)
            names = tenshot.networks(folder / "new")
            self.assertEqual(names, sorted(path.stem for path in (folder / "new").glob("*.onnx")))
            (folder / "new" / "pointer.onnx").write_text("version https://git-lfs.github.com/spec/v1\n")
            with self.assertWarnsRegex(UserWarning, "pointer.onnx' is a Git LFS pointer"):
                self.assertEqual(tenshot.networks(folder / "new"), names)
            checkpoint = folder / "pool.tenshot"
            self.assertEqual(sorted(tenshot.plan(checkpoint, samples=3, candidates=names)), names)
            with self.assertRaisesRegex(tenshot.InputError, "has the runtime 'TensorRT'"):
                tenshot.plan(checkpoint, samples=3, candidates=names, runtime="TensorRT")
            predictor = tenshot.adapt(checkpoint, {name: 5.0 + i for i, name in enumerate(names)})
            self.assertEqual(predictor.space, "networks")
            of_files = tenshot.adapt(checkpoint, {folder / "new" / f"{name}.onnx": 5.0 + i for i, name in enumerate(names)})
            self.assertEqual(of_files.predict(names[0]), predictor.predict(names[0]))
            self.assertEqual(predictor.predict(str(folder / "new" / f"{names[0]}.onnx")), predictor.predict(names[0]))
            self.assertIn(names[0], tenshot.Space("networks"))

    def test_measurements_are_a_dict_a_table_a_folder_or_a_kit(self):
        with tempfile.TemporaryDirectory() as folder:
            undescribed = pathlib.Path(folder) / "device"  # else its hardware descriptor tells more than the file
            shutil.copytree(pathlib.Path(LATENCIES).parent, undescribed)
            device = json.loads((undescribed / "device.json").read_text())
            device["descriptor"] = {"counters": [], "operators": [], "source": "none"}
            (undescribed / "device.json").write_text(json.dumps(device))
            from_file, from_folder = tenshot.adapt(CHECKPOINT, LATENCIES), tenshot.adapt(CHECKPOINT, undescribed)
        from_dict = tenshot.adapt(CHECKPOINT, self.measured)
        texts = list(self.measured)[:50]
        self.assertTrue(numpy.array_equal(from_file.predict(texts), from_folder.predict(texts)))
        self.assertTrue(numpy.allclose(from_file.predict(texts), from_dict.predict(texts), rtol=1e-6))
        kit = pathlib.Path(SOURCE) / "tests" / "fixtures" / "1" / "kit"
        self.assertEqual(len(tenshot.adapt(CHECKPOINT, kit).card["adaptation_set"]), len(list((kit / "results").glob("arch_*"))))
        with self.assertRaises(tenshot.FileError):
            tenshot.adapt(CHECKPOINT, pathlib.Path("/nowhere/latencies.csv"))

    def test_what_names_one_network_twice_counts_once(self):
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run([PROGRAM, "network", "generate", "--space", "synthetic-cnn", "--count", "3", "--seed", "7", "--out",
                            folder, "--quiet"], check=True)
            first, *others = sorted(pathlib.Path(folder).glob("*.onnx"))
            again = first.parent / "." / ".." / first.parent.name / first.name
            planned = tenshot.plan("networks", candidates=[first, str(again), *others], samples=3)
            self.assertEqual(len(set(planned)), 3)
            measured = types.MappingProxyType({first: 10, str(again): 30, others[0]: "5"})
            predictor = tenshot.adapt("networks", measured)
            self.assertEqual(predictor.verdict.measurements, 2)
            self.assertIn(20, [row["latency_ms"] for row in predictor.card["adaptation_set"]])

    def test_measurements_that_are_no_numbers_are_named(self):
        for value in (None, "fast", [1.0]):
            with self.assertRaisesRegex(tenshot.InputError, "has " + re.escape(repr(value))):
                tenshot.adapt(CHECKPOINT, {self.ten[0]: value})
        with self.assertRaisesRegex(tenshot.InputError, "candidates holds no architecture"):
            tenshot.plan(candidates=[])
        with self.assertRaisesRegex(tenshot.InputError, "there is no quantity 'power'"):
            tenshot.plan(CHECKPOINT, quantity="power")

    def test_measurements_in_several_files_count_by_their_median(self):
        with tempfile.TemporaryDirectory() as folder:
            files = []
            for factor in (1, 1.1, 0.5):
                files.append(pathlib.Path(folder) / f"{factor}.csv")
                rows = [f"{text},{factor * self.measured[text]}\n" for text in self.ten]
                files[-1].write_text("architecture,latency_ms\n" + "".join(rows))
            texts = list(self.measured)[:50]
            from_all, from_first = tenshot.adapt(CHECKPOINT, files), tenshot.adapt(CHECKPOINT, files[0])
            self.assertTrue(numpy.array_equal(from_all.predict(texts), from_first.predict(texts)))

    def test_a_fleet_has_wider_intervals(self):
        with tempfile.TemporaryDirectory() as folder:
            files = []
            for factor in (1, 1.1, 0.95):
                files.append(pathlib.Path(folder) / f"board{factor}.csv")
                rows = "".join(f'"{text}",{self.measured[text] * factor}\n' for text in self.ten)
                files[-1].write_text("architecture,latency_ms\n" + rows)
            fleet, rounds = (tenshot.adapt(CHECKPOINT, files, fleet=several) for several in (True, False))
            with self.assertRaisesRegex(tenshot.InputError, "a fleet needs measurements of at least two boards"):
                tenshot.adapt(CHECKPOINT, files[0], fleet=True)
            further = tenshot.plan(CHECKPOINT, samples=3, measured=files, fleet=True)
            with self.assertRaisesRegex(tenshot.InputError, "a fleet needs measurements of at least two boards"):
                tenshot.plan(CHECKPOINT, samples=3, measured=files[0], fleet=True)
        with self.assertRaisesRegex(tenshot.InputError, "fleet is of several files"):
            tenshot.adapt(CHECKPOINT, {self.ten[0]: 1.0}, fleet=True)
        self.assertEqual(len(set(further) - set(self.ten)), 3)
        self.assertIn("Measured on 3 boards that differ by 7.", fleet.explanation)
        width = [numpy.median(upper / lower) for _, lower, upper in (p.predict_interval(self.ten) for p in (fleet, rounds))]
        self.assertGreater(width[0], 1.1 * width[1])

    def test_arrays_go_in_and_come_out(self):
        texts = numpy.array(self.ten)
        latency = self.predictor.predict(texts)
        self.assertEqual((latency.dtype, latency.shape), (numpy.float64, (10,)))
        self.assertTrue(numpy.array_equal(latency, self.predictor.predict(self.ten)))
        again = tenshot.adapt(CHECKPOINT, dict(zip(texts, numpy.array([self.measured[text] for text in self.ten]))))
        self.assertTrue(numpy.array_equal(again.predict(self.ten), latency))
        self.assertEqual(self.predictor.predict([]).shape, (0,))

    def test_everything_says_what_it_does(self):
        members = [tenshot, *(getattr(tenshot, name) for name in dir(tenshot) if not name.startswith("_"))]
        for kind in (tenshot.Predictor, tenshot.Space, tenshot.Verdict, tenshot.LatencyRegressor):
            members += [getattr(kind, name) for name in dir(kind) if not name.startswith("_")]
        for member in members:
            if not (isinstance(member, type) and issubclass(member, Exception)):
                self.assertGreater(len((member.__doc__ or "").split(") -> ")[-1].split()), 4, member)
        self.assertEqual(repr(tenshot.Space("fbnet")), "<tenshot.Space 'fbnet'>")
        self.assertIn("'structured' of latency", repr(self.predictor))

    def test_spaces_count_what_their_networks_execute(self):
        space = tenshot.Space("fbnet")
        text = space.random(1)[0]
        self.assertGreater(space.multiply_adds(text), 1e7)
        self.assertGreater(space.parameters(text), 1e6)
        self.assertTrue(space.operators(text)[0].startswith("convolution 3x3 stride 2x2 1x3x224x224"))
        with self.assertRaises(tenshot.InputError):
            tenshot.Space("nasbench201").multiply_adds(self.ten[0])

    def test_spaces_parse_what_they_list_and_draw(self):
        space = tenshot.Space("nasbench201")
        self.assertIn("nasbench201", tenshot.spaces())
        self.assertEqual((space.size, len(space.list())), (15625, 15625))
        text = space.list()[4321]
        self.assertEqual(space.format(space.parse(text)), text)
        self.assertIn(text, space)
        self.assertNotIn("|nonsense|", space)
        self.assertEqual(space.random(3, seed=5), space.random(3, seed=5))
        for wrong in ([0] * 5, [9] * 6):
            with self.assertRaises(tenshot.InputError):
                space.format(wrong)
        large = tenshot.Space("fbnet")
        self.assertTrue(all(text in large for text in large.random(3)))
        with self.assertRaises(tenshot.InputError):
            large.list()

    def test_predictors_of_a_search_space_refuse_onnx_files(self):
        with self.assertRaisesRegex(tenshot.InputError, "of the space nasbench201"):
            self.predictor.predict("model.onnx", shapes={"image": [1, 3, 32, 32]})

    def test_progress_is_told_and_what_it_raises_stops_the_training(self):
        measured = {text: self.measured[text] for text in self.ten}
        network = pathlib.Path(SOURCE) / "checkpoints" / "maple-edge.tenshot"

        class Enough(Exception):
            pass

        def stop(epoch, epochs, loss):
            self.assertTrue(1 <= epoch <= epochs and loss >= 0)
            raise Enough

        with self.assertRaises(Enough):
            tenshot.adapt(network, measured, on_progress=stop)

    def test_the_types_are_those_of_the_module(self):
        """Same names, and of every function the same arguments in the same order."""
        stub = ast.parse((pathlib.Path(MODULE_FOLDER) / "tenshot/__init__.pyi").read_text())

        def arguments_of(function):
            """One tuple for each way to call it, as it is defined in Python, or as its docstring shows them."""
            if inspect.isfunction(function):
                names = tuple(name for name in inspect.signature(function).parameters if name != "self")
                return {tuple(name for name in names if name != "parameters")}
            signatures = re.findall(r"^(?:\d+\. )?" + function.__name__ + r"\((.*)\) -> ", function.__doc__, re.MULTILINE)
            found = set()
            for text in signatures:
                while "[" in text:  # types within types
                    text = re.sub(r"\[[^\[\]]*\]", "", text)
                names = [re.match(r"\w*", part).group() for part in text.split(", ")]
                found.add(tuple(name for name in names if name not in ("self", "")))
            return found

        def compare(nodes, owner):
            named = {}
            for node in nodes:
                if isinstance(node, (ast.ClassDef, ast.FunctionDef)):
                    named.setdefault(node.name, []).append(node)
            public = {name for name, value in vars(owner).items()
                      if not name.startswith("_") and not isinstance(value, str) and not inspect.ismodule(value)}
            self.assertEqual({name for name in named if not name.startswith("_")}, public)
            for name, versions in named.items():
                if isinstance(versions[0], ast.ClassDef):
                    if not issubclass(getattr(owner, name), Exception):
                        compare(versions[0].body, getattr(owner, name))
                    continue
                if versions[0].decorator_list and versions[0].decorator_list[0].id == "property":
                    self.assertIsInstance(vars(owner)[name], property)
                    continue
                if name.startswith("_") or name in ("space_from_modules", "spaces", "predictors"):
                    continue
                expected = {tuple(a.arg for a in v.args.args + v.args.kwonlyargs if a.arg != "self") for v in versions}
                self.assertEqual(arguments_of(getattr(owner, name)), expected, name)

        compare(stub.body, tenshot)

    def test_predictors_are_pickled_and_copied_with_their_verdict(self):
        for again in (pickle.loads(pickle.dumps(self.predictor)), copy.deepcopy(self.predictor)):
            self.assertTrue(numpy.array_equal(again.predict(self.ten), self.predictor.predict(self.ten)))
            self.assertEqual(str(again.verdict), str(self.predictor.verdict))

    def test_verdict_and_remarks_are_what_the_program_says(self):
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            rows = [f"{text},{self.measured[text]}\n" for text in self.ten]
            (folder / "measured.csv").write_text("architecture,latency_ms\n" + "".join(rows))
            said = json.loads(subprocess.run(
                [PROGRAM, "adapt", "--checkpoint", CHECKPOINT, "--measurements", folder / "measured.csv", "--out",
                 folder / "device.tenshot", "--json"], check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout)
            verdict = self.predictor.verdict
            for key in ("trust", "measurements", "warnings"):
                self.assertEqual(getattr(verdict, key), said["verdict"][key])
            for key in ("within_percent", "within_percent_after_three_more"):
                self.assertAlmostEqual(getattr(verdict, key), said["verdict"][key], places=6)
            self.assertEqual(self.predictor.remarks, [remark["text"] for remark in said["remarks"] if "warns" in remark])
            self.assertEqual(str(tenshot.load(folder / "device.tenshot").verdict), str(verdict))
            self.predictor.save(folder / "saved.tenshot")
            self.assertEqual(str(tenshot.load(folder / "saved.tenshot").verdict), str(verdict))

    def test_what_the_program_would_warn_of_is_a_warning(self):
        wild = {text: self.measured[text] * (30 if i % 2 else 1) for i, text in enumerate(self.ten)}
        with self.assertWarnsRegex(UserWarning, "Warning: "):
            predictor = tenshot.adapt(CHECKPOINT, wild)
        self.assertEqual(predictor.verdict.trust, "doubtful")
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            rows = [f"{text},{self.measured[text]}\n" for text in self.ten]
            (folder / "a.csv").write_text("".join(["architecture,latency_ms\n", *rows, "nonsense,1\n"]))
            (folder / "b.csv").write_text("".join(["architecture,latency_ms\n", f"{self.ten[0]},0.001\n"]))
            with self.assertWarnsRegex(UserWarning, "'nonsense' is no architecture of this space"):
                tenshot.adapt(CHECKPOINT, folder / "a.csv")
            with self.assertWarnsRegex(UserWarning, "rounds of one board contradict each other"):
                contradicted = tenshot.adapt(CHECKPOINT, [folder / "a.csv", folder / "b.csv"])
            self.assertEqual(contradicted.verdict.trust, "doubtful")
            board = tenshot.load(made_up_board.write(PROGRAM, folder))
            (folder / "large.csv").write_text(
                "network,index,operation,input_size,input_channels,output_size,stride,kernel,filters,groups\n"
                "large,0,conv_2d,224,1024,224,1,7,1024,1\n")
            with self.assertWarnsRegex(UserWarning, "the prediction extrapolates"):
                board.predict(tenshot.networks(folder / "large.csv"))

    def test_shipped_checkpoints_go_by_their_names(self):
        for name in ("pool.tenshot", "pool", pathlib.Path("pool")):
            self.assertEqual(tenshot.plan(name, samples=3), tenshot.plan(CHECKPOINT, samples=3))

    def test_what_came_with_the_module_is_read_before_that_of_another_installation(self):
        with tempfile.TemporaryDirectory() as folder:
            own, other = pathlib.Path(folder) / "own", pathlib.Path(folder) / "other"
            package = own / "lib" / "python3" / "dist-packages" / "tenshot"
            shutil.copytree(pathlib.Path(MODULE_FOLDER) / "tenshot", package)
            for prefix in (own, other):
                (prefix / "share" / "tenshot" / "checkpoints").mkdir(parents=True)
            shutil.copy(CHECKPOINT, own / "share" / "tenshot" / "checkpoints" / "mine.tenshot")
            (other / "share" / "tenshot" / "checkpoints" / "mine.tenshot").write_text("of another version")
            (other / "bin").mkdir()
            shutil.copy(sys.executable, other / "bin" / "python3")  # as where Python and a package are in /usr
            found = subprocess.run(
                [other / "bin" / "python3", "-c", "import tenshot; print(len(tenshot.plan('mine', samples=3)))"],
                env={**os.environ, "PYTHONHOME": sys.base_prefix, "PYTHONPATH": str(package.parent)},
                capture_output=True, text=True)
        self.assertEqual((found.returncode, found.stdout.strip()), (0, "3"), found.stderr)

    def test_pandas_goes_in_and_comes_out(self):
        if importlib.util.find_spec("pandas") is None:
            self.skipTest("apt install python3-pandas")
        import pandas
        series = pandas.Series({text: self.measured[text] for text in self.ten})
        twice = pandas.concat([series * 0.5, series, series * 1.5])  # counts by its median
        frame = pandas.DataFrame({"architecture": series.index, "latency_ms": series.values, "run": 1}, index=range(5, 15))
        for measurements in (series, twice, frame, frame.set_index("architecture")):
            predictor = tenshot.adapt(CHECKPOINT, measurements)
            self.assertTrue(numpy.allclose(predictor.predict(self.ten), self.predictor.predict(self.ten), rtol=1e-9))
        for architectures in (frame["architecture"], frame, series.index):
            self.assertTrue(numpy.array_equal(self.predictor.predict(architectures), self.predictor.predict(self.ten)))
        self.assertTrue(set(tenshot.plan(CHECKPOINT, samples=3, candidates=frame)) <= set(self.ten))
        found = self.predictor.to_frame(self.ten, confidence=0.8)
        self.assertEqual(list(found), ["latency_ms", "lower_ms", "upper_ms"])
        self.assertEqual((found.index.name, list(found.index)), ("architecture", self.ten))
        self.assertTrue(numpy.array_equal(found["upper_ms"], self.predictor.predict_interval(self.ten, 0.8)[2]))
        self.assertEqual(len(self.predictor.to_frame()), 15625)
        energy = tenshot.adapt(CHECKPOINT, frame.rename(columns={"latency_ms": "energy_mj"}))
        self.assertEqual((energy.quantity, energy.unit), ("energy", "mJ"))
        lost = frame["latency_ms"].set_axis(frame["architecture"])
        lost.iloc[0] = float("nan")
        with self.assertRaisesRegex(tenshot.InputError, "is nan"):
            tenshot.adapt(CHECKPOINT, pandas.concat([lost, series]))
        with self.assertRaisesRegex(tenshot.InputError, "None has"):
            tenshot.adapt(CHECKPOINT, pandas.DataFrame({"network": [None], "latency_ms": [1.0]}))
        with self.assertRaisesRegex(tenshot.InputError, "expected latency_ms or cold_ms"):
            tenshot.adapt(CHECKPOINT, frame.rename(columns={"latency_ms": "time"}))

    def test_a_regressor_has_the_shape_of_scikit_learn(self):
        texts = list(self.measured)[:60]
        ms = [self.measured[text] for text in texts]
        regressor = tenshot.LatencyRegressor("pool").fit(texts[:30], ms[:30])
        self.assertEqual(regressor.predict(texts).shape, (60,))
        self.assertTrue((regressor.predict_interval(texts)[1] <= regressor.predict(texts)).all())
        self.assertGreater(regressor.score(texts[30:], ms[30:]), 0.8)
        with self.assertRaises(ValueError):
            regressor.set_params(depth=3)
        if importlib.util.find_spec("sklearn") is None:
            self.skipTest("apt install python3-sklearn for scikit-learn itself")
        from sklearn.model_selection import cross_val_score
        scores = cross_val_score(regressor, numpy.array(texts), numpy.array(ms), cv=3)
        self.assertGreater(scores.mean(), 0.8)

    def test_mypy_accepts_what_is_right_and_nothing_else(self):
        if not pathlib.Path("/usr/bin/mypy").exists():
            self.skipTest("apt install mypy")
        right = """
import pathlib
import tenshot
board: tenshot.Predictor = tenshot.adapt("pool", {"a": 1.0}, quantity="energy")
one: float = board.predict(pathlib.Path("model.onnx"))
both = board.predict(["a", pathlib.Path("b.onnx")]) + 1.0
verdict = board.verdict
words: str = verdict.trust if verdict is not None else board.remarks[0]
regressor = tenshot.LatencyRegressor("networks", seed=2).fit(["a"], [1.0])
space = tenshot.Space(pathlib.Path("space.json"))
"""
        wrong = ("tenshot.adapt(3.5)", "tenshot.load('a').predict(3)", "tenshot.Space('fbnet').random('ten')",
                 "tenshot.load('a').verdict.trust")
        with tempfile.TemporaryDirectory() as folder:
            said = []
            for text in (right, "import tenshot\n" + "\n".join(wrong) + "\n"):
                (pathlib.Path(folder) / "use.py").write_text(text)
                said.append(subprocess.run(["mypy", "--strict", "use.py"], cwd=folder, stdout=subprocess.PIPE, text=True,
                                           env={"MYPYPATH": MODULE_FOLDER, "PATH": "/usr/bin:/bin"}).stdout)
        self.assertIn("Success", said[0])
        for line in range(2, 2 + len(wrong)):
            self.assertIn(f"use.py:{line}: error", said[1])

    def test_random_architectures_repeat_with_their_seed(self):
        drawn = tenshot.random_architectures("nasbench201", 5, seed=3)
        self.assertEqual(drawn, tenshot.random_architectures("nasbench201", 5, seed=3))
        self.assertEqual(len(self.predictor.predict(drawn)), 5)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
