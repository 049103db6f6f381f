#!/usr/bin/env bash
# Builds tenshot-predict by the preset static, looks whether it needs anything of the machine it runs on, and compares what
# it says with what `tenshot predict` says: static_test.sh TENSHOT [TENSHOT_PREDICT [EMULATOR]]. A TENSHOT_PREDICT is not
# built; run by an EMULATOR, it may differ by a millionth. Needs protobuf-compiler and a Debian mirror (TENSHOT_MIRROR).
set -euo pipefail
tenshot=$(realpath "$1")
cd "$(dirname "$0")/../.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() { echo "static_test.sh: $1" >&2; exit 1; }
if [ -z "${2:-}" ]; then
  cmake --preset static "-DTENSHOT_ONNX_URL=${TENSHOT_MIRROR:-http://deb.debian.org/debian}/pool/main/o/onnx/onnx_1.17.0.orig.tar.gz" \
    >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
  ninja -C build-static -j "${TENSHOT_JOBS:-$(nproc)}" tenshot-predict >"$work/log" 2>&1 || { tail -40 "$work/log"; exit 1; }
fi
program=$(realpath "${2:-build-static/tenshot-predict}")
if readelf -d "$program" | grep NEEDED; then fail "it needs shared libraries"; fi
bytes=$(stat -c %s "$program")
[ "$bytes" -lt 6000000 ] || fail "it has $bytes bytes"

# In a folder that has nothing of a system: as root it is all that the program can see.
mkdir "$work/root"
cp "$program" "$work/root/tenshot-predict"
cp checkpoints/networks.tenshot checkpoints/pool.tenshot "$work/root"
if [ -n "${3:-}" ]; then
  emulator=$3
  alone() { (cd "$work/root" && "$emulator" ./tenshot-predict "$@"); }
elif [ "$(id -u)" = 0 ]; then
  alone() { chroot "$work/root" /tenshot-predict "$@"; }
else
  alone() { (cd "$work/root" && ./tenshot-predict "$@"); }
fi
"$tenshot" network generate --space synthetic-cnn --count 20 --seed 1 --out "$work/root/models" --quiet
if [ -d "${TENSHOT_EXPORTS:-}" ]; then cp "$TENSHOT_EXPORTS"/*.onnx "$work/root/models"; fi
"$tenshot" plan --quiet --checkpoint checkpoints/pool.tenshot --samples 10 --out "$work/plan.csv"
{ echo architecture,latency_ms; sed -n 's/^[0-9]*,\(|.*\)/\1/p' "$work/plan.csv" | awk -F, '{ print $1 "," 4 + NR % 3 }'; } >"$work/measured.csv"
"$tenshot" adapt --quiet --checkpoint checkpoints/pool.tenshot --measurements "$work/measured.csv" --out "$work/root/device.tenshot"

# compare WHAT ARGUMENTS…: what both say and predict.
compare() {
  (cd "$work/root" && "$tenshot" predict "${@:2}" --out - >"$work/expected" 2>"$work/said")
  alone "${@:2}" --out - >"$work/predicted" 2>"$work/said alone"
  cmp "$work/said" "$work/said alone" || fail "$1: it says something else"
  awk -F, -v what="$1" -v most="$([ -n "${emulator:-}" ] && echo 1e-6 || echo 0)" '
    NR == FNR { line[NR] = $0; next }
    { split(line[FNR], expected, ","); if ($1 != expected[1]) wrong = 1 }
    FNR > 1 { for (i = 2; i <= NF; ++i) { d = expected[i] / $i - 1; d = d < 0 ? -d : d; if (!(d <= worst[i > 2])) worst[i > 2] = d } }
    END {
      print FNR - 1 " " what ", latencies within " worst[0] + 0 ", bounds within " worst[1] + 0
      exit wrong || FNR < 2 || FNR != length(line) || !(worst[0] + 0 <= most && worst[1] + 0 <= 100 * most)
    }' "$work/expected" "$work/predicted" || fail "$1: it predicts something else"
}
compare cells --predictor device.tenshot --quiet
compare networks --device pixel4_gpu_float --checkpoint networks.tenshot --networks models
alone --predictor device.tenshot --fastest 3 >"$work/three"
[ "$(wc -l <"$work/three")" = 3 ] || fail "--fastest 3 gives $(cat "$work/three")"
alone predict --predictor device.tenshot --fastest 1 --json | grep -q '"latency_ms"' || fail "--json says nothing"
if alone --predictor missing.tenshot 2>"$work/error"; then fail "it predicts by a file that is missing"; fi
grep -q missing.tenshot "$work/error" || fail "it says: $(cat "$work/error")"
alone --version
echo "tenshot-predict works, of $bytes bytes"
