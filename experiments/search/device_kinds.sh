#!/usr/bin/env bash
# What kinds of devices and groups of networks are worth in `operators` on boards and phones that are held out, under some
# settings: experiments/search/device_kinds.md. It takes about a quarter of an hour.
#
#   TENSHOT_TABLES=folder experiments/search/device_kinds.sh
#   TENSHOT_TABLES=folder experiments/search/device_kinds.sh groups    groups of networks alone: device_groups.md, a quarter of an hour
#   TENSHOT_TABLES=folder experiments/search/device_kinds.sh planning  what plans expect of a device: planning.md, ten minutes
set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=experiments/set_up.sh disable=SC2119
. experiments/set_up.sh
install_missing
build_targets tenshot device_kinds
experiments/knowledge.sh "$build/experiments/knowledge/made" >/dev/null
imported=$build/experiments/knowledge/85
if [ "${1:-}" = groups ]; then
  cuts=() others=() five=()
  for seed in 7 8 9 10 11; do
    /usr/bin/python3 experiments/networks/pool_growth.py cut "$imported" ncnn-boards "$seed" chips >"$build/chips.cut-$seed.json"
  done
  for seed in 7 8 9 10 11; do five+=(--cut "$build/chips.cut-$seed.json"); done
  for seed in 8 9; do cuts+=(--cut "$build/chips.cut-$seed.json"); done
  for seed in 7 10; do others+=(--cut "$build/chips.cut-$seed.json"); done
  settings=()
  for groups in "" '"variance": 0.5, "noise": 0.07, "error_freedom": 4, "prior_devices": 6' '"noise": 0.01' '"noise": 0.05' \
    '"variance": 0.05, "prior_devices": 6' '"error_freedom": 4' '"cluster_devices": 0' '"cluster_devices": 8' \
    '"most_clusters": 3' '"most_clusters": 8' '"kind_devices": 10'; do
    settings+=(--set "{\"said\": true, \"groups\": {$groups}}")
  done
  for more in '' '"said": true, "evidence_power": 1' '"said": true, "planning_noise": 0.01' '"said": true, "planning_noise": 0.03' \
    '"said": true, "planning_noise": 0.06'; do
    settings+=(--set "{$more}")
  done
  table=(--pool "$imported/ncnn-boards") everything=(--pool "$imported/ncnn-boards")
  for name in mobile-cnn help-fbnet help-ofa; do everything+=(--pool "$imported/$name"); done
  for name in networks sizes gpu; do everything+=(--pool "datasets/data/$name"); done
  rows_of_boards() {
    OPENBLAS_NUM_THREADS=1 "$build/experiments/device_kinds" --runtime "ncnn;ncnn, Vulkan" --parts "0;1;2;3;4" "$@"
  }
  {
    echo "# Groups of networks: what was chosen"
    echo
    echo "Boards of ncnn's public table are left out by chip, cut in two ways that [pool_growth](../networks/pool_growth/README.md)"
    echo "has not, and predicted by the others of that table from ten networks that a plan chose. With \`said\` what runs the"
    echo "networks is said. A setting says what it changes of \`group_options\`, and which noise planning expects. They were chosen"
    echo "on these rows."
    echo
    echo "| held out | setting | runs | ±10 / ±20 % |"
    echo "|---|---|---|---|"
    rows_of_boards "${table[@]}" "${cuts[@]}" "${settings[@]}"
    echo
    echo "On two cuts that nothing was chosen on, of which the first is that of pool_growth:"
    echo
    echo "| held out | setting | runs | ±10 / ±20 % |"
    echo "|---|---|---|---|"
    rows_of_boards "${table[@]}" "${others[@]}" --set '{}' --set '{"planning_noise": 0.06, "groups": {"cluster_devices": 0}}'
    echo
    echo "As it ships on five cuts, these four and one more, first from the boards' table and then from everything that the"
    echo "shipped knowledge is of:"
    echo
    echo "| held out | setting | runs | ±10 / ±20 % |"
    echo "|---|---|---|---|"
    for pools in table everything; do
      declare -n of=$pools
      rows_of_boards "${of[@]}" "${five[@]}" --set '{}' --set '{"said": true}' | sed "s/^| ncnn\(, Vulkan\)\?/&, from $pools/"
    done
    made_line
  } >"$build/device_groups.md"
  mv "$build/device_groups.md" experiments/search/device_groups.md
  exit
