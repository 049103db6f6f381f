#include "trainer/predictors/posterior/interval_torchscript.h"

#include <torch/script.h>

#include <string>

#include "trainer/core/prediction_table.h"

namespace tenshot::trainer {

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

}  // namespace tenshot::trainer
