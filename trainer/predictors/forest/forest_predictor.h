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

/// What is exported of a forest of a space's one-hot encodings: every tree of every row takes one step at a time. A
/// relaxed encoding goes both ways at every split, with what its column says as the share of the one.
ExportedFormula formula_of(const RandomForest& forest, const SearchSpace& space);

}  // namespace tenshot::trainer
