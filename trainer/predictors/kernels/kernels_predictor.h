#pragma once

#include <cstdint>
#include <memory>

#include "nasbench/kernels/fusion_rules.h"
#include "trainer/core/predictor.h"
#include "trainer/predictors/kernels/kernel_model.h"

namespace tenshot::trainer {

/// The predictor `kernels` (nn-Meter's, Li et al.'s, MONNET's): networks by name, as the sum of their kernels under the
/// runtime's fusion rules, corrected by what whole networks took. It learns from kernels that were measured on the
/// device, not from a pool. Its intervals are those of held-out networks, without any those of held-out kernels, and
/// wider by the kernels whose type was never measured, which unfamiliar() names; a model without errors
/// (KernelModel::find_errors) has none. `measured`: the whole networks, which the card lists and an export carries.
std::unique_ptr<Predictor> make_kernels_predictor(const kernels::KernelModel& model, const nasbench::FusionRules& rules,
                                                  std::size_t samples, std::uint64_t seed,
                                                  const kernels::WholeNetworks& whole = {},
                                                  const AdaptationSet& measured = {});
/// Throws FormatError where nodes do not form trees, rules are none, or a number is out of its range.
std::unique_ptr<Predictor> load_kernels_predictor(const Archive& archive);

}  // namespace tenshot::trainer
