#pragma once

#include <Eigen/Core>
#include <cstddef>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "nasbench/structures/structures.h"
#include "nasbench/support/random.h"
#include "trainer/core/archive_reader.h"
#include "trainer/predictors/described/descriptor_prior.h"
#include "trainer/predictors/library/library.h"

namespace tenshot::trainer {

/// How devices are made up. Costs are in units of a device's median latency.
struct SimulationOptions {
  /// Costs of a device are those of an entry of the library, each times exp(spread · z), z ~ N(0, 1); one of these
  /// spreads per device.
  std::vector<double> cost_spreads = {0.15, 0.4, 0.8};
  double described_share = 0.8;  ///< of devices are drawn as described, where there is a descriptor
  /// When training for one set of measurements: whether the kinds of descriptor by which devices are not drawn are
  /// inputs of the network, made up for made-up devices.
  bool descriptor_inputs = false;
  double masked_share = 0.15;  ///< of devices lack a kind of descriptor, each kind by itself
  double wild_share = 0.2;     ///< of devices: all costs are log-uniform over two decades, whatever the library says
  double least_noise = 0.01;   ///< σ of log latency of one measurement, log-uniform per device
  double most_noise = 0.12;
  /// Standard deviation, as a share of σ, of what no structure explains: of log latency, a sum of one number per
  /// decision taken and one per live decision taken.
  double residual_share = 0.7;
  double two_speed_share = 0.15;  ///< of devices measure in two speeds, a quarter of all in the slow one
  double slow_step = 0.2;         ///< by which its log latency is larger, at most
  /// Share of made-up devices kept: those whose latencies of the measured architectures are nearest to the measured
  /// ones. Training on that part of the prior alone changes no conditional expectation at the measured values as long
  /// as all plausible devices are in it (truncated proposals: Deistler, Goncalves and Macke, NeurIPS 2022). 1: all.
  double acceptance = 0.02;
  int rows = 51'200;         ///< of training, drawn anew for every epoch
  double pool_share = 0.25;  ///< of the rows are of the pool's devices
  double error_unit = 0.05;  ///< of log latency: up to which errors count by their squares, beyond by their sizes
};

/// Throws InputError that names the first value out of range.
void require_valid(const SimulationOptions& options);

/// What a checkpoint's card and an experiment keep; a key that is absent is the default, and unknown ones are ignored.
/// Reading throws nlohmann::json::exception.
void to_json(nlohmann::json& json, const SimulationOptions& options);
void from_json(const nlohmann::json& json, SimulationOptions& options);

/// The same from an archive's card, every value of its kind and in its range. Throws FormatError, InputError.
SimulationOptions simulation_options_of(const CardField& settings);

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
