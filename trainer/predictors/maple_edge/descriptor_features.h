#pragma once

#include <cstddef>
#include <vector>

#include "datasets/pool/pool.h"
#include "nasbench/spaces/search_space.h"
#include "trainer/core/predictor.h"

namespace tenshot::trainer {

/// The richest of counters, latency and inferred that every device of the pool has.
DescriptorKind common_descriptor_kind(const datasets::Pool& pool);

/// Which of the measurements are of connected architectures, or all of them where none is.
std::vector<std::size_t> comparable_rows(const AdaptationSet& set, const nasbench::NetworkSpace& space);

// What a network is told of a device: the features of its kind of descriptor. A device is what it took for the
// reference architectures, which are the same for every device that is compared, and its hardware descriptor.

/// Geometric mean of the reference latencies over the connected architectures (over all where none is connected):
/// others take next to no time on some runtimes, and one of them among ten would shift the scale of such a device.
double reference_scale_ms(const AdaptationSet& device, const nasbench::SearchSpace& space);

/// Costs c ≥ 0 of one occurrence of each counted operation, and a base b ≥ 0, that minimise the squared relative error
///   Σᵢ ((b + Σₒ cₒ·nₒ(xᵢ) − yᵢ) / yᵢ)²
/// over the connected reference architectures xᵢ with latencies yᵢ and operation counts nₒ; by non-negative least
/// squares. Shape [1 + operations], ms. This is the descriptor of a device of which only whole networks were measured:
/// NAS-Bench-201 repeats its cell at three widths, so whole-network latencies identify one cost an operation, not 15.
std::vector<double> inferred_costs_ms(const AdaptationSet& device, const nasbench::SearchSpace& space);

/// The features of one device, before standardisation. With `normalise`, counters are divided by their operator's
/// latency (events per second, MAPLE-Edge §2.1.2) and latencies and costs by `scale_ms`; without, they are absolute, as
/// in MAPLE. Counters, rates and measured latencies enter as log(1 + value), since they span six orders of magnitude.
/// An operator that costs next to nothing counts as taking at least a thousandth of the slowest one, and a counter that
/// the core does not implement as its absence (0). Throws InputError when the descriptor lacks what `kind` needs.
std::vector<double> device_features(DescriptorKind kind, bool normalise, const AdaptationSet& device,
                                    const nasbench::SearchSpace& space, double scale_ms);

/// Sum of the operators' latencies. Throws InputError when there are none.
double total_operator_ms(const datasets::HardwareDescriptor& descriptor);

/// Mean and spread of each feature over devices: what maps features to network inputs of comparable size. Inputs are
/// bounded, so that a device unlike all of a small pool is no further from them than its network has learned; features
/// that hardly vary over the pool are dropped, all of them in a pool of one.
struct Standardisation {
  std::vector<double> mean;
  std::vector<double> deviation;  ///< what counts as one unit; 0: the feature is dropped

  /// (feature − mean) / deviation within ±0.3, which is three standard deviations; 0 for a dropped feature.
  std::vector<float> apply(const std::vector<double>& features) const;
};
Standardisation standardisation_of(const std::vector<std::vector<double>>& features_of_devices);

}  // namespace tenshot::trainer
