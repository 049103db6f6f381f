#pragma once

#include <Eigen/Core>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "trainer/predictors/library/library.h"
#include "trainer/predictors/structured/posterior.h"

namespace tenshot::trainer::structured {

/// Clusters of the entries by their costs (k-means with as many clusters as the root of the entries, from a seeded
/// start; Lloyd, IEEE Transactions on Information Theory 1982): one number an entry, from 0 without gaps. Empty for a
/// library of at most exhaustive_entries, which needs none.
std::vector<std::uint32_t> cluster_entries(const StructuredLibrary& library);

/// A few entries of a larger library, the generic one last among them, and which they were.
struct NearestEntries {
  StructuredLibrary library;
  std::vector<std::size_t> entry_of;
};

/// The entries that could explain the measurements: clusters in the order of how well their mean explains it until
/// there are enough entries, then the best of those under any structure and the best few under each. Explaining is
/// judged by the Gaussian evidence of log latency, linearised at the measured latencies, with a covariance of the costs
/// that all entries share, so that an entry costs some hundred multiplications. `spread` is
/// library_covariance(library).
NearestEntries nearest_entries(const StructuredLibrary& library, const AdaptationSet& set,
                               const StructuredPosteriorOptions& options, const Eigen::MatrixXd& spread);

}  // namespace tenshot::trainer::structured
