#pragma once

#include <Eigen/Core>

#include "sampling/architectures/information.h"
#include "trainer/predictors/operators/cost_posterior.h"

namespace tenshot::trainer::operators {

/// What is uncertain about the log latencies of networks before anything is measured: the mean over the library's
/// entries of what the uncertainty of their costs means for the latencies (linearised at the entry's costs), and the
/// spread of the entries' log latencies themselves, each relative to its mean. `features` are [networks, features].
sampling::LatencyCovariance prior_covariance(const CostLibrary& library, const Eigen::MatrixXd& features,
                                             const PosteriorOptions& options = {});

/// The same after measurements, which are already conditioned on. Components enter by the square roots of their weights
/// (renormalised): a posterior of few measurements is too sure of what the device is like.
sampling::LatencyCovariance posterior_covariance(const CostPosterior& posterior, const Eigen::MatrixXd& features);

/// σ of a measurement's log latency that planning among networks of these `features` expects before anything is
/// measured: what no cost explains. It is larger where networks are compared with each other, as what is a network's
/// own is part of it: a plateau there, from 0.03 to 0.15, what experiments/search/mobile_cnn_search.sh finds inside
/// pools differs by less than its splits do. It is least where a group of the library has all networks, of which
/// nothing is left to explain (experiments/search/device_groups.md).
double expected_noise(const CostLibrary& library, const Eigen::MatrixXd& features,
                      const PosteriorOptions& options = {});

}  // namespace tenshot::trainer::operators
