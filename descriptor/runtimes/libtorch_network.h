#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <memory>
#include <string>
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

/// A node that is ready to run. The tensors of a run stand in slots: the network's inputs first, then the outputs of
/// every node.
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

/// The weights of node `index`, those of the options or nasbench::random_weights, in the shapes that LibTorch's
/// operators take.
NodeTensors tensors_of(const nasbench::Network& network, std::size_t index, const RuntimeOptions& options);

/// What random images are for; streams of the seed apart from those that draw weights.
enum class ImagePurpose : std::uint64_t { input = 0x696e707574, calibration = 0x63616c6962 };

/// Standard normal numbers for input `index`; zeros and ones where it is of integers.
at::Tensor random_input(const nasbench::TensorType& type, std::size_t index, std::uint64_t seed, ImagePurpose purpose);

/// Throws InputError when the options are not positive, the network is not sound, or a node is of a kind that
/// LibTorch's operators do not cover (an opaque one, another element type than float32).
void require_runnable(const nasbench::Network& network, const RuntimeOptions& options);

/// A network of LibTorch's operators: threads, the inputs, and tensors in and out.
class LibTorchNetwork : public PreparedNetwork {
 public:
  LibTorchNetwork(const nasbench::Network& network, const RuntimeOptions& options);
  void run() override;
  std::vector<float> infer(const std::vector<float>& input) override;

 protected:
  /// `inputs` as infer() got them, or the network's own after place(); the outputs.
  virtual std::vector<at::Tensor> forward(const std::vector<at::Tensor>& inputs) = 0;
  /// Where and in which layout an input has to be; as it is unless said.
  virtual at::Tensor placed(const at::Tensor& input) const { return input; }
  /// Waits for what run() started; nothing to wait for unless said.
  virtual void synchronise() const {}
  /// Puts the network's own inputs where placed() says; the last thing a constructor does.
  void place();
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

  std::vector<double> node_ms_;  ///< while run_timed_nodes() runs, by node

  int threads_;
  std::vector<at::Tensor> inputs_;
};

/// Computes `node` from the tensors in `values` and puts its outputs there.
void apply_node(const RunnableNode& node, std::vector<at::Tensor>& values);

/// Runs the graph node by node on the processor in the usual layout, and gives the value of every slot.
std::vector<at::Tensor> slot_values(const RunnableGraph& graph, const std::vector<at::Tensor>& inputs);

std::unique_ptr<PreparedNetwork> prepare_eager(const nasbench::Network& network, const RuntimeOptions& options);
std::unique_ptr<PreparedNetwork> prepare_channels_last(const nasbench::Network& network, const RuntimeOptions& options);
std::unique_ptr<PreparedNetwork> prepare_cuda(const nasbench::Network& network, const RuntimeOptions& options);
std::unique_ptr<PreparedNetwork> prepare_frozen(const nasbench::Network& network, const RuntimeOptions& options);
std::unique_ptr<PreparedNetwork> prepare_optimized(const nasbench::Network& network, const RuntimeOptions& options);
std::unique_ptr<PreparedNetwork> prepare_xnnpack(const nasbench::Network& network, const RuntimeOptions& options);
std::unique_ptr<PreparedNetwork> prepare_int8(const nasbench::Network& network, const RuntimeOptions& options);

/// "oneDNN", "QNNPACK" or "FBGEMM": what int8 convolutions run on here; empty when LibTorch has none.
std::string int8_engine();

}  // namespace tenshot::descriptor
