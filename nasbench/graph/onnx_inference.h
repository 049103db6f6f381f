#pragma once

#include <cstdint>
#include <vector>

#include "nasbench/graph/onnx_shape_rules.h"

namespace tenshot::nasbench {

/// Types of the outputs of `node`, an operator of version `opset` of `domain`, as libonnx infers them; newer operators
/// and those of other domains by rules of our own, where we know them. Throws FormatError where a window, a stride or
/// a group count makes no sense or libonnx refuses the node. A missing optional input is a null pointer.
std::vector<InferredType> inferred_types(const onnx::NodeProto& node, std::int64_t opset, const OnnxInputs& inputs);

}  // namespace tenshot::nasbench
