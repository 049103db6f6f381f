#include "trainer/core/libtorch.h"

#ifdef TENSHOT_HAS_TORCH
#include <torch/version.h>
#else
#define TORCH_VERSION "none"
#endif

namespace tenshot::trainer {

const char* libtorch_version() { return TORCH_VERSION; }

}  // namespace tenshot::trainer
