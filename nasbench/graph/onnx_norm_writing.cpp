#include "nasbench/graph/onnx_writing.h"

namespace tenshot::nasbench {
namespace {

std::string mean(OnnxNodeWriting& w, const std::string& name, const std::string& input) {
  onnx::NodeProto& node = w.graph.node("ReduceMean", name, {input});
  add_integers(node, "axes", w.node.attributes.axes);
  node.add_output(name);
  return name;
}

}  // namespace

std::string reshaped(OnnxNodeWriting& w, const std::string& name, const std::string& input, const Shape& shape) {
  return w.graph.step("Reshape", name, {input, w.graph.integers(name + "_shape", shape)});
}

onnx::NodeProto& batch_norm(OnnxNodeWriting& w) {
  const Shape channels = weight_shapes(w.node).weight;
  w.inputs.push_back(w.graph.constant(w.node.name + "_scale", w.weights.weight, channels));
  w.inputs.push_back(w.graph.constant(w.node.name + "_shift", w.weights.bias, channels));
  w.inputs.push_back(w.graph.constant(w.node.name + "_mean", w.weights.mean, channels));
  w.inputs.push_back(w.graph.constant(w.node.name + "_variance", w.weights.variance, channels));
  onnx::NodeProto& node = w.graph.node("BatchNormalization", w.node.name, w.inputs);
  add_real(node, "epsilon", w.node.attributes.alpha);
  return node;
}

/// Opset 13 has no layer normalisation: it is written as its parts, as exporters do.
onnx::NodeProto& layer_norm(OnnxNodeWriting& w) {
  const std::string& n = w.node.name;
  const Shape channels = weight_shapes(w.node).weight;
  const std::string centred = w.graph.step("Sub", n + "_centred", {w.inputs[0], mean(w, n + "_mean", w.inputs[0])});
  const std::string square = w.graph.step("Pow", n + "_square", {centred, w.graph.number(n + "_two", 2)});
  const std::string variance = mean(w, n + "_variance", square);
  const std::string sum =
      w.graph.step("Add", n + "_sum", {variance, w.graph.number(n + "_epsilon", w.node.attributes.alpha)});
  const std::string root = w.graph.step("Sqrt", n + "_root", {sum});
  const std::string ratio = w.graph.step("Div", n + "_ratio", {centred, root});
  const std::string scaled =
      w.graph.step("Mul", n + "_scaled", {ratio, w.graph.constant(n + "_scale", w.weights.weight, channels)});
  return w.graph.node("Add", n, {scaled, w.graph.constant(n + "_shift", w.weights.bias, channels)});
}

/// An instance norm where every channel is a group of its own; else one of the groups, scaled by channel after it.
onnx::NodeProto& group_norm(OnnxNodeWriting& w) {
  const std::string& n = w.node.name;
  const Shape& image = w.node.operation.output;
  const std::int64_t groups = w.node.operation.groups;
  const Shape channels = weight_shapes(w.node).weight;
  const auto normalised = [&](const std::vector<std::string>& inputs) -> onnx::NodeProto& {
    onnx::NodeProto& node = w.graph.node("InstanceNormalization", groups == image[1] ? n : n + "_groups", inputs);
    add_real(node, "epsilon", w.node.attributes.alpha);
    return node;
  };
  if (groups == image[1]) {
    return normalised({w.inputs[0], w.graph.constant(n + "_scale", w.weights.weight, channels),
                       w.graph.constant(n + "_shift", w.weights.bias, channels)});
  }
  const std::vector<float> ones(static_cast<std::size_t>(groups), 1), zeros(ones.size(), 0);
  const std::string grouped =
      reshaped(w, n + "_grouped", w.inputs[0], {image[0], groups, element_count(image) / image[0] / groups});
  normalised({grouped, w.graph.constant(n + "_ones", ones, {groups}), w.graph.constant(n + "_zeros", zeros, {groups})})
      .add_output(n + "_groups");
  const std::string restored = reshaped(w, n + "_restored", n + "_groups", image);
  Shape by_channel(image.size() - 1, 1);
  by_channel[0] = image[1];
  const std::string scaled =
      w.graph.step("Mul", n + "_scaled", {restored, w.graph.constant(n + "_scale", w.weights.weight, by_channel)});
  return w.graph.node("Add", n, {scaled, w.graph.constant(n + "_shift", w.weights.bias, by_channel)});
}

}  // namespace tenshot::nasbench
