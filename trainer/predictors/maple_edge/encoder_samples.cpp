#include "trainer/predictors/maple_edge/encoder_samples.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <unordered_map>

#include "trainer/predictors/maple_edge/simulated_samples.h"

namespace tenshot::trainer {
namespace {

/// How many architectures are measured: as many as a person has, ten most of all.
constexpr std::array<std::size_t, 14> set_sizes = {0, 1, 2, 3, 3, 5, 7, 10, 10, 10, 10, 15, 20, 30};
constexpr int rows_per_device = 64;
constexpr double masked_share = 0.5;  ///< of devices lack a kind of descriptor, each kind by itself
constexpr std::size_t most_measurable = 2000;
enum Stream : std::uint64_t { first_epoch_stream = 16 };

}  // namespace

EncoderSamples::EncoderSamples(const datasets::Pool& pool, const structured::StructuredLibrary& library,
                               const SetEncoder& encoder, const SimulatedDescriptor& descriptor,
                               const SimulationOptions& options, std::uint64_t seed)
    : options_(options),
      encoder_(encoder),
      descriptor_(descriptor),
      seed_(seed),
      space_(*library.model, architectures_to_simulate(pool, {})),
      prior_(library, options) {
  std::vector<nasbench::Architecture> measured = datasets::latency_matrix(pool).architectures;
  measured.resize(std::min(measured.size(), most_measurable));
  const std::vector<SetLoading> found = encoder.loadings(SimulatedSpace(*library.model, measured));
  std::unordered_map<nasbench::Architecture, std::size_t, nasbench::ArchitectureHash> places;
  for (std::size_t a = 0; a < space_.size(); ++a) places.emplace(space_.architecture(a), a);
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

void EncoderSamples::add(std::size_t architecture, const std::vector<float>& inputs, double target) {
  const float* encoding = space_.encoding(architecture);
  set_.inputs.insert(set_.inputs.end(), encoding, encoding + space_.width());
  set_.inputs.insert(set_.inputs.end(), inputs.begin(), inputs.end());
  set_.targets.push_back(static_cast<float>(target));
  set_.units.push_back(static_cast<float>(options_.error_unit));
}

void EncoderSamples::add_simulated(Rng& rng) {
  SimulatedDevice device = prior_.draw(rng);
  device.residuals =
      draw_residuals(space_.width(), space_.ones_per_architecture(), options_.residual_share * device.noise, rng);
  const std::size_t size = set_sizes[rng.below(set_sizes.size())];
  std::vector<const SetLoading*> measured;
  std::vector<double> log_ms;
  for (std::size_t i = 0; i < size && !measurable_.empty(); ++i) {
    const std::size_t a = measurable_[rng.below(measurable_.size())];
    measured.push_back(&loadings_[a]);
    log_ms.push_back(log_latency(device, space_, a) + draw_noise(device, rng));
  }
  const std::vector<float> drawn = descriptor_.draw(device, rng);
  const EncodedSet inputs = encoder_.encode(measured, log_ms, masked(descriptor_, drawn, masked_share, rng));
  for (int i = 0; i < rows_per_device; ++i) {
    const std::size_t a = rng.below(space_.size());
    add(a, inputs.values, log_latency(device, space_, a) - inputs.centre);
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
  const EncodedSet inputs =
      encoder_.encode(measured, log_ms, masked(descriptor_, device.descriptor, masked_share, rng));
  for (int i = 0; i < rows_per_device; ++i) {
    const std::size_t row = rng.below(device.architectures.size());
    add(device.architectures[row], inputs.values, device.log_ms[row] - inputs.centre);
  }
}

const TrainingSet& EncoderSamples::epoch(int epoch) {
  Rng rng(seed_, first_epoch_stream + static_cast<std::uint64_t>(epoch));
  set_.inputs.clear();
  set_.targets.clear();
  set_.units.clear();
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
