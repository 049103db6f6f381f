#!/usr/bin/env bash
# Measures the pool of cold starts, datasets/data/cold: 72 convolutional networks of experiments/networks/networks_zoo.sh and 30
# cells of NAS-Bench-201 (datasets/data/cold/networks.csv) on LibTorch in three ways, OpenCV and ONNX Runtime at two levels
# of optimisation, and 51 of them on the engine of descriptor/cold in four strategies. Networks are started in turn, in
# rounds, so that what the machine changes in the course of an hour does not tell them apart. Some 75 minutes of one
# core; an interrupted run goes on.
#
#   experiments/cold/cold_pool.sh [folder, datasets/data/cold unless said]
#
# TENSHOT_PRIORITY is put before the commands that measure, such as "nice -n -18 taskset -c 1", but for the engine's,
# whose plans prepare on a second processor.
set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=experiments/set_up.sh disable=SC2119
. experiments/set_up.sh
# shellcheck disable=SC2046 # a list of words
install_missing libdnnl-dev libopencv-dev $(node_packages)
build_targets tenshot
out=$(realpath -m "${1:-datasets/data/cold}")
work=$(realpath -m "$build/experiments/cold_pool")
priority=${TENSHOT_PRIORITY:-}
mkdir -p "$work/models" "$out"
zoo=$build/networks
[ -f "$zoo.csv" ] || experiments/networks/networks_zoo.sh "$zoo"
names=datasets/data/cold/networks.csv
sed '1d; /^nasbench201_/d' $names | while read -r network; do ln -sf "$(realpath "$zoo/$network.onnx")" "$work/models/"; done

# The cells as ONNX files: those of two kits, 1 to 20 (which experiments predict) and 21 to 30 (which the pool knows).
cells() { # seed, cells, number before the first
  if [ ! -f "$work/cells_$1/manifest.json" ]; then
    rm -rf "$work/cells_$1"
    "$tenshot" plan --quiet --checkpoint checkpoints/pool.tenshot --sampler random --samples "$2" --seed "$1" \
      --out "$work/cells_$1.csv" --kit "$work/cells_$1"
  fi
  local cell number
  for cell in "$work/cells_$1"/models/arch_*.onnx; do
    number=${cell##*_}
    number=${number%.onnx}
    ln -sf "$cell" "$work/models/nasbench201_$(printf %02d $((10#$number + $3))).onnx"
  done
}
cells 18 20 0
cells 19 10 20

for runtime in libtorch-eager libtorch-optimized libtorch-frozen opencv-dnn; do
  # shellcheck disable=SC2086 # a list of words
  $priority "$tenshot" collect --runtime $runtime --cold --networks "$work/models" --archs $names --runs 5 \
    --rounds 3 --out "$out"
done

# ONNX Runtime by a kit of all networks, planned as they are listed: any checkpoint of the space does.
experiments/shared/install_onnxruntime.sh "$build/onnxruntime"
if [ ! -f "$work/kit/manifest.json" ]; then
  rm -rf "$work/one" "$work/kit"
  mkdir "$work/one"
  cp "$out/networks.json" "$work/one/"
  cp -r "$out/libtorch-eager_t1_b1_cold" "$work/one/"
  "$tenshot" train --quiet --pool "$work/one" --quantity cold --out "$work/one.tenshot"
  "$tenshot" plan --checkpoint "$work/one.tenshot" --sampler listed --samples 102 --candidates $names \
    --networks "$work/models" --runs 3 --out "$work/plan.csv" --kit "$work/kit"
fi
for round in 1 2 3; do
  for level in all basic; do
    id=onnxruntime_fp32_t1_b1_${level}_cold
    [ ! -f "$work/round_$round/$id/device.json" ] || continue
    kit=$work/kit_${level}_$round
    mkdir -p "$kit"
    cp "$work"/kit/*.* "$kit/"
    ln -sfn ../kit/models "$kit/models" # large, and shared
    # shellcheck disable=SC2086 # a list of words
    $priority "$kit/measure.sh" --backend onnxruntime --threads 1 --optimization $level --cold 2 --no-perf \
      --no-quantities --node-modules "$build/onnxruntime/node_modules"
    "$tenshot" dataset import --kit "$kit" --quantity cold --id "$id" --out "$work/round_$round"
  done
done
for level in all basic; do
  id=onnxruntime_fp32_t1_b1_${level}_cold
  /usr/bin/python3 experiments/cold/cold_pool.py rounds "$out/$id" "$work"/round_*/"$id"
done

# The engine: every second network of the zoo, five cells of the pool and ten that are predicted.
{ echo network; sed 1d $names | awk '/^nasbench201_/ ? /_(0[1-9]|10|2[1-5])$/ : zoo++ % 2 == 0'; } >"$work/engine.csv"
/usr/bin/python3 experiments/cold/cold_pool.py engine "$tenshot" "$work/models" "$work/engine.csv" "$work/engine"
/usr/bin/python3 experiments/cold/cold_pool.py table "$work/engine" "$work/engine_ms.csv"
"$tenshot" dataset import --table "$work/engine_ms.csv" --space networks --networks "$out/networks.json" --quantity cold \
  --out "$out"
/usr/bin/python3 experiments/cold/cold_pool.py describe "$out" "oneDNN $(dpkg-query -W -f '${Version}' libdnnl-dev 2>/dev/null || echo unknown)"
/usr/bin/python3 experiments/cold/cold_pool.py card "$out"
/usr/bin/python3 experiments/cold/cold_pool.py halves "$work/engine"
