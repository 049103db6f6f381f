#pragma once

#include <cstdint>

#include "nasbench/graph/operator_specification.h"

namespace tenshot::test {

/// A square convolution of one image of `size` × `size` pixels, which it keeps.
inline nasbench::OperatorSpecification convolution(int kernel, int groups, std::int64_t in, std::int64_t out,
                                                   std::int64_t size) {
  nasbench::OperatorSpecification op;
  op.kind = nasbench::OperatorKind::convolution;
  op.kernel = {kernel, kernel};
  op.groups = groups;
  op.inputs = {{1, in, size, size}};
  op.output = {1, out, size, size};
  return op;
}

}  // namespace tenshot::test
