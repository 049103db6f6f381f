#include "nasbench/spaces/nasbench201_network.h"

#include "nasbench/graph/network_builder.h"

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
Source relu_conv_norm(NetworkBuilder& builder, const std::string& prefix, const Source& input, int channels,
                      const WindowOptions& window) {
  const Source relu = builder.activation(prefix + "_relu", input, "relu");
  const Source conv = builder.convolution(prefix + "_conv", relu, channels, {window});
  return builder.batch_norm(prefix + "_norm", conv);
}

/// Adds what `operation` computes of `input` and returns the tensor that holds it, which for a skip is `input` itself.
Source apply(NetworkBuilder& builder, Operation operation, const std::string& prefix, const Source& input,
             int channels) {
  switch (operation) {
    case Operation::none: return builder.multiply_by(prefix + "_zero", input, 0);
    case Operation::skip_connect: return input;
    case Operation::nor_conv_1x1: return relu_conv_norm(builder, prefix, input, channels, same_window(1));
    case Operation::nor_conv_3x3: return relu_conv_norm(builder, prefix, input, channels, same_window(3));
    case Operation::avg_pool_3x3: return builder.average_pool(prefix + "_pool", input, {same_window(3)});
  }
  throw InputError(prefix + ": operation " + std::to_string(static_cast<int>(operation)) + " does not exist");
}

/// A node is the sum of its incoming edges, in the order of `edges`; node 3 is the cell's output.
Source append_cell(NetworkBuilder& builder, const Cell& cell, const std::string& prefix, const Source& input,
                   int channels) {
  std::array<Source, node_count> nodes{};
  std::array<int, node_count> summands{};
  nodes[0] = input;
  for (std::size_t e = 0; e < edge_count; ++e) {
    const auto source = static_cast<std::size_t>(edges[e].source);
    const auto target = static_cast<std::size_t>(edges[e].target);
    const Source value = apply(builder, cell[e], prefix + "_edge" + std::to_string(e), nodes[source], channels);
    const int before = summands[target]++;
    nodes[target] = before == 0
                        ? value
                        : builder.add(prefix + "_node" + std::to_string(target) + "_add" + std::to_string(before),
                                      nodes[target], value);
  }
  return nodes.back();
}

/// Halves the resolution and changes the channels, with a shortcut by average pooling (ResNetBasicblock).
Source append_residual_block(NetworkBuilder& builder, const std::string& prefix, const Source& input, int channels) {
  const WindowOptions halves = {{2, 2}, {2, 2}, {}, {}};
  const Source a = relu_conv_norm(builder, prefix + "_a", input, channels, same_window(3, 2));
  const Source b = relu_conv_norm(builder, prefix + "_b", a, channels, same_window(3));
  const Source pool = builder.average_pool(prefix + "_shortcut_pool", input, {halves});
  const Source shortcut = builder.convolution(prefix + "_shortcut_conv", pool, channels, {same_window(1)});
  return builder.add(prefix + "_add", shortcut, b);
}

/// The input of a network, of an operator or of a chain.
Source image_of(NetworkBuilder& builder, int batch, int channels, int resolution) {
  if (batch < 1) throw InputError("batch is " + std::to_string(batch) + "; expected at least 1");
  return builder.input("input", {batch, channels, resolution, resolution});
}

/// Appends one instance of a chain's operation; `before` is the chain's first tensor: from the second addition on, the
/// two that are added differ.
Source append_instance(NetworkBuilder& builder, const std::string& operation, const std::string& prefix,
                       const Source& input, const Source& before, int channels) {
  if (operation == "add") return builder.add(prefix + "_add", input, before);
  if (operation == "relu") return builder.activation(prefix + "_relu", input, "relu");
  if (operation == "multiply") return apply(builder, Operation::none, prefix, input, channels);
  const auto of_cell = std::find(operation_names.begin(), operation_names.end(), operation) - operation_names.begin();
  return apply(builder, static_cast<Operation>(of_cell), prefix, input, channels);
}

