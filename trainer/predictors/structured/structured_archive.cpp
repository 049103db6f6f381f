#include "trainer/predictors/structured/structured_archive.h"

#include <cstring>

#include "nasbench/support/error.h"

namespace tenshot::trainer::structured {
namespace {

using Eigen::Index;

void append(std::vector<double>& values, const Eigen::MatrixXd& matrix) {
  for (Index r = 0; r < matrix.rows(); ++r) {
    for (Index c = 0; c < matrix.cols(); ++c) values.push_back(matrix(r, c));
  }
}

/// Reads an array row by row, refusing to read past its end.
class Reader {
 public:
  Reader(const Archive& archive, const std::string& name) : name_(name), values_(archive.doubles(name)) {}

  double number() { return matrix(1, 1)(0, 0); }
  Eigen::VectorXd vector(Index size) { return matrix(size, 1); }
  Eigen::MatrixXd matrix(Index rows, Index columns) {
    const auto left = static_cast<Index>(values_.size() - at_);
    if (columns > 0 && rows > left / columns) throw FormatError("array '" + name_ + "' is too short");
    Eigen::MatrixXd result(rows, columns);
    for (Index r = 0; r < rows; ++r) {
      for (Index c = 0; c < columns; ++c) result(r, c) = values_[at_++];
    }
    return result;
  }

