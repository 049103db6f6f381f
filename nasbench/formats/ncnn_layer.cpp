#include "nasbench/formats/ncnn_layer.h"

#include <cmath>
#include <utility>

#include "nasbench/graph/limits.h"

namespace tenshot::nasbench::ncnn {
namespace {

constexpr double largest = 2147483647;

std::int64_t whole_of(double number, std::int64_t key) {
  if (std::abs(number) <= largest && number == std::floor(number)) return static_cast<std::int64_t>(number);
  throw FormatError("parameter " + std::to_string(key) + " is no whole number of 32 bits");
}

}  // namespace

double LayerReader::real(std::int64_t key, double otherwise) const {
  const auto found = file_.parameters.find(key);
  return found == file_.parameters.end() || found->second.empty() ? otherwise : found->second.front();
}

int LayerReader::whole(std::int64_t key, int otherwise) const {
  return static_cast<int>(whole_of(real(key, otherwise), key));
}

std::vector<std::int64_t> LayerReader::list(std::int64_t key) const {
  std::vector<std::int64_t> numbers;
  const auto found = file_.parameters.find(key);
  if (found == file_.parameters.end()) return numbers;
  for (const double number : found->second) numbers.push_back(whole_of(number, key));
  return numbers;
}

std::int64_t LayerReader::count(std::int64_t key) const {
  const auto found = file_.parameters.find(key);
  return found == file_.parameters.end() ? 0 : static_cast<std::int64_t>(found->second.size());
}

const Blob& LayerReader::input(std::size_t i) const {
  if (i < inputs_.size()) return inputs_[i];
  throw FormatError("it has " + std::to_string(inputs_.size()) + " inputs, expected at least " + std::to_string(i + 1));
}

Source LayerReader::source(std::size_t i) const {
  if (!input(i).constant) return input(i).source;
  throw FormatError("its input " + std::to_string(i + 1) + " is a constant, where we expect a computed tensor");
}

std::int64_t LayerReader::axis(std::int64_t number, std::size_t input) const {
  const auto rank = static_cast<std::int64_t>(shape(input).size());
  const std::int64_t axis = number < 0 ? number + rank : number + 1;
  if (axis >= 1 && axis < rank) return axis;
  throw FormatError("there is no axis " + std::to_string(number) + " in " + std::to_string(rank - 1) + " dimensions");
}

NetworkNode LayerReader::node(OperatorKind kind, Shape output, std::string function) const {
  NetworkNode node;
  node.name = file_.name;
  node.operation.kind = kind;
  node.operation.name = std::move(function);
  for (const Blob& blob : inputs_) {
    if (blob.constant) {
      node.operation.constants.push_back(blob.shape);
    } else {
      node.inputs.push_back(blob.source);
    }
  }
  if (!node.inputs.empty()) node.operation.type = builder_.type(node.inputs.front()).type;
  node.outputs = {{std::move(output), node.operation.type}};
  return node;
}

void LayerReader::give_opaque(const std::string& function, Shape output, std::vector<Shape> weights) {
  require_tensor_size(output);
  NetworkNode opaque = node(OperatorKind::opaque, std::move(output), function);
  for (Shape& weight : weights) opaque.operation.constants.push_back(std::move(weight));
  give(builder_.append(std::move(opaque)));
}

void LayerReader::give_constant(Shape shape) {
  require_tensor_size(shape);
  given_.push_back({{}, std::move(shape), true});
}

void LayerReader::give_activated(Source source, std::int64_t kind_key, std::int64_t numbers_key) {
  const auto numbers = file_.parameters.find(numbers_key);
  give(activated(*this, source, whole(kind_key, 0),
                 numbers == file_.parameters.end() ? std::vector<double>() : numbers->second));
}

NetworkNode same_shape(LayerReader& layer, OperatorKind kind, const std::string& function) {
  NetworkNode node = layer.node(kind, layer.shape(), function);
  node.inputs = {layer.source()};
  return node;
}

void append(LayerReader& layer, NetworkNode node) {
  if (node.inputs.empty()) return layer.give_constant(node.outputs[0].shape);
  layer.give(layer.builder().append(std::move(node)));
}

Source activated(LayerReader& layer, const Source& source, int kind, const std::vector<double>& numbers) {
  static const std::vector<std::string> functions = {"",        "relu", "leaky_relu", "clip",
                                                     "sigmoid", "mish", "hard_swish", "gelu"};
  if (kind == 0) return source;
  if (kind < 0 || kind >= static_cast<int>(functions.size())) {
    throw FormatError("there is no activation " + std::to_string(kind));
  }
  const std::string& function = functions[static_cast<std::size_t>(kind)];
  const auto number = [&](std::size_t i) { return i < numbers.size() ? numbers[i] : 0.0; };
  const bool relu6 = function == "clip" && number(0) == 0 && number(1) == 6;
  const bool clips = function == "clip" && !relu6;
  return layer.builder().activation(layer.name() + "_activation", source, relu6 ? "relu6" : function,
                                    clips || function == "leaky_relu" ? number(0) : 0, clips ? number(1) : 0);
}

}  // namespace tenshot::nasbench::ncnn
