#pragma once

#include <vector>

#include "trainer/core/predictor.h"

namespace tenshot::trainer {

/// A latency as a base and a cost for every option of every decision.
struct AdditiveFit {
  double base_ms = 0;
  std::vector<double> cost_ms;  ///< [encoding_width], in the order of the one-hot encoding; may be negative
  double penalty = 0;           ///< that was chosen
};

/// Ridge regression on the one-hot encoding x by relative error: min Σ_i (1 − (m/y_i)·(b₀ + x_i·b))² + λ·n·‖b‖², with m
/// the median latency and b₀ free. λ is the one of seven, 10⁻⁷ to 10⁻¹, whose predictions of each fifth of the
/// measurements by the others are most often within ±10 %. It is what a space's own measurements give without any
/// pool: with thousands of them, the reference for what an additive model can reach. Needs five measurements for a
/// choice of λ; with fewer it takes 10⁻².
AdditiveFit fit_additive(const SearchSpace& space, const AdaptationSet& set);

}  // namespace tenshot::trainer
