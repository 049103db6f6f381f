#include "nasbench/support/torch_library.h"
#include "trainer/predictors/structured/structured_torchscript.h"

namespace tenshot::trainer::structured {

std::string torchscript(const StructuredPosterior& posterior, const nlohmann::json& card, bool intervals) {
  return from_torch_library<decltype(torchscript)>("structured::torchscript")(posterior, card, intervals);
}

}  // namespace tenshot::trainer::structured
