#include <algorithm>

#include "nasbench/formats/ncnn_layer.h"
#include "nasbench/formats/network_file.h"
#include "nasbench/graph/limits.h"
#include "nasbench/graph/network_builder.h"
#include "nasbench/support/error.h"
#include "nasbench/support/files.h"
#include "nasbench/support/number_text.h"
#include "nasbench/support/text.h"
#include "nasbench/support/words.h"

namespace tenshot::nasbench {
namespace {

using ncnn::LayerReader;

constexpr std::int64_t shape_hint_key = 30;

const std::map<std::string, ncnn::Convert*>& conversions() {
  static const std::map<std::string, ncnn::Convert*> table = by_name<ncnn::Convert*>(
      {{ncnn::binary, "BinaryOp"},
       {ncnn::concatenate, "Concat"},
       {ncnn::crop, "Crop"},
       {ncnn::element_by_element, "Eltwise"},
       {ncnn::embed, "Embed"},
       {ncnn::expand, "ExpandDims"},
       {ncnn::flatten, "Flatten"},
       {ncnn::gemm, "Gemm"},
       {ncnn::inner_product, "InnerProduct"},
       {ncnn::gated, "GLU"},
       {ncnn::grid_sample, "GridSample"},
       {ncnn::tile, "Tile"},
       {ncnn::resize, "Interp"},
       {ncnn::matrix_product, "MatMul"},
       {ncnn::einsum, "Einsum"},
       {ncnn::attention, "MultiHeadAttention"},
       {ncnn::products_of_attention, "SDPA"},
       {ncnn::padding, "Padding"},
       {ncnn::permute, "Permute"},
       {ncnn::pixel_shuffle, "PixelShuffle Reorg"},
       {ncnn::prior_box, "PriorBox"},
       {ncnn::reduce, "Reduction"},
       {ncnn::reshape, "Reshape"},
       {ncnn::shuffle, "ShuffleChannel"},
       {ncnn::slice, "Slice"},
       {ncnn::softmax, "Softmax"},
       {ncnn::squeeze, "Squeeze"},
       {ncnn::convolution, "Convolution Convolution1D ConvolutionDepthWise ConvolutionDepthWise1D"},
       {ncnn::deconvolution, "Deconvolution Deconvolution1D DeconvolutionDepthWise DeconvolutionDepthWise1D"},
       {ncnn::volume_convolution, "Convolution3D ConvolutionDepthWise3D Deconvolution3D DeconvolutionDepthWise3D"},
       {ncnn::volume_pooling, "Pooling3D"},
       {ncnn::deformable_convolution, "DeformableConv2D"},
       {ncnn::unfold, "Fold Unfold"},
       {ncnn::region, "PSROIPooling ROIAlign ROIPooling"},
       {ncnn::largest, "ArgMax"},
       {ncnn::diagonal, "Diag"},
       {ncnn::spectrogram, "Spectrogram InverseSpectrogram"},
       {ncnn::pooling, "Pooling Pooling1D"},
       {ncnn::statistics, "SPP StatisticsPooling"},
       {ncnn::normalise, "BatchNorm LayerNorm GroupNorm InstanceNorm"},
       {ncnn::scale, "Bias Scale Power PReLU"},
       {ncnn::same_shape_opaque, "CopyTo CumulativeSum Flip LRN MVN Normalize RMSNorm RotaryEmbed Shrink"},
       {ncnn::recurrent, "LSTM GRU RNN"},
       {ncnn::one_function,
        "AbsVal BNLL CELU Clip ELU Erf Exp GELU HardSigmoid HardSwish Log Mish ReLU SELU Sigmoid Softplus Swish TanH "
        "Threshold UnaryOp"}});
  return table;
}

bool is_alias(const std::string& type) {
  static const std::set<std::string> types = {"Split", "Dropout",  "Noop",       "Packing",   "DeepCopy",
                                              "Cast",  "Quantize", "Dequantize", "Requantize"};
  return types.count(type) != 0;
}

class NcnnReader {
 public:
  explicit NcnnReader(const NetworkReadOptions& options) : options_(options) {}

