#include "nasbench/graph/layer_graph_builder.h"

#include "nasbench/support/error.h"

namespace tenshot::nasbench {
namespace {

std::string text(const TensorShape& shape) {
  return std::to_string(shape.channels) + "×" + std::to_string(shape.height) + "×" + std::to_string(shape.width);
}

int positions(int length, const Window& window) {
  const int room = length + 2 * window.padding - window.kernel;
  return room < 0 ? 0 : room / window.stride + 1;
}

}  // namespace

LayerGraphBuilder::LayerGraphBuilder(const TensorShape& input) { append(LayerKind::input, "input", {}, input); }

int LayerGraphBuilder::convolution(std::string name, int input, int channels, const Window& window) {
  return windowed(LayerKind::convolution, std::move(name), input, channels, window);
}

int LayerGraphBuilder::batch_norm(std::string name, int input) {
  return append(LayerKind::batch_norm, std::move(name), {input}, shape(input));
}

int LayerGraphBuilder::relu(std::string name, int input) {
  return append(LayerKind::relu, std::move(name), {input}, shape(input));
}

int LayerGraphBuilder::average_pool(std::string name, int input, const Window& window) {
  return windowed(LayerKind::average_pool, std::move(name), input, shape(input).channels, window);
}

int LayerGraphBuilder::global_average_pool(std::string name, int input) {
  return append(LayerKind::global_average_pool, std::move(name), {input}, {shape(input).channels, 1, 1});
}

int LayerGraphBuilder::add(std::string name, int first, int second) {
  if (shape(first) != shape(second)) {
    throw InputError("layer " + name + ": cannot add tensors of " + text(shape(first)) + " and " + text(shape(second)) +
                     "; the shapes must be equal");
  }
  return append(LayerKind::add, std::move(name), {first, second}, shape(first));
}

int LayerGraphBuilder::zero(std::string name, int input) {
  return append(LayerKind::zero, std::move(name), {input}, shape(input));
}

int LayerGraphBuilder::linear(std::string name, int input, int outputs) {
  return append(LayerKind::linear, std::move(name), {input}, {outputs, 1, 1});
}

int LayerGraphBuilder::windowed(LayerKind kind, std::string name, int input, int channels, const Window& window) {
  const TensorShape output = {channels, positions(shape(input).height, window), positions(shape(input).width, window)};
  if (output.height == 0 || output.width == 0) {
    throw InputError("layer " + name + ": a kernel of " + std::to_string(window.kernel) + " with padding " +
                     std::to_string(window.padding) + " does not fit an input of " + text(shape(input)));
  }
  return append(kind, std::move(name), {input}, output, window);
}

int LayerGraphBuilder::append(LayerKind kind, std::string name, std::vector<int> inputs, const TensorShape& output,
                              const Window& window) {
  graph_.layers.push_back(
      {kind, std::move(name), std::move(inputs), output, window.kernel, window.stride, window.padding});
  return static_cast<int>(graph_.layers.size()) - 1;
}

}  // namespace tenshot::nasbench
