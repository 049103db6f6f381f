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

const std::map<std::string, double> costs_ms = {
    {"convolution", 1.0}, {"depthwise_convolution", 0.7}, {"max_pool", 0.6}, {"batch_norm", 0.4}, {"relu", 0.3},
    {"add", 0.5},         {"average_pool", 0.6},          {"softmax", 0.8}};

nasbench::FusionRules rules(const std::string& body) {
  return nasbench::parse_fusion_rules(R"({"format": "tenshot.fusion/1", )" + body + "}", "rules.json");
}

/// A runtime that exists on paper.
struct Machine {
  nasbench::FusionRules rules;
  double noise = 0;      ///< of each run, relative
  double drift = 0;      ///< of each network, relative: the machine changes between networks
  double layout_ms = 0;  ///< a change between the layout of convolutions and pools and that of all else
};

/// A call costs .2 ms, a kernel its first operator and a tenth of the others.
double made_up_time(const nasbench::Network& network, const Machine& machine) {
  double time = 0.2;
  std::map<int, bool> blocked;  // by node; the input is not
  for (const nasbench::Kernel& kernel : find_kernels(network, machine.rules)) {
    double share = 1;
    const std::string leader =
        fusion_types(network.nodes[static_cast<std::size_t>(kernel.nodes.front())].operation).front();
    const bool blocks = leader.find("convolution") != std::string::npos || leader.find("pool") != std::string::npos;
    for (const int node : kernel.nodes) {
      time += share * costs_ms.at(fusion_types(network.nodes[static_cast<std::size_t>(node)].operation).front());
      share = 0.1;
      blocked[node] = blocks;
    }
  }
  for (std::size_t i = 0; i < network.nodes.size(); ++i) {
    const int before = network.nodes[i].inputs[0].node;
    if (blocked[static_cast<int>(i)] != (before >= 0 && blocked[before])) time += machine.layout_ms;
  }
  return time;
}

/// Times on that runtime.
TimeCase made_up(const Machine& machine) {
  const auto rng = std::make_shared<Rng>(4);
  return [machine, rng](const FusionCase& one) {
    const double apart = made_up_time(one.apart, machine) * (1 + machine.drift * rng->normal());
    const double together = made_up_time(one.together, machine) * (1 + machine.drift * rng->normal());
    return [=] {
      return CaseTimes{apart * (1 + machine.noise * rng->normal()), together * (1 + machine.noise * rng->normal())};
    };
  };
}

TimeCase made_up(const nasbench::FusionRules& rules, double noise) { return made_up(Machine{rules, noise}); }

FusionDetectionOptions options() {
  FusionDetectionOptions result;
  result.operators.clear();
  for (const auto& [type, cost] : costs_ms) {
    if (type != "average_pool" && type != "softmax") result.operators.push_back(type);
  }
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
  const FusionFindings found = detect_fusion(made_up(rules(R"("pairs": [])"), 0), options());
  EXPECT_TRUE(found.rules.pairs.empty());
  for (const PairFinding& pair : found.pairs) EXPECT_NEAR(pair.saved, 0, 1e-9) << pair.first << ", " << pair.second;
  for (const auto& [type, time] : found.operators_ms) EXPECT_NEAR(time, costs_ms.at(type), 1e-9) << type;
}

TEST(FusionDetection, ChangesOfLayoutAreNotTakenForSaved) {
  const nasbench::FusionRules truth = rules(some_pairs + "]");
  const FusionFindings found = detect_fusion(made_up(Machine{truth, 0.005, 0, 0.5}), options());
  EXPECT_EQ(found.rules.pairs, truth.pairs);
  for (const PairFinding& pair : found.pairs) {
    // Behind a softmax two convolutions save two changes of layout, behind a pool two additions do.
    if (pair.first == "convolution" && pair.second == "convolution") {
      EXPECT_EQ(pair.fence, Fence::pool);
    } else if (pair.first == "add" && pair.second == "add") {
      EXPECT_EQ(pair.fence, Fence::softmax);
    }
  }
}

