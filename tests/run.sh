#!/usr/bin/env bash
# Installs what is missing, builds, and runs every test. TENSHOT_TABLES names the folder of public latency tables;
# without it the tests that read them are skipped. Networks of torchvision are exported, with random weights, to the
# build folder. --long adds what takes hours: a thousand kills, ten minutes of each fuzzer (TENSHOT_FUZZ_SECONDS), exports
# of a million architectures, an experiment on Slurm, aarch64, ThreadSanitizer, the preset debug, the whole suite under
# AddressSanitizer and UndefinedBehaviorSanitizer with its coverage, the wheel, tenshot-predict, the interface of the C++
# libraries, and (as root) the Debian packages in a clean root and the container. Other arguments go to ctest.
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
install_missing python3-torch python3-torchvision python3-numpy python3-dev python3-matplotlib \
  jupyter-nbconvert python3-ipykernel python3-pandas python3-sklearn python3-markdown-it python3-jsonschema mypy zsh pybind11-dev chromium chromium-driver busybox shellcheck parallel \
  libdnnl-dev libopencv-dev libxgboost-dev $(node_packages)
build_targets
TENSHOT_EXPORTS=$(realpath "$build")/exports
export TENSHOT_EXPORTS
if [ ! -f "$TENSHOT_EXPORTS/complete" ]; then
  /usr/bin/python3 tests/networks/export_networks.py "$TENSHOT_EXPORTS" && touch "$TENSHOT_EXPORTS/complete"
fi
ctest --test-dir "$build" --output-on-failure -j "${TENSHOT_TEST_JOBS:-2}" "$@"
if [ $# = 0 ]; then tests/presets_test.sh without-torch; fi # ccache has most of it
if [ -n "$long" ]; then
  install_missing slurm-wlm munge clang-14 libclang-rt-14-dev
  install_missing mmdebstrap dpkg-dev lintian buildah abigail-tools protobuf-compiler gcovr python3-build python3-venv g++-aarch64-linux-gnu qemu-user-static
  tests/presets_test.sh debug
  logged cmake --preset tsan
  logged cmake --build --preset tsan
  build-tsan/tests/test_threads
  tests/package/abi_test.sh "$build"
  if [ "$(id -u)" = 0 ]; then
    tests/package/package_test.sh "$build"
    tests/package/container_test.sh
  fi
  tests/package/wheel_test.sh
  tests/package/static_test.sh "$tenshot"
  tests/robustness/kill_test.py "$tenshot" --kills 1000 --seed "${TENSHOT_SEED:-1}"
  /usr/bin/python3 tests/python/exports_test.py "$build/python" "$tenshot" "$build/tests/library_predictions" . \
    --architectures 1000000 --every 1 --help-too
  tests/aarch64/run.sh "$tenshot"
  tests/cluster/slurm.sh tests/cluster/experiment_test.py "$tenshot" slurm
  tests/fuzz/run.sh "${TENSHOT_FUZZ_SECONDS:-600}"
  tests/coverage.sh
fi
