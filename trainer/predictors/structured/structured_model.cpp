#include "trainer/predictors/structured/structured_model.h"

#include "datasets/pool/joined_pools.h"
#include "nasbench/support/error.h"
#include "trainer/core/adaptation.h"
#include "trainer/core/archive_reader.h"
#include "trainer/core/knowledge.h"
#include "trainer/core/pool_archive.h"
#include "trainer/core/quantity_card.h"
#include "trainer/networks/feed_forward_predictor.h"
#include "trainer/predictors/posterior/error_calibration.h"
#include "trainer/predictors/structured/explanation.h"
#include "trainer/predictors/structured/library_fit.h"
#include "trainer/predictors/structured/structured_planning.h"

namespace tenshot::trainer {
namespace {

using structured::StructuredLibrary;

class StructuredPoolModel : public PoolModel {
 public:
  StructuredPoolModel(datasets::Pool pool, StructuredLibrary library, structured::DescriptorPrior descriptor_prior,
                      StructuredSettings settings, std::optional<Knowledge> knowledge = std::nullopt)
      : PoolModel(std::move(pool), "structured", std::move(knowledge)),
        library_(std::move(library)),
        descriptor_prior_(std::move(descriptor_prior)),
        settings_(std::move(settings)) {}

  std::string descriptor_kind() const override { return std::string(name(descriptor_prior_.kind)); }

  void put_learned(Archive& archive) const override {
    archive.card["seed"] = settings_.seed;
    archive.card["settings"] = option_json(settings_.posterior);
    for (const structured::LibraryEntry& entry : library_.entries) {
      if (entry.log_rms > 0) archive.card["scores"]["log_rms"][entry.device] = entry.log_rms;
    }
    structured::put_library(archive, library_);
    structured::put_descriptor_prior(archive, descriptor_prior_);
  }

  std::unique_ptr<Predictor> adapt(const AdaptationSet& set, const AdaptOptions& options) const override {
    std::optional<structured::DescribedDevice> described;
    if (!options.like.empty() && set.architectures.empty()) {
      if (set.descriptor) {
        throw InputError("--like and a descriptor both say what a device without measurements is: give one of them");
      }
      return known_device(options.like);
    }
#ifdef TENSHOT_PREDICT_ALONE
    throw Error("tenshot-predict does not adapt; take tenshot adapt");
#else
    if (set.descriptor) described = structured::describe(descriptor_prior_, *library_.model, *set.descriptor);
    if (!described) require_measurements(set, kind(), alternative_to_measurements());
    std::optional<StructuredLibrary> alike;
    structured::StructuredPosteriorOptions assumed = settings_.posterior;
    if (!options.like.empty()) {
      alike = library_like(options.like);
      assumed.closeness = datasets::nearer_half(assumed.closeness);
    }
    const StructuredLibrary& library = alike ? *alike : library_;
    const structured::DescribedDevice* said = described ? &*described : nullptr;
    structured::StructuredPosterior posterior = structured::adapt(library, set, assumed, said);
    posterior.calibration = structured::calibration_of_many(library, set, assumed, said);
    nlohmann::json card = predictor_card(*this, set, options.seed);
    const Quantity quantity = get_quantity(card);
    constexpr std::size_t enough = 300;
    const std::vector<Architecture> others =
        not_measured(*pool_.space, known_architectures(pool_), set.architectures, enough);
    const bool milliseconds = quantity == pool_.quantity() && datasets::unit(quantity) == "ms";
    put_explanation(card, quantity, structured::explanation_lines(posterior, library, set, others, milliseconds));
    put_explanation(card, Quantity::latency,  // descriptors are of latencies, whatever is adapted to
                    structured::pool_warnings(pool_, described ? &*set.descriptor : nullptr));
    widen_by_fleet(posterior, set);
    return structured_predictor(std::move(posterior), std::move(card));
#endif
  }

  std::vector<std::vector<double>> predict_pool(const std::vector<Architecture>& architectures) const override {
    return structured::latencies_of_pool(library_, pool_, architectures);
  }

  std::shared_ptr<const PlanningPrior> planning_prior() const override {
    return structured::planning_prior(pool_, library_, descriptor_prior_, settings_.posterior);
  }

