#!/usr/bin/env bash
# How networks to profile are planned, and how much their operators count (experiments/search/profiled_search.json), compared
# inside the networks to learn from of
# experiments/networks/profiled_networks.sh: of each split four tenths of the families that it trains on are held out once
# more. The networks that the split predicts are not seen. Keeps the means in experiments/search. An interrupted run goes on.
#
#   experiments/search/profiled_search.sh [splits, "1 2 3 4" unless said]
set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=experiments/set_up.sh disable=SC2119
. experiments/set_up.sh
install_missing
build_targets tenshot
work=$build/experiments/profiled_search
splits=${1:-1 2 3 4}
mkdir -p "$work"
for split in $splits; do
  /usr/bin/python3 experiments/networks/own_networks.py split datasets/data/networks "inner$split" experiments/search/profiled_search.json \
    "$work/$split" datasets/data/operators
  "$tenshot" experiment "$work/$split/spec.json" --out "$work/$split/out" --resume --jobs "${TENSHOT_JOBS:-$(nproc)}"
done
/usr/bin/python3 experiments/search/profiled_search.py "$work" | /usr/bin/python3 experiments/search/table.py profiled_search
/usr/bin/python3 experiments/pages.py --made profiled_search
