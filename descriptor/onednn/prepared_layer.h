#pragma once

#include <string>
#include <vector>

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

/// One layer from its creation to its execution. Creating and transforming may happen on one thread, executing on
/// another one afterwards.
class PreparedLayer {
 public:
  /// Makes the primitive, and the reorders around it. `cached`: its weights come transformed. Throws as layer_kernels.
  PreparedLayer(const ColdNetwork& network, const ColdLayer& layer, const dnnl::engine& engine,
                const std::string& kernel, bool cached);

  bool has_weights() const { return kernel_.has_weights; }
  bool transforms() const { return kernel_.transforms(); }
  /// Bytes of the raw and of the stored transformed weights, each with the bias behind it.
  std::size_t raw_bytes() const { return kernel_.raw_weights.get_size() + kernel_.bias.get_size(); }
  std::size_t cached_bytes() const { return kernel_.weights.get_size() + kernel_.bias.get_size(); }

  /// Takes weights and bias as the kernel wants them. They are the caller's, and stay while the layer is executed.
  void set_weights(const char* ready) { weights_ = ready; }
  /// Reorders raw weights and bias into cached_bytes() at `ready`, and takes those.
  void transform(const char* raw, char* ready, dnnl::stream& stream);
  const char* weights() const { return weights_; }

  void execute(ExecutionMemory& memory) const;

 private:
  struct Move {
    dnnl::reorder primitive;
    bool needed = false;
  };
  Move move(const dnnl::memory::desc& from, const dnnl::memory::desc& to) const;

  LayerKernel kernel_;
  dnnl::engine engine_;
  dnnl::primitive primitive_;
  dnnl::memory::desc scratchpad_;
  Move transform_, before_, after_;
  const char* weights_ = nullptr;
};

}  // namespace tenshot::descriptor
