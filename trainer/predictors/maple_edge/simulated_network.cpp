#include "trainer/predictors/maple_edge/simulated_network.h"

#include <cmath>
#include <unordered_map>

#include "nasbench/support/error.h"
#include "nasbench/support/random.h"
#include "sampling/architectures/sampler.h"
#include "trainer/core/adaptation.h"
#include "trainer/core/libtorch.h"
#include "trainer/core/pool_archive.h"
#include "trainer/networks/feed_forward_predictor.h"
#include "trainer/networks/live_encoding.h"
#include "trainer/predictors/described/descriptor_prior_archive.h"
#include "trainer/predictors/maple_edge/simulated_samples.h"
#include "trainer/predictors/structured/planning_prior.h"
#include "trainer/predictors/structured/pool_library.h"
#include "trainer/predictors/structured/structured_archive.h"

namespace tenshot::trainer {
namespace {

using structured::StructuredLibrary;

constexpr const char* trained_on = "simulated devices";  ///< what the card says of it

/// The distinct random streams of a seed.
enum Stream : std::uint64_t { weights_stream = 1, order_stream = 2, devices_stream = 3 };

std::uint64_t stream_seed(std::uint64_t seed, Stream stream) { return Rng(seed, stream).bits(); }

nlohmann::json to_json(const MapleEdgeSettings& settings) {
  return {{"hidden", settings.hidden},
          {"epochs", settings.fit.epochs},
          {"batch", settings.fit.batch},
          {"learning_rate", settings.fit.learning_rate},
          {"default_clones", settings.default_clones},
          {"simulation", settings.simulation}};
}

MapleEdgeSettings settings_from_json(const nlohmann::json& json, const std::string& kind, std::uint64_t seed) {
  MapleEdgeSettings settings = simulated_network_settings();
  settings.kind = kind;
  settings.hidden = json.at("hidden").get<std::vector<int>>();
  settings.fit.epochs = json.at("epochs");
  settings.fit.batch = json.at("batch");
  settings.fit.learning_rate = json.at("learning_rate");
  settings.fit.seed = seed;
  settings.default_clones = json.at("default_clones");
  settings.simulation = json.at("simulation").get<SimulationOptions>();
  require_valid(settings.simulation);
  return settings;
}

class SimulatedNetworkModel : public PoolModel {
 public:
  SimulatedNetworkModel(datasets::Pool pool, StructuredLibrary library, structured::DescriptorPrior descriptor_prior,
                        MapleEdgeSettings settings)
      : pool_(std::move(pool)),
        library_(std::move(library)),
        descriptor_prior_(std::move(descriptor_prior)),
        settings_(std::move(settings)) {}

  std::string_view kind() const override { return settings_.kind; }
  const datasets::Pool& pool() const override { return pool_; }
  std::string descriptor_kind() const override { return std::string(name(descriptor_prior_.kind)); }
  int default_clones() const override { return settings_.default_clones; }

  Archive to_archive() const override {
    Archive archive = checkpoint_archive(pool_, settings_.kind);
    archive.card["trained_on"] = trained_on;
    archive.card["settings"] = to_json(settings_);
    archive.card["seed"] = settings_.fit.seed;
    structured::put_library(archive, library_);
    structured::put_descriptor_prior(archive, descriptor_prior_);
    return archive;
  }

  std::unique_ptr<Predictor> adapt(const AdaptationSet& set, const AdaptOptions& options) const override;

  std::vector<std::vector<double>> predict_pool(const std::vector<Architecture>& architectures) const override {
    return structured::latencies_of_pool(library_, pool_, architectures);
  }
  std::shared_ptr<const PlanningPrior> planning_prior() const override {
    return structured::planning_prior(pool_, library_, descriptor_prior_, {});
  }

 private:
  /// Latency [device][architecture of the set], ms: as measured by the pool's devices, else as the library expects.
  std::vector<std::vector<double>> pool_latency_ms(const AdaptationSet& set) const;

