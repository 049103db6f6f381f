#!/usr/bin/env bash
# Cold starts of published classifiers on ONNX Runtime with the optimised model that it saved, beside ONNX Runtime without
# one and the engine's plan on one core: in turn, on a storage of 400 MB/s. Keeps the table in experiments/cold/saved_model,
# in a quarter of an hour. An interrupted run goes on.
#
#   experiments/cold/saved_model.sh [NETWORK ...]
#
# TENSHOT_PRIORITY is put before the command that measures, such as "nice -n -18 taskset -c 1".
set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=experiments/set_up.sh disable=SC2119
. experiments/set_up.sh
# shellcheck source=experiments/cold/storage.sh
. experiments/cold/storage.sh
# shellcheck disable=SC2046 # a list of words
install_missing libdnnl-dev libfuse3-dev fuse3 python3-torch python3-torchvision $(node_packages)
build_targets tenshot throttled_storage
networks=${*:-squeezenet1_0 alexnet mobilenet_v1 mobilenet_v2 resnet18 shufflenet_v2_x1_0 googlenet efficientnet_b0 resnet50}
exports=$build/experiments/cold/exports storage=$build/experiments/saved_model/storage
experiments/shared/install_onnxruntime.sh "$build/onnxruntime"
export TENSHOT_NODE_MODULES=${TENSHOT_NODE_MODULES:-$build/onnxruntime/node_modules}
mkdir -p "$exports"
trap 'unmount_storage "$storage"' EXIT
mount_storage "$storage" 400
for network in $networks; do
  [ -f "$exports/$network.onnx" ] || /usr/bin/python3 tests/networks/export_networks.py "$exports" "$network"
  # shellcheck disable=SC2086 # a list of words
  ${TENSHOT_PRIORITY:-} /usr/bin/python3 experiments/cold/saved_model.py "$tenshot" "$exports/$network.onnx" "$storage" \
    experiments/cold/saved_model/starts.csv
done
/usr/bin/python3 experiments/cold/saved_model.py page experiments/cold/saved_model
/usr/bin/python3 experiments/pages.py --made saved_model
