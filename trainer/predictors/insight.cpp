#include "trainer/predictors/insight.h"

#include <cmath>

#include "trainer/predictors/operators/cost_planning.h"
#include "trainer/predictors/operators/operators_predictor.h"
#include "trainer/predictors/structured/planning.h"
#include "trainer/predictors/structured/structured_predictor.h"

namespace tenshot::trainer {
namespace {

// Both with intervals, so that their posterior is one of measurements: peers are made of the same parts.

const StructuredPredictor* structured_of(const Predictor& predictor) {
  const auto* own = dynamic_cast<const StructuredPredictor*>(&predictor);
  return own != nullptr && own->has_intervals() ? own : nullptr;
}

const OperatorsPredictor* operators_of(const Predictor& predictor) {
  const auto* own = dynamic_cast<const OperatorsPredictor*>(&predictor);
  return own != nullptr && own->has_intervals() ? own : nullptr;
}

}  // namespace

std::vector<PartCost> network_costs(const Predictor& predictor, const Architecture& architecture) {
  const OperatorsPredictor* own = operators_of(predictor);
  if (own == nullptr) return {};
  return operators::network_costs(own->posterior(), own->features(), own->space(), architecture);
}

std::vector<PartCost> operator_costs(const Predictor& predictor, const std::vector<Architecture>& typical) {
  if (const OperatorsPredictor* own = operators_of(predictor)) {
    return operators::costs_by_kind(own->posterior(), own->features(), own->space(), typical);
  }
  std::vector<PartCost> parts;
  for (const DeviceCosts::Cost& cost : predictor.device_costs().costs) {
    parts.push_back({cost.name, "", cost.cost_ms, cost.deviation_ms});
  }
  return parts;
}

std::optional<double> measurement_noise(const Predictor& predictor) {
  if (const StructuredPredictor* own = structured_of(predictor)) return structured::noise_of(own->posterior());
  if (const OperatorsPredictor* own = operators_of(predictor)) return std::sqrt(own->posterior().noise_variance());
  return std::nullopt;
}

std::optional<PlanningView> uncertainty(const Predictor& predictor, const std::vector<Architecture>& candidates) {
  if (const StructuredPredictor* own = structured_of(predictor)) {
    const nasbench::StructureTable table = structured::compacted(own->posterior().model->table(candidates));
    return PlanningView{structured::posterior_covariance(own->posterior(), table), measurement_noise(predictor)};
  }
  if (const OperatorsPredictor* own = operators_of(predictor)) {
    const Eigen::MatrixXd features = operators::feature_table(own->features(), own->space(), candidates).rows();
    return PlanningView{operators::posterior_covariance(own->posterior(), features), measurement_noise(predictor)};
  }
  return std::nullopt;
}

}  // namespace tenshot::trainer
