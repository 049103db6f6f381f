"""The JSON schema of specs (experiments/spec_schema.py): it and its page are made anew, every committed spec is one, and its
keys are those that the program says it knows: /usr/bin/python3 spec_schema_test.py PROGRAM SOURCE_FOLDER

Without jsonschema the test says so and exits with 77, which ctest counts as skipped."""
import copy
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

try:
    import jsonschema
except ImportError:
    print("skipped: apt install python3-jsonschema")
    sys.exit(77)

PROGRAM, SOURCE = sys.argv[1], pathlib.Path(sys.argv[2]).resolve()
sys.path[:0] = [str(SOURCE / "experiments")]
import spec_schema  # noqa: E402

SPEC = {"format": "tenshot.experiment/1", "name": "a", "data": {"pool": str(SOURCE / "datasets/data")},
        "split": {"train": "0:10", "test": "10:20"}, "targets": ["libtorch-eager_t1_b1"],
        "pools": [{"name": "all", "of": "others"}], "samplers": ["random"], "samples": [10],
        "methods": [{"predictor": "structured"}], "trials": 1}


class SpecSchemaTest(unittest.TestCase):
    def refusal(self, spec):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "spec.json"
            path.write_text(json.dumps(spec))
            done = subprocess.run([PROGRAM, "experiment", path, "--out", f"{folder}/out"], stderr=subprocess.PIPE, text=True)
        self.assertEqual(done.returncode, 1, done.stderr)
        return done.stderr

    def keys_known(self, change):
        """The keys that the program lists where one is unknown."""
        spec = copy.deepcopy(SPEC)
        change(spec)["no_such_key"] = 1
        return set(self.refusal(spec).split("the keys are: ")[1].strip().split(", "))

    def test_it_and_its_page_are_as_they_were_made(self):
        for path, text in spec_schema.files().items():
            self.assertEqual(path.read_text(), text, "run experiments/spec_schema.py")

    def test_every_committed_spec_is_one(self):
        schema = spec_schema.schema()
        jsonschema.Draft202012Validator.check_schema(schema)
        count = 0
        for path in sorted((SOURCE / "experiments").rglob("*.json")):
            spec = json.loads(path.read_text())
            if isinstance(spec, dict) and spec.get("format") == "tenshot.experiment/1":
                count += 1
                with self.subTest(spec=path.name):
                    jsonschema.validate(spec, schema)
        self.assertGreater(count, 25)

    def test_what_the_program_refuses_is_refused(self):
        schema = spec_schema.schema()
        jsonschema.validate(SPEC, schema)
        for change in (lambda s: s.update(trials=0), lambda s: s.pop("targets"), lambda s: s["split"].update(train="ten"),
                       lambda s: s.update(samplers=["none"]), lambda s: s["pools"][0].update(of="nobody"),
                       lambda s: s["methods"][0].update(posterior={"kept": 0}), lambda s: s["methods"][0].update(kept=3)):
            spec = copy.deepcopy(SPEC)
            change(spec)
            with self.assertRaises(jsonschema.ValidationError):
                jsonschema.validate(spec, schema)
            self.refusal(spec)

    def test_its_keys_are_those_that_the_program_knows(self):
        properties = spec_schema.schema()["properties"]
        self.assertEqual(self.keys_known(lambda s: s), set(properties))
        self.assertEqual(self.keys_known(lambda s: s["data"]), set(properties["data"]["properties"]))
        self.assertEqual(self.keys_known(lambda s: s["split"]), set(properties["split"]["properties"]))
        self.assertEqual(self.keys_known(lambda s: s["pools"][0]), set(spec_schema.POOL["properties"]))
        declared, of_some = spec_schema.settings(), set()
        for predictor in ("structured", "operators", "maple-edge", "maple-edge-plain", "maple", "help", "transfer", "forest"):
            known = self.keys_known(lambda s: s["methods"].__setitem__(0, {"predictor": predictor}) or s["methods"][0])
            own = known - set(spec_schema.METHOD) - set(declared.get(predictor, {}))
            self.assertLessEqual(set(spec_schema.METHOD) | set(declared.get(predictor, {})), known)
            self.assertLessEqual(own, set(spec_schema.OF_SOME), predictor)
            of_some |= own
        self.assertEqual(of_some, set(spec_schema.OF_SOME))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
