#!/usr/bin/env bash
# Runs every benchmark on one thread and writes experiments/results/benchmarks/README.md. For figures worth keeping, let
# nothing else run. TENSHOT_TABLES names the folder of public latency tables (the import benchmark needs it).
set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=experiments/set_up.sh
. experiments/set_up.sh
install_missing
build_targets
export OMP_NUM_THREADS=1
results=experiments/results/benchmarks work=$build/benchmarks
mkdir -p $results "$work"
run() { "$build/tests/benchmarks/bench_$1" --benchmark_counters_tabular=true "${@:2}" 2>/dev/null; }

if [ ! -d "$work/pool" ]; then  # a pool of the paper's size, so that `adapt` is measured on what it is for
  if [ -n "${TENSHOT_TABLES:-}" ]; then
    "$tenshot" dataset import --table "$TENSHOT_TABLES/help-nasbench201/latency_ms.csv" --rows 0:900 --out "$work/pool" \
      --devices 1080ti_1,1080ti_32,1080ti_256,silver_4114,silver_4210r,samsung_a50,pixel3,essential_ph_1,samsung_s7
  else
    cp -r datasets/data "$work/pool"
  fi
fi
"$tenshot" train --quiet --pool "$work/pool" --descriptor-kind inferred --out "$work/pool.tenshot"
"$tenshot" plan --checkpoint "$work/pool.tenshot" --out "$work/plan.csv"
first=$(find "$work/pool" -name latencies.csv | sort | head -n 1)
awk -F, 'NR == FNR { planned[$2]; next } FNR == 1 || $1 in planned' "$work/plan.csv" "$first" >"$work/measured.csv"
"$tenshot" adapt --checkpoint "$work/pool.tenshot" --measurements "$work/measured.csv" --out "$work/device.tenshot"
{
  echo "# Benchmarks"
  echo
  echo "\`tests/benchmarks/run.sh\`, one thread. $("$tenshot" --version | sed -n 2p). $(grep -m 1 'model name' /proc/cpuinfo | cut -d: -f2- | xargs)."
  echo
  echo "## Against the network's own matrix products, alternating"
  echo
  echo '```'
  run trainer --benchmark_filter='TrainingStep|PredictWholeSpace'
  echo '```'
  echo
  echo "## Strings and tables"
  echo
  echo '```'
  run nasbench --benchmark_repetitions=5 --benchmark_report_aggregates_only=true
  run datasets --benchmark_repetitions=5 --benchmark_report_aggregates_only=true
  echo '```'
  echo
  echo "## Whole commands"
  echo
  echo "| command | median, s | fastest, s | peak memory, MiB |"
  echo "|---|---|---|---|"
  "$build/tests/benchmarks/program_costs" 7 \
    "loading LibTorch alone" "$build/tests/benchmarks/load_libtorch" \
    "\`tenshot plan\`" "$tenshot plan --checkpoint $work/pool.tenshot --out $work/p.csv" \
    "\`tenshot predict\`, ten architectures" "$tenshot predict --predictor $work/device.tenshot --archs $work/plan.csv --out $work/p.csv" \
    "\`tenshot predict\`, the whole space" "$tenshot predict --predictor $work/device.tenshot --out $work/p.csv"
  "$build/tests/benchmarks/program_costs" 1 \
    "\`tenshot adapt\`, joint, $(find "$work/pool" -name latencies.csv | wc -l) device-runtimes" \
    "$tenshot adapt --checkpoint $work/pool.tenshot --measurements $work/measured.csv --out $work/d.tenshot"
} >"$work/README.md"
mv "$work/README.md" $results/README.md
cat $results/README.md
