#include "trainer/predictors/operators/operators_torchscript.h"

#include <torch/script.h>

#include <nlohmann/json.hpp>
#include <numeric>

#include "nasbench/spaces/networks.h"
#include "trainer/networks/torchscript_parsing.h"
#include "trainer/predictors/operators/encoded_features.h"
#include "trainer/predictors/posterior/interval_torchscript.h"

namespace tenshot::trainer::operators {
namespace {

using Eigen::Index;

// TorchScript source built in C++ knows no torch.int64 and no torch.float64; their own numbers do.
const std::string int64 = std::to_string(static_cast<int>(at::kLong));
const std::string float64 = std::to_string(static_cast<int>(at::kDouble));

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
  module.register_buffer("feature_unit", tensor_of(unit.transpose()));
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
      "  width = self.feature_unit.size(1)\n"
      "  x = features[:, :width].to(" +
      float64 +
      ") / self.feature_unit\n"
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
  if (posterior.places.compared()) {  // roots begin above zero, where their gradient is a number
    source +=
        "  shares = torch.clamp_min(x[:, :self.typical.size(1)] * self.typical, 0.0)\n"
        "  total = torch.clamp_min(shares.sum(1, keepdim=True), 1e-12)\n"
        "  roots = torch.sqrt(torch.clamp_min(shares / total, 1e-24))\n"
        "  place = torch.cat([roots / self.length, torch.log(total) / self.scale], 1)\n"
        "  squared = (place * place).sum(1, keepdim=True) - 2.0 * torch.mm(place, self.anchors.t()) + "
        "(self.anchors * self.anchors).sum(1)\n"
        "  near = torch.exp(-torch.sqrt(torch.clamp_min(squared, 1e-24)))\n"
        "  closest = torch.amax(near, 1)\n"
        "  mean = mean + torch.mv(near, self.anchor_weights)\n"
        "  variance = variance + self.residual_variance * (1.0 - closest * closest / (1.0 + self.place_noise))\n"
        "  size, sizes = place[:, -1], self.anchors[:, -1]\n"
        "  above = -torch.expm1(-2.0 * self.scale * torch.clamp_min(size - torch.max(sizes), 0.0))\n"
        "  below = -torch.expm1(-2.0 * self.scale * torch.clamp_min(torch.min(sizes) - size, 0.0))\n"
        "  variance = variance + self.variance_above * above + self.variance_below * below\n";
  }
  return source +
         "  for unknown in torch.unbind(features[:, width:], 1):\n"
         "    variance = variance + unknown * unknown\n"
         "  return (mean, torch.sqrt(variance))\n";
}

/// encode() and features() of a space whose options combine.
void define_encoded_features(torch::jit::Module& module, const nasbench::SearchSpace& space, const FeatureMap& map) {
  define_parsing(module, space);
  EncodedFeatures encoded = encoded_features(space, map);
  const Index features = encoded.first.size(), uses = static_cast<Index>(encoded.first_uses.size());
  const auto undivided = [&](Eigen::Ref<Eigen::MatrixXd> rows) {
    rows.leftCols(map.unit.size()) = rows.leftCols(map.unit.size()) * map.unit.asDiagonal();
    return tensor_of(rows);
  };
  Eigen::MatrixXd first = encoded.first, used = Eigen::MatrixXd::Zero(uses, features);
  for (Index u = 0; u < uses; ++u) {
    used(u, encoded.first_uses[static_cast<std::size_t>(u)].feature) =
        encoded.first_uses[static_cast<std::size_t>(u)].value;
  }
  c10::List<c10::List<std::int64_t>> columns;
  std::vector<at::Tensor> parts = {torch::empty({0, features + uses}, at::kDouble)};
  for (EncodedFeatures::Part& part : encoded.parts) {
    c10::List<std::int64_t> of_part;  // where each decision's options begin, and how many there are
    for (const std::size_t d : part.decisions) {
      const auto at = space.decisions().begin() + static_cast<std::ptrdiff_t>(d);
      of_part.push_back(std::accumulate(space.decisions().begin(), at, 0));
      of_part.push_back(*at);
    }
    columns.push_back(of_part);
    parts.push_back(undivided(part.rows));
  }
  module.register_buffer("first_features", undivided(first));
  module.register_buffer("added_features", undivided(encoded.added));
  module.register_buffer("part_features", torch::cat(parts));
  module.register_buffer("first_uses", undivided(used));
  module.register_attribute("part_columns", c10::ListType::create(c10::ListType::ofInts()), columns);
  module.define(
      "def features(self, encoding: Tensor) -> Tensor:\n"
      "  x = encoding.to(" +
      float64 +
      ")\n"
      "  width = self.first_features.size(1)\n"
      "  features = self.first_features + torch.mm(x, self.added_features)\n"
      "  ones = torch.ones_like(x[:, :1])\n"
      "  unused = ones.expand([x.size(0), self.first_uses.size(0)])\n"
      "  row = 0\n"
      "  for columns in self.part_columns:\n"
      "    combination = ones\n"
      "    for i in range(len(columns) // 2):\n"
      "      options = x[:, columns[2 * i]:columns[2 * i] + columns[2 * i + 1]]\n"
      "      combination = (combination.unsqueeze(2) * options.unsqueeze(1)).flatten(1)\n"
      "    part = torch.mm(combination, self.part_features[row:row + combination.size(1)])\n"
      "    row += combination.size(1)\n"
      "    features = features + part[:, :width]\n"
      "    unused = unused * (1.0 - part[:, width:])\n"
      "  return features + torch.mm(1.0 - unused, self.first_uses)\n");
}

/// encode() and features() of networks by name.
void define_named_features(torch::jit::Module& module, const FeatureMap& map, const CostPosterior& posterior,
                           const nlohmann::json& card) {
  const std::vector<nasbench::Architecture> networks = carried_networks(card);
  c10::Dict<std::string, std::int64_t> rows;
  for (std::size_t i = 0; i < networks.size(); ++i) {
    rows.insert_or_assign(nasbench::networks().format(networks[i]), static_cast<std::int64_t>(i));
  }
  module.register_attribute("rows", c10::DictType::create(c10::StringType::get(), c10::IntType::get()), rows);
  module.register_buffer("network_features",
                         tensor_of(network_encoding(nasbench::networks(), map, posterior, networks)));
  module.define(
      "def encode(self, networks: List[str]) -> Tensor:\n"
      "  rows: List[int] = []\n"
      "  for name in networks:\n"
      "    assert name in self.rows, 'the file carries no network ' + name + '; give forward() what tenshot network "
      "features writes of its file'\n"
      "    rows.append(self.rows[name])\n"
      "  return self.network_features[torch.tensor(rows, dtype=" +
      int64 +
      ")]\n"
      "def features(self, encoding: Tensor) -> Tensor:\n"
      "  return encoding.to(" +
      float64 + ")\n");
}

}  // namespace

