#!/usr/bin/env bash
# lint.sh [FILE …]: what reads the sources without running them: clang-format, shellcheck, and clang-tidy on some of the
# sources that read files from strangers. Of the files that are named; of all that are committed unless any is. clang-tidy needs
# a configured build (TENSHOT_BUILD, build unless said) and is left out without one. Links and names are looked at by
# test_house.
set -euo pipefail
cd "$(dirname "$0")/.."
if [ $# = 0 ]; then mapfile -t files < <(git ls-files); else files=("$@"); fi
failed=""
cpp=() scripts=() tidied=()
for file in "${files[@]}"; do
  [ -f "$file" ] || continue # deleted, and not committed yet
  case $file in
    *.cpp | *.h) cpp+=("$file") ;;
    *) if head -n 1 "$file" | grep -aqE '^#!.*\b(ba)?sh\b|^# shellcheck shell='; then scripts+=("$file"); fi ;;
  esac
  case $file in
    nasbench/support/*.cpp | nasbench/formats/*.cpp | datasets/tables/*.cpp | trainer/core/*archive*.cpp) tidied+=("$file") ;;
  esac
done
if [ ${#cpp[@]} -gt 0 ]; then
  clang-format --dry-run -Werror "${cpp[@]}" || { failed=yes; echo "clang-format -i puts that right" >&2; }
fi
if [ ${#scripts[@]} -gt 0 ]; then shellcheck -x "${scripts[@]}" || failed=yes; fi
build=${TENSHOT_BUILD:-build}
if [ ${#tidied[@]} = 0 ]; then
  :
elif [ -f "$build/compile_commands.json" ] && command -v clang-tidy >/dev/null; then
  printf '%s\n' "${tidied[@]}" | xargs -P "$(nproc)" -n 1 clang-tidy --quiet -p "$build" || failed=yes
else
  echo "clang-tidy is left out: it is not installed, or $build is not configured" >&2
fi
[ -z "$failed" ]
