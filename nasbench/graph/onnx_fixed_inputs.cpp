#include "nasbench/graph/onnx_fixed_inputs.h"

#include <onnx/onnx_pb.h>

#include <algorithm>
#include <cstddef>
#include <limits>

#include "nasbench/support/error.h"

namespace tenshot::nasbench {
namespace {

/// Whether anything had to be changed.
bool fix(onnx::ValueInfoProto& input, const Shape& wanted) {
  onnx::TensorShapeProto& shape = *input.mutable_type()->mutable_tensor_type()->mutable_shape();
  bool changed = false;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const int index = static_cast<int>(i);
    onnx::TensorShapeProto::Dimension& dimension =
        index < shape.dim_size() ? *shape.mutable_dim(index) : *shape.add_dim();
    if (dimension.has_dim_value() && dimension.dim_value() == wanted[i]) continue;
    dimension.set_dim_value(wanted[i]);
    changed = true;
  }
  return changed;
}

}  // namespace

std::string with_fixed_inputs(const std::string& model, const std::vector<NetworkInput>& inputs,
                              const std::string& file) {
  onnx::ModelProto proto;
  if (model.size() > std::numeric_limits<int>::max() || !proto.ParseFromString(model)) {
    throw FormatError("'" + file + "': is no ONNX model of at most 2 GiB; keep large weights in a file beside it");
  }
  bool changed = false;
  for (onnx::ValueInfoProto& input : *proto.mutable_graph()->mutable_input()) {
    const auto known = std::find_if(inputs.begin(), inputs.end(),
                                    [&](const NetworkInput& candidate) { return candidate.name == input.name(); });
    if (known != inputs.end() && fix(input, known->type.shape)) changed = true;
  }
  return changed ? proto.SerializeAsString() : model;
}

}  // namespace tenshot::nasbench
