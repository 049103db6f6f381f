"""Writes the Markdown page of an experiment on cold starts or memory: cold_starts.py RESULTS.csv POOL cold|memory

The methods' rows come from results.csv. Beside them stand peers computed here from the pool's own tables. They are given
more than the methods have: all thirty training rows of the target instead of ten, and, of cold starts, the measured warm
latency of every network instead of a prediction of it.
"""
import csv
import json
import pathlib
import statistics
import sys

TRAIN, TEST = slice(0, 30), slice(30, 60)


def ranks(values):
    order = sorted(range(len(values)), key=values.__getitem__)
    result = [0.0] * len(values)
    start = 0
    while start < len(order):
        end = start
        while end + 1 < len(order) and values[order[end + 1]] == values[order[start]]:
            end += 1
        for k in range(start, end + 1):
            result[order[k]] = (start + end) / 2
        start = end + 1
    return result


def correlation(a, b):
    mean_a, mean_b = statistics.fmean(a), statistics.fmean(b)
    ab = sum((x - mean_a) * (y - mean_b) for x, y in zip(a, b))
    aa, bb = sum((x - mean_a) ** 2 for x in a), sum((y - mean_b) ** 2 for y in b)
    return ab / (aa * bb) ** 0.5 if aa > 0 and bb > 0 else None


def score(predicted, measured):
    within = sum(abs(p / m - 1) <= 0.1 for p, m in zip(predicted, measured)) / len(measured)
    return 100 * within, correlation(ranks(predicted), ranks(measured))


def line(x, y):
    """Least squares of the relative error of base + slope * x, neither below zero."""
    xx, x1, oo = sum((a / b) ** 2 for a, b in zip(x, y)), sum(a / b**2 for a, b in zip(x, y)), sum(1 / b**2 for b in y)
    xy, oy = sum(a / b for a, b in zip(x, y)), sum(1 / b for b in y)
    slope, base = (xy * oo - oy * x1) / (xx * oo - x1**2), 0.0
    base = (oy - slope * x1) / oo
    if slope < 0:
        return oy / oo, 0.0
    if base < 0:
        return 0.0, xy / xx
    return base, slope


def read_pool(folder, quantity):
    pool = {}
    column = {"cold": "cold_ms", "memory": "memory_mib"}[quantity]
    for device in sorted(folder.iterdir()):
        if (device / f"{quantity}.csv").exists():
            rows = list(csv.DictReader(open(device / f"{quantity}.csv")))
            pool[device.name] = ([float(row[column]) for row in rows], rows)
    return pool


def peers(pool, quantity):
    """name -> target -> (acc10, rho)"""
    found = {}
    for target, (values, rows) in pool.items():
        train, test = values[TRAIN], values[TEST]
        # The best constant by the error bound: the value that most training rows are within 10 % of.
        constant = max(train, key=lambda c: sum(abs(c / v - 1) <= 0.1 for v in train))
        found.setdefault("best constant of thirty", {})[target] = score([constant] * len(test), test)
        if quantity != "cold":
            continue
        warm = [float(row["warm_ms"]) for row in rows]
        factor = statistics.median(v / w for v, w in zip(train, warm[TRAIN]))
        found.setdefault("measured warm latency, one factor", {})[target] = score(
            [factor * w for w in warm[TEST]], test)
        base, slope = line(warm[TRAIN], train)
        found.setdefault("measured warm latency, a line", {})[target] = score(
            [base + slope * w for w in warm[TEST]], test)
    return found


def cell(acc10, rho):
    return f"{acc10:.1f} / {rho:.3f}" if rho is not None else f"{acc10:.1f} / –"


def table(rows, targets):
    lines = ["| method | " + " | ".join(targets) + " | mean |", "|---" * (len(targets) + 2) + "|"]
    ordered = sorted(rows.items(), key=lambda row: -statistics.fmean(v[0] for v in row[1].values()))
    for name, of_target in ordered:
        rhos = [of_target[t][1] for t in targets]
        mean_rho = statistics.fmean(rhos) if None not in rhos else None
        mean = cell(statistics.fmean(of_target[t][0] for t in targets), mean_rho)
        lines.append(f"| {name} | " + " | ".join(cell(*of_target[t]) for t in targets) + f" | **{mean}** |")
    return "\n".join(lines)


def main(results, folder, quantity):
    pool = read_pool(pathlib.Path(folder), quantity)
    rows = [row for row in csv.DictReader(open(results))]
    targets = sorted({row["target"] for row in rows})
    short = {t: t.split("_")[0] for t in targets}
    print("# " + ("Ten cold starts" if quantity == "cold" else "Ten measurements of peak memory") + "\n")
    for sampler in sorted({row["sampler"] for row in rows}):
        methods = {}
        for method in {row["method"] for row in rows}:
            for target in targets:
                chosen = [r for r in rows if (r["method"], r["target"], r["sampler"]) == (method, target, sampler)]
                rhos = [float(r["spearman"]) for r in chosen if r["spearman"]]
                methods.setdefault(method, {})[short[target]] = (
                    100 * statistics.fmean(float(r["acc10"]) for r in chosen),
                    statistics.fmean(rhos) if len(rhos) == len(chosen) else None)
        print(f"Ten samples by {sampler}, mean of {len({r['trial'] for r in rows})} trials: percent within ±10 % / "
              "Spearman's ρ on thirty networks that nobody measured.\n")
        print(table(methods, [short[t] for t in targets]) + "\n")
    print("Peers that know more: thirty measurements of the target" +
          (", and the measured warm latency of every network" if quantity == "cold" else "") + ".\n")
    known = {name: {short[t]: v for t, v in of.items()} for name, of in peers(pool, quantity).items()}
    print(table(known, [short[t] for t in targets]) + "\n")
    print("What was measured, medians over the networks:\n")
    if quantity == "cold":
        print("| runtime | cold ms | load | prepare | first run | warm | cold / warm | starts | from disk | disturbed |")
        print("|---|---|---|---|---|---|---|---|---|---|")
    else:
        print("| runtime | memory MiB | least | most | the runtime itself | spread of a median |")
        print("|---|---|---|---|---|---|")
    for target in targets:
        values, of = pool[target]
        environment = json.load(open(pathlib.Path(folder) / target / "device.json"))["environment"]
        median = lambda name: statistics.median(float(row[name]) for row in of)
        if quantity == "cold":
            ratio = statistics.median(v / float(row["warm_ms"]) for v, row in zip(values, of))
            disk, kept = environment.get("starts_from_disk", 0), environment.get("starts_with_cached_pages", 0)
            print(f"| {short[target]} | {statistics.median(values):.1f} | {median('load_ms'):.1f} | "
                  f"{median('prepare_ms'):.1f} | {median('first_ms'):.1f} | {median('warm_ms'):.2f} | {ratio:.1f} | "
                  f"{disk + kept} | {disk} | {environment.get('disturbed_starts', 0)} |")
        else:
            spread = statistics.median(float(r["stddev_mib"]) / v for v, r in zip(values, of))
            print(f"| {short[target]} | {statistics.median(values):.1f} | {min(values):.1f} | {max(values):.1f} | "
                  f"{environment['runtime_memory_mib']:.1f} | {100 * spread:.1f} % |")


if __name__ == "__main__":
    main(*sys.argv[1:])
