#include "trainer/trees/tree_ensemble.h"

#include <algorithm>

namespace tenshot::trainer {

double SplitTree::predict(const float* features) const {
  const SplitNode* node = &nodes.front();
  while (node->feature >= 0) {
    node = &nodes[static_cast<std::size_t>(features[node->feature] < node->threshold ? node->less : node->other)];
  }
  return node->value;
}

int depth_of(const SplitTree& tree) {
  std::vector<int> depth(tree.nodes.size(), 0);
  int deepest = 0;
  for (std::size_t i = 0; i < tree.nodes.size(); ++i) {
    const SplitNode& node = tree.nodes[i];
    deepest = std::max(deepest, depth[i]);
    if (node.feature < 0) continue;
    for (const std::int32_t child : {node.less, node.other}) depth[static_cast<std::size_t>(child)] = depth[i] + 1;
  }
  return deepest;
}

double TreeEnsemble::predict(const float* features) const {
  double sum = base;
  for (const SplitTree& tree : trees) sum += tree.predict(features);
  return sum;
}

}  // namespace tenshot::trainer
