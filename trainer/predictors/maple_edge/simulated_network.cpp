#include <algorithm>
#include <cmath>

#include "nasbench/support/error.h"
#include "nasbench/support/text.h"
#include "trainer/core/adaptation.h"
#include "trainer/core/archive_reader.h"
#include "trainer/core/libtorch.h"
#include "trainer/networks/feed_forward_predictor.h"
#include "trainer/predictors/maple_edge/network_model.h"
#include "trainer/predictors/maple_edge/simulated_samples.h"
#include "trainer/predictors/structured/library_fit.h"
#include "trainer/predictors/structured/posterior.h"
#include "trainer/predictors/structured/structured_planning.h"

namespace tenshot::trainer {
namespace {

using structured::StructuredLibrary;

constexpr const char* trained_on = "simulated devices";  ///< what the card says of it

enum Stream : std::uint64_t { devices_stream = 3, directions_stream = 4, pretraining_stream = 5 };

/// The kinds of which a descriptor is an input: those asked for, less the one that devices are drawn by already.
/// Counters can be nothing else, so that asking for them is enough.
std::vector<DescriptorKind> input_kinds(const MapleEdgeSettings& settings, DescriptorKind drawn_by) {
  if (!settings.simulation.descriptor_inputs && settings.descriptor != "counters") return {};
  std::vector<DescriptorKind> kinds = descriptor_inputs(settings.descriptor);
  if (settings.simulation.described_share == 0) return kinds;
  kinds.erase(std::remove(kinds.begin(), kinds.end(), drawn_by), kinds.end());
  return kinds;
}

/// "in-network + alone + counters": by what devices are drawn and what is an input, of what the descriptor has.
std::string kinds_used(const structured::DescriptorPrior* prior, const SimulatedDescriptor& inputs,
                       const datasets::HardwareDescriptor& descriptor) {
  std::vector<std::string_view> names;
  const auto use = [&](DescriptorKind kind) {
    const std::string_view used = kind == DescriptorKind::latency ? "alone" : name(kind);
    if (std::find(names.begin(), names.end(), used) == names.end()) names.push_back(used);
  };
  if (prior != nullptr) use(prior->kind);
  const std::vector<float> values = inputs.values(descriptor);
  for (std::size_t j = 0; j < values.size(); ++j) {
    if (!std::isnan(values[j])) use(inputs.kind(j));
  }
  return names.empty() ? "none" : joined(names, " + ");
}

class SimulatedNetworkModel : public NetworkModel {
 public:
  SimulatedNetworkModel(datasets::Pool pool, StructuredLibrary library, structured::DescriptorPrior descriptor_prior,
                        MapleEdgeSettings settings)
      : NetworkModel(std::move(pool), std::move(settings), simulated_options, Loss::smooth_l1),
        library_(std::move(library)),
        descriptor_prior_(std::move(descriptor_prior)),
        simulated_descriptor_(pool_, library_, input_kinds(settings_, descriptor_prior_.kind)),
        encoded_descriptor_(pool_, library_,
                            descriptor_inputs(settings_.pretraining_epochs == 0 ? "inferred" : settings_.descriptor)) {}

  void pretrain(const TrainingControl& control) {
    const std::uint64_t seed = settings_.fit.seed;
    encoder_.emplace(DevicePrior(library_, settings_.simulation), library_.model->table(nasbench::nasbench201().all()),
                     encoded_descriptor_, stream_seed(seed, directions_stream));
    EncoderSamples samples({pool_, library_, {}, {}, nullptr, encoded_descriptor_, &*encoder_}, settings_.simulation,
                           stream_seed(seed, pretraining_stream));
    const auto of_epoch = [&](int epoch) -> const TrainingSet& { return samples.epoch(epoch); };
    FitOptions fit_options = settings_.fit;
    fit_options.epochs = settings_.pretraining_epochs;
    network_ = trained(samples.width(), of_epoch, fit_options, false,
                       {{"pretrain", card_of_settings()}, {"seed", seed}, {"kind", settings_.kind}}, control);
  }

