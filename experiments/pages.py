#!/usr/bin/env python3
"""Keeps what every page of experiments says of itself true.

  experiments/pages.py                      writes it: simulated counters, what is out of date, differences between methods
  experiments/pages.py --check              names the pages that say something else; exit code 1 where there are any
  experiments/pages.py --made NAME…         the pages were made just now: of which revision, spec and data they are
  experiments/pages.py --made NAME --of REVISION

README.md's table of the HELP task is made as well: ten trials where ten were run, and how far each method is from
`structured` in the same trials.

A page begins with two notes where they are due: that it rests on counters which were simulated, and that its spec or its
data have changed since. It ends with how far its methods are apart, paired by trial, and with the revision that made it.
Whatever makes a page again calls --made. The searches have one page, experiments/search/README.md, and a section each in it,
which is kept like a page."""

import argparse
import collections
import csv
import gzip
import hashlib
import json
import os
import re
import statistics
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
EXPERIMENTS = ROOT / "experiments"
SEARCHES = EXPERIMENTS / "search/README.md"

# Pages that no spec of their name makes, or whose spec reads a pool that a script made: the spec, and the data, which is the
# page's own folder where what was measured is kept there.
NETWORKS, KERNELS = "datasets/data/networks", "datasets/data/kernels"
SOURCES = {
    "benchmark_peers": (None, []),
    "across_spaces": (None, [NETWORKS, "datasets/data/fbnet_40", "datasets/data/cells"]),
    "between_spaces": ("between_spaces", [NETWORKS]),
    "brp_nas": (None, [NETWORKS, KERNELS]),
    "by_kernel": (None, [KERNELS]),
    "cold": (None, ["experiments/cold/cold"]),
    "cores": (None, ["experiments/cold/cores"]),
    "committed": (None, ["datasets/data", NETWORKS, KERNELS, "datasets/data/operators", "datasets/data/cold"]),
    "cold_predict": (None, ["experiments/cold/cold_predict"]),
    "descriptor": (None, ["datasets/data"]),
    "detectors": (None, ["experiments/cold/detectors"]),
    "fusion_detection": (None, ["experiments/kernels/fusion_detection"]),
    "fusion_worth": (None, [NETWORKS, KERNELS, "datasets/data/operators"]),
    "help_task": (None, []),  # its README.md is of a script on a public table; a spec makes its peers.md
    "help_task/peers": ("help_task", []),
    "inside": (None, [NETWORKS, "datasets/data/operators"]),
    "inside_networks": (None, [NETWORKS, "datasets/data/operators"]),
    "isolation_modes": (None, [NETWORKS, KERNELS]),
    "kernel_deduction": (None, []),  # of a public table
    "kinds": (None, [NETWORKS, "datasets/data/sizes", "datasets/data/kinds"]),
    "layer_grids": (None, [NETWORKS]),
    "load": (None, ["experiments/cold/load"]),
    "kernel_trees": (None, [NETWORKS, "datasets/data/operators"]),
    "measuring_time": (None, [NETWORKS, KERNELS, "datasets/data/operators"]),
    "mobile_cnn_families": ("mobile_cnn", []),
    "mobile_cnn_known": ("mobile_cnn", []),
    "mobile_cnn_profiled": ("mobile_cnn", []),
    "operation_wise": (None, []),  # of a public table
    "operator_shapes": (None, [NETWORKS]),
    "other_gpu": (None, []),  # of a public table
    "own_networks": ("own_networks", [NETWORKS]),
    "profiled_networks": ("profiled_networks", [NETWORKS, "datasets/data/operators"]),
    "profiled_search": ("profiled_search", [NETWORKS, "datasets/data/operators"]),
    "pool_growth": (None, [NETWORKS, "datasets/data/sizes", "datasets/data/gpu"]),
    "random_sampling": (None, [NETWORKS, KERNELS]),
    "saved_model": (None, ["experiments/cold/saved_model"]),
    "sizes": (None, [NETWORKS, "datasets/data/sizes"]),
    "staircases": (None, ["experiments/paper/staircases"]),
    "structured_scale": (None, ["experiments/cells/structured_scale"]),
    "structured_simulated": (None, ["experiments/cells/structured_simulated"]),
    "synthetic_networks": (None, [NETWORKS, KERNELS]),
    "two_cores": (None, [NETWORKS, KERNELS]),
    "variants": (None, [NETWORKS, KERNELS]),
}

