#include "trainer/predictors/maple_edge/maple_edge.h"

#include "nasbench/support/error.h"
#include "sampling/architectures/sampler.h"
#include "trainer/core/adaptation.h"
#include "trainer/core/archive_reader.h"
#include "trainer/core/libtorch.h"
#include "trainer/core/pool_archive.h"
#include "trainer/networks/feed_forward_predictor.h"

namespace tenshot::trainer {
namespace {

using datasets::LatencyMatrix;

enum Stream : std::uint64_t { weights_stream = 1, order_stream = 2, reference_stream = 3 };

/// Connected architectures of the matrix that every device has measured.
std::vector<std::size_t> common_architectures(const LatencyMatrix& matrix, const NetworkSpace& space) {
  std::vector<std::size_t> common;
  for (std::size_t a = 0; a < matrix.architectures.size(); ++a) {
    const bool everywhere = std::all_of(matrix.latency_ms.begin(), matrix.latency_ms.end(),
                                        [&](const auto& latency_ms) { return !std::isnan(latency_ms[a]); });
    if (everywhere && space.connected(matrix.architectures[a])) common.push_back(a);
  }
  if (common.empty()) {
    throw InputError("the pool's devices have no connected architecture in common: measure some on all of them");
  }
  return common;
}

/// What the card says of the numbers that describe a device.
std::string described_by(DescriptorKind kind, const datasets::HardwareDescriptor& descriptor) {
  if (kind == DescriptorKind::inferred) return "inferred from networks";
  const bool counters = kind == DescriptorKind::counters;
  return counters ? descriptor.source + (descriptor.simulated() ? ", simulated" : "") : "operator latencies";
}

void require_mode(const std::string& mode) {
  if (mode == "joint" || mode == "fine-tune") return;
  throw InputError("there is no adaptation mode '" + mode + "'; there are: joint, fine-tune");
}

/// Throws InputError unless both describe the same operators, and by the same counters where `kind` uses them: features
/// have no names once they are numbers.
void require_same_features(DescriptorKind kind, const datasets::HardwareDescriptor& expected,
                           const datasets::HardwareDescriptor& found) {
  if (kind == DescriptorKind::inferred || !found.has_latencies()) return;
  if (kind == DescriptorKind::counters && found.simulated() != expected.simulated()) {
    throw InputError("counters of '" + found.source + "' and the pool's, of '" + expected.source +
                     "', do not compare: one of them is simulated; train the pool with --descriptor-kind latency");
  }
  if (kind == DescriptorKind::counters && found.has_counters() && found.counters != expected.counters) {
    throw InputError("the device's descriptor has other counters than the pool's, or in another order");
  }
  const auto same = [](const datasets::OperatorProfile& a, const datasets::OperatorProfile& b) {
    return nasbench::same_at_any_resolution(a.key, b.key);
  };
  if (!std::equal(expected.operators.begin(), expected.operators.end(), found.operators.begin(), found.operators.end(),
                  same)) {
    throw InputError("the device's descriptor has other operators than the pool's, or in another order");
  }
}

/// A device as the network sees it.
struct StandardisedDevice {
  double scale_ms = 1;          ///< the geometric mean of its reference latencies
  double unit_ms = 1;           ///< what its latencies are divided by: the scale, or 1 ms
  std::vector<float> features;  ///< standardised descriptor
};

/// The samples of all devices, one-hot encodings laid out once; descriptors and targets are filled in as they change.
/// Errors are relative to the latency, but to no less than a fifth of the device's scale: where a network without a
/// path from input to output takes microseconds, its relative error would outweigh all other samples together.
class SampleTable {
 public:
  /// Every measured latency of the matrix, devices by their row. Rows are an encoding of `space` and then `features`
  /// numbers of the device's descriptor.
  SampleTable(const SearchSpace& space, const LatencyMatrix& matrix, std::size_t features)
      : space_(space), encoding_(space.encoding_width()), width_(encoding_ + features) {
    set_.width = static_cast<int>(width_);
    for (std::size_t d = 0; d < matrix.latency_ms.size(); ++d) {
      for (std::size_t a = 0; a < matrix.architectures.size(); ++a) {
        const double latency_ms = matrix.latency_ms[d][a];
        if (!std::isnan(latency_ms)) add(d, matrix.architectures[a], latency_ms);
      }
    }
  }

  void add(std::size_t device, const Architecture& architecture, double latency_ms) {
    set_.inputs.resize(set_.inputs.size() + width_, 0);
    space_.encode(architecture, &set_.inputs[set_.inputs.size() - width_]);
    set_.targets.push_back(0);
    set_.units.push_back(0);
    device_.push_back(device);
    latency_ms_.push_back(latency_ms);
  }

