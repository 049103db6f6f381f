#pragma once

#include <Eigen/Core>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "trainer/core/archive.h"
#include "trainer/predictors/maple_edge/simulated_descriptor.h"
#include "trainer/predictors/maple_edge/simulated_devices.h"

namespace tenshot::trainer {

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

/// Turns any number of measurements, in any order, and whatever descriptor there is into as many numbers, by sums over
/// them and one system of equations. Log latencies of devices drawn from the prior vary along a few directions z, which
/// are found once; so do their descriptors. Measurements and the descriptor's values are noisy sums of z: the encoding
/// is z's mean and deviation given those (Gaussian conditioning), how many measurements there are, how badly they fit,
/// and which kinds of descriptor there are. A value that is absent is no row of the system.
class SetEncoder {
 public:
  SetEncoder() = default;
  /// Draws devices from `prior` and finds the directions on architectures of `space`.
  SetEncoder(const DevicePrior& prior, const SimulatedSpace& space, const SimulatedDescriptor& descriptor,
             std::uint64_t seed);

  bool trained() const { return latent_.size() > 0; }
  /// The number of values of an encoding.
  std::size_t size() const;

  /// The loading of each architecture of `space`, by the devices drawn.
  std::vector<SetLoading> loadings(const SimulatedSpace& space) const;
  /// `log_ms` are measured logarithms of latency, with the loading of the architecture of each; `descriptor` is
  /// SimulatedDescriptor's values, NaN where absent.
  DeviceInputs encode(const std::vector<const SetLoading*>& architectures, const std::vector<double>& log_ms,
                      const std::vector<float>& descriptor) const;

  void put(Archive& archive) const;
  /// Throws FormatError unless it fits `features` costs, `structures` and the descriptor.
  static SetEncoder get(const Archive& archive, std::size_t structures, std::size_t features,
                        const SimulatedDescriptor& descriptor);

 private:
  void find_directions(const SimulatedSpace& space, std::uint64_t seed);
  void describe(const SimulatedDescriptor& descriptor, std::uint64_t seed);
  void take_kinds(const SimulatedDescriptor& descriptor);

  std::vector<SimulatedDevice> devices_;  ///< without residuals
  std::vector<double> offsets_;           ///< mean log latency of each over architectures
  Eigen::MatrixXd latent_;                ///< [devices, directions], of mean 0 and variance 1
  double offset_ = 0;                     ///< mean of offsets_
  std::vector<SetLoading> described_;     ///< of each value of the descriptor
  std::vector<std::size_t> kind_of_;      ///< of each value of the descriptor
  std::size_t kinds_ = 0;
};

}  // namespace tenshot::trainer
