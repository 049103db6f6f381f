#include "trainer/predictors/operators/operators_predictor.h"

#include <cmath>
#include <numeric>

#include "trainer/core/part_vocabulary.h"
#include "trainer/core/predictor.h"
#include "trainer/core/space_card.h"
#include "trainer/predictors/operators/cost_planning.h"
#include "trainer/predictors/operators/encoded_features.h"
#include "trainer/predictors/operators/network_costs.h"
#include "trainer/predictors/operators/operators_archive.h"
#include "trainer/predictors/operators/operators_formula.h"

namespace tenshot::trainer {
namespace {

using operators::CostComponent;

/// Where each decision's options begin among the columns of the encoding, and how many there are.
nlohmann::json columns_of(const nasbench::SearchSpace& space, const std::vector<std::size_t>& decisions) {
  nlohmann::json columns = nlohmann::json::array();
  for (const std::size_t d : decisions) {
    const auto at = space.decisions().begin() + static_cast<std::ptrdiff_t>(d);
    columns.push_back({std::accumulate(space.decisions().begin(), at, 0), *at});
  }
  return columns;
}

/// The features, divided by their units, of all networks that the document can say them of: of a search space what
/// encoded_features() says; of networks by name, "network_features" of those that the predictor carries.
void put_feature_values(nlohmann::json& document, const NetworkSpace& space, const operators::FeatureMap& map,
                        const nlohmann::json& card) {
  const nasbench::SearchSpace* decided = space.search_space();
  if (decided == nullptr) {
    const std::vector<Architecture> known = carried_networks(card);
    const Eigen::MatrixXd rows = operators::feature_table(map, space, known).rows();
    for (std::size_t i = 0; i < known.size(); ++i) {
      document["network_features"][space.format(known[i])] = values_of(rows.row(static_cast<Eigen::Index>(i)));
    }
    return;
  }
  document["strings"] = strings_document(*decided);
  const operators::EncodedFeatures encoded = operators::encoded_features(*decided, map);
  document["first_features"] = values_of(encoded.first);
  document["added_features"] = rows_of(encoded.added);
  for (const auto& part : encoded.parts) {
    document["parts"].push_back({{"columns", columns_of(*decided, part.decisions)}, {"rows", rows_of(part.rows)}});
  }
  for (const auto& use : encoded.first_uses) document["first_uses"].push_back({use.feature, use.value});
}

}  // namespace

OperatorsPredictor::OperatorsPredictor(const NetworkSpace& space, operators::FeatureMap map,
                                       operators::CostPosterior posterior, nlohmann::json card)
    : space_(&space), map_(std::move(map)), posterior_(std::move(posterior)), card_(std::move(card)) {}

OperatorsPredictor::OperatorsPredictor(const NetworkSpace& space, const Archive& archive)
    : space_(&space),
      map_(operators::get_features(archive, space)),
      posterior_(operators::get_posterior(archive, map_)),
      card_(archive.card) {}

LogLatency OperatorsPredictor::log_latency(const std::vector<Architecture>& architectures, bool unlike) const {
  LogLatency result = operators::predict(posterior_, operators::feature_table(map_, *space_, architectures), unlike);
  const Eigen::VectorXd unknown =
      operators::unknown_deviations(*space_, map_, posterior_, architectures, card_.contains("known_device"));
  for (Eigen::Index a = 0; a < unknown.size(); ++a) result.deviation[a] = std::hypot(result.deviation[a], unknown[a]);
  return result;
}

Predictions OperatorsPredictor::predict(const std::vector<Architecture>& architectures, double confidence) const {
  return predictions_of(architectures.empty() ? LogLatency() : log_latency(architectures), posterior_.calibration,
                        confidence);
}

Predictions OperatorsPredictor::predict_as_unlike(const std::vector<Architecture>& architectures,
                                                  double confidence) const {
  if (!posterior_.places.compared() || architectures.empty()) return {};
  return predictions_of(log_latency(architectures, true), posterior_.calibration, confidence);
}

std::vector<Unfamiliar> OperatorsPredictor::unfamiliar(const std::vector<Architecture>& architectures) const {
  if (space_->search_space() != nullptr) return {};  // the networks of a space are made of the same operators
  std::vector<Unfamiliar> result(architectures.size());
  for (std::size_t a = 0; a < architectures.size(); ++a) {
    result[a].operators = operators::unknown_groups(map_, *space_, architectures[a]);
  }
  if (!posterior_.places.compared() || architectures.empty()) return result;
  const Eigen::MatrixXd places = posterior_.places.of(operators::feature_table(map_, *space_, architectures).rows());
  const Eigen::ArrayXd reach = operators::reach_of(posterior_, places);
  for (std::size_t a = 0; a < architectures.size(); ++a) result[a].size = std::exp(reach[static_cast<Eigen::Index>(a)]);
  return result;
}

Archive OperatorsPredictor::to_archive() const {
  Archive archive;
  archive.card = card_;
  operators::put_features(archive, map_);
  operators::put_posterior(archive, posterior_);
  return archive;
}

ExportedFormula OperatorsPredictor::formula() const { return operators::formula_of(*space_, map_, posterior_, card_); }

nlohmann::json OperatorsPredictor::to_document() const {
  nlohmann::json features = nlohmann::json::array(), components = nlohmann::json::array();
  for (std::size_t f = 0; f < map_.features(); ++f) {
    const bool is_operator = f < map_.operator_features();
    features.push_back({{"name", map_.name(f)}, {"unit", is_operator ? map_.unit[static_cast<Eigen::Index>(f)] : 1.0}});
  }
  for (const CostComponent& component : posterior_.components) {
    components.push_back(
        {{"weight", component.weight}, {"noise", component.noise}, {"costs_ms", values_of(component.costs_ms)}});
  }
  nlohmann::json document = {
      {"format", "tenshot.predictor/1"},
      {"card", card_},
      {"features", features},
      {"computes",
       "log latency_ms = sum over components of weight * log(max(sum over features of value / unit * costs_ms, the "
       "same of least_costs_ms, floor_ms)) + sum over anchors of weight * exp(-|place - anchor|); place = (sqrt(share "
       "of each of the first features, those with typical_costs, in the typical latency) / length, log(typical "
       "latency) / scale); without anchors the second sum is 0"},
      {"floor_ms", posterior_.floor_ms},
      {"least_costs_ms", values_of(posterior_.all_costs_ms().rightCols<1>())},
      {"components", components},
      {"spread_ms", rows_of(posterior_.spread_ms)},
      {"rest_ms2", values_of(posterior_.rest_ms2)},
      {"calibration",
       {{"probabilities", posterior_.calibration.probabilities}, {"quantiles", posterior_.calibration.quantiles}}}};
  put_feature_values(document, *space_, map_, card_);
  if (posterior_.places.compared()) {
    document["similarity"] = {{"typical_costs", values_of(posterior_.places.typical_costs)},
                              {"length", posterior_.places.length},
                              {"scale", posterior_.places.scale},
                              {"noise", posterior_.places.noise},
                              {"anchors", rows_of(posterior_.anchors)},
                              {"weights", values_of(posterior_.anchor_weights)},
                              {"variance", posterior_.residual_variance},
                              {"known_share", posterior_.known_share},
                              {"variance_above", posterior_.reach_variance.above},
                              {"variance_below", posterior_.reach_variance.below}};
  }
  return document_of(quantity(), std::move(document));
}

std::vector<Remark> OperatorsPredictor::explanation() const { return explanation_of(card_); }

std::vector<PartCost> OperatorsPredictor::operator_costs(const std::vector<Architecture>& typical) const {
  return operators::costs_by_kind(posterior_, map_, *space_, typical);
}

std::vector<PartCost> OperatorsPredictor::network_costs(const Architecture& architecture) const {
  return operators::network_costs(posterior_, map_, *space_, architecture);
}

std::optional<double> OperatorsPredictor::measurement_noise() const { return std::sqrt(posterior_.noise_variance()); }

std::optional<PlanningView> OperatorsPredictor::uncertainty(const std::vector<Architecture>& candidates) const {
  const operators::FeatureTable table = operators::feature_table(map_, *space_, candidates);
  PlanningView view{operators::posterior_covariance(posterior_, table.rows()),
                    {std::sqrt(posterior_.noise_variance())}};
  if (!posterior_.places.compared() || candidates.empty()) return view;
  view.own = std::sqrt(posterior_.residual_variance * operators::predict(posterior_, table).novelty.mean());
  return view;
}

}  // namespace tenshot::trainer
