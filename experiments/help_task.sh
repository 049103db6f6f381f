#!/usr/bin/env bash
# The task of HELP (Lee et al., NeurIPS 2021) on its public table: a pool of nine device-runtimes of which architectures
# 0 to 899 are known, ten targeted-uniform samples of the same 900 from each of six new device-runtimes, evaluation on
# architectures 1800 to 2699 (the split of MAPLE-Edge), several trials; every method of a trial gets the same samples.
#
#   TENSHOT_TABLES=folder experiments/help_task.sh [trials, 10 unless said]
#
# The folder holds help-nasbench201/latency_ms.csv. Finished cells are kept in the build folder, so that an interrupted
# run goes on. Writes experiments/results/help_task/.
set -euo pipefail
cd "$(dirname "$0")/.."
trials=${1:-10}
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
export work=$build/help_task results=experiments/results/help_task tenshot OMP_NUM_THREADS=1
mkdir -p "$work" "$results"

import() { "$tenshot" dataset import --quiet --table "$table" --devices "$1" --rows "$2" --out "$work/$3"; }
[ -d "$work/pool" ] || import $pool_devices 0:900 pool
[ -d "$work/truth" ] || { import "${new_devices// /,}" 0:900 bench && import "${new_devices// /,}" 1800:2700 truth; }

train() { [ -f "$work/$1.tenshot" ] || "$tenshot" train --quiet --pool "$work/pool" --predictor "$1" --out "$work/$1.tenshot"; }
export -f train
printf '%s\n' maple-edge maple flops | xargs -P 2 -I {} bash -c 'train {}'

# One cell: METHOD CHECKPOINT "ADAPT OPTIONS" DEVICE TRIAL → a row of metrics.
cell() {
  local method=$1 checkpoint=$2 options=$3 device=$4 trial=$5
  local name=$work/cells/$method.$device.$trial
  [ -s "$name.row" ] && return
  awk -F, 'NR == FNR { planned[$2]; next } FNR == 1 || $1 in planned' \
    "$work/plan.$trial.csv" "$work/bench/$device/latencies.csv" >"$name.measured.csv"
  # shellcheck disable=SC2086 # options are words
  "$tenshot" adapt --quiet --checkpoint "$work/$checkpoint.tenshot" --measurements "$name.measured.csv" --seed "$trial" \
    $options --out "$name.tenshot"
  "$tenshot" predict --quiet --predictor "$name.tenshot" --archs "$work/truth/$device/latencies.csv" --out "$name.csv"
  "$tenshot" evaluate --quiet --predictions "$name.csv" --measured "$work/truth/$device/latencies.csv" --json |
    awk -v start="$method,$device,$trial" '
      { gsub(/[",:]/, ""); value[$1] = $2 }
      END { printf "%s,%.6f,%.6f,%.6f,%.6f\n", start, value["acc10"], value["acc5"], value["mape"], value["spearman"] }' \
      >"$name.tmp"
  rm -f "$name.csv" "$name.tenshot" "$name.measured.csv"
  mv "$name.tmp" "$name.row"
}
export -f cell
mkdir -p "$work/cells"
for trial in $(seq "$trials"); do
  "$tenshot" plan --quiet --checkpoint "$work/maple-edge.tenshot" --samples 10 --seed "$trial" --out "$work/plan.$trial.csv"
done
for trial in $(seq "$trials"); do
  for device in $new_devices; do
    echo "maple-edge maple-edge --mode=joint $device $trial"
    echo "maple-edge-fine-tuned maple-edge --mode=fine-tune $device $trial"
    echo "maple maple --mode=joint $device $trial"
    echo "flops flops --mode=joint $device $trial"
  done
done | xargs -P "${TENSHOT_JOBS:-2}" -L 1 bash -c 'cell "$@"' _

{
  echo "method,device,trial,acc10,acc5,mape,spearman"
  cat "$work"/cells/*.row | sort -t, -k1,1 -k2,2 -k3,3n
} >"$results/trials.csv"
awk -F, -v devices="$new_devices" -v trials="$trials" '
  NR > 1 { n[$1, $2]++; acc[$1, $2] += $4; acc2[$1, $2] += $4 * $4; rho[$1, $2] += $7 }
  END {
    count = split(devices, device, " ")
    printf "Share of architectures predicted within ±10 %% (mean ± standard deviation over %d trials) and Spearman'"'"'s ρ.\n\n| method |", trials
    for (d = 1; d <= count; d++) printf " %s |", device[d]
    printf " mean |\n|---|"
    for (d = 0; d <= count; d++) printf "---|"
    print ""
    methods = split("maple-edge maple-edge-fine-tuned maple flops", method, " ")
    for (m = 1; m <= methods; m++) {
      printf "| %s |", method[m]; total = 0; total_rho = 0
      for (d = 1; d <= count; d++) {
        k = n[method[m], device[d]]; mean = acc[method[m], device[d]] / k
        variance = acc2[method[m], device[d]] / k - mean * mean
        deviation = variance > 0 ? sqrt(variance * k / (k > 1 ? k - 1 : 1)) : 0
        printf " %.1f ± %.1f / %.3f |", 100 * mean, 100 * deviation, rho[method[m], device[d]] / k
        total += mean / count; total_rho += rho[method[m], device[d]] / k / count
      }
      printf " **%.1f / %.3f** |\n", 100 * total, total_rho
    }
  }' "$results/trials.csv" >"$work/table.md"
{
  echo "# The HELP task"
  echo
  echo "\`TENSHOT_TABLES=folder experiments/help_task.sh $trials\`, seeds 1 to $trials, ten targeted-uniform samples, the same for"
  echo "every method of a trial. $("$tenshot" --version | sed -n 2p | sed 's/, [0-9]* thread.*//')."
  echo
  cat "$work/table.md"
} >"$results/README.md"
cat "$results/README.md"
