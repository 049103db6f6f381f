#include <gtest/gtest.h>

#include <cmath>

#include "nasbench/kernels/kernel_network.h"
#include "nasbench/support/error.h"
#include "trainer/predictors/kernels/kernel_model.h"

namespace tenshot::trainer::kernels {
namespace {

nasbench::OperatorSpecification linear(int inputs) {
  return leading_operator(nasbench::made_kernel("linear", {1, inputs, 16, 1, 1}));
}

/// Linear layers of the network `network` that take a ms for each thousand multiply-adds.
std::vector<KernelSample> samples(const std::string& network, double factor = 1) {
  std::vector<KernelSample> samples;
  for (const int inputs : {16, 32, 64, 128, 256}) {
    samples.push_back({"linear", linear(inputs), factor * 0.016 * inputs, network});
  }
  return samples;
}

TEST(WholeNetworks, IntervalsAreTheErrorsOfThoseHeldOut) {
  const WholeNetworks nine{1, 0, 0, {.01, .02, .03, .04, .05, .06, .07, .08, .09}};
  EXPECT_EQ(nine.half_width(0.9), .09);  // ⌈10 · 0.9⌉: the ninth
  EXPECT_EQ(nine.half_width(0.5), .05);
  // Two errors reach two thirds, whose normal quantile is 0.9674; that of nine tenths is 1.6449.
  const WholeNetworks two{1, 0, 0, {.1, .2}};
  EXPECT_NEAR(two.half_width(0.9), .2 * 1.6449 / 0.9674, 1e-4);
}

TEST(WholeNetworks, TheCorrectionIsAFactorAnOverheadOrNone) {
  const KernelModel model(samples(""), 0, 1, LearnerKind::lasso);
  std::vector<WholeNetwork> networks;
  for (const int inputs : {16, 32, 64, 128}) {
    networks.push_back({std::to_string(inputs), {{"linear", linear(inputs)}}, 2 * 0.016 * inputs});
  }
  const auto fit = [&](const char* how) {
    return fit_whole_networks(networks, model, samples(""), correction(how), 1, LearnerKind::lasso);
  };
  EXPECT_NEAR(fit("factor").factor, 2, 1e-3);
  EXPECT_LT(fit("factor").errors.back(), 0.01);
  EXPECT_NEAR(fit("overhead").overhead_ms, 0.016 * (16 + 32 + 64 + 128) / 4, 1e-2);
  EXPECT_EQ(fit("none").factor, 1);
  for (const double error : fit("none").errors) EXPECT_NEAR(error, std::log(2), 1e-3);
  EXPECT_THROW(correction("wishes"), InputError);
  networks.resize(2);
  EXPECT_TRUE(fit("factor").errors.empty());  // too few to hold any out
}

TEST(WholeNetworks, ACompositionSaysWhichSumsAreTooSmall) {
  // What a network takes grows faster than its sum: with its power of 1.2.
  const KernelModel model(samples(""), 0, 1, LearnerKind::lasso);
  std::vector<WholeNetwork> networks;
  for (int i = 0; i < 60; ++i) {
    const int inputs = 16 + 4 * i;
    const double factor = std::pow(inputs / 64., 0.2);
    networks.push_back({std::to_string(i), {{"linear", linear(inputs)}}, factor * 0.016 * inputs});
  }
  const auto fit = [&](const char* how) {
    return fit_whole_networks(networks, model, samples(""), correction(how), 1, LearnerKind::lasso);
  };
  const WholeNetworks line = fit("composition");
  const SumOfKernels large = model.network({{"linear", linear(256)}});
  EXPECT_NEAR(std::log(line.corrected(large) / large.latency_ms), 0.2 * std::log(4), 0.08);  // the penalty takes a part
  EXPECT_LT(line.errors.at(54), fit("factor").errors.at(54));
  // Far beyond, the line goes on no further than three deviations.
  const double farthest = line.line.value(std::vector<double>(large.composition.size(), 1e6));
  EXPECT_EQ(farthest, line.line.value(std::vector<double>(large.composition.size(), 1e7)));
}

TEST(WholeNetworks, KernelsThatOthersExecuteCountByTheirShare) {
  std::vector<KernelSample> all = samples("");
  const double alone_ms = KernelModel(all, 0, 1, LearnerKind::lasso).network_ms({{"linear", linear(64)}});
  for (const int inputs : {16, 32, 64, 128, 256}) all.push_back({"linear", linear(inputs), 0});
  EXPECT_NEAR(KernelModel(all, 0, 1, LearnerKind::lasso).network_ms({{"linear", linear(64)}}), alone_ms / 2, 1e-9);
  EXPECT_THROW(KernelModel({{"linear", linear(16), 0}}, 0, 1, LearnerKind::lasso), InputError);
}

TEST(WholeNetworks, KernelsOfANetworkDoNotPredictIt) {
  // Each network's kernels were timed inside it, and on "odd" ones all take four times as long: seen, they would be
  // predicted in part.
  std::vector<KernelSample> all;
  std::vector<WholeNetwork> networks;
  for (const std::string name : {"a", "b", "odd"}) {
    for (const KernelSample& sample : samples(name, name == "odd" ? 4 : 1)) all.push_back(sample);
    networks.push_back({name, {{"linear", linear(64)}}, (name == "odd" ? 4 : 1) * 0.016 * 64});
  }
  const KernelModel model(all, 0, 1, LearnerKind::lasso);
  const WholeNetworks whole = fit_whole_networks(networks, model, all, Correction::none, 1, LearnerKind::lasso);
  ASSERT_EQ(whole.errors.size(), 3U);
  EXPECT_NEAR(whole.errors.back(), std::log(4), 1e-3);
}

TEST(WholeNetworks, KernelsWithoutRowsHaveTheErrorThatLeavingTypesOutHas) {
  std::vector<KernelSample> two = samples("");
  for (const KernelSample& sample : samples("")) {
    two.push_back({"linear++relu", sample.leading, 2 * sample.latency_ms});
  }
  KernelModel model(two, 0, 1, LearnerKind::lasso);
  model.find_errors(two, 1, LearnerKind::lasso);
  EXPECT_NEAR(model.stand_in_error, std::log(2), 1e-3);  // each type is the other's stand-in
  EXPECT_GT(model.unknown_error, 0);
  EXPECT_LT(model.types.at("linear").error, 0.5);
  const SumOfKernels known = model.network({{"linear", linear(64)}}),
                     guessed = model.network({{"linear++tanh", linear(64)}});
  EXPECT_EQ(known.guessed_ms, 0);
  EXPECT_NEAR(guessed.guessed_ms, guessed.latency_ms * std::log(2), 1e-2);
}

}  // namespace
}  // namespace tenshot::trainer::kernels
