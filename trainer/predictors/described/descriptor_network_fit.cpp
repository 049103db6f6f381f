#include <torch/torch.h>

#include <cmath>

#include "nasbench/support/random.h"
#include "trainer/predictors/described/descriptor_prior.h"

namespace tenshot::trainer::structured {
namespace {

constexpr int hidden_width = 16;        ///< wider expresses more and knows a small pool by heart
constexpr int steps = 300;              ///< of Adam; more take longer and follow the pool further
constexpr double learning_rate = 0.02;  ///< Adam's; too large never settles
/// The weight of the squared weights, against the mean squared error of log latency: few devices of one machine are
/// quickly known by heart. Larger keeps costs nearer to what the descriptor says by itself.
constexpr double weight_decay = 1;
constexpr double bias_decay = 1e-3;           ///< of the squared output biases: what all devices have in common
constexpr double smallest_latency_ms = 1e-6;  ///< ms, in the logarithm

using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

at::Tensor tensor_of(const RowMajor& matrix) {
  return torch::from_blob(const_cast<double*>(matrix.data()), {matrix.rows(), matrix.cols()}, torch::kFloat64).clone();
}

Eigen::MatrixXd matrix_of(const at::Tensor& tensor) {
  const at::Tensor values = tensor.detach().contiguous();
  return Eigen::Map<const RowMajor>(values.data_ptr<double>(), values.size(0), values.size(1));
}

Eigen::MatrixXd random_matrix(Eigen::Index rows, Eigen::Index columns, Rng& rng) {
  Eigen::MatrixXd matrix(rows, columns);
  const double scale = 1 / std::sqrt(static_cast<double>(columns));
  for (Eigen::Index r = 0; r < rows; ++r) {
    for (Eigen::Index c = 0; c < columns; ++c) matrix(r, c) = scale * rng.normal();
  }
  return matrix;
}

at::Tensor shares(const DescribedNetworks& networks) {
  std::vector<double> count(static_cast<std::size_t>(networks.inputs.rows()), 0);
  for (const std::int64_t d : networks.device) count[static_cast<std::size_t>(d)] += 1;
  std::vector<double> share;
  for (const std::int64_t d : networks.device) {
    share.push_back(1 / (count[static_cast<std::size_t>(d)] * static_cast<double>(count.size())));
  }
  return torch::tensor(share, torch::kFloat64);
}

}  // namespace

DescriptorNetwork fit_descriptor_network(const DescribedNetworks& networks, std::uint64_t seed) {
  Rng rng(seed, 0x64657363);
  const Eigen::Index features = networks.rows.cols();
  std::vector<at::Tensor> parameters = {tensor_of(random_matrix(hidden_width, networks.inputs.cols(), rng)),
                                        torch::zeros({1, hidden_width}, torch::kFloat64),
                                        torch::zeros({features, hidden_width}, torch::kFloat64),
                                        torch::zeros({1, features}, torch::kFloat64)};
  for (at::Tensor& parameter : parameters) parameter.requires_grad_(true);
  const at::Tensor inputs = tensor_of(networks.inputs), log_costs = tensor_of(networks.log_costs);
  const at::Tensor rows = tensor_of(networks.rows), share = shares(networks);
  const at::Tensor log_latency = tensor_of(networks.log_latency).view({-1});
  const at::Tensor device = torch::tensor(networks.device, torch::kInt64);

  torch::optim::Adam optimiser(parameters, torch::optim::AdamOptions(learning_rate));
  for (int step = 0; step < steps; ++step) {
    optimiser.zero_grad();
    const at::Tensor hidden = torch::tanh(inputs.mm(parameters[0].t()) + parameters[1]);
    const at::Tensor costs = (log_costs + hidden.mm(parameters[2].t()) + parameters[3]).exp();
    const at::Tensor latency = (rows * costs.index_select(0, device)).sum(1).clamp_min(smallest_latency_ms);
    const at::Tensor error = (latency.log() - log_latency).square();
    const at::Tensor decay = weight_decay * (parameters[2].square().sum() + parameters[1].square().sum()) +
                             bias_decay * parameters[3].square().sum();
    ((share * error).sum() + decay).backward();
    optimiser.step();
  }
  return {matrix_of(parameters[0]), matrix_of(parameters[1]).row(0).transpose(), matrix_of(parameters[2]),
          matrix_of(parameters[3]).row(0).transpose()};
}

}  // namespace tenshot::trainer::structured
