#pragma once

#include <cstdint>
#include <vector>

#include "nasbench/support/random.h"

namespace tenshot::trainer {

/// One node of a tree over features that are 0 or 1. A leaf has feature −1 and its own index as children.
struct TreeNode {
  std::int32_t feature = -1;
  std::int32_t zero = 0;  ///< index of the child where the feature is 0
  std::int32_t one = 0;
  float value = 0;  ///< of a leaf: the mean of the targets that reach it
};

struct RegressionTree {
  std::vector<TreeNode> nodes;  ///< the first is the root
};

struct ForestOptions {
  int trees = 200;                ///< more are steadier, slower and larger
  std::size_t smallest_leaf = 2;  ///< least measurements in a leaf; larger is smoother
  /// Features that each split chooses among, drawn anew for it; 0 = a third of them, at least one (the custom in
  /// regression since Breiman 2001). More make the trees alike.
  std::size_t features_per_split = 0;
};

/// A random forest (Breiman, Machine Learning 2001): trees grown on samples of the rows, each split the one of its few
/// features that lowers the squared error most.
struct RandomForest {
  std::vector<RegressionTree> trees;

  /// Mean of the trees. `features` are `width` zeros and ones.
  double predict(const float* features) const;
  /// The greatest number of splits between a root and a leaf.
  int depth() const;
};

/// A forest trained by XGBoost. `features` is [targets.size(), width], zeros and ones. Throws InputError when there are
/// no rows, or the program was built without XGBoost.
RandomForest grow_forest(const std::vector<float>& features, std::size_t width, const std::vector<double>& targets,
                         const ForestOptions& options, Rng& rng);

}  // namespace tenshot::trainer
