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

/// Which operators share a latency predictor (Li, Paolieri and Golubchik, Performance Evaluation 165, 2024, Table 2):
/// "convolution", "depthwise_convolution", "grouped_convolution", "fully_connected", "mean", "concat_split", "pooling",
/// "padding", "elementwise"; "other" for what the table does not have, with the features of an element-wise operator.
std::string operation_category(const nasbench::OperatorSpecification& operation);

/// What learns the latency of one type of kernel. None predicts less than the smallest latency that it was trained on.
enum class LearnerKind : std::uint8_t {
  forest,            ///< nn-Meter's random forest, by XGBoost: 100 trees
  small_forest,      ///< Li et al.'s: 3 or 10 trees, smallest leaves of 1 to 25 rows
  boosted,           ///< boosted trees by XGBoost over a line: what operators are besides counts (detail_names)
  small_boosted,     ///< Li et al.'s boosted trees: 50 to 200 rounds of depth 3
  lasso,             ///< a line with weights that are not negative (lasso.h)
  perceptron,        ///< two hidden layers of 64 or 128, stopped when a fifth of the rows is predicted no better
  whole_forest,      ///< small_forest, chosen among all numbers of trees and leaves of Li et al. (§4.2)
  whole_boosted,     ///< small_boosted, likewise
  whole_perceptron,  ///< likewise: one to six layers of 64 to 512; hours
  grid               ///< MONNET's interpolation between points (train_grid)
};

/// What the latency of an operator of that category depends on: heights, channels, window, and how much is computed and
/// moved, in elements; FLOPs are multiply-adds, of a pool what it reads. `boosted` has detail_names() behind them.
std::vector<std::string> feature_names(const std::string& category, LearnerKind learner = LearnerKind::forest);

/// An operator's features, as feature_names(operation_category(operation), learner). A batch counts in sizes and FLOPs.
std::vector<double> operation_features(const nasbench::OperatorSpecification& operation,
                                       LearnerKind learner = LearnerKind::forest);

/// What the latency of any operator may depend on besides: all sizes whatever the category, how much is computed for
/// each element that is moved, how many products are added up, and the filling of channels and rows to vectors of 16.
std::vector<std::string> detail_names();

/// Predicts the latency of operators of one kind from their features.
class LatencyLearner {
 public:
  virtual ~LatencyLearner() = default;
  /// Milliseconds, over 0.
  virtual double predict_ms(const std::vector<double>& features) const = 0;
  /// Keeps it in a file: adds arrays whose names begin with `name`, returns the card's part; load_learner() reads both.
  virtual nlohmann::json put(Archive& archive, const std::string& name) const = 0;
  /// The same as plain numbers.
  virtual nlohmann::json to_document() const = 0;
  /// What training has to say; may be empty.
  virtual std::string remark() const { return ""; }
};

/// Rows of one kind of operator.
struct LatencyRows {
  std::vector<std::vector<double>> features;  ///< as many in each row
  std::vector<double> latency_ms;             ///< positive
};

/// The rows of numbers_of_fold().
LatencyRows of_fold(const LatencyRows& rows, std::size_t fold, std::size_t folds, bool inside);

/// The perceptron with the least error on held-out rows: of two widths and two learning rates with two layers and no
/// weight decay, or, with `of_all`, of all combinations that Li et al. name.
std::unique_ptr<LatencyLearner> best_perceptron(const LatencyRows& rows, std::uint64_t seed, bool of_all);
/// Reads back what put() of a perceptron over `width` features kept. Throws FormatError.
std::unique_ptr<LatencyLearner> load_perceptron(const Archive& archive, const std::string& name, const JsonField& card,
                                                std::size_t width);

/// MONNET's predictor of one kind of layer (Osterwind et al., 2022, §3.1, Eq. 1): t = efficiency · complexity, where
/// the efficiency is interpolated on a grid of the layer's sizes and the complexity is the multiply-adds, of what has
/// none the elements read. The grid is the one that rows of operators of a category span: its axes are the sizes that
/// occur. Points that are missing are filled. Of rows of one point the last counts.
/// Throws InputError where less than half of the points were measured.
std::unique_ptr<LatencyLearner> train_grid(const LatencyRows& rows, const std::string& category);

/// Throws FormatError.
std::unique_ptr<LatencyLearner> load_grid(const Archive& archive, const std::string& name, const JsonField& card,
                                          std::size_t width);

/// "forest", "small-forest" and so on, as the enumerator is spelt.
std::string_view name(LearnerKind kind);
/// The kind of that name. Throws InputError that lists the names, but for the grid, which needs rows on one.
LearnerKind learner_kind(std::string_view name);

/// Trains on relative errors: Lasso and the perceptron minimise the squared relative error, the trees the squared error
/// of the latency's logarithm, which for small errors is the same. Settings are chosen inside the rows (Li et al.,
/// 2024, §4.2): by five folds (Lasso, small forests, small boosted trees), by a fifth of the rows (perceptron). There
/// is at least one row; they are of operators of `category`, with operation_features(). The same rows and seed give the
/// same learner. Throws InputError for trees without XGBoost, and for a grid of rows that form none.
std::unique_ptr<LatencyLearner> train_learner(LearnerKind kind, const LatencyRows& rows, const std::string& category,
                                              std::uint64_t seed);

/// What LatencyLearner::put() kept, of rows of `width` features; a card without a form holds trees. Throws FormatError.
std::unique_ptr<LatencyLearner> load_learner(const Archive& archive, const std::string& name, const JsonField& card,
                                             std::size_t width);

}  // namespace tenshot::trainer::kernels
