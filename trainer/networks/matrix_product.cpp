#include <torch/torch.h>

#include "trainer/networks/regression_network.h"

namespace tenshot::trainer {
namespace {

at::Tensor tensor_of(const MatrixOperand& operand) {
  // LibTorch has no view of constant memory; the product only reads it.
  const at::Tensor stored = torch::from_blob(const_cast<float*>(operand.values), {operand.rows, operand.columns});
  return operand.transposed ? stored.t() : stored;
}

}  // namespace

void multiply(const MatrixOperand& a, const MatrixOperand& b, float* product) {
  const c10::InferenceMode no_autograd;
  const at::Tensor left = tensor_of(a), right = tensor_of(b);
  at::Tensor result = torch::from_blob(product, {left.size(0), right.size(1)});
  at::mm_out(result, left, right);
}

}  // namespace tenshot::trainer
