#include "trainer/trees/tree_ensemble.h"

#include <algorithm>
#include <cmath>

#include "nasbench/support/error.h"
#include "nasbench/support/numbers.h"
#include "trainer/core/archive_reader.h"

namespace tenshot::trainer {
namespace {

std::size_t numbers_of(Splits splits) { return splits == Splits::of_bits ? 4 : 5; }

/// Throws FormatError unless every child comes after its one parent and every split asks one of `width` features. Where
/// splits are of bits no path asks one twice, which bounds the depth of everything that walks the tree.
void require_tree(const SplitTree& tree, std::size_t width, Splits splits, const std::string& field) {
  const auto size = static_cast<std::int32_t>(tree.nodes.size());
  std::vector<std::size_t> depth(tree.nodes.size(), 0);  // 0: no node before leads here
  depth[0] = 1;
  const auto fail = [&](std::int32_t node, const std::string& what) {
    throw FormatError(field + ": node " + std::to_string(node) + " " + what);
  };
  for (std::int32_t i = 0; i < size; ++i) {
    const SplitNode& node = tree.nodes[static_cast<std::size_t>(i)];
    const std::size_t here = depth[static_cast<std::size_t>(i)];
    if (here == 0) fail(i, "has no parent");
    if (node.feature < 0) continue;
    if (static_cast<std::size_t>(node.feature) >= width) {
      fail(i, "asks feature " + std::to_string(node.feature) + ", expected one of " + std::to_string(width));
    }
    if (splits == Splits::of_bits && here > width) fail(i, "is deeper than there are features");
    for (const std::int32_t child : {node.less, node.other}) {
      if (child <= i || child >= size) fail(i, "has a child that does not come after it");
      if (depth[static_cast<std::size_t>(child)] != 0) fail(i, "has a child that has two parents");
      depth[static_cast<std::size_t>(child)] = here + 1;
    }
  }
}

std::int32_t index_of(double value, const std::string& field) {
  require_in_range(value, {-1, 2e9}, field);
  if (value != std::floor(value)) throw FormatError(field + " is " + shortest(value) + ", expected a whole number");
  return static_cast<std::int32_t>(value);
}

}  // namespace

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

void put_trees(Archive& archive, const std::string& name, const std::vector<SplitTree>& trees, Splits splits) {
  std::vector<double> nodes, sizes;
  for (const SplitTree& tree : trees) {
    sizes.push_back(static_cast<double>(tree.nodes.size()));
    for (const SplitNode& n : tree.nodes) {
      nodes.push_back(n.feature);
      if (splits == Splits::at_thresholds) nodes.push_back(static_cast<double>(n.threshold));
      nodes.insert(nodes.end(),
                   {static_cast<double>(n.less), static_cast<double>(n.other), static_cast<double>(n.value)});
    }
  }
  const std::size_t numbers = numbers_of(splits);
  archive.put(name + ".sizes", to_array(sizes));
  archive.put(name + ".nodes",
              to_array(nodes, {static_cast<std::int64_t>(nodes.size() / numbers), static_cast<std::int64_t>(numbers)}));
}

TreeEnsemble get_trees(const Archive& archive, const std::string& name, std::size_t width, Splits splits) {
  const std::size_t numbers = numbers_of(splits);
  const std::string field = "array '" + name + ".nodes'", of_threshold = field + ": threshold",
                    of_value = field + ": value", of_feature = field + ": feature", of_child = field + ": child";
  const std::vector<double> sizes = checked_doubles(archive, name + ".sizes", {1, 2e9});
  const std::vector<double> values = checked_doubles(archive, name + ".nodes", any_number);
  TreeEnsemble ensemble;
  std::size_t next = 0;
  double largest = 0;
  for (const double size : sizes) {
    const std::size_t left = values.size() / numbers - next;
    if (size > static_cast<double>(left)) {
      throw FormatError("array '" + name + ".sizes' asks for more nodes than there are");
    }
    SplitTree tree;
    double leaf = 0;
    for (std::size_t i = 0; i < static_cast<std::size_t>(size); ++i, ++next) {
      const double* n = values.data() + numbers * next;
      const double threshold = splits == Splits::of_bits ? 0.5 : n[1], value = n[numbers - 1];
      require_in_range(threshold, {-1e38, 1e38}, of_threshold);
      require_in_range(value, {-largest_log_latency, largest_log_latency}, of_value);
      tree.nodes.push_back({index_of(n[0], of_feature), static_cast<float>(threshold),
                            index_of(n[numbers - 3], of_child), index_of(n[numbers - 2], of_child),
                            static_cast<float>(value)});
      leaf = std::max(leaf, std::abs(value));
    }
    largest += leaf;
    require_tree(tree, width, splits, field);
    ensemble.trees.push_back(std::move(tree));
  }
  if (splits == Splits::of_bits) largest /= static_cast<double>(std::max<std::size_t>(sizes.size(), 1));
  require_in_range(largest, {0, largest_log_latency}, field + ": the sum of the trees' largest leaves");
  if (next * numbers != values.size()) throw FormatError(field + " holds nodes that belong to no tree");
  return ensemble;
}

}  // namespace tenshot::trainer
