#include "nasbench/support/torch_library.h"
#include "trainer/networks/exporting.h"

namespace tenshot::trainer {

std::string torchscript(const ExportedFormula& exported, const nasbench::NetworkSpace& space,
                        const nlohmann::json& card) {
  return from_torch_library<decltype(torchscript)>("torchscript")(exported, space, card);
}

}  // namespace tenshot::trainer
