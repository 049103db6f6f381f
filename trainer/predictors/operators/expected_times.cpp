#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <numeric>
#include <optional>
#include <string>
#include <unordered_set>

#include "trainer/predictors/operators/operator_times.h"
#include "trainer/predictors/operators/own_operators.h"
#include "trainer/predictors/posterior/error_calibration.h"

namespace tenshot::trainer::operators {
namespace {

using nasbench::OperatorSpecification;

constexpr std::size_t few = 1000;   ///< operators that trees learn little from
constexpr std::size_t most = 6000;  ///< that they learn from

bool scale(std::int64_t& size, double factor) {
  const double scaled = static_cast<double>(size) * factor;
  size = std::llround(scaled);
  return size > 0 && static_cast<double>(size) == scaled;
}

/// Images have channels and then two extents, sequences a length and then channels.
bool scale(nasbench::Shape& shape, double extent, double channels) {
  if (shape.size() == 4) return scale(shape[1], channels) && scale(shape[2], extent) && scale(shape[3], extent);
  if (shape.size() == 3) return scale(shape[1], extent * extent) && scale(shape[2], channels);
  return shape.size() < 2 || scale(shape.back(), channels);
}

/// The operator at another resolution, with other channels; nothing where they do not divide.
std::optional<OperatorSpecification> resized(OperatorSpecification operation, double extent, double channels) {
  for (nasbench::Shape& shape : operation.inputs) {
    if (!scale(shape, extent, channels)) return std::nullopt;
  }
  if (!scale(operation.output, extent, channels)) return std::nullopt;
  if (operation.groups == 1 || operation.inputs.empty()) return operation;
  std::int64_t groups = operation.groups;
  const std::int64_t in = channel_count(operation, operation.inputs.front());
  if (std::llround(static_cast<double>(groups) * channels) == in) groups = in;  // depthwise
  if (in % groups != 0 || channel_count(operation, operation.output) % groups != 0) return std::nullopt;
  operation.groups = static_cast<int>(groups);
  return operation;
}

double log_time(double ms) { return std::log(std::max(ms, 0.0) + least_operator_ms); }

/// What operators take by the library's expectation, and what trees see of them.
struct Expected {
  Eigen::VectorXd log_ms;
  /// For each operator tree_features(), how much longer it takes on each device of the library, for one whose operators
  /// were learned once more by its linear costs, each times the root of the device's weight, and log_ms.
  std::vector<float> rows;
};

Expected expect(const FeatureMap& map, const CostLibrary& library, const Eigen::VectorXd& costs_ms,
                const std::vector<OperatorSpecification>& operators) {
  const Eigen::VectorXd roots = representation(library).cwiseMax(0).cwiseSqrt();
  const std::size_t width = map.operator_features();
  Expected expected{Eigen::VectorXd(operators.size()), {}};
  for (std::size_t o = 0; o < operators.size(); ++o) {
    const Eigen::VectorXd features = features_of_operator(map, operators[o]);
    const double log_ms = expected.log_ms[o] = log_time(features.dot(costs_ms));
    const std::vector<float> shape = tree_features(operators[o]);
    expected.rows.insert(expected.rows.end(), shape.begin(), shape.end());
    for (std::size_t d = 0; d < library.devices(); ++d) {
      const auto differ = [&](Eigen::Index begin) {
        const double relative = library.costs.row(d).head(width).dot(features.segment(begin, width));
        const double longer = log_time(library.median_ms[d] * relative) - log_ms;
        expected.rows.push_back(static_cast<float>(roots[d] * longer));
      };
      differ(0);
      if (library.block_of(d) > 0) differ(library.begin_of(d));
    }
    expected.rows.push_back(static_cast<float>(log_ms));
  }
  return expected;
}

/// Boosted trees of how much longer operators take than expected, whose rows are those of Expected. Operators count as
/// the root of their time: sums hang on the long ones.
TreeEnsemble boosted_trees(const std::vector<float>& rows, const std::vector<double>& ms,
                           const Eigen::VectorXd& longer) {
  TreeOptions options;
  options.trees = 4;
  options.rounds = 150;
  options.learning_rate = 0.1;
  options.depth = 4;
  options.smallest_leaf = 3;
  options.row_share = 0.7;
  options.feature_share = 0.5;
  std::vector<double> weights;
  for (const double time : ms) weights.push_back(std::sqrt(time + least_operator_ms));
  return train_trees(rows, rows.size() / ms.size(), {longer.data(), longer.data() + longer.size()}, weights, options);
}

/// What trees leave of the own operators' log times, at an operator of these tree_features(): the mean over those of
/// its kind, window and stride, which count by exp(−d²/2) where d is the distance of their sizes, in log₂, over the
/// reach; and over nothing, which counts a fifth of one at the same place.
double left_nearby(const std::vector<std::vector<float>>& places, const Eigen::VectorXd& left,
                   const std::vector<float>& at, double reach) {
  constexpr std::ptrdiff_t kinds = 5;  // the first features say what an operator is, the others how large
  double sum = 0, weights = 0.2;
  for (std::size_t o = 0; o < places.size(); ++o) {
    if (!std::equal(at.begin(), at.begin() + kinds, places[o].begin())) continue;
    const double square =
        std::inner_product(at.begin() + kinds, at.end(), places[o].begin() + kinds, 0.0, std::plus<>(),
                           [reach](double a, double b) { return (a - b) * (a - b) / (reach * reach); });
    sum += std::exp(-square / 2) * left[o];
    weights += std::exp(-square / 2);
  }
  return sum / weights;
}

}  // namespace

std::vector<OperatorSpecification> operators_to_learn(const datasets::Pool& pool, const OwnOperators& own) {
  std::vector<OperatorSpecification> operators;
  std::unordered_set<std::string> keys;
  const auto add = [&](const OperatorSpecification& operation) {
    if (timed_group(operation) != timed_group_count() && keys.insert(operator_key(operation)).second) {
      operators.push_back(operation);
    }
  };
  nasbench::ArchitectureSet networks;
  for (const datasets::DeviceRuntime& device : pool.devices) {
    for (const datasets::Measurement& row : device.latencies) {
      if (!networks.insert(row.architecture).second) continue;
      for (const OperatorSpecification& operation : pool.space->operator_list(row.architecture)) add(operation);
    }
  }
  operators = evenly_spaced(operators, most);
  for (const OperatorSpecification& operation : own.operators) add(operation);
  if (operators.size() >= few) return operators;
  for (const double extent : {0.25, 0.5, 1.0, 2.0}) {
    for (const double channels : {0.125, 0.25, 0.5, 0.75, 1.0, 1.5, 2.0}) {
      for (const OperatorSpecification& operation : own.operators) {
        if (const auto other = resized(operation, extent, channels)) add(*other);
      }
    }
  }
  return evenly_spaced(operators, most);
}

std::vector<double> expected_times(const FeatureMap& map, const CostLibrary& library, const OwnOperators& own,
                                   const Eigen::VectorXd& costs_ms, const std::vector<OperatorSpecification>& operators,
                                   double own_reach) {
  const Expected timed = expect(map, library, costs_ms, own.operators);
  const Eigen::Map<const Eigen::VectorXd> own_ms(own.latency_ms.data(), timed.log_ms.size());
  Eigen::VectorXd left = own_ms.unaryExpr(&log_time) - timed.log_ms;
  const TreeEnsemble trees = boosted_trees(timed.rows, own.latency_ms, left);
  const Expected all = expect(map, library, costs_ms, operators);
  const std::size_t width = all.rows.size() / operators.size();
  std::vector<std::vector<float>> places;
  for (std::size_t o = 0; own_reach > 0 && o < own.operators.size(); ++o) {
    places.push_back(tree_features(own.operators[o]));
    left[o] -= trees.predict(timed.rows.data() + o * width);
  }
  std::vector<double> ms;
  for (std::size_t o = 0; o < operators.size(); ++o) {
    const double log_ms = all.log_ms[o] + trees.predict(all.rows.data() + o * width) +
                          left_nearby(places, left, tree_features(operators[o]), own_reach);
    const double alone = std::exp(log_ms) - least_operator_ms;
    ms.push_back(std::max(alone, 0.0) * own.timed_share(operators[o]));
  }
  return ms;
}

}  // namespace tenshot::trainer::operators
