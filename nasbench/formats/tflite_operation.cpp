#include "nasbench/formats/tflite_operation.h"

#include <map>
#include <sstream>

#include "nasbench/graph/limits.h"
#include "nasbench/support/numbers_below.h"

namespace tenshot::nasbench::tflite {
namespace {

using Layout = Rule::Layout;

/// Operators that are read alike: numbers of BuiltinOperator (tensorflow/lite/schema/schema.fbs), before ONNX's name.
struct Row {
  Convert* convert;
  Layout layout;
  const char* operators;
};

constexpr std::array<Row, 27> rows = {{
    {function, Layout::alike,
     "8 floor 14 sigmoid 19 relu 20 clip 21 relu6 28 tanh 47 exp 53 cast 59 negate 66 sin 73 log 75 sqrt 76 rsqrt "
     "87 not 92 square 98 leaky_relu 101 absolute 104 ceil 108 cos 111 elu 116 round 117 hard_swish 150 gelu 152 "
     "clip 158 sign"},
    {pair, Layout::alike,
     "41 subtract 42 divide 54 prelu 55 maximum 57 minimum 58 less 61 greater 62 greater_or_equal 63 less_or_equal "
     "64 where 71 equal 72 not_equal 78 power 84 or 86 and 90 floor_divide 95 modulo 99 squared_difference 123 "
     "where 156 atan2"},
    {pool, Layout::images, "1 AveragePool 17 MaxPool"},
    {concatenate, Layout::alike, "2 Concat"},
    {convolution, Layout::images, "3 Conv 4 Conv"},
    {transposed_convolution, Layout::images, "67 ConvTranspose"},
    {volume_convolution, Layout::any, "132 Conv 141 ConvTranspose"},
    {fully_connected, Layout::any, "9 Gemm"},
    {matrix_product, Layout::any, "126 MatMul"},
    {recurrent, Layout::any, "16 LSTM 24 RNN 27 SVDF 35 RNN 44 LSTM 46 RNN 52 LSTM"},
    {reshape, Layout::any, "22 Reshape 43 Squeeze 70 Unsqueeze"},
    {transpose, Layout::any, "39 Transpose"},
    {resize, Layout::images, "23 Resize 97 Resize"},
    {softmax, Layout::alike, "25 Softmax 50 LogSoftmax"},
    {pad, Layout::alike, "34 Pad 60 Pad 100 Pad"},
    {gather, Layout::any, "36 Gather"},
    {slice, Layout::alike, "45 Slice 65 Slice"},
    {split, Layout::alike, "49 Split 102 Split"},
    {pack, Layout::any, "83 Concat"},
    {unpack, Layout::any, "88 Split"},
    {pair, Layout::alike, "0 Add 18 Add 106 Add"},
    {reduce, Layout::alike, "40 mean 74 sum 81 product 82 max 89 min 91 any 140 all"},
    {opaque, Layout::images, "5 DepthToSpace 12 LpPool 13 LRN 26 SpaceToDepth 37 BatchToSpace 38 SpaceToBatch"},
    {opaque, Layout::alike, "11 LpNormalization 69 Tile 118 If 128 CumSum 130 Expand"},
    {opaque, Layout::any, "7 Gather 48 TopK 56 ArgMax 79 ArgMin 85 OneHot 107 GatherND 109 NonZero"},
    {opaque, Layout::any,
     "120 NonMaxSuppression 121 NonMaxSuppression 143 ReadVariable 151 TensorScatter 122 ScatterND"},
    {opaque, Layout::any, "105 ReverseSequence 112 ReverseSequence 93 Expand 94 Expand 96 Range"},
}};

std::map<std::int32_t, Rule> all_rules() {
  std::map<std::int32_t, Rule> all;
  for (const Row& row : rows) {
    std::istringstream operators(row.operators);
    std::int32_t code = 0;
    for (std::string name; operators >> code >> name;) all[code] = {name, row.convert, row.layout};
  }
  return all;
}

/// A constant's shape as it broadcasts over a tensor of `rank` dimensions that is an image.
Shape over_image(Shape shape, std::size_t rank) {
  if (rank != 4 || shape.size() > rank) return shape;
  shape.insert(shape.begin(), rank - shape.size(), 1);
  return image_shape(shape);
}

}  // namespace

Shape image_shape(const Shape& shape) {
  return shape.size() == 4 ? Shape{shape[0], shape[3], shape[1], shape[2]} : shape;
}

Shape file_shape(const Value& value) {
  const Shape& shape = value.shape;
  return value.image && shape.size() == 4 ? Shape{shape[0], shape[2], shape[3], shape[1]} : shape;
}

std::int64_t image_axis(std::int64_t axis) { return axis == 0 ? 0 : axis == 3 ? 1 : axis + 1; }

std::string Operation::type() const {
  if (const Rule* rule = rule_of(op_.code, op_.custom)) return rule->name;
  if (op_.code != code::custom) return "tflite." + std::to_string(op_.code);
  return "tflite." + (op_.custom.empty() ? "custom" : op_.custom);
}

int Operation::whole(int option, int otherwise) const {
  return op_.options ? op_.options->number<std::int32_t>(option, otherwise) : otherwise;
}

int Operation::small(int option, int otherwise) const {
  return op_.options ? op_.options->number<std::int8_t>(option, static_cast<std::int8_t>(otherwise)) : otherwise;
}

bool Operation::flag(int option, bool otherwise) const { return small(option, otherwise ? 1 : 0) != 0; }

double Operation::real(int option, double otherwise) const {
  return op_.options ? op_.options->real(option, static_cast<float>(otherwise)) : otherwise;
}

std::vector<std::int64_t> Operation::list(int option) const {
  const std::vector<std::int32_t> numbers = op_.options ? op_.options->integers(option) : std::vector<std::int32_t>();
  return {numbers.begin(), numbers.end()};
}

const Value& Operation::input(std::size_t i) const {
  if (has(i)) return *inputs_[i];
  reject({"it has no input ", i});
}

Source Operation::source(std::size_t i) const {
  if (!input(i).constant) return input(i).source;
  reject({"its input ", i, " is a constant, where we expect a computed tensor"});
}

std::optional<std::vector<std::int64_t>> Operation::few_numbers(std::size_t i) const {
  if (!is_constant(i)) return std::nullopt;
  if (inputs_[i]->tensor == nullptr) return inputs_[i]->numbers;
  return integers_of(file_, *inputs_[i]->tensor);
}

std::vector<std::int64_t> Operation::numbers(std::size_t i) const {
  if (std::optional<std::vector<std::int64_t>> found = few_numbers(i)) return std::move(*found);
  reject({"its input ", i, " is computed or large, where we expect a few constant numbers"});
}

std::int64_t Operation::axis(std::int64_t number, std::size_t i) const {
  const auto front = static_cast<std::int64_t>(front_axis(number, shape(i).size()));
  return input(i).image ? image_axis(front) : front;
}

const Value& Operation::output(std::size_t i) const {
  if (i < outputs_.size()) return outputs_[i];
  reject({"it has no output ", i});
}

ElementType Operation::output_type(std::size_t i) const {
  return file_.tensors[static_cast<std::size_t>(op_.outputs.at(i))].type;
}

bool Operation::is_trained(std::size_t i) const {
  if (!is_constant(i) || !inputs_[i]->stored || element_count(inputs_[i]->shape) < 2) return false;
  if (const Rule* rule = rule_of(op_.code, op_.custom); rule != nullptr && rule->convert == recurrent) return true;
  const ElementType type = file_.tensors[static_cast<std::size_t>(op_.inputs[i])].type;
  return type != ElementType::int64 && type != ElementType::int32 && type != ElementType::boolean;
}

NetworkNode Operation::node(OperatorKind kind, Shape output, std::string function) const {
  NetworkNode node;
  node.name = name_;
  node.operation.kind = kind;
  node.operation.name = std::move(function);
  node.operation.type = output_type();
  for (std::size_t i = 0; i < inputs_.size(); ++i) {
    if (inputs_[i] == nullptr) continue;
    if (!inputs_[i]->constant) {
      if (node.inputs.empty()) node.operation.type = file_.tensors[static_cast<std::size_t>(op_.inputs[i])].type;
      node.inputs.push_back(inputs_[i]->source);
    } else if (is_trained(i)) {
      const bool broadcasts = kind != OperatorKind::opaque && this->output().image;
      node.operation.constants.push_back(broadcasts ? over_image(inputs_[i]->shape, output.size()) : inputs_[i]->shape);
    }
  }
  node.outputs = {{std::move(output), output_type()}};
  return node;
}

NetworkNode Operation::lone_node(OperatorKind kind, Shape output, std::string function, std::size_t input) const {
  NetworkNode lone = node(kind, std::move(output), std::move(function));
  lone.inputs = {source(input)};
  lone.operation.constants.clear();
  return lone;
}

void Operation::give_activated(const Source& source, int activation) {
  static const char* const functions[] = {"", "relu", "clip", "relu6", "tanh"};
  if (activation == 0) return give(source);
  if (activation < 0 || activation > 4) reject({"there is no activation ", activation});
  const bool clips = activation == 2;
  give(builder_.activation(name_ + "_activation", source, functions[activation], clips ? -1 : 0, clips ? 1 : 0));
}

void Operation::give_reshaped(const Source& source) {
  give(builder_.reshape(name_, source, output(given_.size()).shape));
}

const Rule* rule_of(std::int32_t code, const std::string& custom) {
  static const Rule mediapipe_transposed = {"ConvTranspose", transposed_convolution, Layout::images};
  if (code == tflite::code::custom) return custom == "Convolution2DTransposeBias" ? &mediapipe_transposed : nullptr;
  static const std::map<std::int32_t, Rule> rules = all_rules();
  const auto found = rules.find(code);
  return found == rules.end() ? nullptr : &found->second;
}

std::vector<bool> images_of(const TfliteFile& file) {
  std::vector<std::size_t> sets = numbers_below(file.tensors.size());  // of tensors that are alike: the way to a root
  std::vector<bool> images(sets.size(), false);
  const auto root = [&sets](std::size_t tensor) {
    while (sets[tensor] != tensor) {
      sets[tensor] = sets[sets[tensor]];
      tensor = sets[tensor];
    }
    return tensor;
  };
  const auto has_image_rank = [&file](std::size_t i) {
    return file.tensors[i].shape.size() == 4 && !file.tensors[i].has_data;
  };
  for (const TfliteOperator& op : file.operators) {
    const Rule* rule = rule_of(op.code, op.custom);
    const bool hands_on = op.code == code::quantize || op.code == code::dequantize || op.code == code::fake_quant;
    if (rule == nullptr ? !hands_on : rule->layout == Layout::any) continue;
    std::optional<std::size_t> first;
    for (const auto* list : {&op.inputs, &op.outputs}) {
      for (const std::int32_t index : *list) {
        const auto tensor = static_cast<std::size_t>(index);
        if (index < 0 || !has_image_rank(tensor)) continue;
        const std::size_t other = root(tensor), all = first ? root(*first) : other;
        images[all] = images[all] || images[other] || (rule != nullptr && rule->layout == Layout::images);
        sets[other] = all;
        first = all;
      }
    }
  }
  std::vector<bool> result(sets.size());
  for (std::size_t i = 0; i < sets.size(); ++i) result[i] = has_image_rank(i) && images[root(i)];
  return result;
}

}  // namespace tenshot::nasbench::tflite
