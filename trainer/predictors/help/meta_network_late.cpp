#include "nasbench/support/late_library.h"
#include "trainer/predictors/help/meta_network.h"

namespace tenshot::trainer {

std::unique_ptr<MetaNetwork> make_meta_network(int inputs, bool cells, std::uint64_t seed) {
  return from_torch_library("make_meta_network", make_meta_network)(inputs, cells, seed);
}

}  // namespace tenshot::trainer
