#include "nasbench/graph/onnx.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <onnx/checker.h>
#include <onnx/onnx_pb.h>

#include <cstddef>
#include <initializer_list>
#include <vector>

#include "nasbench/support/error.h"

namespace tenshot::nasbench {
namespace {

constexpr int ir_version = 7;  // the one that opset 13 came with (ONNX 1.8)

void add_integers(onnx::NodeProto& node, const char* name, std::initializer_list<int> values) {
  onnx::AttributeProto& attribute = *node.add_attribute();
  attribute.set_name(name);
  attribute.set_type(onnx::AttributeProto::INTS);
  for (const int value : values) attribute.add_ints(value);
}

void add_integer(onnx::NodeProto& node, const char* name, int value) {
  onnx::AttributeProto& attribute = *node.add_attribute();
  attribute.set_name(name);
  attribute.set_type(onnx::AttributeProto::INT);
  attribute.set_i(value);
}

void add_window(onnx::NodeProto& node, const Layer& layer) {
  add_integers(node, "kernel_shape", {layer.kernel, layer.kernel});
  add_integers(node, "strides", {layer.stride, layer.stride});
  add_integers(node, "pads", {layer.padding, layer.padding, layer.padding, layer.padding});
}

/// Writes the nodes and constants of one graph; a layer's value has the layer's name, but for the first and the last.
class GraphWriter {
 public:
  GraphWriter(const LayerGraph& graph, const OnnxOptions& options, onnx::GraphProto& out)
      : graph_(graph), options_(options), out_(out) {}

  void write() {
    out_.set_name(options_.name);
    const TensorShape& input = graph_.input_shape();
    declare(*out_.add_input(), onnx_input_name, {input.channels, input.height, input.width});
    const bool flat = graph_.output().kind == LayerKind::linear;
    const TensorShape& output = graph_.output().output;
    declare(*out_.add_output(), onnx_output_name,
            flat ? std::vector<int>{output.channels} : std::vector<int>{output.channels, output.height, output.width});
    if (graph_.layers.size() == 1) {
      onnx::NodeProto& node = add_node("Identity", "identity", {onnx_input_name});
      node.add_output(onnx_output_name);
    }
    for (std::size_t i = 1; i < graph_.layers.size(); ++i) write_layer(i);
  }

 private:
  void declare(onnx::ValueInfoProto& value, const char* name, const std::vector<int>& shape) const {
    value.set_name(name);
    onnx::TypeProto::Tensor& type = *value.mutable_type()->mutable_tensor_type();
    type.set_elem_type(onnx::TensorProto::FLOAT);
    type.mutable_shape()->add_dim()->set_dim_value(options_.batch);
    for (const int extent : shape) type.mutable_shape()->add_dim()->set_dim_value(extent);
  }

  std::string value_of(std::size_t index) const {
    if (index == 0) return onnx_input_name;
    return index + 1 == graph_.layers.size() ? onnx_output_name : graph_.layers[index].name;
  }

  onnx::NodeProto& add_node(const char* operation, const std::string& name, const std::vector<std::string>& inputs) {
    onnx::NodeProto& node = *out_.add_node();
    node.set_op_type(operation);
    node.set_name(name);
    for (const std::string& input : inputs) node.add_input(input);
    return node;
  }

  std::string constant(const std::string& name, const std::vector<float>& values, const std::vector<int>& shape) {
    onnx::TensorProto& tensor = *out_.add_initializer();
    tensor.set_name(name);
    tensor.set_data_type(onnx::TensorProto::FLOAT);
    for (const int extent : shape) tensor.add_dims(extent);
    tensor.mutable_float_data()->Add(values.begin(), values.end());
    return name;
  }

  void write_layer(std::size_t index) {
    const Layer& layer = graph_.layers[index];
    std::vector<std::string> inputs;
    for (const int input : layer.inputs) inputs.push_back(value_of(static_cast<std::size_t>(input)));
    const LayerWeights weights = random_weights(graph_, index, options_.weight_seed);
    onnx::NodeProto& node = write_node(layer, inputs, weights);
    node.add_output(value_of(index));
  }

