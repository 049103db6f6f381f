#pragma once

#include <cstddef>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "descriptor/onednn/kernels.h"

namespace tenshot::descriptor {

/// Memory of the process's own, at a multiple of 64 bytes; large ones in huge pages where the system has them, which
/// makes their first use cheaper. Untouched until then. Throws std::bad_alloc.
class Buffer {
 public:
  Buffer() = default;
  explicit Buffer(std::size_t bytes);

  char* data() const { return data_.get(); }
  std::size_t size() const { return bytes_; }
  /// Room for so many bytes, and for more where it has to grow, so that it seldom does; what was in it is lost then.
  void require(std::size_t bytes);

 private:
  struct Free {
    void operator()(char* memory) const { std::free(memory); }
  };
  std::unique_ptr<char, Free> data_;
  std::size_t bytes_ = 0;
};

/// Memory that is handed out piece by piece and freed as a whole: few large requests to the system in place of one for
/// each layer. For one thread. Throws std::bad_alloc.
class Arena {
 public:
  /// A piece of so many bytes, at a multiple of 64.
  char* take(std::size_t bytes);

 private:
  std::vector<Buffer> chunks_;
  std::size_t used_ = 0;  ///< bytes of the last chunk that were given away
};

/// Where a network's tensors lie in one buffer: tensors that are never needed at once may share a place.
struct TensorPlaces {
  std::vector<std::size_t> offsets;
  std::size_t bytes = 0;
};
TensorPlaces tensor_places(const ColdNetwork& network);

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