# README.md's table of the HELP task: what a row is called, of which file, and the method there.
HELP_TARGETS = ["eyeriss", "fpga", "gold_6226", "pixel2", "raspi4", "titan_rtx_256"]
HELP_ROWS = [
    ("`structured`, its own ten", "cells/help_task_ten/results.csv", "structured, information"),
    ("`structured`", "cells/help_task_ten/results.csv", "structured"),
    ("look-up, fitted", "cells/help_task_ten/results.csv", "look-up"),
    ("`maple-edge`, taught by simulated devices", "cells/help_task/trials.csv", "maple-edge"),
    ("HELP", "cells/help_ten/results.csv", "help"),
    ("`maple-edge-plain`, fine-tuned", "cells/help_task/trials.csv", "maple-edge-plain-fine-tuned"),
    ("HELP, fully connected", "cells/help_ten/results.csv", "help, connected"),
    ("transfer", "cells/help_task_ten/results.csv", "transfer"),
    ("FLOPs and memory", "cells/help_task_ten/results.csv", "flops-memory"),
    ("forest, 900 measurements, three trials", "cells/help_task/results.csv", "forest, 900 own"),
]
BEGINS, ENDS = "<!-- made by experiments/pages.py -->\n", "<!-- end -->"

# Targets whose latencies are not measurements: means are also shown without them.
NOT_MEASURED = {"fbnet": ("pixel3", "a sum of blocks and no measured network")}

COUNTERS, OLD = "**The counters are simulated**", "**Out of date:**"  # how the notes begin
WITHOUT, DIFFERENCES, MADE = "## Without ", "## Differences between methods", "Made by revision"


def git(*arguments):
    done = subprocess.run(["git", "-C", ROOT, *arguments], capture_output=True, check=False)
    return done.stdout if done.returncode == 0 else None


def spec_file(name):
    """The spec of this name, or None: it lies in the folder of what it shows."""
    return next((ROOT / "experiments").glob(f"*/{name}.json"), None)


def spec_at(revision, name):
    """Its text at a revision; specs lay in experiments itself once."""
    file = spec_file(name).relative_to(ROOT).as_posix()
    return git("show", f"{revision}:{file}") or git("show", f"{revision}:experiments/{name}.json")


def without_climbing(pool):
    return re.sub(r"^(\.\./)+", "", pool)


def sources_of(name):
    """(the name of the spec or None, the folders of data in the project)"""
    if name in SOURCES:
        return SOURCES[name]
    spec = spec_file(name)
    if spec is None:
        return None, []
    pool = without_climbing(json.loads(spec.read_text())["data"].get("pool", ""))
    return name, [pool] if (ROOT / pool).is_dir() and pool else []


def spec_digest(text):
    """What a spec says, whatever it is called, however it is described, and however deep it lies."""
    spec = {key: value for key, value in json.loads(text).items() if key not in ("name", "description")}
    pool = spec.get("data", {}).get("pool", "")
    if pool.startswith("../"):
        spec["data"]["pool"] = "../" + without_climbing(pool)
    return hashlib.sha256(json.dumps(spec, sort_keys=True).encode()).hexdigest()[:12]


def is_data(folder, path, devices):
    """Whether a file is of the pool in `folder`: beside the device-runtimes, or one of theirs."""
    parts = path.removeprefix(folder + "/").split("/")
    if not parts[-1].endswith((".csv", ".csv.gz", ".json")):
        return False
    return len(parts) == 1 or (len(parts) == 2 and parts[0] in devices)


