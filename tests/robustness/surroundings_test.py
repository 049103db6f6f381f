#!/usr/bin/env python3
"""Runs verbs where a machine is not as it should be: full disks, folders that cannot be written, readers that go away, two
writers of one file, no temporary folder, other locales, a clock that jumps, little memory.

    tests/robustness/surroundings_test.py build/tenshot

Each must end with its result or with one line that says why not; what stood there before stays, and nothing is left over.
"""

import argparse
import os
import pathlib
import resource
import shutil
import subprocess
import sys
import tempfile

from kill_test import Bench, content

ADAPT = ["adapt", "--quiet", "--checkpoint", "flops.tenshot", "--measurements", "measured.csv", "--out"]
PREDICT = ["predict", "--quiet", "--predictor", "device.tenshot", "--out"]


class Case:
    """Runs commands in the bench's folder and collects what is wrong."""

    def __init__(self, bench):
        self.bench, self.wrong = bench, []

    def run(self, words, timeout=120, **options):
        options.setdefault("stdout", subprocess.PIPE)
        options.setdefault("env", self.bench.environment)
        return subprocess.run([self.bench.program, *words], cwd=self.bench.folder, stderr=subprocess.PIPE,
                              stdin=subprocess.DEVNULL, timeout=timeout, check=False, **options)

    def claim(self, holds, what):
        if not holds:
            self.wrong.append(what)

    def refused(self, outcome, what):
        """It ended with exit code 1 and one line."""
        error = outcome.stderr.decode(errors="replace")
        self.claim(outcome.returncode == 1, f"{what}: exit code {outcome.returncode}: {error}")
        self.claim(error.count("\n") == 1 and error.startswith("tenshot"), f"{what}: not one line: {error}")
        return error

    def nothing_left(self, what):
        left = self.bench.leftovers()
        self.claim(not left, f"{what}: left {', '.join(left)}")


def full_disk(case):
    """A file system of 64 KB: results that do not fit are refused, and what stood there stays."""
    if os.geteuid() != 0:
        return "needs root for a tmpfs"
    small = case.bench.folder / "small"
    small.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(small)], stderr=subprocess.DEVNULL,
                             check=False)
    if mounted.returncode != 0:
        small.rmdir()
        return "may not mount a tmpfs here"
    try:
        (small / "p.csv").write_text("old")
        error = case.refused(case.run(PREDICT + ["small/p.csv"]), "a full disk")
        case.claim("p.csv" in error, f"a full disk: does not name the file: {error}")
        case.claim((small / "p.csv").read_text() == "old", "a full disk: the old file is gone")
        case.claim(sorted(p.name for p in small.iterdir()) == ["p.csv"], "a full disk: something is left")
        error = case.refused(case.run(["dataset", "import", "--quiet", "--table", "large.csv", "--out", "small/pool"]),
                             "a full disk for a pool")
        half = [p for p in small.rglob("*") if ".tmp" in p.name]
        case.claim(not half, f"a full disk for a pool: left {half}")
        shutil.rmtree(small / "pool", ignore_errors=True)
        outcome = case.run(ADAPT + ["small/d.tenshot"])
        case.claim(outcome.returncode == 0, f"what fits is written: {outcome.stderr.decode()}")
    finally:
        subprocess.run(["umount", str(small)], check=True)
        small.rmdir()
    return ""


def closed_pipe(case):
    """The reader of the output goes away."""
    read, write = os.pipe()
    os.close(read)
    outcome = case.run(PREDICT + ["-"], stdout=write)
    os.close(write)
    case.claim(outcome.returncode in (1, -13, 141), f"a closed pipe: exit code {outcome.returncode}")
    case.claim(outcome.stderr.decode().count("\n") <= 1, f"a closed pipe: {outcome.stderr.decode()}")
    with open("/dev/full", "wb") as full:
        case.refused(case.run(PREDICT + ["-"], stdout=full), "a full standard output")


def protected(case):
    """A folder that cannot be written; root may write anywhere, so it needs a file system that is read-only."""
    folder = case.bench.folder / "protected"
    folder.mkdir()
    (folder / "d.tenshot").write_text("old")
    if os.geteuid() == 0:
        mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "ro", "tmpfs", str(folder)], stderr=subprocess.DEVNULL,
                                 check=False)
        if mounted.returncode != 0:
            return "may not mount a tmpfs here"
    else:
        folder.chmod(0o555)
    try:
        for words in (ADAPT + ["protected/new.tenshot"], PREDICT + ["protected/new.csv"],
                      ["dataset", "import", "--quiet", "--table", "table.csv", "--out", "protected/pool"],
                      ["train", "--quiet", "--pool", "pool", "--predictor", "flops", "--out", "protected/x.tenshot"]):
            case.claim("protected" in case.refused(case.run(words), "a read-only folder"), "the folder is not named")
    finally:
        if os.geteuid() == 0:
            subprocess.run(["umount", str(folder)], check=True)
        else:
            folder.chmod(0o755)
    case.claim((folder / "d.tenshot").read_text() == "old", "a read-only folder: the old file is gone")
    return ""


