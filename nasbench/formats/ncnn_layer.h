#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <initializer_list>
#include <map>
#include <string>
#include <vector>

#include "nasbench/graph/network.h"
#include "nasbench/graph/network_builder.h"
#include "nasbench/support/error.h"

namespace tenshot::nasbench {

/// A line of an ncnn network: `type name inputs outputs blobs… key=value…`.
struct NcnnLayer {
  std::string type;
  std::string name;
  std::vector<std::string> inputs, outputs;  ///< names of blobs
  std::map<std::int64_t, std::vector<double>>
      parameters;  ///< by key; of an array the key is k where the file has −23300 − k
  std::map<std::int64_t, std::string> expressions;  ///< parameters that are computed from sizes (ncnn::sizes_of())
  std::size_t line = 0;                             ///< 1-based
};

/// Reads the layers of a `.param` file as ncnn's documentation has them ("param and model file structure"): the number
/// 7767517, how many layers and blobs, and a line for each layer. Throws FileError, and FormatError that names the file
/// and the line where it is of another kind, cut short, or has more than operator_limit layers.
std::vector<NcnnLayer> read_ncnn_file(const std::filesystem::path& path);

}  // namespace tenshot::nasbench

namespace tenshot::nasbench::ncnn {

/// A blob of an ncnn network: with a batch of one in front, so that ncnn's channels, height and width are the network's
/// {1, channels, height, width}, its height and width {1, height, width}, its width {1, width}.
struct Blob {
  Source source;
  Shape shape;
  bool constant = false;  ///< of MemoryData: it has no source
  std::string origin;     ///< of a constant: the blob that the file stores it as
};

/// The extent of a blob that ncnn calls by this letter: w, h, d or c; 1 where it has no such dimension.
std::int64_t extent_of(const Shape& shape, char letter);

/// The numbers of a list such as "*(0w,2),-1", as ncnn's documentation has it ("expression"): functions before their
/// arguments in brackets, and "1h" for the height of the second input. Throws FormatError where it is of another form.
std::vector<double> sizes_of(const std::string& expressions, const std::vector<Blob>& inputs);

/// A layer on its way to operators: what it reads, and where they are added.
class LayerReader {
 public:
  LayerReader(const NcnnLayer& file, std::vector<Blob> inputs, NetworkBuilder& builder)
      : file_(file), inputs_(std::move(inputs)), builder_(builder) {}

  const std::string& name() const { return file_.name; }
  const std::string& type() const { return file_.type; }
  NetworkBuilder& builder() { return builder_; }

  // Parameters, by ncnn's number. Throw FormatError where one is out of the range of its kind.
  bool has(std::int64_t key) const { return file_.parameters.count(key) != 0; }
  double real(std::int64_t key, double otherwise) const;
  int whole(std::int64_t key, int otherwise) const;
  /// That of the names which the parameter is the number of; 0 where it is left out.
  const char* one_of(std::initializer_list<const char*> names, std::int64_t key) const;
  std::vector<std::int64_t> list(std::int64_t key) const;
  /// The numbers of an array as they are; none where it is left out. list() gives them as whole numbers.
  const std::vector<double>& numbers(std::int64_t key) const;

  // Inputs. Throw FormatError where there is no such one.
  std::size_t size() const { return inputs_.size(); }
  std::size_t outputs() const { return file_.outputs.size(); }
  bool is_constant(std::size_t i) const { return input(i).constant; }
  const Shape& shape(std::size_t i = 0) const { return input(i).shape; }
  /// Notes which of `node`'s parameters are the layer's constant inputs, each at one node: others may read them too.
  void trace_parameters(NetworkNode& node);
  /// Throws FormatError where the input is a constant.
  Source source(std::size_t i = 0) const;

  /// The axis that ncnn counts from a blob's first dimension, or from behind, in the network's shape.
  std::int64_t axis(std::int64_t number, std::size_t input = 0) const;

  /// A node of `kind` that reads all computed inputs; constants among the inputs become its constants.
  NetworkNode node(OperatorKind kind, Shape output, std::string function = "") const;

  /// An operator that is none of our kinds: ONNX's name of it where it has one, and further outputs where it has more.
  void give_opaque(const std::string& function, Shape output, std::vector<Shape> weights = {},
                   const std::vector<Shape>& more = {});

  /// The next output.
  void give(const Source& source) { given_.push_back({source, builder_.type(source).shape, false, {}}); }
  /// The next output, computed by what follows as well: 0 nothing, 1 ReLU, 2 leaky, 3 clip, 4 sigmoid, 5 Mish, 6 hard
  /// swish, 7 GELU. Parameter 9 says which, and the array 10 has its numbers.
  void give_activated(const Source& source);
  /// The next output is an input.
  void give_input(std::size_t i) { given_.push_back(input(i)); }
  /// The next output is a constant. Throws FormatError where it is larger than any tensor.
  void give_constant(Shape shape);

  std::vector<Blob> take() { return std::move(given_); }

 private:
  const Blob& input(std::size_t i) const;

  const NcnnLayer& file_;
  std::vector<Blob> inputs_;
  NetworkBuilder& builder_;
  std::vector<Blob> given_;
};

/// A node of one computed input, of its shape.
NetworkNode same_shape(LayerReader& layer, OperatorKind kind, const std::string& function = "");
/// Adds the node and gives its output; a constant where all that it reads are constants.
void append(LayerReader& layer, NetworkNode node);

/// Activation `kind` of `source` (LayerReader::give_activated).
Source activated(LayerReader& layer, const Source& source, int kind, const std::vector<double>& numbers);

/// Adds a layer's operators and gives its outputs; functions of this type are declared by it. All throw FormatError
/// where the layer contradicts itself or its inputs.
using Convert = void(LayerReader&);

Convert convolution, deconvolution, volume_convolution, volume_pooling, deformable_convolution, unfold, pooling,
    statistics;
Convert inner_product, gemm, matrix_product, einsum, attention, products_of_attention, recurrent, embed;
Convert reshape, flatten, squeeze, expand, permute, concatenate, slice, crop, gated, grid_sample, tile, padding, resize;
Convert shuffle, pixel_shuffle, prior_box, region, largest, diagonal, spectrogram, reduce;
Convert one_function, binary, element_by_element, scale, normalise, softmax;
/// Norms and the like that are none of our kinds and keep the shape.
Convert same_shape_opaque;

}  // namespace tenshot::nasbench::ncnn