def blob_hash(path, content):
    """The content's hash as git has it, but for the checksums of a networks.json, which say nothing that it does not."""
    if path.endswith("networks.json"):
        content = re.sub(rb'^ *"kept_hash": .*\n', b"", content, flags=re.M)
    return hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()


def digest_of(blobs):
    """blobs: {path: hash of its content}"""
    return hashlib.sha256("\n".join(f"{blobs[path]} {path}" for path in sorted(blobs)).encode()).hexdigest()[:12]


def data_digest_now(folders):
    blobs = {}
    for folder in folders:
        devices = {path.parent.name for path in (ROOT / folder).glob("*/device.json")}
        devices |= {path.parent.name for path in (ROOT / folder).glob("*/rules.json")}
        for file in (ROOT / folder).rglob("*"):
            path = file.relative_to(ROOT).as_posix()
            if file.is_file() and is_data(folder, path, devices):
                content = os.readlink(file).encode() if file.is_symlink() else file.read_bytes()  # as git has it
                blobs[path] = blob_hash(path, content)
    return digest_of(blobs)


def data_digest_at(revision, folders):
    blobs = {}
    for folder in folders:
        listed = [line.split("\t") for line in git("ls-tree", "-r", revision, folder + "/").decode().splitlines()]
        devices = {path.split("/")[-2] for _, path in listed if path.endswith(("/device.json", "/rules.json"))}
        blobs.update({path: blob_hash(path, git("show", f"{revision}:{path}")) if path.endswith("networks.json") else
                      entry.split()[2] for entry, path in listed if is_data(folder, path, devices)})
    return digest_of(blobs)


def made_line(name, revision=None):
    """The last line of a page: `spec` and `data` are hashes of what they were, at a revision or now."""
    spec, folders = sources_of(name)
    known = git("log", "-1", "--format=%h (%ad)", "--date=short", revision or "HEAD")
    if known is None:
        print(f"{name} does not say what made it: there is no revision '{revision or 'HEAD'}' here, a clone has them",
              file=sys.stderr)
        return ""
    line = MADE + " `{}` {}".format(*known.decode().split())
    if spec:
        text = spec_at(revision, spec) if revision else spec_file(spec).read_text()
        if text is None:
            sys.exit(f"revision {revision} has no {spec}.json, by which {name} was made")
        line += f"; spec `{spec_digest(text)}`"
    if folders:
        line += f"; data `{data_digest_at(revision, folders) if revision else data_digest_now(folders)}`"
    return line + "."


def read_rows(path):
    """The rows of a table, which is kept as TABLE.csv.gz where it is large."""
    packed = path.with_name(path.name + ".gz")
    with path.open(newline="") if path.exists() else gzip.open(packed, "rt", newline="") as file:
        return list(csv.DictReader(file))


def rows_of(page):
    """What a page's figures are of, a row a cell; [] where it keeps none."""
    folder = page.parent
    by_script = page.name == "README.md" and (folder / "peers.md").exists()
    path = folder / ("trials.csv" if by_script else "results.csv")
    if not path.exists() and not path.with_name(path.name + ".gz").exists():
        return []
    rows = read_rows(path)
    if by_script:
        rows = [{"sampler": "", "samples": "10", "clones": "", "pool": "", "target": row["device"], **row} for row in rows]
    return rows


def counters_note(name, rows):
    """The same words as the program's (trainer/evaluation/tables.cpp)."""
    using, cells = sum(row.get("counters") == "simulated" for row in rows), len(rows)
    if not rows and (SEARCHES.parent / "means.csv").exists():  # a search keeps its means alone
        means = [row for row in read_rows(SEARCHES.parent / "means.csv") if row["search"] == name]
        using, cells = (sum(int(row[column]) for row in means) for column in ("with_counters", "cells"))
    _, folders = sources_of(name)
    if using == 0:
        return ""
    described = [json.loads(file.read_text()).get("descriptor", {})
                 for folder in folders for file in (ROOT / folder).glob("*/device.json")]
    sources = collections.Counter(device.get("source") for device in described if device.get("counters"))
    if sources.get("callgrind", 0) == 0:
        return ""
    return (f"{COUNTERS} by callgrind and not read from hardware, on {sources['callgrind']} of the {sum(sources.values())} "
            f"device-runtimes that have any. {using} of {cells} cells use them.")


