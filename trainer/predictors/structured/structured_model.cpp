#include "trainer/predictors/structured/structured_model.h"

#include <limits>
#include <mutex>
#include <unordered_set>

#include "nasbench/support/error.h"
#include "trainer/core/adaptation.h"
#include "trainer/core/archive_reader.h"
#include "trainer/core/families.h"
#include "trainer/core/pool_archive.h"
#include "trainer/networks/feed_forward_predictor.h"
#include "trainer/predictors/described/descriptor_prior_archive.h"
#include "trainer/predictors/structured/calibration.h"
#include "trainer/predictors/structured/explanation_text.h"
#include "trainer/predictors/structured/planning_prior.h"
#include "trainer/predictors/structured/pool_library.h"
#include "trainer/predictors/structured/structured_archive.h"
#include "trainer/predictors/structured/structured_predictor.h"

namespace tenshot::trainer {
namespace {

using structured::StructuredLibrary;

class StructuredPoolModel : public PoolModel {
 public:
  StructuredPoolModel(datasets::Pool pool, StructuredLibrary library, structured::DescriptorPrior descriptor_prior,
                      std::uint64_t seed, structured::PosteriorOptions options)
      : pool_(std::move(pool)),
        library_(std::move(library)),
        descriptor_prior_(std::move(descriptor_prior)),
        seed_(seed),
        options_(std::move(options)) {}

  std::string_view kind() const override { return "structured"; }
  std::string descriptor_kind() const override { return std::string(name(descriptor_prior_.kind)); }
  const datasets::Pool& pool() const override { return pool_; }

  Archive to_archive() const override {
    Archive archive = checkpoint_archive(pool_, kind());
    archive.card["seed"] = seed_;
    archive.card["settings"] = options_;
    for (const structured::LibraryEntry& entry : library_.entries) {
      if (entry.log_rms > 0) archive.card["scores"]["log_rms"][entry.device] = entry.log_rms;
    }
    structured::put_library(archive, library_);
    structured::put_descriptor_prior(archive, descriptor_prior_);
    return archive;
  }

  std::unique_ptr<Predictor> adapt(const AdaptationSet& set, const AdaptOptions& options) const override {
    std::optional<structured::DescribedDevice> described;
    if (set.descriptor) described = structured::describe(descriptor_prior_, *library_.model, *set.descriptor);
    if (!described) require_measurements(set, kind(), alternative_to_measurements());
    structured::StructuredPosterior posterior =
        structured::adapt(library_, set, options_, described ? &*described : nullptr);
    nlohmann::json card = predictor_card(*this, set, options.seed, pool_hash());
    const Quantity quantity = get_quantity(card);
    const bool milliseconds = quantity == pool_.quantity() && datasets::unit(quantity) == "ms";
    put_explanation(card, quantity,
                    structured::explanation_lines(posterior, library_, set, not_measured(set), milliseconds));
    put_explanation(card, Quantity::latency,  // descriptors are of latencies, whatever is adapted to
                    structured::pool_warnings(pool_, described ? &*set.descriptor : nullptr));
    return std::make_unique<StructuredPredictor>(std::move(posterior), std::move(card));
  }

  std::vector<std::vector<double>> predict_pool(const std::vector<Architecture>& architectures) const override {
    return structured::latencies_of_pool(library_, pool_, architectures);
  }

  std::shared_ptr<const PlanningPrior> planning_prior() const override {
    return structured::planning_prior(pool_, library_, descriptor_prior_, options_);
  }

 private:
  /// Some connected architectures of the pool that the new device has not measured.
  std::vector<Architecture> not_measured(const AdaptationSet& set) const {
    constexpr std::size_t enough = 300;
    std::unordered_set<Architecture, nasbench::ArchitectureHash> seen(set.architectures.begin(),
                                                                      set.architectures.end());
    std::vector<Architecture> others;
    for (const datasets::DeviceRuntime& device : pool_.devices) {
      for (const datasets::Measurement& row : device.latencies) {
        if (others.size() == enough) return others;
        if (seen.insert(row.architecture).second && pool_.space->connected(row.architecture)) {
          others.push_back(row.architecture);
        }
      }
    }
    return others;
  }

  /// Hashing ten thousand device-runtimes takes a second, an adaptation some milliseconds.
  const std::string& pool_hash() const {
    std::call_once(hashed_, [this] { pool_hash_ = datasets::content_hash(pool_); });
    return pool_hash_;
  }

  std::string alternative_to_measurements() const {
    if (!descriptor_prior_.trained()) return ": this checkpoint makes nothing of descriptors";
    const bool in_network = descriptor_prior_.kind == DescriptorKind::in_network;
    return std::string(", or a descriptor that has ") +
           (in_network ? "the operations' latencies in a network (in_network)" : "operator latencies");
  }

  datasets::Pool pool_;
  StructuredLibrary library_;
  structured::DescriptorPrior descriptor_prior_;
  std::uint64_t seed_;
  structured::PosteriorOptions options_;
  mutable std::once_flag hashed_;
  mutable std::string pool_hash_;
};

}  // namespace

std::unique_ptr<PoolModel> train_structured(const datasets::Pool& pool, std::uint64_t seed,
                                            const structured::PosteriorOptions& posterior_options,
                                            const std::string& descriptor) {
  require_devices(pool);
  structured::require_valid(posterior_options);
  StructuredLibrary library = structured::library_of(pool);
  structured::CalibrationOptions options;
  options.seed = seed;
  options.families = families_of(pool);
  library.calibration = structured::calibrate(library, structured::ids_of(pool), datasets::latency_matrix(pool),
                                              posterior_options, options);
  structured::DescriptorPrior prior = structured::descriptor_prior_of(library, pool, descriptor, seed);
  return std::make_unique<StructuredPoolModel>(pool, std::move(library), std::move(prior), seed, posterior_options);
}

std::unique_ptr<PoolModel> load_structured(const Archive& archive) {
  datasets::Pool pool = get_pool(archive);
  StructuredLibrary library = structured::get_library(archive, nasbench::structures_of(*pool.space));
  const CardField card(archive);
  structured::PosteriorOptions options;
  if (const auto settings = card.find("settings")) options = structured::checked_options(*settings);
  structured::DescriptorPrior prior = structured::get_descriptor_prior(archive, *library.model);
  return std::make_unique<StructuredPoolModel>(
      std::move(pool), std::move(library), std::move(prior),
      static_cast<std::uint64_t>(card.at("seed").whole_number(0, std::numeric_limits<std::int64_t>::max())), options);
}

std::unique_ptr<Predictor> load_structured_predictor(const Archive& archive) {
  return std::make_unique<StructuredPredictor>(archive);
}

}  // namespace tenshot::trainer
