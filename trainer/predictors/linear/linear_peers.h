#pragma once

#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "datasets/pool/pool.h"
#include "trainer/core/predictor.h"

namespace tenshot::trainer {

// Predictors that others start from, fitted to the adaptation set alone; the pool only plans for them. Each latency is
// linear in the one-hot encoding, fitted by least squares on the relative error, none below zero but where said.

/// "flops": a + b·FLOPs (at 32² input, where only ratios of FLOPs matter). "flops-memory": a + b·FLOPs + c·bytes that
/// layers read and write (fp32, every input, output and weight once). "lasso": a coefficient for every measure of every
/// kind of operator, by non-negative Lasso (fit_operator_line); not in nasbench201, whose architectures do not list
/// their operators. "constant": the latency that is within ±10 % of most of the measurements. "look-up": the sum of the
/// operators' own latencies, which the hardware descriptor has, over all cells, and a backbone that is fitted; without
/// a descriptor, operator costs and backbone both are (inferred_costs_ms). "additive": a cost for every option of every
/// decision, by ridge regression; costs may be negative. The first four also take networks by name.
std::unique_ptr<PoolModel> make_linear_peer(const std::string& name, const datasets::Pool& pool);
/// A line by decisions, or through operators (operator_lines.cpp). Throws FormatError.
std::unique_ptr<Predictor> load_linear_predictor(const Archive& archive);

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
/// of multiply–adds and bytes are fitted by non-negative least squares on the relative error, those of every feature by
/// Lasso (Li et al., 2024, Eq. 1). It is saved, loaded and exported as `operators` is.
std::unique_ptr<Predictor> fit_operator_line(const NetworkSpace& space, const AdaptationSet& set, LineTerms terms,
                                             nlohmann::json card);

/// The latency that is within ±10 % of most of the set, which is not empty: |c − y| ≤ y/10 holds from .9 y to 1.1 y,
/// and the constant is the middle of the first stretch in which most of these overlap.
double best_constant_ms(const AdaptationSet& set);

}  // namespace tenshot::trainer
