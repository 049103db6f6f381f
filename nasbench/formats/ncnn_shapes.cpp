// Layers of ncnn that move numbers: shapes, parts and joins.

#include <algorithm>

#include "nasbench/formats/ncnn_layer.h"
#include "nasbench/graph/limits.h"

namespace tenshot::nasbench::ncnn {
namespace {

constexpr int dropped = -233;  // a dimension that is not there, or the rest of one

void give_shape(LayerReader& layer, const Shape& shape) {
  if (layer.is_constant(0)) return layer.give_constant(shape);
  require_tensor_size(shape);
  layer.give(layer.builder().reshape(layer.name(), layer.source(), shape));
}

/// Parameters `keys` that say something of a blob's dimensions, the outermost first: channels, depth, height, width.
constexpr std::array<std::int64_t, 4> dimension_keys = {2, 11, 1, 0};

/// The axes that the array 3 names, or the flags of width, height, depth and channels, in a blob of `rank` dimensions
/// besides the batch; from the front, 1 being the first.
std::vector<std::size_t> named_axes(const LayerReader& layer, std::size_t rank) {
  std::vector<std::size_t> axes;
  for (const std::int64_t axis : layer.list(3)) axes.push_back(front_axis(axis, rank) + 1);
  if (!axes.empty()) return axes;
  if (layer.whole(2, 0) != 0 && rank > 2) axes.push_back(1);
  if (layer.whole(11, 0) != 0 && rank > 3) axes.push_back(2);
  if (layer.whole(1, 0) != 0 && rank > 1) axes.push_back(rank - 1);
  if (layer.whole(0, 0) != 0 && rank > 0) axes.push_back(rank);
  return axes;
}

struct Part {
  std::int64_t start, length;
};

void give_parts(LayerReader& layer, const std::vector<std::pair<std::int64_t, Part>>& parts) {
  Shape shape = layer.shape();
  NetworkNode node = layer.node(OperatorKind::split, shape, "slice");
  node.inputs = {layer.source()};
  node.operation.constants.clear();  // a second input says the size
  for (const auto& [axis, part] : parts) {
    std::int64_t& extent = shape[static_cast<std::size_t>(axis)];
    if (part.start < 0 || part.length < 1 || part.start > extent - part.length) {
      reject({"its part does not lie in ", layer.shape()});
    }
    extent = part.length;
    node.attributes.axes.push_back(axis);
    node.attributes.starts.push_back(part.start);
    node.attributes.steps.push_back(1);
  }
  node.outputs[0].shape = shape;
  layer.give(layer.builder().append(std::move(node)));
}

}  // namespace

void reshape(LayerReader& layer) {
  static constexpr std::array<std::string_view, 5> letters = {"", "w", "hw", "chw", "cdhw"};
  const Shape& from = layer.shape();
  Shape shape = {1};
  std::int64_t known = 1, place = -1;
  std::vector<std::int64_t> dimensions = layer.list(6);  // in later releases, from the width on
  std::reverse(dimensions.begin(), dimensions.end());
  for (const std::int64_t key : dimension_keys) {
    if (!layer.has(6) && layer.whole(key, dropped) != dropped) dimensions.push_back(layer.whole(key, 0));
  }
  if (dimensions.size() >= letters.size()) throw FormatError("it has more than four dimensions");
  for (std::size_t i = 0; i < dimensions.size(); ++i) {
    const std::int64_t dimension =
        dimensions[i] == 0 ? extent_of(from, letters[dimensions.size()][i]) : dimensions[i];  // 0: as it was
    if (dimension == -1 && place < 0) place = static_cast<std::int64_t>(shape.size());
    shape.push_back(dimension == -1 ? 1 : dimension);
    require_tensor_size(shape);
    known = element_count(shape);
  }
  const std::int64_t all = element_count(from);
  if (place >= 0) shape[static_cast<std::size_t>(place)] = all / known;
  if (shape.size() < 2 || element_count(shape) != all) reject({from, " does not hold as many numbers as ", shape});
  give_shape(layer, shape);
}

void flatten(LayerReader& layer) { give_shape(layer, {1, element_count(layer.shape())}); }

void squeeze(LayerReader& layer) {
  Shape shape = layer.shape();
  std::vector<std::size_t> axes = named_axes(layer, shape.size() - 1);
  std::sort(axes.rbegin(), axes.rend());
  for (const std::size_t axis : axes) {
    if (axis < shape.size() && shape.size() > 2 && shape[axis] == 1) {
      shape.erase(shape.begin() + static_cast<std::ptrdiff_t>(axis));
    }
  }
  give_shape(layer, shape);
}

void expand(LayerReader& layer) {
  Shape shape = layer.shape();
  const std::size_t added = layer.has(3)
                                ? layer.list(3).size()
                                : static_cast<std::size_t>((layer.whole(0, 0) != 0) + (layer.whole(1, 0) != 0) +
                                                           (layer.whole(2, 0) != 0) + (layer.whole(11, 0) != 0));
  std::vector<std::size_t> axes = named_axes(layer, shape.size() - 1 + added);
  std::sort(axes.begin(), axes.end());
  for (const std::size_t axis : axes) {
    shape.insert(shape.begin() + static_cast<std::ptrdiff_t>(std::min(axis, shape.size())), 1);
  }
  give_shape(layer, shape);
}

void permute(LayerReader& layer) {
  // What becomes the width, the height, …, by number; of two dimensions the first letters alone.
  static constexpr std::array<std::string_view, 2> two = {"WH", "HW"};
  static constexpr std::array<std::string_view, 6> three = {"WHC", "HWC", "WCH", "CWH", "HCW", "CHW"};
  static constexpr std::array<std::string_view, 24> four = {
      "WHDC", "HWDC", "WDHC", "DWHC", "HDWC", "DHWC", "WHCD", "HWCD", "WCHD", "CWHD", "HCWD", "CHWD",
      "WDCH", "DWCH", "WCDH", "CWDH", "DCWH", "CDWH", "HDCW", "DHCW", "HCDW", "CHDW", "DCHW", "CDHW"};
  const std::size_t rank = layer.shape().size() - 1;
  const auto number = static_cast<std::size_t>(std::max(0, layer.whole(0, 0)));
  const std::size_t all = rank == 2 ? two.size() : rank == 3 ? three.size() : four.size();
  if (rank < 2) return layer.give(layer.source());
  if (rank > 4 || number >= all) reject({"there is no order ", number});
  const std::string_view order = rank == 2 ? two[number] : rank == 3 ? three[number] : four[number];
  const std::string_view letters = rank == 2 ? "WH" : rank == 3 ? "WHC" : "WHDC";  // from behind
  std::vector<std::int64_t> axes = {0};
  for (std::size_t i = rank; i > 0; --i) axes.push_back(static_cast<std::int64_t>(rank - letters.find(order[i - 1])));
  layer.give(layer.builder().transpose(layer.name(), layer.source(), axes));
}

void concatenate(LayerReader& layer) {
  const std::int64_t axis = layer.axis(layer.whole(0, 0));
  Shape shape = layer.shape();
  std::int64_t extent = 0;
  for (std::size_t i = 0; i < layer.size(); ++i) {
    Shape other = layer.shape(i);
    if (other.size() != shape.size()) throw FormatError("its inputs have different numbers of dimensions");
    extent += std::exchange(other[static_cast<std::size_t>(axis)], shape[static_cast<std::size_t>(axis)]);
    if (other != shape) reject({layer.shape(i), " and ", shape, " cannot be joined"});
  }
  shape[static_cast<std::size_t>(axis)] = extent;
  NetworkNode node = layer.node(OperatorKind::concatenate, shape);
  node.attributes.axes = {axis};
  node.attributes.constant_first = layer.is_constant(0) && node.inputs.size() == 1;
  append(layer, std::move(node));
}

void slice(LayerReader& layer) {
  const std::int64_t axis = layer.axis(layer.whole(1, 0));
  std::int64_t left = layer.shape()[static_cast<std::size_t>(axis)];
  const std::int64_t all = left;
  std::vector<std::int64_t> sizes = layer.list(0);
  const std::vector<std::int64_t> places = layer.list(2);  // where parts begin, in later releases
  if (sizes.empty() && !places.empty()) {
    std::int64_t start = 0;
    for (std::size_t i = 0; i <= places.size(); ++i) {
      const std::int64_t at = i == places.size() ? all : places[i] < 0 ? places[i] + all : places[i];
      sizes.push_back(at - start);
      start = at;
    }
  }
  sizes.resize(layer.outputs(), dropped);
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] == dropped) sizes[i] = left / static_cast<std::int64_t>(sizes.size() - i);
    if (sizes[i] < 1 || sizes[i] > left) reject({"its parts do not fit ", layer.shape()});
    left -= sizes[i];
  }
  if (left != 0) sizes.push_back(left);  // a part that nobody reads
  const std::vector<Source> parts = layer.builder().split(layer.name(), layer.source(), sizes, axis);
  for (std::size_t i = 0; i < layer.outputs(); ++i) layer.give(parts[i]);
}

