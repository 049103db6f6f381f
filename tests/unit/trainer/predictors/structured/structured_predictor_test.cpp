#include <gtest/gtest.h>
#ifdef TENSHOT_HAS_TORCH
#include <torch/script.h>
#endif

#include <nlohmann/json.hpp>

#include "nasbench/support/error.h"
#include "nasbench/support/text.h"
#include "tests/unit/trainer/fixtures.h"
#include "trainer/core/metrics.h"
#include "trainer/networks/exporting.h"
#include "trainer/planning/planning.h"
#include "trainer/predictors/registry.h"
#include "trainer/predictors/structured/structured_model.h"

namespace tenshot::trainer {
namespace {

const nasbench::SearchSpace& space = nasbench::nasbench201();

const PoolModel& model() {
  static const auto trained = train_structured(test::synthetic_pool(200), {});
  return *trained;
}

AdaptationSet planned_set(const std::vector<Architecture>& plan) {
  AdaptationSet set;
  const auto device = test::synthetic_device("new", 5, 1.0, 0.01, 200, 9);
  for (const auto& row : device.latencies) {
    if (std::find(plan.begin(), plan.end(), row.architecture) == plan.end()) continue;
    set.architectures.push_back(row.architecture);
    set.latency_ms.push_back(row.latency_ms);
  }
  return set;
}

std::unique_ptr<Predictor> adapted() { return model().adapt(planned_set(plan(model(), {})), {}); }

TEST(StructuredPredictor, PredictsANewDeviceFromTenInformativeMeasurements) {
  const auto device = test::synthetic_device("new", 5, 1.0, 0.01, 200, 9);
  std::vector<Architecture> architectures;
  std::vector<double> measured_ms;
  for (const auto& row : device.latencies) {
    architectures.push_back(row.architecture);
    measured_ms.push_back(row.latency_ms);
  }
  const Predictions predicted = adapted()->predict(architectures, 0.9);
  const Metrics metrics = evaluate(predicted, measured_ms);
  EXPECT_GT(metrics.acc10, 0.97);
  EXPECT_GT(metrics.coverage, 0.8);
}

TEST(StructuredPredictor, SaysHowMuchMoreMeasurementsWouldHelp) {
  EXPECT_NE(test::explanation_text(*adapted()).find("five more measurements would leave"), std::string::npos)
      << test::explanation_text(*adapted());
}

TEST(StructuredPredictor, IsTheSameAfterSavingAndLoading) {
  const test::Folder folder;
  const auto predictor = adapted();
  save(predictor->to_archive(), folder.path() / "device.tenshot");
  const auto loaded = load_predictor(folder.path() / "device.tenshot");
  const auto all = space.all();
  const Predictions before = predictor->predict(all, 0.8), after = loaded->predict(all, 0.8);
  EXPECT_EQ(before.latency_ms, after.latency_ms);
  EXPECT_EQ(before.lower_ms, after.lower_ms);
  EXPECT_EQ(before.upper_ms, after.upper_ms);
  EXPECT_EQ(loaded->explanation(), predictor->explanation());
}

TEST(StructuredPredictor, AdaptsAfterSavingAndLoadingThePoolAsBefore) {
  const test::Folder folder;
  save(model().to_archive(), folder.path() / "pool.tenshot");
  const auto loaded = load_pool_model(folder.path() / "pool.tenshot");
  EXPECT_EQ(loaded->to_archive().serialise(), model().to_archive().serialise());
  const AdaptationSet set = planned_set(plan(*loaded, {}));
  EXPECT_EQ(loaded->adapt(set, {})->to_archive().serialise(), adapted()->to_archive().serialise());
}

TEST(StructuredPredictor, OfTheWholeSpaceMeasuredIsAFileUnderAMegabyteThatLosesNothing) {
  AdaptationSet set;
  set.architectures = space.all();
  Rng rng(4);
  for (const Architecture& architecture : set.architectures) {
    set.latency_ms.push_back(5 + 20 * static_cast<double>(space.connected(architecture)) + rng.uniform());
  }
  const auto predictor = model().adapt(set, {});
  const test::Folder folder;
  save(predictor->to_archive(), folder.path() / "device.tenshot");
  EXPECT_LT(std::filesystem::file_size(folder.path() / "device.tenshot"), 1'000'000U);
  const auto loaded = load_predictor(folder.path() / "device.tenshot");
  EXPECT_EQ(loaded->to_archive().card, predictor->to_archive().card);
  EXPECT_EQ(loaded->to_archive().card.at("adaptation_set").size(), 15625U);
  EXPECT_EQ(loaded->predict(set.architectures, 0.9).upper_ms, predictor->predict(set.architectures, 0.9).upper_ms);
}

#ifdef TENSHOT_HAS_TORCH

class StructuredExport : public testing::TestWithParam<std::size_t> {};
INSTANTIATE_TEST_SUITE_P(FewAndMany, StructuredExport, testing::Values(10, 150));

TEST_P(StructuredExport, HasTheSameLatenciesAndIntervals) {
  const test::Folder folder;
  PlanRequest request;
  request.samples = GetParam();
  const auto predictor = model().adapt(planned_set(plan(model(), request)), {});
  export_torchscript(*predictor, folder.path() / "device.pt");
  torch::jit::Module module = torch::jit::load((folder.path() / "device.pt").string());
  const auto all = space.all();
  c10::List<std::string> strings;
  for (const auto& architecture : all) strings.push_back(space.format(architecture));
  const at::Tensor latency = module.get_method("predict")({strings}).toTensor();
  for (const double confidence : {0.5, 0.9, 0.99}) {
    const Predictions expected = predictor->predict(all, confidence);
    const auto found = module.get_method("predict_interval")({strings, confidence}).toTuple()->elements();
    const at::Tensor lower = found[1].toTensor(), upper = found[2].toTensor();
    for (std::size_t i = 0; i < all.size(); ++i) {
      const auto row = static_cast<std::int64_t>(i);
      ASSERT_NEAR(latency[row].item<double>() / expected.latency_ms[i], 1, 1e-9);
      ASSERT_NEAR(lower[row].item<double>() / expected.lower_ms[i], 1, 1e-5);
      ASSERT_NEAR(upper[row].item<double>() / expected.upper_ms[i], 1, 1e-5);
    }
  }
  at::Tensor encoding = torch::zeros({1, 30});
  space.encode(all[321], encoding.data_ptr<float>());
  EXPECT_NEAR(module.forward({encoding}).toTensor().item<double>() / latency[321].item<double>(), 1, 1e-12);
  c10::List<std::string> bad;
  bad.push_back("resnet18");
  EXPECT_ANY_THROW(module.get_method("predict")({bad}));
  EXPECT_ANY_THROW(module.get_method("predict_interval")({strings, 1.5}));
}

#endif

TEST(StructuredPredictor, WidensItsIntervalsWithConfidenceAndNarrowsThemWithMeasurements) {
  const AdaptationSet ten = planned_set(plan(model(), {}));
  AdaptationSet two = ten;
  two.architectures.resize(2);
  two.latency_ms.resize(2);
  const auto width = [&](const Predictor& predictor, double confidence) {
    const Predictions predictions = predictor.predict(space.all(), confidence);
    double sum = 0;
    for (std::size_t i = 0; i < predictions.latency_ms.size(); ++i) {
      EXPECT_LE(predictions.lower_ms[i], predictions.latency_ms[i]);
      EXPECT_GE(predictions.upper_ms[i], predictions.latency_ms[i]);
      sum += (predictions.upper_ms[i] - predictions.lower_ms[i]) / predictions.latency_ms[i];
    }
    return sum;
  };
  const auto with_ten = model().adapt(ten, {}), with_two = model().adapt(two, {});
  EXPECT_LT(width(*with_ten, 0.5), width(*with_ten, 0.9));
  EXPECT_LT(width(*with_ten, 0.9), width(*with_two, 0.9));
}

TEST(StructuredPredictor, WarnsOfMeasurementsInAnotherUnit) {
  AdaptationSet seconds = planned_set(plan(model(), {}));
  for (double& latency_ms : seconds.latency_ms) latency_ms /= 1000;
  EXPECT_NE(test::explanation_text(*model().adapt(seconds, {})).find("Warning"), std::string::npos);
  EXPECT_EQ(test::explanation_text(*adapted()).find("Warning"), std::string::npos)
      << test::explanation_text(*adapted());
}

TEST(StructuredPredictor, RefusesNoMeasurements) { EXPECT_THROW(model().adapt({}, {}), InputError); }

TEST(StructuredPredictor, AnswersFromOneMeasurementAndFromOddOnes) {
  AdaptationSet set;
  set.architectures = {space.at(9000)};
  set.latency_ms = {20};
  const auto positive = [&] {
    const auto latency_ms = model().adapt(set, {})->predict(space.all(), 0.9).latency_ms;
    return std::all_of(latency_ms.begin(), latency_ms.end(), [](double value) { return value > 0 && value < 1e6; });
  };
  EXPECT_TRUE(positive());
  set.architectures = {space.at(9000), space.at(4000), space.at(15000)};
  set.latency_ms = {20, 20, 20};  // all of one latency
  EXPECT_TRUE(positive());
  set.architectures = {space.at(0), space.at(1)};  // disconnected
  set.latency_ms = {0.1, 0.2};
  EXPECT_TRUE(positive());
}

}  // namespace
}  // namespace tenshot::trainer
