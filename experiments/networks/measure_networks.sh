#!/usr/bin/env bash
# Measures the pool of networks by name, datasets/data/networks: every network of experiments/networks/networks_zoo.sh, end to end,
# one thread, on LibTorch's ways of running a network under two instruction sets, on OpenCV and on ONNX Runtime at three
# levels of optimisation (by a measurement kit). Two to six minutes a device-runtime; an interrupted run goes on.
#
#   experiments/networks/measure_networks.sh [folder, datasets/data/networks unless said [name of a device-runtime …]]
#
# TENSHOT_PREFIX goes before every measuring program ("chrt -f 5").
set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=experiments/set_up.sh
. experiments/set_up.sh
# shellcheck disable=SC2046 # a list of words
install_missing libopencv-dev $(node_packages)
build_targets tenshot
out=${1:-datasets/data/networks}
shift || true
zoo=$build/networks
[ -f "$zoo.csv" ] || experiments/networks/networks_zoo.sh "$zoo"
core=${OPENBLAS_CORETYPE:-}
unset OPENBLAS_CORETYPE DNNL_MAX_CPU_ISA ATEN_CPU_CAPABILITY  # --isa sets them
prefix=${TENSHOT_PREFIX:-}
all="libtorch-eager libtorch-optimized libtorch-int8 opencv-dnn libtorch-xnnpack libtorch-channels-last libtorch-frozen \
onnxruntime-all onnxruntime-basic onnxruntime-disabled libtorch-eager:avx2 libtorch-optimized:avx2 libtorch-int8:avx2"

# A kit of all networks, planned as they are listed: any checkpoint of the space does, here of one device-runtime.
make_kit() {
  [ -f "$build/networks_kit/manifest.json" ] && return
  rm -rf "$build/networks_one" "$build/networks_kit"
  mkdir -p "$build/networks_one"
  cp "$out/networks.json" "$build/networks_one/"
  cp -r "$out/libtorch-eager_t1_b1" "$build/networks_one/"
  "$tenshot" train --pool "$build/networks_one" --out "$build/networks_one.tenshot"
  "$tenshot" plan --checkpoint "$build/networks_one.tenshot" --sampler listed --samples "$(($(wc -l <"$zoo.csv") - 1))" \
    --candidates "$zoo.csv" --networks "$zoo" --runs 20 --out "$build/networks_plan.csv" --kit "$build/networks_kit"
}

measure_kit() { # LEVEL
  local id=onnxruntime_fp32_t1_b1_$1 kit=$build/networks_kit_$1
  [ -f "$out/$id/device.json" ] && return
  experiments/shared/install_onnxruntime.sh "$build/onnxruntime"
  make_kit
  mkdir -p "$kit"
  cp "$build"/networks_kit/*.* "$kit/"  # the models, which are large, are shared
  ln -sfn "$(realpath "$build/networks_kit/models")" "$kit/models"
  # shellcheck disable=SC2086 # words
  $prefix "$kit/measure.sh" --backend onnxruntime --threads 1 --optimization "$1" --no-perf --sentinel 20 \
    --no-quantities --node-modules "$build/onnxruntime/node_modules"
  "$tenshot" dataset import --kit "$kit" --id "$id" --out "$out"
}

measure() { # RUNTIME[:ISA], or onnxruntime-LEVEL
  local runtime=${1%%:*} isa=native
  case $1 in
    onnxruntime-*) measure_kit "${1#onnxruntime-}"; return ;;
    *:*) isa=${1#*:} ;;
  esac
  local list=$zoo.csv
  if [ "$runtime" = libtorch-int8 ]; then  # a convolution of it fails in LibTorch 1.13's quantised engine at a later run
    list=$build/networks_int8.csv
    grep -v '^convnext_40_r192,' "$zoo.csv" >"$list"
  fi
  # Twenty in turn: among two hundred that are ready in one process, networks took up to a fifth longer than alone.
  # shellcheck disable=SC2086 # words
  env ${core:+$([ "$isa" = native ] && echo "OPENBLAS_CORETYPE=$core")} $prefix "$tenshot" collect --runtime "$runtime" \
    --isa "$isa" --networks "$zoo" --archs "$list" --turn 20 --runs 12 --rounds 6 --tolerance 0.05 --attempts 3 \
    --patience 60 --repeat-check --out "$out"
}
# shellcheck disable=SC2086 # words
if [ $# = 0 ]; then set -- $all; fi
for one in "$@"; do measure "$one"; done
cp "$zoo.csv" "$out/families.csv"
/usr/bin/python3 experiments/networks/networks_card.py "$out" "$out/README.md" >"$out/README.md.new"
mv "$out/README.md.new" "$out/README.md"
cat "$out/README.md"
