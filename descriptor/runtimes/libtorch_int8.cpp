#include <ATen/Context.h>
#include <ATen/core/dispatch/Dispatcher.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "descriptor/runtimes/libtorch_network.h"
#include "descriptor/runtimes/runnable.h"
#include "nasbench/support/error.h"

namespace tenshot::descriptor {
namespace {

using nasbench::OperatorKind;

/// Affine quantisation to unsigned bytes: value = scale · (byte − zero_point).
struct Quantisation {
  double scale = 1;
  std::int64_t zero_point = 0;
};

/// The byte range spread over the values seen, zero among them, since padding is zero.
Quantisation quantisation_of(double least, double most) {
  constexpr double largest_byte = 255, smallest_scale = 1e-8;
  const double scale = std::max((most - least) / largest_byte, smallest_scale);
  return {scale, static_cast<std::int64_t>(std::clamp(std::round(-least / scale), 0.0, largest_byte))};
}

at::Tensor quantised_weight(const at::Tensor& weight) {
  constexpr double largest_byte = 127, smallest_scale = 1e-8;
  const double scale = std::max(weight.abs().max().item<double>() / largest_byte, smallest_scale);
  return at::quantize_per_tensor(weight, scale, 0, at::kQInt8);
}

at::Tensor bias_of(const RunnableNode& node) {
  return node.tensors.bias.defined() ? node.tensors.bias : at::zeros({node.tensors.weight.size(0)});
}

/// Calls an operator of LibTorch's registry that has no C++ function of its own.
template <class... Arguments>
c10::IValue call(const c10::OperatorHandle& op, Arguments&&... arguments) {
  std::vector<c10::IValue> stack = {c10::IValue(std::forward<Arguments>(arguments))...};
  op.callBoxed(&stack);
  return stack.at(0);
}

c10::OperatorHandle registered(const char* name, const char* overload = "") {
  return c10::Dispatcher::singleton().findSchemaOrThrow(name, overload);
}

struct Engine {
  at::QEngine engine;
  const char* name;
};

/// The first that LibTorch has: oneDNN uses the processor's byte instructions, QNNPACK is made for phones.
std::optional<Engine> available_engine() {
  const std::vector<at::QEngine>& supported = at::globalContext().supportedQEngines();
  for (const Engine& engine : {Engine{at::QEngine::ONEDNN, "oneDNN"}, Engine{at::QEngine::FBGEMM, "FBGEMM"},
                               Engine{at::QEngine::QNNPACK, "QNNPACK"}}) {
    if (std::find(supported.begin(), supported.end(), engine.engine) != supported.end()) return engine;
  }
  return std::nullopt;
}

/// How a node runs on bytes: its packed weights, and the quantisation of what it gives.
struct Int8Node {
  RunnableNode runnable;
  c10::IValue packed;  ///< convolution and linear
  Quantisation output;
  bool folded = false;    ///< batch normalisation that its convolution has taken over
  bool floating = false;  ///< LibTorch has no operator on bytes for it
};

/// Nodes that LibTorch runs on bytes.
bool runs_on_bytes(const nasbench::NetworkNode& node) {
  const nasbench::OperatorSpecification& s = node.operation;
  switch (s.kind) {
    case OperatorKind::convolution: return s.output.size() == 4 && is_symmetric(node.attributes.padding);
    case OperatorKind::batch_norm: return s.output.size() == 4;
    case OperatorKind::linear:
    case OperatorKind::average_pool:
    case OperatorKind::global_pool: return s.name.empty();
    case OperatorKind::max_pool: return is_symmetric(node.attributes.padding);
    case OperatorKind::activation: return s.name == "relu" || s.name == "relu6";
    case OperatorKind::add: return node.inputs.size() == 2 && s.inputs[0] == s.inputs[1];
    case OperatorKind::multiply: return node.inputs.size() == 1 && s.constants.empty();
    case OperatorKind::concatenate: return s.constants.empty();
    case OperatorKind::reshape: return true;
    default: return false;
  }
}

/// Convolution with the batch normalisation after it, γ(w∗x − μ)/σ + β, as one convolution with a bias.
c10::IValue packed_convolution(const RunnableNode& own, const RunnableNode* norm) {
  at::Tensor weight = own.tensors.weight, bias = bias_of(own);
  if (norm != nullptr) {
    const NodeTensors& n = norm->tensors;
    const at::Tensor gain = n.weight / at::sqrt(n.variance + norm->node.attributes.alpha);
    weight = weight * gain.reshape({-1, 1, 1, 1});
    bias = n.bias + (bias - n.mean) * gain;
  }
  const nasbench::OperatorSpecification& s = own.node.operation;
  const nasbench::Padding& p = own.node.attributes.padding;
  const std::vector<std::int64_t> stride = {s.stride.height, s.stride.width}, padding = {p.top, p.left};
  const std::vector<std::int64_t> dilation = {s.dilation.height, s.dilation.width};
  const std::int64_t groups = s.groups;
  return call(registered("quantized::conv2d_prepack"), quantised_weight(weight), bias, stride, padding, dilation,
              groups);
}

/// Whether LibTorch runs a packed convolution more than once. Its oneDNN engine keeps the weights in the layout that
/// the first call chose; of some grouped convolutions it then takes the groups for channels, and every further call
/// throws (seen in LibTorch 1.13 with 64 to 384 channels in two groups).
bool runs_again(const c10::IValue& packed, const std::vector<std::int64_t>& input_shape) {
  const at::Tensor input = at::quantize_per_tensor(at::zeros(input_shape), 1, 0, at::kQUInt8);
  const c10::OperatorHandle convolution = registered("quantized::conv2d", "new");
  try {
    for (int run = 0; run < 2; ++run) call(convolution, input, packed, 1.0, std::int64_t{0});
  } catch (const c10::Error&) {
    return false;
  }
  return true;
}

class Int8Network final : public LibTorchNetwork {
 public:
  Int8Network(const nasbench::Network& network, const RuntimeOptions& options)
      : LibTorchNetwork(network, options), graph_(runnable_graph(network, options)) {
    std::vector<int> uses(graph_.slots, 0);
    for (const RunnableNode& node : graph_.nodes) {
      for (const std::size_t input : node.inputs) ++uses[input];
    }
    for (const std::size_t output : graph_.outputs) ++uses[output];
    quantisations_ = calibrated(options);
    std::map<std::size_t, std::size_t> givers;  // node by slot
    for (std::size_t i = 0; i < graph_.nodes.size(); ++i) {
      const RunnableNode& node = graph_.nodes[i];
      givers[node.output] = i;
      Int8Node own{node, {}, quantisations_[node.output], false, !runs_on_bytes(node.node)};
      const nasbench::OperatorSpecification& s = node.node.operation;
      if (own.floating) {  // nothing to pack
      } else if (s.kind == OperatorKind::convolution) {
        own.packed = packed_convolution(node, nullptr);
        if (s.groups > 1 && !runs_again(own.packed, s.inputs.at(0))) own = {node, {}, own.output, false, true};
      } else if (s.kind == OperatorKind::linear) {
        own.packed =
            call(registered("quantized::linear_prepack"), quantised_weight(node.tensors.weight), bias_of(node));
      } else if (s.kind == OperatorKind::batch_norm) {
        const auto giver = givers.find(node.inputs[0]);
        own.folded = giver != givers.end() && uses[node.inputs[0]] == 1 &&
                     graph_.nodes[giver->second].node.operation.kind == OperatorKind::convolution &&
                     !nodes_[giver->second].floating;
        if (own.folded) {
          nodes_[giver->second].packed = packed_convolution(graph_.nodes[giver->second], &node);
          nodes_[giver->second].output = own.output;
        }
      }
      nodes_.push_back(std::move(own));
    }
    values_.resize(graph_.slots);
    floats_.resize(graph_.slots);
  }