  Network read(const std::vector<NcnnLayer>& layers) {
    require_known_inputs(layers);
    for (const NcnnLayer& layer : layers) read_.insert(layer.inputs.begin(), layer.inputs.end());
    for (const NcnnLayer& layer : layers) {
      try {
        read_layer(layer);
      } catch (const Error& error) {
        reject({"line ", layer.line, ": layer '", layer.name, "' (", layer.type, "): ", error.what()});
      }
    }
    for (const NcnnLayer& layer : layers) add_outputs(layer);
    if (builder_.network().outputs.empty()) throw FormatError("the network computes nothing");
    return builder_.take();
  }

 private:
  void require_known_inputs(const std::vector<NcnnLayer>& layers) {
    std::set<std::string> names;
    for (const NcnnLayer& layer : layers) {
      if (layer.type == "Input") names.insert(layer.outputs.begin(), layer.outputs.end());
    }
    if (names.empty()) throw FormatError("the network has no layer of type Input");
    require_inputs(options_, names);
    shapes_are_the_files_ = std::none_of(names.begin(), names.end(),
                                         [&](const std::string& name) { return options_.shapes.count(name) != 0; });
  }

  void read_layer(NcnnLayer file) {
    std::vector<ncnn::Blob> inputs;
    for (const std::string& name : file.inputs) {
      const auto found = blobs_.find(name);
      if (found == blobs_.end()) reject({"no layer before it gives '", name, "'"});
      inputs.push_back(found->second);
    }
    const auto known = conversions().find(file.type);
    for (const auto& [key, sizes] : file.expressions) {
      if (known != conversions().end()) file.parameters[key] = ncnn::sizes_of(sizes, inputs);
    }
    LayerReader layer(file, std::move(inputs), builder_);
    const std::size_t before = builder_.network().nodes.size();
    if (file.type == "Input") {
      for (std::size_t i = 0; i < file.outputs.size(); ++i) layer.give(input(file, layer, i));
    } else if (file.type == "MemoryData") {
      layer.give_constant(dimensions_of(layer, false));
    } else if (is_alias(file.type)) {
      for (std::size_t i = 0; i < file.outputs.size(); ++i) layer.give_input(std::min(i, layer.size() - 1));
    } else if (known != conversions().end()) {
      known->second(layer);
    } else {
      give_unknown(file, layer);
    }
    for (std::size_t i = before; i < builder_.network().nodes.size(); ++i) {
      NetworkNode& node = builder_.edit().nodes[i];
      for (const TensorType& output : node.outputs) require_tensor_size(output.shape);
      require_countable(node.operation);
      layer.trace_parameters(node);
      const bool embeds = file.type == "Embed";
      const std::int64_t key = embeds || file.type == "Gemm" || file.type == "MultiHeadAttention" ? 18 : 8;
      const bool weighs = node.operation.kind != OperatorKind::add && parameter_count(node.operation) > 0;
      const int number = weighs ? layer.whole(key, 0) : 0;           // of int8, or fewer bits
      const int scales = embeds && number != 0 ? 800 : number;       // a table of bytes gives floats
      if (scales >= 400) node.operation.weight_bits = scales / 100;  // it multiplies floats
      if (scales != 0 && scales < 400) node.operation.type = ElementType::int8;
    }
    std::vector<ncnn::Blob> given = layer.take();
    for (std::size_t i = 0; i < file.outputs.size(); ++i) {
      if (i >= given.size()) break;  // an output that nobody may read
      if (!blobs_.emplace(file.outputs[i], std::move(given[i])).second) {
        reject({"'", file.outputs[i], "' is given twice"});
      }
    }
  }

  /// Channels, depth, height and width that a layer says, behind a batch of one; 0 for those that it leaves open.
  static Shape dimensions_of(const LayerReader& layer, bool may_be_open) {
    Shape shape = {1};
    for (const std::int64_t key : {2, 11, 1, 0}) {
      const int dimension = layer.whole(key, 0);
      if (dimension != 0 || (may_be_open && layer.has(key))) shape.push_back(dimension);
    }
    if (!may_be_open && shape.size() == 1) throw FormatError("it does not say how large its data are");
    return shape;
  }

