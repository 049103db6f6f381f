#include "nasbench/graph/onnx_folding.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <string>

#include "nasbench/graph/network_builder.h"
#include "nasbench/graph/onnx_arithmetic.h"
#include "nasbench/support/error.h"

namespace tenshot::nasbench {
namespace {

using onnx::TensorProto;
using Inputs = std::vector<const OnnxValue*>;
using Result = std::optional<OnnxValue>;

OnnxValue integers_of(std::vector<std::int64_t> integers) {
  const auto count = static_cast<std::int64_t>(integers.size());
  Numbers numbers;
  numbers.integers = std::move(integers);
  return constant_of({count}, TensorProto::INT64, std::move(numbers));
}

bool known(const Inputs& inputs, std::size_t i) {
  return i < inputs.size() && inputs[i] != nullptr && inputs[i]->constant && inputs[i]->numbers.has_value();
}

std::vector<std::int64_t> whole_numbers(const OnnxValue& value) {
  std::vector<std::int64_t> numbers;
  for (std::size_t i = 0; i < value.numbers->size(); ++i) numbers.push_back(value.numbers->whole(i));
  return numbers;
}

/// Attribute `name`, or, since later opsets have it there, input `index`.
std::vector<std::int64_t> axes_of(const onnx::NodeProto& node, const Inputs& inputs, const char* name,
                                  std::size_t index) {
  if (attribute(node, name) != nullptr) return integers_attribute(node, name);
  return known(inputs, index) ? whole_numbers(*inputs[index]) : std::vector<std::int64_t>{};
}

std::size_t front_axis(std::int64_t axis, std::size_t rank) {
  const auto signed_rank = static_cast<std::int64_t>(rank);
  if (axis < -signed_rank || axis >= signed_rank) {
    throw FormatError("there is no axis " + std::to_string(axis) + " in a tensor of " + std::to_string(rank) +
                      " dimensions");
  }
  return static_cast<std::size_t>(axis < 0 ? axis + signed_rank : axis);
}

/// Element `from` of `source` becomes the next of `target`.
void append(const Numbers& source, std::size_t from, Numbers& target) {
  if (source.integer) {
    target.integers.push_back(source.integers[from]);
  } else {
    target.reals.push_back(source.reals[from]);
  }
}

Result shape_of(const onnx::NodeProto& node, const Inputs& inputs) {
  Shape shape = inputs[0]->shape;
  const auto rank = static_cast<std::int64_t>(shape.size());
  const auto clamped = [&](std::int64_t end) { return std::clamp<std::int64_t>(end < 0 ? end + rank : end, 0, rank); };
  const std::int64_t start = clamped(integer_attribute(node, "start", 0)),
                     end = clamped(integer_attribute(node, "end", rank));
  return integers_of(start < end ? Shape(shape.begin() + start, shape.begin() + end) : Shape{});
}

Result gather(const onnx::NodeProto& node, const Inputs& inputs) {
  const OnnxValue &data = *inputs[0], &indices = *inputs.at(1);
  if (data.shape.size() != 1) return std::nullopt;
  front_axis(integer_attribute(node, "axis", 0), 1);
  Numbers numbers;
  for (const std::int64_t index : whole_numbers(indices)) {
    if (index < -data.shape[0] || index >= data.shape[0]) {
      throw FormatError("index " + std::to_string(index) + " lies beyond the " + std::to_string(data.shape[0]) +
                        " numbers");
    }
    append(*data.numbers, static_cast<std::size_t>(index < 0 ? index + data.shape[0] : index), numbers);
  }
  return constant_of(indices.shape, data.element, std::move(numbers));
}

Result concatenate(const onnx::NodeProto&, const Inputs& inputs) {
  Numbers numbers;
  for (const OnnxValue* input : inputs) {
    if (input->shape.size() != 1 || input->element != inputs[0]->element) return std::nullopt;
    for (std::size_t i = 0; i < input->numbers->size(); ++i) append(*input->numbers, i, numbers);
  }
  const auto count = static_cast<std::int64_t>(std::max(numbers.integers.size(), numbers.reals.size()));
  return constant_of({count}, inputs[0]->element, std::move(numbers));
}

Result unsqueeze(const onnx::NodeProto& node, const Inputs& inputs) {
  std::vector<std::int64_t> axes = axes_of(node, inputs, "axes", 1);
  Shape shape = inputs[0]->shape;
  const std::size_t rank = shape.size() + axes.size();
  if (rank > 16) return std::nullopt;
  for (std::int64_t& axis : axes) axis = static_cast<std::int64_t>(front_axis(axis, rank));
  std::sort(axes.begin(), axes.end());
  for (const std::int64_t axis : axes) {
    if (axis > static_cast<std::int64_t>(shape.size())) throw FormatError("an axis stands twice among its axes");
    shape.insert(shape.begin() + axis, 1);
  }
  return constant_of(shape, inputs[0]->element, *inputs[0]->numbers);
}

Result squeeze(const onnx::NodeProto& node, const Inputs& inputs) {
  const std::vector<std::int64_t> axes = axes_of(node, inputs, "axes", 1);
  std::vector<bool> dropped(inputs[0]->shape.size(), axes.empty());
  for (const std::int64_t axis : axes) dropped[front_axis(axis, dropped.size())] = true;
  Shape shape;
  for (std::size_t i = 0; i < dropped.size(); ++i) {
    if (!dropped[i] || inputs[0]->shape[i] != 1) shape.push_back(inputs[0]->shape[i]);
  }
  return constant_of(shape, inputs[0]->element, *inputs[0]->numbers);
}

Result reshape(const onnx::NodeProto& node, const Inputs& inputs) {
  if (!known(inputs, 1)) return std::nullopt;
  Shape shape = whole_numbers(*inputs[1]);
  if (shape.size() > 16) return std::nullopt;
  const auto count = static_cast<std::int64_t>(inputs[0]->numbers->size());
  std::int64_t others = 1;
  std::int64_t* open = nullptr;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] == 0 && i < inputs[0]->shape.size() && integer_attribute(node, "allowzero", 0) == 0) {
      shape[i] = inputs[0]->shape[i];
    }
    if (shape[i] == -1 && open == nullptr) {
      open = &shape[i];
    } else if (shape[i] < 0 || shape[i] > kept_numbers || (others *= shape[i]) > kept_numbers) {
      return std::nullopt;
    }
  }
  if (open != nullptr) *open = others == 0 ? 0 : count / others;
  if (element_count(shape) != count) return std::nullopt;
  return constant_of(shape, inputs[0]->element, *inputs[0]->numbers);
}

