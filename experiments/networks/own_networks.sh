#!/usr/bin/env bash
# The pool of networks measured here: each runtime left out with all its settings, and families of networks with it
# (experiments/networks/own_networks.json), over five splits of the families. Keeps experiments/networks/own_networks. An interrupted
# run goes on.
#
#   experiments/networks/own_networks.sh [splits, "1 2 3 4 5" unless said]
set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=experiments/set_up.sh disable=SC2119
. experiments/set_up.sh
install_missing
build_targets tenshot
work=$build/experiments/own_networks
results=experiments/networks/own_networks
splits=${1:-1 2 3 4 5}
mkdir -p "$work" "$results"
for split in $splits; do
  /usr/bin/python3 experiments/networks/own_networks.py split datasets/data/networks "$split" experiments/networks/own_networks.json "$work/$split"
  "$tenshot" experiment "$work/$split/spec.json" --out "$work/$split/out" --resume --jobs "${TENSHOT_JOBS:-$(nproc)}"
done
first=${splits%% *}
{ head -n 1 "$work/$first/out/results.csv" | sed 's/^/split,/'
  for split in $splits; do tail -n +2 "$work/$split/out/results.csv" | sed "s/^/$split,/"; done
} >"$results/results.csv"
/usr/bin/python3 experiments/networks/own_networks.py table "$results/results.csv" datasets/data/networks >"$results/README.md"
experiments/shared/keep_table.sh "$results/results.csv" "$results"
/usr/bin/python3 experiments/pages.py --made own_networks
cat "$results/README.md"
