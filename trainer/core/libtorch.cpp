#include "trainer/core/libtorch.h"

#include <torch/torch.h>
#include <torch/version.h>

namespace tenshot::trainer {

LibTorchThreads::LibTorchThreads(int threads) : before_(at::get_num_threads()) { at::set_num_threads(threads); }
LibTorchThreads::~LibTorchThreads() { at::set_num_threads(before_); }

FlushedDenormals::FlushedDenormals() { at::globalContext().setFlushDenormal(true); }
FlushedDenormals::~FlushedDenormals() { at::globalContext().setFlushDenormal(false); }

const char* libtorch_version() { return TORCH_VERSION; }

}  // namespace tenshot::trainer
