#include "nasbench/graph/limits.h"
#include "nasbench/graph/onnx_folding.h"
#include "nasbench/graph/onnx_graph_reader.h"
#include "nasbench/graph/onnx_writing.h"
#include "nasbench/support/error.h"

namespace tenshot::nasbench {

/// Operators of the blocked layout, which ONNX Runtime's optimiser writes for one kind of processor: channels stand in
/// blocks of 8 or 16, and zeros fill up the last one. Read as the usual operators, whose attributes they have.
bool OnnxGraphReader::read_blocked(const onnx::NodeProto& node, const OnnxInputs& inputs) {
  const OnnxValue* image = given(inputs, 0);
  if (node.domain() != "com.microsoft.nchwc" || image == nullptr || image->shape.size() != 4) return false;
  network_.remarks.push_back(
      "ONNX Runtime has optimised it for one kind of processor (com.microsoft.nchwc): channels "
      "that fill up blocks of 8 or 16 are counted as the others are");
  onnx::NodeProto usual = node;
  node.op_type() == "Conv" ? usual.set_domain("com.microsoft") : usual.clear_domain();
  if (node.op_type() == "Conv") usual.set_op_type("FusedConv");
  if (const std::vector<std::int64_t> scales = integers_attribute(node, "scales"); !scales.empty()) {
    usual.add_input(node.output(0) + "/scales");
    scopes_.set(usual.input(1), constant_of({static_cast<std::int64_t>(scales.size())}, onnx::TensorProto::FLOAT,
                                            {{scales.begin(), scales.end()}}));
  }
  try {
    if (node.op_type().rfind("Reorder", 0) == 0) {
      const std::int64_t filled = image->shape[1], channels = integer_attribute(node, "channels", filled);
      if (channels < 1 || channels > filled) reject({"it takes ", channels, " of ", filled, " channels"});
      if (channels < filled) {
        onnx::NodeProto cut = usual;
        cut.set_op_type("Slice");
        cut.set_output(0, node.output(0) + "/cut");
        read_node(add_integers(add_integers(add_integers(cut, "starts", {0}), "ends", {channels}), "axes", {1}));
        usual.set_input(0, cut.output(0));
      }
      usual.set_op_type(integer_attribute(node, "channels_last", 0) != 0 ? "Transpose" : "Identity");
      add_integers(usual, "perm", node.op_type() == "ReorderInput" ? Shape{0, 3, 1, 2} : Shape{0, 2, 3, 1});
    }
    read_node(usual);
  } catch (const Error& error) {
    reject({error.what(),
            "; it is of ONNX Runtime's blocked layout: save the model at a lower level of its optimiser "
            "(graph_optimization_level = ORT_ENABLE_EXTENDED)"});
  }
  return true;
}

}  // namespace tenshot::nasbench
