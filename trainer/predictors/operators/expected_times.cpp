#include "trainer/predictors/operators/expected_times.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <unordered_set>
#include <utility>

#include "trainer/predictors/operators/operator_process.h"
#include "trainer/predictors/operators/operator_times.h"

namespace tenshot::trainer::operators {
namespace {

using Eigen::Index;
using nasbench::OperatorSpecification;

constexpr std::size_t most_timed = 800;  ///< operators that the process is conditioned on; more take longer
constexpr std::size_t few = 1000;        ///< operators that trees learn little from
constexpr std::size_t most = 6000;       ///< that they learn from

template <class T>
std::vector<T> evenly(const std::vector<T>& all, std::size_t count) {
  if (all.size() <= count) return all;
  std::vector<T> some;
  for (std::size_t i = 0; i < count; ++i) some.push_back(all[i * all.size() / count]);
  return some;
}

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

/// What operators take by the library's expectation, log ms, and how the library's devices differ from it: a column for
/// each device, for one whose operators were learned another one of its linear costs; each times the root of the
/// device's weight.
struct Expected {
  Eigen::VectorXd log_ms;
  OperatorPoints points;
};

double log_time(double ms) { return std::log(std::max(ms, 0.0) + least_operator_ms); }

Expected expect(const FeatureMap& map, const CostLibrary& library, const Eigen::VectorXd& costs_ms,
                const std::vector<OperatorSpecification>& operators) {
  const Eigen::VectorXd roots = representation(library).cwiseMax(0).cwiseSqrt();
  const auto count = static_cast<Index>(operators.size()), width = static_cast<Index>(map.operator_features());
  Expected expected{Eigen::VectorXd(count), {}};
  for (Index o = 0; o < count; ++o) {
    const OperatorSpecification& operation = operators[static_cast<std::size_t>(o)];
    const Eigen::VectorXd features = features_of_operator(map, operation), shape = shape_coordinates(operation);
    expected.log_ms[o] = log_time(features.dot(costs_ms));
    std::vector<double> differences;
    for (std::size_t d = 0; d < library.devices(); ++d) {
      const auto device = static_cast<Index>(d);
      const auto differ = [&](Index begin) {
        const double relative = library.costs.row(device).head(width).dot(features.segment(begin, width));
        differences.push_back(roots[device] * (log_time(library.median_ms[device] * relative) - expected.log_ms[o]));
      };
      differ(0);
      if (library.block_of(d) > 0) differ(library.begin_of(d));
    }
    if (o == 0) {
      expected.points.shapes.resize(count, shape.size());
      expected.points.elsewhere.resize(count, static_cast<Index>(differences.size()));
    }
    expected.points.shapes.row(o) = shape;
    expected.points.elsewhere.row(o) =
        Eigen::Map<const Eigen::RowVectorXd>(differences.data(), static_cast<Index>(differences.size()));
  }
  return expected;
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
  std::unordered_set<nasbench::Architecture, nasbench::ArchitectureHash> networks;
  for (const datasets::DeviceRuntime& device : pool.devices) {
    for (const datasets::Measurement& row : device.latencies) {
      if (!networks.insert(row.architecture).second) continue;
      for (const OperatorSpecification& operation : pool.space->operator_list(row.architecture)) add(operation);
    }
  }
  operators = evenly(operators, most);
  for (const OperatorSpecification& operation : own.operators) add(operation);
  if (operators.size() >= few) return operators;
  for (const double extent : {0.5, 1.0, 2.0}) {
    for (const double channels : {0.5, 0.75, 1.0, 1.5, 2.0}) {
      for (const OperatorSpecification& operation : own.operators) {
        if (const auto other = resized(operation, extent, channels)) add(*other);
      }
    }
  }
  return evenly(operators, most);
}

std::vector<double> expected_times(const FeatureMap& map, const CostLibrary& library, const OwnOperators& own,
                                   const Eigen::VectorXd& costs_ms,
                                   const std::vector<OperatorSpecification>& operators) {
  const std::vector<double> timed_ms = evenly(own.latency_ms, most_timed);
  Expected timed = expect(map, library, costs_ms, evenly(own.operators, most_timed));
  const Eigen::Map<const Eigen::VectorXd> own_ms(timed_ms.data(), timed.log_ms.size());
  const Eigen::VectorXd beside = own_ms.unaryExpr(&log_time) - timed.log_ms;
  const Eigen::RowVectorXd centre = timed.points.elsewhere.colwise().mean();
  timed.points.elsewhere.rowwise() -= centre;
  const OperatorProcess process(std::move(timed.points), beside);
  Expected all = expect(map, library, costs_ms, operators);
  all.points.elsewhere.rowwise() -= centre;
  const Eigen::VectorXd log_ms = all.log_ms + process.predict(all.points);
  std::vector<double> ms;
  for (std::size_t o = 0; o < operators.size(); ++o) {
    const double alone = std::exp(log_ms[static_cast<Index>(o)]) - least_operator_ms;
    ms.push_back(std::max(alone, 0.0) * own.timed_share(operators[o]));
  }
  return ms;
}

}  // namespace tenshot::trainer::operators
