#include "trainer/networks/regression_network.h"

#include <cmath>
#include <utility>

#include "nasbench/support/error.h"
#include "nasbench/support/random.h"
#include "nasbench/support/vector_loops.h"

namespace tenshot::trainer {
namespace {

MatrixOperand transposed(MatrixOperand operand) {
  operand.transposed = true;
  return operand;
}

AdamState fresh_state(std::vector<float> parameters) {
  const std::vector<float> zeros(parameters.size());
  return {std::move(parameters), zeros, zeros};
}

}  // namespace

RegressionNetwork::RegressionNetwork(int inputs, const std::vector<int>& hidden, std::uint64_t seed, Loss loss)
    : outputs_(hidden.size() + 1), deltas_(hidden.size() + 1), kind_(loss) {
  std::vector<int> widths = hidden;
  widths.push_back(1);
  Rng rng(seed);
  std::vector<float> parameters;
  for (const int outputs : widths) {
    const auto weight = static_cast<std::int64_t>(parameters.size());
    const std::int64_t bias = weight + static_cast<std::int64_t>(inputs) * outputs;
    layers_.push_back({inputs, outputs, weight, bias});
    const double bound = 1 / std::sqrt(static_cast<double>(inputs));
    for (std::int64_t i = weight; i < bias + outputs; ++i) {
      parameters.push_back(static_cast<float>(bound * (2 * rng.uniform() - 1)));
    }
    inputs = outputs;
  }
  state_ = fresh_state(std::move(parameters));
  gradient_.resize(state_.parameters.size());
}

void RegressionNetwork::forward(const MatrixOperand& batch) {
  rows_ = batch.rows;
  for (std::size_t l = 0; l < layers_.size(); ++l) {
    outputs_[l].resize(static_cast<std::size_t>(rows_ * layers_[l].outputs));
    multiply(l == 0 ? batch : output(l - 1), transposed(weight(l)), outputs_[l].data());
    const float* shift = state_.parameters.data() + layers_[l].bias;
    (l + 1 < layers_.size() ? add_bias_and_relu : add_bias)(outputs_[l].data(), shift, rows_, layers_[l].outputs);
  }
}

double RegressionNetwork::loss(const TrainingSet& batch) {
  const float* predicted = outputs_.back().data();
  deltas_.back().resize(outputs_.back().size());
  double sum = 0;
  for (std::size_t i = 0; i < batch.targets.size(); ++i) {
    const float error = (predicted[i] - batch.targets[i]) / batch.units[i];
    const float size = std::abs(error);
    float slope = 2 * error;
    if (kind_ == Loss::squared) {
      sum += static_cast<double>(error) * error;
    } else {
      sum += size < 1 ? 0.5 * static_cast<double>(error) * error : static_cast<double>(size) - 0.5;
      slope = size < 1 ? error : std::copysign(1.0F, error);
    }
    deltas_.back()[i] = slope / (batch.units[i] * static_cast<float>(rows_));
  }
  return sum / static_cast<double>(rows_);
}

void RegressionNetwork::backward(const MatrixOperand& batch) {
  for (std::size_t l = layers_.size(); l-- > 0;) {
    multiply(transposed(delta(l)), l == 0 ? batch : output(l - 1), gradient_.data() + layers_[l].weight);
    sum_columns(deltas_[l].data(), gradient_.data() + layers_[l].bias, rows_, layers_[l].outputs);
    if (l == 0) break;
    deltas_[l - 1].resize(outputs_[l - 1].size());
    multiply(delta(l), weight(l), deltas_[l - 1].data());
    zero_where_not_positive(deltas_[l - 1].data(), outputs_[l - 1].data(), rows_ * layers_[l - 1].outputs);
  }
}

double RegressionNetwork::loss_and_gradient(const TrainingSet& batch, std::vector<float>& gradient) {
  const MatrixOperand inputs{batch.inputs.data(), batch.rows(), this->inputs()};
  forward(inputs);
  const double loss = this->loss(batch);
  backward(inputs);
  if (&gradient != &gradient_) gradient = gradient_;
  return loss;
}

double RegressionNetwork::train_step(const TrainingSet& batch, double learning_rate, double weight_decay) {
  const double loss = loss_and_gradient(batch, gradient_);
  ++state_.steps;
  adam_step(state_.parameters.data(), state_.first_moment.data(), state_.second_moment.data(), gradient_.data(),
            static_cast<std::int64_t>(state_.parameters.size()), state_.steps, learning_rate);
  if (weight_decay > 0) {
    const auto kept = static_cast<float>(1 - learning_rate * weight_decay);
    for (const Layout& layer : layers_) {
      for (std::int64_t i = layer.weight; i < layer.bias; ++i) state_.parameters[static_cast<std::size_t>(i)] *= kept;
    }
  }
  return loss;
}

std::vector<float> RegressionNetwork::evaluate(const std::vector<float>& rows) {
  forward({rows.data(), static_cast<std::int64_t>(rows.size()) / inputs(), inputs()});
  return outputs_.back();
}

void RegressionNetwork::restore(const AdamState& state) {
  const std::size_t count = state_.parameters.size();
  if (state.parameters.size() != count || state.first_moment.size() != count || state.second_moment.size() != count) {
    throw FormatError("this training state belongs to a network of another shape");
  }
  state_ = state;
}

std::vector<DenseLayer> RegressionNetwork::layers() const {
  std::vector<DenseLayer> layers;
  for (const Layout& layer : layers_) {
    const auto weight = state_.parameters.begin() + layer.weight, bias = state_.parameters.begin() + layer.bias;
    layers.push_back({layer.inputs, layer.outputs, {weight, bias}, {bias, bias + layer.outputs}});
  }
  return layers;
}

void RegressionNetwork::load(const std::vector<DenseLayer>& layers) {
  std::vector<float> parameters;
  for (const DenseLayer& layer : layers) {
    parameters.insert(parameters.end(), layer.weight.begin(), layer.weight.end());
    parameters.insert(parameters.end(), layer.bias.begin(), layer.bias.end());
  }
  restore(fresh_state(std::move(parameters)));
}

}  // namespace tenshot::trainer
