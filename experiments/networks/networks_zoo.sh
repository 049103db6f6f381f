#!/usr/bin/env bash
# Makes the networks of the pool datasets/data/networks as ONNX files with random weights (about 4 GB): published ones at
# several widths and resolutions by torchvision (experiments/networks/networks_zoo.py), fifty synthetic ones of Li et al.'s space,
# and 120 of the blocks of published ones. Writes
# FOLDER/*.onnx and FOLDER.csv: `network,family` in the order in which the pool is measured, which mixes the families, so
# that a machine that changes its speed does not favour one. An interrupted run goes on.
#
#   experiments/networks/networks_zoo.sh [folder, build/networks unless said]
set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=experiments/set_up.sh
. experiments/set_up.sh
install_missing python3-torch python3-torchvision
build_targets tenshot
out=${1:-$build/networks}
synthetic=50 blocks=120
mkdir -p "$out"
/usr/bin/python3 experiments/networks/networks_zoo.py "$out"
if [ "$(find "$out" -name 'synthetic_cnn_1_*.onnx' | wc -l)" != $synthetic ]; then
  "$tenshot" network generate --space synthetic-cnn --count $synthetic --seed 1 --out "$out"
fi
if [ "$(find "$out" -name 'synthetic_blocks_1_*.onnx' | wc -l)" != $blocks ]; then
  "$tenshot" network generate --space synthetic-blocks --count $blocks --seed 1 --out "$out"
fi
{
  echo network,family
  { /usr/bin/python3 experiments/networks/networks_zoo.py --list
    seq -f 'synthetic_cnn_1_%02.0f,synthetic' 0 $((synthetic - 1))
    seq -f 'synthetic_blocks_1_%03.0f,synthetic_blocks' 0 $((blocks - 1)); } |
    while IFS=, read -r network family; do
      printf '%s %s,%s\n' "$(printf '%s' "$network" | sha256sum | cut -c1-16)" "$network" "$family"
    done | sort | cut -d' ' -f2-
} >"$out.csv.new"
mv "$out.csv.new" "$out.csv"
echo "$(($(wc -l <"$out.csv") - 1)) networks in $out, named in $out.csv"
