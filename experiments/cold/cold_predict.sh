#!/usr/bin/env bash
# Cold starts of networks of families that were never started: the stages of some networks are measured and corrected by
# starts, then each network is predicted by the stages of the other families, planned with its predicted stages, and
# started. Keeps the tables in experiments/cold/cold_predict. An interrupted run goes on.
#
#   experiments/cold/cold_predict.sh [how many of datasets/data/cold/networks.csv, 24 unless said]
#
# TENSHOT_PRIORITY is put before the commands that measure, such as "chrt -f 10" on a machine that has other work.
set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=experiments/set_up.sh disable=SC2119
. experiments/set_up.sh
install_missing libdnnl-dev python3-torch python3-torchvision
build_targets tenshot
networks=$(sed 1d datasets/data/cold/networks.csv | head -n "${1:-24}")
work=$build/experiments/cold_predict
results=experiments/cold/cold_predict
models=${TENSHOT_NETWORKS:-$build/networks}
mkdir -p "$work" "$results"
[ -d "$models" ] || experiments/networks/networks_zoo.sh "$models"
for verb in measure predict start; do
  priority=${TENSHOT_PRIORITY:-}
  [ $verb != predict ] || priority=
  # shellcheck disable=SC2086 # lists of words
  $priority /usr/bin/python3 experiments/cold/cold_predict.py $verb "$tenshot" "$models" "$work" $networks
done
for table in "$work"/*.csv; do experiments/shared/keep_table.sh "$table" "$results"; done
{ echo "# Cold starts of networks that were never run"
  echo
  echo "By \`experiments/cold/cold_predict.sh\`, on $("$tenshot" --version | sed -n 2p). Families are told apart by the first"
  echo "letters of a network's name; a network is predicted by the stages of the other families."
  echo
  /usr/bin/python3 experiments/cold/cold_predict.py table "$work"
  echo
  cat experiments/cold/cold_predict/text.md # what is to be said of the run; to be written anew with other results
} >"$results/README.md"
/usr/bin/python3 experiments/pages.py --made cold_predict
cat "$results/README.md"
