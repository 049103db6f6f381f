#include <gtest/gtest.h>
#include <onnx/shape_inference/implementation.h>

#include "nasbench/graph/onnx_shape_rules.h"
#include "tests/unit/nasbench/graph/crafted_onnx.h"

namespace tenshot::nasbench {
namespace {

struct Numbers {
  std::string name;
  std::vector<std::int64_t> values;
};

/// A node of an operator that most networks have, without constants among its inputs.
struct Case {
  std::string type;
  std::vector<Shape> inputs;
  std::vector<Numbers> lists;         ///< attributes
  std::vector<Numbers> numbers;       ///< attributes of one number
  std::int64_t first = 7, last = 17;  ///< the opsets in which it has this form
};

const std::vector<Case>& cases() {
  static const std::vector<Case> all = {
      {"Add", {{2, 1, 5}, {3, 1}}, {}, {}},
      {"AveragePool", {{1, 3, 9, 8}}, {{"kernel_shape", {3, 2}}, {"strides", {2, 1}}, {"pads", {1, 0, 1, 1}}}, {}},
      {"BatchNormalization", {{2, 3, 4, 4}, {3}, {3}, {3}, {3}}, {}, {}},
      {"Clip", {{2, 3}}, {}, {}},
      {"Concat", {{2, 3, 4}, {2, 5, 4}}, {}, {{"axis", {1}}}},
      {"Conv",
       {{1, 4, 9, 11}, {6, 2, 3, 3}},
       {{"strides", {2, 1}}, {"dilations", {1, 2}}, {"pads", {1, 2, 0, 1}}, {"kernel_shape", {3, 3}}},
       {{"group", {2}}}},
      {"Conv", {{1, 4, 9}, {6, 4, 3}}, {}, {}},
      {"ConvTranspose", {{1, 4, 5, 6}, {4, 3, 2, 2}}, {{"strides", {2, 2}}}, {{"group", {2}}}},
      {"Flatten", {{2, 3, 4, 5}}, {}, {{"axis", {2}}}},
      {"Gather", {{5, 3}, {2, 2}}, {}, {{"axis", {1}}}},
      {"Gemm", {{4, 2}, {3, 4}, {3}}, {}, {{"transA", {1}}, {"transB", {1}}}},
      {"GlobalAveragePool", {{2, 3, 7, 7}}, {}, {}},
      {"MatMul", {{4, 1, 2, 3}, {5, 3, 6}}, {}, {}},
      {"MaxPool", {{1, 3, 9, 8}}, {{"kernel_shape", {3, 2}}, {"strides", {2, 1}}}, {}},
      {"Softmax", {{2, 3}}, {}, {{"axis", {1}}}},
      {"Transpose", {{2, 3, 4}}, {{"perm", {2, 0, 1}}}, {}},
      {"Unsqueeze", {{2, 3}}, {{"axes", {0, 2}}}, {}, 7, 12},
  };
  return all;
}

onnx::NodeProto& node_of(const Case& of, Model& model) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < of.inputs.size(); ++i) {
    names.push_back("i" + std::to_string(i));
    model.input(names.back(), of.inputs[i], of.type == "Gather" && i == 1 ? TensorProto::INT64 : TensorProto::FLOAT);
  }
  onnx::NodeProto& node = model.node(of.type, names, {"out"});
  for (const Numbers& list : of.lists) set_integers(node, list.name.c_str(), list.values);
  for (const Numbers& number : of.numbers) set_integer(node, number.name.c_str(), number.values.front());
  model.output("out");
  return node;
}

/// What libonnx infers by the schemas of its registry.
onnx::TypeProto::Tensor by_registry(Model& model) {
  onnx::shape_inference::InferShapes(model.proto());
  return model.graph().output(0).type().tensor_type();
}

TEST(OnnxInference, OfCommonOperatorsIsWhatLibonnxsRegistrySaysOfEveryVersion) {
  for (const Case& of : cases()) {
    for (std::int64_t opset = of.first; opset <= of.last; ++opset) {
      SCOPED_TRACE(of.type + " of opset " + std::to_string(opset));
      Model model(opset);
      const onnx::NodeProto node = node_of(of, model);
      std::vector<OnnxValue> values(of.inputs.size());
      OnnxInputs inputs;
      for (std::size_t i = 0; i < values.size(); ++i) {
        values[i].shape = of.inputs[i];
        values[i].element = model.graph().input(static_cast<int>(i)).type().tensor_type().elem_type();
        inputs.push_back(&values[i]);
      }
      const std::vector<InferredType> types = inferred_types(node, opset, inputs);
      ASSERT_EQ(types.size(), 1U);
      const onnx::TypeProto::Tensor expected = by_registry(model);
      ASSERT_TRUE(types[0] && expected.has_shape());
      EXPECT_EQ(types[0]->element, expected.elem_type());
      Shape shape;
      for (const auto& dimension : expected.shape().dim()) shape.push_back(dimension.dim_value());
      EXPECT_EQ(types[0]->shape, shape);
    }
  }
}

}  // namespace
}  // namespace tenshot::nasbench
