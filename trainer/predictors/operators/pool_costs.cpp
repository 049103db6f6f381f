#include "trainer/predictors/operators/pool_costs.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "nasbench/support/error.h"
#include "trainer/core/adaptation.h"

namespace tenshot::trainer::operators {
namespace {

/// Of a device's median latency: no latency that the library expects is below it.
constexpr double smallest_expected = 1e-3;

}  // namespace

LibraryOptions library_options(const datasets::Pool& pool, const PosteriorOptions& options) {
  LibraryOptions library;
  library.operator_times = options.operator_times != 0;
  if (pool.quantity() == datasets::Quantity::cold) library.typical_pull = options.start_pull;
  return library;
}

FeatureMap FittedPool::learn(const std::vector<Eigen::Index>& known, CostLibrary& of) const {
  FeatureMap result = map;
  result.learned.clear();
  of.block.assign(of.devices(), 0);
  for (std::size_t d = 0; d < of.devices(); ++d) {
    if (!operators.has(d)) continue;
    const auto device = static_cast<Eigen::Index>(d);
    OperatorTimes times =
        operators.learn(d, known, numbers.latency_ms.row(device), of.median_ms[device], of.costs.row(device));
    if (times.trees.trees.empty()) continue;
    result.learned.push_back(std::move(times));
    of.block[d] = result.learned.size();
    // What alike networks take beyond costs is in the operators' times.
    if (of.places.compared()) of.known_weights.col(device).setZero();
  }
  return result;
}

FittedPool fit_pool(const datasets::Pool& pool, const LibraryOptions& options) {
  require_devices(pool);
  const datasets::LatencyMatrix matrix = datasets::latency_matrix(pool);
  FittedPool fitted{matrix.architectures, OperatorMeasurements(pool, matrix.architectures), {}, {}, {}};
  const bool starts = pool.quantity() == datasets::Quantity::cold;
  fitted.map = make_feature_map(*pool.space, matrix.architectures, starts ? FeaturesOf::start : FeaturesOf::inference);
  fitted.numbers.features = feature_table(fitted.map, *pool.space, matrix.architectures).rows();
  fitted.numbers.operator_features = fitted.map.operator_features();
  fitted.numbers.latency_ms.resize(static_cast<Eigen::Index>(matrix.latency_ms.size()),
                                   static_cast<Eigen::Index>(matrix.architectures.size()));
  for (std::size_t d = 0; d < matrix.latency_ms.size(); ++d) {
    if (std::none_of(matrix.latency_ms[d].begin(), matrix.latency_ms[d].end(), [](double v) { return v > 0; })) {
      throw InputError("device " + pool.devices[d].id + " of the pool has no latency; leave it out");
    }
    fitted.numbers.latency_ms.row(static_cast<Eigen::Index>(d)) = Eigen::Map<const Eigen::RowVectorXd>(
        matrix.latency_ms[d].data(), static_cast<Eigen::Index>(matrix.latency_ms[d].size()));
  }
  fitted.library = fit_library(fitted.numbers, options);
  if (!options.operator_times || !fitted.operators.any()) return fitted;
  std::vector<Eigen::Index> all(fitted.networks.size());
  std::iota(all.begin(), all.end(), Eigen::Index{0});
  fitted.map = fitted.learn(all, fitted.library);
  return fitted;
}

std::vector<std::vector<double>> latencies_of_pool(const FeatureMap& map, const CostLibrary& library,
                                                   const SearchSpace& space,
                                                   const std::vector<Architecture>& architectures) {
  const FeatureTable table = feature_table(map, space, architectures);
  Eigen::MatrixXd costs = Eigen::MatrixXd::Zero(table.blocks.cols(), library.costs.rows());
  for (std::size_t d = 0; d < library.devices(); ++d) {
    const auto device = static_cast<Eigen::Index>(d);
    costs.col(device).segment(library.begin_of(d), library.costs.cols()) = library.costs.row(device);
  }
  Eigen::MatrixXd latency = table.times(costs).cwiseMax(smallest_expected);
  if (library.places.compared()) {
    const Eigen::MatrixXd near = similarity(library.places.of(table.rows()), library.known);
    latency = latency.array() * (near * library.known_weights).array().exp();
  }
  std::vector<std::vector<double>> latency_ms;
  for (Eigen::Index d = 0; d < latency.cols(); ++d) {
    const Eigen::VectorXd of_device = library.median_ms[d] * latency.col(d);
    latency_ms.emplace_back(of_device.data(), of_device.data() + of_device.size());
  }
  return latency_ms;
}

AdaptationFeatures adaptation_features(const FeatureMap& map, const SearchSpace& space, const AdaptationSet& set) {
  return {feature_table(map, space, set.architectures).rows(), set.latency_ms, set.whole_milliseconds};
}

}  // namespace tenshot::trainer::operators
