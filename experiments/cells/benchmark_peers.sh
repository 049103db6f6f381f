#!/usr/bin/env bash
# tenshot beside its peers on this machine, in turns, one thread: a training step of the network against the same network
# in Python's torch on the same BLAS, reading the public table against Python's csv and numpy, predicting the whole
# space against the network's bare matrix products. Prints medians, spreads and ratios, and writes
# experiments/cells/benchmark_peers/README.md. For figures worth keeping, let nothing else run.
#
#   TENSHOT_TABLES=folder experiments/cells/benchmark_peers.sh [rounds, 7 unless said]
set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=experiments/set_up.sh disable=SC2119
. experiments/set_up.sh
rounds=${1:-7}
install_missing python3-torch
build_targets tenshot bench_trainer bench_datasets
export OMP_NUM_THREADS=1
table=${TENSHOT_TABLES:-}/help-nasbench201/latency_ms.csv
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# counters BENCHMARK: "ours_us products_us ratio" of a benchmark that times both in turn.
counters() {
  "$build/tests/benchmarks/bench_trainer" --benchmark_filter="$1" --benchmark_format=csv 2>/dev/null |
    awk -F, '/^name,/ { for (i = 1; i <= NF; i++) { gsub(/"/, "", $i); column[$i] = i } }
             /^"/ { print $column["ours_us"], $column["products_us"], $column["ratio"] }'
}
python() { /usr/bin/python3 experiments/cells/benchmark_peers.py "$@"; }

for round in $(seq "$rounds"); do
  echo "round $round of $rounds" >&2
  read -r ours products ratio < <(counters TrainingStep)
  echo "$ours" >>"$work/step.ours"
  echo "$products" >>"$work/step.products"
  echo "$ratio" >>"$work/step.ratio"
  python train | awk '{ print 1e6 * $1 }' >>"$work/step.python"
  read -r ours products ratio < <(counters PredictWholeSpace)
  echo "$ours" >>"$work/space.ours"
  echo "$products" >>"$work/space.products"
  echo "$ratio" >>"$work/space.ratio"
  [ -f "$table" ] || continue
  "$build/tests/benchmarks/bench_datasets" --benchmark_filter=ReadWideTable --benchmark_format=csv 2>/dev/null |
    awk -F, '/^"/ { print 1000 * $3 }' >>"$work/read.ours"
  python csv "$table" | awk '{ print 1e6 * $1 }' >>"$work/read.csv"
  python numpy "$table" | awk '{ print 1e6 * $1 }' >>"$work/read.numpy"
done

# summary FILE UNIT_US FORMAT: "median (least to most)".
summary() {
  sort -g "$1" | awk -v unit="$2" -v form="$3" '
    { value[NR] = $1 / unit }
    END { middle = NR % 2 ? value[(NR + 1) / 2] : (value[NR / 2] + value[NR / 2 + 1]) / 2
          printf form " (" form " to " form ")", middle, value[1], value[NR] }'
}
# ratios NUMERATOR DENOMINATOR: round by round.
ratios() { paste "$1" "$2" | awk '{ print $1 / $2 }' >"$work/ratio"; summary "$work/ratio" 1 %.2f; }

results=experiments/cells/benchmark_peers
mkdir -p $results
{
  echo "# tenshot beside its peers"
  echo
  echo "\`experiments/cells/benchmark_peers.sh $rounds\`: in turns, $rounds rounds, one thread; median (least to most)."
  echo "$("$tenshot" --version | sed -n 2p). $(grep -m 1 'model name' /proc/cpuinfo | cut -d: -f2- | xargs)."
  echo
  echo "| what | tenshot | beside it | ratio |"
  echo "|---|---|---|---|"
  echo "| training step, batch 128, 35-512-128-1 | $(summary "$work/step.ours" 1 %.0f) µs | the same network in Python's torch, $(summary "$work/step.python" 1 %.0f) µs | torch takes $(ratios "$work/step.python" "$work/step.ours") times as long |"
  echo "| … | | its matrix products alone, $(summary "$work/step.products" 1 %.0f) µs | $(summary "$work/step.ratio" 1 %.2f) times the products |"
  echo "| predicting 15,625 architectures | $(summary "$work/space.ours" 1000 %.1f) ms | its matrix products alone, $(summary "$work/space.products" 1000 %.1f) ms | $(summary "$work/space.ratio" 1 %.2f) times the products |"
  if [ -f "$work/read.ours" ]; then
    echo "| reading the table, 15,625 × 27 | $(summary "$work/read.ours" 1000 %.1f) ms | Python's csv, $(summary "$work/read.csv" 1000 %.0f) ms | csv takes $(ratios "$work/read.csv" "$work/read.ours") times as long |"
    echo "| … | | numpy.genfromtxt, $(summary "$work/read.numpy" 1000 %.0f) ms | numpy takes $(ratios "$work/read.numpy" "$work/read.ours") times as long |"
  else
    echo "| reading the table | left out: TENSHOT_TABLES names no folder with help-nasbench201/latency_ms.csv | | |"
  fi
} >"$work/README.md"
mv "$work/README.md" $results/README.md
cat $results/README.md
