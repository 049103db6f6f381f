#!/usr/bin/env bash
# Kernels: what is deduced of TensorFlow Lite's GPU delegate, and operation-wise prediction on the same phones.
# TENSHOT_TABLES names the folder with mobile-cnn/ of Li, Paolieri and Golubchik (EdgeSys 2024).
set -euo pipefail
cd "$(dirname "$0")/../.."
if [ -z "${TENSHOT_TABLES:-}" ]; then
  echo "TENSHOT_TABLES names no folder of public tables (mobile-cnn/operators.csv, mobile-cnn/latency_ms.csv)" >&2
  exit 1
fi
# shellcheck source=experiments/set_up.sh disable=SC2119
. experiments/set_up.sh
install_missing libxgboost-dev
build_targets tenshot kernel_deduction operation_wise
export OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1
results=experiments/kernels
"$build/experiments/kernel_deduction" --table "$TENSHOT_TABLES/mobile-cnn/operators.csv" --out "$results/kernel_deduction"
"$build/experiments/operation_wise" --tables "$TENSHOT_TABLES/mobile-cnn" --out "$results/operation_wise"
experiments/shared/keep_table.sh "$results/operation_wise/results.csv" "$results/operation_wise"
/usr/bin/python3 experiments/pages.py --made kernel_deduction operation_wise
