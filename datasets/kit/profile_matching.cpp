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

/// TensorRT 10 calls a layer that its compiler made of "conv1" "conv1_myl0_4".
void drop_compiler_number(std::string& name) {
  const std::size_t at = name.rfind("_myl");
  if (at > 0 && at != std::string::npos && name.find_first_not_of("0123456789_", at + 4) == std::string::npos)
    name.resize(at);
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
  for (const std::string_view end : {":0", "_nchwc", "_quant", "_fused", "/WithoutBiases", "/MatMulAddFusion",
                                     "/LayerNormFusion/", "/SimplifiedLayerNormFusion/"}) {
    if (name.size() > end.size() && ends_with(name, end)) name.resize(name.size() - end.size());
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
  const std::size_t begin = layer.find("ForeignNode["), dots = layer.find("...", begin), end = layer.rfind(']');
  if (dots == std::string::npos || end == std::string::npos || end < dots) return {};
  const std::size_t first_begin = begin + std::string_view("ForeignNode[").size();
  const int first = node_of(layer.substr(first_begin, dots - first_begin), operators),
            last = node_of(layer.substr(dots + 3, end - dots - 3), operators);
  std::vector<int> nodes;
  for (int node = std::min(first, last); first >= 0 && last >= 0 && node <= std::max(first, last); ++node) {
    nodes.push_back(node);
  }
  return nodes;
}

std::vector<int> nodes_of(const std::string& layer, const Names& operators) {
  if (const int node = node_of(layer, operators); node >= 0) return {node};
  const bool copies = begins_with(layer, "Reformatting CopyNode") || begins_with(layer, "Reorder") ||
                      layer.find("put reformatter ") != std::string::npos;
  if (copies) return {};
  if (const std::size_t end = layer.rfind("]:"); begins_with(layer, "[") && end != std::string::npos) {
    if (const int node = node_of(layer.substr(1, end - 1), operators); node >= 0) return {node};  // "[a;b]:4" of Keras
  }
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
  static const std::map<std::string, std::string> kinds =
      by_name<std::string>({{"convolution", "CONV_2D Conv FusedConv Convolution"},
                            {"depthwise", "DEPTHWISE_CONV_2D GroupConvolution"},
                            {"linear", "FULLY_CONNECTED FullyConnected Gemm FusedGemm"},
                            {"max_pool", "MAX_POOL_2D MaxPooling MaxPool"},
                            {"average_pool", "AVERAGE_POOL_2D AveragePooling AveragePool"},
                            {"global_pool", "MEAN GlobalAveragePooling"},
                            {"softmax", "SOFTMAX Softmax"},
                            {"concatenate", "CONCATENATION Concat"},
                            {"add", "ADD Add"},
                            {"multiply", "MUL Mul Multiply"}});
  // XNNPACK writes blanks, and says the layout, the type and the kernel too: "Convolution (NHWC, F32) DWConv".
  if (layer.kind.find(") DWConv") != std::string::npos) return "depthwise";
  std::string name = layer.kind.substr(0, layer.kind.find(" ("));
  name.erase(std::remove(name.begin(), name.end(), ' '), name.end());
  const auto found = kinds.find(name);
  return found == kinds.end() ? "" : found->second;
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
    const auto known = [&](const std::vector<std::vector<int>>& all) {
      return layers_.size() - static_cast<std::size_t>(std::count(all.begin(), all.end(), std::vector<int>()));
    };
    if (2 * known(nodes) < layers_.size()) {
      std::vector<std::vector<int>> ordered = by_order();
      if (known(ordered) > known(nodes)) nodes = std::move(ordered);
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
      const bool convolves = kind == "convolution" || kind == "depthwise";
      if (!convolves && kind != "linear") continue;
      add_what_it_ends(convolves ? OperatorKind::convolution : OperatorKind::linear, nodes.back());
      // Networks have names such as node_7 in common: what multiplies nothing is not the convolution of that name.
      if (std::none_of(nodes.back().begin(), nodes.back().end(), [&](int node) { return arithmetic(node) > 0; })) {
        nodes.back().clear();
      }
    }
    return nodes;
  }

  /// ONNX Runtime calls a fused convolution by its last output, the activation's: goes back to the nearest such node.
  void add_what_it_ends(OperatorKind kind, std::vector<int>& nodes) const {
    constexpr std::size_t most_fused = 4;
    const auto is_of_kind = [&](int node) { return operation(node).kind == kind; };
    if (nodes.empty() || std::any_of(nodes.begin(), nodes.end(), is_of_kind)) return;
    std::vector<int> chain = {nodes.front()};
    while (!is_of_kind(chain.back())) {
      int before = -1;  // of a sum, the later branch: the earlier one goes around the convolution
      for (const nasbench::Source& input : network_.nodes[static_cast<std::size_t>(chain.back())].inputs) {
        before = std::max(before, input.node);
      }
      if (before < 0 || chain.size() > most_fused) return;
      chain.push_back(before);
    }
    for (const int fused : chain) {
      if (std::find(nodes.begin(), nodes.end(), fused) == nodes.end()) nodes.push_back(fused);
    }
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
