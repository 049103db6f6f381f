#include "trainer/predictors/verdict.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "nasbench/spaces/networks.h"
#include "nasbench/support/median.h"
#include "nasbench/support/number_text.h"
#include "nasbench/support/numbers_below.h"
#include "nasbench/support/text.h"
#include "nasbench/support/words.h"
#include "sampling/architectures/information.h"
#include "trainer/core/adaptation.h"
#include "trainer/core/archive_reader.h"
#include "trainer/core/knowledge.h"

namespace tenshot::trainer {
namespace {

constexpr std::size_t judged_networks = 1000;
/// Networks that further measurements are chosen among: few enough to take milliseconds.
constexpr std::size_t planned_among = 300;

/// "; three more would narrow that to ±5 %", as far as that is worth measuring.
std::string worth_of_more(const Verdict& verdict) {
  constexpr double little = 0.9;
  if (!verdict.further) return "";
  if (*verdict.further > little * verdict.half_width) return "; three more would narrow that little";
  return "; three more would narrow that to " + half_width_in_words(*verdict.further);
}

constexpr double far_outside = 2;  ///< times as costly as the most costly of the pool's networks, or the least

std::string note_on(const std::string& name, const Unfamiliar& unfamiliar) {
  std::string note;
  if (!unfamiliar.operators.empty()) {
    note = name + " has operators that no measured network has (" + joined(unfamiliar.operators) +
           "): they count as on other devices, or as the operators most like them, and the interval is wider";
  }
  const bool large = unfamiliar.size > far_outside;
  if (!large && unfamiliar.size >= 1 / far_outside) return note;
  note += note.empty() ? name : "; it";
  note += large ? " costs about " + significant_digits(unfamiliar.size, 3) +
                      " times as much as the most costly network of the pool"
                : " costs about 1/" + significant_digits(1 / unfamiliar.size, 3) +
                      " of what the least costly network of the pool costs";
  return note + ": the prediction extrapolates";
}

/// The first ten; behind them, where there are more, "INTRODUCTION: 12 moreNOUN", whose noun begins with a space.
std::vector<std::string> first_notes(std::vector<std::string> notes, const std::string& introduction,
                                     const std::string& noun) {
  constexpr std::size_t most = 10;
  if (notes.size() <= most) return notes;
  const std::string more = introduction + ": " + std::to_string(notes.size() - most) + " more" + noun;
  notes.resize(most);
  notes.push_back(more);
  return notes;
}

/// Half the width of a measured network's interval by what the others tell: the median over five, from fast to slow.
double width_left_out(const PoolModel& model, const AdaptationSet& set, AdaptOptions options) {
  options.control = {};
  std::vector<double> widths;
  const std::vector<std::size_t> order = fastest_first(set.latency_ms);
  for (std::size_t rank = 0; rank < order.size(); rank += std::max<std::size_t>(order.size() / 5, 1)) {
    const std::size_t i = order[rank];
    AdaptationSet others = set;
    others.architectures.erase(others.architectures.begin() + static_cast<std::ptrdiff_t>(i));
    others.latency_ms.erase(others.latency_ms.begin() + static_cast<std::ptrdiff_t>(i));
    const auto predictor = model.adapt(others, options);
    widths.push_back(typical_half_width(predictor->predict({set.architectures[i]}, judged_confidence)));
  }
  return median(widths);
}

/// Half the width after the most informative further measurements, were they to come out as predicted.
std::optional<double> width_with_more(const PoolModel& model, const Predictor& predictor, AdaptationSet set,
                                      AdaptOptions options, const std::vector<Architecture>& judged) {
  const auto candidates = not_measured(predictor.space(), judged, set.architectures, planned_among);
  const auto next = next_measurements(predictor, candidates, more_measurements);
  if (!next) return std::nullopt;
  std::vector<Architecture> more;
  for (const std::size_t i : next->chosen) more.push_back(candidates[i]);
  const std::vector<double> expected_ms = predictor.predict(more, judged_confidence).latency_ms;
  set.architectures.insert(set.architectures.end(), more.begin(), more.end());
  set.latency_ms.insert(set.latency_ms.end(), expected_ms.begin(), expected_ms.end());
  options.control = {};
  const std::vector<Architecture> rest = not_measured(*model.pool().space, judged, set.architectures, judged_networks);
  return typical_half_width(model.adapt(set, options)->predict(rest, judged_confidence));
}

}  // namespace

double typical_half_width(const Predictions& predictions) {
  std::vector<double> widths;
  for (std::size_t i = 0; i < predictions.lower_ms.size(); ++i) {
    const double width = (predictions.upper_ms[i] - predictions.lower_ms[i]) / (2 * predictions.latency_ms[i]);
    if (!std::isnan(width)) widths.push_back(width);
  }
  return widths.empty() ? std::nan("") : upper_median(std::move(widths));
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
  constexpr std::string_view words[] = {"Good", "Fair", "Poor", "Doubtful"};
  return words[static_cast<std::size_t>(trust)];
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

std::vector<Architecture> judged_by(const PoolModel& model, const std::vector<Architecture>& measured,
                                    const std::vector<Architecture>& named) {
  std::vector<Architecture> known = named.empty() ? known_architectures(model.pool()) : named;
  known = not_measured(*model.pool().space, known, measured, known.size());
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
  return result;
}

std::optional<Verdict> judge(const PoolModel& model, const Predictor& predictor, const AdaptationSet& set,
                             const AdaptOptions& options, const std::vector<Architecture>& named) {
  const std::vector<Architecture> judged = judged_by(model, set.architectures, named);
  std::optional<Verdict> found = verdict(predictor, judged, set.architectures);
  if (!found) return found;
  found->warnings += set.doubts;
  found->trust = trust(found->half_width, found->warnings > 0);
  if (set.architectures.empty()) return found;
  if (judged != set.architectures) {
    found->further = width_with_more(model, predictor, set, options, judged);
    return found;
  }
  const double width = set.architectures.size() > 1 ? width_left_out(model, set, options)
                                                    : found->of_other_kinds.value_or(found->half_width);
  found->half_width = std::max(found->half_width, width);
  if (found->of_other_kinds) found->of_other_kinds = std::max(*found->of_other_kinds, found->half_width);
  found->trust = trust(found->half_width, found->warnings > 0);
  return found;
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
  text += " (from " + counted(verdict.measurements, "measurement") + worth_of_more(verdict);
  if (verdict.warnings > 0) text += verdict.warnings == 1 ? ", see the warning" : ", see the warnings";
  return text + ")";
}

nlohmann::json to_json(const Verdict& verdict) {
  nlohmann::json json = {{"trust", lower_case(std::string(word(verdict.trust)))},
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
  const auto three = next_measurements(predictor, candidates, more_measurements);
  if (!three || !verdict.further || !(*verdict.further < verdict.half_width)) return std::nullopt;
  const double power = std::log(*verdict.further / verdict.half_width) / std::log(three->narrowing());
  const auto reached = [&](std::size_t count) {
    const auto next = next_measurements(predictor, candidates, count);
    return next && verdict.half_width * std::pow(next->narrowing(), power) <= wanted;
  };
  std::size_t enough = std::min(most_planned, candidates.empty() ? 0 : candidates.size() - 1);
  if (enough == 0 || !reached(enough)) return std::nullopt;
  for (std::size_t too_few = 0; enough - too_few > 1;) {  // more measurements never widen intervals
    const std::size_t middle = (too_few + enough) / 2;
    (reached(middle) ? enough : too_few) = middle;
  }
  return enough;
}

std::vector<std::string> notes_on(const Predictor& predictor, const std::vector<Architecture>& architectures) {
  const bool by_name = &predictor.space() == &nasbench::networks();
  const std::vector<Unfamiliar> unfamiliar = predictor.unfamiliar(architectures);
  std::vector<std::string> read, far;
  for (std::size_t i = 0; by_name && i < architectures.size(); ++i) {
    const nasbench::NamedNetwork& network = nasbench::named_network(architectures[i]);
    for (const std::string& remark : network.remarks) read.push_back(network.name + ": " + remark);
  }
  for (std::size_t i = 0; i < unfamiliar.size(); ++i) {
    const std::string note = note_on(predictor.space().format(architectures[i]), unfamiliar[i]);
    if (!note.empty()) far.push_back(note);
  }
  std::vector<std::string> notes = first_notes(std::move(read), "remarks like these", "");
  far = first_notes(std::move(far), "as far from the pool as these", " networks");
  notes.insert(notes.end(), far.begin(), far.end());
  return notes;
}

}  // namespace tenshot::trainer
