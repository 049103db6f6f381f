#include "nasbench/support/torch_library.h"
#include "trainer/predictors/operators/operators_torchscript.h"

namespace tenshot::trainer::operators {

std::string torchscript(const nasbench::SearchSpace& space, const FeatureMap& map, const CostPosterior& posterior,
                        const nlohmann::json& card, bool intervals) {
  return from_torch_library<decltype(torchscript)>("operators::torchscript")(space, map, posterior, card, intervals);
}

}  // namespace tenshot::trainer::operators
