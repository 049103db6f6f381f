#!/usr/bin/env bash
# Measures the pool that ships: three LibTorch runtimes on one thread × 400 architectures, the same and in the same order
# for each. Some minutes a runtime; an interrupted run goes on. Let nothing else run meanwhile.
#
#   experiments/measure_pool.sh [folder, datasets/data unless said]
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=experiments/set_up.sh
. experiments/set_up.sh
install_missing
build_targets tenshot
out=${1:-datasets/data}
for runtime in libtorch-eager libtorch-frozen libtorch-optimized; do
  "$tenshot" collect --runtime $runtime --threads 1 --batch 1 --archs 400 --seed 1 --descriptor --repeat-check --out "$out"
done
{
  cat <<END
# The pool that ships

Latencies measured by \`experiments/measure_pool.sh\` ($("$tenshot" --version | head -n 1)): NAS-Bench-201 networks with random
weights, 32 × 32 input, ten classes, batch 1, one pinned thread, 32-bit floats; the first 400 of a seeded draw, the same for
every device-runtime. The 20 networks of a batch are measured in turn over six rounds, so that a machine whose speed changes
by the second is seen as it is most of the time; a latency is the median of the 60 runs, \`stddev_ms\` their spread
(1.4826 × median absolute deviation). A sentinel network takes its turn in every batch, and a batch whose sentinel moved
over 5 % is measured again, at most twice; \`device.json\` holds the sentinel's values and all other conditions,
and the latencies of the 15 operators (\`latency_only\`: this virtual machine has no performance counters).

| device-runtime | architectures | median difference when measured again | within 10 % when measured again | unsettled batches |
|---|---|---|---|---|
END
  for file in "$out"/*/device.json; do
    awk -v id="$(basename "$(dirname "$file")")" -v rows="$(($(wc -l <"$(dirname "$file")/latencies.csv") - 1))" '
      { gsub(/[",:]/, ""); if (!($1 in value)) value[$1] = $2 }
      END { printf "| `%s` | %d | %.1f %% | %.0f %% | %d of %d |\n", id, rows, 100 * value["median_relative_difference"],
            100 * value["within_10_percent"], value["unsettled_batches"], (rows + value["batch_size"] - 1) / value["batch_size"] }' "$file"
  done
  echo
  echo "\"Measured again\" is 5 % of the architectures at the end of the collection: no predictor can be expected to do better."
  echo
  awk '/"(cpu|kernel|runtime_version|started_utc)"/ { gsub(/^ +|[",]/, ""); print "- " $0 }' "$(find "$out" -name device.json | sort | head -n 1)"
} >"$out/README.md.new"
mv "$out/README.md.new" "$out/README.md"
cat "$out/README.md"
