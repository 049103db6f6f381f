#include <torch/cuda.h>

#include <string>
#include <utility>

#include "descriptor/runtimes/libtorch_network.h"
#include "nasbench/support/error.h"

namespace tenshot::descriptor {
namespace {

using nasbench::Layer;
using nasbench::LayerGraph;
using nasbench::LayerKind;

constexpr double batch_norm_momentum = 0.1;  // without meaning in inference

/// Where the tensors of a network live and how four-dimensional ones are laid out.
struct Placement {
  at::Device device = at::kCPU;
  at::MemoryFormat format = at::MemoryFormat::Contiguous;

  at::Tensor operator()(const at::Tensor& tensor) const {
    if (!tensor.defined()) return tensor;
    const at::Tensor there = tensor.to(device);
    return there.dim() == 4 ? there.contiguous(format) : there;
  }
};

class EagerNetwork : public LibTorchNetwork {
 public:
  EagerNetwork(const LayerGraph& graph, const RuntimeOptions& options, Placement placement)
      : LibTorchNetwork(graph, options),
        placement_(placement),
        layers_(graph.layers),
        values_(layers_.size()),
        dies_after_(layers_.size()) {
    std::vector<std::size_t> last_use;
    for (std::size_t i = 0; i < layers_.size(); ++i) {
      const LayerTensors own = tensors_of(graph, i, options.weight_seed);
      tensors_.push_back({placement(own.weight), placement(own.bias), placement(own.mean), placement(own.variance)});
      last_use.push_back(i);
      for (const int input : layers_[i].inputs) last_use[static_cast<std::size_t>(input)] = i;
    }
    for (std::size_t i = 0; i + 1 < layers_.size(); ++i) dies_after_[last_use[i]].push_back(i);
    place();
  }

 protected:
  at::Tensor placed(const at::Tensor& input) const override { return placement_(input); }

  void synchronise() const override {
    if (placement_.device.is_cuda()) torch::cuda::synchronize();
  }

  at::Tensor forward(const at::Tensor& input) override {
    values_[0] = input;
    for (std::size_t i = 1; i < layers_.size(); ++i) {
      values_[i] = apply_layer(layers_[i], tensors_[i], values_);
      // Memory is reused as in PyTorch, where a tensor is freed when nothing refers to it any more.
      for (const std::size_t dead : dies_after_[i]) values_[dead].reset();
    }
    return std::move(values_.back());
  }

 private:
  Placement placement_;
  std::vector<Layer> layers_;
  std::vector<LayerTensors> tensors_;
  std::vector<at::Tensor> values_;
  std::vector<std::vector<std::size_t>> dies_after_;
};

}  // namespace

at::Tensor apply_layer(const Layer& layer, const LayerTensors& own, const std::vector<at::Tensor>& values) {
  const auto input = [&](std::size_t i) -> const at::Tensor& {
    return values[static_cast<std::size_t>(layer.inputs[i])];
  };
  switch (layer.kind) {
    case LayerKind::convolution:
      return at::conv2d(input(0), own.weight, {}, at::IntArrayRef{layer.stride, layer.stride},
                        at::IntArrayRef{layer.padding, layer.padding});
    case LayerKind::batch_norm:
      return at::batch_norm(input(0), own.weight, own.bias, own.mean, own.variance, false, batch_norm_momentum,
                            nasbench::batch_norm_epsilon, false);
    case LayerKind::relu:
      return at::relu(input(0));
    case LayerKind::average_pool:
      return at::avg_pool2d(input(0), {layer.kernel, layer.kernel}, {layer.stride, layer.stride},
                            {layer.padding, layer.padding}, false, false);
    case LayerKind::global_average_pool:
      return at::mean(input(0), {2, 3});
    case LayerKind::add:
      return at::add(input(0), input(1));
    case LayerKind::zero:
      return at::mul(input(0), 0.0);
    case LayerKind::linear:
      return at::linear(input(0), own.weight, own.bias);
    case LayerKind::input:
      break;
  }
  throw InputError("layer '" + layer.name + "' is of a kind that LibTorch's operators do not cover");
}

std::vector<at::Tensor> layer_values(const LayerGraph& graph, const std::vector<LayerTensors>& tensors,
                                     const at::Tensor& input) {
  std::vector<at::Tensor> values = {input};
  values.resize(graph.layers.size());
  for (std::size_t i = 1; i < graph.layers.size(); ++i) values[i] = apply_layer(graph.layers[i], tensors[i], values);
  return values;
}

std::unique_ptr<PreparedNetwork> prepare_eager(const LayerGraph& graph, const RuntimeOptions& options) {
  return std::make_unique<EagerNetwork>(graph, options, Placement{});
}

std::unique_ptr<PreparedNetwork> prepare_channels_last(const LayerGraph& graph, const RuntimeOptions& options) {
  return std::make_unique<EagerNetwork>(graph, options, Placement{at::kCPU, at::MemoryFormat::ChannelsLast});
}

std::unique_ptr<PreparedNetwork> prepare_cuda(const LayerGraph& graph, const RuntimeOptions& options) {
  if (!torch::cuda::is_available()) {
    throw Error(
        "libtorch-cuda: this LibTorch was built without CUDA, or no CUDA device is there; choose a runtime of "
        "the processor");
  }
  return std::make_unique<EagerNetwork>(graph, options, Placement{at::kCUDA, at::MemoryFormat::Contiguous});
}

}  // namespace tenshot::descriptor
