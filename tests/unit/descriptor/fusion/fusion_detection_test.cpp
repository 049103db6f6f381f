#include "descriptor/fusion/fusion_detection.h"

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <nlohmann/json.hpp>

#include "nasbench/kernels/kernel_search.h"
#include "nasbench/support/error.h"
#include "nasbench/support/random.h"

namespace tenshot::descriptor {
namespace {

const std::map<std::string, double> costs_ms = {{"convolution", 1.0}, {"depthwise_convolution", 0.7},
                                                {"max_pool", 0.6},    {"batch_norm", 0.4},
                                                {"relu", 0.3},        {"add", 0.5}};

nasbench::FusionRules rules(const std::string& body) {
  return nasbench::parse_fusion_rules(R"({"format": "tenshot.fusion/1", )" + body + "}", "rules.json");
}

/// A runtime that exists on paper: a call costs .2 ms, a kernel its first operator and a tenth of the others.
double made_up_time(const nasbench::Network& network, const nasbench::FusionRules& rules) {
  double time = 0.2;
  const bool one_pixel = nasbench::element_count(network.inputs[0].type.shape) == 1;
  for (const nasbench::Kernel& kernel : find_kernels(network, rules)) {
    double share = one_pixel ? 0 : 1;
    for (const int node : kernel.nodes) {
      const std::string type = fusion_types(network.nodes[static_cast<std::size_t>(node)].operation).front();
      time += share * costs_ms.at(type);
      share *= 0.1;
    }
  }
  return time;
}

/// Times on that runtime, with relative noise.
TimeCase made_up(const nasbench::FusionRules& rules, double noise) {
  const auto rng = std::make_shared<Rng>(4);
  return [rules, noise, rng](const std::vector<nasbench::Network>& networks) {
    return std::function<std::vector<double>()>([rules, noise, rng, networks] {
      std::vector<double> times;
      for (const nasbench::Network& network : networks) {
        times.push_back(made_up_time(network, rules) * (1 + noise * rng->normal()));
      }
      return times;
    });
  };
}

FusionDetectionOptions options() {
  FusionDetectionOptions result;
  result.operators.clear();
  for (const auto& [type, cost] : costs_ms) result.operators.push_back(type);
  return result;
}

const std::string some_pairs =
    R"("pairs": [["convolution", "batch_norm"], ["convolution", "relu"], ["depthwise_convolution", "relu"],
                 ["batch_norm", "relu"], ["add", "relu"])";

TEST(FusionDetection, FindsTheRulesOfARuntime) {
  const nasbench::FusionRules truth = rules(some_pairs + "]");
  for (const double noise : {0.0, 0.01}) {
    const FusionFindings found = detect_fusion(made_up(truth, noise), options());
    EXPECT_EQ(found.rules.pairs, truth.pairs) << noise;
    EXPECT_EQ(found.rules.multi_inbound, nasbench::BranchRule::none);
    EXPECT_EQ(found.rules.multi_outbound, nasbench::BranchRule::none);
    EXPECT_EQ(found.pairs.size(), 36U);
    EXPECT_TRUE(found.refused.empty());
  }
}

TEST(FusionDetection, FindsWhichBranchFuses) {
  using nasbench::BranchRule;
  const std::string adds = R"(, ["convolution", "add"], ["depthwise_convolution", "add"]])";
  for (const auto& [rule, expected] : {std::pair{"none", BranchRule::none}, std::pair{"first", BranchRule::first},
                                       std::pair{"last", BranchRule::last}}) {
    const FusionFindings joins = detect_fusion(
        made_up(rules(some_pairs + adds + R"(, "multi_inbound": "first", "multi_outbound": ")" + rule + "\""), 0),
        options());
    EXPECT_EQ(joins.rules.multi_outbound, expected) << rule;
  }
  const FusionFindings first =
      detect_fusion(made_up(rules(some_pairs + adds + R"(, "multi_inbound": "first")"), 0), options());
  EXPECT_EQ(first.rules.multi_inbound, BranchRule::first);
}

