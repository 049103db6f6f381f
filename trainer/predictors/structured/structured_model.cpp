#include "trainer/predictors/structured/structured_model.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <mutex>
#include <tuple>
#include <unordered_set>

#include "nasbench/support/error.h"
#include "trainer/core/adaptation.h"
#include "trainer/core/archive_reader.h"
#include "trainer/core/families.h"
#include "trainer/core/pool_archive.h"
#include "trainer/networks/feed_forward_predictor.h"
#include "trainer/predictors/structured/calibration.h"
#include "trainer/predictors/structured/explanation.h"
#include "trainer/predictors/structured/planning.h"
#include "trainer/predictors/structured/structured_archive.h"
#include "trainer/predictors/structured/structured_predictor.h"

namespace tenshot::trainer {
namespace {

using structured::StructuredLibrary;

std::vector<std::string> ids_of(const datasets::Pool& pool) {
  std::vector<std::string> ids;
  for (const datasets::DeviceRuntime& device : pool.devices) ids.push_back(device.id);
  return ids;
}

std::string percent(double share) {
  char text[16];
  std::snprintf(text, sizeof text, "%.0f %%", 100 * share);
  return text;
}

std::string in_ms(double value_ms) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3g ms", value_ms);
  return text;
}

/// What a person wants to know of the device, a sentence a line. `others` could be measured next. `milliseconds`: the
/// measurements and the pool are both in them.
nlohmann::json explanation_lines(const structured::StructuredPosterior& posterior, const StructuredLibrary& library,
                                 const structured::Evidence& evidence, const std::vector<Architecture>& others,
                                 bool milliseconds) {
  const structured::Explanation explained = structured::explain(posterior, library);
  nlohmann::json lines = nlohmann::json::array();
  std::string structures;
  for (std::size_t i = 0; i < explained.structures.size() && i < 3; ++i) {
    const structured::StructureBelief& belief = explained.structures[i];
    structures += (i == 0 ? "" : "; ") + percent(belief.probability) + " " + belief.name + " (" + belief.meaning + ")";
  }
  lines.push_back("What the runtime executes: " + structures);
  std::string costs;
  for (const structured::OperatorCost& cost : explained.costs) {
    costs += (costs.empty() ? "" : ", ") + cost.name + " " + in_ms(cost.cost_ms) + " ± " + in_ms(cost.deviation_ms);
  }
  lines.push_back("Costs of one occurrence in the cell: " + costs);
  const std::string& device = explained.nearest_device;
  lines.push_back("Noise of a measurement: " + percent(explained.noise) + "; " +
                  (device.empty() ? "as its descriptor says" : "most like " + device + " of the pool"));
  constexpr std::size_t further = 10;
  if (others.size() >= further && !evidence.architectures.empty()) {
    const std::vector<double> deviation =
        structured::expected_deviation(posterior, library.model->table(others), further);
    lines.push_back("Predictions are uncertain by " + percent(deviation[0]) +
                    " beside the noise; five more measurements would leave " + percent(deviation[further / 2]) +
                    ", ten more " + percent(deviation[further]) + " (tenshot plan --after)");
  }
  if (evidence.architectures.empty()) {
    lines.push_back(
        "Warning: nothing was measured: this is what the descriptor says; a few measurements make it a much better "
        "answer");
    return lines;
  }
  for (const std::string& warning : structured::evidence_warnings(library, evidence, posterior, milliseconds)) {
    lines.push_back("Warning: " + warning);
  }
  return lines;
}

/// What one measured an operator at, and the other another resolution of the same operator and channels; 0: none.
template <class Measured>
std::pair<int, int> unlike_resolutions(const std::vector<Measured>& own, const std::vector<Measured>& others) {
  for (const Measured& entry : own) {
    for (const Measured& other : others) {
      if (entry.name != other.name || entry.channels != other.channels) continue;
      if (entry.resolution != other.resolution) return {entry.resolution, other.resolution};
    }
  }
  return {0, 0};
}

/// A sentence where the descriptor's operators ran at another resolution than the pool's; else empty.
std::string resolution_warning(const datasets::Pool& pool, const datasets::HardwareDescriptor& descriptor) {
  for (const datasets::DeviceRuntime& device : pool.devices) {
    auto [own, theirs] = unlike_resolutions(descriptor.operators, device.descriptor.operators);
    if (own == 0) std::tie(own, theirs) = unlike_resolutions(descriptor.in_network, device.descriptor.in_network);
    if (own == 0) continue;
    return "the descriptor's operators were measured at a resolution of " + std::to_string(own) + " where those of " +
           device.id + " of the pool were at " + std::to_string(theirs) +
           ": their costs are taken as they are; measure them at the pool's, or leave the descriptor out";
  }
  return "";
}

std::vector<double> latencies_of(const StructuredLibrary& library, const structured::LibraryEntry& entry,
                                 const nasbench::StructureTable& table) {
  const auto width = static_cast<Eigen::Index>(library.features());
  const std::size_t alternatives = table.structures[entry.structure].alternatives;
  const Eigen::VectorXd paths = structured::path_costs(entry.costs);
  std::vector<double> latency_ms;
  for (std::size_t a = 0; a < table.size; ++a) {
    const double* row = table.row(entry.structure, a);
    if (alternatives > 1) {
      row += width * static_cast<Eigen::Index>(structured::slowest_alternative(row, alternatives, paths));
    }
    const double relative = Eigen::Map<const Eigen::VectorXd>(row, width).dot(entry.costs);
    latency_ms.push_back(entry.median_ms * std::max(relative, 1e-3));
  }
  return latency_ms;
}

class StructuredModel : public PoolModel {
 public:
  StructuredModel(datasets::Pool pool, StructuredLibrary library, structured::DescriptorPrior descriptor_prior,
                  std::uint64_t seed, structured::PosteriorOptions options)
      : pool_(std::move(pool)),
        library_(std::move(library)),
        descriptor_prior_(std::move(descriptor_prior)),
        seed_(seed),
        options_(std::move(options)) {}

