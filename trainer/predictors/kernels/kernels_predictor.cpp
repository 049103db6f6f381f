#include "trainer/predictors/kernels/kernels_predictor.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "nasbench/support/error.h"
#include "trainer/core/archive_reader.h"
#include "trainer/core/pool_archive.h"
#include "trainer/core/space_card.h"
#include "trainer/networks/formula.h"
#include "trainer/predictors/kernels/operation_features.h"
#include "trainer/trees/tree_archive.h"

namespace tenshot::trainer {
namespace {

using kernels::KernelForest;
using kernels::KernelModel;
using kernels::KernelOrigin;
using kernels::NetworkKernel;

constexpr std::size_t most_types = 10'000;

class KernelsPredictor : public Predictor {
 public:
  KernelsPredictor(KernelModel model, nasbench::FusionRules rules, nlohmann::json card)
      : model_(std::move(model)), rules_(std::move(rules)), card_(std::move(card)), space_(&get_space(card_)) {}

  std::string_view kind() const override { return "kernels"; }
  const NetworkSpace& space() const override { return *space_; }

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
      put_trees(archive, "forest" + std::to_string(index++), forest.trees);
    }
    return archive;
  }

  ExportedFormula formula() const override {
    throw InputError("'kernels' predicts networks by their kernels and has no form in tensors; export a --document");
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
      forests[type] = {
          {"features", kernels::feature_names(forest.category)}, {"base", forest.trees.base}, {"trees", trees}};
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
  const NetworkSpace* space_;
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
  nlohmann::json card = {{"content", "predictor"},     {"predictor", "kernels"},
                         {"samples", samples},         {"seed", seed},
                         {"call_ms", model.call_ms()}, {"ms_per_element", model.ms_per_element()},
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
