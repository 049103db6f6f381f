#!/usr/bin/env bash
# experiment.sh ENGINE SPEC OUT PARTS: tenshot experiment on many machines that share a file system: PARTS shards of SPEC's
# grid by Slurm or GNU parallel (run_parts.sh), then the merged results in OUT: the same bytes as from one machine. The
# same command goes on after any interruption. TENSHOT names the program (build/tenshot).
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
engine=${1:?slurm or parallel}
spec=${2:?a spec of an experiment}
out=${3:?the folder of the results}
parts=${4:?how many shards}
program=${TENSHOT:-$here/../../build/tenshot}
# What is done of one spec and one cut into shards says nothing of another.
state=$out/parts-$parts-$(sha256sum "$spec" | cut -c 1-12)
"$here/run_parts.sh" "$engine" "$state" "$parts" \
  "$program" experiment "$spec" --out "$out" --shard "{}/$parts" --resume --jobs "${TENSHOT_JOBS:-1}" --quiet
"$program" experiment "$spec" --out "$out" --merge --quiet
rm -r "$state"
