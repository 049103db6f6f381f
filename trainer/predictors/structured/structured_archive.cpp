#include <cstring>

#include "nasbench/support/error.h"
#include "trainer/core/archive_reader.h"
#include "trainer/predictors/structured/hypotheses.h"
#include "trainer/predictors/structured/posterior.h"

namespace tenshot::trainer::structured {
namespace {

using Eigen::Index;

void add(std::vector<double>& values, double number) { values.push_back(number); }
void add(std::vector<double>& values, const Eigen::MatrixXd& matrix) {
  for (Index r = 0; r < matrix.rows(); ++r) values.insert(values.end(), matrix.row(r).begin(), matrix.row(r).end());
}

/// Appends matrices row by row, and numbers as they are.
template <class... Fields>
void append(std::vector<double>& values, const Fields&... fields) {
  (add(values, fields), ...);
}

constexpr std::size_t most_components = 1'000'000;
constexpr Index most_anchors = 10'000'000, widest_layer = 65536;

/// Ranges of what is read. Costs may be a little under 0, per median latency or in ms; none is minus a whole latency.
constexpr Range relative_cost{-1, 1e6};
constexpr Range deviation_of_log{0, 100};
constexpr Range weight_of_network{-100, 100};

std::string indexed(const std::string& list, std::size_t index, const std::string& field) {
  return list + "[" + std::to_string(index) + "]." + field;
}

}  // namespace

void put_library(Archive& archive, const StructuredLibrary& library) {
  nlohmann::json entries = nlohmann::json::array();
  std::vector<double> values;
  for (const LibraryEntry& entry : library.entries) {
    entries.push_back({{"device", entry.device}, {"structure", library.model->structures()[entry.structure].name}});
    append(values, entry.log_rms, entry.median_ms, entry.costs);
  }
  archive.card["library"] = entries;
  archive.put("library", to_array(values));
  put_calibration(archive, library.calibration);
}

StructuredLibrary get_library(const Archive& archive, const nasbench::StructureModel& model) {
  StructuredLibrary library;
  library.model = &model;
  FieldSequence values(archive, "library");
  const JsonField described = JsonField(archive).at("library");
  for (const JsonField& fields : described.list(most_components)) {
    const auto place = [&](const char* field) { return indexed("library", library.entries.size(), field); };
    LibraryEntry entry;
    entry.device = fields.at("device").text();
    entry.structure = model.structure_index(fields.at("structure").text());
    entry.log_rms = values.number_or_nan(place("log_rms"), deviation_of_log);  // nothing was fitted to the generic one
    entry.median_ms = values.number(place("median_ms"), positive);
    entry.costs = values.vector(place("costs"), static_cast<Index>(model.features().size()), relative_cost);
    library.entries.push_back(std::move(entry));
  }
  if (library.entries.empty()) described.fail("at least one entry");
  values.require_end();
  library.calibration = get_calibration(archive);
  library.cluster_of = cluster_entries(library);
  return library;
}

void put_posterior(Archive& archive, const StructuredPosterior& posterior) {
  nlohmann::json components = nlohmann::json::array();
  std::vector<double> values;
  for (const Component& component : posterior.components) {
    components.push_back(
        {{"structure", posterior.model->structures()[component.structure].name}, {"entry", component.entry}});
    append(values, component.weight, component.noise, component.costs_ms, component.path_costs_ms,
           component.covariance_ms2);
  }
  archive.card["components"] = components;
  archive.put("components", to_array(values));
  const auto* anchors = reinterpret_cast<const std::uint8_t*>(posterior.anchors.data());
  const std::size_t bytes = posterior.anchors.size() * sizeof(std::uint64_t);
  archive.put("residual.anchors", to_array(std::vector<std::uint8_t>(anchors, anchors + bytes)));
  std::vector<double> residual;
  append(residual, posterior.floor_ms, posterior.residual_variance, posterior.residual_weights,
         posterior.residual_reduction);
  archive.card["anchors"] = posterior.residual_weights.size();
  archive.put("residual", to_array(residual));
  put_calibration(archive, posterior.calibration);
}

StructuredPosterior get_posterior(const Archive& archive, const nasbench::StructureModel& model) {
  StructuredPosterior posterior;
  posterior.model = &model;
  const auto features = static_cast<Index>(model.features().size());
  FieldSequence components(archive, "components");
  const JsonField described = JsonField(archive).at("components");
  double weights = 0;
  for (const JsonField& fields : described.list(most_components)) {
    const auto place = [&](const char* field) { return indexed("components", posterior.components.size(), field); };
    Component component;
    component.structure = model.structure_index(fields.at("structure").text());
    component.entry = static_cast<std::size_t>(fields.at("entry").whole_number(0, most_components));
    component.weight = components.number(place("weight"), share);
    component.noise = components.number(place("noise"), deviation_of_log);
    component.costs_ms = components.vector(place("costs_ms"), features, any_number);
    component.path_costs_ms = components.vector(place("path_costs_ms"), features, not_negative);
    component.covariance_ms2 = components.matrix(place("covariance_ms2"), features, features, any_number);
    for (const double variance : component.covariance_ms2.diagonal()) {
      // Rounding may leave a little under 0 of a variance that is 0.
      require_in_range(variance, {-1e-6, 1e300}, place("covariance_ms2") + ": a variance");
    }
    weights += component.weight;
    posterior.components.push_back(std::move(component));
  }
  if (posterior.components.empty()) described.fail("at least one component");
  require_in_range(weights, {1 - 1e-6, 1 + 1e-6}, "array 'components': the sum of the weights");
  components.require_end();
  const Index anchors = JsonField(archive).at("anchors").whole_number(0, most_anchors);
  const std::vector<std::uint8_t> bytes = archive.bytes("residual.anchors");
  const std::size_t expected = static_cast<std::size_t>(anchors) * sizeof(std::uint64_t);
  if (bytes.size() != expected) {
    throw FormatError("array 'residual.anchors' has " + std::to_string(bytes.size()) + " bytes, expected " +
                      std::to_string(expected) + " for the card's " + std::to_string(anchors) + " anchors");
  }
  posterior.anchors.resize(bytes.size() / sizeof(std::uint64_t));
  if (!bytes.empty()) std::memcpy(posterior.anchors.data(), bytes.data(), bytes.size());
  constexpr Range log_latency{-1e4, 1e4};
  FieldSequence values(archive, "residual");
  posterior.floor_ms = values.number("floor_ms", positive);
  posterior.residual_variance = values.number("variance", {0, 1e4});
  posterior.residual_weights = values.vector("weights", anchors, log_latency);
  posterior.residual_reduction = values.matrix("reduction", anchors, anchors, any_number);
  values.require_end();
  posterior.calibration = get_calibration(archive);
  return posterior;
}

void put_descriptor_prior(Archive& archive, const DescriptorPrior& prior) {
  if (!prior.trained()) return;
  archive.card["descriptor"] = {{"source", name(prior.kind)},
                                {"counters", prior.counters},
                                {"from", prior.from},
                                {"hidden", prior.network.hidden.rows()},
                                {"inputs", prior.network.hidden.cols()},
                                {"scale_deviation", prior.scale_deviation},
                                {"residual", prior.residual}};
  std::vector<double> values;
  append(values, prior.input_mean, prior.input_unit, prior.network.hidden, prior.network.hidden_bias,
         prior.network.output, prior.network.output_bias, prior.mean_counts, prior.deviation);
  archive.put("descriptor", to_array(values));
}

DescriptorPrior get_descriptor_prior(const Archive& archive, const nasbench::StructureModel& model) {
  DescriptorPrior prior;
  if (!archive.has("descriptor")) return prior;
  const JsonField card = JsonField(archive).at("descriptor");
  constexpr std::size_t most_names = 100'000;
  prior.kind = described_kind(card.at("source").text());
  prior.counters = card.at("counters").texts(most_names);
  prior.from = card.at("from").texts(most_names);
  prior.scale_deviation = card.at("scale_deviation").number(deviation_of_log);
  prior.residual = card.at("residual").number(deviation_of_log);
  const auto features = static_cast<Index>(model.features().size());
  const Index hidden = card.at("hidden").whole_number(1, widest_layer);
  const Index inputs = card.at("inputs").whole_number(features, widest_layer);
  FieldSequence values(archive, "descriptor");
  prior.input_mean = values.vector("input_mean", inputs, {-1e3, 1e3});  // of logarithms
  prior.input_unit = values.vector("input_unit", inputs, {1e-3, 1e6});
  prior.network.hidden = values.matrix("network.hidden", hidden, inputs, weight_of_network);
  prior.network.hidden_bias = values.vector("network.hidden_bias", hidden, weight_of_network);
  prior.network.output = values.matrix("network.output", features, hidden, weight_of_network);
  prior.network.output_bias = values.vector("network.output_bias", features, weight_of_network);
  prior.mean_counts = values.vector("mean_counts", features, not_negative);
  prior.deviation = values.vector("deviation", features, not_negative);
  values.require_end();
  return prior;
}

}  // namespace tenshot::trainer::structured
