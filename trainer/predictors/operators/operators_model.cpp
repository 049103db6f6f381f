#include "trainer/predictors/operators/operators_model.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "nasbench/support/error.h"
#include "trainer/core/adaptation.h"
#include "trainer/core/families.h"
#include "trainer/core/pool_archive.h"
#include "trainer/core/space_card.h"
#include "trainer/networks/feed_forward_predictor.h"
#include "trainer/predictors/operators/cost_calibration.h"
#include "trainer/predictors/operators/cost_planning.h"
#include "trainer/predictors/operators/explanation.h"
#include "trainer/predictors/operators/operators_archive.h"
#include "trainer/predictors/operators/operators_predictor.h"

namespace tenshot::trainer {
namespace {

using operators::CostLibrary;
using operators::FeatureMap;

/// A pool fitted: its features and its devices' costs.
struct FittedPool {
  FeatureMap map;
  operators::PoolNumbers numbers;
  CostLibrary library;
};

FittedPool fit(const datasets::Pool& pool) {
  require_devices(pool);
  const datasets::LatencyMatrix matrix = datasets::latency_matrix(pool);
  FittedPool fitted;
  fitted.map = operators::make_feature_map(*pool.space, matrix.architectures);
  fitted.numbers.features = operators::feature_table(fitted.map, *pool.space, matrix.architectures).rows();
  fitted.numbers.operator_features = fitted.map.operator_features();
  fitted.numbers.latency_ms.resize(static_cast<Eigen::Index>(matrix.latency_ms.size()),
                                   static_cast<Eigen::Index>(matrix.architectures.size()));
  for (std::size_t d = 0; d < matrix.latency_ms.size(); ++d) {
    if (std::none_of(matrix.latency_ms[d].begin(), matrix.latency_ms[d].end(), [](double v) { return v > 0; })) {
      throw InputError("device " + pool.devices[d].id + " of the pool has no latency; leave it out");
    }
    fitted.numbers.latency_ms.row(static_cast<Eigen::Index>(d)) = Eigen::Map<const Eigen::RowVectorXd>(
        matrix.latency_ms[d].data(), static_cast<Eigen::Index>(matrix.latency_ms[d].size()));
  }
  fitted.library = operators::fit_library(fitted.numbers);
  return fitted;
}

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
    operators::Evidence evidence;
    operators::CostPosterior posterior = this->posterior(set, evidence);
    nlohmann::json card = predictor_card(*this, set, options.seed);
    std::vector<std::string> devices;
    for (const datasets::DeviceRuntime& device : pool_.devices) devices.push_back(device.id);
    std::vector<std::string> names;
    for (const Architecture& architecture : set.architectures) names.push_back(pool_.space->format(architecture));
    card["explanation"] =
        lines_in_words_of(get_quantity(card), operators::explanation_lines(posterior, map_, evidence, devices, names));
    return std::make_unique<OperatorsPredictor>(*pool_.space, map_, std::move(posterior), std::move(card));
  }

  std::vector<std::vector<double>> predict_pool(const std::vector<Architecture>& architectures) const override {
    constexpr double smallest_relative = 1e-3;
    const operators::FeatureTable table = operators::feature_table(map_, *pool_.space, architectures);
    Eigen::MatrixXd latency = table.times(library_.costs.transpose()).cwiseMax(smallest_relative);
    if (library_.places.compared()) {
      const Eigen::MatrixXd near = operators::similarity(library_.places.of(table.rows()), library_.known);
      latency = latency.array() * (near * library_.known_weights).array().exp();
    }
    std::vector<std::vector<double>> latency_ms;
    for (Eigen::Index d = 0; d < latency.cols(); ++d) {
      const Eigen::VectorXd of_device = library_.median_ms[d] * latency.col(d);
      latency_ms.emplace_back(of_device.data(), of_device.data() + of_device.size());
    }
    return latency_ms;
  }

  /// Also gives the measurements as features.
  operators::CostPosterior posterior(const AdaptationSet& set, operators::Evidence& evidence) const {
    require_measurements(set, kind());
    evidence.features = operators::feature_table(map_, *pool_.space, set.architectures).rows();
    evidence.latency_ms = set.latency_ms;
    evidence.whole_milliseconds = set.whole_milliseconds;
    operators::CostPosterior posterior = operators::adapt(library_, evidence, options_);
    posterior.calibration = calibration_;
    return posterior;
  }

  operators::PlanningView planning_view(const std::vector<Architecture>& candidates,
                                        const AdaptationSet& measured) const {
    const Eigen::MatrixXd features = operators::feature_table(map_, *pool_.space, candidates).rows();
    if (measured.architectures.empty())
      return {operators::prior_covariance(library_, features, options_), operators::expected_noise(library_)};
    operators::Evidence evidence;
    const operators::CostPosterior known = posterior(measured, evidence);
    return {operators::posterior_covariance(known, features), std::sqrt(known.noise_variance())};
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
  FittedPool fitted = fit(pool);
  operators::CalibrationOptions options;
  options.seed = seed;
  structured::IntervalCalibration calibration =
      operators::calibrate(fitted.numbers, fitted.library, families_of(pool), {}, posterior_options, options);
  return std::make_unique<OperatorsModel>(pool, std::move(fitted.map), std::move(fitted.library),
                                          std::move(calibration), seed, posterior_options);
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

namespace operators {

PlanningView planning_view(const PoolModel& model, const std::vector<Architecture>& candidates,
                           const AdaptationSet& measured) {
  if (const auto* own = dynamic_cast<const OperatorsModel*>(&model)) return own->planning_view(candidates, measured);
  FittedPool fitted = fit(model.pool());
  return OperatorsModel(model.pool(), std::move(fitted.map), std::move(fitted.library), {}, 1, {})
      .planning_view(candidates, measured);
}

}  // namespace operators
}  // namespace tenshot::trainer
