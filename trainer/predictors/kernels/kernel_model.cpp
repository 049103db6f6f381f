#include "trainer/predictors/kernels/kernel_model.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "nasbench/kernels/kernel_search.h"
#include "nasbench/support/error.h"
#include "nasbench/support/median.h"

namespace tenshot::trainer::kernels {
namespace {

using nasbench::OperatorSpecification;

double elements_moved(const OperatorSpecification& op) {
  double elements = static_cast<double>(nasbench::element_count(op.output));
  for (const nasbench::Shape& shape : op.inputs) elements += static_cast<double>(nasbench::element_count(shape));
  return elements;
}

/// "convolution++*": a convolution of that kernel and whatever is fused with it.
std::string with_any(const std::string& kernel) { return kernel.substr(0, kernel.find("++")) + "++*"; }

/// "fully_connected (convolution)": the name of those kernels of a type that lead with operators of another category
/// than its first one; they have other features, and learn apart.
std::string apart(const std::string& kernel, const std::string& category) { return kernel + " (" + category + ")"; }

std::vector<KernelSample> as_learned(std::vector<KernelSample> samples, LearnerKind learner) {
  std::map<std::string, std::string> first_category;
  for (KernelSample& sample : samples) {
    const std::string category = operation_category(sample.leading);
    const bool is_one = category == "convolution" || category == "depthwise_convolution";
    if (learner == LearnerKind::forest && is_one) sample.kernel = with_any(sample.kernel);
    const std::string& first = first_category.try_emplace(sample.kernel, category).first->second;
    if (category != first) sample.kernel = apart(sample.kernel, category);
  }
  return samples;
}

std::map<std::string, LatencyRows> rows_of(const std::vector<KernelSample>& samples, LearnerKind learner) {
  std::map<std::string, LatencyRows> rows;
  for (const KernelSample& sample : samples) {
    if (sample.latency_ms == 0) continue;
    if (!(sample.latency_ms > 0) || !std::isfinite(sample.latency_ms)) {
      throw InputError("a kernel '" + sample.kernel + "' takes " + std::to_string(sample.latency_ms) +
                       " ms, expected a positive number");
    }
    LatencyRows& of_type = rows[sample.kernel];
    of_type.features.push_back(operation_features(sample.leading, learner));
    of_type.latency_ms.push_back(sample.latency_ms);
  }
  if (rows.empty()) throw InputError("a predictor by kernels needs at least one measured kernel");
  return rows;
}

/// The root mean square of errors of log latency; `otherwise` of none.
struct Spread {
  double squares = 0;
  std::size_t count = 0;
  void add(double predicted_ms, double measured_ms) {
    const double error = std::log(predicted_ms / measured_ms);
    squares += error * error;
    ++count;
  }
  double value(double otherwise) const {
    return count == 0 ? otherwise : std::sqrt(squares / static_cast<double>(count));
  }
};

/// The error of a learner on rows that it has not seen, each once.
Spread held_out_error(const LatencyRows& rows, const std::string& category, std::uint64_t seed, LearnerKind learner) {
  constexpr std::size_t most_folds = 5;
  const std::size_t folds = std::min(most_folds, rows.latency_ms.size());
  Spread spread;
  for (std::size_t fold = 0; folds > 1 && fold < folds; ++fold) {
    const LatencyRows left_out = of_fold(rows, fold, folds, true);
    const auto trained = train_learner(learner, of_fold(rows, fold, folds, false), category, seed);
    for (std::size_t i = 0; i < left_out.latency_ms.size(); ++i) {
      spread.add(trained->predict_ms(left_out.features[i]), left_out.latency_ms[i]);
    }
  }
  return spread;
}

}  // namespace

double work_of(const OperatorSpecification& operation) {
  return static_cast<double>(nasbench::multiply_adds(operation)) + elements_moved(operation);
}

std::string type_under(const nasbench::FusionRules& rules, const std::string& type,
                       const OperatorSpecification& leading) {
  // Grouped ones have features of their own, whatever kernel computes them.
  if (operation_category(leading) == "grouped_convolution") return type;
  return with_chosen_kernel(rules, type, leading);
}

nasbench::Network graph_of(const nasbench::NamedNetwork& named) {
  nasbench::Network graph;
  std::set<int> read;
  for (std::size_t i = 0; i < named.operators.size(); ++i) {
    nasbench::NetworkNode& node = graph.nodes.emplace_back();
    node.operation = named.operators[i];
    node.name = std::to_string(i);
    if (i >= named.sources.size()) continue;
    for (const int source : named.sources[i]) node.inputs.push_back({source, 0});
    read.insert(named.sources[i].begin(), named.sources[i].end());
  }
  for (int i = 0; i < static_cast<int>(graph.nodes.size()); ++i) {
    if (read.count(i) == 0) graph.outputs.push_back({i, 0});
  }
  return graph;
}

std::vector<NetworkKernel> kernels_of(const nasbench::Network& network, const nasbench::FusionRules& rules) {
  std::vector<NetworkKernel> kernels;
  for (const nasbench::Kernel& kernel : find_kernels(network, rules)) {
    const OperatorSpecification& leading = leading_operator(network, kernel);
    if (leading.kind == nasbench::OperatorKind::reshape && kernel.nodes.size() == 1) continue;
    kernels.push_back({type_under(rules, kernel_type(network, kernel), leading), leading});
  }
  return kernels;
}

KernelModel::KernelModel(const std::vector<KernelSample>& measured, double call, std::uint64_t seed,
                         LearnerKind learner)
    : call_ms(call) {
  const std::vector<KernelSample> samples = as_learned(measured, learner);
  std::map<std::string, double> all;  // of each type, those that the runtime executes elsewhere too
  std::vector<double> rates;
  for (const KernelSample& sample : samples) {
    ++all[sample.kernel];
    if (sample.latency_ms == 0) continue;
    rates.push_back(sample.latency_ms / elements_moved(sample.leading));
    KernelType& type = types[sample.kernel];
    type.category = operation_category(sample.leading);
    type.largest_work = std::max(type.largest_work, work_of(sample.leading));
  }
  for (const auto& [name, rows] : rows_of(samples, learner)) {
    KernelType& type = types.at(name);
    type.samples = rows.latency_ms.size();
    type.share = static_cast<double>(type.samples) / all.at(name);
    type.learns = learner;
    try {
      type.learner = train_learner(learner, rows, type.category, seed);
    } catch (const InputError& error) {
      throw InputError("kernels '" + name + "': " + error.what());
    }
  }
  ms_per_element = upper_median(rates);
}

KernelModel::Types::const_iterator KernelModel::type_of(const std::string& kernel, const std::string& category) const {
  for (const std::string& type : {kernel, with_any(kernel)}) {
    for (const std::string& name : {type, apart(type, category)}) {
      const auto found = types.find(name);
      if (found != types.end() && found->second.category == category) return found;
    }
  }
  return types.end();
}

void KernelModel::find_errors(const std::vector<KernelSample>& measured, std::uint64_t seed, LearnerKind learner) {
  const std::vector<KernelSample> samples = as_learned(measured, learner);
  Spread stand_in, unknown;
  for (const KernelSample& sample : samples) {
    if (sample.latency_ms == 0) continue;
    unknown.add(ms_per_element * elements_moved(sample.leading), sample.latency_ms);
    const KernelPrediction without = kernel(sample, &sample.kernel);
    if (without.origin == KernelOrigin::stand_in) stand_in.add(without.latency_ms, sample.latency_ms);
  }
  unknown_error = unknown.value(0);
  stand_in_error = stand_in.value(unknown_error);
  for (const auto& [type, rows] : rows_of(samples, learner)) {
    KernelType& known = types.at(type);
    try {
      known.error = held_out_error(rows, known.category, seed, learner).value(stand_in_error);
    } catch (const InputError&) {
      known.error = stand_in_error;  // too few are left for a grid
    }
  }
}

KernelPrediction KernelModel::kernel(const NetworkKernel& kernel, const std::string* hidden) const {
  const std::string category = operation_category(kernel.leading);
  const auto of_type = [&](const std::string& type) -> const KernelType* {
    const auto found = type_of(type, category);
    return found != types.end() && (hidden == nullptr || found->first != *hidden) ? &found->second : nullptr;
  };
  const auto predicted_ms = [&](const KernelType& type) {
    return type.share * type.learner->predict_ms(operation_features(kernel.leading, type.learns));
  };
  if (const KernelType* type = of_type(kernel.kernel)) {
    return {predicted_ms(*type), KernelOrigin::measured_type, type->error};
  }
  // What the kernel begins with, one operator less at a time; then the type of its category that was measured most.
  const auto stand_in = [&](const KernelType& type) {
    return KernelPrediction{predicted_ms(type), KernelOrigin::stand_in, stand_in_error};
  };
  std::string shorter = kernel.kernel;
  for (std::size_t end; (end = shorter.rfind("++")) != std::string::npos;) {
    shorter.resize(end);
    if (const KernelType* type = of_type(shorter)) return stand_in(*type);
  }
  const KernelType* most = nullptr;
  for (const auto& each : types) {
    const KernelType* type = of_type(each.first);
    if (type != nullptr && (most == nullptr || type->samples > most->samples)) most = type;
  }
  if (most != nullptr) return stand_in(*most);
  return {ms_per_element * elements_moved(kernel.leading), KernelOrigin::unknown, unknown_error};
}

SumOfKernels KernelModel::network(const std::vector<NetworkKernel>& kernels) const {
  SumOfKernels sum{call_ms};
  double products = 0, elements = 0, of_one_position = 0;
  std::map<std::string, double> shares = {{"convolution", 0},
                                          {"depthwise_convolution", 0},
                                          {"grouped_convolution", 0},
                                          {"fully_connected", 0},
                                          {"elementwise", 0}};
  for (const NetworkKernel& each : kernels) {
    const KernelPrediction found = kernel(each);
    sum.latency_ms += found.latency_ms;
    double& error = found.origin == KernelOrigin::measured_type ? sum.error_ms : sum.guessed_ms;
    error += found.latency_ms * found.error;
    const std::string category = operation_category(each.leading);
    const auto share = shares.find(category == "other" ? "elementwise" : category);
    if (share != shares.end()) share->second += found.latency_ms;
    const nasbench::Extent window = each.leading.kernel;
    if (category == "convolution" && window == nasbench::Extent{}) of_one_position += found.latency_ms;
    products += static_cast<double>(nasbench::multiply_adds(each.leading));
    elements += elements_moved(each.leading);
  }
  for (const double amount : {static_cast<double>(kernels.size()), products, elements}) {
    sum.composition.push_back(std::log((amount + 1) / sum.latency_ms));
  }
  sum.composition.push_back(std::log(sum.latency_ms));
  sum.composition.push_back(of_one_position / sum.latency_ms);
  for (const auto& [category, ms] : shares) sum.composition.push_back(ms / sum.latency_ms);
  return sum;
}

}  // namespace tenshot::trainer::kernels
