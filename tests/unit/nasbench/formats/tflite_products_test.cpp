#include <gtest/gtest.h>

#include <functional>
#include <initializer_list>

#include "tests/unit/nasbench/formats/crafted_tflite.h"

// Products of TensorFlow Lite with constants on either side, and layers that keep a state.

namespace tenshot::nasbench {
namespace {

using Model = TfliteModel;

constexpr int batch_matmul = 126, two_way_lstm = 52, two_way_rnn = 46;

/// BATCH_MATMUL of a constant, left or right, and x, each of which may be transposed.
Network product(const std::vector<std::int32_t>& left, const std::vector<std::int32_t>& right, bool constant_left,
                bool transposed_left, bool transposed_right, const std::vector<std::int32_t>& output) {
  Model model;
  const int x = model.tensor("x", constant_left ? right : left), y = model.tensor("y", output);
  const int w = model.weights("w", constant_left ? left : right);
  model.node(batch_matmul, constant_left ? std::vector<std::int32_t>{w, x} : std::vector<std::int32_t>{x, w}, {y},
             {{0, Model::small(transposed_left ? 1 : 0)}, {1, Model::small(transposed_right ? 1 : 0)}});
  return read_tflite_bytes(model.bytes({x}, {y}));
}

TEST(TfliteProducts, AConstantLeftFactor_MultipliesAsItStandsOrTransposed) {
  for (const bool transposed : {false, true}) {
    const std::vector<std::int32_t> right =
        transposed ? std::vector<std::int32_t>{3, 5, 6} : std::vector<std::int32_t>{3, 6, 5};
    const Network plain = product({4, 6}, right, true, false, transposed, {3, 4, 5});
    EXPECT_EQ(multiply_adds(plain), 3 * 4 * 5 * 6) << transposed;
    const Network turned = product({6, 4}, right, true, true, transposed, {3, 4, 5});
    EXPECT_EQ(multiply_adds(turned), 3 * 4 * 5 * 6) << transposed;
    EXPECT_EQ(parameter_count(turned), 4 * 6);
    EXPECT_EQ(lines(turned).back(), "opaque MatMul 3x6x5 -> 3x4x5 constant 4x6 float32");
  }
}

TEST(TfliteProducts, SeveralConstantMatrices_MultiplyATransposedFactor) {
  const Network network = product({3, 6, 4}, {3, 6, 5}, false, true, false, {3, 4, 5});
  EXPECT_EQ(lines(network), (std::vector<std::string>{"transpose 3x6x4 -> 3x4x6 float32",
                                                      "opaque MatMul 3x4x6 -> 3x4x5 constant 3x6x5 float32"}));
  EXPECT_EQ(multiply_adds(network), 3 * 4 * 5 * 6);
  EXPECT_EQ(multiply_adds(product({3, 4, 6}, {3, 5, 6}, false, false, true, {3, 4, 5})), 3 * 4 * 5 * 6);
}

/// A layer of two directions, 5 steps, 16 numbers each and 8 units, with an auxiliary input of 6 numbers, weighed or
/// not.
Network two_way(int code, bool weighed) {
  const bool lstm = code == two_way_lstm;
  const std::size_t gates = lstm ? 4 : 1, direction = lstm ? 17 : 4, auxiliary = lstm ? 39 : 9;
  Model model;
  const std::int32_t width = weighed ? 6 : 16;
  const int x = model.tensor("x", {2, 5, 16}), other = model.tensor("other", {2, 5, width});
  const int y = model.tensor("y", {2, 5, 16});
  std::vector<std::int32_t> inputs(auxiliary + 1 + 2 * gates, -1);
  for (const std::size_t first : {std::size_t{1}, 1 + direction}) {
    for (std::size_t i = first; i < first + gates; ++i) {
      inputs[i] = model.weights("w", {8, 16});
      inputs[i + gates] = model.weights("r", {8, 8});
    }
  }
  for (std::size_t i = auxiliary + 1; weighed && i < inputs.size(); ++i) inputs[i] = model.weights("a", {8, 6});
  inputs[0] = x;
  inputs[auxiliary] = other;
  model.node(code, inputs, {y});
  return read_tflite_bytes(model.bytes({x, other}, {y}));
}

TEST(TfliteProducts, AnAuxiliaryInput_IsWeighedBesideTheInput) {
  for (const auto& [code, gates] : {std::pair(two_way_rnn, 1), std::pair(two_way_lstm, 4)}) {
    const Network weighed = two_way(code, true), alone = two_way(code, false);
    EXPECT_EQ(parameter_count(weighed), 2 * gates * 8 * (16 + 6 + 8)) << code;
    EXPECT_EQ(multiply_adds(weighed), 2 * 2 * 5 * gates * 8 * (16 + 6 + 8)) << code;
    EXPECT_EQ(weighed.nodes.at(0).inputs.size(), 2U) << "it reads both";
    EXPECT_EQ(multiply_adds(alone), 2 * 2 * 5 * gates * 8 * (16 + 8)) << "the direction back reads it in place of x";
    EXPECT_EQ(alone.nodes.at(0).inputs.size(), 2U);
  }
}

std::vector<std::int32_t> weights(Model& model, std::initializer_list<std::vector<std::int32_t>> shapes) {
  std::vector<std::int32_t> inputs;
  for (const std::vector<std::int32_t>& shape : shapes) inputs.push_back(model.weights("w", shape));
  return inputs;
}

/// The products of a layer whose inputs are one of shape `in` and what `others` adds.
std::int64_t products(int code, const std::vector<std::int32_t>& in, const std::vector<std::int32_t>& out,
                      const std::function<std::vector<std::int32_t>(Model&)>& others,
                      const std::map<int, FlatPart::Field>& options = {}) {
  Model model;
  const int x = model.tensor("x", in), y = model.tensor("y", out);
  std::vector<std::int32_t> inputs = others(model);
  inputs.insert(inputs.begin(), x);
  model.node(code, inputs, {y}, options);
  return multiply_adds(read_tflite_bytes(model.bytes({x}, {y})));
}

TEST(TfliteProducts, LayersWithAState_CountTheirProducts) {
  EXPECT_EQ(products(27, {1, 16}, {1, 8},
                     [&](Model& m) {
                       return weights(m, {{16, 16}, {16, 10}, {8}});
                     }),
            16 * 16 + 16 * 10)
      << "SVDF: features, then time";
  EXPECT_EQ(products(24, {2, 16}, {2, 8},
                     [&](Model& m) {
                       return weights(m, {{8, 16}, {8, 8}, {8}});
                     }),
            2 * 8 * (16 + 8))
      << "one step";
  EXPECT_EQ(products(46, {2, 5, 16}, {2, 5, 16},
                     [&](Model& m) {
                       return weights(m, {{8, 16}, {8, 8}, {8}, {2, 8}, {8, 16}, {8, 8}, {8}, {2, 8}});
                     }),
            2 * 10 * 8 * (16 + 8))
      << "two directions";
}

TEST(TfliteProducts, LayersWithGates_CountTheirProducts) {
  const auto gates = [&](Model& m) {
    return weights(m, {{8, 16}, {8, 16}, {8, 16}, {8, 16}, {8, 8}, {8, 8}, {8, 8}, {8, 8}});
  };
  EXPECT_EQ(products(16, {2, 16}, {2, 8}, gates), 2 * 32 * (16 + 8));
  const auto twice = [&](Model& m) {
    std::vector<std::int32_t> inputs = gates(m);
    inputs.resize(17, -1);
    const std::vector<std::int32_t> back = gates(m);
    inputs.insert(inputs.end(), back.begin(), back.end());
    return inputs;
  };
  EXPECT_EQ(products(52, {2, 5, 16}, {2, 5, 16}, twice), 2 * 10 * 32 * (16 + 8));
  EXPECT_EQ(products(16, {2, 16}, {2, 8},
                     [&](Model& m) {
                       return weights(m, {{2, 8}, {32, 24}, {32}, {2, 8}});
                     },
                     {{3, Model::small(1)}}),
            2 * 32 * (16 + 8))
      << "the basic kernel";
  EXPECT_EQ(products(44, {1, 6, 4}, {1, 6, 3},
                     [&](Model& m) {
                       std::vector<std::int32_t> inputs = {-1};
                       const auto add = [&](int gates, const std::vector<std::int32_t>& shape) {
                         for (int i = 0; i < gates; ++i) inputs.push_back(m.weights("w", shape));
                       };
                       add(3, {5, 4});
                       inputs.push_back(-1);
                       add(3, {5, 3});
                       inputs.resize(12, -1);
                       add(3, {5});
                       add(1, {3, 5});
                       return inputs;
                     }),
            6 * (15 * (4 + 3) + 3 * 5))
      << "coupled gates and a projection";
}

TEST(TfliteProducts, ACompiledNetworkInACustomOperator_IsNamedWithItsBytes) {
  for (const std::size_t bytes : {std::size_t{5000}, std::size_t{100}}) {
    Model model;
    const int x = model.tensor("x", {1, 8, 8, 3}), y = model.tensor("y", {1, 10});
    model.node(32, {x}, {y}, {}, "edgetpu-custom-op", bytes);
    const Network network = read_tflite_bytes(model.bytes({x}, {y}));
    const std::string said = bytes == 5000 ? "they hold 100 % of the bytes of all weights, 5000 of 5000"
                                           : "the file shows no weights of theirs";
    ASSERT_EQ(network.remarks.size(), 1U) << bytes;
    EXPECT_NE(network.remarks[0].find("tflite.edgetpu-custom-op; " + said), std::string::npos) << network.remarks[0];
    EXPECT_EQ(parameter_count(network), 0) << bytes;
  }
}

TEST(TfliteProducts, RowsOfATableOfBytes_AreReadAsBytes) {
  Model model;
  const int x = model.tensor("x", {8}, Model::int32), y = model.tensor("y", {8, 32});
  model.node(7, {x, model.weights("table", {100, 32}, Model::int8)}, {y});
  const OperatorSpecification rows = read_tflite_bytes(model.bytes({x}, {y})).nodes.at(0).operation;
  EXPECT_EQ(weight_bytes(rows), 100 * 32);
  EXPECT_EQ(read_bytes(rows, weight_bytes(rows)), 8 * 32);
}

TEST(TfliteProducts, BiasesOfRecurrentLayersInBytes_AreParameters) {
  Model model;
  const int x = model.tensor("x", {1, 16}, Model::int8), y = model.tensor("y", {1, 8}, Model::int8);
  model.node(27,
             {x, model.weights("features", {16, 16}, Model::int8), model.weights("time", {16, 10}, Model::int8),
              model.weights("bias", {8}, Model::int32)},
             {y});
  const Network network = read_tflite_bytes(model.bytes({x}, {y}));
  EXPECT_EQ(parameter_count(network), 16 * 16 + 16 * 10 + 8);
}

}  // namespace
}  // namespace tenshot::nasbench
