#!/usr/bin/env bash
# Runs the experiments that ship and keeps their tables and tidy CSV beside their specs, in experiments/*/<spec>/: a night
# of one core. Of a search only the means are kept, in experiments/search. An interrupted run goes on. With names, runs
# only these.
#
#   TENSHOT_TABLES=folder experiments/make_results.sh [pooling samplers …]
#
# Specs on the public table need the folder that TENSHOT_TABLES names, and are left out without it.
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=experiments/set_up.sh disable=SC2119
. experiments/set_up.sh
install_missing libxgboost-dev
build_targets tenshot
work=$build/experiments
names=${*:-pooling pooling_help_graph single_device single_device_help ablation samples_clones look_up
  leave_one_out samplers help_task help_task_ten help_ten help_validated
  structured structured_ceiling structured_families structured_ablation structured_search structured_own
  structured_descriptor structured_descriptor_search maple_edge_ablation
  maple_edge_descriptor maple_edge_modes maple_edge_modes_search maple_edge_pools maple_edge_search
  maple_edge_descriptor_search fbnet ofa fbnet_measured memory cold_pool cold_pool_cells cold_pool_new_space cold_storage}

# keep SPEC: what a run of it has made, as the page of the spec.
keep() {
  local spec=$1 name kept shown=README.md page
  name=$(basename "$spec" .json) kept=${spec%.json} page=$name
  mkdir -p "$kept"
  if [ "$name" = help_task ]; then shown=peers.md page=$name/peers; fi  # README.md is what cells/help_task.sh writes
  sed "s|^\`tenshot experiment $name.json|\`tenshot experiment $spec|" "$work/$name/README.md" >"$kept/$shown"
  experiments/shared/keep_table.sh "$work/$name/results.csv" "$kept"
  case $name in
    samplers | samples_clones) cp "$work/$name.pictures/accuracy-against-samples.svg" "$kept/" ;;
    look_up) cp "$work/$name.pictures/"predicted-against-measured-*.svg "$kept/" ;;
  esac
  /usr/bin/python3 experiments/pages.py --made "$page"
}

for name in $names; do
  spec=$(echo experiments/*/"$name.json")
  table=${TENSHOT_TABLES:-}/$(grep -o 'help-[a-z0-9]*/latency_ms.csv' "$spec" || echo none)
  if grep -q TENSHOT_TABLES "$spec" && [ ! -f "$table" ]; then
    echo "Left out $name: set TENSHOT_TABLES to the folder of public tables" >&2
    continue
  fi
  mkdir -p "$work"
  "$tenshot" experiment "$spec" --out "$work/$name" --resume --jobs "${TENSHOT_JOBS:-$(nproc)}"
  "$tenshot" report "$work/$name" --out "$work/$name.html" --pictures "$work/$name.pictures"
  case $spec in
    experiments/search/*)
      /usr/bin/python3 experiments/search/means.py "$name" "$work/$name/results.csv"
      /usr/bin/python3 experiments/pages.py --made "$name"
      ;;
    *) keep "$spec" ;;
  esac
done
