#include "trainer/predictors/forest/forest_predictor.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>

#include "nasbench/support/error.h"
#include "nasbench/support/random.h"
#include "trainer/core/adaptation.h"
#include "trainer/core/space_card.h"
#include "trainer/networks/feed_forward_predictor.h"
#include "trainer/networks/formula.h"
#include "trainer/trees/tree_ensemble.h"

namespace tenshot::trainer {
namespace {

/// A random forest (Breiman, Machine Learning 2001): trees grown on samples of the rows, each split the one of its few
/// features that lowers the squared error most. Features are zeros and ones, and each split lies between the two.
using RandomForest = std::vector<SplitTree>;

/// What is exported of a forest of a space's one-hot encodings: every tree of every row takes one step at a time. A
/// relaxed encoding goes both ways at every split, with what its column says as the share of the one.
ExportedFormula formula_of(const RandomForest& forest, const SearchSpace& space) {
  std::vector<double> features, zeros, ones, values, roots;  // every node by its number in the file
  int deepest = 0;
  for (const SplitTree& tree : forest) {
    std::vector<int> depth(tree.nodes.size(), 0);
    const auto root = static_cast<double>(values.size());
    roots.push_back(root);
    for (std::size_t i = 0; i < tree.nodes.size(); ++i) {
      const SplitNode& node = tree.nodes[i];
      const bool leaf = node.feature < 0;
      deepest = std::max(deepest, depth[i]);
      if (!leaf)
        depth[static_cast<std::size_t>(node.less)] = depth[static_cast<std::size_t>(node.other)] = depth[i] + 1;
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

class ForestPredictor : public Predictor {
 public:
  ForestPredictor(RandomForest forest, nlohmann::json card)
      : Predictor(std::move(card)), forest_(std::move(forest)), space_(&nasbench::search_space(get_space(card_))) {}

  const SearchSpace& space() const override { return *space_; }
  Predictions predict(const std::vector<Architecture>& architectures, double) const override {
    Predictions predictions;
    std::vector<float> encoding(space_->encoding_width());
    for (const Architecture& architecture : architectures) {
      space_->encode(architecture, encoding.data());
      double sum = 0;
      for (const SplitTree& tree : forest_) sum += tree.predict(encoding.data());
      predictions.latency_ms.push_back(std::exp(sum / static_cast<double>(forest_.size())));
    }
    return predictions;
  }

  void put_weights(Archive& archive) const override { put_trees(archive, "forest", forest_, Splits::of_bits); }

  ExportedFormula formula() const override { return formula_of(forest_, *space_); }

  nlohmann::json numbers() const override {
    nlohmann::json trees = nlohmann::json::array();
    for (const SplitTree& tree : forest_) {
      nlohmann::json nodes = nlohmann::json::array();
      for (const SplitNode& node : tree.nodes) nodes.push_back({node.feature, node.less, node.other, node.value});
      trees.push_back(nodes);
    }
    return {{"encoding", {{"one_hot_of", space_->decisions()}}},
            {"computes", "latency_ms = exp(mean over trees of the leaf's value)"},
            {"nodes_are", {"feature, -1 in a leaf", "child where it is 0", "child where it is 1", "value"}},
            {"trees", trees}};
  }

 private:
  RandomForest forest_;
  const SearchSpace* space_;
};

class ForestModel : public PoolModel {
 public:
  explicit ForestModel(datasets::Pool pool) : PoolModel(std::move(pool), "forest") {}

  std::unique_ptr<Predictor> adapt(const AdaptationSet& set, const AdaptOptions& options) const override {
    require_measurements(set, kind());
    const SearchSpace& space = nasbench::search_space(*pool_.space);
    const std::size_t width = space.encoding_width();
    std::vector<float> features(set.architectures.size() * width);
    std::vector<double> targets;
    for (std::size_t i = 0; i < set.architectures.size(); ++i) {
      space.encode(set.architectures[i], features.data() + i * width);
      targets.push_back(std::log(set.latency_ms[i]));
    }
    const double mean = std::accumulate(targets.begin(), targets.end(), 0.0) / static_cast<double>(targets.size());
    for (double& target : targets) target -= mean;  // a leaf of too few rows is 0
    // More trees are steadier, slower and larger, larger leaves are smoother, and more features that each split chooses
    // among make the trees alike (a third is the custom in regression since Breiman 2001).
    TreeOptions grown;
    grown.trees = 200;
    grown.smallest_leaf = 2;
    grown.feature_share = 1.0 / 3;
    grown.seed = Rng(options.seed).bits();
    RandomForest forest = train_trees(features, width, targets, {}, grown).trees;
    for (SplitTree& tree : forest) {
      for (SplitNode& node : tree.nodes) {
        node.threshold = 0.5F;
        node.value = static_cast<float>(double{node.value} * grown.trees + mean);  // a leaf held its share
      }
    }
    return std::make_unique<ForestPredictor>(std::move(forest), predictor_card(*this, set, options.seed));
  }
};

}  // namespace

std::unique_ptr<PoolModel> make_forest(const datasets::Pool& pool) { return std::make_unique<ForestModel>(pool); }

std::unique_ptr<Predictor> load_forest_predictor(const Archive& archive) {
  const std::size_t width = nasbench::search_space(get_space(archive.card)).encoding_width();
  RandomForest forest = get_trees(archive, "forest", width, Splits::of_bits).trees;
  if (forest.empty()) throw FormatError("array 'forest.sizes' is empty, expected at least one tree");
  return std::make_unique<ForestPredictor>(std::move(forest), archive.card);
}

}  // namespace tenshot::trainer
