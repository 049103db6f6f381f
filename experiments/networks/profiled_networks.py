#!/usr/bin/env python3
"""Tabulates what profiles of the measured networks are worth.

    python3 profiled_networks.py RESULTS.csv    the results of all splits as Markdown
"""
import csv
import statistics
import sys

HEAD = """# profiled_networks

`experiments/networks/profiled_networks.sh`: the networks of [datasets/data/networks](../../../datasets/data/networks/README.md) with
what their [operators](../../../datasets/data/operators/README.md) take. Four runtimes are predicted from three, ten
and thirty networks. Each is left out of the pool with all its settings, and four tenths of the families of networks with
it: both the runtime and the networks that are predicted are new. Profiles hold an operator's median over all networks that
have it, since the tables keep no other.

`latencies alone` knows no operator's time. `operators of the pool` knows those of the other three runtimes, and `profiles of
the measured` those of the new runtime inside the measured networks; `both` is both.

How the times are used was settled while splits 1 to 3 were looked at: that trees correct what the latencies let expect, how
deep they are, that own and other devices count half each, and that from some error of the others on the own ones count more. That
trees alone do as well as trees beside a Gaussian process, which they replaced, and that four of a round are averaged, was
seen on splits 1 to 5. No search inside the pool chose any of it, so that these splits are somewhat hopeful; splits 6 and 7
were not looked at, and stand in tables of their own, but for the differences at the end, which are of all seven. There the
process had 55.5, 65.5, 33.4 and 53.8 % from ten networks and 63.3, 76.0, 43.9 and 54.1 from thirty, in the tables' order, by
`both` (run once by hand): on int8 it was better.

How much the own operators count from more than ten networks was chosen inside: of the networks to learn from, four tenths of the
families were held out once more, and thirty of the others profiled (splits 1 to 4, by hand). Half and half had 68.3, 77.2, 41.5
and 50.4 % in the tables' order, the own operators alone 71.5, 75.5, 44.7 and 64.8. What ships had 71.6, 76.2, 44.7 and 64.9: from
thirty networks they count three times as much as the others, and from a smaller error of the others still more.

Methods that have profiles plan for them, as `plan --profile` does: a measurement is expected to be off by .03, where one without a
profile is by .1 ([chosen inside](../../search/README.md#profiled_search)). The plan for latencies was tried on splits 1 and 2 of
this page before, by hand: by `both` 61.9, 81.8, 21.7 and 43.1 % from ten networks, and 75.9, 84.1, 42.8 and 60.3 from thirty, in the
tables' order. The error of the others from which own operators count more, .06, and how far these correct others nearby are
[chosen inside](../../search/README.md#profiled_search) too, where they bring 2.9 points from ten networks and 0.8 from thirty. With .1 and
without the correction, these tables held 67.5, 75.7, 25.9 and 60.0 % from ten networks and 73.4, 80.8, 47.4 and 67.2 from thirty, and
with .2 65.5, 75.2, 26.5 and 58.1, and 73.5, 81.3, 47.4 and 65.9. Rows of three networks with profiles were run again alone, when the
error that counts came to grow with the root of ten over a smaller number of networks.

What is missing on channels-last is in the operators' times, not between the operators: sums of what the operators of the networks
held out inside really took are within ±10 % for 90 % of them, once one factor is taken off. Of what was predicted there, networks
of large dense convolutions were too fast: ResNets by 12 %, ResNeXts by 23, those of the space of Li et al. by 10. This and what follows was seen by hand. Those are
convolutions of 512 and more channels, few of which stand in thirty networks: on inner splits 1 to 3, 3×3 ones were predicted
18 % too fast, of 1,024 channels 65 %, and channels-last needs 6.5 ms for a 1×1 one with stride 2 that takes 1.8 on eager
LibTorch. Trees that also keep what is expected of all operators of the networks held out inside predict no more of them, 63.2 %
where they had 65.0.

Finer sizes as inputs of the trees (how far channels fill vectors of 16 and 8, arithmetic over bytes) predict more inside from
thirty networks: +2.5 ± 0.8, +1.2 ± 0.4, +2.6 ± 1.3 and -0.4 ± 1.0 points in the tables' order (standard error over seven inner
splits). On the splits of this page they do not: -1.5 ± 0.8, +0.2 ± 0.8, +0.1 ± 1.5 and -0.4 ± 0.7 by `both` (run once by hand; 70.1 %
on channels-last on splits 1 to 5). So they are not inputs, and this is one choice that these splits had a part in. Plans that
choose networks for the operators they hold (a Gaussian process over sizes; a prototype, four inner splits)
changed channels-last by +0.9, eager by +3.2, int8 by 0.0 and OpenCV by -5.3 points inside, and were not built.
"""


UNSEEN = ("6", "7")  # splits that were not looked at while the use of the times was settled


def main():
    with open(sys.argv[1], newline="") as file:
        rows = list(csv.DictReader(file))
    unseen = [row for row in rows if row["split"] in UNSEEN]
    rows = [row for row in rows if row["split"] not in UNSEEN]
    splits = sorted({row["split"] for row in rows})
    print(HEAD)
    for samples in sorted({row["samples"] for row in rows}, key=int):
        print(f"## {samples} networks\n")
        of = [row for row in rows if row["samples"] == samples]
        print_table(of, "acc10", f"Within ±10 %, mean over {len(splits)} splits ± their standard deviation")
        if unseen:
            print_table([row for row in unseen if row["samples"] == samples], "acc10",
                        f"Within ±10 % on splits {' and '.join(UNSEEN)} alone")
        print_table(of, "coverage90", "90 % intervals hold, %")


def print_table(rows, key, title):
    targets = sorted({row["target"] for row in rows})
    print(f"{title}:\n\n| measured | " + " | ".join(targets) + " | mean |\n|---|" + "---|" * (len(targets) + 1))
    for method in dict.fromkeys(row["method"] for row in rows):
        cells = []
        for target in [*targets, None]:
            means = [statistics.mean(100 * float(row[key]) for row in rows if row["method"] == method and
                                     row["split"] == split and target in (None, row["target"]))
                     for split in sorted({row["split"] for row in rows})]
            spread = f" ± {statistics.stdev(means):.1f}" if len(means) > 1 else ""
            cells.append(f"{statistics.mean(means):.1f}{spread}")
        print(f"| {method} | " + " | ".join(cells) + " |")
    print()


if __name__ == "__main__":
    main()
