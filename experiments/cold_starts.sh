#!/usr/bin/env bash
# Ten cold starts of an unseen runtime: measures cold starts of 60 networks on five runtimes of this machine (about half
# an hour; let nothing else run meanwhile), unless experiments/results/cold_starts/pool has them, predicts each runtime
# from ten of its cold starts and the other runtimes', and sets that against a warm predictor scaled by one factor.
# An interrupted run goes on.
#
#   experiments/cold_starts.sh
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=experiments/set_up.sh disable=SC2119
. experiments/set_up.sh
install_missing
build_targets tenshot
results=experiments/results/cold_starts
mkdir -p "$results"
export OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1
for runtime in ${TENSHOT_RUNTIMES:-libtorch-eager libtorch-channels-last libtorch-frozen libtorch-optimized libtorch-xnnpack}; do
  "$tenshot" collect --runtime "$runtime" --cold --archs 60 --runs 8 --out "$results/pool"
done
"$tenshot" experiment experiments/cold_starts.json --out "$build/experiments/cold_starts" --resume
cp "$build/experiments/cold_starts/results.csv" "$results/"
/usr/bin/python3 experiments/cold_starts.py "$results/results.csv" "$results/pool" cold >"$results/README.md"
cat "$results/README.md"
