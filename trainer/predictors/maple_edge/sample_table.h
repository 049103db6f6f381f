#pragma once

#include <cstddef>
#include <vector>

#include "datasets/pool/pool.h"
#include "nasbench/spaces/search_space.h"
#include "trainer/networks/training.h"

namespace tenshot::trainer {

/// A device as the network sees it.
struct StandardisedDevice {
  double scale_ms = 1;          ///< the geometric mean of its reference latencies
  double unit_ms = 1;           ///< what its latencies are divided by: the scale, or 1 ms
  std::vector<float> features;  ///< standardised descriptor
};

/// The samples of all devices, one-hot encodings laid out once; descriptors and targets are filled in as they change.
/// Errors are relative to the latency, but to no less than a fifth of the device's scale: where a network without a
/// path from input to output takes microseconds, its relative error would outweigh all other samples together.
class SampleTable {
 public:
  /// Rows are an encoding of `space` and then `features` numbers of the device's descriptor.
  SampleTable(const nasbench::SearchSpace& space, std::size_t features);

  void add(std::size_t device, const nasbench::Architecture& architecture, double latency_ms);
  /// All samples with the descriptor, scale and unit of devices[device].
  const TrainingSet& described_by(const std::vector<StandardisedDevice>& devices);

 private:
  const nasbench::SearchSpace& space_;
  std::size_t encoding_, width_;
  TrainingSet set_;
  std::vector<std::size_t> device_;
  std::vector<double> latency_ms_;
};

/// Every measured latency of the matrix, devices by their row.
SampleTable samples_of(const nasbench::SearchSpace& space, const datasets::LatencyMatrix& matrix, std::size_t features);

}  // namespace tenshot::trainer
