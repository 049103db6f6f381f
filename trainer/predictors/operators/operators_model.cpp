#include "trainer/predictors/operators/operators_model.h"

#include <nlohmann/json.hpp>

#include "nasbench/support/error.h"
#include "trainer/core/adaptation.h"
#include "trainer/core/families.h"
#include "trainer/core/pool_archive.h"
#include "trainer/core/space_card.h"
#include "trainer/networks/feed_forward_predictor.h"
#include "trainer/predictors/operators/cost_calibration.h"
#include "trainer/predictors/operators/explanation.h"
#include "trainer/predictors/operators/operators_archive.h"
#include "trainer/predictors/operators/operators_predictor.h"
#include "trainer/predictors/operators/planning_prior.h"
#include "trainer/predictors/operators/pool_costs.h"

namespace tenshot::trainer {
namespace {

using operators::CostLibrary;
using operators::FeatureMap;

class OperatorsModel : public PoolModel {
 public:
  OperatorsModel(datasets::Pool pool, FeatureMap map, CostLibrary library, structured::IntervalCalibration calibration,
                 std::uint64_t seed, operators::PosteriorOptions options)
      : pool_(std::move(pool)),
        map_(std::move(map)),
        library_(std::move(library)),
        calibration_(std::move(calibration)),
        seed_(seed),
        options_(std::move(options)) {}

  std::string_view kind() const override { return "operators"; }
  const datasets::Pool& pool() const override { return pool_; }

  Archive to_archive() const override {
    Archive archive = checkpoint_archive(pool_, kind());
    archive.card["seed"] = seed_;
    archive.card["settings"] = options_;
    for (std::size_t d = 0; d < pool_.devices.size(); ++d) {
      archive.card["scores"]["log_rms"][pool_.devices[d].id] = library_.log_rms[static_cast<Eigen::Index>(d)];
    }
    operators::put_features(archive, map_);
    operators::put_library(archive, library_);
    operators::put_calibration(archive, calibration_);
    return archive;
  }

  std::unique_ptr<Predictor> adapt(const AdaptationSet& set, const AdaptOptions& options) const override {
    require_measurements(set, kind());
    const operators::AdaptationFeatures features = operators::adaptation_features(map_, *pool_.space, set);
    operators::CostPosterior posterior = operators::adapt(library_, features, options_);
    posterior.calibration = calibration_;
    nlohmann::json card = predictor_card(*this, set, options.seed);
    std::vector<std::string> devices;
    for (const datasets::DeviceRuntime& device : pool_.devices) devices.push_back(device.id);
    std::vector<std::string> names;
    for (const Architecture& architecture : set.architectures) names.push_back(pool_.space->format(architecture));
    put_explanation(card, get_quantity(card), operators::explanation_lines(posterior, map_, features, devices, names));
    FeatureMap map = map_;
    operators::drop_unused_blocks(map, posterior);
    return std::make_unique<OperatorsPredictor>(*pool_.space, std::move(map), std::move(posterior), std::move(card));
  }

  std::vector<std::vector<double>> predict_pool(const std::vector<Architecture>& architectures) const override {
    return operators::latencies_of_pool(map_, library_, *pool_.space, architectures);
  }

  std::shared_ptr<const PlanningPrior> planning_prior() const override {
    return operators::planning_prior(pool_, map_, library_, options_);
  }

 private:
  datasets::Pool pool_;
  FeatureMap map_;
  CostLibrary library_;
  structured::IntervalCalibration calibration_;
  std::uint64_t seed_;
  operators::PosteriorOptions options_;
};

}  // namespace

std::unique_ptr<PoolModel> train_operators(const datasets::Pool& pool, std::uint64_t seed,
                                           const operators::PosteriorOptions& posterior_options) {
  operators::require_valid(posterior_options);
  const operators::LibraryOptions library_options = operators::library_options(pool, posterior_options);
  operators::FittedPool fitted = operators::fit_pool(pool, library_options);
  operators::CalibrationOptions options;
  options.seed = seed;
  operators::LearnOperators learn;
  if (!fitted.map.learned.empty()) {
    learn = [&](CostLibrary& library, const std::vector<Eigen::Index>& known) {
      const FeatureMap map = fitted.learn(known, library);
      return operators::feature_table(map, *pool.space, fitted.networks).rows();
    };
  }
  operators::Calibration calibration = operators::calibrate(fitted.numbers, fitted.library, families_of(pool),
                                                            library_options, posterior_options, options, learn);
  fitted.library.residual_variance *= calibration.residual_factor;
  return std::make_unique<OperatorsModel>(pool, std::move(fitted.map), std::move(fitted.library),
                                          std::move(calibration.intervals), seed, posterior_options);
}

std::unique_ptr<PoolModel> load_operators(const Archive& archive) {
  datasets::Pool pool = get_pool(archive);
  FeatureMap map = operators::get_features(archive, *pool.space);
  CostLibrary library = operators::get_library(archive, map);
  if (library.devices() != pool.devices.size()) {
    throw FormatError("array 'library.costs' has " + std::to_string(library.devices()) + " devices, the pool has " +
                      std::to_string(pool.devices.size()));
  }
  const auto options = archive.card.value("settings", nlohmann::json::object()).get<operators::PosteriorOptions>();
  operators::require_valid(options);
  structured::IntervalCalibration calibration = operators::get_calibration(archive);
  return std::make_unique<OperatorsModel>(std::move(pool), std::move(map), std::move(library), std::move(calibration),
                                          archive.card.at("seed").get<std::uint64_t>(), options);
}

std::unique_ptr<Predictor> load_operators_predictor(const Archive& archive) {
  const SearchSpace& space = get_space(archive.card);
  return std::make_unique<OperatorsPredictor>(space, archive);
}

}  // namespace tenshot::trainer
