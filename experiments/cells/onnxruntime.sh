#!/usr/bin/env bash
# The measurement kit on a runtime that the pool has never seen: ONNX Runtime, here, by the npm package
# onnxruntime-node. Trains on the shipped pool without it, plans ten architectures, measures their kit, adapts and
# predicts; then measures the pool's common architectures the same way and evaluates on those not planned. An
# interrupted run goes on. About fifteen minutes, most of it the thousand; let nothing else run meanwhile.
#
#   experiments/cells/onnxruntime.sh            writes experiments/cells/onnxruntime and datasets/data/onnxruntime_fp32_t1_b1
#   experiments/cells/onnxruntime.sh 50         of 50 common architectures, into the build folder only
set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=experiments/set_up.sh
. experiments/set_up.sh
all=${1:-1000}
pool=datasets/data
device=onnxruntime_fp32_t1_b1
out=$build/onnxruntime
predictors="structured maple-edge maple flops"

# shellcheck disable=SC2046 # a list of words
install_missing $(node_packages)
build_targets tenshot
experiments/shared/install_onnxruntime.sh "$out"
mkdir -p "$out"
without=""
if [ -d "$pool/$device" ]; then without="--without $device"; fi
for predictor in $predictors; do
  # shellcheck disable=SC2046,SC2086 # nothing, or an option and its value
  "$tenshot" train --pool "$pool" $without --predictor "$predictor" $(without_descriptor "$predictor") \
    --out "$out/$predictor.tenshot"
done

# measure KIT: on one thread, pinned to the last processor it may use, and with ONNX Runtime as the kit's backend.
measure() {
  taskset -c "$(taskset -cp $$ | sed 's/.*[ ,-]//')" "$1/measure.sh" --backend onnxruntime --threads 1 --no-perf \
    --sentinel 10 --node-modules "$out/node_modules"
}
"$tenshot" plan --checkpoint "$out/structured.tenshot" --samples 10 --out "$out/plan.csv" --kit "$out/ten"
measure "$out/ten"
for predictor in $predictors; do
  "$tenshot" adapt --quiet --checkpoint "$out/$predictor.tenshot" --measurements "$out/ten" --out "$out/$predictor.device"
  "$tenshot" predict --predictor "$out/$predictor.device" --out "$out/$predictor.csv"
done

head -n $((all + 1)) "$pool/libtorch-eager_t1_b1/latencies.csv" >"$out/common.csv"
"$tenshot" plan --checkpoint "$out/structured.tenshot" --sampler listed --samples "$all" --candidates "$out/common.csv" \
  --runs 50 --out "$out/all.csv" --kit "$out/all"
measure "$out/all"
"$tenshot" dataset import --kit "$out/all" --id $device --out "$out/pool"

results=$out/results
if [ "$all" = 1000 ]; then results=experiments/cells/onnxruntime; fi
mkdir -p "$results"
{
  echo "| predictor | within ±10 % | MAPE | Spearman | architectures |"
  echo "|---|---|---|---|---|"
  for predictor in $predictors; do
    "$tenshot" evaluate --quiet --predictions "$out/$predictor.csv" --measured "$out/pool/$device/latencies.csv" \
      --exclude "$out/plan.csv" --json |
      awk -v name="$predictor" '{ gsub(/[",:]/, ""); value[$1] = $2 }
        END { printf "| %s | %.1f %% | %.1f %% | %.3f | %d |\n", name, 100 * value["acc10"], 100 * value["mape"],
              value["spearman"], value["architectures"] }'
  done
  made_line
} | tee "$results/table.md"
if [ "$all" = 1000 ]; then
  rm -rf "${pool:?}/$device"
  cp -r "$out/pool/$device" "$pool/"
  rm -rf "$out/all/models"
fi
