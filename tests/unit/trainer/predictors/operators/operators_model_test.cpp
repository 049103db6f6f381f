#include "trainer/predictors/operators/operators_model.h"

#include <gtest/gtest.h>

#include "tests/unit/trainer/fixtures.h"
#include "tests/unit/trainer/predictors/operators/made_up_pool.h"
#include "tests/unit/trainer/predictors/operators/specifications.h"
#ifdef TENSHOT_HAS_TORCH
#include <torch/script.h>

#include "tests/unit/trainer/predictors/operators/torchscript_agreement.h"
#endif

#include <cmath>
#include <filesystem>
#include <limits>
#include <nlohmann/json.hpp>

#include "nasbench/spaces/networks.h"
#include "nasbench/support/error.h"
#include "nasbench/support/random.h"
#include "nasbench/support/text.h"
#include "trainer/core/prediction_table.h"
#include "trainer/core/predictor.h"
#include "trainer/networks/exporting.h"
#include "trainer/planning/planning.h"
#include "trainer/predictors/operators/operators_predictor.h"

namespace tenshot::trainer {
namespace {

using nasbench::OperatorKind;
using nasbench::OperatorSpecification;
using test::convolution;
using test::latency_ms;
using test::made_up_networks;
using test::measured;
using test::pool_of;

double share_within_ten_percent(const Predictor& predictor, const std::vector<Architecture>& architectures) {
  const Predictions predicted = predictor.predict(architectures, 0.9);
  double hits = 0;
  for (std::size_t i = 0; i < architectures.size(); ++i) {
    const double truth = latency_ms(predictor.space(), architectures[i], 2, 0.5);
    hits += std::abs(predicted.latency_ms[i] / truth - 1) <= 0.1;
    EXPECT_LE(predicted.lower_ms[i], predicted.latency_ms[i]);
    EXPECT_GE(predicted.upper_ms[i], predicted.latency_ms[i]);
  }
  return hits / static_cast<double>(architectures.size());
}

class OperatorsOnNetworks : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    all_ = made_up_networks(90);
    known_.assign(all_.begin(), all_.begin() + 60);
    new_.assign(all_.begin() + 60, all_.end());
    model_ = train_operators(pool_of(nasbench::networks(), known_), {});
    const PlanningView view = model_->planning_prior()->view(known_, {});
    std::vector<std::size_t> candidates(known_.size());
    for (std::size_t c = 0; c < candidates.size(); ++c) candidates[c] = c;
    Rng rng(1);
    std::vector<Architecture> chosen;
    for (const std::size_t c : sampling::choose_informative(view.covariance, candidates, 10, rng)) {
      chosen.push_back(known_[c]);
    }
    set_ = measured(nasbench::networks(), chosen);
    predictor_ = model_->adapt(set_, {});
  }
  static void TearDownTestSuite() {
    predictor_.reset();
    model_.reset();
  }

  static std::vector<Architecture> all_, known_, new_;
  static std::unique_ptr<PoolModel> model_;
  static AdaptationSet set_;
  static std::unique_ptr<Predictor> predictor_;
};

std::vector<Architecture> OperatorsOnNetworks::all_, OperatorsOnNetworks::known_, OperatorsOnNetworks::new_;
std::unique_ptr<PoolModel> OperatorsOnNetworks::model_;
AdaptationSet OperatorsOnNetworks::set_;
std::unique_ptr<Predictor> OperatorsOnNetworks::predictor_;

TEST_F(OperatorsOnNetworks, TenMeasurementsPredictNetworksThatNobodyMeasured) {
  EXPECT_GE(share_within_ten_percent(*predictor_, new_), 0.9);
}

TEST_F(OperatorsOnNetworks, NetworkWithOperatorsThatThePoolNeverSaw_IsNamedAndHasAWiderInterval) {
  const std::vector<OperatorSpecification> operators = nasbench::networks().operator_list(new_[0]);
  std::vector<OperatorSpecification> with_linear = operators;
  OperatorSpecification linear;
  linear.kind = OperatorKind::linear;
  linear.inputs = {{1, 512}};
  linear.output = {1, 512};
  with_linear.push_back(linear);
  const Architecture unknown = nasbench::add_network(nasbench::named_network("with-linear", with_linear, "test"));
  const std::vector<Unfamiliar> unfamiliar = predictor_->unfamiliar({new_[0], unknown});
  ASSERT_EQ(unfamiliar.size(), 2u);
  EXPECT_TRUE(unfamiliar[0].operators.empty());
  EXPECT_EQ(unfamiliar[1].operators, std::vector<std::string>{"linear"});
  const Predictions predicted = predictor_->predict({new_[0], unknown}, 0.9);
  EXPECT_GT(predicted.upper_ms[1] / predicted.lower_ms[1], predicted.upper_ms[0] / predicted.lower_ms[0]);
}

