#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

#include "datasets/pool/pool.h"
#include "nasbench/structures/structures.h"
#include "sampling/architectures/information.h"
#include "trainer/core/predictor.h"
#include "trainer/predictors/described/descriptor_prior.h"
#include "trainer/predictors/library/library.h"
#include "trainer/predictors/structured/posterior.h"

namespace tenshot::trainer::structured {

/// What is uncertain about the log latencies of `table` before anything is measured: the mean over all structures and
/// library entries of what the uncertainty of the costs means for the latencies (linearised at the entry's costs), and
/// the spread of the entries' latencies themselves, each relative to its mean. Beside the entries stand
/// options.strange_devices that are like none of them (launch-bound ones, poolings as dear as convolutions), with
/// options.strange_share of the probability. Give it
/// connected architectures only: those that compute nothing would be all that matters. With `described`, most of the
/// probability is with what the device's own descriptor says.
sampling::LatencyCovariance prior_covariance(const StructuredLibrary& library, const nasbench::StructureTable& table,
                                             const StructuredPosteriorOptions& options = {},
                                             const DescribedDevice* described = nullptr);

/// The table with only the feature rows of its architectures: a small space's table shares those of the whole space.
nasbench::StructureTable compacted(const nasbench::StructureTable& table);

/// The same after measurements, over the components of the posterior. The measured architectures are already
/// conditioned on. Weights enter by their square roots (renormalised): a posterior of few measurements is too sure of
/// its structure, and a plan should still tell the others apart.
sampling::LatencyCovariance posterior_covariance(const StructuredPosterior& posterior,
                                                 const nasbench::StructureTable& table);

/// Root mean square noise of log latency, for planning after measurements.
double noise_of(const StructuredPosterior& posterior);

/// How much further measurements would help: expected root mean square deviation of log latency, beside the noise, over
/// connected architectures, now and after each of `samples` further ones of them, chosen by information; shape
/// [samples + 1]. As pessimistic about the structure as posterior_covariance.
std::vector<double> expected_deviation(const StructuredPosterior& posterior, const nasbench::StructureTable& table,
                                       std::size_t samples);

/// The planning prior of a pool whose library is `library`, under these options. Without `descriptor_prior`, one is
/// fitted to the pool when a device first comes with a descriptor. `pool` must outlive it.
std::shared_ptr<const PlanningPrior> planning_prior(const datasets::Pool& pool, StructuredLibrary library,
                                                    std::optional<DescriptorPrior> descriptor_prior = std::nullopt,
                                                    const StructuredPosteriorOptions& options = {});

}  // namespace tenshot::trainer::structured
