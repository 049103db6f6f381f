#include "datasets/kit/profile_matching.h"

#include <algorithm>
#include <array>

#include "nasbench/support/text.h"
#include "nasbench/support/words.h"

namespace tenshot::datasets {
namespace {

using nasbench::Network;
using nasbench::OperatorKind;
using Names = std::unordered_map<std::string, int>;

void drop_end(std::string& text, std::string_view end) {
  if (text.size() > end.size() && ends_with(text, end)) text.resize(text.size() - end.size());
}

/// TensorRT 10 calls a layer that its compiler made of "conv1" "conv1_myl0_4".
void drop_compiler_number(std::string& name) {
  const std::size_t number = name.find_last_not_of("0123456789"), at = name.rfind("_myl");
  if (at == std::string::npos || number == std::string::npos || name[number] != '_') return;
  const std::size_t graph = name.find_last_not_of("0123456789", number - 1);
  if (number < name.size() - 1 && graph == at + 3 && at > 0) name.resize(at);
}

/// One name of a layer without what runtimes put around it; -1 where the model has no such name.
int node_of(std::string name, const Names& operators) {
  const auto find = [&] {
    const auto found = operators.find(name);
    return found == operators.end() ? -1 : found->second;
  };
  if (const int node = find(); node >= 0) return node;
  for (const std::string_view start : {"node_of_", "fused_", "fused "}) {
    if (!begins_with(name, start)) continue;
    name.erase(0, start.size());
    if (const int node = find(); node >= 0) return node;
  }
  drop_compiler_number(name);
  if (const int node = find(); node >= 0) return node;
  for (const std::string_view end : {":0", "_nchwc", "_quant", "_fused", "/WithoutBiases"}) {
    drop_end(name, end);
    if (const int node = find(); node >= 0) return node;
  }
  return -1;
}

/// The parts of a layer's name that may be names of nodes.
std::vector<std::string> parts_of(const std::string& layer) {
  const std::array<std::string, 8> separators = {" + ", " || ", ";", "PWN(", ", ", "(", ")", "["};
  std::vector<std::string> parts = {layer};
  for (const std::string& separator : separators) {
    std::vector<std::string> finer;
    for (const std::string& part : parts) {
      for (const std::string& piece : filled_parts(part, separator)) finer.push_back(piece);
    }
    parts = std::move(finer);
  }
  for (std::string& part : parts) part.resize(std::min(part.size(), part.find(']')));  // "[conv1]:4"
  return parts;
}

/// "{ForeignNode[first...last]}": all nodes from one to the other.
std::vector<int> between(const std::string& layer, const Names& operators) {
  const std::size_t begin = layer.find("ForeignNode["),
                    dots = layer.find("...", begin == std::string::npos ? 0 : begin), end = layer.rfind(']');
  if (begin == std::string::npos || dots == std::string::npos || end == std::string::npos || end < dots) return {};
  const std::size_t first_begin = begin + std::string_view("ForeignNode[").size();
  const int first = node_of(layer.substr(first_begin, dots - first_begin), operators),
            last = node_of(layer.substr(dots + 3, end - dots - 3), operators);
  std::vector<int> nodes;
  for (int node = std::min(first, last); first >= 0 && last >= 0 && node <= std::max(first, last); ++node) {
    nodes.push_back(node);
  }
  return nodes;
}

bool is_a_copy(const std::string& layer) {
  return begins_with(layer, "Reformatting CopyNode") || begins_with(layer, "Reorder");
}

std::vector<int> nodes_of(const std::string& layer, const Names& operators) {
  if (const int node = node_of(layer, operators); node >= 0) return {node};
  if (is_a_copy(layer)) return {};
  std::vector<int> nodes = between(layer, operators);
  if (!nodes.empty()) return nodes;
  for (const std::string& part : parts_of(layer)) {
    const int node = node_of(part, operators);
    if (node >= 0 && std::find(nodes.begin(), nodes.end(), node) == nodes.end()) nodes.push_back(node);
  }
  return nodes;
}

/// What layers and nodes are counted by where there are no names: "convolution", "depthwise", …; empty for others.
std::string kind_of_layer(const LayerTime& layer) {
  static const std::map<std::string, std::vector<std::string>> kinds = {
      {"convolution", {"CONV_2D", "Conv", "FusedConv", "Convolution"}},
      {"depthwise", {"DEPTHWISE_CONV_2D", "GroupConvolution"}},
      {"linear", {"FULLY_CONNECTED", "Fully Connected", "Gemm", "FusedGemm", "FullyConnected"}},
      {"max_pool", {"Max Pooling", "MAX_POOL_2D", "MaxPool"}},
      {"average_pool", {"Average Pooling", "AVERAGE_POOL_2D", "AveragePool"}},
      {"global_pool", {"Global Average Pooling", "MEAN"}},
      {"softmax", {"SOFTMAX", "Softmax"}},
      {"concatenate", {"CONCATENATION", "Concat"}},
      {"add", {"ADD", "Add"}},
      {"multiply", {"MUL", "Mul", "Multiply"}}};
  // XNNPACK says the layout, the type and the kernel too: "Convolution (NHWC, F32) DWConv".
  if (layer.kind.find(") DWConv") != std::string::npos) return "depthwise";
  const std::string name = layer.kind.substr(0, layer.kind.find(" ("));
  for (const auto& [kind, layers] : kinds) {
    if (std::find(layers.begin(), layers.end(), name) != layers.end()) return kind;
  }
  return "";
}

std::string kind_of_node(const nasbench::OperatorSpecification& operation, bool depthwise_apart) {
  if (operation.kind == OperatorKind::convolution && operation.groups > 1 && depthwise_apart) return "depthwise";
  return std::string(name(operation.kind));
}

class Matching {
 public:
  Matching(const std::vector<LayerTime>& layers, const Network& network, const Names& operators)
      : layers_(layers), network_(network), operators_(operators) {
    matched_.node_ms.resize(network.nodes.size());
    matched_.layers = layers.size();
  }

