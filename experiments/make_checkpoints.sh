#!/usr/bin/env bash
# Trains the checkpoints that ship with their rows, on the first six tenths of the pool that ships, and writes
# checkpoints/README.md from the cards of all (experiments/checkpoint_cards.sh).
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=experiments/set_up.sh
. experiments/set_up.sh
install_missing
build_targets tenshot
split_pool datasets/data "$build/checkpoints"
pool=$build/checkpoints/pool
"$tenshot" train --pool "$pool" --predictor structured --out checkpoints/pool.tenshot
"$tenshot" train --pool "$pool" --predictor maple-edge --descriptor-kind inferred --out checkpoints/maple-edge.tenshot

experiments/checkpoint_cards.sh
cat checkpoints/README.md
