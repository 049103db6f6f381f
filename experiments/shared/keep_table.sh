#!/usr/bin/env bash
# Keeps a table of results in a folder: as it is, or packed (NAME.csv.gz) where it has more than 50,000 bytes. zcat and
# pandas read both. A page there that links to the table links to what is kept.
#
#   experiments/shared/keep_table.sh TABLE.csv FOLDER
set -euo pipefail
kept=$2/$(basename "$1")
if [ "$(stat -c %s "$1")" -gt 50000 ]; then
  gzip -9nc "$1" >"$kept.gz.new"
  mv "$kept.gz.new" "$kept.gz"
  rm -f "$kept"
else
  if [ ! "$1" -ef "$kept" ]; then cp "$1" "$kept"; fi
  rm -f "$kept.gz"
fi
if [ -f "$2/README.md" ]; then
  name=$(basename "$1")
  if [ -f "$kept" ]; then link=$name; else link=$name.gz; fi
  sed -i "s@](${name//./\\.}\(\.gz\)\?)@]($link)@" "$2/README.md"
fi
