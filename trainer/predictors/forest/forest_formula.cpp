#include <algorithm>

#include "trainer/networks/formula.h"
#include "trainer/predictors/forest/forest_predictor.h"

namespace tenshot::trainer {

ExportedFormula formula_of(const RandomForest& forest, const SearchSpace& space) {
  std::vector<double> features, zeros, ones, values, roots;  // every node by its number in the file
  int deepest = 0;
  for (const SplitTree& tree : forest) {
    deepest = std::max(deepest, depth_of(tree));
    const auto root = static_cast<double>(values.size());
    roots.push_back(root);
    for (const SplitNode& node : tree.nodes) {
      const bool leaf = node.feature < 0;
      const auto self = static_cast<double>(values.size());
      features.push_back(std::max<std::int32_t>(node.feature, 0));
      zeros.push_back(leaf ? self : root + node.less);
      ones.push_back(leaf ? self : root + node.other);
      values.push_back(static_cast<double>(node.value));
    }
  }
  ExportedFormula exported;
  Formula& formula = exported.formula;
  formula.width = static_cast<std::int64_t>(space.encoding_width());
  const auto trees = static_cast<Eigen::Index>(roots.size());
  const FormulaValue encoding = encoding_of(formula), half = constant(formula, Eigen::MatrixXd::Constant(1, 1, 0.5)),
                     feature = list(formula, features, true, "features"), zero = list(formula, zeros, true, "zeros"),
                     one = list(formula, ones, true, "ones"), value = list(formula, values, false, "leaves"),
                     root = list(formula, roots, true, "roots");
  const auto at = [&](const FormulaValue& table, const FormulaValue& node) {
    return apply("GatherRows", {table, node}, trees);
  };
  const auto next = [&](const FormulaValue& node, const FormulaValue& bits) {
    return apply("Where", {apply("Greater", {bits, half}, trees), at(one, node), at(zero, node)}, trees);
  };
  FormulaValue node = next(root, apply("Gather", {encoding, at(feature, root)}, trees));
  for (int step = 1; step < deepest; ++step) {
    node = next(node, apply("GatherElements", {encoding, at(feature, node)}, trees));
  }
  const FormulaValue mean =
      dot(at(value, node), Eigen::MatrixXd::Constant(trees, 1, 1 / static_cast<double>(roots.size())));
  exported.latency = exp(mean).name();
  exported.relaxed = "forest";
  return exported;
}

}  // namespace tenshot::trainer
