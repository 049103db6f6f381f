#include "trainer/predictors/forest/forest_predictor.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "nasbench/support/error.h"
#include "nasbench/support/numbers.h"
#include "trainer/core/adaptation.h"
#include "trainer/core/archive_reader.h"
#include "trainer/core/part_vocabulary.h"
#include "trainer/core/pool_archive.h"
#include "trainer/core/quantity_card.h"
#include "trainer/core/space_card.h"
#include "trainer/networks/feed_forward_predictor.h"
#include "trainer/networks/formula.h"
#include "trainer/trees/tree_archive.h"

namespace tenshot::trainer {
namespace {

class ForestPredictor : public Predictor {
 public:
  ForestPredictor(RandomForest forest, nlohmann::json card)
      : forest_(std::move(forest)), card_(std::move(card)), space_(&nasbench::search_space(get_space(card_))) {}

  std::string_view kind() const override { return "forest"; }
  const SearchSpace& space() const override { return *space_; }

  datasets::Quantity quantity() const override { return get_quantity(card_); }
  Predictions predict(const std::vector<Architecture>& architectures, double) const override {
    Predictions predictions;
    std::vector<float> encoding(space_->encoding_width());
    for (const Architecture& architecture : architectures) {
      space_->encode(architecture, encoding.data());
      predictions.latency_ms.push_back(std::exp(forest_.predict(encoding.data())));
    }
    return predictions;
  }

  Archive to_archive() const override {
    Archive archive;
    archive.card = card_;
    std::vector<double> nodes;  // feature, zero, one, value
    std::vector<double> sizes;
    for (const RegressionTree& tree : forest_.trees) {
      sizes.push_back(static_cast<double>(tree.nodes.size()));
      for (const TreeNode& node : tree.nodes) {
        nodes.insert(nodes.end(), {static_cast<double>(node.feature), static_cast<double>(node.zero),
                                   static_cast<double>(node.one), static_cast<double>(node.value)});
      }
    }
    archive.put("forest.sizes", to_array(sizes, {static_cast<std::int64_t>(sizes.size())}));
    archive.put("forest.nodes", to_array(nodes, {static_cast<std::int64_t>(nodes.size() / 4), 4}));
    return archive;
  }

  ExportedFormula formula() const override { return formula_of(forest_, *space_); }

  nlohmann::json to_document() const override {
    nlohmann::json trees = nlohmann::json::array();
    for (const RegressionTree& tree : forest_.trees) {
      nlohmann::json nodes = nlohmann::json::array();
      for (const TreeNode& node : tree.nodes) nodes.push_back({node.feature, node.zero, node.one, node.value});
      trees.push_back(nodes);
    }
    nlohmann::json document = {
        {"format", "tenshot.predictor/1"},
        {"card", card_},
        {"strings", strings_document(*space_)},
        {"encoding", {{"one_hot_of", space_->decisions()}}},
        {"computes", "latency_ms = exp(mean over trees of the leaf's value)"},
        {"nodes_are", {"feature, -1 in a leaf", "child where it is 0", "child where it is 1", "value"}},
        {"trees", trees}};
    return document_of(quantity(), std::move(document));
  }

 private:
  RandomForest forest_;
  nlohmann::json card_;
  const SearchSpace* space_;
};

class ForestModel : public PoolModel {
 public:
  explicit ForestModel(datasets::Pool pool) : pool_(std::move(pool)) {}

  std::string_view kind() const override { return "forest"; }
  const datasets::Pool& pool() const override { return pool_; }
  Archive to_archive() const override { return checkpoint_archive(pool_, kind()); }

  std::vector<std::vector<double>> predict_pool(const std::vector<Architecture>& architectures) const override {
    std::vector<double> expected;
    for (const Architecture& a : architectures) {
      expected.push_back(static_cast<double>(pool_.space->flop_count(a, pool_.space->default_shape())));
    }
    return std::vector<std::vector<double>>(pool_.devices.size(), expected);
  }

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
    Rng rng(options.seed);
    nlohmann::json card = predictor_card(*this, set, options.seed);
    return std::make_unique<ForestPredictor>(grow_forest(features, width, targets, {}, rng), std::move(card));
  }

 private:
  datasets::Pool pool_;
};

/// Throws FormatError unless the nodes form a tree over `width` features that are 0 or 1: every child comes after its
/// one parent, and no path asks a feature twice, which bounds the depth of everything that walks it.
void require_tree(const RegressionTree& tree, std::size_t width, std::size_t index) {
  const auto fail = [&](std::size_t node, const std::string& what) {
    throw FormatError("array 'forest.nodes': node " + std::to_string(node) + " of tree " + std::to_string(index) + " " +
                      what);
  };
  const auto size = static_cast<std::int32_t>(tree.nodes.size());
  std::vector<std::size_t> depth(tree.nodes.size(), 0);  // 0: no node before leads here
  depth[0] = 1;
  for (std::size_t i = 0; i < tree.nodes.size(); ++i) {
    const TreeNode& node = tree.nodes[i];
    if (depth[i] == 0) fail(i, "has no parent");
    if (node.feature == -1) continue;
    if (node.feature < 0 || static_cast<std::size_t>(node.feature) >= width) {
      fail(i, "asks feature " + std::to_string(node.feature) + ", expected one of " + std::to_string(width));
    }
    if (depth[i] > width) fail(i, "is deeper than there are features");
    for (const std::int32_t child : {node.zero, node.one}) {
      if (child <= static_cast<std::int32_t>(i) || child >= size) fail(i, "has a child that does not come after it");
      std::size_t& below = depth[static_cast<std::size_t>(child)];
      if (below != 0) fail(static_cast<std::size_t>(child), "has two parents");
      below = depth[i] + 1;
    }
  }
}

}  // namespace

std::unique_ptr<PoolModel> make_forest(const datasets::Pool& pool) {
  require_devices(pool);
  return std::make_unique<ForestModel>(pool);
}

std::unique_ptr<PoolModel> load_forest(const Archive& archive) { return make_forest(get_pool(archive)); }

std::unique_ptr<Predictor> load_forest_predictor(const Archive& archive) {
  constexpr Range log_latency{-700, 700};  // whose exponential is a number
  const std::vector<double> sizes = checked_doubles(archive, "forest.sizes", {1, 2e9});
  const std::vector<double> values = checked_doubles(archive, "forest.nodes", any_number);
  const std::size_t width = nasbench::search_space(get_space(archive.card)).encoding_width();
  RandomForest forest;
  std::size_t next = 0;
  for (const double size : sizes) {
    const std::size_t left = values.size() / 4 - next;
    if (size > static_cast<double>(left)) throw FormatError("array 'forest.sizes' asks for more nodes than there are");
    RegressionTree tree;
    for (std::size_t i = 0; i < static_cast<std::size_t>(size); ++i, ++next) {
      const std::string field = "array 'forest.nodes': node " + std::to_string(next);
      const double* node = values.data() + 4 * next;
      require_in_range(node[3], log_latency, field + ": value");
      tree.nodes.push_back({index_of(node[0], field + ": feature"), index_of(node[1], field + ": zero"),
                            index_of(node[2], field + ": one"), static_cast<float>(node[3])});
    }
    require_tree(tree, width, forest.trees.size());
    forest.trees.push_back(std::move(tree));
  }
  if (forest.trees.empty()) throw FormatError("array 'forest.sizes' is empty, expected at least one tree");
  if (next * 4 != values.size()) throw FormatError("array 'forest.nodes' holds nodes that belong to no tree");
  return std::make_unique<ForestPredictor>(std::move(forest), archive.card);
}

}  // namespace tenshot::trainer
