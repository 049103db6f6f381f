#pragma once

#include "nasbench/graph/onnx_values.h"

namespace tenshot::nasbench {

/// The operator that `node` is, without a name; opaque where it is none of the kinds that we know, or of a known one
/// in an unusual form (a convolution whose weights are computed). `inputs` have null pointers where an optional one is
/// missing. Throws FormatError where shapes contradict each other.
NetworkNode operator_of(const onnx::NodeProto& node, const OnnxInputs& inputs, const OnnxValues& outputs);

}  // namespace tenshot::nasbench
