#pragma once

namespace tenshot::trainer {

// What trainer/core/libtorch.h sets, for as long as its objects live.

/// Sets LibTorch's number of intra-operator threads and returns what it was before.
int set_libtorch_threads(int threads);
/// Whether this thread's arithmetic flushes denormal numbers to zero.
void set_flush_denormals(bool flush);

}  // namespace tenshot::trainer
