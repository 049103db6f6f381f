#pragma once

#include <array>
#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <utility>
#include <vector>

#include "datasets/tables/quantity.h"
#include "trainer/core/predictor.h"

namespace tenshot::trainer {

/// How good predictions are, over the architectures that are both predicted and measured. y measured, ŷ predicted, n of
/// them. Error-bound accuracy is Dudziak et al. (BRP-NAS, NeurIPS 2020); the bound itself counts as within.
struct Metrics {
  std::size_t architectures = 0;
  double acc1 = 0;                 ///< share with |ŷ − y| ≤ 1 % of y, 0…1
  double acc5 = 0;                 ///< … 5 %
  double acc10 = 0;                ///< … 10 %
  double rmse_ms = 0;              ///< √(Σ(ŷ − y)²/n)
  double rmspe = 0;                ///< √(Σ((ŷ − y)/y)²/n)
  double mape = 0;                 ///< Σ|ŷ − y|/y / n
  double spearman = 0;             ///< rank correlation, ties averaged; NaN when either side is constant
  double kendall = 0;              ///< τ-b; NaN when either side is constant
  double coverage = 0;             ///< share with lower ≤ y ≤ upper; NaN without intervals
  double mean_relative_width = 0;  ///< mean of (upper − lower)/ŷ; NaN without intervals
};

/// The names of all, as files have them.
constexpr std::array<std::pair<const char*, double Metrics::*>, 10> named_metrics = {
    {{"acc1", &Metrics::acc1},
     {"acc5", &Metrics::acc5},
     {"acc10", &Metrics::acc10},
     {"rmse_ms", &Metrics::rmse_ms},
     {"rmspe", &Metrics::rmspe},
     {"mape", &Metrics::mape},
     {"spearman", &Metrics::spearman},
     {"kendall", &Metrics::kendall},
     {"coverage", &Metrics::coverage},
     {"mean_relative_width", &Metrics::mean_relative_width}}};

/// All metrics of the predictions, of which there is at least one, of as many measurements.
Metrics evaluate(const Predictions& predicted, const std::vector<double>& measured_ms);

/// Share of |predicted − measured| ≤ bound · measured.
double error_bound_accuracy(const std::vector<double>& predicted_ms, const std::vector<double>& measured_ms,
                            double bound);

/// Kendall's τ-b in O(n log n) (Knight, JASA 1966).
double kendall(const std::vector<double>& a, const std::vector<double>& b);

/// NaN becomes null. Of another quantity "rmse_ms" is called by its unit.
nlohmann::json to_json(const Metrics& metrics, datasets::Quantity quantity = datasets::Quantity::latency);
/// Its inverse. Throws nlohmann::json::exception on anything else.
Metrics metrics_from_json(const nlohmann::json& json);

}  // namespace tenshot::trainer
