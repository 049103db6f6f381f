#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "datasets/pool/pool.h"
#include "trainer/core/predictor.h"
#include "trainer/networks/training.h"
#include "trainer/predictors/maple_edge/set_encoder.h"
#include "trainer/predictors/maple_edge/simulated_descriptor.h"
#include "trainer/predictors/maple_edge/simulated_devices.h"

namespace tenshot::trainer {

/// What training for one set of measurements needs to know.
struct SimulatedTask {
  const datasets::Pool& pool;
  const structured::StructuredLibrary& library;
  const std::vector<std::vector<double>>& pool_latency_ms;  ///< [device][architecture of the set], measured or expected
  const AdaptationSet& set;
  const structured::DescribedDevice* described;  ///< what the descriptor lets expect of costs; nothing: nullptr
  const SimulatedDescriptor& descriptor;         ///< what else it says, as inputs
  const SetEncoder* encoder;  ///< turns sets into inputs; nullptr: the inputs are the logarithms of the latencies
};

/// The samples that a network is trained on for the architectures measured on one device. A row is the live encoding of
/// an architecture and the inputs of a device, which is made up, near what was measured, or one of the pool; its target
/// is the device's log latency less the inputs' centre. Without an encoder the inputs are, for each measured
/// architecture, its log latency less their mean, within ±2; then the values of the descriptor that the device at hand
/// has, and for each kind of it whether it is there.
class SimulatedSamples {
 public:
  /// Each measurement of the set stands `clones` times in every epoch. The library, the descriptor and
  /// the encoder must outlive this.
  SimulatedSamples(const SimulatedTask& task, const SimulationOptions& options, int clones, std::uint64_t seed);

  SimulatedSamples(const SimulatedSamples&) = delete;
  SimulatedSamples& operator=(const SimulatedSamples&) = delete;

  std::size_t width() const { return space_.width() + inputs_.values.size(); }
  /// The inputs of the device at hand.
  const DeviceInputs& inputs() const { return inputs_; }
  /// The same for the same epoch.
  const TrainingSet& epoch(int epoch);

 private:
  void add_simulated(Rng& rng, int rows);
  void add_pool(Rng& rng, int rows);
  void add(std::size_t architecture, const DeviceInputs& inputs, double log_ms) {
    space_.add_row(architecture, inputs.values, log_ms - inputs.centre, options_.error_unit, set_);
  }
  double centre_of(const std::vector<double>& log_ms) const;
  DeviceInputs inputs_of(const std::vector<double>& log_ms, const std::vector<float>& descriptor) const;

  const SimulatedDescriptor& simulated_descriptor_;
  const SetEncoder* encoder_;
  bool whole_milliseconds_;
  SimulationOptions options_;
  int clones_;
  std::uint64_t seed_;
  SimulatedSpace space_;
  std::vector<std::size_t> measured_;  ///< the set's architectures, as places in the space
  std::vector<bool> connected_;        ///< one an architecture of the set
  std::vector<double> log_ms_;
  std::vector<SetLoading> loadings_;  ///< of the set's architectures, where there is an encoder
  std::vector<float> descriptor_;     ///< of the device at hand
  DeviceInputs inputs_;
  NearbyDevices devices_;
  /// The pool's measurements, and its architectures' places.
  struct PoolDevice {
    std::vector<double> log_ms;  ///< of the set's architectures
    std::vector<float> descriptor;
    std::vector<std::size_t> architectures;
    std::vector<double> targets;  ///< log latencies
  };
  std::vector<PoolDevice> pool_;
  TrainingSet set_;
};

/// What made-up devices are asked for: the whole space where it is small, else what the pool names, and `also`.
std::vector<Architecture> architectures_to_simulate(const datasets::Pool& pool, const std::vector<Architecture>& also);

/// `values` with kinds left out, each with probability `share`, as if they had not been measured.
std::vector<float> masked(const SimulatedDescriptor& descriptor, std::vector<float> values, double share, Rng& rng);

/// The samples that a network with a set encoder is pre-trained on. A row is the live encoding of an architecture and
/// the encoding of a set of measurements, from none to thirty, of a device, which is made up or one of the pool; its
/// target is the device's log latency less the encoding's centre. Devices, sets and masks are drawn anew in every
/// epoch.
class EncoderSamples {
 public:
  /// All that is referred to must outlive this.
  EncoderSamples(const datasets::Pool& pool, const structured::StructuredLibrary& library, const SetEncoder& encoder,
                 const SimulatedDescriptor& descriptor, const SimulationOptions& options, std::uint64_t seed);

  EncoderSamples(const EncoderSamples&) = delete;
  EncoderSamples& operator=(const EncoderSamples&) = delete;

  std::size_t width() const { return space_.width() + encoder_.size(); }
  /// The same for the same epoch.
  const TrainingSet& epoch(int epoch);

 private:
  struct PoolDevice {
    std::vector<std::size_t> architectures;  ///< places
    std::vector<double> log_ms;
    std::vector<std::size_t> connected;  ///< of these, whose loadings are known
    double unit = 0;                     ///< logarithm of the median
    std::vector<float> descriptor;
  };
  void add_simulated(Rng& rng);
  void add_of_pool(Rng& rng);

  SimulationOptions options_;
  const SetEncoder& encoder_;
  const SimulatedDescriptor& descriptor_;
  std::uint64_t seed_;
  SimulatedSpace space_;
  NearbyDevices devices_;                ///< of any kind: nothing is measured
  std::vector<std::size_t> measurable_;  ///< places of connected architectures with loadings
  std::vector<SetLoading> loadings_;     ///< of each place; empty where not measurable
  std::vector<PoolDevice> pool_;
  TrainingSet set_;
};

}  // namespace tenshot::trainer
