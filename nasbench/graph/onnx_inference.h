#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "nasbench/graph/onnx_values.h"

namespace tenshot::nasbench {

/// Shape and ONNX element type of an output; nothing where neither is known.
using InferredType = std::optional<OnnxValue>;

/// Types of the outputs of `node`, an operator of version `opset` of `domain`, as libonnx infers them; newer operators
/// and those of other domains by rules of our own, where we know them. Throws FormatError where a window, a stride or
/// a group count makes no sense or libonnx refuses the node. A missing optional input is a null pointer.
std::vector<InferredType> inferred_types(const onnx::NodeProto& node, std::int64_t opset,
                                         const std::vector<const OnnxValue*>& inputs);

}  // namespace tenshot::nasbench