def old_note(name, made, rows):
    """What has changed since the page was made."""
    spec, folders = sources_of(name)
    changed = []
    then = dict(re.findall(r"(spec|data) `(\w+)`", made))
    if spec and then.get("spec") != spec_digest(spec_file(spec).read_text()):
        changed.append(f"`{spec_file(spec).relative_to(ROOT).as_posix()}`")
    if folders and then.get("data") != data_digest_now(folders):
        changed += [f"`{folder}`" for folder in folders]
    if rows and "experiment" in rows[0] and "descriptor" not in rows[0]:
        changed.append("what `tenshot experiment` writes")
    if not changed:
        return ""
    date = re.search(r"\((\S+)\)", made)
    return f"{OLD} made on {date[1]}; {' and '.join(changed)} {'has' if len(changed) == 1 else 'have'} changed since."


def shares(rows):
    """{group of what is alike: {variant: {trial: mean share over targets}}}"""
    found = collections.defaultdict(lambda: collections.defaultdict(lambda: collections.defaultdict(
        lambda: collections.defaultdict(list))))
    samplers = collections.defaultdict(set)
    for row in rows:
        samplers[row["method"]].add(row["sampler"])
    for row in rows:
        if row["samples"] == "all" or not row["acc10"]:
            continue  # a ceiling, or a cell that has no share
        label = row["method"]
        if len(samplers[label]) > 1:
            label += ", " + row["sampler"]
        if row["clones"]:
            label += ", K = " + row["clones"]
        group = (row["pool"], row["samples"])
        found[group][label][row.get("split", row["trial"])][row["target"]].append(float(row["acc10"]))
    return {group: {label: {trial: {target: statistics.fmean(values) for target, values in targets.items()}
                            for trial, targets in trials.items()} for label, trials in variants.items()}
            for group, variants in found.items()}


def over_targets(trials):
    return {trial: statistics.fmean(targets.values()) for trial, targets in trials.items()}


def differences_of_group(variants):
    """Rows of the table: each variant that has the trials and targets of the best one, against it."""
    means = {label: statistics.fmean(over_targets(trials).values()) for label, trials in variants.items()}
    best = max(means, key=means.get)
    of_best, lines = over_targets(variants[best]), []
    for label, trials in sorted(variants.items(), key=lambda item: -means[item[0]]):
        alike = trials.keys() == variants[best].keys() and all(
            trials[trial].keys() == variants[best][trial].keys() for trial in trials)
        if label == best or not alike:
            continue
        apart = [100 * (value - of_best[trial]) for trial, value in over_targets(trials).items()]
        error = statistics.stdev(apart) / len(apart) ** 0.5
        mean = statistics.fmean(apart)
        level = "level" if abs(mean) < 2 * error or abs(mean) < 0.05 else "apart"
        lines.append(f"| {escaped(label)} | {100 * means[label]:.1f} | {mean:+.1f} ± {error:.1f} | {level} |")
    return best, means[best], lines


def escaped(text):
    return text.replace("|", "\\|").replace("*", "\\*")


