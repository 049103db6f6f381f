#include "descriptor/libtorch_runtime.h"

#include <ATen/Parallel.h>
#include <torch/script.h>

#include <algorithm>

#include "descriptor/torch_info.h"
#include "nasbench/support/error.h"
#include "nasbench/support/random.h"

namespace tenshot::descriptor {
namespace {

using nasbench::Layer;
using nasbench::LayerGraph;
using nasbench::LayerKind;
using nasbench::LayerWeights;

constexpr double batch_norm_epsilon = 1e-5;  // PyTorch's default, and torchscript_source's
constexpr double batch_norm_momentum = 0.1;  // without meaning in inference

struct LayerTensors {
  at::Tensor weight, bias, mean, variance;
};

at::Tensor tensor_of(const std::vector<float>& values, std::vector<std::int64_t> shape) {
  if (values.empty()) return {};
  return at::tensor(values).reshape(shape);
}

LayerTensors tensors_of(const LayerGraph& graph, std::size_t index, std::uint64_t seed) {
  const LayerWeights weights = nasbench::random_weights(graph, index, seed);
  const Layer& layer = graph.layers[index];
  const std::int64_t outputs = layer.output.channels;
  std::vector<std::int64_t> weight_shape = {outputs};
  if (layer.kind == LayerKind::convolution) weight_shape = {outputs, -1, layer.kernel, layer.kernel};
  if (layer.kind == LayerKind::linear) weight_shape = {outputs, -1};
  return {tensor_of(weights.weight, weight_shape), tensor_of(weights.bias, {outputs}),
          tensor_of(weights.mean, {outputs}), tensor_of(weights.variance, {outputs})};
}

void require_runnable(const LayerGraph& graph, const RuntimeOptions& options) {
  if (graph.layers.empty()) throw InputError("the layer graph is empty: expected an input layer first");
  if (options.batch < 1) throw InputError("batch is " + std::to_string(options.batch) + "; expected at least 1");
  if (options.threads < 1) throw InputError("threads is " + std::to_string(options.threads) + "; expected at least 1");
  for (std::size_t i = 0; i < graph.layers.size(); ++i) {
    const Layer& layer = graph.layers[i];
    const std::size_t expected = layer.kind == LayerKind::input ? 0 : layer.kind == LayerKind::add ? 2 : 1;
    const bool earlier = std::all_of(layer.inputs.begin(), layer.inputs.end(),
                                     [&](int input) { return input >= 0 && static_cast<std::size_t>(input) < i; });
    if (layer.inputs.size() != expected || !earlier || (layer.kind == LayerKind::input) != (i == 0)) {
      throw InputError("layer '" + layer.name + "' (" + std::string(nasbench::name(layer.kind)) + ", number " +
                       std::to_string(i) + ") wants " + std::to_string(expected) +
                       " earlier layers as inputs, and the input layer comes first and once");
    }
  }
}

/// What all LibTorch networks share: threads, the input, and tensors in and out.
class LibTorchNetwork : public PreparedNetwork {
 public:
  LibTorchNetwork(const LayerGraph& graph, const RuntimeOptions& options) : threads_(options.threads) {
    const nasbench::TensorShape& shape = graph.input_shape();
    shape_ = {options.batch, shape.channels, shape.height, shape.width};
    constexpr std::uint64_t input_stream = 0x696e707574;  // apart from the streams that draw weights
    Rng rng(options.weight_seed, input_stream);
    std::vector<float> values(static_cast<std::size_t>(shape_[0] * shape_[1] * shape_[2] * shape_[3]));
    for (float& value : values) value = static_cast<float>(rng.normal());
    input_ = tensor_of(values, shape_);
  }

  void run() override {
    use_threads();
    const c10::InferenceMode inference;
    forward(input_);
  }

  std::vector<float> infer(const std::vector<float>& input) override {
    if (static_cast<std::int64_t>(input.size()) != input_.numel()) {
      throw InputError("the network's input has " + std::to_string(input_.numel()) +
                       " values (batch x channels x height x width), found " + std::to_string(input.size()));
    }
    use_threads();
    const c10::InferenceMode inference;
    const at::Tensor output = forward(tensor_of(input, shape_)).contiguous();
    const auto* values = output.data_ptr<float>();
    return {values, values + output.numel()};
  }

 protected:
  virtual at::Tensor forward(const at::Tensor& input) = 0;

 private:
  /// LibTorch's thread count is global, and another network may have set its own since. The threads between operators
  /// stay as they are: nothing here forks, and LibTorch forbids changing them after a start.
  void use_threads() const {
    if (at::get_num_threads() != threads_) at::set_num_threads(threads_);
  }

  int threads_;
  std::vector<std::int64_t> shape_;
  at::Tensor input_;
};

class EagerNetwork final : public LibTorchNetwork {
 public:
  EagerNetwork(const LayerGraph& graph, const RuntimeOptions& options)
      : LibTorchNetwork(graph, options), layers_(graph.layers), values_(layers_.size()), dies_after_(layers_.size()) {
    for (std::size_t i = 0; i < layers_.size(); ++i) {
      tensors_.push_back(tensors_of(graph, i, options.weight_seed));
      last_use_.push_back(i);
      for (const int input : layers_[i].inputs) last_use_[static_cast<std::size_t>(input)] = i;
    }
    for (std::size_t i = 0; i + 1 < layers_.size(); ++i) dies_after_[last_use_[i]].push_back(i);
  }

