#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "trainer/predictors/kernels/latency_learner.h"

namespace tenshot::trainer::kernels {

/// The learners that Li et al. (2024, §4.2) compare for the latency of operators of one kind. None predicts less than
/// the smallest latency that it was trained on: a line may fall below zero.
enum class LearnerKind : std::uint8_t {
  lasso,      ///< a line with weights that are not negative (lasso.h)
  forest,     ///< a random forest by XGBoost: 3 or 10 trees, smallest leaves of 1 to 25 rows
  boosting,   ///< boosted trees by XGBoost: 50 to 200 rounds of trees of depth 3
  perceptron  ///< two hidden layers of 64 or 128, stopped when a fifth of the rows is predicted no better
};
/// "lasso", "forest", "boosting", "perceptron".
std::string_view name(LearnerKind kind);
/// The kind of that name. Throws InputError that lists the names.
LearnerKind learner_kind(std::string_view name);

/// Trains on relative errors: Lasso and the perceptron minimise the squared relative error, the trees the squared error
/// of the latency's logarithm, which for small errors is the same. Settings are chosen inside the rows: by five folds
/// (Lasso, trees), by a fifth of the rows (perceptron). The same rows and seed give the same learner. Throws InputError
/// where there are no rows, rows differ in length, a latency is not positive, or trees are wanted of a program without
/// XGBoost.
std::unique_ptr<trainer::kernels::LatencyLearner> train_learner(LearnerKind kind,
                                                                const trainer::kernels::LatencyRows& rows,
                                                                std::uint64_t seed);

}  // namespace tenshot::trainer::kernels
