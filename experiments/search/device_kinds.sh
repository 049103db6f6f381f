#!/usr/bin/env bash
# What kinds of devices and groups of networks are worth in `operators` on boards and phones that are held out, under some
# settings: experiments/search/device_kinds.md. It takes about six minutes.
#
#   TENSHOT_TABLES=folder experiments/search/device_kinds.sh
#
# Settings are chosen on the boards of parts 0, 1 and 2; the last table is of all parts under those that were chosen.
set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=experiments/set_up.sh disable=SC2119
. experiments/set_up.sh
install_missing
build_targets tenshot device_kinds
experiments/knowledge.sh "$build/experiments/knowledge/made" >/dev/null
imported=$build/experiments/knowledge/85
pools=(--pool datasets/data/networks)
for name in mobile-cnn ncnn-boards help-fbnet help-ofa; do pools+=(--pool "$imported/$name"); done
boards="ncnn;ncnn, Vulkan"
phones="TensorFlow Lite;TensorFlow Lite, GPU"
row() { OPENBLAS_NUM_THREADS=1 "$build/experiments/device_kinds" "${pools[@]}" "$@"; }
table() { printf '\n| held out | setting | runs | ±10 / ±20 %% | 90 %% interval holds |\n|---|---|---|---|---|\n'; }
{
  echo "# Kinds of devices and groups of networks: what was chosen"
  echo
  echo "Boards of ncnn's public table, chosen on three parts of five by board; everything else is in the pool. Each run"
  echo "measures ten networks that a plan chose and predicts the others. Intervals are before calibration."
  table
  for setting in '{}' '{"group_share": 0}' '{"group_share": 0.3}' '{"group_share": 0.9}' \
    '{"groups": {"device_freedom": 0}}' '{"groups": {"device_freedom": 2}}' '{"device_freedom": 4}' \
    '{"groups": {"device_freedom": 4, "prior_devices": 3}}' '{"groups": {"device_freedom": 4, "prior_devices": 12}}' \
    '{"groups": {"device_freedom": 4, "setting_power": 0.3}}' '{"kind_share": 0.02}' '{"kind_share": 0.3}'; do
    row --runtime "$boards" --parts "0;1;2" --set "$setting"
  done
  table
  for setting in '{}' '{"group_share": 0}' '{"device_freedom": 4}' '{"kind_share": 0.02}' '{"kind_share": 0.3}'; do
    row --runtime "$boards" --parts "0;1;2" --new-networks --set "$setting"
  done
  echo
  echo "All five parts, and phones, as chosen and without groups:"
  table
  for setting in '{}' '{"group_share": 0}'; do
    row --runtime "$boards" --set "$setting"
    row --runtime "$boards" --new-networks --set "$setting"
    row --runtime "$phones" --new-networks --set "$setting"
  done
} >"$build/device_kinds.md"
mv "$build/device_kinds.md" experiments/search/device_kinds.md
