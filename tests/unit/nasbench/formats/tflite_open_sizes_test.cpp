#include <gtest/gtest.h>

#include "tests/unit/nasbench/formats/crafted_tflite.h"

// TensorFlow Lite files that leave sizes open: the shape of an input says them, and the operators the rest.

namespace tenshot::nasbench {
namespace {

using Model = TfliteModel;

/// An image whose height and width are open.
struct OpenImage : Model {
  int image;

  explicit OpenImage(std::int32_t channels)
      : image(tensor("image", {1, 1, 1, channels}, float32, {1, -1, -1, channels})) {}

  /// A computed tensor; −1 is open.
  int open(const std::string& name, const std::vector<std::int32_t>& signature, Type type = float32) {
    std::vector<std::int32_t> shape = signature;
    for (std::int32_t& dimension : shape) dimension = dimension == -1 ? 1 : dimension;
    return tensor(name, shape, type, signature);
  }

  Network read(const std::vector<std::int32_t>& outputs, const Shape& shape) const {
    NetworkReadOptions options;
    options.shapes = {{"image", shape}};
    return read_tflite_bytes(bytes({image}, outputs), options);
  }
};

TEST(TfliteOpenSizes, ANetworkThatComputesItsShapes_HasThoseOfTheSizeGiven) {
  OpenImage model(3);
  const int stem = model.open("stem", {1, -1, -1, 8});
  model.node(3, {model.image, model.weights("w", {8, 3, 3, 3})}, {stem}, convolution_options(0, 2, 0));
  // Twice the height and the width of what the convolution gives, as an upsampling is written.
  const int sizes = model.tensor("sizes", {4}, Model::int32), plane = model.tensor("plane", {2}, Model::int32);
  const int twice = model.tensor("twice", {2}, Model::int32);
  model.node(77, {stem}, {sizes});
  model.node(45, {sizes, model.integers("b", {1}), model.integers("e", {3}), model.integers("s", {1})}, {plane});
  model.node(18, {plane, model.integers("two", {2, 2})}, {twice});
  const int large = model.open("large", {1, -1, -1, 8}), both = model.open("both", {1, -1, -1, 11});
  model.node(23, {stem, twice}, {large});
  model.node(2, {model.image, large}, {both}, {{0, Model::whole(3)}});
  const int mean = model.tensor("mean", {1, 11});
  model.node(40, {both, model.integers("axes", {1, 2})}, {mean}, {{0, Model::small(0)}});
  // The image in one row, as a flattening of an open batch is written.
  const int of_image = model.tensor("of_image", {4}, Model::int32), batch = model.tensor("batch", {}, Model::int32);
  const int wanted = model.tensor("wanted", {2}, Model::int32), row = model.open("row", {-1, -1});
  model.node(77, {model.image}, {of_image});
  model.node(45, {of_image, model.integers("b", {0}), model.integers("e", {1}), model.integers("s", {1})}, {batch},
             {{4, Model::whole(1)}});
  model.node(83, {batch, model.number("rest", -1)}, {wanted}, {{0, Model::whole(2)}});
  model.node(22, {model.image, wanted}, {row});
  const Network network = model.read({mean, row}, {1, 32, 48, 3});
  EXPECT_EQ(lines(network),
            (std::vector<std::string>{
                "convolution 3x3 stride 2x2 1x3x32x48 -> 1x8x16x24 float32", "resize 1x8x16x24 -> 1x8x32x48 float32",
                "concatenate 1x3x32x48 1x8x32x48 -> 1x11x32x48 float32", "global_pool 1x11x32x48 -> 1x11 float32",
                "reshape 1x3x32x48 -> 1x4608 float32"}));
  EXPECT_EQ(multiply_adds(network), 8 * 16 * 24 * 27);
}

/// The one operator of a network that reads an image of 8 x 10 pixels and 4 channels. Without a window over it, its
/// channels stay last.
std::string operator_of(OpenImage& model, const std::vector<std::int32_t>& outputs) {
  return lines(model.read(outputs, {1, 8, 10, 4})).at(0);
}

TEST(TfliteOpenSizes, PartsOfAnImage_HaveTheirSizes) {
  OpenImage split(4);
  const int left = split.open("left", {1, -1, -1, 2}), right = split.open("right", {1, -1, -1, 2});
  split.node(49, {split.number("axis", 3), split.image}, {left, right}, {{0, Model::whole(2)}});
  EXPECT_EQ(operator_of(split, {left, right}), "split 1x8x10x4 -> 1x8x10x2 float32");
  OpenImage strided(4);  // rows 2, 4 and 6
  const int rows = strided.open("rows", {1, -1, -1, 4});
  strided.node(45,
               {strided.image, strided.integers("b", {0, 2, 0, 0}), strided.integers("e", {1, -1, 0, 0}),
                strided.integers("s", {1, 2, 1, 1})},
               {rows}, {{1, Model::whole(12)}});
  EXPECT_EQ(operator_of(strided, {rows}), "split slice 1x8x10x4 -> 1x3x10x4 float32");
  OpenImage slice(4);  // all rows but the first, five columns
  const int part = slice.open("part", {1, -1, 5, 4});
  slice.node(65, {slice.image, slice.integers("b", {0, 1, 0, 0}), slice.integers("n", {1, -1, 5, 4})}, {part});
  EXPECT_EQ(operator_of(slice, {part}), "split slice 1x8x10x4 -> 1x7x5x4 float32");
}

TEST(TfliteOpenSizes, OtherOperators_HaveTheirSizes) {
  OpenImage sum(4);
  const int doubled = sum.open("doubled", {1, -1, -1, 4});
  sum.node(0, {sum.image, sum.image}, {doubled});
  EXPECT_EQ(operator_of(sum, {doubled}), "add 1x8x10x4 1x8x10x4 -> 1x8x10x4 float32");
  OpenImage transposed(4);
  const int twice = transposed.open("twice", {1, -1, -1, 2});
  transposed.node(67,
                  {transposed.integers("n", {1, 16, 20, 2}), transposed.weights("w", {2, 2, 2, 4}), transposed.image},
                  {twice}, {{0, Model::small(0)}, {1, Model::whole(2)}, {2, Model::whole(2)}});
  EXPECT_EQ(operator_of(transposed, {twice}), "transposed_convolution 2x2 stride 2x2 1x4x8x10 -> 1x2x16x20 float32");
  OpenImage blocks(4);
  const int deep = blocks.open("deep", {1, -1, -1, 16});
  blocks.node(26, {blocks.image}, {deep}, {{0, Model::whole(2)}});
  EXPECT_EQ(operator_of(blocks, {deep}), "opaque SpaceToDepth 1x4x8x10 -> 1x16x4x5 float32");
  OpenImage rows(4);
  const int weighed = rows.open("weighed", {-1, 3});
  rows.node(9, {rows.image, rows.weights("w", {3, 4})}, {weighed});
  EXPECT_EQ(lines(rows.read({weighed}, {1, 8, 10, 4})),
            (std::vector<std::string>{"reshape 1x8x10x4 -> 80x4 float32", "linear 80x4 -> 80x3 float32"}));
}

TEST(TfliteOpenSizes, DimensionsOfOne_ComeAndGo) {
  Model model;
  const int x = model.tensor("x", {1, 1, 4}, Model::float32, {1, -1, 4});
  const int row = model.tensor("row", {1, 1, 1, 4}, Model::float32, {1, 1, -1, 4});
  const int y = model.tensor("y", {1, 1, 4}, Model::float32, {1, -1, 4});
  const int positive = model.tensor("positive", {1, 1, 1, 4}, Model::float32, {1, 1, -1, 4});
  model.node(70, {x, model.number("axis", 1)}, {row});
  model.node(19, {row}, {positive});
  model.node(43, {positive}, {y}, {{0, flat_numbers(std::vector<std::int32_t>{-3})}});
  NetworkReadOptions options;
  options.shapes = {{"x", {1, 7, 4}}};
  EXPECT_EQ(lines(read_tflite_bytes(model.bytes({x}, {y}), options)),
            (std::vector<std::string>{"reshape 1x7x4 -> 1x1x7x4 float32", "activation relu 1x1x7x4 -> 1x1x7x4 float32",
                                      "reshape 1x1x7x4 -> 1x7x4 float32"}));
}

TEST(TfliteOpenSizes, RowsOfATable_AreAsManyAsTheTokens) {
  Model model;
  const int tokens = model.tensor("tokens", {1, 1}, Model::int32, {1, -1});
  const int rows = model.tensor("rows", {1, 1, 8}, Model::float32, {1, -1, 8});
  model.node(36, {model.weights("table", {100, 8}), tokens}, {rows});
  NetworkReadOptions options;
  options.shapes = {{"tokens", {1, 12}}};
  EXPECT_EQ(lines(read_tflite_bytes(model.bytes({tokens}, {rows}), options)),
            std::vector<std::string>{"opaque Gather 1x12 -> 1x12x8 constant 100x8 float32"});
}

/// The network of a model whose batch alone is open.
std::vector<std::string> of_batch(const Model& model, int input, int output, std::int64_t batch) {
  NetworkReadOptions options;
  options.batch = batch;
  return lines(read_tflite_bytes(model.bytes({input}, {output}), options));
}

TEST(TfliteOpenSizes, ABatch_MayBePartOfAnotherDimension) {
  Model dense;  // a layer at every step of a sequence
  const int steps = dense.tensor("steps", {1, 10, 64}, Model::float32, {-1, 10, 64});
  const int rows = dense.tensor("rows", {1, 64}, Model::float32, {-1, 64});
  const int weighed = dense.tensor("weighed", {1, 32}, Model::float32, {-1, 32});
  dense.node(22, {steps, dense.integers("n", {-1, 64})}, {rows});
  dense.node(9, {rows, dense.weights("w", {32, 64})}, {weighed});
  EXPECT_EQ(of_batch(dense, steps, weighed, 2),
            (std::vector<std::string>{"reshape 2x10x64 -> 20x64 float32", "linear 20x64 -> 20x32 float32"}));
  Model tiled;
  const int row = tiled.tensor("row", {1, 4}, Model::float32, {-1, 4});
  const int twice = tiled.tensor("twice", {1, 4}, Model::float32, {-1, 4});
  const int five = tiled.tensor("five", {1, 4}, Model::float32, {-1, 4});
  tiled.node(2, {row, row}, {twice}, {{0, Model::whole(0)}});
  tiled.node(69, {twice, tiled.integers("times", {5, 1})}, {five});
  EXPECT_EQ(of_batch(tiled, row, five, 1),
            (std::vector<std::string>{"concatenate 1x4 1x4 -> 2x4 float32", "opaque Tile 2x4 -> 10x4 float32"}));
  Model blocks;
  const int image = blocks.tensor("image", {1, 8, 8, 3}, Model::float32, {-1, 8, 8, 3});
  const int parts = blocks.tensor("parts", {1, 5, 5, 3}, Model::float32, {-1, 5, 5, 3});
  const int whole = blocks.tensor("whole", {1, 8, 8, 3}, Model::float32, {-1, 8, 8, 3});
  const int size = blocks.integers("size", {2, 2});
  blocks.node(38, {image, size, blocks.integers("pads", {1, 1, 1, 1}, {2, 2})}, {parts});
  blocks.node(37, {parts, size, blocks.integers("crops", {1, 1, 1, 1}, {2, 2})}, {whole});
  EXPECT_EQ(of_batch(blocks, image, whole, 2),
            (std::vector<std::string>{"opaque SpaceToBatch 2x3x8x8 -> 8x3x5x5 float32",
                                      "opaque BatchToSpace 8x3x5x5 -> 2x3x8x8 float32"}));
}

/// Five rows of a batch as rows of their own, and what an operator makes of them.
struct OpenRows : Model {
  int steps = tensor("steps", {1, 5, 8}, float32, {-1, 5, 8}), rows = tensor("rows", {1, 8}, float32, {-1, 8});

