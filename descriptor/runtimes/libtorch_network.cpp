#include "descriptor/runtimes/libtorch_network.h"

#include <ATen/Parallel.h>
#include <torch/cuda.h>
#include <torch/version.h>

#include <algorithm>
#include <map>
#include <utility>

#include "descriptor/runtimes/runnable.h"
#include "nasbench/graph/network_weights.h"
#include "nasbench/support/error.h"
#include "nasbench/support/random.h"

namespace tenshot::descriptor {

using nasbench::Network;

namespace {

/// LibTorch warns on standard error, in some networks at every run.
class SilentWarnings final : public c10::WarningHandler {
 public:
#if TORCH_VERSION_MAJOR < 2
  SilentWarnings() { c10::Warning::set_warning_handler(this); }
  void process(const c10::SourceLocation&, const std::string&, bool) override {}
#else
  SilentWarnings() { c10::WarningUtils::set_warning_handler(this); }
  void process(const c10::Warning&) override {}
#endif
};

Placement placement_of(std::string_view runtime) {
  if (runtime == "libtorch-channels-last") return {at::kCPU, at::MemoryFormat::ChannelsLast};
  if (runtime != "libtorch-cuda") return {};
  if (!torch::cuda::is_available()) {
    throw Error(
        "libtorch-cuda: this LibTorch was built without CUDA, or no CUDA device is there; choose a runtime of "
        "the processor");
  }
  return {at::kCUDA, at::MemoryFormat::Contiguous};
}

class EagerNetwork : public LibTorchNetwork {
 public:
  EagerNetwork(const Network& network, const RuntimeOptions& options, Placement placement)
      : LibTorchNetwork(network, options, placement),
        graph_(runnable_graph(network, options)),
        values_(graph_.slots),
        dies_after_(graph_.nodes.size()) {
    std::vector<std::size_t> last_use(graph_.slots, 0);
    for (std::size_t i = 0; i < graph_.nodes.size(); ++i) {
      RunnableNode& node = graph_.nodes[i];
      NodeTensors& own = node.tensors;
      own = {placement(own.weight), placement(own.bias), placement(own.mean), placement(own.variance)};
      for (std::size_t output = 0; output < node.node.outputs.size(); ++output) last_use[node.output + output] = i;
      for (const std::size_t input : node.inputs) last_use[input] = i;
    }
    for (const std::size_t output : graph_.outputs) last_use[output] = graph_.nodes.size();
    for (std::size_t slot = 0; slot < graph_.slots; ++slot) {
      if (last_use[slot] < graph_.nodes.size()) dies_after_[last_use[slot]].push_back(slot);
    }
  }

  std::vector<double> run_timed() override { return run_timed_nodes(graph_.nodes.size()); }

 protected:
  std::vector<at::Tensor> forward(const std::vector<at::Tensor>& inputs) override {
    std::copy(inputs.begin(), inputs.end(), values_.begin());
    for (std::size_t i = 0; i < graph_.nodes.size(); ++i) {
      timed(i, [&] {
        apply_node(graph_.nodes[i], values_);
        // Memory is reused as in PyTorch, where a tensor is freed when nothing refers to it any more.
        for (const std::size_t dead : dies_after_[i]) values_[dead].reset();
      });
    }
    std::vector<at::Tensor> outputs;
    for (const std::size_t output : graph_.outputs) outputs.push_back(values_[output]);
    std::fill(values_.begin(), values_.end(), at::Tensor());
    return outputs;
  }

