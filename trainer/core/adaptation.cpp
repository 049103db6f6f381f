#include "trainer/core/adaptation.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "datasets/operators/kernel_table.h"
#include "nasbench/support/error.h"
#include "nasbench/support/numbers_below.h"

namespace tenshot::trainer {

void require_measurements(const AdaptationSet& set, std::string_view kind, std::string_view alternative) {
  if (!set.architectures.empty()) return;
  throw InputError("adapting " + std::string(kind) + " needs at least one measured architecture" +
                   std::string(alternative));
}

double smallest_prediction_ms(const AdaptationSet& set) {
  return 0.05 * *std::min_element(set.latency_ms.begin(), set.latency_ms.end());
}

LatencyOf latencies_of(const datasets::DeviceRuntime& device) {
  LatencyOf latency_ms;
  for (const datasets::Measurement& row : device.latencies) latency_ms.emplace(row.architecture, row.latency_ms);
  return latency_ms;
}

std::vector<std::vector<double>> measured_or_expected(const datasets::Pool& pool,
                                                      const std::vector<Architecture>& architectures,
                                                      const ExpectedOnPool& expected) {
  std::vector<std::vector<double>> latency_ms(pool.devices.size()), expected_ms;
  for (std::size_t d = 0; d < pool.devices.size(); ++d) {
    const LatencyOf measured_ms = latencies_of(pool.devices[d]);
    for (std::size_t i = 0; i < architectures.size(); ++i) {
      const auto found = measured_ms.find(architectures[i]);
      if (found == measured_ms.end() && expected_ms.empty()) expected_ms = expected(architectures);
      latency_ms[d].push_back(found == measured_ms.end() ? expected_ms[d][i] : found->second);
    }
  }
  return latency_ms;
}

std::vector<std::size_t> connected_of(const std::vector<Architecture>& architectures, const NetworkSpace& space) {
  std::vector<std::size_t> connected;
  for (std::size_t i = 0; i < architectures.size(); ++i) {
    if (space.connected(architectures[i])) connected.push_back(i);
  }
  return connected;
}

std::vector<std::size_t> fastest_first(const std::vector<double>& latency_ms) {
  std::vector<std::size_t> order = numbers_below(latency_ms.size());
  std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return latency_ms[a] < latency_ms[b]; });
  return order;
}

AdaptationSet part_of(const AdaptationSet& set, const std::vector<std::size_t>& indices) {
  AdaptationSet part;
  part.whole_milliseconds = set.whole_milliseconds;
  for (const std::size_t i : indices) part.add(set.architectures[i], set.latency_ms[i]);
  return part;
}

double geometric_mean(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += std::log(value);
  return std::exp(sum / static_cast<double>(values.size()));
}

void add_measured(AdaptationSet& set, datasets::MeasuredSource measured, const PoolModel& model) {
  set.architectures = std::move(measured.architectures);
  set.latency_ms = std::move(measured.latency_ms);
  set.whole_milliseconds = measured.whole_milliseconds;
  set.fleet = std::move(measured.fleet);
  set.doubts = measured.doubts.size();
  set.conditions = std::move(measured.conditions);
  if (set.quantity == datasets::Quantity::latency) set.operator_latencies = std::move(measured.operator_latencies);
  const bool described = set.quantity == datasets::Quantity::latency && measured.descriptor.has_latencies();
  if (described && model.descriptor_kind() != "inferred") set.descriptor = std::move(measured.descriptor);
}

void add_operators(AdaptationSet& set, const std::filesystem::path& file, const PoolModel& model) {
  if (set.quantity != datasets::Quantity::latency) {
    throw InputError(file.string() + ": holds times of operators, and no latencies are adapted to; leave it out");
  }
  if (model.kind() != "operators") {
    throw InputError(file.string() + ": a checkpoint of '" + std::string(model.kind()) +
                     "' learns nothing from times of operators; use one of 'operators'");
  }
  set.operator_latencies = datasets::operators_in_networks(datasets::read_kernel_table(file));
  if (set.operator_latencies.empty()) {
    throw InputError(file.string() + ": has no operator that was timed inside its network (isolation 'profile')");
  }
}

}  // namespace tenshot::trainer
