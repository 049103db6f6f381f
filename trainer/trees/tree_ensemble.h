#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "trainer/core/archive.h"

namespace tenshot::trainer {

/// One node of a tree over real features. A leaf has feature −1.
struct SplitNode {
  std::int32_t feature = -1;
  float threshold = 0;    ///< a row with feature < threshold goes on to `less`, any other one to `other`
  std::int32_t less = 0;  ///< index of a child; children come after their parent
  std::int32_t other = 0;
  float value = 0;  ///< of a leaf
};

struct SplitTree {
  std::vector<SplitNode> nodes;  ///< the first is the root

  double predict(const float* features) const;
};

/// The prediction is `base` + the sum over the trees.
struct TreeEnsemble {
  std::vector<SplitTree> trees;
  double base = 0;

  double predict(const float* features) const;
};

/// How trees are trained. The defaults are a forest of 100 trees in the manner of Breiman (Machine Learning 2001).
struct TreeOptions {
  int trees = 100;           ///< grown side by side on the same residuals: a random forest; 1 for boosting
  int rounds = 1;            ///< of boosting: each round fits what the rounds before left
  double learning_rate = 1;  ///< what a round's trees count; smaller needs more rounds and overfits less
  int depth = 0;             ///< most splits between a root and a leaf; 0: no limit
  double smallest_leaf = 1;  ///< least sum of weights in a leaf: larger is smoother
  double row_share = 0.632;  ///< of the rows that each tree sees, as many as a bootstrap sample has different ones
  double feature_share = 1;  ///< of the features that each split chooses among
  std::uint64_t seed = 1;
};

/// Whether this program was built with XGBoost.
bool has_xgboost();

/// Trees by XGBoost (Chen and Guestrin, KDD 2016) that minimise the weighted squared error; leaves are weighted means
/// without shrinkage. `features` is [targets.size(), width]; `weights` has one positive number for each row, or none
/// for equal ones: they are scaled to a mean of 1. One thread: the same arguments give the same trees. Throws
/// InputError where there are no rows, sizes disagree, or the program was built without XGBoost.
TreeEnsemble train_trees(const std::vector<float>& features, std::size_t width, const std::vector<double>& targets,
                         const std::vector<double>& weights, const TreeOptions& options);

/// The largest logarithm of a latency that trees may predict.
constexpr double largest_log_latency = 700;

/// Where a split of a tree lies: at a threshold of its own, or between the 0 and the 1 that its feature is.
enum class Splits { at_thresholds, of_bits };

/// Trees as the arrays NAME.sizes and NAME.nodes: feature, threshold unless of bits, less, other, value of each node.
void put_trees(Archive& archive, const std::string& name, const std::vector<SplitTree>& trees,
               Splits splits = Splits::at_thresholds);
/// Reads them back, with a base of 0. Throws FormatError where they are no trees over `width` features, or could
/// predict the logarithm of a latency that no number holds, by their sum or, where splits are of bits, their mean.
TreeEnsemble get_trees(const Archive& archive, const std::string& name, std::size_t width,
                       Splits splits = Splits::at_thresholds);

}  // namespace tenshot::trainer
