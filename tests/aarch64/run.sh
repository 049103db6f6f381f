#!/usr/bin/env bash
# run.sh [TENSHOT [--filter PATTERN]]: builds what needs no LibTorch for aarch64, as a Jetson is one, and runs its tests
# under qemu-user-static. Where TENSHOT names this machine's program, both must predict the same. The libraries come from
# an arm64 Debian 12 that mmdebstrap unpacks into the build folder; nothing of this machine's own packages changes.
# run.sh --static [TENSHOT]: builds tenshot-predict alone, in BUILD_FOLDER/static, and compares it with TENSHOT.
# TENSHOT_AARCH64_BUILD and TENSHOT_AARCH64_ROOT name the two folders, TENSHOT_MIRROR a Debian mirror. Needs
# g++-aarch64-linux-gnu, qemu-user-static, mmdebstrap and ninja.
set -euo pipefail
cd "$(dirname "$0")/../.."
static=""
if [ "${1:-}" = --static ]; then
  static=yes
  shift
fi
build=${TENSHOT_AARCH64_BUILD:-build-aarch64}
mkdir -p "$build"
build=$(realpath "$build")
root=${TENSHOT_AARCH64_ROOT:-$build/root}
if [ ! -e "$root/usr/include/boost" ]; then
  echo "Unpacking an arm64 Debian in $root"
  rm -rf "$root"
  mmdebstrap --variant=extract --architectures=arm64 \
    --include=libc6-dev,libstdc++-12-dev,libprotobuf-dev,libonnx-dev,libssl-dev,libpfm4-dev,libgtest-dev,libeigen3-dev \
    --include=nlohmann-json3-dev,libcxxopts-dev,libboost-dev \
    bookworm "$root" "${TENSHOT_MIRROR:-http://deb.debian.org/debian}" >"$build/root.log" 2>&1 || {
    cat "$build/root.log" >&2
    exit 1
  }
fi
build_static() {
  echo "Building tenshot-predict for aarch64 in $build/static"
  cmake --preset static -B "$build/static" --toolchain tests/aarch64/toolchain.cmake -DTENSHOT_AARCH64_ROOT="$root" \
    "-DTENSHOT_ONNX_URL=${TENSHOT_MIRROR:-http://deb.debian.org/debian}/pool/main/o/onnx/onnx_1.17.0.orig.tar.gz" \
    >"$build/build.log" 2>&1 || { cat "$build/build.log" >&2; exit 1; }
  ninja -C "$build/static" -j "${TENSHOT_AARCH64_JOBS:-2}" tenshot-predict >"$build/build.log" 2>&1 || {
    tail -n 40 "$build/build.log" >&2
    exit 1
  }
}
if [ -n "$static" ]; then
  build_static
  if [ -n "${1:-}" ]; then tests/package/static_test.sh "$1" "$build/static/tenshot-predict" qemu-aarch64-static; fi
  exit 0
fi
targets=(tenshot test_nasbench test_sampling test_datasets test_descriptor test_trainer test_experiments)
if [ ! -f "$build/build.ninja" ]; then
  # An emulator runs little code often: what optimising further would save is less than what it costs.
  cmake -S . -B "$build" -G Ninja --toolchain tests/aarch64/toolchain.cmake -DTENSHOT_AARCH64_ROOT="$root" \
    -DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_FLAGS_RELEASE="-O1 -DNDEBUG" -DTENSHOT_TORCH=OFF -DTENSHOT_BENCHMARKS=OFF \
    >"$build/build.log" 2>&1 || { cat "$build/build.log" >&2; exit 1; }
fi
echo "Building for aarch64 in $build"
ninja -C "$build" -j "${TENSHOT_AARCH64_JOBS:-2}" "${targets[@]}" >"$build/build.log" 2>&1 || {
  tail -n 40 "$build/build.log" >&2
  exit 1
}
emulator="qemu-aarch64-static -L $root"
tests/aarch64/run_tests.py "$build" --emulator "$emulator" "${@:2}"

# The program itself: a shipped checkpoint is adapted to a made-up device here and there, to the same predictor.
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
program="$emulator $build/tenshot"
$program plan --quiet --checkpoint checkpoints/pool.tenshot --samples 10 --out "$work/plan.csv"
{ echo architecture,latency_ms; sed -n 's/^[0-9]*,\(|.*\)/\1/p' "$work/plan.csv" | awk -F, '{ print $1 "," 4 + NR % 3 }'; } \
  >"$work/measured.csv"
$program adapt --quiet --checkpoint checkpoints/pool.tenshot --measurements "$work/measured.csv" --out "$work/device.tenshot"
$program predict --quiet --predictor "$work/device.tenshot" --out "$work/all.csv"
test "$(wc -l <"$work/all.csv")" -eq 15626
if [ -n "${1:-}" ]; then
  "$1" adapt --quiet --checkpoint checkpoints/pool.tenshot --measurements "$work/measured.csv" --out "$work/here.tenshot"
  "$1" predict --quiet --predictor "$work/here.tenshot" --out "$work/here.csv"
  awk -F, 'NR == FNR { ms[$1] = $2; next } FNR > 1 { d = ms[$1] / $2 - 1; if (d < 0) d = -d; if (d > worst) worst = d }
    END { print "all 15,625 cells: within " worst " of what this machine predicts"; exit !(worst < 1e-6) }' \
    "$work/all.csv" "$work/here.csv"
  build_static
  tests/package/static_test.sh "$1" "$build/static/tenshot-predict" qemu-aarch64-static # without the libraries of $root
fi
echo "aarch64 works"
