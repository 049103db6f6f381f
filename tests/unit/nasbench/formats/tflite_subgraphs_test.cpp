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

TEST(TfliteReader, OfTwoBranchesTheOneThatComputesMoreCounts) {
  constexpr int branch = 118, fully_connected = 9, tanh = 28;
  for (const bool larger_first : {true, false}) {
    Model model;
    const int condition = model.tensor("c", {1}), x = model.tensor("x", {3, 4}), y = model.tensor("y", {3, 4});
    model.body(fully_connected, {3, 4}, {4, 4}, {3, 4});
    model.subgraph([](Model& inner) {
      const int from = inner.tensor("from", {3, 4}), to = inner.tensor("to", {3, 4});
      inner.node(tanh, {from}, {to});
      return Model::Ends{{from}, {to}};
    });
    model.node(branch, {condition, x}, {y},
               {{0, Model::whole(larger_first ? 1 : 2)}, {1, Model::whole(larger_first ? 2 : 1)}});
    const Network network = read_tflite_bytes(model.bytes({condition, x}, {y}));
    EXPECT_EQ(lines(network), std::vector<std::string>{"linear 3x4 -> 3x4 float32"});
    ASSERT_EQ(network.remarks.size(), 1U);
    EXPECT_EQ(network.remarks[0],
              "the condition of If 'y' depends on the data: the branch that computes more is counted");
  }
  Model other;
  const int condition = other.tensor("c", {1}), x = other.tensor("x", {3, 4}), y = other.tensor("y", {3, 4});
  other.body(fully_connected, {3, 4}, {4, 4}, {3, 4});
  other.body(fully_connected, {3, 4}, {8, 4}, {3, 8});
  other.node(branch, {condition, x}, {y}, {{0, Model::whole(1)}, {1, Model::whole(2)}});
  EXPECT_NE(tflite_refusal(other.bytes({condition, x}, {y})).find("its branches give 3x4 and 3x8"), std::string::npos);
}

TEST(TfliteReader, WhatIsComputedFromAState_Counts) {
  constexpr int add = 0, fully_connected = 9, handle = 142, read = 143;
  for (const bool resource : {true, false}) {
    Model model;
    const int x = model.tensor("x", {3, 4}), y = model.tensor("y", {3, 4});
    const int kept = resource ? model.tensor("kept", {3, 4}) : model.state("kept", {3, 4});
    if (resource) {
      const int variable = model.tensor("variable", {});
      model.node(handle, {}, {variable});
      model.node(read, {variable}, {kept});
    }
    const int weighed = model.tensor("weighed", {3, 4});
    model.node(fully_connected, {kept, model.weights("w", {4, 4}), -1}, {weighed});
    model.node(add, {x, weighed}, {y});
    const Network network = read_tflite_bytes(model.bytes({x}, {y}));
    EXPECT_EQ(lines(network), (std::vector<std::string>{"opaque ReadVariable  -> 3x4 float32",
                                                        "linear 3x4 -> 3x4 float32", "add 3x4 3x4 -> 3x4 float32"}))
        << resource;
    EXPECT_EQ(parameter_count(network), 4 * 4);
    EXPECT_EQ(network.inputs.size(), 1U);
  }
}

TEST(TfliteReader, FurtherSignatures_AreRemarkedOn) {
  Model model;
  const int x = model.tensor("x", {3, 4}), y = model.tensor("y", {3, 4});
  model.node(28, {x}, {y});
  EXPECT_TRUE(read_tflite_bytes(model.bytes({x}, {y}, nullptr, 0, 1)).remarks.empty());
  const Network network = read_tflite_bytes(model.bytes({x}, {y}, nullptr, 0, 2));
  ASSERT_EQ(network.remarks.size(), 1U);
  EXPECT_NE(network.remarks[0].find("it has several signatures"), std::string::npos);
}

