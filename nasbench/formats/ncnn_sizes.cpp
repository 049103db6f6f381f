// Layers of ncnn that make images larger or smaller, and boxes over them.

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "nasbench/formats/ncnn_layer.h"
#include "nasbench/graph/limits.h"

namespace tenshot::nasbench::ncnn {

void padding(LayerReader& layer) {
  const std::size_t rank = layer.shape().size();
  Shape shape = layer.shape();
  NetworkNode node = layer.node(OperatorKind::pad, shape);
  node.attributes.mode = layer.one_of({"constant", "edge", "reflect"}, 4);
  node.attributes.alpha = layer.real(5, 0);
  node.attributes.starts.assign(rank, 0);
  node.attributes.ends.assign(rank, 0);
  const auto set = [&](std::size_t axis, std::int64_t before, std::int64_t behind) {
    node.attributes.starts[axis] = before;
    node.attributes.ends[axis] = behind;
    shape[axis] += before + behind;
  };
  set(rank - 1, layer.whole(2, 0), layer.whole(3, 0));
  if (rank > 2) set(rank - 2, layer.whole(0, 0), layer.whole(1, 0));
  if (rank > 3) set(rank - 3, layer.whole(7, 0), layer.whole(8, 0));  // channels, or the depth of a volume
  node.outputs[0].shape = shape;
  append(layer, std::move(node));
}

void resize(LayerReader& layer) {
  const std::string mode = layer.one_of({"nearest", "nearest", "linear", "cubic"}, 0);
  Source image = layer.source();
  const Shape from = layer.shape();
  if (from.size() == 2) image = layer.builder().reshape(layer.name() + "_image", image, {1, from[1], 1, 1});
  const Shape old = layer.builder().type(image).shape;
  const std::size_t rank = old.size();
  Shape shape = old;
  const auto extent = [&](std::size_t axis, std::int64_t fixed, double factor) {
    if (layer.whole(5, 0) != 0 && layer.size() > 1 && layer.shape(1).size() >= 3) {
      return layer.shape(1)[layer.shape(1).size() - rank + axis];
    }
    const double scaled = std::floor(static_cast<double>(old[axis]) * factor);
    return fixed > 0 ? fixed : scaled >= 1 && scaled < 2e9 ? static_cast<std::int64_t>(scaled) : 0;
  };
  if (layer.size() > 1 && layer.shape(1).size() < rank) throw FormatError("its second input has no size of an image");
  std::vector<std::int64_t> sizes = layer.list(9);  // in later releases they may be computed from sizes
  if (sizes.empty()) sizes = {layer.whole(4, 0), layer.whole(3, 0)};
  shape[rank - 1] = extent(rank - 1, sizes[0], layer.real(2, 1));
  if (rank > 3) shape[rank - 2] = extent(rank - 2, sizes.size() > 1 ? sizes[1] : 1, layer.real(1, 1));
  NetworkNode node = layer.node(OperatorKind::resize, shape);
  node.inputs = {image};
  node.operation.constants.clear();
  if (mode == "cubic") node.operation.name = mode;
  node.attributes.mode = layer.whole(6, 0) != 0 && mode == "linear" ? "linear_aligned" : mode;
  layer.give(layer.builder().append(std::move(node)));
}

void shuffle(LayerReader& layer) {
  const int groups = layer.whole(0, 1);
  const std::int64_t channels = layer.shape().at(1);
  require_groups(groups, channels, channels);
  layer.give(layer.builder().shuffle(layer.name(), layer.source(),
                                     layer.whole(1, 0) != 0 ? static_cast<int>(channels / groups) : groups));
}

void pixel_shuffle(LayerReader& layer) {
  Shape shape = layer.shape();
  const std::int64_t factor = layer.whole(0, 1), window = factor * factor;
  const bool to_pixels = layer.type() == "PixelShuffle";
  if (shape.size() != 4 || factor < 1 || factor > 1024) throw FormatError("it takes an image and a factor from 1");
  const bool fits = to_pixels ? shape[1] % window == 0 : shape[2] % factor == 0 && shape[3] % factor == 0;
  if (!fits) reject({"a factor of ", factor, " does not fit ", shape});
  shape = to_pixels ? Shape{1, shape[1] / window, shape[2] * factor, shape[3] * factor}
                    : Shape{1, shape[1] * window, shape[2] / factor, shape[3] / factor};
  layer.give_opaque(to_pixels ? "DepthToSpace" : "SpaceToDepth", shape);
}

/// Half of the numbers along an axis, each multiplied by a function of the other half.
void gated(LayerReader& layer) {
  Shape shape = layer.shape();
  shape[static_cast<std::size_t>(layer.axis(layer.whole(0, 0)))] /= 2;
  layer.give_opaque("GLU", shape);
}

/// The second input says where each number is taken from; its coordinates are the last dimension, or the first.
void grid_sample(LayerReader& layer) {
  const Shape &image = layer.shape(), &grid = layer.shape(1);
  const int first = layer.whole(3, 0) != 0 ? 2 : 1;
  if (image.size() < 4 || grid.size() != image.size()) reject({"its grid of ", grid, " does not fit"});
  Shape shape = {1, image[1]};
  shape.insert(shape.end(), grid.begin() + first, grid.end() - 2 + first);
  layer.give_opaque("GridSample", shape);
}

void tile(LayerReader& layer) {
  Shape shape = layer.shape();
  const std::vector<std::int64_t> repeats = layer.list(2);
  if (repeats.size() > 4) throw FormatError("it repeats more than four dimensions");
  if (repeats.empty()) shape[static_cast<std::size_t>(layer.axis(layer.whole(0, 0)))] *= layer.whole(1, 1);
  if (repeats.size() >= shape.size()) shape.insert(shape.begin() + 1, repeats.size() + 1 - shape.size(), 1);
  for (std::size_t i = 0; i < repeats.size(); ++i) shape[shape.size() - repeats.size() + i] *= repeats[i];
  layer.give_opaque("Tile", shape);
}

/// A box of an image, as small as the layer says; the second input says where it lies.
void region(LayerReader& layer) {
  const std::int64_t channels = layer.type() == "PSROIPooling" ? layer.whole(3, 0) : layer.shape().at(1);
  layer.give_opaque("RoiAlign", {1, channels, layer.whole(1, 0), layer.whole(0, 0)});
}

void largest(LayerReader& layer) { layer.give_opaque("TopK", {1, layer.whole(0, 0) != 0 ? 2 : 1, layer.whole(1, 1)}); }

/// The diagonal of a matrix, or a matrix with that diagonal.
void diagonal(LayerReader& layer) {
  const Shape& from = layer.shape();
  const std::int64_t place = layer.whole(0, 0), away = std::abs(place);
  if (from.size() == 2) return layer.give_opaque("Diag", {1, from[1] + away, from[1] + away});
  if (from.size() != 3) reject({"it takes a vector or a matrix, found ", from});
  layer.give_opaque("Diag", {1, place < 0 ? std::min(from[1] - away, from[2]) : std::min(from[1], from[2] - away)});
}

/// Frames of a signal as frequencies, and back from both parts of complex ones.
void spectrogram(LayerReader& layer) {
  const Shape& from = layer.shape();
  const std::int64_t size = layer.whole(0, 0), step = layer.whole(2, static_cast<int>(size / 4));
  const bool back = layer.type() == "InverseSpectrogram", centred = layer.whole(5, 1) != 0;
  const std::int64_t length = element_count(from) + (centred ? size / 2 * 2 : 0);
  if (size < 1 || step < 1 || (back ? from.size() != 4 || from[3] != 2 : length < size)) {
    reject({"its frames do not fit its input of ", from});
  }
  Shape shape = {1, layer.whole(8, 1) != 0 ? size / 2 + 1 : size, (length - size) / step + 1};
  if (back) shape = {1, (from[2] - 1) * step + (centred ? size % 2 : size)};
  if (layer.whole(1, 0) == 0) shape.push_back(2);
  layer.give_opaque(back ? layer.type() : "STFT", shape);
}

/// Boxes of several sizes at each position, and how far they may vary.
void prior_box(LayerReader& layer) {
  const Shape& image = layer.shape();
  if (image.size() != 4) reject({"it takes an image, found ", image});
  const auto count = [&](std::int64_t key) { return static_cast<std::int64_t>(layer.numbers(key).size()); };
  const std::int64_t smallest = std::max<std::int64_t>(1, count(0)),
                     ratios = count(2) * (layer.whole(7, 1) != 0 ? 2 : 1);
  layer.give_opaque("PriorBox", {1, 2, 4 * image[2] * image[3] * (smallest * (ratios + 1) + count(1))});
}

}  // namespace tenshot::nasbench::ncnn
