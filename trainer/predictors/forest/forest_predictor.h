#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "datasets/pool/pool.h"
#include "trainer/core/predictor.h"
#include "trainer/trees/tree_ensemble.h"

namespace tenshot::trainer {

/// A random forest (Breiman, Machine Learning 2001): trees grown on samples of the rows, each split the one of its few
/// features that lowers the squared error most. Features are zeros and ones, and each split lies between the two.
using RandomForest = std::vector<SplitTree>;

/// The mean of the trees' leaves for `features`, which are as many as the forest was grown on.
double mean_leaf(const RandomForest& forest, const float* features);

/// A forest trained by XGBoost. `features` is [targets.size(), width], zeros and ones. Throws InputError when there are
/// no rows, or the program was built without XGBoost.
RandomForest grow_forest(const std::vector<float>& features, std::size_t width, const std::vector<double>& targets,
                         const TreeOptions& options);

/// "forest": a random forest from the one-hot encoding to the logarithm of the latency,
/// trained on the new device's own measurements alone. With all that can be measured it is the ceiling that methods
/// with ten measurements are held against; with ten it says little. The pool only plans for it.
std::unique_ptr<PoolModel> make_forest(const datasets::Pool& pool);
/// Throws FormatError when nodes do not form trees.
std::unique_ptr<Predictor> load_forest_predictor(const Archive& archive);

}  // namespace tenshot::trainer
