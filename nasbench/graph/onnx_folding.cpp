#include "nasbench/graph/onnx_folding.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "nasbench/graph/limits.h"
#include "nasbench/graph/network_builder.h"
#include "nasbench/graph/onnx_shape_rules.h"
#include "nasbench/support/error.h"
#include "nasbench/support/words.h"

namespace tenshot::nasbench {
namespace {

using onnx::TensorProto;
using Result = std::optional<OnnxValue>;

Result shape_of(const OnnxNode& node) {
  Shape shape = node.shape();
  const auto rank = static_cast<std::int64_t>(shape.size());
  const auto clamped = [&](std::int64_t end) { return std::clamp<std::int64_t>(end < 0 ? end + rank : end, 0, rank); };
  const std::int64_t start = clamped(node.integer("start")), end = clamped(node.integer("end", rank));
  const std::int64_t count = std::max<std::int64_t>(end - start, 0);
  return constant_integers({count}, Shape(shape.begin() + start, shape.begin() + start + count));
}

Result unsqueeze(const OnnxNode& node) {
  std::vector<std::int64_t> axes = node.listed("axes", 1);
  Shape shape = node.shape();
  const std::size_t rank = shape.size() + axes.size();
  if (rank > 16) return std::nullopt;
  for (std::int64_t& axis : axes) axis = static_cast<std::int64_t>(front_axis(axis, rank));
  std::sort(axes.begin(), axes.end());
  for (const std::int64_t axis : axes) {
    if (axis > static_cast<std::int64_t>(shape.size())) throw FormatError("an axis stands twice among its axes");
    shape.insert(shape.begin() + axis, 1);
  }
  return constant_of(shape, node.element(), node.data());
}

Result squeeze(const OnnxNode& node) {
  const std::vector<bool> dropped = reduced_axes(node);
  Shape shape;
  for (std::size_t i = 0; i < dropped.size(); ++i) {
    if (!dropped[i] || node.shape()[i] != 1) shape.push_back(node.shape()[i]);
  }
  return constant_of(shape, node.element(), node.data());
}

Result reshape(const OnnxNode& node) {
  if (!node.known(1)) return std::nullopt;
  Shape shape = node.whole_numbers(1);
  if (shape.size() > 16) return std::nullopt;
  const auto count = static_cast<std::int64_t>(node.data().size());
  std::int64_t others = 1;
  std::int64_t* open = nullptr;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] == 0 && i < node.shape().size() && !node.flag("allowzero")) {
      shape[i] = node.shape()[i];
    }
    if (shape[i] == -1 && open == nullptr) {
      open = &shape[i];
    } else if (shape[i] < 0 || shape[i] > kept_numbers || (others *= shape[i]) > kept_numbers) {
      return std::nullopt;
    }
  }
  if (open != nullptr) *open = others == 0 ? 0 : count / others;
  if (element_count(shape) != count) return std::nullopt;
  return constant_of(shape, node.element(), node.data());
}

