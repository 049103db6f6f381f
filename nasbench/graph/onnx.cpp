#include "nasbench/graph/onnx.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <onnx/checker.h>
#include <onnx/onnx_pb.h>

#include "nasbench/graph/onnx_writing.h"
#include "nasbench/support/error.h"

namespace tenshot::nasbench {
namespace {

constexpr int ir_version = 7;  // the one that opset 13 came with (ONNX 1.8)

int onnx_type(ElementType type) {
  switch (type) {
    case ElementType::float32: return onnx::TensorProto::FLOAT;
    case ElementType::int64: return onnx::TensorProto::INT64;
    case ElementType::int32: return onnx::TensorProto::INT32;
    case ElementType::boolean: return onnx::TensorProto::BOOL;
    default: throw InputError("ONNX writing does not cover tensors of " + std::string(name(type)));
  }
}

void declare(onnx::ValueInfoProto& value, const std::string& name, const TensorType& tensor) {
  value.set_name(name);
  onnx::TypeProto::Tensor& type = *value.mutable_type()->mutable_tensor_type();
  type.set_elem_type(onnx_type(tensor.type));
  type.mutable_shape();
  for (const std::int64_t extent : tensor.shape) type.mutable_shape()->add_dim()->set_dim_value(extent);
}

std::string output_name(std::size_t index) {
  return index == 0 ? onnx_output_name : onnx_output_name + std::to_string(index + 1);
}

/// The usual SerializeToString leaves the order of some fields open.
std::string deterministic_bytes(const onnx::ModelProto& model) {
  std::string bytes;
  {
    google::protobuf::io::StringOutputStream stream(&bytes);
    google::protobuf::io::CodedOutputStream coded(&stream);
    coded.SetSerializationDeterministic(true);
    model.SerializeToCodedStream(&coded);
  }
  return bytes;
}

onnx::AttributeProto& added(onnx::NodeProto& node, const char* name, onnx::AttributeProto::AttributeType type) {
  onnx::AttributeProto& attribute = *node.add_attribute();
  attribute.set_name(name);
  attribute.set_type(type);
  return attribute;
}

}  // namespace

onnx::NodeProto& add_integers(onnx::NodeProto& node, const char* name, const std::vector<std::int64_t>& values) {
  added(node, name, onnx::AttributeProto::INTS).mutable_ints()->Add(values.begin(), values.end());
  return node;
}

onnx::NodeProto& add_integer(onnx::NodeProto& node, const char* name, std::int64_t value) {
  added(node, name, onnx::AttributeProto::INT).set_i(value);
  return node;
}

onnx::NodeProto& add_real(onnx::NodeProto& node, const char* name, double value) {
  added(node, name, onnx::AttributeProto::FLOAT).set_f(static_cast<float>(value));
  return node;
}

onnx::NodeProto& add_text(onnx::NodeProto& node, const char* name, const std::string& value) {
  added(node, name, onnx::AttributeProto::STRING).set_s(value);
  return node;
}

OnnxGraphWriter::OnnxGraphWriter(const Network& network, const OnnxOptions& options, onnx::GraphProto& out)
    : network_(network), options_(options), out_(out) {
  for (const NetworkInput& input : network.inputs) unique(input.name);
  name_values();
  leave_pools_unflattened();
}

std::string OnnxGraphWriter::unique(std::string name) {
  const std::string base = name;
  for (std::size_t number = 2; !names_.insert(name).second; ++number) name = base + "_" + std::to_string(number);
  return name;
}

void OnnxGraphWriter::name_values() {
  for (const NetworkNode& node : network_.nodes) values_.emplace_back(node.outputs.size());
  for (std::size_t i = 0; i < network_.outputs.size(); ++i) {
    const Source& source = network_.outputs[i];
    const std::string name = unique(output_name(i));
    if (source.node < 0) continue;
    std::string& value = values_[static_cast<std::size_t>(source.node)][static_cast<std::size_t>(source.output)];
    if (value.empty()) value = name;
  }
  for (std::size_t i = 0; i < values_.size(); ++i) {
    for (std::size_t output = 0; output < values_[i].size(); ++output) {
      if (!values_[i][output].empty()) continue;
      const std::string& name = network_.nodes[i].name;
      values_[i][output] = unique(output == 0 ? name : name + "_" + std::to_string(output + 1));
    }
  }
}

/// A linear layer with a bias flattens its input anyway.
void OnnxGraphWriter::leave_pools_unflattened() {
  std::map<Source, int> readers;
  for (const NetworkNode& node : network_.nodes) {
    for (const Source& source : node.inputs) ++readers[source];
  }
  for (const Source& source : network_.outputs) ++readers[source];
  for (const NetworkNode& node : network_.nodes) {
    if (node.operation.kind != OperatorKind::linear || node.inputs[0].node < 0) continue;
    const OperatorSpecification& before = network_.nodes[static_cast<std::size_t>(node.inputs[0].node)].operation;
    const bool flat = before.kind == OperatorKind::global_pool && before.output.size() == 2;
    if (flat && readers[node.inputs[0]] == 1) unflattened_.insert(node.inputs[0]);
  }
}

onnx::NodeProto& OnnxGraphWriter::node(const std::string& type, const std::string& name,
                                       const std::vector<std::string>& inputs) {
  onnx::NodeProto& node = *out_.add_node();
  node.set_op_type(type);
  node.set_name(name);
  for (const std::string& input : inputs) node.add_input(input);
  return node;
}

onnx::NodeProto& OnnxGraphWriter::step(const std::string& type, const std::string& name,
                                       const std::vector<std::string>& inputs) {
  onnx::NodeProto& added = node(type, unique(name), inputs);
  added.add_output(added.name());
  return added;
}

onnx::TensorProto& OnnxGraphWriter::tensor(const std::string& name, int type, const Shape& shape) {
  onnx::TensorProto& tensor = *out_.add_initializer();
  tensor.set_name(unique(name));
  tensor.set_data_type(type);
  tensor.mutable_dims()->Add(shape.begin(), shape.end());
  return tensor;
}

std::string OnnxGraphWriter::constant(const std::string& name, const std::vector<float>& values, const Shape& shape) {
  onnx::TensorProto& added = tensor(name, onnx::TensorProto::FLOAT, shape);
  added.mutable_float_data()->Add(values.begin(), values.end());
  return added.name();
}

std::string OnnxGraphWriter::integers(const std::string& name, const std::vector<std::int64_t>& values) {
  onnx::TensorProto& added = tensor(name, onnx::TensorProto::INT64, {static_cast<std::int64_t>(values.size())});
  added.mutable_int64_data()->Add(values.begin(), values.end());
  return added.name();
}

const std::string& OnnxGraphWriter::value_of(const Source& source) const {
  const auto output = static_cast<std::size_t>(source.output);
  return source.node < 0 ? network_.inputs[output].name : values_[static_cast<std::size_t>(source.node)][output];
}

void OnnxGraphWriter::write_node(std::size_t index) {
  const NetworkNode& written = network_.nodes[index];
  const LayerWeights weights = random_weights(network_, index, options_.weight_seed);
  OnnxNodeWriting writing{*this, written, weights, {}, is_unflattened({static_cast<int>(index), 0})};
  for (const Source& source : written.inputs) writing.inputs.push_back(value_of(source));
  onnx::NodeProto& last = write_operator(writing);
  for (const std::string& value : values_[index]) last.add_output(value);
}

void OnnxGraphWriter::write() {
  for (const NetworkInput& input : network_.inputs) declare(*out_.add_input(), input.name, input.type);
  for (std::size_t i = 0; i < network_.outputs.size(); ++i) {
    declare(*out_.add_output(), output_name(i), tensor_type(network_, network_.outputs[i]));
  }
  for (std::size_t i = 0; i < network_.nodes.size(); ++i) write_node(i);
  for (std::size_t i = 0; i < network_.outputs.size(); ++i) {  // inputs, and tensors that are an output twice
    const std::string& value = value_of(network_.outputs[i]);
    if (value == output_name(i)) continue;
    node("Identity", i == 0 ? "identity" : "identity" + std::to_string(i + 1), {value}).add_output(output_name(i));
  }
}

std::string onnx_model(const Network& network, const OnnxOptions& options) {
  require_sound(network);
  if (network.outputs.empty()) throw InputError("network '" + options.name + "' has no output");
  onnx::ModelProto model;
  model.set_ir_version(ir_version);
  model.set_producer_name("tenshot");
  onnx::OperatorSetIdProto& opset = *model.add_opset_import();
  opset.set_domain("");
  opset.set_version(onnx_opset);
  model.mutable_graph()->set_name(options.name);
  OnnxGraphWriter(network, options, *model.mutable_graph()).write();
  if (options.constants_as_attributes) return deterministic_bytes(model);
  try {
    onnx::checker::check_model(model);
  } catch (const std::exception& error) {
    throw InputError("network '" + options.name + "' makes no valid ONNX model: " + error.what());
  }
  return deterministic_bytes(model);
}

}  // namespace tenshot::nasbench
