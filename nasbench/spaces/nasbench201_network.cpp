#include "nasbench/spaces/nasbench201_network.h"

#include <array>
#include <cstddef>
#include <string>
#include <utility>

#include "nasbench/graph/layer_graph_builder.h"
#include "nasbench/support/error.h"

namespace tenshot::nasbench {
namespace {

constexpr int image_channels = 3;
constexpr std::size_t stage_count = 3;
constexpr int largest_resolution = 1 << 14;  // beyond it counts would leave 64 bits, and no device has the memory
constexpr int largest_class_count = 1'000'000;

struct Stage {
  int channels;
  int resolution;
};

std::array<Stage, stage_count> stages_of(const NetworkShape& shape) {
  if (shape.resolution < 4 || shape.resolution % 4 != 0 || shape.resolution > largest_resolution) {
    throw InputError("resolution " + std::to_string(shape.resolution) +
                     ": nasbench201 halves its image twice and needs a multiple of 4 from 4 to " +
                     std::to_string(largest_resolution));
  }
  if (shape.classes < 1 || shape.classes > largest_class_count) {
    throw InputError(std::to_string(shape.classes) + " classes: nasbench201 needs from 1 to " +
                     std::to_string(largest_class_count));
  }
  return {{{16, shape.resolution}, {32, shape.resolution / 2}, {64, shape.resolution / 4}}};
}

std::int64_t convolution_flops(int inputs, int outputs, int kernel, int resolution) {
  return static_cast<std::int64_t>(kernel) * kernel * inputs * outputs * resolution * resolution;
}

/// ReLU, convolution, batch norm: the benchmark's order.
int relu_conv_norm(LayerGraphBuilder& builder, const std::string& prefix, int input, int channels,
                   const Window& window) {
  const int relu = builder.relu(prefix + "_relu", input);
  const int conv = builder.convolution(prefix + "_conv", relu, channels, window);
  return builder.batch_norm(prefix + "_norm", conv);
}

/// Adds what `operation` computes of `input` and returns the layer that holds it, which for a skip is `input` itself.
int apply(LayerGraphBuilder& builder, Operation operation, const std::string& prefix, int input, int channels) {
  switch (operation) {
    case Operation::none: return builder.zero(prefix + "_zero", input);
    case Operation::skip_connect: return input;
    case Operation::nor_conv_1x1: return relu_conv_norm(builder, prefix, input, channels, {1, 1, 0});
    case Operation::nor_conv_3x3: return relu_conv_norm(builder, prefix, input, channels, {3, 1, 1});
    case Operation::avg_pool_3x3: return builder.average_pool(prefix + "_pool", input, {3, 1, 1});
  }
  throw InputError(prefix + ": operation " + std::to_string(static_cast<int>(operation)) + " does not exist");
}

/// A node is the sum of its incoming edges, in the order of `edges`; node 3 is the cell's output.
int append_cell(LayerGraphBuilder& builder, const Cell& cell, const std::string& prefix, int input, int channels) {
  std::array<int, node_count> nodes{};
  std::array<int, node_count> summands{};
  nodes[0] = input;
  for (std::size_t e = 0; e < edge_count; ++e) {
    const auto source = static_cast<std::size_t>(edges[e].source);
    const auto target = static_cast<std::size_t>(edges[e].target);
    const int value = apply(builder, cell[e], prefix + "_edge" + std::to_string(e), nodes[source], channels);
    const int before = summands[target]++;
    nodes[target] = before == 0
                        ? value
                        : builder.add(prefix + "_node" + std::to_string(target) + "_add" + std::to_string(before),
                                      nodes[target], value);
  }
  return nodes.back();
}

/// Halves the resolution and changes the channels, with a shortcut by average pooling (the benchmark's
/// ResNetBasicblock).
int append_residual_block(LayerGraphBuilder& builder, const std::string& prefix, int input, int channels) {
  const int a = relu_conv_norm(builder, prefix + "_a", input, channels, {3, 2, 1});
  const int b = relu_conv_norm(builder, prefix + "_b", a, channels, {3, 1, 1});
  const int pool = builder.average_pool(prefix + "_shortcut_pool", input, {2, 2, 0});
  const int shortcut = builder.convolution(prefix + "_shortcut_conv", pool, channels, {1, 1, 0});
  return builder.add(prefix + "_add", shortcut, b);
}

}  // namespace

LayerGraph cell_network(const Cell& cell, const NetworkShape& shape) {
  const std::array<Stage, stage_count> stages = stages_of(shape);
  LayerGraphBuilder builder({image_channels, shape.resolution, shape.resolution});
  const int stem = builder.convolution("stem_conv", builder.input(), stages[0].channels, {3, 1, 1});
  int last = builder.batch_norm("stem_norm", stem);
  int cells = 0;
  for (std::size_t s = 0; s < stages.size(); ++s) {
    if (s > 0) last = append_residual_block(builder, "residual" + std::to_string(s), last, stages[s].channels);
    for (int i = 0; i < cells_per_stage; ++i) {
      last = append_cell(builder, cell, "cell" + std::to_string(cells++), last, stages[s].channels);
    }
  }
  last = builder.batch_norm("head_norm", last);
  last = builder.relu("head_relu", last);
  last = builder.global_average_pool("head_pool", last);
  builder.linear("head_linear", last, shape.classes);
  return builder.take();
}

std::int64_t cell_network_flop_count(const Cell& cell, const NetworkShape& shape) {
  const std::array<Stage, stage_count> stages = stages_of(shape);
  std::int64_t count = convolution_flops(image_channels, stages[0].channels, 3, stages[0].resolution);
  for (std::size_t s = 0; s < stages.size(); ++s) {
    const auto [channels, resolution] = stages[s];
    for (const Operation operation : cell) {
      const int kernel = operation == Operation::nor_conv_3x3 ? 3 : operation == Operation::nor_conv_1x1 ? 1 : 0;
      count += cells_per_stage * convolution_flops(channels, channels, kernel, resolution);
    }
    if (s == 0) continue;
    const int before = stages[s - 1].channels;
    count += convolution_flops(before, channels, 3, resolution) + convolution_flops(channels, channels, 3, resolution) +
             convolution_flops(before, channels, 1, resolution);
  }
  const std::int64_t classifier_inputs = stages.back().channels;
  return count + (classifier_inputs + 1) * shape.classes;
}

std::optional<OperatorSequence> cell_operation(std::string_view name, int channels, int resolution) {
  constexpr int largest = 1 << 20;
  if (channels < 1 || resolution < 1 || channels > largest || resolution > largest) return std::nullopt;
  const Shape image = {1, channels, resolution, resolution};
  const auto plain = [&image](OperatorKind kind) {
    OperatorSpecification op;
    op.kind = kind;
    op.inputs = {image};
    op.output = image;
    return op;
  };
  const auto windowed = [&plain](OperatorKind kind, int size) {
    OperatorSpecification op = plain(kind);
    op.kernel = {size, size};
    return op;
  };
  OperatorSpecification relu = plain(OperatorKind::activation), add = plain(OperatorKind::add);
  relu.name = "relu";
  add.inputs.push_back(image);
  const OperatorSpecification norm = plain(OperatorKind::batch_norm);
  if (name == "skip_connect") return OperatorSequence{image, {}};
  if (name == "nor_conv_1x1") return OperatorSequence{image, {relu, windowed(OperatorKind::convolution, 1), norm}};
  if (name == "nor_conv_3x3") return OperatorSequence{image, {relu, windowed(OperatorKind::convolution, 3), norm}};
  if (name == "avg_pool_3x3") return OperatorSequence{image, {windowed(OperatorKind::average_pool, 3)}};
  if (name == "none" || name == "multiply") return OperatorSequence{image, {plain(OperatorKind::multiply)}};
  if (name == "add") return OperatorSequence{image, {add}};
  if (name == "relu") return OperatorSequence{image, {relu}};
  return std::nullopt;
}

std::vector<Operator> cell_operators(const NetworkShape& shape) {
  std::vector<Operator> operators;
  for (std::size_t o = 0; o < operation_count; ++o) {
    for (const auto& [channels, resolution] : stages_of(shape)) {
      LayerGraphBuilder builder({channels, resolution, resolution});
      const std::string name(operation_names[o]);
      apply(builder, static_cast<Operation>(o), name, builder.input(), channels);
      operators.push_back({name, *cell_operation(name, channels, resolution), builder.take()});
    }
  }
  return operators;
}

std::vector<OperationChain> cell_operation_chains(const NetworkShape& shape) {
  using Append = int (*)(LayerGraphBuilder&, const std::string&, int input, int before, int channels);
  // `before` is the chain's first tensor: from the second addition on, the two that are added differ.
  const std::vector<std::pair<const char*, Append>> operations = {
      {"nor_conv_1x1", [](auto& builder, const auto& prefix, int input, int,
                          int channels) { return apply(builder, Operation::nor_conv_1x1, prefix, input, channels); }},
      {"nor_conv_3x3", [](auto& builder, const auto& prefix, int input, int,
                          int channels) { return apply(builder, Operation::nor_conv_3x3, prefix, input, channels); }},
      {"avg_pool_3x3", [](auto& builder, const auto& prefix, int input, int,
                          int channels) { return apply(builder, Operation::avg_pool_3x3, prefix, input, channels); }},
      {"add", [](auto& builder, const auto& prefix, int input, int before,
                 int) { return builder.add(prefix + "_add", input, before); }},
      {"relu",
       [](auto& builder, const auto& prefix, int input, int, int) { return builder.relu(prefix + "_relu", input); }},
      {"multiply",
       [](auto& builder, const auto& prefix, int input, int, int) { return builder.zero(prefix + "_zero", input); }}};
  constexpr int repeats = 8;
  const auto chain = [](const Stage& stage, const std::string& name, Append append, int instances) {
    LayerGraphBuilder builder({stage.channels, stage.resolution, stage.resolution});
    const int before = relu_conv_norm(builder, "before", builder.input(), stage.channels, {1, 1, 0});
    int last = before;
    for (int i = 0; i < instances; ++i) {
      last = append(builder, name + std::to_string(i), last, before, stage.channels);
    }
    relu_conv_norm(builder, "after", last, stage.channels, {1, 1, 0});
    return builder.take();
  };
  std::vector<OperationChain> chains;
  for (const auto& [name, append] : operations) {
    for (const Stage& stage : stages_of(shape)) {
      chains.push_back({name, *cell_operation(name, stage.channels, stage.resolution), repeats,
                        chain(stage, name, append, repeats), chain(stage, name, append, 0)});
    }
  }
  return chains;
}

std::vector<double> cell_operator_occurrences(const Cell& cell) {
  std::vector<double> occurrences(operation_count * stage_count, 0);
  for (const Operation operation : cell) {
    for (std::size_t s = 0; s < stage_count; ++s) {
      occurrences[static_cast<std::size_t>(operation) * stage_count + s] += cells_per_stage;
    }
  }
  return occurrences;
}

}  // namespace tenshot::nasbench
