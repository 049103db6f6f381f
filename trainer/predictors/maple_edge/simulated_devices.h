#pragma once

#include <Eigen/Core>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "nasbench/spaces/cell.h"
#include "nasbench/structures/structures.h"
#include "nasbench/support/random.h"
#include "trainer/core/options.h"
#include "trainer/networks/feed_forward.h"
#include "trainer/predictors/described/descriptor_prior.h"
#include "trainer/predictors/library/library.h"

namespace tenshot::trainer {

/// How devices are made up, costs in units of a median latency; maple_edge_settings.cpp explains each option.
struct SimulationOptions {
  std::vector<double> cost_spreads = {0.15, 0.4, 0.8};
  double described_share = 0.8;
  bool descriptor_inputs = false;
  double masked_share = 0.15;
  double wild_share = 0.2;
  double least_noise = 0.01;
  double most_noise = 0.12;
  double residual_share = 0.7;
  double two_speed_share = 0.15;
  double slow_step = 0.2;
  double acceptance = 0.02;
  int rows = 51'200;
  double pool_share = 0.25;
  double error_unit = 0.05;
};
const Declaration<SimulationOptions>& declared(const SimulationOptions&);

// A network learns more easily what a runtime executes of a NAS-Bench-201 cell when it is told which edges are dead:
// beside the cell's own one-hot encoding stands that of its canonical form, in which dead edges take option 0.

constexpr std::size_t live_encoding_width = 2 * nasbench::edge_count * nasbench::operation_count;

/// Three layers, with a ReLU after each, that turn the one-hot encoding into the live one, exactly: in front of a
/// network that was trained on the latter, they give one that takes the former and is exported like any other.
std::vector<DenseLayer> live_encoding_layers();

constexpr std::size_t ones_of_cell = 2 * nasbench::edge_count;  ///< in its live encoding

/// All cells of NAS-Bench-201, in the space's order, as simulation needs them.
struct SimulatedSpace {
  explicit SimulatedSpace(const nasbench::StructureModel& model);

  std::size_t size() const { return table.size; }

  nasbench::StructureTable table;
  std::vector<float> encodings;     ///< live ones, [size, live_encoding_width]
  std::vector<std::uint16_t> ones;  ///< where the encodings are 1, [size, ones_of_cell]
};

/// A made-up device: its latency is a sum of costs over what its structure executes, times what no structure explains.
struct SimulatedDevice {
  std::size_t structure = 0;
  std::vector<double> costs;      ///< one a feature
  std::vector<double> residuals;  ///< of log latency, one a place of the live encoding; empty: none
  double floor = 0;               ///< no latency is below it
  double noise = 0;               ///< σ of log latency of one measurement
  double slow_step = 0;           ///< by how much log latency is larger in the slow speed; 0: one speed
};

/// Where devices come from.
class DevicePrior {
 public:
  /// `library` must outlive this. With `described`, most devices are as the descriptor at hand lets expect.
  DevicePrior(const structured::StructuredLibrary& library, const SimulationOptions& options,
              const structured::DescribedDevice* described = nullptr);

  /// A device around an entry of the library, as described, or a wild one; without residuals.
  SimulatedDevice draw(Rng& rng) const;

 private:
  const structured::StructuredLibrary& library_;
  SimulationOptions options_;
  /// Costs under each structure as described: their mean, and their covariance's Cholesky factor.
  std::vector<std::pair<Eigen::VectorXd, Eigen::MatrixXd>> described_;
};

/// Its log latency of an architecture, without noise; of one of a table, also without residuals.
double log_latency(const SimulatedDevice& device, const SimulatedSpace& space, std::size_t architecture);
double log_latency(const SimulatedDevice& device, const nasbench::StructureTable& table, std::size_t architecture);

/// The noise of a measured log latency: σ times Student's t of four degrees of freedom; a quarter in the slow speed.
double draw_noise(const SimulatedDevice& device, Rng& rng);

/// How far apart two lists of log latencies are: the root mean square of differences less the median, each at most .5.
double log_distance(const std::vector<double>& a, const std::vector<double>& b);

/// Draws devices that are near what was measured.
class NearbyDevices {
 public:
  /// Finds by trial how near the nearest `options.acceptance` of all devices are; `measured` are places in `space`.
  NearbyDevices(DevicePrior prior, const SimulatedSpace& space, const SimulationOptions& options,
                std::vector<std::size_t> measured, std::vector<double> log_ms, std::uint64_t seed);

  /// A near device, with residuals: their sum over an architecture has the deviation residual_share · σ.
  SimulatedDevice draw(Rng& rng) const;
  double threshold() const { return threshold_; }

 private:
  double distance(const SimulatedDevice& device) const;

  DevicePrior prior_;
  const SimulatedSpace& space_;
  SimulationOptions options_;
  std::vector<std::size_t> measured_;
  std::vector<double> log_ms_;
  double threshold_ = 0;
};

}  // namespace tenshot::trainer
