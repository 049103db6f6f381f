#include "trainer/predictors/described/descriptor_network.h"

namespace tenshot::trainer::structured {

Eigen::VectorXd DescriptorNetwork::operator()(const Eigen::VectorXd& inputs) const {
  return output * (hidden * inputs + hidden_bias).array().tanh().matrix() + output_bias;
}

}  // namespace tenshot::trainer::structured
