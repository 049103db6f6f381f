#include "trainer/predictors/kernels/kernels_predictor.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "nasbench/support/error.h"
#include "nasbench/support/quantiles.h"
#include "trainer/core/pool_archive.h"
#include "trainer/core/space_card.h"
#include "trainer/networks/formula.h"

namespace tenshot::trainer {
namespace {

using kernels::KernelModel;
using kernels::NetworkKernel;
using kernels::WholeNetworks;

constexpr std::size_t most_types = 10'000;

class KernelsPredictor : public Predictor {
 public:
  KernelsPredictor(KernelModel model, nasbench::FusionRules rules, WholeNetworks whole, nlohmann::json card)
      : Predictor(std::move(card)),
        model_(std::move(model)),
        rules_(std::move(rules)),
        whole_(std::move(whole)),
        space_(&get_space(card_)) {}

  const NetworkSpace& space() const override { return *space_; }

  bool has_intervals() const override { return model_.unknown_error > 0; }

  Predictions predict(const std::vector<Architecture>& architectures, double confidence) const override {
    if (!(confidence > 0 && confidence < 1)) throw InputError("a confidence lies between 0 and 1");
    const double quantile = error_quantile((1 + confidence) / 2);
    Predictions predictions;
    for (const Architecture& a : architectures) {
      const kernels::SumOfKernels sum = model_.network(kernels(a));
      predictions.latency_ms.push_back(whole_.corrected(sum));
      if (!has_intervals()) continue;
      const double guessed = sum.guessed_ms / sum.latency_ms;
      const double half =
          quantile * (whole_.errors.empty() ? sum.error_ms / sum.latency_ms + guessed
                                            : std::hypot(1.0, std::max(0.0, guessed - whole_.guessed) / one_error()));
      predictions.lower_ms.push_back(predictions.latency_ms.back() * std::exp(-half));
      predictions.upper_ms.push_back(predictions.latency_ms.back() * std::exp(half));
    }
    return predictions;
  }

  std::vector<Unfamiliar> unfamiliar(const std::vector<Architecture>& architectures) const override {
    std::vector<Unfamiliar> result;
    for (const Architecture& architecture : architectures) {
      std::set<std::string> unknown;
      Unfamiliar& unfamiliar = result.emplace_back();
      for (const NetworkKernel& kernel : kernels(architecture)) {
        if (model_.kernel(kernel).origin != kernels::KernelOrigin::measured_type) unknown.insert(kernel.kernel);
        const auto type = model_.type_of(kernel.kernel, kernels::operation_category(kernel.leading));
        if (type == model_.types.end() || !(type->second.largest_work > 0)) continue;
        unfamiliar.size = std::max(unfamiliar.size, kernels::work_of(kernel.leading) / type->second.largest_work);
      }
      unfamiliar.operators.assign(unknown.begin(), unknown.end());
    }
    return result;
  }

  void put_weights(Archive& archive) const override {
    std::size_t index = 0;
    for (const auto& type : model_.types) {
      nlohmann::json& of_type = archive.card.at("types").at(index);
      of_type.update(type.second.learner->put(archive, "forest" + std::to_string(index++)));
    }
    const auto put = [&](const char* name, const std::vector<double>& values) {
      if (!values.empty()) archive.put(name, to_array(values));
    };
    put("whole.errors", whole_.errors);
    put("whole.mean", whole_.line.mean);
    put("whole.deviation", whole_.line.deviation);
    put("whole.weight", whole_.line.weight);
  }

  /// Its inputs are the ms of a network's kernels of each type that was measured, the ms of its others, what of the sum
  /// may be wrong or is guessed, and what the sum's composition says to multiply it by.
  ExportedFormula formula() const override {
    ExportedFormula exported;
    for (const auto& type : model_.types) exported.columns.push_back(type.first + " ms");
    for (const char* name : {"others ms", "error ms", "guessed ms", "correction"}) exported.columns.emplace_back(name);
    exported.encode = [this](const std::vector<Architecture>& networks) { return encodings(networks); };
    const std::vector<Architecture> carried = carried_networks(card_);
    for (const Architecture& network : carried) exported.names.push_back(space_->format(network));
    exported.encodings = encodings(carried);
    exported.quantile = [this](double probability) {
      return probability < 0.5 ? -error_quantile(1 - probability) : error_quantile(probability);
    };
    exported.formula.width = static_cast<std::int64_t>(exported.columns.size());
    const FormulaValue encoding = encoding_of(exported.formula);
    const Eigen::Index summed = encoding.columns() - 3;
    const FormulaValue sum_ms = sum(encoding.columns(0, summed)) + model_.call_ms;
    const FormulaValue corrected_ms = (sum_ms * whole_.factor + whole_.overhead_ms) * encoding.columns(summed + 2, 1);
    exported.latency = max(corrected_ms, sum_ms * 0.1).name();
    const FormulaValue error = encoding.columns(summed, 1) / sum_ms, guessed = encoding.columns(summed + 1, 1) / sum_ms;
    const FormulaValue excess = max(guessed + -whole_.guessed, 0) * (1 / one_error());
    exported.deviation = (whole_.errors.empty() ? error + guessed : sqrt(excess * excess + 1)).name();
    return exported;
  }

