#pragma once

#include <cstddef>
#include <vector>

#include "trainer/core/knowledge.h"
#include "trainer/predictors/posterior/intervals.h"

// What the errors on devices and networks held out say of a posterior's own idea of its errors. Which are held out, and
// what devices measure, is for those who know what a network is.

namespace tenshot::trainer {

/// Device-runtimes that a pool needs for its intervals to be calibrated.
constexpr std::size_t least_calibrated = 3;

/// An error of log latency in standard deviations. One of more than 20 is an error of the measurement, and counts
/// as 20.
double standardised(double error, double deviation);

/// The quantiles of standardised errors [device][error], every device with the same weight; empty where there are none.
/// The next device is one of as many as these and itself: with `next_device` half of its errors are below all, and half
/// above, as conformal prediction has it (Lei et al., 2018, Theorem 2.1). Its share is at most one in thirty: of few
/// devices nothing would bound the intervals.
IntervalCalibration calibration_of(const std::vector<std::vector<double>>& errors, bool next_device = false);

/// At most `most` of `count` places, evenly spaced.
std::vector<std::size_t> evenly_spaced(std::size_t count, std::size_t most);

/// A network that a device's costs were fitted without: log measured − log predicted, and the standard deviation that
/// was expected of it.
struct LeftOutError {
  double error = 0;
  double deviation = 1;
};

/// The parts that networks are left out in, one after the other: each network has the number of its part, a fifth of
/// all in each, drawn with a fixed seed.
constexpr std::size_t left_out_parts = 5;
std::vector<std::size_t> left_out_part_of(std::size_t networks);

/// The summary of errors [device][network]. A device with few of them takes half of its quantiles from all devices; one
/// without any has no shares (NaN). `networks` are those that each device measured.
OwnFits own_fits_of(const std::vector<std::vector<LeftOutError>>& errors, const std::vector<std::size_t>& networks);

/// The calibration that a device's own left-out errors give; empty (normal) where there are none.
IntervalCalibration own_calibration(const OwnFits& fits, std::size_t device);

}  // namespace tenshot::trainer
