#!/usr/bin/env bash
# Measures the pool that ships, all but ONNX Runtime's part (experiments/cells/onnxruntime.sh): three of LibTorch's ways of
# running a network × three instruction sets, 1,000 architectures each, the same and in the same order, with a hardware
# descriptor each. Five to fifteen minutes a device-runtime; an interrupted run goes on, and what others disturbed is
# measured again. Let nothing else run meanwhile.
#
#   experiments/measure_pool.sh [folder, datasets/data unless said [wide]]
#
# wide: more of LibTorch's ways, two threads, batches of eight.
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=experiments/set_up.sh
. experiments/set_up.sh
install_missing
build_targets tenshot
out=${1:-datasets/data}
unset OPENBLAS_CORETYPE DNNL_MAX_CPU_ISA ATEN_CPU_CAPABILITY  # --isa sets them

# collect RUNTIME THREADS BATCH ISA: eight images take eight times as long, so that half as many runs do.
collect() {
  local runs=24 rounds=6
  if [ "$3" != 1 ]; then runs=12 rounds=3; fi
  "$tenshot" collect --runtime "$1" --threads "$2" --batch "$3" --isa "$4" --archs 1000 --seed 1 --runs $runs \
    --rounds $rounds --tolerance 0.08 --attempts 2 --patience 240 --descriptor --repeat-check --out "$out"
}
grid="libtorch-eager libtorch-optimized libtorch-int8"
for isa in native sse4.1 avx2; do
  for runtime in $grid; do collect "$runtime" 1 1 $isa; done
done
if [ "${2:-}" = wide ]; then
  for runtime in libtorch-xnnpack libtorch-frozen libtorch-channels-last; do collect "$runtime" 1 1 native; done
  for runtime in $grid libtorch-xnnpack; do collect "$runtime" 2 1 native; done
  for runtime in $grid libtorch-xnnpack; do collect "$runtime" 1 8 native; done
fi
experiments/shared/pool_card.sh "$out"
