#!/usr/bin/env python3
"""Runs test programs that were built without LibTorch: run_tests.py FOLDER [--emulator WORDS] [PROGRAM…]

A test that fails because it needs LibTorch, in the very words of the program, is left out and named; any other failure
is one. FOLDER is the build folder. --emulator is what runs a program of another processor.
"""
import argparse
import json
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

PROGRAMS = ["test_nasbench", "test_sampling", "test_datasets", "test_descriptor", "test_trainer",
            "test_experiments"]
NEEDS = re.compile(r"this needs LibTorch, which cannot be loaded")


def run(command, seconds):
    """The suites of gtest's report."""
    with tempfile.TemporaryDirectory() as folder:
        report = pathlib.Path(folder) / "report.json"
        log = pathlib.Path(folder) / "log"
        with log.open("wb") as out:
            code = subprocess.run([*command, f"--gtest_output=json:{report}"], stdout=out, stderr=subprocess.STDOUT,
                                  timeout=seconds, check=False).returncode
        if not report.exists():
            text = log.read_text(errors="replace").splitlines()
            sys.exit(f"{command[-2]}: ended with {code} and no report:\n" + "\n".join(text[-30:]))
        return json.loads(report.read_text())["testsuites"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--emulator", default="")
    parser.add_argument("--filter", default="*", help="as --gtest_filter")
    parser.add_argument("--seconds", type=float, default=3000, help="that a program may take")
    parser.add_argument("programs", nargs="*", default=PROGRAMS)
    options = parser.parse_intermixed_args()
    passed, skipped, without, failed = 0, 0, [], []
    for program in options.programs:
        command = [*shlex.split(options.emulator), str(options.folder / "tests" / program), f"--gtest_filter={options.filter}"]
        for suite in run(command, options.seconds):
            for test in suite["testsuite"]:
                name = f"{program}: {suite['name']}.{test['name']}"
                failures = "\n".join(failure["failure"] for failure in test.get("failures", []))
                if test["result"] == "SKIPPED":
                    skipped += 1
                elif not failures:
                    passed += test["result"] == "COMPLETED"
                elif NEEDS.search(failures):
                    without.append(name)
                else:
                    failed.append(f"{name}\n{failures}")
    for name in without:
        print(f"needs LibTorch: {name}")
    for name in failed:
        print(f"FAILED {name}")
    print(f"{passed} passed, {len(failed)} failed, {len(without)} need LibTorch, {skipped} skip themselves")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