fi
if [ "${1:-}" = planning ]; then
  everything=()
  for name in networks sizes gpu; do everything+=(--pool "datasets/data/$name"); done
  for name in mobile-cnn ncnn-boards help-fbnet help-ofa; do everything+=(--pool "$imported/$name"); done
  settings=(--set '{"random": true}' --set '{"planning_noise": 0.06, "planning_tolerance": 0}' --set '{}')
  for more in '"planning_noise": 0.15, "planning_tolerance": 0' '"planning_noise": 0.06, "planning_tolerance": 0.1' \
    '"planning_tolerance": 0.1' '"planning_tolerance": 0.3' '"planning_noise": 0.06' '"planning_noise": 0.15'; do
    settings+=(--set "{$more}")
  done
  rows() { OPENBLAS_NUM_THREADS=1 "$build/experiments/device_kinds" "${everything[@]}" "${settings[@]}" "$@"; }
  cut() { /usr/bin/python3 experiments/networks/pool_growth.py cut "$imported" "$@" >"$build/$1.cut.json"; }
  whole() { sed 's/: [0-9]*/: 0/g' "$build/$1.cut.json"; }
  cut mobile-cnn
  cut help-ofa
  whole mobile-cnn >"$build/phones.cut.json"
  whole help-ofa >"$build/desktops.cut.json"
  echo '{"NVIDIA H200": 0}' >"$build/server.cut.json"
  {
    echo "# Planning: what was chosen"
    echo
    echo "Which ten networks a plan chooses for a device that nobody has measured. What is alike of a device is left out of the pool:"
    echo "all phones, all graphics cards of desktops, or one phone with half of the networks. Each device is planned for several"
    echo "times, of a random half of its networks each, since one plan is a draw for all of a table's devices. Noise is the σ that a"
    echo "plan expects of a log latency, the tolerance the error below which it is content (0: it makes the sum of variances small)."
    echo "The default, noise .1 and tolerance .2, was chosen on these rows of phones and desktops: where a device is like the pool's it"
    echo "is level with what was before (the second row of each), and where it is not it is level or better. A noise of .06 with the same"
    echo "tolerance has more on phones' GPUs, and less on their CPUs where no phone is known."
    echo
    echo "| held out | setting | runs | ±10 / ±20 % |"
    echo "|---|---|---|---|"
    phones=(--runtime "TensorFlow Lite;TensorFlow Lite, GPU" --operators)
    rows "${phones[@]}" --cut "$build/phones.cut.json" --parts 0 --draws 6 | sed 's/^| /| all phones: /'
    rows --runtime "PyTorch, CUDA" --cut "$build/desktops.cut.json" --parts 0 --draws 6 | sed 's/^| /| all desktops: /'
    rows "${phones[@]}" --cut "$build/mobile-cnn.cut.json" --parts "0;1;2;3" --new-networks 2 --draws 3 | sed 's/^| /| a phone: /'
    echo
    echo "A server's GPU. It is why plans were looked at, and its rows were seen while the settings above were compared: it is no"
    echo "independent test of them."
    echo
    echo "| held out | setting | runs | ±10 / ±20 % |"
    echo "|---|---|---|---|"
    rows --runtime "PyTorch, CUDA" --cut "$build/server.cut.json" --parts 0 --draws 10
    echo
    echo "One plan is a draw, and what runs the networks is worth little here. Where it is said (to plan and adaptation; to the latter"
    echo "alone), a new phone's processor has 89.4 / 97.5 and 89.3 / 97.7 of new networks (89.0 / 97.5 where nothing is said), its GPU 78.9 /"
    echo "96.1 and 82.0 / 95.8 (82.7 / 97.5), a new desktop's GPU 89.2 / 96.8 and 88.7 / 96.8 (88.1 / 96.2), the server's GPU 38.5 / 65.4 and"
    echo "43.9 / 71.1 (43.3 / 70.1). Plans that remove most in the mean over the kinds of devices, each by its own costs, instead of by those"
    echo "of all device-runtimes, were tried and not taken: 88.9 / 97.2, 78.6 / 95.8, 89.0 / 96.6 and 42.6 / 69.6, and 33.1 / 54.2 on"
    echo "boards' new networks (35.7 / 55.4). All of these are by hand, at revision \`4c3b72ec\`, with three, three, four and ten draws."
    made_line
  } >"$build/planning.md"
  mv "$build/planning.md" experiments/search/planning.md
  exit
