#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "datasets/pool/pool.h"
#include "trainer/predictors/structured/library.h"
#include "trainer/predictors/structured/posterior.h"

namespace tenshot::trainer::structured {

/// Device-runtimes that a pool needs for its intervals to be calibrated.
constexpr std::size_t least_calibrated = 3;

/// How calibration measures what intervals are worth.
struct CalibrationOptions {
  std::size_t samples = 10;  ///< measurements a held-out device is adapted with, chosen by information
  std::size_t repeats = 3;   ///< times, each from another random half of the architectures
  std::uint64_t seed = 1;
};

/// Holds every device out in turn, adapts the rest of the library to it and collects the standardised errors over its
/// connected architectures; devices count equally. Needs three devices; with fewer the calibration is empty (normal).
/// `devices` and `latencies` are what the library was fitted on.
IntervalCalibration calibrate(const StructuredLibrary& library, const std::vector<std::string>& devices,
                              const datasets::LatencyMatrix& latencies, const PosteriorOptions& posterior_options = {},
                              const CalibrationOptions& options = {});

/// The quantiles of standardised errors [device][error], every device with the same weight; empty where there are none.
IntervalCalibration calibration_of(const std::vector<std::vector<double>>& errors);

}  // namespace tenshot::trainer::structured
