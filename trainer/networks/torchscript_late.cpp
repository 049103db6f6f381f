#include "nasbench/support/torch_library.h"
#include "trainer/networks/torchscript.h"

namespace tenshot::trainer {

std::string torchscript(const FeedForward& network, const nasbench::SearchSpace& space, const nlohmann::json& card) {
  return from_torch_library<FeedForwardTorchScript>("torchscript")(network, space, card);
}

}  // namespace tenshot::trainer
