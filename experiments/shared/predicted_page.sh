#!/usr/bin/env bash
# Makes the page experiments/networks/NAME, by NAME.py's `predict` and `table`. An interrupted run goes on.
#
#   experiments/shared/predicted_page.sh NAME
set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=experiments/set_up.sh disable=SC2119
. experiments/set_up.sh
install_missing
build_targets tenshot
name=$1 results=experiments/networks/$1
mkdir -p "$results" "$build/experiments/$name"
/usr/bin/python3 "$results.py" predict "$tenshot" "$build/experiments/$name" "$results/predictions.csv"
/usr/bin/python3 "$results.py" table "$results/predictions.csv" >"$build/$name.md"
{ cat "$results/text.md"; cat "$build/$name.md"; } >"$results/README.md"
experiments/shared/keep_table.sh "$results/predictions.csv" "$results"
/usr/bin/python3 experiments/pages.py --made "$name"
cat "$results/README.md"
