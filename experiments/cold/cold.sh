#!/usr/bin/env bash
# Cold starts of published classifiers at 224 × 224: stages measured, planned, started in fresh processes with the files'
# pages dropped; beside them the sequential starts, ONNX Runtime, LibTorch and OpenCV. Keeps the tables in
# experiments/cold/cold. An interrupted run goes on.
#
#   experiments/cold/cold.sh [NETWORK ...]
#
# TENSHOT_PRIORITY is put before the commands that measure, such as "chrt -f 10" on a machine that has other work.
set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=experiments/set_up.sh disable=SC2119
. experiments/set_up.sh
install_missing libdnnl-dev python3-torch python3-torchvision python3-matplotlib
build_targets tenshot
networks=${*:-squeezenet1_0 alexnet mobilenet_v1 mobilenet_v2 resnet18 shufflenet_v2_x1_0 googlenet efficientnet_b0 resnet50}
work=$build/experiments/cold
results=experiments/cold/cold
exports=$work/exports
mkdir -p "$work" "$results" "$exports"
# shellcheck disable=SC2086 # a list of words
{ echo network; printf '%s\n' $networks; } >"$work/networks.list"
experiments/shared/install_onnxruntime.sh "$build/onnxruntime"
export TENSHOT_NODE_MODULES=${TENSHOT_NODE_MODULES:-$build/onnxruntime/node_modules}
for network in $networks; do
  [ -f "$exports/$network.onnx" ] || /usr/bin/python3 tests/networks/export_networks.py "$exports" "$network"
  rm -f "$exports/$network".*.onnx # the same network of other opsets and shapes, for tests
  # shellcheck disable=SC2086 # a list of words
  ${TENSHOT_PRIORITY:-} /usr/bin/python3 experiments/cold/cold.py measure "$tenshot" "$exports" "$work" "$network"
  # shellcheck disable=SC2086
  ${TENSHOT_PRIORITY:-} /usr/bin/python3 experiments/cold/cold.py switch "$tenshot" "$exports" "$work" "$network"
  # shellcheck disable=SC2086
  ${TENSHOT_PRIORITY:-} /usr/bin/python3 experiments/cold/cold.py onnxruntime datasets/kit/board/run_onnx.js "$exports" \
    "$work" "$network"
done
for runtime in libtorch-frozen opencv-dnn; do
  # shellcheck disable=SC2086
  ${TENSHOT_PRIORITY:-} "$tenshot" collect --runtime $runtime --cold --networks "$exports" --archs "$work/networks.list" \
    --runs 5 --quiet --out "$work/peers"
  cp "$work/peers/${runtime}_t1_b1_cold/cold.csv" "$work/$runtime.csv"
done
for table in "$work"/*.csv; do experiments/shared/keep_table.sh "$table" "$results"; done
/usr/bin/python3 experiments/cold/cold.py plot "$work" "$results/starts.svg"
{ echo "# Cold starts"
  echo
  echo "By \`experiments/cold/cold.sh\`, on $("$tenshot" --version | sed -n 2p). How they are measured and planned:"
  echo "[descriptor/cold](../../../descriptor/cold/README.md)."
  echo
  echo '![Cold starts by strategy](starts.svg)'
  echo
  /usr/bin/python3 experiments/cold/cold.py table "$work"
  echo
  cat experiments/cold/cold/text.md # what is to be said of the run; to be written anew with other results
} >"$results/README.md"
/usr/bin/python3 experiments/pages.py --made cold
cat "$results/README.md"
