#!/usr/bin/env bash
# Ten measurements of peak memory: measures 60 networks on three runtimes of this machine (about ten minutes), unless
# experiments/results/memory/pool has them, predicts each runtime from ten of its measurements and the other runtimes',
# and sets that beside the best constant and lines. An interrupted run goes on.
#
#   experiments/memory.sh
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=experiments/set_up.sh disable=SC2119
. experiments/set_up.sh
install_missing
build_targets tenshot
results=experiments/results/memory
mkdir -p "$results"
export OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1
for runtime in libtorch-eager libtorch-frozen libtorch-int8; do
  "$tenshot" collect --runtime "$runtime" --quantity memory --archs 60 --out "$results/pool"
done
"$tenshot" experiment experiments/memory.json --out "$build/experiments/memory" --resume
cp "$build/experiments/memory/results.csv" "$results/"
/usr/bin/python3 experiments/cold_starts.py "$results/results.csv" "$results/pool" memory >"$results/README.md"
cat "$results/README.md"
