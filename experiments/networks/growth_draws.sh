#!/usr/bin/env bash
# What a larger pool does to a device that is new, over more draws than pool_growth.sh has: plans, parts of boards and new
# networks are drawn several times, and adaptation alone is run, without intervals (experiments/search/device_kinds.cpp).
# Writes experiments/networks/pool_growth/draws.md. It takes a quarter of an hour.
#
#   TENSHOT_TABLES=folder experiments/networks/growth_draws.sh
set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=experiments/set_up.sh disable=SC2119
. experiments/set_up.sh
install_missing
build_targets tenshot device_kinds
imported=$build/experiments/knowledge/85 work=$build/experiments/growth_draws
mkdir -p "$work"
if [ ! -d "$imported/help-ofa" ]; then TENSHOT_KNOWLEDGE_ROWS=85 experiments/knowledge.sh "$build/experiments/knowledge"; fi
everything=()
for name in mobile-cnn ncnn-boards help-fbnet help-ofa; do everything+=(--pool "$imported/$name"); done
for name in networks sizes gpu; do everything+=(--pool "datasets/data/$name"); done

# rows_from NAME ARGUMENT…: rows whose pool has that name.
rows_from() {
  local name=$1
  shift
  OPENBLAS_NUM_THREADS=1 "$build/experiments/device_kinds" "$@" |
    sed "s/ | \`{}\`/ | $name/; s/ | \`{\"knowledge\": true}\`/ | everything, as it ships/; s/ | \`.*\`/ | the same, runtime said/"
}
# rows TABLE PROCESSORS GPUS ARGUMENT…: the table's devices of these runtimes ("" for none) by their kind, their table, everything.
rows() {
  local table=$1 processors=$2 gpus=$3
  shift 3
  for kind in processors GPUs; do
    local runtime=$gpus
    if [ $kind = processors ]; then runtime=$processors; fi
    if [ -z "$runtime" ]; then continue; fi
    /usr/bin/python3 experiments/networks/pool_growth.py kind "$imported" "$table" $kind "$work/$table-$kind"
    rows_from kind --pool "$work/$table-$kind" --runtime "$runtime" "$@"
  done
  local both="${processors:+$processors;}$gpus"
  rows_from table --pool "$imported/$table" --runtime "$both" "$@"
  rows_from "everything, rows kept" "${everything[@]}" --runtime "$both" "$@" --set '{}' --set '{"knowledge": true}' \
    --set '{"knowledge": true, "said": true}'
}
for seed in 8 9; do
  /usr/bin/python3 experiments/networks/pool_growth.py cut "$imported" ncnn-boards $seed chips >"$work/boards-$seed.json"
done
for table in mobile-cnn help-ofa; do /usr/bin/python3 experiments/networks/pool_growth.py cut "$imported" $table >"$work/$table.json"; done
boards=(--cut "$work/boards-8.json" --cut "$work/boards-9.json" --parts "0;1;2;3;4")
phones=(--cut "$work/mobile-cnn.json" --parts "0;1;2;3" --new-networks 2 --draws 3 --operators)
{
  echo "# What a larger pool does, over more draws"
  echo
  echo "As in [pool_growth](README.md), each class is left out by family, and predicted from its own kind in its own table, from that"
  echo "table, and from everything. Boards are cut in two ways that pool_growth has not. Each phone and graphics card has three plans, each"
  echo "of a random half of its networks."
  echo
  echo "| new | from | runs | ±10 / ±20 % |"
  echo "|---|---|---|---|"
  rows mobile-cnn "TensorFlow Lite" "TensorFlow Lite, GPU" "${phones[@]}"
  rows ncnn-boards ncnn "ncnn, Vulkan" "${boards[@]}"
  rows ncnn-boards ncnn "ncnn, Vulkan" "${boards[@]}" --new-networks 3
  rows help-ofa "" "PyTorch, CUDA" --cut "$work/help-ofa.json" --parts "0;1;2" --new-networks 2 --draws 3
  made_line
} >"$work/draws.md"
mv "$work/draws.md" experiments/networks/pool_growth/draws.md
