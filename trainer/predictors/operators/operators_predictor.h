#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <utility>
#include <vector>

#include "trainer/core/predictor.h"
#include "trainer/predictors/operators/cost_posterior.h"

namespace tenshot::trainer {

/// What the predictor `operators` knows of a device-runtime, as a Predictor with intervals.
class OperatorsPredictor : public Predictor {
 public:
  OperatorsPredictor(const NetworkSpace& space, operators::FeatureMap map, operators::CostPosterior posterior,
                     nlohmann::json card)
      : Predictor(std::move(card)), space_(&space), map_(std::move(map)), posterior_(std::move(posterior)) {}
  /// Throws what get_space() throws, and FormatError.
  explicit OperatorsPredictor(const Archive& archive);

  const NetworkSpace& space() const override { return *space_; }
  bool has_intervals() const override { return true; }
  /// Throws InputError unless `confidence` is in (0, 1).
  Predictions predict(const std::vector<Architecture>& architectures, double confidence) const override;
  Predictions predict_as_unlike(const std::vector<Architecture>& architectures, double confidence) const override;
  std::vector<Unfamiliar> unfamiliar(const std::vector<Architecture>& architectures) const override;
  /// In a space whose options combine, a formula of their one-hot encoding: one that holds probabilities gives the
  /// latency of the expected operators. Of networks by name, one of their operators' sums and unknown_deviations().
  ExportedFormula formula() const override;
  std::vector<Remark> explanation() const override;
  std::vector<PartCost> operator_costs(const std::vector<Architecture>& typical) const override;
  std::vector<PartCost> network_costs(const Architecture& architecture) const override;
  std::optional<PlanningView> uncertainty(const std::vector<Architecture>& candidates) const override;

  /// The standard deviation of log latency that unknown operators add to a network, whose log latency is expected to be
  /// `share` longer by them: they may well cost so many times as much (experiments/search/unseen_groups.md).
  static double unknown_deviation(double share, double times = 3);

  const operators::FeatureMap& features() const { return map_; }
  const operators::CostPosterior& posterior() const { return posterior_; }

 protected:
  void put_weights(Archive& archive) const override;
  nlohmann::json numbers() const override;

 private:
  operators::FeatureTable table(const std::vector<Architecture>& architectures,
                                operators::UnknownOperators unknown = operators::UnknownOperators::stand_in) const {
    return operators::feature_table(map_, *space_, architectures, unknown);
  }
  LogLatency log_latency(const std::vector<Architecture>& architectures, bool unlike = false) const;
  /// The standard deviation of log latency that operators unknown to the pool add, one for each network: all that they
  /// may well take, and at least 10 %; 0 where all operators are known. Of a known device, whose own networks say how
  /// wide intervals are, also what any feature has of a network beyond what it has of all that the device knows: that
  /// may well cost twice more (1, 2 and 4 were looked at, by networks left out on boards and phones).
  Eigen::VectorXd unknown_deviations(const std::vector<Architecture>& architectures) const;

  const NetworkSpace* space_;
  operators::FeatureMap map_;
  operators::CostPosterior posterior_;
};

}  // namespace tenshot::trainer