def differences_section(rows):
    if not rows or not {"method", "pool", "samples", "acc10", "trial", "target"} <= rows[0].keys():
        return ""
    trials = {row.get("split", row["trial"]) for row in rows}
    groups = shares(rows)
    if len(trials) < 3:
        return ""
    text = ""
    for (pool, samples), variants in groups.items():
        if len(variants) < 2:
            continue
        best, mean, lines = differences_of_group(variants)
        if not lines:
            continue
        what = ", ".join([f"pool {escaped(pool)}"] * (len({group[0] for group in groups}) > 1) + [f"{samples} samples"])
        text += f"\n| {what} | mean, % | less the best, ± standard error | |\n|---|---|---|---|\n"
        text += f"| **{escaped(best)}** | {100 * mean:.1f} | | |\n" + "\n".join(lines) + "\n"
    if not text:
        return ""
    unit = "splits" if "split" in rows[0] else "trials"
    return (f"{DIFFERENCES}\n\nOf the share within ±10 %, mean over targets, against the best on the same {len(trials)} "
            f"{unit}. Methods are level where the difference is less than two of its standard errors.\n{text}")


def without_section(name, rows):
    """Means without what is no measurement; of ceilings too."""
    if name not in NOT_MEASURED:
        return ""
    target, what = NOT_MEASURED[name]
    text = f"{WITHOUT}`{target}`\n\nMean share within ±10 %, in percent; `{target}` is {what}.\n\n"
    text += "| method | all targets | without it |\n|---|---|---|\n"
    for method in dict.fromkeys(row["method"] for row in rows):
        means = []
        for left_out in (None, target):
            trials = collections.defaultdict(list)
            for row in rows:
                if row["method"] == method and row["target"] != left_out:
                    trials[row["trial"]].append(100 * float(row["acc10"]))
            means.append([statistics.fmean(values) for values in trials.values()])
        text += f"| {escaped(method)} |" + "".join(
            f" {statistics.fmean(values):.1f} ± {statistics.stdev(values):.1f} |" for values in means) + "\n"
    return text


def with_notes(page, name, text, made=None):
    """The page as it should be."""
    rows = rows_of(page)
    lines = text.rstrip("\n").split("\n")
    ending = next((i for i, line in enumerate(lines) if line == DIFFERENCES or line.startswith(WITHOUT)), len(lines))
    old_made = next((line for line in reversed(lines) if line.startswith(MADE)), "")
    made = made or old_made
    body = [line for line in lines[:ending] if not line.startswith((COUNTERS, OLD, MADE))]
    title, rest = body[0], "\n".join(body[1:]).strip("\n")
    notes = [note for note in (counters_note(name, rows), old_note(name, made, rows)) if note]
    parts = [title, *notes, rest, without_section(name, rows).strip("\n"), differences_section(rows).strip("\n"), made]
    return "\n\n".join(part for part in parts if part) + "\n"


def with_section(name, text, made=None):
    """The page of the searches with the section of this one as it should be."""
    parts = re.split(r"(?m)^(?=## )", text)
    kept = [with_notes(SEARCHES, name, part, made) if part.startswith(f"## {name}\n") else part.strip("\n") + "\n"
            for part in parts]
    return "\n".join(kept)


def section_of(name, text):
    return next((part for part in re.split(r"(?m)^(?=## )", text) if part.startswith(f"## {name}\n")), "")


def key_of(page):
    """What --made calls a page: its folder, and of a second page there its own name behind it."""
    return page.parent.name if page.stem == "README" else f"{page.parent.name}/{page.stem}"


def pages():
    """{page: name of its folder}; tables of single runs are no experiments."""
    found = {}
    for page in sorted(EXPERIMENTS.glob("*/*/README.md"), key=lambda page: page.parent.name):
        name = page.parent.name
        spec, folders = sources_of(name)
        if spec or folders or name in SOURCES:
            found[page] = name
            if (page.parent / "peers.md").exists():  # of help_task, whose README.md is of the script's trials.csv
                found[page.parent / "peers.md"] = f"{name}/peers"
    return found


def searches():
    """The names of the sections of their page."""
    return re.findall(r"(?m)^## (\w+)$", SEARCHES.read_text())


def help_shares(path, method):
    """{trial: {target: share in percent}}"""
    trials = collections.defaultdict(dict)
    for row in read_rows(EXPERIMENTS / path):
        if row["method"] == method:
            trials[row["trial"]][row.get("target") or row["device"]] = 100 * float(row["acc10"])
    return trials


