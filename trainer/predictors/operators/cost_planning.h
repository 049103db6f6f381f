#pragma once

#include <Eigen/Core>
#include <memory>

#include "datasets/pool/pool.h"
#include "sampling/architectures/information.h"
#include "trainer/core/predictor.h"
#include "trainer/predictors/operators/cost_posterior.h"

namespace tenshot::trainer::operators {

/// What is uncertain about the log latencies of networks before anything is measured: the mean over the library's
/// entries of what the uncertainty of their costs means for the latencies (linearised at the entry's costs), and the
/// spread of the entries' log latencies themselves, each relative to its mean. `features` are [networks, features]. A
/// group of the library that has all networks says how latencies vary; else the kind of the said runtime, or of all.
///
/// The noise that is expected of a measurement is what no cost explains. It is larger where networks are compared with
/// each other, as what is a network's own is part of it; where there are kinds, an error of a fifth is small enough. It
/// is least in a group, of which nothing is left to explain (experiments/search: planning.md and device_groups.md). Of
/// kinds it is less where operators are timed too, which tell of their costs one by one (profiled_search).
PlanningView prior_view(const CostLibrary& library, const Eigen::MatrixXd& features,
                        const PosteriorOptions& options = {}, const SaidRuntime& said = {});

/// The covariance after measurements, which are already conditioned on. Components enter by the square roots of their
/// weights (renormalised): a posterior of few measurements is too sure of what the device is like.
sampling::LatencyCovariance posterior_covariance(const CostPosterior& posterior, const Eigen::MatrixXd& features);

/// What a model of `pool` has learned, for planning, under what the model assumes.
std::shared_ptr<const PlanningPrior> planning_prior(const datasets::Pool& pool, const FeatureMap& map,
                                                    const CostLibrary& library, const PosteriorOptions& options);

/// The same of a pool that no such model was trained on, whose costs it fits. Throws InputError as fit_pool().
std::shared_ptr<const PlanningPrior> planning_prior(const datasets::Pool& pool);

}  // namespace tenshot::trainer::operators