def two_writers(case):
    """Six processes write one file at a time: it holds the whole result of one of them."""
    out = case.bench.folder / "both.csv"
    case.run(PREDICT + ["both.csv"])
    expected = content(out)
    for _ in range(5):
        writers = [case.bench.start(PREDICT + ["both.csv"]) for _ in range(6)]
        codes = {writer.wait(timeout=120): writer.stderr.read() for writer in writers}
        case.claim(set(codes) == {0}, f"two writers: {codes}")
        case.claim(content(out) == expected, "two writers: the file is of neither")
    case.nothing_left("two writers")


def temporary_folder(case):
    """TMPDIR that does not exist, or is a file: verbs that need none work, others say so."""
    for value in ("/nowhere/at/all", str(case.bench.folder / "table.csv")):
        environment = dict(case.bench.environment, TMPDIR=value)
        outcome = case.run(ADAPT + ["t.tenshot"], env=environment)
        case.claim(outcome.returncode == 0, f"without TMPDIR: {outcome.stderr.decode()}")
        outcome = case.run(["report", "device.tenshot", "--out", "r.html"], env=environment)
        if outcome.returncode != 0:
            case.claim("TMPDIR" in case.refused(outcome, "a report without TMPDIR"), "TMPDIR is not named")
        outcome = case.run(["dataset", "import", "--quiet", "--table", "large.csv", "--out", "t/pool"], env=environment)
        case.claim(outcome.returncode == 0, f"an import without TMPDIR: {outcome.stderr.decode()}")


def locales(case):
    """Commas for points, other alphabets, none at all: the same bytes."""
    case.run(PREDICT + ["plain.csv"])
    case.run(["export", "--predictor", "device.tenshot", "--document", "plain.json"])
    for locale in ("C", "POSIX", "de_DE.UTF-8", "tr_TR.UTF-8", "fa_IR", "nonsense"):
        environment = dict(case.bench.environment, LC_ALL=locale, LANG=locale, LANGUAGE=locale)
        for words, name, plain in ((PREDICT + ["l.csv"], "l.csv", "plain.csv"),
                                   (["export", "--predictor", "device.tenshot", "--document", "l.json"], "l.json",
                                    "plain.json")):
            outcome = case.run(words, env=environment)
            case.claim(outcome.returncode == 0, f"locale {locale}: {outcome.stderr.decode()}")
            case.claim(content(case.bench.folder / name) == content(case.bench.folder / plain),
                       f"locale {locale}: other bytes in {name}")


def clock(case):
    """Files from the future and from before 1970: what a clock that jumps leaves."""
    folder = case.bench.folder
    for seconds in (4_000_000_000, 0):
        for name in ("flops.tenshot", "measured.csv"):
            os.utime(folder / name, (seconds, seconds))
        stale = folder / "c.tenshot.tmp-999999999"
        stale.write_text("of a process that is dead")
        os.utime(stale, (seconds, seconds))
        outcome = case.run(ADAPT + ["c.tenshot"])
        case.claim(outcome.returncode == 0, f"a jump of the clock: {outcome.stderr.decode()}")
        case.claim(not stale.exists(), "a jump of the clock: a dead process's file stays")


def little_memory(case):
    """Less address space than a verb needs: it says so or works, and leaves nothing."""
    expected = None
    for megabytes in (100, 300, 600, 900, 1200, 4000):
        limit = megabytes << 20
        outcome = case.run(ADAPT + ["m.tenshot"], preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)),
                           env=dict(case.bench.environment, OPENBLAS_NUM_THREADS="1", OMP_NUM_THREADS="1"))
        found = content(case.bench.folder / "m.tenshot")
        if outcome.returncode == 0:
            case.claim(found is not None and expected in (None, found), f"{megabytes} MB: other bytes")
            expected = found
        else:
            case.claim(found == expected, f"{megabytes} MB: half a file")
            case.claim(outcome.stderr != b"" and outcome.returncode > 0,
                       f"{megabytes} MB: exit code {outcome.returncode}, says {outcome.stderr!r}")
    case.claim(expected is not None, "4 GB are not enough")
    limit = 600 << 20
    said = case.run(["--version"], preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit))).stdout
    case.claim(b"LibTorch is not loaded" in said and b"address space is limited to 614400 KiB" in said, f"600 MB: says {said!r}")
    case.nothing_left("little memory")


CASES = [full_disk, closed_pipe, protected, two_writers, temporary_folder, locales, clock, little_memory]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--without", action="append", default=[], help="a case to leave out")
    options = parser.parse_args()
    wrong = []
    with tempfile.TemporaryDirectory(prefix="surroundings-") as folder:
        bench = Bench(str(pathlib.Path(options.program).resolve()), pathlib.Path(folder), 1)
        bench.prepare()
        lines = (bench.folder / "table.csv").read_text().splitlines()
        wide = [lines[0] + "".join(f",d{k}" for k in range(30))]
        wide += [line + f",{line.split(',')[1]}" * 30 for line in lines[1:]]
        (bench.folder / "large.csv").write_text("\n".join(wide) + "\n")
        for test in CASES:
            if test.__name__ in options.without:
                continue
            case = Case(bench)
            skipped = test(case)
            print(f"{test.__name__}: {'; '.join(case.wrong) or ('skipped: ' + skipped if skipped else 'sound')}", flush=True)
            wrong += case.wrong
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
