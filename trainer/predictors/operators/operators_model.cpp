#include "trainer/predictors/operators/operators_model.h"

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "datasets/pool/joined_pools.h"
#include "nasbench/support/error.h"
#include "nasbench/support/number_text.h"
#include "nasbench/support/numbers_below.h"
#include "trainer/core/adaptation.h"
#include "trainer/core/archive_reader.h"
#include "trainer/core/knowledge.h"
#include "trainer/core/pool_archive.h"
#include "trainer/core/quantity_card.h"
#include "trainer/networks/feed_forward_predictor.h"
#include "trainer/predictors/operators/cost_calibration.h"
#include "trainer/predictors/operators/cost_planning.h"
#include "trainer/predictors/operators/known_device.h"
#include "trainer/predictors/operators/operator_explanation.h"
#include "trainer/predictors/operators/operators_archive.h"
#include "trainer/predictors/operators/operators_predictor.h"
#include "trainer/predictors/operators/own_operators.h"
#include "trainer/predictors/operators/pool_costs.h"
#include "trainer/predictors/posterior/error_calibration.h"

namespace tenshot::trainer {
namespace operators {
namespace {

constexpr std::size_t fewest_networks = 6;  ///< of a pool whose costs are to be trusted

struct Learned {
  FeatureMap map;
  CostLibrary library;
  IntervalCalibration calibration;
  OperatorsSettings settings;
};

class OperatorsModel : public PoolModel {
 public:
  OperatorsModel(datasets::Pool pool, Learned learned, std::optional<Knowledge> knowledge = std::nullopt)
      : PoolModel(std::move(pool), "operators", std::move(knowledge)), learned_(std::move(learned)) {}

  void put_learned(Archive& archive) const override {
    archive.card["seed"] = learned_.settings.seed;
    archive.card["settings"] = option_json(learned_.settings.posterior);
    for (std::size_t d = 0; d < pool_.devices.size(); ++d) {
      archive.card["scores"]["log_rms"][pool_.devices[d].id] = learned_.library.log_rms[static_cast<Eigen::Index>(d)];
    }
    put_features(archive, learned_.map);
    put_library(archive, learned_.library, knowledge_ ? Exactness::float32 : Exactness::float64);
    put_calibration(archive, learned_.calibration);
  }

  std::unique_ptr<Predictor> adapt(const AdaptationSet& set, const AdaptOptions& options) const override {
    if (!options.like.empty() && !set.runtime.empty()) throw InputError("--like says the runtime too");
    if (!options.like.empty() && set.architectures.empty()) return known_device(options.like);
#ifdef TENSHOT_PREDICT_ALONE
    throw Error("tenshot-predict does not adapt; take tenshot adapt");
#else
    require_measurements(set, kind());
    const std::vector<std::size_t> entries = options.like.empty()
                                                 ? numbers_below(pool_.devices.size())
                                                 : datasets::settings_of(pool_, device_named(pool_, options.like));
    FeatureMap map = learned_.map;
    CostLibrary library = learned_.library;
    PosteriorOptions assumed = learned_.settings.posterior;
    if (!options.like.empty()) {
      library = with_devices(library, entries);
      library.kinds.clear();
      library.groups.clear();
      assumed.closeness = datasets::nearer_half(assumed.closeness);
    }
    const OwnEntry own = add_own_entry(map, library, pool_, set, assumed);
    AdaptationFeatures features = adaptation_features(map, *pool_.space, set);
    const bool has_own = own.profiled > 0;
    features.said = said_runtime(pool_, set.runtime, entries);
    if (!set.runtime.empty()) features.said.of_entry.resize(library.devices(), true);  // itself
    CostPosterior posterior = has_own ? adapt_beside_own(library, features, own.profiled, assumed)
                                      : operators::adapt(library, features, assumed);
    IntervalCalibration usual = calibration_of(library, posterior, learned_.calibration);
    posterior.calibration = has_own ? usual : calibration_of_many(library, features, assumed, usual);
    nlohmann::json card = predictor_card(*this, set, options.seed);
    std::vector<std::string> devices;
    for (const std::size_t entry : entries) devices.push_back(pool_.devices[entry].id);
    if (has_own) devices.emplace_back("itself, by the times of its operators");
    for (const DeviceKind& kind : library.kinds) devices.push_back("what is usual for " + kind.name);
    std::vector<std::string> names;
    std::set<std::string> measured;
    for (const Architecture& architecture : set.architectures) {
      names.push_back(pool_.space->format(architecture));
      measured.merge(unusual_operators(*pool_.space, architecture));
    }
    tell_measured(map, std::move(measured));
    put_explanation(card, get_quantity(card), own.told);
    const std::size_t networks = datasets::latency_matrix(pool_).architectures.size();
    if (!knowledge_ && networks < fewest_networks) {
      put_explanation(
          card, get_quantity(card),
          {{"The pool has " + counted(networks, "network") + ", too few to tell what operators cost", true}});
    }
    put_explanation(card, get_quantity(card),
                    explanation_lines(posterior, map, features, devices, names, options.like));
    if (get_quantity(card) == pool_.quantity()) {
      put_explanation(card, get_quantity(card), remarks_on_scale(set.latency_ms, predict_pool(set.architectures)));
    }
    widen_by_fleet(posterior, set);
    return predictor_of(std::move(map), std::move(posterior), std::move(card));
#endif
  }

