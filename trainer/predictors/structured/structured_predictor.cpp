#include <cstdio>

#include "trainer/core/predictor.h"
#include "trainer/core/quantity_card.h"
#include "trainer/core/space_card.h"
#include "trainer/networks/formula.h"
#include "trainer/predictors/structured/explanation.h"
#include "trainer/predictors/structured/posterior.h"
#include "trainer/predictors/structured/structured_model.h"
#include "trainer/predictors/structured/structured_planning.h"

namespace tenshot::trainer {
namespace {

/// The features of every architecture of the space under the structures that `components` believe in, by the
/// structure's name: "rows", each distinct one once, [rows, alternatives, features]; "row_of", one for each ordinal.
nlohmann::json tables_of(const nasbench::StructureTable& table, const structured::StructuredPosterior& posterior) {
  nlohmann::json tables = nlohmann::json::object();
  for (const structured::Component& component : posterior.components) {
    const std::string& name = posterior.model->structures()[component.structure].name;
    if (tables.contains(name)) continue;
    const nasbench::StructureTable::Column& column = table.structures[component.structure];
    nlohmann::json rows = nlohmann::json::array();
    const std::size_t values = column.alternatives * table.feature_count;
    for (std::size_t r = 0; r < column.rows; ++r) {
      rows.push_back(rows_of(Eigen::Map<const structured::FeatureRows>(column.features->data() + r * values,
                                                                       column.alternatives, table.feature_count)));
    }
    tables[name] = {{"rows", rows}, {"row_of", column.row_of}};
  }
  return tables;
}

nlohmann::json hexadecimal(const std::vector<std::uint64_t>& signatures) {
  nlohmann::json texts = nlohmann::json::array();
  for (const std::uint64_t bits : signatures) {
    char digits[17];
    std::snprintf(digits, sizeof digits, "%016llx", static_cast<unsigned long long>(bits));
    texts.push_back(digits);
  }
  return texts;
}

/// What the encoding says of each combination of the options of decisions `begin` to `end`: the last is the fastest.
FormulaValue combinations(const FormulaValue& encoding, const std::vector<int>& decisions, std::size_t begin,
                          std::size_t end) {
  Eigen::Index column = 0;
  std::optional<FormulaValue> found;
  for (std::size_t d = 0; d < end; column += decisions[d++]) {
    if (d < begin) continue;
    const FormulaValue options = encoding.columns(column, decisions[d]);
    found = found ? outer(*found, options) : options;
  }
  return *found;
}

/// What is exported: what the posterior says of each architecture of its space. Where an encoding holds the
/// probabilities of options, the latency is the expected one of options that are chosen independently of each other.
ExportedFormula formula_of(const structured::StructuredPosterior& posterior) {
  const nasbench::SearchSpace& space = posterior.model->space();
  const LogLatency all = predict(posterior, posterior.model->table(space.all()));
  ExportedFormula exported;
  exported.formula.width = static_cast<std::int64_t>(space.encoding_width());
  const FormulaValue encoding = encoding_of(exported.formula);
  // The table of all architectures as a matrix between the first decisions and the others.
  const std::size_t decisions = space.decisions().size(), half = decisions / 2;
  const FormulaValue first = combinations(encoding, space.decisions(), 0, half),
                     others = combinations(encoding, space.decisions(), half, decisions);
  const auto expected = [&](const Eigen::VectorXd& table) {
    return sum(dot(first, Eigen::Map<const structured::FeatureRows>(table.data(), first.columns(), others.columns())) *
               others)
        .name();
  };
  exported.latency = expected(all.mean.array().exp());
  exported.deviation = expected(all.deviation);
  exported.quantile = [calibration = posterior.calibration](double p) { return error_quantile(calibration, p); };
  return exported;
}

class StructuredPredictor : public Predictor {
 public:
  StructuredPredictor(structured::StructuredPosterior posterior, nlohmann::json card)
      : Predictor(std::move(card)), posterior_(std::move(posterior)) {}

  const SearchSpace& space() const override { return posterior_.model->space(); }
  bool has_intervals() const override { return !card_.contains("proxy"); }  // one device's line says nothing of errors
  ExportedFormula formula() const override { return formula_of(posterior_); }
  std::vector<Remark> explanation() const override { return explanation_of(card_); }

  Predictions predict(const std::vector<Architecture>& architectures, double confidence) const override {
    const LogLatency log_latency = structured::predict(posterior_, posterior_.model->table(architectures));
    Predictions predictions = predictions_of(log_latency, posterior_.calibration, confidence);
    if (!has_intervals()) predictions.lower_ms = predictions.upper_ms = {};
    return predictions;
  }

  void put_weights(Archive& archive) const override { structured::put_posterior(archive, posterior_); }

  nlohmann::json numbers() const override {
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
    const nasbench::StructureTable table = posterior_.model->table(space().all());
    return {
        {"features", features},
        {"computes",
         "ordinal = sum of strings.ordinals over the columns of the architecture's parts; features = of "
         "tables[structure].rows[row_of[ordinal]] the alternative with the largest features . path_costs_ms; log "
         "latency_ms = sum over components of weight * log(max(features . costs_ms, floor_ms)) + sum over anchors of "
         "weight * exp(-hamming(signatures[ordinal], anchor) / scale)"},
        {"tables", tables_of(table, posterior_)},
        {"signatures", hexadecimal(table.signatures)},
        {"floor_ms", posterior_.floor_ms},
        {"components", components},
        {"residual",
         {{"anchor_signatures", hexadecimal(posterior_.anchors)},
          {"scale", posterior_.model->signature_scale()},
          {"weights", values_of(posterior_.residual_weights)},
          {"variance", posterior_.residual_variance},
          {"reduction", rows_of(posterior_.residual_reduction)}}},
        {"calibration",
         {{"probabilities", posterior_.calibration.probabilities}, {"quantiles", posterior_.calibration.quantiles}}}};
  }

  std::vector<PartCost> operator_costs(const std::vector<Architecture>& /*typical*/) const override {
    return has_intervals() ? structured::believed_costs(posterior_) : std::vector<PartCost>{};
  }

  std::optional<PlanningView> uncertainty(const std::vector<Architecture>& candidates) const override {
    if (!has_intervals()) return std::nullopt;
    const nasbench::StructureTable table = structured::compacted(posterior_.model->table(candidates));
    return PlanningView{structured::posterior_covariance(posterior_, table), {structured::noise_of(posterior_)}};
  }

 private:
  structured::StructuredPosterior posterior_;
};

}  // namespace

std::unique_ptr<Predictor> structured_predictor(structured::StructuredPosterior posterior, nlohmann::json card) {
  return std::make_unique<StructuredPredictor>(std::move(posterior), std::move(card));
}

std::unique_ptr<Predictor> load_structured_predictor(const Archive& archive) {
  const nasbench::StructureModel& model = nasbench::structures_of(get_space(archive.card));
  return structured_predictor(structured::get_posterior(archive, model), archive.card);
}

}  // namespace tenshot::trainer
