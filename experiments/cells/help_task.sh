#!/usr/bin/env bash
# The task of HELP (Lee et al., NeurIPS 2021) on its public table: a pool of nine device-runtimes of which architectures
# 0 to 899 are known, ten targeted-uniform samples of the same 900 from each of six new device-runtimes, evaluation on
# architectures 1800 to 2699 (the split of MAPLE-Edge), several trials; every method of a trial gets the same samples.
# Below them, apart, `structured` with ten samples of its own choice, in one round and in two (four, then six).
#
#   TENSHOT_TABLES=folder experiments/cells/help_task.sh [trials, 10 unless said [methods, all unless said]]
#
# With methods (a pattern such as '^structured'), only theirs are computed; the rows of the others are kept as they were.
# The folder holds help-nasbench201/latency_ms.csv. Finished cells are kept in the build folder, so that an interrupted
# run goes on. Writes experiments/cells/help_task/.
set -euo pipefail
cd "$(dirname "$0")/../.."
trials=${1:-10}
methods=${2:-.}
table=${TENSHOT_TABLES:-}/help-nasbench201/latency_ms.csv
if [ -z "${TENSHOT_TABLES:-}" ] || [ ! -f "$table" ]; then
  echo "Skipped: set TENSHOT_TABLES to a folder with help-nasbench201/latency_ms.csv, columns index,architecture and one"
  echo "of ms per device-runtime. The latencies are published with HELP (repository HayeonLee/HELP, data/nasbench201)."
  exit 0
fi
# shellcheck source=experiments/set_up.sh disable=SC2119
. experiments/set_up.sh
install_missing
build_targets tenshot
pool_devices=1080ti_1,1080ti_32,1080ti_256,silver_4114,silver_4210r,samsung_a50,pixel3,essential_ph_1,samsung_s7
export new_devices="titan_rtx_256 gold_6226 fpga pixel2 raspi4 eyeriss"
work=$build/help_task/$(cat "$tenshot" "$table" | sha256sum | cut -c1-12)  # another program or table starts over
export work results=experiments/cells/help_task tenshot OMP_NUM_THREADS=1
mkdir -p "$work" "$results"

import() {  # DEVICES ROWS FOLDER, unless it is there
  [ -d "$work/$3" ] && return
  rm -rf "$work/$3.new"
  "$tenshot" dataset import --quiet --table "$table" --devices "$1" --rows "$2" --out "$work/$3.new"
  mv "$work/$3.new" "$work/$3"
}
import $pool_devices 0:900 pool
import "${new_devices// /,}" 0:900 bench
import "${new_devices// /,}" 1800:2700 truth

train() { [ -f "$work/$1.tenshot" ] || "$tenshot" train --quiet --pool "$work/pool" --predictor "$1" --out "$work/$1.tenshot"; }
export -f train
printf '%s\n' structured maple-edge maple-edge-plain maple flops | grep -E "structured|$methods" | xargs -P 2 -I {} bash -euo pipefail -c 'train {}'

# plan OUT TRIAL OPTIONS…, unless it is there.
plan() { [ -s "$1" ] || "$tenshot" plan --quiet --seed "$2" --out "$1" --checkpoint "$work/structured.tenshot" "${@:3}"; }
# measure PLAN DEVICE: the planned rows of a device's latencies.
measure() { awk -F, 'NR == FNR { planned[$2]; next } FNR == 1 || $1 in planned' "$1" "$work/bench/$2/latencies.csv"; }
export -f plan measure

