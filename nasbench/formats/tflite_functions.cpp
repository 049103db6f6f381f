// Operators of TensorFlow Lite that compute element by element, normalise or reduce, and those that stay opaque.

#include <algorithm>
#include <map>
#include <utility>

#include "nasbench/formats/tflite_operation.h"
#include "nasbench/support/error.h"

namespace tenshot::nasbench::tflite {
namespace {

/// The operand that a lower rank broadcasts from behind, in the order of an image.
Source over_image(Operation& op, std::size_t input) {
  const Shape& shape = op.shape(input);
  Shape whole = shape;
  whole.insert(whole.begin(), 4 - shape.size(), 1);
  return op.builder().reshape(op.name() + "_aligned", op.source(input), image_shape(whole));
}

/// The weights of one direction of a recurrent layer, the first of which is input `first`, as ONNX has them: 1 × gates
/// and units × inputs, then × outputs, then the biases and the peepholes; a projection is 1 × outputs × units. Of an
/// LSTM each gate has tensors of its own, the first of each four being left out where it is coupled.
std::vector<Shape> direction_of(const Operation& op, std::size_t first, std::size_t gates) {
  const bool lstm = gates > 1;
  const std::size_t biases = first + (lstm ? 11 : 2), peepholes = first + 8, projection = first + 15;
  std::vector<Shape> weights;
  for (const std::size_t begin : {first, first + gates}) {
    Shape all = {1, 0, 0};
    for (std::size_t i = begin; i < begin + gates; ++i) {
      if (!op.is_constant(i) || op.shape(i).size() != 2) continue;
      all[1] += op.shape(i)[0];
      all[2] = op.shape(i)[1];
    }
    if (all[1] < 1 || all[2] < 1) throw FormatError("it has no weights");
    weights.push_back(std::move(all));
  }
  const auto add_vectors = [&](std::size_t begin, std::size_t end) {
    std::int64_t numbers = 0;
    for (std::size_t i = begin; i < end; ++i) numbers += op.is_constant(i) ? element_count(op.shape(i)) : 0;
    if (numbers > 0) weights.push_back({1, numbers});
  };
  add_vectors(biases, biases + gates);
  if (lstm) add_vectors(peepholes, biases);
  if (lstm && op.is_constant(projection) && op.shape(projection).size() == 2) {
    weights.push_back({1, op.shape(projection)[0], op.shape(projection)[1]});
    add_vectors(projection + 1, projection + 2);
  }
  return weights;
}

void give_all(Operation& op, NetworkNode node) {
  for (std::size_t i = 1; i < op.outputs(); ++i) node.outputs.push_back({op.output(i).shape, op.output_type(i)});
  op.give(op.builder().append(std::move(node)));
  for (std::size_t i = 1; i < op.outputs(); ++i) op.give({op.given().front().node, static_cast<int>(i)});
}

}  // namespace

void function(Operation& op) {
  NetworkNode node = op.lone_node(OperatorKind::activation, op.shape(), rule_of(op.code(), "")->name);
  OperatorAttributes& attributes = node.attributes;
  if (op.code() == code::leaky_relu) attributes.alpha = op.real(0);
  if (op.code() == code::elu) attributes.alpha = 1;
  if (op.code() == code::relu_n1_to_1) attributes.alpha = -1;
  if (op.code() == code::relu_n1_to_1 || op.code() == code::relu_0_to_1) attributes.beta = 1;
  op.append(std::move(node));
}

/// Operations of two tensors or more, or of one and a constant.
void pair(Operation& op) {
  const OperatorKind kind = op.code() == code::add || op.code() == code::add_n ? OperatorKind::add
                            : op.code() == code::mul                           ? OperatorKind::multiply
                                                                               : OperatorKind::elementwise;
  Shape shape;
  bool first = true;
  NetworkNode node = op.node(kind, {}, kind == OperatorKind::elementwise ? rule_of(op.code(), "")->name : "");
  node.inputs.clear();
  for (std::size_t i = 0; i < op.size(); ++i) {
    if (!op.has(i)) continue;
    if (!op.is_constant(i)) {
      const bool smaller = op.output().image && op.shape(i).size() < 4;
      node.inputs.push_back(smaller ? over_image(op, i) : op.source(i));
      const Shape& own = op.builder().type(node.inputs.back()).shape;
      shape = first ? own : broadcast_shape(shape, own);
      first = false;
    } else if (element_count(op.shape(i)) == 1) {
      const std::optional<std::vector<std::int64_t>> number = op.few_numbers(i);
      node.attributes.alpha = number && !number->empty() ? static_cast<double>(number->front()) : 1;
    }
    if (op.is_constant(i)) node.attributes.constant_first = i == 0 && kind == OperatorKind::elementwise;
  }
  node.operation.constants = op.node(kind, op.output().shape).operation.constants;
  for (const Shape& constant : node.operation.constants) shape = broadcast_shape(shape, constant);
  node.outputs[0].shape = element_count(shape) == element_count(op.output().shape) ? op.output().shape : shape;
  const bool activates =
      op.code() == code::add || op.code() == code::mul || op.code() == code::sub || op.code() == code::div;
  op.give_activated(op.builder().append(std::move(node)), activates ? op.small(0) : 0);
}

void softmax(Operation& op) {
  NetworkNode node = op.node(OperatorKind::softmax, op.shape(), op.code() == code::log_softmax ? "log" : "");
  node.attributes.axes = {op.axis(-1)};
  op.append(std::move(node));
}

void reduce(Operation& op) {
  static const std::map<std::int32_t, std::string> names = {{40, "mean"}, {74, "sum"}, {81, "product"}, {82, "max"},
                                                            {89, "min"},  {91, "any"}, {140, "all"}};
  std::vector<std::int64_t> axes;
  for (const std::int64_t axis : op.numbers(1)) axes.push_back(op.axis(axis));
  std::sort(axes.begin(), axes.end());
  NetworkNode node = op.node(OperatorKind::reduce, op.output().shape);
  node.inputs = {op.source()};
  set_reduction(node, names.at(op.code()), std::move(axes), op.input(0).image);
  op.append(std::move(node));
}

/// A layer with a state, over a sequence or of one step; SVDF has a matrix over features and one over time. The basic
/// kernel of an LSTM, of one step, has one matrix over its input and its last output.
void recurrent(Operation& op) {
  const std::int32_t code = op.code();
  constexpr int kernel_type = 3;
  const bool basic = code == code::lstm && op.small(kernel_type) == 1;
  const bool lstm = code == code::lstm || code == code::sequence_lstm || code == code::two_way_lstm;
  NetworkNode node = op.lone_node(OperatorKind::opaque, op.output().shape, op.type());
  std::vector<Shape>& weights = node.operation.constants;
  if (basic) {
    if (op.shape(2).size() != 2) throw FormatError("its weights have the shape " + format(op.shape(2)));
    weights = {{1, op.shape(2)[0], op.shape(2)[1]}, op.shape(3)};
    return give_all(op, std::move(node));
  }
  weights = direction_of(op, 1, lstm ? 4 : 1);
  if (code == code::two_way_lstm || code == code::two_way_rnn) {
    const std::vector<Shape> back = direction_of(op, lstm ? 18 : 5, lstm ? 4 : 1);
    if (back != weights) throw FormatError("its directions have weights of different shapes");
    for (Shape& shape : weights) shape.front() = 2;
  }
  give_all(op, std::move(node));
}

void opaque(Operation& op) { give_all(op, op.node(OperatorKind::opaque, op.output().shape, op.type())); }

}  // namespace tenshot::nasbench::tflite
