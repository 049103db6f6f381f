#include "trainer/predictors/structured/structured_predictor.h"

#include <nlohmann/json.hpp>

#include "nasbench/support/error.h"
#include "nasbench/support/numbers.h"
#include "trainer/core/space_card.h"
#include "trainer/predictors/structured/prediction.h"
#include "trainer/predictors/structured/structured_archive.h"
#include "trainer/predictors/structured/structured_torchscript.h"

namespace tenshot::trainer {
namespace {

nlohmann::json rows_of(const Eigen::MatrixXd& matrix) {
  nlohmann::json rows = nlohmann::json::array();
  for (Eigen::Index r = 0; r < matrix.rows(); ++r) {
    rows.push_back(nlohmann::json::array());
    for (Eigen::Index c = 0; c < matrix.cols(); ++c) rows.back().push_back(matrix(r, c));
  }
  return rows;
}

nlohmann::json values_of(const Eigen::VectorXd& vector) {
  return std::vector<double>(vector.data(), vector.data() + vector.size());
}

const nasbench::StructureModel& model_of(const Archive& archive) {
  return nasbench::structures_of(get_space(archive.card));
}

}  // namespace

StructuredPredictor::StructuredPredictor(structured::StructuredPosterior posterior, nlohmann::json card)
    : posterior_(std::move(posterior)), card_(std::move(card)), kind_(card_.at("predictor").get<std::string>()) {}

StructuredPredictor::StructuredPredictor(const Archive& archive)
    : StructuredPredictor(structured::get_posterior(archive, model_of(archive)), archive.card) {}

Predictions StructuredPredictor::predict(const std::vector<Architecture>& architectures, double confidence) const {
  structured::LatencyIntervals intervals =
      structured::predict_intervals(posterior_, posterior_.model->table(architectures), confidence);
  if (!has_intervals()) return {std::move(intervals.latency_ms), {}, {}};
  return {std::move(intervals.latency_ms), std::move(intervals.lower_ms), std::move(intervals.upper_ms)};
}

Archive StructuredPredictor::to_archive() const {
  Archive archive;
  archive.card = card_;
  structured::put_posterior(archive, posterior_);
  return archive;
}

void StructuredPredictor::export_torchscript(const std::filesystem::path& path) const {
  structured::export_torchscript(posterior_, card_, path);
}

nlohmann::json StructuredPredictor::to_document() const {
  nlohmann::json features = nlohmann::json::array(), components = nlohmann::json::array();
  for (const nasbench::StructureFeature& feature : posterior_.model->features()) features.push_back(feature.name);
  for (const structured::Component& component : posterior_.components) {
    components.push_back({{"structure", posterior_.model->structures()[component.structure].name},
                          {"weight", component.weight},
                          {"noise", component.noise},
                          {"costs_ms", values_of(component.costs_ms)},
                          {"path_costs_ms", values_of(component.path_costs_ms)},
                          {"covariance_ms2", rows_of(component.covariance_ms2)}});
  }
  std::vector<std::string> anchors;
  for (const std::uint64_t word : posterior_.anchors) anchors.push_back(std::to_string(word));
  nlohmann::json document = {
      {"format", "tenshot.predictor/1"},
      {"card", card_},
      {"features", features},
      {"computes",
       "log latency_ms = sum over components of weight * log(max(features(architecture, structure) . costs_ms, "
       "floor_ms)) + sum over anchors of weight * exp(-hamming(signature, anchor) / scale)"},
      {"floor_ms", posterior_.floor_ms},
      {"components", components},
      {"residual",
       {{"anchor_signatures", anchors},
        {"scale", posterior_.model->signature_scale()},
        {"weights", values_of(posterior_.residual_weights)},
        {"variance", posterior_.residual_variance},
        {"reduction", rows_of(posterior_.residual_reduction)}}},
      {"calibration",
       {{"probabilities", posterior_.calibration.probabilities}, {"quantiles", posterior_.calibration.quantiles}}}};
  return document_of(quantity(), std::move(document));
}

std::string StructuredPredictor::explanation() const {
  std::string text;
  const auto lines = card_.find("explanation");
  if (lines == card_.end() || !lines->is_array()) return text;
  for (const nlohmann::json& line : *lines) text += (text.empty() ? "" : "\n") + line.get<std::string>();
  return text;
}

}  // namespace tenshot::trainer
