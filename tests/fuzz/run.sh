#!/usr/bin/env bash
# run.sh SECONDS [TARGET…]: builds the fuzzers of what reads strangers' files and runs each for so long, from its seeds, with
# its dictionary, and from what it found before (build-fuzz/corpus). Fails at the first input that crashes, hangs, or
# breaks a claim; the input is then in build-fuzz/found. TARGET `light` stands for those that are built in minutes: without archive and spec.
# TENSHOT_FUZZ_BUILD and TENSHOT_FUZZ_JOBS name the build folder and how many compilers run at once. Needs clang-14 and
# libclang-rt-14-dev.
set -euo pipefail
cd "$(dirname "$0")/../.."
seconds=${1:?how many seconds each}
shift
light=(measurements predictions wide_table operators networks space onnx ncnn tflite device_file counters kit report rules
  profiles cold)
targets=()
for target in "${@:-all}"; do
  case $target in
    all) targets+=("${light[@]}" spec archive) ;;
    light) targets+=("${light[@]}") ;;
    *) targets+=("$target") ;;
  esac
done
build=${TENSHOT_FUZZ_BUILD:-build-fuzz}
if [ ! -f "$build/build.ninja" ]; then cmake --preset fuzz -B "$build" >/dev/null; fi
ninja -C "$build" -j "${TENSHOT_FUZZ_JOBS:-2}" "${targets[@]/#/fuzz_}" >"$build/fuzz.log" || {
  tail -n 40 "$build/fuzz.log" >&2
  exit 1
}
# Containers that cross into libraries built without the sanitizer (protobuf, LibTorch) look overflown to it.
export ASAN_OPTIONS=detect_container_overflow=0:detect_leaks=0
export UBSAN_OPTIONS=print_stacktrace=1
dictionary_of() {
  case $1 in
    measurements | predictions | wide_table | operators | profiles) echo tables ;;
    *) echo "$1" ;;
  esac
}
# Spaces and networks stay known for as long as a process runs, so no process runs for long.
longest=120
for target in "${targets[@]}"; do
  mkdir -p "$build/corpus/$target" "$build/found"
  log=$build/$target.log
  : >"$log"
  for ((done = 0; done < seconds; done += longest)); do
    turn=$((seconds - done < longest ? seconds - done : longest))
    "$build/tests/fuzz/fuzz_$target" -max_total_time="$turn" -timeout=20 -rss_limit_mb=4096 -max_len=65536 \
      -dict="tests/fuzz/dictionaries/$(dictionary_of "$target")" -print_final_stats=1 \
      -artifact_prefix="$build/found/$target-" "$build/corpus/$target" "tests/fuzz/seeds/$target" >>"$log" 2>&1 || {
      tail -n 40 "$log" >&2
      echo "$target: broken; its input is in $build/found" >&2
      exit 1
    }
  done
  awk -v target="$target" '/number_of_executed_units/ { runs += $2 } /cov:/ { coverage = $0; sub(/.*cov: /, "", coverage)
    sub(/ .*/, "", coverage) } END { print target ": " runs " inputs, " coverage " edges, sound" }' "$log"
done
