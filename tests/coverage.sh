#!/usr/bin/env bash
# coverage.sh [ctest arguments]: builds for gcov, runs every test, and says which share of the libraries' lines they reach:
# build-coverage/coverage.txt by file, coverage.html with each line. Needs gcovr. TENSHOT_COVERAGE_JOBS compilers run at
# once.
set -euo pipefail
cd "$(dirname "$0")/.."
build="build-coverage"
if [ ! -f $build/build.ninja ]; then cmake --preset coverage >/dev/null; fi
ninja -C $build -j "${TENSHOT_COVERAGE_JOBS:-2}" >"$build/build.log" || { tail -n 40 $build/build.log >&2; exit 1; }
find $build -name '*.gcda' -delete
ctest --test-dir $build --output-on-failure -j 2 "$@"
gcovr --root . --object-directory $build --gcov-ignore-parse-errors --exclude-unreachable-branches \
  --filter nasbench --filter descriptor --filter datasets --filter sampling --filter trainer \
  --txt $build/coverage.txt --html-details $build/coverage.html --json-summary $build/coverage.json $build
tail -n 3 $build/coverage.txt
