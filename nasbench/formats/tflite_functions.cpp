// Operators of TensorFlow Lite that compute element by element, normalise or reduce, and those that stay opaque.

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "nasbench/formats/limits.h"
#include "nasbench/formats/tflite_operation.h"
#include "nasbench/support/error.h"

namespace tenshot::nasbench::tflite {
namespace {

const std::map<std::int32_t, std::string>& function_names() {
  static const std::map<std::int32_t, std::string> names = {
      {8, "floor"},      {14, "sigmoid"},  {19, "relu"},     {20, "clip"},       {21, "relu6"},  {28, "tanh"},
      {47, "exp"},       {53, "cast"},     {59, "negate"},   {66, "sin"},        {73, "log"},    {75, "sqrt"},
      {76, "rsqrt"},     {87, "not"},      {92, "square"},   {98, "leaky_relu"}, {101, "absolute"}, {104, "ceil"},
      {108, "cos"},      {111, "elu"},     {116, "round"},   {117, "hard_swish"}, {150, "gelu"}, {152, "clip"},
      {158, "sign"},     {41, "subtract"}, {42, "divide"},   {54, "prelu"},      {55, "maximum"}, {57, "minimum"},
      {58, "less"},      {61, "greater"},  {62, "greater_or_equal"}, {63, "less_or_equal"}, {64, "where"},
      {71, "equal"},     {72, "not_equal"}, {78, "power"},   {84, "or"},         {86, "and"},    {90, "floor_divide"},
      {95, "modulo"},    {99, "squared_difference"}, {123, "where"}, {156, "atan2"}};
  return names;
}

/// The operand that a lower rank broadcasts from behind, in the order of an image.
Source over_image(Operation& op, std::size_t input) {
  const Shape& shape = op.shape(input);
  Shape whole = shape;
  whole.insert(whole.begin(), 4 - shape.size(), 1);
  return op.builder().reshape(op.name() + "_aligned", op.source(input), image_shape(whole));
}

}  // namespace

std::string function_name(std::int32_t code) {
  const auto found = function_names().find(code);
  return found == function_names().end() ? "" : found->second;
}

void function(Operation& op) {
  NetworkNode node = op.node(OperatorKind::activation, op.shape(), function_name(op.code()));
  node.inputs = {op.source()};
  node.operation.constants.clear();
  OperatorAttributes& attributes = node.attributes;
  if (op.code() == code::leaky_relu) attributes.alpha = op.real(0);
  if (op.code() == code::elu) attributes.alpha = 1;
  if (op.code() == code::relu_n1_to_1) attributes.alpha = -1;
  if (op.code() == code::relu_n1_to_1 || op.code() == code::relu_0_to_1) attributes.beta = 1;
  op.append(std::move(node));
}

/// Operations of two tensors or more, or of one and a constant.
void pair(Operation& op) {
  const OperatorKind kind = op.code() == code::add || op.code() == 106 ? OperatorKind::add
                            : op.code() == code::mul                   ? OperatorKind::multiply
                                                                       : OperatorKind::elementwise;
  Shape shape;
  bool first = true;
  NetworkNode node = op.node(kind, {}, function_name(op.code()));
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
      node.attributes.alpha = op.input(i).numbers ? static_cast<double>(op.numbers(i).front()) : 1;
    }
    if (op.is_constant(i)) node.attributes.constant_first = i == 0 && kind == OperatorKind::elementwise;
  }
  node.operation.constants = op.node(kind, op.output().shape).operation.constants;
  for (const Shape& constant : node.operation.constants) shape = broadcast_shape(shape, constant);
  node.outputs[0].shape = element_count(shape) == element_count(op.output().shape) ? op.output().shape : shape;
  const bool activates = op.code() == code::add || op.code() == code::mul || op.code() == code::sub ||
                         op.code() == code::div;
  op.give_activated(op.builder().append(std::move(node)), activates ? op.small(0) : 0);
}

void softmax(Operation& op) {
  NetworkNode node = op.node(OperatorKind::softmax, op.shape(), op.code() == code::log_softmax ? "log" : "");
  node.attributes.axes = {op.axis(-1)};
  op.append(std::move(node));
}

/// The mean and the maximum over the positions of an image are global pools, as in ONNX.
void reduce(Operation& op) {
  static const std::map<std::int32_t, std::string> names = {{40, "mean"}, {74, "sum"},  {81, "product"}, {82, "max"},
                                                            {89, "min"},  {91, "any"}, {140, "all"}};
  std::vector<std::int64_t> axes;
  for (const std::int64_t axis : op.numbers(1)) axes.push_back(op.axis(axis));
  std::sort(axes.begin(), axes.end());
  const std::string& name = names.at(op.code());
  NetworkNode node = op.node(OperatorKind::reduce, op.output().shape, name);
  node.inputs = {op.source()};
  if (op.input(0).image && axes == std::vector<std::int64_t>{2, 3} && (name == "mean" || name == "max")) {
    node.operation.kind = OperatorKind::global_pool;
    node.operation.name = name == "max" ? "max" : "";
  } else {
    node.attributes.axes = std::move(axes);
  }
  op.append(std::move(node));
}

