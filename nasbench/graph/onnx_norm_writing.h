#pragma once

#include <string>

#include "nasbench/graph/onnx_writing.h"

namespace tenshot::nasbench {

/// A reshape of `input`, whose one output has the name that is given back.
std::string reshaped(OnnxNodeWriting& w, const std::string& name, const std::string& input, const Shape& shape);

/// As write_operator(), of norms.
onnx::NodeProto& batch_norm(OnnxNodeWriting& w);
onnx::NodeProto& layer_norm(OnnxNodeWriting& w);
onnx::NodeProto& group_norm(OnnxNodeWriting& w);

}  // namespace tenshot::nasbench
