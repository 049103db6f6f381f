#include "nasbench/graph/onnx_folding.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "nasbench/support/error.h"

namespace tenshot::nasbench {
namespace {

using onnx::TensorProto;
using Integers = std::vector<std::int64_t>;
using Reals = std::vector<double>;

OnnxValue value_of(const Shape& shape, int element, Integers integers, Reals reals) {
  OnnxValue value;
  value.constant = true;
  value.shape = value.stored = shape;
  value.element = element;
  value.numbers = Numbers{is_integer(element), std::move(integers), std::move(reals)};
  return value;
}

OnnxValue integers(const Integers& numbers) {
  return value_of({static_cast<std::int64_t>(numbers.size())}, TensorProto::INT64, numbers, {});
}
OnnxValue scalar(std::int64_t number) { return value_of({}, TensorProto::INT64, {number}, {}); }
OnnxValue reals(const Reals& numbers) {
  return value_of({static_cast<std::int64_t>(numbers.size())}, TensorProto::FLOAT, {}, numbers);
}

onnx::NodeProto node_of(const std::string& type) {
  onnx::NodeProto node;
  node.set_op_type(type);
  node.add_output("y");
  return node;
}

void set(onnx::NodeProto& node, const char* name, std::int64_t value) {
  onnx::AttributeProto& attribute = *node.add_attribute();
  attribute.set_name(name);
  attribute.set_type(onnx::AttributeProto::INT);
  attribute.set_i(value);
}

std::optional<OnnxValue> fold(const onnx::NodeProto& node, const std::vector<OnnxValue>& inputs) {
  std::vector<const OnnxValue*> pointers;
  for (const OnnxValue& input : inputs) pointers.push_back(&input);
  const auto results = folded({node, pointers});
  return results ? std::optional<OnnxValue>(results->front()) : std::nullopt;
}
std::optional<OnnxValue> fold(const std::string& type, const std::vector<OnnxValue>& inputs) {
  return fold(node_of(type), inputs);
}

/// The integers that a node of integers gives.
Integers result(const std::string& type, const std::vector<OnnxValue>& inputs) {
  const auto folded = fold(type, inputs);
  EXPECT_TRUE(folded) << type;
  return folded ? folded->numbers->integers : Integers{};
}

TEST(OnnxFolding, ComputesWithIntegersByHand) {
  const OnnxValue left = integers({7, -7, 6}), right = integers({2});
  EXPECT_EQ(result("Add", {left, right}), (Integers{9, -5, 8}));
  EXPECT_EQ(result("Sub", {left, right}), (Integers{5, -9, 4}));
  EXPECT_EQ(result("Mul", {left, right}), (Integers{14, -14, 12}));
  EXPECT_EQ(result("Div", {left, right}), (Integers{3, -3, 3}));
  EXPECT_EQ(result("Mod", {left, right}), (Integers{1, 1, 0}));  // with the divisor's sign, as ONNX has it
  EXPECT_EQ(result("Min", {left, right}), (Integers{2, -7, 2}));
  EXPECT_EQ(result("Max", {left, right}), (Integers{7, 2, 6}));
  EXPECT_EQ(result("Less", {left, right}), (Integers{0, 1, 0}));
  EXPECT_EQ(result("Greater", {left, right}), (Integers{1, 0, 1}));
  EXPECT_EQ(result("Equal", {left, integers({7, 0, 6})}), (Integers{1, 0, 1}));
  EXPECT_EQ(result("And", {integers({1, 0}), integers({1, 1})}), (Integers{1, 0}));
  EXPECT_EQ(result("Or", {integers({1, 0}), integers({0, 0})}), (Integers{1, 0}));
  EXPECT_EQ(result("Not", {integers({0, 5})}), (Integers{1, 0}));
  EXPECT_EQ(result("Neg", {integers({3, -4})}), (Integers{-3, 4}));
}

TEST(OnnxFolding, BroadcastsAsArraysDo) {
  const OnnxValue column = value_of({2, 1}, TensorProto::INT64, {10, 20}, {});
  const auto sum = fold("Add", {column, integers({1, 2, 3})});
  ASSERT_TRUE(sum);
  EXPECT_EQ(sum->shape, (Shape{2, 3}));
  EXPECT_EQ(sum->numbers->integers, (Integers{11, 12, 13, 21, 22, 23}));
}

TEST(OnnxFolding, RefusesIntegersThatOverflowOrAreDividedByZero) {
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max(),
                         least = std::numeric_limits<std::int64_t>::min();
  EXPECT_THROW(fold("Add", {scalar(most), scalar(1)}), FormatError);
  EXPECT_THROW(fold("Mul", {scalar(most), scalar(2)}), FormatError);
  EXPECT_THROW(fold("Div", {scalar(1), scalar(0)}), FormatError);
  EXPECT_THROW(fold("Div", {scalar(least), scalar(-1)}), FormatError);
  EXPECT_THROW(fold("Mod", {scalar(1), scalar(0)}), FormatError);
  EXPECT_EQ(result("Mod", {scalar(least), scalar(-1)}), (Integers{0}));
  EXPECT_THROW(fold("ReduceProd", {integers({most, 2})}), FormatError);
}

TEST(OnnxFolding, ComputesWithRealsAndCutsThemToIntegers) {
  EXPECT_EQ(fold("Pow", {reals({2, 3}), reals({3, 2})})->numbers->reals, (Reals{8, 9}));
  EXPECT_EQ(fold("Sqrt", {reals({9, 16})})->numbers->reals, (Reals{3, 4}));
  EXPECT_EQ(fold("Floor", {reals({1.5, -1.5})})->numbers->reals, (Reals{1, -2}));
  EXPECT_EQ(fold("Ceil", {reals({1.5, -1.5})})->numbers->reals, (Reals{2, -1}));
  EXPECT_EQ(result("Pow", {integers({2}), integers({3})}), (Integers{8}));
  onnx::NodeProto cast = node_of("Cast");
  set(cast, "to", TensorProto::INT64);
  const double infinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(fold(cast, {reals({2.75, -2.75, infinity, std::nan("")})})->numbers->integers,
            (Integers{2, -2, 9'200'000'000'000'000'000, 0}));
  EXPECT_EQ(result("Mul", {scalar(2), value_of({}, TensorProto::FLOAT, {}, {infinity})}),
            (Integers{9'200'000'000'000'000'000}));
  onnx::NodeProto truth = node_of("Cast");
  set(truth, "to", TensorProto::BOOL);
  EXPECT_EQ(fold(truth, {reals({0.5, 0})})->numbers->integers, (Integers{1, 0}));
}

TEST(OnnxFolding, TakesShapesApartAndPutsThemTogether) {
  onnx::NodeProto shape = node_of("Shape");
  set(shape, "start", -2);
  EXPECT_EQ(fold(shape, {value_of({2, 3, 5}, TensorProto::FLOAT, {}, {})})->numbers->integers, (Integers{3, 5}));
  EXPECT_EQ(result("Size", {value_of({2, 3, 5}, TensorProto::FLOAT, {}, {})}), (Integers{30}));
  const OnnxValue four = integers({4, 5, 6, 7});
  EXPECT_EQ(result("Gather", {four, integers({-1, 0})}), (Integers{7, 4}));
  EXPECT_THROW(fold("Gather", {four, integers({4})}), FormatError);
  EXPECT_EQ(result("Concat", {four, integers({1})}), (Integers{4, 5, 6, 7, 1}));
  EXPECT_EQ(result("Slice", {four, integers({1}), integers({-1})}), (Integers{5, 6}));
  EXPECT_EQ(result("Slice", {four, integers({-1}), integers({std::numeric_limits<std::int64_t>::min()}), integers({0}),
                             integers({-2})}),
            (Integers{7, 5}));
  EXPECT_THROW(fold("Slice", {four, integers({0}), integers({4}), integers({0}), integers({0})}), FormatError);
  EXPECT_EQ(result("ReduceProd", {four}), (Integers{840}));
  EXPECT_EQ(fold("Unsqueeze", {four, integers({0, -1})})->shape, (Shape{1, 4, 1}));
  EXPECT_THROW(fold("Unsqueeze", {four, integers({5})}), FormatError);
  EXPECT_EQ(fold("Squeeze", {value_of({1, 4, 1}, TensorProto::INT64, {4, 5, 6, 7}, {})})->shape, (Shape{4}));
}

TEST(OnnxFolding, ReshapesWhatFits) {
  const OnnxValue six = integers({1, 2, 3, 4, 5, 6});
  EXPECT_EQ(fold("Reshape", {six, integers({2, -1})})->shape, (Shape{2, 3}));
  EXPECT_EQ(fold("Reshape", {six, integers({0, 1})})->shape, (Shape{6, 1}));
  EXPECT_FALSE(fold("Reshape", {six, integers({4, -1})}));
  EXPECT_FALSE(fold("Reshape", {six, integers({-1, -1})}));
  EXPECT_FALSE(fold("Reshape", {six, integers({1'000'000, 1'000'000})}));
}

TEST(OnnxFolding, FillsExpandsCountsAndChooses) {
  onnx::NodeProto fill = node_of("ConstantOfShape");
  onnx::AttributeProto& value = *fill.add_attribute();
  value.set_name("value");
  value.set_type(onnx::AttributeProto::TENSOR);
  value.mutable_t()->set_data_type(TensorProto::INT64);
  value.mutable_t()->add_dims(1);
  value.mutable_t()->add_int64_data(7);
  EXPECT_EQ(fold(fill, {integers({3})})->numbers->integers, (Integers{7, 7, 7}));
  EXPECT_EQ(fold("ConstantOfShape", {integers({2})})->numbers->reals, (Reals{0, 0}));
  EXPECT_FALSE(fold("ConstantOfShape", {integers({1'000'000})}));
  EXPECT_EQ(fold("Expand", {scalar(5), integers({2, 2})})->numbers->integers, (Integers{5, 5, 5, 5}));
  EXPECT_EQ(result("Expand", {integers({1, 2}), integers({2, 2})}), (Integers{1, 2, 1, 2}));
  EXPECT_EQ(result("Range", {scalar(1), scalar(8), scalar(3)}), (Integers{1, 4, 7}));
  EXPECT_EQ(result("Range", {scalar(3), scalar(0), scalar(-2)}), (Integers{3, 1}));
  EXPECT_FALSE(fold("Range", {scalar(0), scalar(1'000'000), scalar(1)}));
  EXPECT_THROW(fold("Range", {scalar(0), scalar(4), scalar(0)}), FormatError);
  EXPECT_THROW(fold("Range", {integers({}), scalar(4), scalar(1)}), FormatError);
  EXPECT_EQ(result("Where", {integers({1, 0}), integers({5}), integers({6, 7})}), (Integers{5, 7}));
  EXPECT_FALSE(fold("Where", {integers({1, 0}), integers({5}), reals({6, 7})}));
}

TEST(OnnxFolding, LeavesTheSumsOfAnEmptyTensorThatAreMoreThanFew) {
  OnnxValue empty = integers({});
  empty.shape = empty.stored = {0, 2'000'000'000};
  EXPECT_FALSE(fold("ReduceSum", {empty, integers({0})}));
}

TEST(OnnxFolding, JoinsEmptyTensorsOfManyRowsAtOnce) {
  const std::optional<OnnxValue> empty = fold("ConstantOfShape", {integers({2147483647, 32, 0})});
  ASSERT_TRUE(empty && empty->numbers);
  onnx::NodeProto join = node_of("Concat");
  set(join, "axis", 2);
  const std::optional<OnnxValue> joined = fold(join, {*empty, *empty});
  ASSERT_TRUE(joined && joined->numbers);
  EXPECT_EQ(joined->shape, (Shape{2147483647, 32, 0}));
  EXPECT_EQ(joined->numbers->size(), 0U);
}

TEST(OnnxFolding, LeavesWhatIsNoneOfThatOrIsNotKnown) {
  OnnxValue computed = integers({1});
  computed.constant = false;
  EXPECT_FALSE(fold("Add", {computed, integers({1})}));
  EXPECT_FALSE(fold("Add", {integers({1})}));
  EXPECT_FALSE(fold("Conv", {integers({1})}));
  onnx::NodeProto two = node_of("Add");
  two.add_output("z");
  EXPECT_FALSE(fold(two, {integers({1}), integers({1})}));
}

TEST(OnnxFolding, ComputesWithSeveralTensorsAndWithBounds) {
  const OnnxValue some = integers({7, -7, 6});
  EXPECT_EQ(result("Min", {some, scalar(5), integers({4, 0, 6})}), (Integers{4, -7, 5}));
  EXPECT_EQ(result("Max", {some, scalar(5), integers({4, 0, 9})}), (Integers{7, 5, 9}));
  EXPECT_EQ(result("Sum", {some, scalar(1), scalar(2)}), (Integers{10, -4, 9}));
  EXPECT_EQ(result("Clip", {some, scalar(0), scalar(6)}), (Integers{6, 0, 6}));
  EXPECT_EQ(result("Sign", {integers({7, -7, 0})}), (Integers{1, -1, 0}));
  EXPECT_EQ(result("ReduceMean", {integers({7, 2, 6})}), (Integers{5}));
  const OnnxValue low = scalar(0);
  const auto open = folded({node_of("Clip"), {&some, &low, nullptr}});
  ASSERT_TRUE(open);
  EXPECT_EQ(open->front().numbers->integers, (Integers{7, 0, 6}));
  onnx::NodeProto old = node_of("Clip");  // bounds were attributes until opset 10
  set(old, "min", 0);
  EXPECT_FALSE(fold(old, {some}));
}

}  // namespace
}  // namespace tenshot::nasbench
