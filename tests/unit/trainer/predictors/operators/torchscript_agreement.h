#pragma once

#include <gtest/gtest.h>
#include <torch/script.h>

#include <cstdint>
#include <vector>

#include "nasbench/spaces/search_space.h"
#include "nasbench/support/temporary_folder.h"
#include "trainer/predictors/operators/operators_predictor.h"

namespace tenshot::test {

/// Expects the predictor's TorchScript to say of the networks' features what the predictor says of the networks.
inline void expect_same_in_torchscript(const trainer::Predictor& predictor,
                                       const std::vector<nasbench::Architecture>& networks) {
  const TemporaryFolder folder;
  predictor.export_torchscript(folder.path() / "predictor.pt");
  torch::jit::Module module = torch::jit::load((folder.path() / "predictor.pt").string());
  const auto& own = dynamic_cast<const trainer::OperatorsPredictor&>(predictor);
  const Eigen::MatrixXd rows = trainer::operators::feature_table(own.features(), own.space(), networks).rows();
  at::Tensor features = torch::empty({rows.rows(), rows.cols()}, at::kDouble);
  for (Eigen::Index r = 0; r < rows.rows(); ++r) {
    for (Eigen::Index c = 0; c < rows.cols(); ++c) {
      const double unit = c < own.features().unit.size() ? own.features().unit[c] : 1;
      features.data_ptr<double>()[r * rows.cols() + c] = rows(r, c) * unit;
    }
  }
  const auto bounds = module.get_method("predict_interval")({features, 0.9}).toTuple();
  const trainer::Predictions expected = predictor.predict(networks, 0.9);
  for (std::size_t i = 0; i < networks.size(); ++i) {
    const auto at = static_cast<std::int64_t>(i);
    EXPECT_NEAR(bounds->elements()[0].toTensor()[at].item<double>() / expected.latency_ms[i], 1, 1e-9);
    EXPECT_NEAR(bounds->elements()[2].toTensor()[at].item<double>() / expected.upper_ms[i], 1, 1e-2);
  }
}

}  // namespace tenshot::test
