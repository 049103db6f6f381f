#!/usr/bin/env bash
# How a device that nobody has measured fares with more and more in the pool (pool_growth.py). Keeps the means in
# experiments/networks/pool_growth. An interrupted run goes on.
#
#   TENSHOT_TABLES=folder experiments/networks/pool_growth.sh [splits, "0 1 2 3 4 5 6 7" unless said]
set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=experiments/set_up.sh disable=SC2119
. experiments/set_up.sh
if [ ! -f "${TENSHOT_TABLES:-}/ncnn-boards/latency_ms.csv" ]; then
  echo "Set TENSHOT_TABLES to a folder with ncnn-boards/latency_ms.csv" >&2
  exit 1
fi
install_missing
build_targets tenshot
pools=$build/experiments/knowledge/85
work=$build/experiments/pool_growth/$(sha256sum <"$tenshot" | cut -c1-12)  # of this program alone
if [ ! -d "$pools/help-ofa" ]; then TENSHOT_KNOWLEDGE_ROWS=85 experiments/knowledge.sh "$build/experiments/knowledge"; fi
mkdir -p "$work"
for split in ${1:-0 1 2 3 4 5 6 7}; do
  for class in "phones, processors, new networks" "phones, GPUs, new networks" "boards, processors" "boards, GPUs" \
    "boards, processors, new networks" "boards, GPUs, new networks" "desktops, GPUs, new networks" \
    "a server's GPU" "a server's GPU, new networks" "our runtimes, new networks"; do
    for pool in kind table "everything, rows kept" everything "everything, runtime said" "learned bases" \
      "everything and learned bases" flops-memory lasso "nearest device scaled" "mean device scaled"; do
      /usr/bin/python3 experiments/networks/pool_growth.py run "$tenshot" "$pools" "$TENSHOT_TABLES" "$work" "$class" "$split" \
        "$pool"
    done
  done
done
/usr/bin/python3 experiments/networks/pool_growth.py page "$work" experiments/networks/pool_growth
/usr/bin/python3 experiments/pages.py --made pool_growth
