#include <gtest/gtest.h>

#include "nasbench/graph/operator_products.h"
#include "tests/unit/nasbench/graph/crafted_onnx.h"

// Operators that ONNX Runtime adds to ONNX's. Where its engine for processors has them, it gave the shapes.

namespace tenshot::nasbench {
namespace {

Shape output_of(const Network& network, std::size_t output = 0) {
  return tensor_type(network, network.outputs.at(output)).shape;
}

OneNode contributed(const std::string& type, const Shape& x, const std::vector<std::string>& inputs) {
  OneNode one(type, x, inputs);
  one.node->set_domain("com.microsoft");
  return one;
}

TEST(OnnxContributed, OfAMixtureOfExpertsEachTokenTakesSome) {
  OneNode experts = contributed("MoE", {10, 64}, {"x", "router", "first", "bias", "second"});
  experts.model.input("router", {10, 8}).weights("first", {8, 64, 128}).weights("bias", {8, 128});
  experts.model.weights("second", {8, 128, 64});
  set_integer(*experts.node, "k", 2);
  const Network network = read(experts.model);
  EXPECT_EQ(multiply_adds(network), 10 * 2 * 2 * 64 * 128);
  EXPECT_EQ(parameter_count(network), 8 * (2 * 64 * 128 + 128));
  EXPECT_TRUE(network.remarks.empty());
}

TEST(OnnxContributed, AByteOfQuantisedExpertsHoldsSeveralWeights) {
  struct Case {
    Shape first, second;
    std::int64_t bits;
  };
  const std::vector<Case> cases = {{{8, 128, 32}, {8, 64, 64}, 4},    // inner x hidden, 4 bits
                                   {{8, 64, 64}, {8, 128, 32}, 4},    // hidden x inner, 4 bits
                                   {{8, 128, 64}, {8, 64, 128}, 8}};  // inner x hidden, 8 bits
  for (const Case& layout : cases) {
    OneNode experts = contributed("QMoE", {10, 64}, {"x", "router", "first", "scales", "", "second", "scales"});
    experts.model.input("router", {10, 8}).weights("first", layout.first, TensorProto::UINT8);
    experts.model.weights("second", layout.second, TensorProto::UINT8).weights("scales", {8, 128});
    set_integer(*experts.node, "k", 2);
    set_integer(*experts.node, "expert_weight_bits", layout.bits);
    const Network network = read(experts.model);
    EXPECT_EQ(multiply_adds(network), 10 * 2 * 2 * 64 * 128) << format(layout.first);
    EXPECT_EQ(parameter_count(network), 8 * 2 * 64 * 128) << format(layout.first);
    EXPECT_EQ(weight_bytes(network), 8 * 2 * 64 * 128 * layout.bits / 8) << format(layout.first);
  }
}

TEST(OnnxContributed, AnyOfQueriesKeysAndValuesMayBeConstant) {
  for (const std::string constant : {"k", "v", "kv", "q", "qk", "qv"}) {
    Model model;
    model.output("y");
    std::int64_t stored = 0;
    const std::vector<std::pair<std::string, Shape>> tensors = {
        {"q", {1, 10, 64}}, {"k", {1, 20, 64}}, {"v", {1, 20, 32}}};
    for (const auto& [name, shape] : tensors) {
      const bool is_constant = constant.find(name) != std::string::npos;
      stored += is_constant ? element_count(shape) : 0;
      is_constant ? model.weights(name, shape) : model.input(name, shape);
    }
    onnx::NodeProto& node = model.node("MultiHeadAttention", {"q", "k", "v"}, {"y"});
    node.set_domain("com.microsoft");
    set_integer(node, "num_heads", 4);
    EXPECT_EQ(multiply_adds(read(model)), 10 * 20 * (64 + 32)) << constant;
    EXPECT_EQ(parameter_count(read(model)), stored) << constant;
  }
}

TEST(OnnxContributed, TheNewKeyOfADecoderGoesIntoTheBufferOfItsPast) {
  OneNode step = contributed("DecoderMaskedMultiHeadAttention", {2, 1, 64}, {"x", "k", "v", "", "", "pk", "pv"});
  step.model.input("k", {2, 1, 64}).input("v", {2, 1, 64}).input("pk", {2, 4, 16, 16}).input("pv", {2, 4, 16, 16});
  set_integer(*step.node, "num_heads", 4);
  set_integer(*step.node, "past_present_share_buffer", 1);
  EXPECT_EQ(multiply_adds(read(step.model)), 2 * 2 * 4 * 16 * 16);
  OneNode sparse = contributed("SparseAttention", {1, 4, 64}, {"x", "k", "v", "pk", "pv"});
  sparse.model.input("k", {1, 4, 32}).input("v", {1, 4, 32}).input("pk", {1, 2, 32, 16}).input("pv", {1, 2, 32, 16});
  set_integer(*sparse.node, "num_heads", 4);
  set_integer(*sparse.node, "kv_num_heads", 2);
  EXPECT_EQ(multiply_adds(read(sparse.model)), 2 * 4 * 64 * 32);
}

TEST(OnnxContributed, APastThatTheFileDeclaresAsLongAsThePresentIsABuffer) {
  OneNode grouped = contributed("GroupQueryAttention", {1, 4, 64}, {"x", "k", "v", "pk", "pv", "ends", "total"});
  grouped.model.input("k", {1, 4, 32}).input("v", {1, 4, 32}).input("pk", {1, 2, 128, 16}).input("pv", {1, 2, 128, 16});
  grouped.model.input("ends", {1}, TensorProto::INT32).weights("total", {}, TensorProto::INT32);
  set_integer(*grouped.node, "num_heads", 4);
  set_integer(*grouped.node, "kv_num_heads", 2);
  for (const char* name : {"nk", "nv"}) grouped.node->add_output(name);
  EXPECT_EQ(multiply_adds(read(grouped.model)), 2 * 4 * 64 * (128 + 4));
  for (const char* name : {"nk", "nv"}) {
    Model::declare(*grouped.model.graph().add_output(), name, {1, 2, 128, 16}, TensorProto::FLOAT);
  }
  const Network network = read(grouped.model);
  EXPECT_EQ(multiply_adds(network), 2 * 4 * 64 * 128);
  EXPECT_EQ(tensor_type(network, network.outputs.at(2)).shape, (Shape{1, 2, 128, 16}));
  EXPECT_TRUE(network.remarks.empty());
}

TEST(OnnxContributed, HowManyTokensAreNoPaddingDependsOnTheData) {
  Model model;
  model.input("x", {4, 16, 64}).input("lengths", {4}, TensorProto::INT32).output("y");
  model.weights("embedding", {64, 64}).weights("w", {64, 192}).weights("b", {192});
  model.node("MatMul", {"x", "embedding"}, {"h"});
  onnx::NodeProto& packed = model.node("RemovePadding", {"h", "lengths"}, {"tokens", "places", "ends", "longest"});
  onnx::NodeProto& attention = model.node("PackedAttention", {"tokens", "w", "b", "places", "ends"}, {"y"});
  for (onnx::NodeProto* node : {&packed, &attention}) node->set_domain("com.microsoft");
  set_integer(attention, "num_heads", 4);
  const Network network = read(model);
  EXPECT_EQ(lines(network), std::vector<std::string>{"linear 4x16x64 -> 4x16x64 float32"});
  EXPECT_NE(network.remarks.at(0).find("RemovePadding 'n_tokens' (at most 4096) depends on the data"),
            std::string::npos)
      << network.remarks[0];
}

TEST(OnnxContributed, AnAttentionOfWindowsIsSaidNotToBeCounted) {
  OneNode windows = contributed("LongformerAttention", {2, 64, 32}, {"x", "w", "b", "mask", "gw", "gb", "global"});
  windows.model.weights("w", {32, 96}).weights("b", {96}).weights("gw", {32, 96}).weights("gb", {96});
  windows.model.input("mask", {2, 64}).input("global", {2, 64}, TensorProto::INT32);
  set_integer(*windows.node, "num_heads", 4);
  const Network network = read(windows.model);
  EXPECT_EQ(output_of(network), (Shape{2, 64, 32}));
  EXPECT_EQ(parameter_count(network), 2 * (32 * 96 + 96));
  EXPECT_NE(network.remarks.at(0).find("LongformerAttention; they hold 100 % of the bytes"), std::string::npos);
}

TEST(OnnxContributed, LinearAttentionHasAStateForEachHead) {
  struct Case {
    std::int64_t heads, shared, window;
    std::string rule;
    Shape output, state;
    std::int64_t
        products;  ///< of ten tokens: the state is asked by the query and updated; of a delta rule, asked twice
  };
  const std::vector<Case> cases = {{4, 4, 0, "gated_delta", {2, 5, 32}, {2, 4, 16, 8}, 10 * 3 * 4 * 16 * 8},
                                   {4, 4, 0, "gated", {2, 5, 32}, {2, 4, 16, 8}, 10 * 2 * 4 * 16 * 8},
                                   {4, 2, 0, "delta", {2, 5, 32}, {2, 2, 16, 8}, 10 * (4 + 2 * 2) * 16 * 8},
                                   {2, 4, 3, "linear", {2, 5, 32}, {3, 2, 4, 16, 8}, 10 * 2 * 4 * 16 * 8}};
  for (const bool contributed : {true, false}) {
    for (const Case& one : cases) {
      Model model;
      model.input("q", {2, 5, one.heads * 16}).input("k", {2, 5, one.shared * 16}).input("v", {2, 5, one.shared * 8});
      model.input("decay", {2, 5, one.shared}).input("beta", {2, 5, one.shared}).output("y").output("state");
      onnx::NodeProto& node = model.node("LinearAttention", {"q", "k", "v", "", "decay", "beta"}, {"y", "state"});
      if (contributed) node.set_domain("com.microsoft");
      set_integer(node, "q_num_heads", one.heads);
      set_integer(node, "kv_num_heads", one.shared);
      set_integer(node, "state_window", one.window);
      set_text(node, "update_rule", one.rule);
      const Network network = read(model);
      EXPECT_EQ(output_of(network), one.output) << one.rule;
      EXPECT_EQ(tensor_type(network, network.outputs.at(1)).shape, one.state) << one.rule;
      EXPECT_EQ(multiply_adds(network), one.products) << one.rule;
      EXPECT_TRUE(network.remarks.empty());
    }
  }
}

TEST(OnnxContributed, AGatedDeltaNetTakesTokensByHeadAndGivesItsStatesAgain) {
  for (const bool batched : {false, true}) {
    const auto with_tokens = [&](std::int64_t heads, std::int64_t size) {
      return batched ? Shape{3, 4, heads, size} : Shape{12, heads, size};
    };
    Model model;
    model.input("q", with_tokens(2, 16)).input("k", with_tokens(2, 16)).input("v", with_tokens(6, 8));
    model.input("ends", {4}, TensorProto::INT32).input("past", {3, 6, 8, 16}).input("count", {3}, TensorProto::INT32);
    model.input("decay", batched ? Shape{3, 4, 6} : Shape{12, 6})
        .input("beta", batched ? Shape{3, 4, 6} : Shape{12, 6});
    model.weights("a_log", {6}).weights("dt_bias", {6}).output("y").output("state").output("update");
    const std::string ends = batched ? "" : "ends", past = batched ? "past" : "";
    onnx::NodeProto& node =
        model.node("GatedDeltaNet", {"q", "k", "v", ends, "decay", "beta", past, "a_log", "dt_bias", "count"},
                   {"y", "state", "update"});
    node.set_domain("com.microsoft");
    set_integer(node, "state_update_capacity", 2);
    const Network network = read(model);
    EXPECT_EQ(output_of(network), with_tokens(6, 8));
    EXPECT_EQ(tensor_type(network, network.outputs.at(1)).shape, (Shape{3, 6, 8, 16}));
    EXPECT_EQ(tensor_type(network, network.outputs.at(2)).shape, (Shape{3, 2 * (6 + 2 * 16 + 6 * 8)}));
    EXPECT_EQ(multiply_adds(network), 12 * 3 * 6 * 16 * 8);
    EXPECT_EQ(parameter_count(network), 12);
  }
}

TEST(OnnxContributed, PagedAttentionMeetsAllKeysThatItsTableHasRoomFor) {
  for (const std::string form : {"separate", "packed", "latent"}) {
    Model model;
    const bool packed = form == "packed", latent = form == "latent";
    const std::int64_t shared = latent ? 1 : 2;
    model.input("q", {7, packed ? (4 + 2 * 2) * 16 : 4 * 16}).input("k", {7, shared * 16}).input("v", {7, shared * 16});
    model.input("keys", {32, 16, shared, 16}).input("values", {32, 16, shared, 16});
    model.input("ends", {3}, TensorProto::INT32).input("past", {2}, TensorProto::INT32);
    model.input("table", {2, 5}, TensorProto::INT32).output("y").output("keys_out");
    const std::string k = packed ? "" : "k", v = packed || latent ? "" : "v", values = latent ? "" : "values";
    onnx::NodeProto& node =
        model.node("PagedAttention", {"q", k, v, "keys", values, "ends", "past", "table"}, {"y", "keys_out"});
    node.set_domain("com.microsoft");
    set_integer(node, "num_heads", 4);
    set_integer(node, "kv_num_heads", shared);
    if (latent) set_integer(node, "v_head_size", 8);
    const Network network = read(model);
    EXPECT_EQ(output_of(network), (Shape{7, latent ? 4 * 8 : 4 * 16})) << form;
    EXPECT_EQ(tensor_type(network, network.outputs.at(1)).shape, (Shape{32, 16, shared, 16})) << form;
    EXPECT_EQ(multiply_adds(network), 7 * 4 * (16 + (latent ? 8 : 16)) * 5 * 16) << form;
  }
}

TEST(OnnxContributed, AGatedDeltaNetWithoutKeysIsRefusedWithItsNameAndTheWayOut) {
  OneNode packed = contributed("GatedDeltaNet", {12, 160}, {"x"});
  packed.node->set_name("layer_0");
  expect_refusal(packed.model, {"GatedDeltaNet", "layer_0", "the shape of its output 'y' is unknown", "value_info"});
}

TEST(OnnxContributed, WhatIsNotKnownIsNamedWithTheBytesThatItsFileShows) {
  for (const std::string type : {"FoldedAttention", "EPContext"}) {
    OneNode unknown = contributed(type, {20, 64}, {"x"});
    unknown.model.value("y", {20, 64});
    const std::string compiled(5000, 'a');
    if (type == "EPContext") set_text(*unknown.node, "ep_cache_context", compiled);
    const Network network = read(unknown.model);
    const std::string said = type == "EPContext" ? "they hold 100 % of the bytes of all weights, 5000 of 5000"
                                                 : "the file shows no weights of theirs";
    ASSERT_EQ(network.remarks.size(), 1U) << type;
    EXPECT_NE(network.remarks[0].find("com.microsoft." + type + "; " + said), std::string::npos) << network.remarks[0];
    EXPECT_EQ(parameter_count(network), 0) << type;
  }
  OneNode polish("Polish", {20, 64}, {"x"});  // a tensor among the attributes
  polish.node->set_domain("some.vendor");
  polish.model.value("y", {20, 64});
  onnx::AttributeProto& weight = *polish.node->add_attribute();
  weight.set_name("weight");
  weight.mutable_t()->set_data_type(TensorProto::FLOAT);
  weight.mutable_t()->set_data_location(TensorProto::EXTERNAL);
  for (const std::int64_t extent : {64, 3}) weight.mutable_t()->add_dims(extent);
  EXPECT_EQ(parameter_count(read(polish.model)), 64 * 3);
  EXPECT_NE(read(polish.model).remarks.at(0).find("some.vendor.Polish; they hold 100 %"), std::string::npos);
}

TEST(OnnxContributed, ABiasOfPackedWeightsIsAParameterAndScalesAreNone) {
  OneNode product = contributed("MatMulNBits", {10, 128}, {"x", "w", "scales", "", "", "bias"});
  product.model.weights("w", {64, 4, 16}, TensorProto::UINT8).weights("scales", {256}).weights("bias", {64});
  for (const auto& [name, value] : {std::pair("K", 128), std::pair("N", 64), std::pair("bits", 4)}) {
    set_integer(*product.node, name, value);
  }
  EXPECT_EQ(parameter_count(read(product.model)), 128 * 64 + 64);
  OneNode rows("GatherBlockQuantized", {100, 16}, {"table", "x", "scales"});
  rows.node->set_domain("com.microsoft");
  rows.model.weights("table", {100, 16}, TensorProto::UINT8).weights("scales", {100, 1});
  rows.model.graph().mutable_input(0)->mutable_type()->mutable_tensor_type()->set_elem_type(TensorProto::INT64);
  EXPECT_EQ(parameter_count(read(rows.model)), 100 * 32);  // two numbers in a byte
  EXPECT_EQ(weight_bytes(read(rows.model)), 100 * 16);
}

TEST(OnnxContributed, NumbersAmongTheAttributesOfOthersAreTheirWeights) {
  OneNode model("LinearRegressor", {5, 16}, {"x"});
  model.node->set_domain("ai.onnx.ml");
  model.model.value("y", {5, 3});
  onnx::AttributeProto& coefficients = *model.node->add_attribute();
  coefficients.set_name("coefficients");
  for (int i = 0; i < 48; ++i) coefficients.add_floats(0.1F);
  const Network network = read(model.model);
  EXPECT_EQ(parameter_count(network), 48);
  EXPECT_NE(network.remarks.at(0).find("ai.onnx.ml.LinearRegressor; they hold 100 %"), std::string::npos);
}

TEST(OnnxContributed, AProductMayHaveItsFunctionWithIt) {
  OneNode product = contributed("GemmFastGelu", {2, 8, 64}, {"x", "w", "b"});
  product.model.weights("w", {64, 32}).weights("b", {32});
  EXPECT_EQ(lines(read(product.model)), (std::vector<std::string>{"linear bias 2x8x64 -> 2x8x32 float32",
                                                                  "activation gelu 2x8x32 -> 2x8x32 float32"}));
}

TEST(OnnxContributed, AQuickGeluOfFactorOneIsASilu) {
  OneNode swish = contributed("QuickGelu", {2, 8}, {"x"});
  set_real(*swish.node, "alpha", 1);
  EXPECT_EQ(lines(read(swish.model)), std::vector<std::string>{"activation silu 2x8 -> 2x8 float32"});
}

TEST(OnnxContributed, ThoseThatMoveNumbersHaveTheirShapes) {
  const auto shape = [](const OneNode& one) { return output_of(read(one.model)); };
  OneNode crops = contributed("CropAndResize", {1, 3, 32, 32}, {"x", "boxes", "images", "size"});
  crops.model.input("boxes", {10, 4}).input("images", {10}, TensorProto::INT32).integers("size", {7, 9});
  EXPECT_EQ(shape(crops), (Shape{10, 3, 7, 9}));
  OneNode halves = contributed("BiasSplitGelu", {2, 8, 64}, {"x", "b"});
  halves.model.weights("b", {64});
  EXPECT_EQ(shape(halves), (Shape{2, 8, 32}));
}

TEST(OnnxContributed, FrequenciesWindowsDistancesAndTablesHaveTheirShapes) {
  const auto shape = [](const OneNode& one) { return output_of(read(one.model)); };
  EXPECT_EQ(shape(contributed("Rfft", {1, 8, 10}, {"x"})), (Shape{1, 8, 6, 2}));
  EXPECT_EQ(shape(contributed("Irfft", {1, 8, 6, 2}, {"x"})), (Shape{1, 8, 10}));
  OneNode windows = contributed("UnfoldTensor", {2, 10, 3}, {"x"});
  set_integer(*windows.node, "dim", 1);
  set_integer(*windows.node, "size", 4);
  set_integer(*windows.node, "step", 3);
  EXPECT_EQ(shape(windows), (Shape{2, 3, 3, 4}));
  OneNode distances = contributed("CDist", {5, 16}, {"x", "w"});
  distances.model.weights("w", {7, 16});
  EXPECT_EQ(shape(distances), (Shape{5, 7}));
  EXPECT_EQ(multiply_adds(read(distances.model)), 5 * 7 * 16);
  OneNode rows = contributed("TorchEmbedding", {2, 3}, {"table", "x"});
  rows.model.weights("table", {100, 16});
  EXPECT_EQ(shape(rows), (Shape{2, 3, 16}));
  OneNode bias = contributed("RelativePositionBias", {32, 8}, {"x", "q", "k"});
  bias.model.integers("q", {10}).integers("k", {12});
  EXPECT_EQ(shape(bias), (Shape{1, 8, 10, 12}));
  OneNode complex = contributed("ComplexMul", {2, 8, 2}, {"x", "w"});
  complex.model.weights("w", {1, 8, 2});
  EXPECT_EQ(shape(complex), (Shape{2, 8, 2}));
}

TEST(OnnxContributed, PackedWeightsOfFourAndEightBitsOfFloats) {
  OneNode four = contributed("MatMulBlockQuantizedFp4Weight", {2, 64}, {"x", "w", "scales", "scale"});
  four.model.weights("w", {48, 32}, TensorProto::UINT8).weights("scales", {48, 4}, TensorProto::UINT8);
  four.model.scalar("scale", 1);
  const Network network = read(four.model);
  EXPECT_EQ(output_of(network), (Shape{2, 48}));
  EXPECT_EQ(multiply_adds(network), 2 * 64 * 48);
  EXPECT_EQ(weight_bytes(network), 64 * 48 / 2);
  OneNode eight = contributed("MatMulNBits", {2, 64}, {"x", "w", "scales"});
  eight.model.weights("w", {48, 2, 32}, TensorProto::UINT8).weights("scales", {96});
  set_integer(*eight.node, "K", 64);
  set_integer(*eight.node, "N", 48);
  set_integer(*eight.node, "bits", 8);
  EXPECT_EQ(parameter_count(read(eight.model)), 64 * 48);
  EXPECT_EQ(weight_bytes(read(eight.model)), 64 * 48);
}

TEST(OnnxContributed, OutputsThatFewReadHaveTheirShapesToo) {
  const auto outputs_of = [](OneNode& one, const std::vector<std::string>& more) {
    for (const std::string& name : more) one.node->add_output(name);
    one.model.output(more.back());
    return output_of(read(one.model), 1);
  };
  OneNode norm = contributed("SkipGroupNorm", {1, 8, 8, 32}, {"x", "scale", "shift", "x"});
  norm.model.weights("scale", {32}).weights("shift", {32});
  EXPECT_EQ(outputs_of(norm, {"sum"}), (Shape{1, 8, 8, 32}));
  OneNode heads = contributed("MultiHeadAttention", {2, 5, 64}, {"x", "keys", "keys"});
  heads.model.input("keys", {2, 7, 64});
  set_integer(*heads.node, "num_heads", 4);
  EXPECT_EQ(outputs_of(heads, {"", "", "scores"}), (Shape{2, 4, 5, 7}));
  OneNode grouped = contributed("GroupQueryAttention", {2, 5, 64}, {"x", "k", "k", "past", "past", "ends", "all"});
  grouped.model.input("k", {2, 5, 32}).input("past", {2, 2, 3, 16});
  grouped.model.input("ends", {2}, TensorProto::INT32).input("all", {}, TensorProto::INT32);
  grouped.model.graph().mutable_input(4)->mutable_type()->mutable_tensor_type()->mutable_shape();
  set_integer(*grouped.node, "num_heads", 4);
  set_integer(*grouped.node, "kv_num_heads", 2);
  EXPECT_EQ(outputs_of(grouped, {"", "", "scores"}), (Shape{2, 4, 5, 3 + 5}));
}

TEST(OnnxContributed, ACausalConvolutionKeepsTheLastInputsOfItsWindow) {
  OneNode convolution = contributed("CausalConvWithState", {1, 32, 10}, {"x", "w", "b", "past"});
  convolution.model.weights("w", {32, 1, 4}).weights("b", {32}).input("past", {1, 32, 3}).output("present");
  convolution.node->add_output("present");
  const Network network = read(convolution.model);
  EXPECT_EQ(output_of(network), (Shape{1, 32, 10}));
  EXPECT_EQ(output_of(network, 1), (Shape{1, 32, 3}));
  EXPECT_EQ(multiply_adds(network), 32 * 10 * 4);
  EXPECT_EQ(parameter_count(network), 32 * 4 + 32);
  EXPECT_TRUE(network.remarks.empty());
}

TEST(OnnxContributed, HowManyTokensASearchGivesDependsOnTheData) {
  OneNode search = contributed("GreedySearch", {1, 8}, {"x", "most"});
  search.model.integers("most", {20});
  onnx::GraphProto& decoder = body(*search.node, "decoder");
  add(decoder, "Relu", {"ids"}, "logits");
  expect_refusal(search.model, {"the length of the output of GreedySearch 'n_y' depends on the data, and nothing is "
                                "computed before it"});
}

}  // namespace
}  // namespace tenshot::nasbench
