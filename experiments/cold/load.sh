#!/usr/bin/env bash
# Cold starts while another program keeps the other core busy (Yi et al., NNV12, Fig. 11): the plan for two cores with and
# without stealing, and the plan for one, with the other core asked for 0, 50 and 100 % of the time, in turn, on a storage
# of 400 MB/s. Wants two cores. Keeps the table in experiments/cold/load, in twenty minutes. An interrupted run goes on.
#
#   experiments/cold/load.sh [NETWORK ...]
#
# TENSHOT_PRIORITY is put before the commands that measure, such as "chrt -f 10" on a machine that has other work.
set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=experiments/set_up.sh disable=SC2119
. experiments/set_up.sh
# shellcheck source=experiments/cold/storage.sh
. experiments/cold/storage.sh
install_missing libdnnl-dev libfuse3-dev fuse3 python3-torch python3-torchvision
build_targets tenshot throttled_storage
networks=${*:-googlenet resnet50 ssdlite_mobilenet_v3}
exports=$build/experiments/cold/exports storage=$build/experiments/load/storage
mkdir -p "$exports" experiments/cold/load
trap 'unmount_storage "$storage"' EXIT
mount_storage "$storage" 400
for network in $networks; do
  [ -f "$exports/$network.onnx" ] || /usr/bin/python3 tests/networks/export_networks.py "$exports" "$network"
  # shellcheck disable=SC2086 # a list of words
  ${TENSHOT_PRIORITY:-} /usr/bin/python3 experiments/cold/load.py plan "$tenshot" "$exports/$network.onnx" "$storage"
  # shellcheck disable=SC2086 # a list of words
  ${TENSHOT_PRIORITY:-} /usr/bin/python3 experiments/cold/load.py start "$tenshot" "$network" "$storage" \
    experiments/cold/load/starts.csv
done
/usr/bin/python3 experiments/cold/load.py page experiments/cold/load
/usr/bin/python3 experiments/pages.py --made load
