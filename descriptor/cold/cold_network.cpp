#include "descriptor/cold/cold_network.h"

#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "nasbench/support/error.h"
#include "nasbench/support/numbers.h"

namespace tenshot::descriptor {

using nasbench::NetworkNode;
using nasbench::OperatorKind;
using nasbench::Shape;
using nasbench::Source;

namespace {

[[noreturn]] void refuse(const NetworkNode& node, const std::string& why) {
  const std::string kind =
      std::string(nasbench::name(node.operation.kind)) + (node.operation.name.empty() ? "" : " " + node.operation.name);
  throw InputError("node '" + node.name + "' (" + kind + "): the cold engine has no kernel for it: " + why);
}

/// The activation of a node; nothing where the engine does not know it.
std::optional<ColdActivation> activation_of(const NetworkNode& node) {
  static const std::set<std::string> known = {"relu", "relu6",        "clip", "leaky_relu", "hard_swish", "sigmoid",
                                              "silu", "hard_sigmoid", "tanh", "gelu",       "elu"};
  const std::string& name = node.operation.name;
  if (known.count(name) == 0) return std::nullopt;
  return ColdActivation{name, node.attributes.alpha, node.attributes.beta};
}

class Converter {
 public:
  explicit Converter(const nasbench::Network& network) : network_(network), readers_(network.nodes.size(), 0) {
    for (const NetworkNode& node : network.nodes) count(node.inputs);
    count(network.outputs);
  }

  ColdNetwork convert() {
    if (network_.inputs.size() != 1 || network_.outputs.size() != 1) {
      throw InputError("the network has " + std::to_string(network_.inputs.size()) + " inputs and " +
                       std::to_string(network_.outputs.size()) + " outputs; the cold engine expects one of each");
    }
    result_.input = tensor({-1, 0}, network_.inputs[0].type.shape);
    for (std::size_t i = 0; i < network_.nodes.size(); ++i) add(static_cast<int>(i), network_.nodes[i]);
    result_.output = tensors_.at(network_.outputs[0]);
    return std::move(result_);
  }

 private:
  void count(const std::vector<Source>& sources) {
    for (const Source& source : sources) {
      if (source.node >= 0) ++readers_[static_cast<std::size_t>(source.node)];
    }
  }

  int tensor(const Source& source, const Shape& shape) {
    result_.tensors.push_back(shape);
    return tensors_[source] = static_cast<int>(result_.tensors.size()) - 1;
  }

  void add(int index, const NetworkNode& node) {
    if (node.operation.type != nasbench::ElementType::float32) refuse(node, "it computes no 32-bit floats");
    if (folds_into_last(node)) {
      tensors_[{index, 0}] = tensors_.at(node.inputs[0]);
      return;
    }
    if (node.operation.kind == OperatorKind::split) return add_slices(index, node);
    ColdLayer layer = layer_of(node);
    for (const Source& source : node.inputs) layer.inputs.push_back(tensors_.at(source));
    // The operand that repeats stands second.
    if (node.inputs.size() == 2 && (layer.kind == ColdKind::add || layer.kind == ColdKind::multiply) &&
        node.operation.inputs[0] != node.operation.output) {
      std::swap(layer.inputs[0], layer.inputs[1]);
    }
    layer.output = tensor({index, 0}, node.outputs[0].shape);
    makers_[layer.output] = result_.layers.size();
    result_.layers.push_back(std::move(layer));
  }

  /// A batch norm or an activation behind a layer that nothing else reads becomes part of that layer.
  bool folds_into_last(const NetworkNode& node) {
    if (node.inputs.size() != 1 || node.inputs[0].node < 0) return false;
    const auto maker = makers_.find(tensors_.at(node.inputs[0]));
    if (readers_[static_cast<std::size_t>(node.inputs[0].node)] != 1 || maker == makers_.end()) return false;
    ColdLayer& layer = result_.layers[maker->second];
    if (!layer.activation.name.empty()) return false;
    if (node.operation.kind == OperatorKind::batch_norm && layer.has_weights()) {
      layer.norms_of.push_back(node.name);
      layer.norm_epsilons.push_back(node.attributes.alpha);
      return true;
    }
    const bool applies = layer.has_weights() || layer.kind == ColdKind::add;
    if (node.operation.kind != OperatorKind::activation || !applies) return false;
    if (const auto activation = activation_of(node)) layer.activation = *activation;
    return !layer.activation.name.empty();
  }

