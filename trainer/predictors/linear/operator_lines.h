#pragma once

#include <memory>
#include <nlohmann/json_fwd.hpp>

#include "trainer/core/predictor.h"

namespace tenshot::trainer {

// Lines through sums over a network's operators: the peers of networks by name, and of spaces in which what an option
// adds depends on other decisions, as the resolution does. Fitted to the adaptation set alone.

/// What a line sums over the operators of a network (operators/operator_groups.h).
enum class LineTerms {
  base,                     ///< nothing: a constant, that within ±10 % of most of the set
  multiply_adds,            ///< one coefficient
  multiply_adds_and_bytes,  ///< one for each: multiply–adds, and bytes of inputs, outputs and weights
  every_feature             ///< a coefficient for every measure of every group of operators, by non-negative Lasso
};

/// The line of `set`, without intervals; `card` becomes its card, with the coefficients under "line". The coefficients
/// of the first two are fitted by non-negative least squares on the relative error, those of the third by Lasso (Li et
/// al., 2024, Eq. 1). It is saved, loaded and exported as `operators` is.
std::unique_ptr<Predictor> fit_operator_line(const NetworkSpace& space, const AdaptationSet& set, LineTerms terms,
                                             nlohmann::json card);

/// The latency that is within ±10 % of most of the set, which is not empty: |c − y| ≤ y/10 holds from .9 y to 1.1 y,
/// and the constant is the middle of the first stretch in which most of these overlap.
double best_constant_ms(const AdaptationSet& set);

/// Whether a predictor's archive holds such a line; its predictor. The latter throws FormatError.
bool holds_operator_line(const Archive& archive);
std::unique_ptr<Predictor> load_operator_line(const Archive& archive);

}  // namespace tenshot::trainer
