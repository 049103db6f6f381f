#pragma once

#include <memory>
#include <string>

#include "trainer/maple_edge/maple_edge.h"
#include "trainer/predictor.h"

namespace tenshot::trainer {

/// Trains the predictor called `name` on a pool. `network` is what the network predictors are trained with; its seed
/// seeds the others too. Throws InputError (no such predictor, a pool it cannot learn from), Interrupted.
std::unique_ptr<PoolModel> train_pool_model(const std::string& name, const datasets::Pool& pool,
                                            const MapleEdgeSettings& network, const TrainingControl& control);

}  // namespace tenshot::trainer
