#include "nasbench/graph/onnx_values.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <string>
#include <vector>

namespace tenshot::nasbench {
namespace {

using onnx::TensorProto;

TensorProto tensor_of(int type, std::int64_t count) {
  TensorProto tensor;
  tensor.set_data_type(type);
  tensor.add_dims(count);
  return tensor;
}

template <class T>
TensorProto raw_tensor(int type, const std::vector<T>& values) {
  TensorProto tensor = tensor_of(type, static_cast<std::int64_t>(values.size()));
  tensor.set_raw_data(std::string(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)));
  return tensor;
}

std::vector<double> reals_of(const TensorProto& tensor) {
  const auto numbers = numbers_of(tensor);
  EXPECT_TRUE(numbers);
  return numbers ? std::vector<double>{numbers->values.begin(), numbers->values.end()} : std::vector<double>{};
}

std::vector<std::int64_t> integers_of(const TensorProto& tensor) {
  const auto numbers = numbers_of(tensor);
  EXPECT_TRUE(numbers);
  return numbers ? std::vector<std::int64_t>{numbers->values.begin(), numbers->values.end()}
                 : std::vector<std::int64_t>{};
}

TEST(OnnxValues, ReadsHalfPrecisionByHand) {
  // 1, −2, the largest half, the smallest one over zero, infinity (IEEE 754, binary16).
  const std::vector<std::uint16_t> bits = {0x3c00, 0xc000, 0x7bff, 0x0001, 0x7c00};
  const std::vector<double> expected = {1, -2, 65504, std::ldexp(1, -24), HUGE_VAL};
  EXPECT_EQ(reals_of(raw_tensor(TensorProto::FLOAT16, bits)), expected);
  TensorProto field = tensor_of(TensorProto::FLOAT16, 5);
  for (const std::uint16_t value : bits) field.add_int32_data(value);
  EXPECT_EQ(reals_of(field), expected);
  EXPECT_TRUE(std::isnan(reals_of(raw_tensor<std::uint16_t>(TensorProto::FLOAT16, {0x7e00})).at(0)));
}

TEST(OnnxValues, ReadsBrainFloatsAsTheUpperHalvesOfFloats) {
  EXPECT_EQ(reals_of(raw_tensor<std::uint16_t>(TensorProto::BFLOAT16, {0x3f80, 0xc040})), (std::vector<double>{1, -3}));
  TensorProto field = tensor_of(TensorProto::BFLOAT16, 1);
  field.add_int32_data(0x3f80);
  EXPECT_EQ(reals_of(field), (std::vector<double>{1}));
}

TEST(OnnxValues, ReadsEveryTypeRawAndByField) {
  EXPECT_EQ(reals_of(raw_tensor<double>(TensorProto::DOUBLE, {0.5, -3})), (std::vector<double>{0.5, -3}));
  TensorProto doubles = tensor_of(TensorProto::DOUBLE, 1);
  doubles.add_double_data(0.25);
  EXPECT_EQ(reals_of(doubles), (std::vector<double>{0.25}));
  TensorProto floats = tensor_of(TensorProto::FLOAT, 1);
  floats.add_float_data(0.75F);
  EXPECT_EQ(reals_of(floats), (std::vector<double>{0.75}));
  EXPECT_EQ(integers_of(raw_tensor<std::int32_t>(TensorProto::INT32, {-5, 7})), (std::vector<std::int64_t>{-5, 7}));
  EXPECT_EQ(integers_of(raw_tensor<std::int8_t>(TensorProto::INT8, {-128, 127})),
            (std::vector<std::int64_t>{-128, 127}));
  EXPECT_EQ(integers_of(raw_tensor<std::uint8_t>(TensorProto::UINT8, {0, 255})), (std::vector<std::int64_t>{0, 255}));
  EXPECT_EQ(integers_of(raw_tensor<std::uint8_t>(TensorProto::BOOL, {1})), (std::vector<std::int64_t>{1}));
  for (const int type : {TensorProto::INT32, TensorProto::INT8, TensorProto::UINT8, TensorProto::BOOL}) {
    TensorProto field = tensor_of(type, 1);
    field.add_int32_data(1);
    EXPECT_EQ(integers_of(field), (std::vector<std::int64_t>{1})) << type;
  }
}

TEST(OnnxValues, NothingIsMadeOfATensorOfAnotherSizeOrUnknownType) {
  TensorProto cut = raw_tensor<std::int64_t>(TensorProto::INT64, {1, 2});
  cut.set_raw_data(cut.raw_data().substr(0, 15));
  EXPECT_FALSE(numbers_of(cut));
  TensorProto few = tensor_of(TensorProto::FLOAT, 2);
  few.add_float_data(1);
  EXPECT_FALSE(numbers_of(few));
  EXPECT_FALSE(numbers_of(raw_tensor<std::uint32_t>(TensorProto::UINT32, {1})));
  EXPECT_FALSE(numbers_of(tensor_of(TensorProto::FLOAT, kept_numbers + 1)));
  EXPECT_FALSE(numbers_of(tensor_of(TensorProto::INT64, kept_integers + 1)));
  EXPECT_FALSE(numbers_of(tensor_of(TensorProto::INT64, -1)));
  TensorProto outside = tensor_of(TensorProto::FLOAT, 1);
  outside.set_data_location(TensorProto::EXTERNAL);
  EXPECT_FALSE(numbers_of(outside));
}

TEST(OnnxValues, WhatIsWrittenIsReadBack) {
  for (const int type :
       {TensorProto::INT64, TensorProto::INT32, TensorProto::BOOL, TensorProto::FLOAT, TensorProto::DOUBLE}) {
    OnnxValue value;
    value.constant = true;
    value.shape = value.stored = {2};
    value.element = type;
    value.numbers = Numbers{{0, 1}};
    const auto read = numbers_of(tensor_proto(value));
    ASSERT_TRUE(read) << type;
    EXPECT_EQ(read->real(0), 0) << type;
    EXPECT_EQ(read->real(1), 1) << type;
  }
}

TEST(OnnxValues, TypesAreTheNearestThatSpecificationsHave) {
  EXPECT_EQ(element_type(TensorProto::COMPLEX64), ElementType::float64);
  EXPECT_EQ(element_type(TensorProto::STRING), ElementType::uint8);
  EXPECT_EQ(element_type(TensorProto::UINT16), ElementType::int16);
  EXPECT_EQ(element_type(TensorProto::UINT64), ElementType::int64);
  EXPECT_EQ(element_type(TensorProto::BFLOAT16 + 1), ElementType::int8);  // floats of 8 bits
  EXPECT_EQ(element_type(TensorProto::UNDEFINED), ElementType::float32);
  EXPECT_EQ(bit_count(TensorProto::BFLOAT16 + 1), 8);
  EXPECT_EQ(bit_count(TensorProto::DOUBLE), 64);
  EXPECT_EQ(whole_number(std::nan("")), 0);
  EXPECT_GT(whole_number(1e300), static_cast<std::int64_t>(9e18));
}

}  // namespace
}  // namespace tenshot::nasbench
