#!/usr/bin/env bash
# The stages of a cold start on one core and on two (Yi et al., NNV12, Fig. 6). Keeps the table in experiments/cold/cores, in
# a minute.
#
#   experiments/cold/cores.sh
#
# TENSHOT_PRIORITY is put before the command that measures.
set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=experiments/set_up.sh disable=SC2119
. experiments/set_up.sh
# shellcheck source=experiments/cold/storage.sh
. experiments/cold/storage.sh
install_missing libfuse3-dev fuse3 python3-torch python3-torchvision
build_targets throttled_storage
storage=$build/experiments/cores/storage
mkdir -p experiments/cold/cores
trap 'unmount_storage "$storage"' EXIT
mount_storage "$storage" 400
# shellcheck disable=SC2086 # a list of words
${TENSHOT_PRIORITY:-} /usr/bin/python3 experiments/cold/cores.py measure "$storage" experiments/cold/cores/stages.csv
/usr/bin/python3 experiments/cold/cores.py page experiments/cold/cores
/usr/bin/python3 experiments/pages.py --made cores