  std::string_view kind() const override { return "structured"; }
  std::string descriptor_kind() const override { return std::string(name(descriptor_prior_.source)); }
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
    if (set.descriptor) described = this->described(*set.descriptor);
    if (!described) require_measurements(set, kind(), alternative_to_measurements());
    const structured::Evidence evidence{set.architectures, set.latency_ms, set.whole_milliseconds};
    structured::StructuredPosterior posterior =
        structured::adapt(library_, evidence, options_, described ? &*described : nullptr);
    nlohmann::json card = predictor_card(*this, set, options.seed, pool_hash());
    const Quantity quantity = get_quantity(card);
    const bool milliseconds = quantity == pool_.quantity() && datasets::unit(quantity) == "ms";
    card["explanation"] =
        lines_in_words_of(quantity, explanation_lines(posterior, library_, evidence, not_measured(set), milliseconds));
    for (const std::string& warning : pool_warnings(described ? &*set.descriptor : nullptr)) {
      card["explanation"].push_back("Warning: " + warning);
    }
    return std::make_unique<StructuredPredictor>(std::move(posterior), std::move(card));
  }

  std::vector<std::vector<double>> predict_pool(const std::vector<Architecture>& architectures) const override {
    return latencies_of_pool(library_, pool_, architectures);
  }

  const StructuredLibrary& library() const { return library_; }

  std::optional<structured::DescribedDevice> described(const datasets::HardwareDescriptor& descriptor) const {
    return structured::describe(descriptor_prior_, *library_.model, descriptor);
  }

