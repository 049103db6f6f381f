#pragma once

#include <cstdint>
#include <memory>

#include "nasbench/spaces/networks.h"
#include "trainer/core/predictor.h"
#include "trainer/predictors/kernels/kernel_model.h"

namespace tenshot::trainer {

/// The predictor `kernels` (nn-Meter's): networks by name, as the sum of their kernels under the runtime's fusion
/// rules. It learns from kernels that were measured on the device, not from a pool. It has no intervals and no
/// TorchScript; unfamiliar() says which kernels were never measured, and how far a network lies beyond what was.
std::unique_ptr<Predictor> make_kernels_predictor(const kernels::KernelModel& model, const nasbench::FusionRules& rules,
                                                  std::size_t samples, std::uint64_t seed);
/// Throws FormatError where nodes do not form trees, rules are none, or a number is out of its range.
std::unique_ptr<Predictor> load_kernels_predictor(const Archive& archive);

namespace kernels {

/// The operators and edges of a network by name as a graph without attributes, which is what kernels are found in.
/// Where nobody said how its operators are connected, none of them fuse.
nasbench::Network graph_of(const nasbench::NamedNetwork& network);

}  // namespace kernels
}  // namespace tenshot::trainer
