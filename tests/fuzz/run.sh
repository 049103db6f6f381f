#!/usr/bin/env bash
# run.sh SECONDS [TARGET…]: builds the fuzzers of what reads strangers' files and runs each for so long, from its seeds and
# what it found before (build-fuzz/corpus). Fails at the first input that crashes, hangs, or breaks a claim; the input is
# then in build-fuzz/found. Needs clang-14 and libclang-rt-14-dev.
set -euo pipefail
cd "$(dirname "$0")/../.."
seconds=${1:?how many seconds each}
shift
targets=("$@")
if [ ${#targets[@]} = 0 ]; then targets=(measurements wide_table device_file kit counters spec archive); fi
if [ ! -f build-fuzz/build.ninja ]; then cmake --preset fuzz >/dev/null; fi
ninja -C build-fuzz "${targets[@]/#/fuzz_}"
# Containers that cross into libraries built without the sanitizer (protobuf, LibTorch) look overflown to it.
export ASAN_OPTIONS=detect_container_overflow=0:detect_leaks=0
for target in "${targets[@]}"; do
  mkdir -p "build-fuzz/corpus/$target" build-fuzz/found
  log=build-fuzz/$target.log
  "build-fuzz/tests/fuzz/fuzz_$target" -max_total_time="$seconds" -timeout=20 -rss_limit_mb=4096 -max_len=65536 \
    -print_final_stats=1 -artifact_prefix="build-fuzz/found/$target-" "build-fuzz/corpus/$target" \
    "tests/fuzz/seeds/$target" >"$log" 2>&1 || {
    tail -n 40 "$log" >&2
    echo "$target: broken; its input is in build-fuzz/found" >&2
    exit 1
  }
  awk -v target="$target" '/number_of_executed_units/ { runs = $2 } /cov:/ { coverage = $0; sub(/.*cov: /, "", coverage)
    sub(/ .*/, "", coverage) } END { print target ": " runs " inputs, " coverage " edges, sound" }' "$log"
done
