#!/usr/bin/env bash
# Measures the pool of cold starts, datasets/data/cold, on three storages that repeat: files in memory, seen through FUSE and
# read at 100, 200 and 400 MB/s (throttled_storage.cpp), about what SD cards, eMMC and UFS give. 72 convolutional networks
# of experiments/networks/networks_zoo.sh and 30 cells of NAS-Bench-201 (datasets/data/cold/networks.csv) start on LibTorch
# in three ways, OpenCV and ONNX Runtime at two levels of optimisation, and 51 of them on the engine of descriptor/cold in
# four strategies, all on one core. Networks are started in turn, in rounds, so that what the machine changes in the
# course of an hour does not tell them apart; every sixth network is started again at the end, for how far starts agree.
# An interrupted run goes on.
#
#   experiments/cold/cold_pool.sh [RATE…]
#
# TENSHOT_PRIORITY is put before the commands that measure, such as "nice -n -18 taskset -c 1"; the storage is served from
# the other core. Mounting wants the right to (root, or fusermount3).
set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=experiments/set_up.sh disable=SC2119
. experiments/set_up.sh
# shellcheck source=experiments/cold/storage.sh
. experiments/cold/storage.sh
# shellcheck disable=SC2046 # a list of words
install_missing libdnnl-dev libopencv-dev libfuse3-dev fuse3 $(node_packages)
build_targets tenshot throttled_storage
out=$(realpath datasets/data/cold)
work=$(realpath -m "$build/experiments/cold_starts")
priority=${TENSHOT_PRIORITY:-}
rates=${*:-100 200 400}
zoo=$build/networks
[ -f "$zoo.csv" ] || experiments/networks/networks_zoo.sh "$zoo"
names=datasets/data/cold/networks.csv
mkdir -p "$work/models"
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
repeated=$work/repeated.csv
awk 'NR == 1 || NR % 6 == 2' $names >"$repeated"

# ONNX Runtime takes a kit of all networks, planned as they are listed: any checkpoint of the space does.
experiments/shared/install_onnxruntime.sh "$build/onnxruntime"
if [ ! -f "$work/kit/manifest.json" ]; then
  rm -rf "$work/kit"
  "$tenshot" plan --checkpoint checkpoints/networks.tenshot --sampler listed --samples 102 --candidates $names \
    --networks "$work/models" --runs 3 --out "$work/plan.csv" --kit "$work/kit"
fi

# One storage, mounted while its runtimes are measured; what is measured of it is kept under $work/RATE.
storage=$work/storage
trap 'unmount_storage "$storage"' EXIT
collect() { # runtime, list of networks, starts, folder that keeps it
  [ ! -f "$4/$1_t1_b1_cold/device.json" ] || return 0
  # shellcheck disable=SC2086 # a list of words
  $priority "$tenshot" collect --runtime "$1" --cold --networks "$work/models" --archs "$2" --runs "$3" --rounds "$3" \
    --out "$storage/pool"
  mkdir -p "$4"
  cp -r "$storage/pool/$1_t1_b1_cold" "$storage/pool/networks.json" "$4/"
  rm -rf "$storage/pool"
}
onnxruntime() { # level, round, folder
  local id=onnxruntime_fp32_t1_b1_${1}_cold kit=$storage/kit
  [ ! -f "$3/round_$2/$id/device.json" ] || return 0
  rm -rf "$kit"
  cp -r "$work/kit" "$kit"
  # shellcheck disable=SC2086 # a list of words
  $priority "$kit/measure.sh" --backend onnxruntime --threads 1 --optimization "$1" --cold 3 --no-perf --no-quantities \
    --node-modules "$build/onnxruntime/node_modules"
  "$tenshot" dataset import --kit "$kit" --quantity cold --id "$id" --out "$3/round_$2"
  rm -rf "$kit"
}

for rate in $rates; do
  mount_storage "$storage" "$rate"
  for runtime in libtorch-eager opencv-dnn libtorch-frozen libtorch-optimized; do
    collect $runtime $names 3 "$work/$rate/first"
    collect $runtime "$repeated" 3 "$work/$rate/again"
  done
  for round in 1 2; do
    for level in all basic; do onnxruntime $level $round "$work/$rate"; done
  done
done
for rate in $rates; do
  mount_storage "$storage" "$rate"
  # shellcheck disable=SC2086 # a list of words
  $priority /usr/bin/python3 experiments/cold/cold_pool.py engine "$tenshot" "$work/models" $names "$work/$rate/engine" "$storage/engine"
done
/usr/bin/python3 experiments/cold/cold_pool.py pool "$tenshot" "$work" "$out"
