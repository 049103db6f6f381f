#!/usr/bin/env bash
# Installs what is missing, builds, and runs every test. TENSHOT_TABLES names the folder of public latency tables;
# without it the tests that read them are skipped. Networks of torchvision are exported, with random weights, to the
# build folder. --long adds what takes hours: a thousand kills, and ten minutes of each fuzzer (TENSHOT_FUZZ_SECONDS).
# Other arguments go to ctest.
set -euo pipefail
cd "$(dirname "$0")/.."
long=""
if [ "${1:-}" = --long ]; then
  long=yes
  shift
fi
# shellcheck source=experiments/set_up.sh disable=SC2119
. experiments/set_up.sh
# shellcheck disable=SC2046 # a list of words
install_missing python3-torch python3-torchvision python3-numpy python3-dev pybind11-dev busybox shellcheck libopencv-dev \
  $(node_packages)
build_targets
TENSHOT_EXPORTS=$(realpath "$build")/exports
export TENSHOT_EXPORTS
if [ ! -f "$TENSHOT_EXPORTS/complete" ]; then
  /usr/bin/python3 tests/networks/export_networks.py "$TENSHOT_EXPORTS" && touch "$TENSHOT_EXPORTS/complete"
fi
ctest --test-dir "$build" --output-on-failure -j "${TENSHOT_TEST_JOBS:-2}" "$@"
if [ -n "$long" ]; then
  install_missing clang-14 libclang-rt-14-dev
  tests/robustness/kill_test.py "$tenshot" --kills 1000 --seed "${TENSHOT_SEED:-1}"
  tests/fuzz/run.sh "${TENSHOT_FUZZ_SECONDS:-600}"
fi
