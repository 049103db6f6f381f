#!/usr/bin/env bash
# Measures the pool datasets/data/kinds: the networks of experiments/networks/kinds_zoo.py, end to end, one thread, on ONNX
# Runtime at two levels of optimisation (experiments/networks/sizes_onnxruntime.js), PyTorch, as it is and frozen
# (experiments/networks/kinds.py), and OpenCV's DNN module (`tenshot collect`). Fifteen minutes; an interrupted run goes on.
#
#   experiments/networks/measure_kinds.sh prepare            the networks and ONNX Runtime, before a machine is quiet
#   experiments/networks/measure_kinds.sh [RUNTIME …]        measures: onnxruntime-LEVEL, pytorch-NAME, opencv-dnn
set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=experiments/set_up.sh
. experiments/set_up.sh
out=datasets/data/kinds zoo=$build/kinds rounds=4
mkdir -p "$build"
export OMP_NUM_THREADS=1
if [ "${1:-}" = prepare ]; then
  # shellcheck disable=SC2046 # a list of words
  install_missing python3-torch python3-torchvision python3-onnx libopencv-dev $(node_packages)
  build_targets tenshot
  /usr/bin/python3 experiments/networks/kinds_zoo.py "$zoo"
  experiments/shared/install_onnxruntime.sh "$build/onnxruntime"
  exit
fi
measure() { # RUNTIME
  local id=$1_t1_b1_kinds measured=$zoo-$1
  case $1 in onnxruntime-*) id=onnxruntime_fp32_t1_b1_${1#onnxruntime-}_kinds ;; esac
  [ -f "$out/$id/device.json" ] && return
  case $1 in
    onnxruntime-*)
      NODE_PATH=$build/onnxruntime/node_modules taskset -c 1 node experiments/networks/sizes_onnxruntime.js "$zoo" \
        "$zoo.csv" "${1#onnxruntime-}" "$rounds" "$measured-visits.csv"
      ;;
    pytorch-*)
      for round in $(seq "$rounds"); do # each in a process of its own, since PyTorch keeps what it compiled
        taskset -c 1 /usr/bin/python3 experiments/networks/kinds.py visits "$1" "$zoo.csv" "$round" "$measured-visits.csv"
      done
      ;;
    *)
      "$tenshot" collect --networks "$zoo" --archs "$zoo.csv" --runtime "$1" --turn 10 --rounds "$rounds" --runs 12 \
        --patience 30 --attempts 2 --out "$measured"
      measured=$measured/$1_t1_b1
      ;;
  esac
  if [ ! -d "$measured" ]; then
    /usr/bin/python3 experiments/networks/sizes.py rounds "$measured-visits.csv" "$measured.csv"
    measured=$measured.csv
  fi
  "$tenshot" dataset import --measurements "$measured" --space networks --networks "$zoo" --id "$id" --out "$out"
  /usr/bin/python3 experiments/networks/sizes.py describe "$out/$id" "$1"
}
if [ $# = 0 ]; then set -- onnxruntime-all onnxruntime-disabled pytorch-eager pytorch-frozen opencv-dnn; fi
for one in "$@"; do measure "$one"; done
cut -d, -f1,2 "$zoo.csv" >"$out/families.csv"
/usr/bin/python3 experiments/networks/kinds.py card "$out" "$zoo.csv" >"$out/README.md"
