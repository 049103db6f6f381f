#pragma once

#include <optional>
#include <vector>

#include "nasbench/graph/onnx_values.h"

namespace tenshot::nasbench {

/// The outputs of a node whose inputs are all small constants, or that asks for the shape of a tensor: the shape
/// computations that exporters write. Nothing where the operator is none of those that shapes are computed with, or
/// its result would not be small. A missing optional input is a null pointer. Throws FormatError on inputs that make
/// no sense (an index beyond the end).
std::optional<std::vector<OnnxValue>> folded(const onnx::NodeProto& node, const std::vector<const OnnxValue*>& inputs);

}  // namespace tenshot::nasbench
