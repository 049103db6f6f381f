#!/usr/bin/env bash
# board.sh BOARDS LINE KIT POOL PROGRAM [WORD…]: what boards.sh does for one board.
set -euo pipefail
boards=$1 line=$2 kit=$3 pool=$4 program=$5
shift 5
read -r name address < <(grep -v '^[[:space:]]*\(#\|$\)' "$boards" | sed -n "${line}p")
case $name in
  "" | *[!A-Za-z0-9._-]* | .*) echo "$boards: '$name' cannot name a device-runtime" >&2 && exit 2 ;;
esac
[ -n "$address" ] || { echo "$boards: board $name has no address" >&2; exit 2; }
folder=tenshot-$(basename "$kit")
read -ra ssh <<<"$TENSHOT_SSH"
read -ra scp <<<"$TENSHOT_SCP"
copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
# A kit that is there already keeps its results, and measure.sh goes on with what they lack.
if ! "${ssh[@]}" "$address" "cmp -s $folder/manifest.json -" <"$kit/manifest.json"; then
  "${ssh[@]}" "$address" "rm -rf $folder"
  "${scp[@]}" "$kit" "$address:$folder"
fi
words=""
for word in "$@"; do words+=" $(printf %q "$word")"; done
"${ssh[@]}" "$address" "sh $folder/measure.sh$words" </dev/null
cp -r "$kit" "$copy/kit"
rm -rf "$copy/kit/results"
"${scp[@]}" "$address:$folder/results" "$copy/kit/"
"$program" dataset import --quiet --kit "$copy/kit" --id "$name" --out "$pool"