void opaque(Operation& op) {
  NetworkNode node = op.node(OperatorKind::opaque, op.output().shape, op.type());
  for (std::size_t i = 1; i < op.outputs(); ++i) node.outputs.push_back({op.output(i).shape, op.output_type(i)});
  op.give(op.builder().append(std::move(node)));
  for (std::size_t i = 1; i < op.outputs(); ++i) op.give({op.given().front().node, static_cast<int>(i)});
}

const Rule* rule_of(std::int32_t code) {
  using Layout = Rule::Layout;
  static const std::map<std::int32_t, Rule> rules = [] {
    std::map<std::int32_t, Rule> all = {
        {code::average_pool_2d, {"AveragePool", pool, Layout::images}},
        {code::concatenation, {"Concat", concatenate, Layout::alike}},
        {code::conv_2d, {"Conv", convolution, Layout::images}},
        {code::depthwise_conv_2d, {"Conv", convolution, Layout::images}},
        {5, {"DepthToSpace", opaque, Layout::images}},
        {7, {"Gather", opaque}},
        {9, {"Gemm", fully_connected}},
        {11, {"LpNormalization", opaque, Layout::alike}},
        {12, {"LpPool", opaque, Layout::images}},
        {13, {"LRN", opaque, Layout::images}},
        {16, {"LSTM", opaque}},
        {code::max_pool_2d, {"MaxPool", pool, Layout::images}},
        {22, {"Reshape", reshape}},
        {code::resize_bilinear, {"Resize", resize, Layout::images}},
        {24, {"RNN", opaque}},
        {code::softmax, {"Softmax", softmax, Layout::alike}},
        {26, {"SpaceToDepth", opaque, Layout::images}},
        {27, {"SVDF", opaque}},
        {code::pad, {"Pad", pad, Layout::alike}},
        {35, {"RNN", opaque}},
        {code::gather, {"Gather", gather}},
        {37, {"BatchToSpace", opaque, Layout::images}},
        {38, {"SpaceToBatch", opaque, Layout::images}},
        {39, {"Transpose", transpose}},
        {43, {"Squeeze", reshape}},
        {44, {"LSTM", opaque}},
        {code::strided_slice, {"Slice", slice, Layout::alike}},
        {46, {"RNN", opaque}},
        {48, {"TopK", opaque}},
        {code::split, {"Split", split, Layout::alike}},
        {code::log_softmax, {"LogSoftmax", softmax, Layout::alike}},
        {52, {"LSTM", opaque}},
        {56, {"ArgMax", opaque}},
        {60, {"Pad", pad, Layout::alike}},
        {code::slice, {"Slice", slice, Layout::alike}},
        {67, {"ConvTranspose", transposed_convolution, Layout::images}},
        {69, {"Tile", opaque, Layout::alike}},
        {70, {"Unsqueeze", reshape}},
        {79, {"ArgMin", opaque}},
        {83, {"Concat", pack}},
        {85, {"OneHot", opaque}},
        {88, {"Split", unpack}},
        {97, {"Resize", resize, Layout::images}},
        {code::mirror_pad, {"Pad", pad, Layout::alike}},
        {code::split_v, {"Split", split, Layout::alike}},
        {107, {"GatherND", opaque}},
        {109, {"NonZero", opaque}},
        {118, {"If", opaque}},
        {119, {"While", opaque}},
        {120, {"NonMaxSuppression", opaque}},
        {121, {"NonMaxSuppression", opaque}},
        {126, {"MatMul", matrix_product}},
        {128, {"CumSum", opaque, Layout::alike}},
        {130, {"Expand", opaque, Layout::alike}},
        {132, {"Conv3D", opaque}},
        {141, {"ConvTranspose3D", opaque}}};
    for (const auto& [number, name] : function_names()) {
      const bool of_pairs = number == 41 || number == 42 || number == 54 || number == 55 || number == 57 ||
                            number == 58 || (number >= 61 && number <= 64) || number == 71 || number == 72 ||
                            number == 78 || number == 84 || number == 86 || number == 90 || number == 95 ||
                            number == 99 || number == 123 || number == 156;
      all[number] = {name, of_pairs ? pair : function, Layout::alike};
    }
    for (const std::int32_t number : {code::add, code::mul, 106}) all[number] = {"Add", pair, Layout::alike};
    for (const std::int32_t number : {40, 74, 81, 82, 89, 91, 140}) all[number] = {"Reduce", reduce, Layout::alike};
    return all;
  }();
  const auto found = rules.find(code);
  return found == rules.end() ? nullptr : &found->second;
}

}  // namespace tenshot::nasbench::tflite
