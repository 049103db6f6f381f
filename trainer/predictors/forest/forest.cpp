#include "trainer/predictors/forest/forest.h"

#include <algorithm>

#include "trainer/trees/tree_ensemble.h"

namespace tenshot::trainer {
namespace {

/// The tree over features that are 0 or 1, whose thresholds all lie between the two. Each leaf holds 1 / `scale`.
RegressionTree binary_tree(const SplitTree& tree, double scale) {
  RegressionTree result;
  for (const SplitNode& node : tree.nodes) {
    result.nodes.push_back({node.feature, node.less, node.other, static_cast<float>(scale * node.value)});
  }
  return result;
}

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
  TreeOptions trees;
  trees.trees = options.trees;
  trees.smallest_leaf = static_cast<double>(options.smallest_leaf);
  const double chosen = static_cast<double>(options.features_per_split), all = static_cast<double>(width);
  trees.feature_share = chosen > 0 ? std::min(chosen / all, 1.0) : 1.0 / 3;
  trees.seed = rng.bits();
  RandomForest forest;
  for (const SplitTree& tree : train_trees(features, width, targets, {}, trees).trees) {
    forest.trees.push_back(binary_tree(tree, options.trees));
  }
  return forest;
}

}  // namespace tenshot::trainer
