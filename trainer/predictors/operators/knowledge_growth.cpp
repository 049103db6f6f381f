#include "trainer/predictors/operators/knowledge_growth.h"

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>
#include <iterator>
#include <vector>

#include "trainer/predictors/library/library.h"

namespace tenshot::trainer::operators {
namespace {

using Eigen::Index;
using structured::smallest_relative;

/// For each feature of a wider map its place in the narrower one, −1 where that has it not. What follows the operators'
/// features keeps its order.
using Places = std::vector<Index>;

Places widen(FeatureMap& map, const FeatureMap& other) {
  std::vector<std::size_t> raw;
  std::set_union(map.raw.begin(), map.raw.end(), other.raw.begin(), other.raw.end(), std::back_inserter(raw));
  Places places;
  Eigen::VectorXd unit(static_cast<Index>(raw.size()));
  for (std::size_t f = 0; f < raw.size(); ++f) {
    const auto own = std::lower_bound(map.raw.begin(), map.raw.end(), raw[f]);
    const bool known = own != map.raw.end() && *own == raw[f];
    const auto at = known ? own - map.raw.begin()
                          : std::lower_bound(other.raw.begin(), other.raw.end(), raw[f]) - other.raw.begin();
    unit[static_cast<Index>(f)] = known ? map.unit[at] : other.unit[at];
    places.push_back(known ? at : -1);
  }
  map.raw = std::move(raw);
  map.unit = std::move(unit);
  return places;
}

/// The columns of `narrow` at their places, and zeros for those that are new; columns beyond the operators' follow.
Eigen::MatrixXd widened(const Eigen::MatrixXd& narrow, const Places& places, Index operators_before) {
  const auto operators = static_cast<Index>(places.size());
  const Index others = narrow.cols() - operators_before;
  Eigen::MatrixXd wide = Eigen::MatrixXd::Zero(narrow.rows(), operators + others);
  for (Index f = 0; f < operators; ++f) {
    if (places[static_cast<std::size_t>(f)] >= 0) wide.col(f) = narrow.col(places[static_cast<std::size_t>(f)]);
  }
  wide.rightCols(others) = narrow.rightCols(others);
  return wide;
}

void widen(FeatureMap& map, CostLibrary& library, const FeatureMap& other) {
  const auto before = static_cast<Index>(map.operator_features());
  const Places places = widen(map, other);
  library.operator_features = map.operator_features();
  library.costs = widened(library.costs, places, before);
  for (OperatorTimes& times : map.learned) times.costs = widened(times.costs.transpose(), places, before).transpose();
  if (!library.places.compared()) return;
  Eigen::VectorXd& typical = library.places.typical_costs;
  typical = widened(typical.transpose(), places, before).transpose();
  library.known = widened(library.known, places, before);
}

PoolNumbers numbers_of(const FeatureMap& map, const datasets::Pool& pool) {
  const datasets::LatencyMatrix matrix = datasets::latency_matrix(pool);
  FeatureMap shared = map;
  shared.learned.clear();
  PoolNumbers numbers;
  numbers.features = feature_table(shared, *pool.space, matrix.architectures).rows();
  numbers.operator_features = map.operator_features();
  numbers.latency_ms.resize(static_cast<Index>(pool.devices.size()), numbers.features.rows());
  for (std::size_t d = 0; d < matrix.latency_ms.size(); ++d) {
    numbers.latency_ms.row(static_cast<Index>(d)) =
        Eigen::Map<const Eigen::RowVectorXd>(matrix.latency_ms[d].data(), numbers.features.rows());
  }
  return numbers;
}

/// Mean square differences of log latency profiles between all devices, over the networks that `features` has.
Eigen::MatrixXd differences_on(const Eigen::MatrixXd& features, const Eigen::MatrixXd& costs) {
  Eigen::MatrixXd profiles = (costs * features.transpose()).array().max(smallest_relative).log();
  profiles.colwise() -= profiles.rowwise().mean().eval();
  Eigen::MatrixXd differences(costs.rows(), costs.rows());
  for (Index a = 0; a < costs.rows(); ++a) {
    differences.row(a) = (profiles.rowwise() - profiles.row(a)).rowwise().squaredNorm().transpose() /
                         static_cast<double>(features.rows());
  }
  return differences;
}

/// The log residuals of one device as a Gaussian process over its networks, as fit_library() has them.
Eigen::VectorXd residual_weights(const PoolNumbers& numbers, const CostLibrary& own, Index device,
                                 const Eigen::MatrixXd& kernel, double noise) {
  std::vector<Index> measured;
  for (Index n = 0; n < numbers.latency_ms.cols(); ++n) {
    if (std::isfinite(numbers.latency_ms(device, n))) measured.push_back(n);
  }
  const Eigen::VectorXd expected = numbers.features(measured, Eigen::all) * own.costs.row(device).transpose();
  const Eigen::RowVectorXd latency_ms = numbers.latency_ms(device, measured);
  const Eigen::VectorXd residual =
      (latency_ms.transpose() / own.median_ms[device]).array().log() - expected.array().max(smallest_relative).log();
  Eigen::MatrixXd system = kernel(measured, measured);
  system.diagonal().array() += noise;
  Eigen::VectorXd weights = Eigen::VectorXd::Zero(kernel.rows());
  const Eigen::VectorXd solved = system.llt().solve(residual);
  weights(measured) = solved;
  return weights;
}

void append_known(const PoolNumbers& numbers, const CostLibrary& own, CostLibrary& library) {
  const Eigen::MatrixXd places = library.places.of(numbers.features);
  const Eigen::MatrixXd kernel = similarity(places, places);
  const Index known = library.known.rows(), devices = library.known_weights.cols(), added = own.costs.rows();
  library.known.conservativeResize(known + places.rows(), Eigen::NoChange);
  library.known.bottomRows(places.rows()) = places;
  library.known_weights.conservativeResize(known + places.rows(), devices + added);
  library.known_weights.bottomLeftCorner(places.rows(), devices).setZero();
  library.known_weights.topRightCorner(known, added).setZero();
  for (Index d = 0; d < added; ++d) {
    library.known_weights.col(devices + d).tail(places.rows()) =
        residual_weights(numbers, own, d, kernel, library.places.noise);
  }
}

}  // namespace

void grow(FeatureMap& map, CostLibrary& library, const datasets::Pool& pool, const LibraryOptions& options) {
  const std::vector<nasbench::Architecture> networks = datasets::latency_matrix(pool).architectures;
  widen(map, library,
        make_feature_map(*pool.space, networks, map.of_starts() ? FeaturesOf::start : FeaturesOf::inference));
  const PoolNumbers numbers = numbers_of(map, pool);
  const CostLibrary own = fit_library(numbers, options);
  const Index before = library.costs.rows(), added = own.costs.rows();
  if (!library.block.empty()) library.block.resize(static_cast<std::size_t>(before + added), 0);
  library.costs.conservativeResize(before + added, Eigen::NoChange);
  library.costs.bottomRows(added) = own.costs;
  library.median_ms.conservativeResize(before + added);
  library.median_ms.tail(added) = own.median_ms;
  library.log_rms.conservativeResize(before + added);
  library.log_rms.tail(added) = own.log_rms;
  Eigen::MatrixXd differences = differences_on(numbers.features, library.costs);
  differences.topLeftCorner(before, before) = library.differences;
  library.differences = std::move(differences);
  if (library.places.compared()) append_known(numbers, own, library);
}

}  // namespace tenshot::trainer::operators
