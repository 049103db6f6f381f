#!/usr/bin/env bash
# From published CNNs to the networks of a search space: a pool of networks (datasets/data/networks) without any setting of
# a runtime, ten CNNs of the pool as measured on it, and the predictor is asked about forty of FBNet's networks and forty
# cells of NAS-Bench-201, of which no device was ever measured for it. They were measured on the same machine
# within the same hour as the pool (datasets/data/fbnet_40, datasets/data/cells): on another day some runtimes took a fifth
# longer. The cells of datasets/data itself are not asked about: another processor measured them. Keeps experiments/spaces/across_spaces. An interrupted run goes on.
set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=experiments/set_up.sh disable=SC2119
. experiments/set_up.sh
install_missing
build_targets tenshot
work=$build/experiments/across_spaces
results=experiments/spaces/across_spaces
count=40
mkdir -p "$work" "$results"

# The measured networks of a space as ONNX files: a kit of the first forty.
while read -r space suffix; do
  head -n $((count + 1)) "datasets/data/$space/libtorch-eager_t1_b1$suffix/latencies.csv" | cut -d, -f1 >"$work/$space.csv"
  [ ! -f "$work/$space.kit/manifest.json" ] || continue
  "$tenshot" train -q --pool "datasets/data/$space" --out "$work/$space.tenshot"
  rm -rf "$work/$space.kit"
  "$tenshot" plan -q --checkpoint "$work/$space.tenshot" --sampler listed --archs "$work/$space.csv" --samples "$count" \
    --out "$work/$space.plan.csv" --kit "$work/$space.kit"
  mkdir -p "$work/$space.models" # without what the kit measures for a descriptor
  ln -s "$(realpath "$work/$space.kit/models")"/arch_*.onnx "$work/$space.models/"
done <<'END'
fbnet_40 _r224
cells
END

while read -r name without; do # a runtime, and what is left out of the pool with it
  run=$work/$name
  [ -f "$run.pool.tenshot" ] ||
    "$tenshot" train -q --pool datasets/data/networks --without "$without" --out "$run.pool.tenshot"
  "$tenshot" plan -q --checkpoint "$run.pool.tenshot" --samples 10 --out "$run.ten.csv"
  awk -F, 'NR == FNR { if (FNR > 1) wanted[$2] = 1; next } FNR == 1 || $1 in wanted { print $1 "," $2 }' \
    "$run.ten.csv" "datasets/data/networks/${name}_t1_b1/latencies.csv" >"$run.measured.csv"
  "$tenshot" adapt -q --checkpoint "$run.pool.tenshot" --measurements "$run.measured.csv" --out "$run.tenshot" >/dev/null
  for space in fbnet_40 cells; do
    { echo "architecture,latency_ms"
      /usr/bin/python3 experiments/spaces/across_spaces.py truth "$work/$space.kit/manifest.json" \
        datasets/data/$space/"${name}"_t1_b1*/latencies.csv
    } >"$run.$space.csv"
    "$tenshot" evaluate -q --predictor "$run.tenshot" --networks "$work/$space.models" \
      --measurements "$run.$space.csv" --json >"$run.$space.json"
  done
done <<'END'
libtorch-eager libtorch-eager_t1_b1,libtorch-eager_t1_b1_avx2
libtorch-frozen libtorch-frozen_t1_b1
libtorch-optimized libtorch-optimized_t1_b1,libtorch-optimized_t1_b1_avx2
opencv-dnn opencv-dnn_t1_b1
END
/usr/bin/python3 experiments/spaces/across_spaces.py table "$work" >"$results/README.md"
/usr/bin/python3 experiments/pages.py --made across_spaces
cat "$results/README.md"
