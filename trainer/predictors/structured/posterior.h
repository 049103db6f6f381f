#pragma once

#include <Eigen/Core>
#include <cstddef>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "nasbench/structures/structures.h"
#include "trainer/core/archive_reader.h"
#include "trainer/predictors/described/descriptor_prior.h"
#include "trainer/predictors/library/library.h"

namespace tenshot::trainer::structured {

/// What adaptation assumes and no measurement tells it.
struct PosteriorOptions {
  std::vector<double> noises = {0.015, 0.03, 0.06, 0.12};  ///< σ of log latency, tried in turn
  double library_share = 1;                                ///< h: the library's spread counts h-fold
  double cost_spread = 0.1;                                ///< τ = cost_spread · mean |cost| + cost_spread_floor
  double cost_spread_floor = 0.01;
  /// How far a device may be from its library entry, in units of the spread above, tried in turn: some devices are
  /// nearly the same as one of the pool.
  std::vector<double> closeness = {0.3, 1.5};
  double residual_share = 0.7;  ///< the Gaussian process has standard deviation residual_share · σ; 0 = none
  double student_freedom = 4;   ///< ν of the noise; 0 = Gaussian
  /// Many devices measure in two speeds, minutes of one after minutes of the other (clocks, neighbours): by how much
  /// log latency is larger in the slow one, tried in turn; 0 = one speed. Costs are those of the fast, more frequent
  /// one.
  std::vector<double> slow_steps = {0, 0.2};
  double slow_share = 0.25;          ///< of measurements that are made in the slow one
  double largest_slow_noise = 0.04;  ///< σ up to which two speeds can be told apart from noise
  double gross_share = 0.02;         ///< of measurements that are simply wrong, and
  double gross_spread = 1;           ///< by how much: the standard deviation of their log latency
  int newton_steps = 5;
  std::size_t path_entries = 6;       ///< cost-dependent structures: entries refitted, per σ
  std::size_t kept = 60;              ///< components kept
  std::vector<std::string> left_out;  ///< structures not considered (for ablations)
  /// Of the prior probability, where the device has a descriptor: that it is as described, and not like one of the
  /// library.
  double described_share = 0.8;
  /// Standard deviation of a described cost, in units of the median latency, beside what held-out runtimes show.
  double described_spread = 0.05;
};

/// Throws InputError that names the first value out of range.
void require_valid(const PosteriorOptions& options);

/// What a checkpoint's card keeps; a key that is absent is the default, and unknown ones are ignored. Reading throws
/// nlohmann::json::exception.
void to_json(nlohmann::json& json, const PosteriorOptions& options);
void from_json(const nlohmann::json& json, PosteriorOptions& options);

/// The same from a file, every value checked: throws FormatError, InputError that names the first one out of range.
PosteriorOptions checked_options(const CardField& settings);

/// Latencies measured on the new device-runtime.
struct Evidence {
  std::vector<nasbench::Architecture> architectures;  ///< distinct
  std::vector<double> latency_ms;                     ///< finite, positive
  bool whole_milliseconds = false;
};

/// The evidence without networks of which a runtime that removes dead code left next to nothing: those whose output
/// does not depend on their input and that took under a third of the fastest of the others. Such a latency is no sum of
/// the costs that the others share. Everything, where no network connects its input to its output.
Evidence without_removed(const nasbench::SearchSpace& space, const Evidence& evidence);

/// One explanation of the measurements: a structure, where its costs came from, its noise; its costs' posterior.
struct Component {
  std::size_t structure = 0;
  std::size_t entry = 0;  ///< of the library; the number of its entries: the device's own descriptor
  double noise = 0;       ///< root mean square of log latency about what the costs say, both speeds together
  double weight = 0;      ///< posterior probability
  Eigen::VectorXd costs_ms;
  Eigen::VectorXd path_costs_ms;  ///< the costs by which a slowest path is chosen
  Eigen::MatrixXd covariance_ms2;
};

/// What is known of a device-runtime after its measurements, as plain numbers: everything that prediction needs.
/// log latency(x) = log max(features(x) · costs, floor) + Σ_i residual_weights_i k(x, x_i), mixed over components;
/// k(x, x') = exp(−Hamming distance of the signatures / scale).
struct StructuredPosterior {
  const nasbench::StructureModel* model = nullptr;
  std::vector<Component> components;   ///< most probable first; weights sum to 1
  double floor_ms = 0;                 ///< no prediction is below it
  std::vector<std::uint64_t> anchors;  ///< signatures of the measured architectures, [n, signature_words]
  Eigen::VectorXd residual_weights;    ///< [n]: the mean over components
  Eigen::MatrixXd residual_reduction;  ///< [n, n]: the process's variance at x falls by kᵀ R k, mean over components
  double residual_variance = 0;        ///< the process's prior variance, mean over components
  IntervalCalibration calibration;     ///< the library's
};

/// The posterior of a device-runtime given its measurements: a mixture over structure × library entry × noise, each
/// component a Gaussian by Gauss–Newton, weighted by its Laplace evidence (MacKay, Neural Computation 1992). It learns
/// from without_removed(evidence). Throws
/// InputError when there are no measurements, or unusable ones. With `described`, the device's own descriptor is one
/// more entry, and no measurement is needed: then every structure is as probable, and costs are the descriptor's.
StructuredPosterior adapt(const StructuredLibrary& library, const Evidence& evidence,
                          const PosteriorOptions& options = {}, const DescribedDevice* described = nullptr);

/// True unless `options` leaves the structure out.
bool considers(const PosteriorOptions& options, const nasbench::Structure& structure);

/// k(x, x') for two signatures.
double likeness(const std::uint64_t* a, const std::uint64_t* b, std::size_t words, double scale);

}  // namespace tenshot::trainer::structured
