#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "nasbench/graph/operator_specification.h"

namespace tenshot::nasbench {

/// Shape and element type of a tensor.
struct TensorType {
  Shape shape;
  ElementType type = ElementType::float32;
  friend bool operator==(const TensorType& a, const TensorType& b) { return a.shape == b.shape && a.type == b.type; }
  friend bool operator!=(const TensorType& a, const TensorType& b) { return !(a == b); }
};

/// What norms add to the variance unless they say otherwise: PyTorch's default.
constexpr double batch_norm_epsilon = 1e-5;

/// Zeros around an image, in pixels.
struct Padding {
  int top = 0;
  int left = 0;
  int bottom = 0;
  int right = 0;
  friend bool operator==(const Padding& a, const Padding& b) {
    return a.top == b.top && a.left == b.left && a.bottom == b.bottom && a.right == b.right;
  }
  friend bool operator!=(const Padding& a, const Padding& b) { return !(a == b); }
};

/// What an operator computes where its specification, which is about cost, leaves it open. Fields that a kind does not
/// name here stay as they are by default.
///
///   convolutions    padding
///   max_pool        padding, ceil_mode
///   average_pool    padding, ceil_mode, count_padding
///   concatenate, softmax, layer_norm     axes = {axis}; layer_norm normalises from that axis on
///   split           several outputs: axes = {axis}, and the outputs' shapes say how many each gets;
///                   "slice": one output, axes, starts, steps (any non-zero step)
///   pad             mode "constant", "reflect" or "edge"; starts = zeros before each dimension, ends = after it; alpha
///   resize          mode "nearest", "linear", "linear_aligned", "cubic" or "other"
///   transpose       axes = the permutation
///   reduce          axes; the output's shape says whether they are kept as 1
///   activation      alpha and beta as ONNX has them: leaky_relu, elu (alpha), clip (alpha to beta), hard_sigmoid
///   norms           alpha = what is added to the variance
///   add, multiply, elementwise with a constant of one element: alpha = the constant; constant_first: it is the left
///   operand, which matters to "subtract", "divide" and "power"
struct OperatorAttributes {
  Padding padding;
  bool ceil_mode = false;
  bool count_padding = false;
  bool constant_first = false;
  std::vector<std::int64_t> axes;
  std::vector<std::int64_t> starts;
  std::vector<std::int64_t> ends;
  std::vector<std::int64_t> steps;
  double alpha = 0;
  double beta = 0;
  std::string mode;
  friend bool operator==(const OperatorAttributes& a, const OperatorAttributes& b);
  friend bool operator!=(const OperatorAttributes& a, const OperatorAttributes& b) { return !(a == b); }
};

/// Where a tensor comes from: output `output` of node `node`, or, where `node` is −1, the network's input `output`.
struct Source {
  int node = -1;
  int output = 0;
  friend bool operator==(const Source& a, const Source& b) { return a.node == b.node && a.output == b.output; }
  friend bool operator!=(const Source& a, const Source& b) { return !(a == b); }
  friend bool operator<(const Source& a, const Source& b) {
    return a.node != b.node ? a.node < b.node : a.output < b.output;
  }
};

/// A trained tensor that a network's file stores.
struct StoredTensor {
  std::string name;
  std::int64_t elements = 0;
};

/// One operator of a network. `operation.inputs` are the shapes of `inputs`, `operation.output` is that of the first
/// output and `operation.type` is the type that the operator computes in.
struct NetworkNode {
  OperatorSpecification operation;
  OperatorAttributes attributes;
  std::string name;            ///< unique in its network, not empty
  std::vector<Source> inputs;  ///< earlier nodes: the order of nodes is an order of execution
  std::vector<TensorType> outputs;
  std::vector<StoredTensor> stored;  ///< what its constants are made of, where a file was read
};

struct NetworkInput {
  std::string name;
  TensorType type;
  std::string file_type = {};  ///< what an ONNX file's type is where no ElementType is it: "string", "uint16"
};

/// Any network, as data: a directed graph of operators with shapes, batch included, without weights.
struct Network {
  std::vector<NetworkInput> inputs;
  std::vector<NetworkNode> nodes;
  std::vector<Source> outputs;
  bool names_stored = false;         ///< whether the nodes say what a file stores of their constants
  std::vector<std::string> remarks;  ///< what is to be said of how a file was read, a sentence each
};

/// Shape and type of a tensor of `network`.
const TensorType& tensor_type(const Network& network, const Source& source);

/// The operators in order of execution.
std::vector<OperatorSpecification> operator_list(const Network& network);

/// Sums over the operators; see operator_specification.h.
std::int64_t multiply_adds(const Network& network);
std::int64_t weight_bytes(const Network& network);

/// Trainable parameters of each node. Of a network that was read from a file, those that the file stores: a mask or a
/// position that is computed is none, and a tensor that several nodes share counts for the first of them; a vector that
/// the file hands on by an Identity, as PyTorch writes vectors of equal numbers, counts as one of its own.
std::vector<std::int64_t> stored_parameters(const Network& network);
/// Their sum.
std::int64_t parameter_count(const Network& network);

/// 64 hexadecimal digits that are the same for networks of equal operators, attributes, shapes, element types and
/// edges, whatever their nodes are called, in whatever order independent nodes stand, and whatever their weights are.
std::string content_hash(const Network& network);

/// Throws InputError that names the node when a source does not lie before its reader, a shape does not agree with its
/// source's, or a name is empty or taken.
void require_sound(const Network& network);

}  // namespace tenshot::nasbench
