#include <gtest/gtest.h>

#include <functional>
#include <initializer_list>

#include "tests/unit/nasbench/formats/crafted_tflite.h"

// Operators of TensorFlow Lite that run other subgraphs, and layers that keep a state.

namespace tenshot::nasbench {
namespace {

using Model = TfliteModel;

TEST(TfliteReader, ACallAndACompositeOperator_AreWhatTheirSubgraphsCompute) {
  constexpr int call = 31, composite = 206, fully_connected = 9;
  for (const int code : {call, composite}) {
    Model model;
    model.body(fully_connected, {3, 4}, {4, 4}, {3, 4});
    const int x = model.tensor("x", {3, 4}), y = model.tensor("y", {3, 4}), z = model.tensor("z", {3, 4});
    const std::map<int, FlatPart::Field> options = {{code == call ? 0 : 1, Model::whole(1)}};
    model.node(code, {x}, {y}, options);
    model.node(code, {y}, {z}, options);
    const Network network = read_tflite_bytes(model.bytes({x}, {z}));
    EXPECT_EQ(lines(network), (std::vector<std::string>(2, "linear 3x4 -> 3x4 float32"))) << code;
    EXPECT_EQ(multiply_adds(network), 2 * 3 * 4 * 4);
    EXPECT_TRUE(network.remarks.empty());
  }
  Model other;
  const int from = other.tensor("from", {3, 4}), to = other.tensor("to", {3, 4});
  other.body(call, {3, 4}, {4, 4}, {3, 4}, {{0, Model::whole(1)}});
  other.node(call, {from, from, from}, {to}, {{0, Model::whole(1)}});
  EXPECT_NE(tflite_refusal(other.bytes({from}, {to})).find("different inputs"), std::string::npos);
}

TEST(TfliteReader, SubgraphsThatCallEachOtherWithoutEnd_AreRefused) {
  constexpr int call = 31;
  Model model;
  const int from = model.tensor("from", {3, 4}), to = model.tensor("to", {3, 4});
  model.self_calling_body({3, 4});
  model.node(call, {from}, {to}, {{0, Model::whole(1)}});
  EXPECT_NE(tflite_refusal(model.bytes({from}, {to})).find("nested more than 16 deep"), std::string::npos);
}

TEST(TfliteReader, WhatABranchComputes_IsRemarked) {
  constexpr int branch = 118, fully_connected = 9;
  Model model;
  const int condition = model.tensor("c", {1}), x = model.tensor("x", {3, 4}), y = model.tensor("y", {3, 4});
  model.body(fully_connected, {3, 4}, {4, 4}, {3, 4});
  model.node(branch, {condition, x}, {y}, {{0, Model::whole(1)}, {1, Model::whole(1)}});
  const Network network = read_tflite_bytes(model.bytes({condition, x}, {y}));
  ASSERT_EQ(network.remarks.size(), 1U);
  EXPECT_NE(network.remarks[0].find("what the subgraphs of If 'y' compute is not counted"), std::string::npos);
}

TEST(TfliteReader, LayersWithAState_CountTheirProducts) {
  const auto weights = [](Model& model, std::initializer_list<std::vector<std::int32_t>> shapes) {
    std::vector<std::int32_t> inputs;
    for (const std::vector<std::int32_t>& shape : shapes) inputs.push_back(model.weights("w", shape));
    return inputs;
  };
  const auto products = [&](int code, const std::vector<std::int32_t>& in, const std::vector<std::int32_t>& out,
                            const std::function<std::vector<std::int32_t>(Model&)>& others,
                            const std::map<int, FlatPart::Field>& options = {}) {
    Model model;
    const int x = model.tensor("x", in), y = model.tensor("y", out);
    std::vector<std::int32_t> inputs = others(model);
    inputs.insert(inputs.begin(), x);
    model.node(code, inputs, {y}, options);
    return multiply_adds(read_tflite_bytes(model.bytes({x}, {y})));
  };
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
}

}  // namespace
}  // namespace tenshot::nasbench
