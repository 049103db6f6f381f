#include "nasbench/support/torch_library.h"
#include "trainer/predictors/forest/forest_predictor.h"

namespace tenshot::trainer {

std::string torchscript(const RandomForest& forest, const SearchSpace& space, const nlohmann::json& card) {
  return from_torch_library<ForestTorchScript>("torchscript")(forest, space, card);
}

}  // namespace tenshot::trainer
