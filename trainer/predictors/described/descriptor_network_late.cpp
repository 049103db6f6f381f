#include "nasbench/support/late_library.h"
#include "trainer/predictors/described/descriptor_prior.h"

namespace tenshot::trainer::structured {

DescriptorNetwork fit_descriptor_network(const DescribedNetworks& networks, std::uint64_t seed) {
  return from_torch_library("structured::fit_descriptor_network", fit_descriptor_network)(networks, seed);
}

}  // namespace tenshot::trainer::structured