  ColdLayer layer_of(const NetworkNode& node) const {
    const nasbench::OperatorSpecification& op = node.operation;
    ColdLayer layer;
    layer.name = node.name;
    layer.kernel = op.kernel;
    layer.stride = op.stride;
    layer.dilation = op.dilation;
    layer.padding = node.attributes.padding;
    layer.groups = op.groups;
    const Shape& in = op.inputs.empty() ? op.output : op.inputs[0];
    switch (op.kind) {
      case OperatorKind::convolution:
      case OperatorKind::max_pool:
      case OperatorKind::average_pool:
        if (in.size() != 4) refuse(node, "its input is no image");
        fill_window(node, layer);
        break;
      case OperatorKind::linear:
        if (in.size() != 2) refuse(node, "its input has not two dimensions");
        layer.kind = ColdKind::linear;
        layer.weights_of = node.name;
        break;
      case OperatorKind::global_pool: pool_all(node, layer, op.name == "max"); break;
      case OperatorKind::reduce:
        if (op.name != "mean" || in.size() != 4 || node.attributes.axes != std::vector<std::int64_t>{2, 3}) {
          refuse(node, "expected a mean over height and width");
        }
        pool_all(node, layer, false);
        break;
      case OperatorKind::activation:
        layer.kind = ColdKind::activation;
        if (const auto activation = activation_of(node)) layer.activation = *activation;
        if (layer.activation.name.empty()) refuse(node, "the activation is unknown");
        break;
      case OperatorKind::add:
      case OperatorKind::multiply: fill_pair(node, layer); break;
      case OperatorKind::batch_norm:
        if (in.size() != 4) refuse(node, "its input is no image");
        layer.kind = ColdKind::convolution;
        layer.kernel = layer.stride = layer.dilation = {};
        layer.groups = static_cast<int>(in[1]);
        layer.norms_of = {node.name};
        layer.norm_epsilons = {node.attributes.alpha};
        break;
      default: fill_movement(node, layer);
    }
    return layer;
  }

  static void fill_window(const NetworkNode& node, ColdLayer& layer) {
    if (node.operation.kind == OperatorKind::convolution) {
      layer.kind = ColdKind::convolution;
      layer.weights_of = node.name;
      return;
    }
    layer.kind = node.operation.kind == OperatorKind::max_pool ? ColdKind::max_pool : ColdKind::average_pool;
    if (layer.dilation != nasbench::Extent{}) refuse(node, "its window is dilated");
    layer.count_padding = node.attributes.count_padding;
    if (layer.kind == ColdKind::average_pool && node.attributes.ceil_mode) {
      refuse(node, "an average over windows that lie in the image only in part");
    }
  }

  static void pool_all(const NetworkNode& node, ColdLayer& layer, bool maximum) {
    const Shape& in = node.operation.inputs[0];
    if (in.size() != 4) refuse(node, "its input is no image");
    layer.kind = maximum ? ColdKind::max_pool : ColdKind::average_pool;
    layer.kernel = {static_cast<int>(in[2]), static_cast<int>(in[3])};
    layer.stride = layer.dilation = {};
  }

  static void fill_pair(const NetworkNode& node, ColdLayer& layer) {
    const bool sum = node.operation.kind == OperatorKind::add;
    if (node.inputs.size() == 2) {
      layer.kind = sum ? ColdKind::add : ColdKind::multiply;
      const std::vector<Shape>& operands = node.operation.inputs;
      if (operands[0] != node.operation.output && operands[1] != node.operation.output) {
        refuse(node, "both operands repeat");
      }
      if (operands[0].size() != operands[1].size()) refuse(node, "its operands differ in rank");
    } else {
      if (!node.operation.constants.empty()) refuse(node, "one operand is a constant of several numbers");
      layer.kind = ColdKind::activation;
      layer.activation = {"linear", sum ? 1 : node.attributes.alpha, sum ? node.attributes.alpha : 0};
    }
  }

  static void fill_movement(const NetworkNode& node, ColdLayer& layer) {
    switch (node.operation.kind) {
      case OperatorKind::concatenate:
      case OperatorKind::softmax:
        if (!node.operation.constants.empty() || node.operation.name == "log") refuse(node, "in this form");
        layer.kind = node.operation.kind == OperatorKind::softmax ? ColdKind::softmax : ColdKind::concatenate;
        layer.axis = static_cast<int>(node.attributes.axes[0]);
        break;
      case OperatorKind::shuffle: layer.kind = ColdKind::shuffle; break;
      case OperatorKind::reshape: layer.kind = ColdKind::reshape; break;
      default: refuse(node, "of its kind");
    }
  }

