#include "trainer/predictors/posterior/latency_solver.h"

#include <gtest/gtest.h>

#include <Eigen/LU>
#include <cmath>

#include "nasbench/support/error.h"
#include "trainer/predictors/posterior/mixture.h"

namespace tenshot::trainer {
namespace {

constexpr double pi = 3.14159265358979323846;

MixtureOptions gaussian() {
  MixtureOptions options;
  options.student_freedom = 0;
  options.gross_share = 0;
  options.residual_share = 2;
  options.newton_steps = 50;
  return options;
}

LatencyProblem problem_of(const std::vector<double>& latency_ms, double likeness) {
  LatencyProblem problem = latency_problem(latency_ms, false);
  const auto n = static_cast<Eigen::Index>(latency_ms.size());
  problem.kernel = Eigen::MatrixXd::Constant(n, n, likeness);
  problem.kernel.diagonal().setOnes();
  return problem;
}

TEST(LatencySolver, WithoutSpreadOfCostsHasTheEvidenceOfAGaussian) {
  const LatencyProblem problem = problem_of({11, 19}, 0.5);
  const LatencyPrior prior = {1, Eigen::Vector2d(10, 20), Eigen::Matrix2d::Zero()};
  const LatencySolution found = solve(problem, prior, {0.1}, gaussian());
  // Variances σ² + ρ²σ² = .01 + .04 and, between the two, half of ρ²σ².
  Eigen::Matrix2d covariance;
  covariance << 0.05, 0.02, 0.02, 0.05;
  const Eigen::Vector2d error(std::log(1.1), std::log(0.95));
  const double square = error.dot(covariance.inverse() * error);
  EXPECT_NEAR(found.log_evidence, -0.5 * (square + std::log(covariance.determinant()) + 2 * std::log(2 * pi)), 1e-9);
  EXPECT_NEAR(found.residual_variance, 0.04, 1e-12);
  EXPECT_NEAR((found.residual_weights - 0.04 * covariance.inverse() * error).norm(), 0, 1e-9);
  EXPECT_NEAR((found.log_covariance(Eigen::Matrix2d::Zero(), problem) - covariance).norm(), 0, 1e-9);
}

TEST(LatencySolver, FindsWhereTheLogPosteriorIsFlat) {
  MixtureOptions options = gaussian();
  options.residual_share = 0;
  const LatencyProblem problem = problem_of({12, 17, 40}, 0);
  LatencyPrior prior = {1, Eigen::Vector3d(10, 20, 30), Eigen::Matrix3d::Identity()};
  prior.covariance(0, 1) = prior.covariance(1, 0) = 0.6;
  const LatencySolution found = solve(problem, prior, {0.2}, options);
  const Eigen::Vector3d latency = found.slopes.cwiseInverse();
  const Eigen::Vector3d of_noise = (problem.log_latency.array() - latency.array().log()) / (0.04 * latency.array());
  EXPECT_NEAR((of_noise - prior.covariance.inverse() * (latency - prior.mean)).norm(), 0, 1e-8);
}

TEST(LatencySolver, GivesAGrossErrorAWideGaussian) {
  MixtureOptions options;
  const LatencyProblem problem = problem_of({10, 21, 300}, 0);
  const LatencyPrior prior = {1, Eigen::Vector3d(10, 20, 30), 0.01 * Eigen::Matrix3d::Identity()};
  const LatencySolution found = solve(problem, prior, {0.05}, options);
  EXPECT_LT(found.noise_variance[1], 0.01);
  EXPECT_GT(found.noise_variance[2], 0.5);
}

TEST(LatencySolver, AClockOfWholeMillisecondsLeavesOutATwelfth) {
  const LatencyProblem problem = latency_problem({2, 10}, true);
  const Eigen::VectorXd variance = own_variance(problem, Eigen::Vector2d(2, 10), {0.1});
  EXPECT_NEAR(variance[0], 0.01 + 1.0 / 48, 1e-12);
  EXPECT_NEAR(variance[1], 0.01 + 1.0 / 1200, 1e-12);
  EXPECT_NEAR(problem.floor_ms, 0.6, 1e-12);
}

TEST(RequireLatencies, NamesWhatIsWrong) {
  EXPECT_THROW(require_latencies(0, {}, "network"), InputError);
  EXPECT_THROW(require_latencies(2, {1}, "network"), InputError);
  EXPECT_THROW(require_latencies(1, {-1}, "network"), InputError);
  EXPECT_NO_THROW(require_latencies(1, {1}, "network"));
}

TEST(MeasurementErrors, HaveADensityAtBothSpeeds) {
  constexpr double pi = 3.14159265358979323846, variance = 0.01, step = 1e-3;
  for (const double slow_step : {0.0, 0.2}) {
    MeasurementErrors errors(MixtureOptions{}, Eigen::VectorXd::Constant(1, variance), slow_step);
    double sum = 0;
    for (double error = -40; error < 40; error += step) {
      errors.error = Eigen::VectorXd::Constant(1, error);
      const double gaussian = -0.5 * (std::log(2 * pi * variance) + error * error / variance);
      sum += step * std::exp(errors.corrected(gaussian));
    }
    EXPECT_NEAR(sum, 1, 1e-4) << slow_step;
  }
}

struct Scored {
  double score = 0;
};

TEST(Mixture, KeepsTheMostProbableAndWeighsThem) {
  std::vector<Scored> scored = {{std::log(1)}, {std::nan("")}, {std::log(6)}, {-INFINITY}, {std::log(2)}};
  keep_best(scored, &Scored::score, 2);
  ASSERT_EQ(scored.size(), 2U);
  const std::vector<double> weights = weights_of(scored, &Scored::score);
  EXPECT_NEAR(weights[0], 0.75, 1e-12);
  EXPECT_NEAR(weights[1], 0.25, 1e-12);
}

}  // namespace
}  // namespace tenshot::trainer
