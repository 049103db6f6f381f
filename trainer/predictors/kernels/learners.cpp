#include "trainer/predictors/kernels/learners.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <numeric>
#include <optional>

#include "nasbench/support/error.h"
#include "nasbench/support/numbers_below.h"
#include "nasbench/support/random.h"
#include "nasbench/support/text.h"
#include "trainer/predictors/kernels/lasso.h"
#include "trainer/trees/tree_ensemble.h"

namespace tenshot::trainer::kernels {
namespace {

constexpr std::array<std::string_view, 10> names = {
    "forest",     "small-forest", "boosted",       "small-boosted",    "lasso",
    "perceptron", "whole-forest", "whole-boosted", "whole-perceptron", "grid"};
constexpr std::size_t folds = 5;

LatencyRows some_of(const LatencyRows& rows, const std::vector<std::size_t>& numbers) {
  LatencyRows result;
  for (const std::size_t row : numbers) {
    result.features.push_back(rows.features[row]);
    result.latency_ms.push_back(rows.latency_ms[row]);
  }
  return result;
}

/// latency = max(least, intercept + Σ slope · feature).
class LassoLearner : public LatencyLearner {
 public:
  /// Fits the first features, with the penalty `alpha`; without one, with the best over five folds.
  LassoLearner(const LatencyRows& rows, std::size_t first_features, std::optional<double> alpha = {})
      : least_(*std::min_element(rows.latency_ms.begin(), rows.latency_ms.end())) {
    const auto count = static_cast<Eigen::Index>(rows.latency_ms.size());
    const auto width = static_cast<Eigen::Index>(first_features);
    Eigen::MatrixXd features(count, width);
    for (Eigen::Index i = 0; i < count; ++i) {
      features.row(i) = Eigen::Map<const Eigen::RowVectorXd>(rows.features[static_cast<std::size_t>(i)].data(), width);
    }
    const Eigen::Map<const Eigen::VectorXd> latency_ms(rows.latency_ms.data(), count);
    const Lasso lasso = fit_lasso(features, latency_ms, alpha);
    const Eigen::VectorXd slope = lasso.weight.cwiseQuotient(lasso.deviation);
    slope_.assign(slope.data(), slope.data() + width);
    intercept_ = lasso.intercept - slope.dot(lasso.mean);
  }
  LassoLearner(const Archive& archive, const std::string& name, const JsonField& card, std::size_t width)
      : slope_(checked_doubles(archive, name + ".slope", not_negative, width)),
        intercept_(card.at("intercept").number(any_number)),
        least_(card.at("least_ms").number(positive)) {}
  double predict_ms(const std::vector<double>& features) const override {
    return std::max(std::inner_product(slope_.begin(), slope_.end(), features.begin(), intercept_), least_);
  }
  nlohmann::json put(Archive& archive, const std::string& name) const override {
    archive.put(name + ".slope", to_array(slope_));
    return {{"form", "lasso"}, {"intercept", intercept_}, {"least_ms", least_}};
  }
  nlohmann::json to_document() const override {
    return {{"slope", slope_}, {"intercept", intercept_}, {"least_ms", least_}};
  }

 private:
  std::vector<double> slope_;
  double intercept_ = 0, least_;
};

/// latency = exp(base + the sum over the trees).
class TreeLearner : public LatencyLearner {
 public:
  TreeLearner(const LatencyRows& rows, const TreeOptions& options, const std::vector<double>& weights = {}) {
    std::vector<float> features;
    std::vector<double> targets;
    for (std::size_t i = 0; i < rows.latency_ms.size(); ++i) {
      features.insert(features.end(), rows.features[i].begin(), rows.features[i].end());
      targets.push_back(std::log(rows.latency_ms[i]));
    }
    trees_ = train_trees(features, rows.features.front().size(), targets, weights, options);
  }
  TreeLearner(const Archive& archive, const std::string& name, const JsonField& card, std::size_t width)
      : trees_(get_trees(archive, name, width)) {
    trees_.base = card.at("base").number({-largest_log_latency, largest_log_latency});
  }
  double predict_ms(const std::vector<double>& features) const override {
    const std::vector<float> row(features.begin(), features.end());
    return std::exp(trees_.predict(row.data()));
  }
  /// The squared relative error on these rows of the first 1, 2, … trees: side by side, or one after the other.
  std::vector<double> errors_of_first(const LatencyRows& rows, bool side_by_side) const {
    const std::size_t count = trees_.trees.size();
    std::vector<double> errors(count);
    for (std::size_t i = 0; i < rows.latency_ms.size(); ++i) {
      const std::vector<float> row(rows.features[i].begin(), rows.features[i].end());
      double sum = 0;
      for (std::size_t t = 0; t < count; ++t) {
        sum += trees_.trees[t].predict(row.data());
        const double share = side_by_side ? static_cast<double>(count) / static_cast<double>(t + 1) : 1;
        errors[t] += std::pow(std::exp(trees_.base + sum * share) / rows.latency_ms[i] - 1, 2);
      }
    }
    return errors;
  }
  nlohmann::json put(Archive& archive, const std::string& name) const override {
    put_trees(archive, name, trees_.trees);
    return {{"form", "trees"}, {"base", trees_.base}};
  }
  nlohmann::json to_document() const override {
    nlohmann::json trees = nlohmann::json::array();
    for (const SplitTree& tree : trees_.trees) {
      trees.push_back(nlohmann::json::array());
      for (const SplitNode& n : tree.nodes) trees.back().push_back({n.feature, n.threshold, n.less, n.other, n.value});
    }
    return {{"base", trees_.base}, {"trees", trees}};
  }

