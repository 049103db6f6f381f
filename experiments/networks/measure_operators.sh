#!/usr/bin/env bash
# Measures the operators of the pool of networks inside their networks, on runtimes that tell how long each takes, and keeps
# datasets/data/operators: a table for each, a row for each operator, the median over all networks that have it. Five
# minutes a runtime; an interrupted run goes on.
#
#   experiments/networks/measure_operators.sh [RUNTIME …, "libtorch-eager libtorch-channels-last libtorch-int8 opencv-dnn" unless said]
#
# TENSHOT_PREFIX goes before every measuring program ("chrt -f 5").
set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=experiments/set_up.sh disable=SC2119
. experiments/set_up.sh
install_missing libopencv-dev
build_targets tenshot
zoo=$build/networks work=$build/networks_operators out=datasets/data/operators
[ -f "$zoo.csv" ] || experiments/networks/networks_zoo.sh "$zoo"
mkdir -p "$work" "$out"
runtimes=${*:-libtorch-eager libtorch-channels-last libtorch-int8 opencv-dnn}
for runtime in $runtimes; do
  list=$zoo.csv
  if [ "$runtime" = libtorch-int8 ]; then # as in measure_networks.sh
    list=$build/networks_int8.csv
    grep -v '^convnext_40_r192,' "$zoo.csv" >"$list"
  fi
  # The latencies of whole networks are measured briefly: the pool of networks has them at length.
  # shellcheck disable=SC2086 # words
  ${TENSHOT_PREFIX:-} "$tenshot" collect --runtime "$runtime" --networks "$zoo" --archs "$list" --runs 20 --rounds 1 \
    --attempts 1 --operators --out "$work"
  /usr/bin/python3 experiments/networks/operators_table.py "$work/${runtime}_t1_b1" "$out"
done
