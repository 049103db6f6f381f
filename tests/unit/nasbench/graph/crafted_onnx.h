#pragma once

#include <gtest/gtest.h>
#include <onnx/onnx_pb.h>

#include <fstream>
#include <functional>
#include <string>
#include <vector>

#include "nasbench/graph/onnx_reader.h"
#include "nasbench/support/error.h"
#include "nasbench/support/temporaries.h"
#include "tests/unit/nasbench/graph/network_text.h"

// ONNX models that tests of the reader build by hand.

namespace tenshot::nasbench {

using onnx::TensorProto;

/// Builds small models by hand.
class Model {
 public:
  explicit Model(std::int64_t opset = 13) {
    model_.set_ir_version(7);
    model_.add_opset_import()->set_version(opset);
    model_.mutable_graph()->set_name("crafted");
  }

  onnx::GraphProto& graph() { return *model_.mutable_graph(); }
  onnx::ModelProto& proto() { return model_; }

  Model& input(const std::string& name, const std::vector<std::int64_t>& shape, int type = TensorProto::FLOAT) {
    declare(*graph().add_input(), name, shape, type);
    return *this;
  }
  Model& output(const std::string& name) {
    graph().add_output()->set_name(name);
    return *this;
  }
  Model& value(const std::string& name, const std::vector<std::int64_t>& shape) {
    declare(*graph().add_value_info(), name, shape, TensorProto::FLOAT);
    return *this;
  }
  onnx::NodeProto& node(const std::string& type, const std::vector<std::string>& inputs,
                        const std::vector<std::string>& outputs) {
    onnx::NodeProto& node = *graph().add_node();
    node.set_op_type(type);
    node.set_name("n_" + outputs.front());
    for (const std::string& input : inputs) node.add_input(input);
    for (const std::string& output : outputs) node.add_output(output);
    return node;
  }
  /// Weights without data, as where it lies in another file.
  Model& weights(const std::string& name, const std::vector<std::int64_t>& shape, int type = TensorProto::FLOAT) {
    TensorProto& tensor = *graph().add_initializer();
    tensor.set_name(name);
    tensor.set_data_type(type);
    for (const std::int64_t dimension : shape) tensor.add_dims(dimension);
    tensor.set_data_location(TensorProto::EXTERNAL);
    return *this;
  }
  Model& integers(const std::string& name, const std::vector<std::int64_t>& values) {
    TensorProto& tensor = *graph().add_initializer();
    tensor.set_name(name);
    tensor.set_data_type(TensorProto::INT64);
    tensor.add_dims(static_cast<std::int64_t>(values.size()));
    for (const std::int64_t value : values) tensor.add_int64_data(value);
    return *this;
  }
  Model& scalar(const std::string& name, float value) {
    TensorProto& tensor = *graph().add_initializer();
    tensor.set_name(name);
    tensor.set_data_type(TensorProto::FLOAT);
    tensor.add_float_data(value);
    return *this;
  }

  std::string bytes() const { return model_.SerializeAsString(); }

  static void declare(onnx::ValueInfoProto& value, const std::string& name, const std::vector<std::int64_t>& shape,
                      int type) {
    value.set_name(name);
    value.mutable_type()->mutable_tensor_type()->set_elem_type(type);
    for (const std::int64_t dimension : shape) {
      auto& added = *value.mutable_type()->mutable_tensor_type()->mutable_shape()->add_dim();
      if (dimension != dynamic) added.set_dim_value(dimension);
    }
  }

  static constexpr std::int64_t dynamic = -99;