 private:
  TreeEnsemble trees_;
};

TreeOptions boosting(int rounds, int depth, double smallest_leaf, std::uint64_t seed) {
  constexpr double learning_rate = 0.1, all = 1;
  return {1, rounds, learning_rate, depth, smallest_leaf, all, all, seed};
}

/// latency = the line of the category's features · what trees make of the details (detail_names) and of the line: few
/// rows suffice for what grows with counts, and trees correct it. Rows count as the root of their latency.
class BoostedLearner : public LatencyLearner {
 public:
  BoostedLearner(const LatencyRows& rows, std::uint64_t seed)
      : width_(rows.features.front().size() - detail_names().size()), line_(rows, width_, line_alpha) {
    LatencyRows ratios;
    std::vector<double> weights;
    for (std::size_t i = 0; i < rows.latency_ms.size(); ++i) {
      const double line_ms = line_.predict_ms(rows.features[i]);
      ratios.features.push_back(details(rows.features[i], line_ms));
      ratios.latency_ms.push_back(rows.latency_ms[i] / line_ms);
      weights.push_back(std::sqrt(rows.latency_ms[i]));
    }
    TreeOptions options = boosting(150, 4, 3, seed);
    options.row_share = 0.7;
    options.feature_share = 0.5;
    trees_ = std::make_unique<TreeLearner>(ratios, options, weights);
  }
  BoostedLearner(const Archive& archive, const std::string& name, const JsonField& card, std::size_t width)
      : width_(width - detail_names().size()),
        line_(archive, name + ".line", card.at("line"), width_),
        trees_(std::make_unique<TreeLearner>(archive, name, card.at("trees"), detail_names().size() + 1)) {}
  double predict_ms(const std::vector<double>& features) const override {
    const double line_ms = line_.predict_ms(features);
    return line_ms * trees_->predict_ms(details(features, line_ms));
  }
  nlohmann::json put(Archive& archive, const std::string& name) const override {
    return {{"form", "line and trees"},
            {"line", line_.put(archive, name + ".line")},
            {"trees", trees_->put(archive, name)}};
  }
  nlohmann::json to_document() const override {
    return {{"line", line_.to_document()}, {"trees", trees_->to_document()}};
  }

 private:
  static constexpr double line_alpha = 1e-5;  ///< the weakest penalty of fit_lasso()

  std::vector<double> details(const std::vector<double>& features, double line_ms) const {
    std::vector<double> row(features.begin() + static_cast<std::ptrdiff_t>(width_), features.end());
    row.push_back(line_ms);
    return row;
  }

