#include "trainer/networks/regression_network.h"

#include <cmath>

#include "nasbench/support/error.h"
#include "nasbench/support/random.h"
#include "nasbench/support/vector_loops.h"
#include "trainer/networks/matrix_product.h"

namespace tenshot::trainer {
namespace {

/// Where one layer's numbers stand in the flat parameter vector.
struct LayerLayout {
  int inputs = 0;
  int outputs = 0;
  std::int64_t weight = 0;
  std::int64_t bias = 0;
};

std::vector<LayerLayout> layout_of(int inputs, const std::vector<int>& hidden) {
  std::vector<int> widths = hidden;
  widths.push_back(1);
  std::vector<LayerLayout> layouts;
  std::int64_t offset = 0;
  for (const int outputs : widths) {
    if (inputs < 1 || outputs < 1) throw InputError("every layer of the regression network needs at least one unit");
    const std::int64_t weights = static_cast<std::int64_t>(inputs) * outputs;
    layouts.push_back({inputs, outputs, offset, offset + weights});
    offset += weights + outputs;
    inputs = outputs;
  }
  return layouts;
}

MatrixOperand transposed(MatrixOperand operand) {
  operand.transposed = true;
  return operand;
}

}  // namespace

struct RegressionNetwork::Implementation {
  std::vector<LayerLayout> layouts;
  State state;
  std::vector<float> gradient;
  // Activations of the batch in work: outputs[l] is [rows, layouts[l].outputs]; deltas are the loss's gradient there.
  std::vector<std::vector<float>> outputs, deltas;
  std::int64_t rows = 0;
  Loss kind = Loss::squared;

  MatrixOperand weight(std::size_t l) const {
    return {state.parameters.data() + layouts[l].weight, layouts[l].outputs, layouts[l].inputs};
  }
  MatrixOperand output(std::size_t l) const { return {outputs[l].data(), rows, layouts[l].outputs}; }
  MatrixOperand delta(std::size_t l) const { return {deltas[l].data(), rows, layouts[l].outputs}; }

  void allocate(std::int64_t batch_rows) {
    if (batch_rows == rows) return;
    rows = batch_rows;
    outputs.resize(layouts.size());
    deltas.resize(layouts.size());
    for (std::size_t l = 0; l < layouts.size(); ++l) {
      outputs[l].resize(static_cast<std::size_t>(rows * layouts[l].outputs));
      deltas[l].resize(outputs[l].size());
    }
  }

  void forward(const MatrixOperand& batch) {
    for (std::size_t l = 0; l < layouts.size(); ++l) {
      multiply(l == 0 ? batch : output(l - 1), transposed(weight(l)), outputs[l].data());
      const float* shift = state.parameters.data() + layouts[l].bias;
      (l + 1 < layouts.size() ? add_bias_and_relu : add_bias)(outputs[l].data(), shift, rows, layouts[l].outputs);
    }
  }

  /// Mean loss of the batch; leaves its gradient at the output in the last delta.
  double loss(const float* targets, const float* units) {
    const float* predicted = outputs.back().data();
    float* delta = deltas.back().data();
    double sum = 0;
    for (std::int64_t i = 0; i < rows; ++i) {
      const float error = (predicted[i] - targets[i]) / units[i];
      const float size = std::abs(error);
      float slope = 2 * error;
      if (kind == Loss::squared) {
        sum += static_cast<double>(error) * error;
      } else {
        sum += size < 1 ? 0.5 * static_cast<double>(error) * error : static_cast<double>(size) - 0.5;
        slope = size < 1 ? error : std::copysign(1.0F, error);
      }
      delta[i] = slope / (units[i] * static_cast<float>(rows));
    }
    return sum / static_cast<double>(rows);
  }

