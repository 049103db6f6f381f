#include "nasbench/graph/onnx_folding.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "nasbench/graph/network_builder.h"
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

Result cast(const OnnxNode& node) {
  const auto target = static_cast<int>(node.integer("to", TensorProto::FLOAT));
  if (element_count(node.shape()) > most_kept(target)) return std::nullopt;
  Numbers numbers = node.data();
  for (Exact& number : numbers.values) number = target == TensorProto::BOOL ? number != 0 : number;
  return constant_of(node.shape(), target, std::move(numbers));
}

Result constant_of_shape(const OnnxNode& node) {
  const onnx::AttributeProto* value = node.attribute("value");
  const std::optional<Numbers> number = value == nullptr ? Numbers{{0}} : numbers_of(value->t());
  const int element = value == nullptr ? static_cast<int>(TensorProto::FLOAT) : value->t().data_type();
  const Shape shape = node.whole_numbers(0);
  require_tensor_size(shape, true);
  const std::int64_t count = element_count(shape);
  if (!number || number->size() != 1 || count > most_kept(element)) return std::nullopt;
  return constant_of(shape, element, {std::vector<Exact>(static_cast<std::size_t>(count), number->values[0])});
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
  if (!(count <= static_cast<double>(most_kept(node.element()))) || std::abs(start) > 1e15 || std::abs(end) > 1e15) {
    return std::nullopt;
  }
  Numbers numbers;
  for (int i = 0; i < count; ++i) numbers.values.push_back(start + step * i);
  const auto length = static_cast<std::int64_t>(numbers.size());
  return constant_of({length}, node.element(), std::move(numbers));
}

Result where(const OnnxNode& node) {
  if (!node.known(1) || !node.known(2) || node.element(1) != node.element(2)) return std::nullopt;
  const Shape shape = broadcast_shape(node.shape(), broadcast_shape(node.shape(1), node.shape(2)));
  if (element_count(shape) > most_kept(node.element(1))) return std::nullopt;
  Numbers numbers;
  for (std::size_t i = 0; i < static_cast<std::size_t>(element_count(shape)); ++i) {
    const bool chosen = node.data().whole(broadcast_index(node.shape(), shape, i)) != 0;
    const OnnxValue& from = node.input(chosen ? 1 : 2);
    numbers.values.push_back(from.numbers->values[broadcast_index(from.shape, shape, i)]);
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
       {fold_scatter, "Scatter ScatterElements ScatterND"},
       {fold_compress, "Compress"},
       {fold_pad, "Pad"},
       {fold_running_sums, "CumSum"},
       {fold_non_zero, "NonZero"},
       {range, "Range"},
       {fold_reduction, "ReduceMax ReduceMean ReduceMin ReduceProd ReduceSum"},
       {fold_slice, "Slice"},
       {fold_tile, "Tile"},
       {fold_transpose, "Transpose"},
       {where, "Where"}});
  return table;
}

bool all_known(const OnnxNode& node) {
  return std::all_of(node.inputs.begin(), node.inputs.end(),
                     [](const OnnxValue* input) { return input == nullptr || (input->constant && input->numbers); });
}

}  // namespace

OnnxValue constant_of(Shape shape, int element, Numbers numbers) {
  OnnxValue value = unknown_constant(std::move(shape), element);
  for (Exact& number : numbers.values) {  // a size that is rounded to a whole number depends on the last bit
    number = is_integer(element)             ? static_cast<Exact>(whole_number(number))
             : element == TensorProto::FLOAT ? static_cast<float>(number)
                                             : static_cast<double>(number);
  }
  value.numbers = std::move(numbers);
  return value;
}

OnnxValue constant_integers(Shape shape, const std::vector<std::int64_t>& integers, int element) {
  return constant_of(std::move(shape), element, {{integers.begin(), integers.end()}});
}

std::size_t broadcast_index(const Shape& shape, const Shape& target, std::size_t index) {
  std::size_t result = 0, stride = 1;
  for (std::size_t i = 0; i < target.size(); ++i) {
    const auto extent = static_cast<std::size_t>(target[target.size() - 1 - i]);
    if (i < shape.size()) {
      const auto own = static_cast<std::size_t>(shape[shape.size() - 1 - i]);
      result += index % extent % own * stride;
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
