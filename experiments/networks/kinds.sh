#!/usr/bin/env bash
# Networks of kinds that nobody measured: each device-runtime of datasets/data/kinds, a quarter of the kinds held out, from
# ten usual networks and as a known device, with and without other kinds in the pool. Keeps experiments/networks/kinds. An
# interrupted run goes on. Eight minutes.
#
#   experiments/networks/kinds.sh
set -euo pipefail
cd "$(dirname "$0")/../.."
exec experiments/shared/predicted_page.sh kinds
