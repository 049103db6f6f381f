#include "trainer/predictors/operators/operators_torchscript.h"

#include <torch/script.h>

#include <nlohmann/json.hpp>
#include <optional>

#include "trainer/networks/torchscript_parsing.h"
#include "trainer/predictors/operators/linear_features.h"
#include "trainer/predictors/structured/structured_torchscript.h"

namespace tenshot::trainer::operators {
namespace {

using Eigen::Index;

at::Tensor tensor_of(const Eigen::MatrixXd& matrix) {
  at::Tensor tensor = torch::empty({matrix.rows(), matrix.cols()}, at::kDouble);
  Eigen::Map<Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>>(
      tensor.data_ptr<double>(), matrix.rows(), matrix.cols()) = matrix;
  return tensor;
}

void add_buffers(torch::jit::Module& module, const FeatureMap& map, const CostPosterior& posterior) {
  const auto components = static_cast<Index>(posterior.components.size());
  const Eigen::MatrixXd costs = posterior.all_costs_ms();
  Eigen::VectorXd weights(components), unit = Eigen::VectorXd::Ones(posterior.spread_ms.rows());
  for (Index c = 0; c < components; ++c) weights[c] = posterior.components[static_cast<std::size_t>(c)].weight;
  unit.head(map.unit.size()) = map.unit;
  module.register_buffer("unit", tensor_of(unit.transpose()));
  module.register_buffer("costs", tensor_of(costs.leftCols(components)));
  module.register_buffer("least", tensor_of(costs.rightCols(1)));
  module.register_buffer("weights", tensor_of(weights).view({-1}));
  module.register_buffer("spread", tensor_of(posterior.spread_ms));
  module.register_buffer("rest", tensor_of(posterior.rest_ms2).view({-1}));
  module.register_attribute("floor_ms", c10::FloatType::get(), posterior.floor_ms);
  module.register_attribute("noise_variance", c10::FloatType::get(), posterior.noise_variance());
  if (!posterior.places.compared()) return;
  module.register_buffer("typical", tensor_of(posterior.places.typical_costs.transpose()));
  module.register_buffer("anchors", tensor_of(posterior.anchors));
  module.register_buffer("anchor_weights", tensor_of(posterior.anchor_weights).view({-1}));
  module.register_attribute("length", c10::FloatType::get(), posterior.places.length);
  module.register_attribute("scale", c10::FloatType::get(), posterior.places.scale);
  module.register_attribute("place_noise", c10::FloatType::get(), posterior.places.noise);
  module.register_attribute("residual_variance", c10::FloatType::get(), posterior.residual_variance);
  module.register_attribute("variance_above", c10::FloatType::get(), posterior.reach_variance.above);
  module.register_attribute("variance_below", c10::FloatType::get(), posterior.reach_variance.below);
}

std::string log_latency_source(const CostPosterior& posterior) {
  std::string source =
      "def log_latency(self, features: Tensor) -> Tuple[Tensor, Tensor]:\n"
      "  x = features.to(" +
      std::to_string(static_cast<int>(at::kDouble)) +
      ") / self.unit\n"
      "  least = torch.clamp_min(torch.mm(x, self.least), self.floor_ms)\n"
      "  parts = torch.log(torch.maximum(torch.mm(x, self.costs), least))\n"
      "  mean = torch.mv(parts, self.weights)\n"
      "  between = torch.clamp_min(torch.mv(parts * parts, self.weights) - mean * mean, 0.0)\n"
      "  spread = torch.mm(x, self.spread)\n"
      "  own = (spread * spread).sum(1) + torch.clamp_min(torch.mv(x, self.rest), 0.0)\n"
      "  relative = own / torch.exp(2.0 * mean)\n"
      "  variance = between + " +
      std::string(posterior.least_costs_ms.size() > 0 ? "torch.log1p(relative)" : "relative") +
      " + self.noise_variance\n";
  if (posterior.places.compared()) {
    source +=
        "  shares = torch.clamp_min(x[:, :self.typical.size(1)] * self.typical, 0.0)\n"
        "  total = torch.clamp_min(shares.sum(1, keepdim=True), 1e-12)\n"
        "  place = torch.cat([torch.sqrt(shares / total) / self.length, torch.log(total) / self.scale], 1)\n"
        "  squared = (place * place).sum(1, keepdim=True) - 2.0 * torch.mm(place, self.anchors.t()) + "
        "(self.anchors * self.anchors).sum(1)\n"
        "  near = torch.exp(-torch.sqrt(torch.clamp_min(squared, 0.0)))\n"
        "  closest = torch.amax(near, 1)\n"
        "  mean = mean + torch.mv(near, self.anchor_weights)\n"
        "  variance = variance + self.residual_variance * (1.0 - closest * closest / (1.0 + self.place_noise))\n"
        "  size, sizes = place[:, -1], self.anchors[:, -1]\n"
        "  above = -torch.expm1(-2.0 * self.scale * torch.clamp_min(size - torch.max(sizes), 0.0))\n"
        "  below = -torch.expm1(-2.0 * self.scale * torch.clamp_min(torch.min(sizes) - size, 0.0))\n"
        "  variance = variance + self.variance_above * above + self.variance_below * below\n";
  }
  return source + "  return (mean, torch.sqrt(variance))\n";
}

}  // namespace

std::string torchscript(const nasbench::SearchSpace& space, const FeatureMap& map, const CostPosterior& posterior,
                        const nlohmann::json& card) {
  torch::jit::Module module("tenshot_predictor");
  add_buffers(module, map, posterior);
  structured::add_quantiles(module, posterior.calibration);
  module.define(log_latency_source(posterior));
  module.define(
      "def forward(self, features: Tensor) -> Tensor:\n"
      "  return torch.exp(self.log_latency(features)[0])\n"
      "def predict_interval(self, features: Tensor, confidence: float) -> Tuple[Tensor, Tensor, Tensor]:\n"
      "  assert confidence > 0.0 and confidence <= 0.999, 'confidence is a share of 0 to 0.999, such as 0.9'\n"
      "  mean, deviation = self.log_latency(features)\n"
      "  below = min(self.quantile((1.0 - confidence) / 2.0), 0.0)\n"
      "  above = max(self.quantile((1.0 + confidence) / 2.0), 0.0)\n"
      "  return (torch.exp(mean), torch.exp(mean + below * deviation), torch.exp(mean + above * deviation))\n");
  if (std::optional<Eigen::MatrixXd> linear = linear_features(space, map)) {
    define_parsing(module, space);
    linear->leftCols(map.unit.size()) = linear->leftCols(map.unit.size()) * map.unit.asDiagonal();
    module.register_buffer("first_features", tensor_of(linear->topRows(1)));
    module.register_buffer("added_features", tensor_of(linear->bottomRows(linear->rows() - 1)));
    module.define(
        "def predict(self, architectures: List[str]) -> Tensor:\n"
        "  encoding = self.encode(architectures).to(" +
        std::to_string(static_cast<int>(at::kDouble)) +
        ")\n"
        "  return self.forward(self.first_features + torch.mm(encoding, self.added_features))\n");
  }
  return with_card(module, card);
}

}  // namespace tenshot::trainer::operators
