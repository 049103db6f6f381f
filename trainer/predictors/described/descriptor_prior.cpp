#include "trainer/predictors/described/descriptor_prior.h"

#include <iterator>
#include <limits>
#include <set>
#include <utility>

#include "trainer/predictors/posterior/latency_solver.h"

namespace tenshot::trainer::structured {
namespace {

using datasets::DeviceRuntime;
using datasets::HardwareDescriptor;
using nasbench::StructureModel;

constexpr double least_own_share = 0.1;        ///< of a cost that is left without what it contains
constexpr std::size_t rows_of_a_device = 200;  ///< networks to learn from; evenly spaced ones speak for all

/// log(1 + events a ms) of each operator of the space and counter (the rates of MAPLE-Edge §2.1.2), operator by
/// operator; nothing where the descriptor has other counters than these, or lacks an operator.
std::vector<double> log_rates(const HardwareDescriptor& descriptor, const StructureModel& model,
                              const std::vector<std::string>& counters) {
  if (descriptor.counters != counters) return {};
  std::vector<double> rates;
  for (const nasbench::Operator& op : model.space().operators(model.space().default_shape(), 1)) {
    const auto profile = std::find_if(descriptor.operators.begin(), descriptor.operators.end(), [&](const auto& own) {
      return nasbench::same_at_any_resolution(own.key, op.key);
    });
    if (profile == descriptor.operators.end()) return {};
    for (const double count : profile->counts) rates.push_back(std::log1p(count / std::max(profile->latency_ms, 1e-6)));
  }
  return rates;
}

/// Inputs before standardisation: logarithms of the described costs' shares, then of the rates; NaN where not known.
Eigen::VectorXd raw_inputs(const DescriptorPrior& prior, const StructureModel& model,
                           const HardwareDescriptor& descriptor) {
  const Eigen::VectorXd costs = described_costs_ms(descriptor, model, prior.kind);
  double sum = 0;
  for (const double cost : costs) sum += std::isnan(cost) ? 0 : cost;
  const std::vector<double> rates = log_rates(descriptor, model, prior.counters);
  Eigen::VectorXd inputs = Eigen::VectorXd::Constant(prior.input_mean.size(), std::numeric_limits<double>::quiet_NaN());
  for (Eigen::Index f = 0; f < costs.size(); ++f) {
    if (!std::isnan(costs[f])) inputs[f] = std::log(std::max(costs[f] / sum, smallest_share));
  }
  const bool known = costs.size() + static_cast<Eigen::Index>(rates.size()) == inputs.size();
  if (known) std::copy(rates.begin(), rates.end(), inputs.data() + costs.size());
  return inputs;
}

/// Standardised; what is not known is as on average. Each group of inputs has the weight of one.
Eigen::VectorXd inputs_of(const DescriptorPrior& prior, const StructureModel& model,
                          const HardwareDescriptor& descriptor) {
  Eigen::VectorXd inputs = (raw_inputs(prior, model, descriptor) - prior.input_mean).cwiseQuotient(prior.input_unit);
  for (double& input : inputs) input = std::isfinite(input) ? input : 0;
  return inputs;
}

/// Mean count of each feature over the architectures under the structures that use it and have one alternative.
Eigen::VectorXd mean_counts_of(const StructureModel& model, const nasbench::StructureTable& table) {
  const auto width = static_cast<Eigen::Index>(table.feature_count);
  Eigen::VectorXd sum = Eigen::VectorXd::Zero(width), structures = Eigen::VectorXd::Zero(width);
  for (std::size_t s = 0; s < model.structures().size(); ++s) {
    if (model.structures()[s].alternatives > 1) continue;
    Eigen::VectorXd mean = Eigen::VectorXd::Zero(width);
    for (std::size_t a = 0; a < table.size; ++a) mean += Eigen::Map<const Eigen::VectorXd>(table.row(s, a), width);
    mean /= static_cast<double>(table.size);
    for (Eigen::Index f = 0; f < width; ++f) {
      if (!model.structures()[s].uses[f]) continue;
      sum[f] += mean[f];
      structures[f] += 1;
    }
  }
  return sum.cwiseQuotient(structures.cwiseMax(1));
}

/// A device of the pool with all that the prior learns from it.
struct Lesson {
  const DeviceRuntime* device = nullptr;
  const LibraryEntry* entry = nullptr;
  Eigen::MatrixXd rows;  ///< under its structure, by the costs of all features
  Eigen::VectorXd log_latency;
};

std::set<std::string> runtimes_of(const std::vector<Lesson>& lessons) {
  std::set<std::string> runtimes;
  for (const Lesson& lesson : lessons) runtimes.insert(lesson.device->runtime);
  return runtimes;
}

Lesson lesson_of(const StructuredLibrary& library, const LibraryEntry& entry, const DeviceRuntime& device,
                 DescriptorKind kind, const Eigen::VectorXd& mean_counts) {
  std::vector<nasbench::Architecture> architectures;
  std::vector<double> latency_ms;
  const std::size_t step = std::max<std::size_t>(device.latencies.size() / rows_of_a_device, 1);
  for (std::size_t i = 0; i < device.latencies.size(); i += step) {
    if (!library.model->space().connected(device.latencies[i].architecture)) continue;
    architectures.push_back(device.latencies[i].architecture);
    latency_ms.push_back(device.latencies[i].latency_ms);
  }
  const FeatureRows rows = rows_at(library.model->table(architectures), entry.structure, path_costs(entry.costs));
  Lesson lesson{&device, &entry, rows, {}};
  lesson.rows *= structure_costs(*library.model, entry.structure, device.descriptor, kind, mean_counts);
  lesson.log_latency =
      Eigen::Map<const Eigen::VectorXd>(latency_ms.data(), static_cast<Eigen::Index>(latency_ms.size())).array().log();
  return lesson;
}

/// Inputs' mean and unit over the devices, for which they are known.
void standardise(const std::vector<Lesson>& lessons, const StructureModel& model, DescriptorPrior& prior) {
  std::size_t rates = 0;
  for (const Lesson& lesson : lessons) {
    rates = std::max(rates, log_rates(lesson.device->descriptor, model, prior.counters).size());
  }
  const auto features = static_cast<Eigen::Index>(model.features().size());
  const Eigen::Index width = features + static_cast<Eigen::Index>(rates);
  prior.input_mean = Eigen::VectorXd::Zero(width);
  prior.input_unit = Eigen::VectorXd::Ones(width);
  std::vector<Eigen::VectorXd> raw;
  for (const Lesson& lesson : lessons) raw.push_back(raw_inputs(prior, model, lesson.device->descriptor));
  for (Eigen::Index i = 0; i < width; ++i) {
    double count = 0, sum = 0, square = 0;
    for (const Eigen::VectorXd& inputs : raw) {
      const double value = inputs[i];
      if (!std::isfinite(value)) continue;
      count += 1;
      sum += value;
      square += value * value;
    }
    if (count == 0) continue;
    prior.input_mean[i] = sum / count;
    const double deviation = std::sqrt(std::max(square / count - std::pow(sum / count, 2), 0.01));
    prior.input_unit[i] = deviation * std::sqrt(static_cast<double>(i < features ? features : width - features));
  }
}

void train(const std::vector<Lesson>& lessons, const StructureModel& model, std::uint64_t seed,
           DescriptorPrior& prior) {
  standardise(lessons, model, prior);
  const auto devices = static_cast<Eigen::Index>(lessons.size());
  const auto features = static_cast<Eigen::Index>(model.features().size());
  DescribedNetworks networks;
  networks.inputs.resize(devices, prior.input_mean.size());
  networks.log_costs.resize(devices, features);
  Eigen::Index n = 0;
  for (const Lesson& lesson : lessons) n += lesson.rows.rows();
  networks.rows.resize(n, features);
  networks.log_latency.resize(n);
  n = 0;
  for (Eigen::Index d = 0; d < devices; ++d) {
    const Lesson& lesson = lessons[static_cast<std::size_t>(d)];
    networks.inputs.row(d) = inputs_of(prior, model, lesson.device->descriptor).transpose();
    networks.log_costs.row(d) =
        expected_costs_ms(lesson.device->descriptor, model, prior.kind).array().log().matrix().transpose();
    networks.rows.middleRows(n, lesson.rows.rows()) = lesson.rows;
    networks.log_latency.segment(n, lesson.rows.rows()) = lesson.log_latency;
    networks.device.insert(networks.device.end(), static_cast<std::size_t>(lesson.rows.rows()), d);
    n += lesson.rows.rows();
  }
  prior.network = fit_descriptor_network(networks, seed);
}

Eigen::VectorXd costs_ms(const DescriptorPrior& prior, const StructureModel& model,
                         const HardwareDescriptor& descriptor) {
  const Eigen::VectorXd change = prior.network(inputs_of(prior, model, descriptor));
  return expected_costs_ms(descriptor, model, prior.kind).array() * change.array().exp();
}

Eigen::VectorXd of_structure_ms(const StructureModel& model, std::size_t structure,
                                const HardwareDescriptor& descriptor, const DescriptorPrior& prior,
                                const Eigen::VectorXd& costs_ms) {
  const Eigen::MatrixXd matrix = structure_costs(model, structure, descriptor, prior.kind, prior.mean_counts);
  Eigen::VectorXd costs = matrix * costs_ms;
  for (Eigen::Index f = 0; f < costs.size(); ++f) {
    if (model.structures()[structure].uses[f]) costs[f] = std::max(costs[f], least_own_share * costs_ms[f]);
  }
  return costs;
}

/// Trains without each runtime in turn, and looks at what such a prior gets wrong about the runtime's devices.
void find_errors(const std::vector<Lesson>& lessons, const StructureModel& model, std::uint64_t seed,
                 DescriptorPrior& prior) {
  const auto features = static_cast<Eigen::Index>(model.features().size());
  Eigen::VectorXd square = Eigen::VectorXd::Zero(features);   // of costs in units of the median, sum over devices
  Eigen::VectorXd devices = Eigen::VectorXd::Zero(features);  // that say something of the cost
  double scale_square = 0, residual_square = 0;
  for (const std::string& runtime : runtimes_of(lessons)) {
    std::vector<Lesson> others;
    std::copy_if(lessons.begin(), lessons.end(), std::back_inserter(others),
                 [&](const Lesson& lesson) { return lesson.device->runtime != runtime; });
    DescriptorPrior without = prior;
    train(others, model, seed, without);
    for (const Lesson& lesson : lessons) {
      if (lesson.device->runtime != runtime) continue;
      const LibraryEntry& entry = *lesson.entry;
      const Eigen::VectorXd costs = costs_ms(without, model, lesson.device->descriptor);
      const Eigen::VectorXd latency = lesson.rows * costs;
      const double floor = smallest_relative * std::max(latency.mean(), 1e-9);
      const Eigen::ArrayXd error = lesson.log_latency.array() - latency.cwiseMax(floor).array().log();
      const double scale = error.mean();
      scale_square += scale * scale;
      residual_square += (error - scale).square().mean();
      const Eigen::VectorXd expected =
          of_structure_ms(model, entry.structure, lesson.device->descriptor, without, costs) *
          (std::exp(scale) / entry.median_ms);
      for (Eigen::Index f = 0; f < features; ++f) {
        if (!model.structures()[entry.structure].uses[f]) continue;
        square[f] += std::pow(entry.costs[f] - expected[f], 2);
        devices[f] += 1;
      }
    }
  }
  prior.deviation = (square.array() / devices.array().max(1)).sqrt();
  for (Eigen::Index f = 0; f < features; ++f) {
    const nasbench::StructureFeature& feature = model.features()[static_cast<std::size_t>(f)];
    if (devices[f] == 0) prior.deviation[f] = feature.spread.value_or(feature.typical_cost);
  }
  const auto count = static_cast<double>(lessons.size());
  prior.scale_deviation = std::sqrt(scale_square / count);
  prior.residual = std::sqrt(residual_square / count);
}

std::set<std::string> runtimes_with(const datasets::Pool& pool, DescriptorKind kind) {
  std::set<std::string> runtimes;
  for (const DeviceRuntime& device : pool.devices) {
    if (says_something(device.descriptor, nasbench::structures_of(*pool.space), kind)) runtimes.insert(device.runtime);
  }
  return runtimes;
}

}  // namespace

DescriptorKind kind_for(const datasets::Pool& pool, const std::string& asked) {
  if (asked != "auto") return described_kind(asked);
  for (const DescriptorKind kind : {DescriptorKind::in_network, DescriptorKind::latency}) {
    if (runtimes_with(pool, kind).size() >= 2) return kind;
  }
  return DescriptorKind::inferred;
}

DescriptorPrior descriptor_prior_of(const StructuredLibrary& library, const datasets::Pool& pool,
                                    const std::string& asked_kind, std::uint64_t seed) {
  const DescriptorKind kind = kind_for(pool, asked_kind);
  DescriptorPrior prior;
  if (kind == DescriptorKind::inferred || runtimes_with(pool, kind).size() < 2) return prior;
  prior.kind = kind;
  std::vector<nasbench::Architecture> connected;
  for (const nasbench::Architecture& architecture : datasets::latency_matrix(pool).architectures) {
    if (pool.space->connected(architecture)) connected.push_back(architecture);
  }
  if (connected.empty()) return {};
  prior.mean_counts = mean_counts_of(*library.model, library.model->table(connected));
  std::vector<Lesson> lessons;
  for (const DeviceRuntime& device : pool.devices) {
    if (!says_something(device.descriptor, *library.model, kind)) continue;
    Lesson lesson = lesson_of(library, entry_of(library, device.id), device, kind, prior.mean_counts);
    if (lesson.rows.rows() == 0) continue;  // nothing that connects was measured
    lessons.push_back(std::move(lesson));
    prior.from.push_back(device.id);
  }
  if (runtimes_of(lessons).size() < 2) return {};
  const auto counted =
      std::find_if(lessons.begin(), lessons.end(), [](const Lesson& l) { return l.device->descriptor.has_counters(); });
  if (counted != lessons.end()) prior.counters = counted->device->descriptor.counters;
  find_errors(lessons, *library.model, seed, prior);
  train(lessons, *library.model, seed, prior);
  return prior;
}

std::optional<DescribedDevice> describe(const DescriptorPrior& prior, const StructureModel& model,
                                        const HardwareDescriptor& descriptor) {
  if (!prior.trained() || !says_something(descriptor, model, prior.kind)) return std::nullopt;
  const Eigen::VectorXd all = costs_ms(prior, model, descriptor);
  DescribedDevice device;
  device.scale_deviation = prior.scale_deviation;
  device.residual = prior.residual;
  for (std::size_t s = 0; s < model.structures().size(); ++s) {
    device.priors.push_back({of_structure_ms(model, s, descriptor, prior, all), {}});
  }
  // The latency of an average network under the first structure: what costs are relative to.
  device.median_ms = device.priors.front().mean.dot(prior.mean_counts);
  for (CostGaussian& of_structure : device.priors) {
    of_structure.mean /= device.median_ms;
    of_structure.covariance = prior.deviation.cwiseAbs2().asDiagonal();
  }
  return device;
}

}  // namespace tenshot::trainer::structured
