#!/usr/bin/env bash
# Networks of kinds that nobody measured: each device-runtime of datasets/data/kinds, a quarter of the kinds held out, from
# ten usual networks and as a known device, with and without other kinds in the pool. Keeps experiments/networks/kinds. An
# interrupted run goes on. Eight minutes.
#
#   experiments/networks/kinds.sh
set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=experiments/set_up.sh disable=SC2119
. experiments/set_up.sh
install_missing
build_targets tenshot
results=experiments/networks/kinds
mkdir -p "$results" "$build/experiments/kinds"
/usr/bin/python3 experiments/networks/kinds.py predict "$tenshot" "$build/experiments/kinds" "$results/predictions.csv"
/usr/bin/python3 experiments/networks/kinds.py table "$results/predictions.csv" >"$build/kinds.md"
{ cat "$results/text.md"; cat "$build/kinds.md"; } >"$results/README.md"
experiments/shared/keep_table.sh "$results/predictions.csv" "$results"
/usr/bin/python3 experiments/pages.py --made kinds
cat "$results/README.md"
