#!/bin/sh
# The newcomer's path: from a clone to the first prediction of a network of one's own, command by command, as somebody
# types them who has ten ONNX files and a machine. Every command must succeed and say what is expected, and the number
# of commands is counted. Building takes many minutes, so the program of the build folder is put where the build would
# put it: that is the one step that is not run.
#
#   tests/newcomer/newcomer_test.sh PROGRAM SOURCE
#
# The own networks are eleven of those that tests/networks/export_networks.py exported by torchvision to
# $TENSHOT_EXPORTS, or where they are not, eleven that `tenshot network generate` writes: that command is not counted.
set -eu
program=$1 source=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
commands=0 started=$(date +%s)

fail() {
  printf 'FAILED: %s\n' "$*" >&2
  sed 's/^/  | /' "$work/said" >&2
  exit 1
}
# step COMMAND EXPECTED…: runs what a newcomer types; each of the others has to be in what it prints, as grep -E reads it.
step() {
  commands=$((commands + 1))
  printf '%s\n' "\$ $1"
  sh -c "$1" >"$work/said" 2>&1 || fail "$1 ended with $?"
  sed "s/.*$(printf "\\r")//; s/^/    /" "$work/said"
  typed=$1
  shift
  for expected in "$@"; do grep -qE -- "$expected" "$work/said" || fail "$typed: expected to read \"$expected\", read:"; done
}
own_networks() { # eleven ONNX files in my_models/
  mkdir my_models
  if [ -n "${TENSHOT_EXPORTS:-}" ] && [ -f "$TENSHOT_EXPORTS/complete" ]; then
    for file in "$TENSHOT_EXPORTS"/*.onnx; do
      case $(basename "$file" .onnx) in
        *.*) ;; # another opset of the same network, or one of open dimensions
        *) cp "$file" my_models/ ;;
      esac
    done
  else
    "$program" network generate --space synthetic-cnn --count 11 --seed 7 --quiet --out my_models
  fi
}

own_networks
# shellcheck disable=SC2012
last=$(ls my_models/*.onnx | tail -n 1)
mv "$last" my_new_model.onnx

if git -C "$source" rev-parse >/dev/null 2>&1; then step "git clone '$source' tenshot" "Cloning into 'tenshot'"
else step "mkdir tenshot && tar -C '$source' --exclude './build*' -cf - . | tar -C tenshot -xf -"; fi
step "mkdir tenshot/build && ln -s '$program' tenshot/build/tenshot" # cmake --preset release && ninja -C build tenshot
PATH=$work/tenshot/build:$PATH
export PATH
step 'tenshot train --pool tenshot/datasets/data/networks --out pool.tenshot' \
  '^pool.tenshot: checkpoint of operators and 13 device-runtimes written; next: tenshot plan --checkpoint pool.tenshot'
step 'tenshot plan --checkpoint pool.tenshot --networks my_models --samples 10 --out ten.csv' \
  '^ten.csv: plan of 10 architectures written; next: measure them \(a column latency_ms\), then tenshot adapt' \
  '--networks my_models --out device.tenshot$'
[ "$(grep -c . ten.csv)" = 11 ] || fail "ten.csv has not ten networks and a header"
step 'tenshot collect --runtime libtorch-frozen --networks my_models --archs ten.csv --runs 10 --attempts 1 --out measured' \
  '^timed runs [0-9.]+ s' \
  '^measured/libtorch-frozen_t1_b1: device-runtime of 10 architectures written; next: tenshot adapt --measurements'
step 'tenshot adapt --checkpoint pool.tenshot --networks my_models --measurements measured/libtorch-frozen_t1_b1 --out device.tenshot' \
  '^(Good|Fair|Poor|Doubtful): expect nine of ten predictions within (±[0-9.]+ %|a factor of [0-9.]+)(, of networks of other kinds within (±[0-9.]+ %|a factor of [0-9.]+))? \(from 10 measurements' \
  '^device.tenshot: predictor written; next: tenshot predict --predictor device.tenshot'
step 'tenshot predict --predictor device.tenshot my_new_model.onnx' \
  '^[0-9.]+ ms \(90 %: [0-9.]+ to [0-9.]+\)$'
[ "$commands" -le 7 ] || fail "the path has $commands commands, and had seven"
echo "$commands commands from a clone to the first prediction, $(($(date +%s) - started)) s without building"
