#include "trainer/predictors/kernels/kernels_predictor.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "nasbench/support/error.h"
#include "nasbench/support/numbers.h"
#include "trainer/core/archive_reader.h"
#include "trainer/core/pool_archive.h"
#include "trainer/core/space_card.h"
#include "trainer/predictors/kernels/operation_features.h"

namespace tenshot::trainer {
namespace {

using kernels::KernelForest;
using kernels::KernelModel;
using kernels::KernelOrigin;
using kernels::NetworkKernel;

constexpr std::size_t numbers_of_a_node = 5, most_types = 10'000;

/// Sum over trees of the largest leaf: what bounds a forest's prediction, the logarithm of a latency.
constexpr double largest_log_latency = 700;

void put_forest(Archive& archive, const std::string& name, const KernelForest& forest) {
  std::vector<double> nodes, sizes;
  for (const SplitTree& tree : forest.trees.trees) {
    sizes.push_back(static_cast<double>(tree.nodes.size()));
    for (const SplitNode& n : tree.nodes) {
      nodes.insert(nodes.end(), {static_cast<double>(n.feature), static_cast<double>(n.threshold),
                                 static_cast<double>(n.less), static_cast<double>(n.other), static_cast<double>(n.value)});
    }
  }
  const auto count = static_cast<std::int64_t>(nodes.size() / numbers_of_a_node);
  archive.put(name + ".sizes", to_array(sizes, {static_cast<std::int64_t>(sizes.size())}));
  archive.put(name + ".nodes", to_array(nodes, {count, static_cast<std::int64_t>(numbers_of_a_node)}));
}

std::int32_t index_of(double value, const std::string& field) {
  require_in_range(value, {-1, 2e9}, field);
  if (value != std::floor(value)) throw FormatError(field + " is " + shortest(value) + ", expected a whole number");
  return static_cast<std::int32_t>(value);
}

/// Throws FormatError unless every child comes after its one parent and every split asks one of `width` features.
void require_tree(const SplitTree& tree, std::size_t width, const std::string& field) {
  const auto size = static_cast<std::int32_t>(tree.nodes.size());
  std::vector<bool> reached(tree.nodes.size(), false);
  reached[0] = true;
  for (std::int32_t i = 0; i < size; ++i) {
    const SplitNode& node = tree.nodes[static_cast<std::size_t>(i)];
    if (!reached[static_cast<std::size_t>(i)]) throw FormatError(field + ": node " + std::to_string(i) + " has no parent");
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

class KernelsPredictor : public Predictor {
 public:
  KernelsPredictor(KernelModel model, nasbench::FusionRules rules, nlohmann::json card)
      : model_(std::move(model)), rules_(std::move(rules)), card_(std::move(card)), space_(&get_space(card_)) {}

  std::string_view kind() const override { return "kernels"; }
  const SearchSpace& space() const override { return *space_; }

  Predictions predict(const std::vector<Architecture>& architectures, double) const override {
    Predictions predictions;
    for (const Architecture& a : architectures) predictions.latency_ms.push_back(model_.network_ms(kernels(a)));
    return predictions;
  }

  std::vector<Unfamiliar> unfamiliar(const std::vector<Architecture>& architectures) const override {
    std::vector<Unfamiliar> result;
    for (const Architecture& architecture : architectures) {
      std::set<std::string> unknown;
      Unfamiliar unfamiliar;
      for (const NetworkKernel& kernel : kernels(architecture)) {
        if (model_.kernel(kernel).origin != KernelOrigin::measured_type) unknown.insert(kernel.kernel);
        const auto forest = model_.forests().find(kernel.kernel);
        if (forest == model_.forests().end() || !(forest->second.largest_work > 0)) continue;
        unfamiliar.size = std::max(unfamiliar.size, kernels::work_of(kernel.leading) / forest->second.largest_work);
      }
      unfamiliar.operators.assign(unknown.begin(), unknown.end());
      result.push_back(std::move(unfamiliar));
    }
    return result;
  }

  Archive to_archive() const override {
    Archive archive;
    archive.card = card_;
    std::size_t index = 0;
    for (const auto& [type, forest] : model_.forests()) {
      put_forest(archive, "forest" + std::to_string(index++), forest);
    }
    return archive;
  }

  void export_torchscript(const std::filesystem::path&) const override {
    throw InputError("'kernels' predicts networks by their kernels and has no TorchScript form; export a --document");
  }

  nlohmann::json to_document() const override {
    nlohmann::json forests = nlohmann::json::object();
    for (const auto& [type, forest] : model_.forests()) {
      nlohmann::json trees = nlohmann::json::array();
      for (const SplitTree& tree : forest.trees.trees) {
        nlohmann::json nodes = nlohmann::json::array();
        for (const SplitNode& n : tree.nodes) nodes.push_back({n.feature, n.threshold, n.less, n.other, n.value});
        trees.push_back(std::move(nodes));
      }
      forests[type] = {{"features", kernels::feature_names(forest.category)}, {"base", forest.trees.base}, {"trees", trees}};
    }
    return {{"format", "tenshot.predictor/1"},
            {"card", card_},
            {"computes",
             "latency_ms = call_ms + sum over the kernels of the network under the rules of exp(base + sum over the "
             "trees of the leaf's value)"},
            {"nodes_are", {"feature, -1 in a leaf", "threshold", "child where it is less", "other child", "value"}},
            {"forests", forests}};
  }

 private:
  std::vector<NetworkKernel> kernels(const Architecture& architecture) const {
    return kernels::kernels_of(kernels::graph_of(nasbench::named_network(architecture)), rules_);
  }

  KernelModel model_;
  nasbench::FusionRules rules_;
  nlohmann::json card_;
  const SearchSpace* space_;
};

}  // namespace

nasbench::Network kernels::graph_of(const nasbench::NamedNetwork& named) {
  nasbench::Network graph;
  std::set<int> read;
  for (std::size_t i = 0; i < named.operators.size(); ++i) {
    nasbench::NetworkNode node;
    node.operation = named.operators[i];
    node.name = std::to_string(i);
    if (i < named.sources.size()) {
      for (const int source : named.sources[i]) {
        node.inputs.push_back({source, 0});
        read.insert(source);
      }
    }
    graph.nodes.push_back(std::move(node));
  }
  for (int i = 0; i < static_cast<int>(graph.nodes.size()); ++i) {
    if (read.count(i) == 0) graph.outputs.push_back({i, 0});
  }
  return graph;
}

std::unique_ptr<Predictor> make_kernels_predictor(const KernelModel& model, const nasbench::FusionRules& rules,
                                                  std::size_t samples, std::uint64_t seed) {
  nlohmann::json card = {{"content", "predictor"},
                         {"predictor", "kernels"},
                         {"samples", samples},
                         {"seed", seed},
                         {"call_ms", model.call_ms()},
                         {"ms_per_element", model.ms_per_element()},
                         {"versions", version_card()}};
  card["rules"] = nlohmann::json::parse(nasbench::to_json(rules).dump());
  card["types"] = nlohmann::json::array();
  for (const auto& [type, forest] : model.forests()) {
    card["types"].push_back({{"kernel", type},
                             {"category", forest.category},
                             {"width", forest.width},
                             {"base", forest.trees.base},
                             {"largest_work", forest.largest_work}});
  }
  put_space(card, nasbench::networks(), {});
  return std::make_unique<KernelsPredictor>(model, rules, std::move(card));
}

std::unique_ptr<Predictor> load_kernels_predictor(const Archive& archive) {
  constexpr Range work{0, 1e18};
  const CardField card(archive);
  const nasbench::FusionRules rules = nasbench::parse_fusion_rules(card.at("rules").json().dump(), "its card: rules");
  card.at("samples").whole_number(0, 1'000'000'000);
  std::map<std::string, KernelForest> forests;
  std::size_t index = 0;
  for (const CardField& type : card.at("types").list(most_types)) {
    KernelForest forest;
    forest.category = type.at("category").text();
    forest.width = static_cast<std::size_t>(type.at("width").whole_number(1, 1000));
    forest.largest_work = type.at("largest_work").number(work);
    forest.trees = get_trees(archive, "forest" + std::to_string(index++), forest.width);
    forest.trees.base = type.at("base").number({-largest_log_latency, largest_log_latency});
    forests[type.at("kernel").text()] = std::move(forest);
  }
  if (forests.empty()) throw FormatError("its card: types is empty, expected at least one type of kernel");
  KernelModel model(std::move(forests), card.at("call_ms").number({0, 1e9}),
                    card.at("ms_per_element").number(not_negative));
  return std::make_unique<KernelsPredictor>(std::move(model), rules, archive.card);
}

}  // namespace tenshot::trainer
