#!/usr/bin/env bash
# Kinds of networks that nobody measured, many of them far smaller or larger than all that was measured: each runtime of
# datasets/data/sizes left out with all its settings, and a quarter of the kinds with it, predicted from ten. Keeps
# experiments/networks/sizes. An interrupted run goes on. Twenty minutes.
#
#   experiments/networks/sizes.sh
set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=experiments/set_up.sh disable=SC2119
. experiments/set_up.sh
install_missing
build_targets tenshot
results=experiments/networks/sizes
mkdir -p "$results" "$build/experiments/sizes"
/usr/bin/python3 experiments/networks/sizes.py predict "$tenshot" "$build/experiments/sizes" "$results/predictions.csv"
/usr/bin/python3 experiments/networks/sizes.py table "$results/predictions.csv" >"$build/sizes.md"
{ cat "$results/text.md"; cat "$build/sizes.md"; } >"$results/README.md"
experiments/shared/keep_table.sh "$results/predictions.csv" "$results"
/usr/bin/python3 experiments/pages.py --made sizes
cat "$results/README.md"
