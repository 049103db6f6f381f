#include <gtest/gtest.h>

#include "tests/unit/nasbench/formats/crafted_tflite.h"

// Operators of TensorFlow Lite that run other subgraphs, and states.

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

/// The condition and the step of a loop over i: "i COMPARISON limit", or the other way round, and i + step or i - step.
struct Counting {
  std::int32_t first = 0, limit = 0;
  int comparison = 58;  ///< BuiltinOperator: less, 61 greater, 62 greater or equal, 63 less or equal
  bool limit_first = false;
  int count = 0;  ///< BuiltinOperator: add, 41 subtract
};

/// x is weighed by the same matrix while the condition on i, which is known or an input, holds; it counts in steps
/// of 2.
std::string loop(const Counting& counting, bool known) {
  constexpr int fully_connected = 9, loop = 119;
  Model model;
  const int first = known ? model.number("i", counting.first) : model.tensor("i", {}, Model::int32);
  const int x = model.tensor("x", {3, 4}), last = model.tensor("last", {}, Model::int32);
  const int y = model.tensor("y", {3, 4});
  model.subgraph([&](Model& inner) {
    const int i = inner.tensor("i", {}, Model::int32), state = inner.tensor("state", {3, 4});
    const int goes_on = inner.tensor("goes_on", {});
    const int limit = inner.number("limit", counting.limit);
    inner.node(counting.comparison, {counting.limit_first ? limit : i, counting.limit_first ? i : limit}, {goes_on});
    return Model::Ends{{i, state}, {goes_on}};
  });
  model.subgraph([&](Model& inner) {
    const int i = inner.tensor("i", {}, Model::int32), state = inner.tensor("state", {3, 4});
    const int next = inner.tensor("next", {}, Model::int32), weighed = inner.tensor("weighed", {3, 4});
    inner.node(fully_connected, {state, inner.weights("w", {4, 4}), -1}, {weighed});
    inner.node(counting.count, {i, inner.number("step", 2)}, {next});
    return Model::Ends{{i, state}, {next, weighed}};
  });
  model.node(loop, {first, x}, {last, y}, {{0, Model::whole(1)}, {1, Model::whole(2)}});
  return known ? model.bytes({x}, {y}) : model.bytes({first, x}, {y});
}

std::string loop(std::int32_t limit, bool known) { return loop(Counting{0, limit}, known); }

TEST(TfliteReader, ALoopMayCompareAndCountInAnyWay) {
  constexpr int less = 58, greater = 61, greater_equal = 62, less_equal = 63, add = 0, subtract = 41;
  for (const auto& [counting, runs] : std::vector<std::pair<Counting, int>>{{{0, 8, less, false, add}, 4},
                                                                            {{0, 8, less_equal, false, add}, 5},
                                                                            {{0, 8, greater, true, add}, 4},
                                                                            {{0, 8, greater_equal, true, add}, 5},
                                                                            {{9, 1, greater, false, subtract}, 4},
                                                                            {{9, 1, greater_equal, false, subtract}, 5},
                                                                            {{9, 1, less_equal, true, subtract}, 5},
                                                                            {{9, 10, greater, false, subtract}, 0}}) {
    const Network network = read_tflite_bytes(loop(counting, true));
    EXPECT_EQ(multiply_adds(network), runs * 3 * 4 * 4) << counting.comparison << " " << counting.first;
    EXPECT_TRUE(network.remarks.empty()) << counting.comparison;
  }
  const Network endless = read_tflite_bytes(loop({9, 1, greater, false, add}, true));
  EXPECT_EQ(endless.remarks.size(), 1U) << "no number of runs can be said";
  EXPECT_EQ(multiply_adds(endless), 3 * 4 * 4);
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

}  // namespace
}  // namespace tenshot::nasbench
