#pragma once

#include <cstdint>
#include <memory>

#include "datasets/pool/pool.h"
#include "trainer/core/predictor.h"
#include "trainer/predictors/operators/cost_posterior.h"

namespace tenshot::trainer {

struct OperatorsSettings {
  operators::PosteriorOptions posterior;
  std::uint64_t seed = 1;
};
const Declaration<OperatorsSettings>& declared(const OperatorsSettings&);

/// The predictor `operators`: latency as a sum of what each kind of operator costs for being there, for its arithmetic
/// and for its bytes, in a layered space also of what each decision adds, elsewhere of what shapes do; the pool's
/// devices as prior, and where the pool has few networks, what alike networks have in common beside costs. Works in any
/// space that lists its operators. Fits all devices' costs and calibrates the intervals. Throws InputError.
std::unique_ptr<PoolModel> train_operators(const datasets::Pool& pool, const OperatorsSettings& settings);

/// From an archive whose card names "operators". Throw FormatError.
std::unique_ptr<PoolModel> load_operators(const Archive& archive);
std::unique_ptr<Predictor> load_operators_predictor(const Archive& archive);

}  // namespace tenshot::trainer
