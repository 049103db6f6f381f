#pragma once

#include <Eigen/Core>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "nasbench/structures/structures.h"
#include "trainer/core/archive.h"
#include "trainer/core/options.h"
#include "trainer/core/predictor.h"
#include "trainer/predictors/described/descriptor_prior.h"
#include "trainer/predictors/library/library.h"
#include "trainer/predictors/posterior/intervals.h"
#include "trainer/predictors/posterior/mixture.h"

namespace tenshot::trainer::structured {

/// What adaptation assumes and no measurement tells it; posterior.cpp, which declares the options, explains them.
struct StructuredPosteriorOptions : MixtureOptions {
  StructuredPosteriorOptions() { residual_share = 0.7; }

  double cost_spread = 0.1;
  double cost_spread_floor = 0.01;
  std::vector<double> slow_steps = {0, 0.2};
  double largest_slow_noise = 0.04;
  std::size_t path_entries = 6;
  std::vector<std::string> left_out;
  double described_share = 0.8;
  double described_spread = 0.05;
  double strange_share = 0.3;
  std::size_t strange_devices = 64;
  double planning_noise = 0.1;
};
const Declaration<StructuredPosteriorOptions>& declared(const StructuredPosteriorOptions&);

/// The set without networks of which a runtime that removes dead code left next to nothing: those whose output
/// does not depend on their input and that took under a third of the fastest of the others. Such a latency is no sum of
/// the costs that the others share. Everything, where no network connects its input to its output.
AdaptationSet without_removed(const nasbench::SearchSpace& space, const AdaptationSet& set);

/// One explanation of the measurements: a structure, where its costs came from, its noise; its costs' posterior. While
/// planning before any measurement, costs are in units of the median latency in place of ms.
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
  std::vector<std::uint64_t> anchors;  ///< signatures of the measured architectures, [n]
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
                          const StructuredPosteriorOptions& options = {}, const DescribedDevice* described = nullptr);

/// The calibration of what adapt() returns: the library's, which is of ten measurements, and from twenty on as much
/// wider as errors of a fifth of them, left out at a time, are larger.
IntervalCalibration calibration_of_many(const StructuredLibrary& library, const AdaptationSet& set,
                                        const StructuredPosteriorOptions& options, const DescribedDevice* described);

/// A posterior of a device that nothing is known of yet, whose residual process is seen through these signatures.
StructuredPosterior without_components(const StructuredLibrary& library, double floor_ms,
                                       std::vector<std::uint64_t> anchors = {});

/// What a library says of one of its devices without any measurement. Its calibration is the library's, which is of new
/// devices. Throws FormatError where it has no entry of that id.
StructuredPosterior known_posterior(const StructuredLibrary& library, const std::string& id,
                                    const StructuredPosteriorOptions& options);

/// What a posterior says of the architectures of `table`, one after the other.
LogLatency predict(const StructuredPosterior& posterior, const nasbench::StructureTable& table);

/// The structures, by number, that `options` does not leave out.
std::vector<std::size_t> considered_structures(const nasbench::StructureModel& model,
                                               const StructuredPosteriorOptions& options);

/// k(x, x') of two signatures.
double likeness(std::uint64_t a, std::uint64_t b, double scale);

/// The library and a posterior as arrays of an archive. Structures go by name, so that a file outlives their
/// order. Reading throws FormatError when something is missing or does not fit.
void put_library(Archive& archive, const StructuredLibrary& library);
StructuredLibrary get_library(const Archive& archive, const nasbench::StructureModel& model);
void put_posterior(Archive& archive, const StructuredPosterior& posterior);
StructuredPosterior get_posterior(const Archive& archive, const nasbench::StructureModel& model);

/// What a pool teaches about descriptors. An untrained prior is not written, and is read where nothing is.
void put_descriptor_prior(Archive& archive, const DescriptorPrior& prior);
DescriptorPrior get_descriptor_prior(const Archive& archive, const nasbench::StructureModel& model);

}  // namespace tenshot::trainer::structured