 private:
  RunnableGraph graph_;
  std::vector<at::Tensor> values_;
  std::vector<std::vector<std::size_t>> dies_after_;
};

}  // namespace

at::Tensor tensor_of(const std::vector<float>& values, const std::vector<std::int64_t>& shape) {
  return values.empty() ? at::Tensor() : at::tensor(values).reshape(shape);
}

NodeTensors tensors_of(const Network& network, std::size_t index, const RuntimeOptions& options) {
  const nasbench::NetworkNode& node = network.nodes[index];
  const nasbench::LayerWeights weights =
      options.weights ? options.weights->at(index) : nasbench::random_weights(network, index, options.weight_seed);
  nasbench::WeightShapes shapes = nasbench::weight_shapes(node);
  const bool of_signals = is_convolution(node.operation.kind) && node.operation.output.size() == 3;
  if (of_signals) shapes.weight.erase(shapes.weight.begin() + 2);
  return {tensor_of(weights.weight, shapes.weight), tensor_of(weights.bias, shapes.bias),
          tensor_of(weights.mean, shapes.mean), tensor_of(weights.variance, shapes.variance)};
}

RunnableGraph runnable_graph(const Network& network, const RuntimeOptions& options) {
  RunnableGraph graph;
  std::map<nasbench::Source, std::size_t> slots;
  for (std::size_t i = 0; i < network.inputs.size(); ++i) slots[{-1, static_cast<int>(i)}] = graph.slots++;
  for (std::size_t i = 0; i < network.nodes.size(); ++i) {
    RunnableNode node{network.nodes[i], tensors_of(network, i, options), {}, graph.slots};
    for (const nasbench::Source& source : node.node.inputs) node.inputs.push_back(slots.at(source));
    for (std::size_t output = 0; output < node.node.outputs.size(); ++output) {
      slots[{static_cast<int>(i), static_cast<int>(output)}] = graph.slots++;
    }
    graph.nodes.push_back(std::move(node));
  }
  for (const nasbench::Source& source : network.outputs) graph.outputs.push_back(slots.at(source));
  return graph;
}

void require_runnable(const Network& network) {
  nasbench::require_sound(network);
  if (network.inputs.empty() || network.outputs.empty()) {
    throw InputError("the network has no input or no output: there is nothing to run");
  }
  for (const nasbench::NetworkNode& node : network.nodes) {
    const std::string reason = why_not_runnable(node);
    if (!reason.empty()) throw InputError(describe(node) + ": LibTorch's runtimes cannot run it: " + reason);
  }
}

at::Tensor random_input(const nasbench::TensorType& type, std::size_t index, std::uint64_t seed, ImagePurpose purpose) {
  Rng rng(seed, static_cast<std::uint64_t>(purpose) + index);
  std::vector<float> values(static_cast<std::size_t>(nasbench::element_count(type.shape)));
  const bool real = type.type == nasbench::ElementType::float32;
  for (float& value : values) value = real ? static_cast<float>(rng.normal()) : static_cast<float>(rng.below(2));
  return tensor_of(values, type.shape).to(real ? at::kFloat : at::kLong);
}

at::Tensor Placement::operator()(const at::Tensor& tensor) const {
  if (!tensor.defined()) return tensor;
  const at::Tensor there = tensor.to(device);
  return there.dim() == 4 ? there.contiguous(format) : there;
}

LibTorchNetwork::LibTorchNetwork(const Network& network, const RuntimeOptions& options, Placement placement)
    : threads_(options.threads), placement_(placement) {
  static SilentWarnings silent;
  for (std::size_t i = 0; i < network.inputs.size(); ++i) {
    inputs_.push_back(placement(random_input(network.inputs[i].type, i, options.weight_seed, ImagePurpose::input)));
  }
}

void LibTorchNetwork::synchronise() const {
  if (placement_.device.is_cuda()) torch::cuda::synchronize();
}

void LibTorchNetwork::run() {
  use_threads();
  const c10::InferenceMode inference;
  forward(inputs_);
  synchronise();
}

std::vector<double> LibTorchNetwork::run_timed_nodes(std::size_t nodes) {
  node_ms_.assign(nodes, 0);
  run();
  return std::exchange(node_ms_, {});
}

std::vector<float> LibTorchNetwork::infer(const std::vector<float>& input) {
  std::int64_t expected = 0;
  for (const at::Tensor& own : inputs_) expected += own.numel();
  require_values(input, expected);
  use_threads();
  const c10::InferenceMode inference;
  const at::Tensor all = at::tensor(input);
  std::vector<at::Tensor> inputs;
  std::int64_t start = 0;
  for (const at::Tensor& own : inputs_) {
    inputs.push_back(placement_(all.narrow(0, start, own.numel()).reshape(own.sizes()).to(own.scalar_type())));
    start += own.numel();
  }
  std::vector<float> outputs;
  for (const at::Tensor& result : forward(inputs)) {
    const at::Tensor output = result.to(at::kCPU).to(at::kFloat).contiguous();
    const auto* values = output.data_ptr<float>();
    outputs.insert(outputs.end(), values, values + output.numel());
  }
  return outputs;
}

/// LibTorch's thread count is global, and another network may have set its own since. The threads between operators
/// stay as they are: nothing here forks, and LibTorch forbids changing them after a start.
void LibTorchNetwork::use_threads() const {
  if (at::get_num_threads() != threads_) at::set_num_threads(threads_);
}

std::vector<at::Tensor> slot_values(const RunnableGraph& graph, const std::vector<at::Tensor>& inputs) {
  std::vector<at::Tensor> values = inputs;
  values.resize(graph.slots);
  for (const RunnableNode& node : graph.nodes) apply_node(node, values);
  return values;
}

std::unique_ptr<PreparedNetwork> prepare_eager(std::string_view runtime, const Network& network,
                                               const RuntimeOptions& options) {
  return std::make_unique<EagerNetwork>(network, options, placement_of(runtime));
}

}  // namespace tenshot::descriptor
