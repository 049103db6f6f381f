#pragma once

#include <Eigen/Core>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "datasets/pool/pool.h"
#include "nasbench/structures/structures.h"
#include "nasbench/support/random.h"
#include "trainer/core/archive.h"
#include "trainer/core/predictor.h"
#include "trainer/networks/regression_network.h"
#include "trainer/predictors/library/library.h"
#include "trainer/predictors/maple_edge/simulated_devices.h"

namespace tenshot::trainer {

/// The kinds of a descriptor that a network is told of for a descriptor kind of `train` and of an experiment: "auto"
/// (all), "in-network", "latency", "counters" (operators alone and their counters), "inferred" (none). They add up: a
/// device may have any of them. Throws InputError that lists the names.
///
/// What a network is told, by kind: in_network is what one more of an operation costs inside a network, as shares;
/// latency is what operators take alone less an empty call, as shares, and the empty call's share; counters are each
/// operator's rate of instructions less the device's mean, and its other events an instruction.
std::vector<DescriptorKind> descriptor_inputs(std::string_view kind);

/// Draws the descriptor that a made-up device would have: the logarithm of each described number is a line in the
/// logarithm of the cost of its operation, fitted to the pool, and an error like those of lines fitted without a
/// runtime. Nothing has a unit or a scale: costs are shares of their sum, events are counted by the instruction, and
/// rates are less their mean over the operators. Events are summed over shapes, which weigh as much as they cost.
class SimulatedDescriptor {
 public:
  /// Fits the lines to the devices of `pool` that have the kind; others are left out. `library` must outlive this.
  SimulatedDescriptor(const datasets::Pool& pool, const structured::StructuredLibrary& library,
                      const std::vector<DescriptorKind>& kinds);

  /// The number of values; zero where no device of the pool has a kind asked for.
  std::size_t size() const { return lines_.size(); }
  /// The kind of each value.
  DescriptorKind kind(std::size_t value) const { return lines_[value].kind; }
  const std::vector<DescriptorKind>& kinds() const { return kinds_; }

  /// Standardised values, [size()]; NaN where the descriptor lacks the kind or the number, and for counters that do not
  /// compare with the pool's: of other events or operators, or simulated where the pool's are not.
  std::vector<float> values(const datasets::HardwareDescriptor& descriptor) const {
    return standardised(raw(descriptor));
  }
  /// The values of a made-up device, [size()].
  std::vector<float> draw(const SimulatedDevice& device, Rng& rng) const;
  /// `values` with kinds left out, each with probability `share`, as if they had not been measured.
  std::vector<float> masked(std::vector<float> values, double share, Rng& rng) const;

 private:
  /// value = offset + slope · log cost share of `feature` + error.
  struct Line {
    DescriptorKind kind = DescriptorKind::in_network;
    std::size_t place = 0;          ///< among the described costs, or the values of counters
    int feature = -1;               ///< of the structures; -1: owes nothing to a cost
    double expected_slope = 0;      ///< before the pool is seen
    double expected_deviation = 0;  ///< of the error, before the pool is seen
    double offset = 0;
    double slope = 0;
    double mean = 0;  ///< over the pool
    double unit = 1;  ///< by which values less the mean are divided
  };
  void fit(const std::vector<std::vector<double>>& log_shares, const std::vector<std::vector<double>>& raw,
           const std::vector<bool>& used, std::vector<Line>& lines) const;
  bool has(const datasets::HardwareDescriptor& descriptor, DescriptorKind kind) const;
  void add_lines(const datasets::HardwareDescriptor& descriptor, DescriptorKind kind);
  std::vector<double> raw(const datasets::HardwareDescriptor& descriptor) const;
  std::vector<double> log_shares(const std::vector<double>& costs) const;
  std::vector<float> standardised(std::vector<double> raw) const;

  const structured::StructuredLibrary& library_;
  std::vector<DescriptorKind> kinds_;
  datasets::HardwareDescriptor counted_;  ///< the pool's first with counters: others must count the same
  std::vector<Line> lines_;
  std::vector<std::vector<double>> errors_;  ///< [device][value] of lines that have not seen its runtime; NaN: none
};

/// What a network is told of a device, and what its answers are relative to.
struct DeviceInputs {
  std::vector<float> values;
  double centre = 0;  ///< of log latency in ms; of no measurements, of log latency in units of the median
};

/// What an architecture's log latency is made of: mean + offset + weights · z + error of that variance.
struct SetLoading {
  double mean = 0;
  double variance = 0;
  Eigen::VectorXd weights;
};

/// A measured log latency, and the loading of the architecture that was measured.
struct SetMeasurement {
  const SetLoading* loading = nullptr;
  double log_ms = 0;
};

/// Turns any number of measurements, in any order, and whatever descriptor there is into as many numbers, by sums over
/// them and one system of equations. Log latencies of devices drawn from the prior vary along a few directions z, which
/// are found once; so do their descriptors. Measurements and the descriptor's values are noisy sums of z: the encoding
/// is z's mean and deviation given those (Gaussian conditioning), how many measurements there are, how badly they fit,
/// and which kinds of descriptor there are. A value that is absent is no row of the system.
class SetEncoder {
 public:
  /// Draws devices from `prior` and finds directions on `cells`, all of NAS-Bench-201; the descriptor must outlive it.
  SetEncoder(const DevicePrior& prior, const nasbench::StructureTable& cells, const SimulatedDescriptor& descriptor,
             std::uint64_t seed);
  /// Throws FormatError unless it fits the library's costs and structures, and the descriptor.
  SetEncoder(const Archive& archive, const structured::StructuredLibrary& library,
             const SimulatedDescriptor& descriptor);
  void put(Archive& archive) const;

