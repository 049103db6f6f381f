#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "trainer/predictors/operators/cost_posterior.h"

namespace tenshot::trainer::operators {

struct CalibrationOptions {
  /// Measurements of a held-out device, and how few of them each is adapted to once more. Intervals are calibrated for
  /// about so many: with more they turn out too wide, with fewer too narrow.
  std::size_t samples = 10;
  std::size_t fewer_samples = 3;
  std::size_t repeats = 2;  ///< plans, or splits of the networks, for each; more are steadier and take longer
  /// So many groups of networks that are alike are held out together, a third of all networks; more are smaller.
  std::vector<std::size_t> groups = {1, 3};
  std::size_t most_devices = 24;    ///< held out; evenly spaced ones of a larger pool; more take longer
  std::size_t least_of_kind = 4;    ///< held out of each kind, as far as it has so many
  std::size_t most_networks = 500;  ///< predicted for each; more take longer
  std::uint64_t seed = 1;
};

/// Gives a library of some of a pool's networks and devices, which are numbered, what its devices' operators take on
/// those networks alone, and returns the features of all of the pool's networks (FittedPool::learn).
using LearnOperators = std::function<Eigen::MatrixXd(CostLibrary& library, const std::vector<Eigen::Index>& known,
                                                     const std::vector<Eigen::Index>& devices)>;

/// Adapts to each device from planned measurements, by the library of the devices of other families. Where networks are
/// compared with each other, those predicted are new to the library too: first drawn one by one, then whole groups of
/// networks that are alike, as a family of networks is that nobody measured, and the cheapest and costliest of all.
/// Known networks are predicted as well. `families` numbers devices; `learn` is empty without measured operators.
///
/// Sets the fitted library's residual_factor and known_share so that intervals on held-out devices are short and miss
/// little, its reach_variance, by networks unlike all in size, and the error_scale of devices and kinds. Returns the
/// distribution of standardised errors of log latency: the standard normal one, with a library as it was, where fewer
/// than three families, or too few networks, are there to learn from.
IntervalCalibration calibrate(const PoolNumbers& pool, CostLibrary& library, const std::vector<std::size_t>& families,
                              const LibraryOptions& library_options, const PosteriorOptions& posterior_options,
                              const CalibrationOptions& options = {}, const LearnOperators& learn = {});

}  // namespace tenshot::trainer::operators
