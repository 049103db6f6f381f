#include "nasbench/graph/network_builder.h"
#include "nasbench/spaces/layered_levels.h"
#include "nasbench/spaces/layered_space.h"

namespace tenshot::nasbench {
namespace {

/// Appends a block to a network; what it gives of the tensor `input`. `tensors` are those that blocks named so far.
Source append_block(NetworkBuilder& builder, const Block& block, const std::string& prefix, const Source& input,
                    std::vector<Source>& tensors) {
  std::vector<Source> values;
  const auto value_of = [&](const Source& source) -> Source {
    if (source.node >= 0) return {values[static_cast<std::size_t>(source.node)].node, source.output};
    return source.output == 0 ? input : tensors[static_cast<std::size_t>(source.output) - 1];
  };
  for (const BlockOperator& entry : block.operators) {
    const OperatorSpecification& op = entry.specification;
    NetworkNode node;
    node.operation = op;
    node.name = prefix + "_" + std::to_string(values.size()) + "_" + std::string(name(op.kind));
    for (const Source& source : entry.inputs) node.inputs.push_back(value_of(source));
    node.outputs = {{op.output, op.type}};
    for (const Shape& output : entry.more_outputs) node.outputs.push_back({output, op.type});
    for (TensorType& output : node.outputs) output.shape[0] = builder.type(node.inputs.front()).shape[0];  // the batch
    node.attributes.padding = {entry.padding.height, entry.padding.width, entry.padding.height, entry.padding.width};
    if (op.kind == OperatorKind::batch_norm) node.attributes.alpha = batch_norm_epsilon;
    if (op.kind == OperatorKind::concatenate || op.kind == OperatorKind::softmax || op.kind == OperatorKind::split) {
      node.attributes.axes = {1};
    }
    node.attributes.mode = entry.mode;
    if (op.name == "hard_sigmoid") {
      node.attributes.alpha = 1.0 / 6;
      node.attributes.beta = 0.5;
    }
    values.push_back(builder.append(std::move(node)));
  }
  std::vector<Source> named;
  for (const NamedTensor& tensor : block.named) named.push_back(value_of(tensor.source));
  const Source output = value_of(block.output);
  tensors.insert(tensors.end(), named.begin(), named.end());
  return output;
}

}  // namespace

Network LayeredSpace::computation(const Architecture& architecture, const NetworkShape& shape, int batch) const {
  const NetworkShape own = shape_of(architecture, shape);
  NetworkBuilder builder;
  Source last = builder.input("input", {batch, input_channels_, own.resolution, own.resolution});
  std::size_t stage = 0;
  const Level& level = this->level(own, width_of(architecture));
  std::vector<Source> tensors;
  for (const Block* block : blocks_of(architecture, level)) {
    last = append_block(builder, *block, "stage" + std::to_string(stage++), last, tensors);
  }
  if (level.outputs.empty()) builder.output(last);
  for (const std::size_t tensor : level.outputs) builder.output(tensors[tensor]);
  return builder.take();
}

}  // namespace tenshot::nasbench
