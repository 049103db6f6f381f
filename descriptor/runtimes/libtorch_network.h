#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "descriptor/runtimes/runtime.h"
#include "nasbench/graph/layer_graph.h"

namespace tenshot::descriptor {

// What the LibTorch runtimes share. Needs LibTorch's headers: for their sources only.

/// A layer's weights as tensors; undefined where the layer has none.
struct LayerTensors {
  at::Tensor weight, bias, mean, variance;
};

/// `values` in the given shape; an undefined tensor when there are none.
at::Tensor tensor_of(const std::vector<float>& values, const std::vector<std::int64_t>& shape);

/// nasbench::random_weights of layer `index`, in the shapes that LibTorch's operators take.
LayerTensors tensors_of(const nasbench::LayerGraph& graph, std::size_t index, std::uint64_t seed);

/// What random images are for; streams of the seed apart from those that draw weights.
enum class ImagePurpose : std::uint64_t { input = 0x696e707574, calibration = 0x63616c6962 };

/// Standard normal images, batch × channels × height × width.
at::Tensor random_images(const std::vector<std::int64_t>& shape, std::uint64_t seed, ImagePurpose purpose);

/// Throws InputError when the options are not positive or a layer does not take earlier layers, as many as its kind
/// wants.
void require_runnable(const nasbench::LayerGraph& graph, const RuntimeOptions& options);

/// A network of LibTorch's operators: threads, the input, and tensors in and out.
class LibTorchNetwork : public PreparedNetwork {
 public:
  LibTorchNetwork(const nasbench::LayerGraph& graph, const RuntimeOptions& options);
  void run() override;
  std::vector<float> infer(const std::vector<float>& input) override;

 protected:
  /// `input` as infer() got it, or the network's own after place().
  virtual at::Tensor forward(const at::Tensor& input) = 0;
  /// Where and in which layout an input has to be; as it is unless said.
  virtual at::Tensor placed(const at::Tensor& input) const { return input; }
  /// Waits for what run() started; nothing to wait for unless said.
  virtual void synchronise() const {}
  /// Puts the network's own input where placed() says; the last thing a constructor does.
  void place() { input_ = placed(input_); }
  const at::Tensor& own_input() const { return input_; }

 private:
  void use_threads() const;

  int threads_;
  std::vector<std::int64_t> shape_;
  at::Tensor input_;
};

/// One layer of LibTorch's operators; `values` holds those of all earlier layers.
at::Tensor apply_layer(const nasbench::Layer& layer, const LayerTensors& own, const std::vector<at::Tensor>& values);

/// Runs `graph` layer by layer on the processor in the usual layout, and gives the value of every layer.
std::vector<at::Tensor> layer_values(const nasbench::LayerGraph& graph, const std::vector<LayerTensors>& tensors,
                                     const at::Tensor& input);

std::unique_ptr<PreparedNetwork> prepare_eager(const nasbench::LayerGraph& graph, const RuntimeOptions& options);
std::unique_ptr<PreparedNetwork> prepare_channels_last(const nasbench::LayerGraph& graph,
                                                       const RuntimeOptions& options);
std::unique_ptr<PreparedNetwork> prepare_cuda(const nasbench::LayerGraph& graph, const RuntimeOptions& options);
std::unique_ptr<PreparedNetwork> prepare_frozen(const nasbench::LayerGraph& graph, const RuntimeOptions& options);
std::unique_ptr<PreparedNetwork> prepare_optimized(const nasbench::LayerGraph& graph, const RuntimeOptions& options);
std::unique_ptr<PreparedNetwork> prepare_xnnpack(const nasbench::LayerGraph& graph, const RuntimeOptions& options);
std::unique_ptr<PreparedNetwork> prepare_int8(const nasbench::LayerGraph& graph, const RuntimeOptions& options);

/// "oneDNN", "QNNPACK" or "FBGEMM": what int8 convolutions run on here; empty when LibTorch has none.
std::string int8_engine();

}  // namespace tenshot::descriptor
