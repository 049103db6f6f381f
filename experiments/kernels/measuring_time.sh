#!/usr/bin/env bash
# Accuracy against measuring time: measures networks and kernels of runtimes of this machine, in pieces of 280 s that go
# on where the last one stopped, and compares what predictors make of them.
#
#   experiments/kernels/measuring_time.sh detect [RUNTIME …]     rules: datasets/data/kernels/RUNTIME/rules.json; of onnxruntime
#                                                        as well, by a kit of test cases
#   experiments/kernels/measuring_time.sh measure [RUNTIME …]    one piece of each
#   experiments/kernels/measuring_time.sh compare                experiments/kernels/{measuring_time,fusion_detection}; of
#                                                        operators inside networks what profiled_networks.sh and
#                                                        inside_networks.py kept
#
# TENSHOT_PREFIX goes before every measuring program; measuring wants the machine for itself.
set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=experiments/set_up.sh disable=SC2119
. experiments/set_up.sh
install_missing libxgboost-dev libopencv-dev
export OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1
step=${1:?"say which step: detect, measure or compare"}
shift
data=datasets/data/kernels results=experiments/kernels
runtimes=${*:-libtorch-frozen libtorch-xnnpack opencv-dnn}
prefix=${TENSHOT_PREFIX:-}
zoo=$build/networks

# What ONNX Runtime fuses, by a kit, and how many nodes it executes of each case.
detect_by_kit() {
  modules=$build/onnxruntime/node_modules kit=$build/fusion-kit
  experiments/shared/install_onnxruntime.sh "$build/onnxruntime"
  "$tenshot" plan --kit "$kit" --fusion --runs 270
  # shellcheck disable=SC2086 # words
  $prefix "$kit/measure.sh" --backend onnxruntime --node-modules "$modules" --no-perf --no-quantities
  "$tenshot" kernels detect --kit "$kit" --out "$1/rules.json"
  node experiments/kernels/optimised_nodes.js "$kit" "$modules" >"$1/executed.json"
}

case $step in
  detect)
    build_targets tenshot
    # shellcheck disable=SC2048 # a list of words
    for runtime in ${*:-libtorch-eager libtorch-frozen libtorch-optimized libtorch-xnnpack libtorch-channels-last \
      opencv-dnn onnxruntime}; do
      mkdir -p "$data/$runtime"
      if [ "$runtime" = onnxruntime ]; then
        detect_by_kit "$data/$runtime"
      else
        # shellcheck disable=SC2086 # words
        $prefix "$tenshot" kernels detect --runtime "$runtime" --out "$data/$runtime/rules.json"
      fi
    done
    ;;
  measure)
    [ -f "$zoo.csv" ] || experiments/networks/networks_zoo.sh "$zoo"
    build_targets measure_kernels
    /usr/bin/python3 experiments/kernels/measuring_time.py split datasets/data/networks/families.csv >"$data/split.csv"
    for runtime in $runtimes; do
      # Kernels that were measured keep the rules by which they were, whatever was detected since.
      [ -f "$data/$runtime/kernels_rules.json" ] || cp "$data/$runtime/rules.json" "$data/$runtime/kernels_rules.json"
      # shellcheck disable=SC2086 # words
      $prefix "$build/experiments/measure_kernels" --runtime "$runtime" --rules "$data/$runtime/kernels_rules.json" --zoo "$zoo" \
        --split "$data/split.csv" --out "$data/$runtime" --seconds 280
    done
    ;;
  compare)
    build_targets accuracy_against_time fusion_detection
    "$build/experiments/accuracy_against_time" --pool datasets/data/networks --measured "$data" --out "$results/measuring_time"
    /usr/bin/python3 experiments/kernels/measuring_time.py plan "$tenshot" "$build/experiments/profiled_networks" \
      "$results/measuring_time"
    /usr/bin/python3 experiments/kernels/measuring_time.py page "$results/measuring_time" "$data"
    "$build/experiments/fusion_detection" --detected "$data" --out "$results/fusion_detection"
    experiments/shared/keep_table.sh "$results/fusion_detection/pairs.csv" "$results/fusion_detection"
    /usr/bin/python3 experiments/pages.py --made measuring_time fusion_detection
    ;;
  *)
    echo "'$step' is no step: detect, measure or compare" >&2
    exit 2
    ;;
esac