TEST_F(OperatorsOnNetworks, NetworkFarLargerThanThePools_SaysHowManyTimes) {
  std::vector<OperatorSpecification> operators;
  for (int l = 0; l < 2000; ++l) operators.push_back(convolution(3, 1, 128, 128, 56));
  const Architecture large = nasbench::add_network(nasbench::named_network("large", operators, "test"));
  const std::vector<Unfamiliar> unfamiliar = predictor_->unfamiliar({known_[0], large});
  ASSERT_EQ(unfamiliar.size(), 2u);
  EXPECT_EQ(unfamiliar[0].size, 1);
  EXPECT_GT(unfamiliar[1].size, 10);
}

TEST_F(OperatorsOnNetworks, PredictionThatLeavesEverythingOpen_IsTakenOutWithAReason) {
  const std::vector<Architecture> asked = {known_[0], known_[1], known_[2]};
  Predictions predicted = predictor_->predict(asked, 0.9);
  predicted.lower_ms[0] = predicted.latency_ms[0] * 1e-3;
  predicted.upper_ms[0] = predicted.latency_ms[0] * 1e3;
  predicted.upper_ms[2] = std::numeric_limits<double>::infinity();
  EXPECT_THROW(require_usable(predicted, asked, nasbench::networks()), InputError);
  std::vector<Architecture> kept = asked;
  const std::vector<std::string> reasons =
      take_out_unusable(predicted, kept, nasbench::networks(), datasets::Quantity::latency);
  ASSERT_EQ(reasons.size(), 2u);
  EXPECT_EQ(reasons[0].find(nasbench::networks().format(asked[0]) + " is too unlike"), 0u) << reasons[0];
  EXPECT_EQ(kept, std::vector<Architecture>{asked[1]});
  EXPECT_EQ(predicted.upper_ms.size(), 1u);
  EXPECT_NO_THROW(require_usable(predicted, kept, nasbench::networks()));
}

TEST_F(OperatorsOnNetworks, APlanOfNetworksThatAreProfiledExpectsLessNoise) {
  PlanRequest request;
  request.profiled = true;
  EXPECT_NE(plan(*model_, request), plan(*model_, {}));
  request.noise = model_->planning_prior()->view(known_, {}).options.noise;
  EXPECT_EQ(plan(*model_, request), plan(*model_, {}));
}

TEST_F(OperatorsOnNetworks, ExplanationNamesTheCostliestOperators) {
  const std::string text = test::explanation_text(*predictor_);
  EXPECT_NE(text.find("Most like these devices of the pool: board"), std::string::npos) << text;
  EXPECT_NE(text.find("convolution"), std::string::npos) << text;
}

TEST_F(OperatorsOnNetworks, APredictorComesBackFromItsArchiveToTheDigit) {
  const Archive archive = Archive::parse(predictor_->to_archive().serialise(), "memory");
  const auto back = load_operators_predictor(archive);
  EXPECT_EQ(back->predict(new_, 0.9).latency_ms, predictor_->predict(new_, 0.9).latency_ms);
  EXPECT_EQ(back->predict(new_, 0.9).upper_ms, predictor_->predict(new_, 0.9).upper_ms);
}

TEST_F(OperatorsOnNetworks, ADamagedArchiveIsRefusedByName) {
  Archive archive = predictor_->to_archive();
  archive.card["floor_ms"] = -1;
  EXPECT_THROW(load_operators_predictor(archive), FormatError);
  archive = predictor_->to_archive();
  archive.card["features"]["operators"][1] = "no such feature";
  try {
    load_operators_predictor(archive);
    FAIL() << "an unknown feature was taken";
  } catch (const FormatError& error) {
    EXPECT_NE(std::string(error.what()).find("no such feature"), std::string::npos) << error.what();
  }
}

