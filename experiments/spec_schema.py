#!/usr/bin/env python3
"""Makes trainer/spec.schema.json, by which editors complete a spec of `tenshot experiment`, and trainer/spec.md, the page of its
keys: experiments/spec_schema.py. The settings of methods are those of trainer/settings.md, which is made from what predictors
declare; a test compares all else with what the program says that it knows.
"""
import json
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parent.parent
ROWS = {"type": "string", "pattern": r"^\d+:\d+$"}
TEXTS = {"type": "array", "items": {"type": "string"}, "minItems": 1}
SAMPLERS = ["information", "targeted-uniform", "random", "listed"]
STRATEGIES = ["others", "same-runtime", "other-runtimes", "other-families"]


def said(text, **schema):
    return {"description": text, **schema}


def listed(text, items):
    return said(text, type="array", minItems=1, items=items)


def whole(text, least, most):
    return said(text, type="integer", minimum=least, maximum=most)


def objected(properties, required=(), **more):
    return {"type": "object", "additionalProperties": False, "properties": properties, "required": list(required), **more}


DATA = objected({
    "pool": said("Folder of a pool, relative to the spec's folder or else to the working folder; ${NAME} is an environment "
                 "variable. Either this or `table`.", type="string"),
    "table": said("A wide table: a row for each architecture, a column for each device-runtime.", type="string"),
    "space": said("Space of a table: its name, or the file of a layered space (default: nasbench201).", type="string"),
    "networks": said("Operators of a table's networks, in the space `networks`.", type="string"),
    "operator_latencies": said("Columns of `networks` with what operators take, by device.", type="object",
                               additionalProperties={"type": "string"}),
    "quantity": said("What is predicted (default: latencies of a table, and what a pool holds).",
                     enum=["latency", "cold", "energy", "memory"])})
SPLIT = objected({
    "train": said("Rows that the pool knows and samples are drawn from, such as \"0:900\".", **ROWS),
    "test": said("Rows that predictions are evaluated on; none of the training rows.", **ROWS),
    "pool": said("Rows that the pool knows, where these are more than those that samples are drawn from.", **ROWS)},
    ["train", "test"])
POOL = objected({
    "name": said("How tables call it.", type="string"),
    "of": said("Which device-runtimes a target's predictor learns from.", enum=STRATEGIES),
    "devices": said("Choose among these only: ids, or patterns with *.", **TEXTS),
    "families": listed("With \"of\": \"other-families\": ids or patterns of each family; who is in none is a family alone.", TEXTS),
    "one_at_a_time": said("One device-runtime in the pool, each in turn.", type="boolean")}, ["name"])
METHOD = {
    "name": said("How tables call it (default: the predictor).", type="string"),
    "predictor": said("One of `tenshot train --help`.", type="string"),
    "sampler": said("How its own samples are chosen (default: those of the trial).", enum=SAMPLERS),
    "samples": said("How many samples of its own; \"all\": every training row, a ceiling and no peer.",
                    anyOf=[{"type": "integer", "minimum": 0}, {"const": "all"}]),
    "rounds": listed("How many of the samples each round of planning measures; the later ones know the earlier.",
                     {"type": "integer", "minimum": 1}),
    "descriptor": said("Whether the target's hardware descriptor may be used (default: true).", type="boolean"),
    "planning_noise": said("σ of a measurement's log latency that planning expects.", type="number", minimum=1e-4, maximum=10),
    "planning_descriptor": said("Planning knows the descriptor too; with \"sampler\": \"information\".", type="boolean"),
    "shuffled_descriptor": said("Another runtime's descriptor: a control.", type="boolean")}
OF_SOME = {
    "profiled": said("operators: samples come with what the target's operators take inside them, and are planned for that.", type="boolean"),
    "mode": said("networks: how they are adapted.", enum=["joint", "fine-tune", "set-encoder"]),
    "clones": whole("networks: augmentation factor K.", 1, 10000),
    "ensemble": whole("networks: so many adaptations, each with a seed of its own; the geometric mean of their predictions.", 1, 100)}
