#include "trainer/predictors/operators/own_entry.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <unordered_set>
#include <utility>

#include "nasbench/support/median.h"
#include "nasbench/support/number_text.h"
#include "nasbench/support/text.h"
#include "trainer/core/nnls.h"
#include "trainer/predictors/library/library.h"
#include "trainer/predictors/operators/operator_process.h"
#include "trainer/predictors/operators/operator_times.h"
#include "trainer/predictors/operators/own_operators.h"
#include "trainer/predictors/operators/pool_costs.h"

namespace tenshot::trainer::operators {
namespace {

using Eigen::Index;
using nasbench::OperatorSpecification;
using structured::smallest_relative;

constexpr std::size_t most_timed = 800;    ///< operators that the process is conditioned on; more take longer
constexpr int tree_depth = 8;              ///< they learn what has no noise
constexpr std::size_t most_others = 6000;  ///< that trees learn from

/// What operators take on the devices of a library, log ms, [operators, columns]: a column for each device, for one
/// whose operators were learned another one of its linear costs; each times the root of the device's weight.
class TimesElsewhere {
 public:
  TimesElsewhere(const FeatureMap& map, const CostLibrary& library) : map_(map), library_(library) {
    weights_ = representation(library).cwiseMax(0);
    for (std::size_t d = 0; d < library.devices(); ++d) columns_ += library.block_of(d) > 0 ? 2 : 1;
  }

  /// `costs_ms`: [features] of the map.
  Eigen::VectorXd expected(const std::vector<OperatorSpecification>& operators, const Eigen::VectorXd& costs_ms) const {
    Eigen::VectorXd log_ms(static_cast<Index>(operators.size()));
    for (std::size_t o = 0; o < operators.size(); ++o) {
      const double ms = features_of_operator(map_, operators[o]).dot(costs_ms);
      log_ms[static_cast<Index>(o)] = std::log(std::max(ms, 0.0) + least_operator_ms);
    }
    return log_ms;
  }

  Eigen::VectorXd roots() const {
    Eigen::VectorXd roots(columns_);
    Index column = 0;
    for (std::size_t d = 0; d < library_.devices(); ++d) {
      for (int i = 0; i < (library_.block_of(d) > 0 ? 2 : 1); ++i)
        roots[column++] = std::sqrt(weights_[static_cast<Index>(d)]);
    }
    return roots;
  }

  Eigen::MatrixXd of(const std::vector<OperatorSpecification>& operators) const {
    const auto width = static_cast<Index>(map_.operator_features());
    Eigen::MatrixXd times(static_cast<Index>(operators.size()), columns_);
    for (std::size_t o = 0; o < operators.size(); ++o) {
      const Eigen::VectorXd features = features_of_operator(map_, operators[o]);
      Index column = 0;
      for (std::size_t d = 0; d < library_.devices(); ++d) {
        const auto device = static_cast<Index>(d);
        const Eigen::VectorXd costs = library_.costs.row(device).head(width);
        const double root = std::sqrt(weights_[device]);
        const auto log_ms = [&](Index begin) {
          const double ms = library_.median_ms[device] * features.segment(begin, width).dot(costs);
          return root * std::log(std::max(ms, 0.0) + least_operator_ms);
        };
        times(static_cast<Index>(o), column++) = log_ms(0);
        if (library_.block_of(d) > 0) times(static_cast<Index>(o), column++) = log_ms(library_.begin_of(d));
      }
    }
    return times;
  }

