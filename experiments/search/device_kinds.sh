#!/usr/bin/env bash
# What kinds of devices and groups of networks are worth in `operators` on boards and phones that are held out, under some
# settings: experiments/search/device_kinds.md. It takes about eight minutes.
#
#   TENSHOT_TABLES=folder experiments/search/device_kinds.sh
set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=experiments/set_up.sh disable=SC2119
. experiments/set_up.sh
install_missing
build_targets tenshot device_kinds
experiments/knowledge.sh "$build/experiments/knowledge/made" >/dev/null
imported=$build/experiments/knowledge/85
pools=(--pool datasets/data/networks --pool datasets/data/sizes)
for name in mobile-cnn ncnn-boards help-fbnet help-ofa; do pools+=(--pool "$imported/$name"); done
for name in mobile-cnn ncnn-boards; do
  /usr/bin/python3 experiments/networks/pool_growth.py cut "$imported" "$name" >"$build/$name.cut.json"
done
row() { OPENBLAS_NUM_THREADS=1 "$build/experiments/device_kinds" "${pools[@]}" "$@"; }
boards() { row --runtime "ncnn;ncnn, Vulkan" --cut "$build/ncnn-boards.cut.json" --parts "0;1;2;3;4" "$@"; }
phones() { row --runtime "TensorFlow Lite;TensorFlow Lite, GPU" --cut "$build/mobile-cnn.cut.json" --parts "0;1;2;3" "$@"; }
{
  echo "# Kinds of devices and groups of networks: what was chosen"
  echo
  echo "Boards of ncnn's public table and phones of another are left out by board, as \`pool_growth.py cut\` cuts them; all else"
  echo "that the shipped knowledge is made of is in the pool. Each run measures ten networks that a plan chose and predicts the"
  echo "others, or those that are new to the pool. Intervals are before calibration, and operators that a pool has not have no"
  echo "stand-ins. The settings were chosen on three of five parts of another cut of the same boards (revision \`04cbeb7\`), so"
  echo "these boards are not new to whoever chose."
  echo
  echo "| held out | setting | runs | ±10 / ±20 % | 90 % interval holds |"
  echo "|---|---|---|---|---|"
  for setting in '{}' '{"group_share": 0}' '{"group_share": 0.9}' '{"groups": {"device_freedom": 0}}' '{"device_freedom": 4}' \
    '{"groups": {"device_freedom": 4, "prior_devices": 12}}' '{"groups": {"device_freedom": 4, "setting_power": 0.3}}' \
    '{"kind_share": 0.02}' '{"kind_share": 0.3}'; do
    boards --set "$setting"
  done
  for setting in '{}' '{"group_share": 0}'; do
    boards --new-networks --set "$setting"
    phones --new-networks --set "$setting"
  done
} >"$build/device_kinds.md"
mv "$build/device_kinds.md" experiments/search/device_kinds.md