 protected:
  at::Tensor forward(const at::Tensor& input) override {
    values_[0] = input;
    for (std::size_t i = 1; i < layers_.size(); ++i) {
      values_[i] = apply(layers_[i], tensors_[i]);
      // Memory is reused as in PyTorch, where a tensor is freed when nothing refers to it any more.
      for (const std::size_t dead : dies_after_[i]) values_[dead].reset();
    }
    return std::move(values_.back());
  }

 private:
  at::Tensor apply(const Layer& layer, const LayerTensors& own) const {
    const auto input = [&](std::size_t i) -> const at::Tensor& {
      return values_[static_cast<std::size_t>(layer.inputs[i])];
    };
    switch (layer.kind) {
      case LayerKind::convolution:
        return at::conv2d(input(0), own.weight, {}, at::IntArrayRef{layer.stride, layer.stride},
                          at::IntArrayRef{layer.padding, layer.padding});
      case LayerKind::batch_norm:
        return at::batch_norm(input(0), own.weight, own.bias, own.mean, own.variance, false, batch_norm_momentum,
                              batch_norm_epsilon, false);
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
    throw InputError("layer '" + layer.name + "' is of a kind that libtorch-eager does not know");
  }

  std::vector<Layer> layers_;
  std::vector<LayerTensors> tensors_;
  std::vector<at::Tensor> values_;
  std::vector<std::size_t> last_use_;
  std::vector<std::vector<std::size_t>> dies_after_;
};

torch::jit::Module scripted(const LayerGraph& graph, std::uint64_t seed) {
  torch::jit::Module module("Network");
  // Freezing refuses modules in training mode, which a module without this attribute counts as.
  module.register_attribute("training", c10::BoolType::get(), false);
  for (std::size_t i = 0; i < graph.layers.size(); ++i) {
    const LayerTensors tensors = tensors_of(graph, i, seed);
    const std::string suffix = "_" + std::to_string(i);
    if (tensors.weight.defined()) module.register_parameter("weight" + suffix, tensors.weight, false);
    if (tensors.bias.defined()) module.register_parameter("bias" + suffix, tensors.bias, false);
    if (tensors.mean.defined()) module.register_buffer("mean" + suffix, tensors.mean);
    if (tensors.variance.defined()) module.register_buffer("variance" + suffix, tensors.variance);
  }
  module.define(torchscript_source(graph));
  return module;
}

class ScriptNetwork final : public LibTorchNetwork {
 public:
  ScriptNetwork(const LayerGraph& graph, const RuntimeOptions& options, bool optimized)
      : LibTorchNetwork(graph, options), module_(torch::jit::freeze(scripted(graph, options.weight_seed))) {
    if (optimized) module_ = torch::jit::optimize_for_inference(module_);
    for (int i = 0; i < 3; ++i) run();  // the executor profiles the first run and compiles in the second
  }

 protected:
  at::Tensor forward(const at::Tensor& input) override { return module_.forward({input}).toTensor(); }

 private:
  torch::jit::Module module_;
};

enum class Mode { eager, frozen, optimized };

class LibTorchRuntime final : public Runtime {
 public:
  explicit LibTorchRuntime(Mode mode) : mode_(mode) {}

  std::string_view name() const override {
    switch (mode_) {
      case Mode::eager:
        return "libtorch-eager";
      case Mode::frozen:
        return "libtorch-frozen";
      case Mode::optimized:
        break;
    }
    return "libtorch-optimized";
  }

  std::string version() const override { return torch_versions(); }

  std::unique_ptr<PreparedNetwork> prepare(const LayerGraph& graph, const RuntimeOptions& options) const override {
    require_runnable(graph, options);
    const at::NoGradGuard no_gradients;
    at::set_num_threads(options.threads);
    try {
      if (mode_ == Mode::eager) return std::make_unique<EagerNetwork>(graph, options);
      return std::make_unique<ScriptNetwork>(graph, options, mode_ == Mode::optimized);
    } catch (const c10::Error& error) {
      const std::string reason = error.what_without_backtrace();
      throw Error(std::string(name()) + " cannot prepare the network: " + reason.substr(0, reason.find('\n')));
    }
  }

 private:
  Mode mode_;
};

}  // namespace

std::unique_ptr<Runtime> make_libtorch_eager() { return std::make_unique<LibTorchRuntime>(Mode::eager); }
std::unique_ptr<Runtime> make_libtorch_frozen() { return std::make_unique<LibTorchRuntime>(Mode::frozen); }
std::unique_ptr<Runtime> make_libtorch_optimized() { return std::make_unique<LibTorchRuntime>(Mode::optimized); }

}  // namespace tenshot::descriptor
