#pragma once

#include <cstdint>

namespace tenshot::trainer {

/// A row-major matrix of someone else's numbers, only read; as an operand it stands for its transpose where that is
/// said.
struct MatrixOperand {
  const float* values = nullptr;
  std::int64_t rows = 0;  ///< in memory
  std::int64_t columns = 0;
  bool transposed = false;
};

/// product = a · b, row-major, by LibTorch.
void multiply(const MatrixOperand& a, const MatrixOperand& b, float* product);

}  // namespace tenshot::trainer
