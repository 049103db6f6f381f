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

OnnxValue value_of(const Shape& shape, int element, const Integers& integers, const Reals& reals) {
  OnnxValue value = unknown_constant(shape, element);
  value.numbers =
      is_integer(element) ? Numbers{{integers.begin(), integers.end()}} : Numbers{{reals.begin(), reals.end()}};
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

Integers integers_of(const std::optional<OnnxValue>& value) {
  EXPECT_TRUE(value && value->numbers);
  return value ? whole_numbers(*value) : Integers{};
}
Reals reals_of(const std::optional<OnnxValue>& value) {
  EXPECT_TRUE(value && value->numbers);
  return value ? Reals{value->numbers->values.begin(), value->numbers->values.end()} : Reals{};
}

/// The integers that a node of integers gives.
Integers result(const std::string& type, const std::vector<OnnxValue>& inputs) {
  return integers_of(fold(type, inputs));
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

TEST(OnnxFolding, ARemainderHasTheSignOfTheDividendWhereItIsAskedFor) {
  const OnnxValue left = integers({7, -7, -8}), right = integers({4, 4, -3});
  EXPECT_EQ(result("Mod", {left, right}), (Integers{3, 1, -2}));
  onnx::NodeProto node = node_of("Mod");
  set(node, "fmod", 1);
  EXPECT_EQ(integers_of(fold(node, {left, right})), (Integers{3, -3, -2}));
  EXPECT_THROW(fold(node, {scalar(1), scalar(0)}), FormatError);
  EXPECT_EQ(reals_of(fold(node, {reals({-5.5}), reals({4})})), (Reals{-1.5}));
}

TEST(OnnxFolding, KeepsIntegersOf64BitsExactly) {
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(result("Sub", {scalar(most), scalar(1)}), (Integers{most - 1}));
  EXPECT_EQ(result("Div", {scalar(most), scalar(1)}), (Integers{most}));
  EXPECT_EQ(result("Div", {scalar(most), scalar(most - 1)}), (Integers{1}));
  EXPECT_EQ(result("Div", {scalar(most - 1), scalar(most)}), (Integers{0}));
  EXPECT_EQ(result("Mod", {scalar(most), scalar(10)}), (Integers{7}));
}

TEST(OnnxFolding, BroadcastsAsArraysDo) {
  const OnnxValue column = value_of({2, 1}, TensorProto::INT64, {10, 20}, {});
  const auto sum = fold("Add", {column, integers({1, 2, 3})});
  ASSERT_TRUE(sum);
  EXPECT_EQ(sum->shape, (Shape{2, 3}));
  EXPECT_EQ(integers_of(sum), (Integers{11, 12, 13, 21, 22, 23}));
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
  EXPECT_EQ(reals_of(fold("Pow", {reals({2, 3}), reals({3, 2})})), (Reals{8, 9}));
  EXPECT_EQ(reals_of(fold("Sqrt", {reals({9, 16})})), (Reals{3, 4}));
  EXPECT_EQ(reals_of(fold("Floor", {reals({1.5, -1.5})})), (Reals{1, -2}));
  EXPECT_EQ(reals_of(fold("Ceil", {reals({1.5, -1.5})})), (Reals{2, -1}));
  EXPECT_EQ(result("Pow", {integers({2}), integers({3})}), (Integers{8}));
  onnx::NodeProto cast = node_of("Cast");
  set(cast, "to", TensorProto::INT64);
  const double infinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(integers_of(fold(cast, {reals({2.75, -2.75, infinity, std::nan("")})})),
            (Integers{2, -2, 9'200'000'000'000'000'000, 0}));
  EXPECT_EQ(result("Mul", {scalar(2), value_of({}, TensorProto::FLOAT, {}, {infinity})}),
            (Integers{9'200'000'000'000'000'000}));
  onnx::NodeProto truth = node_of("Cast");
  set(truth, "to", TensorProto::BOOL);
  EXPECT_EQ(integers_of(fold(truth, {reals({0.5, 0})})), (Integers{1, 0}));
}

TEST(OnnxFolding, TakesShapesApartAndPutsThemTogether) {
  onnx::NodeProto shape = node_of("Shape");
  set(shape, "start", -2);
  EXPECT_EQ(integers_of(fold(shape, {value_of({2, 3, 5}, TensorProto::FLOAT, {}, {})})), (Integers{3, 5}));
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
}

TEST(OnnxFolding, FillsExpandsCountsAndChooses) {
  onnx::NodeProto fill = node_of("ConstantOfShape");
  onnx::AttributeProto& value = *fill.add_attribute();
  value.set_name("value");
  value.set_type(onnx::AttributeProto::TENSOR);
  value.mutable_t()->set_data_type(TensorProto::INT64);
  value.mutable_t()->add_dims(1);
  value.mutable_t()->add_int64_data(7);
  EXPECT_EQ(integers_of(fold(fill, {integers({3})})), (Integers{7, 7, 7}));
  EXPECT_EQ(reals_of(fold("ConstantOfShape", {integers({2})})), (Reals{0, 0}));
  EXPECT_FALSE(fold("ConstantOfShape", {integers({1'000'000})}));
  EXPECT_EQ(integers_of(fold("Expand", {scalar(5), integers({2, 2})})), (Integers{5, 5, 5, 5}));
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

TEST(OnnxFolding, UpdatesTakeThePlaceOfNumbers) {
  const OnnxValue four = integers({4, 5, 6, 7});
  const OnnxValue places = value_of({2, 1}, TensorProto::INT64, {1, -1}, {});
  EXPECT_EQ(result("ScatterND", {four, places, integers({10, 20})}), (Integers{4, 10, 6, 20}));
  const OnnxValue matrix = value_of({2, 3}, TensorProto::INT64, {1, 2, 3, 4, 5, 6}, {});
  const OnnxValue row = value_of({1, 1}, TensorProto::INT64, {1}, {});
  EXPECT_EQ(result("ScatterND", {matrix, row, value_of({1, 3}, TensorProto::INT64, {7, 8, 9}, {})}),
            (Integers{1, 2, 3, 7, 8, 9}));
  EXPECT_EQ(result("ScatterND", {matrix, value_of({1, 2}, TensorProto::INT64, {0, 2}, {}), integers({9})}),
            (Integers{1, 2, 9, 4, 5, 6}));
  for (const char* type : {"Scatter", "ScatterElements"}) {
    EXPECT_EQ(result(type, {four, integers({0, -2}), integers({10, 20})}), (Integers{10, 5, 20, 7}));
    onnx::NodeProto along = node_of(type);
    set(along, "axis", 1);
    const OnnxValue each = value_of({2, 1}, TensorProto::INT64, {2, 0}, {});
    EXPECT_EQ(integers_of(fold(along, {matrix, each, value_of({2, 1}, TensorProto::INT64, {7, 8}, {})})),
              (Integers{1, 2, 7, 8, 5, 6}));
  }
  EXPECT_THROW(fold("ScatterND", {four, value_of({1, 1}, TensorProto::INT64, {4}, {}), integers({1})}), FormatError);
  EXPECT_THROW(fold("ScatterND", {four, places, integers({1})}), FormatError);
  EXPECT_THROW(fold("ScatterElements", {four, integers({0, 1}), integers({1})}), FormatError);
  EXPECT_FALSE(fold("ScatterND", {four, places, reals({10, 20})}));
}

TEST(OnnxFolding, ACompressKeepsWhatItsConditionSays) {
  const OnnxValue condition = value_of({3}, TensorProto::BOOL, {1, 0, 1}, {});
  EXPECT_EQ(result("Compress", {integers({4, 5, 6, 7}), condition}), (Integers{4, 6}));
  onnx::NodeProto columns = node_of("Compress");
  set(columns, "axis", 1);
  const OnnxValue matrix = value_of({2, 3}, TensorProto::INT64, {1, 2, 3, 4, 5, 6}, {});
  EXPECT_EQ(integers_of(fold(columns, {matrix, condition})), (Integers{1, 3, 4, 6}));
  EXPECT_FALSE(fold("Compress", {matrix, condition}));  // of all elements in a row
  EXPECT_THROW(fold("Compress", {integers({4}), condition}), FormatError);
}

TEST(OnnxFolding, APadPutsCopiesOfANumberAround) {
  EXPECT_EQ(result("Pad", {integers({4, 5}), integers({1, 2}), scalar(9)}), (Integers{9, 4, 5, 9, 9}));
  EXPECT_EQ(result("Pad", {integers({4, 5, 6}), integers({-1, 1})}), (Integers{5, 6, 0}));
  const OnnxValue matrix = value_of({1, 2}, TensorProto::INT64, {4, 5}, {});
  EXPECT_EQ(result("Pad", {matrix, integers({1, 0, 0, 1})}), (Integers{0, 0, 0, 4, 5, 0}));
  EXPECT_EQ(result("Pad", {matrix, integers({0, 1}), scalar(9), integers({-1})}), (Integers{4, 5, 9}));
  EXPECT_THROW(fold("Pad", {matrix, integers({0, 1})}), FormatError);
}

TEST(OnnxFolding, SumsRunAlongAnAxisFromEitherEnd) {
  const OnnxValue matrix = value_of({2, 3}, TensorProto::INT64, {1, 2, 3, 4, 5, 6}, {});
  EXPECT_EQ(result("CumSum", {matrix, scalar(1)}), (Integers{1, 3, 6, 4, 9, 15}));
  EXPECT_EQ(result("CumSum", {matrix, scalar(-2)}), (Integers{1, 2, 3, 5, 7, 9}));
  onnx::NodeProto node = node_of("CumSum");
  set(node, "exclusive", 1);
  EXPECT_EQ(integers_of(fold(node, {matrix, scalar(1)})), (Integers{0, 1, 3, 0, 4, 9}));
  set(node, "reverse", 1);
  EXPECT_EQ(integers_of(fold(node, {matrix, scalar(1)})), (Integers{5, 3, 0, 11, 6, 0}));
  EXPECT_EQ(reals_of(fold("CumSum", {reals({0.5, 0.25}), scalar(0)})), (Reals{0.5, 0.75}));
  EXPECT_THROW(fold("CumSum", {matrix, scalar(2)}), FormatError);
}

TEST(OnnxFolding, MasksMayBeLarge) {
  Integers truths(60'000, 0);
  truths[59'999] = 1;
  const OnnxValue mask = value_of({300, 200}, TensorProto::BOOL, truths, {});
  EXPECT_EQ(result("NonZero", {mask}), (Integers{299, 199}));
  const auto others = fold("Not", {mask});
  EXPECT_EQ(fold("NonZero", {*others})->shape, (Shape{2, 59'999}));
  EXPECT_FALSE(fold("Expand", {value_of({}, TensorProto::FLOAT, {}, {1}), integers({60'000})}));
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
  EXPECT_EQ(whole_numbers(open->front()), (Integers{7, 0, 6}));
  onnx::NodeProto old = node_of("Clip");  // bounds were attributes until opset 10
  set(old, "min", 0);
  EXPECT_FALSE(fold(old, {some}));
}

}  // namespace
}  // namespace tenshot::nasbench