void crop(LayerReader& layer) {
  const Shape& from = layer.shape();
  std::vector<std::pair<std::int64_t, Part>> parts;
  const std::int64_t first = layer.has(19) ? 19 : 9;  // in later releases these may be computed from sizes
  const std::vector<std::int64_t> starts = layer.list(first), ends = layer.list(first + 1),
                                  axes = layer.list(first + 2);
  for (std::size_t i = 0; i < starts.size(); ++i) {
    const std::int64_t axis = layer.axis(i < axes.size() ? axes[i] : static_cast<std::int64_t>(i));
    const std::int64_t extent = from[static_cast<std::size_t>(axis)];
    const auto place = [&](std::int64_t at) { return std::clamp<std::int64_t>(at < 0 ? at + extent : at, 0, extent); };
    const bool open = i >= ends.size() || ends[i] == dropped;
    const std::int64_t start = starts[i] == dropped ? 0 : place(starts[i]), end = open ? extent : place(ends[i]);
    parts.push_back({axis, {start, end - start}});
  }
  constexpr std::array<std::array<std::int64_t, 3>, 4> keys = {
      {{0, 3, 6}, {1, 4, 7}, {2, 5, 8}, {13, 14, 15}}};  // of the width, the height, the channels and the depth
  for (std::size_t i = 0; starts.empty() && i < keys.size() && i + 1 < from.size(); ++i) {
    const std::size_t axis = i >= 2 ? i - 1 : from.size() - 1 - i;
    const std::int64_t start = layer.whole(keys[i][0], 0);
    std::int64_t length = layer.whole(keys[i][1], 0);
    if (layer.size() > 1 && layer.shape(1).size() == from.size()) length = layer.shape(1)[axis];
    if (length == 0 && start == 0) continue;
    if (length == dropped || length == 0) length = from[axis] - start - layer.whole(keys[i][2], 0);
    parts.push_back({static_cast<std::int64_t>(axis), {start, length}});
  }
  give_parts(layer, parts);
}

}  // namespace tenshot::nasbench::ncnn
