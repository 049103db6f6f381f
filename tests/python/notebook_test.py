"""experiments/search.ipynb, executed: /usr/bin/python3 notebook_test.py FOLDER_OF_MODULE PROGRAM SOURCE_FOLDER

Its figures are computed again here from the files that it leaves. Without nbconvert the test says so and exits with 77,
which ctest counts as skipped."""
import csv
import importlib.util
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

missing = [name for name, found in {"jupyter-nbconvert": shutil.which("jupyter-nbconvert"),
                                    "python3-ipykernel": importlib.util.find_spec("ipykernel"),
                                    "python3-matplotlib": importlib.util.find_spec("matplotlib")}.items() if not found]
if missing:
    print(f"skipped: apt install {' '.join(missing)}")
    sys.exit(77)

import numpy  # noqa: E402

MODULE_FOLDER, PROGRAM = (str(pathlib.Path(path).resolve()) for path in sys.argv[1:3])
SOURCE = pathlib.Path(sys.argv[3]).resolve()
sys.path.insert(0, MODULE_FOLDER)
import tenshot  # noqa: E402

LATENCIES = SOURCE / "datasets" / "data" / "libtorch-optimized_t1_b1" / "latencies.csv"


class NotebookTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        surroundings = dict(os.environ, TENSHOT_PYTHON=MODULE_FOLDER, TENSHOT_PROGRAM=PROGRAM, TENSHOT_OUT=str(cls.folder),
                            HOME=str(cls.folder))
        subprocess.run([shutil.which("jupyter-nbconvert"), "--to", "notebook", "--execute", SOURCE / "experiments" /
                        "search.ipynb", "--output-dir", cls.folder, "--ExecutePreprocessor.timeout=400", "--log-level=WARN"],
                       env=surroundings, check=True)
        notebook = json.loads((cls.folder / "search.ipynb").read_text())
        cls.outputs = [output for cell in notebook["cells"] for output in cell.get("outputs", [])]
        cls.texts = ["".join(output["text"]) for output in cls.outputs if output["output_type"] == "stream"]
        cls.said = json.loads(cls.texts[-1].splitlines()[-1])
        with open(LATENCIES, newline="") as file:
            cls.measured = {row["architecture"]: float(row["latency_ms"]) for row in csv.DictReader(file)}
        cls.predictor = tenshot.load(cls.folder / "device.tenshot")

    def test_it_draws_both_pictures_and_says_nothing_on_stderr(self):
        pictures = [output for output in self.outputs if "image/svg+xml" in output.get("data", {})]
        self.assertEqual(len(pictures), 2)
        errors = [output for output in self.outputs if output.get("name") == "stderr"]
        self.assertEqual(errors, [])

    def test_it_keeps_its_outputs(self):
        kept = [output for cell in json.loads((SOURCE / "experiments/search.ipynb").read_text())["cells"]
                for output in cell.get("outputs", [])]
        self.assertEqual([output["output_type"] for output in kept], [output["output_type"] for output in self.outputs],
                         "execute it again: jupyter-nbconvert --to notebook --execute --inplace experiments/search.ipynb")
        pictures = ["".join(output["data"]["image/svg+xml"]) for output in kept if "image/svg+xml" in output.get("data", {})]
        self.assertEqual(len(pictures), 2)
        self.assertLess(max(map(len, pictures)), 300_000)
        self.assertFalse(str(SOURCE) in json.dumps(kept), "it names the folder that it was executed in")

    def test_the_ten_are_what_it_adapted_on(self):
        card = self.predictor.card
        self.assertEqual(sorted(row["architecture"] for row in card["adaptation_set"]), sorted(self.said["ten"]))
        self.assertEqual(len(set(self.said["ten"])), 10)
        self.assertFalse([name for name in card["pool"]["devices"] if name.startswith("libtorch-optimized")])

    def test_its_accuracy_is_that_of_its_predictor(self):
        others = [text for text in self.measured if text not in self.said["ten"]]
        truth = numpy.array([self.measured[text] for text in others])
        latency, lower, upper = self.predictor.predict_interval(others)
        self.assertAlmostEqual(self.said["within_10"], numpy.mean(abs(latency - truth) <= 0.1 * truth), delta=0.002)
        self.assertAlmostEqual(self.said["coverage"], numpy.mean((lower <= truth) & (truth <= upper)), places=9)
        self.assertGreater(self.said["within_10"], 0.9)
        self.assertGreater(self.said["coverage"], 0.8)

    def test_the_front_is_below_the_limit_and_ascends(self):
        front = self.said["front"]
        self.assertGreater(len(front), 2)
        latency, _, upper = self.predictor.predict_interval(front)
        self.assertTrue((upper <= self.said["limit_ms"]).all())
        self.assertTrue((numpy.diff(latency) > 0).all())

    def test_nearly_all_that_it_lets_through_are_below_the_limit(self):
        through = [text for text in self.measured if text not in self.said["ten"]
                   and self.predictor.predict_interval([text])[2][0] <= self.said["limit_ms"]]
        self.assertEqual(len(through), self.said["let_through"])
        held = numpy.mean([self.measured[text] <= self.said["limit_ms"] for text in through])
        self.assertAlmostEqual(held, self.said["held"], places=9)
        self.assertGreater(held, 0.9)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
