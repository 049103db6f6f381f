#include "trainer/predictors/forest/forest_predictor.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "nasbench/support/error.h"
#include "trainer/core/adaptation.h"
#include "trainer/core/pool_archive.h"
#include "trainer/core/space_card.h"
#include "trainer/networks/feed_forward_predictor.h"

namespace tenshot::trainer {
namespace {

class ForestPredictor : public Predictor {
 public:
  ForestPredictor(RandomForest forest, nlohmann::json card)
      : forest_(std::move(forest)), card_(std::move(card)), space_(&get_space(card_)) {}

  std::string_view kind() const override { return "forest"; }
  const SearchSpace& space() const override { return *space_; }

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

  void export_torchscript(const std::filesystem::path& path) const override {
    trainer::export_torchscript(forest_, *space_, card_, path);
  }

  nlohmann::json to_document() const override {
    nlohmann::json trees = nlohmann::json::array();
    for (const RegressionTree& tree : forest_.trees) {
      nlohmann::json nodes = nlohmann::json::array();
      for (const TreeNode& node : tree.nodes) nodes.push_back({node.feature, node.zero, node.one, node.value});
      trees.push_back(nodes);
    }
    return {{"format", "tenshot.predictor/1"},
            {"card", card_},
            {"encoding", {{"one_hot_of", space_->decisions()}}},
            {"computes", "latency_ms = exp(mean over trees of the leaf's value)"},
            {"nodes_are", {"feature, -1 in a leaf", "child where it is 0", "child where it is 1", "value"}},
            {"trees", trees}};
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
    const std::size_t width = pool_.space->encoding_width();
    std::vector<float> features(set.architectures.size() * width);
    std::vector<double> targets;
    for (std::size_t i = 0; i < set.architectures.size(); ++i) {
      pool_.space->encode(set.architectures[i], features.data() + i * width);
      targets.push_back(std::log(set.latency_ms[i]));
    }
    Rng rng(options.seed);
    nlohmann::json card = predictor_card(*this, set, options.seed);
    return std::make_unique<ForestPredictor>(grow_forest(features, width, targets, {}, rng), std::move(card));
  }

 private:
  datasets::Pool pool_;
};

/// Throws FormatError unless the nodes form a tree over `width` features: every child comes after its parent.
void require_tree(const RegressionTree& tree, std::size_t width) {
  const auto size = static_cast<std::int32_t>(tree.nodes.size());
  for (std::int32_t i = 0; i < size; ++i) {
    const TreeNode& node = tree.nodes[static_cast<std::size_t>(i)];
    if (node.feature == -1) continue;
    const bool known = node.feature >= 0 && static_cast<std::size_t>(node.feature) < width;
    if (!known || node.zero <= i || node.one <= i || node.zero >= size || node.one >= size) {
      throw FormatError("the forest holds a node that belongs to no tree");
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
  const std::vector<double> sizes = archive.doubles("forest.sizes"), values = archive.doubles("forest.nodes");
  const std::size_t width = get_space(archive.card).encoding_width();
  RandomForest forest;
  std::size_t next = 0;
  for (const double size : sizes) {
    const std::size_t left = values.size() / 4 - next;
    if (!(size >= 1 && size <= static_cast<double>(left))) throw FormatError("the forest's trees do not fit its nodes");
    RegressionTree tree;
    for (std::size_t i = 0; i < static_cast<std::size_t>(size); ++i, ++next) {
      for (std::size_t k = 0; k < 3; ++k) {
        if (!(std::fabs(values[next * 4 + k]) <= static_cast<double>(values.size()))) {
          throw FormatError("the forest holds a node that belongs to no tree");
        }
      }
      tree.nodes.push_back({static_cast<std::int32_t>(values[next * 4]),
                            static_cast<std::int32_t>(values[next * 4 + 1]),
                            static_cast<std::int32_t>(values[next * 4 + 2]), static_cast<float>(values[next * 4 + 3])});
    }
    require_tree(tree, width);
    forest.trees.push_back(std::move(tree));
  }
  if (forest.trees.empty()) throw FormatError("the forest has no trees");
  return std::make_unique<ForestPredictor>(std::move(forest), archive.card);
}

}  // namespace tenshot::trainer
