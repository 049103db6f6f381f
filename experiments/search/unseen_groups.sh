#!/usr/bin/env bash
# From whom a device-runtime takes the costs of operators that it never measured, and how wide intervals are then, by some
# settings: experiments/search/unseen_groups.md. A minute.
#
#   TENSHOT_TABLES=folder experiments/search/unseen_groups.sh
set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=experiments/set_up.sh disable=SC2119
. experiments/set_up.sh
install_missing
build_targets tenshot unseen_groups
imported=$build/experiments/knowledge/85
if [ ! -d "$imported/help-ofa" ]; then TENSHOT_KNOWLEDGE_ROWS=85 experiments/knowledge.sh "$build/experiments/knowledge" >/dev/null; fi
pools=()
for name in networks sizes gpu; do pools+=("datasets/data/$name"); done
for name in mobile-cnn ncnn-boards help-fbnet help-ofa; do pools+=("$imported/$name"); done
{
  cat <<'TEXT'
# Operators that a device-runtime never measured

A group of operators is hidden from a device-runtime: the networks that have one leave its fit, and are predicted by its own
other costs and what other device-runtimes say of the group. All that the shipped knowledge is made of is in the pool. Those
who say it count by the sum of squared differences of their operators' log sizes, to a power (`evidence_power`), and those of
another runtime `other_runtimes` as much. Before, all counted alike (0; 1): boards, whose networks have a single transposed
convolution of one size, made it a fixed cost for all other runtimes, whatever its size. What ships is 2; 1e-09.

Intervals: what the hidden operators count as may be so many times as much; 3 ships. Groups that nearly every network has
are hidden too, and little is left to fit then: holding fewer than 90 % is expected of the table as a whole. Looked at before
this table, on the same pools, were less for other runtimes (1e-3), numbers of networks in the place of squares, and the group
most alike on the device itself.

Operators of a type of which nobody measured one and which multiply nothing, such as TopK or GridSample, count as data movement.
This was seen by hand: 119 small networks of 50 kinds that no pool has, timed on ONNX Runtime and predicted from ten usual
networks by the shipped knowledge. Of the 54 with such a type, 90 % intervals held 91 % as data movement, with bounds 6.9 times
apart in the median and a mean error of log latency of 0.59; as element-wise operators, which they were before, 76 %, 14.9
times and 0.83. Pools, norms, activations and concatenations held 72 to 85 %, global pools as many with 17.6 times.
Of all 119, intervals hold 87 % (74 before that, and before a table counted by the rows that are looked up; 89 of the
79 below half a millisecond). Of the known device `onnxruntime_fp32_t1_b1_all`, without a measurement, they held 51 %, since
its own networks left out say little of networks so unlike them. They hold 72 % where any feature's share of a network beyond
the largest share that it has in the pool may cost four times more, which leaves intervals of usual networks as they are; once and
twice as much held 55 and 60 %. Since whole networks bound costs ([kinds](../networks/kinds/README.md)) the 87 % and 72 % are 90
and 82. On boards' new networks of [pool_growth](../networks/pool_growth/README.md) data movement
changes next to nothing: 27.6 / 52.8 and 24.1 / 45.4 % where that
page has 27.8 / 52.8 and 24.1 / 44.9.

TEXT
  OPENBLAS_NUM_THREADS=1 "$build/experiments/unseen_groups" "${pools[@]}"
} >"$build/unseen_groups.md"
mv "$build/unseen_groups.md" experiments/search/unseen_groups.md
