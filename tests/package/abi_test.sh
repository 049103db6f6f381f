#!/usr/bin/env bash
# Whether programs that were linked with the C++ libraries of this MINOR still run with those that were built now, as
# trainer/promises.md promises: abi_test.sh BUILD_FOLDER. abidiff compares the libraries with what is kept in abi/, which has
# the exported functions and the public types of x86-64. Any difference fails; `abi_test.sh BUILD_FOLDER --write` keeps what
# is built instead, after a change that is meant. Needs abigail-tools.
set -euo pipefail
build=$(realpath "$1")
cd "$(dirname "$0")/abi"
if [ "$(uname -m)" != x86_64 ]; then echo "what is kept is of x86-64"; exit 77; fi
public=(--suppressions private.abignore --no-show-locs --exported-interfaces-only)
kept=$(mktemp --suffix .abi)
trap 'rm -f "$kept"' EXIT
for library in predictor network; do
  file=$build/trainer/library/libtenshot_$library.so
  if [ "${2:-}" = --write ]; then
    abidw "${public[@]}" --no-corpus-path --no-comp-dir-path --out-file "$kept" "$file"
    gzip -9nc "$kept" >"$library.abi.gz"
  else
    zcat "$library.abi.gz" >"$kept"
    abidiff "${public[@]}" "$kept" "$file"
    echo "libtenshot_$library: the interface is what is kept"
  fi
done
