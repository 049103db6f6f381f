#!/usr/bin/env bash
# threads.sh: builds with ThreadSanitizer and runs the tests of what uses several threads: timing and its helpers, child
# processes, training in threads, experiments with several processes, signals.
set -euo pipefail
cd "$(dirname "$0")/.."
build="build-tsan"
if [ ! -f $build/build.ninja ]; then cmake --preset tsan >/dev/null; fi
ninja -C $build -j "${TENSHOT_THREADS_JOBS:-2}" tenshot test_nasbench test_descriptor test_integration >"$build/build.log" ||
  { tail -n 40 $build/build.log >&2; exit 1; }
# LibTorch and OpenMP are built without the sanitizer and synchronise in ways that it does not see.
printf 'called_from_lib:libgomp.so\ncalled_from_lib:libtorch_cpu.so\ncalled_from_lib:libopenblas.so\nrace:libtorch\n' \
  >$build/suppressions
export TSAN_OPTIONS="suppressions=$PWD/$build/suppressions halt_on_error=1" OMP_NUM_THREADS=1
$build/tests/test_nasbench --gtest_brief=1 --gtest_filter='Temporaries*:Files*'
$build/tests/test_descriptor --gtest_brief=1 --gtest_filter='*Timing*:*Child*:*Machine*'
$build/tests/test_integration --gtest_brief=1 --gtest_filter='Signals*:ExperimentProgram*'