/// x is weighed by the same matrix while i, which begins with 0 or is an input, is less than `limit`; it counts in
/// steps of 2.
std::string loop(std::int32_t limit, bool known) {
  constexpr int add = 0, fully_connected = 9, less = 58, loop = 119;
  Model model;
  const int first = known ? model.number("i", 0) : model.tensor("i", {}, Model::int32);
  const int x = model.tensor("x", {3, 4}), last = model.tensor("last", {}, Model::int32);
  const int y = model.tensor("y", {3, 4});
  model.subgraph([&](Model& inner) {
    const int i = inner.tensor("i", {}, Model::int32), state = inner.tensor("state", {3, 4});
    const int goes_on = inner.tensor("goes_on", {});
    inner.node(less, {i, inner.number("limit", limit)}, {goes_on});
    return Model::Ends{{i, state}, {goes_on}};
  });
  model.subgraph([&](Model& inner) {
    const int i = inner.tensor("i", {}, Model::int32), state = inner.tensor("state", {3, 4});
    const int next = inner.tensor("next", {}, Model::int32), weighed = inner.tensor("weighed", {3, 4});
    inner.node(fully_connected, {state, inner.weights("w", {4, 4}), -1}, {weighed});
    inner.node(add, {i, inner.number("step", 2)}, {next});
    return Model::Ends{{i, state}, {next, weighed}};
  });
  model.node(loop, {first, x}, {last, y}, {{0, Model::whole(1)}, {1, Model::whole(2)}});
  return known ? model.bytes({x}, {y}) : model.bytes({first, x}, {y});
}

TEST(TfliteReader, ALoopThatCountsRunsThatOften_WithOneMatrix) {
  for (const std::int32_t limit : {1, 2, 9}) {
    const std::int64_t runs = (limit + 1) / 2;
    const Network network = read_tflite_bytes(loop(limit, true));
    EXPECT_EQ(multiply_adds(network), runs * 3 * 4 * 4) << limit;
    EXPECT_EQ(parameter_count(network), 4 * 4) << limit;
    EXPECT_TRUE(network.remarks.empty());
  }
  EXPECT_TRUE(read_tflite_bytes(loop(0, true)).nodes.empty());
  const Network open = read_tflite_bytes(loop(9, false));
  EXPECT_EQ(multiply_adds(open), 3 * 4 * 4);
  ASSERT_EQ(open.remarks.size(), 1U);
  EXPECT_NE(open.remarks[0].find("the data say how often While 'last' runs: one iteration is counted"),
            std::string::npos)
      << open.remarks[0];
  Model other;
  const int from = other.tensor("from", {1, 8}), to = other.tensor("to", {1, 8});
  other.node(119, {from}, {to}, {{0, Model::whole(1)}, {1, Model::whole(2)}});
  EXPECT_NE(tflite_refusal(other.bytes({from}, {to})).find("there is no subgraph 1"), std::string::npos);
}

TEST(TfliteReader, WhatALoopCounts_IsMadeOfItsStepAlone) {
  const Network network = read_tflite_bytes(loop(2000, true));
  EXPECT_EQ(network.nodes.size(), 1000U);
  Model model;
  const int x = model.tensor("x", {3, 4}), y = model.tensor("y", {3, 4}), step = model.weights("step", {4, 4});
  int sum = step;
  for (int i = 0; i < 3; ++i) {
    const int next = model.tensor("next", {4, 4});
    model.node(0, {sum, step}, {next});
    sum = next;
  }
  model.node(9, {x, sum, -1}, {y});
  const Network weighed = read_tflite_bytes(model.bytes({x}, {y}));
  ASSERT_EQ(weighed.nodes.size(), 1U);
  EXPECT_EQ(weighed.nodes[0].stored.size(), 1U);
}

TEST(TfliteReader, WeightsTakeTheBitsThatTheFileStoresThemIn_AndSharedOnesCountOnce) {
  constexpr int fully_connected = 9, dequantize = 6;
  for (const auto& [type, bits] : std::vector<std::pair<Model::Type, int>>{
           {Model::int8, 8}, {Model::float16, 16}, {Model::int4, 4}, {Model::int2, 2}, {Model::uint4, 4}}) {
    Model model;
    const int x = model.tensor("x", {3, 4}), y = model.tensor("y", {3, 4}), z = model.tensor("z", {3, 4});
    int weights = model.weights("w", {4, 4}, type);
    if (type == Model::float16) {
      const int real = model.tensor("real", {4, 4});
      model.node(dequantize, {weights}, {real});
      weights = real;
    }
    model.node(fully_connected, {x, weights, -1}, {y});
    model.node(fully_connected, {y, weights, -1}, {z});
    const Network network = read_tflite_bytes(model.bytes({x}, {z}));
    EXPECT_EQ(lines(network),
              (std::vector<std::string>(2, "linear 3x4 -> 3x4 weights of " + std::to_string(bits) + " bits float32")));
    EXPECT_EQ(parameter_count(network), 4 * 4);
    EXPECT_EQ(weight_bytes(network.nodes[0].operation), 4 * 4 * bits / 8);
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

TEST(TfliteReader, LayersWithAState_CountTheirProducts) {
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

TEST(TfliteReader, LayersWithGates_CountTheirProducts) {
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

TEST(TfliteReader, BiasesOfRecurrentLayersInBytes_AreParameters) {
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
