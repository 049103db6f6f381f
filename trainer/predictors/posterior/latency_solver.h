#pragma once

#include <Eigen/Cholesky>
#include <Eigen/Core>
#include <cstddef>
#include <string>
#include <vector>

#include "trainer/predictors/posterior/mixture.h"

// The posterior of a device-runtime, from features to intervals.
//
// n networks were measured. The log latency of network i is y_i = log ℓ_i + r_i + ε_i, where
//
//   ℓ = X θ            is what costs θ of features X say, in ms. X has a row for each network and a column for each
//                      feature; rooms that know what a network is make it: structured of cells, operators of any.
//   r ~ N(0, ρ²σ² K)   is what alike networks share beside costs. K says how alike they are; ρ is residual_share.
//   ε_i                is noise: a Student distribution of scale σ, about 0 or about the step of a slow speed, and
//                      sometimes a gross error (MeasurementErrors). A clock that counts whole milliseconds adds to σ²
//                      (own_variance).
//
// Prior. A hypothesis says that the device is like one whose costs are m, in units of its median latency, and whose
// kind of device varies by C: θ ~ N(s m, s² (c² C + m mᵀ)). The measurements give the scale s, which is as uncertain as
// its size; the closeness c says how nearly the device is the same. So ℓ ~ N(μ, Σ) with μ = s X m and Σ = s² c² X C Xᵀ
// + μ μᵀ (LatencyPrior). Costs enter in no other way: the price of a solution depends on n alone.
//
// Solution. About latencies ℓ⁰ the logarithm is a line with the slopes S = diag(1 / ℓ⁰), and ε_i has a Gaussian of mean
// u_i and variance v_i in its place. What is left to explain is then Gaussian:
//
//   t = y − u − log ℓ⁰ − S (μ − ℓ⁰) ~ N(0, A),    A = S Σ S + ρ²σ² K + diag(v),    w = A⁻¹ t
//   ℓ = μ + Σ S w,    ε = u + v ∘ w
//
// at which ℓ⁰, u and v are taken anew: Gauss–Newton and expectation–maximisation in one loop of newton_steps.
//
// Evidence. Laplace's approximation (MacKay, Neural Computation 1992), with the noise back in the Gaussians' places:
//
//   log p(y | hypothesis) = −½ (tᵀ w + log |A| + n log 2π) + Σ_i (log p(ε_i) − log N(ε_i; u_i, v_i))
//
// Costs. With G = Cov(θ) Xᵀ S their mean is s m + G w and their covariance Cov(θ) − G A⁻¹ Gᵀ; the mean of r at another
// network is ρ²σ² k w, where k says how alike it is to the measured ones.
//
// Mixture. Hypotheses count by their probability beforehand times their evidence, or a power of it (mixture.h).
// Intervals are the mean and deviation of log latency over the mixture, with the quantiles of errors on devices held
// out (intervals.h, error_calibration.h).

namespace tenshot::trainer {

/// How noisy a hypothesis takes a device for.
struct NoiseLevel {
  double noise = 0;      ///< σ of log latency
  double slow_step = 0;  ///< how much larger log latency is at the device's slow speed; 0: it has one speed
};

/// The errors of n measurements of log latency while a solution is looked for, and the Gaussian in the place of each.
/// Noise is Student-t with ν degrees of freedom (Gaussian for ν = 0) of a given variance about 0 or, in the slow state,
/// about its step; or, rarely, a gross error. It enters Gauss–Newton as the Gaussian that has its slope at the present
/// error (expectation–maximisation for scale mixtures; Lange, Little and Taylor, JASA 1989).
class MeasurementErrors {
 public:
  /// Begins with Gaussians of the noise's own variances, [n], about 0. `slow_step` 0: there is no slow state.
  MeasurementErrors(const MixtureOptions& options, const Eigen::VectorXd& own_variance, double slow_step);

  /// Gives Gaussians that are wider to what is far off, in deviations `spread` of log latency, from those of `first`.
  void distrust(const Eigen::VectorXd& first, double spread);
  /// Gives each error the Gaussian that the noise has there.
  void weigh();
  /// The log evidence where it is `gaussian` with the Gaussians in place: each is taken out, and the noise put in.
  double corrected(double gaussian) const;

