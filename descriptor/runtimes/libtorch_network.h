#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "descriptor/runtimes/runtime.h"
#include "nasbench/graph/network.h"
#include "nasbench/support/elapsed.h"

namespace tenshot::descriptor {

// What the LibTorch runtimes share. Needs LibTorch's headers: for their sources only.

/// A node's weights as tensors; undefined where the node has none.
struct NodeTensors {
  at::Tensor weight, bias, mean, variance;
};

/// A node that is ready to run. A run's tensors stand in slots: the network's inputs, then every node's outputs.
struct RunnableNode {
  nasbench::NetworkNode node;
  NodeTensors tensors;
  std::vector<std::size_t> inputs;  ///< slots
  std::size_t output = 0;           ///< slot of its first output; the others follow
};

/// Nodes, slots and weights of a network.
struct RunnableGraph {
  std::vector<RunnableNode> nodes;
  std::vector<std::size_t> outputs;  ///< slots
  std::size_t slots = 0;
};

/// The network with the weights of the options, or those that nasbench::random_weights gives it.
RunnableGraph runnable_graph(const nasbench::Network& network, const RuntimeOptions& options);

/// `values` in the given shape; an undefined tensor when there are none.
at::Tensor tensor_of(const std::vector<float>& values, const std::vector<std::int64_t>& shape);

/// The weights of node `index`, of the options or nasbench::random_weights, in the shapes LibTorch takes.
NodeTensors tensors_of(const nasbench::Network& network, std::size_t index, const RuntimeOptions& options);

/// What random images are for; streams of the seed apart from those that draw weights.
enum class ImagePurpose : std::uint64_t { input = 0x696e707574, calibration = 0x63616c6962 };

/// Standard normal numbers for input `index`; zeros and ones where it is of integers.
at::Tensor random_input(const nasbench::TensorType& type, std::size_t index, std::uint64_t seed, ImagePurpose purpose);

/// Throws InputError when the options are not positive, the network is not sound, or a node is of a kind that
/// LibTorch's operators do not cover (an opaque one, another element type than float32).
void require_runnable(const nasbench::Network& network);

/// Where the tensors of a network live and how four-dimensional ones are laid out.
struct Placement {
  at::Device device = at::kCPU;
  at::MemoryFormat format = at::MemoryFormat::Contiguous;

  at::Tensor operator()(const at::Tensor& tensor) const;
};

/// A network of LibTorch's operators: threads, the inputs, and tensors in and out.
class LibTorchNetwork : public PreparedNetwork {
 public:
  LibTorchNetwork(const nasbench::Network& network, const RuntimeOptions& options, Placement placement = {});
  void run() override;
  std::vector<float> infer(const std::vector<float>& input) override;

 protected:
  /// `inputs` as infer() got them, or the network's own, where they are placed; the outputs.
  virtual std::vector<at::Tensor> forward(const std::vector<at::Tensor>& inputs) = 0;
  const std::vector<at::Tensor>& own_inputs() const { return inputs_; }
  /// Does the work of node `node`, timed where run_timed() asks.
  template <class Work>
  void timed(std::size_t node, const Work& work) {
    if (node_ms_.empty()) return work();
    const Clock::time_point start = Clock::now();
    work();
    synchronise();
    node_ms_[node] = milliseconds_since(start);
  }
  /// What run_timed() is of a network of so many nodes, whose forward() does the work of each in timed().
  std::vector<double> run_timed_nodes(std::size_t nodes);

 private:
  void use_threads() const;
  /// Waits for what a run started on another device.
  void synchronise() const;

  std::vector<double> node_ms_;  ///< while run_timed_nodes() runs, by node
  int threads_;
  Placement placement_;
  std::vector<at::Tensor> inputs_;
};

/// Computes `node` from the tensors in `values` and puts its outputs there.
void apply_node(const RunnableNode& node, std::vector<at::Tensor>& values);

/// Runs the graph node by node on the processor in the usual layout, and gives the value of every slot.
std::vector<at::Tensor> slot_values(const RunnableGraph& graph, const std::vector<at::Tensor>& inputs);

/// Makes a network ready for the runtime of that name.
using Prepare = std::unique_ptr<PreparedNetwork>(std::string_view runtime, const nasbench::Network& network,
                                                 const RuntimeOptions& options);
Prepare prepare_eager;     ///< node by node: libtorch-eager, libtorch-channels-last, libtorch-cuda
Prepare prepare_scripted;  ///< compiled to TorchScript: libtorch-frozen, libtorch-optimized, libtorch-xnnpack
Prepare prepare_int8;

/// "oneDNN", "QNNPACK" or "FBGEMM": what int8 convolutions run on here; empty when LibTorch has none.
std::string int8_engine();

}  // namespace tenshot::descriptor