  std::size_t width_;  ///< of the line
  LassoLearner line_;
  std::unique_ptr<TreeLearner> trees_;
};

std::vector<int> up_to(int last) {
  std::vector<int> numbers(static_cast<std::size_t>(last));
  std::iota(numbers.begin(), numbers.end(), 1);
  return numbers;
}

/// Trees whose smallest leaf, and whose number side by side or of rounds, err least over five folds. `counts` ascend.
std::unique_ptr<LatencyLearner> best_trees(const LatencyRows& rows, TreeOptions options, int TreeOptions::*counted,
                                           const std::vector<int>& counts, const std::vector<int>& leaves) {
  options.smallest_leaf = leaves.front();
  TreeOptions best = options;
  best.*counted = counts.front();
  options.*counted = counts.back();
  double least = HUGE_VAL;
  for (std::size_t leaf = 0; leaf < leaves.size() && rows.latency_ms.size() >= folds; ++leaf) {
    options.smallest_leaf = leaves[leaf];
    std::vector<double> errors(static_cast<std::size_t>(counts.back()));
    for (std::size_t fold = 0; fold < folds; ++fold) {
      const TreeLearner largest(of_fold(rows, fold, folds, false), options);
      const std::vector<double> own =
          largest.errors_of_first(of_fold(rows, fold, folds, true), counted == &TreeOptions::trees);
      std::transform(own.begin(), own.end(), errors.begin(), errors.begin(), std::plus<>());
    }
    for (const int count : counts) {
      if (!(errors[static_cast<std::size_t>(count - 1)] < least)) continue;
      least = errors[static_cast<std::size_t>(count - 1)];
      best = options;
      best.*counted = count;
    }
  }
  return std::make_unique<TreeLearner>(rows, best);
}

}  // namespace

LatencyRows of_fold(const LatencyRows& rows, std::size_t fold, std::size_t folds, bool inside) {
  return some_of(rows, numbers_of_fold(rows.latency_ms.size(), fold, folds, inside));
}

std::string_view name(LearnerKind kind) { return names.at(static_cast<std::size_t>(kind)); }

LearnerKind learner_kind(std::string_view name) {
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) {
    const std::vector<std::string_view> all_but_grid(names.begin(), names.end() - 1);
    throw InputError("there is no learner '" + excerpt(name) + "'; there are: " + joined(all_but_grid));
  }
  return static_cast<LearnerKind>(found - names.begin());
}

std::unique_ptr<LatencyLearner> train_learner(LearnerKind kind, const LatencyRows& rows, const std::string& category,
                                              std::uint64_t seed) {
  if (kind == LearnerKind::grid) return train_grid(rows, category);
  TreeOptions forest;
  forest.seed = seed;
  if (kind == LearnerKind::forest) return std::make_unique<TreeLearner>(rows, forest);
  std::vector<std::size_t> order = numbers_below(rows.latency_ms.size());
  Rng(seed).shuffle(order);
  const LatencyRows drawn = some_of(rows, order);
  if (kind == LearnerKind::lasso) return std::make_unique<LassoLearner>(drawn, drawn.features.front().size());
  if (kind == LearnerKind::boosted) return std::make_unique<BoostedLearner>(drawn, seed);
  if (kind == LearnerKind::perceptron) return best_perceptron(drawn, seed, false);
  if (kind == LearnerKind::whole_perceptron) return best_perceptron(drawn, seed, true);
  // Of the whole grids the numbers are those of Li et al. (§4.2): 1 to 10 trees, 1 to 200 rounds, and 2 to 50 and 2 to
  // 7 rows to split, which leave half as many in the smaller of two leaves.
  if (kind == LearnerKind::small_forest) return best_trees(drawn, forest, &TreeOptions::trees, {3, 10}, {1, 2, 5, 25});
  if (kind == LearnerKind::whole_forest) return best_trees(drawn, forest, &TreeOptions::trees, up_to(10), up_to(25));
  const TreeOptions boosted = boosting(200, 3, 1, seed);
  if (kind == LearnerKind::whole_boosted) return best_trees(drawn, boosted, &TreeOptions::rounds, up_to(200), up_to(3));
  return best_trees(drawn, boosted, &TreeOptions::rounds, {50, 100, 200}, {1, 3});
}

std::unique_ptr<LatencyLearner> load_learner(const Archive& archive, const std::string& name, const JsonField& card,
                                             std::size_t width) {
  const auto form = card.find("form");
  const std::string text = form ? form->text() : "trees";
  if (text == "trees") return std::make_unique<TreeLearner>(archive, name, card, width);
  if (text == "line and trees") return std::make_unique<BoostedLearner>(archive, name, card, width);
  if (text == "lasso") return std::make_unique<LassoLearner>(archive, name, card, width);
  if (text == "perceptron") return load_perceptron(archive, name, card, width);
  if (text == "grid") return load_grid(archive, name, card, width);
  form->fail("trees, line and trees, lasso, perceptron or grid");
}

}  // namespace tenshot::trainer::kernels
