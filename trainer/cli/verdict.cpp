#include "trainer/cli/verdict.h"

#include <algorithm>
#include <cstdio>

#include "datasets/pool/pool.h"

namespace tenshot::cli {
namespace {

constexpr std::size_t judged_networks = 1000;
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

}  // namespace

std::string verdict(const trainer::PoolModel& model, const trainer::Predictor& predictor, std::size_t measurements) {
  if (!predictor.has_intervals()) return "";
  const double error = expected_error(model, predictor);
  const std::vector<std::string> explanation = predictor.explanation();
  const auto warnings = std::count_if(explanation.begin(), explanation.end(), [](const std::string& line) {
    return line.rfind(trainer::warning_mark, 0) == 0;
  });
  const char* word = warnings > 0 ? "Doubtful" : error <= good ? "Good" : error <= fair ? "Fair" : "Poor";
  char text[200];
  std::snprintf(text, sizeof text, "%s: expect nine of ten predictions within ±%.2g %% (from %zu %s%s)", word,
                100 * error, measurements, measurements == 1 ? "measurement" : "measurements",
                warnings == 1  ? ", see the warning"
                : warnings > 1 ? ", see the warnings"
                               : "");
  return text;
}

}  // namespace tenshot::cli