std::string torchscript(const nasbench::SearchSpace& space, const FeatureMap& map, const CostPosterior& posterior,
                        const nlohmann::json& card, bool intervals) {
  torch::jit::Module module("tenshot_predictor");
  add_buffers(module, map, posterior);
  module.define(log_latency_source(posterior));
  if (space.composed()) {
    define_encoded_features(module, space, map);
  } else {
    define_named_features(module, map, posterior, card);
  }
  if (intervals) {
    add_quantiles(module, posterior.calibration);
    module.define(
        "def forward_interval(self, encoding: Tensor, confidence: float) -> Tuple[Tensor, Tensor, Tensor]:\n"
        "  mean, deviation = self.log_latency(self.features(encoding))\n"
        "  return self.interval(mean, deviation, confidence)\n"
        "def predict_interval(self, architectures: List[str], confidence: float) -> Tuple[Tensor, Tensor, Tensor]:\n"
        "  return self.forward_interval(self.encode(architectures), confidence)\n");
  }
  const bool refuses = intervals && !space.composed();  // those of a space are made of the same operators
  module.define("def forward(self, encoding: Tensor) -> Tensor:\n" +
                std::string(refuses ? "  return self.forward_interval(encoding, 0.9)[0]\n"
                                    : "  return torch.exp(self.log_latency(self.features(encoding))[0])\n") +
                "def predict(self, architectures: List[str]) -> Tensor:\n"
                "  return self.forward(self.encode(architectures))\n");
  return with_card(module, card);
}

}  // namespace tenshot::trainer::operators
