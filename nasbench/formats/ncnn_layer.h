#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "nasbench/formats/ncnn_file.h"
#include "nasbench/graph/network.h"
#include "nasbench/graph/network_builder.h"

namespace tenshot::nasbench::ncnn {

/// A blob of an ncnn network: with a batch of one in front, so that ncnn's channels, height and width are the network's
/// {1, channels, height, width}, its height and width {1, height, width}, its width {1, width}.
struct Blob {
  Source source;
  Shape shape;
  bool constant = false;  ///< of MemoryData: it has no source
};

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
  std::vector<std::int64_t> list(std::int64_t key) const;
  /// How many numbers an array has.
  std::int64_t count(std::int64_t key) const;

  // Inputs. Throw FormatError where there is no such one.
  std::size_t size() const { return inputs_.size(); }
  std::size_t outputs() const { return file_.outputs.size(); }
  bool is_constant(std::size_t i) const { return input(i).constant; }
  const Shape& shape(std::size_t i = 0) const { return input(i).shape; }
  /// Throws FormatError where the input is a constant.
  Source source(std::size_t i = 0) const;

  /// The axis that ncnn counts from a blob's first dimension, or from behind, in the network's shape.
  std::int64_t axis(std::int64_t number, std::size_t input = 0) const;

  /// A node of `kind` that reads all computed inputs; constants among the inputs become its constants.
  NetworkNode node(OperatorKind kind, Shape output, std::string function = "") const;

  /// An operator that is none of our kinds: ONNX's name of it where it has one.
  void give_opaque(const std::string& function, Shape output, std::vector<Shape> weights = {});

  /// The next output.
  void give(const Source& source) { given_.push_back({source, builder_.type(source).shape, false}); }
  /// The next output, computed by what follows as well: 0 nothing, 1 ReLU, 2 leaky, 3 clip, 4 sigmoid, 5 Mish, 6 hard
  /// swish, 7 GELU; its numbers are the array `numbers`.
  void give_activated(Source source, std::int64_t kind_key = 9, std::int64_t numbers_key = 10);
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
/// Adds the node and gives its output.
void append(LayerReader& layer, NetworkNode node);

/// Activation `kind` of `source` (LayerReader::give_activated).
Source activated(LayerReader& layer, const Source& source, int kind, const std::vector<double>& numbers);

/// Adds a layer's operators and gives its outputs. All throw FormatError where the layer contradicts itself or its
/// inputs.
using Convert = void (*)(LayerReader&);

void convolution(LayerReader& layer);
void deconvolution(LayerReader& layer);
void volume_convolution(LayerReader& layer);
void volume_pooling(LayerReader& layer);
void deformable_convolution(LayerReader& layer);
void unfold(LayerReader& layer);
void pooling(LayerReader& layer);
void inner_product(LayerReader& layer);
void gemm(LayerReader& layer);
void matrix_product(LayerReader& layer);
void attention(LayerReader& layer);
void products_of_attention(LayerReader& layer);

void reshape(LayerReader& layer);
void flatten(LayerReader& layer);
void squeeze(LayerReader& layer);
void expand(LayerReader& layer);
void permute(LayerReader& layer);
void concatenate(LayerReader& layer);
void slice(LayerReader& layer);
void crop(LayerReader& layer);
void gated(LayerReader& layer);
void grid_sample(LayerReader& layer);
void tile(LayerReader& layer);
void padding(LayerReader& layer);
void resize(LayerReader& layer);
void shuffle(LayerReader& layer);
void pixel_shuffle(LayerReader& layer);
void prior_box(LayerReader& layer);
void region(LayerReader& layer);
void largest(LayerReader& layer);
void diagonal(LayerReader& layer);
void spectrogram(LayerReader& layer);

void one_function(LayerReader& layer);
void binary(LayerReader& layer);
void element_by_element(LayerReader& layer);
void scale(LayerReader& layer);
void normalise(LayerReader& layer);
void softmax(LayerReader& layer);
/// Norms and the like that are none of our kinds and keep the shape.
void same_shape_opaque(LayerReader& layer);
void reduce(LayerReader& layer);
void recurrent(LayerReader& layer);
void embed(LayerReader& layer);

}  // namespace tenshot::nasbench::ncnn
