#pragma once

#include "nasbench/graph/network_builder.h"

namespace tenshot::nasbench {

/// A small network with every kind of operator that a convolutional network has.
inline Network network_of_convolutions(int batch = 2) {
  NetworkBuilder b;
  const Source image = b.input("input", {batch, 3, 16, 16});
  ConvolutionOptions stem{{{3, 3}, {2, 2}, {0, 0, 1, 1}, {}}, 1, true};
  Source x = b.activation("relu6", b.batch_norm("norm", b.convolution("stem", image, 16, stem)), "relu6");
  const Source depthwise = b.convolution("depthwise", x, 16, {same_window(5), 16, false});
  const Source dilated = b.convolution("dilated", x, 16, {{{3, 1}, {1, 1}, {2, 0, 2, 0}, {2, 1}}, 4, false});
  x = b.add("sum", b.activation("swish", depthwise, "hard_swish"), b.activation("silu", dilated, "silu"));
  const Source gate = b.convolution("gate", b.global_average_pool("squeeze", x, true), 16, {{}, 1, true});
  x = b.multiply("excited", x, b.activation("sigmoid", gate, "hard_sigmoid"));
  const std::vector<Source> halves = b.split("halves", x, {8, 8});
  PoolOptions pool{same_window(3, 2), false, false};
  PoolOptions even{{{2, 2}, {2, 2}, {}, {}}, true, false};
  const Source left = b.max_pool("max", halves[0], pool), right = b.average_pool("average", halves[1], even);
  x = b.shuffle("shuffle", b.concatenate("joined", {left, right}), 4);
  ConvolutionOptions up{{{4, 4}, {2, 2}, {1, 1, 1, 1}, {}}, 2, true};
  x = b.transposed_convolution("up", b.group_norm("groups", x, 4), 8, up);
  x = b.activation("leaky", b.group_norm("instances", x, 8), "leaky_relu");
  x = b.global_average_pool("pool", b.multiply_by("scaled", x, 0.5));
  b.output(b.linear("head", x, 10));
  return b.take();
}

/// A small network with every kind of operator that a transformer has.
inline Network network_of_attention(int batch = 2) {
  NetworkBuilder b;
  const Source image = b.input("input", {batch, 3, 8, 8});
  const Source patches = b.convolution("patches", image, 12, {{{4, 4}, {4, 4}, {}, {}}, 1, true});
  Source x = b.transpose("tokens", b.reshape("flat", patches, {batch, 12, 4}), {0, 2, 1});
  const Source normal = b.layer_norm("norm", x);
  const auto heads = [&](const char* name, std::vector<std::int64_t> order) {
    const Source projected = b.linear(name, normal, 12);
    return b.transpose("heads", b.reshape("parts", projected, {batch, 4, 3, 4}), std::move(order));
  };
  const Source scores = b.matrix_product("scores", heads("query", {0, 2, 1, 3}), heads("key", {0, 2, 3, 1}));
  const Source weights = b.softmax("softmax", b.multiply_by("scaled", scores, 0.5));
  const Source mixed = b.matrix_product("mixed", weights, heads("value", {0, 2, 1, 3}));
  x = b.add("first", x, b.reshape("merged", b.transpose("back", mixed, {0, 2, 1, 3}), {batch, 4, 12}));
  const Source wide = b.activation("gelu", b.linear("wide", b.layer_norm("norm2", x), 24, false), "gelu");
  x = b.add("second", x, b.activation("tanh", b.linear("narrow", wide, 12), "tanh"));
  NetworkNode mean;
  mean.operation.kind = OperatorKind::reduce;
  mean.operation.name = "mean";
  mean.attributes.axes = {1};
  mean.name = "mean";
  mean.inputs = {x};
  mean.outputs = {{{batch, 12}, ElementType::float32}};
  b.output(b.linear("head", b.append(mean), 10, false));
  return b.take();
}

}  // namespace tenshot::nasbench
