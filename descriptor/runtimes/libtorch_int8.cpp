#include <ATen/Context.h>
#include <ATen/core/dispatch/Dispatcher.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <utility>

#include "descriptor/runtimes/libtorch_network.h"
#include "nasbench/support/error.h"

namespace tenshot::descriptor {
namespace {

using nasbench::Layer;
using nasbench::LayerGraph;
using nasbench::LayerKind;

/// Affine quantisation to unsigned bytes: value = scale · (byte − zero_point).
struct Quantisation {
  double scale = 1;
  std::int64_t zero_point = 0;
};

/// The byte range spread over the values seen, zero among them, since padding is zero.
Quantisation quantisation_of(const at::Tensor& values) {
  const double least = std::min(0.0, values.min().item<double>()), most = std::max(0.0, values.max().item<double>());
  constexpr double largest_byte = 255, smallest_scale = 1e-8;
  const double scale = std::max((most - least) / largest_byte, smallest_scale);
  return {scale, static_cast<std::int64_t>(std::clamp(std::round(-least / scale), 0.0, largest_byte))};
}

/// Weights to signed bytes, symmetric.
at::Tensor quantised_weight(const at::Tensor& weight) {
  constexpr double largest_byte = 127, smallest_scale = 1e-8;
  const double scale = std::max(weight.abs().max().item<double>() / largest_byte, smallest_scale);
  return at::quantize_per_tensor(weight, scale, 0, at::kQInt8);
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

/// How a layer runs on bytes: its packed weights, and the quantisation of what it gives.
struct Int8Layer {
  Layer layer;
  c10::IValue packed;  ///< convolution and linear
  LayerTensors norm;   ///< batch normalisation that follows no convolution
  Quantisation output;
  bool folded = false;  ///< batch normalisation that its convolution has taken over
};

class Int8Network final : public LibTorchNetwork {
 public:
  Int8Network(const LayerGraph& graph, const RuntimeOptions& options) : LibTorchNetwork(graph, options) {
    std::vector<LayerTensors> tensors;
    std::vector<int> uses(graph.layers.size(), 0);
    for (std::size_t i = 0; i < graph.layers.size(); ++i) {
      tensors.push_back(tensors_of(graph, i, options.weight_seed));
      for (const int input : graph.layers[i].inputs) ++uses[static_cast<std::size_t>(input)];
    }
    constexpr std::int64_t calibration_images = 8;
    std::vector<std::int64_t> shape = own_input().sizes().vec();
    shape[0] = calibration_images;
    const std::vector<at::Tensor> calibration =
        layer_values(graph, tensors, random_images(shape, options.weight_seed, ImagePurpose::calibration));
    for (std::size_t i = 0; i < graph.layers.size(); ++i) {
      Int8Layer own{graph.layers[i], {}, {}, quantisation_of(calibration[i]), false};
      const std::size_t source = own.layer.inputs.empty() ? 0 : static_cast<std::size_t>(own.layer.inputs.front());
      if (own.layer.kind == LayerKind::batch_norm && graph.layers[source].kind == LayerKind::convolution &&
          uses[source] == 1) {
        own.folded = true;
        layers_[source].packed = packed_convolution(graph.layers[source], tensors[source], tensors[i]);
        layers_[source].output = own.output;
      } else if (own.layer.kind == LayerKind::convolution) {
        own.packed = packed_convolution(own.layer, tensors[i], {});
      } else if (own.layer.kind == LayerKind::linear) {
        own.packed =
            call(registered("quantized::linear_prepack"), quantised_weight(tensors[i].weight), tensors[i].bias);
      } else if (own.layer.kind == LayerKind::batch_norm) {
        own.norm = tensors[i];
      }
      layers_.push_back(std::move(own));
    }
    values_.resize(layers_.size());
  }

 protected:
  at::Tensor forward(const at::Tensor& input) override {
    values_[0] = at::quantize_per_tensor(input, layers_[0].output.scale, layers_[0].output.zero_point, at::kQUInt8);
    for (std::size_t i = 1; i < layers_.size(); ++i) values_[i] = apply(layers_[i]);
    at::Tensor output = at::dequantize(values_.back());
    std::fill(values_.begin(), values_.end(), at::Tensor());
    return output;
  }

 private:
  /// Convolution with the batch normalisation after it, γ(w∗x − μ)/σ + β, as one convolution with a bias.
  static c10::IValue packed_convolution(const Layer& layer, const LayerTensors& own, const LayerTensors& norm) {
    at::Tensor weight = own.weight, bias = at::zeros({layer.output.channels});
    if (norm.weight.defined()) {
      const at::Tensor gain = norm.weight / at::sqrt(norm.variance + nasbench::batch_norm_epsilon);
      weight = weight * gain.reshape({-1, 1, 1, 1});
      bias = norm.bias - norm.mean * gain;
    }
    const std::vector<std::int64_t> stride = {layer.stride, layer.stride}, padding = {layer.padding, layer.padding};
    const std::vector<std::int64_t> dilation = {1, 1};
    const std::int64_t groups = 1;
    return call(registered("quantized::conv2d_prepack"), quantised_weight(weight), bias, stride, padding, dilation,
                groups);
  }

  at::Tensor apply(const Int8Layer& own) const {
    const Layer& layer = own.layer;
    const auto input = [&](std::size_t i) -> const at::Tensor& {
      return values_[static_cast<std::size_t>(layer.inputs[i])];
    };
    const auto& [scale, zero_point] = own.output;
    switch (layer.kind) {
      case LayerKind::convolution:
        return call(convolution_, input(0), own.packed, scale, zero_point).toTensor();
      case LayerKind::batch_norm:
        if (own.folded) return input(0);
        return call(batch_norm_, input(0), own.norm.weight, own.norm.bias, own.norm.mean, own.norm.variance,
                    nasbench::batch_norm_epsilon, scale, zero_point)
            .toTensor();
      case LayerKind::add:
        return call(add_, input(0), input(1), scale, zero_point).toTensor();
      case LayerKind::zero:
        return call(multiply_, input(0), c10::Scalar(0.0)).toTensor();
      case LayerKind::linear:
        return call(linear_, input(0), own.packed, scale, zero_point).toTensor();
      default:  // pools and ReLU are the same operators on bytes
        return apply_layer(layer, {}, values_);
    }
  }

  const c10::OperatorHandle convolution_ = registered("quantized::conv2d", "new");
  const c10::OperatorHandle batch_norm_ = registered("quantized::batch_norm2d");
  const c10::OperatorHandle add_ = registered("quantized::add");
  const c10::OperatorHandle multiply_ = registered("quantized::mul", "Scalar");
  const c10::OperatorHandle linear_ = registered("quantized::linear");
  std::vector<Int8Layer> layers_;
  std::vector<at::Tensor> values_;
};

}  // namespace

std::string int8_engine() {
  const std::optional<Engine> engine = available_engine();
  return engine ? engine->name : "";
}

std::unique_ptr<PreparedNetwork> prepare_int8(const LayerGraph& graph, const RuntimeOptions& options) {
  const std::optional<Engine> engine = available_engine();
  if (!engine) throw Error("libtorch-int8: this LibTorch was built without an engine for quantised convolutions");
  at::globalContext().setQEngine(engine->engine);
  return std::make_unique<Int8Network>(graph, options);
}

}  // namespace tenshot::descriptor
