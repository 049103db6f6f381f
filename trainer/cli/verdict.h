#pragma once

#include <string>
#include <vector>

#include "nasbench/spaces/search_space.h"
#include "trainer/core/predictor.h"

namespace tenshot::cli {

/// One line that says how far a predictor is to be trusted: "Good: expect nine of ten predictions within ±6 % (from 10
/// measurements; three more would narrow that to ±5 %)", by the median width of its 90 % intervals over the pool's
/// networks (trainer::Trust). Empty for predictors without intervals.
/// What three more would do is what the three most informative of the pool's networks would
/// (trainer::next_measurements). Of a checkpoint without rows they are trainer::known_architectures(), and of networks
/// by name those that the user `named`, or else the measured ones.
std::string verdict(const trainer::PoolModel& model, const trainer::Predictor& predictor,
                    const std::vector<nasbench::Architecture>& measured,
                    const std::vector<nasbench::Architecture>& named = {});

}  // namespace tenshot::cli
