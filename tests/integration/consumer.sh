#!/usr/bin/env bash
# Installs tenshot to a folder of its own, builds tests/integration/consumer against it, with the example of
# trainer/README.md as its `predict`, and compares what both predict with what the program predicts:
# consumer.sh BUILD_FOLDER SOURCE_FOLDER CXX_COMPILER
set -euo pipefail
build=$1 source=$2 compiler=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cmake --install "$build" --prefix "$work/prefix" >/dev/null
# The same of a build that lacks a file: nothing is installed, and one is told what to do.
mkdir "$work/half"
{ cat "$build/built_files.txt" && echo "$work/half/missing.so"; } >"$work/half/built_files.txt"
sed "s|set(build .*)|set(build \"$work/half\")|" "$build/cmake_install.cmake" >"$work/half/install.cmake"
if cmake -DCMAKE_INSTALL_PREFIX="$work/none" -P "$work/half/install.cmake" >/dev/null 2>"$work/error"; then echo "installed half of it"; exit 1; fi
tr -s ' \n' ' ' <"$work/error" | grep -q "missing.so is not built yet: run .ninja -C .* first. Nothing was installed" || { cat "$work/error"; exit 1; }
[ ! -e "$work/none" ] || { echo "half of it was installed"; exit 1; }
# shellcheck disable=SC2016 # the quotes are Markdown's
sed -n '/^```cpp$/,/^```$/{/^```/d;p}' "$source/trainer/README.md" >"$work/example.cpp"
cmake -S "$source/tests/integration/consumer" -B "$work/build" -DCMAKE_PREFIX_PATH="$work/prefix" \
  -DCMAKE_CXX_COMPILER="$compiler" -DCMAKE_BUILD_TYPE=Release -DEXAMPLE="$work/example.cpp" >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
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

# What the example needs, directly and through others, is the C++ library, libcrypto and tenshot's own two. The addresses
# that ldd prints are left out: one of them may well hold the letters of a library, such as c10.
libraries_of() { ldd "$1" | sed 's/ (0x[0-9a-f]*)$//'; }
if libraries_of "$work/build/predict" | grep -E 'torch|c10|dnnl|blas'; then
  echo "tenshot::predictor is linked with more than it needs"
  exit 1
fi
for library in "$work/prefix"/lib/*/libtenshot_predictor.so "$work/prefix"/lib/libtenshot_predictor.so; do
  [ -f "$library" ] || continue
  if libraries_of "$library" | grep -E 'torch|c10|onnx|protobuf|dnnl|blas|pfm'; then
    echo "tenshot::predictor is linked with more than it needs"
    exit 1
  fi
done
text='|nor_conv_3x3~0|+|none~0|skip_connect~1|+|avg_pool_3x3~0|nor_conv_1x1~1|none~2|'
predicted=$("$work/build/predict" "$work/device.tenshot" "$text" | cut -d' ' -f1)
expected=$(grep -F "$text" "$work/all.csv" | cut -d, -f2)
awk -v a="$predicted" -v b="$expected" 'BEGIN { exit !(a > 0 && (a / b - 1) ^ 2 < 1e-12) }' || {
  echo "the example predicts $predicted, the program $expected"
  exit 1
}
if "$work/build/predict" "$work/device.tenshot" nonsense 2>"$work/error"; then exit 1; fi
grep -q NAS-Bench-201 "$work/error"
