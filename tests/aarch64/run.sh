#!/usr/bin/env bash
# run.sh [FOLDER]: builds what needs no LibTorch for aarch64 and runs its tests under qemu-user-static. The arm64 packages are
# fetched from the machine's own Debian mirrors and unpacked in FOLDER (build-aarch64); nothing of the machine changes.
# Needs g++-aarch64-linux-gnu and qemu-user-static.
#
# What cannot run here: runtimes and everything else that LibTorch executes; hardware counters, which qemu has none of
# (their tests skip themselves); child processes with another program's personality, such as valgrind. Timings mean nothing.
set -euo pipefail
cd "$(dirname "$0")/../.."
folder=$(realpath -m "${1:-build-aarch64}")
packages="libssl-dev libonnx-dev libprotobuf-dev libpfm4-dev libgtest-dev libeigen3-dev nlohmann-json3-dev"
export TENSHOT_SYSROOT=$folder/root
if [ ! -f "$folder/unpacked" ]; then
  mkdir -p "$folder"/apt/{lists/partial,cache,state,debs/partial} "$TENSHOT_SYSROOT"
  : >"$folder/apt/status"
  apt_arm() {
    apt-get -qq -o Dir::State="$folder/apt/state" -o Dir::State::status="$folder/apt/status" \
      -o Dir::State::lists="$folder/apt/lists" -o Dir::Cache="$folder/apt/cache" \
      -o Dir::Cache::archives="$folder/apt/debs" -o APT::Architecture=arm64 -o APT::Architectures::=arm64 \
      -o APT::Install-Recommends=0 -o Debug::NoLocking=1 -o APT::Sandbox::User=root "$@"
  }
  apt_arm update
  # shellcheck disable=SC2086 # a list of words
  apt_arm install -y --download-only $packages >/dev/null
  for package in "$folder"/apt/debs/*.deb; do
    case $package in */libc6-dev_* | */linux-libc-dev_*) continue ;; esac # the cross compiler brings its own
    dpkg-deb -x "$package" "$TENSHOT_SYSROOT"
  done
  touch "$folder/unpacked"
fi
if [ ! -f "$folder/build.ninja" ]; then
  cmake -S tests/aarch64 -B "$folder" -G Ninja -DCMAKE_BUILD_TYPE=Release \
    -DCMAKE_TOOLCHAIN_FILE="$PWD/tests/aarch64/toolchain.cmake" \
    -DCMAKE_CXX_COMPILER_LAUNCHER="$(command -v ccache || true)" >/dev/null
fi
ninja -C "$folder" -j "${TENSHOT_AARCH64_JOBS:-2}" test_core
# Tests of processes that are killed and of their limits see qemu, not the program.
qemu-aarch64-static -L "$TENSHOT_SYSROOT" "$folder/test_core" --gtest_brief=1 \
  --gtest_filter="${TENSHOT_AARCH64_TESTS:-*}"
