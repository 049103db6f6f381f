#!/usr/bin/env bash
# How strongly `operators` draws the costs of cold starts together (start_pull), chosen among the networks that the pool of
# experiments/cold/cold_pool.json knows: a third of those is new to the pool and predicted, once the last third and once the
# first. Each runtime is left out. Keeps the means in experiments/search/README.md. A minute.
#
#   experiments/search/cold_pool_search.sh
set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=experiments/set_up.sh disable=SC2119
. experiments/set_up.sh
install_missing
build_targets tenshot
work=$build/experiments/cold_pool_search
mkdir -p "$work"
search() { # NAME TRAIN TEST
  sed -e "s|\.\./\.\./datasets|$PWD/datasets|" -e "s|\"0:28\"|\"$2\"|" -e "s|\"28:42\"|\"$3\"|" \
    experiments/search/cold_pool_search.json >"$work/$1.json"
  "$tenshot" experiment "$work/$1.json" --out "$work/$1" --resume --jobs "${TENSHOT_JOBS:-$(nproc)}"
}
search last 0:28 28:42
search first 14:42 0:14
for part in last first; do
  echo
  grep '^| target' "$work/$part/README.md" | head -n 1 | sed "s/target/$part third/"
  grep '^|---' "$work/$part/README.md" | head -n 1
  grep '^| mean' "$work/$part/README.md" | sed -n '1s/mean/within ±10 %/p; 3s/mean/ρ/p; 4s/mean/in their 90 % interval/p'
done | /usr/bin/python3 experiments/search/table.py cold_pool_search
/usr/bin/python3 experiments/pages.py --made cold_pool_search
