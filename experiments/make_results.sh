#!/usr/bin/env bash
# Runs the experiments that ship and keeps their tables and tidy CSV in experiments/results/<spec>/: a night of
# one core. An interrupted run goes on. With names, runs only these.
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
names=${*:-pooling pooling_help single_device ablation samples_clones look_up leave_one_out samplers help_task help_task_ten
  structured structured_ceiling structured_families structured_ablation structured_search structured_own
  structured_descriptor structured_descriptor_search maple_edge_ablation
  maple_edge_descriptor maple_edge_modes maple_edge_modes_search maple_edge_pools maple_edge_search
  maple_edge_descriptor_search fbnet ofa}
for name in $names; do
  table=${TENSHOT_TABLES:-}/$(grep -o 'help-[a-z0-9]*/latency_ms.csv' "experiments/$name.json" || echo none)
  if grep -q TENSHOT_TABLES "experiments/$name.json" && [ ! -f "$table" ]; then
    echo "Left out $name: set TENSHOT_TABLES to the folder of public tables" >&2
    continue
  fi
  mkdir -p "$work" "experiments/results/$name"
  "$tenshot" experiment "experiments/$name.json" --out "$work/$name" --resume --jobs "${TENSHOT_JOBS:-$(nproc)}"
  "$tenshot" report "$work/$name" --out "$work/$name.html" --pictures "$work/$name.pictures"
  shown=README.md page=$name
  if [ "$name" = help_task ]; then shown=peers.md page=$name/peers; fi  # its README.md is what experiments/help_task.sh writes
  cp "$work/$name/README.md" "experiments/results/$name/$shown"
  cp "$work/$name/results.csv" "experiments/results/$name/results.csv"
  /usr/bin/python3 experiments/pages.py --made "$page"
  case $name in
    samplers | samples_clones) cp "$work/$name.pictures/accuracy-against-samples.svg" "experiments/results/$name/" ;;
    look_up) cp "$work/$name.pictures/"predicted-against-measured-*.svg "experiments/results/$name/" ;;
  esac
done