  /// All samples with the descriptor, scale and unit of devices[device].
  const TrainingSet& described_by(const std::vector<StandardisedDevice>& devices) {
    constexpr double least_relative_unit = 0.2;
    for (std::size_t row = 0; row < device_.size(); ++row) {
      const StandardisedDevice& device = devices[device_[row]];
      std::copy(device.features.begin(), device.features.end(),
                set_.inputs.begin() + static_cast<std::ptrdiff_t>(row * width_ + encoding_));
      set_.targets[row] = static_cast<float>(latency_ms_[row] / device.unit_ms);
      set_.units[row] =
          static_cast<float>(std::max(latency_ms_[row], least_relative_unit * device.scale_ms) / device.unit_ms);
    }
    return set_;
  }

 private:
  const SearchSpace& space_;
  std::size_t encoding_, width_;
  TrainingSet set_;
  std::vector<std::size_t> device_;
  std::vector<double> latency_ms_;
};

class MapleEdgeModel : public ModelOfPool {
 public:
  MapleEdgeModel(datasets::Pool pool, MapleEdgeSettings settings)
      : ModelOfPool(std::move(pool), settings.kind),
        settings_(std::move(settings)),
        matrix_(datasets::latency_matrix(pool_)),
        descriptor_(trainer::descriptor_kind(
            settings_.descriptor, {DescriptorKind::counters, DescriptorKind::latency, DescriptorKind::inferred})),
        common_(common_architectures(matrix_, *pool_.space)) {}

  int default_clones() const override { return settings_.default_clones; }
  std::string descriptor_kind() const override { return settings_.descriptor; }

  void train(const TrainingControl& control) {
    std::vector<std::vector<double>> features;
    for (std::size_t d = 0; d < pool_.devices.size(); ++d) {
      features.push_back(features_of(pool_.devices[d].descriptor, all_of(d)));
    }
    standardisation_ = standardisation_of(features);

    SampleTable table(space(), matrix_, feature_count());
    RegressionNetwork network = fresh_network(settings_.fit.seed);
    FitOptions fit_options = settings_.fit;
    fit_options.seed = stream_seed(settings_.fit.seed, order_stream);
    const std::string fingerprint = training_fingerprint(
        {{"train", settings_json(plain_options(), settings_)}, {"seed", settings_.fit.seed}, {"kind", settings_.kind}},
        pool_);
    const auto samples = static_cast<std::size_t>(settings_.reference_samples);
    const auto samples_of_epoch = [&](int epoch) -> const TrainingSet& {
      return table.described_by(described_by_draw(settings_.fit.seed, epoch, samples, standardisation_));
    };
    loss_ = fit(network, samples_of_epoch, fit_options, fingerprint, control);
    layers_ = network.layers();
  }

  void load(const Archive& archive) {
    standardisation_.mean = checked_doubles(archive, "descriptor.mean", any_number);
    standardisation_.deviation =
        checked_doubles(archive, "descriptor.deviation", {0, 1e300}, standardisation_.mean.size());
    layers_ = get_layers(archive, "layer", space().encoding_width() + feature_count(),
                         " for the encoding and the descriptor");
    loss_ = JsonField(archive).at("scores").at("training_loss").number(not_negative);
    std::vector<int> hidden;
    for (std::size_t l = 0; l + 1 < layers_.size(); ++l) hidden.push_back(layers_[l].outputs);
    if (hidden != settings_.hidden) JsonField(archive).at("settings").at("hidden").fail("the widths of the layers");
  }

  Archive to_archive() const override {
    Archive archive = ModelOfPool::to_archive();
    archive.card["settings"] = settings_json(plain_options(), settings_);
    archive.card["descriptor_source"] = described_by(descriptor_, pool_.devices.front().descriptor);
    archive.card["seed"] = settings_.fit.seed;
    archive.card["scores"]["training_loss"] = loss_;
    const auto features = static_cast<std::int64_t>(feature_count());
    archive.put("descriptor.mean", to_array(standardisation_.mean, {features}));
    archive.put("descriptor.deviation", to_array(standardisation_.deviation, {features}));
    put_layers(archive, "layer", layers_);
    return archive;
  }

