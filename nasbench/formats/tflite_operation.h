#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "nasbench/formats/tflite_file.h"
#include "nasbench/graph/limits.h"
#include "nasbench/graph/network.h"
#include "nasbench/graph/network_builder.h"

namespace tenshot::nasbench::tflite {

/// A tensor of a TensorFlow Lite network: computed, or constant. `shape` is the network's: of an image the channels
/// stand before the height, where the file has them last.
struct Value {
  bool constant = false;
  bool stored = false;                               ///< a constant that the file has numbers of
  const TfliteTensor* tensor = nullptr;              ///< where they are, unless they are computed from others
  std::optional<std::vector<std::int64_t>> numbers;  ///< of a shape that is computed from the sizes of the input
  bool image = false;
  std::vector<StoredTensor> origins;  ///< of a constant: the tensors of the file that it is made of
  int bits = 0;                       ///< of each of its numbers in the file
  Source source;                      ///< of a computed one
  Shape shape;
};

/// batch × height × width × channels as batch × channels × height × width, the same back, and the place of an axis.
Shape image_shape(const Shape& shape);
Shape file_shape(const Value& value);
std::int64_t image_axis(std::int64_t axis);

/// An operator on its way to those of the network: what it reads, and what it gives.
class Operation {
 public:
  Operation(const TfliteFile& file, const TfliteOperator& op, std::string name, std::vector<const Value*> inputs,
            std::vector<Value> outputs, NetworkBuilder& builder)
      : file_(file),
        op_(op),
        name_(std::move(name)),
        inputs_(std::move(inputs)),
        outputs_(std::move(outputs)),
        builder_(builder) {}

  const std::string& name() const { return name_; }
  std::int32_t code() const { return op_.code; }
  /// What an opaque operator is called: ONNX's name, or that of the file behind "tflite.".
  std::string type() const;
  NetworkBuilder& builder() { return builder_; }

  // Options, by their number in the schema; where the operator has none, they have their defaults.
  int whole(int option, int otherwise = 0) const;
  bool flag(int option, bool otherwise = false) const;
  int small(int option, int otherwise = 0) const;  ///< of a type of one byte
  double real(int option, double otherwise = 0) const;
  std::vector<std::int64_t> list(int option) const;

  // Inputs.
  std::size_t size() const { return inputs_.size(); }
  bool has(std::size_t i) const { return i < inputs_.size() && inputs_[i] != nullptr; }
  bool is_constant(std::size_t i) const { return has(i) && inputs_[i]->constant; }
  bool is_computed(std::size_t i) const { return has(i) && !inputs_[i]->constant; }
  /// Throw FormatError where there is no such input, or none of that kind.
  const Value& input(std::size_t i) const;
  const Shape& shape(std::size_t i = 0) const { return input(i).shape; }
  /// The shape in the order of the file, channels last.
  Shape file_shape(std::size_t i = 0) const { return tflite::file_shape(input(i)); }
  Source source(std::size_t i = 0) const;
  std::vector<std::int64_t> numbers(std::size_t i) const;
  /// The numbers of a small constant of integers; nothing of other inputs.
  std::optional<std::vector<std::int64_t>> few_numbers(std::size_t i) const;
  /// The axis, counted from behind where it is negative, in the shape of input `i`. Throws FormatError without one.
  std::int64_t axis(std::int64_t number, std::size_t i = 0) const;

  // Outputs.
  std::size_t outputs() const { return outputs_.size(); }
  /// What the file says of an output, in the network's order.
  const Value& output(std::size_t i = 0) const;
  ElementType output_type(std::size_t i = 0) const;

  /// Whether input `i` holds trained numbers, no shape, axis or index.
  bool is_trained(std::size_t i) const;

  /// A node that reads the computed inputs and gives output 0 in `output`. Constants that were trained are its
  /// constants, in the shape in which they broadcast over the output.
  NetworkNode node(OperatorKind kind, Shape output, std::string function = "") const;
  /// A node that reads one input alone.
  NetworkNode lone_node(OperatorKind kind, Shape output, std::string function = "", std::size_t input = 0) const;
  void append(NetworkNode node) { give(builder_.append(std::move(node))); }

