#include "trainer/predictors/operators/pool_costs.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

#include "nasbench/support/error.h"
#include "nasbench/support/numbers_below.h"
#include "nasbench/support/text.h"
#include "trainer/core/knowledge.h"

namespace tenshot::trainer::operators {

LibraryOptions library_options(const datasets::Pool& pool, const PosteriorOptions& options) {
  LibraryOptions library;
  if (pool.quantity() == datasets::Quantity::cold) library.typical_pull = options.start_pull;
  return library;
}

FeatureMap FittedPool::learn(const std::vector<Eigen::Index>& known, CostLibrary& of,
                             const std::vector<Eigen::Index>& devices) const {
  FeatureMap result = map;
  result.learned.clear();
  of.block.assign(of.devices(), 0);
  for (std::size_t d = 0; d < of.devices(); ++d) {
    const auto device = static_cast<std::size_t>(devices[d]);
    OperatorTimes times =
        operators.learn(device, known, numbers.latency_ms.row(devices[d]), of.median_ms[d], of.costs.row(d),
                        [&](const auto& operation) { return shared_features(map, operation); });
    if (times.trees.trees.empty()) continue;
    result.learned.push_back(std::move(times));
    of.block[d] = result.learned.size();
    // What alike networks take beyond costs is in the operators' times.
    if (of.places.compared()) of.known_weights.col(d).setZero();
  }
  return result;
}

PoolNumbers numbers_of(const FeatureMap& map, const datasets::Pool& pool) {
  const datasets::LatencyMatrix matrix = datasets::latency_matrix(pool);
  FeatureMap shared = map;
  shared.learned.clear();
  PoolNumbers numbers;
  numbers.features = feature_table(shared, *pool.space, matrix.architectures).rows();
  numbers.operator_features = map.operator_features();
  if (map.options.empty() && !map.of_starts()) {
    numbers.scale = feature_scale(map);
    for (const std::size_t f : map.raw) numbers.groups.push_back((f + measures_of_group - 1) / measures_of_group);
    for (const datasets::DeviceRuntime& device : pool.devices) {
      numbers.labels.kind.push_back(device.runtime.empty() ? "a runtime without a name" : device.runtime);
      numbers.labels.board.push_back(device.device.empty() ? device.id : device.device);
    }
  }
  numbers.latency_ms.resize(static_cast<Eigen::Index>(matrix.latency_ms.size()), numbers.features.rows());
  for (std::size_t d = 0; d < matrix.latency_ms.size(); ++d) {
    if (std::none_of(matrix.latency_ms[d].begin(), matrix.latency_ms[d].end(), [](double v) { return v > 0; })) {
      throw InputError("device " + pool.devices[d].id + " of the pool has no latency; leave it out");
    }
    numbers.latency_ms.row(static_cast<Eigen::Index>(d)) =
        Eigen::Map<const Eigen::RowVectorXd>(matrix.latency_ms[d].data(), numbers.features.rows());
  }
  return numbers;
}

std::vector<std::vector<std::string>> unmeasured_groups(const FeatureMap& map, const PoolNumbers& numbers,
                                                        const NetworkSpace& space,
                                                        const std::vector<Architecture>& networks) {
  if (!map.options.empty()) return {};  // the networks of a space are made of the same operators
  std::vector<std::set<std::string>> unusual;
  for (const Architecture& network : networks) unusual.push_back(unusual_operators(space, network));
  const std::vector<Eigen::Index> all = numbers_below<Eigen::Index>(networks.size());
  std::vector<std::vector<std::string>> result;
  for (Eigen::Index d = 0; d < numbers.latency_ms.rows(); ++d) {
    std::vector<std::string>& names = result.emplace_back();
    std::set<std::string> seen = {of_8_bits, told_functions};
    Eigen::RowVectorXd sums = Eigen::RowVectorXd::Zero(numbers.features.cols());
    for (const Eigen::Index n : measured_of(all, numbers.latency_ms.row(d))) {
      seen.insert(unusual[static_cast<std::size_t>(n)].begin(), unusual[static_cast<std::size_t>(n)].end());
      sums += numbers.features.row(n);
    }
    for (std::size_t f = 0; f < map.raw.size(); ++f) {
      const std::optional<std::size_t> group = group_counted_by(map.raw[f]);
      if (group && !(sums[static_cast<Eigen::Index>(f)] > 0)) names.push_back(operator_group_name(*group));
    }
    std::set_difference(map.unusual.begin(), map.unusual.end(), seen.begin(), seen.end(), std::back_inserter(names));
  }
  return result;
}

void drop_unlisted(const FeatureMap& map, CostLibrary& library) {
  const auto is_listed_apart = [](const std::string& name) {  // of a group or a feature
    const std::string group = name.substr(0, name.find('.'));
    return group == "activation" || group == "elementwise" || group == "normalisation";
  };
  const auto is_taken_out = [&](const std::string& name) {  // norms that are computed cost something everywhere
    return is_listed_apart(name) || begins_with(name, "activation: ");
  };
  for (std::size_t d = 0; d < library.unmeasured.size(); ++d) {
    auto& groups = library.unmeasured[d];
    if (std::count_if(groups.begin(), groups.end(), is_listed_apart) < 3) continue;
    groups.erase(std::remove_if(groups.begin(), groups.end(), is_taken_out), groups.end());
    for (std::size_t f = 0; f < map.raw.size(); ++f) {
      if (!is_listed_apart(map.name(f))) continue;
      const auto device = static_cast<Eigen::Index>(d), feature = static_cast<Eigen::Index>(f);
      library.costs(device, feature) = 0;
      if (library.known_costs.rows() > 0) library.known_costs(device, feature) = 0;
    }
  }
}

FittedPool fit_pool(const datasets::Pool& pool, const PosteriorOptions& options) {
  const std::vector<Architecture> networks = datasets::latency_matrix(pool).architectures;
  FittedPool fitted{networks, OperatorMeasurements(pool, networks), {}, {}, {}, library_options(pool, options)};
  fitted.map = make_feature_map(*pool.space, networks, pool.quantity());
  fitted.numbers = numbers_of(fitted.map, pool);
  fitted.library = fit_library(fitted.numbers, fitted.options);
  fitted.library.unmeasured = unmeasured_groups(fitted.map, fitted.numbers, *pool.space, networks);
  drop_unlisted(fitted.map, fitted.library);
  if (options.operator_times == 0 || !fitted.operators.any()) return fitted;
  fitted.map = fitted.learn(numbers_below<Eigen::Index>(networks.size()), fitted.library,
                            numbers_below<Eigen::Index>(pool.devices.size()));
  return fitted;
}

std::vector<std::vector<double>> latencies_of_pool(const FeatureMap& map, const CostLibrary& library,
                                                   const NetworkSpace& space,
                                                   const std::vector<Architecture>& architectures) {
  const FeatureTable table = feature_table(map, space, architectures);
  Eigen::MatrixXd costs = Eigen::MatrixXd::Zero(table.blocks.cols(), library.costs.rows());
  for (std::size_t d = 0; d < library.devices(); ++d) {
    costs.col(d).segment(library.begin_of(d), library.costs.cols()) = library.costs.row(d);
  }
  constexpr double smallest_expected = 1e-3;  // of a device's median latency
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

SaidRuntime said_runtime(const datasets::Pool& pool, const std::string& runtime,
                         const std::vector<std::size_t>& entries) {
  if (runtime.empty()) return {};
  SaidRuntime said{runtime_named(pool, runtime), {}};
  for (const std::size_t entry : entries) said.of_entry.push_back(pool.devices[entry].runtime == said.name);
  return said;
}

AdaptationFeatures adaptation_features(const FeatureMap& map, const NetworkSpace& space, const AdaptationSet& set) {
  return {feature_table(map, space, set.architectures).rows(), set.latency_ms, set.whole_milliseconds};
}

}  // namespace tenshot::trainer::operators
