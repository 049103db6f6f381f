#pragma once

#include <cstddef>
#include <cstdint>
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
  double before = 0;                ///< root mean variance of log latency over the candidates, noise excluded
  double after = 0;                 ///< expected after measuring those chosen
  double noise = 0;                 ///< σ of a measurement's log latency, and of what is a network's own

  /// By what factor intervals would narrow, which hold the noise too.
  double narrowing() const;
};

/// The `count` most informative of `candidates`, which are connected and were not measured
/// (sampling::choose_informative, sampling::expected_variance). Nothing where there are no more candidates than that,
/// or the predictor does not say what it is uncertain about.
std::optional<NextMeasurements> next_measurements(const Predictor& predictor,
                                                  const std::vector<Architecture>& candidates, std::size_t count);

}  // namespace tenshot::trainer
