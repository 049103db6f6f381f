#include "trainer/predictors/forest/forest.h"

#include <algorithm>
#include <numeric>

#include "nasbench/support/error.h"

namespace tenshot::trainer {
namespace {

/// Grows one tree over rows of a matrix; `rows` may name a row more than once.
class TreeGrower {
 public:
  TreeGrower(const std::vector<float>& features, std::size_t width, const std::vector<double>& targets,
             const ForestOptions& options, Rng& rng)
      : features_(features), width_(width), targets_(targets), options_(options), rng_(rng), order_(width) {
    std::iota(order_.begin(), order_.end(), std::size_t{0});
    candidates_ = options.features_per_split > 0 ? options.features_per_split : std::max<std::size_t>(width / 3, 1);
  }

  RegressionTree grow(std::vector<std::size_t> rows) {
    rows_ = std::move(rows);
    grow_node(0, rows_.size());
    return std::move(tree_);
  }

 private:
  struct Split {
    int feature = -1;
    double gain = 0;  ///< decrease of the squared error, up to a constant
  };

  /// Appends the node of rows_[begin, end) and everything below it; returns its index.
  std::int32_t grow_node(std::size_t begin, std::size_t end) {
    const auto index = static_cast<std::int32_t>(tree_.nodes.size());
    tree_.nodes.push_back({-1, index, index, static_cast<float>(sum(begin, end) / static_cast<double>(end - begin))});
    const Split split = best_split(begin, end);
    if (split.feature < 0) return index;
    const auto middle = std::stable_partition(
        rows_.begin() + static_cast<std::ptrdiff_t>(begin), rows_.begin() + static_cast<std::ptrdiff_t>(end),
        [&](std::size_t row) { return !is_one(row, static_cast<std::size_t>(split.feature)); });
    const auto at = static_cast<std::size_t>(middle - rows_.begin());
    const std::int32_t zero = grow_node(begin, at), one = grow_node(at, end);
    TreeNode& node = tree_.nodes[static_cast<std::size_t>(index)];
    node.feature = split.feature;
    node.zero = zero;
    node.one = one;
    return index;
  }

  Split best_split(std::size_t begin, std::size_t end) {
    Split best;
    if (end - begin < 2 * options_.smallest_leaf) return best;
    const double all = sum(begin, end), count = static_cast<double>(end - begin);
    rng_.shuffle(order_);
    std::size_t tried = 0;
    for (const std::size_t feature : order_) {
      // Features that do not divide these rows do not count as tried.
      if (tried == candidates_) break;
      double ones = 0, sum_of_ones = 0;
      for (std::size_t i = begin; i < end; ++i) {
        if (!is_one(rows_[i], feature)) continue;
        ++ones;
        sum_of_ones += targets_[rows_[i]];
      }
      const auto least = static_cast<double>(options_.smallest_leaf);
      if (ones < least || count - ones < least) continue;
      ++tried;
      const double sum_of_zeros = all - sum_of_ones;
      const double gain =
          sum_of_ones * sum_of_ones / ones + sum_of_zeros * sum_of_zeros / (count - ones) - all * all / count;
      if (gain > best.gain) best = {static_cast<int>(feature), gain};
    }
    return best;
  }

  double sum(std::size_t begin, std::size_t end) const {
    double total = 0;
    for (std::size_t i = begin; i < end; ++i) total += targets_[rows_[i]];
    return total;
  }
  bool is_one(std::size_t row, std::size_t feature) const { return features_[row * width_ + feature] > 0.5f; }

  const std::vector<float>& features_;
  std::size_t width_;
  const std::vector<double>& targets_;
  const ForestOptions& options_;
  Rng& rng_;
  std::vector<std::size_t> order_;
  std::size_t candidates_ = 1;
  std::vector<std::size_t> rows_;
  RegressionTree tree_;
};

/// Questions on the longest path from the root. Children come after their parents.
int depth_of(const RegressionTree& tree) {
  std::vector<int> depth(tree.nodes.size(), 0);
  int deepest = 0;
  for (std::size_t i = 0; i < tree.nodes.size(); ++i) {
    const TreeNode& node = tree.nodes[i];
    deepest = std::max(deepest, depth[i]);
    if (node.feature < 0) continue;
    for (const std::int32_t child : {node.zero, node.one}) depth[static_cast<std::size_t>(child)] = depth[i] + 1;
  }
  return deepest;
}

}  // namespace

double RandomForest::predict(const float* features) const {
  double sum = 0;
  for (const RegressionTree& tree : trees) {
    const TreeNode* node = &tree.nodes.front();
    while (node->feature >= 0) {
      node = &tree.nodes[static_cast<std::size_t>(features[node->feature] > 0.5f ? node->one : node->zero)];
    }
    sum += node->value;
  }
  return sum / static_cast<double>(trees.size());
}

int RandomForest::depth() const {
  int deepest = 0;
  for (const RegressionTree& tree : trees) deepest = std::max(deepest, depth_of(tree));
  return deepest;
}

RandomForest grow_forest(const std::vector<float>& features, std::size_t width, const std::vector<double>& targets,
                         const ForestOptions& options, Rng& rng) {
  if (targets.empty() || features.size() != targets.size() * width) {
    throw InputError("a forest needs at least one row, and as many features of each");
  }
  RandomForest forest;
  for (int t = 0; t < options.trees; ++t) {
    std::vector<std::size_t> rows(targets.size());
    for (std::size_t& row : rows) row = rng.below(targets.size());
    forest.trees.push_back(TreeGrower(features, width, targets, options, rng).grow(std::move(rows)));
  }
  return forest;
}

}  // namespace tenshot::trainer
