// Layers of ncnn that are products of matrices, with weights or without.

#include <algorithm>

#include "nasbench/formats/ncnn_layer.h"
#include "nasbench/graph/limits.h"
#include "nasbench/graph/onnx_steps.h"

namespace tenshot::nasbench::ncnn {

void inner_product(LayerReader& layer) {
  const bool convolves = layer.type() == "Convolution";  // of a vector
  const std::int64_t units = layer.whole(0, 0), weights = layer.whole(convolves ? 6 : 2, 0);
  Source x = layer.source();
  const Shape shape = layer.shape();
  const std::int64_t in = units > 0 ? weights / units : 0;
  const bool by_row = shape.size() == 3 && (weights == 0 || in == shape.back());
  if (units < 1 || (!by_row && weights != 0 && weights != units * element_count(shape))) {
    reject({weights, " weights do not fit an input of ", shape, " and ", units, " outputs"});
  }
  if (!by_row && shape.size() > 2) x = layer.builder().reshape(layer.name() + "_flat", x, {1, element_count(shape)});
  layer.give_activated(layer.builder().linear(layer.name(), x, units, layer.whole(convolves ? 5 : 1, 0) != 0));
}

static Source swapped(LayerReader& layer, const Source& source) {
  if (layer.builder().type(source).shape.size() < 3)
    throw FormatError("it transposes a tensor of less than two dimensions");
  return layer.builder().swap_last(layer.name() + "_transposed", source);
}

static Source factor(LayerReader& layer, std::size_t input, bool by_column) {
  return by_column ? swapped(layer, layer.source(input)) : layer.source(input);
}

/// A product of the rows of `x`, of `inner` numbers where that is known, and weights of `units` columns.
static Source weighed(LayerReader& layer, const Source& x, std::int64_t inner, std::int64_t units, bool bias = false) {
  const Shape shape = layer.builder().type(x).shape;
  if (units < 1 || (inner > 0 && shape.back() != inner)) {
    reject({"weights of ", inner, "x", units, " do not fit ", shape});
  }
  return layer.builder().linear(layer.name(), x, units, bias);
}

/// A product of the rows of `x` and a constant input, which may be stored by its columns.
static Source weighed_by(LayerReader& layer, const Source& x, std::size_t input, bool by_column) {
  const Shape& weights = layer.shape(input);
  const std::int64_t rows = weights[weights.size() - 2], columns = weights.back();
  return weighed(layer, x, by_column ? columns : rows, by_column ? rows : columns);
}

/// A product and what a Gemm adds to it: a constant of which parameter 10 says whether it is one number, one for each
/// row (1 and 2), a matrix or one for each column; or the input behind the factors, where there is one.
static Source with_third(LayerReader& layer, const Source& product, std::size_t third) {
  NetworkBuilder& builder = layer.builder();
  const Shape shape = builder.type(product).shape;
  const std::int64_t rows = shape[shape.size() - 2], columns = shape.back();
  const bool stored = layer.whole(6, 0) != 0;
  const int number = layer.whole(10, 0);
  if (stored ? number == -1 : layer.size() <= third) return product;
  if (!stored && !layer.is_constant(third)) {
    Source added = layer.source(third);
    if (layer.shape(third) == Shape{1, rows} && rows != columns)
      added = builder.reshape(layer.name() + "_rows", added, {1, rows, 1});
    return builder.add(layer.name() + "_sum", product, added);
  }
  if (stored && (number < 0 || number > 4)) reject({"there is no way to broadcast C of number ", number});
  NetworkNode sum = builder.node(OperatorKind::add, layer.name() + "_sum", {product}, shape);
  sum.operation.constants = {!stored       ? layer.shape(third)
                             : number == 0 ? Shape{1}
                             : number == 3 ? Shape{rows, columns}
                             : number == 4 ? Shape{columns}
                                           : Shape{rows, 1}};
  return builder.append(std::move(sum));
}

void gemm(LayerReader& layer) {
  const bool transposed_a = layer.whole(2, 0) != 0, transposed_b = layer.whole(3, 0) != 0;
  const bool constant_a = layer.whole(4, 0) != 0, constant_b = layer.whole(5, 0) != 0;
  const std::int64_t m = layer.whole(7, 0), n = layer.whole(8, 0), k = layer.whole(9, 0);
  const int number = layer.whole(6, 0) != 0 ? layer.whole(10, 0) : -1;  // of how C is broadcast
  const bool weighs = constant_a != constant_b,
             bias = weighs && (constant_b ? number == 4 : number == 1 || number == 2);
  Source result;
  if (weighs && constant_b) {
    result = weighed(layer, factor(layer, 0, transposed_a), k, n, bias);
  } else if (weighs) {  // A B = (Bᵀ Aᵀ)ᵀ
    result = swapped(layer, weighed(layer, factor(layer, 0, !transposed_b), k, m, bias));
  } else if (layer.is_constant(1)) {
    result = weighed_by(layer, factor(layer, 0, transposed_a), 1, transposed_b);
  } else if (layer.is_constant(0)) {
    result = swapped(layer, weighed_by(layer, factor(layer, 1, !transposed_b), 0, !transposed_a));
  } else {
    const Source a = factor(layer, 0, transposed_a), b = factor(layer, 1, transposed_b);
    result = layer.builder().matrix_product(layer.name(), a, b);
  }
  if (!bias) result = with_third(layer, result, weighs ? 1 : 2);
  layer.give(layer.whole(14, 0) != 0 ? swapped(layer, result) : result);
}

/// Gives a product without the row or the column that a vector was made a matrix by.
static void give_without(LayerReader& layer, const Source& product, bool row, bool column) {
  Shape shape = layer.builder().type(product).shape;
  if (column) shape.pop_back();
  if (row) shape.erase(shape.end() - (column ? 1 : 2));
  if (shape.size() < 2) shape.push_back(1);
  layer.give(layer.builder().reshape(layer.name() + "_vector", product, shape));
}

void matrix_product(LayerReader& layer) {
  const bool transposed = layer.whole(0, 0) != 0;
  const Shape &left = layer.shape(0), &right = layer.shape(1);
  const bool row = left.size() == 2, column = right.size() == 2;  // a vector
  if (layer.is_constant(0) && !layer.is_constant(1)) {
    if (row) {
      return give_without(layer, weighed(layer, factor(layer, 1, !transposed && !column), left[1], 1), false, true);
    }
    const std::int64_t rows = left[left.size() - 2];
    if (column) return layer.give(weighed(layer, layer.source(1), left.back(), rows));
    Shape shape = right;
    if (shape.size() < left.size()) throw FormatError("its factors are no matrices");
    if (transposed) std::swap(shape.back(), shape[shape.size() - 2]);
    shape[shape.size() - 2] = rows;
    return layer.give_opaque("MatMul", shape);
  }
  if (layer.is_constant(1)) {
    if (column) return give_without(layer, weighed(layer, layer.source(), right[1], 1), false, true);
    return layer.give(weighed_by(layer, layer.source(), 1, transposed));
  }
  Source a = layer.source(0), b = column ? layer.source(1) : factor(layer, 1, transposed);
  if (row) a = layer.builder().reshape(layer.name() + "_row", a, {1, 1, left[1]});
  if (column) b = layer.builder().reshape(layer.name() + "_column", b, {1, right[1], 1});
  give_without(layer, layer.builder().matrix_product(layer.name(), a, b), row, column);
}

/// The equation is an array of its characters, with letters i to l for dimensions behind the batch.
void einsum(LayerReader& layer) {
  std::vector<EinsumOperand> operands;
  for (std::size_t i = 0; i < layer.size(); ++i) {
    const bool constant = layer.is_constant(i);
    const auto first = layer.shape(i).begin() + (constant ? 1 : 0);
    operands.push_back({constant, constant ? Source() : layer.source(i), {first, layer.shape(i).end()}});
  }
  std::string equation;
  std::size_t next = 0;
  bool begins = true;
  for (const std::int64_t character : layer.list(0)) {
    if (begins && (next >= operands.size() || !operands[next++].constant)) equation += 'z';
    equation += static_cast<char>(character);
    begins = character == ',' || character == '>';
  }
  const OnnxSteps steps(layer.builder(), layer.name());
  const std::optional<Source> result = einsum_operators(steps, equation, operands);
  if (!result) reject({"we do not follow its equation ", equation});
  layer.give(steps.shape(*result).size() < 2 ? steps.reshape(*result, {1, 1}) : *result);
}

void attention(LayerReader& layer) {
  NetworkBuilder& b = layer.builder();
  const std::int64_t width = layer.whole(0, 0), heads = layer.whole(1, 1);
  require_groups(heads, width, width);
  const bool masked = layer.whole(5, 0) != 0 && layer.size() > 1, cached = layer.whole(7, 0) != 0;
  const std::size_t behind = (masked ? 1 : 0) + (cached ? 2 : 0);
  if (layer.size() <= behind) reject({"it has ", layer.size(), " inputs, expected at least ", behind + 1});
  const std::size_t tensors = layer.size() - behind;
  std::vector<Source> caches;
  const auto project = [&](const char* part, std::size_t input) {
    const bool reads_past = cached && input > 0;  // of attention to other steps that is all
    Source x = reads_past ? swapped(layer, layer.source(layer.size() - 2 + caches.size())) : Source();
    if (tensors == 1 || !reads_past) {
      const Source now = b.linear(layer.name() + part, layer.source(std::min(input, tensors - 1)), width);
      x = reads_past ? b.concatenate(layer.name() + part + "_cached", {x, now}, 1) : now;
    }
    if (reads_past) caches.push_back(x);
    const Shape shape = b.type(x).shape;
    if (shape.size() != 3 || shape[2] != width) reject({"it takes steps of a width, found ", shape});
    const Source parts = b.reshape(layer.name() + part + "_heads", x, {1, shape[1], heads, width / heads});
    return b.transpose(layer.name() + part + "_by_head", parts, {0, 2, 1, 3});
  };
  const Source query = project("_q", 0), key = project("_k", 1), value = project("_v", tensors == 2 ? 1 : 2);
  Source weights =
      b.matrix_product(layer.name() + "_scores", query, b.transpose(layer.name() + "_k_transposed", key, {0, 1, 3, 2}));
  if (masked) weights = b.add(layer.name() + "_masked", weights, layer.source(tensors));
  weights = b.softmax(layer.name() + "_weights", weights);
  const Source mixed =
      b.transpose(layer.name() + "_by_step", b.matrix_product(layer.name() + "_mixed", weights, value), {0, 2, 1, 3});
  const std::int64_t steps = b.type(mixed).shape[1], units = layer.whole(2, 0) / width;
  const Source joined = b.reshape(layer.name() + "_joined", mixed, {1, steps, width});
  layer.give(b.linear(layer.name() + "_out", joined, units > 0 ? units : width));
  for (const Source& cache : caches) layer.give(swapped(layer, cache));
}

/// Scores of queries and keys, and sums over the values: inputs are these three, perhaps a mask, and with a cache the
/// keys and values of the steps before, which it gives with the new ones behind them.
void products_of_attention(LayerReader& layer) {
  const bool cached = layer.whole(7, 0) != 0;
  if (cached && layer.size() < 5) throw FormatError("it has no cache");
  const auto by_head = [&](std::size_t i) {
    if (layer.shape(i).size() == 4) return layer.shape(i);
    reject({"it takes queries, keys and values by head, found ", layer.shape(i)});
  };
  const Shape query = by_head(0);
  std::vector<Shape> caches;
  for (std::size_t i = 1; cached && i < 3; ++i) {
    caches.push_back(by_head(i));
    caches.back()[2] += by_head(layer.size() - 3 + i)[2];
  }
  layer.give_opaque("Attention", {1, query[1], query[2], by_head(2)[3]}, {}, caches);
}

}  // namespace tenshot::nasbench::ncnn
