#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "trainer/networks/feed_forward.h"

namespace tenshot::trainer {

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

struct Batch {
  int rows = 0;
  const float* inputs = nullptr;   ///< [rows, inputs]
  const float* targets = nullptr;  ///< [rows]
  const float* units = nullptr;    ///< [rows], positive: what an error is relative to, the target itself as a rule
};

/// The regression network of MAPLE-Edge (§2.1): fully connected layers with ReLU between them and one linear output,
/// trained by Adam (Kingma and Ba, ICLR 2015) on the mean squared relative error ((ŷ − y)/unit)², or another loss.
///
/// The gradient is written out by hand over LibTorch's matrix products: at this size autograd and a generic optimiser
/// cost as much as the products themselves. Tests hold it equal to LibTorch's autograd and Adam.
class RegressionNetwork {
 public:
  /// Parameters and moments are layer by layer, weight [out, in] then bias [out].
  using State = AdamState;

  /// Uniform initialisation in ±1/√inputs of each layer, the default of LibTorch's linear layers, from `seed`.
  RegressionNetwork(int inputs, const std::vector<int>& hidden, std::uint64_t seed, Loss loss = Loss::squared);
  RegressionNetwork(RegressionNetwork&&) noexcept;
  RegressionNetwork& operator=(RegressionNetwork&&) noexcept;
  ~RegressionNetwork();

  int inputs() const;

  /// One Adam step. Returns the batch's mean loss before it.
  double train_step(const Batch& batch, double learning_rate, double weight_decay = 0);

  /// The loss and its gradient on a batch, without a step; the gradient is laid out as State::parameters.
  double loss_and_gradient(const Batch& batch, std::vector<float>& gradient);

  /// The outputs [n] of rows [n, inputs], with the parameters of now.
  std::vector<float> evaluate(const std::vector<float>& rows);

  State state() const;
  /// Throws FormatError when the state is another network's.
  void restore(const State& state);

  /// The layers as values, for prediction, saving and export.
  std::vector<DenseLayer> layers() const;
  /// Sets the weights to those of `layers` (of the same shape) and forgets the moments.
  void load(const std::vector<DenseLayer>& layers);

 private:
  struct Implementation;
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace tenshot::trainer
