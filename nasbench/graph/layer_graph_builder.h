#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "nasbench/graph/layer_graph.h"

namespace tenshot::nasbench {

/// The square window of a convolution or an average pool.
struct Window {
  int kernel = 1;
  int stride = 1;
  int padding = 0;
};

/// Builds a LayerGraph layer by layer and works out the shapes. Every method adds one layer and returns its index, to
/// be the input of later ones:
///
///     LayerGraphBuilder builder({3, 32, 32});
///     const int conv = builder.convolution("conv", builder.input(), 16, {3, 1, 1});
///     builder.relu("relu", conv);
///     const LayerGraph graph = builder.graph();
///
/// Throws InputError on a window that leaves nothing of its input and on the sum of unlike shapes.
class LayerGraphBuilder {
 public:
  explicit LayerGraphBuilder(const TensorShape& input);

  int input() const { return 0; }
  int convolution(std::string name, int input, int channels, const Window& window);
  int batch_norm(std::string name, int input);
  int relu(std::string name, int input);
  int average_pool(std::string name, int input, const Window& window);
  int global_average_pool(std::string name, int input);
  int add(std::string name, int first, int second);
  int zero(std::string name, int input);
  int linear(std::string name, int input, int outputs);

  const LayerGraph& graph() const { return graph_; }
  LayerGraph take() { return std::move(graph_); }

 private:
  const TensorShape& shape(int layer) const { return graph_.layers[static_cast<std::size_t>(layer)].output; }
  int windowed(LayerKind kind, std::string name, int input, int channels, const Window& window);
  int append(LayerKind kind, std::string name, std::vector<int> inputs, const TensorShape& output,
             const Window& window = {0, 1, 0});

  LayerGraph graph_;
};

}  // namespace tenshot::nasbench
