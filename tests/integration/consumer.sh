#!/usr/bin/env bash
# Installs tenshot to a folder of its own, builds tests/integration/consumer against it, and compares what it predicts
# with what the program predicts: consumer.sh BUILD_FOLDER SOURCE_FOLDER CXX_COMPILER TORCH_PACKAGE_FOLDER
set -euo pipefail
build=$1 source=$2 compiler=$3 torch=$4
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cmake --install "$build" --prefix "$work/prefix" >/dev/null
cmake -S "$source/tests/integration/consumer" -B "$work/build" -DCMAKE_PREFIX_PATH="$work/prefix" -DTorch_DIR="$torch" \
  -DCMAKE_CXX_COMPILER="$compiler" -DCMAKE_BUILD_TYPE=Release >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
cmake --build "$work/build" >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }

tenshot=$work/prefix/bin/tenshot
cat >"$work/wide.csv" <<'END'
architecture,index,one,two
|nor_conv_3x3~0|+|none~0|skip_connect~1|+|avg_pool_3x3~0|nor_conv_1x1~1|none~2|,0,3,5
|nor_conv_1x1~0|+|none~0|skip_connect~1|+|avg_pool_3x3~0|nor_conv_1x1~1|none~2|,1,2,4
END
"$tenshot" dataset import --table "$work/wide.csv" --out "$work/pool"
"$tenshot" train --pool "$work/pool" --predictor flops --out "$work/pool.tenshot"
"$tenshot" adapt --checkpoint "$work/pool.tenshot" --measurements "$work/pool/one/latencies.csv" --out "$work/device.tenshot"
predicted=$("$work/build/consumer" "$work/device.tenshot")
"$tenshot" predict --predictor "$work/device.tenshot" --out "$work/all.csv"
# Line 1 is the header; the architectures follow in the space's order.
expected=$(sed -n 4323p "$work/all.csv" | cut -d, -f2)
awk -v a="$predicted" -v b="$expected" 'BEGIN { exit !(a > 0 && (a / b - 1) ^ 2 < 1e-12) }' || {
  echo "the linked library predicts $predicted, the program $expected"
  exit 1
}
