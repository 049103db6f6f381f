#include <algorithm>
#include <cmath>
#include <functional>
#include <map>

#include "nasbench/graph/network_builder.h"
#include "nasbench/graph/onnx_folding.h"
#include "nasbench/support/error.h"

namespace tenshot::nasbench {
namespace {

using onnx::TensorProto;
using Result = std::optional<OnnxValue>;

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

/// What is made of two numbers: of integers, nothing where that overflows, and of reals.
struct PairFunction {
  std::function<Whole(std::int64_t, std::int64_t)> of_integers;
  std::function<double(double, double)> of_reals;
  bool is_truth = false;
};

template <class Function>
PairFunction of_either(Function function, bool is_truth = false) {
  return {function, function, is_truth};
}

const std::map<std::string, PairFunction>& pair_functions() {
  const auto power = [](auto a, auto b) { return std::pow(static_cast<double>(a), static_cast<double>(b)); };
  const auto whole_power = [power](std::int64_t a, std::int64_t b) -> Whole {
    return std::abs(power(a, b)) < 9e15 ? Whole(whole_number(power(a, b))) : Whole();
  };
  static const std::map<std::string, PairFunction> table = {
      {"Add", {checked<add_overflows>, std::plus<double>()}},
      {"Sub", {checked<subtract_overflows>, std::minus<double>()}},
      {"Mul", {checked<multiply_overflows>, std::multiplies<double>()}},
      {"Div", {quotient, std::divides<double>()}},
      {"Mod", {remainder, [](double a, double b) { return std::fmod(a, b); }}},
      {"Pow", {whole_power, power}},
      {"Min", of_either([](auto a, auto b) { return std::min(a, b); })},
      {"Max", of_either([](auto a, auto b) { return std::max(a, b); })},
      {"Equal", of_either([](auto a, auto b) { return a == b; }, true)},
      {"Less", of_either([](auto a, auto b) { return a < b; }, true)},
      {"Greater", of_either([](auto a, auto b) { return a > b; }, true)},
      {"LessOrEqual", of_either([](auto a, auto b) { return a <= b; }, true)},
      {"GreaterOrEqual", of_either([](auto a, auto b) { return a >= b; }, true)},
      {"Xor", of_either([](auto a, auto b) { return (a != 0) != (b != 0); }, true)},
      {"And", of_either([](auto a, auto b) { return a != 0 && b != 0; }, true)},
      {"Or", of_either([](auto a, auto b) { return a != 0 || b != 0; }, true)}};
  return table;
}

using Function = double (*)(double);

/// Functions of reals. Integers stay as they are, but for Abs and Neg.
const std::map<std::string, Function>& functions() {
  static const std::map<std::string, Function> table = {
      {"Floor", std::floor},
      {"Ceil", std::ceil},
      {"Round", std::nearbyint},
      {"Sqrt", std::sqrt},
      {"Exp", std::exp},
      {"Log", std::log},
      {"Sin", std::sin},
      {"Cos", std::cos},
      {"Abs", std::abs},
      {"Sign", [](double x) { return x == 0 ? x : std::copysign(1, x); }},
      {"Neg", [](double x) { return -x; }},
      {"Reciprocal", [](double x) { return 1 / x; }}};
  return table;
}

}  // namespace

/// Arithmetic, comparisons and logic.
Result fold_pair(const OnnxNode& node) {
  if (node.inputs.size() != 2 || !node.has(1)) return std::nullopt;
  const OnnxValue &left = node.input(), &right = node.input(1);
  const PairFunction& function = pair_functions().at(node.type());
  const int element = function.is_truth ? static_cast<int>(TensorProto::BOOL) : left.element;
  const Shape shape = broadcast_shape(left.shape, right.shape);
  const std::int64_t count = element_count(shape);
  if (count > kept_numbers) return std::nullopt;
  Numbers numbers;
  for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) {
    const std::size_t a = broadcast_index(left.shape, shape, i), b = broadcast_index(right.shape, shape, i);
    if (!left.numbers->integer || !right.numbers->integer) {
      append_real(function.of_reals(left.numbers->real(a), right.numbers->real(b)), is_integer(element), numbers);
      continue;
    }
    const Whole value = function.of_integers(left.numbers->whole(a), right.numbers->whole(b));
    if (!value) throw FormatError("the integers of a shape overflow, or are divided by 0");
    numbers.integers.push_back(*value);
  }
  return constant_of(shape, element, std::move(numbers));
}

/// A Clip is the larger of the number and one bound, then the smaller of that and the other.
Result fold_several(const OnnxNode& node) {
  if (node.attribute("min") != nullptr || node.attribute("max") != nullptr) return std::nullopt;
  Result value = node.input();
  onnx::NodeProto pair = node.proto;
  if (node.type() == "Sum") pair.set_op_type("Add");
  for (std::size_t i = 1; value && i < node.inputs.size(); ++i) {
    if (node.type() == "Clip") pair.set_op_type(i == 1 ? "Max" : "Min");
    if (node.has(i)) value = fold_pair({pair, {&*value, node.inputs[i]}});
  }
  return value;
}

/// The identity and functions.
Result fold_one(const OnnxNode& node) {
  const std::string& type = node.type();
  OnnxValue value = node.input();
  for (std::int64_t& number : value.numbers->integers) {
    if (type == "Not") number = number == 0 ? 1 : 0;
    if (type == "Sign") number = number > 0 ? 1 : number < 0 ? -1 : 0;
    if (type == "Neg" || (type == "Abs" && number < 0)) number = quotient(number, -1).value_or(0);
  }
  const auto function = functions().find(type);
  for (double& number : value.numbers->reals) {
    if (function != functions().end()) number = function->second(number);
  }
  return constant_of(value.shape, value.element, *value.numbers);
}

}  // namespace tenshot::nasbench
