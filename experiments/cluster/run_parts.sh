#!/usr/bin/env bash
# run_parts.sh ENGINE STATE PARTS COMMAND…: runs COMMAND for every part 1 … PARTS, {} in it being the number of the part, and
# ends when all of them succeeded. ENGINE is slurm (an array of jobs) or parallel (GNU parallel). A part that failed, was
# killed, or lost its node is started again, TENSHOT_ATTEMPTS times in all (3); what is done stays done: STATE keeps a
# file for each part, so the same command goes on after any interruption. TENSHOT_SBATCH and TENSHOT_PARALLEL hold further
# options of sbatch and of parallel ("--partition=cpu --time=60", "--jobs 4 --sshloginfile hosts").
set -euo pipefail
engine=${1:?slurm or parallel}
state=${2:?a folder that all machines see}
parts=${3:?how many parts}
shift 3
[ $# -gt 0 ] || { echo "run_parts.sh: needs a command" >&2; exit 2; }
mkdir -p "$state"
state=$(cd "$state" && pwd)

# The script of one part: STATE/I.done tells that it succeeded, STATE/I.log what it printed last.
# shellcheck disable=SC2016 # what is quoted is for that script
{
  echo '#!/usr/bin/env bash'
  echo 'set -euo pipefail'
  printf 'cd %q\n' "$PWD"
  printf 'state=%q\n' "$state"
  echo 'part=${1:-$SLURM_ARRAY_TASK_ID}'
  printf 'words=('
  printf ' %q' "$@"
  echo ')'
  echo '"${words[@]//\{\}/$part}" >"$state/$part.log" 2>&1 || { echo "part $part: exit code $?" >&2; exit 1; }'
  echo 'touch "$state/$part.done"'
} >"$state/part.sh"
chmod +x "$state/part.sh"

missing() {
  local part
  for ((part = 1; part <= parts; part++)); do
    [ -e "$state/$part.done" ] || echo "$part"
  done
}

attempts=${TENSHOT_ATTEMPTS:-3}
for ((attempt = 1; attempt <= attempts; attempt++)); do
  mapfile -t open < <(missing)
  [ ${#open[@]} = 0 ] && exit 0
  echo "$engine: ${#open[@]} of $parts parts to do" >&2
  # An engine's exit code tells that some part failed; the files tell which.
  case $engine in
    slurm)
      # shellcheck disable=SC2086 # a list of options
      sbatch --quiet --wait --job-name=tenshot --array="$(IFS=, && echo "${open[*]}")" --output="$state/slurm-%a.log" \
        ${TENSHOT_SBATCH:-} "$state/part.sh" || true
      ;;
    parallel)
      # shellcheck disable=SC2086 # a list of options
      parallel --will-cite ${TENSHOT_PARALLEL:-} "$state/part.sh" ::: "${open[@]}" || true
      ;;
    *)
      echo "run_parts.sh: there is no engine '$engine', only slurm and parallel" >&2
      exit 2
      ;;
  esac
done
mapfile -t open < <(missing)
[ ${#open[@]} = 0 ] && exit 0
echo "$engine: parts ${open[*]} failed $attempts times; their logs are in $state, the same command goes on from here" >&2
tail -n 3 "$state/${open[0]}.log" >&2 || true
exit 1
