#include "trainer/predictors/operators/cost_prior.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string>

#include "trainer/core/options_json.h"

namespace tenshot::trainer::operators {
/// For options_json.h, which finds it by the type of the options.
template <class Options, class Visit>
void each_option(Options& options, const Visit& visit) {
  visit("noises", options.noises);
  visit("closeness", options.closeness);
  visit("library_share", options.library_share);
  visit("cost_spread", options.cost_spread);
  visit("typical_spread", options.typical_spread);
  visit("spread_floor", options.spread_floor);
  visit("residual_share", options.residual_share);
  visit("student_freedom", options.student_freedom);
  visit("gross_share", options.gross_share);
  visit("gross_spread", options.gross_spread);
  visit("evidence_power", options.evidence_power);
  visit("kind_share", options.kind_share);
  visit("group_share", options.group_share);
  visit("start_pull", options.start_pull);
  visit("operator_times", options.operator_times);
  visit("newton_steps", options.newton_steps);
  visit("kept", options.kept);
}

void require_valid(const PosteriorOptions& options) {
  const auto all_between = [](const std::vector<double>& values, double least, double most) {
    return !values.empty() && values.size() <= 32 &&
           std::all_of(values.begin(), values.end(), [&](double v) { return v >= least && v <= most; });
  };
  const auto between = [](double value, double least, double most) { return value >= least && value <= most; };
  require_option(all_between(options.noises, 1e-4, 10), "noises", "1 to 32 standard deviations, .0001 to 10");
  require_option(all_between(options.closeness, 1e-3, 1e3), "closeness", "1 to 32 factors, .001 to 1000");
  require_option(between(options.library_share, 0, 1e3), "library_share", "from 0 to 1000");
  require_option(between(options.cost_spread, 0, 1e3), "cost_spread", "from 0 to 1000");
  require_option(between(options.typical_spread, 0, 1e3), "typical_spread", "from 0 to 1000");
  require_option(between(options.spread_floor, 1e-6, 1e3), "spread_floor", "from 1e-6 to 1000");
  require_option(between(options.residual_share, 0, 10), "residual_share", "from 0 to 10");
  require_option(between(options.student_freedom, 1, 1e3), "student_freedom", "from 1 to 1000");
  require_option(between(options.gross_share, 0, 0.5), "gross_share", "from 0 to .5");
  require_option(between(options.gross_spread, 1e-3, 10), "gross_spread", "from .001 to 10");
  require_option(between(options.evidence_power, 1e-3, 1), "evidence_power", "from .001 to 1");
  require_option(between(options.kind_share, 0, 1), "kind_share", "from 0 to 1");
  require_option(between(options.group_share, 0, 1), "group_share", "from 0 to 1");
  require_option(between(options.start_pull, 0, 1e3), "start_pull", "from 0 to 1000");
  require_option(options.operator_times == 0 || options.operator_times == 1, "operator_times", "0 or 1");
  require_option(options.newton_steps >= 1 && options.newton_steps <= 1000, "newton_steps", "from 1 to 1000");
  require_option(options.kept >= 1 && options.kept <= 10000, "kept", "from 1 to 10000");
}

void to_json(nlohmann::json& json, const PosteriorOptions& options) { json = options_json(options); }

void from_json(const nlohmann::json& json, PosteriorOptions& options) {
  options = options_from<PosteriorOptions>(json);
}

PosteriorOptions checked_options(const CardField& settings) {
  const auto options = options_from<PosteriorOptions>(settings);
  require_valid(options);
  return options;
}

Eigen::MatrixXd CostPrior::covariance() const {
  Eigen::MatrixXd covariance = root.transpose() * root;
  covariance.diagonal() += variance;
  return covariance;
}

Eigen::VectorXd CostPrior::times(const Eigen::VectorXd& vector) const {
  return root.transpose() * (root * vector) + variance.cwiseProduct(vector);
}

std::vector<CostPrior> cost_priors(const CostLibrary& library, const PosteriorOptions& options) {
  const Eigen::MatrixXd weights = nearness(library);
  std::vector<CostPrior> priors;
  for (Eigen::Index e = 0; e < library.costs.rows(); ++e) {
    CostPrior prior;
    prior.mean = library.costs.row(e);
    const Eigen::RowVectorXd typical = weights.row(e) * library.costs;
    prior.root = options.library_share * weights.row(e).cwiseSqrt().asDiagonal() * (library.costs.rowwise() - typical);
    prior.variance = (options.cost_spread * prior.mean.array().abs() +
                      options.typical_spread * typical.transpose().array().abs() + options.spread_floor)
                         .square();
    priors.push_back(std::move(prior));
  }
  return priors;
}

}  // namespace tenshot::trainer::operators