TEST(FusionDetection, WhatACallCostsIsNotTakenForSaved) {
  // Nothing fuses, but both operators alone pay for a call that the pair pays once.
  const FusionFindings found = detect_fusion(made_up(rules(R"("pairs": [])"), 0), options());
  EXPECT_TRUE(found.rules.pairs.empty());
  for (const PairFinding& pair : found.pairs) EXPECT_NEAR(pair.saved, 0, 1e-9) << pair.first << ", " << pair.second;
}

TEST(FusionDetection, RepeatsUntilTheDecisionIsBeyondTheNoise) {
  FusionDetectionOptions few = options();
  few.operators = {"convolution", "relu"};
  const auto rounds = [&](double noise) {
    int most = 0;
    for (const PairFinding& pair : detect_fusion(made_up(rules(some_pairs + "]"), noise), few).pairs) {
      most = std::max(most, pair.rounds);
      EXPECT_EQ(pair.decided, std::abs(pair.saved - few.alpha) > pair.saved_error);
    }
    return most;
  };
  EXPECT_EQ(rounds(0), few.least_rounds);
  EXPECT_GT(rounds(0.1), few.least_rounds);
  // Noise that hides everything: undecided, hence not fused.
  const FusionFindings hidden = detect_fusion(made_up(rules(some_pairs + "]"), 50), few);
  for (const PairFinding& pair : hidden.pairs) EXPECT_TRUE(pair.decided || !pair.fused);
}

TEST(FusionDetection, CasesThatARuntimeRefusesAreLeftOutAndSaid) {
  const TimeCase picky = [&](const std::vector<nasbench::Network>& networks) {
    for (const nasbench::Network& network : networks) {
      for (const nasbench::NetworkNode& node : network.nodes) {
        if (node.operation.kind == nasbench::OperatorKind::max_pool) throw InputError("no pools here");
      }
    }
    return made_up(rules(some_pairs + "]"), 0)(networks);
  };
  const FusionFindings found = detect_fusion(picky, options());
  EXPECT_EQ(found.pairs.size(), 25U);
  EXPECT_EQ(found.refused.size(), 11U);
  EXPECT_NE(found.refused[0].find("no pools here"), std::string::npos);
}

TEST(FusionDetection, WritesRulesThatAreReadBack) {
  const FusionFindings found = detect_fusion(made_up(rules(some_pairs + "]"), 0), options());
  const nlohmann::ordered_json json = to_json(found);
  EXPECT_EQ(nasbench::parse_fusion_rules(json.dump(), "found.json").pairs, found.rules.pairs);
  EXPECT_EQ(json.at("evidence").size(), 36U);
}

TEST(FusionDetection, RefusesUnknownOperatorsAndTooFewRounds) {
  FusionDetectionOptions wrong = options();
  wrong.operators = {"convolution", "lstm"};
  EXPECT_THROW(detect_fusion(made_up(rules(R"("pairs": [])"), 0), wrong), InputError);
  wrong = options();
  wrong.least_rounds = 2;
  EXPECT_THROW(detect_fusion(made_up(rules(R"("pairs": [])"), 0), wrong), InputError);
  EXPECT_THROW(detect_fusion(made_up(rules(R"("pairs": [])"), 0), options(), [] { return false; }), Interrupted);
}

TEST(FusionCases, AreNetworksThatTheRuntimeRuns) {
  const auto runtime = make_runtime("libtorch-eager");
  const CaseImage small{4, 8};
  for (const std::string& type : testable_operators()) {
    EXPECT_NO_THROW(runtime->prepare(single_case(type, small), {})->run()) << type;
    EXPECT_NO_THROW(runtime->prepare(pair_case("relu", type, small), {})->run()) << type;
  }
  EXPECT_NO_THROW(runtime->prepare(fork_case("relu", "sigmoid", "max_pool", small), {})->run());
  EXPECT_NO_THROW(runtime->prepare(join_case("relu", "sigmoid", "add", small), {})->run());
  const std::vector<double> times = time_on(*runtime, {}, 3)({single_case("convolution", small), empty_case()})();
  ASSERT_EQ(times.size(), 2U);
  EXPECT_GT(times[1], 0);
}

}  // namespace
}  // namespace tenshot::descriptor