Network chain_of(const Stage& stage, const std::string& operation, int instances, int batch) {
  NetworkBuilder builder;
  const Source image = image_of(builder, batch, stage.channels, stage.resolution);
  const Source before = relu_conv_norm(builder, "before", image, stage.channels, same_window(1));
  Source last = before;
  for (int i = 0; i < instances; ++i) {
    last = append_instance(builder, operation, operation + std::to_string(i), last, before, stage.channels);
  }
  builder.output(relu_conv_norm(builder, "after", last, stage.channels, same_window(1)));
  return builder.take();
}

}  // namespace

Network NasBench201::computation(const Architecture& architecture, const NetworkShape& shape, int batch) const {
  const Cell cell = cell_of(architecture);
  const std::array<Stage, stage_count> stages = stages_of(shape);
  NetworkBuilder builder;
  const Source image = image_of(builder, batch, image_channels, shape.resolution);
  const Source stem = builder.convolution("stem_conv", image, stages[0].channels, {same_window(3)});
  Source last = builder.batch_norm("stem_norm", stem);
  int cells = 0;
  for (std::size_t s = 0; s < stages.size(); ++s) {
    if (s > 0) last = append_residual_block(builder, "residual" + std::to_string(s), last, stages[s].channels);
    for (int i = 0; i < cells_per_stage; ++i) {
      last = append_cell(builder, cell, "cell" + std::to_string(cells++), last, stages[s].channels);
    }
  }
  last = builder.batch_norm("head_norm", last);
  last = builder.activation("head_relu", last, "relu");
  last = builder.global_average_pool("head_pool", last);
  builder.output(builder.linear("head_linear", last, shape.classes));
  return builder.take();
}

std::int64_t NasBench201::flop_count(const Architecture& architecture, const NetworkShape& shape) const {
  const std::array<Stage, stage_count> stages = stages_of(shape);
  std::int64_t count = convolution_flops(image_channels, stages[0].channels, 3, stages[0].resolution);
  for (std::size_t s = 0; s < stages.size(); ++s) {
    const auto [channels, resolution] = stages[s];
    for (const Operation operation : cell_of(architecture)) {
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

std::optional<OperatorSequence> NasBench201::named_operation(std::string_view name, int channels,
                                                             int resolution) const {
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

std::vector<Operator> NasBench201::operators(const NetworkShape& shape, int batch) const {
  std::vector<Operator> operators;
  for (std::size_t o = 0; o < operation_count; ++o) {
    for (const auto& [channels, resolution] : stages_of(shape)) {
      NetworkBuilder builder;
      const std::string name(operation_names[o]);
      const Source image = image_of(builder, batch, channels, resolution);
      builder.output(apply(builder, static_cast<Operation>(o), name, image, channels));
      operators.push_back({name, *named_operation(name, channels, resolution), builder.take()});
    }
  }
  return operators;
}

std::vector<OperationChain> NasBench201::operation_chains(const NetworkShape& shape, int batch) const {
  constexpr int repeats = 8;
  std::vector<OperationChain> chains;
  for (const char* operation : {"nor_conv_1x1", "nor_conv_3x3", "avg_pool_3x3", "add", "relu", "multiply"}) {
    for (const Stage& stage : stages_of(shape)) {
      chains.push_back({operation, *named_operation(operation, stage.channels, stage.resolution), repeats,
                        chain_of(stage, operation, repeats, batch), chain_of(stage, operation, 0, batch)});
    }
  }
  return chains;
}

std::vector<double> NasBench201::operator_occurrences(const Architecture& architecture) const {
  std::vector<double> occurrences(operation_count * stage_count, 0);
  for (const Operation operation : cell_of(architecture)) {
    for (std::size_t s = 0; s < stage_count; ++s) {
      occurrences[static_cast<std::size_t>(operation) * stage_count + s] += cells_per_stage;
    }
  }
  return occurrences;
}

}  // namespace tenshot::nasbench
