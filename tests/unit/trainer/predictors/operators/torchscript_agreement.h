#pragma once

#include <gtest/gtest.h>
#include <torch/script.h>

#include <Eigen/Core>
#include <cstdint>
#include <vector>

#include "nasbench/spaces/search_space.h"
#include "nasbench/support/temporary_folder.h"
#include "trainer/predictors/operators/encoded_features.h"
#include "trainer/predictors/operators/operators_predictor.h"

namespace tenshot::test {

/// Expects the predictor's TorchScript to say of the networks' features what the predictor says of the networks.
inline void expect_same_in_torchscript(const trainer::Predictor& predictor,
                                       const std::vector<nasbench::Architecture>& networks) {
  const TemporaryFolder folder;
  predictor.export_torchscript(folder.path() / "predictor.pt");
  torch::jit::Module module = torch::jit::load((folder.path() / "predictor.pt").string());
  const auto& own = dynamic_cast<const trainer::OperatorsPredictor&>(predictor);
  const Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor> encoding =
      trainer::operators::network_encoding(own.space(), own.features(), own.posterior(), networks);
  const at::Tensor features =
      torch::from_blob(const_cast<double*>(encoding.data()), {encoding.rows(), encoding.cols()}, at::kDouble);
  const auto bounds = module.get_method("forward_interval")({features, 0.9}).toTuple();
  const trainer::Predictions expected = predictor.predict(networks, 0.9);
  for (std::size_t i = 0; i < networks.size(); ++i) {
    const auto at = static_cast<std::int64_t>(i);
    EXPECT_NEAR(bounds->elements()[0].toTensor()[at].item<double>() / expected.latency_ms[i], 1, 1e-9);
    EXPECT_NEAR(bounds->elements()[2].toTensor()[at].item<double>() / expected.upper_ms[i], 1, 1e-2);
  }
}

}  // namespace tenshot::test
