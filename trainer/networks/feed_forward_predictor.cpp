#include "trainer/networks/feed_forward_predictor.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "nasbench/support/number_text.h"
#include "trainer/core/archive_reader.h"
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
  return {boards + " that differ by " + percent_or_factor(fleet.spread) +
          ": the typical one is predicted; another one of the kind may differ from it by " +
          percent_or_factor(std::expm1(1.645 * fleet.deviation())) + ", which intervals hold where there are any"};
}

class FeedForwardPredictor : public Predictor {
 public:
  FeedForwardPredictor(FeedForward network, nlohmann::json card)
      : Predictor(std::move(card)), network_(std::move(network)), space_(nasbench::search_space(get_space(card_))) {}

  const SearchSpace& space() const override { return space_; }
  std::vector<Remark> explanation() const override { return explanation_of(card_); }

  Predictions predict(const std::vector<Architecture>& architectures, double) const override {
    return {evaluate(network_, space_, architectures), {}, {}};
  }

  void put_weights(Archive& archive) const override {
    archive.card["scale_ms"] = network_.scale_ms;
    archive.card["floor_ms"] = network_.floor_ms;
    if (network_.logarithmic) archive.card["logarithmic"] = true;
    put_layers(archive, "layer", network_.layers);
  }

  ExportedFormula formula() const override {
    ExportedFormula exported;
    Formula& formula = exported.formula;
    formula.width = network_.layers.front().inputs;
    formula.doubles = false;
    FormulaValue x = encoding_of(formula);
    for (const DenseLayer& layer : network_.layers) {
      const Eigen::Map<const Eigen::RowVectorXf> bias(layer.bias.data(), layer.outputs);
      const FormulaValue weights = constant(formula, layer.matrix().cast<double>().transpose());
      x = apply("Gemm", {x, weights, constant(formula, bias.cast<double>())}, layer.outputs);
      if (&layer != &network_.layers.back()) x = apply("Relu", {x}, layer.outputs);
    }
    exported.latency = max((network_.logarithmic ? exp(x) : x) * network_.scale_ms, network_.floor_ms).name();
    return exported;
  }

  nlohmann::json numbers() const override {
    return {{"encoding", {{"one_hot_of", space_.decisions()}}},
            {"computes", std::string("latency_ms = max(floor_ms, scale_ms * ") +
                             (network_.logarithmic ? "exp(network(one_hot))" : "network(one_hot)") +
                             "); ReLU between layers"},
            {"network", trainer::to_document(network_)}};
  }

 private:
  FeedForward network_;
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

nlohmann::json predictor_card(const PoolModel& model, const AdaptationSet& set, std::uint64_t seed) {
  const Quantity quantity = adapted_quantity(model.pool(), set.quantity);
  nlohmann::json measured = nlohmann::json::array();
  const NetworkSpace& space = *model.pool().space;
  for (std::size_t i = 0; i < set.architectures.size(); ++i) {
    measured.push_back({{"architecture", space.format(set.architectures[i])}, {"latency_ms", set.latency_ms[i]}});
  }
  nlohmann::json card = {{"content", "predictor"},
                         {"predictor", model.kind()},
                         {"versions", version_card()},
                         {"seed", seed},
                         {"adaptation_set", measured}};
  card["pool"] = {{"content_sha256", model.pool_sha256()}, {"devices", datasets::device_ids(model.pool())}};
  put_quantity(card, quantity);
  if (!set.conditions.empty()) card["conditions"] = set.conditions;
  if (set.fleet) put_explanation(card, quantity, {remark_on(*set.fleet)});
  std::vector<Architecture> known;  // of networks, a predictor carries those of the pool and those that were measured
  if (space.search_space() == nullptr) {
    const std::vector<Architecture> of_pool = datasets::latency_matrix(model.pool()).architectures;
    known = not_measured(space, of_pool, set.architectures, of_pool.size());
    // The last of one name is the one that the name means: what was measured.
    known.insert(known.end(), set.architectures.begin(), set.architectures.end());
  }
  put_space(card, space, known);
  return card;
}

nlohmann::json known_device_card(const PoolModel& model, const OwnFits& fits, std::size_t device, std::uint64_t seed) {
  nlohmann::json card = predictor_card(model, {}, seed);
  const OwnFit& fit = fits.devices[device];
  const datasets::DeviceRuntime& known = model.pool().devices[device];
  card["known_device"] = known.id;
  std::string text = "No measurement of yours: " + known.id + " as learned from " + counted(fit.networks, "network");
  if (const Knowledge* knowledge = model.knowledge()) {
    text += " of " + knowledge->sources[knowledge->source_of[device]].name;
  }
  if (std::isfinite(fit.within_10)) {
    text += "; of networks left out, " + whole_percent(fit.within_10) + " were predicted within ±10 % and " +
            whole_percent(fit.within_20) + " within ±20 %";
  }
  if (known.batch > 1) text += "; give files of one image: the latency is of a batch of " + std::to_string(known.batch);
  put_explanation(card, get_quantity(card), {{text}});
  return card;
}

}  // namespace tenshot::trainer
