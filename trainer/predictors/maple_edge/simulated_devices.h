#pragma once

#include <Eigen/Core>
#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "nasbench/structures/structures.h"
#include "nasbench/support/random.h"
#include "trainer/core/options.h"
#include "trainer/networks/training.h"
#include "trainer/predictors/described/descriptor_prior.h"
#include "trainer/predictors/library/library.h"

namespace tenshot::trainer {

/// How devices are made up. Costs are in units of a device's median latency. Each option is explained where it is
/// declared (maple_edge_settings.cpp).
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

/// Architectures as simulation needs them.
class SimulatedSpace {
 public:
  SimulatedSpace(const nasbench::StructureModel& model, std::vector<nasbench::Architecture> architectures);

  std::size_t size() const { return architectures_.size(); }
  std::size_t width() const { return width_; }  ///< of the live encoding
  const nasbench::StructureModel& model() const { return model_; }
  const nasbench::StructureTable& table() const { return table_; }
  const nasbench::Architecture& architecture(std::size_t a) const { return architectures_[a]; }
  /// The live encoding (trainer/networks/live_encoding.h), [width].
  const float* encoding(std::size_t a) const { return encodings_.data() + a * width_; }
  /// Where the encoding is 1, [ones_per_architecture()].
  const std::uint16_t* ones(std::size_t a) const { return ones_.data() + a * ones_per_architecture_; }
  std::size_t ones_per_architecture() const { return ones_per_architecture_; }
  using PlaceOf = std::unordered_map<nasbench::Architecture, std::size_t, nasbench::ArchitectureHash>;
  PlaceOf places() const;
  /// Adds a row to `set`: the encoding of an architecture and the inputs of a device.
  void add_row(std::size_t architecture, const std::vector<float>& inputs, double target, double unit,
               TrainingSet& set) const;

 private:
  const nasbench::StructureModel& model_;
  std::vector<nasbench::Architecture> architectures_;
  nasbench::StructureTable table_;
  std::size_t width_ = 0;
  std::size_t ones_per_architecture_ = 0;
  std::vector<float> encodings_;
  std::vector<std::uint16_t> ones_;
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
  /// `library` must outlive this. With `described`, most devices are as the descriptor of the device at hand lets
  /// expect.
  DevicePrior(const structured::StructuredLibrary& library, const SimulationOptions& options,
              const structured::DescribedDevice* described = nullptr);

  /// A device around an entry of the library, as described, or a wild one; without residuals.
  SimulatedDevice draw(Rng& rng) const;

 private:
  /// Costs under one structure as described: mean and the covariance's Cholesky factor.
  struct DescribedCosts {
    Eigen::VectorXd mean;
    Eigen::MatrixXd factor;
  };
  void draw_costs(SimulatedDevice& device, Rng& rng) const;
  void draw_described_costs(SimulatedDevice& device, Rng& rng) const;

  const structured::StructuredLibrary& library_;
  SimulationOptions options_;
  std::vector<DescribedCosts> described_;
};

/// Residuals for a live encoding of `decisions` ones: their sum over an architecture has `deviation`.
std::vector<double> draw_residuals(std::size_t encoding_width, std::size_t ones, double deviation, Rng& rng);

/// Its log latency of an architecture, without noise.
double log_latency(const SimulatedDevice& device, const SimulatedSpace& space, std::size_t architecture);

/// The noise of one measurement of log latency: Student's t with four degrees of freedom times σ, and the slow speed in
/// a quarter of all.
double draw_noise(const SimulatedDevice& device, Rng& rng);

/// How far apart two lists of log latencies are, whatever their scales: the root mean square of their differences less
/// the median difference, each counted as .5 at most.
double log_distance(const std::vector<double>& a, const std::vector<double>& b);

/// Draws devices that are near what was measured.
class NearbyDevices {
 public:
  /// `measured` are places in `space`, `log_ms` their measured log latencies. Finds by trial how near the nearest
  /// `options.acceptance` of all devices are.
  NearbyDevices(DevicePrior prior, const SimulatedSpace& space, const SimulationOptions& options,
                std::vector<std::size_t> measured, std::vector<double> log_ms, std::uint64_t seed);

  /// A near device, with residuals.
  SimulatedDevice draw(Rng& rng) const;
  double threshold() const { return threshold_; }

 private:
  double distance(const SimulatedDevice& device) const;
  SimulatedDevice draw_near(Rng& rng) const;

  DevicePrior prior_;
  const SimulatedSpace& space_;
  SimulationOptions options_;
  std::vector<std::size_t> measured_;
  std::vector<double> log_ms_;
  double threshold_ = 0;
};

}  // namespace tenshot::trainer
