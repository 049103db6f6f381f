#include <algorithm>
#include <cstdint>
#include <optional>

#include "trainer/core/space_card.h"
#include "trainer/networks/formula.h"
#include "trainer/predictors/operators/operators_predictor.h"

namespace tenshot::trainer {
namespace {

using Eigen::Index;
using operators::CostPosterior;

/// Features as a function of the one-hot encoding: `first`, the row of `added` of each option that is taken, the row of
/// each part for the combination of options that it depends on; and for each of `first_uses` its value, where any part
/// uses it. Where the encoding holds probabilities, the same formula gives expected features (options that are chosen
/// independently of each other), but for first uses.
struct EncodedFeatures {
  /// Operators that depend on several decisions, such as a layer in a space that decides on the resolution.
  struct Part {
    /// For each of the decisions, where its options begin among the columns of the encoding, and how many there are.
    std::vector<std::pair<Index, int>> columns;
    /// [combinations, features + first uses]: the features, a one for each first use. The last decision is fastest.
    Eigen::MatrixXd rows;
  };
  /// A feature of starts that a network has once, however many of its operators use it.
  struct FirstUse {
    Index feature;
    Index count;  ///< the feature that counts the operators of the same group
    double value;
  };
  Eigen::RowVectorXd first;  ///< [features]
  Eigen::MatrixXd added;     ///< [encoding width, features]
  std::vector<Part> parts;
  std::vector<FirstUse> first_uses;
};

/// For each part of the space's operators, the decisions that it depends on.
std::vector<std::vector<std::size_t>> decisions_of_parts(const SearchSpace& space) {
  const std::size_t decisions = space.decisions().size();
  const std::vector<std::uint32_t> reference = space.operator_parts(Architecture(decisions));
  std::vector<std::vector<std::size_t>> result(reference.size());
  for (std::size_t d = 0; d < decisions; ++d) {
    if (space.decisions()[d] == 1) continue;
    Architecture other(decisions);
    other[d] = 1;
    const std::vector<std::uint32_t> keys = space.operator_parts(other);
    for (std::size_t p = 0; p < keys.size(); ++p) {
      if (keys[p] != reference[p]) result[p].push_back(d);
    }
  }
  return result;
}

/// One architecture for each combination of options of `decisions`, that of the last one fastest.
std::vector<Architecture> combinations(const SearchSpace& space, const std::vector<std::size_t>& decisions) {
  std::vector<Architecture> result = {Architecture(space.decisions().size())};
  for (const std::size_t d : decisions) {
    std::vector<Architecture> longer;
    for (const Architecture& shorter : result) {
      for (int option = 0; option < space.decisions()[d]; ++option) {
        longer.push_back(shorter);
        longer.back()[d] = static_cast<std::uint8_t>(option);
      }
    }
    result = std::move(longer);
  }
  return result;
}

std::vector<EncodedFeatures::FirstUse> first_uses_of(const operators::FeatureMap& map) {
  std::vector<EncodedFeatures::FirstUse> uses;
  for (std::size_t f = 0; f < map.raw.size(); ++f) {
    if (!operators::is_first_use(map.raw[f])) continue;
    const std::size_t count = 1 + (map.raw[f] - operators::first_use_feature(0)) * operators::measures_of_group;
    const auto found = std::lower_bound(map.raw.begin(), map.raw.end(), count);
    if (found == map.raw.end() || *found != count) continue;  // no network can use it
    const auto feature = static_cast<Index>(f);
    uses.push_back({feature, found - map.raw.begin(), 1 / map.unit[feature]});
  }
  return uses;
}

/// The features of a space whose every combination of options is an architecture.
EncodedFeatures encoded_features(const SearchSpace& space, const operators::FeatureMap& map) {
  const std::vector<std::vector<std::size_t>> decisions_of = decisions_of_parts(space);
  std::vector<Architecture> architectures;
  for (const std::vector<std::size_t>& decisions : decisions_of) {
    const std::vector<Architecture> more = combinations(space, decisions);
    architectures.insert(architectures.end(), more.begin(), more.end());
  }
  const operators::FeatureTable table = operators::feature_table(map, space, architectures);
  EncodedFeatures result;
  result.first_uses = first_uses_of(map);
  const Index features = table.blocks.cols(), uses = static_cast<Index>(result.first_uses.size());
  result.first = table.blocks.row(0);
  result.added = Eigen::MatrixXd::Zero(static_cast<Index>(space.encoding_width()), features);
  const auto options = static_cast<Index>(map.decision_features());
  result.added.topRows(options) = table.blocks.middleRows(1, options);
  std::vector<Index> first_column(space.decisions().size());
  std::exclusive_scan(space.decisions().begin(), space.decisions().end(), first_column.begin(), Index{0});
  std::size_t network = 0;
  for (std::size_t p = 0; p < decisions_of.size(); ++p) {
    EncodedFeatures::Part part;
    Index combinations = 1;
    for (const std::size_t d : decisions_of[p]) {
      part.columns.emplace_back(first_column[d], space.decisions()[d]);
      combinations *= space.decisions()[d];
    }
    part.rows.resize(combinations, features + uses);
    for (Index c = 0; c < combinations; ++c, ++network) {  // a network's blocks: the base, its options, its parts
      const std::uint32_t block = table.block_of[table.begin[network] + 1 + map.options.size() + p];
      auto row = part.rows.row(c);
      row.head(features) = table.blocks.row(block);
      for (Index u = 0; u < uses; ++u) {
        row[features + u] = row[result.first_uses[static_cast<std::size_t>(u)].count] > 0 ? 1 : 0;
      }
    }
    if (uses > 0 || part.columns.size() > 1) {
      result.parts.push_back(std::move(part));
    } else if (part.columns.empty()) {
      result.first += part.rows.row(0);
    } else {
      result.added.middleRows(part.columns[0].first, combinations) += part.rows;
    }
  }
  return result;
}

/// The features of a space's encodings, divided by their units.
FormulaValue features_of(const FormulaValue& encoding, const SearchSpace& space, const operators::FeatureMap& map) {
  const EncodedFeatures encoded = encoded_features(space, map);
  const Index width = encoded.first.size(), uses = static_cast<Index>(encoded.first_uses.size());
  std::vector<FormulaValue> inputs = {encoding};
  Eigen::MatrixXd stacked = encoded.added;
  std::optional<FormulaValue> unused;
  for (const EncodedFeatures::Part& part : encoded.parts) {
    std::optional<FormulaValue> combination;
    for (const auto& [begin, count] : part.columns) {
      const FormulaValue options = encoding.columns(begin, count);
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
  const operators::NetworkPlaces& places = posterior.places;
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

ExportedFormula OperatorsPredictor::formula() const {
  const CostPosterior& posterior = posterior_;
  ExportedFormula exported;
  Formula& formula = exported.formula;
  const auto components = static_cast<Index>(posterior.components.size()), rank = posterior.spread_ms.cols(),
             width = posterior.spread_ms.rows();
  const SearchSpace* decided = space_->search_space();
  if (decided == nullptr) {
    const std::vector<Architecture> networks = carried_networks(card_);
    for (const Architecture& network : networks) exported.names.push_back(space_->format(network));
    for (std::size_t f = 0; f < map_.features(); ++f) exported.columns.push_back(map_.name(f));
    exported.columns.push_back("unknown");
    exported.encode = [this, width](const std::vector<Architecture>& of) {  // features, undivided, and "unknown"
      Eigen::MatrixXd encoding(static_cast<Index>(of.size()), width + 1);
      encoding << table(of).rows(), unknown_deviations(of);
      encoding.leftCols(map_.unit.size()) *= map_.unit.asDiagonal();
      return encoding;
    };
    exported.encodings = exported.encode(networks);
  }
  formula.width = decided != nullptr ? static_cast<std::int64_t>(decided->encoding_width()) : width + 1;
  const FormulaValue encoding = encoding_of(formula);
  Eigen::VectorXd per_unit = Eigen::VectorXd::Ones(width);
  per_unit.head(map_.unit.size()) = map_.unit.cwiseInverse();
  const FormulaValue x = decided != nullptr ? features_of(encoding, *decided, map_)
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

nlohmann::json OperatorsPredictor::numbers() const {
  nlohmann::json features = nlohmann::json::array(), components = nlohmann::json::array();
  for (std::size_t f = 0; f < map_.features(); ++f) {
    const bool is_operator = f < map_.operator_features();
    features.push_back({{"name", map_.name(f)}, {"unit", is_operator ? map_.unit[static_cast<Index>(f)] : 1.0}});
  }
  for (const operators::CostComponent& component : posterior_.components) {
    components.push_back(
        {{"weight", component.weight}, {"noise", component.noise}, {"costs_ms", values_of(component.costs_ms)}});
  }
  nlohmann::json document = {
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
  // The features, divided by their units, of all networks that the document can say them of.
  if (const SearchSpace* decided = space_->search_space()) {
    const EncodedFeatures encoded = encoded_features(*decided, map_);
    document["first_features"] = values_of(encoded.first);
    document["added_features"] = rows_of(encoded.added);
    for (const auto& part : encoded.parts) {
      document["parts"].push_back({{"columns", part.columns}, {"rows", rows_of(part.rows)}});
    }
    for (const auto& use : encoded.first_uses) document["first_uses"].push_back({use.feature, use.value});
  } else {
    const std::vector<Architecture> known = carried_networks(card_);
    const Eigen::MatrixXd rows = table(known).rows();
    for (std::size_t i = 0; i < known.size(); ++i) {
      document["network_features"][space_->format(known[i])] = values_of(rows.row(static_cast<Index>(i)));
    }
  }
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
  return document;
}

}  // namespace tenshot::trainer
