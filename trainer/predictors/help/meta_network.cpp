#include "trainer/predictors/help/meta_network.h"

#include <torch/torch.h>

#include <cmath>

#include "nasbench/support/error.h"
#include "nasbench/support/random.h"

namespace tenshot::trainer {
namespace {

constexpr std::int64_t width = 100;  ///< of architecture code and hardware embedding
constexpr double first_step_size = 0.05;

/// Where the layers stand in the list of parameters: weight [out, in], then bias [out], each.
enum Layer : std::size_t { set1, set2, modulate1, modulate2, encode1, encode2, join1, join2, join3, layers };
constexpr std::size_t adapted_layers = layers - encode1;  ///< those from encode1 on are adapted
constexpr std::size_t step_sizes = 2 * layers;            ///< log step size of each adapted weight and bias

using Tensors = std::vector<at::Tensor>;

at::Tensor tensor(const std::vector<float>& values, std::int64_t rows) {
  return torch::tensor(values).view({rows, -1});
}

at::Tensor linear(const Tensors& parameters, std::size_t layer, const at::Tensor& x) {
  return torch::addmm(parameters[2 * layer + 1], x, parameters[2 * layer].t());
}

at::Tensor relative_loss(const at::Tensor& predicted, const at::Tensor& target) {
  return ((predicted - target) / target).square().mean();
}

/// The predictor: `encoding` [rows, inputs] and the embedding [1, width] to [rows, 1].
at::Tensor predict(const Tensors& p, const at::Tensor& encoding, const at::Tensor& embedding) {
  const at::Tensor code = torch::relu(linear(p, encode2, torch::relu(linear(p, encode1, encoding))));
  const at::Tensor joined = torch::cat({code, embedding.expand({code.size(0), width})}, 1);
  return linear(p, join3, torch::relu(linear(p, join2, torch::relu(linear(p, join1, joined)))));
}

struct Adapted {
  Tensors parameters;
  at::Tensor embedding;
};

/// The parameters after modulation and `steps` gradient steps on the support. With `differentiable`, as functions of
/// the parameters given.
Adapted adapt(const Tensors& parameters, const at::Tensor& x, const at::Tensor& y, int steps, bool differentiable) {
  Adapted result{parameters, {}};
  const at::Tensor pairs = torch::cat({x, y}, 1);
  result.embedding = linear(parameters, set2, torch::relu(linear(parameters, set1, pairs))).mean(0, true);
  const at::Tensor scales =
      1 + linear(parameters, modulate2, torch::relu(linear(parameters, modulate1, result.embedding)));
  for (std::size_t i = 0; i < adapted_layers; ++i) {
    at::Tensor& weight = result.parameters[2 * (encode1 + i)];
    weight = weight * scales.narrow(1, static_cast<std::int64_t>(i), 1);
  }
  for (int step = 0; step < steps; ++step) {
    const Tensors own(result.parameters.begin() + 2 * encode1, result.parameters.begin() + 2 * layers);
    const at::Tensor loss = relative_loss(predict(result.parameters, x, result.embedding), y);
    const Tensors gradient = torch::autograd::grad({loss}, own, {}, true, differentiable);
    for (std::size_t i = 0; i < own.size(); ++i) {
      result.parameters[2 * encode1 + i] = own[i] - parameters[step_sizes + i].exp() * gradient[i];
    }
  }
  return result;
}

std::vector<float> values_of(const at::Tensor& tensor) {
  const at::Tensor flat = tensor.detach().contiguous().view({-1});
  return {flat.data_ptr<float>(), flat.data_ptr<float>() + flat.numel()};
}

std::vector<float> joined_values(const Tensors& tensors) {
  std::vector<float> values;
  for (const at::Tensor& tensor : tensors) {
    const std::vector<float> own = values_of(tensor);
    values.insert(values.end(), own.begin(), own.end());
  }
  return values;
}

void assign(Tensors& tensors, const std::vector<float>& values) {
  std::int64_t count = 0;
  for (const at::Tensor& tensor : tensors) count += tensor.numel();
  if (count != static_cast<std::int64_t>(values.size())) throw FormatError("the weights are of another network");
  const torch::NoGradGuard no_gradient;
  const float* next = values.data();
  for (at::Tensor& tensor : tensors) {
    std::copy_n(next, tensor.numel(), tensor.data_ptr<float>());
    next += tensor.numel();
  }
}

class TorchMetaNetwork final : public MetaNetwork {
 public:
  TorchMetaNetwork(std::int64_t inputs, std::uint64_t seed) {
    const std::int64_t shapes[layers][2] = {
        {width, inputs + 1}, {width, width}, {width, width},         {static_cast<std::int64_t>(adapted_layers), width},
        {width, inputs},     {width, width}, {2 * width, 2 * width}, {2 * width, 2 * width},
        {1, 2 * width}};
    Rng rng(seed, 11);
    for (std::size_t l = 0; l < layers; ++l) {
      // The modulator starts as "no change", so that the first episodes train a plain network.
      const double bound = l == modulate2 ? 0 : 1 / std::sqrt(static_cast<double>(shapes[l][1]));
      parameters_.push_back(drawn({shapes[l][0], shapes[l][1]}, bound, rng));
      parameters_.push_back(drawn({shapes[l][0]}, bound, rng));
    }
    parameters_[2 * join3 + 1].fill_(1);  // latencies relative to the geometric mean are near 1
    for (std::size_t i = 0; i < 2 * adapted_layers; ++i) {
      parameters_.push_back(torch::full({1}, std::log(first_step_size)));
    }
    for (at::Tensor& parameter : parameters_) {
      parameter.requires_grad_(true);
      first_moment_.push_back(torch::zeros_like(parameter));
      second_moment_.push_back(torch::zeros_like(parameter));
    }
  }

