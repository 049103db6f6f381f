#include "trainer/cli/verdict.h"

#include <algorithm>
#include <cstdio>
#include <optional>
#include <unordered_set>

#include "trainer/core/knowledge.h"
#include "trainer/predictors/trust.h"

namespace tenshot::cli {
namespace {

constexpr std::size_t judged_networks = 1000;
/// Further measurements whose worth is said, and the networks they are chosen among: few enough to take milliseconds.
constexpr std::size_t more_measurements = 3, planned_among = 300;

double expected_error(std::vector<nasbench::Architecture> architectures, const trainer::Predictor& predictor) {
  if (architectures.size() > judged_networks) architectures.resize(judged_networks);
  return trainer::typical_half_width(predictor.predict(architectures, trainer::judged_confidence));
}

/// By what factor `more_measurements` further ones, the most informative of `judged`, would narrow the intervals;
/// nothing where the predictor does not say what it is uncertain about, or there are no others.
std::optional<double> narrowing(const std::vector<nasbench::Architecture>& judged, const trainer::Predictor& predictor,
                                const std::vector<nasbench::Architecture>& measured) {
  const nasbench::SearchSpace& space = predictor.space();
  std::unordered_set<nasbench::Architecture, nasbench::ArchitectureHash> known(measured.begin(), measured.end());
  std::vector<nasbench::Architecture> candidates;
  for (const nasbench::Architecture& architecture : judged) {
    if (candidates.size() == planned_among) break;
    const bool usable = !space.composed() || space.connected(architecture);
    if (usable && known.insert(architecture).second) candidates.push_back(architecture);
  }
  const auto next = trainer::next_measurements(predictor, candidates, more_measurements);
  if (!next) return std::nullopt;
  return next->narrowing();
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
                    const std::vector<nasbench::Architecture>& measured,
                    const std::vector<nasbench::Architecture>& named) {
  std::vector<nasbench::Architecture> judged = trainer::known_architectures(model.pool());
  if (judged.empty()) judged = named.empty() ? measured : named;
  if (!predictor.has_intervals() || judged.empty()) return "";
  const double error = expected_error(judged, predictor);
  const std::vector<trainer::Remark> explanation = predictor.explanation();
  const auto warnings =
      std::count_if(explanation.begin(), explanation.end(), [](const trainer::Remark& remark) { return remark.warns; });
  const std::string word(trainer::word(trainer::trust(error, warnings > 0)));
  char text[300];
  std::snprintf(text, sizeof text, "%s: expect nine of ten predictions within ±%.2g %% (from %zu %s%s%s)", word.c_str(),
                100 * error, measured.size(), measured.size() == 1 ? "measurement" : "measurements",
                worth_of_more(error, narrowing(judged, predictor, measured)).c_str(),
                warnings == 1  ? ", see the warning"
                : warnings > 1 ? ", see the warnings"
                               : "");
  return text;
}

}  // namespace tenshot::cli
