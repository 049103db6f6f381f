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

/// The same of training, where this thread's arithmetic flushes denormal numbers to zero too: Adam's moments of units
/// that stopped learning decay through them, at a tenth of the speed, towards updates that no parameter can feel.
class LibTorchTraining : public LibTorchThreads {
 public:
  explicit LibTorchTraining(int threads) : LibTorchThreads(threads) { set_flush_denormals(true); }
  ~LibTorchTraining() { set_flush_denormals(false); }
};

}  // namespace tenshot::trainer
