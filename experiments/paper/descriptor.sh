#!/usr/bin/env bash
# What the hardware descriptor is worth to the network of MAPLE-Edge: on the shipped pool, each runtime is left out with
# all its settings, and each of its device-runtimes is predicted from 0, 3 and 10 measurements by networks that were given
# the counters and latencies of operators, the latencies alone, or neither (costs inferred from the measurements).
# Training and adaptation see the first six tenths of the architectures, the scores come from the others. Every row of a
# trial gets the same targeted-uniform samples; `structured`, which uses no descriptor, stands below for comparison.
#
#   experiments/paper/descriptor.sh [trials, 3 unless said [pool, datasets/data unless said]]
#
# Networks are fine-tuned from the pool's. Finished cells are kept in the build folder, so that an interrupted run goes
# on. Writes experiments/paper/descriptor/, or, of another pool, a folder beside them.
set -euo pipefail
cd "$(dirname "$0")/../.."
trials=${1:-3}
# shellcheck source=experiments/set_up.sh disable=SC2119
. experiments/set_up.sh
install_missing
build_targets tenshot
data=${2:-datasets/data}
# Another program or pool starts over.
work=$build/descriptor/$(cat "$tenshot" "$data"/*/device.json "$data"/*/latencies.csv | sha256sum | cut -c1-12)
results=experiments/paper/descriptor
[ $# -lt 2 ] || results=$work/results  # what is committed is of the pool that ships
export work tenshot OMP_NUM_THREADS=1
mkdir -p "$work/cells" "$results"
mkdir -p "$work/with_counters"
for folder in "$data"/*/; do
  [ -f "$folder/device.json" ] || continue  # a pool of another space
  if grep -q '"counters": \[$' "$folder/device.json"; then  # the others have nothing to compare
    ln -sfn "$(cd "$folder" && pwd)" "$work/with_counters/$(basename "$folder")"
  fi
done
[ -d "$work/truth" ] || split_pool "$work/with_counters" "$work"
ids=$(cd "$work/pool" && echo *)
runtimes=$(for id in $ids; do echo "${id%%_*}"; done | sort -u)

# train RUNTIME-LEFT-OUT KIND: structured, or the kind of descriptor of a network.
train() {
  local out=$work/$1.$2.tenshot without
  [ -f "$out" ] && return
  without=$(cd "$work/pool" && echo "$1"_*)
  if [ "$2" = structured ]; then
    "$tenshot" train --quiet --pool "$work/pool" --without "${without// /,}" --out "$out"
  else
    "$tenshot" train --quiet --pool "$work/pool" --without "${without// /,}" --predictor maple-edge-plain --descriptor-kind "$2" \
      --out "$out"
  fi
}
# cell KIND MODE SAMPLES DEVICE TRIAL → a row of metrics.
cell() {
  local kind=$1 mode=$2 samples=$3 device=$4 trial=$5 runtime=${4%%_*}
  local name=$work/cells/$kind.$mode.$samples.$device.$trial
  [ -s "$name.row" ] && return
  local plan=$work/cells/plan.$runtime.$samples.$trial.$BASHPID.csv
  local options=()
  if [ "$kind" != structured ]; then options=(--mode "$mode"); fi
  if [ "$samples" -gt 0 ]; then
    "$tenshot" plan --quiet --checkpoint "$work/$runtime.structured.tenshot" --sampler targeted-uniform \
      --samples "$samples" --seed "$trial" --out "$plan"
    awk -F, 'NR == FNR { planned[$2]; next } FNR == 1 || $1 in planned' "$plan" "$work/pool/$device/latencies.csv" \
      >"$name.measured.csv"
    rm -f "$plan"
    options+=(--measurements "$name.measured.csv")
  fi
  if [ "$kind" = counters ] || [ "$kind" = latency ]; then options+=(--descriptor "$work/pool/$device/device.json"); fi
  "$tenshot" adapt --quiet --checkpoint "$work/$runtime.$kind.tenshot" --seed "$trial" "${options[@]}" \
    --out "$name.tenshot"
  "$tenshot" predict --quiet --predictor "$name.tenshot" --archs "$work/truth/$device.csv" --out "$name.csv"
  "$tenshot" evaluate --quiet --predictions "$name.csv" --measured "$work/truth/$device.csv" --json |
    awk -v start="$kind,$mode,$samples,$device,$trial" '
      { gsub(/[",:]/, ""); value[$1] = $2 }
      END { rho = value["spearman"] == "null" ? "" : sprintf("%.6f", value["spearman"])
            printf "%s,%.6f,%.6f,%.6f,%s\n", start, value["acc10"], value["acc5"], value["mape"], rho }' >"$name.tmp"
  rm -f "$name.csv" "$name.tenshot" "$name.measured.csv"
  mv "$name.tmp" "$name.row"
}
export -f train cell
for runtime in $runtimes; do
  for kind in structured counters latency inferred; do echo "$runtime $kind"; done
done | xargs -P "${TENSHOT_JOBS:-2}" -L 1 bash -euo pipefail -c 'train "$@"' _
for trial in $(seq "$trials"); do
  for id in $ids; do
    for kind in counters latency; do [ "$trial" != 1 ] || echo "$kind fine-tune 0 $id 1"; done
    for samples in 3 10; do
      for kind in counters latency inferred; do echo "$kind fine-tune $samples $id $trial"; done
      echo "structured joint $samples $id $trial"
    done
  done
done | xargs -P "${TENSHOT_JOBS:-2}" -L 1 bash -euo pipefail -c 'cell "$@"' _

{
  echo "descriptor,mode,samples,device,trial,acc10,acc5,mape,spearman,counters"
  if grep -q '"source": "callgrind"' "$data"/*/device.json; then counters=simulated; else counters=hardware; fi
  cat "$work"/cells/*.row | awk -F, -v trials="$trials" -v counters=$counters \
    '$5 <= trials { print $0 "," ($1 == "counters" ? counters : "") }' | sort -t, -k1,2 -k3,3n -k4,4 -k5,5n
} >"$results/trials.csv"
table() {  # KINDS…
  awk -F, -v kinds="$*" '
    NR > 1 {
      n[$1, $3]++; acc[$1, $3] += $6; if ($9 != "") { r[$1, $3]++; rho[$1, $3] += $9 } }
    END {
      print "| descriptor | 0 | 3 | 10 |\n|---|---|---|---|"
      count = split(kinds, kind, " "); split("0 3 10", samples, " ")
      label["counters"] = "counters (simulated) and latencies of operators"; label["latency"] = "latencies of operators"
      label["inferred"] = "none: costs inferred from the measurements"; label["structured"] = "none: predictor `structured`"
      for (k = 1; k <= count; k++) {
        printf "| %s |", label[kind[k]]
        for (s = 1; s <= 3; s++) {
          key = kind[k] SUBSEP samples[s]
          if (n[key]) printf " %.1f / %.3f |", 100 * acc[key] / n[key], rho[key] / r[key]; else printf " cannot |"
        }
        print ""
      }
    }' "$results/trials.csv"
}
{
  cat <<END
# What the hardware descriptor is worth

\`experiments/paper/descriptor.sh $trials\`: predictor \`maple-edge-plain\`, the pool without the runtime that is predicted (all its
settings left out), targeted-uniform samples, seeds 1 to $trials. Share of unseen architectures predicted within ±10 % /
Spearman's ρ, means over the $(echo "$ids" | wc -w) device-runtimes of
[datasets/data](../../../datasets/data/README.md) that have counters, and over the trials, by number of measurements. The
counters are simulated by callgrind. With no measurements the pool's network answers from the descriptor alone. $("$tenshot" --version | sed -n 2p | sed 's/, [0-9]* thread.*//').

Fine-tuned from the pool's network:

$(table counters latency inferred structured)

END
  echo "By device-runtime, ten measurements, fine-tuned:"
  echo
  awk -F, 'NR > 1 && $3 == 10 && ($2 == "fine-tune" || $1 == "structured") { acc[$4, $1] += $6; n[$4, $1]++; ids[$4] }
    END { for (id in ids) { printf "| `%s` |", id
            for (k = 1; k <= split("counters latency inferred structured", kind, " "); k++)
              printf " %.1f |", 100 * acc[id, kind[k]] / n[id, kind[k]]
            print "" } }' "$results/trials.csv" | sort |
    { echo "| device-runtime | counters | latencies | none | structured |"; echo "|---|---|---|---|---|"; cat; }
} >"$results/README.md"
/usr/bin/python3 experiments/pages.py --made descriptor
cat "$results/README.md"
