#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <vector>

namespace tenshot::trainer::structured {

/// The network between a hardware descriptor and costs: outputs = W₂ tanh(W₁ inputs + b₁) + b₂.
struct DescriptorNetwork {
  Eigen::MatrixXd hidden;       ///< [hidden, inputs]
  Eigen::VectorXd hidden_bias;  ///< [hidden]
  Eigen::MatrixXd output;       ///< [features, hidden]
  Eigen::VectorXd output_bias;  ///< [features]

  Eigen::VectorXd operator()(const Eigen::VectorXd& inputs) const {
    return output * (hidden * inputs + hidden_bias).array().tanh().matrix() + output_bias;
  }
};

/// Measured networks of several devices, to learn from. The latency of row i on device d is rows(i) · costs(d), and
/// log costs(d) = log_costs.row(d) + network(inputs.row(d)).
struct DescribedNetworks {
  Eigen::MatrixXd inputs;            ///< [devices, inputs]
  Eigen::MatrixXd log_costs;         ///< [devices, features]: what the descriptor says by itself
  Eigen::MatrixXd rows;              ///< [n, features]
  std::vector<std::int64_t> device;  ///< [n]
  Eigen::VectorXd log_latency;       ///< [n]
};

/// Trains by Adam (Kingma and Ba, ICLR 2015) on the squared error of log latency, every device counting alike, from
/// outputs that are zero: without a reason in the data, costs stay what the descriptor says.
DescriptorNetwork fit_descriptor_network(const DescribedNetworks& networks, std::uint64_t seed);

}  // namespace tenshot::trainer::structured
