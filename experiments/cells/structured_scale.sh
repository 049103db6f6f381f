#!/usr/bin/env bash
# How `structured` grows with its pool, on simulated device-runtimes: experiments/cells/structured_scale/results.csv. Some
# ten minutes of one core.
set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=experiments/set_up.sh disable=SC2119
. experiments/set_up.sh
install_missing
build_targets structured_scale
export OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1
out=experiments/cells/structured_scale
rm -f $out/results.csv
run() { "${build:?}/experiments/structured_scale" --out $out "$@"; }
run --devices 100 --targets 60 --exhaustive 60
run --devices 1000 --targets 100 --exhaustive 40
run --devices 10000 --targets 100 --exhaustive 12
/usr/bin/python3 experiments/pages.py --made structured_scale
