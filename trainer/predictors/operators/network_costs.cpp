#include "trainer/predictors/operators/network_costs.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "trainer/predictors/operators/operator_times.h"

namespace tenshot::trainer::operators {
namespace {

struct Part {
  std::string name, kind;
  Eigen::VectorXd features;
  std::string key = {};
};

/// Mean and standard deviation of what a part costs; they are not scaled.
PartCost cost_of(const CostPosterior& posterior, const Part& part) {
  double mean = 0, square = 0;
  for (const CostComponent& component : posterior.components) {
    const double cost = part.features.dot(component.costs_ms);
    mean += component.weight * cost;
    square += component.weight * cost * cost;
  }
  const double between = std::max(square - mean * mean, 0.0);
  const double within = (posterior.spread_ms.transpose() * part.features).squaredNorm() +
                        part.features.cwiseAbs2().dot(posterior.rest_ms2.cwiseMax(0));
  return {part.name, part.kind, mean, std::sqrt(between + within), part.key};
}

std::vector<Part> parts_of(const FeatureMap& map, const nasbench::NetworkSpace& space,
                           const nasbench::Architecture& architecture, const Eigen::VectorXd& features) {
  std::vector<Part> parts;
  const auto add = [&](const std::string& kind, const auto& belongs) {
    Eigen::VectorXd own(features.size());
    for (std::size_t f = 0; f < map.features(); ++f) own[f] = belongs(map.raw_feature(f)) ? features[f] : 0;
    parts.push_back({kind, kind, std::move(own)});
  };
  add("base", [](const auto& raw) { return raw && *raw == 0; });
  if (map.of_starts()) add("first uses", [](const auto& raw) { return raw && is_first_use(*raw); });
  for (const nasbench::OperatorSpecification& specification : space.operator_list(architecture)) {
    const std::string& kind = operator_group_name(operator_group_index(specification));
    if (kind.empty()) continue;
    parts.push_back(
        {nasbench::format(specification), kind, features_of_operator(map, specification), operator_key(specification)});
  }
  if (map.decision_features() > 0) add("decisions", [](const auto& raw) { return !raw; });
  return parts;
}

}  // namespace

std::vector<PartCost> network_costs(const CostPosterior& posterior, const FeatureMap& map,
                                    const nasbench::NetworkSpace& space, const nasbench::Architecture& architecture) {
  const FeatureTable table = feature_table(map, space, {architecture});
  std::vector<PartCost> costs;
  double sum_ms = 0;
  for (const Part& part : parts_of(map, space, architecture, table.rows().row(0))) {
    costs.push_back(cost_of(posterior, part));
    sum_ms += costs.back().cost_ms;
  }
  const double predicted_ms = std::exp(predict(posterior, table).mean[0]);
  const double scale = sum_ms > 0 ? predicted_ms / sum_ms : 1;
  for (PartCost& cost : costs) {
    cost.cost_ms *= scale;
    cost.deviation_ms *= scale;
  }
  return costs;
}

std::vector<PartCost> costs_by_kind(const CostPosterior& posterior, const FeatureMap& map,
                                    const nasbench::NetworkSpace& space,
                                    const std::vector<nasbench::Architecture>& architectures) {
  if (architectures.empty()) return {};
  std::map<std::string, Eigen::VectorXd> features;
  const Eigen::MatrixXd rows = feature_table(map, space, architectures).rows();
  for (std::size_t a = 0; a < architectures.size(); ++a) {
    for (const Part& part : parts_of(map, space, architectures[a], rows.row(a))) {
      auto& sum = features[part.kind];
      if (sum.size() == 0) sum = Eigen::VectorXd::Zero(rows.cols());
      sum += part.features / static_cast<double>(architectures.size());
    }
  }
  std::vector<PartCost> costs;
  for (const auto& [kind, sum] : features) costs.push_back(cost_of(posterior, {kind, kind, sum}));
  std::stable_sort(costs.begin(), costs.end(),
                   [](const PartCost& a, const PartCost& b) { return a.cost_ms > b.cost_ms; });
  return costs;
}

}  // namespace tenshot::trainer::operators
