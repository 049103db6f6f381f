#include "trainer/trees/tree_archive.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "nasbench/support/error.h"
#include "nasbench/support/numbers.h"
#include "trainer/core/archive_reader.h"

namespace tenshot::trainer {
namespace {

constexpr std::size_t numbers_of_a_node = 5;

/// Throws FormatError unless every child comes after its one parent and every split asks one of `width` features.
void require_tree(const SplitTree& tree, std::size_t width, const std::string& field) {
  const auto size = static_cast<std::int32_t>(tree.nodes.size());
  std::vector<bool> reached(tree.nodes.size(), false);
  reached[0] = true;
  for (std::int32_t i = 0; i < size; ++i) {
    const SplitNode& node = tree.nodes[static_cast<std::size_t>(i)];
    if (!reached[static_cast<std::size_t>(i)])
      throw FormatError(field + ": node " + std::to_string(i) + " has no parent");
    if (node.feature < 0) continue;
    if (static_cast<std::size_t>(node.feature) >= width) {
      throw FormatError(field + ": node " + std::to_string(i) + " asks feature " + std::to_string(node.feature) +
                        ", expected one of " + std::to_string(width));
    }
    for (const std::int32_t child : {node.less, node.other}) {
      if (child <= i || child >= size || reached[static_cast<std::size_t>(child)]) {
        throw FormatError(field + ": node " + std::to_string(i) + " has a child that does not come after it alone");
      }
      reached[static_cast<std::size_t>(child)] = true;
    }
  }
}

}  // namespace

std::int32_t index_of(double value, const std::string& field) {
  require_in_range(value, {-1, 2e9}, field);
  if (value != std::floor(value)) throw FormatError(field + " is " + shortest(value) + ", expected a whole number");
  return static_cast<std::int32_t>(value);
}

void put_trees(Archive& archive, const std::string& name, const TreeEnsemble& ensemble) {
  std::vector<double> nodes, sizes;
  for (const SplitTree& tree : ensemble.trees) {
    sizes.push_back(static_cast<double>(tree.nodes.size()));
    for (const SplitNode& n : tree.nodes) {
      nodes.insert(nodes.end(),
                   {static_cast<double>(n.feature), static_cast<double>(n.threshold), static_cast<double>(n.less),
                    static_cast<double>(n.other), static_cast<double>(n.value)});
    }
  }
  const auto count = static_cast<std::int64_t>(nodes.size() / numbers_of_a_node);
  archive.put(name + ".sizes", to_array(sizes, {static_cast<std::int64_t>(sizes.size())}));
  archive.put(name + ".nodes", to_array(nodes, {count, static_cast<std::int64_t>(numbers_of_a_node)}));
}

TreeEnsemble get_trees(const Archive& archive, const std::string& name, std::size_t width) {
  const std::string field = "array '" + name + ".nodes'";
  const std::vector<double> sizes = checked_doubles(archive, name + ".sizes", {1, 2e9});
  const std::vector<double> values = checked_doubles(archive, name + ".nodes", any_number);
  TreeEnsemble ensemble;
  std::size_t next = 0;
  double largest = 0;
  for (const double size : sizes) {
    if (size > static_cast<double>(values.size() / numbers_of_a_node - next)) {
      throw FormatError("array '" + name + ".sizes' asks for more nodes than there are");
    }
    SplitTree tree;
    double leaf = 0;
    for (std::size_t i = 0; i < static_cast<std::size_t>(size); ++i, ++next) {
      const double* n = values.data() + numbers_of_a_node * next;
      require_in_range(n[1], {-1e38, 1e38}, field + ": threshold");
      require_in_range(n[4], {-largest_log_latency, largest_log_latency}, field + ": value");
      tree.nodes.push_back({index_of(n[0], field + ": feature"), static_cast<float>(n[1]),
                            index_of(n[2], field + ": less"), index_of(n[3], field + ": other"),
                            static_cast<float>(n[4])});
      leaf = std::max(leaf, std::abs(n[4]));
    }
    largest += leaf;
    require_tree(tree, width, field);
    ensemble.trees.push_back(std::move(tree));
  }
  require_in_range(largest, {0, largest_log_latency}, field + ": the sum of the trees' largest leaves");
  if (next * numbers_of_a_node != values.size()) throw FormatError(field + " holds nodes that belong to no tree");
  return ensemble;
}

}  // namespace tenshot::trainer
