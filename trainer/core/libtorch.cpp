#include "trainer/core/libtorch.h"

#ifdef TENSHOT_HAS_TORCH
#include <torch/version.h>
#else
#define TORCH_VERSION "none"
#endif

#include "trainer/core/libtorch_settings.h"

namespace tenshot::trainer {

LibTorchThreads::LibTorchThreads(int threads) : before_(set_libtorch_threads(threads)) {}
LibTorchThreads::~LibTorchThreads() { set_libtorch_threads(before_); }

FlushedDenormals::FlushedDenormals() { set_flush_denormals(true); }
FlushedDenormals::~FlushedDenormals() { set_flush_denormals(false); }

const char* libtorch_version() { return TORCH_VERSION; }

}  // namespace tenshot::trainer
