#pragma once

#include <memory>
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

/// How one layer is computed: by a primitive of oneDNN, or by a compiled kernel.
class LayerCode {
 public:
  virtual ~LayerCode() = default;
  virtual bool has_weights() const = 0;
  virtual bool transforms() const = 0;
  /// Bytes of the weights and of the bias, which lies behind them: as in the model, and as the kernel wants them.
  virtual std::size_t raw_weight_bytes() const = 0;
  virtual std::size_t weight_bytes() const = 0;
  virtual std::size_t bias_bytes() const = 0;
  /// Reorders raw weights, without the bias, into weight_bytes() at `ready`.
  virtual void transform(const char* raw, char* ready, dnnl::stream& stream) const = 0;
  virtual void execute(ExecutionMemory& memory, const char* weights) const = 0;
};

/// One layer from its creation to its execution. Creating and transforming may happen on one thread, executing on
/// another one afterwards.
class PreparedLayer {
 public:
  /// `cached`: its weights come transformed. Throws InputError that names the layer where it has no such kernel.
  PreparedLayer(const ColdNetwork& network, const ColdLayer& layer, const dnnl::engine& engine,
                const std::string& kernel, bool cached);

  bool has_weights() const { return code_->has_weights(); }
  bool transforms() const { return code_->transforms(); }
  /// Bytes of the raw and of the stored transformed weights, each with the bias behind it.
  std::size_t raw_bytes() const { return code_->raw_weight_bytes() + code_->bias_bytes(); }
  std::size_t cached_bytes() const { return code_->weight_bytes() + code_->bias_bytes(); }

  /// Takes weights and bias as the kernel wants them. They are the caller's, and stay while the layer is executed.
  void set_weights(const char* ready) { weights_ = ready; }
  /// Reorders raw weights and bias into cached_bytes() at `ready`, and takes those.
  void transform(const char* raw, char* ready, dnnl::stream& stream);
  const char* weights() const { return weights_; }

  void execute(ExecutionMemory& memory) const { code_->execute(memory, weights_); }

 private:
  std::unique_ptr<LayerCode> code_;
  const char* weights_ = nullptr;
};

}  // namespace tenshot::descriptor
