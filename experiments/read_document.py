#!/usr/bin/env python3
"""Predicts from what `tenshot export --document` wrote, with nothing but Python: read_document.py device.json 'ARCHITECTURE' …

Copy `latency_ms` where you need it: the document has all that it takes.
"""
import json
import math
import re
import sys


def with_names_of_latencies(document):
    """A document of another quantity has costs_mj and so on where one of latencies has costs_ms."""
    return json.loads(re.sub(r'_(?:mj|mib)(2?":)', r"_ms\1", json.dumps(document)))


def latency_ms(document, text):
    """The latency of one architecture, or of a network that the predictor carries, in ms; of a document of another
    quantity, that in its unit."""
    strings = document.get("strings")
    if strings:  # the columns of the one-hot encoding that are one, and the place in the space's order
        spellings = zip(strings["parts"], text.split(strings["separator"]), strict=True)
        columns = [column for part, spelling in spellings for column in part[spelling]]
        ordinal = sum(strings["ordinals"][column] for column in columns) if "ordinals" in strings else None
    if "network" in document:  # feed-forward
        network, x = document["network"], [float(column in columns) for column in range(strings["columns"])]
        for layer in network["layers"]:
            x = [sum(map(float.__mul__, row, x)) + bias for row, bias in zip(layer["weight"], layer["bias"])]
            x = x if layer is network["layers"][-1] else [max(value, 0.0) for value in x]
        return max(network["floor_ms"], network["scale_ms"] * (math.exp(x[0]) if network["logarithmic"] else x[0]))
    if "trees" in document:
        def leaf(nodes, at=0):
            feature, zero, one, value = nodes[at]
            return value if feature < 0 else leaf(nodes, one if feature in columns else zero)
        return math.exp(sum(map(leaf, document["trees"])) / len(document["trees"]))
    if "tables" in document:  # structured
        def features(component):
            table = document["tables"][component["structure"]]
            return max(table["rows"][table["row_of"][ordinal]], key=lambda row: dot(row, component["path_costs_ms"]))
    else:  # operators
        if "network_features" in document:
            x = document["network_features"][text]
        elif "table" in document:  # of release 0.1
            x = document["table"]["rows"][document["table"]["row_of"][ordinal]]
        else:
            rows = [document["first_features"], *(document["added_features"][column] for column in columns)]
            for part in document.get("parts", []):  # operators that depend on several decisions
                at = 0
                for begin, count in part["columns"]:
                    at = at * count + next(column - begin for column in columns if begin <= column < begin + count)
                rows.append(part["rows"][at])
            width = len(rows[0])
            x = [sum(terms) for terms in zip(*(row[:width] for row in rows))]
            for use, (feature, value) in enumerate(document.get("first_uses", [])):  # once, however many parts do
                x[feature] += value * max(row[width + use] for row in rows[-len(document["parts"]):])
        features = lambda component: x  # noqa: E731
    least = document["floor_ms"]
    if "least_costs_ms" in document:
        least = max(least, dot(x, document["least_costs_ms"]))
    mean = sum(component["weight"] * math.log(max(dot(features(component), component["costs_ms"]), least))
               for component in document["components"])
    if "residual" in document:  # what no structure explains, by architectures that were measured
        residual = document["residual"]
        for anchor, weight in zip(residual["anchor_signatures"], residual["weights"]):
            unlike = bin(int(document["signatures"][ordinal], 16) ^ int(anchor, 16)).count("1")
            mean += weight * math.exp(-unlike / residual["scale"])
    elif "similarity" in document:
        near = document["similarity"]
        shares = [max(value * cost, 0.0) for value, cost in zip(x, near["typical_costs"])]
        total = max(sum(shares), 1e-12)
        place = [math.sqrt(share / total) / near["length"] for share in shares] + [math.log(total) / near["scale"]]
        mean += sum(weight * math.exp(-math.dist(place, anchor)) for anchor, weight in zip(near["anchors"], near["weights"]))
    return math.exp(mean)


def dot(a, b):
    return sum(map(float.__mul__, map(float, a), map(float, b)))


if __name__ == "__main__":
    with open(sys.argv[1]) as file:
        contents = with_names_of_latencies(json.load(file))
    for architecture in sys.argv[2:]:
        print(f"{latency_ms(contents, architecture):.9g}")
