#include "trainer/predictors/maple_edge/maple_edge.h"

#include "nasbench/support/error.h"
#include "sampling/architectures/sampler.h"
#include "trainer/core/adaptation.h"
#include "trainer/core/archive_reader.h"
#include "trainer/core/libtorch.h"
#include "trainer/networks/feed_forward_predictor.h"
#include "trainer/predictors/maple_edge/network_model.h"

namespace tenshot::trainer {
namespace {

constexpr std::uint64_t reference_stream = 3;

/// Connected architectures of the matrix that every device has measured.
std::vector<std::size_t> common_architectures(const datasets::LatencyMatrix& matrix, const NetworkSpace& space) {
  std::vector<std::size_t> common = connected_of(matrix.architectures, space);
  for (const std::vector<double>& latency_ms : matrix.latency_ms) {
    const auto missing = [&](std::size_t a) { return std::isnan(latency_ms[a]); };
    common.erase(std::remove_if(common.begin(), common.end(), missing), common.end());
  }
  if (!common.empty()) return common;
  throw InputError("the pool's devices have no connected architecture in common: measure some on all of them");
}

/// What the card says of the numbers that describe a device.
std::string described_by(DescriptorKind kind, const datasets::HardwareDescriptor& descriptor) {
  if (kind == DescriptorKind::inferred) return "inferred from networks";
  const bool counters = kind == DescriptorKind::counters;
  return counters ? descriptor.source + (descriptor.simulated() ? ", simulated" : "") : "operator latencies";
}

/// Throws InputError unless both describe the same operators, and by the same counters where `kind` uses them.
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

struct StandardisedDevice {
  double scale_ms = 1;          ///< the geometric mean of its reference latencies
  double unit_ms = 1;           ///< what its latencies are divided by: the scale, or 1 ms
  std::vector<float> features;  ///< standardised descriptor
};

class MapleEdgeModel : public NetworkModel {
 public:
  MapleEdgeModel(datasets::Pool pool, MapleEdgeSettings settings)
      : NetworkModel(std::move(pool), std::move(settings), plain_options, Loss::squared),
        matrix_(datasets::latency_matrix(pool_)),
        descriptor_(trainer::descriptor_kind(
            settings_.descriptor, {DescriptorKind::counters, DescriptorKind::latency, DescriptorKind::inferred})),
        common_(common_architectures(matrix_, *pool_.space)) {}

  std::string descriptor_kind() const override { return settings_.descriptor; }

  void train(const TrainingControl& control) {
    standardisation_ = standardisation_over(pool_by_all());
    TrainingSet set;
    const std::uint64_t seed = settings_.fit.seed;
    const auto samples = static_cast<std::size_t>(settings_.reference_samples);
    const auto samples_of_epoch = [&](int epoch) -> const TrainingSet& {
      return set = samples_of(standardised(pool_by_draw(seed, epoch, samples), standardisation_));
    };
    network_ = trained(inputs(), samples_of_epoch, settings_.fit, false,
                       {{"train", card_of_settings()}, {"seed", seed}, {"kind", settings_.kind}}, control);
  }

  void load(const Archive& archive) {
    standardisation_.mean = checked_doubles(archive, "descriptor.mean", any_number);
    standardisation_.deviation =
        checked_doubles(archive, "descriptor.deviation", {0, 1e300}, standardisation_.mean.size());
    load_network(archive, static_cast<std::size_t>(inputs()), " for the encoding and the descriptor");
    std::vector<int> hidden;
    for (const DenseLayer& layer : network_.layers) hidden.push_back(layer.outputs);
    hidden.pop_back();
    if (hidden != settings_.hidden) JsonField(archive).at("settings").at("hidden").fail("the widths of the layers");
  }

  void put_learned(Archive& archive) const override {
    NetworkModel::put_learned(archive);
    archive.card["descriptor_source"] = described_by(descriptor_, pool_.devices.front().descriptor);
    archive.put("descriptor.mean", to_array(standardisation_.mean));
    archive.put("descriptor.deviation", to_array(standardisation_.deviation));
  }