  Eigen::VectorXd error;     ///< [n]: measured − expected log latency
  Eigen::VectorXd variance;  ///< [n]: of the Gaussians
  Eigen::VectorXd shift;     ///< [n]: their means

 private:
  /// The noise at one error: its density, and the Gaussian in its place.
  struct View {
    double variance, density, shift;
  };
  View view_at(double error, double variance, double slow_step) const;
  double shape(double squared) const;
  double precision_at(double squared) const { return nu_ > 0 ? (nu_ + 1) / (nu_ + squared) : 1; }

  double nu_, slow_share_, gross_share_, gross_precision_, gross_density_, usual_density_;
  Eigen::VectorXd own_variance_;
  double slow_step_;
};

/// Floor of an expected latency, as a fraction of the device's median latency: costs of a fit may sum to less.
constexpr double smallest_relative = 0.02;
constexpr double floor_share = 0.3;      ///< of the smallest measured latency: no measured network is held for faster
constexpr double predicted_floor = 0.1;  ///< of that: no prediction is below it

/// What was measured, and what of it no hypothesis changes.
struct LatencyProblem {
  Eigen::VectorXd log_latency;    ///< [n], of ms
  double clock_variance_ms2 = 0;  ///< of a clock that counts whole milliseconds
  double floor_ms = 0;            ///< no latency is below it
  Eigen::MatrixXd kernel;         ///< [n, n]: how alike the measured networks are
};

/// The problem without its kernel.
LatencyProblem latency_problem(const std::vector<double>& latency_ms, bool whole_milliseconds);

/// Throws InputError unless there is a finite, positive measurement of each network, which messages call `network`.
void require_latencies(std::size_t networks, const std::vector<double>& latency_ms, const std::string& network);

/// Latencies of the measured networks before they were measured, under one hypothesis, ms.
struct LatencyPrior {
  double scale_ms = 1;         ///< s: what the costs' unit takes
  Eigen::VectorXd mean;        ///< μ, [n]
  Eigen::MatrixXd covariance;  ///< Σ, [n, n]
};

/// s: the median of what was measured over `relative`, which is X m, in units of the median latency.
double scale_of(const Eigen::VectorXd& relative, const Eigen::VectorXd& log_latency);
/// The prior under costs whose latencies are `relative` and vary by `covariance`, which is X C Xᵀ.
LatencyPrior latency_prior(const Eigen::VectorXd& relative, double scale_ms, const Eigen::MatrixXd& covariance,
                           double closeness);

/// What the measurements make of it.
struct LatencySolution {
  double log_evidence = 0;
  Eigen::VectorXd pull;              ///< S w, [n]: the costs move by their covariance with the latencies · pull
  Eigen::VectorXd residual_weights;  ///< ρ²σ² w, [n]: of what alike networks share beside costs
  Eigen::VectorXd slopes;            ///< [n]: 1 / latency
  Eigen::VectorXd noise_variance;    ///< v, [n]: of the Gaussian in each error's place
  double residual_variance = 0;      ///< ρ²σ²

  /// A, [n, n]. `of_costs` is S Σ S.
  Eigen::MatrixXd log_covariance(const Eigen::MatrixXd& of_costs, const LatencyProblem& problem) const;
};

/// The noise's own variance of each measurement, [n]: σ² and what the clock leaves out of latencies like these.
Eigen::VectorXd own_variance(const LatencyProblem& problem, const Eigen::VectorXd& latency_ms, const NoiseLevel& level);

/// The log evidence of what is left to explain, `target`: `factor` is of its covariance, `weights` solve it.
double log_evidence(const Eigen::LLT<Eigen::MatrixXd>& factor, const Eigen::VectorXd& target,
                    const Eigen::VectorXd& weights, const MeasurementErrors& errors);

/// Finds the most probable latencies under one hypothesis.
LatencySolution solve(const LatencyProblem& problem, const LatencyPrior& prior, const NoiseLevel& level,
                      const MixtureOptions& options);

}  // namespace tenshot::trainer