def help_table():
    base = over_targets(help_shares(*HELP_ROWS[1][1:]))
    lines = ["| method | " + " | ".join(HELP_TARGETS) + " | mean ± deviation | less `structured` |", "|---" * 9 + "|"]
    for called, path, method in HELP_ROWS:
        trials = help_shares(path, method)
        means = over_targets(trials)
        apart = [mean - base[trial] for trial, mean in means.items()]
        error = statistics.stdev(apart) / len(apart) ** 0.5
        cells = [f"{statistics.fmean(trial[target] for trial in trials.values()):.1f}" for target in HELP_TARGETS]
        cells.append(f"**{statistics.fmean(means.values()):.1f}** ± {statistics.stdev(means.values()):.1f}")
        cells.append("" if trials == help_shares(*HELP_ROWS[1][1:]) else f"{statistics.fmean(apart):+.1f} ± {error:.1f}")
        lines.append(f"| {called} | " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def with_help_table(text):
    start, end = text.find(BEGINS), text.find(ENDS)
    return text[:start] + BEGINS + "\n" + help_table() + "\n" + text[end:] if 0 <= start < end else text


def index_with_notes(text, notes_of):
    """The tables of experiments/README.md: behind the link of each page, what its notes say in short."""
    def marked(found):
        notes = notes_of.get(found[2], "")
        said = [words for start, words in ((COUNTERS, "simulated counters"), (OLD, "out of date")) if start in notes]
        return found[1] + "".join(", " + words for words in said) + ")"

    link = r"(\(\[[^]]*\]\((?:\w+/)*(?:README\.md#)?(\w+)(?:/\w+\.md)?\))[^)]*\)"
    return "\n".join(re.sub(link, marked, line) if line.startswith("|") else line for line in text.split("\n"))


def keep(page, text, right, check):
    """Writes the page where it is not as it should be; whether it was not."""
    if right == text:
        return False
    print(f"{page.relative_to(ROOT)} {'is not what experiments/pages.py makes of it' if check else 'rewritten'}")
    if not check:
        page.write_text(right)
    return True


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--made", nargs="+", metavar="NAME", default=[])
    parser.add_argument("--of", metavar="REVISION", help="that made them, where it is not the working tree")
    options = parser.parse_args()
    known = pages()
    names = [*map(key_of, known), *searches()]
    for name in options.made:
        if name not in names:
            sys.exit(f"there is no page of '{name}'; there are: {', '.join(names)}")
    wrong, notes_of = 0, {}
    for page, name in known.items():
        text = page.read_text()
        made = made_line(name, options.of) if key_of(page) in options.made else None
        if made is None and not any(line.startswith(MADE) for line in text.splitlines()):
            print(f"{page.relative_to(ROOT)} does not say what made it: experiments/pages.py --made {key_of(page)}")
            wrong += 1
            continue
        right = with_notes(page, name, text, made)
        notes_of[name] = right
        wrong += keep(page, text, right, options.check)
    text = right = SEARCHES.read_text()
    for name in searches():
        made = made_line(name, options.of) if name in options.made else None
        if made is None and MADE not in section_of(name, right):
            print(f"{SEARCHES.relative_to(ROOT)} does not say what made {name}: experiments/pages.py --made {name}")
            wrong += 1
        right = with_section(name, right, made)
        notes_of[name] = section_of(name, right)
    wrong += keep(SEARCHES, text, right, options.check)
    index = EXPERIMENTS / "README.md"
    wrong += keep(index, index.read_text(), index_with_notes(index.read_text(), notes_of), options.check)
    readme = ROOT / "README.md"
    wrong += keep(readme, readme.read_text(), with_help_table(readme.read_text()), options.check)
    sys.exit(1 if options.check and wrong else 0)


if __name__ == "__main__":
    main()
