#include "nasbench/graph/onnx_arithmetic.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <set>
#include <string>

#include "nasbench/graph/network_builder.h"
#include "nasbench/support/error.h"

namespace tenshot::nasbench {
namespace {

using onnx::TensorProto;
using Result = std::optional<OnnxValue>;

template <class Integers, class Reals>
Result pairwise(const OnnxInputs& inputs, int element, Integers integers, Reals reals) {
  const OnnxValue &left = *inputs[0], &right = *inputs.at(1);
  const Shape shape = broadcast_shape(left.shape, right.shape);
  const std::int64_t count = element_count(shape);
  if (count > kept_numbers) return std::nullopt;
  Numbers numbers;
  for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) {
    const std::size_t a = broadcast_index(left.shape, shape, i), b = broadcast_index(right.shape, shape, i);
    if (!left.numbers->integer || !right.numbers->integer) {
      const double value = reals(left.numbers->real(a), right.numbers->real(b));
      if (is_integer(element)) {
        numbers.integers.push_back(whole_number(value));
      } else {
        numbers.reals.push_back(value);
      }
      continue;
    }
    const std::optional<std::int64_t> value = integers(left.numbers->whole(a), right.numbers->whole(b));
    if (!value) throw FormatError("the integers of a shape overflow, or are divided by 0");
    numbers.integers.push_back(*value);
  }
  return constant_of(shape, element, std::move(numbers));
}

using Whole = std::optional<std::int64_t>;

template <bool (*overflows)(std::int64_t, std::int64_t, std::int64_t*)>
Whole checked(std::int64_t a, std::int64_t b) {
  std::int64_t result = 0;
  return overflows(a, b, &result) ? Whole() : result;
}
bool add_overflows(std::int64_t a, std::int64_t b, std::int64_t* c) { return __builtin_add_overflow(a, b, c); }
bool subtract_overflows(std::int64_t a, std::int64_t b, std::int64_t* c) { return __builtin_sub_overflow(a, b, c); }
bool multiply_overflows(std::int64_t a, std::int64_t b, std::int64_t* c) { return __builtin_mul_overflow(a, b, c); }
Whole quotient(std::int64_t a, std::int64_t b) {
  return b == 0 || b == -1 ? (b == 0 ? Whole() : checked<subtract_overflows>(0, a)) : a / b;
}
Whole remainder(std::int64_t a, std::int64_t b) {
  if (b == 0) return Whole();
  if (b == -1) return 0;
  const std::int64_t r = a % b;
  return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}

using Function = double (*)(double);

/// Functions of reals; integers stay as they are.
const std::map<std::string, Function>& functions() {
  static const std::map<std::string, Function> table = {
      {"Floor", [](double x) { return std::floor(x); }},     {"Ceil", [](double x) { return std::ceil(x); }},
      {"Round", [](double x) { return std::nearbyint(x); }}, {"Sqrt", [](double x) { return std::sqrt(x); }},
      {"Exp", [](double x) { return std::exp(x); }},         {"Log", [](double x) { return std::log(x); }},
      {"Sin", [](double x) { return std::sin(x); }},         {"Cos", [](double x) { return std::cos(x); }},
      {"Reciprocal", [](double x) { return 1 / x; }}};
  return table;
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

Result arithmetic(const onnx::NodeProto& node, const OnnxInputs& inputs) {
  const std::string& type = node.op_type();
  const int element = inputs[0]->element, truth = TensorProto::BOOL;
  if (type == "Add") return pairwise(inputs, element, checked<add_overflows>, std::plus<double>());
  if (type == "Sub") return pairwise(inputs, element, checked<subtract_overflows>, std::minus<double>());
  if (type == "Mul") return pairwise(inputs, element, checked<multiply_overflows>, std::multiplies<double>());
  if (type == "Div") return pairwise(inputs, element, quotient, std::divides<double>());
  if (type == "Mod") return pairwise(inputs, element, remainder, [](double a, double b) { return std::fmod(a, b); });
  if (type == "Pow") {
    return pairwise(
        inputs, element,
        [](auto a, auto b) -> Whole {
          const double power = std::pow(static_cast<double>(a), static_cast<double>(b));
          return std::abs(power) < 9e15 ? Whole(whole_number(power)) : Whole();
        },
        [](double a, double b) { return std::pow(a, b); });
  }
  const auto either = [&](auto choose) {
    return pairwise(
        inputs, element, [=](auto a, auto b) -> Whole { return choose(a, b); }, choose);
  };
  if (type == "Min") return either([](auto a, auto b) { return std::min(a, b); });
  if (type == "Max") return either([](auto a, auto b) { return std::max(a, b); });
  const auto compared = [&](auto compare) {
    return pairwise(
        inputs, truth, [=](auto a, auto b) -> Whole { return compare(a, b); },
        [=](double a, double b) { return compare(a, b) ? 1.0 : 0.0; });
  };
  if (type == "Equal") return compared([](auto a, auto b) { return a == b; });
  if (type == "Less") return compared([](auto a, auto b) { return a < b; });
  if (type == "Greater") return compared([](auto a, auto b) { return a > b; });
  if (type == "LessOrEqual") return compared([](auto a, auto b) { return a <= b; });
  if (type == "GreaterOrEqual") return compared([](auto a, auto b) { return a >= b; });
  if (type == "Xor") return compared([](auto a, auto b) { return (a != 0) != (b != 0); });
  if (type == "And") return compared([](auto a, auto b) { return a != 0 && b != 0; });
  return compared([](auto a, auto b) { return a != 0 || b != 0; });  // Or
}

bool is_arithmetic(const std::string& type) {
  static const auto types =
      std::set<std::string>({"Add", "Sub", "Mul", "Div", "Mod", "Pow", "Min", "Max", "Equal", "Less", "Greater",
                             "LessOrEqual", "GreaterOrEqual", "And", "Or", "Xor"});
  return types.count(type) != 0;
}

bool is_function(const std::string& type) {
  static const std::set<std::string> others = {"Identity", "Not", "Neg", "Abs"};
  return others.count(type) != 0 || functions().count(type) != 0;
}

Result one_by_one(const onnx::NodeProto& node, const OnnxInputs& inputs) {
  const std::string& type = node.op_type();
  OnnxValue value = *inputs[0];
  for (std::int64_t& number : value.numbers->integers) {
    if (type == "Not") number = number == 0 ? 1 : 0;
    if (type == "Neg" || (type == "Abs" && number < 0)) number = quotient(number, -1).value_or(0);
  }
  for (double& number : value.numbers->reals) {
    if (type == "Neg") number = -number;
    if (type == "Abs") number = std::abs(number);
    if (const auto function = functions().find(type); function != functions().end()) number = function->second(number);
  }
  return constant_of(value.shape, value.element, *value.numbers);
}

}  // namespace tenshot::nasbench