  std::vector<double> run_timed() override { return run_timed_nodes(graph_.nodes.size()); }

 protected:
  std::vector<at::Tensor> forward(const std::vector<at::Tensor>& inputs) override {
    for (std::size_t i = 0; i < inputs.size(); ++i) values_[i] = quantised(inputs[i], i);
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      if (nodes_[i].folded) {
        apply(nodes_[i]);
      } else {
        timed(i, [&] { apply(nodes_[i]); });
      }
    }
    std::vector<at::Tensor> outputs;
    for (const std::size_t output : graph_.outputs) outputs.push_back(at::dequantize(values_[output]));
    std::fill(values_.begin(), values_.end(), at::Tensor());
    return outputs;
  }

 private:
  at::Tensor quantised(const at::Tensor& values, std::size_t slot) const {
    return at::quantize_per_tensor(values, quantisations_[slot].scale, quantisations_[slot].zero_point, at::kQUInt8);
  }

  /// By the range of every value for eight random images; a network of another batch sees them in as many runs.
  std::vector<Quantisation> calibrated(const RuntimeOptions& options) const {
    constexpr std::int64_t calibration_images = 8;
    const std::int64_t batch = own_inputs().front().size(0);
    const std::int64_t runs = std::max<std::int64_t>(1, calibration_images / std::max<std::int64_t>(batch, 1));
    std::vector<at::Tensor> all;
    for (const at::Tensor& own : own_inputs()) {
      std::vector<std::int64_t> shape = own.sizes().vec();
      shape[0] *= runs;
      all.push_back(random_input({shape, nasbench::ElementType::float32}, all.size(), options.weight_seed,
                                 ImagePurpose::calibration));
    }
    std::vector<std::pair<double, double>> ranges(graph_.slots);
    for (std::int64_t run = 0; run < runs; ++run) {
      std::vector<at::Tensor> inputs;
      for (const at::Tensor& images : all) inputs.push_back(images.narrow(0, run * batch, batch));
      const std::vector<at::Tensor> values = slot_values(graph_, inputs);
      for (std::size_t slot = 0; slot < values.size(); ++slot) {
        auto& [least, most] = ranges[slot];
        least = std::min(least, values[slot].min().item<double>());
        most = std::max(most, values[slot].max().item<double>());
      }
    }
    std::vector<Quantisation> quantisations;
    for (const auto& [least, most] : ranges) quantisations.push_back(quantisation_of(least, most));
    return quantisations;
  }

