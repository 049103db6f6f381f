#include "trainer/predictors/structured/structured_torchscript.h"

#include <torch/script.h>

#include <nlohmann/json.hpp>

#include "trainer/networks/torchscript_parsing.h"
#include "trainer/predictors/posterior/interval_torchscript.h"
#include "trainer/predictors/structured/prediction.h"

namespace tenshot::trainer::structured {
namespace {

at::Tensor tensor_of(const Eigen::VectorXd& values) {
  return torch::tensor(at::ArrayRef<double>(values.data(), static_cast<std::size_t>(values.size())), at::kDouble);
}

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

std::string torchscript(const StructuredPosterior& posterior, const nlohmann::json& card, bool intervals) {
  const nasbench::SearchSpace& space = posterior.model->space();
  const LogLatency all = predict(posterior, posterior.model->table(space.all()));
  torch::jit::Module module("tenshot_predictor");
  define_parsing(module, space);
  module.register_buffer("log_latency", tensor_of(all.mean));
  module.define(forward_source(space.decisions()));
  module.define(
      "def predict(self, architectures: List[str]) -> Tensor:\n"
      "  return torch.exp(self.log_latency[self.ordinals(architectures)])\n");
  if (!intervals) return with_card(module, card);
  add_quantiles(module, posterior.calibration);
  module.register_buffer("deviation", tensor_of(all.deviation));
  module.define(
      "def predict_interval(self, architectures: List[str], confidence: float) -> Tuple[Tensor, Tensor, Tensor]:\n"
      "  ordinals = self.ordinals(architectures)\n"
      "  return self.interval(self.log_latency[ordinals], self.deviation[ordinals], confidence)\n");
  return with_card(module, card);
}

}  // namespace tenshot::trainer::structured
