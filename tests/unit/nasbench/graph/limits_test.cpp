#include "nasbench/graph/limits.h"

#include <gtest/gtest.h>

#include "nasbench/support/error.h"

namespace tenshot::nasbench {
namespace {

OperatorSpecification opaque(const char* name, std::vector<Shape> inputs, Shape output, std::vector<Shape> constants) {
  OperatorSpecification operation;
  operation.name = name;
  operation.inputs = std::move(inputs);
  operation.output = std::move(output);
  operation.constants = std::move(constants);
  return operation;
}

TEST(Limits, ATensorHasPositiveDimensionsThatCanBeMeant) {
  EXPECT_NO_THROW(require_tensor_size({1, 2147483647}));
  EXPECT_NO_THROW(require_tensor_size({}));
  EXPECT_NO_THROW(require_tensor_size({0, 3}, true));
  EXPECT_NO_THROW(require_tensor_size(Shape(64, 1)));
  for (const Shape& shape : {Shape{0, 3}, Shape{-1}, Shape{2147483648}, Shape{1 << 20, 1 << 20}, Shape(65, 1)}) {
    EXPECT_THROW(require_tensor_size(shape), FormatError) << format(shape);
  }
}

TEST(Limits, ProductsOfOpaqueOperatorsCountAsWell) {
  // 10 steps of 4 x 100 x (50 + 100) products.
  const Shape small = {1, 400, 50}, recurrent = {1, 400, 100};
  EXPECT_TRUE(is_countable(opaque("LSTM", {{10, 1, 50}}, {10, 1, 1, 100}, {small, recurrent})));
  // 10^6 steps of 8 x 10^5 x 2 x 10^5 products.
  const Shape wide = {1, 800'000, 1}, state = {1, 800'000, 80'000};
  EXPECT_FALSE(is_countable(opaque("LSTM", {{1'000'000, 1, 1}}, {1'000'000, 1, 1, 1}, {wide, state})));
  // Scores of 2^36 pairs of 2^29 numbers.
  const Shape query = {1 << 18, 1 << 18, 1}, weights = {1, 1 << 30};
  EXPECT_FALSE(is_countable(opaque("Attention", {query}, query, {weights})));
  // 2^31 x 2^31 weights, packed.
  EXPECT_FALSE(is_countable(opaque("MatMulNBits", {{1, 2147483647}}, {1, 2147483647}, {{16}})));
}

TEST(Limits, NumbersOfAllTensorsOfAnOperatorCount) {
  const Shape largest = {1 << 18, 1 << 18};  // 6.9 x 10^10 numbers
  EXPECT_TRUE(is_countable(opaque("Concat", std::vector<Shape>(1000, largest), {1}, {})));
  EXPECT_FALSE(is_countable(opaque("Concat", std::vector<Shape>(1400, largest), {1}, {})));
  EXPECT_FALSE(is_countable(opaque("Concat", {}, {1}, std::vector<Shape>(1400, largest))));
}

TEST(Limits, TheSumOverANetworkFits64Bits) {
  OperatorSpecification product;
  product.kind = OperatorKind::linear;
  product.inputs = {{30'000, 30'000}};
  product.output = {30'000, 90'000};  // 8.1 x 10^13 products
  EXPECT_NO_THROW(require_countable(product));
  EXPECT_NO_THROW(require_countable(std::vector<OperatorSpecification>(111'000, product)));
  EXPECT_THROW(require_countable(std::vector<OperatorSpecification>(112'000, product)), FormatError);
}

}  // namespace
}  // namespace tenshot::nasbench
