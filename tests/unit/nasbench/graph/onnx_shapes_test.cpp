#include <gtest/gtest.h>

#include "tests/unit/nasbench/graph/crafted_onnx.h"

namespace tenshot::nasbench {
namespace {

Shape output_of(const Network& network, std::size_t output = 0) {
  return tensor_type(network, network.outputs.at(output)).shape;
}

TEST(OnnxShapes, PadsComputedFromConstantsAreFolded) {
  Model model;  // as PyTorch writes F.pad(x, (1, 2, 3, 4)): last axis first, pairs turned round
  model.input("x", {1, 8, 32, 32}).output("y").integers("pads", {1, 2, 3, 4}).integers("four", {4});
  model.integers("pairs", {-1, 2})
      .integers("minus", {-1})
      .integers("far", {-9223372036854775807})
      .integers("axis", {0});
  onnx::AttributeProto& zero = *model.node("ConstantOfShape", {"four"}, {"zeros"}).add_attribute();
  zero.set_name("value");
  zero.set_type(onnx::AttributeProto::TENSOR);
  zero.mutable_t()->set_data_type(TensorProto::INT64);
  zero.mutable_t()->add_dims(1);
  zero.mutable_t()->add_int64_data(0);
  set_integer(model.node("Concat", {"pads", "zeros"}, {"all"}), "axis", 0);
  model.node("Reshape", {"all", "pairs"}, {"rows"});
  model.node("Slice", {"rows", "minus", "far", "axis", "minus"}, {"turned"});
  set_integers(model.node("Transpose", {"turned"}, {"columns"}), "perm", {1, 0});
  model.node("Reshape", {"columns", "minus"}, {"p"});
  model.node("Pad", {"x", "p"}, {"y"});
  const Network network = read(model);
  EXPECT_EQ(output_of(network), (Shape{1, 8, 32 + 3 + 4, 32 + 1 + 2}));
  EXPECT_EQ(network.nodes[0].attributes.starts, (std::vector<std::int64_t>{0, 0, 3, 1}));
}

TEST(OnnxShapes, OfOpset18PadAndResizeMayNameTheirAxes) {
  Model pad(18);
  pad.input("x", {1, 3, 32, 30}).output("y").integers("p", {1, 2, 3, 4}).integers("axes", {-1, 2});
  pad.node("Pad", {"x", "p", "", "axes"}, {"y"});
  EXPECT_EQ(output_of(read(pad)), (Shape{1, 3, 32 + 2 + 4, 30 + 1 + 3}));
  Model resize(18);
  resize.input("x", {1, 3, 32, 64}).output("y").integers("sizes", {48, 48});
  onnx::NodeProto& node = resize.node("Resize", {"x", "", "", "sizes"}, {"y"});
  set_integers(node, "axes", {2, 3});
  EXPECT_EQ(output_of(read(resize)), (Shape{1, 3, 48, 48}));
  set_text(node, "keep_aspect_ratio_policy", "not_larger");
  EXPECT_EQ(output_of(read(resize)), (Shape{1, 3, 24, 48}));
}

TEST(OnnxShapes, OfOpset18TheLastPartOfASplitMayBeSmaller) {
  Model model(18);
  model.input("x", {1, 10, 4}).output("a").output("b").output("c");
  onnx::NodeProto& node = model.node("Split", {"x"}, {"a", "b", "c"});
  set_integer(node, "axis", 1);
  set_integer(node, "num_outputs", 3);
  const Network network = read(model);
  EXPECT_EQ(output_of(network, 0), (Shape{1, 4, 4}));
  EXPECT_EQ(output_of(network, 2), (Shape{1, 2, 4}));
}

TEST(OnnxShapes, BeforeOpset11NegativeAxesCountFromBehind_AsRuntimesDo) {
  const auto shape_of = [](std::int64_t opset, const std::string& type, const std::vector<std::string>& inputs,
                           const std::function<void(onnx::NodeProto&)>& set) {
    OneNode model(type, {2, 3, 1}, inputs, opset);
    set(*model.node);
    return output_of(read(model.model));
  };
  const auto last = [](onnx::NodeProto& node) { set_integer(node, "axis", -1); };
  const auto last_but_one = [](onnx::NodeProto& node) { set_integer(node, "axis", -2); };
  const auto last_of_list = [](onnx::NodeProto& node) { set_integers(node, "axes", {-1}); };
  for (const std::int64_t opset : {7, 8, 9, 10}) {
    EXPECT_EQ(shape_of(opset, "Unsqueeze", {"x"}, last_of_list), (Shape{2, 3, 1, 1})) << opset;
    EXPECT_EQ(shape_of(opset, "Squeeze", {"x"}, last_of_list), (Shape{2, 3})) << opset;
    EXPECT_EQ(shape_of(opset, "Concat", {"x", "x"}, last), (Shape{2, 3, 2})) << opset;
    EXPECT_EQ(shape_of(opset, "ArgMax", {"x"}, last_but_one), (Shape{2, 1, 1})) << opset;
  }
}

TEST(OnnxShapes, ASqueezeWithoutAxesTakesAllDimensionsOfOne) {
  for (const std::int64_t opset : {7, 9, 11, 13}) {
    OneNode model("Squeeze", {1, 8, 1, 1}, {"x"}, opset);
    EXPECT_EQ(output_of(read(model.model)), Shape{8}) << opset;
  }
}

TEST(OnnxShapes, APartOfASplitMayBeEmpty) {
  for (const std::int64_t opset : {13, 18}) {
    Model model(opset);
    model.input("x", {1, 10, 4}).integers("sizes", {4, 0, 6}).output("a").output("y");
    set_integer(model.node("Split", {"x", "sizes"}, {"a", "none", "c"}), "axis", 1);
    set_integer(model.node("Concat", {"none", "c"}, {"y"}), "axis", 1);
    const Network network = read(model);
    EXPECT_EQ(output_of(network, 0), (Shape{1, 4, 4})) << opset;
    EXPECT_EQ(output_of(network, 1), (Shape{1, 6, 4})) << opset;
  }
}

TEST(OnnxShapes, AnInputMaySayWhatAPoolIsUndoneTo) {
  Model model;
  model.input("x", {1, 3, 9, 9}).integers("size", {1, 3, 9, 9}).output("y");
  onnx::NodeProto& pool = model.node("MaxPool", {"x"}, {"small", "places"});
  onnx::NodeProto& undone = model.node("MaxUnpool", {"small", "places", "size"}, {"y"});
  for (onnx::NodeProto* node : {&pool, &undone}) {
    set_integers(*node, "kernel_shape", {2, 2});
    set_integers(*node, "strides", {2, 2});
  }
  EXPECT_EQ(output_of(read(model)), (Shape{1, 3, 9, 9}));
}

/// As torchvision's detectors resize: to floor(extent * min(320 / least, 640 / most)), in floats of 32 bits.
TEST(OnnxShapes, SizesMayBeComputedFromRealNumbers) {
  Model model;
  model.input("x", {1, 3, 224, 224}).scalar("least", 320).integers("size", {224, 224}).integers("front", {1, 3});
  model.output("y").output("sooner");
  set_integer(model.node("Cast", {"size"}, {"real"}), "to", TensorProto::FLOAT);
  set_integer(model.node("ReduceMin", {"real"}, {"smaller"}), "keepdims", 1);
  model.node("Reciprocal", {"smaller"}, {"inverse"});
  model.node("Mul", {"inverse", "least"}, {"factor"});
  model.node("Mul", {"real", "factor"}, {"exact"});
  model.node("Floor", {"exact"}, {"whole"});
  set_integer(model.node("Cast", {"whole"}, {"sizes"}), "to", TensorProto::INT64);
  set_integer(model.node("Concat", {"front", "sizes"}, {"all"}), "axis", 0);
  model.node("Resize", {"x", "", "", "all"}, {"y"});
  model.node("Mul", {"x", "least"}, {"scaled"});
  model.node("LessOrEqual", {"scaled", "least"}, {"sooner"});
  EXPECT_EQ(output_of(read(model), 0), (Shape{1, 3, 320, 320}));
  EXPECT_EQ(output_of(read(model), 1), (Shape{1, 3, 224, 224}));
}

TEST(OnnxShapes, PoolsMayBeDilated) {
  for (const char* type : {"AveragePool", "LpPool", "MaxPool"}) {
    Model model(19);
    model.input("x", {1, 8, 32, 32}).output("y");
    onnx::NodeProto& node = model.node(type, {"x"}, {"y"});
    set_integers(node, "kernel_shape", {3, 3});
    set_integers(node, "dilations", {2, 2});
    EXPECT_EQ(output_of(read(model)), (Shape{1, 8, 28, 28})) << type;
  }
}

TEST(OnnxShapes, AnOutputThatTheFileDeclaresOtherwiseIsRemarked) {
  Model model(12);
  model.input("x", {1, 8, 7, 7});
  Model::declare(*model.graph().add_output(), "y", {1, 8, 5, 5}, TensorProto::FLOAT);
  onnx::NodeProto& node = model.node("MaxPool", {"x"}, {"y"});
  set_integers(node, "kernel_shape", {2, 2});
  set_integers(node, "strides", {2, 2});
  set_integers(node, "pads", {1, 1, 1, 1});
  set_integer(node, "ceil_mode", 1);
  const Network network = read(model);
  EXPECT_EQ(output_of(network), (Shape{1, 8, 4, 4}));  // ONNX Runtime 1.20 had what the file declares
  EXPECT_EQ(network.remarks,
            std::vector<std::string>{"the file declares output 'y' as 1x8x5x5, its operators give 1x8x4x4"});
}

TEST(OnnxShapes, SecondOutputsHaveShapesOfTheirOwn) {
  Model norm(17);
  norm.input("x", {1, 32, 64}).weights("g", {64}).weights("b", {64}).output("y").output("mean");
  norm.node("LayerNormalization", {"x", "g", "b"}, {"y", "mean"});
  EXPECT_EQ(output_of(read(norm), 1), (Shape{1, 32, 1}));
  Model dropout(12);
  dropout.input("x", {1, 10}).output("y").output("mask");
  dropout.node("Relu", {"x"}, {"r"});
  dropout.node("Dropout", {"r"}, {"y", "mask"});
  EXPECT_EQ(lines(read(dropout)), std::vector<std::string>{"activation relu 1x10 -> 1x10 float32"});
}

TEST(OnnxShapes, ParametersAreWhatTheFileStores) {
  Model model(14);
  model.input("x", {1, 64, 8}).weights("w", {8, 8}).integers("size", {64, 64}).output("y");
  model.node("ConstantOfShape", {"size"}, {"ones"});
  model.node("Trilu", {"ones"}, {"mask"});
  model.node("MatMul", {"x", "w"}, {"q"});
  set_integers(model.node("Transpose", {"q"}, {"k"}), "perm", {0, 2, 1});
  model.node("MatMul", {"q", "k"}, {"scores"});
  model.node("Add", {"scores", "mask"}, {"y"});
  EXPECT_EQ(parameter_count(read(model)), 8 * 8);
}

TEST(OnnxShapes, AMatrixThatIsComputedFromNoWeightsIsNoParameter) {
  Model model(17);
  model.input("x", {100, 257}).output("y").integers("bins", {40}).integers("size", {512}).integers("rate", {16000});
  model.scalar("low", 20).scalar("high", 8000);
  for (int i = 0; i < 3; ++i) model.graph().mutable_initializer(i)->clear_dims();
  model.node("MelWeightMatrix", {"bins", "size", "rate", "low", "high"}, {"mel"});
  model.node("MatMul", {"x", "mel"}, {"y"});
  EXPECT_EQ(lines(read(model)), std::vector<std::string>{"linear 100x257 -> 100x40 float32"});
  EXPECT_EQ(parameter_count(read(model)), 0);
}

TEST(OnnxShapes, AScaleThatIsTheShiftAsWellCountsOnce) {
  OneNode norm("BatchNormalization", {2, 8, 4, 4}, {"x", "s", "s", "mean", "variance"});
  norm.model.weights("s", {8}).weights("mean", {8}).weights("variance", {8});
  EXPECT_EQ(parameter_count(read(norm.model)), 8);
}

TEST(OnnxShapes, ATensorThatSeveralOperatorsShareCountsOnce) {
  Model model;
  model.input("x", {1, 16}).weights("w", {16, 16}).output("y");
  model.node("MatMul", {"x", "w"}, {"a"});
  model.node("Relu", {"a"}, {"b"});
  model.node("MatMul", {"b", "w"}, {"y"});
  const Network network = read(model);
  EXPECT_EQ(parameter_count(network), 16 * 16);
  EXPECT_EQ(stored_parameters(network), (std::vector<std::int64_t>{256, 0, 0}));
  EXPECT_EQ(multiply_adds(network), 2 * 16 * 16);
}

TEST(OnnxShapes, PartsOfATensorCountAsWhatTheyAreTogether) {
  Model model(18);
  model.input("x", {2, 16}).weights("w", {32, 8}).output("first").output("second").output("again");
  model.node("Split", {"w"}, {"a", "b"});
  model.node("MatMul", {"x", "a"}, {"first"});
  model.node("MatMul", {"x", "b"}, {"second"});
  model.node("MatMul", {"x", "b"}, {"again"});
  EXPECT_EQ(multiply_adds(read(model)), 3 * 2 * 16 * 8);
  EXPECT_EQ(parameter_count(read(model)), 32 * 8);
}

TEST(OnnxShapes, AVectorThatAnIdentityHandsOnIsOneOfItsOwn) {
  for (const std::vector<std::int64_t>& shape : {std::vector<std::int64_t>{16}, std::vector<std::int64_t>{2000}}) {
    Model model;  // two norms that were never trained: PyTorch writes their scales once
    model.input("x", {1, shape[0], 8}).weights("g", shape).weights("b", shape).output("y");
    model.weights("m", shape).weights("v", shape);
    model.node("Identity", {"g"}, {"g2"});
    model.node("Identity", {"b"}, {"b2"});
    model.node("BatchNormalization", {"x", "g", "b", "m", "v"}, {"h"});
    model.node("BatchNormalization", {"h", "g2", "b2", "m", "v"}, {"y"});
    EXPECT_EQ(parameter_count(read(model)), 4 * shape[0]);
  }
  Model tied;  // a matrix is stored once, however it is handed on
  tied.input("x", {1, 16}).weights("w", {16, 16}).output("y");
  tied.node("Identity", {"w"}, {"w2"});
  tied.node("MatMul", {"x", "w"}, {"a"});
  tied.node("MatMul", {"a", "w2"}, {"y"});
  EXPECT_EQ(parameter_count(read(tied)), 16 * 16);
}

TEST(OnnxShapes, InputsThatStandWhereWeightsDoAreWeights) {
  Model model;  // as PyTorch writes it with export_params=False
  model.input("x", {1, 3, 8, 8}).input("conv.weight", {4, 3, 3, 3}).input("conv.bias", {4}).output("y");
  model.node("Conv", {"x", "conv.weight", "conv.bias"}, {"y"});
  const Network network = read(model);
  EXPECT_EQ(lines(network), std::vector<std::string>{"convolution 3x3 bias 1x3x8x8 -> 1x4x6x6 float32"});
  EXPECT_EQ(network.inputs.size(), 1U);
  EXPECT_EQ(network.remarks, std::vector<std::string>{"2 inputs are read as weights, and counted as such"});
}

TEST(OnnxShapes, ATwoInputProductIsNoWeight) {
  Model model;
  model.input("x", {4, 8}).input("k", {8, 5}).output("y");
  model.node("MatMul", {"x", "k"}, {"y"});
  EXPECT_EQ(lines(read(model)), std::vector<std::string>{"matrix_product 4x8 8x5 -> 4x5 float32"});
}

TEST(OnnxShapes, OfOperatorsThatLibonnxDoesNotInfer) {
  Model hot;
  hot.input("x", {2, 3}, TensorProto::INT64).integers("depth", {7}).weights("values", {2}).output("y");
  set_integer(hot.node("OneHot", {"x", "depth", "values"}, {"y"}), "axis", 1);
  EXPECT_EQ(output_of(read(hot)), (Shape{2, 7, 3}));
  Model grid(20);
  grid.input("x", {1, 2, 3}).integers("size", {1, 3, 5, 6}).output("y");
  grid.node("AffineGrid", {"x", "size"}, {"y"});
  EXPECT_EQ(output_of(read(grid)), (Shape{1, 5, 6, 2}));
  Model spectrum(17);
  spectrum.input("x", {2, 128, 1}).integers("step", {8}).weights("window", {16}).output("y");
  spectrum.graph().mutable_initializer(0)->clear_dims();
  spectrum.node("STFT", {"x", "step", "window"}, {"y"});
  EXPECT_EQ(output_of(read(spectrum)), (Shape{2, 15, 9, 2}));  // one side, where nothing is said
  for (const std::int64_t one_side : {0, 1}) {
    Model speech(17);
    speech.input("x", {1, 16000, 1}).weights("window", {400}).scalar("step", 0).output("y");
    TensorProto& step = *speech.graph().mutable_initializer(1);
    step.set_data_type(TensorProto::INT64);
    step.clear_float_data();
    step.add_int64_data(160);
    set_integer(speech.node("STFT", {"x", "step", "window"}, {"y"}), "onesided", one_side);
    EXPECT_EQ(output_of(read(speech)), (Shape{1, 98, one_side == 1 ? 201 : 400, 2}));  // as ONNX Runtime has it
  }
  Model norm;
  norm.input("x", {1, 3, 8, 8}).output("y");
  norm.node("MeanVarianceNormalization", {"x"}, {"y"});
  EXPECT_EQ(output_of(read(norm)), (Shape{1, 3, 8, 8}));
}

TEST(OnnxShapes, InAFileWhoseInputsAreWeightsWhatIsMadeOfThemIsOneToo) {
  Model model;  // as PyTorch writes linear layers with export_params=False
  model.input("x", {1, 8, 16}).input("fc.weight", {32, 16}).input("7", {32}).input("8", {4, 32}).output("y");
  set_integers(model.node("Transpose", {"fc.weight"}, {"a"}), "perm", {1, 0});
  model.node("MatMul", {"x", "a"}, {"b"});
  model.node("Add", {"7", "b"}, {"c"});
  set_integers(model.node("Transpose", {"8"}, {"d"}), "perm", {1, 0});
  model.node("MatMul", {"c", "d"}, {"e"});
  model.input("rnn.weight_ih_l0", {6, 4}).input("rnn.weight_hh_l0", {6, 6}).integers("axis", {0});
  for (const char* name : {"ih", "hh"}) {
    model.node("Unsqueeze", {"rnn.weight_" + std::string(name) + "_l0", "axis"}, {name});
  }
  set_integer(model.node("RNN", {"e", "ih", "hh"}, {"y"}), "hidden_size", 6);
  const Network network = read(model);
  EXPECT_EQ(parameter_count(network), 32 * 16 + 32 + 4 * 32 + 6 * 4 + 6 * 6);
  EXPECT_EQ(multiply_adds(network), 8 * 16 * 32 + 8 * 32 * 4 + 8 * (6 * 4 + 6 * 6));
  EXPECT_EQ(network.inputs.size(), 1U);
}

TEST(OnnxShapes, AnInputMayBeGivenAsEmpty) {
  Model model;  // a decoder's first step, whose past has no keys
  model.input("past", {1, 2, Model::dynamic, 16}).input("x", {1, 2, 5, 16}).output("y");
  set_integer(model.node("Concat", {"past", "x"}, {"keys"}), "axis", 2);
  set_integers(model.node("Transpose", {"keys"}, {"turned"}), "perm", {0, 1, 3, 2});
  model.node("MatMul", {"x", "turned"}, {"y"});
  OnnxReadOptions options;
  options.shapes["past"] = {1, 2, 0, 16};
  EXPECT_EQ(multiply_adds(read(model, options)), 2 * 5 * 16 * 5);
  options.shapes["past"] = {1, 2, 7, 16};
  EXPECT_EQ(multiply_adds(read(model, options)), 2 * 5 * 16 * 12);
  Model alone;
  alone.input("x", {1, Model::dynamic}).output("y");
  alone.node("Relu", {"x"}, {"y"});
  options.shapes = {{"x", {1, 0}}};
  expect_refusal(alone, {"with these shapes all its inputs are empty"}, options);
}

TEST(OnnxShapes, ATransposedConvolutionMayGiveAnImageThatIsSmallerThanItsInput) {
  OneNode one("ConvTranspose", {1, 4, 6, 6}, {"x", "w"});
  one.model.weights("w", {4, 5, 3, 3});
  set_integers(*one.node, "strides", {1, 2});
  set_integers(*one.node, "output_shape", {3, 12});
  EXPECT_EQ(output_of(read(one.model)), (Shape{1, 5, 3, 12}));
}

TEST(OnnxShapes, SinceOpset18AResizeMultipliesInSinglePrecision) {  // as ONNX Runtime 1.30 has it
  OneNode one("Resize", {1, 10}, {"x", "", "scales"}, 18);
  TensorProto& scales = *one.model.graph().add_initializer();
  scales.set_name("scales");
  scales.set_data_type(TensorProto::FLOAT);
  scales.add_dims(2);
  for (const float scale : {1.0F, 0.7F}) scales.add_float_data(scale);  // below 0.7, ten of which round to 7
  EXPECT_EQ(output_of(read(one.model)), (Shape{1, 7}));
}

TEST(OnnxShapes, ThePlacesOfMaximaAreAsManyAsTheMaxima) {
  Model model;
  model.input("x", {1, 2, 6}).output("y").output("places");
  onnx::NodeProto& node = model.node("MaxPool", {"x"}, {"y", "places"});
  set_integers(node, "kernel_shape", {2});
  set_integers(node, "strides", {3});
  set_integers(node, "pads", {0, 1});
  set_integer(node, "ceil_mode", 1);
  const Network network = read(model);
  EXPECT_EQ(output_of(network, 0), (Shape{1, 2, 2}));
  EXPECT_EQ(output_of(network, 1), (Shape{1, 2, 2}));
}

TEST(OnnxShapes, UntilOpset9ASliceMayCountFromBehind) {
  OneNode one("Slice", {4, 9}, {"x"}, 9);
  set_integers(*one.node, "axes", {-1});
  set_integers(*one.node, "starts", {-5});
  set_integers(*one.node, "ends", {-1});
  EXPECT_EQ(output_of(read(one.model)), (Shape{4, 4}));
}

TEST(OnnxShapes, NoAxesAtAllArePaddedByNothing) {
  OneNode one("Pad", {1, 2, 4}, {"x", "p", "", "axes"}, 18);
  one.model.integers("p", {}).integers("axes", {});
  EXPECT_EQ(output_of(read(one.model)), (Shape{1, 2, 4}));
}

}  // namespace
}  // namespace tenshot::nasbench
