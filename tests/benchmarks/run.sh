#!/usr/bin/env bash
# Runs every benchmark on one thread and writes tests/benchmarks/results/README.md. For figures worth keeping, let
# nothing else run. TENSHOT_TABLES names the folder of public latency tables (the import benchmark needs it).
#
#   tests/benchmarks/run.sh              all, into README.md and operators.md
#   tests/benchmarks/run.sh operators    the predictor `operators` and the reader of ONNX alone, into operators.md
set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=experiments/set_up.sh
. experiments/set_up.sh
install_missing
build_targets
export OMP_NUM_THREADS=1
results=tests/benchmarks/results work=$build/benchmarks
mkdir -p $results "$work"
run() { "$build/tests/benchmarks/bench_$1" --benchmark_counters_tabular=true "${@:2}" 2>/dev/null; }

if [ "${1:-}" != operators ]; then
if [ ! -d "$work/pool" ]; then  # a pool of the paper's size, so that `adapt` is measured on what it is for
  if [ -n "${TENSHOT_TABLES:-}" ]; then
    rm -rf "$work/pool.new"
    "$tenshot" dataset import --quiet --table "$TENSHOT_TABLES/help-nasbench201/latency_ms.csv" --rows 0:900 --out "$work/pool.new" \
      --devices 1080ti_1,1080ti_32,1080ti_256,silver_4114,silver_4210r,samsung_a50,pixel3,essential_ph_1,samsung_s7
    mv "$work/pool.new" "$work/pool"
  else
    cp -r datasets/data "$work/pool"
  fi
fi
"$tenshot" train --quiet --pool "$work/pool" --predictor structured --out "$work/structured.tenshot"
"$tenshot" train --quiet --pool "$work/pool" --predictor maple-edge-plain --descriptor-kind inferred --out "$work/maple-edge-plain.tenshot"
"$tenshot" plan --checkpoint "$work/structured.tenshot" --out "$work/plan.csv"
first=$(find "$work/pool" -name latencies.csv | sort | head -n 1)
awk -F, 'NR == FNR { planned[$2]; next } FNR == 1 || $1 in planned' "$work/plan.csv" "$first" >"$work/measured.csv"
for predictor in structured maple-edge-plain; do
  "$tenshot" adapt --quiet --checkpoint "$work/$predictor.tenshot" --measurements "$work/measured.csv" \
    --out "$work/$predictor.device.tenshot"
done
devices=$(find "$work/pool" -name latencies.csv | wc -l)
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
  echo "## Structured: library of N device-runtimes × 900, ten of N candidates, ten measurements and a library of N, 15,625 strings"
  echo
  echo '```'
  run trainer --benchmark_filter='FitLibrary|Calibrate|ChooseTen|AdaptToTen|PredictAllFromStrings'
  echo '```'
  echo
  echo "## Strings and tables"
  echo
  echo '```'
  run nasbench --benchmark_filter=-MobileNet --benchmark_repetitions=5 --benchmark_report_aggregates_only=true
  run datasets --benchmark_repetitions=5 --benchmark_report_aggregates_only=true
  echo '```'
  echo
  echo "## Whole commands"
  echo
  echo "| command | median, s | fastest, s | peak memory, MiB |"
  echo "|---|---|---|---|"
  "$build/tests/benchmarks/program_costs" 7 \
    "loading LibTorch alone" "$build/tests/benchmarks/load_libtorch" \
    "\`plan\`, ten of 900, information" "$tenshot plan --checkpoint $work/structured.tenshot --out $work/p.csv" \
    "\`plan\`, ten of 900, targeted uniform" "$tenshot plan --sampler targeted-uniform --checkpoint $work/maple-edge-plain.tenshot --out $work/p.csv" \
    "\`adapt\`, structured, $devices device-runtimes" "$tenshot adapt --quiet --checkpoint $work/structured.tenshot --measurements $work/measured.csv --out $work/d.tenshot" \
    "\`predict\`, structured, ten architectures" "$tenshot predict --predictor $work/structured.device.tenshot --archs $work/plan.csv --out $work/p.csv" \
    "\`predict\`, structured, whole space" "$tenshot predict --predictor $work/structured.device.tenshot --out $work/p.csv" \
    "\`predict\`, maple-edge-plain, ten architectures" "$tenshot predict --predictor $work/maple-edge-plain.device.tenshot --archs $work/plan.csv --out $work/p.csv" \
    "\`predict\`, maple-edge-plain, whole space" "$tenshot predict --predictor $work/maple-edge-plain.device.tenshot --out $work/p.csv"
  "$build/tests/benchmarks/program_costs" 1 \
    "\`adapt\`, maple-edge-plain, joint, $devices device-runtimes" \
    "$tenshot adapt --quiet --checkpoint $work/maple-edge-plain.tenshot --measurements $work/measured.csv --out $work/d.tenshot" \
    "\`adapt\`, maple-edge-plain, fine-tune" \
    "$tenshot adapt --quiet --mode fine-tune --checkpoint $work/maple-edge-plain.tenshot --measurements $work/measured.csv --out $work/d.tenshot"
} >"$work/README.md"
mv "$work/README.md" $results/README.md
cat $results/README.md
fi
{
  echo "# Benchmarks of networks by their operators"
  echo
  echo "\`tests/benchmarks/run.sh operators\`, one thread. $("$tenshot" --version | sed -n 2p). $(grep -m 1 'model name' /proc/cpuinfo | cut -d: -f2- | xargs)."
  echo
  echo "## Operators: FBNet's strings and candidates; the measured pool of networks"
  echo
  echo '```'
  run trainer --benchmark_filter='Fbnet|Networks'
  echo '```'
  echo
  echo "## Reading MobileNetV2's ONNX file, beside libonnx's own parser and shape inference"
  echo
  echo '```'
  TENSHOT_EXPORTS=${TENSHOT_EXPORTS:-$(realpath "$build")/exports} run nasbench --benchmark_filter=MobileNet \
    --benchmark_repetitions=5 --benchmark_report_aggregates_only=true
  echo '```'
  echo
} >"$work/operators.md"
mv "$work/operators.md" $results/operators.md
cat $results/operators.md
