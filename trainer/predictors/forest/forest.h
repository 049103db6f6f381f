#pragma once

#include <cstddef>
#include <vector>

#include "nasbench/support/random.h"
#include "trainer/trees/tree_ensemble.h"

namespace tenshot::trainer {

struct ForestOptions {
  int trees = 200;                ///< more are steadier, slower and larger
  std::size_t smallest_leaf = 2;  ///< least measurements in a leaf; larger is smoother
  /// Features that each split chooses among, drawn anew for it; 0 = a third of them, at least one (the custom in
  /// regression since Breiman 2001). More make the trees alike.
  std::size_t features_per_split = 0;
};

/// A random forest (Breiman, Machine Learning 2001): trees grown on samples of the rows, each split the one of its few
/// features that lowers the squared error most. Features are zeros and ones, and each split lies between the two.
using RandomForest = std::vector<SplitTree>;

/// The mean of the trees' leaves for `features`, which are as many as the forest was grown on.
double mean_leaf(const RandomForest& forest, const float* features);

/// A forest trained by XGBoost. `features` is [targets.size(), width], zeros and ones. Throws InputError when there are
/// no rows, or the program was built without XGBoost.
RandomForest grow_forest(const std::vector<float>& features, std::size_t width, const std::vector<double>& targets,
                         const ForestOptions& options, Rng& rng);

}  // namespace tenshot::trainer