 private:
  /// What the pool cannot do for this device.
  std::vector<std::string> pool_warnings(const datasets::HardwareDescriptor* descriptor) const {
    std::vector<std::string> warnings;
    const std::size_t devices = pool_.devices.size();
    if (devices < structured::least_calibrated) {
      warnings.push_back("the pool has " + std::to_string(devices) +
                         (devices == 1 ? " device-runtime" : " device-runtimes") +
                         ": its intervals could not be checked on devices held out, which takes " +
                         std::to_string(structured::least_calibrated) + ", and may be too narrow or too wide");
    }
    const std::string warning = descriptor == nullptr ? "" : resolution_warning(pool_, *descriptor);
    if (!warning.empty()) warnings.push_back(warning);
    return warnings;
  }

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
    const bool in_network = descriptor_prior_.source == structured::DescriptorSource::in_network;
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

StructuredLibrary library_of(const datasets::Pool& pool) {
  return structured::fit_library(nasbench::structures_of(*pool.space), ids_of(pool), datasets::latency_matrix(pool));
}

std::vector<std::vector<double>> latencies_of_pool(const StructuredLibrary& library, const datasets::Pool& pool,
                                                   const std::vector<Architecture>& architectures) {
  const nasbench::StructureTable table = library.model->table(architectures);
  std::vector<std::vector<double>> latency_ms;
  for (const std::string& id : ids_of(pool)) {
    const auto entry = std::find_if(library.entries.begin(), library.entries.end(),
                                    [&](const structured::LibraryEntry& e) { return e.device == id; });
    if (entry == library.entries.end()) throw FormatError("the library has no entry for device " + id);
    latency_ms.push_back(latencies_of(library, *entry, table));
  }
  return latency_ms;
}

std::unique_ptr<PoolModel> train_structured(const datasets::Pool& pool, std::uint64_t seed,
                                            const structured::PosteriorOptions& posterior_options,
                                            const std::string& descriptor) {
  require_devices(pool);
  structured::require_valid(posterior_options);
  StructuredLibrary library = library_of(pool);
  structured::CalibrationOptions options;
  options.seed = seed;
  options.families = families_of(pool);
  library.calibration =
      structured::calibrate(library, ids_of(pool), datasets::latency_matrix(pool), posterior_options, options);
  const structured::DescriptorSource source =
      descriptor == "auto" ? structured::common_source(pool) : structured::descriptor_source(descriptor);
  structured::DescriptorFitOptions fit;
  fit.seed = seed;
  structured::DescriptorPrior prior = structured::fit_descriptor_prior(library, pool, source, fit);
  return std::make_unique<StructuredModel>(pool, std::move(library), std::move(prior), seed, posterior_options);
}

StructuredLibrary library_of(const PoolModel& model) {
  if (const auto* own = dynamic_cast<const StructuredModel*>(&model)) return own->library();
  return library_of(model.pool());
}

std::optional<structured::DescribedDevice> described_device(const PoolModel& model, const StructuredLibrary& library,
                                                            const datasets::HardwareDescriptor& descriptor) {
  if (const auto* own = dynamic_cast<const StructuredModel*>(&model)) return own->described(descriptor);
  const structured::DescriptorPrior prior =
      structured::fit_descriptor_prior(library, model.pool(), structured::common_source(model.pool()));
  return structured::describe(prior, *library.model, descriptor);
}

std::unique_ptr<PoolModel> load_structured(const Archive& archive) {
  datasets::Pool pool = get_pool(archive);
  StructuredLibrary library = structured::get_library(archive, nasbench::structures_of(*pool.space));
  const CardField card(archive);
  structured::PosteriorOptions options;
  if (const auto settings = card.find("settings")) options = structured::checked_options(*settings);
  structured::DescriptorPrior prior = structured::get_descriptor_prior(archive, *library.model);
  return std::make_unique<StructuredModel>(
      std::move(pool), std::move(library), std::move(prior),
      static_cast<std::uint64_t>(card.at("seed").whole_number(0, std::numeric_limits<std::int64_t>::max())), options);
}

std::unique_ptr<Predictor> load_structured_predictor(const Archive& archive) {
  return std::make_unique<StructuredPredictor>(archive);
}

}  // namespace tenshot::trainer
