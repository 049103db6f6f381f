#include "trainer/predictors/operators/encoded_features.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace tenshot::trainer::operators {
namespace {

using Eigen::Index;
using nasbench::Architecture;
using nasbench::NetworkSpace;
using nasbench::SearchSpace;

/// Smallest and largest standard deviation of log latency that operators unknown to the pool add: the largest is that
/// of a network which has no others.
constexpr double least_unknown_deviation = 0.1, most_unknown_deviation = 2;

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

/// The features of first uses, and beside each the feature that counts its operators.
struct FirstUses {
  std::vector<EncodedFeatures::FirstUse> uses;
  std::vector<Index> counts;
};

FirstUses first_uses_of(const FeatureMap& map) {
  FirstUses result;
  for (std::size_t f = 0; f < map.raw.size(); ++f) {
    if (!is_first_use(map.raw[f])) continue;
    const std::size_t count = 1 + (map.raw[f] - first_use_feature(0)) * measures_of_group;
    const auto found = std::lower_bound(map.raw.begin(), map.raw.end(), count);
    if (found == map.raw.end() || *found != count) continue;  // no network can use it
    result.uses.push_back({static_cast<Index>(f), 1 / map.unit[static_cast<Index>(f)]});
    result.counts.push_back(found - map.raw.begin());
  }
  return result;
}

/// The deviation by a part that makes log latency `share` longer, and may well cost so many times as much.
double deviation_of_part(double share, double times) {
  return std::min(std::log1p(times * std::abs(std::expm1(share))), most_unknown_deviation);
}

/// For each network, the deviation of what its features' shares of a typical latency are beyond the largest that any
/// anchor has.
Eigen::VectorXd deviations_beyond(const CostPosterior& posterior, const Eigen::MatrixXd& places) {
  const Index shares = places.cols() - 1;
  const Eigen::ArrayXXd most = posterior.anchors.leftCols(shares).array().square().colwise().maxCoeff();
  const Eigen::ArrayXXd beyond = (places.leftCols(shares).array().square() - most.replicate(places.rows(), 1)).max(0);
  return (std::pow(posterior.places.length, 2) * beyond.rowwise().sum()).unaryExpr([](double share) {
    return deviation_of_part(-std::log1p(-std::min(share, 1.0)), 4);
  });
}

}  // namespace

EncodedFeatures encoded_features(const SearchSpace& space, const FeatureMap& map) {
  const std::vector<std::vector<std::size_t>> decisions_of = decisions_of_parts(space);
  std::vector<Architecture> architectures;
  for (const std::vector<std::size_t>& decisions : decisions_of) {
    const std::vector<Architecture> more = combinations(space, decisions);
    architectures.insert(architectures.end(), more.begin(), more.end());
  }
  const FeatureTable table = feature_table(map, space, architectures);
  const FirstUses first_uses = first_uses_of(map);
  const Index features = table.blocks.cols(), uses = static_cast<Index>(first_uses.uses.size());
  EncodedFeatures result;
  result.first_uses = first_uses.uses;
  result.first = table.blocks.row(0);
  result.added = Eigen::MatrixXd::Zero(static_cast<Index>(space.encoding_width()), features);
  const auto options = static_cast<Index>(map.decision_features());
  result.added.topRows(options) = table.blocks.middleRows(1, options);
  std::size_t network = 0;
  for (std::size_t p = 0; p < decisions_of.size(); ++p) {
    const std::vector<std::size_t>& decisions = decisions_of[p];
    Index combinations = 1;
    for (const std::size_t d : decisions) combinations *= space.decisions()[d];
    Eigen::MatrixXd rows(combinations, features + uses);
    for (Index c = 0; c < combinations; ++c, ++network) {  // a network's blocks: the base, its options, its parts
      const std::uint32_t block = table.block_of[table.begin[network] + 1 + map.options.size() + p];
      rows.row(c).head(features) = table.blocks.row(block);
      for (Index u = 0; u < uses; ++u) {
        rows(c, features + u) = rows(c, first_uses.counts[static_cast<std::size_t>(u)]) > 0 ? 1 : 0;
      }
    }
    if (uses > 0 || decisions.size() > 1) {
      result.parts.push_back({decisions, std::move(rows)});
    } else if (decisions.empty()) {
      result.first += rows.row(0);
    } else {
      Index column = 0;
      for (std::size_t d = 0; d < decisions[0]; ++d) column += space.decisions()[d];
      result.added.middleRows(column, combinations) += rows;
    }
  }
  return result;
}

double unknown_deviation(double share, double times) {
  return std::max(deviation_of_part(share, times), least_unknown_deviation);
}

Eigen::VectorXd unknown_deviations(const NetworkSpace& space, const FeatureMap& map, const CostPosterior& posterior,
                                   const std::vector<Architecture>& architectures, bool known_device) {
  Eigen::VectorXd deviations = Eigen::VectorXd::Zero(static_cast<Index>(architectures.size()));
  if (space.search_space() != nullptr || architectures.empty()) return deviations;
  if (known_device && posterior.places.compared()) {
    deviations = deviations_beyond(posterior, posterior.places.of(feature_table(map, space, architectures).rows()));
  }
  std::vector<Architecture> unknown;
  std::vector<Index> places;
  for (std::size_t a = 0; a < architectures.size(); ++a) {
    if (unknown_groups(map, space, architectures[a]).empty()) continue;
    unknown.push_back(architectures[a]);
    places.push_back(static_cast<Index>(a));
  }
  if (unknown.empty()) return deviations;
  const LogLatency with = predict(posterior, feature_table(map, space, unknown));
  const LogLatency without = predict(posterior, feature_table(map, space, unknown, UnknownOperators::left_out));
  for (std::size_t u = 0; u < unknown.size(); ++u) {
    const double share = with.mean[static_cast<Index>(u)] - without.mean[static_cast<Index>(u)];
    deviations[places[u]] = std::hypot(deviations[places[u]], unknown_deviation(share));
  }
  return deviations;
}

Eigen::MatrixXd network_encoding(const NetworkSpace& space, const FeatureMap& map, const CostPosterior& posterior,
                                 const std::vector<Architecture>& architectures, bool known_device) {
  const auto features = static_cast<Index>(map.features()), units = map.unit.size();
  Eigen::MatrixXd encoding(static_cast<Index>(architectures.size()), features + 1);
  encoding.leftCols(features) = feature_table(map, space, architectures).rows();
  encoding.leftCols(units) *= map.unit.asDiagonal();
  encoding.col(features) = unknown_deviations(space, map, posterior, architectures, known_device);
  return encoding;
}

}  // namespace tenshot::trainer::operators
