#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "nasbench/graph/operator_specification.h"
#include "trainer/core/archive_reader.h"

namespace tenshot::trainer::kernels {

/// Predicts the latency of operators of one kind from their features.
class LatencyLearner {
 public:
  virtual ~LatencyLearner() = default;
  /// Milliseconds, over 0.
  virtual double predict_ms(const std::vector<double>& features) const = 0;
  /// Keeps it in a file: adds arrays whose names begin with `name`, and returns what the card says of it, "form" among
  /// it; load_learner() reads both back.
  virtual nlohmann::json put(Archive& archive, const std::string& name) const = 0;
  /// The same as plain numbers.
  virtual nlohmann::json to_document() const = 0;
  /// What training has to say; may be empty.
  virtual std::string remark() const { return ""; }
};

/// Rows of one kind of operator.
struct LatencyRows {
  std::vector<std::vector<double>> features;
  std::vector<double> latency_ms;  ///< positive
};

/// The rows of numbers_of_fold().
LatencyRows of_fold(const LatencyRows& rows, std::size_t fold, std::size_t folds, bool inside);

/// The perceptron with the least error on held-out rows: of two widths and two learning rates with two layers and no
/// weight decay, or, with `of_all`, of all combinations that Li et al. name.
std::unique_ptr<LatencyLearner> best_perceptron(const LatencyRows& rows, std::uint64_t seed, bool of_all);
/// Reads back what put() of a perceptron over `width` features kept. Throws FormatError.
std::unique_ptr<LatencyLearner> load_perceptron(const Archive& archive, const std::string& name, const JsonField& card,
                                                std::size_t width);

/// What learns the latency of one type of kernel. None predicts less than the smallest latency that it was trained on:
/// a line may fall below zero.
enum class LearnerKind : std::uint8_t {
  forest,            ///< nn-Meter's random forest, by XGBoost: 100 trees
  small_forest,      ///< Li et al.'s: 3 or 10 trees, smallest leaves of 1 to 25 rows
  boosted,           ///< boosted trees by XGBoost over a line: what operators are besides counts (operation_details)
  small_boosted,     ///< Li et al.'s boosted trees: 50 to 200 rounds of depth 3
  lasso,             ///< a line with weights that are not negative (lasso.h)
  perceptron,        ///< two hidden layers of 64 or 128, stopped when a fifth of the rows is predicted no better
  whole_forest,      ///< small_forest, chosen among all numbers of trees and leaves of Li et al. (§4.2)
  whole_boosted,     ///< small_boosted, likewise
  whole_perceptron,  ///< likewise: one to six layers of 64 to 512; hours
  grid               ///< MONNET's interpolation between points (grid_learner.h)
};
/// "forest", "small-forest", "boosted", "small-boosted", "lasso", "perceptron", "whole-forest", "whole-boosted",
/// "whole-perceptron", "grid".
std::string_view name(LearnerKind kind);
/// The kind of that name. Throws InputError that lists the names, but for the grid, which needs rows on one.
LearnerKind learner_kind(std::string_view name);

/// What such a learner sees of an operator: operation_features(), and `boosted` operation_details() behind them.
std::vector<double> features_for(LearnerKind kind, const nasbench::OperatorSpecification& operation);
/// What they are called, of operators of that category.
std::vector<std::string> names_for(LearnerKind kind, const std::string& category);

/// Trains on relative errors: Lasso and the perceptron minimise the squared relative error, the trees the squared error
/// of the latency's logarithm, which for small errors is the same. Settings are chosen inside the rows (Li et al.,
/// 2024, §4.2): by five folds (Lasso, small forests, small boosted trees), by a fifth of the rows (perceptron). The
/// rows are of operators of `category`, with features_for(). The same rows and seed give the same learner. Throws
/// InputError where there are no rows, rows differ in length, a latency is not positive, trees are wanted of a program
/// without XGBoost, or the rows are no grid where one is wanted.
std::unique_ptr<LatencyLearner> train_learner(LearnerKind kind, const LatencyRows& rows, const std::string& category,
                                              std::uint64_t seed);

/// What LatencyLearner::put() kept, of rows of `width` features; a card without a form holds trees. Throws FormatError.
std::unique_ptr<LatencyLearner> load_learner(const Archive& archive, const std::string& name, const JsonField& card,
                                             std::size_t width);

}  // namespace tenshot::trainer::kernels
