#pragma once

#include <memory>

#include "datasets/pool/pool.h"
#include "trainer/core/predictor.h"

namespace tenshot::trainer {

/// "forest": a random forest from the one-hot encoding to the logarithm of the latency, trained by XGBoost on the new
/// device's own measurements alone. With all that can be measured it is the ceiling that methods with ten measurements
/// are held against; with ten it says little. The pool only plans for it. Adapting throws InputError without XGBoost.
std::unique_ptr<PoolModel> make_forest(const datasets::Pool& pool);
/// Throws FormatError when nodes do not form trees.
std::unique_ptr<Predictor> load_forest_predictor(const Archive& archive);

}  // namespace tenshot::trainer
