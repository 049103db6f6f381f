#include <torch/script.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "trainer/networks/torchscript_parsing.h"
#include "trainer/predictors/forest/forest_predictor.h"

namespace tenshot::trainer {

std::string torchscript(const RandomForest& forest, const SearchSpace& space, const nlohmann::json& card) {
  std::vector<std::int64_t> features, zeros, ones, roots;
  std::vector<float> values;
  for (const RegressionTree& tree : forest.trees) {
    const auto root = static_cast<std::int64_t>(values.size());
    roots.push_back(root);
    for (const TreeNode& node : tree.nodes) {
      features.push_back(std::max<std::int32_t>(node.feature, 0));
      const bool leaf = node.feature < 0;
      const auto self = static_cast<std::int64_t>(values.size());
      zeros.push_back(leaf ? self : root + node.zero);
      ones.push_back(leaf ? self : root + node.one);
      values.push_back(node.value);
    }
  }
  torch::jit::Module module("tenshot_predictor");
  module.register_buffer("features", torch::tensor(features, at::kLong));
  module.register_buffer("zeros", torch::tensor(zeros, at::kLong));
  module.register_buffer("ones", torch::tensor(ones, at::kLong));
  module.register_buffer("roots", torch::tensor(roots, at::kLong));
  module.register_buffer("values", torch::tensor(values));
  define_parsing(module, space);
  module.define(
      "def forward(self, encoding: Tensor) -> Tensor:\n"
      "  node = self.roots.unsqueeze(0).repeat([encoding.size(0), 1])\n"
      "  for step in range(" +
      std::to_string(forest.depth()) +
      "):\n"
      "    one = torch.gather(encoding, 1, self.features[node]) > 0.5\n"
      "    node = torch.where(one, self.ones[node], self.zeros[node])\n"
      "  return torch.exp(self.values[node].mean(1))\n"
      "def predict(self, architectures: List[str]) -> Tensor:\n"
      "  return self.forward(self.encode(architectures))\n");
  return with_card(module, card);
}

}  // namespace tenshot::trainer