  std::unique_ptr<Predictor> adapt(const AdaptationSet& set, const AdaptOptions& options) const override {
    if (descriptor_ == DescriptorKind::inferred) {
      require_measurements(set, kind());
    } else if (!set.descriptor) {
      require_measurements(set, kind(), ", or the new device's hardware descriptor");
    }
    require_mode(options.mode, {"joint", "fine-tune"});
    const bool joint = options.mode == "joint";
    const int clones = options.clones.value_or(settings_.default_clones);
    const datasets::HardwareDescriptor descriptor = set.descriptor.value_or(datasets::HardwareDescriptor{});
    require_same_features(descriptor_, pool_.devices.front().descriptor, descriptor);
    nlohmann::json card = predictor_card(*this, set, options.seed);
    card["settings"] = card_of_settings();
    card["descriptor_source"] = described_by(descriptor_, descriptor);
    card["descriptor_used"] = std::string(name(descriptor_));
    if (set.architectures.empty()) return from_descriptor(set, std::move(card));
    const LibTorchThreads threads(options.control.threads);
    // Where a device of the pool has not measured an architecture, what the network expects of it stands for that.
    const auto pool_ms = measured_or_expected(pool_, set.architectures,
                                              [&](const auto& architectures) { return predict_pool(architectures); });
    std::vector<AdaptationSet> all = pool_by([&](std::size_t d) {
      return AdaptationSet{set.architectures, pool_ms[d]};
    });
    all.push_back(set);
    // From scratch it can use the new device's place among the pool's; fine-tuned it keeps what it has learned.
    const Standardisation standardisation = joint ? standardisation_over(all) : standardisation_;
    const std::vector<StandardisedDevice> devices = standardised(all, standardisation);
    const StandardisedDevice& device = devices.back();
    const AdaptationSet cloned = part_of(set, sampling::with_clones(set.architectures.size(), clones));
    TrainingSet samples;
    const auto samples_of_epoch = [&](int epoch) -> const TrainingSet& {
      if (!joint || !settings_.redraw_references) return samples = samples_of(devices, cloned);
      std::vector<StandardisedDevice> redrawn =
          standardised(pool_by_draw(options.seed, epoch, set.architectures.size()), standardisation);
      redrawn.push_back(device);
      return samples = samples_of(redrawn, cloned);
    };
    FitOptions fit_options = settings_.fit;
    fit_options.seed = options.seed;
    card["mode"] = options.mode;
    card["clones"] = clones;
    const TrainedNetwork network = trained(inputs(), samples_of_epoch, fit_options, !joint,
                                           {card, to_archive().card, device.features}, options.control);
    card["scores"]["training_loss"] = network.loss;
    return feed_forward_predictor(of_device(network.layers, device, smallest_prediction_ms(set)), std::move(card));
  }

  std::vector<std::vector<double>> predict_pool(const std::vector<Architecture>& architectures) const override {
    std::vector<std::vector<double>> latency;
    for (const StandardisedDevice& device : standardised(pool_by_all(), standardisation_)) {
      latency.push_back(evaluate(of_device(network_.layers, device, device.scale_ms * 1e-3), space(), architectures));
    }
    return latency;
  }

 private:
  const SearchSpace& space() const { return nasbench::search_space(*pool_.space); }
  int inputs() const { return static_cast<int>(space().encoding_width() + standardisation_.mean.size()); }
  double unit_ms(double scale_ms) const { return settings_.scale_latencies ? scale_ms : 1; }

  /// Every measured latency of the pool, whose devices come first, and then those of the last device. Rows are an
  /// architecture's encoding and its device's features. Errors are relative to the latency, but to no less than a fifth
  /// of the device's scale: a network without a path takes microseconds, and would outweigh all others.
  TrainingSet samples_of(const std::vector<StandardisedDevice>& devices, const AdaptationSet& of_last = {}) const {
    constexpr double least_relative_unit = 0.2;
    TrainingSet set;
    set.width = inputs();
    const auto add = [&](const StandardisedDevice& device, const Architecture& architecture, double latency_ms) {
      const std::size_t begin = set.inputs.size();
      set.inputs.resize(begin + space().encoding_width());
      space().encode(architecture, &set.inputs[begin]);
      set.inputs.insert(set.inputs.end(), device.features.begin(), device.features.end());
      set.targets.push_back(static_cast<float>(latency_ms / device.unit_ms));
      const double relative_to_ms = std::max(latency_ms, least_relative_unit * device.scale_ms);
      set.units.push_back(static_cast<float>(relative_to_ms / device.unit_ms));
    };
    for (std::size_t d = 0; d < matrix_.latency_ms.size(); ++d) {
      for (std::size_t a = 0; a < matrix_.architectures.size(); ++a) {
        const double latency_ms = matrix_.latency_ms[d][a];
        if (!std::isnan(latency_ms)) add(devices[d], matrix_.architectures[a], latency_ms);
      }
    }
    for (std::size_t i = 0; i < of_last.architectures.size(); ++i) {
      add(devices.back(), of_last.architectures[i], of_last.latency_ms[i]);
    }
    return set;
  }

