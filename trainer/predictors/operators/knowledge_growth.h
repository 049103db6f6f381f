#pragma once

#include "datasets/pool/pool.h"
#include "trainer/core/knowledge.h"
#include "trainer/predictors/operators/cost_features.h"
#include "trainer/predictors/operators/cost_library.h"
#include "trainer/predictors/operators/cost_prior.h"

namespace tenshot::trainer::operators {

/// Appends the devices of a pool to a library: of few networks their costs are what the library is adapted to, of many
/// they are fitted; how they differ from the devices that are there is seen on the pool's networks. Features that the
/// library has not, of operators that none of its networks has, are added to the map; no device that was there has a
/// cost for them. What the pool says of operators inside networks is not learned. Throws InputError for a device
/// without latencies.
void grow(FeatureMap& map, CostLibrary& library, const datasets::Pool& pool, const PosteriorOptions& options);

/// How well devices that a pool adds to a library are predicted where a fifth of its networks is left out at a time.
OwnFits grown_fits(const FeatureMap& map, const CostLibrary& library, const datasets::Pool& pool,
                   const PosteriorOptions& options);

/// Puts a value for each of some more devices, or networks, behind those of a library; rows of a matrix.
void append(const Eigen::MatrixXd& more, Eigen::MatrixXd& rows);
void append(const Eigen::VectorXd& more, Eigen::VectorXd& values);

}  // namespace tenshot::trainer::operators
