#pragma once

#include <gtest/gtest.h>
#include <torch/script.h>

#include <Eigen/Core>
#include <cstdint>
#include <vector>

#include "nasbench/spaces/search_space.h"
#include "nasbench/support/temporaries.h"
#include "trainer/core/predictor.h"
#include "trainer/networks/exporting.h"
#include "trainer/networks/formula.h"

namespace tenshot::test {

/// A predictor's TorchScript, asked of networks by their features.
class OperatorsInTorchScript {
 public:
  OperatorsInTorchScript(const trainer::Predictor& predictor, const std::vector<nasbench::Architecture>& networks) {
    const TemporaryFolder folder;
    trainer::export_torchscript(predictor, folder.path() / "predictor.pt");
    module_ = torch::jit::load((folder.path() / "predictor.pt").string());
    Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor> encoding =
        predictor.formula().encode(networks);
    features_ = torch::from_blob(encoding.data(), {encoding.rows(), encoding.cols()}, at::kDouble).clone();
  }

  at::Tensor latency() const { return module_.get_method("forward")({features_}).toTensor(); }
  /// The latencies and their bounds.
  std::vector<at::Tensor> interval(double confidence) const {
    const auto bounds = module_.get_method("forward_interval")({features_, confidence}).toTuple();
    return {bounds->elements()[0].toTensor(), bounds->elements()[1].toTensor(), bounds->elements()[2].toTensor()};
  }

 private:
  torch::jit::Module module_;
  at::Tensor features_;
};

/// Expects the predictor's TorchScript to say of the networks' features what the predictor says of the networks.
inline void expect_same_in_torchscript(const trainer::Predictor& predictor,
                                       const std::vector<nasbench::Architecture>& networks) {
  const std::vector<at::Tensor> found = OperatorsInTorchScript(predictor, networks).interval(0.9);
  const trainer::Predictions expected = predictor.predict(networks, 0.9);
  for (std::size_t i = 0; i < networks.size(); ++i) {
    const auto at = static_cast<std::int64_t>(i);
    EXPECT_NEAR(found[0][at].item<double>() / expected.latency_ms[i], 1, 1e-9);
    EXPECT_NEAR(found[2][at].item<double>() / expected.upper_ms[i], 1, 1e-2);
  }
}

}  // namespace tenshot::test
