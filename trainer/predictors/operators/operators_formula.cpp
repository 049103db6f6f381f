#include "trainer/predictors/operators/operators_formula.h"

#include <nlohmann/json.hpp>
#include <numeric>

#include "trainer/core/space_card.h"
#include "trainer/predictors/operators/encoded_features.h"

namespace tenshot::trainer::operators {
namespace {

using Eigen::Index;

/// The features of a space's encodings, divided by their units.
FormulaValue features_of(const FormulaValue& encoding, const nasbench::SearchSpace& space, const FeatureMap& map) {
  const EncodedFeatures encoded = encoded_features(space, map);
  const Index width = encoded.first.size(), uses = static_cast<Index>(encoded.first_uses.size());
  const std::vector<int>& decisions = space.decisions();
  std::vector<FormulaValue> inputs = {encoding};
  Eigen::MatrixXd stacked = encoded.added;
  std::optional<FormulaValue> unused;
  for (const EncodedFeatures::Part& part : encoded.parts) {
    std::optional<FormulaValue> combination;
    for (const std::size_t d : part.decisions) {
      const auto at = decisions.begin() + static_cast<std::ptrdiff_t>(d);
      const FormulaValue options = encoding.columns(std::accumulate(decisions.begin(), at, Index{0}), *at);
      combination = combination ? outer(*combination, options) : options;
    }
    if (uses > 0) {
      const FormulaValue other = dot(*combination, part.rows.rightCols(uses)) * -1 + 1;
      unused = unused ? *unused * other : other;
    }
    inputs.push_back(*combination);
    stacked.conservativeResize(stacked.rows() + part.rows.rows(), Eigen::NoChange);
    stacked.bottomRows(part.rows.rows()) = part.rows.leftCols(width);
  }
  const FormulaValue features = dot(joined(inputs), stacked) + constant(encoding.formula(), encoded.first);
  if (!unused) return features;
  Eigen::MatrixXd used = Eigen::MatrixXd::Zero(uses, width);
  for (Index u = 0; u < uses; ++u) {
    const EncodedFeatures::FirstUse& use = encoded.first_uses[static_cast<std::size_t>(u)];
    used(u, use.feature) = use.value;
  }
  return features + dot(*unused * -1 + 1, used);
}

/// What alike networks say beside the costs: added to mean and variance of log latency. `x` are features.
void add_similarity(const FormulaValue& x, const CostPosterior& posterior, FormulaValue& mean, FormulaValue& variance) {
  const NetworkPlaces& places = posterior.places;
  const Index size_column = posterior.anchors.cols() - 1;
  // Roots begin above zero, where their gradient is a number.
  const FormulaValue costs = max(x * constant(x.formula(), places.typical_costs.transpose()), 0);
  const FormulaValue total = max(sum(costs), 1e-12);
  const FormulaValue size = log(total) * (1 / places.scale);
  const FormulaValue place = joined({sqrt(max(costs / total, 1e-24)) * (1 / places.length), size});
  const FormulaValue squared = sum(place * place) - dot(place, 2 * posterior.anchors.transpose()) +
                               constant(x.formula(), posterior.anchors.rowwise().squaredNorm().transpose());
  const FormulaValue near = exp(sqrt(max(squared, 1e-24)) * -1);
  const FormulaValue closest = apply("ReduceMax", {near}, 1);
  mean = mean + dot(near, posterior.anchor_weights);
  const auto share_beyond = [&](const FormulaValue& distance) {
    return exp(max(distance, 0) * (-2 * places.scale)) * -1 + 1;
  };
  const double largest = posterior.anchors.col(size_column).maxCoeff(),
               smallest = posterior.anchors.col(size_column).minCoeff();
  const FormulaValue known = closest * closest;
  variance = (variance + (known * (-1 / (1 + places.noise)) + 1) * posterior.residual_variance) *
                 (known * (posterior.known_share - 1) + 1) +
             share_beyond(size + -largest) * posterior.reach_variance.above +
             share_beyond(size * -1 + smallest) * posterior.reach_variance.below;
}

}  // namespace

ExportedFormula formula_of(const nasbench::NetworkSpace& space, const FeatureMap& map, const CostPosterior& posterior,
                           const nlohmann::json& card) {
  ExportedFormula exported;
  Formula& formula = exported.formula;
  const auto components = static_cast<Index>(posterior.components.size()), rank = posterior.spread_ms.cols(),
             width = posterior.spread_ms.rows();
  const nasbench::SearchSpace* decided = space.search_space();
  if (decided == nullptr) {
    const std::vector<nasbench::Architecture> networks = carried_networks(card);
    for (const nasbench::Architecture& network : networks) exported.names.push_back(space.format(network));
    for (std::size_t f = 0; f < map.features(); ++f) exported.columns.push_back(map.name(f));
    exported.columns.push_back("unknown");
    const bool known = card.contains("known_device");
    exported.encode = [&space, &map, &posterior, known](const auto& of) {
      return network_encoding(space, map, posterior, of, known);
    };
    exported.encodings = exported.encode(networks);
  }
  formula.width = decided != nullptr ? static_cast<std::int64_t>(decided->encoding_width()) : width + 1;
  const FormulaValue encoding = encoding_of(formula);
  Eigen::VectorXd per_unit = Eigen::VectorXd::Ones(width);
  per_unit.head(map.unit.size()) = map.unit.cwiseInverse();
  const FormulaValue x = decided != nullptr ? features_of(encoding, *decided, map)
                                            : encoding.columns(0, width) * constant(formula, per_unit.transpose());
  Eigen::VectorXd weights(components);
  for (Index c = 0; c < components; ++c) weights[c] = posterior.components[static_cast<std::size_t>(c)].weight;
  const Eigen::MatrixXd costs = posterior.all_costs_ms();
  const FormulaValue least = max(dot(x, costs.rightCols(1)), posterior.floor_ms);
  const FormulaValue parts = log(max(dot(x, costs.leftCols(components)), least));
  FormulaValue mean = dot(parts, weights);
  const FormulaValue between = max(dot(parts * parts, weights) - mean * mean, 0);
  FormulaValue own = max(dot(x, posterior.rest_ms2), 0);
  if (rank > 0) {
    const FormulaValue spread = dot(x, posterior.spread_ms);
    own = own + sum(spread * spread);
  }
  const FormulaValue relative = own / exp(mean * 2);
  FormulaValue variance =
      between + (posterior.least_costs_ms.size() > 0 ? log(relative + 1) : relative) + posterior.noise_variance();
  if (posterior.places.compared())
    add_similarity(x.columns(0, posterior.places.typical_costs.size()), posterior, mean, variance);
  if (decided == nullptr) {
    const FormulaValue unknown = encoding.columns(width, 1);
    variance = variance + unknown * unknown;
  }
  exported.latency = exp(mean).name();
  exported.deviation = sqrt(variance).name();
  exported.quantile = [calibration = posterior.calibration](double p) { return error_quantile(calibration, p); };
  return exported;
}

}  // namespace tenshot::trainer::operators