  OpenRows() { node(22, {steps, integers("n", {-1, 8})}, {rows}); }
  std::string last(int output) const { return of_batch(*this, steps, output, 2).back(); }
};

TEST(TfliteOpenSizes, OperatorsOfABatchThatIsPartOfADimension_HaveItToo) {
  OpenRows norm;
  const int same = norm.tensor("same", {1, 8}, Model::float32, {-1, 8});
  norm.node(11, {norm.rows}, {same});
  EXPECT_EQ(norm.last(same), "opaque LpNormalization 10x8 -> 10x8 float32");
  OpenRows parts;
  const int three = parts.tensor("three", {1, 3}, Model::float32, {-1, 3});
  const int five = parts.tensor("five", {1, 5}, Model::float32, {-1, 5});
  parts.node(102, {parts.rows, parts.integers("sizes", {3, -1}), parts.number("axis", 1)}, {three, five},
             {{0, Model::whole(2)}});
  EXPECT_EQ(parts.last(five), "split 10x8 -> 10x3 float32");
  OpenRows unknown;
  const int made = unknown.tensor("made", {1, 4}, Model::float32, {-1, 4});
  unknown.node(32, {unknown.rows}, {made}, {}, "Mystery");
  EXPECT_NE(tflite_refusal(unknown.bytes({unknown.steps}, {made})).find("we cannot say it for tflite.Mystery"),
            std::string::npos);
}

TEST(TfliteOpenSizes, ASizeMayBeAProductOfOthers) {  // as a layer over a tensor of three dimensions computes it
  Model model;
  const int x = model.tensor("x", {1, 5, 8}, Model::float32, {-1, 5, 8});
  const int shape = model.tensor("shape", {3}, Model::int32), outer = model.tensor("outer", {2}, Model::int32);
  const int product = model.tensor("product", {1}, Model::int32), sizes = model.tensor("sizes", {2}, Model::int32);
  const int rows = model.tensor("rows", {1, 8}, Model::float32, {-1, 8});
  model.node(77, {x}, {shape});
  model.node(36, {shape, model.integers("axes", {0, 1})}, {outer});
  model.node(81, {outer, model.integers("axis", {0})}, {product});
  model.node(2, {product, model.integers("width", {8})}, {sizes});
  model.node(22, {x, sizes}, {rows});
  EXPECT_EQ(of_batch(model, x, rows, 3), std::vector<std::string>{"reshape 3x5x8 -> 15x8 float32"});
}

TEST(TfliteOpenSizes, ALoneDimension_IsALength) {
  Model model;
  const int wave = model.tensor("wave", {1}, Model::float32, {-1}), y = model.tensor("y", {1}, Model::float32, {-1});
  model.node(19, {wave}, {y});
  EXPECT_NE(tflite_refusal(model.bytes({wave}, {y})).find("--shape wave=16000"), std::string::npos);
}

TEST(TfliteOpenSizes, WithoutAShape_AreRefusedWithTheWayOut) {
  OpenImage model(4);
  const int output = model.open("output", {1, -1, -1, 2});
  model.node(3, {model.image, model.weights("w", {2, 1, 1, 4})}, {output}, convolution_options(0, 1, 0));
  const std::string message = tflite_refusal(model.bytes({model.image}, {output}));
  EXPECT_NE(message.find("dimension 1 is open"), std::string::npos) << message;
  EXPECT_NE(message.find("--shape image=1x224x224x4"), std::string::npos) << message;
}

TEST(TfliteOpenSizes, ThatNobodyCanSay_AreRefusedByTheOperator) {
  OpenImage model(4);
  const int output = model.open("output", {1, -1, -1, 2});
  model.node(32, {model.image}, {output}, {}, "Mystery");
  const std::string message = refusal_of("model.tflite", [&] { model.read({output}, {1, 8, 10, 4}); });
  EXPECT_NE(message.find("we cannot say it for tflite.Mystery; convert the network with a fixed size"),
            std::string::npos)
      << message;
}

TEST(TfliteOpenSizes, ThatContradictWhatTheFileFixes_AreRefused) {
  OpenImage model(4);
  const int output = model.open("output", {1, -1, 7, 4});
  model.node(19, {model.image}, {output});
  EXPECT_NO_THROW(model.read({output}, {1, 8, 7, 4}));
  const std::string message = refusal_of("model.tflite", [&] { model.read({output}, {1, 8, 10, 4}); });
  EXPECT_NE(message.find("it computes 1x8x10x4, where the file says"), std::string::npos) << message;
}

}  // namespace
}  // namespace tenshot::nasbench