  void add_slices(int index, const NetworkNode& node) {
    const nasbench::OperatorAttributes& a = node.attributes;
    const bool one = node.operation.name == "slice";
    if (a.axes.size() != 1 || (one && (a.starts.size() != 1 || (!a.steps.empty() && a.steps[0] != 1)))) {
      refuse(node, "a slice along several axes or with steps");
    }
    std::int64_t start = one ? a.starts[0] : 0;
    for (std::size_t i = 0; i < node.outputs.size(); ++i) {
      if (node.outputs[i].shape.size() != node.operation.inputs[0].size()) refuse(node, "it drops a dimension");
      ColdLayer layer;
      layer.kind = ColdKind::slice;
      layer.name = node.outputs.size() == 1 ? node.name : node.name + "." + std::to_string(i);
      layer.axis = static_cast<int>(a.axes[0]);
      layer.start = start;
      layer.inputs = {tensors_.at(node.inputs[0])};
      layer.output = tensor({index, static_cast<int>(i)}, node.outputs[i].shape);
      start += node.outputs[i].shape[static_cast<std::size_t>(layer.axis)];
      result_.layers.push_back(std::move(layer));
    }
  }

  const nasbench::Network& network_;
  std::vector<int> readers_;
  std::map<Source, int> tensors_;
  std::map<int, std::size_t> makers_;  ///< layer that gives a tensor
  ColdNetwork result_;
};

/// Multiplies each output channel by a scale and adds a shift, as the batch norm does (Ioffe and Szegedy, 2015).
void fold_norm(const nasbench::LayerWeights& norm, double epsilon, FoldedWeights& weights) {
  const std::size_t channels = weights.bias.size(), each = weights.weight.size() / channels;
  for (std::size_t c = 0; c < channels; ++c) {
    const double scale = norm.weight[c] / std::sqrt(static_cast<double>(norm.variance[c]) + epsilon);
    for (std::size_t i = 0; i < each; ++i) {
      float& weight = weights.weight[c * each + i];
      weight = static_cast<float>(weight * scale);
    }
    weights.bias[c] = static_cast<float>((weights.bias[c] - norm.mean[c]) * scale + norm.bias[c]);
  }
}

}  // namespace

ColdNetwork cold_network(const nasbench::Network& network) { return Converter(network).convert(); }

Shape weight_shape(const ColdNetwork& network, const ColdLayer& layer) {
  const Shape &in = shape_of(network, layer.inputs[0]), &out = shape_of(network, layer.output);
  if (layer.kind == ColdKind::linear) return {out[1], in[1]};
  return {out[1], in[1] / layer.groups, layer.kernel.height, layer.kernel.width};
}

FoldedWeights folded_weights(const ColdNetwork& network, const ColdLayer& layer, const nasbench::OnnxWeights& weights) {
  const Shape shape = weight_shape(network, layer);
  const auto channels = static_cast<std::size_t>(shape[0]);
  const auto count = static_cast<std::size_t>(nasbench::element_count(shape));
  FoldedWeights folded;
  if (layer.weights_of.empty()) {
    folded.weight.assign(count, 1.0F);
  } else {
    nasbench::LayerWeights own = weights.read(layer.weights_of);
    folded.weight = std::move(own.weight);
    folded.bias = std::move(own.bias);
  }
  if (folded.bias.empty()) folded.bias.assign(channels, 0.0F);
  const auto require = [&](std::size_t found, std::size_t expected) {
    if (found == expected) return;
    throw FormatError("layer '" + layer.name + "' has " + std::to_string(found) + " weights; expected " +
                      std::to_string(expected));
  };
  require(folded.weight.size(), count);
  require(folded.bias.size(), channels);
  for (std::size_t i = 0; i < layer.norms_of.size(); ++i) {
    const nasbench::LayerWeights norm = weights.read(layer.norms_of[i]);
    for (const std::vector<float>* part : {&norm.weight, &norm.bias, &norm.mean, &norm.variance}) {
      require(part->size(), channels);
    }
    fold_norm(norm, layer.norm_epsilons[i], folded);
  }
  return folded;
}

std::string shape_key(const ColdNetwork& network, const ColdLayer& layer) {
  std::string key = std::to_string(static_cast<int>(layer.kind)) + ":";
  for (const int number : window_numbers(layer)) key += std::to_string(number) + ",";
  for (const int number : {layer.groups, layer.axis, static_cast<int>(layer.start), layer.count_padding ? 1 : 0}) {
    key += std::to_string(number) + ",";
  }
  for (const int input : layer.inputs) key += nasbench::format(shape_of(network, input)) + " ";
  key += "> " + nasbench::format(shape_of(network, layer.output)) + " " + layer.activation.name;
  return key + " " + shortest(layer.activation.alpha) + " " + shortest(layer.activation.beta);
}

}  // namespace tenshot::descriptor