  /// All blobs of a layer have the size that it says.
  Source input(const NcnnLayer& file, const LayerReader& layer, std::size_t output) {
    const std::string& name = file.outputs[output];
    Shape shape = dimensions_of(layer, true);
    if (shape.size() == 1) shape = hinted_shape(file, output).value_or(Shape{1, 0, 0, 0});
    const bool is_open = std::find(shape.begin(), shape.end(), 0) != shape.end();
    if (const auto given = options_.shapes.find(name);
        given != options_.shapes.end() && (is_open || !options_.inputs_of_several)) {
      if (given->second.size() < 2 || given->second.size() > 5 || given->second.front() != 1) {
        throw InputError("the shape given to '" + name + "' is " + format(given->second) +
                         ", expected a batch of 1 in front, as in " + name + "=" + example_shape({1, 0, 0, 0}));
      }
      shape = given->second;
    } else if (is_open) {
      throw InputError("the file leaves its size open; give it, as in --shape " + name + "=" + example_shape(shape));
    }
    require_tensor_size(shape);
    return builder_.input(name, shape);
  }

  /// What the file says of an output: the number of dimensions, then width, height and channels.
  std::optional<Shape> hinted_shape(const NcnnLayer& file, std::size_t output) const {
    const auto hint = file.parameters.find(shape_hint_key);
    if (!shapes_are_the_files_ || hint == file.parameters.end() || hint->second.size() < 4 * (output + 1)) return {};
    const double* numbers = hint->second.data() + 4 * output;
    if (!(numbers[0] >= 1 && numbers[0] <= 3)) return std::nullopt;
    Shape shape = {1};
    for (auto i = static_cast<std::size_t>(numbers[0]); i > 0; --i) {
      if (!(numbers[i] >= 0 && numbers[i] < 2147483648.0)) return std::nullopt;
      shape.push_back(static_cast<std::int64_t>(numbers[i]));
    }
    return shape;
  }

  void give_unknown(const NcnnLayer& file, LayerReader& layer) {
    constexpr std::int64_t boxes = 100;  // as many as a detector finds depends on its image
    for (std::size_t i = 0; i < file.outputs.size(); ++i) {
      std::optional<Shape> shape = hinted_shape(file, i);
      const bool detects = fits_pattern(file.type, "*DetectionOutput");
      const bool says_how_many = file.type == "DetectionOutput";
      if (!shape && detects) shape = Shape{1, says_how_many ? std::max(1, layer.whole(3, 100)) : boxes, 6};
      if (!shape && file.type == "Proposal") shape = Shape{1, std::max(1, layer.whole(3, 300)), 1, 4};
      if (!shape) {
        throw FormatError(
            "we do not know this type, and the file does not say the shape of what it gives; let ncnnoptimize write "
            "the file, with the shape of its input");
      }
      layer.give_opaque(detects || file.type == "Proposal" ? file.type : "ncnn." + file.type, *shape);
    }
  }

  void add_outputs(const NcnnLayer& layer) {
    for (const std::string& name : layer.outputs) {
      const auto found = blobs_.find(name);
      if (read_.count(name) != 0 || found == blobs_.end() || found->second.constant) continue;
      builder_.output(found->second.source);
    }
  }

  const NetworkReadOptions& options_;
  NetworkBuilder builder_;
  std::map<std::string, ncnn::Blob> blobs_;
  std::set<std::string> read_;  ///< names of blobs that a layer reads
  bool shapes_are_the_files_ = true;
};

}  // namespace

Network read_ncnn(const std::filesystem::path& path, const NetworkReadOptions& options) {
  const std::vector<NcnnLayer> layers = read_ncnn_file(path);
  return read_checked(path, [&] { return NcnnReader(options).read(layers); });
}

std::vector<std::filesystem::path> ncnn_weight_files(const std::filesystem::path& path) {
  const std::filesystem::path weights = path.filename().replace_extension(".bin");
  if (!is_file(path.parent_path() / weights)) return {};
  return {weights};
}

std::optional<std::string> ncnn_weights_problem(const std::filesystem::path& path) {
  NetworkBuilder builder;
  double weights = 0;
  for (const NcnnLayer& layer : read_ncnn_file(path)) {
    const bool is_conv = layer.type.find("onvolution") != std::string::npos;
    if (is_conv || layer.type == "InnerProduct") weights += LayerReader(layer, {}, builder).real(is_conv ? 6 : 2, 0);
  }
  for (const std::filesystem::path& file : ncnn_weight_files(path)) {
    if (static_cast<double>(std::filesystem::file_size(path.parent_path() / file)) >= weights / 2) continue;
    return "'" + file.string() + "' is cut short: its layers have " + decimals(weights, 0) +
           " weights, of half a byte each at the least";
  }
  return std::nullopt;
}

}  // namespace tenshot::nasbench
