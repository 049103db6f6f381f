#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "nasbench/graph/network.h"

namespace tenshot::nasbench {

/// The window of a convolution or a pool.
struct WindowOptions {
  Extent kernel;
  Extent stride;
  Padding padding;
  Extent dilation;
};

/// A square window with `kernel / 2` zeros around the image, so that a stride of 1 keeps an odd window's image size.
WindowOptions same_window(int kernel, int stride = 1);

struct ConvolutionOptions {
  WindowOptions window;
  int groups = 1;
  bool bias = false;
};

struct PoolOptions {
  WindowOptions window;
  bool ceil_mode = false;      ///< a window that lies in the image only in part counts too
  bool count_padding = false;  ///< average_pool: zeros count in the divisor
};

/// Builds a Network operator by operator and works out the shapes. Every method adds one operator and returns its
/// output, to be the input of later ones. A name that is taken gets a number behind it.
///
///     NetworkBuilder builder;
///     const Source image = builder.input("input", {1, 3, 224, 224});
///     const Source stem = builder.convolution("stem", image, 32, {same_window(3, 2)});
///     builder.output(builder.activation("relu", stem, "relu"));
///     const Network network = builder.take();
///
/// Throws InputError that names the operator where shapes do not fit.
class NetworkBuilder {
 public:
  Source input(std::string name, Shape shape, ElementType type = ElementType::float32);
  void output(const Source& source) { network_.outputs.push_back(source); }

  Source convolution(std::string name, const Source& input, std::int64_t channels, const ConvolutionOptions& options);
  /// `output_padding` rows and columns are added at the bottom and the right.
  Source transposed_convolution(std::string name, const Source& input, std::int64_t channels,
                                const ConvolutionOptions& options, const Extent& output_padding = {0, 0});
  Source linear(std::string name, const Source& input, std::int64_t units, bool bias = true);
  Source matrix_product(std::string name, const Source& left, const Source& right);
  Source max_pool(std::string name, const Source& input, const PoolOptions& options);
  Source average_pool(std::string name, const Source& input, const PoolOptions& options);
  /// The average over all positions, batch × channels; batch × channels × 1 × 1 with `keep_positions`.
  Source global_average_pool(std::string name, const Source& input, bool keep_positions = false);
  /// `function`: "relu", "relu6", "hard_swish", "hard_sigmoid", "silu", "sigmoid", "gelu", "tanh".
  Source activation(std::string name, const Source& input, std::string function);
  /// Any function, with the numbers that OperatorAttributes has for it.
  Source activation(std::string name, const Source& input, std::string function, double alpha, double beta);
  Source batch_norm(std::string name, const Source& input, double epsilon = batch_norm_epsilon);
  Source layer_norm(std::string name, const Source& input, double epsilon = batch_norm_epsilon);
  Source group_norm(std::string name, const Source& input, int groups, double epsilon = batch_norm_epsilon);
  Source softmax(std::string name, const Source& input, std::int64_t axis = -1);
  /// The sum and the product of tensors whose shapes broadcast.
  Source add(std::string name, const Source& left, const Source& right);
  Source multiply(std::string name, const Source& left, const Source& right);
  Source multiply_by(std::string name, const Source& input, double constant);
  Source concatenate(std::string name, const std::vector<Source>& inputs, std::int64_t axis = 1);
  std::vector<Source> split(std::string name, const Source& input, const std::vector<std::int64_t>& sizes,
                            std::int64_t axis = 1);
  /// Channels of each group in turn (Zhang et al., CVPR 2018, §3.1).
  Source shuffle(std::string name, const Source& input, int groups);
  Source reshape(std::string name, const Source& input, Shape shape);
  Source transpose(std::string name, const Source& input, std::vector<std::int64_t> permutation);
  /// The last two dimensions change places.
  Source swap_last(std::string name, const Source& input);

  /// A node that append() takes, of the type of its first input.
  NetworkNode node(OperatorKind kind, std::string name, std::vector<Source> inputs, Shape output,
                   std::string function = "") const;
  /// Adds a node as it is, its shapes given; `node.operation.inputs` and `output` are filled in.
  Source append(NetworkNode node);

  const TensorType& type(const Source& source) const { return tensor_type(network_, source); }
  const Network& network() const { return network_; }
  Network& edit() { return network_; }  ///< names of nodes stay as they are
  Network take() { return std::move(network_); }

 private:
  /// An operator that keeps the shape, with that number as its `alpha`.
  Source same_shape(OperatorKind kind, std::string name, const Source& input, double alpha = 0,
                    std::string function = "");
  Source pool(OperatorKind kind, std::string name, const Source& input, const PoolOptions& options);
  Source broadcast(OperatorKind kind, std::string name, const Source& left, const Source& right);
  Source append_window(NetworkNode node, const ConvolutionOptions& options);

  Network network_;
  std::set<std::string> names_;
  std::unordered_map<std::string, std::size_t> repeats_;  ///< how often each name was taken already
};

/// Makes `node` the reduction `name` over `axes`. The mean and the maximum over the positions of an image, behind batch
/// and channels, are a global pool, whoever wrote them.
void set_reduction(NetworkNode& node, const std::string& name, std::vector<std::int64_t> axes, bool of_image);

/// A window along one axis, with zeros before and behind.
struct AxisWindow {
  int kernel = 1, stride = 1, dilation = 1, before = 0, behind = 0;
};

/// The window along the height and along the width.
std::array<AxisWindow, 2> axes_of(const WindowOptions& window);

/// How many positions a window takes along `length` pixels and the zeros around them; 0 where it does not fit.
std::int64_t window_positions(std::int64_t length, const AxisWindow& axis, bool ceil_mode = false);

/// How long what a transposed convolution makes of `length` pixels is: it cuts off as many as there are zeros.
std::int64_t stretched_length(std::int64_t length, const AxisWindow& axis);

/// Zeros around an image (batch × channels × height × width) so that the window takes ⌈extent / stride⌉ positions along
/// either side; of an odd number one more lies behind, or before.
Padding same_padding(const Shape& image, const WindowOptions& window, bool more_before = false);

/// The shape that tensors of both shapes broadcast to (right-aligned, 1 stretches). Throws InputError where they don't.
Shape broadcast_shape(const Shape& left, const Shape& right);

}  // namespace tenshot::nasbench
