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

/// "1.13.1"
const char* libtorch_version();

}  // namespace tenshot::trainer
