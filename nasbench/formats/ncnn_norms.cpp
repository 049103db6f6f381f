// Layers of ncnn that normalise, reduce, keep a state, or look something up.

#include <algorithm>
#include <numeric>
#include <utility>

#include "nasbench/formats/ncnn_layer.h"
#include "nasbench/graph/limits.h"

namespace tenshot::nasbench::ncnn {

/// Adds a norm, which may have neither scale nor shift.
static void append_norm(LayerReader& layer, NetworkNode node, bool has_scale) {
  if (!has_scale) node.stored = {{"", 2 * channel_count(node.operation, layer.shape())}};
  append(layer, std::move(node));
}

void normalise(LayerReader& layer) {
  const Shape& shape = layer.shape();
  const std::string& type = layer.type();
  const std::int64_t channels = shape.at(1);
  if (type == "BatchNorm") {
    NetworkNode node = same_shape(layer, OperatorKind::batch_norm);
    node.attributes.alpha = layer.real(1, 0);
    return append(layer, std::move(node));
  }
  if (type == "LayerNorm") {
    const std::int64_t size = layer.whole(0, 0);
    const bool has_scale = layer.whole(2, 1) != 0;
    if (size != shape.back()) {
      return layer.give_opaque(
          "LayerNormalization", shape,
          has_scale ? std::vector<Shape>{{2, std::max<std::int64_t>(size, 1)}} : std::vector<Shape>());
    }
    NetworkNode node = same_shape(layer, OperatorKind::layer_norm);
    node.attributes.alpha = layer.real(1, 0.001);
    node.attributes.axes = {static_cast<std::int64_t>(shape.size()) - 1};
    return append_norm(layer, std::move(node), has_scale);
  }
  const int groups = type == "GroupNorm" ? layer.whole(0, 1) : static_cast<int>(channels);
  require_groups(groups, channels, channels);
  NetworkNode node = same_shape(layer, OperatorKind::group_norm);
  node.operation.groups = groups;
  node.attributes.alpha = layer.real(type == "GroupNorm" ? 2 : 1, 0.001);
  append_norm(layer, std::move(node), layer.whole(type == "GroupNorm" ? 3 : 2, 1) != 0);
}

void same_shape_opaque(LayerReader& layer) {
  static const std::map<std::string, std::string> names = {{"CumulativeSum", "CumSum"},
                                                           {"MVN", "MeanVarianceNormalization"},
                                                           {"Normalize", "LpNormalization"},
                                                           {"RMSNorm", "RMSNormalization"},
                                                           {"RotaryEmbed", "RotaryEmbedding"}};
  const std::string& type = layer.type();
  const std::int64_t scales = type == "Normalize"                           ? layer.whole(3, 0)
                              : type == "RMSNorm" && layer.whole(2, 1) != 0 ? layer.whole(0, 0)
                                                                            : 0;
  const auto onnx = names.find(type);
  layer.give_opaque(onnx == names.end() ? type : onnx->second, layer.shape(),
                    scales > 1 ? std::vector<Shape>{{scales}} : std::vector<Shape>());
}

void softmax(LayerReader& layer) {
  NetworkNode node = same_shape(layer, OperatorKind::softmax);
  node.attributes.axes = {layer.axis(layer.whole(0, 0))};
  append(layer, std::move(node));
}

void reduce(LayerReader& layer) {
  static const std::array<const char*, 11> names = {"sum",     "l1", "sum_square", "mean",    "max",        "min",
                                                    "product", "l1", "l2",         "log_sum", "log_sum_exp"};
  const char* name = layer.one_of(names, 0);
  const Shape& from = layer.shape();
  std::vector<std::int64_t> axes;
  for (const std::int64_t axis : layer.list(3)) axes.push_back(layer.axis(axis));
  if (layer.whole(1, 1) != 0) {
    axes.resize(from.size() - 1);
    std::iota(axes.begin(), axes.end(), 1);
  }
  const bool keeps = layer.whole(4, 0) != 0;
  Shape shape;
  for (std::size_t i = 0; i < from.size(); ++i) {
    const bool reduced = std::find(axes.begin(), axes.end(), static_cast<std::int64_t>(i)) != axes.end();
    if (!reduced || keeps) shape.push_back(reduced ? 1 : from[i]);
  }
  if (shape.size() < 2) shape.push_back(1);
  std::sort(axes.begin(), axes.end());
  NetworkNode node = layer.node(OperatorKind::reduce, shape);
  node.inputs = {layer.source()};
  node.operation.constants.clear();
  set_reduction(node, name, std::move(axes), from.size() == 4);
  append(layer, std::move(node));
}

/// One layer over a sequence of steps: {1, steps, width}.
void recurrent(LayerReader& layer) {
  const Shape& shape = layer.shape();
  if (shape.size() != 3) throw FormatError("it takes steps of a width, found " + format(shape));
  const std::int64_t gates = layer.type() == "LSTM" ? 4 : layer.type() == "GRU" ? 3 : 1;
  const std::int64_t units = layer.whole(0, 0),
                     hidden = layer.type() == "LSTM" ? layer.whole(3, layer.whole(0, 0)) : units;
  const std::int64_t directions = layer.whole(2, 0) == 2 ? 2 : 1;
  if (units < 1 || hidden < 1) throw FormatError("it has no units");
  std::vector<Shape> weights = {{directions, gates * hidden, shape[2]},
                                {directions, gates * hidden, units},
                                {directions, (layer.type() == "GRU" ? 4 : gates) * hidden}};
  if (hidden != units) weights.push_back({directions, units, hidden});
  layer.give_opaque(layer.type(), {1, shape[1], directions * units}, std::move(weights));
}

/// Rows of a table.
void embed(LayerReader& layer) {
  const std::int64_t width = std::max(1, layer.whole(0, 0));
  std::vector<Shape> weights = {{std::max(1, layer.whole(1, 1)), width}};
  if (layer.whole(2, 0) != 0) weights.push_back({width});
  layer.give_opaque("Gather", {1, layer.shape().back(), width}, std::move(weights));
}

}  // namespace tenshot::nasbench::ncnn
