#include "trainer/predictors/verdict.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <nlohmann/json.hpp>

#include "trainer/core/archive_reader.h"
#include "trainer/core/knowledge.h"

namespace tenshot::trainer {
namespace {

constexpr std::size_t judged_networks = 1000;
/// Further measurements whose worth is said, and the networks they are chosen among: few enough to take milliseconds.
constexpr std::size_t more_measurements = 3, planned_among = 300;

/// "; three more would narrow that to ±5 %", as far as that is worth measuring.
std::string worth_of_more(const Verdict& verdict) {
  constexpr double little = 0.9;
  if (!verdict.further) return "";
  if (*verdict.further > little * verdict.half_width) return "; three more would narrow that little";
  return "; three more would narrow that to " + half_width_in_words(*verdict.further);
}

}  // namespace

std::vector<Architecture> judged_by(const PoolModel& model, const std::vector<Architecture>& measured,
                                    const std::vector<Architecture>& named) {
  if (!named.empty()) return named;
  std::vector<Architecture> known = known_architectures(model.pool());
  return known.empty() ? measured : known;
}

std::optional<Verdict> verdict(const Predictor& predictor, const std::vector<Architecture>& judged,
                               const std::vector<Architecture>& measured) {
  if (!predictor.has_intervals() || judged.empty()) return std::nullopt;
  Verdict result;
  const std::vector<Architecture> some(judged.begin(), judged.begin() + std::min(judged.size(), judged_networks));
  result.half_width = typical_half_width(predictor.predict(some, judged_confidence));
  const double unlike = typical_half_width(predictor.predict_as_unlike(some, judged_confidence));
  if (std::isfinite(unlike)) result.of_other_kinds = unlike;
  result.measurements = measured.size();
  const std::vector<Remark> explanation = predictor.explanation();
  result.warnings = static_cast<std::size_t>(
      std::count_if(explanation.begin(), explanation.end(), [](const Remark& remark) { return remark.warns; }));
  result.trust = trust(result.half_width, result.warnings > 0);
  const auto next =
      next_measurements(predictor, not_measured(predictor.space(), judged, measured, planned_among), more_measurements);
  if (next) result.further = result.half_width * next->narrowing();
  return result;
}

Archive judged_archive(const Predictor& predictor, const std::optional<Verdict>& verdict) {
  Archive archive = predictor.to_archive();
  if (verdict && std::isfinite(verdict->half_width)) archive.card["verdict"] = to_json(*verdict);
  return archive;
}

std::optional<Verdict> kept_verdict(const Archive& archive) {
  const std::optional<JsonField> card = JsonField(archive).find("verdict");
  if (!card) return std::nullopt;
  constexpr std::int64_t most = 1'000'000'000;
  Verdict verdict;
  verdict.half_width = card->at("within_percent").number(not_negative) / 100;
  verdict.measurements = static_cast<std::size_t>(card->at("measurements").whole_number(0, most));
  verdict.warnings = static_cast<std::size_t>(card->at("warnings").whole_number(0, most));
  verdict.trust = trust(verdict.half_width, verdict.warnings > 0);
  const auto further = card->find("within_percent_after_three_more"),
             others = card->find("within_percent_of_other_kinds");
  if (further) verdict.further = further->number(not_negative) / 100;
  if (others) verdict.of_other_kinds = others->number(not_negative) / 100;
  return verdict;
}

std::string in_words(const Verdict& verdict) {
  std::string text = std::string(word(verdict.trust)) + ": expect nine of ten predictions within " +
                     half_width_in_words(verdict.half_width);
  if (verdict.of_other_kinds)
    text += ", of networks of other kinds within " + half_width_in_words(*verdict.of_other_kinds);
  text += " (from " + std::to_string(verdict.measurements) +
          (verdict.measurements == 1 ? " measurement" : " measurements") + worth_of_more(verdict);
  if (verdict.warnings > 0) text += verdict.warnings == 1 ? ", see the warning" : ", see the warnings";
  return text + ")";
}

nlohmann::json to_json(const Verdict& verdict) {
  std::string trust(word(verdict.trust));
  trust.front() = static_cast<char>(std::tolower(static_cast<unsigned char>(trust.front())));
  nlohmann::json json = {{"trust", trust},
                         {"within_percent", 100 * verdict.half_width},
                         {"measurements", verdict.measurements},
                         {"warnings", verdict.warnings}};
  if (verdict.of_other_kinds) json["within_percent_of_other_kinds"] = 100 * *verdict.of_other_kinds;
  if (verdict.further) json["within_percent_after_three_more"] = 100 * *verdict.further;
  return json;
}

std::optional<std::size_t> measurements_until(double wanted, const Verdict& verdict, const Predictor& predictor,
                                              const std::vector<Architecture>& judged,
                                              const std::vector<Architecture>& measured) {
  if (verdict.half_width <= wanted) return 0;
  const std::vector<Architecture> candidates = not_measured(predictor.space(), judged, measured, planned_among);
  const auto reached = [&](std::size_t count) {
    const auto next = next_measurements(predictor, candidates, count);
    return next && verdict.half_width * next->narrowing() <= wanted;
  };
  std::size_t enough = std::min(most_planned, candidates.empty() ? 0 : candidates.size() - 1);
  if (enough == 0 || !reached(enough)) return std::nullopt;
  for (std::size_t too_few = 0; enough - too_few > 1;) {  // more measurements never widen intervals
    const std::size_t middle = (too_few + enough) / 2;
    (reached(middle) ? enough : too_few) = middle;
  }
  return enough;
}

}  // namespace tenshot::trainer