Result cast(const onnx::NodeProto& node, const Inputs& inputs) {
  const auto target = static_cast<int>(integer_attribute(node, "to", TensorProto::FLOAT));
  Numbers numbers;
  for (std::size_t i = 0; i < inputs[0]->numbers->size(); ++i) {
    if (is_integer(target)) {
      const bool truth = target == TensorProto::BOOL;
      numbers.integers.push_back(truth ? inputs[0]->numbers->real(i) != 0 : inputs[0]->numbers->whole(i));
    } else {
      numbers.reals.push_back(inputs[0]->numbers->real(i));
    }
  }
  return constant_of(inputs[0]->shape, target, std::move(numbers));
}

/// Attributes of opset 1 to 9, inputs since.
Result slice(const onnx::NodeProto& node, const Inputs& inputs) {
  const OnnxValue& data = *inputs[0];
  const std::vector<std::int64_t> starts = axes_of(node, inputs, "starts", 1), ends = axes_of(node, inputs, "ends", 2);
  if (data.shape.size() != 1 || starts.size() != 1 || ends.size() != 1) return std::nullopt;
  const std::vector<std::int64_t> steps = known(inputs, 4) ? whole_numbers(*inputs[4]) : std::vector<std::int64_t>{1};
  const std::int64_t step = steps.empty() ? 1 : steps[0], count = data.shape[0];
  if (step == 0) throw FormatError("it slices in steps of 0");
  const auto place = [&](std::int64_t at) {
    return std::clamp<std::int64_t>(at < 0 ? at + count : at, step > 0 ? 0 : -1, step > 0 ? count : count - 1);
  };
  const std::int64_t low_end = std::numeric_limits<std::int64_t>::min() / 2;
  const std::int64_t start = place(starts[0]), end = ends[0] < low_end ? -1 : place(ends[0]);
  Numbers numbers;
  for (std::int64_t i = start; step > 0 ? i < end : i > end;
       i += std::clamp<std::int64_t>(step, -count - 1, count + 1)) {
    append(*data.numbers, static_cast<std::size_t>(i), numbers);
  }
  const auto length = static_cast<std::int64_t>(std::max(numbers.integers.size(), numbers.reals.size()));
  return constant_of({length}, data.element, std::move(numbers));
}

Result filled(Shape shape, int element, const Numbers& value) {
  require_dimensions(shape, true);
  const std::int64_t count = element_count(shape);
  if (count > kept_numbers || value.size() != 1) return std::nullopt;
  Numbers numbers;
  numbers.integer = value.integer;
  for (std::int64_t i = 0; i < count; ++i) append(value, 0, numbers);
  return constant_of(std::move(shape), element, std::move(numbers));
}

Result constant_of_shape(const onnx::NodeProto& node, const Inputs& inputs) {
  const onnx::AttributeProto* value = attribute(node, "value");
  Numbers zero;
  zero.integer = false;
  zero.reals = {0};
  if (value == nullptr) return filled(whole_numbers(*inputs[0]), TensorProto::FLOAT, zero);
  const std::optional<Numbers> numbers = numbers_of(value->t());
  return numbers ? filled(whole_numbers(*inputs[0]), value->t().data_type(), *numbers) : std::nullopt;
}