Result cast(const OnnxNode& node) {
  const auto target = static_cast<int>(node.integer("to", TensorProto::FLOAT));
  Numbers numbers;
  for (std::size_t i = 0; i < node.data().size(); ++i) {
    if (is_integer(target)) {
      const bool truth = target == TensorProto::BOOL;
      numbers.integers.push_back(truth ? node.data().real(i) != 0 : node.data().whole(i));
    } else {
      numbers.reals.push_back(node.data().real(i));
    }
  }
  return constant_of(node.shape(), target, std::move(numbers));
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

Result constant_of_shape(const OnnxNode& node) {
  const onnx::AttributeProto* value = node.attribute("value");
  Numbers zero;
  zero.integer = false;
  zero.reals = {0};
  if (value == nullptr) return filled(node.whole_numbers(0), TensorProto::FLOAT, zero);
  const std::optional<Numbers> numbers = numbers_of(value->t());
  return numbers ? filled(node.whole_numbers(0), value->t().data_type(), *numbers) : std::nullopt;
}

/// As many numbers as lie from the first to before the second.
Result range(const OnnxNode& node) {
  if (!node.known(1) || !node.known(2)) return std::nullopt;
  for (std::size_t i = 0; i < node.inputs.size(); ++i) {
    if (!node.has(i) || node.data(i).size() != 1) throw FormatError("it counts from one number to one number");
  }
  const double start = node.data().real(0), end = node.data(1).real(0), step = node.data(2).real(0);
  if (step == 0) throw FormatError("it counts in steps of 0");
  const double count = std::ceil((end - start) / step);
  if (!(count <= static_cast<double>(kept_numbers)) || std::abs(start) > 1e15 || std::abs(end) > 1e15) {
    return std::nullopt;
  }
  Numbers numbers;
  numbers.integer = node.data().integer;
  for (int i = 0; i < count; ++i) append_real(start + step * i, numbers.integer, numbers);
  const auto length = static_cast<std::int64_t>(numbers.size());
  return constant_of({length}, node.element(), std::move(numbers));
}

Result where(const OnnxNode& node) {
  if (!node.known(1) || !node.known(2) || node.element(1) != node.element(2)) return std::nullopt;
  const Shape shape = broadcast_shape(node.shape(), broadcast_shape(node.shape(1), node.shape(2)));
  if (element_count(shape) > kept_numbers) return std::nullopt;
  Numbers numbers;
  for (std::size_t i = 0; i < static_cast<std::size_t>(element_count(shape)); ++i) {
    const bool chosen = node.data().whole(broadcast_index(node.shape(), shape, i)) != 0;
    const OnnxValue& from = node.input(chosen ? 1 : 2);
    append_number(*from.numbers, broadcast_index(from.shape, shape, i), numbers);
  }
  return constant_of(shape, node.element(1), std::move(numbers));
}

const std::map<std::string, TensorFold*>& folds() {
  static const std::map<std::string, TensorFold*> table = by_name<TensorFold*>(
      {{cast, "Cast"},
       {fold_concat, "Concat"},
       {constant_of_shape, "ConstantOfShape"},
       {fold_expand, "Expand"},
       {fold_one, "Identity Not Neg Sign Abs Floor Ceil Round Sqrt Exp Log Sin Cos Reciprocal"},
       {fold_pair, "Add Sub Mul Div Mod Pow Equal Less Greater LessOrEqual GreaterOrEqual And Or Xor"},
       {fold_several, "Min Max Sum Clip"},
       {fold_gather, "Gather"},
       {fold_non_zero, "NonZero"},
       {range, "Range"},
       {fold_reduction, "ReduceMax ReduceMean ReduceMin ReduceProd ReduceSum"},
       {reshape, "Reshape"},
       {fold_slice, "Slice"},
       {squeeze, "Squeeze"},
       {fold_tile, "Tile"},
       {fold_transpose, "Transpose"},
       {unsqueeze, "Unsqueeze"},
       {where, "Where"}});
  return table;
}

bool all_known(const OnnxNode& node) {
  return std::all_of(node.inputs.begin(), node.inputs.end(),
                     [](const OnnxValue* input) { return input == nullptr || (input->constant && input->numbers); });
}

}  // namespace

OnnxValue constant_of(Shape shape, int element, Numbers numbers) {
  OnnxValue value;
  value.constant = true;
  value.shape = value.stored = std::move(shape);
  value.element = element;
  numbers.integer = is_integer(element);
  for (double& number : numbers.reals) {  // a size that is rounded to a whole number depends on the last bit
    if (element == TensorProto::FLOAT) number = static_cast<float>(number);
  }
  value.numbers = std::move(numbers);
  return value;
}

OnnxValue constant_integers(Shape shape, std::vector<std::int64_t> integers, int element) {
  Numbers numbers;
  numbers.integers = std::move(integers);
  return constant_of(std::move(shape), element, std::move(numbers));
}

std::size_t broadcast_index(const Shape& shape, const Shape& target, std::size_t index) {
  std::size_t result = 0, stride = 1;
  for (std::size_t i = 0; i < target.size(); ++i) {
    const auto extent = static_cast<std::size_t>(target[target.size() - 1 - i]);
    if (i < shape.size()) {
      const auto own = static_cast<std::size_t>(shape[shape.size() - 1 - i]);
      if (own != 1) result += index % extent * stride;
      stride *= own;
    }
    index /= extent;
  }
  return result;
}

std::optional<OnnxValues> folded(const OnnxNode& node) {
  const std::string& type = node.type();
  if (!node.has(0)) return std::nullopt;
  if (type == "Split" && all_known(node)) return fold_split(node);
  if (node.output_count() != 1) return std::nullopt;
  Result result;
  if (type == "Shape") {
    result = shape_of(node);
  } else if (type == "Size") {
    result = constant_integers({}, {element_count(node.shape())});
  } else if (const auto fold = folds().find(type); fold != folds().end() && all_known(node)) {
    result = fold->second(node);
  }
  if (!result) return std::nullopt;
  return OnnxValues{*result};
}

}  // namespace tenshot::nasbench
