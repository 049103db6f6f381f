#pragma once

#include <cstdint>
#include <vector>

#include "datasets/pool/pool.h"
#include "trainer/networks/training.h"
#include "trainer/predictors/maple_edge/set_encoder.h"

namespace tenshot::trainer {

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
  void add(std::size_t architecture, const std::vector<float>& inputs, double target);

  SimulationOptions options_;
  const SetEncoder& encoder_;
  const SimulatedDescriptor& descriptor_;
  std::uint64_t seed_;
  SimulatedSpace space_;
  DevicePrior prior_;
  std::vector<std::size_t> measurable_;  ///< places of connected architectures with loadings
  std::vector<SetLoading> loadings_;     ///< of each place; empty where not measurable
  std::vector<PoolDevice> pool_;
  TrainingSet set_;
};

}  // namespace tenshot::trainer
