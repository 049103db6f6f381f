#!/bin/sh
# A newcomer's first minutes with what is installed, against the clock: the first number of a known device in ten seconds; of
# one's own ONNX files a kit, ten of them measured, and a number in a minute; a search under a latency limit in two.
#
#   tests/newcomer/first_minutes.sh SOURCE [FOLDER]   `tenshot` is FOLDER's, or the one on the path: the wheel's test runs it
#                                                     in its environment
#
# The kit is measured by ONNX Runtime (npm's onnxruntime-node in $TENSHOT_NODE_MODULES, or where npm puts it), and the search
# reads the exported file by /usr/bin/python3 with torch; what is not there is said and left out. Networks are generated, and
# the cells of the search were measured in datasets/data: neither is counted.
set -eu
source=$(cd "$1" && pwd)
[ -z "${2:-}" ] || PATH=$(cd "$2" && pwd):$PATH
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
HOME=$work XDG_CACHE_HOME=$work/cache
export HOME XDG_CACHE_HOME
cd "$work"

begin() { started=$(date +%s); }
# within SECONDS WHAT: fails where that has taken longer since begin.
within() {
  took=$(($(date +%s) - started))
  [ "$took" -le "$1" ] || { echo "FAILED: $2 took $took s, and is to take $1" >&2; exit 1; }
  echo "$2: $took s"
}
number() { # a latency and its interval in the file, or the end
  grep -qE '[0-9.]+ ms \(90 %: [0-9.]+ to [0-9.]+\)' "$1" || { echo "FAILED: no number in:" >&2; cat "$1" >&2; exit 1; }
}

tenshot network generate --space synthetic-cnn --count 12 --seed 7 --quiet --out my_models
mv my_models/synthetic_cnn_7_11.onnx my_new_model.onnx

begin
tenshot devices pixel4 >known 2>said
tenshot predict --device "$(sed -n 's/^\(pixel4_gpu_float\): .*/\1/p' known)" my_new_model.onnx >first 2>said
number first
within 10 "the first number, of a device that is known"

node_modules=${TENSHOT_NODE_MODULES:-}
if [ -z "$node_modules" ] && "$source/experiments/shared/install_onnxruntime.sh" "$work/node" >/dev/null 2>said; then
  node_modules=$work/node/node_modules
fi
if [ -n "$node_modules" ]; then
  begin
  tenshot plan --networks my_models --samples 10 --kit kit --out ten.csv --quiet
  kit/measure.sh --backend onnxruntime --runs 10 --no-perf --node-modules "$node_modules" >measured 2>&1 || { cat measured; exit 1; }
  tenshot adapt --measurements kit --out board.tenshot 2>said
  grep -qE '^(Good|Fair|Poor|Doubtful): expect nine of ten' said || { cat said; exit 1; }
  tenshot predict --predictor board.tenshot my_new_model.onnx >second 2>>said
  number second
  within 60 "one's own networks: kit, ten measurements, a number"
else
  echo "left out, for want of ONNX Runtime: $(tail -n 1 said)"
fi

if /usr/bin/python3 -c 'import torch' 2>/dev/null; then
  begin
  tenshot plan --checkpoint "$source/checkpoints/pool.tenshot" --samples 10 --out cells.csv --quiet \
    --candidates "$source/datasets/data/libtorch-eager_t1_b1/latencies.csv"
  cut -d, -f2 cells.csv >wanted
  awk -F, 'NR == FNR { wanted[$1] = 1; next } FNR == 1 || $1 in wanted' wanted \
    "$source/datasets/data/libtorch-eager_t1_b1/latencies.csv" >cells_measured.csv
  tenshot adapt --checkpoint "$source/checkpoints/pool.tenshot" --measurements cells_measured.csv --out cells.tenshot --quiet
  tenshot export --predictor cells.tenshot --torchscript cells.pt --quiet
  /usr/bin/python3 "$source/experiments/ask_and_tell.py" cells.pt --limit-ms 5 --trials 500 >found
  grep -qE '^options \[.*\]: [0-9.]+ ms, at most [0-4]\.[0-9]* ms; worth' found || { cat found; exit 1; }
  within 120 "a search under a latency limit"
else
  echo "left out: /usr/bin/python3 has no torch (apt install python3-torch)"
fi
