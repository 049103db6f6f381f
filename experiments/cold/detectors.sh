#!/usr/bin/env bash
# Cold starts of a detector and of networks that read text, as Yi et al. have them beside their classifiers (NNV12, Table
# 4): planned, by one policy, and of ONNX Runtime with and without the model that it saved, in turn, on one core and a storage
# of 400 MB/s. Keeps the tables in experiments/cold/detectors, in a quarter of an hour. An interrupted run goes on.
#
#   experiments/cold/detectors.sh [NETWORK ...]
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
networks=${*:-ssdlite_mobilenet_v3 crnn_convolutional crnn}
exports=$build/experiments/cold/exports storage=$build/experiments/detectors/storage
experiments/shared/install_onnxruntime.sh "$build/onnxruntime"
export TENSHOT_NODE_MODULES=${TENSHOT_NODE_MODULES:-$build/onnxruntime/node_modules}
mkdir -p "$exports"
trap 'unmount_storage "$storage"' EXIT
mount_storage "$storage" 400
for network in $networks; do
  [ -f "$exports/$network.onnx" ] || /usr/bin/python3 tests/networks/export_networks.py "$exports" "$network"
  # shellcheck disable=SC2086 # a list of words
  ${TENSHOT_PRIORITY:-} /usr/bin/python3 experiments/cold/detectors.py measure "$tenshot" "$exports/$network.onnx" "$storage" \
    experiments/cold/detectors
done
/usr/bin/python3 experiments/cold/detectors.py page experiments/cold/detectors
/usr/bin/python3 experiments/pages.py --made detectors
