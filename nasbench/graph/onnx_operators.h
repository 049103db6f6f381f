#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "nasbench/graph/onnx_steps.h"
#include "nasbench/graph/onnx_values.h"

namespace tenshot::nasbench {

/// The operator that `node` is, without a name; opaque where it is none of the kinds that we know, or of a known one
/// in an unusual form (a convolution whose weights are computed). `inputs` have null pointers where an optional one is
/// missing. Throws FormatError where shapes contradict each other.
NetworkNode operator_of(const onnx::NodeProto& node, const OnnxInputs& inputs, const OnnxValues& outputs);

/// An ONNX node that several of our operators stand for: Einsum, a general Gemm or FusedMatMul (transposed factors,
/// weights on either side, an addend that is computed), a FusedConv with its addend and its function. Adds them and
/// returns the node's first output; nothing where the node is none of these, or in a form that we do not take apart.
/// `outputs` are the node's, with their shapes.
std::optional<Source> composed(const OnnxSteps& steps, const onnx::NodeProto& node, const OnnxInputs& inputs,
                               const OnnxValues& outputs);

/// The tensors among `stored` that a step of so many parameters is made of: one of that size, better one that no step
/// before it has `taken`; all where there is none.
std::vector<StoredTensor> tensors_of_step(std::int64_t parameters, const std::vector<StoredTensor>& stored,
                                          std::set<std::string>& taken);

}  // namespace tenshot::nasbench
