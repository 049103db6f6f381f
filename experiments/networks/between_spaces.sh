#!/usr/bin/env bash
# Generalisation over spaces: learning from synthetic networks and predicting published ones, and back
# (experiments/networks/between_spaces.json). Keeps experiments/networks/between_spaces. An interrupted run goes on.
#
#   experiments/networks/between_spaces.sh
set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=experiments/set_up.sh disable=SC2119
. experiments/set_up.sh
install_missing
build_targets tenshot
work=$build/experiments/between_spaces
results=experiments/networks/between_spaces
mkdir -p "$work" "$results"
for split in synthetic-to-published published-to-synthetic; do
  /usr/bin/python3 experiments/networks/own_networks.py split datasets/data/networks "$split" experiments/networks/between_spaces.json "$work/$split"
  "$tenshot" experiment "$work/$split/spec.json" --out "$work/$split/out" --resume --jobs "${TENSHOT_JOBS:-$(nproc)}"
  sed "1 s/^/split,/; 1 ! s/^/$split,/" "$work/$split/out/results.csv" >"$work/$split.csv"
done
{ cat "$work/synthetic-to-published.csv"; tail -n +2 "$work/published-to-synthetic.csv"; } >"$results/results.csv"
/usr/bin/python3 experiments/networks/own_networks.py between "$results/results.csv" >"$results/README.md"
/usr/bin/python3 experiments/pages.py --made between_spaces
cat "$results/README.md"