# One cell: METHOD CHECKPOINT ADAPT-OPTION PLAN DEVICE TRIAL → a row of metrics.
cell() {
  local method=$1 checkpoint=$2 options=$3 plan=$4 device=$5 trial=$6
  local name=$work/cells/$method.$device.$trial
  [ -s "$name.row" ] && return
  if [ "$plan" = two-rounds ]; then
    measure "$work/plan.four.$trial.csv" "$device" >"$name.four.csv"
    plan "$name.six.csv" "$trial" --samples 6 --measurements "$name.four.csv"
    { cat "$name.four.csv"; measure "$name.six.csv" "$device" | tail -n +2; } >"$name.measured.csv"
    rm -f "$name.four.csv" "$name.six.csv"
  else
    measure "$work/plan.$plan.$trial.csv" "$device" >"$name.measured.csv"
  fi
  # shellcheck disable=SC2086 # options are words
  "$tenshot" adapt --quiet --checkpoint "$work/$checkpoint.tenshot" --measurements "$name.measured.csv" --seed "$trial" \
    $options --out "$name.tenshot"
  "$tenshot" predict --quiet --predictor "$name.tenshot" --archs "$work/truth/$device/latencies.csv" --out "$name.csv"
  "$tenshot" evaluate --quiet --predictions "$name.csv" --measured "$work/truth/$device/latencies.csv" --json |
    awk -v start="$method,$device,$trial" '
      { gsub(/[",:]/, ""); value[$1] = $2 }
      END { rho = value["spearman"] == "null" ? "" : sprintf("%.6f", value["spearman"])
            printf "%s,%.6f,%.6f,%.6f,%s\n", start, value["acc10"], value["acc5"], value["mape"], rho }' \
      >"$name.tmp"
  rm -f "$name.csv" "$name.tenshot" "$name.measured.csv"
  mv "$name.tmp" "$name.row"
}
export -f cell
mkdir -p "$work/cells"
for trial in $(seq "$trials"); do
  plan "$work/plan.targeted-uniform.$trial.csv" "$trial" --sampler targeted-uniform
  plan "$work/plan.information.$trial.csv" "$trial"
  plan "$work/plan.four.$trial.csv" "$trial" --samples 4
done
for trial in $(seq "$trials"); do
  for device in $new_devices; do
    echo "structured structured --threads=1 targeted-uniform $device $trial"
    echo "maple-edge maple-edge --mode=joint targeted-uniform $device $trial"
    echo "maple-edge-plain maple-edge-plain --mode=joint targeted-uniform $device $trial"
    echo "maple-edge-plain-fine-tuned maple-edge-plain --mode=fine-tune targeted-uniform $device $trial"
    echo "maple maple --mode=joint targeted-uniform $device $trial"
    echo "flops flops --threads=1 targeted-uniform $device $trial"
    echo "structured-one-round structured --threads=1 information $device $trial"
    echo "structured-two-rounds structured --threads=1 two-rounds $device $trial"
  done
done | grep -E "$methods" | xargs -P "${TENSHOT_JOBS:-2}" -L 1 bash -euo pipefail -c 'cell "$@"' _

{
  echo "method,device,trial,acc10,acc5,mape,spearman"
  {
    cat "$work"/cells/*.row
    if [ "$methods" != . ]; then tail -n +2 "$results/trials.csv" | { grep -vE "$methods" || true; }; fi
  } | awk -F, -v trials="$trials" '$3 <= trials' | sort -t, -k1,1 -k2,2 -k3,3n
} >"$work/trials.csv"
cp "$work/trials.csv" "$results/trials.csv"
awk -F, -v devices="$new_devices" -v trials="$trials" '
  NR > 1 { n[$1, $2]++; acc[$1, $2] += $4; acc2[$1, $2] += $4 * $4
           if ($7 != "") { ranked[$1, $2]++; rho[$1, $2] += $7 } }
  END {
    count = split(devices, device, " ")
    printf "Share of architectures predicted within ±10 %% (mean ± standard deviation over %d trials) and Spearman'"'"'s ρ (over the\ntrials that have one: a constant prediction ranks nothing).\n\n| method |", trials
    for (d = 1; d <= count; d++) printf " %s |", device[d]
    printf " mean |\n|---|"
    for (d = 0; d <= count; d++) printf "---|"
    print ""
    methods = split("structured maple-edge maple-edge-plain maple-edge-plain-fine-tuned maple flops structured-one-round structured-two-rounds", method, " ")
    for (m = 1; m <= methods; m++) {
      if (!n[method[m], device[1]]) continue  # not computed yet
      printf "| %s |", method[m]; total = 0; total_rho = 0
      for (d = 1; d <= count; d++) {
        k = n[method[m], device[d]]; mean = acc[method[m], device[d]] / k
        variance = acc2[method[m], device[d]] / k - mean * mean
        deviation = variance > 0 ? sqrt(variance * k / (k > 1 ? k - 1 : 1)) : 0
        printf " %.1f ± %.1f / %.3f |", 100 * mean, 100 * deviation, rho[method[m], device[d]] / ranked[method[m], device[d]]
        total += mean / count; total_rho += rho[method[m], device[d]] / ranked[method[m], device[d]] / count
      }
      printf " **%.1f / %.3f** |\n", 100 * total, total_rho
    }
  }' "$results/trials.csv" >"$work/table.md"
{
  echo "# The HELP task"
  echo
  echo "\`TENSHOT_TABLES=folder experiments/cells/help_task.sh $trials\`, seeds 1 to $trials, ten targeted-uniform samples, the same for"
  echo "every method of a trial; the last two rows chose their own ten (\`information\`: all at once, or four and then six)."
  echo "$("$tenshot" --version | sed -n 2p | sed 's/, [0-9]* thread.*//')."
  echo
  cat "$work/table.md"
  if [ "$methods" != . ]; then
    echo
    echo "Only the methods that match \`$methods\` are of this build; the others' rows were kept from an earlier one."
  fi
} >"$results/README.md"
/usr/bin/python3 experiments/pages.py --made help_task
cat "$results/README.md"
