#include "nasbench/formats/tflite_operation.h"

#include <utility>

#include "nasbench/graph/limits.h"
#include "nasbench/support/error.h"

namespace tenshot::nasbench::tflite {
namespace {

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
  return op_.custom.empty() ? "custom" : op_.custom;
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
  throw FormatError("it has no input " + std::to_string(i));
}

Source Operation::source(std::size_t i) const {
  if (!input(i).constant) return input(i).source;
  throw FormatError("its input " + std::to_string(i) + " is a constant, where we expect a computed tensor");
}

std::optional<std::vector<std::int64_t>> Operation::few_numbers(std::size_t i) const {
  if (!is_constant(i)) return std::nullopt;
  if (inputs_[i]->tensor == nullptr) return inputs_[i]->numbers;
  return integers_of(file_, *inputs_[i]->tensor);
}

std::vector<std::int64_t> Operation::numbers(std::size_t i) const {
  if (std::optional<std::vector<std::int64_t>> found = few_numbers(i)) return std::move(*found);
  throw FormatError("its input " + std::to_string(i) + " is computed or large, where we expect a few constant numbers");
}

std::int64_t Operation::axis(std::int64_t number, std::size_t i) const {
  const auto front = static_cast<std::int64_t>(front_axis(number, shape(i).size()));
  return input(i).image ? image_axis(front) : front;
}

const Value& Operation::output(std::size_t i) const {
  if (i < outputs_.size()) return outputs_[i];
  throw FormatError("it has no output " + std::to_string(i));
}

ElementType Operation::output_type(std::size_t i) const {
  return file_.tensors[static_cast<std::size_t>(op_.outputs.at(i))].type;
}

bool Operation::is_trained(std::size_t i) const {
  if (!is_constant(i) || !inputs_[i]->stored || element_count(inputs_[i]->shape) < 2) return false;
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
  if (activation < 0 || activation > 4) throw FormatError("there is no activation " + std::to_string(activation));
  const bool clips = activation == 2;
  give(builder_.activation(name_ + "_activation", source, functions[activation], clips ? -1 : 0, clips ? 1 : 0));
}

void Operation::give_reshaped(const Source& source) {
  const Shape& wanted = output(given_.size()).shape;
  const Shape from = builder_.type(source).shape;
  if (element_count(from) != element_count(wanted)) {
    throw FormatError(format(from) + " does not hold as many numbers as " + format(wanted));
  }
  give(builder_.reshape(name_, source, wanted));
}

}  // namespace tenshot::nasbench::tflite
