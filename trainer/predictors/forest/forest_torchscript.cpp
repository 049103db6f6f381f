#include <torch/script.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "trainer/networks/torchscript_parsing.h"
#include "trainer/predictors/forest/forest_predictor.h"

namespace tenshot::trainer {

namespace {

/// The trees as walk() takes them: every node by its number in the file.
void define_walk(torch::jit::Module& module, const RandomForest& forest) {
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
  module.register_buffer("features", torch::tensor(features, at::kLong));
  module.register_buffer("zeros", torch::tensor(zeros, at::kLong));
  module.register_buffer("ones", torch::tensor(ones, at::kLong));
  module.register_buffer("roots", torch::tensor(roots, at::kLong));
  module.register_buffer("values", torch::tensor(values));
  module.define(
      "def walk(self, encoding: Tensor) -> Tensor:\n"
      "  node = self.roots.unsqueeze(0).repeat([encoding.size(0), 1])\n"
      "  for step in range(" +
      std::to_string(forest.depth()) +
      "):\n"
      "    one = torch.gather(encoding, 1, self.features[node]) > 0.5\n"
      "    node = torch.where(one, self.ones[node], self.zeros[node])\n"
      "  return torch.exp(self.values[node].mean(1))\n");
}

}  // namespace

std::string torchscript(const RandomForest& forest, const SearchSpace& space, const nlohmann::json& card) {
  torch::jit::Module module("tenshot_predictor");
  define_parsing(module, space);
  define_walk(module, forest);
  // A relaxed encoding goes both ways at every split, with what its column says as the share of the one; nodes are
  // reached from the roots on, all of one depth at a time.
  module.define(
      "def forward(self, encoding: Tensor) -> Tensor:\n"
      "  latency: List[Tensor] = []\n"
      "  for some in torch.split(encoding, 64):\n"
      "    node = self.roots\n"
      "    share = torch.ones_like(some[:, :1]).expand([some.size(0), node.size(0)])\n"
      "    total = torch.zeros_like(some[:, 0])\n"
      "    for step in range(" +
      std::to_string(forest.depth() + 1) +
      "):\n"
      "      is_leaf = self.ones[node] == node\n"
      "      leaf = torch.nonzero(is_leaf).squeeze(1)\n"
      "      total = total + torch.mv(share[:, leaf], self.values[node[leaf]].to(some.dtype))\n"
      "      split = torch.nonzero(torch.logical_not(is_leaf)).squeeze(1)\n"
      "      one = some[:, self.features[node[split]]]\n"
      "      share = torch.cat([share[:, split] * one, share[:, split] * (1.0 - one)], 1)\n"
      "      node = torch.cat([self.ones[node[split]], self.zeros[node[split]]])\n"
      "    latency.append(torch.exp(total / self.roots.size(0)))\n"
      "  return torch.cat(latency)\n"
      "def predict(self, architectures: List[str]) -> Tensor:\n"
      "  return self.walk(self.encode(architectures))\n");
  return with_card(module, card);
}

}  // namespace tenshot::trainer
