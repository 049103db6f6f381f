#pragma once

#include <Eigen/Core>
#include <cstddef>

#include "datasets/pool/pool.h"
#include "trainer/core/knowledge.h"
#include "trainer/predictors/operators/cost_posterior.h"

namespace tenshot::trainer::operators {

/// What a library says of one of its devices without any measurement: its costs, which may be as far off as the
/// smallest PosteriorOptions::closeness lets them be, and its own residuals. `weights` is the library's nearness();
/// `features` counts those of all blocks. The calibration is empty.
CostPosterior known_posterior(const CostLibrary& library, const Eigen::MatrixXd& weights, std::size_t device,
                              Eigen::Index features, const PosteriorOptions& options);

/// How well each device of a pool is predicted where its networks are left out of all fits, a fifth at a time, and
/// where of the residuals what devices have in common is kept. Errors are standardised by known_posterior(). A device
/// with few networks takes part of the quantiles of all. Of networks unlike all others `calibrated` says it.
OwnFits own_fits(const datasets::Pool& pool, const CostLibrary& calibrated, const PosteriorOptions& options);

/// Puts stepped_scale_ms() in place of devices' medians, each a latency; library and map expect the same as before.
void drop_medians(FeatureMap& map, CostLibrary& library);

/// Appends the devices of a pool to a library: of few networks their costs are what the library is adapted to, of many
/// they are fitted; how they differ from the devices that are there is seen on the pool's networks. Features that the
/// library has not, of operators that none of its networks has, are added to the map; no device that was there has a
/// cost for them. What the pool says of operators inside networks is not learned. Throws InputError without latencies.
void grow(FeatureMap& map, CostLibrary& library, const datasets::Pool& pool, const PosteriorOptions& options);

/// How well devices that a pool adds to a library are predicted where a fifth of its networks is left out at a time.
OwnFits grown_fits(const FeatureMap& map, const CostLibrary& library, const datasets::Pool& pool,
                   const PosteriorOptions& options);

/// Puts the values, or the rows, of more devices or networks behind those that a library has.
template <class Rows>
void append(const Eigen::MatrixXd& more, Rows& rows) {
  rows.conservativeResize(rows.rows() + more.rows(), Eigen::NoChange);
  rows.bottomRows(more.rows()) = more;
}

}  // namespace tenshot::trainer::operators