  void backward(const MatrixOperand& batch) {
    for (std::size_t l = layouts.size(); l-- > 0;) {
      multiply(transposed(delta(l)), l == 0 ? batch : output(l - 1), gradient.data() + layouts[l].weight);
      sum_columns(deltas[l].data(), gradient.data() + layouts[l].bias, rows, layouts[l].outputs);
      if (l == 0) break;
      multiply(delta(l), weight(l), deltas[l - 1].data());
      zero_where_not_positive(deltas[l - 1].data(), outputs[l - 1].data(), rows * layouts[l - 1].outputs);
    }
  }
};

RegressionNetwork::RegressionNetwork(int inputs, const std::vector<int>& hidden, std::uint64_t seed, Loss loss)
    : implementation_(std::make_unique<Implementation>()) {
  Implementation& self = *implementation_;
  self.kind = loss;
  self.layouts = layout_of(inputs, hidden);
  const auto count = static_cast<std::size_t>(self.layouts.back().bias + 1);
  self.state.parameters.resize(count);
  self.state.first_moment.assign(count, 0);
  self.state.second_moment.assign(count, 0);
  self.gradient.assign(count, 0);
  Rng rng(seed);
  for (const LayerLayout& layer : self.layouts) {
    const double bound = 1 / std::sqrt(static_cast<double>(layer.inputs));
    for (std::int64_t i = layer.weight; i < layer.bias + layer.outputs; ++i) {
      self.state.parameters[static_cast<std::size_t>(i)] = static_cast<float>(bound * (2 * rng.uniform() - 1));
    }
  }
}

RegressionNetwork::RegressionNetwork(RegressionNetwork&&) noexcept = default;
RegressionNetwork& RegressionNetwork::operator=(RegressionNetwork&&) noexcept = default;
RegressionNetwork::~RegressionNetwork() = default;

int RegressionNetwork::inputs() const { return implementation_->layouts.front().inputs; }

double RegressionNetwork::loss_and_gradient(const Batch& batch, std::vector<float>& gradient) {
  Implementation& self = *implementation_;
  self.allocate(batch.rows);
  const MatrixOperand inputs{batch.inputs, batch.rows, self.layouts.front().inputs};
  self.forward(inputs);
  const double loss = self.loss(batch.targets, batch.units);
  self.backward(inputs);
  if (&gradient != &self.gradient) gradient = self.gradient;
  return loss;
}

double RegressionNetwork::train_step(const Batch& batch, double learning_rate, double weight_decay) {
  Implementation& self = *implementation_;
  const double loss = loss_and_gradient(batch, self.gradient);
  ++self.state.steps;
  adam_step(self.state.parameters.data(), self.state.first_moment.data(), self.state.second_moment.data(),
            self.gradient.data(), static_cast<std::int64_t>(self.state.parameters.size()), self.state.steps,
            learning_rate);
  if (weight_decay > 0) {
    const auto kept = static_cast<float>(1 - learning_rate * weight_decay);
    for (const LayerLayout& layout : self.layouts) {
      for (std::int64_t i = layout.weight; i < layout.bias; ++i) {
        self.state.parameters[static_cast<std::size_t>(i)] *= kept;
      }
    }
  }
  return loss;
}

std::vector<float> RegressionNetwork::evaluate(const std::vector<float>& rows) {
  Implementation& self = *implementation_;
  self.allocate(static_cast<std::int64_t>(rows.size()) / inputs());
  self.forward({rows.data(), self.rows, inputs()});
  return self.outputs.back();
}

RegressionNetwork::State RegressionNetwork::state() const { return implementation_->state; }

void RegressionNetwork::restore(const State& state) {
  const std::size_t count = implementation_->state.parameters.size();
  if (state.parameters.size() != count || state.first_moment.size() != count || state.second_moment.size() != count) {
    throw FormatError("this training state belongs to a network of another shape");
  }
  implementation_->state = state;
}

std::vector<DenseLayer> RegressionNetwork::layers() const {
  const std::vector<float>& parameters = implementation_->state.parameters;
  std::vector<DenseLayer> layers;
  for (const LayerLayout& layout : implementation_->layouts) {
    const auto weight = parameters.begin() + layout.weight, bias = parameters.begin() + layout.bias;
    layers.push_back({layout.inputs, layout.outputs, {weight, bias}, {bias, bias + layout.outputs}});
  }
  return layers;
}

void RegressionNetwork::load(const std::vector<DenseLayer>& layers) {
  State fresh;
  for (const DenseLayer& layer : layers) {
    fresh.parameters.insert(fresh.parameters.end(), layer.weight.begin(), layer.weight.end());
    fresh.parameters.insert(fresh.parameters.end(), layer.bias.begin(), layer.bias.end());
  }
  fresh.first_moment.assign(fresh.parameters.size(), 0);
  fresh.second_moment.assign(fresh.parameters.size(), 0);
  restore(fresh);
}

}  // namespace tenshot::trainer
