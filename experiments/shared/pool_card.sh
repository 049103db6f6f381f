#!/usr/bin/env bash
# Writes README.md, the card of a measured pool, from its device files; keeps what stands there under "## Remarks".
#
#   experiments/shared/pool_card.sh [folder, datasets/data unless said]
set -euo pipefail
cd "$(dirname "$0")/../.."
out=${1:-datasets/data}
# field FILE KEY: the first value of KEY.
field() { awk -v key="\"$2\":" '$1 == key { sub(/^[^:]*: /, ""); gsub(/^"|"?,?$/, ""); print; exit }' "$1"; }
{
  cat <<END
# The pool that ships

Latencies of NAS-Bench-201 networks with random weights, 32 × 32 input, ten classes, measured by
\`experiments/measure_pool.sh\`: the first architectures of one seeded draw, the same for every device-runtime and in the same
order. By convention the first six tenths are to train on and to adapt with, the others to test on.

The 20 networks of a batch are measured in turn over several rounds; a latency is the median of its runs, \`stddev_ms\` their
spread (1.4826 × median absolute deviation), \`runs\` how many there were. A sentinel network takes its turn in every batch
(\`sentinel_ms\`); networks whose sentinel was over the tolerance from what it is when nothing disturbs the machine, or during
which others used the processor, were measured again, and count as disturbed when that did not help. \`device.json\` holds
all conditions.

**Counters are simulated** wherever a descriptor has any: this virtual machine has no performance monitoring unit, so they come
from callgrind, whose caches and processor each \`device.json\` states under \`conditions\`. Operator latencies are measured,
and what operations cost inside a network (\`in_network\`) is too, when and on which processor \`conditions\` says.

| device-runtime | median ms | median difference when measured again | within 10 % when measured again | disturbed | tolerance | loops over timed runs | preparation, s |
|---|---|---|---|---|---|---|---|
END
  for file in "$out"/*/device.json; do
    folder=$(dirname "$file")
    middle=$(tail -n +2 "$folder/latencies.csv" | cut -d, -f2 | sort -g | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }')
    awk -v id="$(basename "$folder")" -v rows="$(($(wc -l <"$folder/latencies.csv") - 1))" -v middle="$middle" '
      { gsub(/[",:]/, ""); if (!($1 in value)) value[$1] = $2 }
      function share(key, digits) { return key in value ? sprintf("%.*f %%", digits, 100 * value[key]) : "unknown" }
      END { disturbed = "unsettled_architectures" in value ? value["unsettled_architectures"] : "unknown"
            printf "| `%s` | %.2f | %s | %s | %s of %d | %s | %s | %s |\n", id, middle,
            share("median_relative_difference", 1), share("within_10_percent", 0), disturbed, rows,
            share("tolerance", 0), (value["runs_s"] > 0 ? sprintf("%.2f", value["measuring_s"] / value["runs_s"]) : "unknown"),
            ("preparation_s" in value ? sprintf("%.0f", value["preparation_s"]) : "unknown") }' "$file"
  done
  echo
  echo "\"Measured again\" is 5 % of the architectures at the end of the collection, those that were undisturbed both times: no predictor"
  echo "can be expected to do better."
  echo "\"Tolerance\" is by how much the sentinel might move before a network counted as disturbed."
  echo "\"Loops over timed runs\" is what measuring costs beside the runs it reports; warm-up and preparation come on top."
  echo
  first=$(find "$out" -name device.json | sort | head -n 1)
  for key in cpu kernel runtime_version started_utc; do echo "- $key: $(field "$first" $key)"; done
  echo "- simulated caches: $(field "$first" simulated_caches)"
  if [ -d "$out/onnxruntime_fp32_t1_b1" ]; then
    cat <<END

\`onnxruntime_fp32_t1_b1\` was measured by a measurement kit (\`experiments/cells/onnxruntime.sh\`): a process a network, 50 runs each,
a sentinel after every ten (what it disturbed was measured again until it did not), no counters; its operator latencies are
measured.
END
  fi
  if [ -f "$out/README.md" ]; then awk '/^## Remarks$/ { kept = 1; print "" } kept' "$out/README.md"; fi
} >"$out/README.md.new"
mv "$out/README.md.new" "$out/README.md"
cat "$out/README.md"
