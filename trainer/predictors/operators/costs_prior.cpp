#include "trainer/predictors/operators/costs_prior.h"

#include <cmath>
#include <utility>

#include "nasbench/support/numbers_below.h"
#include "trainer/predictors/operators/cost_planning.h"
#include "trainer/predictors/operators/pool_costs.h"

namespace tenshot::trainer::operators {
namespace {

class CostsPrior final : public PlanningPrior {
 public:
  CostsPrior(const datasets::Pool& pool, FeatureMap map, CostLibrary library, PosteriorOptions options)
      : pool_(pool), map_(std::move(map)), library_(std::move(library)), options_(std::move(options)) {}

  PlanningView view(const std::vector<Architecture>& candidates, const AdaptationSet& measured) const override {
    const Eigen::MatrixXd features = feature_table(map_, *pool_.space, candidates).rows();
    const SaidRuntime said = said_runtime(pool_, measured.runtime, numbers_below(library_.devices()));
    if (measured.architectures.empty()) return prior_view(library_, features, options_, said);
    AdaptationFeatures set = adaptation_features(map_, *pool_.space, measured);
    set.said = said;
    const CostPosterior known = adapt(library_, set, options_);
    return {posterior_covariance(known, features), {std::sqrt(known.noise_variance())}};
  }

  std::vector<std::vector<double>> predict_pool(const std::vector<Architecture>& architectures) const override {
    return latencies_of_pool(map_, library_, *pool_.space, architectures);
  }

 private:
  const datasets::Pool& pool_;
  FeatureMap map_;
  CostLibrary library_;
  PosteriorOptions options_;
};

}  // namespace

std::shared_ptr<const PlanningPrior> planning_prior(const datasets::Pool& pool, const FeatureMap& map,
                                                    const CostLibrary& library, const PosteriorOptions& options) {
  return std::make_shared<CostsPrior>(pool, map, library, options);
}

std::shared_ptr<const PlanningPrior> planning_prior(const datasets::Pool& pool) {
  FittedPool fitted = fit_pool(pool, library_options(pool, {}));
  return std::make_shared<CostsPrior>(pool, std::move(fitted.map), std::move(fitted.library), PosteriorOptions{});
}

}  // namespace tenshot::trainer::operators
