#include "trainer/predictors/operators/costs_prior.h"

#include <cmath>
#include <utility>

#include "trainer/predictors/operators/cost_planning.h"
#include "trainer/predictors/operators/pool_costs.h"

namespace tenshot::trainer::operators {
namespace {

class CostsPrior final : public PlanningPrior {
 public:
  CostsPrior(const NetworkSpace& space, FeatureMap map, CostLibrary library, PosteriorOptions options)
      : space_(space), map_(std::move(map)), library_(std::move(library)), options_(std::move(options)) {}

  PlanningView view(const std::vector<Architecture>& candidates, const AdaptationSet& measured) const override {
    const Eigen::MatrixXd features = feature_table(map_, space_, candidates).rows();
    if (measured.architectures.empty()) return prior_view(library_, features, options_);
    const CostPosterior known = adapt(library_, adaptation_features(map_, space_, measured), options_);
    return {posterior_covariance(known, features), {std::sqrt(known.noise_variance())}};
  }

  std::vector<std::vector<double>> predict_pool(const std::vector<Architecture>& architectures) const override {
    return latencies_of_pool(map_, library_, space_, architectures);
  }

 private:
  const NetworkSpace& space_;
  FeatureMap map_;
  CostLibrary library_;
  PosteriorOptions options_;
};

}  // namespace

std::shared_ptr<const PlanningPrior> planning_prior(const datasets::Pool& pool, const FeatureMap& map,
                                                    const CostLibrary& library, const PosteriorOptions& options) {
  return std::make_shared<CostsPrior>(*pool.space, map, library, options);
}

std::shared_ptr<const PlanningPrior> planning_prior(const datasets::Pool& pool) {
  FittedPool fitted = fit_pool(pool, library_options(pool, {}));
  return std::make_shared<CostsPrior>(*pool.space, std::move(fitted.map), std::move(fitted.library),
                                      PosteriorOptions{});
}

}  // namespace tenshot::trainer::operators
