#!/usr/bin/env bash
# boards.sh ENGINE BOARDS KIT POOL [WORD…]: measures the kit on every board of a farm by ssh, all boards at a time, and imports
# what they measured into the pool folder POOL. BOARDS has a line "NAME ADDRESS" for each board; WORDs go to measure.sh
# (--backend custom --command '…'). ENGINE is parallel, or slurm where jobs may use ssh. A board that fails or goes away
# is tried again, and goes on where its measure.sh stopped; the same command goes on after any interruption. ssh and scp
# must not ask for passwords; TENSHOT_SSH and TENSHOT_SCP name others (with options). TENSHOT names the program.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
engine=${1:?slurm or parallel}
boards=$(realpath "${2:?a file with a line NAME ADDRESS for each board}")
kit=$(realpath "${3:?the folder of a kit}")
pool=${4:?the pool to write}
shift 4
program=$(realpath "${TENSHOT:-$here/../../build/tenshot}")
mkdir -p "$pool"
pool=$(realpath "$pool")
id=$(sed -n 's/^ "id": "\([0-9a-f]*\)",\?$/\1/p' "$kit/manifest.json")
lines=$(grep -cv '^[[:space:]]*\(#\|$\)' "$boards")
export TENSHOT_SSH=${TENSHOT_SSH:-ssh -o BatchMode=yes} TENSHOT_SCP=${TENSHOT_SCP:-scp -q -B -r}
TENSHOT_PARALLEL="--jobs 0 ${TENSHOT_PARALLEL:-}" \
  "$here/run_parts.sh" "$engine" "$pool/.boards-$id" "$lines" \
  "$here/board.sh" "$boards" "{}" "$kit" "$pool" "$program" "$@"
rm -r "$pool/.boards-$id"