  MatchedProfile match() {
    std::vector<std::vector<int>> nodes = by_name();
    const auto named = std::count_if(nodes.begin(), nodes.end(), [](const auto& of) { return !of.empty(); });
    if (2 * static_cast<std::size_t>(named) < layers_.size()) {
      std::vector<std::vector<int>> ordered = by_order();
      const auto found = std::count_if(ordered.begin(), ordered.end(), [](const auto& of) { return !of.empty(); });
      if (found > named) nodes = std::move(ordered);
    }
    for (std::size_t i = 0; i < layers_.size(); ++i) {
      matched_.ms += layers_[i].ms;
      if (nodes[i].empty()) continue;
      ++matched_.matched;
      matched_.matched_ms += layers_[i].ms;
      add(layers_[i].ms, nodes[i]);
    }
    return std::move(matched_);
  }

 private:
  std::vector<std::vector<int>> by_name() const {
    std::vector<std::vector<int>> nodes;
    for (const LayerTime& layer : layers_) {
      nodes.push_back(nodes_of(layer.name, operators_));
      const std::string kind = kind_of_layer(layer);
      if (kind == "convolution" || kind == "depthwise") add_what_it_ends(OperatorKind::convolution, nodes.back());
      if (kind == "linear") add_what_it_ends(OperatorKind::linear, nodes.back());
    }
    return nodes;
  }

  /// ONNX Runtime calls a fused convolution by its last output, that of the activation: goes back to the nearest node
  /// of that kind.
  void add_what_it_ends(OperatorKind kind, std::vector<int>& nodes) const {
    constexpr int most_fused = 4;
    const auto is_of_kind = [&](int node) { return operation(node).kind == kind; };
    if (nodes.empty() || std::any_of(nodes.begin(), nodes.end(), is_of_kind)) return;
    std::vector<int> chain;
    int node = nodes.front();
    while (node >= 0 && !is_of_kind(node) && static_cast<int>(chain.size()) < most_fused) {
      chain.push_back(node);
      int before = -1;  // of a sum, the later branch: the earlier one goes around the convolution
      for (const nasbench::Source& input : network_.nodes[static_cast<std::size_t>(node)].inputs) {
        before = std::max(before, input.node);
      }
      node = before;
    }
    if (node < 0 || !is_of_kind(node)) return;
    for (const int fused : chain) {
      if (std::find(nodes.begin(), nodes.end(), fused) == nodes.end()) nodes.push_back(fused);
    }
    nodes.push_back(node);
  }

  std::vector<std::vector<int>> by_order() const {
    std::map<std::string, std::vector<std::size_t>> layers_of;
    for (std::size_t i = 0; i < layers_.size(); ++i) {
      const std::string kind = kind_of_layer(layers_[i]);
      if (!kind.empty()) layers_of[kind].push_back(i);
    }
    const bool apart = layers_of.count("depthwise") > 0;
    std::map<std::string, std::vector<int>> nodes_of_kind;
    for (std::size_t i = 0; i < network_.nodes.size(); ++i) {
      nodes_of_kind[kind_of_node(network_.nodes[i].operation, apart)].push_back(static_cast<int>(i));
    }
    std::vector<std::vector<int>> nodes(layers_.size());
    for (const auto& [kind, places] : layers_of) {
      const std::vector<int>& candidates = nodes_of_kind[kind];
      if (candidates.size() != places.size()) continue;
      for (std::size_t i = 0; i < places.size(); ++i) nodes[places[i]] = {candidates[i]};
    }
    return nodes;
  }

  const nasbench::OperatorSpecification& operation(int node) const {
    return network_.nodes[static_cast<std::size_t>(node)].operation;
  }
  double arithmetic(int node) const { return static_cast<double>(nasbench::multiply_adds(operation(node))); }

  void add(double ms, const std::vector<int>& nodes) {
    const int leading =
        *std::max_element(nodes.begin(), nodes.end(), [&](int a, int b) { return arithmetic(a) < arithmetic(b); });
    for (const int node : nodes) {
      std::optional<double>& of_node = matched_.node_ms[static_cast<std::size_t>(node)];
      of_node = of_node.value_or(0) + (node == leading ? ms : 0);
    }
  }

  const std::vector<LayerTime>& layers_;
  const Network& network_;
  const Names& operators_;
  MatchedProfile matched_;
};

}  // namespace

MatchedProfile match_profile(const std::vector<LayerTime>& layers, const Network& network, const Names& operators) {
  return Matching(layers, network, operators).match();
}

std::vector<KernelRow> operator_rows(const MatchedProfile& matched, const Network& network, const std::string& name) {
  std::vector<KernelRow> rows;
  for (const std::vector<int>& nodes : equal_nodes(network)) {
    std::vector<double> times_ms;
    for (const int node : nodes) {
      if (const auto& ms = matched.node_ms[static_cast<std::size_t>(node)]) times_ms.push_back(*ms);
    }
    if (!times_ms.empty()) rows.push_back(profiled_row(network, nodes.front(), name, std::move(times_ms)));
  }
  return rows;
}

}  // namespace tenshot::datasets
