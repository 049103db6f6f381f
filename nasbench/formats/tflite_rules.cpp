// Which of TensorFlow Lite's operators are read how: BuiltinOperator of tensorflow/lite/schema/schema.fbs.

#include <array>
#include <cstdint>
#include <map>
#include <string>

#include "nasbench/formats/tflite_operation.h"

namespace tenshot::nasbench::tflite {
namespace {

using Layout = Rule::Layout;

/// An operator of one tensor, or of two, element by element, and what the network calls it.
struct Function {
  std::int32_t code;
  const char* name;
};

constexpr std::array<Function, 25> functions = {{
    {8, "floor"},       {14, "sigmoid"},     {19, "relu"},  {20, "clip"},   {21, "relu6"},
    {28, "tanh"},       {47, "exp"},         {53, "cast"},  {59, "negate"}, {66, "sin"},
    {73, "log"},        {75, "sqrt"},        {76, "rsqrt"}, {87, "not"},    {92, "square"},
    {98, "leaky_relu"}, {101, "absolute"},   {104, "ceil"}, {108, "cos"},   {111, "elu"},
    {116, "round"},     {117, "hard_swish"}, {150, "gelu"}, {152, "clip"},  {158, "sign"},
}};

constexpr std::array<Function, 20> pairs = {{
    {41, "subtract"},      {42, "divide"},
    {54, "prelu"},         {55, "maximum"},
    {57, "minimum"},       {58, "less"},
    {61, "greater"},       {62, "greater_or_equal"},
    {63, "less_or_equal"}, {64, "where"},
    {71, "equal"},         {72, "not_equal"},
    {78, "power"},         {84, "or"},
    {86, "and"},           {90, "floor_divide"},
    {95, "modulo"},        {99, "squared_difference"},
    {123, "where"},        {156, "atan2"},
}};

struct Row {
  std::int32_t code;
  const char* name;
  Convert convert;
  Layout layout;
};

constexpr std::array<Row, 56> rows = {{
    {code::average_pool_2d, "AveragePool", pool, Layout::images},
    {code::concatenation, "Concat", concatenate, Layout::alike},
    {code::conv_2d, "Conv", convolution, Layout::images},
    {code::depthwise_conv_2d, "Conv", convolution, Layout::images},
    {5, "DepthToSpace", opaque, Layout::images},
    {7, "Gather", opaque, Layout::any},
    {9, "Gemm", fully_connected, Layout::any},
    {11, "LpNormalization", opaque, Layout::alike},
    {12, "LpPool", opaque, Layout::images},
    {13, "LRN", opaque, Layout::images},
    {code::lstm, "LSTM", recurrent, Layout::any},
    {code::max_pool_2d, "MaxPool", pool, Layout::images},
    {22, "Reshape", reshape, Layout::any},
    {code::resize_bilinear, "Resize", resize, Layout::images},
    {24, "RNN", recurrent, Layout::any},
    {code::softmax, "Softmax", softmax, Layout::alike},
    {26, "SpaceToDepth", opaque, Layout::images},
    {27, "SVDF", recurrent, Layout::any},
    {code::pad, "Pad", pad, Layout::alike},
    {35, "RNN", recurrent, Layout::any},
    {code::gather, "Gather", gather, Layout::any},
    {37, "BatchToSpace", opaque, Layout::images},
    {38, "SpaceToBatch", opaque, Layout::images},
    {39, "Transpose", transpose, Layout::any},
    {43, "Squeeze", reshape, Layout::any},
    {code::sequence_lstm, "LSTM", recurrent, Layout::any},
    {code::strided_slice, "Slice", slice, Layout::alike},
    {code::two_way_rnn, "RNN", recurrent, Layout::any},
    {48, "TopK", opaque, Layout::any},
    {code::split, "Split", split, Layout::alike},
    {code::log_softmax, "LogSoftmax", softmax, Layout::alike},
    {code::two_way_lstm, "LSTM", recurrent, Layout::any},
    {56, "ArgMax", opaque, Layout::any},
    {60, "Pad", pad, Layout::alike},
    {code::slice, "Slice", slice, Layout::alike},
    {67, "ConvTranspose", transposed_convolution, Layout::images},
    {69, "Tile", opaque, Layout::alike},
    {70, "Unsqueeze", reshape, Layout::any},
    {79, "ArgMin", opaque, Layout::any},
    {83, "Concat", pack, Layout::any},
    {85, "OneHot", opaque, Layout::any},
    {88, "Split", unpack, Layout::any},
    {97, "Resize", resize, Layout::images},
    {code::mirror_pad, "Pad", pad, Layout::alike},
    {code::split_v, "Split", split, Layout::alike},
    {107, "GatherND", opaque, Layout::any},
    {109, "NonZero", opaque, Layout::any},
    {code::branch, "If", opaque, Layout::any},
    {code::loop, "While", opaque, Layout::any},
    {120, "NonMaxSuppression", opaque, Layout::any},
    {121, "NonMaxSuppression", opaque, Layout::any},
    {126, "MatMul", matrix_product, Layout::any},
    {128, "CumSum", opaque, Layout::alike},
    {130, "Expand", opaque, Layout::alike},
    {code::conv_3d, "Conv", volume_convolution, Layout::any},
    {141, "ConvTranspose", volume_convolution, Layout::any},
}};

std::map<std::int32_t, Rule> all_rules() {
  std::map<std::int32_t, Rule> all;
  for (const Row& row : rows) all[row.code] = {row.name, row.convert, row.layout};
  for (const Function& one : functions) all[one.code] = {one.name, function, Layout::alike};
  for (const Function& one : pairs) all[one.code] = {one.name, pair, Layout::alike};
  for (const std::int32_t sum : {code::add, code::mul, code::add_n}) all[sum] = {"Add", pair, Layout::alike};
  for (const std::int32_t reduction : {40, 74, 81, 82, 89, 91, 140}) {
    all[reduction] = {"Reduce", reduce, Layout::alike};
  }
  return all;
}

}  // namespace

std::string function_name(std::int32_t code) {
  for (const Function& one : functions) {
    if (one.code == code) return one.name;
  }
  for (const Function& one : pairs) {
    if (one.code == code) return one.name;
  }
  return {};
}

const Rule* rule_of(std::int32_t code, const std::string& custom) {
  static const Rule mediapipe_transposed = {"ConvTranspose", transposed_convolution, Layout::images};
  if (code == tflite::code::custom) return custom == "Convolution2DTransposeBias" ? &mediapipe_transposed : nullptr;
  static const std::map<std::int32_t, Rule> rules = all_rules();
  const auto found = rules.find(code);
  return found == rules.end() ? nullptr : &found->second;
}

}  // namespace tenshot::nasbench::tflite
