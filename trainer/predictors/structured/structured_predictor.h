#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "datasets/tables/quantity.h"
#include "trainer/core/predictor.h"
#include "trainer/core/quantity_card.h"
#include "trainer/predictors/structured/posterior.h"

namespace tenshot::trainer {

/// A device-runtime's posterior as a Predictor. It is `certain` where the posterior is one component that stands for
/// something else than measurements' likelihood ("transfer"): then it has no intervals and knows no costs.
class StructuredPredictor : public Predictor {
 public:
  StructuredPredictor(structured::StructuredPosterior posterior, nlohmann::json card, bool certain = false);
  /// Throws FormatError.
  explicit StructuredPredictor(const Archive& archive, bool certain = false);

  std::string_view kind() const override { return kind_; }
  const SearchSpace& space() const override { return posterior_.model->space(); }
  datasets::Quantity quantity() const override { return get_quantity(card_); }
  bool has_intervals() const override { return !certain_; }
  Predictions predict(const std::vector<Architecture>& architectures, double confidence) const override;
  Archive to_archive() const override;
  ExportedFormula formula() const override;
  nlohmann::json to_document() const override;
  std::vector<Remark> explanation() const override;
  DeviceCosts device_costs() const override;
  std::optional<double> measurement_noise() const override;
  std::optional<PlanningView> uncertainty(const std::vector<Architecture>& candidates) const override;

 private:
  structured::StructuredPosterior posterior_;
  nlohmann::json card_;
  std::string kind_;
  bool certain_;
};

}  // namespace tenshot::trainer
