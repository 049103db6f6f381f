#include "trainer/predictors/structured/sparse_solver.h"

namespace tenshot::trainer::structured {
namespace {

constexpr double start_spread = 0.05;  ///< of log latency about the costs that a solution starts from
constexpr double pi = 3.14159265358979323846;
constexpr double least_unexplained = 1e-6;  ///< below it, an anchor would repeat what the others say

double log_determinant(const Eigen::LLT<Eigen::MatrixXd>& factor) {
  return 2 * factor.matrixLLT().diagonal().array().log().sum();
}

/// Anchors, what they have to do with each measurement, and what they leave unexplained.
void choose_anchors(SparseProblem& problem, std::size_t at_most) {
  const nasbench::StructureTable& table = problem.table;
  const auto n = static_cast<Eigen::Index>(table.size);
  const Eigen::Index most = std::min<Eigen::Index>(n, static_cast<Eigen::Index>(at_most));
  const double scale = problem.library.model->signature_scale();
  problem.unexplained = Eigen::VectorXd::Ones(n);
  problem.near.resize(n, most);
  Eigen::MatrixXd factor(n, most);
  Eigen::Index built = 0;
  for (; built < most; ++built) {
    Eigen::Index pivot = 0;
    const double variance = problem.unexplained.maxCoeff(&pivot);
    if (variance < least_unexplained) break;
    const std::uint64_t* anchor = table.signature(static_cast<std::size_t>(pivot));
    for (Eigen::Index i = 0; i < n; ++i) {
      problem.near(i, built) =
          likeness(table.signature(static_cast<std::size_t>(i)), anchor, table.signature_words, scale);
    }
    factor.col(built) = problem.near.col(built);
    factor.col(built) -= factor.leftCols(built) * factor.row(pivot).head(built).transpose();
    factor.col(built) /= std::sqrt(variance);
    problem.unexplained -= factor.col(built).cwiseAbs2();
    problem.unexplained[pivot] = 0;
    problem.anchors.insert(problem.anchors.end(), anchor, anchor + table.signature_words);
  }
  problem.unexplained = problem.unexplained.cwiseMax(0);
  problem.near.conservativeResize(Eigen::NoChange, built);
  problem.anchor_kernel =
      kernel_matrix(problem.anchors.data(), static_cast<std::size_t>(built), table.signature_words, scale);
}

}  // namespace

SparseProblem make_sparse_problem(const StructuredLibrary& library, const AdaptationSet& set,
                                  const StructuredPosteriorOptions& options, std::size_t anchors) {
  SparseProblem problem = {library, options, library.model->table(set.architectures),
                           latency_problem(set.latency_ms, set.whole_milliseconds)};
  choose_anchors(problem, options.residual_share > 0 ? anchors : 0);
  return problem;
}

SparseSolver::SparseSolver(const SparseProblem& problem)
    : problem_(problem),
      errors_(problem.options),
      n_(problem.measured.log_latency.size()),
      anchors_(problem.anchor_kernel.rows()) {
  if (anchors_ > 0) log_determinant_anchors_ = log_determinant(problem.anchor_kernel.llt());
}

void SparseSolver::solve(const CostGaussian& prior, SparseFit& fit) {
  const Eigen::Index features = prior.mean.size();
  const FeatureRows rows = rows_at(problem_.table, fit.structure, path_costs(fit.costs_ms, fit.scale_ms));
  const Eigen::VectorXd relative = relative_latency(rows, prior);
  fit.scale_ms = scale_of(relative, problem_.measured.log_latency);
  const Eigen::VectorXd expected_ms = fit.scale_ms * relative;
  const double residual_variance = std::pow(problem_.options.residual_share * fit.level.noise, 2);
  const Eigen::LLT<Eigen::MatrixXd> prior_factor(prior_covariance_ms2(prior, fit.scale_ms, fit.closeness));
  prior_precision_ = Eigen::MatrixXd::Zero(features + anchors_, features + anchors_);
  prior_precision_.topLeftCorner(features, features) =
      prior_factor.solve(Eigen::MatrixXd::Identity(features, features));
  double log_determinant_prior = log_determinant(prior_factor);
  if (anchors_ > 0) {
    prior_precision_.bottomRightCorner(anchors_, anchors_) = problem_.anchor_kernel / residual_variance;
    log_determinant_prior += static_cast<double>(anchors_) * std::log(residual_variance) - log_determinant_anchors_;
  }
  errors_.begin(own_variance(problem_.measured, expected_ms, fit.level), fit.level.slow_step);
  independent_ = residual_variance * problem_.unexplained;
  latency_ = (rows * fit.costs_ms).cwiseMax(problem_.measured.floor_ms);
  errors_.distrust(problem_.measured.log_latency - latency_.array().log().matrix(), start_spread);
  for (int i = 0; i < problem_.options.newton_steps; ++i) {
    if (i > 0) errors_.weigh();
    step(rows, expected_ms);
  }
  fit.log_evidence = log_evidence(log_determinant_prior);
  fit.costs_ms = fit.scale_ms * prior.mean + step_.head(features);
  fit.anchor_weights = step_.tail(anchors_);
  fit.precision = precision_;
}

void SparseSolver::step(const FeatureRows& rows, const Eigen::VectorXd& expected_ms) {
  const Eigen::Index features = rows.cols();
  latency_ = latency_.cwiseMax(problem_.measured.floor_ms);
  const Eigen::VectorXd slopes = latency_.cwiseInverse();
  target_ = problem_.measured.log_latency - errors_.shift - latency_.array().log().matrix() -
            slopes.cwiseProduct(expected_ms - latency_);
  const Eigen::VectorXd deviation = (errors_.variance + independent_).cwiseSqrt().cwiseInverse();
  design_.resize(n_, features + anchors_);
  design_.leftCols(features) = slopes.cwiseProduct(deviation).asDiagonal() * rows;
  design_.rightCols(anchors_) = deviation.asDiagonal() * problem_.near;
  precision_ = prior_precision_;
  precision_.selfadjointView<Eigen::Lower>().rankUpdate(design_.transpose());
  const Eigen::VectorXd scaled = target_.cwiseProduct(deviation);
  step_ = precision_.selfadjointView<Eigen::Lower>().llt().solve(design_.transpose() * scaled);
  weights_ = (scaled - design_ * step_).cwiseProduct(deviation);
  latency_ = expected_ms + rows * step_.head(features);
  errors_.error = errors_.shift + errors_.variance.cwiseProduct(weights_);
}

/// As LatencySolver's, by the determinant lemma.
double SparseSolver::log_evidence(double log_determinant_prior) const {
  const Eigen::LLT<Eigen::MatrixXd> factor = precision_.selfadjointView<Eigen::Lower>().llt();
  double log_noise = 0;
  for (Eigen::Index i = 0; i < n_; ++i) log_noise += std::log(errors_.variance[i] + independent_[i]);
  return errors_.corrected(0) - 0.5 * (target_.dot(weights_) + log_determinant(factor) + log_determinant_prior +
                                       log_noise + static_cast<double>(n_) * std::log(2 * pi));
}

}  // namespace tenshot::trainer::structured