TEST_F(OperatorsOnNetworks, WithoutMeasurementsThereIsNothingToAdaptTo) {
  EXPECT_THROW(model_->adapt({}, {}), InputError);
}

TEST_F(OperatorsOnNetworks, ConfidenceIsAShare) {
  EXPECT_THROW(predictor_->predict(new_, 1.0), InputError);
  EXPECT_THROW(predictor_->predict(new_, std::numeric_limits<double>::quiet_NaN()), InputError);
}

TEST_F(OperatorsOnNetworks, AnOperatorOfAKindThatThePoolNeverSawIsPredictedLikeItsNearest) {
  OperatorSpecification grouped = convolution(3, 2, 32, 32, 28);
  const Architecture identity =
      nasbench::add_network(nasbench::named_network("with-groups", {grouped, grouped}, "test"));
  const auto& own = dynamic_cast<const OperatorsPredictor&>(*predictor_);
  EXPECT_EQ(operators::unknown_groups(own.features(), own.space(), identity),
            std::vector<std::string>{"grouped_convolution"});
  EXPECT_GT(predictor_->predict({identity}, 0.9).latency_ms[0], 0);
  OperatorSpecification steps = grouped, sum = grouped;
  steps.kind = sum.kind = OperatorKind::opaque;
  steps.name = "GRU";
  steps.inputs = {{7, 2, 5}};
  steps.constants = {{1, 18, 5}, {1, 18, 6}};
  sum.name = "CumSum";
  const Architecture others = nasbench::add_network(nasbench::named_network("with-steps", {steps, sum, steps}, "test"));
  EXPECT_EQ(operators::unknown_groups(own.features(), own.space(), others),
            (std::vector<std::string>{"opaque: CumSum", "recurrent: GRU"}));
}

/// The pool of this test has convolutions over images alone.
TEST_F(OperatorsOnNetworks, AnOperatorThatIsCountedWithAGroupIsNamedWhereThePoolHasOnlyOrdinaryOnes) {
  const OperatorSpecification plain = convolution(3, 1, 32, 32, 28);
  OperatorSpecification volume = plain;
  volume.kind = OperatorKind::opaque;
  volume.name = "Conv";
  volume.inputs = {{1, 32, 4, 28, 28}};
  volume.output = {1, 32, 4, 28, 28};
  volume.constants = {{32, 32, 3, 3, 3}};
  OperatorSpecification deformable = plain;
  deformable.kind = OperatorKind::opaque;
  deformable.name = "DeformConv";
  deformable.constants = {{32, 32, 3, 3}};
  const auto flat = nasbench::add_network(nasbench::named_network("flat", {plain, plain}, "test"));
  const auto deep = nasbench::add_network(nasbench::named_network("deep", {plain, volume, deformable}, "test"));
  const auto& own = dynamic_cast<const OperatorsPredictor&>(*predictor_);
  EXPECT_TRUE(operators::unknown_groups(own.features(), own.space(), flat).empty());
  EXPECT_EQ(operators::unknown_groups(own.features(), own.space(), deep),
            std::vector<std::string>{"convolution: 3-D Conv, DeformConv"});
  const Predictions predicted = predictor_->predict({flat, deep}, 0.9);
  const auto width = [&](std::size_t i) { return std::log(predicted.upper_ms[i] / predicted.lower_ms[i]); };
  EXPECT_GT(width(1), 2 * width(0));
  Archive archive = predictor_->to_archive();
  archive.card["features"]["unusual"] = {"convolution: 3-D Conv", "convolution: DeformConv"};
  const auto measured = load_operators_predictor(archive);
  EXPECT_TRUE(measured->unfamiliar({deep})[0].operators.empty());
  EXPECT_EQ(measured->predict({deep}, 0.9).latency_ms, predictor_->predict({deep}, 0.9).latency_ms);
  archive.card["features"]["unmeasured"] = {"convolution: DeformConv"};
  EXPECT_EQ(load_operators_predictor(archive)->unfamiliar({deep})[0].operators,
            std::vector<std::string>{"convolution: DeformConv"});
}

