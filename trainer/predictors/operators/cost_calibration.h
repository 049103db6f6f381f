#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "trainer/predictors/operators/cost_posterior.h"

namespace tenshot::trainer::operators {

struct CalibrationOptions {
  /// Measurements of a held-out device. Intervals are calibrated for about so many: with more they turn out too wide.
  std::size_t samples = 10;
  std::size_t repeats = 2;          ///< plans, or splits of the networks, for each; more are steadier and take longer
  std::size_t most_devices = 24;    ///< held out; evenly spaced ones of a larger pool; more take longer
  std::size_t most_networks = 500;  ///< predicted for each; more take longer
  std::uint64_t seed = 1;
};

/// The distribution of standardised errors of log latency: each device is adapted to from planned measurements, by the
/// library of the devices of other families. Where networks are compared with each other, those predicted are new to
/// the library too. `families` numbers the devices of a pool. The standard normal distribution where fewer than three
/// families, or too few networks, are there to learn from.
structured::IntervalCalibration calibrate(const PoolNumbers& pool, const CostLibrary& library,
                                          const std::vector<std::size_t>& families,
                                          const LibraryOptions& library_options,
                                          const PosteriorOptions& posterior_options,
                                          const CalibrationOptions& options = {});

}  // namespace tenshot::trainer::operators