  nlohmann::json numbers() const override {
    const std::string form = to_archive().card.at("types").at(0).value("form", "trees");
    // What a type's latency is, and what all of them are called.
    const std::map<std::string, std::pair<std::string, std::string>> forms = {
        {"trees", {"exp(base + sum over the trees of the leaf's value)", "forests"}},
        {"line and trees",
         {"max(line.least_ms, line.intercept + line.slope * the first features) times exp(trees.base + sum over the "
          "trees of the leaf's value), of which the features are the last ones and the line",
          "boosted"}},
        {"lasso", {"max(least_ms, intercept + slope * features)", "lines"}},
        {"perceptron",
         {"the network of (features - mean) / deviation, 0 where deviation is 0, ReLU between layers, times scale_ms, "
          "at least floor_ms",
          "perceptrons"}},
        {"grid", {"the value interpolated linearly along each axis times features[complexity]", "grids"}}};
    nlohmann::json types = nlohmann::json::object();
    for (const auto& [name, type] : model_.types) {
      types[name] = type.learner->to_document();
      types[name]["features"] = kernels::feature_names(type.category, type.learns);
      types[name]["share"] = type.share;
    }
    return {
        {"computes",
         "latency_ms = factor * (call_ms + sum over the kernels of the network under the rules: share times " +
             forms.at(form).first + ") + overhead_ms" +
             (card_.contains("line") ? ", times exp(intercept + sum over what the sum is made of, standardised, "
                                       "of weight times it)"
                                     : "")},
        {"nodes_are", {"feature, -1 in a leaf", "threshold", "child where it is less", "other child", "value"}},
        {"held_out_errors", whole_.errors},
        {"line", {{"mean", whole_.line.mean}, {"deviation", whole_.line.deviation}, {"weight", whole_.line.weight}}},
        {forms.at(form).second, types}};
  }

 private:
  /// What half an interval of log latency is at that probability, in deviations, of a normal distribution or of errors.
  double error_quantile(double probability) const {
    return whole_.errors.empty() ? normal_quantile(probability) : whole_.half_width(2 * probability - 1);
  }

  /// The deviation of log latency that the errors of held-out networks show, by their interval of 90 %.
  double one_error() const {
    constexpr double least = 1e-9;
    return whole_.errors.empty() ? 1 : std::max(whole_.half_width(0.9) / normal_quantile(0.95), least);
  }

  Eigen::MatrixXd encodings(const std::vector<Architecture>& networks) const {
    const auto& types = model_.types;
    const auto count = static_cast<Eigen::Index>(types.size());
    Eigen::MatrixXd rows = Eigen::MatrixXd::Zero(static_cast<Eigen::Index>(networks.size()), count + 4);
    for (Eigen::Index row = 0; row < rows.rows(); ++row) {
      const std::vector<NetworkKernel> found = kernels(networks[static_cast<std::size_t>(row)]);
      for (const NetworkKernel& kernel : found) {
        const auto type = model_.type_of(kernel.kernel, kernels::operation_category(kernel.leading));
        rows(row, std::distance(types.begin(), type)) += model_.kernel(kernel).latency_ms;
      }
      const kernels::SumOfKernels sum = model_.network(found);
      rows.row(row).tail(3) << sum.error_ms, sum.guessed_ms, std::exp(whole_.line.value(sum.composition));
    }
    return rows;
  }

  std::vector<NetworkKernel> kernels(const Architecture& architecture) const {
    return kernels::kernels_of(kernels::graph_of(nasbench::named_network(architecture)), rules_);
  }