  void load(const Archive& archive) {
    if (settings_.pretraining_epochs == 0) return;
    encoder_.emplace(archive, library_, encoded_descriptor_);
    load_network(archive, live_encoding_width + encoder_->size(), " for the encodings of an architecture and of a set");
  }

  std::string descriptor_kind() const override { return std::string(name(descriptor_prior_.kind)); }

  void put_learned(Archive& archive) const override {
    NetworkModel::put_learned(archive);
    archive.card["trained_on"] = trained_on;
    structured::put_library(archive, library_);
    structured::put_descriptor_prior(archive, descriptor_prior_);
    if (encoder_) encoder_->put(archive);
  }

  std::unique_ptr<Predictor> adapt(const AdaptationSet& set, const AdaptOptions& options) const override {
    std::optional<structured::DescribedDevice> described;
    if (set.descriptor) described = structured::describe(descriptor_prior_, *library_.model, *set.descriptor);
    if (!described)
      require_measurements(set, kind(), ", or a descriptor of the kind that the checkpoint was trained on");
    require_mode(options.mode, {"joint", "fine-tune", "set-encoder"});
    const bool from_scratch = options.mode == "joint";
    if (!from_scratch && !encoder_) {
      throw InputError(
          "the adaptation mode '" + options.mode + "' of " + settings_.kind +
          " needs a checkpoint that is pre-trained for any measurements: train it with --pretraining-epochs, "
          "or use --mode joint, which trains for the measured architectures");
    }
    const int clones = options.clones.value_or(settings_.default_clones);
    const datasets::HardwareDescriptor descriptor = set.descriptor.value_or(datasets::HardwareDescriptor{});
    const structured::DescribedDevice* expected = described ? &*described : nullptr;
    const SimulatedDescriptor& inputs = from_scratch ? simulated_descriptor_ : encoded_descriptor_;
    nlohmann::json card = predictor_card(*this, set, options.seed);
    card["trained_on"] = trained_on;
    card["settings"] = card_of_settings();
    card["descriptor_source"] = described ? name(descriptor_prior_.kind) : "inferred";
    card["clones"] = clones;
    card["mode"] = options.mode;
    card["descriptor_used"] = kinds_used(described && from_scratch ? &descriptor_prior_ : nullptr, inputs, descriptor);
    if (options.mode == "set-encoder") {
      return predictor_of(network_.layers, encode(set, descriptor), set, expected, std::move(card));
    }
    const LibTorchThreads threads(options.control.threads);
    const std::vector<std::vector<double>> of_pool = measured_or_expected(
        pool_, set.architectures, [&](const auto& architectures) { return predict_pool(architectures); });
    SimulationOptions simulation = settings_.simulation;
    if (!from_scratch) simulation.described_share = 0;  // the encoder takes all that the descriptor says
    SimulatedSamples samples(
        {pool_, library_, of_pool, set, from_scratch ? expected : nullptr, inputs, from_scratch ? nullptr : &*encoder_},
        simulation, clones, stream_seed(options.seed, devices_stream));
    const auto of_epoch = [&](int epoch) -> const TrainingSet& { return samples.epoch(epoch); };
    FitOptions fit_options = settings_.fit;
    fit_options.seed = options.seed;
    const TrainedNetwork network =
        trained(samples.width(), of_epoch, fit_options, !from_scratch, {card, to_archive().card}, options.control);
    card["scores"]["training_loss"] = network.loss;
    return predictor_of(network.layers, samples.inputs(), set, expected, std::move(card));
  }

  std::vector<std::vector<double>> predict_pool(const std::vector<Architecture>& architectures) const override {
    return structured::latencies_of_pool(library_, pool_, architectures);
  }

  std::shared_ptr<const PlanningPrior> planning_prior() const override {
    return structured::planning_prior(pool_, library_, descriptor_prior_, {});
  }

