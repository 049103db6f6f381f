#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "nasbench/support/random.h"

namespace tenshot::sampling {

/// What is uncertain about the log latencies of N architectures, as a covariance in factored form:
/// K(x, y) = Σ_blocks f_b[row_b(x)] · f_b[row_b(y)]. Architectures that a hypothesis cannot tell apart share a row of
/// its block, which keeps 15,625 architectures under a thousand hypotheses small.
struct CovarianceBlock {
  std::size_t columns = 0;            ///< at least one
  std::vector<float> factor;          ///< [rows, columns]
  std::vector<std::uint32_t> row_of;  ///< one an architecture; empty = its own index
};

struct LatencyCovariance {
  std::size_t size = 0;  ///< N
  std::vector<CovarianceBlock> blocks;
};

struct InformationOptions {
  /// σ of a measurement's log latency. The more of it is expected, the less a plan rests on single measurements;
  /// experiments/search/structured_search.json compares.
  double noise = 0.04;
  /// τ, an error of log latency below which less hardly matters. 0: variances are summed. Else log(K(x, x) + τ²) is: of
  /// larger errors, to halve one is worth the same whatever its size, and what nobody can tell does not decide alone.
  double tolerance = 0;
  std::size_t rank = 64;  ///< rank of K's approximation by pivoted Cholesky; larger is more exact, and slower
  /// Consider a random half of the candidates, so that trials differ; all of them where they are fewer than 200.
  bool random_half = true;
};

/// Chooses what to measure: greedily the candidate that removes most variance over all architectures x,
/// argmax_j Σ_x w_x K(x, j)² / (K(j, j) + noise²), after which K is conditioned on its measurement (greedy A-optimal
/// design; Krause, Singh and Guestrin, JMLR 2008, treat the family). w_x is 1, or 1 / (K(x, x) + τ²) with a tolerance:
/// the slope of the logarithms' sum. `candidates` are indices below N, best first in the result. Throws InputError when
/// they are fewer than `samples`. The random half is drawn from `rng`; it is widened when it holds too few.
std::vector<std::size_t> choose_informative(const LatencyCovariance& covariance,
                                            const std::vector<std::size_t>& candidates, std::size_t samples, Rng& rng,
                                            const InformationOptions& options = {});

/// The variance of log latency, the geometric mean over all architectures with the noise, before any of `measured` and
/// after each of them in turn: [measured.size() + 1] values. Says how much more measurements would help; the mean would
/// be that of the one network that nobody can tell.
std::vector<double> expected_variance(const LatencyCovariance& covariance, const std::vector<std::size_t>& measured,
                                      const InformationOptions& options = {});

}  // namespace tenshot::sampling
