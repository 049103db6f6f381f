#pragma once

#include <string>

#include "trainer/core/predictor.h"

namespace tenshot::cli {

/// One line that says how far a predictor is to be trusted: "Good: expect nine of ten predictions within ±6 % (from 10
/// measurements)", by the median width of its 90 % intervals over the pool's networks; good up to 10 %, fair up to 20
/// %, else poor, and doubtful where its explanation has warnings. Empty for predictors without intervals.
std::string verdict(const trainer::PoolModel& model, const trainer::Predictor& predictor, std::size_t measurements);

}  // namespace tenshot::cli