  std::vector<std::vector<double>> predict_pool(const std::vector<Architecture>& architectures) const override {
    return latencies_of_pool(learned_.map, learned_.library, *pool_.space, architectures);
  }

  std::shared_ptr<const PlanningPrior> planning_prior() const override {
    return operators::planning_prior(pool_, learned_.map, learned_.library, learned_.settings.posterior);
  }

  OwnFits own_fits() const override {
    return knowledge_ ? knowledge_->own_fits
                      : operators::own_fits(pool_, learned_.library, learned_.settings.posterior);
  }

#ifndef TENSHOT_PREDICT_ALONE
  std::unique_ptr<PoolModel> without_rows(std::vector<KnowledgeSource> sources) const override {
    Knowledge knowledge = make_knowledge(pool_, std::move(sources), own_fits());
    Learned learned = learned_;
    keep_common_residuals(learned.library);
    drop_medians(learned.map, learned.library);
    return std::make_unique<OperatorsModel>(identities_of(pool_), std::move(learned), std::move(knowledge));
  }

  std::unique_ptr<PoolModel> grown_by(const datasets::Pool& pool, std::vector<KnowledgeSource> sources) const override {
    if (!knowledge_) {
      throw InputError(
          "this checkpoint carries its pool: train on both pools, each with its own --pool; only "
          "knowledge without rows grows (tenshot train --knowledge)");
    }
    datasets::Pool identities = joined_identities(pool_, pool);
    Knowledge knowledge =
        grown_knowledge(*knowledge_, pool, std::move(sources),
                        grown_fits(learned_.map, learned_.library, pool, learned_.settings.posterior));
    Learned learned = learned_;
    grow(learned.map, learned.library, pool, learned_.settings.posterior);
    drop_medians(learned.map, learned.library);
    return std::make_unique<OperatorsModel>(std::move(identities), std::move(learned), std::move(knowledge));
  }
#endif

  std::unique_ptr<Predictor> known_device(const std::string& id) const override {
    const std::size_t device = device_named(pool_, id);
    CostPosterior posterior = known_posterior(learned_.library, nearness(learned_.library), device,
                                              learned_.map.features(), learned_.settings.posterior);
    const OwnFits fits = own_fits();
    posterior.calibration = own_calibration(fits, device);
    nlohmann::json card = known_device_card(*this, fits, device, learned_.settings.seed);
    FeatureMap map = learned_.map;
    if (!learned_.library.unmeasured.empty()) map.unmeasured = learned_.library.unmeasured[device];
    if (pool_.devices[device].precision == "int8") map.unusual.erase(of_8_bits);
    return predictor_of(std::move(map), std::move(posterior), std::move(card));
  }

 private:
  std::unique_ptr<Predictor> predictor_of(FeatureMap map, CostPosterior posterior, nlohmann::json card) const {
    drop_unused_blocks(map, posterior);
    return std::make_unique<OperatorsPredictor>(*pool_.space, std::move(map), std::move(posterior), std::move(card));
  }

  Learned learned_;
};

}  // namespace
}  // namespace operators

namespace {

const Declaration<OperatorsSettings> operators_options({
    {"posterior", &OperatorsSettings::posterior, Allowed(), "What adaptation assumes and no measurement tells it."},
    {"seed", &OperatorsSettings::seed, Allowed(0, 9.2e18), "Seed of every random draw."},
});

}  // namespace

const Declaration<OperatorsSettings>& declared(const OperatorsSettings&) { return operators_options; }

std::unique_ptr<PoolModel> train_operators(const datasets::Pool& pool, const OperatorsSettings& settings) {
  operators::FittedPool fitted = operators::fit_pool(pool, settings.posterior);
  operators::CalibrationOptions options;
  options.seed = settings.seed;
  operators::LearnOperators learn;
  if (!fitted.map.learned.empty()) {
    learn = [&](operators::CostLibrary& library, const std::vector<Eigen::Index>& known,
                const std::vector<Eigen::Index>& devices) {
      return operators::feature_table(fitted.learn(known, library, devices), *pool.space, fitted.networks).rows();
    };
  }
  IntervalCalibration calibration = operators::calibrate(fitted.numbers, fitted.library, datasets::families_of(pool),
                                                         fitted.options, settings.posterior, options, learn);
  return std::make_unique<operators::OperatorsModel>(
      pool, operators::Learned{std::move(fitted.map), std::move(fitted.library), std::move(calibration), settings});
}

std::unique_ptr<PoolModel> load_operators(const Archive& archive) {
  datasets::Pool pool = get_pool(archive);
  operators::FeatureMap map = operators::get_features(archive, *pool.space);
  operators::CostLibrary library = operators::get_library(archive, map);
  if (library.devices() != pool.devices.size()) {
    throw FormatError("array 'library.costs' has " + std::to_string(library.devices()) + " devices, the pool has " +
                      std::to_string(pool.devices.size()));
  }
  const JsonField card(archive);
  OperatorsSettings settings;
  if (const auto kept = card.find("settings")) settings.posterior = read_settings(declared(settings.posterior), *kept);
  settings.seed = seed_of(card);
  IntervalCalibration calibration = get_calibration(archive);
  return std::make_unique<operators::OperatorsModel>(
      std::move(pool), operators::Learned{std::move(map), std::move(library), std::move(calibration), settings},
      get_knowledge(archive));
}

std::unique_ptr<Predictor> load_operators_predictor(const Archive& archive) {
  return std::make_unique<OperatorsPredictor>(archive);
}

}  // namespace tenshot::trainer
