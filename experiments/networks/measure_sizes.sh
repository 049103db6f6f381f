#!/usr/bin/env bash
# Measures the pool datasets/data/sizes: the networks of experiments/networks/sizes_zoo.py, end to end, one thread, on
# runtimes of LibTorch (`tenshot collect`) and on ONNX Runtime at two levels of optimisation
# (experiments/networks/sizes_onnxruntime.js). Twenty minutes; an interrupted run goes on.
#
#   experiments/networks/measure_sizes.sh prepare            the networks and ONNX Runtime, before a machine is quiet
#   experiments/networks/measure_sizes.sh [RUNTIME …]        measures: onnxruntime-LEVEL, libtorch-NAME
#
# TENSHOT names a program that is not to be built; TENSHOT_PREFIX goes before every measuring program ("chrt -f 5").
set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=experiments/set_up.sh
. experiments/set_up.sh
out=datasets/data/sizes zoo=$build/sizes prefix=${TENSHOT_PREFIX:-}
mkdir -p "$build"
if [ "${1:-}" = prepare ]; then
  # shellcheck disable=SC2046 # a list of words
  install_missing python3-torch python3-torchvision $(node_packages)
  [ -n "${TENSHOT:-}" ] || build_targets tenshot
  /usr/bin/python3 experiments/networks/sizes_zoo.py "$zoo"
  experiments/shared/install_onnxruntime.sh "$build/onnxruntime"
  exit
fi
tenshot=${TENSHOT:-$tenshot}

# collected NAME OPTION… < NETWORKS: those networks, measured by collect, in $zoo-NAME
collected() {
  local name=$1
  shift
  { echo network && cat; } >"$zoo-$name.csv"
  # shellcheck disable=SC2086 # words
  $prefix "$tenshot" collect --networks "$zoo" --archs "$zoo-$name.csv" --patience 30 --attempts 2 --out "$zoo-$name" "$@"
}
named() { awk -F, "$1 { print \$1 }" "$zoo.csv"; }  # CONDITION: networks that fulfil it

# Ten of those that take a second do on LibTorch, where each takes three, and none on a third of its runtimes: they take as
# long as all others together.
some="large_(resnet50|resnet18|mobilenet_v2)|audio_encoder|generator|superres_64|unet_48|transformer_(256|512|768)"

# The device-runtimes are of another machine than those of the same name in datasets/data/networks.
measure() { # RUNTIME
  local id=$1_t1_b1 sources=()
  case $1 in onnxruntime-*) id=onnxruntime_fp32_t1_b1_${1#onnxruntime-} ;; esac
  [ -f "$out/${id}_sizes/device.json" ] && return
  if [ "${1%%-*}" = onnxruntime ]; then
    # shellcheck disable=SC2086 # words
    NODE_PATH=$build/onnxruntime/node_modules $prefix taskset -c 1 node experiments/networks/sizes_onnxruntime.js "$zoo" \
      "$zoo.csv" "${1#onnxruntime-}" 2 "$zoo-$1.csv"
    /usr/bin/python3 experiments/networks/sizes.py rounds "$zoo-$1.csv" "$zoo-$id.csv"
    sources=(--measurements "$zoo-$id.csv")
  else
    # shellcheck disable=SC2016 # awk's fields
    named '$3 == "tiny" || $3 == "usual"' | collected small --runtime "$1" --turn 10 --rounds 4 --runs 12
    sources=(--measurements "$zoo-small/$id")
    if [ "$1" != libtorch-optimized ]; then
      named "\$3 == \"second\" && \$1 ~ /^($some)/" | collected large --runtime "$1" --turn 1 --rounds 1 --runs 2
      sources+=(--measurements "$zoo-large/$id")
    fi
  fi
  "$tenshot" dataset import "${sources[@]}" --space networks --networks "$zoo" --id "${id}_sizes" --out "$out"
  /usr/bin/python3 experiments/networks/sizes.py describe "$out/${id}_sizes" "$1"
}
if [ $# = 0 ]; then set -- onnxruntime-all onnxruntime-disabled libtorch-eager libtorch-xnnpack libtorch-optimized; fi
for one in "$@"; do measure "$one"; done
cut -d, -f1,2 "$zoo.csv" >"$out/families.csv"
/usr/bin/python3 experiments/networks/sizes.py card "$out" "$zoo" >"$out/README.md"
