#include "trainer/predictors/maple_edge/simulated_samples.h"

#include <algorithm>
#include <cmath>

namespace tenshot::trainer {
namespace {

using nasbench::Architecture;
using PlaceOf = std::unordered_map<Architecture, std::size_t, nasbench::ArchitectureHash>;

constexpr std::uint64_t largest_listed_space = 20'000;
constexpr int architectures_per_device = 64;
constexpr float largest_feature = 2;
enum Stream : std::uint64_t { threshold_stream = 1, first_epoch_stream = 16 };

/// What made-up devices are asked for: the whole space where it is small, else what the pool and the set name.
std::vector<Architecture> architectures_of(const datasets::Pool& pool, const AdaptationSet& set) {
  const nasbench::SearchSpace& space = *pool.space;
  if (space.size() && *space.size() <= largest_listed_space) return space.all();
  std::vector<Architecture> architectures = datasets::latency_matrix(pool).architectures;
  for (const Architecture& architecture : set.architectures) {
    if (std::find(architectures.begin(), architectures.end(), architecture) == architectures.end()) {
      architectures.push_back(architecture);
    }
  }
  return architectures;
}

PlaceOf places_of(const SimulatedSpace& space) {
  PlaceOf places;
  for (std::size_t a = 0; a < space.size(); ++a) places.emplace(space.architecture(a), a);
  return places;
}

std::vector<std::size_t> measured_places(const SimulatedSpace& space, const AdaptationSet& set) {
  const PlaceOf places = places_of(space);
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
std::vector<bool> connected_of(const nasbench::SearchSpace& space, const AdaptationSet& set) {
  std::vector<bool> connected;
  for (const Architecture& architecture : set.architectures) connected.push_back(space.connected(architecture));
  if (std::find(connected.begin(), connected.end(), true) == connected.end()) connected.assign(connected.size(), true);
  return connected;
}

}  // namespace

SimulatedSamples::SimulatedSamples(const datasets::Pool& pool, const structured::StructuredLibrary& library,
                                   const std::vector<std::vector<double>>& pool_latency_ms, const AdaptationSet& set,
                                   const structured::DescribedDevice* described, const SimulationOptions& options,
                                   int clones, std::uint64_t seed)
    : options_(options),
      clones_(clones),
      seed_(seed),
      space_(*library.model, architectures_of(pool, set)),
      measured_(measured_places(space_, set)),
      connected_(connected_of(*pool.space, set)),
      whole_milliseconds_(set.whole_milliseconds),
      log_ms_(logs_of(set.latency_ms)),
      features_(features_of(log_ms_)),
      devices_(DevicePrior(library, options, described), space_, options, measured_, log_ms_,
               Rng(seed, threshold_stream).bits()) {
  const PlaceOf places = places_of(space_);
  for (std::size_t d = 0; d < pool.devices.size(); ++d) {
    MeasuredFeatures features = features_of(logs_of(pool_latency_ms[d]));
    // Where nothing is measured, made-up devices are in units of their median latency, and so are the pool's.
    if (measured_.empty()) features.centre = std::log(library.entries[d].median_ms);
    PoolDevice device{features.values, {}, {}};
    for (const datasets::Measurement& row : pool.devices[d].latencies) {
      device.architectures.push_back(places.at(row.architecture));
      device.targets.push_back(std::log(row.latency_ms) - features.centre);
    }
    if (!device.architectures.empty()) pool_.push_back(std::move(device));
  }
  set_.width = static_cast<int>(width());
}

MeasuredFeatures SimulatedSamples::features_of(std::vector<double> log_ms) const {
  MeasuredFeatures features;
  double count = 0;
  for (std::size_t i = 0; i < log_ms.size(); ++i) {
    if (!connected_[i]) continue;
    features.centre += log_ms[i];
    ++count;
  }
  if (count > 0) features.centre /= count;
  for (const double log : log_ms) {
    const auto value = static_cast<float>(log - features.centre);
    features.values.push_back(std::clamp(value, -largest_feature, largest_feature));
  }
  return features;
}

void SimulatedSamples::add(std::size_t architecture, const std::vector<float>& features, double target) {
  const float* encoding = space_.encoding(architecture);
  set_.inputs.insert(set_.inputs.end(), encoding, encoding + space_.width());
  set_.inputs.insert(set_.inputs.end(), features.begin(), features.end());
  set_.targets.push_back(static_cast<float>(target));
  set_.units.push_back(static_cast<float>(options_.error_unit));
}

void SimulatedSamples::add_simulated(Rng& rng, int rows) {
  for (int row = 0; row < rows;) {
    const SimulatedDevice device = devices_.draw(rng);
    std::vector<double> measured;
    for (const std::size_t a : measured_) measured.push_back(log_latency(device, space_, a) + draw_noise(device, rng));
    if (whole_milliseconds_) {
      // As long as the device at hand takes on the average, so that its clock's steps are as coarse.
      const double shift = features_.centre - features_of(measured).centre;
      for (double& log : measured) log = std::log(std::max(1.0, std::round(std::exp(log + shift)))) - shift;
    }
    const MeasuredFeatures features = features_of(measured);
    for (int i = 0; i < architectures_per_device && row < rows; ++i, ++row) {
      const std::size_t a = rng.below(space_.size());
      add(a, features.values, log_latency(device, space_, a) - features.centre);
    }
  }
}

void SimulatedSamples::add_pool(Rng& rng, int rows) {
  for (int row = 0; row < rows; ++row) {
    const PoolDevice& device = pool_[rng.below(pool_.size())];
    const std::size_t i = rng.below(device.architectures.size());
    add(device.architectures[i], device.features, device.targets[i]);
  }
}

const TrainingSet& SimulatedSamples::epoch(int epoch) {
  Rng rng(seed_, first_epoch_stream + static_cast<std::uint64_t>(epoch));
  set_.inputs.clear();
  set_.targets.clear();
  set_.units.clear();
  const int of_pool = pool_.empty() ? 0 : static_cast<int>(options_.pool_share * options_.rows);
  add_simulated(rng, options_.rows - of_pool);
  add_pool(rng, of_pool);
  for (std::size_t i = 0; i < measured_.size(); ++i) {
    for (int clone = 0; clone < clones_; ++clone) {
      add(measured_[i], features_.values, log_ms_[i] - features_.centre);
    }
  }
  return set_;
}

}  // namespace tenshot::trainer
