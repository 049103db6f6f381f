#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "datasets/pool/pool.h"
#include "trainer/core/knowledge.h"
#include "trainer/predictors/posterior/intervals.h"

// What the errors on devices and networks held out say of a posterior's own idea of its errors. Which are held out, and
// what devices measure, is for those who know what a network is.

namespace tenshot::trainer {

/// Device-runtimes that a pool needs for its intervals to be calibrated.
constexpr std::size_t least_calibrated = 3;

/// An error of log latency in standard deviations, 20 at most: a larger one is an error of the measurement.
double standardised(double error, double deviation);

/// The quantiles of standardised errors [device][error], every device with the same weight; empty where there are none.
/// The next device is one of as many as these and itself: with `next_device` half of its errors are below all, and half
/// above (conformal prediction; Lei et al., 2018, Theorem 2.1), at most one in thirty, so that bounds exist.
IntervalCalibration calibration_of(const std::vector<std::vector<double>>& errors, bool next_device = false);

/// The calibration, made wider where a device's own standardised errors are larger than it lets expect: `share` of them
/// are then within its interval of that confidence. They are of measurements that were left out; there is at least one.
IntervalCalibration widened(const IntervalCalibration& calibration, std::vector<double> errors, double share);

/// At most `most` of `count` places, evenly spaced.
std::vector<std::size_t> evenly_spaced(std::size_t count, std::size_t most);

/// The values at these places.
template <class Value>
std::vector<Value> evenly_spaced(const std::vector<Value>& values, std::size_t most) {
  std::vector<Value> spaced;
  for (const std::size_t place : evenly_spaced(values.size(), most)) spaced.push_back(values[place]);
  return spaced;
}

/// A network that a device's costs were fitted without: log(measured / predicted), and its expected standard deviation.
struct LeftOutError {
  double error = 0;
  double deviation = 1;
};

using LeftOutErrors = std::vector<std::vector<LeftOutError>>;  ///< [device][network]

/// Adds the errors of what was predicted of networks; `measured_ms` is NaN for those that the device did not measure.
void add_errors(const LogLatency& predicted, const std::vector<double>& measured_ms, std::vector<LeftOutError>& errors);

/// The summary of errors [device][network]. A device with few of them takes half of its quantiles from all devices; one
/// without any has no shares (NaN). The devices are those of `pool`.
OwnFits own_fits_of(const LeftOutErrors& errors, const datasets::Pool& pool);

/// Adds the errors of the networks that are left out, which are told by number, as are the others.
using AddErrors = std::function<void(const std::vector<std::size_t>& rest, const std::vector<std::size_t>& left_out,
                                     LeftOutErrors& errors)>;
/// The summary of what `add` finds where a fifth of so many networks is left out at a time, drawn with a fixed seed.
OwnFits left_out_fits(const datasets::Pool& pool, std::size_t networks, const AddErrors& add);

/// The calibration that a device's own left-out errors give; empty (normal) where there are none.
IntervalCalibration own_calibration(const OwnFits& fits, std::size_t device);

}  // namespace tenshot::trainer