 private:
  onnx::ModelProto model_;
};

inline void set_integers(onnx::NodeProto& node, const char* name, const std::vector<std::int64_t>& values) {
  onnx::AttributeProto& attribute = *node.add_attribute();
  attribute.set_name(name);
  attribute.set_type(onnx::AttributeProto::INTS);
  for (const std::int64_t value : values) attribute.add_ints(value);
}

inline void set_integer(onnx::NodeProto& node, const char* name, std::int64_t value) {
  onnx::AttributeProto& attribute = *node.add_attribute();
  attribute.set_name(name);
  attribute.set_type(onnx::AttributeProto::INT);
  attribute.set_i(value);
}

inline void set_real(onnx::NodeProto& node, const char* name, float value) {
  onnx::AttributeProto& attribute = *node.add_attribute();
  attribute.set_name(name);
  attribute.set_type(onnx::AttributeProto::FLOAT);
  attribute.set_f(value);
}

inline void set_text(onnx::NodeProto& node, const char* name, const std::string& value) {
  onnx::AttributeProto& attribute = *node.add_attribute();
  attribute.set_name(name);
  attribute.set_type(onnx::AttributeProto::STRING);
  attribute.set_s(value);
}

/// A Constant of 8×8 weights among the nodes of a graph or a function.
template <class Nodes>
void add_weights(Nodes& nodes, const std::string& name) {
  onnx::NodeProto& node = *nodes.add_node();
  node.set_op_type("Constant");
  node.add_output(name);
  onnx::AttributeProto& value = *node.add_attribute();
  value.set_name("value");
  value.set_type(onnx::AttributeProto::TENSOR);
  value.mutable_t()->set_data_type(TensorProto::FLOAT);
  for (int i = 0; i < 2; ++i) value.mutable_t()->add_dims(8);
  value.mutable_t()->set_data_location(TensorProto::EXTERNAL);
}

/// A sparse tensor of that shape of which so many numbers are stored.
inline void set_sparse(onnx::SparseTensorProto& sparse, const std::string& name, const std::vector<std::int64_t>& shape,
                       int stored) {
  for (const std::int64_t dimension : shape) sparse.add_dims(dimension);
  sparse.mutable_values()->set_name(name);
  sparse.mutable_values()->set_data_type(TensorProto::FLOAT);
  sparse.mutable_indices()->set_data_type(TensorProto::INT64);
  for (TensorProto* part : {sparse.mutable_values(), sparse.mutable_indices()}) part->add_dims(stored);
  for (int i = 0; i < stored; ++i) {
    sparse.mutable_values()->add_float_data(0.5F);
    sparse.mutable_indices()->add_int64_data(i);
  }
}

inline Network read_bytes(const std::string& bytes, const OnnxReadOptions& options = {}) {
  const TemporaryFolder folder;
  const std::filesystem::path path = folder.path() / "model.onnx";
  std::ofstream(path, std::ios::binary) << bytes;
  return read_onnx(path, options);
}

inline Network read(const Model& model, const OnnxReadOptions& options = {}) {
  return read_bytes(model.bytes(), options);
}

/// The message of the error that reading gives; it is one line that names the file.
inline std::string refusal(const std::string& bytes, const OnnxReadOptions& options = {}) {
  return refusal_of("model.onnx", [&] { read_bytes(bytes, options); });
}

inline void expect_refusal(const Model& model, const std::vector<std::string>& parts,
                           const OnnxReadOptions& options = {}) {
  const std::string message = refusal(model.bytes(), options);
  for (const std::string& part : parts) EXPECT_NE(message.find(part), std::string::npos) << message;
}

/// 1×3×8×8 → convolution to 4 channels, 3×3 → ReLU.
inline Model small_model(const std::vector<std::int64_t>& input = {1, 3, 8, 8}) {
  Model model;
  model.input("input", input).weights("w", {4, 3, 3, 3}).weights("b", {4}).output("output");
  set_integers(model.node("Conv", {"input", "w", "b"}, {"features"}), "pads", {1, 1, 1, 1});
  model.node("Relu", {"features"}, {"output"});
  return model;
}

/// One node of `type` that reads "x", of that shape, and constants; its output is the model's.
struct OneNode {
  Model model;
  onnx::NodeProto* node;

  OneNode(const std::string& type, const std::vector<std::int64_t>& x, const std::vector<std::string>& inputs,
          std::int64_t opset = 13)
      : model(opset) {
    model.input("x", x).output("y");
    node = &model.node(type, inputs, {"y"});
  }
};

/// A graph that the node has as an attribute.
inline onnx::GraphProto& body(onnx::NodeProto& node, const char* name) {
  onnx::AttributeProto& attribute = *node.add_attribute();
  attribute.set_name(name);
  attribute.set_type(onnx::AttributeProto::GRAPH);
  return *attribute.mutable_g();
}

/// Adds a node to a graph or a function.
template <class Nodes>
onnx::NodeProto& add(Nodes& nodes, const std::string& type, const std::vector<std::string>& inputs,
                     const std::string& output) {
  onnx::NodeProto& node = *nodes.add_node();
  node.set_op_type(type);
  for (const std::string& input : inputs) node.add_input(input);
  node.add_output(output);
  return node;
}

}  // namespace tenshot::nasbench
