#include "trainer/predictors/structured/structured_torchscript.h"

#include <torch/script.h>

#include <map>
#include <nlohmann/json.hpp>

#include "trainer/networks/torchscript_parsing.h"
#include "trainer/predictors/structured/prediction.h"

namespace tenshot::trainer::structured {
namespace {

at::Tensor doubles(const std::vector<double>& values, std::vector<std::int64_t> shape) {
  return torch::tensor(values, at::kDouble).view(shape);
}

/// Buffers of the components that share a structure, named with its position in the file.
void add_structure(torch::jit::Module& module, const std::string& index,
                   const std::vector<const Component*>& components, const nasbench::StructureTable::Column& column,
                   std::size_t width) {
  const auto count = static_cast<std::int64_t>(components.size()), features = static_cast<std::int64_t>(width);
  module.register_buffer("features" + index,
                         doubles(*column.features, {static_cast<std::int64_t>(column.rows),
                                                    static_cast<std::int64_t>(column.alternatives), features}));
  module.register_buffer("row_of" + index,
                         torch::tensor(std::vector<int>(column.row_of.begin(), column.row_of.end()), at::kInt));
  std::vector<double> costs, path_costs, covariance, weights;
  for (const Component* component : components) {
    costs.insert(costs.end(), component->costs_ms.data(), component->costs_ms.data() + width);
    path_costs.insert(path_costs.end(), component->path_costs_ms.data(), component->path_costs_ms.data() + width);
    covariance.insert(covariance.end(), component->covariance_ms2.data(),
                      component->covariance_ms2.data() + width * width);
    weights.push_back(component->weight);
  }
  module.register_buffer("costs" + index, doubles(costs, {count, features}));
  module.register_buffer("path_costs" + index, doubles(path_costs, {count, features}));
  module.register_buffer("covariance" + index, doubles(covariance, {count, features, features}));
  module.register_buffer("weights" + index, doubles(weights, {count}));
}

/// The moments of log latency over the components of one structure, on its distinct rows; then one a requested one.
std::string moments_source(const std::string& i) {
  return "  rows = self.row_of" + i + "[ordinals].to(" + std::to_string(static_cast<int>(at::kLong)) +
         ")\n"
         "  distinct, place = torch._unique(rows, True, True)\n"
         "  features = self.features" +
         i +
         "[distinct]\n"  // [R, A, F]
         "  slowest = torch.matmul(features, self.path_costs" +
         i +
         ".t()).argmax(1)\n"  // [R, C]
         "  index = slowest.unsqueeze(2).expand([slowest.size(0), slowest.size(1), features.size(2)])\n"
         "  chosen = torch.gather(features, 1, index)\n"  // [R, C, F]
         "  latency = torch.clamp_min((chosen * self.costs" +
         i +
         ").sum(2), self.floor_ms)\n"
         "  log_latency = torch.log(latency)\n"
         "  spread = (torch.einsum('rcf,cfg->rcg', [chosen, self.covariance" +
         i +
         "]) * chosen).sum(2)\n"
         "  variance = spread / (latency * latency)\n"
         "  mean = mean + torch.mv(log_latency, self.weights" +
         i +
         ")[place]\n"
         "  square = square + torch.mv(log_latency * log_latency + variance, self.weights" +
         i + ")[place]\n";
}

std::string log_latency_source(std::size_t structures) {
  std::string source =
      "def log_latency(self, ordinals: Tensor) -> Tuple[Tensor, Tensor]:\n"
      "  mean = torch.zeros([ordinals.size(0)], dtype=" +
      std::to_string(static_cast<int>(at::kDouble)) +
      ")\n"
      "  square = mean\n";
  for (std::size_t s = 0; s < structures; ++s) source += moments_source(std::to_string(s));
  source +=
      "  distance = (self.signatures[ordinals].unsqueeze(1) != self.anchors.unsqueeze(0)).sum(2)\n"
      "  near = torch.exp(distance.to(" +
      std::to_string(static_cast<int>(at::kDouble)) +
      ") / -self.signature_scale)\n"
      "  residual = self.residual_variance - (torch.mm(near, self.residual_reduction) * near).sum(1)\n"
      "  spread = torch.clamp_min(square - mean * mean, 0.0)\n"
      "  deviation = torch.sqrt(spread + self.noise_variance + torch.clamp_min(residual, 0.0))\n"
      "  return (mean + torch.mv(near, self.residual_weights), deviation)\n";
  return source;
}

/// Signatures as bits, [architectures, 64 · words].
at::Tensor bits_of(const std::vector<std::uint64_t>& words, std::size_t words_each) {
  const std::size_t count = words.size() / words_each;
  at::Tensor bits =
      torch::zeros({static_cast<std::int64_t>(count), static_cast<std::int64_t>(64 * words_each)}, at::kBool);
  bool* out = bits.data_ptr<bool>();
  for (const std::uint64_t word : words) {
    for (int b = 0; b < 64; ++b) *out++ = (word >> b & 1) != 0;
  }
  return bits;
}

}  // namespace

void add_quantiles(torch::jit::Module& module, const IntervalCalibration& calibration) {
  std::vector<double> probabilities, quantiles;
  constexpr int steps = 2000;
  for (int i = 1; i < steps; ++i) {
    probabilities.push_back(static_cast<double>(i) / steps);
    quantiles.push_back(error_quantile(calibration, probabilities.back()));
  }
  module.register_buffer("probabilities", torch::tensor(probabilities, at::kDouble));
  module.register_buffer("quantiles", torch::tensor(quantiles, at::kDouble));
  module.define(
      "def quantile(self, probability: float) -> float:\n"
      "  at = int(torch.searchsorted(self.probabilities, probability))\n"
      "  at = max(1, min(at, self.probabilities.size(0) - 1))\n"
      "  below = float(self.probabilities[at - 1])\n"
      "  above = float(self.probabilities[at])\n"
      "  share = min(1.0, max(0.0, (probability - below) / (above - below)))\n"
      "  return float(self.quantiles[at - 1]) * (1.0 - share) + float(self.quantiles[at]) * share\n");
}

std::string torchscript(const StructuredPosterior& posterior, const nlohmann::json& card) {
  const nasbench::SearchSpace& space = posterior.model->space();
  const nasbench::StructureTable table = posterior.model->table(space.all());
  const std::size_t width = posterior.model->features().size();
  torch::jit::Module module("tenshot_predictor");
  define_parsing(module, space);

  std::map<std::size_t, std::vector<const Component*>> by_structure;
  double noise_variance = 0;
  for (const Component& component : posterior.components) {
    by_structure[component.structure].push_back(&component);
    noise_variance += component.weight * component.noise * component.noise;
  }
  module.register_attribute("noise_variance", c10::FloatType::get(), noise_variance);
  module.register_attribute("floor_ms", c10::FloatType::get(), posterior.floor_ms);
  std::size_t index = 0;
  for (const auto& [structure, components] : by_structure) {
    add_structure(module, std::to_string(index++), components, table.structures[structure], width);
  }

  const auto anchors = static_cast<std::int64_t>(posterior.residual_weights.size());
  const Eigen::MatrixXd& reduction = posterior.residual_reduction;
  module.register_buffer("signatures", bits_of(table.signatures, table.signature_words));
  module.register_buffer("anchors", bits_of(posterior.anchors, table.signature_words));
  module.register_buffer(
      "residual_weights",
      doubles({posterior.residual_weights.data(), posterior.residual_weights.data() + anchors}, {anchors}));
  module.register_buffer("residual_reduction",
                         doubles({reduction.data(), reduction.data() + anchors * anchors}, {anchors, anchors}));
  module.register_attribute("residual_variance", c10::FloatType::get(), posterior.residual_variance);
  module.register_attribute("signature_scale", c10::FloatType::get(), posterior.model->signature_scale());
  add_quantiles(module, posterior.calibration);

  module.define(log_latency_source(by_structure.size()));
  module.define(
      "def predict(self, architectures: List[str]) -> Tensor:\n"
      "  return torch.exp(self.log_latency(self.ordinals(architectures))[0])\n"
      "def forward(self, encoding: Tensor) -> Tensor:\n"
      "  return torch.exp(self.log_latency(self.ordinals_of_encoding(encoding))[0])\n"
      "def predict_interval(self, architectures: List[str], confidence: float) -> Tuple[Tensor, Tensor, Tensor]:\n"
      "  assert confidence > 0.0 and confidence <= 0.999, 'confidence is a share of 0 to 0.999, such as 0.9'\n"
      "  mean, deviation = self.log_latency(self.ordinals(architectures))\n"
      "  below = min(self.quantile((1.0 - confidence) / 2.0), 0.0)\n"
      "  above = max(self.quantile((1.0 + confidence) / 2.0), 0.0)\n"
      "  return (torch.exp(mean), torch.exp(mean + below * deviation), torch.exp(mean + above * deviation))\n");
  return with_card(module, card);
}

}  // namespace tenshot::trainer::structured
