#pragma once

namespace tenshot::trainer {

/// Sets LibTorch's number of intra-operator threads for as long as it lives.
class LibTorchThreads {
 public:
  explicit LibTorchThreads(int threads);
  ~LibTorchThreads();
  LibTorchThreads(const LibTorchThreads&) = delete;
  LibTorchThreads& operator=(const LibTorchThreads&) = delete;

 private:
  int before_;
};

/// Lets this thread's arithmetic flush denormal numbers to zero for as long as it lives. Adam's moments of units that
/// stopped learning decay through them, at a tenth of the speed, towards updates that no parameter can feel.
class FlushedDenormals {
 public:
  FlushedDenormals();
  ~FlushedDenormals();
  FlushedDenormals(const FlushedDenormals&) = delete;
  FlushedDenormals& operator=(const FlushedDenormals&) = delete;
};

/// "1.13.1"
const char* libtorch_version();

}  // namespace tenshot::trainer
