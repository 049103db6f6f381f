#include "trainer/networks/feed_forward_predictor.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "nasbench/support/number_text.h"
#include "trainer/core/archive_reader.h"
#include "trainer/core/knowledge.h"
#include "trainer/core/part_vocabulary.h"
#include "trainer/core/pool_archive.h"
#include "trainer/core/quantity_card.h"
#include "trainer/core/space_card.h"
#include "trainer/networks/formula.h"

namespace tenshot::trainer {
namespace {

Remark remark_on(const datasets::Fleet& fleet) {
  const std::string boards = "Measured on " + std::to_string(fleet.boards.size()) + " boards";
  if (fleet.compared() < fleet.boards.size()) {
    return {boards + ", and not all of them measured a network that another did: how far they differ is not known, " +
                "and intervals are too narrow by that",
            true};
  }
  return {boards + " that differ by " + significant_digits(100 * fleet.spread, 2) +
          " %: the typical one is predicted; another one of the kind may be ±" +
          significant_digits(100 * std::expm1(1.645 * fleet.deviation()), 2) +
          " % from it, which intervals hold where there are any"};
}

class FeedForwardPredictor : public Predictor {
 public:
  FeedForwardPredictor(FeedForward network, nlohmann::json card)
      : network_(std::move(network)),
        card_(std::move(card)),
        kind_(card_.at("predictor").get<std::string>()),
        space_(nasbench::search_space(get_space(card_))) {}

  std::string_view kind() const override { return kind_; }
  const SearchSpace& space() const override { return space_; }
  Quantity quantity() const override { return get_quantity(card_); }
  std::vector<Remark> explanation() const override { return explanation_of(card_); }

  Predictions predict(const std::vector<Architecture>& architectures, double) const override {
    return {evaluate(network_, space_, architectures), {}, {}};
  }

  Archive to_archive() const override {
    Archive archive;
    archive.card = card_;
    archive.card["scale_ms"] = network_.scale_ms;
    archive.card["floor_ms"] = network_.floor_ms;
    if (network_.logarithmic) archive.card["logarithmic"] = true;
    put_layers(archive, "layer", network_.layers);
    return archive;
  }

  ExportedFormula formula() const override {
    ExportedFormula exported;
    Formula& formula = exported.formula;
    formula.width = network_.layers.front().inputs;
    formula.doubles = false;
    FormulaValue x = encoding_of(formula);
    for (const DenseLayer& layer : network_.layers) {
      using RowMajor = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
      const Eigen::Map<const RowMajor> weight(layer.weight.data(), layer.outputs, layer.inputs),
          bias(layer.bias.data(), 1, layer.outputs);
      const FormulaValue weights = constant(formula, weight.cast<double>().transpose());
      x = apply("Gemm", {x, weights, constant(formula, bias.cast<double>())}, layer.outputs);
      if (&layer != &network_.layers.back()) x = apply("Relu", {x}, layer.outputs);
    }
    exported.latency = max((network_.logarithmic ? exp(x) : x) * network_.scale_ms, network_.floor_ms).name();
    return exported;
  }

  nlohmann::json to_document() const override {
    nlohmann::json document = {{"format", "tenshot.predictor/1"},
                               {"card", card_},
                               {"strings", strings_document(space_)},
                               {"encoding", {{"one_hot_of", space_.decisions()}}},
                               {"computes", std::string("latency_ms = max(floor_ms, scale_ms * ") +
                                                (network_.logarithmic ? "exp(network(one_hot))" : "network(one_hot)") +
                                                "); ReLU between layers"},
                               {"network", trainer::to_document(network_)}};
    return document_of(quantity(), std::move(document));
  }

 private:
  FeedForward network_;
  nlohmann::json card_;
  std::string kind_;
  const SearchSpace& space_;
};

}  // namespace

std::unique_ptr<Predictor> feed_forward_predictor(FeedForward network, nlohmann::json card) {
  return std::make_unique<FeedForwardPredictor>(std::move(network), std::move(card));
}

std::unique_ptr<Predictor> load_feed_forward(const Archive& archive) {
  const JsonField card(archive);
  const SearchSpace& space = nasbench::search_space(get_space(archive.card));
  FeedForward network{
      get_layers(archive, "layer", space.encoding_width(), ", the encoding of " + std::string(space.name())),
      card.at("scale_ms").number(positive), card.at("floor_ms").number(positive)};
  const auto logarithmic = card.find("logarithmic");  // files of earlier programs do not say
  network.logarithmic = logarithmic && logarithmic->boolean();
  return feed_forward_predictor(std::move(network), archive.card);
}

nlohmann::json predictor_card(const PoolModel& model, const AdaptationSet& set, std::uint64_t seed,
                              const std::string& pool_sha256) {
  const Quantity quantity = adapted_quantity(model.pool(), set.quantity);
  nlohmann::json measured = nlohmann::json::array();
  const NetworkSpace& space = *model.pool().space;
  for (std::size_t i = 0; i < set.architectures.size(); ++i) {
    measured.push_back({{"architecture", space.format(set.architectures[i])}, {"latency_ms", set.latency_ms[i]}});
  }
  nlohmann::json devices = nlohmann::json::array();
  for (const datasets::DeviceRuntime& device : model.pool().devices) devices.push_back(device.id);
  const Knowledge* knowledge = model.knowledge();
  std::string hash = knowledge != nullptr ? knowledge->pool_sha256 : pool_sha256;
  if (hash.empty()) hash = datasets::content_hash(model.pool());
  nlohmann::json card = {{"content", "predictor"},
                         {"predictor", model.kind()},
                         {"versions", version_card()},
                         {"seed", seed},
                         {"pool", {{"content_sha256", hash}, {"devices", devices}}},
                         {"adaptation_set", measured}};
  put_quantity(card, quantity);
  if (!set.conditions.empty()) card["conditions"] = set.conditions;
  if (set.fleet) put_explanation(card, quantity, {remark_on(*set.fleet)});
  std::vector<Architecture> known;  // of networks, a predictor carries those of the pool and those that were measured
  if (space.search_space() == nullptr) {
    known = datasets::latency_matrix(model.pool()).architectures;
    const auto measured_too = [&](const Architecture& a) {
      return std::find(set.architectures.begin(), set.architectures.end(), a) != set.architectures.end();
    };
    known.erase(std::remove_if(known.begin(), known.end(), measured_too), known.end());
    // The last of one name is the one that the name means: what was measured.
    known.insert(known.end(), set.architectures.begin(), set.architectures.end());
  }
  put_space(card, space, known);
  return card;
}

}  // namespace tenshot::trainer
