#!/usr/bin/env bash
# The main job on real measurements: installs and builds what is missing, trains on the shipped pool, and plays "new
# device" with a device-runtime of it: its runtime is left out of the pool, with all settings. Plans ten architectures among
# the first six tenths, takes their measurements, adapts, predicts the whole space, evaluates on the others, and exports.
#
#   experiments/quickstart.sh                       the held-out device-runtime is libtorch-optimized_t1_b1
#   experiments/quickstart.sh libtorch-eager_t1_b1  … or another one of datasets/data
#
# With TENSHOT_KEEP=1 the table and the picture go to experiments/cells/quickstart too.
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=experiments/set_up.sh
. experiments/set_up.sh
held_out=${1:-libtorch-optimized_t1_b1}
pool=datasets/data
out=$build/quickstart
predictors="structured maple-edge maple flops"
if [ ! -d "$pool/$held_out" ]; then
  echo "There is no $pool/$held_out; there are: $(cd $pool && echo */ | tr -d /)" >&2
  exit 1
fi

install_missing
build_targets tenshot
mkdir -p "$out"
"$tenshot" --version
split_pool "$pool" "$out"
without=$(cd "$out/pool" && echo "${held_out%%_*}"_*)

echo
echo "Training on the pool without ${held_out%%_*}"
for predictor in $predictors; do
  # shellcheck disable=SC2046 # nothing, or an option and its value
  "$tenshot" train --pool "$out/pool" --without "${without// /,}" --predictor "$predictor" $(without_descriptor "$predictor") \
    --out "$out/pool.$predictor.tenshot"
done

echo "Planning ten architectures, and taking their measurements of $held_out"
"$tenshot" plan --checkpoint "$out/pool.structured.tenshot" --samples 10 --out "$out/plan.csv"
awk -F, 'NR == FNR { planned[$2]; next } FNR == 1 || $1 in planned' \
  "$out/plan.csv" "$out/pool/$held_out/latencies.csv" >"$out/measured.csv"

echo "Adapting to the ten, predicting all 15,625 architectures, evaluating on those kept apart"
echo
for predictor in $predictors; do
  "$tenshot" adapt --quiet --checkpoint "$out/pool.$predictor.tenshot" --measurements "$out/measured.csv" \
    --out "$out/$predictor.tenshot"
  "$tenshot" predict --predictor "$out/$predictor.tenshot" --out "$out/$predictor.csv"
  "$tenshot" evaluate --quiet --predictions "$out/$predictor.csv" --measured "$out/truth/$held_out.csv" \
    --json >"$out/$predictor.metrics.json"
done
for predictor in $predictors; do
  awk -v name="$predictor" -v first="${predictors%% *}" '
    { gsub(/[",:]/, ""); value[$1] = $2 }
    END {
      if (name == first) {
        print "| predictor | within ±10 % | within ±5 % | MAPE | Spearman |"
        print "|---|---|---|---|---|"
      }
      printf "| %-10s | %5.1f %% | %5.1f %% | %5.1f %% | %.3f |\n",
        name, 100 * value["acc10"], 100 * value["acc5"], 100 * value["mape"], value["spearman"]
    }' "$out/$predictor.metrics.json"
done | tee "$out/table.md"

"$tenshot" export --predictor "$out/structured.tenshot" --torchscript "$out/device.pt" --document "$out/device.json"
"$tenshot" export --predictor "$out/maple-edge.tenshot" --torchscript "$out/network.pt"
{ cat "$out/truth/$held_out.csv"; tail -n +2 "$out/measured.csv"; } >"$out/shown.csv"
"$tenshot" report "$out/structured.tenshot" --measured "$out/shown.csv" --out "$out/report.html" --pictures "$out/pictures"
if [ -n "${TENSHOT_KEEP:-}" ]; then
  mkdir -p experiments/cells/quickstart
  cp "$out/pictures/predicted-against-measured.svg" experiments/cells/quickstart/
  { cat "$out/table.md"; made_line; } >experiments/cells/quickstart/table.md
fi

cat <<END

Files in $out:
  plan.csv, measured.csv   the ten architectures, and their latencies on the "new" device
  structured.tenshot       the predictor, with intervals; structured.csv: its predictions of all 15,625 architectures
  maple-edge.tenshot       the network of MAPLE-Edge; maple-edge.csv: its predictions
  device.pt, network.pt    both for torch.jit.load; device.json: the first as plain numbers
  report.html              the predictor, looked at: structure, costs, predicted against measured; pictures/: its pictures
END
