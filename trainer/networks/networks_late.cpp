#include "nasbench/support/late_library.h"
#include "trainer/networks/exporting.h"
#include "trainer/networks/regression_network.h"

namespace tenshot::trainer {

std::string torchscript(const ExportedFormula& exported, const nasbench::NetworkSpace& space,
                        const nlohmann::json& card) {
  return from_torch_library("torchscript", torchscript)(exported, space, card);
}

void multiply(const MatrixOperand& a, const MatrixOperand& b, float* product) {
  static const auto late = from_torch_library("multiply", multiply);
  late(a, b, product);
}

}  // namespace tenshot::trainer