  std::unique_ptr<Predictor> adapt(const AdaptationSet& set, const AdaptOptions& options) const override {
    if (descriptor_ == DescriptorKind::inferred) {
      require_measurements(set, kind());
    } else if (!set.descriptor) {
      require_measurements(set, kind(), ", or the new device's hardware descriptor");
    }
    require_mode(options.mode);
    const bool joint = options.mode == "joint";
    const int clones = options.clones.value_or(settings_.default_clones);
    const AdaptationSet measured{set.architectures, set.latency_ms};
    const datasets::HardwareDescriptor descriptor = set.descriptor.value_or(datasets::HardwareDescriptor{});
    require_same_features(descriptor_, pool_.devices.front().descriptor, descriptor);
    if (set.architectures.empty()) return from_descriptor(descriptor, set, options.seed);
    const LibTorchThreads threads(options.control.threads);
    const std::vector<AdaptationSet> references = pool_references(set.architectures);

    const Standardisation standardisation =
        joint ? joint_standardisation(references, descriptor, measured) : standardisation_;
    std::vector<StandardisedDevice> devices;
    for (std::size_t d = 0; d < pool_.devices.size(); ++d) {
      devices.push_back(described(pool_.devices[d].descriptor, references[d], standardisation));
    }
    devices.push_back(described(descriptor, measured, standardisation));

    SampleTable table(space(), matrix_, feature_count());
    for (const std::size_t i : sampling::with_clones(set.architectures.size(), clones)) {
      table.add(pool_.devices.size(), set.architectures[i], set.latency_ms[i]);
    }
    const auto samples_of_epoch = [&](int epoch) -> const TrainingSet& {
      if (!joint || !settings_.redraw_references) return table.described_by(devices);
      std::vector<StandardisedDevice> redrawn =
          described_by_draw(options.seed, epoch, set.architectures.size(), standardisation);
      redrawn.push_back(devices.back());
      return table.described_by(redrawn);
    };

    RegressionNetwork network = fresh_network(options.seed);
    FitOptions fit_options = settings_.fit;
    fit_options.seed = stream_seed(options.seed, order_stream);
    if (!joint) {
      network.load(layers_);
      fit_options.epochs = settings_.fine_tune_epochs;
      fit_options.learning_rate = settings_.fine_tune_learning_rate;
    }
    nlohmann::json card = card_of(set, descriptor, options.seed);
    card["mode"] = options.mode;
    card["clones"] = clones;
    const std::string fingerprint = training_fingerprint({card, to_archive().card, devices.back().features}, pool_);
    card["scores"]["training_loss"] = fit(network, samples_of_epoch, fit_options, fingerprint, options.control);

    const StandardisedDevice& device = devices.back();
    return feed_forward_predictor(
        FeedForward{folded(network.layers(), device.features), device.unit_ms, smallest_prediction_ms(set)}, card);
  }

  std::vector<std::vector<double>> predict_pool(const std::vector<Architecture>& architectures) const override {
    std::vector<std::vector<double>> latency;
    for (std::size_t d = 0; d < pool_.devices.size(); ++d) {
      const StandardisedDevice device = described(pool_.devices[d].descriptor, all_of(d), standardisation_);
      const FeedForward network{folded(layers_, device.features), device.unit_ms, device.scale_ms * 1e-3};
      latency.push_back(evaluate(network, space(), architectures));
    }
    return latency;
  }

 private:
  const SearchSpace& space() const { return nasbench::search_space(*pool_.space); }
  std::size_t feature_count() const { return standardisation_.mean.size(); }
  /// The network of one device, over encodings alone.
  std::vector<DenseLayer> folded(const std::vector<DenseLayer>& layers, const std::vector<float>& features) const {
    return fold_constant_inputs(layers, static_cast<int>(space().encoding_width()), features);
  }

  RegressionNetwork fresh_network(std::uint64_t seed) const {
    return RegressionNetwork(static_cast<int>(space().encoding_width() + feature_count()), settings_.hidden,
                             stream_seed(seed, weights_stream));
  }

  /// The pool's network for a device of which no network was measured.
  std::unique_ptr<Predictor> from_descriptor(const datasets::HardwareDescriptor& descriptor, const AdaptationSet& set,
                                             std::uint64_t seed) const {
    // What a network takes per total operator latency differs little between devices: its geometric mean is the scale.
    double log_ratio = 0;
    for (std::size_t d = 0; d < pool_.devices.size(); ++d) {
      log_ratio += std::log(reference_scale_ms(all_of(d), space()) / total_operator_ms(pool_.devices[d].descriptor));
    }
    const double scale_ms =
        std::exp(log_ratio / static_cast<double>(pool_.devices.size())) * total_operator_ms(descriptor);
    const std::vector<float> features = standardisation_.apply(
        device_features(descriptor_, settings_.normalise, descriptor, AdaptationSet{}, space(), scale_ms));
    nlohmann::json card = card_of(set, descriptor, seed);
    card["expected_scale_ms"] = scale_ms;
    return feed_forward_predictor(
        FeedForward{folded(layers_, features), settings_.scale_latencies ? scale_ms : 1, scale_ms * 1e-3}, card);
  }

