#include "trainer/predictors/maple_edge/descriptor_features.h"

#include <algorithm>
#include <cmath>

#include "nasbench/support/error.h"
#include "nasbench/support/numbers_below.h"
#include "trainer/core/adaptation.h"
#include "trainer/core/nnls.h"

namespace tenshot::trainer {
namespace {

void require(bool has, const std::string& what, const datasets::HardwareDescriptor& descriptor) {
  if (has) return;
  throw InputError("this checkpoint needs a hardware descriptor with " + what + ", the device's is '" +
                   descriptor.source + "'; measure one, or train the pool with --descriptor-kind inferred");
}

/// What a feature deviates by over devices once standardised. A pool is a handful of points to the network: the further
/// apart they lie, the easier each is memorised and the less a new device takes from its neighbours.
constexpr double standardised_deviation = 0.1;

/// Features that vary less over the pool say nothing of a device, and one that differs in them would look like no
/// other: a hundredth of a network's latency, or one per cent of a rate.
constexpr double least_deviation = 0.01;

/// A device further from the pool's mean than this many deviations counts as this far: the network has learned nothing
/// of what lies beyond, and the deviations of a pool of two are hardly known.
constexpr double most_deviations = 3;

}  // namespace

DescriptorKind common_descriptor_kind(const datasets::Pool& pool) {
  const auto all = [&](auto has) { return std::all_of(pool.devices.begin(), pool.devices.end(), has); };
  const std::vector<std::string>& counters = pool.devices.front().descriptor.counters;
  if (all([&](const auto& d) { return d.descriptor.has_counters() && d.descriptor.counters == counters; })) {
    return DescriptorKind::counters;
  }
  if (all([](const auto& d) { return d.descriptor.has_latencies(); })) return DescriptorKind::latency;
  return DescriptorKind::inferred;
}

std::vector<std::size_t> comparable_rows(const AdaptationSet& set, const nasbench::NetworkSpace& space) {
  const std::vector<std::size_t> connected = connected_of(set.architectures, space);
  return connected.empty() ? numbers_below(set.architectures.size()) : connected;
}

double reference_scale_ms(const AdaptationSet& device, const nasbench::SearchSpace& space) {
  return geometric_mean(part_of(device, comparable_rows(device, space)).latency_ms);
}

std::vector<double> inferred_costs_ms(const AdaptationSet& device, const nasbench::SearchSpace& space) {
  const AdaptationSet connected = part_of(device, comparable_rows(device, space));
  const auto rows = static_cast<Eigen::Index>(connected.architectures.size());
  const auto columns = static_cast<Eigen::Index>(1 + space.counted_operations().size());
  Eigen::MatrixXd occurrences = Eigen::MatrixXd::Ones(rows, columns);
  for (Eigen::Index i = 0; i < rows; ++i) {
    const std::vector<double> counts = space.operation_counts(connected.architectures[static_cast<std::size_t>(i)]);
    occurrences.row(i).tail(columns - 1) = Eigen::Map<const Eigen::RowVectorXd>(counts.data(), columns - 1);
  }
  const Eigen::Map<const Eigen::VectorXd> latency_ms(connected.latency_ms.data(), rows);
  const Eigen::VectorXd costs = relative_non_negative_least_squares(occurrences, latency_ms);
  return {costs.data(), costs.data() + costs.size()};
}

std::vector<double> device_features(DescriptorKind kind, bool normalise, const AdaptationSet& device,
                                    const nasbench::SearchSpace& space, double scale_ms) {
  const double unit_ms = normalise ? scale_ms : 1;
  if (kind == DescriptorKind::inferred) {
    std::vector<double> costs = inferred_costs_ms(device, space);
    for (double& cost : costs) cost /= unit_ms;
    return costs;
  }
  const datasets::HardwareDescriptor nothing;
  const datasets::HardwareDescriptor& descriptor = device.descriptor ? *device.descriptor : nothing;
  require(kind != DescriptorKind::counters || descriptor.has_counters(), "counters", descriptor);
  require(descriptor.has_latencies(), "operator latencies", descriptor);
  double slowest_ms = 0;
  for (const auto& profile : descriptor.operators) slowest_ms = std::max(slowest_ms, profile.latency_ms);
  std::vector<double> counters, latencies;
  for (const datasets::OperatorProfile& profile : descriptor.operators) {
    const double latency_ms = std::max(profile.latency_ms, slowest_ms * 1e-3);
    latencies.push_back(std::log1p(latency_ms / unit_ms * 1e3));
    for (const double count : profile.counts) {
      const double known = std::isnan(count) ? 0 : count;
      counters.push_back(std::log1p(normalise ? known / (latency_ms * 1e-3) : known));
    }
  }
  if (kind == DescriptorKind::counters) latencies.insert(latencies.begin(), counters.begin(), counters.end());
  return latencies;
}

double total_operator_ms(const datasets::HardwareDescriptor& descriptor) {
  require(descriptor.has_latencies(), "operator latencies", descriptor);
  double total_ms = 0;
  for (const datasets::OperatorProfile& profile : descriptor.operators) total_ms += profile.latency_ms;
  return total_ms;
}

std::vector<float> Standardisation::apply(const std::vector<double>& features) const {
  if (features.size() != mean.size()) {
    throw InputError("this device's descriptor has " + std::to_string(features.size()) +
                     " values, the pool's devices have " + std::to_string(mean.size()));
  }
  constexpr double most = most_deviations * standardised_deviation;
  std::vector<float> standardised;
  for (std::size_t i = 0; i < features.size(); ++i) {
    const double value = deviation[i] > 0 ? (features[i] - mean[i]) / deviation[i] : 0;
    standardised.push_back(static_cast<float>(std::clamp(value, -most, most)));
  }
  return standardised;
}

Standardisation standardisation_of(const std::vector<std::vector<double>>& features_of_devices) {
  const std::size_t width = features_of_devices.front().size();
  const auto devices = static_cast<double>(features_of_devices.size());
  Standardisation result{std::vector<double>(width, 0), std::vector<double>(width, 0)};
  for (const std::vector<double>& features : features_of_devices) {
    if (features.size() != width) throw InputError("the pool's devices have descriptors of different sizes");
    for (std::size_t i = 0; i < width; ++i) result.mean[i] += features[i] / devices;
  }
  for (const std::vector<double>& features : features_of_devices) {
    for (std::size_t i = 0; i < width; ++i) result.deviation[i] += std::pow(features[i] - result.mean[i], 2) / devices;
  }
  for (double& deviation : result.deviation) {
    deviation = std::sqrt(deviation);
    deviation = deviation < least_deviation ? 0 : deviation / standardised_deviation;
  }
  return result;
}

}  // namespace tenshot::trainer