Result expand(const onnx::NodeProto&, const Inputs& inputs) {
  if (!known(inputs, 1) || inputs[0]->numbers->size() != 1) return std::nullopt;
  return filled(broadcast_shape(inputs[0]->shape, whole_numbers(*inputs[1])), inputs[0]->element, *inputs[0]->numbers);
}

Result range(const onnx::NodeProto&, const Inputs& inputs) {
  if (!known(inputs, 1) || !known(inputs, 2) || !inputs[0]->numbers->integer) return std::nullopt;
  for (const OnnxValue* input : inputs) {
    if (input == nullptr || input->numbers->size() != 1) throw FormatError("it counts from one number to one number");
  }
  const std::int64_t start = inputs[0]->numbers->whole(0), end = inputs[1]->numbers->whole(0);
  const std::int64_t step = inputs[2]->numbers->whole(0);
  if (step == 0) throw FormatError("it counts in steps of 0");
  std::vector<std::int64_t> numbers;
  for (std::int64_t i = start; step > 0 ? i < end : i > end; i += step) {
    if (numbers.size() == static_cast<std::size_t>(kept_numbers)) return std::nullopt;
    numbers.push_back(i);
    if (std::abs(static_cast<double>(i) + static_cast<double>(step)) > 1e18) break;
  }
  OnnxValue value = integers_of(std::move(numbers));
  value.element = inputs[0]->element;
  return value;
}

Result where(const onnx::NodeProto&, const Inputs& inputs) {
  if (!known(inputs, 1) || !known(inputs, 2) || inputs[1]->element != inputs[2]->element) return std::nullopt;
  const Shape shape = broadcast_shape(inputs[0]->shape, broadcast_shape(inputs[1]->shape, inputs[2]->shape));
  if (element_count(shape) > kept_numbers) return std::nullopt;
  Numbers numbers;
  for (std::size_t i = 0; i < static_cast<std::size_t>(element_count(shape)); ++i) {
    const bool chosen = inputs[0]->numbers->whole(broadcast_index(inputs[0]->shape, shape, i)) != 0;
    const OnnxValue& from = *inputs[chosen ? 1 : 2];
    append(*from.numbers, broadcast_index(from.shape, shape, i), numbers);
  }
  return constant_of(shape, inputs[1]->element, std::move(numbers));
}

Result product(const onnx::NodeProto& node, const Inputs& inputs) {
  if (!inputs[0]->numbers->integer || inputs[0]->shape.size() > 1) return std::nullopt;
  std::int64_t result = 1;
  for (const std::int64_t number : inputs[0]->numbers->integers) {
    if (__builtin_mul_overflow(result, number, &result)) throw FormatError("the product of a shape overflows");
  }
  OnnxValue value = integers_of({result});
  if (integer_attribute(node, "keepdims", 1) == 0) value.shape = value.stored = {};
  value.element = inputs[0]->element;
  return value;
}

using Fold = Result (*)(const onnx::NodeProto&, const Inputs&);

const std::map<std::string, Fold>& folds() {
  static const std::map<std::string, Fold> table = {
      {"Add", arithmetic},      {"And", arithmetic},     {"Cast", cast},
      {"Ceil", one_by_one},     {"Concat", concatenate}, {"ConstantOfShape", constant_of_shape},
      {"Div", arithmetic},      {"Equal", arithmetic},   {"Expand", expand},
      {"Floor", one_by_one},    {"Gather", gather},      {"Greater", arithmetic},
      {"Identity", one_by_one}, {"Less", arithmetic},    {"Max", arithmetic},
      {"Min", arithmetic},      {"Mod", arithmetic},     {"Mul", arithmetic},
      {"Neg", one_by_one},      {"Not", one_by_one},     {"Or", arithmetic},
      {"Pow", arithmetic},      {"Range", range},        {"ReduceProd", product},
      {"Reshape", reshape},     {"Slice", slice},        {"Sqrt", one_by_one},
      {"Squeeze", squeeze},     {"Sub", arithmetic},     {"Unsqueeze", unsqueeze},
      {"Where", where}};
  return table;
}

}  // namespace

std::optional<std::vector<OnnxValue>> folded(const onnx::NodeProto& node, const Inputs& inputs) {
  const std::string& type = node.op_type();
  if (inputs.empty() || inputs[0] == nullptr || node.output_size() != 1) return std::nullopt;
  Result result;
  if (type == "Shape") {
    result = shape_of(node, inputs);
  } else if (type == "Size") {
    result = integers_of({element_count(inputs[0]->shape)});
    result->shape = result->stored = {};
  } else {
    const auto fold = folds().find(type);
    if (fold == folds().end()) return std::nullopt;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      if (inputs[i] != nullptr && !known(inputs, i)) return std::nullopt;
    }
    const bool two = fold->second == arithmetic;
    if (two && (inputs.size() != 2 || inputs[1] == nullptr)) return std::nullopt;
    if ((type == "Gather") && !known(inputs, 1)) return std::nullopt;
    result = fold->second(node, inputs);
  }
  if (!result) return std::nullopt;
  return std::vector<OnnxValue>{*result};
}

}  // namespace tenshot::nasbench
