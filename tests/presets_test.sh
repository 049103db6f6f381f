#!/usr/bin/env bash
# presets_test.sh [PRESET …]: builds the program by presets that nothing else builds, debug and without-torch unless said,
# and adapts shipped checkpoints with it. Without optimisation every call goes where the linker put it, so that a function
# that is there twice shows; without LibTorch a network is refused by one line.
set -euo pipefail
cd "$(dirname "$0")/.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() { echo "presets_test.sh: $1" >&2; exit 1; }

for preset in "${@:-debug without-torch}"; do
  for name in $preset; do # a list of words where nothing was said
    cmake --preset "$name" >"$work/build.log" 2>&1 || { cat "$work/build.log" >&2; exit 1; }
    cmake --build --preset "$name" --target tenshot -- -j "${TENSHOT_JOBS:-$(nproc)}" >"$work/build.log" 2>&1 || {
      tail -n 40 "$work/build.log" >&2
      exit 1
    }
    tenshot=build-$name/tenshot
    head -n 11 datasets/data/libtorch-eager_t1_b1/latencies.csv | cut -d, -f1,2 >"$work/ten.csv"
    "$tenshot" plan -q --checkpoint checkpoints/pool.tenshot --samples 10 --out "$work/plan.csv"
    "$tenshot" adapt -q --checkpoint checkpoints/pool.tenshot --measurements "$work/ten.csv" --out "$work/pool.tenshot"
    "$tenshot" predict -q --predictor "$work/pool.tenshot" --out "$work/all.csv"
    [ "$(wc -l <"$work/all.csv")" = 15626 ] || fail "$name: not all architectures were predicted"
    network=(adapt -q --checkpoint checkpoints/maple-edge.tenshot --measurements "$work/ten.csv" --out "$work/network.tenshot")
    if [ "$name" = without-torch ]; then
      "$tenshot" --version | grep -q "LibTorch is not loaded" || fail "$name: it does not say that it has no LibTorch"
      if "$tenshot" "${network[@]}" 2>"$work/said"; then fail "$name: adapted a network without LibTorch"; fi
      [ "$(wc -l <"$work/said")" = 1 ] || fail "$name: the refusal is no one line: $(cat "$work/said")"
    else
      "$tenshot" "${network[@]}"
      "$tenshot" evaluate -q --predictor "$work/network.tenshot" --measurements datasets/data/libtorch-eager_t1_b1/latencies.csv \
        --json >"$work/scores.json"
      python3 - "$work/scores.json" <<'END' || fail "$name: a network of ten measurements predicts the pool's own device worse than 70 % within ±10 %"
import json, sys
sys.exit(json.load(open(sys.argv[1]))["acc10"] < 0.7)
END
    fi
    echo "preset $name works"
  done
done
