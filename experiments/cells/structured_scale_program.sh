#!/usr/bin/env bash
# structured_scale_program.sh [COUNT…]: what `tenshot train --predictor structured` and `tenshot adapt` take of a pool folder of
# so many simulated device-runtimes (1000 and 10000 unless said) with 900 architectures each, on one core, to
# experiments/cells/structured_scale/program.csv. 10,000 need 1 GB of disk below TMPDIR. Processor seconds.
set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=experiments/set_up.sh disable=SC2119
. experiments/set_up.sh
install_missing time
build_targets structured_scale tenshot
export OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1
out=experiments/cells/structured_scale/program.csv
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# timed NAME WORDS…: processor seconds and peak MB of a command, as "seconds,megabytes" in $work/NAME.
timed() {
  local name=$1
  shift
  /usr/bin/time -f "%U %S %M" -o "$work/times" "$@"
  awk '{ printf "%.2f,%.0f", $1 + $2, $3 / 1024 }' "$work/times" >"$work/$name"
}
echo "devices,import_s,import_mb,train_s,train_mb,adapt_s,adapt_mb" >"$out"
for count in "${@:-1000 10000}"; do
  for devices in $count; do
    "${build:?}/experiments/structured_scale" --devices "$devices" --targets 1 --pool "$work/table.csv"
    timed import "${tenshot:?}" dataset import --quiet --table "$work/table.csv" --out "$work/pool"
    timed train "$tenshot" train --quiet --pool "$work/pool" --predictor structured --out "$work/pool.tenshot"
    # Ten architectures of the pool, with latencies of one of its devices, a fifth more.
    "$tenshot" plan --quiet --checkpoint "$work/pool.tenshot" --samples 10 --out "$work/plan.csv"
    one=$(find "$work/pool" -mindepth 1 -maxdepth 1 -type d | sort | sed -n 7p)
    awk -F, 'NR == FNR { wanted[$2]; next } FNR == 1 { print "architecture,latency_ms" }
      $1 in wanted && FNR > 1 { print $1 "," 1.2 * $2 }' "$work/plan.csv" "$one/latencies.csv" >"$work/measured.csv"
    timed adapt "$tenshot" adapt --quiet --checkpoint "$work/pool.tenshot" --measurements "$work/measured.csv" \
      --out "$work/device.tenshot"
    echo "$devices,$(cat "$work/import"),$(cat "$work/train"),$(cat "$work/adapt")" | tee -a "$out"
    rm -rf "$work/pool" "$work/table.csv"
  done
done
