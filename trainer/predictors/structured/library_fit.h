#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "datasets/pool/pool.h"
#include "nasbench/structures/structures.h"
#include "trainer/core/knowledge.h"
#include "trainer/predictors/library/library.h"
#include "trainer/predictors/structured/posterior.h"

namespace tenshot::trainer::structured {

/// The library of a pool: every device under its best structure, then the generic entry. `devices` are the ids, one a
/// row of `latencies`. Throws InputError when a device has fewer measured architectures than costs.
StructuredLibrary fit_library(const nasbench::StructureModel& model, const std::vector<std::string>& devices,
                              const datasets::LatencyMatrix& latencies);

/// The library of a pool. Throws InputError where its space has no execution structures, or a device too few networks.
StructuredLibrary library_of(const datasets::Pool& pool);

/// Latency [device][architecture], ms, that the library expects on the pool's devices; or FormatError, if it lacks one.
std::vector<std::vector<double>> latencies_of_pool(const StructuredLibrary& library, const datasets::Pool& pool,
                                                   const std::vector<nasbench::Architecture>& architectures);

/// How calibration measures what intervals are worth.
struct StructuredCalibrationOptions {
  /// Measurements that a held-out device is adapted with, chosen by information. Intervals are calibrated for about so
  /// many: with more they turn out too wide, with fewer too narrow.
  std::size_t samples = 10;
  std::size_t repeats = 3;  ///< each from another random half of the architectures; more are steadier and take longer
  std::uint64_t seed = 1;
  /// Devices that are held out of a library that adaptation does not look at entry by entry (exhaustive_entries). More
  /// say more exactly what intervals are worth, and take longer.
  std::size_t most_devices = 48;
  std::size_t most_architectures = 1000;  ///< of each of these, evenly spaced, are predicted; more take longer
  /// Numbers of the families, one for each device; then each device is held out with its family. Empty: alone.
  std::vector<std::size_t> families;
};

/// Holds every device out in turn, adapts the rest of the library to it and collects the standardised errors over its
/// connected architectures; devices count equally. Of a large library a seeded sample of devices is held out, of as
/// many families as there are, each with its family. Needs least_calibrated devices; with fewer the calibration is
/// empty (normal). `latencies` are what the library was fitted on.
IntervalCalibration calibrate(const StructuredLibrary& library, const datasets::LatencyMatrix& latencies,
                              const StructuredPosteriorOptions& posterior_options = {},
                              const StructuredCalibrationOptions& options = {});

/// How well each device is predicted where a fifth of the architectures is left out of all fits at a time.
OwnFits own_fits(const nasbench::StructureModel& model, const datasets::Pool& pool,
                 const StructuredPosteriorOptions& options);

}  // namespace tenshot::trainer::structured
