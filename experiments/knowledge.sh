#!/usr/bin/env bash
# Makes the knowledge that ships: checkpoints/networks.tenshot (any network) and checkpoints/cells.tenshot (NAS-Bench-201),
# from the pools that ship and from public tables, of which no row is kept (checkpoints/README.md lists the sources). An
# interrupted run goes on with the table that it stopped in.
#
#   TENSHOT_TABLES=folder experiments/knowledge.sh [FOLDER]    writes to checkpoints/ unless told otherwise
#
# Networks are compared with each other only up to 700 of them (LibraryOptions::most_similar): of the two tables of spaces
# as many rows are taken as fit, TENSHOT_KNOWLEDGE_ROWS of each (85).
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=experiments/set_up.sh disable=SC2119
. experiments/set_up.sh
tables=${TENSHOT_TABLES:-}
for table in mobile-cnn ncnn-boards help-fbnet help-ofa help-nasbench201; do
  if [ ! -f "$tables/$table/latency_ms.csv" ]; then
    echo "Set TENSHOT_TABLES to a folder with $table/latency_ms.csv" >&2
    exit 1
  fi
done
out=${1:-checkpoints}
install_missing
build_targets tenshot
rows=${TENSHOT_KNOWLEDGE_ROWS:-85}
work=$build/experiments/knowledge/$rows
mkdir -p "$work" "$out"

# pool NAME KIND [RUNS] -- IMPORT…: imports a table into $work/NAME, unless that is there, and describes its devices.
pool() {
  local name=$1 kind=$2 runs=""
  shift 2
  if [ "$1" != "--" ]; then
    runs=$1
    shift
  fi
  shift
  [ -d "$work/$name" ] && return
  rm -rf "$work/$name.new"
  "$tenshot" dataset import "$@" --out "$work/$name.new" --quiet
  /usr/bin/python3 experiments/knowledge.py describe "$work/$name.new" "$kind" ${runs:+"$runs"}
  mv "$work/$name.new" "$work/$name"
}

# spaces TABLE SPACE [COLUMN…]: some rows of a table of a layered space, as networks by their operators.
spaces() {
  local table=$1 space=$2
  shift 2
  [ -d "$work/$table" ] && return
  /usr/bin/python3 experiments/knowledge.py rows "$tables/$table/latency_ms.csv" "$table" "$rows" "$work/$table.rows" "$@"
  "$tenshot" network list --space "$space" --archs "$work/$table.rows/archs.csv" --out "$work/$table.rows/networks.json" \
    --quiet
  pool "$table" help -- --space networks --networks "$work/$table.rows/networks.json" \
    --table "$work/$table.rows/latency_ms.csv"
}

gpus=pixel4_gpu_float=pixel4_gpu_ms,s10_gpu_float=s10_gpu_ms
gpus=$gpus,mi8se_gpu_float=mi8se_gpu_ms,iphonexs_gpu_float=iphonexs_gpu_ms
pool mobile-cnn mobile-cnn -- --space networks --networks "$tables/mobile-cnn/operators.csv" --operator-latencies "$gpus" \
  --table "$tables/mobile-cnn/latency_ms.csv"
pool ncnn-boards ncnn "$tables/ncnn-boards/runs.csv" -- --space networks \
  --networks "$tables/ncnn-boards/networks.json" --table "$tables/ncnn-boards/latency_ms.csv"
spaces help-fbnet fbnet pixel3 # whose column is a sum of blocks
spaces help-ofa ofa
pool help-nasbench201 help -- --table "$tables/help-nasbench201/latency_ms.csv" --rows 0:1500

# knowledge NAME PREDICTOR SOURCES POOL…
knowledge() {
  local name=$1 predictor=$2 sources=$3 pools=()
  shift 3
  for pool in "$@"; do pools+=(--pool "$pool"); done
  "$tenshot" train "${pools[@]}" --predictor "$predictor" --knowledge "$sources" --out "$out/$name.tenshot"
}
knowledge networks operators experiments/shared/knowledge_networks.json datasets/data/networks datasets/data/sizes \
  datasets/data/gpu "$work/mobile-cnn" \
  "$work/ncnn-boards" "$work/help-fbnet" "$work/help-ofa"
# Unusual networks stand beside: trained with them, boards' new networks were predicted a little worse.
"$tenshot" train --pool datasets/data/kinds --from "$out/networks.tenshot" --knowledge experiments/networks/kinds_sources.json \
  --out "$out/networks.tenshot.new"
mv "$out/networks.tenshot.new" "$out/networks.tenshot"
knowledge cells structured experiments/shared/knowledge_cells.json datasets/data "$work/help-nasbench201"
if [ "$out" = checkpoints ]; then experiments/checkpoint_cards.sh; fi
ls -l "$out"/networks.tenshot "$out"/cells.tenshot
