#include "sampling/architectures/information.h"

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <string>

#include "nasbench/support/error.h"

namespace tenshot::sampling {
namespace {

using Factor = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using BlockMap = Eigen::Map<const Factor>;

BlockMap matrix_of(const CovarianceBlock& block) {
  return {block.factor.data(), static_cast<Eigen::Index>(block.factor.size() / block.columns),
          static_cast<Eigen::Index>(block.columns)};
}

std::size_t row_of(const CovarianceBlock& block, std::size_t x) { return block.row_of.empty() ? x : block.row_of[x]; }

/// Adds values[row of x] to sum[x] for every architecture x.
void scatter(const CovarianceBlock& block, const Eigen::VectorXf& values, Eigen::VectorXf& sum) {
  if (block.row_of.empty()) {
    sum += values;
    return;
  }
  for (Eigen::Index x = 0; x < sum.size(); ++x) sum[x] += values[block.row_of[x]];
}

Eigen::VectorXf variances(const LatencyCovariance& covariance) {
  Eigen::VectorXf sum = Eigen::VectorXf::Zero(static_cast<Eigen::Index>(covariance.size));
  for (const CovarianceBlock& block : covariance.blocks) scatter(block, matrix_of(block).rowwise().squaredNorm(), sum);
  return sum;
}

Eigen::VectorXf covariance_with(const LatencyCovariance& covariance, std::size_t y) {
  Eigen::VectorXf sum = Eigen::VectorXf::Zero(static_cast<Eigen::Index>(covariance.size));
  for (const CovarianceBlock& block : covariance.blocks) {
    const BlockMap factor = matrix_of(block);
    scatter(block, factor * factor.row(static_cast<Eigen::Index>(row_of(block, y))).transpose(), sum);
  }
  return sum;
}

/// L with K ≈ L Lᵀ: each column takes out the architecture whose variance is least explained so far (pivoted Cholesky;
/// Harbrecht, Peters and Schneider, Applied Numerical Mathematics 2012).
Factor low_rank_factor(const LatencyCovariance& covariance, std::size_t rank) {
  const auto size = static_cast<Eigen::Index>(covariance.size);
  const auto columns = static_cast<Eigen::Index>(std::min(rank, covariance.size));
  Eigen::VectorXf left = variances(covariance);
  const float negligible = 1e-6F * std::max(left.maxCoeff(), 1e-20F);
  Eigen::MatrixXf factor = Eigen::MatrixXf::Zero(size, columns);  // column-major: columns are built one by one
  Eigen::Index built = 0;
  for (; built < columns; ++built) {
    Eigen::Index pivot = 0;
    const float variance = left.maxCoeff(&pivot);
    if (variance <= negligible) break;
    Eigen::VectorXf column = covariance_with(covariance, static_cast<std::size_t>(pivot));
    if (built > 0) column -= factor.leftCols(built) * factor.row(pivot).head(built).transpose();
    factor.col(built) = column / std::sqrt(variance);
    left -= factor.col(built).cwiseAbs2();
  }
  return factor.leftCols(built);
}

/// The state of greedy design: K = L P Lᵀ, P shrinking with every measurement.
class Design {
 public:
  Design(const LatencyCovariance& covariance, const InformationOptions& options)
      : factor_(low_rank_factor(covariance, options.rank)),
        gram_(factor_.transpose() * factor_),
        posterior_(Eigen::MatrixXf::Identity(factor_.cols(), factor_.cols())),
        noise_variance_(static_cast<float>(options.noise * options.noise)),
        tolerance_(static_cast<float>(options.tolerance)) {}

  void measure(std::size_t j) {
    const Eigen::VectorXf row = factor_.row(static_cast<Eigen::Index>(j)).transpose();
    const Eigen::VectorXf gain = posterior_ * row;
    posterior_ -= gain * gain.transpose() / (row.dot(gain) + noise_variance_);
  }

  std::size_t best(const std::vector<std::size_t>& candidates) const {
    const Eigen::MatrixXf spread = posterior_ * weighted_gram() * posterior_;
    std::size_t best = candidates.front();
    float most = -1;
    for (std::size_t begin = 0; begin < candidates.size(); begin += block_size) {
      const std::size_t end = std::min(begin + block_size, candidates.size());
      Factor rows(end - begin, factor_.cols());
      for (std::size_t i = begin; i < end; ++i) rows.row(i - begin) = factor_.row(candidates[i]);
      const Eigen::VectorXf removed = (rows * spread).cwiseProduct(rows).rowwise().sum();
      const Eigen::VectorXf variance = (rows * posterior_).cwiseProduct(rows).rowwise().sum();
      for (std::size_t i = begin; i < end; ++i) {
        const float score = removed[i - begin] / (variance[i - begin] + noise_variance_);
        if (score <= most) continue;
        most = score;
        best = candidates[i];
      }
    }
    return best;
  }

  /// The geometric mean over all architectures, with the noise.
  double typical_variance() const {
    const Eigen::ArrayXd noisy = variances().cast<double>().array().max(0) + noise_variance_;
    return std::exp(noisy.log().mean()) - noise_variance_;
  }

 private:
  Eigen::VectorXf variances() const { return (factor_ * posterior_).cwiseProduct(factor_).rowwise().sum(); }

  static constexpr std::size_t block_size = 512;

  Eigen::MatrixXf weighted_gram() const {
    if (tolerance_ == 0) return gram_;
    const Eigen::VectorXf weights = (variances().array() + tolerance_ * tolerance_).inverse();
    return factor_.transpose() * weights.asDiagonal() * factor_;
  }

  Factor factor_;
  Eigen::MatrixXf gram_, posterior_;  ///< the former over all architectures
  float noise_variance_, tolerance_;
};

std::vector<std::size_t> considered(std::vector<std::size_t> left, std::size_t samples, Rng& rng,
                                    const InformationOptions& options) {
  if (left.size() < samples) {
    throw InputError(std::to_string(left.size()) + " unmeasured candidates, expected at least " +
                     std::to_string(samples) + ": offer more candidates or ask for fewer samples");
  }
  constexpr std::size_t few = 200;
  if (!options.random_half || left.size() < few) return left;
  rng.shuffle(left);
  left.resize(std::max((left.size() + 1) / 2, samples));
  std::sort(left.begin(), left.end());
  return left;
}

}  // namespace

std::vector<std::size_t> choose_informative(const LatencyCovariance& covariance,
                                            const std::vector<std::size_t>& candidates, std::size_t samples, Rng& rng,
                                            const InformationOptions& options) {
  std::vector<std::size_t> left = considered(candidates, samples, rng, options);
  Design design(covariance, options);
  std::vector<std::size_t> chosen;
  while (chosen.size() < samples) {
    chosen.push_back(design.best(left));
    left.erase(std::find(left.begin(), left.end(), chosen.back()));
    design.measure(chosen.back());
  }
  return chosen;
}

std::vector<double> expected_variance(const LatencyCovariance& covariance, const std::vector<std::size_t>& measured,
                                      const InformationOptions& options) {
  Design design(covariance, options);
  std::vector<double> variance = {design.typical_variance()};
  for (const std::size_t j : measured) {
    design.measure(j);
    variance.push_back(design.typical_variance());
  }
  return variance;
}

}  // namespace tenshot::sampling
