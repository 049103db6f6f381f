#include "trainer/predictors/trust.h"

#include <algorithm>
#include <cmath>

#include "nasbench/support/number_text.h"
#include "nasbench/support/numbers_below.h"
#include "sampling/architectures/information.h"
#include "trainer/core/planning_prior.h"

namespace tenshot::trainer {

double typical_half_width(const Predictions& predictions) {
  std::vector<double> widths;
  for (std::size_t i = 0; i < predictions.lower_ms.size(); ++i) {
    const double width = (predictions.upper_ms[i] - predictions.lower_ms[i]) / (2 * predictions.latency_ms[i]);
    if (!std::isnan(width)) widths.push_back(width);
  }
  if (widths.empty()) return std::nan("");
  const auto middle = widths.begin() + static_cast<std::ptrdiff_t>(widths.size() / 2);
  std::nth_element(widths.begin(), middle, widths.end());
  return *middle;
}

std::string half_width_in_words(double half_width) {
  if (half_width < 0.95) return "±" + significant_digits(100 * half_width, 2) + " %";
  const double factor = half_width + std::hypot(half_width, 1);  // f of an interval from latency / f to latency · f
  return "a factor of " + (factor < 10 ? significant_digits(factor, 2) : decimals(factor, 0));
}

Trust trust(double half_width, bool warned) {
  constexpr double good = 0.1, fair = 0.2;
  if (warned) return Trust::doubtful;
  return half_width <= good ? Trust::good : half_width <= fair ? Trust::fair : Trust::poor;
}

std::string_view word(Trust trust) {
  switch (trust) {
    case Trust::good: return "Good";
    case Trust::fair: return "Fair";
    case Trust::poor: return "Poor";
    case Trust::doubtful: break;
  }
  return "Doubtful";
}

double NextMeasurements::narrowing() const {
  return std::sqrt((after * after + noise * noise) / (before * before + noise * noise));
}

std::optional<NextMeasurements> next_measurements(const Predictor& predictor,
                                                  const std::vector<Architecture>& candidates, std::size_t count) {
  if (candidates.size() <= count) return std::nullopt;
  const std::optional<PlanningView> view = predictor.uncertainty(candidates);
  if (!view) return std::nullopt;
  sampling::InformationOptions options = view->options;
  options.random_half = false;
  std::vector<std::size_t> all = numbers_below(candidates.size());
  Rng rng(1);  // draws nothing where all candidates are considered
  NextMeasurements next;
  next.chosen = sampling::choose_informative(view->covariance, all, count, rng, options);
  const std::vector<double> variance = sampling::expected_variance(view->covariance, next.chosen, options);
  next.before = std::sqrt(std::max(variance.front(), 0.0));
  next.after = std::sqrt(std::max(variance.back(), 0.0));
  next.noise = std::hypot(options.noise, view->own);
  return next;
}

}  // namespace tenshot::trainer
