#!/usr/bin/env bash
# The whole suite under AddressSanitizer and UndefinedBehaviorSanitizer, counting the lines of the libraries that it
# executes: coverage.sh [ctest's arguments]. Writes build-coverage/coverage.txt, one row for each source with the lines that
# no test reaches, and its last row as `lines of the libraries: PERCENT`. Needs gcovr. TENSHOT_COVERAGE_BUILD names the
# build folder.
set -euo pipefail
cd "$(dirname "$0")/.."
build=${TENSHOT_COVERAGE_BUILD:-build-coverage}
if [ ! -f "$build/build.ninja" ]; then cmake --preset coverage -B "$build" >/dev/null; fi
ninja -C "$build" -j "${TENSHOT_COVERAGE_JOBS:-2}" >"$build/coverage.log" || {
  tail -n 40 "$build/coverage.log" >&2
  exit 1
}
find "$build" -name '*.gcda' -delete
# LibTorch and OpenBLAS keep what they allocate until the process ends.
export LSAN_OPTIONS=suppressions=$PWD/tests/leaks.txt:print_suppressions=0 UBSAN_OPTIONS=print_stacktrace=1
export OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1
failed=""
ctest --test-dir "$build" --output-on-failure -j "${TENSHOT_TEST_JOBS:-2}" "$@" || failed=yes
gcovr --root . "$build" --gcov-ignore-parse-errors --exclude-unreachable-branches \
  --filter 'nasbench/' --filter 'descriptor/' --filter 'datasets/' --filter 'sampling/' --filter 'trainer/' \
  --txt "$build/coverage.txt" --json-summary "$build/coverage.json"
awk '/^TOTAL/ { print "lines of the libraries: " $4 }' "$build/coverage.txt" | tee -a "$build/coverage.txt"
[ -z "$failed" ]
