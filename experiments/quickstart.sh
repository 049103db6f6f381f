#!/usr/bin/env bash
# The main job on real measurements: installs and builds what is missing, trains on the shipped pool, and plays "new
# device" with a device-runtime of it that the pool is not shown: plans ten architectures, takes their measurements,
# adapts, predicts the whole space, evaluates on the architectures that were not used, and exports.
#
#   experiments/quickstart.sh                       the held-out device-runtime is libtorch-optimized_t1_b1
#   experiments/quickstart.sh libtorch-eager_t1_b1  … or another one of datasets/data
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=experiments/set_up.sh disable=SC2119
. experiments/set_up.sh
held_out=${1:-libtorch-optimized_t1_b1}
pool=datasets/data
out=$build/quickstart
seed=1
if [ ! -d "$pool/$held_out" ]; then
  echo "There is no $pool/$held_out; there are: $(cd $pool && echo */ | tr -d /)" >&2
  exit 1
fi

install_missing
build_targets tenshot
mkdir -p "$out"
"$tenshot" --version

echo "Training on the pool without $held_out"
for predictor in maple-edge maple flops; do
  "$tenshot" train --pool $pool --without "$held_out" --predictor $predictor --descriptor-kind inferred --seed $seed \
    --out "$out/pool.$predictor.tenshot"
done

echo "Planning ten architectures and taking their measurements of $held_out"
"$tenshot" plan --checkpoint "$out/pool.maple-edge.tenshot" --samples 10 --seed $seed --out "$out/plan.csv"
awk -F, 'NR == FNR { planned[$2]; next } FNR == 1 || $1 in planned' \
  "$out/plan.csv" "$pool/$held_out/latencies.csv" >"$out/measured.csv"

echo "Adapting, predicting all 15,625 architectures, evaluating on those not used"
printf '\n%-12s %12s %12s %12s %10s\n' predictor "within 10 %" "within 5 %" MAPE Spearman
for predictor in maple-edge maple flops; do
  "$tenshot" adapt --quiet --checkpoint "$out/pool.$predictor.tenshot" --measurements "$out/measured.csv" --seed $seed \
    --out "$out/$predictor.tenshot"
  "$tenshot" predict --predictor "$out/$predictor.tenshot" --out "$out/$predictor.csv"
  "$tenshot" evaluate --quiet --predictions "$out/$predictor.csv" --measured "$pool/$held_out/latencies.csv" \
    --exclude "$out/measured.csv" --json >"$out/$predictor.metrics.json"
  awk -v name=$predictor '
    { gsub(/[",:]/, ""); value[$1] = $2 }
    END { printf "%-12s %10.1f %% %10.1f %% %10.1f %% %10.3f\n",
          name, 100 * value["acc10"], 100 * value["acc5"], 100 * value["mape"], value["spearman"] }' \
    "$out/$predictor.metrics.json"
done

"$tenshot" export --predictor "$out/maple-edge.tenshot" --torchscript "$out/device.pt" --document "$out/device.json"
experiments/scatter.sh "$out/maple-edge.csv" "$pool/$held_out/latencies.csv" "$out/measured.csv" "$out/scatter.svg" \
  "$held_out from ten measurements"

cat <<END

Files in $out:
  plan.csv            the ten architectures
  measured.csv        their latencies on the "new" device
  maple-edge.tenshot  the predictor          maple-edge.csv  its predictions of all 15,625 architectures
  device.pt           the predictor for torch.jit.load        device.json  the same as plain numbers
  scatter.svg         predicted against measured
END