  datasets::Pool pool_;
  StructuredLibrary library_;
  structured::DescriptorPrior descriptor_prior_;
  MapleEdgeSettings settings_;
};

std::vector<std::vector<double>> SimulatedNetworkModel::pool_latency_ms(const AdaptationSet& set) const {
  std::vector<std::vector<double>> latency_ms = predict_pool(set.architectures);
  for (std::size_t d = 0; d < pool_.devices.size(); ++d) {
    std::unordered_map<Architecture, double, nasbench::ArchitectureHash> measured_ms;
    for (const datasets::Measurement& row : pool_.devices[d].latencies) {
      measured_ms.emplace(row.architecture, row.latency_ms);
    }
    for (std::size_t i = 0; i < set.architectures.size(); ++i) {
      const auto found = measured_ms.find(set.architectures[i]);
      if (found != measured_ms.end()) latency_ms[d][i] = found->second;
    }
  }
  return latency_ms;
}

std::unique_ptr<Predictor> SimulatedNetworkModel::adapt(const AdaptationSet& set, const AdaptOptions& options) const {
  std::optional<structured::DescribedDevice> described;
  if (set.descriptor) described = structured::describe(descriptor_prior_, *library_.model, *set.descriptor);
  if (!described) require_measurements(set, kind(), ", or a descriptor of the kind that the checkpoint was trained on");
  if (options.mode != "joint") {
    throw InputError("there is no adaptation mode '" + options.mode + "' of " + settings_.kind +
                     ", which trains for the measured architectures (joint); maple-edge-plain has: joint, fine-tune");
  }
  const int clones = options.clones.value_or(settings_.default_clones);
  if (clones < 1) {
    throw InputError("the augmentation factor K is " + std::to_string(clones) + ", expected at least 1");
  }
  const LibTorchThreads threads(options.control.threads);
  SimulatedSamples samples(pool_, library_, pool_latency_ms(set), set, described ? &*described : nullptr,
                           settings_.simulation, clones, stream_seed(options.seed, devices_stream));
  RegressionNetwork network(static_cast<int>(samples.width()), settings_.hidden,
                            stream_seed(options.seed, weights_stream), Loss::smooth_l1);
  FitOptions fit_options = settings_.fit;
  fit_options.seed = stream_seed(options.seed, order_stream);

  nlohmann::json card = predictor_card(*this, set, options.seed);
  card["trained_on"] = trained_on;
  card["settings"] = to_json(settings_);
  card["descriptor_source"] = described ? name(descriptor_prior_.kind) : "inferred";
  card["clones"] = clones;
  const std::string fingerprint = training_fingerprint({card, to_archive().card}, pool_);
  const auto samples_of_epoch = [&](int epoch) -> const TrainingSet& { return samples.epoch(epoch); };
  card["scores"]["training_loss"] = fit(network, samples_of_epoch, fit_options, fingerprint, options.control);

  std::vector<DenseLayer> layers = live_encoding_layers(*pool_.space);
  const std::vector<DenseLayer> trained = fold_constant_inputs(
      network.layers(), static_cast<int>(live_encoding_width(*pool_.space)), samples.features().values);
  layers.insert(layers.end(), trained.begin(), trained.end());
  const bool measured = !set.architectures.empty();
  const double scale_ms = measured ? std::exp(samples.features().centre) : described->median_ms;
  const double floor_ms = measured ? smallest_prediction_ms(set) : 1e-3 * scale_ms;
  return std::make_unique<FeedForwardPredictor>(FeedForward{std::move(layers), scale_ms, floor_ms, true},
                                                std::move(card));
}

}  // namespace

MapleEdgeSettings simulated_network_settings() {
  MapleEdgeSettings settings;
  settings.hidden = {256, 128, 64};
  settings.fit.epochs = 10;
  settings.fit.batch = 1024;
  settings.fit.learning_rate = 2e-3;
  settings.default_clones = 1;
  return settings;
}

std::unique_ptr<PoolModel> train_simulated_network(const datasets::Pool& pool, const MapleEdgeSettings& settings) {
  require_devices(pool);
  require_valid(settings.simulation);
  StructuredLibrary library = structured::library_of(pool);
  structured::DescriptorPrior prior =
      structured::descriptor_prior_of(library, pool, settings.descriptor, settings.fit.seed);
  return std::make_unique<SimulatedNetworkModel>(pool, std::move(library), std::move(prior), settings);
}

bool is_simulated_network(const Archive& archive) { return archive.card.value("trained_on", "") == trained_on; }

std::unique_ptr<PoolModel> load_simulated_network(const Archive& archive) {
  datasets::Pool pool = get_pool(archive);
  StructuredLibrary library = structured::get_library(archive, nasbench::structures_of(*pool.space));
  MapleEdgeSettings settings =
      settings_from_json(archive.card.at("settings"), archive.card.at("predictor"), archive.card.at("seed"));
  structured::DescriptorPrior prior = structured::get_descriptor_prior(archive, *library.model);
  return std::make_unique<SimulatedNetworkModel>(std::move(pool), std::move(library), std::move(prior),
                                                 std::move(settings));
}

}  // namespace tenshot::trainer