  KernelModel model_;
  nasbench::FusionRules rules_;
  WholeNetworks whole_;
  const NetworkSpace* space_;
};

}  // namespace

std::unique_ptr<Predictor> make_kernels_predictor(const KernelModel& model, const nasbench::FusionRules& rules,
                                                  std::size_t samples, std::uint64_t seed, const WholeNetworks& whole,
                                                  const AdaptationSet& measured) {
  nlohmann::json card = {{"content", "predictor"},
                         {"predictor", "kernels"},
                         {"samples", samples},
                         {"seed", seed},
                         {"call_ms", model.call_ms},
                         {"ms_per_element", model.ms_per_element},
                         {"stand_in_error", model.stand_in_error},
                         {"unknown_error", model.unknown_error},
                         {"factor", whole.factor},
                         {"overhead_ms", whole.overhead_ms},
                         {"guessed", whole.guessed},
                         {"versions", version_card()}};
  if (!whole.line.weight.empty()) card["line"] = {{"intercept", whole.line.intercept}};
  card["rules"] = nlohmann::json::parse(nasbench::to_json(rules).dump());
  card["types"] = nlohmann::json::array();
  for (const auto& [name, type] : model.types) {
    card["types"].push_back({{"kernel", name},
                             {"category", type.category},
                             {"width", kernels::feature_names(type.category, type.learns).size()},
                             {"share", type.share},
                             {"samples", type.samples},
                             {"largest_work", type.largest_work},
                             {"error", type.error}});
  }
  for (std::size_t i = 0; i < measured.architectures.size(); ++i) {
    const std::string name = nasbench::networks().format(measured.architectures[i]);
    card["adaptation_set"].push_back({{"architecture", name}, {"latency_ms", measured.latency_ms[i]}});
  }
  put_space(card, nasbench::networks(), measured.architectures);
  return std::make_unique<KernelsPredictor>(model, rules, whole, std::move(card));
}

std::unique_ptr<Predictor> load_kernels_predictor(const Archive& archive) {
  constexpr Range work{0, 1e18}, error{0, 100}, factor{1e-9, 1e9};
  const JsonField card(archive);
  // Files of earlier programs say nothing of errors and of whole networks.
  const auto number = [](const JsonField& field, const char* key, Range range, double otherwise) {
    const auto found = field.find(key);
    return found ? found->number(range) : otherwise;
  };
  const nasbench::FusionRules rules = nasbench::parse_fusion_rules(card.at("rules").json().dump(), "its card: rules");
  card.at("samples").whole_number(0, 1'000'000'000);
  KernelModel model;
  std::size_t index = 0;
  for (const JsonField& field : card.at("types").list(most_types)) {
    kernels::KernelType type;
    type.category = field.at("category").text();
    const auto width = static_cast<std::size_t>(field.at("width").whole_number(1, 1000));
    const auto form = field.find("form");
    if (form && form->text() == "line and trees") type.learns = kernels::LearnerKind::boosted;
    const std::size_t expected = kernels::feature_names(type.category, type.learns).size();
    if (width != expected) field.at("width").fail(std::to_string(expected) + ", the features of " + type.category);
    type.samples = static_cast<std::size_t>(number(field, "samples", work, 1));
    type.share = number(field, "share", {0, 1}, 1);
    type.largest_work = field.at("largest_work").number(work);
    type.error = number(field, "error", error, 0);
    type.learner = kernels::load_learner(archive, "forest" + std::to_string(index++), field, width);
    model.types[field.at("kernel").text()] = std::move(type);
  }
  if (model.types.empty()) throw FormatError("its card: types is empty, expected at least one type of kernel");
  model.call_ms = card.at("call_ms").number({0, 1e9});
  model.ms_per_element = card.at("ms_per_element").number(not_negative);
  model.stand_in_error = number(card, "stand_in_error", error, 0);
  model.unknown_error = number(card, "unknown_error", error, 0);
  WholeNetworks whole{number(card, "factor", factor, 1), number(card, "overhead_ms", {-1e9, 1e9}, 0),
                      number(card, "guessed", error, 0)};
  if (const auto line = card.find("line")) {
    const std::size_t width = model.network({}).composition.size();
    whole.line = {checked_doubles(archive, "whole.mean", any_number, width),
                  checked_doubles(archive, "whole.deviation", positive, width),
                  checked_doubles(archive, "whole.weight", {-100, 100}, width),
                  line->at("intercept").number({-100, 100})};
  }
  if (archive.has("whole.errors")) whole.errors = checked_doubles(archive, "whole.errors", error);
  std::sort(whole.errors.begin(), whole.errors.end());
  return std::make_unique<KernelsPredictor>(std::move(model), rules, std::move(whole), archive.card);
}

}  // namespace tenshot::trainer