 private:
  const FeatureMap& map_;
  const CostLibrary& library_;
  Eigen::VectorXd weights_;
  Index columns_ = 0;
};

Eigen::MatrixXd shapes_of(const std::vector<OperatorSpecification>& operators) {
  Eigen::MatrixXd shapes;
  for (std::size_t o = 0; o < operators.size(); ++o) {
    const Eigen::VectorXd point = shape_coordinates(operators[o]);
    if (o == 0) shapes.resize(static_cast<Index>(operators.size()), point.size());
    shapes.row(static_cast<Index>(o)) = point;
  }
  return shapes;
}

template <class T>
std::vector<T> evenly(const std::vector<T>& all, std::size_t most) {
  if (all.size() <= most) return all;
  std::vector<T> some;
  for (std::size_t i = 0; i < most; ++i) some.push_back(all[i * all.size() / most]);
  return some;
}

/// What `others` take on the new device, ms; of those that are executed on their own only sometimes the mean.
std::vector<double> expected_ms(const FeatureMap& map, const CostLibrary& library, const OwnOperators& own,
                                const std::vector<OperatorSpecification>& others, const Eigen::VectorXd& costs_ms) {
  const std::vector<OperatorSpecification> timed = evenly(own.operators, most_timed);
  const std::vector<double> timed_ms = evenly(own.latency_ms, most_timed);
  const TimesElsewhere elsewhere(map, library);
  OperatorPoints points{shapes_of(timed), elsewhere.of(timed)};
  const Eigen::VectorXd expected = elsewhere.expected(timed, costs_ms);
  const Eigen::RowVectorXd roots = elsewhere.roots().transpose();
  points.elsewhere -= expected * roots;
  const Eigen::RowVectorXd centre = points.elsewhere.colwise().mean();
  points.elsewhere.rowwise() -= centre;
  const Eigen::VectorXd log_ms =
      (Eigen::Map<const Eigen::ArrayXd>(timed_ms.data(), points.shapes.rows()) + least_operator_ms).log() -
      expected.array();
  const OperatorProcess process(std::move(points), log_ms);
  OperatorPoints of_others{shapes_of(others), elsewhere.of(others)};
  const Eigen::VectorXd expected_others = elsewhere.expected(others, costs_ms);
  of_others.elsewhere -= expected_others * roots;
  of_others.elsewhere.rowwise() -= centre;
  const Eigen::VectorXd predicted = process.predict(of_others) + expected_others;
  std::vector<double> ms;
  for (std::size_t o = 0; o < others.size(); ++o) {
    const double alone = std::exp(predicted[static_cast<Index>(o)]) - least_operator_ms;
    ms.push_back(std::max(alone, 0.0) * own.timed_share(others[o]));
  }
  return ms;
}

/// The library's mean costs in units of the new device, and that unit: the latency of a network that is typical of the
/// pool, ms.
struct Typical {
  Eigen::VectorXd costs;
  double unit_ms = 1;
};

Typical typical_of(const FeatureMap& map, const CostLibrary& library, const nasbench::SearchSpace& space,
                   const AdaptationSet& set) {
  FeatureMap shared = map;
  shared.learned.clear();
  const Eigen::MatrixXd features = feature_table(shared, space, set.architectures).rows();
  Typical typical{library.costs.transpose() * representation(library), 1};
  std::vector<double> ratios;
  for (std::size_t n = 0; n < set.latency_ms.size(); ++n) {
    const double relative = features.row(static_cast<Index>(n)).dot(typical.costs);
    ratios.push_back(set.latency_ms[n] / std::max(relative, smallest_relative));
  }
  typical.unit_ms = median(ratios);
  return typical;
}

/// Which operators are timed, what the trees say of them, and what is between that and the latencies.
OperatorTimes learned_times(const nasbench::SearchSpace& space, const AdaptationSet& set, const OwnOperators& own,
                            const std::vector<OperatorSpecification>& others, const std::vector<double>& ms,
                            double unit_ms) {
  OperatorTimes times;
  times.device = "this device";
  times.groups.assign(timed_group_count(), GroupTimes::unknown);
  for (const auto& [kind, count] : own.occurrences) {
    GroupTimes& group = times.groups[kind.first];
    if (group != GroupTimes::learned) group = count.second > 0 ? GroupTimes::learned : GroupTimes::elsewhere;
  }
  std::vector<float> rows;
  std::vector<double> log_ms;
  for (std::size_t o = 0; o < others.size(); ++o) {
    const std::vector<float> row = tree_features(others[o]);
    rows.insert(rows.end(), row.begin(), row.end());
    log_ms.push_back(std::log(ms[o] + least_operator_ms));
  }
  times.trees = operator_trees(rows, log_ms, tree_depth);
  Eigen::MatrixXd sums = Eigen::MatrixXd::Zero(static_cast<Index>(set.architectures.size()), 3);
  Eigen::VectorXd relative(sums.rows());
  for (Index n = 0; n < sums.rows(); ++n) {
    for (const OperatorSpecification& operation : space.operator_list(set.architectures[static_cast<std::size_t>(n)])) {
      const std::size_t group = timed_group(operation);
      if (group == timed_group_count() || times.groups[group] != GroupTimes::learned) continue;
      sums(n, 0) += operator_ms(times.trees, operation);
      sums(n, 1) += 1;
    }
    sums(n, 2) = 1;
    relative[n] = set.latency_ms[static_cast<std::size_t>(n)] / unit_ms;
  }
  const Eigen::VectorXd fitted = relative_non_negative_least_squares(sums, relative);
  times.per_ms = fitted[0];
  times.per_operator = fitted[1];
  times.base = fitted[2];
  return times;
}

/// min Σ (features · c − t)² / (t + t̄)² + pull² Σ ((c − typical) / (typical + floor))² over c ≥ 0, where t is what an
/// operator takes: groups that were not timed cost what is typical.
Eigen::VectorXd linear_costs(const FeatureMap& map, const OperatorTimes& times, const OwnOperators& own,
                             const Eigen::VectorXd& typical) {
  constexpr double pull = 0.3, floor = 1e-3;
  FeatureMap shared = map;
  shared.learned.clear();
  const auto width = static_cast<Index>(map.operator_features());
  const std::vector<OperatorSpecification> operators = evenly(own.operators, most_timed);
  const std::vector<double> ms = evenly(own.latency_ms, most_timed);
  const auto count = static_cast<Index>(operators.size());
  Eigen::MatrixXd a(count + width, width);
  Eigen::VectorXd b(count + width);
  for (Index o = 0; o < count; ++o) {
    a.row(o) = features_of_operator(shared, operators[static_cast<std::size_t>(o)]).head(width);
    b[o] = times.per_ms * ms[static_cast<std::size_t>(o)] + times.per_operator;
  }
  const Eigen::VectorXd weight = (b.head(count).array() + b.head(count).mean()).inverse();
  a.topRows(count) = weight.asDiagonal() * a.topRows(count);
  b.head(count) = weight.cwiseProduct(b.head(count));
  const Eigen::VectorXd towards = pull * (typical.head(width).array() + floor).inverse();
  a.bottomRows(width) = towards.asDiagonal();
  b.tail(width) = towards.cwiseProduct(typical.head(width));
  Eigen::VectorXd costs = Eigen::VectorXd::Zero(typical.size());
  costs.head(width) = non_negative_least_squares(a, b);
  costs[0] = std::max(times.base, floor);
  return costs;
}

std::vector<OperatorSpecification> operators_to_learn(const nasbench::SearchSpace& space,
                                                      const std::vector<nasbench::Architecture>& known,
                                                      const OwnOperators& own) {
  std::vector<OperatorSpecification> operators;
  std::unordered_set<std::string> keys;
  const auto add = [&](const OperatorSpecification& operation) {
    if (timed_group(operation) != timed_group_count() && keys.insert(operator_key(operation)).second) {
      operators.push_back(operation);
    }
  };
  for (const nasbench::Architecture& network : known) {
    for (const OperatorSpecification& operation : space.operator_list(network)) add(operation);
  }
  operators = evenly(operators, most_others);
  for (const OperatorSpecification& operation : own.operators) add(operation);
  return operators;
}

/// Networks that the pool has rows of, each once.
std::vector<nasbench::Architecture> networks_of(const datasets::Pool& pool) {
  std::vector<nasbench::Architecture> networks;
  std::unordered_set<nasbench::Architecture, nasbench::ArchitectureHash> seen;
  for (const datasets::DeviceRuntime& device : pool.devices) {
    for (const datasets::Measurement& row : device.latencies) {
      if (seen.insert(row.architecture).second) networks.push_back(row.architecture);
    }
  }
  return networks;
}

/// What a library expects of the costs of a device from its latencies, ms, [features of the map].
Eigen::VectorXd costs_from_latencies(const FeatureMap& map, const CostLibrary& library,
                                     const nasbench::SearchSpace& space, const AdaptationSet& set,
                                     const PosteriorOptions& options) {
  Eigen::VectorXd costs_ms = Eigen::VectorXd::Zero(static_cast<Index>(map.features()));
  for (const CostComponent& component : adapt(library, adaptation_features(map, space, set), options).components) {
    costs_ms += component.weight * component.costs_ms;
  }
  return costs_ms;
}

/// Appends an entry whose costs are those of `times`.
void append_entry(FeatureMap& map, CostLibrary& library, OperatorTimes times, double unit_ms,
                  const nasbench::SearchSpace& space, const AdaptationSet& set) {
  const auto devices = static_cast<Index>(library.devices());
  library.block.resize(library.devices(), 0);
  library.costs.conservativeResize(devices + 1, Eigen::NoChange);
  library.costs.row(devices) = times.costs;
  library.median_ms.conservativeResize(devices + 1);
  library.median_ms[devices] = unit_ms;
  library.log_rms.conservativeResize(devices + 1);
  library.log_rms[devices] = library.log_rms.head(devices).mean();
  FeatureMap shared = map;
  shared.learned.clear();
  Eigen::MatrixXd differences =
      profile_differences(feature_table(shared, space, set.architectures).rows(), library.costs);
  differences.topLeftCorner(devices, devices) = library.differences;
  library.differences = std::move(differences);
  map.learned.push_back(std::move(times));
  library.block.push_back(map.learned.size());
  if (!library.places.compared()) return;
  library.known_weights.conservativeResize(Eigen::NoChange, devices + 1);
  library.known_weights.col(devices).setZero();
}

}  // namespace

std::vector<Remark> add_own_entry(FeatureMap& map, CostLibrary& library, const datasets::Pool& pool,
                                  const AdaptationSet& set, const PosteriorOptions& options) {
  if (set.operator_latencies.empty()) return {};
  const auto left_out = [](const std::string& reason) {
    return std::vector<Remark>{{"the times of operators are not used: " + reason, true}};
  };
  const nasbench::SearchSpace& space = *pool.space;
  if (space.composed()) return left_out("networks of this space are sums of decisions");
  if (!has_xgboost()) return left_out("this program was built without XGBoost (libxgboost-dev)");
  const OwnOperators own = own_operators(space, set);
  const OperatorSums sums = operator_sums(own, set);
  const std::string reason = contradiction(own, sums);
  if (!reason.empty()) return left_out(reason);
  const std::vector<OperatorSpecification> others = operators_to_learn(space, networks_of(pool), own);
  const std::vector<double> ms =
      expected_ms(map, library, own, others, costs_from_latencies(map, library, space, set, options));
  const Typical typical = typical_of(map, library, space, set);
  OperatorTimes times = learned_times(space, set, own, others, ms, typical.unit_ms);
  times.costs = linear_costs(map, times, own, typical.costs);
  append_entry(map, library, std::move(times), typical.unit_ms, space, set);
  return {{"Times of " + std::to_string(own.operators.size()) + " operators inside " + std::to_string(sums.networks) +
           " of the measured networks are used; their sum is " + whole_percent(sums.share) + " of a latency"}};
}

CostPosterior adapt_beside_own(const CostLibrary& library, const AdaptationFeatures& set,
                               const PosteriorOptions& options) {
  constexpr double half = 0.5;
  std::vector<std::size_t> others(library.devices() - 1);
  std::iota(others.begin(), others.end(), std::size_t{0});
  CostPosterior both = adapt(with_devices(library, others), set, options);
  const CostPosterior own = adapt(with_devices(library, {others.size()}), set, options);
  for (const CostComponent& component : own.components) {
    both.components.push_back(component);
    both.components.back().entry = others.size();
  }
  for (CostComponent& component : both.components) component.weight *= half;
  std::stable_sort(both.components.begin(), both.components.end(),
                   [](const CostComponent& a, const CostComponent& b) { return a.weight > b.weight; });
  Eigen::MatrixXd spread_ms(both.spread_ms.rows(), both.spread_ms.cols() + own.spread_ms.cols());
  spread_ms << both.spread_ms, own.spread_ms;
  both.spread_ms = std::sqrt(half) * spread_ms;
  both.rest_ms2 = half * (both.rest_ms2 + own.rest_ms2);
  if (library.places.compared()) both.anchor_weights = half * (both.anchor_weights + own.anchor_weights);
  return both;
}

}  // namespace tenshot::trainer::operators
