#include "trainer/predictors/operators/network_costs.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "trainer/predictors/operators/operator_times.h"

namespace tenshot::trainer::operators {
namespace {

using Eigen::Index;

/// Mean and standard deviation of what some features cost.
PartCost cost_of(const CostPosterior& posterior, const Eigen::VectorXd& features) {
  double mean = 0, square = 0;
  for (const CostComponent& component : posterior.components) {
    const double cost = features.dot(component.costs_ms);
    mean += component.weight * cost;
    square += component.weight * cost * cost;
  }
  const double between = std::max(square - mean * mean, 0.0);
  const double within = (posterior.spread_ms.transpose() * features).squaredNorm() +
                        features.cwiseAbs2().dot(posterior.rest_ms2.cwiseMax(0));
  return {"", "", mean, std::sqrt(between + within)};
}

/// The part of `features` that belongs to the base, or to the decisions.
Eigen::VectorXd base_of(const FeatureMap& map, const Eigen::VectorXd& features) {
  Eigen::VectorXd own = Eigen::VectorXd::Zero(features.size());
  for (std::size_t block = 0; block <= map.learned.size(); ++block) {
    const auto at = static_cast<Index>(map.block_begin(block));
    own[at] = features[at];
  }
  return own;
}
Eigen::VectorXd decisions_of(const FeatureMap& map, const Eigen::VectorXd& features) {
  Eigen::VectorXd own = features;
  own.head(static_cast<Index>(map.operator_features())).setZero();
  return own;
}

/// The part of `features` that first uses of groups add to a start.
Eigen::VectorXd first_uses_of(const FeatureMap& map, const Eigen::VectorXd& features) {
  Eigen::VectorXd own = Eigen::VectorXd::Zero(features.size());
  for (std::size_t f = 0; f < map.operator_features(); ++f) {
    const auto at = static_cast<Index>(f);
    if (is_first_use(map.raw[f])) own[at] = features[at];
  }
  return own;
}

/// A network's parts with the features of each; the costs are not scaled.
struct Part {
  PartCost cost;
  Eigen::VectorXd features;
};

std::vector<Part> parts_of(const CostPosterior& posterior, const FeatureMap& map, const nasbench::NetworkSpace& space,
                           const nasbench::Architecture& architecture, const Eigen::VectorXd& features) {
  std::vector<Part> parts;
  const auto add = [&](const std::string& name, const std::string& kind, Eigen::VectorXd own) {
    PartCost cost = cost_of(posterior, own);
    cost.name = name;
    cost.kind = kind;
    parts.push_back({std::move(cost), std::move(own)});
  };
  add("base", "base", base_of(map, features));
  if (map.of_starts()) add("first uses", "first uses", first_uses_of(map, features));
  for (const nasbench::OperatorSpecification& specification : space.operator_list(architecture)) {
    const std::string kind = operator_group_of(specification);
    if (kind.empty()) continue;
    add(nasbench::format(specification), kind, features_of_operator(map, specification));
    parts.back().cost.key = operator_key(specification);
  }
  if (map.decision_features() > 0) add("decisions", "decisions", decisions_of(map, features));
  return parts;
}

}  // namespace

std::vector<PartCost> network_costs(const CostPosterior& posterior, const FeatureMap& map,
                                    const nasbench::NetworkSpace& space, const nasbench::Architecture& architecture) {
  const FeatureTable table = feature_table(map, space, {architecture});
  const std::vector<Part> parts = parts_of(posterior, map, space, architecture, table.rows().row(0));
  double sum_ms = 0;
  for (const Part& part : parts) sum_ms += part.cost.cost_ms;
  const double predicted_ms = std::exp(predict(posterior, table).mean[0]);
  const double scale = sum_ms > 0 ? predicted_ms / sum_ms : 1;
  std::vector<PartCost> costs;
  for (const Part& part : parts) {
    costs.push_back(part.cost);
    costs.back().cost_ms *= scale;
    costs.back().deviation_ms *= scale;
  }
  return costs;
}

std::vector<PartCost> costs_by_kind(const CostPosterior& posterior, const FeatureMap& map,
                                    const nasbench::NetworkSpace& space,
                                    const std::vector<nasbench::Architecture>& architectures) {
  if (architectures.empty()) return {};
  std::map<std::string, Eigen::VectorXd> features;
  const FeatureTable table = feature_table(map, space, architectures);
  const Eigen::MatrixXd rows = table.rows();
  for (std::size_t a = 0; a < architectures.size(); ++a) {
    const Eigen::VectorXd row = rows.row(static_cast<Index>(a));
    for (Part& part : parts_of(posterior, map, space, architectures[a], row)) {
      auto& sum = features[part.cost.kind];
      if (sum.size() == 0) sum = Eigen::VectorXd::Zero(row.size());
      sum += part.features / static_cast<double>(architectures.size());
    }
  }
  std::vector<PartCost> costs;
  for (const auto& [kind, sum] : features) {
    PartCost cost = cost_of(posterior, sum);
    cost.name = cost.kind = kind;
    costs.push_back(std::move(cost));
  }
  std::stable_sort(costs.begin(), costs.end(),
                   [](const PartCost& a, const PartCost& b) { return a.cost_ms > b.cost_ms; });
  return costs;
}

}  // namespace tenshot::trainer::operators
