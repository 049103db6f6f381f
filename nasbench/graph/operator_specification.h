#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tenshot::nasbench {

/// Height and width of a window, or of a step.
struct Extent {
  int height = 1;
  int width = 1;
  friend bool operator==(const Extent& a, const Extent& b) { return a.height == b.height && a.width == b.width; }
  friend bool operator!=(const Extent& a, const Extent& b) { return !(a == b); }
};

/// Dimensions of a tensor, the batch first where there is one: {1, 3, 224, 224} for an image, {1, 197, 192} for tokens.
using Shape = std::vector<std::int64_t>;

/// "1x3x224x224"; "scalar" where there is no dimension.
std::string format(const Shape& shape);
/// Number of elements; 1 for a scalar's empty shape. The caller has checked that it fits.
std::int64_t element_count(const Shape& shape);

/// What a number of a tensor is in the network's file. The precision that a runtime computes in is the runtime's own.
enum class ElementType : uint8_t { float32, float16, bfloat16, float64, int8, uint8, int32, int64, boolean, int16 };
/// "float32", "int8" and so on, as the enumerator is spelt.
std::string_view name(ElementType type);
/// Bytes of one number: 4 for float32.
int byte_size(ElementType type);

/// What an operator computes. One that is none of these is `opaque`: it has a name, shapes and a cost.
enum class OperatorKind : std::uint8_t {
  convolution,  ///< 2-D, any number of groups: depthwise where groups equal the channels
  transposed_convolution,
  linear,          ///< fully connected: a product with constant weights
  matrix_product,  ///< a product of two tensors that are computed
  max_pool,
  average_pool,
  global_pool,  ///< over all positions: average or max
  activation,   ///< element by element with one input; `name` says which
  add,
  multiply,
  elementwise,  ///< another operation of two tensors, element by element
  concatenate,
  split,    ///< and slice
  shuffle,  ///< of channels
  pad,
  resize,
  reshape,  ///< and flatten: moves no number
  transpose,
  batch_norm,
  layer_norm,
  group_norm,
  softmax,
  reduce,  ///< a mean or a sum over some dimensions
  opaque
};

/// "convolution", "max_pool" and so on, as the enumerator is spelt.
std::string_view name(OperatorKind kind);
/// The kind of that name. Throws InputError that lists the names.
OperatorKind operator_kind(std::string_view name);
/// Whether it is a batch, layer or group norm.
inline bool is_norm(OperatorKind kind) {
  return kind == OperatorKind::batch_norm || kind == OperatorKind::layer_norm || kind == OperatorKind::group_norm;
}

/// What an operator is, without its weights and its place in a network: the key of everything that is measured or
/// predicted for each operator, in any search space.
struct OperatorSpecification {
  OperatorKind kind = OperatorKind::opaque;
  std::string name;  ///< what the kind leaves open: "relu", "hard_swish"; the type of an opaque operator; else empty
  Extent kernel;     ///< convolutions and pools
  Extent stride;
  Extent dilation;
  int groups = 1;
  bool bias = false;          ///< convolutions and linear layers
  std::vector<Shape> inputs;  ///< of the tensors that are computed, not of weights
  Shape output;               ///< of the first output
  ElementType type = ElementType::float32;
  int weight_bits = 0;           ///< of each parameter in the file, where `type` has another number of bits; else 0
  std::vector<Shape> constants;  ///< shapes of trained constants that the kind does not imply: a position embedding
                                 ///< that is added, the weights of an opaque operator; none of a single element

  friend bool operator==(const OperatorSpecification& a, const OperatorSpecification& b);
  friend bool operator!=(const OperatorSpecification& a, const OperatorSpecification& b) { return !(a == b); }
};

/// Channels of `shape`, a tensor that `specification` reads or writes: the dimension after the batch for convolutions,
/// pools, batch and group norms, the last one for linear layers, products and layer norms; for other kinds the
/// dimension after the batch of four dimensions or more, else the last one.
std::int64_t channel_count(const OperatorSpecification& specification, const Shape& shape);

/// Multiply–accumulate operations of one inference: of convolutions, linear layers and matrix products, without bias,
/// and of the opaque operators that operator_products.h knows; 0 for all else. It is what the field publishes as
/// "FLOPs" or "MACs" of a network.
std::int64_t multiply_adds(const OperatorSpecification& specification);
/// Trainable parameters: weights and bias of convolutions and linear layers, scale and shift of norms, trained
/// constants.
std::int64_t parameter_count(const OperatorSpecification& specification);
/// Bytes of the computed tensors that it reads, and of the one that it writes, in the file's element type, and of its
/// parameters as the file stores them: weights of 4 bits take half a byte each. Scales and zero points count as none.
std::int64_t input_bytes(const OperatorSpecification& specification);
std::int64_t output_bytes(const OperatorSpecification& specification);
std::int64_t weight_bytes(const OperatorSpecification& specification);
/// What one inference reads of `stored` bytes of an input or of parameters: those of its result where rows of a table
/// are looked up, as in a word embedding, or an element of a sequence is taken; all of them elsewhere.
std::int64_t read_bytes(const OperatorSpecification& specification, std::int64_t stored);

/// One line, the same for equal specifications: "convolution 3x3 stride 2 groups 32 1x32x112x112 -> 1x32x56x56
/// float32".
std::string format(const OperatorSpecification& specification);

}  // namespace tenshot::nasbench
