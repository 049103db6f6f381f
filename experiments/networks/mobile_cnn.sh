#!/usr/bin/env bash
# Published CNNs on phones that the pool has not seen (experiments/networks/mobile_cnn.json), over five splits of the networks into
# halves: split N orders the table's rows by seed N. Keeps the means over CPU and over GPU settings in
# experiments/networks/mobile_cnn. An interrupted run goes on.
#
#   TENSHOT_TABLES=folder experiments/networks/mobile_cnn.sh            new networks on a new phone
#   TENSHOT_TABLES=folder experiments/networks/mobile_cnn.sh families   the same, families of networks kept whole
#   TENSHOT_TABLES=folder experiments/networks/mobile_cnn.sh known      networks that the pool knows, on a new phone
#   TENSHOT_TABLES=folder experiments/networks/mobile_cnn.sh profiled   GPUs, with profiles of the measured networks
set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=experiments/set_up.sh disable=SC2119
. experiments/set_up.sh
table=${TENSHOT_TABLES:-}/mobile-cnn/latency_ms.csv
if [ ! -f "$table" ]; then
  echo "Set TENSHOT_TABLES to a folder with mobile-cnn/latency_ms.csv" >&2
  exit 1
fi
install_missing
build_targets tenshot
case ${1:-} in
  "") name=mobile_cnn ;;
  families | known | profiled) name=mobile_cnn_$1 ;;
  *) echo "mobile_cnn.sh takes nothing, families, known or profiled, not '$1'" >&2; exit 2 ;;
esac
work=$build/experiments/$name
results=experiments/networks/$name
splits="1 2 3 4 5"
mkdir -p "$work" "$results"
for split in $splits; do
  ordered=$work/table_$split.csv
  experiments/networks/order_networks.sh "$split" "${1:-}" >"$ordered"
  /usr/bin/python3 experiments/networks/mobile_cnn.py spec "$name" experiments/networks/mobile_cnn.json "$(realpath "$ordered")" \
    >"$work/split_$split.json"
  "$tenshot" experiment "$work/split_$split.json" --out "$work/$split" --resume --jobs "${TENSHOT_JOBS:-$(nproc)}"
done
/usr/bin/python3 experiments/networks/mobile_cnn.py "$name" "$work" "$results"
experiments/shared/keep_table.sh "$results/results.csv" "$results"
/usr/bin/python3 experiments/pages.py --made "$name"