  /// The next output.
  void give(const Source& source) { given_.push_back(source); }
  /// The next output, after the activation of that number in the schema: 1 ReLU, 2 −1 to 1, 3 ReLU6, 4 tanh.
  void give_activated(const Source& source, int activation);
  /// The next output, in the shape that the file says.
  void give_reshaped(const Source& source);
  const std::vector<Source>& given() const { return given_; }

 private:
  const TfliteFile& file_;
  const TfliteOperator& op_;
  std::string name_;
  std::vector<const Value*> inputs_;
  std::vector<Value> outputs_;
  NetworkBuilder& builder_;
  std::vector<Source> given_;
};

/// Adds the operators that one of the file's stands for. All throw FormatError where it contradicts itself.
using Convert = void(Operation&);

Convert convolution, transposed_convolution, volume_convolution, pool, fully_connected, matrix_product;
Convert reshape, transpose, concatenate, pack, split, unpack, slice, gather, pad, resize;
Convert function, pair, softmax, reduce, recurrent, opaque;

// Where a file leaves sizes open, its tensors have no shapes: these compute them, in the order of the file.

/// Whether the operator's Convert computes the shape that it gives, whatever the file says of it.
bool computes_its_shape(const Operation& op);
/// The shapes of the outputs of the other operators; nothing where they cannot be said.
std::optional<std::vector<Shape>> inferred_shapes(const Operation& op);
/// What a SLICE or STRIDED_SLICE takes of each axis; nothing where that is computed, or has new axes.
std::optional<std::vector<SliceRange>> ranges_of(const Operation& op);
/// The numbers that an operator on shapes gives, from few constant integers; nothing where they are not known.
std::optional<std::vector<std::int64_t>> folded_numbers(const Operation& op);

/// How an operator is read.
struct Rule {
  std::string name;  ///< ONNX's, where it has one; of an opaque operator
  Convert* convert;
  /// What tensors of four dimensions are: images; alike, all or none of them images; or each what others make it.
  enum class Layout { images, alike, any } layout = Layout::any;
};

/// The rule of a BuiltinOperator, or of a custom one by its name; nothing of one that we do not know.
const Rule* rule_of(std::int32_t code, const std::string& custom);

/// Which tensors are images: those that windows move over, and those of four dimensions that are computed alike.
std::vector<bool> images_of(const TfliteFile& file);

/// Numbers of BuiltinOperator that conversions ask for.
namespace code {
constexpr std::int32_t add = 0, concatenation = 2, depthwise_conv_2d = 4, depth_to_space = 5, dequantize = 6,
                       embedding_lookup = 7, l2_normalization = 11, max_pool_2d = 17, mul = 18, relu_n1_to_1 = 20,
                       reshape = 22, lstm = 16, resize_bilinear = 23, space_to_depth = 26, custom = 32, gather = 36,
                       batch_to_space = 37, space_to_batch = 38, tile = 69, sub = 41, two_way_rnn = 46,
                       two_way_lstm = 52, div = 42, squeeze = 43, sequence_lstm = 44, strided_slice = 45, split = 49,
                       log_softmax = 50, cast = 53, arg_max = 56, select = 64, slice = 65, transpose_conv = 67,
                       expand_dims = 70, shape = 77, arg_min = 79, fake_quant = 80, reduce_prod = 81, pack = 83,
                       one_hot = 85, unpack = 88, floor_div = 90, leaky_relu = 98, mirror_pad = 100, split_v = 102,
                       reverse = 105, add_n = 106, rank = 110, elu = 111, reverse_sequence = 112, quantize = 114,
                       branch = 118, loop = 119, select_v2 = 123, cumsum = 128, conv_3d = 132, read_variable = 143,
                       update_slice = 151, relu_0_to_1 = 152;
}  // namespace code

}  // namespace tenshot::nasbench::tflite
