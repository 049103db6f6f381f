#!/usr/bin/env bash
# Accuracy against measuring time: measures networks and kernels of runtimes of this machine, in pieces of 280 s that go
# on where the last one stopped, and compares what predictors make of them.
#
#   experiments/measuring_time.sh detect [RUNTIME …]     rules: datasets/data/kernels/RUNTIME/rules.json
#   experiments/measuring_time.sh measure [RUNTIME …]    one piece of each
#   experiments/measuring_time.sh compare                experiments/results/measuring_time, results/fusion_detection
#
# TENSHOT_PREFIX goes before every measuring program; measuring wants the machine for itself.
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=experiments/set_up.sh disable=SC2119
. experiments/set_up.sh
install_missing libxgboost-dev libopencv-dev
export OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1
step=${1:?"say which step: detect, measure or compare"}
shift
data=datasets/data/kernels results=experiments/results
runtimes=${*:-libtorch-frozen libtorch-xnnpack opencv-dnn}
prefix=${TENSHOT_PREFIX:-}
zoo=$build/networks
case $step in
  detect)
    build_targets tenshot
    for runtime in $runtimes; do
      mkdir -p "$data/$runtime"
      # shellcheck disable=SC2086 # words
      $prefix "$tenshot" kernels detect --runtime "$runtime" --rounds 40 --out "$data/$runtime/rules.json"
    done
    ;;
  measure)
    [ -f "$zoo.csv" ] || experiments/networks_zoo.sh "$zoo"
    build_targets measure_kernels
    python3 experiments/measuring_time.py split datasets/data/networks/families.csv >"$data/split.csv"
    for runtime in $runtimes; do
      # shellcheck disable=SC2086 # words
      $prefix "$build/experiments/measure_kernels" --runtime "$runtime" --rules "$data/$runtime/rules.json" --zoo "$zoo" \
        --split "$data/split.csv" --out "$data/$runtime" --seconds 280
    done
    ;;
  compare)
    build_targets accuracy_against_time fusion_detection
    "$build/experiments/accuracy_against_time" --pool datasets/data/networks --measured "$data" --out "$results/measuring_time"
    python3 experiments/measuring_time.py page "$results/measuring_time" "$data"
    "$build/experiments/fusion_detection" --detected "$data" --out "$results/fusion_detection"
    ;;
  *)
    echo "'$step' is no step: detect, measure or compare" >&2
    exit 2
    ;;
esac
