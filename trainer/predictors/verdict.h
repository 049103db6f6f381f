#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "trainer/core/predictor.h"

namespace tenshot::trainer {

// How far a predictor is to be trusted, as its own intervals say it, and what further measurements would do.

/// The confidence of the intervals by which predictors are judged.
constexpr double judged_confidence = 0.9;

/// Half the width of the intervals relative to the prediction, the median over networks; NaN without intervals.
double typical_half_width(const Predictions& predictions);

/// Half a width in words: "±12 %", or "a factor of 2.4" where ±120 % would say that a latency may be below zero.
std::string half_width_in_words(double half_width);

enum class Trust : std::uint8_t {
  good,     ///< half the width is at most 10 %
  fair,     ///< at most 20 %
  poor,     ///< more
  doubtful  ///< whatever the intervals say, the measurements gave reason for a warning
};
Trust trust(double half_width, bool warned);
/// "Good", "Fair", "Poor", "Doubtful".
std::string_view word(Trust trust);

/// Measurements that would tell most, and what they would do.
struct NextMeasurements {
  std::vector<std::size_t> chosen;  ///< of the candidates, the most informative first
  double before = 0;                ///< typical deviation of log latency (sampling::expected_variance), noise excluded
  double after = 0;                 ///< expected after measuring those chosen
  double noise = 0;                 ///< σ of a measurement's log latency, and of what is a network's own

  /// By what factor intervals would narrow, which hold the noise too.
  double narrowing() const;
};

/// The `count` most informative of `candidates`, which are connected and not measured (sampling::choose_informative,
/// expected_variance). Nothing where there are no more than that, or the predictor does not say what is uncertain.
std::optional<NextMeasurements> next_measurements(const Predictor& predictor,
                                                  const std::vector<Architecture>& candidates, std::size_t count);

/// The networks that a verdict is about: of networks by name those that the user `named`, else those of the pool
/// (known_architectures()), without the measured ones, which need no prediction; those where there are no others.
std::vector<Architecture> judged_by(const PoolModel& model, const std::vector<Architecture>& measured,
                                    const std::vector<Architecture>& named = {});

/// How far a predictor is to be trusted, by the median width of its 90 % intervals over the networks judged.
struct Verdict {
  Trust trust = Trust::doubtful;
  double half_width = 0;  ///< nine of ten predictions are expected within ± this share
  /// The same of networks of other kinds than were measured; nothing where the predictor does not compare them.
  std::optional<double> of_other_kinds;
  std::size_t measurements = 0;   ///< that the predictor was made from
  std::size_t warnings = 0;       ///< among its explanation, and doubts of joined measurements
  std::optional<double> further;  ///< half_width after three more, as judge() expects it
};

/// Nothing for predictors without intervals, and where no network is judged; of further measurements it says nothing.
std::optional<Verdict> verdict(const Predictor& predictor, const std::vector<Architecture>& judged,
                               const std::vector<Architecture>& measured);

/// The verdict on a predictor that the model was adapted to by `set` and `options`, about the networks of judged_by().
/// Where these are the measured ones, they say how sure it is of the next one like them: some are left out in turn.
/// Elsewhere it says what the three most informative of them would do (next_measurements): the model is adapted once
/// more, as if they had been measured to take what is predicted. Nothing measured: it does not say.
std::optional<Verdict> judge(const PoolModel& model, const Predictor& predictor, const AdaptationSet& set,
                             const AdaptOptions& options, const std::vector<Architecture>& named = {});

/// A predictor's content with its verdict in the card, where one of a finite width was found.
Archive judged_archive(const Predictor& predictor, const std::optional<Verdict>& verdict);
/// The verdict that a predictor's card keeps; nothing in files of earlier versions. Throws FormatError.
std::optional<Verdict> kept_verdict(const Archive& archive);

/// "Good: expect nine of ten predictions within ±6 % (from 10 measurements; three more would narrow that to ±5 %)"
std::string in_words(const Verdict& verdict);
/// {"trust": "good", "within_percent": 6.1, "within_percent_of_other_kinds": 20.3, "measurements": 10, "warnings": 0,
/// "within_percent_after_three_more": 5.2}
nlohmann::json to_json(const Verdict& verdict);

/// How many further measurements are expected to bring `half_width` to `wanted`: 0 where it is there already; nothing
/// where `most_planned` would not do, too few networks are judged, or the predictor does not say what is uncertain.
/// They narrow it by NextMeasurements::narrowing(), to the power that three more are worth by judge().
std::optional<std::size_t> measurements_until(double wanted, const Verdict& verdict, const Predictor& predictor,
                                              const std::vector<Architecture>& judged,
                                              const std::vector<Architecture>& measured);

/// Further measurements whose worth a verdict says, and the most that measurements_until() looks at.
constexpr std::size_t more_measurements = 3, most_planned = 64;

/// What was remarked when networks by name were read, as on a length that depends on the data; then a sentence for each
/// that has operators which no network of the predictor's pool had, or costs over twice the most or under half of the
/// least of them. After ten sentences of a kind, one says how many more there are.
std::vector<std::string> notes_on(const Predictor& predictor, const std::vector<Architecture>& architectures);

}  // namespace tenshot::trainer
