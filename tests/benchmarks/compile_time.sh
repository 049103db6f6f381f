#!/usr/bin/env bash
# compile_time.sh [OUT.md]: how long the program takes to compile, and to compile again after a change of one line in a
# leaf, before the sources stood in rooms of their own and now, in one run on one machine. Builds the target `tenshot` of
# two commits from nothing, without ccache, in folders that are removed at the end: tens of minutes.
#   BEFORE=4a01500^ AFTER=HEAD JOBS=2 tests/benchmarks/compile_time.sh tests/benchmarks/results/compile_time.md
set -euo pipefail
cd "$(dirname "$0")/../.."
before=${BEFORE:-4a01500^}  # the last commit before the rooms
after=${AFTER:-HEAD}
jobs=${JOBS:-$(nproc)}
out=${1:-/dev/stdout}
export CCACHE_DISABLE=1
work=$(mktemp -d)
trap 'for tree in "$work"/*/; do git worktree remove --force "$tree" 2>/dev/null || true; done; rm -rf "$work"' EXIT

# timed COMMAND…: seconds of wall time, to one decimal.
timed() {
  local start end
  start=$(date +%s%N)
  "$@" >"$work/log" 2>&1 || { tail -n 20 "$work/log" >&2; return 1; }
  end=$(date +%s%N)
  awk -v ns=$((end - start)) 'BEGIN { printf "%.1f", ns / 1e9 }'
}

# row NAME COMMIT LEAF: one line of the table. The change is a comment at the end of a source that nothing includes.
row() {
  local tree=$work/$1 leaf=$3 lines full again
  git worktree add --quiet --detach "$tree" "$2"
  cmake -S "$tree" -B "$tree/build" -G Ninja -DCMAKE_BUILD_TYPE=Release >"$work/log" 2>&1
  lines=$(cd "$tree" && git ls-files nasbench descriptor datasets sampling trainer | grep -E '\.(cpp|h)$' | xargs cat | wc -l)
  full=$(timed ninja -C "$tree/build" -j "$jobs" tenshot)
  echo "// a line" >>"$tree/$leaf"
  again=$(timed ninja -C "$tree/build" -j "$jobs" tenshot)
  echo "| $1, $(git rev-parse --short "$2") | $lines | $full | $again |"
}

{
  echo "| sources | lines | full build, s | after one line in a leaf, s |"
  echo "|---|---|---|---|"
  row before "$before" "$(git ls-tree -r --name-only "$before" | grep -E '(^|/)nnls\.cpp$' | head -n 1)"
  row rooms "$after" "$(git ls-tree -r --name-only "$after" | grep -E '(^|/)nnls\.cpp$' | head -n 1)"
  echo
  echo "Target \`tenshot\`, release, $jobs jobs, without ccache, $(c++ --version | head -n 1); the leaf is nnls.cpp."
} >"$work/table"
cat "$work/table" >"$out"
