// Which of TensorFlow Lite's operators are read how: BuiltinOperator of tensorflow/lite/schema/schema.fbs.

#include <map>
#include <sstream>

#include "nasbench/formats/tflite_operation.h"
#include "nasbench/support/numbers_below.h"

namespace tenshot::nasbench::tflite {
namespace {

using Layout = Rule::Layout;

/// Operators that are read alike: numbers in the schema, each before the name of ONNX, or of functions the network's.
struct Row {
  Convert* convert;
  Layout layout;
  const char* operators;
};

constexpr std::array<Row, 26> rows = {{
    {function, Layout::alike,
     "8 floor 14 sigmoid 19 relu 20 clip 21 relu6 28 tanh 47 exp 53 cast 59 negate 66 sin 73 log 75 sqrt 76 rsqrt "
     "87 not 92 square 98 leaky_relu 101 absolute 104 ceil 108 cos 111 elu 116 round 117 hard_swish 150 gelu 152 "
     "clip 158 sign"},
    {pair, Layout::alike,
     "41 subtract 42 divide 54 prelu 55 maximum 57 minimum 58 less 61 greater 62 greater_or_equal 63 less_or_equal "
     "64 where 71 equal 72 not_equal 78 power 84 or 86 and 90 floor_divide 95 modulo 99 squared_difference 123 "
     "where 156 atan2"},
    {pool, Layout::images, "1 AveragePool 17 MaxPool"},
    {concatenate, Layout::alike, "2 Concat"},
    {convolution, Layout::images, "3 Conv 4 Conv"},
    {transposed_convolution, Layout::images, "67 ConvTranspose"},
    {volume_convolution, Layout::any, "132 Conv 141 ConvTranspose"},
    {fully_connected, Layout::any, "9 Gemm"},
    {matrix_product, Layout::any, "126 MatMul"},
    {recurrent, Layout::any, "16 LSTM 24 RNN 27 SVDF 35 RNN 44 LSTM 46 RNN 52 LSTM"},
    {reshape, Layout::any, "22 Reshape 43 Squeeze 70 Unsqueeze"},
    {transpose, Layout::any, "39 Transpose"},
    {resize, Layout::images, "23 Resize 97 Resize"},
    {softmax, Layout::alike, "25 Softmax 50 LogSoftmax"},
    {pad, Layout::alike, "34 Pad 60 Pad 100 Pad"},
    {gather, Layout::any, "36 Gather"},
    {slice, Layout::alike, "45 Slice 65 Slice"},
    {split, Layout::alike, "49 Split 102 Split"},
    {pack, Layout::any, "83 Concat"},
    {unpack, Layout::any, "88 Split"},
    {pair, Layout::alike, "0 Add 18 Add 106 Add"},
    {reduce, Layout::alike, "40 Reduce 74 Reduce 81 Reduce 82 Reduce 89 Reduce 91 Reduce 140 Reduce"},
    {opaque, Layout::images, "5 DepthToSpace 12 LpPool 13 LRN 26 SpaceToDepth 37 BatchToSpace 38 SpaceToBatch"},
    {opaque, Layout::alike, "11 LpNormalization 69 Tile 118 If 128 CumSum 130 Expand"},
    {opaque, Layout::any, "7 Gather 48 TopK 56 ArgMax 79 ArgMin 85 OneHot 107 GatherND 109 NonZero"},
    {opaque, Layout::any, "120 NonMaxSuppression 121 NonMaxSuppression"},
}};

std::map<std::int32_t, Rule> all_rules() {
  std::map<std::int32_t, Rule> all;
  for (const Row& row : rows) {
    std::istringstream operators(row.operators);
    std::int32_t code = 0;
    for (std::string name; operators >> code >> name;) all[code] = {name, row.convert, row.layout};
  }
  return all;
}

}  // namespace

const Rule* rule_of(std::int32_t code, const std::string& custom) {
  static const Rule mediapipe_transposed = {"ConvTranspose", transposed_convolution, Layout::images};
  if (code == tflite::code::custom) return custom == "Convolution2DTransposeBias" ? &mediapipe_transposed : nullptr;
  static const std::map<std::int32_t, Rule> rules = all_rules();
  const auto found = rules.find(code);
  return found == rules.end() ? nullptr : &found->second;
}

std::vector<bool> images_of(const TfliteFile& file) {
  std::vector<std::size_t> sets = numbers_below(file.tensors.size());  // of tensors that are alike: the way to a root
  std::vector<bool> images(sets.size(), false);
  const auto root = [&sets](std::size_t tensor) {
    while (sets[tensor] != tensor) {
      sets[tensor] = sets[sets[tensor]];
      tensor = sets[tensor];
    }
    return tensor;
  };
  const auto has_image_rank = [&file](std::size_t i) {
    return file.tensors[i].shape.size() == 4 && !file.tensors[i].has_data;
  };
  for (const TfliteOperator& op : file.operators) {
    const Rule* rule = rule_of(op.code, op.custom);
    const bool hands_on = op.code == code::quantize || op.code == code::dequantize || op.code == code::fake_quant;
    if (rule == nullptr ? !hands_on : rule->layout == Layout::any) continue;
    std::optional<std::size_t> first;
    for (const auto* list : {&op.inputs, &op.outputs}) {
      for (const std::int32_t index : *list) {
        const auto tensor = static_cast<std::size_t>(index);
        if (index < 0 || !has_image_rank(tensor)) continue;
        const std::size_t other = root(tensor), all = first ? root(*first) : other;
        images[all] = images[all] || images[other] || (rule != nullptr && rule->layout == Layout::images);
        sets[other] = all;
        first = all;
      }
    }
  }
  std::vector<bool> result(sets.size());
  for (std::size_t i = 0; i < sets.size(); ++i) result[i] = has_image_rank(i) && images[root(i)];
  return result;
}

}  // namespace tenshot::nasbench::tflite