TEST_F(OperatorsOnNetworks, ActivationsCostNothingOfTheirOwnWhereThePoolListsNone) {
  const OperatorSpecification plain = convolution(3, 1, 32, 32, 28);
  OperatorSpecification activation;
  activation.kind = OperatorKind::activation;
  activation.name = "relu";
  activation.inputs = {plain.output};
  activation.output = plain.output;
  const auto without = nasbench::add_network(nasbench::named_network("without-relu", {plain, plain}, "test"));
  const auto with = nasbench::add_network(nasbench::named_network("with-relu", {plain, activation, plain}, "test"));
  const Predictions predicted = predictor_->predict({without, with}, 0.9);
  EXPECT_NEAR(predicted.latency_ms[1] / predicted.latency_ms[0], 1, 0.02);
}

#ifdef TENSHOT_HAS_TORCH

TEST_F(OperatorsOnNetworks, TorchScriptSaysTheSame) { test::expect_same_in_torchscript(*predictor_, new_); }

TEST_F(OperatorsOnNetworks, TorchScriptSaysNaN_WhereAPredictionIsRefused) {
  OperatorSpecification linear;
  linear.kind = OperatorKind::linear;
  linear.inputs = {{1, 4096}};
  linear.output = {1, 4096};
  const std::vector<OperatorSpecification> operators(2000, linear);
  Archive archive = predictor_->to_archive();
  std::vector<double> quantiles = archive.numbers("calibration.quantiles");
  for (double& quantile : quantiles) quantile *= 5;  // of a predictor that is less sure
  archive.put("calibration.quantiles", to_array(quantiles, archive.shape("calibration.quantiles")));
  const auto predictor = load_operators_predictor(archive);
  const std::vector<Architecture> two = {
      new_[0], nasbench::add_network(nasbench::named_network("far-from-all", operators, "test"))};
  const Predictions found = predictor->predict(two, 0.9);
  ASSERT_EQ(why_unusable(found, 0, two[0], nasbench::networks()), "");
  ASSERT_NE(why_unusable(found, 1, two[1], nasbench::networks()), "") << found.upper_ms[1] / found.lower_ms[1];
  const test::OperatorsInTorchScript exported(*predictor, two);
  const std::vector<at::Tensor> bounds = exported.interval(0.9);
  for (const at::Tensor& tensor : {exported.latency(), bounds[0], bounds[1], bounds[2]}) {
    EXPECT_TRUE(std::isfinite(tensor[0].item<double>()));
    EXPECT_TRUE(std::isnan(tensor[1].item<double>()));
  }
  EXPECT_FALSE(std::isnan(exported.interval(0.2)[2][1].item<double>())) << "narrower bounds say something";
}

#endif

TEST(OperatorsOnALayeredSpace, TenMeasurementsPredictTheOthersAndTorchScriptReadsStrings) {
  const SearchSpace& space = nasbench::search_space(nasbench::known_space("fbnet"));
  Rng rng(3);
  std::vector<Architecture> known, others;
  for (int i = 0; i < 300; ++i) known.push_back(space.random(rng));
  for (int i = 0; i < 50; ++i) others.push_back(space.random(rng));
  const auto model = train_operators(pool_of(space, known), {});
  const auto predictor = model->adapt(measured(space, {known.begin(), known.begin() + 10}), {});
  EXPECT_GE(share_within_ten_percent(*predictor, others), 0.95);
  const auto back = load_operators(Archive::parse(model->to_archive().serialise(), "memory"));
  EXPECT_EQ(back->predict_pool(others), model->predict_pool(others));
#ifdef TENSHOT_HAS_TORCH
  const auto path = std::filesystem::temp_directory_path() / "tenshot_operators_fbnet_test.pt";
  export_torchscript(*predictor, path);
  torch::jit::Module module = torch::jit::load(path.string());
  std::filesystem::remove(path);
  c10::List<std::string> strings;
  for (const Architecture& architecture : others) strings.push_back(space.format(architecture));
  const at::Tensor latency = module.get_method("predict")({strings}).toTensor();
  const Predictions expected = predictor->predict(others, 0.9);
  for (std::size_t i = 0; i < others.size(); ++i) {
    EXPECT_NEAR(latency[static_cast<std::int64_t>(i)].item<double>() / expected.latency_ms[i], 1, 1e-9);
  }
#endif
}

}  // namespace
}  // namespace tenshot::trainer
