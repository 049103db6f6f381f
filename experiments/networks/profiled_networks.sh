#!/usr/bin/env bash
# What profiles of the measured networks are worth (experiments/networks/profiled_networks.json): the networks of
# experiments/networks/own_networks.sh and its splits, on the four runtimes whose operators were measured. Keeps
# experiments/networks/profiled_networks. An interrupted run goes on.
#
#   experiments/networks/profiled_networks.sh [splits, "1 2 3 4 5 6 7" unless said]
set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=experiments/set_up.sh disable=SC2119
. experiments/set_up.sh
install_missing
build_targets tenshot
work=$build/experiments/profiled_networks
results=experiments/networks/profiled_networks
splits=${1:-1 2 3 4 5 6 7}
mkdir -p "$work" "$results"
for split in $splits; do
  /usr/bin/python3 experiments/networks/own_networks.py split datasets/data/networks "$split" experiments/networks/profiled_networks.json \
    "$work/$split" datasets/data/operators
  "$tenshot" experiment "$work/$split/spec.json" --out "$work/$split/out" --resume --jobs "${TENSHOT_JOBS:-$(nproc)}"
done
first=${splits%% *}
{ head -n 1 "$work/$first/out/results.csv" | sed 's/^/split,/'
  for split in $splits; do tail -n +2 "$work/$split/out/results.csv" | sed "s/^/$split,/"; done
} >"$results/results.csv"
/usr/bin/python3 experiments/networks/profiled_networks.py "$results/results.csv" >"$results/README.md"
/usr/bin/python3 experiments/pages.py --made profiled_networks
cat "$results/README.md"
