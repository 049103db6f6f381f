#include <torch/cuda.h>

#include <algorithm>

#include "descriptor/runtimes/libtorch_network.h"
#include "nasbench/support/error.h"

namespace tenshot::descriptor {
namespace {

using nasbench::Network;

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
  EagerNetwork(const Network& network, const RuntimeOptions& options, Placement placement)
      : LibTorchNetwork(network, options),
        placement_(placement),
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
    place();
  }

  std::vector<double> run_timed() override { return run_timed_nodes(graph_.nodes.size()); }

 protected:
  at::Tensor placed(const at::Tensor& input) const override { return placement_(input); }

  void synchronise() const override {
    if (placement_.device.is_cuda()) torch::cuda::synchronize();
  }

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
  Placement placement_;
  RunnableGraph graph_;
  std::vector<at::Tensor> values_;
  std::vector<std::vector<std::size_t>> dies_after_;
};

}  // namespace

std::unique_ptr<PreparedNetwork> prepare_eager(const Network& network, const RuntimeOptions& options) {
  return std::make_unique<EagerNetwork>(network, options, Placement{});
}

std::unique_ptr<PreparedNetwork> prepare_channels_last(const Network& network, const RuntimeOptions& options) {
  return std::make_unique<EagerNetwork>(network, options, Placement{at::kCPU, at::MemoryFormat::ChannelsLast});
}

std::unique_ptr<PreparedNetwork> prepare_cuda(const Network& network, const RuntimeOptions& options) {
  if (!torch::cuda::is_available()) {
    throw Error(
        "libtorch-cuda: this LibTorch was built without CUDA, or no CUDA device is there; choose a runtime of "
        "the processor");
  }
  return std::make_unique<EagerNetwork>(network, options, Placement{at::kCUDA, at::MemoryFormat::Contiguous});
}

}  // namespace tenshot::descriptor