  /// The number of values of an encoding.
  std::size_t size() const;
  /// The loading of each architecture of a table, by the devices drawn.
  std::vector<SetLoading> loadings(const nasbench::StructureTable& table) const;
  /// `descriptor` is SimulatedDescriptor's values, NaN where absent.
  DeviceInputs encode(const std::vector<SetMeasurement>& measured, const std::vector<float>& descriptor) const;

 private:
  const SimulatedDescriptor* descriptor_;
  std::vector<SimulatedDevice> devices_;  ///< without residuals
  std::vector<double> offsets_;           ///< mean log latency of each over architectures
  Eigen::MatrixXd latent_;                ///< [devices, directions], of mean 0 and variance 1
  double offset_ = 0;                     ///< mean of offsets_
  std::vector<SetLoading> described_;     ///< of each value of the descriptor
};

/// What training needs to know: for one set of measurements, or, of an empty set, for any.
struct SimulatedTask {
  const datasets::Pool& pool;
  const structured::StructuredLibrary& library;
  const std::vector<std::vector<double>>& pool_latency_ms;  ///< [device][architecture of the set], measured or expected
  const AdaptationSet& set;
  const structured::DescribedDevice* described;  ///< what the descriptor lets expect of costs; nothing: nullptr
  const SimulatedDescriptor& descriptor;         ///< what else it says, as inputs
  const SetEncoder* encoder;  ///< turns sets into inputs; nullptr: the inputs are the logarithms of the latencies
};

/// Samples of devices that are made up, near what was measured, and of those of the pool. A row is the live encoding of
/// an architecture and the inputs of a device; its target is the device's log latency less the inputs' centre. The
/// task's library, descriptor and encoder must outlive this.
class DeviceSamples {
 public:
  virtual ~DeviceSamples() = default;
  DeviceSamples(const DeviceSamples&) = delete;
  DeviceSamples& operator=(const DeviceSamples&) = delete;

  int width() const { return set_.width; }
  /// The same for the same epoch.
  const TrainingSet& epoch(int epoch);

 protected:
  /// Where nothing is measured, its latencies are in units of their median, as those of made-up devices are.
  struct PoolDevice {
    std::vector<std::size_t> architectures;  ///< places in the space
    std::vector<double> log_ms;
    std::vector<double> log_ms_of_set;   ///< of the set's architectures; empty where nothing is measured
    std::vector<std::size_t> connected;  ///< of EncoderSamples: which of its measurements can be in a set
    std::vector<float> descriptor;
  };
  DeviceSamples(const SimulatedTask& task, const SimulationOptions& options, std::uint64_t seed);

  virtual void fill(Rng& rng) = 0;
  virtual DeviceInputs inputs_of(const SimulatedDevice& device, Rng& rng) const = 0;
  virtual DeviceInputs inputs_of(const PoolDevice& device, Rng& rng) const = 0;

  void add(std::size_t architecture, const DeviceInputs& inputs, double log_ms);
  /// Rows of one device, drawn at random.
  void add_made_up(Rng& rng, int rows);
  void add_of_pool(Rng& rng, int rows);

  const SimulatedDescriptor& descriptor_;
  const SetEncoder* encoder_;
  SimulationOptions options_;
  SimulatedSpace space_;
  std::vector<std::size_t> measured_;  ///< the set's architectures, as places in the space
  std::vector<double> log_ms_;         ///< theirs
  NearbyDevices devices_;
  std::vector<PoolDevice> pool_;
  TrainingSet set_;

 private:
  std::uint64_t seed_;
};

/// The samples that a network is trained on for the architectures measured on one device. Without an encoder the inputs
/// are, for each measured architecture, its log latency less their mean, within ±2; then the values of the descriptor
/// that the device at hand has, and for each kind of it whether it is there.
class SimulatedSamples : public DeviceSamples {
 public:
  /// Each measurement of the set stands `clones` times in every epoch.
  SimulatedSamples(const SimulatedTask& task, const SimulationOptions& options, int clones, std::uint64_t seed);

  /// The inputs of the device at hand.
  const DeviceInputs& inputs() const { return inputs_; }

 private:
  void fill(Rng& rng) override;
  DeviceInputs inputs_of(const SimulatedDevice& device, Rng& rng) const override;
  DeviceInputs inputs_of(const PoolDevice& device, Rng& rng) const override;
  DeviceInputs inputs_of(const std::vector<double>& log_ms, const std::vector<float>& descriptor) const;
  double centre_of(const std::vector<double>& log_ms) const;

  bool whole_milliseconds_;
  int clones_;
  std::vector<std::size_t> comparable_;  ///< measurements of the set (descriptor_features.h)
  std::vector<SetLoading> loadings_;     ///< of the set's architectures, where there is an encoder
  std::vector<float> own_descriptor_;    ///< of the device at hand
  DeviceInputs inputs_;
};

/// The samples that a network with a set encoder is pre-trained on: the inputs are the encoding of a set of
/// measurements, from none to thirty. Devices, sets and masks are drawn anew in every epoch.
class EncoderSamples : public DeviceSamples {
 public:
  /// The task has an encoder, and no measurements.
  EncoderSamples(const SimulatedTask& task, const SimulationOptions& options, std::uint64_t seed);

 private:
  void fill(Rng& rng) override;
  DeviceInputs inputs_of(const SimulatedDevice& device, Rng& rng) const override;
  DeviceInputs inputs_of(const PoolDevice& device, Rng& rng) const override;

  std::vector<std::size_t> measurable_;  ///< places of connected architectures with loadings
  std::vector<SetLoading> loadings_;     ///< of each place; empty where not measurable
};

}  // namespace tenshot::trainer
