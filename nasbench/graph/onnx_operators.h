#pragma once

#include <vector>

#include "nasbench/graph/onnx_values.h"

namespace tenshot::nasbench {

/// The operator that `node` is, without a name; opaque where it is none of the kinds that we know, or of a known one
/// in an unusual form (a convolution whose weights are computed). `inputs` have null pointers where an optional one is
/// missing; `implicit` are the tensors that its sub-graphs read. Throws FormatError where shapes contradict each other.
NetworkNode operator_of(const onnx::NodeProto& node, const std::vector<const OnnxValue*>& inputs,
                        const std::vector<OnnxValue>& outputs, const std::vector<Source>& implicit,
                        const std::vector<Shape>& implicit_shapes);

}  // namespace tenshot::nasbench
