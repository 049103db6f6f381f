#pragma once

#include <Eigen/Core>
#include <cstddef>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "nasbench/structures/structures.h"
#include "trainer/core/adaptation_set.h"
#include "trainer/core/archive_reader.h"
#include "trainer/predictors/described/descriptor_prior.h"
#include "trainer/predictors/library/library.h"

namespace tenshot::trainer::structured {

/// What adaptation assumes and no measurement tells it.
struct PosteriorOptions {
  /// Standard deviations of log latency about the costs, tried in turn. More of them cost time in proportion; without
  /// large ones, an unsteady device makes costs follow its noise.
  std::vector<double> noises = {0.015, 0.03, 0.06, 0.12};
  /// h: the library's spread of costs counts h-fold. Larger lets a device be less like the pool, and takes more
  /// measurements to be sure; 0 keeps the costs within cost_spread of an entry's.
  double library_share = 1;
  /// A cost's own standard deviation beside the library's spread: this share of the mean |cost| of the entry, and the
  /// floor in units of the median latency. Larger trusts measurements more and the pool less.
  double cost_spread = 0.1;
  double cost_spread_floor = 0.01;
  /// How far a device may be from its library entry, in units of the spread above, tried in turn: some devices are
  /// nearly the same as one of the pool. More of them cost time in proportion.
  std::vector<double> closeness = {0.3, 1.5, 4};
  /// The Gaussian process of residuals has the standard deviation residual_share · σ; 0: no process. Larger predicts
  /// networks nearer to what alike ones measured, and follows their noise.
  double residual_share = 0.7;
  /// ν of the Student distribution of the noise; 0: Gaussian. Larger lets single measurements that are far off pull the
  /// costs further.
  double student_freedom = 4;
  /// Many devices measure in two speeds, minutes of one after minutes of the other (clocks, neighbours): by how much
  /// log latency is larger in the slow one, tried in turn; 0 = one speed. Costs are those of the fast, more frequent
  /// one. More of them cost time in proportion.
  std::vector<double> slow_steps = {0, 0.2};
  double slow_share = 0.25;          ///< of measurements that are made in the slow one; larger suspects it sooner
  double largest_slow_noise = 0.04;  ///< σ up to which two speeds can be told apart from noise; larger takes longer
  /// Share of measurements that are simply wrong, and the standard deviation of their log latency. Larger shares
  /// protect from more mistakes, and make less of a true measurement that surprises.
  double gross_share = 0.02;
  double gross_spread = 1;
  int newton_steps = 5;  ///< of Gauss–Newton for each hypothesis; more cost time, and change little once it has settled
  /// Structures whose slowest path depends on the costs: entries refitted for each σ. More cost time and miss less.
  std::size_t path_entries = 6;
  std::size_t kept = 60;              ///< components kept: more make predictions slower and files larger
  std::vector<std::string> left_out;  ///< structures not considered (for ablations)
  /// Of the prior probability, where the device has a descriptor: that it is as described, and not like one of the
  /// library. Nearer to 1 trusts the descriptor against the measurements for longer.
  double described_share = 0.8;
  /// Standard deviation of a described cost, in units of the median latency, beside what held-out runtimes show. Larger
  /// trusts measurements more and the descriptor less.
  double described_spread = 0.05;
  /// Of planning before any measurement: the share of the probability that the device is like none of the library, and
  /// how many such devices speak for all of them. Their costs are drawn log-uniform over two decades. A larger share
  /// plans for stranger devices and less for those like the pool; more devices take longer to plan with, and a plan
  /// depends less on which were drawn. 0 devices: the library alone.
  double strange_share = 0.3;
  std::size_t strange_devices = 64;
  /// σ of a measurement's log latency that planning before any measurement expects. Larger rests a plan less on single
  /// measurements.
  double planning_noise = 0.1;
};

/// Throws InputError that names the first value out of range.
void require_valid(const PosteriorOptions& options);

/// What a checkpoint's card keeps; a key that is absent is the default, and unknown ones are ignored. Reading throws
/// nlohmann::json::exception.
void to_json(nlohmann::json& json, const PosteriorOptions& options);
void from_json(const nlohmann::json& json, PosteriorOptions& options);

/// The same from a file, every value checked: throws FormatError, InputError that names the first one out of range.
PosteriorOptions checked_options(const CardField& settings);

/// The set without networks of which a runtime that removes dead code left next to nothing: those whose output
/// does not depend on their input and that took under a third of the fastest of the others. Such a latency is no sum of
/// the costs that the others share. Everything, where no network connects its input to its output.
AdaptationSet without_removed(const nasbench::SearchSpace& space, const AdaptationSet& set);

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
/// from without_removed(set). Throws InputError when there are no measurements, or unusable ones. With `described`, the
/// device's own descriptor is one more entry, and no measurement is needed: then every structure is as probable, and
/// costs are the descriptor's.
StructuredPosterior adapt(const StructuredLibrary& library, const AdaptationSet& set,
                          const PosteriorOptions& options = {}, const DescribedDevice* described = nullptr);

/// True unless `options` leaves the structure out.
bool considers(const PosteriorOptions& options, const nasbench::Structure& structure);

/// k(x, x') for two signatures.
double likeness(const std::uint64_t* a, const std::uint64_t* b, std::size_t words, double scale);

}  // namespace tenshot::trainer::structured
