#include <torch/torch.h>

#include "trainer/core/libtorch.h"

namespace tenshot::trainer {

int set_libtorch_threads(int threads) {
  const int before = at::get_num_threads();
  at::set_num_threads(threads);
  return before;
}

void set_flush_denormals(bool flush) { at::globalContext().setFlushDenormal(flush); }

}  // namespace tenshot::trainer
