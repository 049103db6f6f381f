#include "trainer/predictors/structured/structured_torchscript.h"

#include <torch/script.h>

#include <nlohmann/json.hpp>

#include "trainer/core/prediction_table.h"
#include "trainer/networks/torchscript_parsing.h"
#include "trainer/predictors/structured/prediction.h"

namespace tenshot::trainer::structured {
namespace {

/// Expected latency: the space's latencies, contracted with the probabilities of one decision after the other.
std::string forward_source(const std::vector<int>& decisions) {
  std::int64_t others = 1;
  for (const int options : decisions) others *= options;
  std::string source =
      "def forward(self, encoding: Tensor) -> Tensor:\n"
      "  latency: List[Tensor] = []\n"
      "  for some in torch.split(encoding.to(" +
      std::to_string(static_cast<int>(at::kDouble)) +
      "), 256):\n"
      "    rest = torch.exp(self.log_latency).expand([some.size(0), self.log_latency.size(0)])\n";
  int column = 0;
  for (const int options : decisions) {
    others /= options;
    source += "    rest = torch.bmm(some[:, " + std::to_string(column) + ":" + std::to_string(column + options) +
              "].unsqueeze(1), rest.reshape([some.size(0), " + std::to_string(options) + ", " + std::to_string(others) +
              "])).squeeze(1)\n";
    column += options;
  }
  return source +
         "    latency.append(rest.squeeze(1))\n"
         "  return torch.cat(latency)\n";
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
      "  return float(self.quantiles[at - 1]) * (1.0 - share) + float(self.quantiles[at]) * share\n"
      "def interval(self, mean: Tensor, deviation: Tensor, confidence: float) -> Tuple[Tensor, Tensor, Tensor]:\n"
      "  assert confidence > 0.0 and confidence <= 0.999, 'confidence is a share of 0 to 0.999, such as 0.9'\n"
      "  below = min(self.quantile((1.0 - confidence) / 2.0), 0.0)\n"
      "  above = max(self.quantile((1.0 + confidence) / 2.0), 0.0)\n"
      "  lower, upper = torch.exp(mean + below * deviation), torch.exp(mean + above * deviation)\n"
      "  usable = (lower > 0.0) & torch.isfinite(upper) & (upper < " +
      std::to_string(widest_interval) +
      " * lower)\n"
      "  refused = torch.full_like(mean, float('nan'))\n"
      "  return (torch.where(usable, torch.exp(mean), refused), torch.where(usable, lower, refused), "
      "torch.where(usable, upper, refused))\n");
}

std::string torchscript(const StructuredPosterior& posterior, const nlohmann::json& card, bool intervals) {
  const nasbench::SearchSpace& space = posterior.model->space();
  const LogLatency all = predict(posterior, posterior.model->table(space.all()));
  torch::jit::Module module("tenshot_predictor");
  define_parsing(module, space);
  module.register_buffer("log_latency", torch::tensor(all.mean, at::kDouble));
  module.define(forward_source(space.decisions()));
  module.define(
      "def predict(self, architectures: List[str]) -> Tensor:\n"
      "  return torch.exp(self.log_latency[self.ordinals(architectures)])\n");
  if (!intervals) return with_card(module, card);
  add_quantiles(module, posterior.calibration);
  module.register_buffer("deviation", torch::tensor(all.deviation, at::kDouble));
  module.define(
      "def predict_interval(self, architectures: List[str], confidence: float) -> Tuple[Tensor, Tensor, Tensor]:\n"
      "  ordinals = self.ordinals(architectures)\n"
      "  return self.interval(self.log_latency[ordinals], self.deviation[ordinals], confidence)\n");
  return with_card(module, card);
}

}  // namespace tenshot::trainer::structured
