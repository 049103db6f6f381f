#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <string>
#include <vector>

#include "nasbench/structures/structures.h"

namespace tenshot::experiments {

/// A device-runtime that follows one execution structure exactly, up to noise: what no pool need resemble.
struct DrawnDevice {
  std::string id;
  std::size_t structure = 0;
  std::string costs;                ///< one of cost_patterns()
  double noise = 0;                 ///< σ of log latency
  bool whole_milliseconds = false;  ///< its clock counts no less
  std::uint64_t stream = 0;         ///< random stream of its draws
  Eigen::VectorXd costs_ms;         ///< one a feature; 0 where the structure does not use it
};

/// How the costs of a device's operations compare: "any" (each on its own, log-uniform from .01 to .5 of the median
/// latency), "launch" (all about the same: what counts is that something is launched), "pooling" (a pooling about as
/// dear as a 3×3 convolution, a skip up to half of it), "compute" (convolutions dear, all else nearly free).
std::vector<std::string> cost_patterns();

/// `count` devices: every structure under every pattern at every noise in turn. The base is log-uniform from .1 to .8
/// of the median latency, the median log-uniform from .5 to 200 ms. Every fifth has a clock of whole milliseconds, and
/// a median of 20 ms or more.
std::vector<DrawnDevice> draw_devices(const nasbench::StructureModel& model, std::size_t count,
                                      const std::vector<double>& noises, std::uint64_t seed);

/// Latencies of `architectures` on the device, ms, each measured once; the noise is drawn from `seed`.
std::vector<double> measure(const nasbench::StructureModel& model, const DrawnDevice& device,
                            const std::vector<nasbench::Architecture>& architectures, std::uint64_t seed);

}  // namespace tenshot::experiments