  double meta_step(const std::vector<MetaTask>& tasks, int inner_steps, double learning_rate) override {
    Tensors losses;
    for (const MetaTask& task : tasks) losses.push_back(query_loss(task, inner_steps, true));
    const at::Tensor loss = torch::stack(losses).mean();
    Tensors gradient = torch::autograd::grad({loss}, parameters_, {}, false, false, true);
    for (std::size_t i = 0; i < gradient.size(); ++i) {
      if (!gradient[i].defined()) gradient[i] = torch::zeros_like(parameters_[i]);
    }
    step(std::move(gradient), learning_rate);
    return loss.item<double>();
  }

  double loss(const MetaTask& task, int inner_steps) const override {
    return query_loss(task, inner_steps, false).item<double>();
  }

  std::vector<DenseLayer> adapted(const MetaBatch& support, int inner_steps) const override {
    const auto rows = static_cast<std::int64_t>(support.targets.size());
    const Adapted adapted =
        adapt(parameters_, tensor(support.inputs, rows), tensor(support.targets, rows), inner_steps, false);
    std::vector<DenseLayer> network;
    for (std::size_t l = encode1; l < layers; ++l) {
      const at::Tensor weight = adapted.parameters[2 * l];
      network.push_back({static_cast<int>(weight.size(1)), static_cast<int>(weight.size(0)), values_of(weight),
                         values_of(adapted.parameters[2 * l + 1])});
    }
    DenseLayer& join = network[join1 - encode1];
    join = fold_constant_inputs({join}, static_cast<int>(width), values_of(adapted.embedding)).front();
    return network;
  }

  AdamState state() const override {
    return {joined_values(parameters_), joined_values(first_moment_), joined_values(second_moment_), steps_};
  }

  void restore(const AdamState& state) override {
    assign(parameters_, state.parameters);
    assign(first_moment_, state.first_moment);
    assign(second_moment_, state.second_moment);
    steps_ = state.steps;
  }

  std::vector<float> parameters() const override { return joined_values(parameters_); }

  void load(const std::vector<float>& values) override { assign(parameters_, values); }

 private:
  static at::Tensor drawn(const std::vector<std::int64_t>& shape, double bound, Rng& rng) {
    at::Tensor values = torch::empty(shape);
    float* data = values.data_ptr<float>();
    for (std::int64_t i = 0; i < values.numel(); ++i) data[i] = static_cast<float>(bound * (2 * rng.uniform() - 1));
    return values;
  }

  at::Tensor query_loss(const MetaTask& task, int inner_steps, bool differentiable) const {
    const auto rows = static_cast<std::int64_t>(task.support.targets.size());
    const auto asked = static_cast<std::int64_t>(task.query.targets.size());
    const Adapted adapted = adapt(parameters_, tensor(task.support.inputs, rows), tensor(task.support.targets, rows),
                                  inner_steps, differentiable);
    return relative_loss(predict(adapted.parameters, tensor(task.query.inputs, asked), adapted.embedding),
                         tensor(task.query.targets, asked));
  }

  /// Adam (Kingma and Ba, ICLR 2015) on the gradient, scaled down to a norm of at most one: now and then an inner step
  /// goes too far.
  void step(Tensors gradient, double learning_rate) {
    const torch::NoGradGuard no_gradient;
    constexpr double beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8;
    double squares = 0;
    for (const at::Tensor& g : gradient) squares += g.square().sum().item<double>();
    if (!std::isfinite(squares)) return;
    const double scale = std::min(1.0, 1 / std::sqrt(std::max(squares, 1e-30)));
    ++steps_;
    const double correction1 = 1 - std::pow(beta1, steps_), correction2 = 1 - std::pow(beta2, steps_);
    for (std::size_t i = 0; i < parameters_.size(); ++i) {
      gradient[i].mul_(scale);
      first_moment_[i].mul_(beta1).add_(gradient[i], 1 - beta1);
      second_moment_[i].mul_(beta2).addcmul_(gradient[i], gradient[i], 1 - beta2);
      parameters_[i].addcdiv_(first_moment_[i], (second_moment_[i] / correction2).sqrt_().add_(epsilon),
                              -learning_rate / correction1);
    }
  }

  Tensors parameters_, first_moment_, second_moment_;
  std::int64_t steps_ = 0;
};

}  // namespace

std::unique_ptr<MetaNetwork> make_meta_network(int inputs, std::uint64_t seed) {
  return std::make_unique<TorchMetaNetwork>(inputs, seed);
}

}  // namespace tenshot::trainer
