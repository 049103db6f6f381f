#include "trainer/predictors/maple_edge/simulated_samples.h"

#include <array>
#include <limits>

namespace tenshot::trainer {
namespace {

using nasbench::Architecture;

constexpr std::uint64_t largest_listed_space = 20'000;
constexpr int architectures_per_device = 64;
constexpr int encoded_rows_per_pool_device = 16;  ///< a set is encoded once for so many
constexpr float largest_feature = 2;
enum Stream : std::uint64_t { threshold_stream = 1, first_epoch_stream = 16 };

std::vector<std::size_t> measured_places(const SimulatedSpace& space, const AdaptationSet& set) {
  const SimulatedSpace::PlaceOf places = space.places();
  std::vector<std::size_t> measured;
  for (const Architecture& architecture : set.architectures) measured.push_back(places.at(architecture));
  return measured;
}

std::vector<double> logs_of(const std::vector<double>& latency_ms) {
  std::vector<double> logs;
  for (const double latency : latency_ms) logs.push_back(std::log(latency));
  return logs;
}

/// Which of the set's architectures are connected; all of them where none is.
std::vector<bool> connected_of(const nasbench::NetworkSpace& space, const AdaptationSet& set) {
  std::vector<bool> connected;
  for (const Architecture& architecture : set.architectures) connected.push_back(space.connected(architecture));
  if (std::find(connected.begin(), connected.end(), true) == connected.end()) connected.assign(connected.size(), true);
  return connected;
}

/// How many architectures are measured: as many as a person has, ten most of all.
constexpr std::array<std::size_t, 14> set_sizes = {0, 1, 2, 3, 3, 5, 7, 10, 10, 10, 10, 15, 20, 30};
constexpr int rows_per_device = 64;
constexpr double masked_share = 0.5;  ///< of devices lack a kind of descriptor, each kind by itself
constexpr std::size_t most_measurable = 2000;

}  // namespace

std::vector<Architecture> architectures_to_simulate(const datasets::Pool& pool, const std::vector<Architecture>& also) {
  const nasbench::SearchSpace& space = nasbench::search_space(*pool.space);
  if (space.size() && *space.size() <= largest_listed_space) return space.all();
  std::vector<Architecture> architectures = datasets::latency_matrix(pool).architectures;
  for (const Architecture& architecture : also) {
    if (std::find(architectures.begin(), architectures.end(), architecture) == architectures.end()) {
      architectures.push_back(architecture);
    }
  }
  return architectures;
}

SimulatedSamples::SimulatedSamples(const SimulatedTask& task, const SimulationOptions& options, int clones,
                                   std::uint64_t seed)
    : simulated_descriptor_(task.descriptor),
      encoder_(task.encoder),
      whole_milliseconds_(task.set.whole_milliseconds),
      options_(options),
      clones_(clones),
      seed_(seed),
      space_(*task.library.model, architectures_to_simulate(task.pool, task.set.architectures)),
      measured_(measured_places(space_, task.set)),
      connected_(connected_of(*task.pool.space, task.set)),
      log_ms_(logs_of(task.set.latency_ms)),
      descriptor_(task.descriptor.values(task.set.descriptor.value_or(datasets::HardwareDescriptor{}))),
      devices_(DevicePrior(task.library, options, task.described), space_, options, measured_, log_ms_,
               Rng(seed, threshold_stream).bits()) {
  if (task.encoder != nullptr) {
    loadings_ = task.encoder->loadings(SimulatedSpace(*task.library.model, task.set.architectures));
  }
  inputs_ = inputs_of(log_ms_, descriptor_);
  const SimulatedSpace::PlaceOf places = space_.places();
  for (std::size_t d = 0; d < task.pool.devices.size(); ++d) {
    // Where nothing is measured, made-up devices are in units of their median latency, and so are the pool's.
    const double unit = measured_.empty() ? std::log(task.library.entries[d].median_ms) : 0;
    PoolDevice device{
        logs_of(task.pool_latency_ms[d]), task.descriptor.values(task.pool.devices[d].descriptor), {}, {}};
    for (const datasets::Measurement& row : task.pool.devices[d].latencies) {
      device.architectures.push_back(places.at(row.architecture));
      device.targets.push_back(std::log(row.latency_ms) - unit);
    }
    if (!device.architectures.empty()) pool_.push_back(std::move(device));
  }
  set_.width = static_cast<int>(width());
}

double SimulatedSamples::centre_of(const std::vector<double>& log_ms) const {
  double sum = 0, count = 0;
  for (std::size_t i = 0; i < log_ms.size(); ++i) {
    if (!connected_[i]) continue;
    sum += log_ms[i];
    ++count;
  }
  return count > 0 ? sum / count : 0;
}

DeviceInputs SimulatedSamples::inputs_of(const std::vector<double>& log_ms,
                                         const std::vector<float>& descriptor) const {
  if (encoder_ != nullptr) {
    std::vector<const SetLoading*> loadings;
    std::vector<double> connected;
    for (std::size_t i = 0; i < log_ms.size(); ++i) {
      if (!connected_[i]) continue;
      loadings.push_back(&loadings_[i]);
      connected.push_back(log_ms[i]);
    }
    return encoder_->encode(loadings, connected, descriptor);
  }
  DeviceInputs inputs;
  inputs.centre = centre_of(log_ms);
  for (const double log : log_ms) {
    const auto value = static_cast<float>(log - inputs.centre);
    inputs.values.push_back(std::clamp(value, -largest_feature, largest_feature));
  }
  for (std::size_t j = 0; j < descriptor.size(); ++j) {
    if (std::isnan(descriptor_[j])) continue;  // the device at hand lacks it
    inputs.values.push_back(std::isnan(descriptor[j]) ? 0 : descriptor[j]);
    const bool last = j + 1 == descriptor.size() || simulated_descriptor_.kind(j + 1) != simulated_descriptor_.kind(j);
    if (last) inputs.values.push_back(std::isnan(descriptor[j]) ? 0.0F : 1.0F);
  }
  return inputs;
}

std::vector<float> masked(const SimulatedDescriptor& descriptor, std::vector<float> values, double share, Rng& rng) {
  bool left_out = false;
  for (std::size_t j = 0; j < values.size(); ++j) {
    if (j == 0 || descriptor.kind(j) != descriptor.kind(j - 1)) left_out = rng.uniform() < share;
    if (left_out) values[j] = std::numeric_limits<float>::quiet_NaN();
  }
  return values;
}

void SimulatedSamples::add_simulated(Rng& rng, int rows) {
  for (int row = 0; row < rows;) {
    const SimulatedDevice device = devices_.draw(rng);
    std::vector<double> measured;
    for (const std::size_t a : measured_) measured.push_back(log_latency(device, space_, a) + draw_noise(device, rng));
    if (whole_milliseconds_) {
      // As long as the device at hand takes on the average, so that its clock's steps are as coarse.
      const double shift = centre_of(log_ms_) - centre_of(measured);
      for (double& log : measured) log = std::log(std::max(1.0, std::round(std::exp(log + shift)))) - shift;
    }
    const std::vector<float> drawn = simulated_descriptor_.draw(device, rng);
    const DeviceInputs inputs = inputs_of(measured, masked(simulated_descriptor_, drawn, options_.masked_share, rng));
    for (int i = 0; i < architectures_per_device && row < rows; ++i, ++row) {
      const std::size_t a = rng.below(space_.size());
      add(a, inputs, log_latency(device, space_, a));
    }
  }
}

void SimulatedSamples::add_pool(Rng& rng, int rows) {
  const int rows_per_device = encoder_ == nullptr ? 1 : encoded_rows_per_pool_device;
  for (int row = 0; row < rows;) {
    const PoolDevice& device = pool_[rng.below(pool_.size())];
    const DeviceInputs inputs =
        inputs_of(device.log_ms, masked(simulated_descriptor_, device.descriptor, options_.masked_share, rng));
    for (int k = 0; k < rows_per_device && row < rows; ++k, ++row) {
      const std::size_t i = rng.below(device.architectures.size());
      add(device.architectures[i], inputs, device.targets[i]);
    }
  }
}

const TrainingSet& SimulatedSamples::epoch(int epoch) {
  Rng rng(seed_, first_epoch_stream + static_cast<std::uint64_t>(epoch));
  set_.clear();
  const int of_pool = pool_.empty() ? 0 : static_cast<int>(options_.pool_share * options_.rows);
  add_simulated(rng, options_.rows - of_pool);
  add_pool(rng, of_pool);
  for (std::size_t i = 0; i < measured_.size(); ++i) {
    for (int clone = 0; clone < clones_; ++clone) add(measured_[i], inputs_, log_ms_[i]);
  }
  return set_;
}

EncoderSamples::EncoderSamples(const datasets::Pool& pool, const structured::StructuredLibrary& library,
                               const SetEncoder& encoder, const SimulatedDescriptor& descriptor,
                               const SimulationOptions& options, std::uint64_t seed)
    : options_(options),
      encoder_(encoder),
      descriptor_(descriptor),
      seed_(seed),
      space_(*library.model, architectures_to_simulate(pool, {})),
      devices_(DevicePrior(library, options), space_, options, {}, {}, seed) {
  std::vector<nasbench::Architecture> measured = datasets::latency_matrix(pool).architectures;
  measured.resize(std::min(measured.size(), most_measurable));
  const std::vector<SetLoading> found = encoder.loadings(SimulatedSpace(*library.model, measured));
  const SimulatedSpace::PlaceOf places = space_.places();
  loadings_.resize(space_.size());
  for (std::size_t i = 0; i < measured.size(); ++i) {
    if (!pool.space->connected(measured[i])) continue;
    measurable_.push_back(places.at(measured[i]));
    loadings_[measurable_.back()] = found[i];
  }
  for (std::size_t d = 0; d < pool.devices.size(); ++d) {
    PoolDevice device;
    device.unit = std::log(library.entries[d].median_ms);
    device.descriptor = descriptor.values(pool.devices[d].descriptor);
    for (const datasets::Measurement& row : pool.devices[d].latencies) {
      const std::size_t place = places.at(row.architecture);
      if (loadings_[place].weights.size() > 0) device.connected.push_back(device.architectures.size());
      device.architectures.push_back(place);
      device.log_ms.push_back(std::log(row.latency_ms) - device.unit);
    }
    if (!device.connected.empty()) pool_.push_back(std::move(device));
  }
  set_.width = static_cast<int>(width());
}

void EncoderSamples::add_simulated(Rng& rng) {
  const SimulatedDevice device = devices_.draw(rng);
  const std::size_t size = set_sizes[rng.below(set_sizes.size())];
  std::vector<const SetLoading*> measured;
  std::vector<double> log_ms;
  for (std::size_t i = 0; i < size && !measurable_.empty(); ++i) {
    const std::size_t a = measurable_[rng.below(measurable_.size())];
    measured.push_back(&loadings_[a]);
    log_ms.push_back(log_latency(device, space_, a) + draw_noise(device, rng));
  }
  const std::vector<float> drawn = descriptor_.draw(device, rng);
  const DeviceInputs inputs = encoder_.encode(measured, log_ms, masked(descriptor_, drawn, masked_share, rng));
  for (int i = 0; i < rows_per_device; ++i) {
    const std::size_t a = rng.below(space_.size());
    space_.add_row(a, inputs.values, log_latency(device, space_, a) - inputs.centre, options_.error_unit, set_);
  }
}

void EncoderSamples::add_of_pool(Rng& rng) {
  const PoolDevice& device = pool_[rng.below(pool_.size())];
  const std::size_t size = set_sizes[rng.below(set_sizes.size())];
  std::vector<const SetLoading*> measured;
  std::vector<double> log_ms;
  for (std::size_t i = 0; i < size; ++i) {
    const std::size_t row = device.connected[rng.below(device.connected.size())];
    measured.push_back(&loadings_[device.architectures[row]]);
    log_ms.push_back(device.log_ms[row]);
  }
  const DeviceInputs inputs =
      encoder_.encode(measured, log_ms, masked(descriptor_, device.descriptor, masked_share, rng));
  for (int i = 0; i < rows_per_device; ++i) {
    const std::size_t row = rng.below(device.architectures.size());
    space_.add_row(device.architectures[row], inputs.values, device.log_ms[row] - inputs.centre, options_.error_unit,
                   set_);
  }
}

const TrainingSet& EncoderSamples::epoch(int epoch) {
  Rng rng(seed_, first_epoch_stream + static_cast<std::uint64_t>(epoch));
  set_.clear();
  while (set_.rows() < options_.rows) {
    if (!pool_.empty() && rng.uniform() < options_.pool_share) {
      add_of_pool(rng);
    } else {
      add_simulated(rng);
    }
  }
  return set_;
}

}  // namespace tenshot::trainer
