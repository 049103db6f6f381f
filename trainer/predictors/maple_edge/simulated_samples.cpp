#include "trainer/predictors/maple_edge/simulated_samples.h"

#include <array>

#include "nasbench/spaces/search_space.h"
#include "trainer/core/adaptation.h"
#include "trainer/predictors/maple_edge/descriptor_features.h"

namespace tenshot::trainer {
namespace {

constexpr int rows_of_device = 64;
constexpr int encoded_rows_of_pool_device = 16;  ///< a set is encoded once for so many
constexpr float largest_feature = 2;
enum Stream : std::uint64_t { threshold_stream = 1, first_epoch_stream = 16 };

/// How many architectures are measured: as many as a person has, ten most of all.
constexpr std::array<std::size_t, 14> set_sizes = {0, 1, 2, 3, 3, 5, 7, 10, 10, 10, 10, 15, 20, 30};
constexpr double masked_share = 0.5;  ///< of devices lack a kind of descriptor, each kind by itself
constexpr std::size_t most_measurable = 2000;

std::vector<std::size_t> places_of(const std::vector<nasbench::Architecture>& architectures) {
  std::vector<std::size_t> places;
  for (const nasbench::Architecture& cell : architectures) places.push_back(nasbench::nasbench201().ordinal(cell));
  return places;
}

std::vector<double> logs_of(const std::vector<double>& latency_ms) {
  std::vector<double> logs;
  for (const double latency : latency_ms) logs.push_back(std::log(latency));
  return logs;
}

}  // namespace

DeviceSamples::DeviceSamples(const SimulatedTask& task, const SimulationOptions& options, std::uint64_t seed)
    : descriptor_(task.descriptor),
      encoder_(task.encoder),
      options_(options),
      space_(*task.library.model),
      measured_(places_of(task.set.architectures)),
      log_ms_(logs_of(task.set.latency_ms)),
      devices_(DevicePrior(task.library, options, task.described), space_, options, measured_, log_ms_,
               Rng(seed, threshold_stream).bits()),
      seed_(seed) {
  for (std::size_t d = 0; d < task.pool.devices.size(); ++d) {
    PoolDevice device;
    device.descriptor = descriptor_.values(task.pool.devices[d].descriptor);
    if (!measured_.empty()) device.log_ms_of_set = logs_of(task.pool_latency_ms[d]);
    const double unit = measured_.empty() ? std::log(task.library.entries[d].median_ms) : 0;
    for (const datasets::Measurement& row : task.pool.devices[d].latencies) {
      device.architectures.push_back(nasbench::nasbench201().ordinal(row.architecture));
      device.log_ms.push_back(std::log(row.latency_ms) - unit);
    }
    if (!device.architectures.empty()) pool_.push_back(std::move(device));
  }
}

const TrainingSet& DeviceSamples::epoch(int epoch) {
  Rng rng(seed_, first_epoch_stream + static_cast<std::uint64_t>(epoch));
  set_.clear();
  fill(rng);
  return set_;
}

void DeviceSamples::add(std::size_t architecture, const DeviceInputs& inputs, double log_ms) {
  const auto encoding = space_.encodings.begin() + static_cast<std::ptrdiff_t>(architecture * live_encoding_width);
  set_.inputs.insert(set_.inputs.end(), encoding, encoding + live_encoding_width);
  set_.inputs.insert(set_.inputs.end(), inputs.values.begin(), inputs.values.end());
  set_.targets.push_back(static_cast<float>(log_ms - inputs.centre));
  set_.units.push_back(static_cast<float>(options_.error_unit));
}

void DeviceSamples::add_made_up(Rng& rng, int rows) {
  const SimulatedDevice device = devices_.draw(rng);
  const DeviceInputs inputs = inputs_of(device, rng);
  for (int row = 0; row < rows; ++row) {
    const std::size_t a = rng.below(space_.size());
    add(a, inputs, log_latency(device, space_, a));
  }
}

void DeviceSamples::add_of_pool(Rng& rng, int rows) {
  const PoolDevice& device = pool_[rng.below(pool_.size())];
  const DeviceInputs inputs = inputs_of(device, rng);
  for (int row = 0; row < rows; ++row) {
    const std::size_t i = rng.below(device.architectures.size());
    add(device.architectures[i], inputs, device.log_ms[i]);
  }
}

SimulatedSamples::SimulatedSamples(const SimulatedTask& task, const SimulationOptions& options, int clones,
                                   std::uint64_t seed)
    : DeviceSamples(task, options, seed),
      whole_milliseconds_(task.set.whole_milliseconds),
      clones_(clones),
      comparable_(comparable_rows(task.set, *task.pool.space)),
      own_descriptor_(descriptor_.values(task.set.descriptor.value_or(datasets::HardwareDescriptor{}))) {
  if (encoder_ != nullptr) loadings_ = encoder_->loadings(task.library.model->table(task.set.architectures));
  inputs_ = inputs_of(log_ms_, own_descriptor_);
  set_.width = static_cast<int>(live_encoding_width + inputs_.values.size());
}

double SimulatedSamples::centre_of(const std::vector<double>& log_ms) const {
  double sum = 0;
  for (const std::size_t i : comparable_) sum += log_ms[i];
  return comparable_.empty() ? 0 : sum / static_cast<double>(comparable_.size());
}

DeviceInputs SimulatedSamples::inputs_of(const std::vector<double>& log_ms,
                                         const std::vector<float>& descriptor) const {
  if (encoder_ != nullptr) {
    std::vector<SetMeasurement> measured;
    for (const std::size_t i : comparable_) measured.push_back({&loadings_[i], log_ms[i]});
    return encoder_->encode(measured, descriptor);
  }
  DeviceInputs inputs;
  inputs.centre = centre_of(log_ms);
  for (const double log : log_ms) {
    const auto value = static_cast<float>(log - inputs.centre);
    inputs.values.push_back(std::clamp(value, -largest_feature, largest_feature));
  }
  for (std::size_t j = 0; j < descriptor.size(); ++j) {
    if (std::isnan(own_descriptor_[j])) continue;  // the device at hand lacks it
    inputs.values.push_back(std::isnan(descriptor[j]) ? 0 : descriptor[j]);
    const bool last = j + 1 == descriptor.size() || descriptor_.kind(j + 1) != descriptor_.kind(j);
    if (last) inputs.values.push_back(std::isnan(descriptor[j]) ? 0.0F : 1.0F);
  }
  return inputs;
}

DeviceInputs SimulatedSamples::inputs_of(const SimulatedDevice& device, Rng& rng) const {
  std::vector<double> measured;
  for (const std::size_t a : measured_) measured.push_back(log_latency(device, space_, a) + draw_noise(device, rng));
  if (whole_milliseconds_) {
    // As long as the device at hand takes on the average, so that its clock's steps are as coarse.
    const double shift = centre_of(log_ms_) - centre_of(measured);
    for (double& log : measured) log = std::log(std::max(1.0, std::round(std::exp(log + shift)))) - shift;
  }
  return inputs_of(measured, descriptor_.masked(descriptor_.draw(device, rng), options_.masked_share, rng));
}

DeviceInputs SimulatedSamples::inputs_of(const PoolDevice& device, Rng& rng) const {
  return inputs_of(device.log_ms_of_set, descriptor_.masked(device.descriptor, options_.masked_share, rng));
}

void SimulatedSamples::fill(Rng& rng) {
  const int of_pool = pool_.empty() ? 0 : static_cast<int>(options_.pool_share * options_.rows);
  for (int rows = options_.rows - of_pool; rows > 0; rows -= rows_of_device) {
    add_made_up(rng, std::min(rows, rows_of_device));
  }
  const int at_once = encoder_ == nullptr ? 1 : encoded_rows_of_pool_device;
  for (int rows = of_pool; rows > 0; rows -= at_once) add_of_pool(rng, std::min(rows, at_once));
  for (std::size_t i = 0; i < measured_.size(); ++i) {
    for (int clone = 0; clone < clones_; ++clone) add(measured_[i], inputs_, log_ms_[i]);
  }
}

EncoderSamples::EncoderSamples(const SimulatedTask& task, const SimulationOptions& options, std::uint64_t seed)
    : DeviceSamples(task, options, seed), loadings_(space_.size()) {
  std::vector<nasbench::Architecture> measured = datasets::latency_matrix(task.pool).architectures;
  measured.resize(std::min(measured.size(), most_measurable));
  const std::vector<SetLoading> found = encoder_->loadings(task.library.model->table(measured));
  const std::vector<std::size_t> places = places_of(measured);
  for (const std::size_t i : connected_of(measured, *task.pool.space)) {
    measurable_.push_back(places[i]);
    loadings_[places[i]] = found[i];
  }
  for (PoolDevice& device : pool_) {
    for (std::size_t i = 0; i < device.architectures.size(); ++i) {
      if (loadings_[device.architectures[i]].weights.size() > 0) device.connected.push_back(i);
    }
  }
  const auto unconnected = [](const PoolDevice& device) { return device.connected.empty(); };
  pool_.erase(std::remove_if(pool_.begin(), pool_.end(), unconnected), pool_.end());
  set_.width = static_cast<int>(live_encoding_width + encoder_->size());
}

DeviceInputs EncoderSamples::inputs_of(const SimulatedDevice& device, Rng& rng) const {
  const std::size_t size = set_sizes[rng.below(set_sizes.size())];
  std::vector<SetMeasurement> measured;
  for (std::size_t i = 0; i < size && !measurable_.empty(); ++i) {
    const std::size_t a = measurable_[rng.below(measurable_.size())];
    measured.push_back({&loadings_[a], log_latency(device, space_, a) + draw_noise(device, rng)});
  }
  return encoder_->encode(measured, descriptor_.masked(descriptor_.draw(device, rng), masked_share, rng));
}

DeviceInputs EncoderSamples::inputs_of(const PoolDevice& device, Rng& rng) const {
  const std::size_t size = set_sizes[rng.below(set_sizes.size())];
  std::vector<SetMeasurement> measured;
  for (std::size_t i = 0; i < size; ++i) {
    const std::size_t row = device.connected[rng.below(device.connected.size())];
    measured.push_back({&loadings_[device.architectures[row]], device.log_ms[row]});
  }
  return encoder_->encode(measured, descriptor_.masked(device.descriptor, masked_share, rng));
}

void EncoderSamples::fill(Rng& rng) {
  while (set_.rows() < options_.rows) {
    !pool_.empty() && rng.uniform() < options_.pool_share ? add_of_pool(rng, rows_of_device)
                                                          : add_made_up(rng, rows_of_device);
  }
}

}  // namespace tenshot::trainer
