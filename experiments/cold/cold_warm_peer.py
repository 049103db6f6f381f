"""A peer of cold predictions: each network's own warm latency, times one factor that ten cold starts give.

    cold_warm_peer.py POOL TRAIN TEST     networks in rows before TRAIN may be measured, those from TRAIN to TEST are
                                          predicted; Markdown on standard output

The warm latencies are those that were measured after the very starts (warm_ms of cold.csv), so that this is what a
warm predictor without any error would give. The factor is the median ratio of ten networks drawn at random; the mean
of twenty draws.
"""
import csv
import random
import statistics
import sys
from pathlib import Path


def ranks(values):
    order = sorted(range(len(values)), key=values.__getitem__)
    result = [0] * len(values)
    for rank, index in enumerate(order):
        result[index] = rank
    return result


def main(pool, train, test):
    print("| device-runtime | within ±10 %, percent | Spearman's ρ | median spread of a network's starts |\n|---|---|---|---|")
    for folder in sorted(Path(pool).glob("*mbs")):
        with (folder / "cold.csv").open() as file:
            rows = [(float(row["cold_ms"]), float(row["warm_ms"]), float(row["stddev_ms"]))
                    for row in csv.DictReader(file) if row.get("warm_ms") and row["stddev_ms"]]
        if not rows:
            continue  # its warm latency was not measured
        predicted = rows[train:test]
        shares = []
        for seed in range(1, 21):
            factor = statistics.median(cold / warm for cold, warm, _ in random.Random(seed).sample(rows[:train], 10))
            shares.append(100 * statistics.fmean(abs(factor * warm / cold - 1) <= 0.1 for cold, warm, _ in predicted))
        rho = statistics.correlation(ranks([row[0] for row in predicted]), ranks([row[1] for row in predicted]))
        spread = statistics.median(deviation / cold for cold, _, deviation in rows)
        print(f"| {folder.name} | {statistics.fmean(shares):.1f} | {rho:.3f} | {100 * spread:.1f} % |")
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
    import pages
    print("\n" + pages.made_line("cold_pool"))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