  FeedForward of_device(const std::vector<DenseLayer>& layers, const StandardisedDevice& device,
                        double floor_ms) const {
    return {fold_constant_inputs(layers, static_cast<int>(space().encoding_width()), device.features), device.unit_ms,
            floor_ms};
  }

  /// The pool's network for a device of which no network was measured.
  std::unique_ptr<Predictor> from_descriptor(const AdaptationSet& described, nlohmann::json card) const {
    // What a network takes per total operator latency differs little between devices: its geometric mean is the scale.
    double log_ratio = 0;
    for (const AdaptationSet& device : pool_by_all()) {
      log_ratio += std::log(reference_scale_ms(device, space()) / total_operator_ms(*device.descriptor));
    }
    const double scale_ms =
        std::exp(log_ratio / static_cast<double>(pool_.devices.size())) * total_operator_ms(*described.descriptor);
    const std::vector<float> features = standardisation_.apply(features_of(described, scale_ms));
    card["expected_scale_ms"] = scale_ms;
    return feed_forward_predictor(of_device(network_.layers, {scale_ms, unit_ms(scale_ms), features}, scale_ms * 1e-3),
                                  std::move(card));
  }

  /// The pool's devices; `reference_of(d)` is what device `d` took for the reference architectures.
  template <class ReferenceOf>
  std::vector<AdaptationSet> pool_by(ReferenceOf reference_of) const {
    std::vector<AdaptationSet> devices;
    for (std::size_t d = 0; d < pool_.devices.size(); ++d) {
      devices.push_back(reference_of(d));
      devices.back().descriptor = pool_.devices[d].descriptor;
    }
    return devices;
  }

  /// The pool's devices, with all that each has measured as its reference.
  std::vector<AdaptationSet> pool_by_all() const {
    return pool_by([&](std::size_t d) {
      AdaptationSet reference;
      for (const datasets::Measurement& row : pool_.devices[d].latencies) {
        reference.add(row.architecture, row.latency_ms);
      }
      return reference;
    });
  }

  /// The pool's devices, with one random draw of `samples` common architectures as reference, another in every epoch.
  std::vector<AdaptationSet> pool_by_draw(std::uint64_t seed, int epoch, std::size_t samples) const {
    Rng rng(stream_seed(seed, reference_stream), static_cast<std::uint64_t>(epoch));
    std::vector<std::size_t> draw = common_;
    rng.shuffle(draw);
    draw.resize(std::min(draw.size(), samples));
    return pool_by([&](std::size_t d) {
      AdaptationSet reference;
      for (const std::size_t a : draw) reference.add(matrix_.architectures[a], matrix_.latency_ms[d][a]);
      return reference;
    });
  }

  std::vector<double> features_of(const AdaptationSet& device, double scale_ms) const {
    return device_features(descriptor_, settings_.normalise, device, space(), scale_ms);
  }

  Standardisation standardisation_over(const std::vector<AdaptationSet>& devices) const {
    std::vector<std::vector<double>> features;
    for (const AdaptationSet& device : devices) {
      features.push_back(features_of(device, reference_scale_ms(device, space())));
    }
    return standardisation_of(features);
  }

  std::vector<StandardisedDevice> standardised(const std::vector<AdaptationSet>& devices,
                                               const Standardisation& standardisation) const {
    std::vector<StandardisedDevice> found;
    for (const AdaptationSet& device : devices) {
      const double scale_ms = reference_scale_ms(device, space());
      found.push_back({scale_ms, unit_ms(scale_ms), standardisation.apply(features_of(device, scale_ms))});
    }
    return found;
  }

  datasets::LatencyMatrix matrix_;
  DescriptorKind descriptor_;
  std::vector<std::size_t> common_;  ///< architectures of the matrix that every device has measured
  Standardisation standardisation_;
};

}  // namespace

std::unique_ptr<PoolModel> train_maple_edge(const datasets::Pool& pool, const MapleEdgeSettings& settings,
                                            const TrainingControl& control) {
  MapleEdgeSettings resolved = settings;
  if (resolved.descriptor == "auto") resolved.descriptor = std::string(name(common_descriptor_kind(pool)));
  auto model = std::make_unique<MapleEdgeModel>(pool, resolved);
  model->train(control);
  return model;
}

std::unique_ptr<PoolModel> load_maple_edge(const Archive& archive) {
  auto model = std::make_unique<MapleEdgeModel>(get_pool(archive), settings_of(plain_options, JsonField(archive)));
  model->load(archive);
  return model;
}

}  // namespace tenshot::trainer
