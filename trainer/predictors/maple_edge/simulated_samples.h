#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "datasets/pool/pool.h"
#include "trainer/core/predictor.h"
#include "trainer/networks/training.h"
#include "trainer/predictors/maple_edge/simulated_devices.h"

namespace tenshot::trainer {

/// What a device looks like by its measured architectures: log latencies less their mean over the connected ones.
struct MeasuredFeatures {
  std::vector<float> values;  ///< one a measured architecture, within ±2
  double centre = 0;          ///< that mean, of log latency in ms; of no architectures: 0
};

/// The samples that a network is trained on for the architectures measured on one device. A row is the live encoding of
/// an architecture and the MeasuredFeatures of a device, which is made up, near what was measured, or one of the pool;
/// its target is the device's log latency less the features' centre.
class SimulatedSamples {
 public:
  /// `pool_latency_ms` is [device][architecture of the set]: what the pool's devices measured or are expected to take.
  /// Each measurement of the set stands `clones` times in every epoch. `library` must outlive
  /// this. `described` is what the set's descriptor says, or nothing.
  SimulatedSamples(const datasets::Pool& pool, const structured::StructuredLibrary& library,
                   const std::vector<std::vector<double>>& pool_latency_ms, const AdaptationSet& set,
                   const structured::DescribedDevice* described, const SimulationOptions& options, int clones,
                   std::uint64_t seed);

  SimulatedSamples(const SimulatedSamples&) = delete;
  SimulatedSamples& operator=(const SimulatedSamples&) = delete;

  std::size_t width() const { return space_.width() + measured_.size(); }
  const MeasuredFeatures& features() const { return features_; }
  /// The same for the same epoch.
  const TrainingSet& epoch(int epoch);

 private:
  void add_simulated(Rng& rng, int rows);
  void add_pool(Rng& rng, int rows);
  void add(std::size_t architecture, const std::vector<float>& features, double target);
  MeasuredFeatures features_of(std::vector<double> log_ms) const;

  SimulationOptions options_;
  int clones_;
  std::uint64_t seed_;
  SimulatedSpace space_;
  std::vector<std::size_t> measured_;  ///< the set's architectures, as places in the space
  std::vector<bool> connected_;        ///< one an architecture of the set
  bool whole_milliseconds_;
  std::vector<double> log_ms_;
  MeasuredFeatures features_;
  NearbyDevices devices_;
  /// The pool's measurements: features of each device, and its architectures' places and targets.
  struct PoolDevice {
    std::vector<float> features;
    std::vector<std::size_t> architectures;
    std::vector<double> targets;
  };
  std::vector<PoolDevice> pool_;
  TrainingSet set_;
};

}  // namespace tenshot::trainer
