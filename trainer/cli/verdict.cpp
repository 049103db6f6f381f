#include "trainer/cli/verdict.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numeric>
#include <optional>
#include <unordered_set>

#include "datasets/pool/pool.h"
#include "sampling/architectures/information.h"
#include "trainer/predictors/insight.h"

namespace tenshot::cli {
namespace {

constexpr std::size_t judged_networks = 1000;
/// Further measurements whose worth is said, and the networks they are chosen among: few enough to take milliseconds.
constexpr std::size_t more_measurements = 3, planned_among = 300;
constexpr double shown_confidence = 0.9;
constexpr double good = 0.1, fair = 0.2;

/// Half the width of the intervals, relative to the prediction: the median over networks of the pool.
double expected_error(const trainer::PoolModel& model, const trainer::Predictor& predictor) {
  std::vector<nasbench::Architecture> architectures = datasets::latency_matrix(model.pool()).architectures;
  if (architectures.size() > judged_networks) architectures.resize(judged_networks);
  const trainer::Predictions predictions = predictor.predict(architectures, shown_confidence);
  std::vector<double> widths;
  for (std::size_t i = 0; i < architectures.size(); ++i) {
    widths.push_back((predictions.upper_ms[i] - predictions.lower_ms[i]) / (2 * predictions.latency_ms[i]));
  }
  const auto middle = widths.begin() + static_cast<std::ptrdiff_t>(widths.size() / 2);
  std::nth_element(widths.begin(), middle, widths.end());
  return *middle;
}

/// By what factor `more_measurements` further ones, the most informative of the pool's networks, would narrow the
/// intervals; nothing where the predictor does not say what it is uncertain about, or the pool has no others.
std::optional<double> narrowing(const trainer::PoolModel& model, const trainer::Predictor& predictor,
                                const std::vector<nasbench::Architecture>& measured) {
  const nasbench::SearchSpace& space = predictor.space();
  std::unordered_set<nasbench::Architecture, nasbench::ArchitectureHash> known(measured.begin(), measured.end());
  std::vector<nasbench::Architecture> candidates;
  for (const nasbench::Architecture& architecture : datasets::latency_matrix(model.pool()).architectures) {
    if (candidates.size() == planned_among) break;
    const bool usable = !space.composed() || space.connected(architecture);
    if (usable && known.insert(architecture).second) candidates.push_back(architecture);
  }
  if (candidates.size() <= more_measurements) return std::nullopt;
  const std::optional<trainer::PlanningView> view = trainer::uncertainty(predictor, candidates);
  if (!view) return std::nullopt;
  sampling::InformationOptions options;
  if (view->noise) options.noise = *view->noise;
  options.random_half = false;
  std::vector<std::size_t> all(candidates.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  Rng rng(1);  // draws nothing where all candidates are considered
  const std::vector<std::size_t> chosen =
      sampling::choose_informative(view->covariance, all, {}, more_measurements, rng, options);
  const std::vector<double> variance = sampling::expected_variance(view->covariance, chosen, options);
  const double noise = options.noise * options.noise;
  return std::sqrt((std::max(variance.back(), 0.0) + noise) / (std::max(variance.front(), 0.0) + noise));
}

/// "; three more would narrow that to ±5 %", as far as that is worth measuring.
std::string worth_of_more(double error, const std::optional<double>& factor) {
  constexpr double little = 0.9;
  if (!factor) return "";
  if (*factor > little) return "; three more would narrow that little";
  char text[80];
  std::snprintf(text, sizeof text, "; three more would narrow that to ±%.2g %%", 100 * error * *factor);
  return text;
}

}  // namespace

std::string verdict(const trainer::PoolModel& model, const trainer::Predictor& predictor,
                    const std::vector<nasbench::Architecture>& measured) {
  if (!predictor.has_intervals()) return "";
  const double error = expected_error(model, predictor);
  const std::vector<std::string> explanation = predictor.explanation();
  const auto warnings = std::count_if(explanation.begin(), explanation.end(), [](const std::string& line) {
    return line.rfind(trainer::warning_mark, 0) == 0;
  });
  const char* word = warnings > 0 ? "Doubtful" : error <= good ? "Good" : error <= fair ? "Fair" : "Poor";
  char text[300];
  std::snprintf(text, sizeof text, "%s: expect nine of ten predictions within ±%.2g %% (from %zu %s%s%s)", word,
                100 * error, measured.size(), measured.size() == 1 ? "measurement" : "measurements",
                worth_of_more(error, narrowing(model, predictor, measured)).c_str(),
                warnings == 1  ? ", see the warning"
                : warnings > 1 ? ", see the warnings"
                               : "");
  return text;
}

}  // namespace tenshot::cli
