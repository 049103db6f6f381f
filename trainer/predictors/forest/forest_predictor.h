#pragma once

#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "datasets/pool/pool.h"
#include "trainer/core/predictor.h"
#include "trainer/predictors/forest/forest.h"

namespace tenshot::trainer {

/// "forest": a random forest from the one-hot encoding to the logarithm of the latency,
/// trained on the new device's own measurements alone. With all that can be measured it is the ceiling that methods
/// with ten measurements are held against; with ten it says little. The pool only plans for it.
std::unique_ptr<PoolModel> make_forest(const datasets::Pool& pool);
std::unique_ptr<PoolModel> load_forest(const Archive& archive);
/// Throws FormatError when nodes do not form trees.
std::unique_ptr<Predictor> load_forest_predictor(const Archive& archive);

/// The content of one TorchScript file as trainer/networks/torchscript.h describes: every tree of every row takes one
/// step at a time.
std::string torchscript(const RandomForest& forest, const SearchSpace& space, const nlohmann::json& card);
using ForestTorchScript = std::string(const RandomForest&, const SearchSpace&, const nlohmann::json&);

}  // namespace tenshot::trainer
