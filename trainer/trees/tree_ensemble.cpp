#include "trainer/trees/tree_ensemble.h"

namespace tenshot::trainer {

double SplitTree::predict(const float* features) const {
  const SplitNode* node = &nodes.front();
  while (node->feature >= 0) {
    node = &nodes[static_cast<std::size_t>(features[node->feature] < node->threshold ? node->less : node->other)];
  }
  return node->value;
}

double TreeEnsemble::predict(const float* features) const {
  double sum = base;
  for (const SplitTree& tree : trees) sum += tree.predict(features);
  return sum;
}

}  // namespace tenshot::trainer