TEST(FusionDetection, WhatControlsSeemToSaveIsNotTakenForFusion) {
  const nasbench::FusionRules nothing = rules(R"("pairs": [])");
  const FusionFindings steady = detect_fusion(made_up(Machine{nothing, 0.001}), options());
  EXPECT_EQ(steady.threshold, options().alpha);
  const FusionFindings drifting = detect_fusion(made_up(Machine{nothing, 0.001, 0.05}), options());
  EXPECT_GT(drifting.threshold, options().alpha);
  EXPECT_LE(drifting.rules.pairs.size(), 1U);
  int seeming = 0;
  for (const PairFinding& pair : drifting.pairs) seeming += pair.lower > options().alpha ? 1 : 0;
  EXPECT_GE(seeming, 5);  // that alpha alone would have taken for fused
}

TEST(FusionDetection, RepeatsUntilTheDecisionIsBeyondTheNoise) {
  FusionDetectionOptions few = options();
  few.operators = {"convolution", "relu"};
  const auto rounds = [&](double noise) {
    int most = 0;
    const FusionFindings found = detect_fusion(made_up(rules(some_pairs + "]"), noise), few);
    for (const PairFinding& pair : found.pairs) {
      most = std::max(most, pair.rounds);
      EXPECT_EQ(pair.decided, pair.upper < found.threshold || pair.fused) << pair.first << ", " << pair.second;
      EXPECT_LE(pair.lower, pair.saved);
      EXPECT_LE(pair.saved, pair.upper);
      EXPECT_TRUE(!pair.fused || pair.lower > found.threshold);
    }
    return most;
  };
  EXPECT_EQ(rounds(0), few.least_rounds);
  EXPECT_GT(rounds(0.1), few.least_rounds);
  // Noise that hides everything: undecided, hence not fused.
  const FusionFindings hidden = detect_fusion(made_up(rules(some_pairs + "]"), 0.5), few);
  for (const PairFinding& pair : hidden.pairs) EXPECT_TRUE(pair.decided || !pair.fused);
}

TEST(FusionDetection, CasesThatARuntimeRefusesAreLeftOutAndSaid) {
  const TimeCase picky = [&](const FusionCase& one) {
    for (const nasbench::NetworkNode& node : one.apart.nodes) {
      if (node.operation.kind == nasbench::OperatorKind::max_pool) throw InputError("no pools here");
    }
    return made_up(rules(some_pairs + "]"), 0)(one);
  };
  const FusionFindings found = detect_fusion(picky, options());
  EXPECT_EQ(found.pairs.size(), 25U);
  EXPECT_FALSE(found.refused.empty());
  EXPECT_NE(found.refused[0].find("no pools here"), std::string::npos);
}

TEST(FusionDetection, WritesRulesThatAreReadBack) {
  const FusionFindings found = detect_fusion(made_up(rules(some_pairs + "]"), 0), options());
  const nlohmann::ordered_json json = to_json(found);
  EXPECT_EQ(nasbench::parse_fusion_rules(json.dump(), "found.json").pairs, found.rules.pairs);
  EXPECT_EQ(json.at("evidence").size(), 36U);
}

TEST(FusionDetection, RefusesUnknownOperators) {
  FusionDetectionOptions wrong = options();
  wrong.operators = {"convolution", "lstm"};
  EXPECT_THROW(detect_fusion(made_up(rules(R"("pairs": [])"), 0), wrong), InputError);
  EXPECT_THROW(detect_fusion(made_up(rules(R"("pairs": [])"), 0), options(), [] { return false; }), Interrupted);
}

TEST(FusionCases, AreNetworksThatTheRuntimeRuns) {
  const auto runtime = make_runtime("libtorch-eager");
  const CaseImage small{4, 8};
  for (const std::string& type : testable_operators()) {
    for (const FusionCase& one : {operator_case(type, small), pair_case("relu", type, Fence::softmax, small),
                                  pair_case("relu", type, Fence::pool, small)}) {
      EXPECT_NO_THROW(runtime->prepare(one.apart, {})->run()) << one.name;
      EXPECT_NO_THROW(runtime->prepare(one.together, {})->run()) << one.name;
    }
  }
  EXPECT_NO_THROW(runtime->prepare(fork_case("relu", "sigmoid", "max_pool", small).apart, {})->run());
  EXPECT_NO_THROW(runtime->prepare(join_case("relu", "sigmoid", "add", small).together, {})->run());
  const CaseTimes times = time_on(*runtime, {}, 3)(pair_case("convolution", "relu", Fence::pool, small))();
  EXPECT_GT(times.apart_ms, 0);
  EXPECT_GT(times.together_ms, 0);
}

}  // namespace
}  // namespace tenshot::descriptor
