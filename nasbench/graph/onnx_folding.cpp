#include "nasbench/graph/onnx_folding.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "nasbench/graph/limits.h"
#include "nasbench/graph/network_builder.h"
#include "nasbench/support/error.h"
#include "nasbench/support/words.h"

namespace tenshot::nasbench {
namespace {

using onnx::TensorProto;
using Result = std::optional<OnnxValue>;

Result shape_of(const onnx::NodeProto& node, const OnnxInputs& inputs) {
  Shape shape = inputs[0]->shape;
  const auto rank = static_cast<std::int64_t>(shape.size());
  const auto clamped = [&](std::int64_t end) { return std::clamp<std::int64_t>(end < 0 ? end + rank : end, 0, rank); };
  const std::int64_t start = clamped(integer_attribute(node, "start", 0)),
                     end = clamped(integer_attribute(node, "end", rank));
  const std::int64_t count = std::max<std::int64_t>(end - start, 0);
  return constant_integers({count}, Shape(shape.begin() + start, shape.begin() + start + count));
}

Result unsqueeze(const onnx::NodeProto& node, const OnnxInputs& inputs) {
  std::vector<std::int64_t> axes = listed_numbers(node, inputs, "axes", 1);
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

Result squeeze(const onnx::NodeProto& node, const OnnxInputs& inputs) {
  const std::vector<std::int64_t> axes = listed_numbers(node, inputs, "axes", 1);
  std::vector<bool> dropped(inputs[0]->shape.size(), axes.empty());
  for (const std::int64_t axis : axes) dropped[front_axis(axis, dropped.size())] = true;
  Shape shape;
  for (std::size_t i = 0; i < dropped.size(); ++i) {
    if (!dropped[i] || inputs[0]->shape[i] != 1) shape.push_back(inputs[0]->shape[i]);
  }
  return constant_of(shape, inputs[0]->element, *inputs[0]->numbers);
}

Result reshape(const onnx::NodeProto& node, const OnnxInputs& inputs) {
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

Result cast(const onnx::NodeProto& node, const OnnxInputs& inputs) {
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

Result filled(Shape shape, int element, const Numbers& value) {
  require_tensor_size(shape, true);
  const std::int64_t count = element_count(shape);
  if (count > kept_numbers || value.size() != 1) return std::nullopt;
  Numbers numbers;
  numbers.integer = value.integer;
  for (std::int64_t i = 0; i < count; ++i) append_number(value, 0, numbers);
  return constant_of(std::move(shape), element, std::move(numbers));
}

Result constant_of_shape(const onnx::NodeProto& node, const OnnxInputs& inputs) {
  const onnx::AttributeProto* value = attribute(node, "value");
  Numbers zero;
  zero.integer = false;
  zero.reals = {0};
  if (value == nullptr) return filled(whole_numbers(*inputs[0]), TensorProto::FLOAT, zero);
  const std::optional<Numbers> numbers = numbers_of(value->t());
  return numbers ? filled(whole_numbers(*inputs[0]), value->t().data_type(), *numbers) : std::nullopt;
}

/// As many numbers as lie from the first to before the second.
Result range(const onnx::NodeProto&, const OnnxInputs& inputs) {
  if (!known(inputs, 1) || !known(inputs, 2)) return std::nullopt;
  for (const OnnxValue* input : inputs) {
    if (input == nullptr || input->numbers->size() != 1) throw FormatError("it counts from one number to one number");
  }
  const double start = inputs[0]->numbers->real(0), end = inputs[1]->numbers->real(0),
               step = inputs[2]->numbers->real(0);
  if (step == 0) throw FormatError("it counts in steps of 0");
  const double count = std::ceil((end - start) / step);
  if (!(count <= static_cast<double>(kept_numbers)) || std::abs(start) > 1e15 || std::abs(end) > 1e15) {
    return std::nullopt;
  }
  Numbers numbers;
  numbers.integer = inputs[0]->numbers->integer;
  for (int i = 0; i < count; ++i) append_real(start + step * i, numbers.integer, numbers);
  const auto length = static_cast<std::int64_t>(numbers.size());
  return constant_of({length}, inputs[0]->element, std::move(numbers));
}

Result where(const onnx::NodeProto&, const OnnxInputs& inputs) {
  if (!known(inputs, 1) || !known(inputs, 2) || inputs[1]->element != inputs[2]->element) return std::nullopt;
  const Shape shape = broadcast_shape(inputs[0]->shape, broadcast_shape(inputs[1]->shape, inputs[2]->shape));
  if (element_count(shape) > kept_numbers) return std::nullopt;
  Numbers numbers;
  for (std::size_t i = 0; i < static_cast<std::size_t>(element_count(shape)); ++i) {
    const bool chosen = inputs[0]->numbers->whole(broadcast_index(inputs[0]->shape, shape, i)) != 0;
    const OnnxValue& from = *inputs[chosen ? 1 : 2];
    append_number(*from.numbers, broadcast_index(from.shape, shape, i), numbers);
  }
  return constant_of(shape, inputs[1]->element, std::move(numbers));
}

const std::map<std::string, TensorFold*>& folds() {
  static const std::map<std::string, TensorFold*> table = by_name<TensorFold*>(
      {{cast, "Cast"},
       {fold_concat, "Concat"},
       {constant_of_shape, "ConstantOfShape"},
       {fold_expand, "Expand"},
       {fold_one, "Identity Not Neg Abs Floor Ceil Round Sqrt Exp Log Sin Cos Reciprocal"},
       {fold_pair, "Add Sub Mul Div Mod Pow Min Max Equal Less Greater LessOrEqual GreaterOrEqual And Or Xor"},
       {fold_gather, "Gather"},
       {fold_non_zero, "NonZero"},
       {range, "Range"},
       {fold_reduction, "ReduceMax ReduceMin ReduceProd ReduceSum"},
       {reshape, "Reshape"},
       {fold_slice, "Slice"},
       {squeeze, "Squeeze"},
       {fold_tile, "Tile"},
       {fold_transpose, "Transpose"},
       {unsqueeze, "Unsqueeze"},
       {where, "Where"}});
  return table;
}

bool all_known(const OnnxInputs& inputs) {
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i] != nullptr && !known(inputs, i)) return false;
  }
  return true;
}

}  // namespace

std::optional<OnnxValues> folded(const onnx::NodeProto& node, const OnnxInputs& inputs) {
  const std::string& type = node.op_type();
  if (inputs.empty() || inputs[0] == nullptr) return std::nullopt;
  if (type == "Split" && all_known(inputs)) return fold_split(node, inputs);
  if (node.output_size() != 1) return std::nullopt;
  Result result;
  if (type == "Shape") {
    result = shape_of(node, inputs);
  } else if (type == "Size") {
    result = constant_integers({}, {element_count(inputs[0]->shape)});
  } else if (const auto fold = folds().find(type); fold != folds().end() && all_known(inputs)) {
    result = fold->second(node, inputs);
  }
  if (!result) return std::nullopt;
  return OnnxValues{*result};
}

}  // namespace tenshot::nasbench
