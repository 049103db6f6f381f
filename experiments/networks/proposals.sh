#!/usr/bin/env bash
# What networks made to be measured are worth: ten measurements of each device-runtime of the pool of networks, chosen
# among published networks, synthetic CNNs, both, and both with probes proposed (`tenshot plan --proposals`). Keeps
# experiments/networks/proposals. An interrupted run goes on. Some ten minutes.
#
#   experiments/networks/proposals.sh [splits, "1 2 3 4 5" unless said]
set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=experiments/set_up.sh disable=SC2119
. experiments/set_up.sh
install_missing
build_targets tenshot
results=experiments/networks/proposals
mkdir -p "$results"
# shellcheck disable=SC2086 # words
/usr/bin/python3 experiments/networks/proposals.py "$tenshot" "$build/experiments/proposals" ${1:-} >"$build/proposals.md"
{ cat experiments/networks/proposals/text.md; cat "$build/proposals.md"; } >"$results/README.md"
/usr/bin/python3 experiments/pages.py --made proposals
cat "$results/README.md"
