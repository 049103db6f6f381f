#pragma once

#include <functional>
#include <string>

#include "descriptor/onednn/buffers.h"
#include "descriptor/onednn/kernels.h"

namespace tenshot::descriptor {

/// What layers are executed on: the tensors, and memory that lasts for one execution.
struct ExecutionMemory {
  dnnl::engine engine;
  dnnl::stream stream;
  TensorPlaces places;
  Buffer tensors, scratch;

  ExecutionMemory(const dnnl::engine& on, const ColdNetwork& network);
  void* at(int tensor) { return tensors.data() + places.offsets[static_cast<std::size_t>(tensor)]; }
};

/// One layer from its creation to its execution, by a primitive of oneDNN or by a compiled kernel. Creating and
/// transforming may happen on one thread, executing on another one afterwards.
class PreparedLayer {
 public:
  /// `cached`: its weights come transformed. Throws InputError that names the layer where it has no such kernel.
  PreparedLayer(const ColdNetwork& network, const ColdLayer& layer, const dnnl::engine& engine,
                const std::string& kernel, bool cached);

  bool has_weights() const { return raw_weight_bytes_ > 0; }
  bool transforms() const { return transforms_; }
  /// Bytes of the raw and of the stored transformed weights, each with the bias behind it.
  std::size_t raw_bytes() const { return raw_weight_bytes_ + bias_bytes_; }
  std::size_t cached_bytes() const { return weight_bytes_ + bias_bytes_; }

  /// Takes weights and bias as the kernel wants them. They are the caller's, and stay while the layer is executed.
  void set_weights(const char* ready) { weights_ = ready; }
  /// Reorders raw weights and bias into cached_bytes() at `ready`, and takes those.
  void transform(const char* raw, char* ready, dnnl::stream& stream);
  const char* weights() const { return weights_; }

  void execute(ExecutionMemory& memory) const { execute_(memory, weights_); }

 private:
  void use_compiled(const ColdNetwork& network, const ColdLayer& layer, const std::string& kernel);
  void use_library(LayerKernel kernel, const dnnl::engine& engine, bool cached);

  std::size_t raw_weight_bytes_ = 0, weight_bytes_ = 0, bias_bytes_ = 0;
  bool transforms_ = false;
  /// Reorders the weights, without the bias; empty where they are taken as they are.
  std::function<void(const char* raw, char* ready, dnnl::stream& stream)> transform_;
  std::function<void(ExecutionMemory& memory, const char* weights)> execute_;
  const char* weights_ = nullptr;
};

}  // namespace tenshot::descriptor
