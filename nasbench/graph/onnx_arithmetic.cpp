#include <algorithm>
#include <cmath>
#include <map>

#include "nasbench/graph/network_builder.h"
#include "nasbench/graph/onnx_folding.h"
#include "nasbench/support/error.h"

namespace tenshot::nasbench {
namespace {

using Result = std::optional<OnnxValue>;

/// What is made of two numbers, and, where that differs, of two integers: no number where there is nothing.
struct PairFunction {
  Exact (*of_reals)(Exact, Exact);
  bool is_truth = false;
  Exact (*of_integers)(Exact, Exact) = of_reals;
};

Exact power(Exact a, Exact b) { return std::pow(static_cast<double>(a), static_cast<double>(b)); }

/// With the sign of the divisor.
Exact floored_remainder(Exact a, Exact b) {
  const Exact remainder = std::fmod(a, b);
  return remainder != 0 && (remainder < 0) != (b < 0) ? remainder + b : remainder;
}

/// "fmod" is Mod with the attribute of that name: with the sign of the dividend.
const std::map<std::string, PairFunction>& pair_functions() {
  constexpr Exact largest_power = 9e15L;
  static const std::map<std::string, PairFunction> table = {
      {"Add", {[](Exact a, Exact b) { return a + b; }}},
      {"Sub", {[](Exact a, Exact b) { return a - b; }}},
      {"Mul", {[](Exact a, Exact b) { return a * b; }}},
      {"Div",
       {[](Exact a, Exact b) { return a / b; }, false, [](Exact a, Exact b) { return (a - std::fmod(a, b)) / b; }}},
      {"Mod", {std::fmod, false, floored_remainder}},
      {"fmod", {std::fmod}},
      {"Pow",
       {power, false, [](Exact a, Exact b) { return std::abs(power(a, b)) < largest_power ? power(a, b) : NAN; }}},
      {"Min", {[](Exact a, Exact b) { return std::min(a, b); }}},
      {"Max", {[](Exact a, Exact b) { return std::max(a, b); }}},
      {"Equal", {[](Exact a, Exact b) -> Exact { return a == b; }, true}},
      {"Less", {[](Exact a, Exact b) -> Exact { return a < b; }, true}},
      {"Greater", {[](Exact a, Exact b) -> Exact { return a > b; }, true}},
      {"LessOrEqual", {[](Exact a, Exact b) -> Exact { return a <= b; }, true}},
      {"GreaterOrEqual", {[](Exact a, Exact b) -> Exact { return a >= b; }, true}},
      {"Xor", {[](Exact a, Exact b) -> Exact { return (a != 0) != (b != 0); }, true}},
      {"And", {[](Exact a, Exact b) -> Exact { return a != 0 && b != 0; }, true}},
      {"Or", {[](Exact a, Exact b) -> Exact { return a != 0 || b != 0; }, true}}};
  return table;
}

using Function = Exact (*)(Exact);

const std::map<std::string, Function>& functions() {
  static const std::map<std::string, Function> table = {
      {"Identity", [](Exact x) { return x; }},
      {"Not", [](Exact x) -> Exact { return x == 0; }},
      {"Floor", std::floor},
      {"Ceil", std::ceil},
      {"Round", std::nearbyint},
      {"Sqrt", std::sqrt},
      {"Exp", std::exp},
      {"Log", std::log},
      {"Sin", std::sin},
      {"Cos", std::cos},
      {"Abs", std::abs},
      {"Sign", [](Exact x) { return x == 0 ? x : std::copysign(1, x); }},
      {"Neg", [](Exact x) { return -x; }},
      {"Reciprocal", [](Exact x) { return 1 / x; }}};
  return table;
}

}  // namespace

Exact paired(const std::string& name, bool of_integers, Exact a, Exact b) {
  constexpr Exact end = 0x1p63L;
  const PairFunction& function = pair_functions().at(name);
  const Exact number = of_integers ? function.of_integers(a, b) : function.of_reals(a, b);
  if (of_integers && !(number >= -end && number < end)) {
    throw FormatError("the integers of a shape overflow, or are divided by 0");
  }
  return number;
}

Result fold_pair(const OnnxNode& node) {
  if (node.inputs.size() != 2 || !node.has(1)) return std::nullopt;
  const OnnxValue &left = node.input(), &right = node.input(1);
  const std::string name = node.flag("fmod") ? "fmod" : node.type();
  const bool of_integers = is_integer(left.element) && is_integer(right.element);
  const int element = pair_functions().at(name).is_truth ? static_cast<int>(onnx::TensorProto::BOOL) : left.element;
  const Shape shape = broadcast_shape(left.shape, right.shape);
  const std::int64_t count = element_count(shape);
  if (count > most_kept(element)) return std::nullopt;
  Numbers numbers;
  for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) {
    const std::size_t a = broadcast_index(left.shape, shape, i), b = broadcast_index(right.shape, shape, i);
    numbers.values.push_back(paired(name, of_integers, left.numbers->values[a], right.numbers->values[b]));
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

Result fold_one(const OnnxNode& node) {
  Numbers numbers = node.data();
  for (Exact& number : numbers.values) number = functions().at(node.type())(number);
  return constant_of(node.shape(), node.element(), std::move(numbers));
}

}  // namespace tenshot::nasbench
