#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "trainer/networks/feed_forward.h"

namespace tenshot::trainer {

/// A row-major matrix of someone else's numbers, only read; an operand is it, or its transpose where that is said.
struct MatrixOperand {
  const float* values = nullptr;
  std::int64_t rows = 0;  ///< in memory
  std::int64_t columns = 0;
  bool transposed = false;
};

/// product = a · b, row-major, by LibTorch.
void multiply(const MatrixOperand& a, const MatrixOperand& b, float* product);

/// Everything that training by Adam changes; restoring it continues as if never interrupted.
struct AdamState {
  std::vector<float> parameters;
  std::vector<float> first_moment;
  std::vector<float> second_moment;
  std::int64_t steps = 0;
};

/// What training makes small, as a mean over the batch, of the error z = (ŷ − y)/unit.
enum class Loss {
  squared,   ///< z²
  smooth_l1  ///< z²/2 up to |z| = 1, |z| − ½ beyond (Huber 1964): a few large errors do not decide
};

struct TrainingSet {
  int width = 0;
  std::vector<float> inputs;   ///< [rows, width]
  std::vector<float> targets;  ///< [rows]
  std::vector<float> units;    ///< [rows], positive: what an error is relative to, the target itself as a rule

  int rows() const { return static_cast<int>(targets.size()); }
  void clear() {
    inputs.clear();
    targets.clear();
    units.clear();
  }
};

/// The regression network of MAPLE-Edge (§2.1): fully connected layers with ReLU between them and one linear output,
/// trained by Adam (Kingma and Ba, ICLR 2015) on the mean squared relative error ((ŷ − y)/unit)², or another loss.
///
/// The gradient is written out by hand over LibTorch's matrix products: at this size autograd and a generic optimiser
/// cost as much as the products themselves. Tests hold it equal to LibTorch's autograd and Adam.
class RegressionNetwork {
 public:
  /// Uniform initialisation in ±1/√inputs of each layer, the default of LibTorch's linear layers, from `seed`.
  RegressionNetwork(int inputs, const std::vector<int>& hidden, std::uint64_t seed, Loss loss = Loss::squared);

  int inputs() const { return layers_.front().inputs; }

  /// One Adam step. Returns the batch's mean loss before it.
  double train_step(const TrainingSet& batch, double learning_rate, double weight_decay = 0);

  /// The loss and its gradient on a batch, without a step; the gradient is laid out as the state's parameters.
  double loss_and_gradient(const TrainingSet& batch, std::vector<float>& gradient);

  /// The outputs [n] of rows [n, inputs], with the parameters of now.
  std::vector<float> evaluate(const std::vector<float>& rows);

  /// Parameters and moments are layer by layer, weight [out, in] then bias [out].
  const AdamState& state() const { return state_; }
  /// Throws FormatError when the state is another network's.
  void restore(const AdamState& state);

  /// The layers as values, for prediction, saving and export.
  std::vector<DenseLayer> layers() const;
  /// Sets the weights to those of `layers` (of the same shape) and forgets the moments.
  void load(const std::vector<DenseLayer>& layers);

 private:
  /// Where one layer's numbers stand in the flat parameter vector.
  struct Layout {
    int inputs = 0, outputs = 0;
    std::int64_t weight = 0, bias = 0;
  };
  MatrixOperand weight(std::size_t l) const {
    return {state_.parameters.data() + layers_[l].weight, layers_[l].outputs, layers_[l].inputs};
  }
  MatrixOperand output(std::size_t l) const { return {outputs_[l].data(), rows_, layers_[l].outputs}; }
  MatrixOperand delta(std::size_t l) const { return {deltas_[l].data(), rows_, layers_[l].outputs}; }
  void forward(const MatrixOperand& batch);
  /// Mean loss of the batch; leaves its gradient at the output in the last delta.
  double loss(const TrainingSet& batch);
  void backward(const MatrixOperand& batch);

  std::vector<Layout> layers_;
  AdamState state_;
  std::vector<float> gradient_;
  /// Activations of the batch in work, [rows, outputs] of each layer, and the loss's gradient there.
  std::vector<std::vector<float>> outputs_, deltas_;
  std::int64_t rows_ = 0;
  Loss kind_;
};

}  // namespace tenshot::trainer