  nlohmann::json card_of(const AdaptationSet& set, const datasets::HardwareDescriptor& descriptor,
                         std::uint64_t seed) const {
    nlohmann::json card = predictor_card(*this, set, seed);
    card["settings"] = settings_json(plain_options(), settings_);
    card["descriptor_source"] = described_by(descriptor_, descriptor);
    card["descriptor_used"] = std::string(name(descriptor_));
    return card;
  }

  /// All that device `d` of the pool has measured.
  AdaptationSet all_of(std::size_t d) const {
    AdaptationSet reference;
    for (const datasets::Measurement& row : pool_.devices[d].latencies) reference.add(row.architecture, row.latency_ms);
    return reference;
  }

  /// Device `d` of the pool on the architectures of the adaptation set; where it has not measured one, what the
  /// network expects of it.
  std::vector<AdaptationSet> pool_references(const std::vector<Architecture>& architectures) const {
    std::vector<AdaptationSet> references;
    const auto expected = [&](const auto& unmeasured) { return predict_pool(unmeasured); };
    for (const auto& latency_ms : measured_or_expected(pool_, architectures, expected)) {
      references.push_back({architectures, latency_ms});
    }
    return references;
  }

  /// From scratch the network can use the new device's place among the pool's; fine-tuned it keeps what it has learned.
  Standardisation joint_standardisation(const std::vector<AdaptationSet>& references,
                                        const datasets::HardwareDescriptor& descriptor,
                                        const AdaptationSet& measured) const {
    std::vector<std::vector<double>> features;
    for (std::size_t d = 0; d < pool_.devices.size(); ++d) {
      features.push_back(features_of(pool_.devices[d].descriptor, references[d]));
    }
    features.push_back(features_of(descriptor, measured));
    return standardisation_of(features);
  }

  std::vector<double> features_of(const datasets::HardwareDescriptor& descriptor,
                                  const AdaptationSet& reference) const {
    return device_features(descriptor_, settings_.normalise, descriptor, reference, space(),
                           reference_scale_ms(reference, space()));
  }

  StandardisedDevice described(const datasets::HardwareDescriptor& descriptor, const AdaptationSet& reference,
                               const Standardisation& standardisation) const {
    const double scale_ms = reference_scale_ms(reference, space());
    return {scale_ms, settings_.scale_latencies ? scale_ms : 1,
            standardisation.apply(features_of(descriptor, reference))};
  }

  /// The pool's devices, each described by the same random draw of `samples` common architectures.
  std::vector<StandardisedDevice> described_by_draw(std::uint64_t seed, int epoch, std::size_t samples,
                                                    const Standardisation& standardisation) const {
    Rng rng(stream_seed(seed, reference_stream), static_cast<std::uint64_t>(epoch));
    std::vector<std::size_t> draw = common_;
    rng.shuffle(draw);
    draw.resize(std::min(draw.size(), samples));
    std::vector<StandardisedDevice> devices;
    for (std::size_t d = 0; d < pool_.devices.size(); ++d) {
      AdaptationSet reference;
      for (const std::size_t a : draw) reference.add(matrix_.architectures[a], matrix_.latency_ms[d][a]);
      devices.push_back(described(pool_.devices[d].descriptor, reference, standardisation));
    }
    return devices;
  }

  MapleEdgeSettings settings_;
  LatencyMatrix matrix_;
  DescriptorKind descriptor_;
  std::vector<std::size_t> common_;  ///< architectures of the matrix that every device has measured
  Standardisation standardisation_;
  std::vector<DenseLayer> layers_;
  double loss_ = 0;
};

}  // namespace

std::unique_ptr<PoolModel> train_maple_edge(const datasets::Pool& pool, const MapleEdgeSettings& settings,
                                            const TrainingControl& control) {
  require_devices(pool);
  MapleEdgeSettings resolved = settings;
  if (resolved.descriptor == "auto") resolved.descriptor = std::string(name(common_descriptor_kind(pool)));
  auto model = std::make_unique<MapleEdgeModel>(pool, resolved);
  model->train(control);
  return model;
}

std::unique_ptr<PoolModel> load_maple_edge(const Archive& archive) {
  auto model = std::make_unique<MapleEdgeModel>(get_pool(archive), settings_of(plain_options(), JsonField(archive)));
  model->load(archive);
  return model;
}

}  // namespace tenshot::trainer