 private:
  /// The network in front of which stand the layers that make the live encoding.
  std::unique_ptr<Predictor> predictor_of(const std::vector<DenseLayer>& trained, const DeviceInputs& inputs,
                                          const AdaptationSet& set, const structured::DescribedDevice* described,
                                          nlohmann::json card) const {
    std::vector<DenseLayer> layers = live_encoding_layers();
    const std::vector<DenseLayer> folded =
        fold_constant_inputs(trained, static_cast<int>(live_encoding_width), inputs.values);
    layers.insert(layers.end(), folded.begin(), folded.end());
    const bool measured = !set.architectures.empty();
    const double scale_ms = measured ? std::exp(inputs.centre) : described->median_ms * std::exp(inputs.centre);
    const double floor_ms = measured ? smallest_prediction_ms(set) : 1e-3 * scale_ms;
    return feed_forward_predictor({std::move(layers), scale_ms, floor_ms, true}, std::move(card));
  }

  /// What the pre-trained network is told of the device, without training.
  DeviceInputs encode(const AdaptationSet& set, const datasets::HardwareDescriptor& descriptor) const {
    const AdaptationSet connected = part_of(set, connected_of(set.architectures, *pool_.space));
    if (connected.architectures.empty() && !set.architectures.empty()) {
      throw InputError("none of the measured architectures has a path from input to output: measure some that have");
    }
    const std::vector<SetLoading> loadings = encoder_->loadings(library_.model->table(connected.architectures));
    std::vector<SetMeasurement> measured;
    for (std::size_t i = 0; i < loadings.size(); ++i) {
      measured.push_back({&loadings[i], std::log(connected.latency_ms[i])});
    }
    return encoder_->encode(measured, encoded_descriptor_.values(descriptor));
  }

  StructuredLibrary library_;
  structured::DescriptorPrior descriptor_prior_;
  SimulatedDescriptor simulated_descriptor_;
  /// Draws all kinds that were asked for: which ones devices will have is not known yet. Empty without pre-training.
  SimulatedDescriptor encoded_descriptor_;
  std::optional<SetEncoder> encoder_;  ///< of the pool's network
};

}  // namespace

std::unique_ptr<PoolModel> train_simulated_network(const datasets::Pool& pool, const MapleEdgeSettings& settings,
                                                   const TrainingControl& control) {
  const auto counted = [](const datasets::DeviceRuntime& device) { return device.descriptor.has_counters(); };
  if (settings.descriptor == "counters" && std::none_of(pool.devices.begin(), pool.devices.end(), counted)) {
    throw InputError(
        "no device-runtime of the pool has counters: collect some with counters, or train with another "
        "--descriptor-kind, such as auto");
  }
  StructuredLibrary library = structured::library_of(pool);
  const std::string prior_kind = settings.descriptor == "counters" ? "latency" : settings.descriptor;
  structured::DescriptorPrior prior = structured::descriptor_prior_of(library, pool, prior_kind, settings.fit.seed);
  auto model = std::make_unique<SimulatedNetworkModel>(pool, std::move(library), std::move(prior), settings);
  if (settings.pretraining_epochs > 0) model->pretrain(control);
  return model;
}

std::unique_ptr<PoolModel> load_simulated_network(const Archive& archive) {
  // Before there were simulated devices, maple-edge was what is maple-edge-plain now.
  if (archive.card.value("trained_on", "") != trained_on) return load_maple_edge(archive);
  datasets::Pool pool = get_pool(archive);
  StructuredLibrary library = structured::get_library(archive, nasbench::structures_of(*pool.space));
  MapleEdgeSettings settings = settings_of(simulated_options, JsonField(archive));
  structured::DescriptorPrior prior = structured::get_descriptor_prior(archive, *library.model);
  auto model = std::make_unique<SimulatedNetworkModel>(std::move(pool), std::move(library), std::move(prior),
                                                       std::move(settings));
  model->load(archive);
  return model;
}

}  // namespace tenshot::trainer
