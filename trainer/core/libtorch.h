#pragma once

namespace tenshot::trainer {

/// Sets LibTorch's number of intra-operator threads and returns what it was before.
int set_libtorch_threads(int threads);

/// Whether this thread's arithmetic flushes denormal numbers to zero.
void set_flush_denormals(bool flush);

/// Sets LibTorch's number of intra-operator threads for as long as it lives.
class LibTorchThreads {
 public:
  explicit LibTorchThreads(int threads) : before_(set_libtorch_threads(threads)) {}
  ~LibTorchThreads() { set_libtorch_threads(before_); }
  LibTorchThreads(const LibTorchThreads&) = delete;
  LibTorchThreads& operator=(const LibTorchThreads&) = delete;

 private:
  int before_;
};

/// Lets this thread's arithmetic flush denormal numbers to zero for as long as it lives. Adam's moments of units that
/// stopped learning decay through them, at a tenth of the speed, towards updates that no parameter can feel.
class FlushedDenormals {
 public:
  FlushedDenormals() { set_flush_denormals(true); }
  ~FlushedDenormals() { set_flush_denormals(false); }
  FlushedDenormals(const FlushedDenormals&) = delete;
  FlushedDenormals& operator=(const FlushedDenormals&) = delete;
};

/// "1.13.1"
const char* libtorch_version();

}  // namespace tenshot::trainer