  onnx::NodeProto& write_node(const Layer& layer, std::vector<std::string>& inputs, const LayerWeights& weights) {
    const int channels = layer.output.channels;
    switch (layer.kind) {
      case LayerKind::convolution: {
        const auto fan_in = static_cast<int>(weights.weight.size()) / (channels * layer.kernel * layer.kernel);
        inputs.push_back(
            constant(layer.name + "_weight", weights.weight, {channels, fan_in, layer.kernel, layer.kernel}));
        onnx::NodeProto& node = add_node("Conv", layer.name, inputs);
        add_window(node, layer);
        return node;
      }
      case LayerKind::batch_norm: {
        inputs.push_back(constant(layer.name + "_scale", weights.weight, {channels}));
        inputs.push_back(constant(layer.name + "_shift", weights.bias, {channels}));
        inputs.push_back(constant(layer.name + "_mean", weights.mean, {channels}));
        inputs.push_back(constant(layer.name + "_variance", weights.variance, {channels}));
        onnx::NodeProto& node = add_node("BatchNormalization", layer.name, inputs);
        onnx::AttributeProto& epsilon = *node.add_attribute();
        epsilon.set_name("epsilon");
        epsilon.set_type(onnx::AttributeProto::FLOAT);
        epsilon.set_f(static_cast<float>(batch_norm_epsilon));
        return node;
      }
      case LayerKind::relu:
        return add_node("Relu", layer.name, inputs);
      case LayerKind::average_pool: {
        onnx::NodeProto& node = add_node("AveragePool", layer.name, inputs);
        add_window(node, layer);
        add_integer(node, "count_include_pad", 0);
        return node;
      }
      case LayerKind::global_average_pool:
        return add_node("GlobalAveragePool", layer.name, inputs);
      case LayerKind::add:
        return add_node("Add", layer.name, inputs);
      case LayerKind::zero:
        inputs.push_back(constant(layer.name + "_factor", {0.0F}, {}));
        return add_node("Mul", layer.name, inputs);
      case LayerKind::linear: {
        const auto fan_in = static_cast<int>(weights.weight.size()) / channels;
        add_node("Flatten", layer.name + "_flatten", inputs).add_output(layer.name + "_flat");
        const std::vector<std::string> operands = {layer.name + "_flat",
                                                   constant(layer.name + "_weight", weights.weight, {channels, fan_in}),
                                                   constant(layer.name + "_bias", weights.bias, {channels})};
        onnx::NodeProto& node = add_node("Gemm", layer.name, operands);
        add_integer(node, "transB", 1);
        return node;
      }
      case LayerKind::input:
        break;
    }
    throw InputError("layer '" + layer.name + "' is of a kind that ONNX writing does not cover");
  }

  const LayerGraph& graph_;
  const OnnxOptions& options_;
  onnx::GraphProto& out_;
};

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

}  // namespace

std::string onnx_model(const LayerGraph& graph, const OnnxOptions& options) {
  if (graph.layers.empty()) throw InputError("the layer graph is empty: expected an input layer first");
  if (options.batch < 1) throw InputError("batch is " + std::to_string(options.batch) + "; expected at least 1");
  onnx::ModelProto model;
  model.set_ir_version(ir_version);
  model.set_producer_name("tenshot");
  onnx::OperatorSetIdProto& opset = *model.add_opset_import();
  opset.set_domain("");
  opset.set_version(onnx_opset);
  GraphWriter(graph, options, *model.mutable_graph()).write();
  try {
    onnx::checker::check_model(model);
  } catch (const std::exception& error) {
    throw InputError("network '" + options.name + "' makes no valid ONNX model: " + error.what());
  }
  return deterministic_bytes(model);
}

}  // namespace tenshot::nasbench