  /// From bytes to floats and back around the node, as PyTorch's stubs do around a layer that it cannot quantise.
  void apply_floating(const RunnableNode& node) {
    for (const std::size_t slot : node.inputs) floats_[slot] = at::dequantize(values_[slot]);
    apply_node(node, floats_);
    for (std::size_t slot = node.output; slot < node.output + node.node.outputs.size(); ++slot) {
      values_[slot] = quantised(floats_[slot], slot);
    }
    std::fill(floats_.begin(), floats_.end(), at::Tensor());
  }

  void apply(const Int8Node& own) {
    const RunnableNode& node = own.runnable;
    if (own.floating) return apply_floating(node);
    const auto input = [&](std::size_t i) -> const at::Tensor& { return values_[node.inputs[i]]; };
    const auto& [scale, zero_point] = own.output;
    const auto run = [&](const c10::OperatorHandle& op, const auto&... arguments) {
      values_[node.output] = call(op, arguments...).toTensor();
    };
    const NodeTensors& t = node.tensors;
    const double alpha = node.node.attributes.alpha;
    switch (node.node.operation.kind) {
      case OperatorKind::convolution: return run(convolution_, input(0), own.packed, scale, zero_point);
      case OperatorKind::batch_norm:
        if (!own.folded) {
          return run(batch_norm_, input(0), t.weight, t.bias, t.mean, t.variance, alpha, scale, zero_point);
        }
        values_[node.output] = input(0);
        return;
      case OperatorKind::add: return run(add_, input(0), input(1), scale, zero_point);
      case OperatorKind::multiply: return run(multiply_, input(0), c10::Scalar(alpha));
      case OperatorKind::linear: return run(linear_, input(0), own.packed, scale, zero_point);
      case OperatorKind::concatenate:
        return run(concatenate_, parts_of(node), node.node.attributes.axes.at(0), scale, zero_point);
      default: apply_node(node, values_);  // pools and ReLU are the same operators on bytes
    }
  }

  c10::List<at::Tensor> parts_of(const RunnableNode& node) const {
    c10::List<at::Tensor> parts;
    for (const std::size_t slot : node.inputs) parts.push_back(values_[slot]);
    return parts;
  }

  const c10::OperatorHandle convolution_ = registered("quantized::conv2d", "new");
  const c10::OperatorHandle batch_norm_ = registered("quantized::batch_norm2d");
  const c10::OperatorHandle add_ = registered("quantized::add");
  const c10::OperatorHandle multiply_ = registered("quantized::mul", "Scalar");
  const c10::OperatorHandle linear_ = registered("quantized::linear");
  const c10::OperatorHandle concatenate_ = registered("quantized::cat");
  RunnableGraph graph_;
  std::vector<Quantisation> quantisations_;  ///< by slot
  std::vector<Int8Node> nodes_;
  std::vector<at::Tensor> values_;  ///< by slot
  std::vector<at::Tensor> floats_;  ///< by slot, while a node runs on them
};

}  // namespace

std::string int8_engine() {
  const std::optional<Engine> engine = available_engine();
  return engine ? engine->name : "";
}

std::unique_ptr<PreparedNetwork> prepare_int8(std::string_view runtime, const nasbench::Network& network,
                                              const RuntimeOptions& options) {
  require_images(network, runtime);
  const std::optional<Engine> engine = available_engine();
  if (!engine) throw Error("libtorch-int8: this LibTorch was built without an engine for quantised convolutions");
  at::globalContext().setQEngine(engine->engine);
  return std::make_unique<Int8Network>(network, options);
}

}  // namespace tenshot::descriptor
