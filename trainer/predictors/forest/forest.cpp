#include "trainer/predictors/forest/forest.h"

#include <algorithm>

namespace tenshot::trainer {

double mean_leaf(const RandomForest& forest, const float* features) {
  double sum = 0;
  for (const SplitTree& tree : forest) sum += tree.predict(features);
  return sum / static_cast<double>(forest.size());
}

RandomForest grow_forest(const std::vector<float>& features, std::size_t width, const std::vector<double>& targets,
                         const ForestOptions& options, Rng& rng) {
  TreeOptions trees;
  trees.trees = options.trees;
  trees.smallest_leaf = static_cast<double>(options.smallest_leaf);
  const double chosen = static_cast<double>(options.features_per_split), all = static_cast<double>(width);
  trees.feature_share = chosen > 0 ? std::min(chosen / all, 1.0) : 1.0 / 3;
  trees.seed = rng.bits();
  RandomForest forest = train_trees(features, width, targets, {}, trees).trees;
  for (SplitTree& tree : forest) {
    for (SplitNode& node : tree.nodes) {
      node.threshold = 0.5F;
      node.value = static_cast<float>(double{node.value} * options.trees);  // a leaf held its share of the mean
    }
  }
  return forest;
}

}  // namespace tenshot::trainer