SPEC = {
    "format": said("Always this.", const="tenshot.experiment/1"),
    "name": said("How results call it.", type="string"),
    "description": said("What it shows, for who reads the results.", type="string"),
    "data": said("Where latencies come from.", **DATA),
    "split": said("Architectures by their row; the two do not overlap.", **SPLIT),
    "targets": said("The new devices: ids, or patterns with *.", **TEXTS),
    "pools": listed("Strategies: which device-runtimes are learned from.", {"anyOf": [{"enum": STRATEGIES}, POOL]}),
    "samplers": listed("How the samples of a trial are chosen.", {"enum": SAMPLERS}),
    "samples": listed("How many; each number is a part of the grid.", {"type": "integer", "minimum": 0}),
    "clones": listed("Augmentation factors of networks, each a part of the grid.", {"type": "integer", "minimum": 1}),
    "methods": listed("Ways to a predictor: names, or objects with settings.",
                      {"anyOf": [{"type": "string"}, {"$ref": "#/$defs/method"}]}),
    "trials": whole("How often each part of the grid is run.", 1, 10000),
    "seed": said("Trial t, from 0, draws from seed + t (default: 1).", type="integer", minimum=0),
    "quick": said("What `--quick` changes of all this (RFC 7396): a small grid, to see that everything runs.", type="object")}
REQUIRED = ["format", "name", "data", "split", "targets", "pools", "samplers", "samples", "methods", "trials"]


def of_words(words):
    """What settings.md says that a setting may be, as a schema."""
    number = r"(-?[\d.]+(?:e[-+]?\d+)?)"
    for begin, kind in (("a whole number", "integer"), ("whole numbers", "integer"), ("a number", "number"), ("numbers", "number")):
        for pattern, keys in ((f"{begin} from {number} to {number}", ("minimum", "maximum")), (f"{begin} of {number} or more", ("minimum",))):
            found = re.fullmatch(pattern, words)
            if found:
                return {"type": kind, **{key: json.loads(text) for key, text in zip(keys, found.groups())}}
    if words.startswith("a list of "):
        inner = words.removeprefix("a list of ")
        return {"type": "array", "items": {"type": "string"} if inner == "texts" else of_words(inner)}
    if words.startswith("0, or "):
        return {"anyOf": [{"const": 0}, of_words(words.removeprefix("0, or "))]}
    if words.startswith("one of: "):
        return {"enum": words.removeprefix("one of: ").split(", ")}
    return {"true or false": {"type": "boolean"}, "the settings below": objected({})}[words]


def settings():
    """{predictor: {setting: schema}}, as settings.md says."""
    found = {}
    for line in (ROOT / "trainer/settings.md").read_text().splitlines():
        if line.startswith("## "):
            found[line[3:]] = {}
        cells = [cell.strip() for cell in line.strip("|").split(" | ")]
        if not line.startswith("| `") or len(cells) != 5:
            continue
        name, default, may_be, text = cells[0].strip("`"), cells[2].strip("`"), cells[3], cells[4]
        within = list(found.values())[-1]
        *outer, last = name.split(".")
        for part in outer:
            within = within[part]["properties"]
        within[last] = said(text + (f" (default: {default})" if default else ""), **of_words(may_be))
    for properties in found.values():
        properties.pop("seed", None)  # which is the experiment's
    return found


def schema():
    methods = {**METHOD, **OF_SOME}
    for predictor, properties in settings().items():
        for name, one in properties.items():
            known = methods.get(name)
            mine = {**one, "description": f"{predictor}: {one['description']}"}
            methods[name] = mine if known is None or name in METHOD else {"anyOf": [*known.get("anyOf", [known]), mine]}
    method = objected(methods, ["predictor"])
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "A spec of tenshot experiment",
            **objected(SPEC, REQUIRED), "$defs": {"method": method}}


def page():
    lines = ["# Specs of experiments", "",
             "What a spec of `tenshot experiment` says. Made by `experiments/spec_schema.py`, as is [a JSON schema](spec.schema.json) by",
             "which editors complete specs: in VS Code `\"json.schemas\": [{\"fileMatch\": [\"experiments/*/*.json\"], \"url\":",
             "\"./trainer/spec.schema.json\"}]`. Methods also take the [settings](settings.md) of their predictor."]
    for title, properties, required in (("The spec", SPEC, REQUIRED), ("data", DATA["properties"], []),
                                        ("split", SPLIT["properties"], SPLIT["required"]),
                                        ("pools", POOL["properties"], POOL["required"]),
                                        ("methods", {**METHOD, **OF_SOME}, ["predictor"])):
        lines += ["", f"## {title}", "", "| key | needed | what it says |", "|---|---|---|"]
        for name, one in properties.items():
            values = f" One of: {', '.join(one['enum'])}." if "enum" in one else ""
            lines.append(f"| `{name}` | {'yes' if name in required else ''} | {one['description']}{values} |")
    return "\n".join(lines) + "\n"


def files():
    return {ROOT / "trainer/spec.schema.json": json.dumps(schema(), indent=1, ensure_ascii=False) + "\n",
            ROOT / "trainer/spec.md": page()}


if __name__ == "__main__":
    for path, text in files().items():
        path.write_text(text)
        print(f"{path.relative_to(ROOT)} written")