fi
pools=(--pool datasets/data/networks --pool datasets/data/sizes)
for name in mobile-cnn ncnn-boards help-fbnet help-ofa; do pools+=(--pool "$imported/$name"); done
/usr/bin/python3 experiments/networks/pool_growth.py cut "$imported" mobile-cnn >"$build/mobile-cnn.cut.json"
cuts=()
for seed in 7 8 9; do
  /usr/bin/python3 experiments/networks/pool_growth.py cut "$imported" ncnn-boards "$seed" >"$build/ncnn-boards.cut-$seed.json"
  cuts+=(--cut "$build/ncnn-boards.cut-$seed.json")
done
row() { OPENBLAS_NUM_THREADS=1 "$build/experiments/device_kinds" "${pools[@]}" "$@"; }
boards() { row --runtime "ncnn;ncnn, Vulkan" "${cuts[@]}" --parts "0;1;2;3;4" "$@"; }
phones() {
  row --runtime "TensorFlow Lite;TensorFlow Lite, GPU" --cut "$build/mobile-cnn.cut.json" --parts "0;1;2;3" \
    --new-networks 2 --operators "$@"
}
weights=(--set '{}' --set '{"kind_share": 0}' --set '{"kind_share": 0.1}' --set '{"evidence_power": 0.7}')
said=(--set '{"said": true}' --set '{"said": true, "other_runtimes": 0.01}')
networks=(--set '{"network_variance": 0}' --set '{"similarity_length": 0.15}' --set '{"similarity_length": 0.15, "network_variance": 0}')
groups=(--set '{"group_share": 0}' --set '{"groups": {"device_freedom": 0, "setting_power": 0}}'
  --set '{"groups": {"device_freedom": 4, "setting_power": 0, "prior_devices": 12}}'
  --set '{"groups": {"device_freedom": 4, "setting_power": 0.3}}' --set '{"groups": {"device_freedom": 4, "setting_power": 0.7}}')
{
  echo "# Kinds of devices and groups of networks: what was chosen"
  echo
  echo "Boards of ncnn's public table and phones of another are left out by board, as \`pool_growth.py cut\` cuts them; all else"
  echo "that the shipped knowledge is made of is in the pool. Each run measures ten networks that a plan chose and predicts the"
  echo "others, or those that are new to the pool: a third of the boards' and half of the phones'. Boards are cut in three ways,"
  echo "so that each is left out three times. Operators that a pool has not have no stand-ins. With \`said\` the new device is said to"
  echo "have the runtime that it has (\`adapt --runtime\`). The settings were chosen on these very rows (what groups are, on another cut of the same boards, revision"
  echo "\`04cbeb7\`): neither boards nor phones are new to whoever chose. Of \`network_variance\` (what a kind's costs miss of a"
  echo "network on all its devices) .01 to .16 were looked at, of \`similarity_length\` .15 to 1.2."
  echo
  echo "| held out | setting | runs | ±10 / ±20 % |"
  echo "|---|---|---|---|"
  phones "${weights[@]}" "${said[@]}" "${networks[@]}"
  boards "${weights[@]}" "${said[@]}" "${networks[@]}" "${groups[@]}"
  boards --new-networks 3 "${weights[@]}" "${said[@]}" "${networks[@]}" --set '{"group_share": 0}'
  made_line
} >"$build/device_kinds.md"
mv "$build/device_kinds.md" experiments/search/device_kinds.md