 private:
  std::string name_;
  std::vector<double> values_;
  std::size_t at_ = 0;
};

Array numbers(const std::vector<double>& values) {
  return to_array(values, {static_cast<std::int64_t>(values.size())});
}

void put_calibration(Archive& archive, const IntervalCalibration& calibration) {
  archive.put("calibration.probabilities", numbers(calibration.probabilities));
  archive.put("calibration.quantiles", numbers(calibration.quantiles));
}

IntervalCalibration get_calibration(const Archive& archive) {
  IntervalCalibration calibration{archive.doubles("calibration.probabilities"),
                                  archive.doubles("calibration.quantiles")};
  if (calibration.probabilities.size() != calibration.quantiles.size())
    throw FormatError("the calibration is not whole");
  return calibration;
}

}  // namespace

void put_library(Archive& archive, const StructuredLibrary& library) {
  nlohmann::json entries = nlohmann::json::array();
  std::vector<double> values;
  for (const LibraryEntry& entry : library.entries) {
    entries.push_back({{"device", entry.device}, {"structure", library.model->structures()[entry.structure].name}});
    values.push_back(entry.log_rms);
    values.push_back(entry.median_ms);
    append(values, entry.costs);
  }
  archive.card["library"] = entries;
  archive.put("library", numbers(values));
  put_calibration(archive, library.calibration);
}

StructuredLibrary get_library(const Archive& archive, const nasbench::StructureModel& model) {
  StructuredLibrary library;
  library.model = &model;
  Reader values(archive, "library");
  for (const nlohmann::json& described : archive.card.at("library")) {
    LibraryEntry entry;
    entry.device = described.at("device").get<std::string>();
    entry.structure = model.structure_index(described.at("structure").get<std::string>());
    entry.log_rms = values.number();
    entry.median_ms = values.number();
    entry.costs = values.vector(static_cast<Index>(model.features().size()));
    library.entries.push_back(std::move(entry));
  }
  if (library.entries.empty()) throw FormatError("the library is empty");
  library.calibration = get_calibration(archive);
  return library;
}

void put_descriptor_prior(Archive& archive, const DescriptorPrior& prior) {
  if (!prior.trained()) return;
  archive.card["descriptor"] = {{"source", name(prior.source)},
                                {"counters", prior.counters},
                                {"from", prior.from},
                                {"hidden", prior.network.hidden.rows()},
                                {"inputs", prior.network.hidden.cols()},
                                {"scale_deviation", prior.scale_deviation},
                                {"residual", prior.residual}};
  std::vector<double> values;
  for (const Eigen::MatrixXd& matrix :
       {Eigen::MatrixXd(prior.input_mean), Eigen::MatrixXd(prior.input_unit), prior.network.hidden,
        Eigen::MatrixXd(prior.network.hidden_bias), prior.network.output, Eigen::MatrixXd(prior.network.output_bias),
        Eigen::MatrixXd(prior.mean_counts), Eigen::MatrixXd(prior.deviation)}) {
    append(values, matrix);
  }
  archive.put("descriptor", numbers(values));
}

DescriptorPrior get_descriptor_prior(const Archive& archive, const nasbench::StructureModel& model) {
  DescriptorPrior prior;
  if (!archive.has("descriptor")) return prior;
  const nlohmann::json& card = archive.card.at("descriptor");
  prior.source = descriptor_source(card.at("source").get<std::string>());
  card.at("counters").get_to(prior.counters);
  card.at("from").get_to(prior.from);
  card.at("scale_deviation").get_to(prior.scale_deviation);
  card.at("residual").get_to(prior.residual);
  const auto features = static_cast<Index>(model.features().size());
  const auto hidden = card.at("hidden").get<Index>(), inputs = card.at("inputs").get<Index>();
  if (hidden < 1 || inputs < features) throw FormatError("the descriptor's network has no layers");
  Reader values(archive, "descriptor");
  prior.input_mean = values.vector(inputs);
  prior.input_unit = values.vector(inputs);
  prior.network.hidden = values.matrix(hidden, inputs);
  prior.network.hidden_bias = values.vector(hidden);
  prior.network.output = values.matrix(features, hidden);
  prior.network.output_bias = values.vector(features);
  prior.mean_counts = values.vector(features);
  prior.deviation = values.vector(features);
  return prior;
}

void put_posterior(Archive& archive, const StructuredPosterior& posterior) {
  nlohmann::json components = nlohmann::json::array();
  std::vector<double> values;
  for (const Component& component : posterior.components) {
    components.push_back(
        {{"structure", posterior.model->structures()[component.structure].name}, {"entry", component.entry}});
    values.push_back(component.weight);
    values.push_back(component.noise);
    append(values, component.costs_ms);
    append(values, component.path_costs_ms);
    append(values, component.covariance_ms2);
  }
  archive.card["components"] = components;
  archive.put("components", numbers(values));
  std::vector<std::uint8_t> anchors(posterior.anchors.size() * sizeof(std::uint64_t));
  if (!anchors.empty()) std::memcpy(anchors.data(), posterior.anchors.data(), anchors.size());
  archive.put("residual.anchors", to_array(anchors, {static_cast<std::int64_t>(anchors.size())}));
  std::vector<double> residual = {posterior.floor_ms, posterior.residual_variance};
  append(residual, posterior.residual_weights);
  append(residual, posterior.residual_reduction);
  archive.card["anchors"] = posterior.residual_weights.size();
  archive.put("residual", numbers(residual));
  put_calibration(archive, posterior.calibration);
}

StructuredPosterior get_posterior(const Archive& archive, const nasbench::StructureModel& model) {
  StructuredPosterior posterior;
  posterior.model = &model;
  const auto features = static_cast<Index>(model.features().size());
  Reader values(archive, "components");
  for (const nlohmann::json& described : archive.card.at("components")) {
    Component component;
    component.structure = model.structure_index(described.at("structure").get<std::string>());
    component.entry = described.at("entry");
    component.weight = values.number();
    component.noise = values.number();
    component.costs_ms = values.vector(features);
    component.path_costs_ms = values.vector(features);
    component.covariance_ms2 = values.matrix(features, features);
    posterior.components.push_back(std::move(component));
  }
  if (posterior.components.empty()) throw FormatError("the posterior is empty");
  const auto anchors = archive.card.at("anchors").get<Index>();
  const std::vector<std::uint8_t> bytes = archive.bytes("residual.anchors");
  if (anchors < 0 ||
      bytes.size() != static_cast<std::size_t>(anchors) * model.signature_words() * sizeof(std::uint64_t)) {
    throw FormatError("the residual process does not fit its anchors");
  }
  posterior.anchors.resize(bytes.size() / sizeof(std::uint64_t));
  if (!bytes.empty()) std::memcpy(posterior.anchors.data(), bytes.data(), bytes.size());
  Reader residual(archive, "residual");
  posterior.floor_ms = residual.number();
  posterior.residual_variance = residual.number();
  posterior.residual_weights = residual.vector(anchors);
  posterior.residual_reduction = residual.matrix(anchors, anchors);
  posterior.calibration = get_calibration(archive);
  return posterior;
}

}  // namespace tenshot::trainer::structured
