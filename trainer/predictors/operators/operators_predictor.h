#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>
#include <vector>

#include "datasets/tables/quantity.h"
#include "trainer/core/predictor.h"
#include "trainer/core/quantity_card.h"
#include "trainer/predictors/operators/cost_posterior.h"

namespace tenshot::trainer {

/// What the predictor `operators` knows of a device-runtime, as a Predictor with intervals.
class OperatorsPredictor : public Predictor {
 public:
  OperatorsPredictor(const NetworkSpace& space, operators::FeatureMap map, operators::CostPosterior posterior,
                     nlohmann::json card);
  /// Throws FormatError.
  OperatorsPredictor(const NetworkSpace& space, const Archive& archive);

  std::string_view kind() const override { return "operators"; }
  const NetworkSpace& space() const override { return *space_; }
  datasets::Quantity quantity() const override { return get_quantity(card_); }
  bool has_intervals() const override { return true; }
  /// Throws InputError unless `confidence` is in (0, 1).
  Predictions predict(const std::vector<Architecture>& architectures, double confidence) const override;
  Predictions predict_as_unlike(const std::vector<Architecture>& architectures, double confidence) const override;
  std::vector<Unfamiliar> unfamiliar(const std::vector<Architecture>& architectures) const override;
  Archive to_archive() const override;
  ExportedFormula formula() const override;
  nlohmann::json to_document() const override;
  std::vector<Remark> explanation() const override;
  std::vector<PartCost> operator_costs(const std::vector<Architecture>& typical) const override;
  std::vector<PartCost> network_costs(const Architecture& architecture) const override;
  std::optional<double> measurement_noise() const override;
  std::optional<PlanningView> uncertainty(const std::vector<Architecture>& candidates) const override;

  const operators::FeatureMap& features() const { return map_; }
  const operators::CostPosterior& posterior() const { return posterior_; }

 private:
  LogLatency log_latency(const std::vector<Architecture>& architectures, bool unlike = false) const;

  const NetworkSpace* space_;
  operators::FeatureMap map_;
  operators::CostPosterior posterior_;
  nlohmann::json card_;
};

}  // namespace tenshot::trainer
