#!/usr/bin/env bash
# What `operators` assumes and how it plans, chosen inside the pools of experiments/networks/mobile_cnn.sh: for each phone that is
# tested there, only the other three phones and only the half of the networks that their pool knows are seen. Each of the
# three is predicted by the other two; a third of that half's networks is new to the pool. Splits 1 and 2. Keeps the means
# in experiments/search/README.md. An interrupted run goes on.
#
#   TENSHOT_TABLES=folder experiments/search/mobile_cnn_search.sh
set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=experiments/set_up.sh disable=SC2119
. experiments/set_up.sh
if [ ! -f "${TENSHOT_TABLES:-}/mobile-cnn/latency_ms.csv" ]; then
  echo "Set TENSHOT_TABLES to a folder with mobile-cnn/latency_ms.csv" >&2
  exit 1
fi
install_missing
build_targets tenshot
work=$build/experiments/mobile_cnn_search
mkdir -p "$work"
for split in 1 2; do
  for phone in pixel4 s10 mi8se iphonexs; do
    table=$work/${split}_$phone.csv
    experiments/networks/order_networks.sh "$split" | awk -F, -v phone="${phone}_" '
      NR == 1 { for (i = 1; i <= NF; i++) if (index($i, phone) != 1) kept[++count] = i }
      NR <= 52 { for (i = 1; i <= count; i++) printf "%s%s", $kept[i], i < count ? "," : "\n" }' >"$table"
    sed -e "s|\"[^\"]*latency_ms.csv\"|\"$(realpath "$table")\"|" -e "s|\[\"${phone}_\*\"\], *||" \
      -e "s|, *\[\"${phone}_\*\"\]||" \
      -e "s|\"${phone}_gpu_float\": \"[^\"]*\", *||" -e "s|, *\"${phone}_gpu_float\": \"[^\"]*\"||" experiments/search/mobile_cnn_search.json >"$work/${split}_$phone.json"
    "$tenshot" experiment "$work/${split}_$phone.json" --out "$work/${split}_$phone" --resume --jobs "${TENSHOT_JOBS:-$(nproc)}"
  done
done
/usr/bin/python3 experiments/networks/mobile_cnn.py mobile_cnn_search "$work" "$work"
grep '^|' "$work/README.md" | /usr/bin/python3 experiments/search/table.py mobile_cnn_search
/usr/bin/python3 experiments/pages.py --made mobile_cnn_search
