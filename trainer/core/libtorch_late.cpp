#include "nasbench/support/late_library.h"
#include "trainer/core/libtorch.h"

namespace tenshot::trainer {

int set_libtorch_threads(int threads) {
  return from_torch_library("set_libtorch_threads", set_libtorch_threads)(threads);
}

void set_flush_denormals(bool flush) { from_torch_library("set_flush_denormals", set_flush_denormals)(flush); }

}  // namespace tenshot::trainer