  OwnFits own_fits() const override {
    return knowledge_ ? knowledge_->own_fits : structured::own_fits(*library_.model, pool_, settings_.posterior);
  }

  std::unique_ptr<PoolModel> without_rows(std::vector<KnowledgeSource> sources) const override {
    Knowledge knowledge = make_knowledge(pool_, std::move(sources), own_fits());
    StructuredLibrary library = library_;
    for (structured::LibraryEntry& entry : library.entries) {
      const double scale_ms = stepped_scale_ms(entry.median_ms);
      entry.costs *= entry.median_ms / scale_ms;
      entry.median_ms = scale_ms;
    }
    return std::make_unique<StructuredPoolModel>(identities_of(pool_), std::move(library), descriptor_prior_, settings_,
                                                 std::move(knowledge));
  }

  std::unique_ptr<Predictor> known_device(const std::string& id) const override {
    const std::size_t device = device_named(pool_, id);
    structured::StructuredPosterior posterior = structured::known_posterior(library_, id, settings_.posterior);
    const OwnFits fits = own_fits();
    posterior.calibration = own_calibration(fits, device);
    return structured_predictor(std::move(posterior), known_device_card(*this, fits, device, settings_.seed));
  }

 private:
  /// The entries of the device-runtime `like` and its other settings, and the generic one.
  StructuredLibrary library_like(const std::string& like) const {
    const std::vector<std::size_t> kept = datasets::settings_of(pool_, device_named(pool_, like));
    std::vector<std::string> others;
    for (std::size_t d = 0; d < pool_.devices.size(); ++d) {
      if (std::find(kept.begin(), kept.end(), d) == kept.end()) others.push_back(pool_.devices[d].id);
    }
    return structured::without(library_, others);
  }

  std::string alternative_to_measurements() const {
    if (!descriptor_prior_.trained()) return ": this checkpoint makes nothing of descriptors";
    const bool in_network = descriptor_prior_.kind == DescriptorKind::in_network;
    return std::string(", or a descriptor that has ") +
           (in_network ? "the operations' latencies in a network (in_network)" : "operator latencies");
  }

  StructuredLibrary library_;
  structured::DescriptorPrior descriptor_prior_;
  StructuredSettings settings_;
};

const Declaration<StructuredSettings> structured_options({
    {"posterior", &StructuredSettings::posterior, Allowed(), "What adaptation assumes and no measurement tells it."},
    {"descriptor_kind", &StructuredSettings::descriptor, Allowed({"auto", "in-network", "latency", "inferred"}),
     "What of a device's descriptor adaptation may start from: the richest that two runtimes of the pool have (auto), "
     "what operations cost inside a network (in-network), latencies of operators alone (latency) or nothing "
     "(inferred).",
     "descriptor-kind"},
    {"seed", &StructuredSettings::seed, Allowed(0, 9.2e18), "Seed of every random draw."},
});

}  // namespace

const Declaration<StructuredSettings>& declared(const StructuredSettings&) { return structured_options; }

std::unique_ptr<PoolModel> train_structured(const datasets::Pool& pool, const StructuredSettings& settings) {
  StructuredLibrary library = structured::library_of(pool);
  structured::StructuredCalibrationOptions options;
  options.seed = settings.seed;
  options.families = datasets::families_of(pool);
  library.calibration = structured::calibrate(library, datasets::latency_matrix(pool), settings.posterior, options);
  structured::DescriptorPrior prior =
      structured::descriptor_prior_of(library, pool, settings.descriptor, settings.seed);
  return std::make_unique<StructuredPoolModel>(pool, std::move(library), std::move(prior), settings);
}

std::unique_ptr<PoolModel> load_structured(const Archive& archive) {
  datasets::Pool pool = get_pool(archive);
  StructuredLibrary library = structured::get_library(archive, nasbench::structures_of(*pool.space));
  const JsonField card(archive);
  StructuredSettings settings;
  if (const auto kept = card.find("settings")) settings.posterior = read_settings(declared(settings.posterior), *kept);
  structured::DescriptorPrior prior = structured::get_descriptor_prior(archive, *library.model);
  settings.seed = seed_of(card);
  return std::make_unique<StructuredPoolModel>(std::move(pool), std::move(library), std::move(prior),
                                               std::move(settings), get_knowledge(archive));
}

}  // namespace tenshot::trainer
