#include "trainer/predictors/kernels/learners.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "nasbench/support/error.h"
#include "nasbench/support/random.h"
#include "nasbench/support/text.h"
#include "trainer/networks/feed_forward.h"
#include "trainer/networks/regression_network.h"
#include "trainer/predictors/kernels/lasso.h"
#include "trainer/trees/tree_ensemble.h"

namespace tenshot::trainer::kernels {
namespace {

using trainer::Batch;
using trainer::DenseLayer;
using trainer::RegressionNetwork;
using trainer::TreeEnsemble;
using trainer::TreeOptions;
using trainer::kernels::fit_lasso;
using trainer::kernels::Lasso;
using trainer::kernels::LatencyLearner;
using trainer::kernels::LatencyRows;

constexpr std::array<std::string_view, 4> learner_names = {"lasso", "forest", "boosting", "perceptron"};
constexpr std::size_t folds = 5;

double smallest(const std::vector<double>& values) { return *std::min_element(values.begin(), values.end()); }

LatencyRows some_of(const LatencyRows& rows, const std::vector<std::size_t>& numbers) {
  LatencyRows result;
  for (const std::size_t row : numbers) {
    result.features.push_back(rows.features[row]);
    result.latency_ms.push_back(rows.latency_ms[row]);
  }
  return result;
}

/// The rows in an order drawn by the seed.
LatencyRows shuffled(const LatencyRows& rows, std::uint64_t seed) {
  std::vector<std::size_t> order(rows.latency_ms.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  Rng(seed).shuffle(order);
  return some_of(rows, order);
}

/// Rows whose number is (or is not) `fold` modulo the number of folds.
LatencyRows of_fold(const LatencyRows& rows, std::size_t fold, bool inside) {
  std::vector<std::size_t> numbers;
  for (std::size_t i = 0; i < rows.latency_ms.size(); ++i) {
    if ((i % folds == fold) == inside) numbers.push_back(i);
  }
  return some_of(rows, numbers);
}

double squared_relative_error(const LatencyLearner& learner, const LatencyRows& rows) {
  double sum = 0;
  for (std::size_t i = 0; i < rows.latency_ms.size(); ++i) {
    sum += std::pow(learner.predict_ms(rows.features[i]) / rows.latency_ms[i] - 1, 2);
  }
  return sum;
}

class LassoLearner : public LatencyLearner {
 public:
  explicit LassoLearner(const LatencyRows& rows) : least_(smallest(rows.latency_ms)) {
    const auto count = static_cast<Eigen::Index>(rows.latency_ms.size());
    const auto width = static_cast<Eigen::Index>(rows.features.front().size());
    Eigen::MatrixXd features(count, width);
    for (Eigen::Index i = 0; i < count; ++i) {
      features.row(i) = Eigen::Map<const Eigen::RowVectorXd>(rows.features[static_cast<std::size_t>(i)].data(), width);
    }
    lasso_ = fit_lasso(features, Eigen::Map<const Eigen::VectorXd>(rows.latency_ms.data(), count));
  }
  double predict_ms(const std::vector<double>& features) const override {
    const Eigen::Map<const Eigen::VectorXd> row(features.data(), static_cast<Eigen::Index>(features.size()));
    return std::max(lasso_.predict(row), least_);
  }

 private:
  Lasso lasso_;
  double least_;
};

class TreeLearner : public LatencyLearner {
 public:
  TreeLearner(const LatencyRows& rows, const TreeOptions& options) {
    std::vector<float> features;
    std::vector<double> targets;
    for (std::size_t i = 0; i < rows.latency_ms.size(); ++i) {
      features.insert(features.end(), rows.features[i].begin(), rows.features[i].end());
      targets.push_back(std::log(rows.latency_ms[i]));
    }
    trees_ = train_trees(features, rows.features.front().size(), targets, {}, options);
  }
  double predict_ms(const std::vector<double>& features) const override {
    const std::vector<float> row(features.begin(), features.end());
    return std::exp(trees_.predict(row.data()));
  }

 private:
  TreeEnsemble trees_;
};

std::vector<TreeOptions> tree_grid(LearnerKind kind, std::uint64_t seed) {
  std::vector<TreeOptions> grid;
  TreeOptions options;
  options.seed = seed;
  if (kind == LearnerKind::forest) {
    for (const int trees : {3, 10}) {
      for (const double leaf : {1.0, 2.0, 5.0, 25.0}) {
        options.trees = trees;
        options.smallest_leaf = leaf;
        grid.push_back(options);
      }
    }
    return grid;
  }
  options.trees = 1;
  options.row_share = 1;
  options.depth = 3;
  options.learning_rate = 0.1;
  for (const int rounds : {50, 100, 200}) {
    for (const double leaf : {1.0, 3.0}) {
      options.rounds = rounds;
      options.smallest_leaf = leaf;
      grid.push_back(options);
    }
  }
  return grid;
}

std::unique_ptr<LatencyLearner> best_trees(LearnerKind kind, const LatencyRows& rows, std::uint64_t seed) {
  const std::vector<TreeOptions> grid = tree_grid(kind, seed);
  std::size_t best = 0;
  double least = HUGE_VAL;
  for (std::size_t i = 0; i < grid.size() && rows.latency_ms.size() >= folds; ++i) {
    double error = 0;
    for (std::size_t fold = 0; fold < folds; ++fold) {
      error += squared_relative_error(TreeLearner(of_fold(rows, fold, false), grid[i]), of_fold(rows, fold, true));
    }
    if (error >= least) continue;
    least = error;
    best = i;
  }
  return std::make_unique<TreeLearner>(rows, grid[best]);
}

struct PerceptronOptions {
  int width = 64;
  double learning_rate = 5e-3;
  std::uint64_t seed = 1;
};

/// Two hidden layers over standardised features; latencies are in units of their mean.
class PerceptronLearner : public LatencyLearner {
 public:
  PerceptronLearner(const LatencyRows& rows, const PerceptronOptions& options) : least_(smallest(rows.latency_ms)) {
    const std::size_t count = rows.latency_ms.size();
    unit_ = std::accumulate(rows.latency_ms.begin(), rows.latency_ms.end(), 0.0) / static_cast<double>(count);
    standardise(rows);
    const LatencyRows training = of_fold(rows, 0, false), held_out = of_fold(rows, 0, true);
    const bool stops = !training.latency_ms.empty() && !held_out.latency_ms.empty();
    train(stops ? training : rows, stops ? held_out : rows, options);
  }

  double predict_ms(const std::vector<double>& features) const override {
    return std::max(static_cast<double>(evaluate_layers(layers_, standardised(features)).front()) * unit_, least_);
  }
  double error() const { return error_; }

 private:
  void standardise(const LatencyRows& rows) {
    const auto count = static_cast<double>(rows.latency_ms.size());
    mean_.assign(rows.features.front().size(), 0);
    deviation_ = mean_;
    for (const std::vector<double>& row : rows.features) {
      for (std::size_t j = 0; j < row.size(); ++j) mean_[j] += row[j] / count;
    }
    for (const std::vector<double>& row : rows.features) {
      for (std::size_t j = 0; j < row.size(); ++j) deviation_[j] += std::pow(row[j] - mean_[j], 2) / count;
    }
    // A feature that is the same in all rows varies by rounding alone, and says nothing of rows where it is another.
    constexpr double rounding = 1e-9;
    for (std::size_t j = 0; j < mean_.size(); ++j) {
      const double deviation = std::sqrt(deviation_[j]);
      varies_.push_back(deviation > rounding * std::abs(mean_[j]));
      deviation_[j] = varies_.back() ? deviation : 1;
    }
  }

  std::vector<float> standardised(const std::vector<double>& features) const {
    std::vector<float> row;
    for (std::size_t j = 0; j < features.size(); ++j) {
      row.push_back(varies_[j] ? static_cast<float>((features[j] - mean_[j]) / deviation_[j]) : 0.0F);
    }
    return row;
  }

  std::vector<float> inputs_of(const LatencyRows& rows) const {
    std::vector<float> inputs;
    for (const std::vector<double>& features : rows.features) {
      const std::vector<float> row = standardised(features);
      inputs.insert(inputs.end(), row.begin(), row.end());
    }
    return inputs;
  }

  double error_of(const std::vector<DenseLayer>& layers, const std::vector<float>& inputs,
                  const std::vector<double>& latency_ms) const {
    const std::vector<float> predicted = evaluate_layers(layers, inputs);
    double sum = 0;
    for (std::size_t i = 0; i < predicted.size(); ++i) {
      sum += std::pow(std::max(predicted[i] * unit_, least_) / latency_ms[i] - 1, 2);
    }
    return sum / static_cast<double>(predicted.size());
  }

  void train(const LatencyRows& training, const LatencyRows& held_out, const PerceptronOptions& options) {
    constexpr int most_epochs = 400, patience = 50;  // Li et al., §4.2: stop after 50 epochs without improvement
    constexpr std::size_t batch = 128;
    const std::vector<float> inputs = inputs_of(training), tests = inputs_of(held_out);
    const std::size_t width = mean_.size(), count = training.latency_ms.size();
    RegressionNetwork network(static_cast<int>(width), {options.width, options.width}, options.seed);
    std::vector<std::size_t> order(count);
    std::iota(order.begin(), order.end(), std::size_t{0});
    Rng rng(options.seed, 1);
    error_ = HUGE_VAL;
    for (int epoch = 0, last = 0; epoch < most_epochs && epoch - last < patience; ++epoch) {
      rng.shuffle(order);
      for (std::size_t begin = 0; begin < count; begin += batch) {
        std::vector<float> rows, targets;
        for (std::size_t i = begin; i < std::min(begin + batch, count); ++i) {
          const auto from = inputs.begin() + static_cast<std::ptrdiff_t>(order[i] * width);
          rows.insert(rows.end(), from, from + static_cast<std::ptrdiff_t>(width));
          targets.push_back(static_cast<float>(training.latency_ms[order[i]] / unit_));
        }
        const Batch step{static_cast<int>(targets.size()), rows.data(), targets.data(), targets.data()};
        network.train_step(step, options.learning_rate);
      }
      const double error = error_of(network.layers(), tests, held_out.latency_ms);
      if (!(error < error_)) continue;
      error_ = error;
      layers_ = network.layers();
      last = epoch;
    }
    if (layers_.empty()) layers_ = network.layers();
  }

  std::vector<double> mean_, deviation_;
  std::vector<bool> varies_;
  std::vector<DenseLayer> layers_;
  double unit_ = 1, least_, error_ = HUGE_VAL;
};

std::unique_ptr<LatencyLearner> best_perceptron(const LatencyRows& rows, std::uint64_t seed) {
  std::unique_ptr<PerceptronLearner> best;
  for (const int width : {64, 128}) {
    for (const double rate : {5e-3, 5e-4}) {
      auto learner = std::make_unique<PerceptronLearner>(rows, PerceptronOptions{width, rate, seed});
      if (best == nullptr || learner->error() < best->error()) best = std::move(learner);
    }
  }
  return best;
}

}  // namespace

std::string_view name(LearnerKind kind) { return learner_names.at(static_cast<std::size_t>(kind)); }

LearnerKind learner_kind(std::string_view name) {
  const auto found = std::find(learner_names.begin(), learner_names.end(), name);
  if (found == learner_names.end()) {
    throw InputError("there is no learner '" + excerpt(name) + "'; there are: " + joined(learner_names));
  }
  return static_cast<LearnerKind>(found - learner_names.begin());
}

std::unique_ptr<LatencyLearner> train_learner(LearnerKind kind, const LatencyRows& rows, std::uint64_t seed) {
  const bool sound = !rows.latency_ms.empty() && rows.features.size() == rows.latency_ms.size() &&
                     std::all_of(rows.latency_ms.begin(), rows.latency_ms.end(), [](double y) { return y > 0; }) &&
                     std::all_of(rows.features.begin(), rows.features.end(), [&](const std::vector<double>& row) {
                       return !row.empty() && row.size() == rows.features.front().size();
                     });
  if (!sound) throw InputError("a learner needs rows of as many features each, and a positive latency of each");
  const LatencyRows drawn = shuffled(rows, seed);
  if (kind == LearnerKind::lasso) return std::make_unique<LassoLearner>(drawn);
  if (kind == LearnerKind::perceptron) return best_perceptron(drawn, seed);
  return best_trees(kind, drawn, seed);
}

}  // namespace tenshot::trainer::kernels
