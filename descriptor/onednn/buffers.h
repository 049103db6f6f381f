#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "descriptor/cold/cold_network.h"

namespace tenshot::descriptor {

/// Memory of the process's own, at a multiple of 64 bytes; large ones in huge pages where the system has them, which
/// makes their first use cheaper. Untouched until then. Throws std::bad_alloc.
class Buffer {
 public:
  Buffer() = default;
  explicit Buffer(std::size_t bytes);
  ~Buffer();
  Buffer(Buffer&& other) noexcept : data_(std::exchange(other.data_, nullptr)), bytes_(other.bytes_) {}
  Buffer& operator=(Buffer&& other) noexcept;
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  char* data() const { return static_cast<char*>(data_); }
  std::size_t size() const { return bytes_; }
  /// Room for so many bytes, and for some more where it has to grow, so that it seldom does; what was in it is lost
  /// then.
  void require(std::size_t bytes);

 private:
  void* data_ = nullptr;
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

}  // namespace tenshot::descriptor
