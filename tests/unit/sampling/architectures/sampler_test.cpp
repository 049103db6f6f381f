#include "sampling/architectures/sampler.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <set>

#include "nasbench/spaces/search_space.h"
#include "nasbench/support/error.h"

namespace tenshot::sampling {
namespace {

/// `count` distinct architectures; on device d candidate i takes latency[d][i].
Candidates candidates_of(const std::vector<std::vector<double>>& latency) {
  Candidates candidates;
  for (std::size_t i = 0; i < latency.front().size(); ++i) {
    candidates.architectures.push_back(nasbench::nasbench201().at(i * 7));
  }
  candidates.pool_latency = latency;
  return candidates;
}

std::vector<double> shuffled_latencies(std::size_t count, Rng& rng) {
  std::vector<double> latency(count);
  std::iota(latency.begin(), latency.end(), 1.0);
  rng.shuffle(latency);
  return latency;
}

TEST(LatencyBins, DealEachDevicesRankingEvenly) {
  // Device 0 ranks 3, 2, 1, 0 (fastest first), device 1 ranks 0, 1, 2, 3: two bins of M·X/N = 2·4/2 = 4 entries.
  const auto bins = latency_bins({{4, 3, 2, 1}, {1, 2, 3, 4}}, 2);
  ASSERT_EQ(bins.size(), 2u);
  EXPECT_EQ(bins[0], (std::vector<std::size_t>{3, 2, 0, 1}));
  EXPECT_EQ(bins[1], (std::vector<std::size_t>{1, 0, 2, 3}));
}

TEST(LatencyBins, HoldEveryArchitectureOncePerDevice) {
  Rng rng(3);
  std::vector<std::vector<double>> latency;
  for (int d = 0; d < 5; ++d) latency.push_back(shuffled_latencies(97, rng));
  const auto bins = latency_bins(latency, 10);
  std::vector<int> seen(97, 0);
  for (const auto& bin : bins) {
    EXPECT_GE(bin.size(), 5u * 9u);
    EXPECT_LE(bin.size(), 5u * 10u);
    for (const std::size_t index : bin) ++seen[index];
  }
  EXPECT_EQ(seen, std::vector<int>(97, 5));
}

TEST(TargetedUniform, DrawsOneArchitecturePerBin) {
  // One device: the bins are disjoint, so each draw must come from its own bin.
  Rng latency_rng(5);
  const Candidates candidates = candidates_of({shuffled_latencies(100, latency_rng)});
  const auto bins = latency_bins(candidates.pool_latency, 10);
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    Rng rng(seed);
    const auto chosen = sampler_named("targeted-uniform").choose(candidates, 10, rng);
    ASSERT_EQ(chosen.size(), 10u);
    for (std::size_t b = 0; b < 10; ++b) {
      EXPECT_NE(std::find(bins[b].begin(), bins[b].end(), chosen[b]), bins[b].end()) << "bin " << b;
    }
  }
}

TEST(TargetedUniform, DrawsEveryMemberOfABinEquallyOften) {
  Rng latency_rng(6);
  const Candidates candidates = candidates_of({shuffled_latencies(20, latency_rng)});
  const auto bins = latency_bins(candidates.pool_latency, 4);
  std::vector<int> drawn(20, 0);
  constexpr int draws = 4000;
  Rng rng(1);
  for (int i = 0; i < draws; ++i) ++drawn[sampler_named("targeted-uniform").choose(candidates, 4, rng)[2]];
  for (const std::size_t index : bins[2]) EXPECT_NEAR(drawn[index], draws / 5.0, 130);  // 5 standard deviations
}

TEST(TargetedUniform, ChoosesDistinctArchitecturesWhenDevicesDisagree) {
  Rng rng(9);
  for (int round = 0; round < 100; ++round) {
    std::vector<std::vector<double>> latency;
    for (int d = 0; d < 4; ++d) latency.push_back(shuffled_latencies(12, rng));
    const auto chosen = sampler_named("targeted-uniform").choose(candidates_of(latency), 12, rng);
    EXPECT_EQ(std::set<std::size_t>(chosen.begin(), chosen.end()).size(), 12u);
  }
}

TEST(TargetedUniform, PlansFurtherSamplesInTheBinsThatMeasurementsLeftEmpty) {
  std::vector<double> latency(40);
  std::iota(latency.begin(), latency.end(), 1.0);
  Candidates candidates = candidates_of({latency});
  candidates.measured = {0, 12, 35};  // four bins of ten: the third one is empty
  Rng rng(2);
  const auto chosen = sampler_named("targeted-uniform").choose(candidates, 1, rng);
  ASSERT_EQ(chosen.size(), 1u);
  EXPECT_GE(chosen[0], 20u);
  EXPECT_LT(chosen[0], 30u);
}

TEST(TargetedUniform, NeedsAPool) {
  Candidates candidates = candidates_of({{1, 2, 3}});
  candidates.pool_latency.clear();
  Rng rng(1);
  EXPECT_THROW(sampler_named("targeted-uniform").choose(candidates, 2, rng), InputError);
}

class EverySampler : public ::testing::TestWithParam<std::string> {};

TEST_P(EverySampler, GivesTheSamePlanForTheSameSeedAndAnotherForAnother) {
  Rng latency_rng(4);
  const Candidates candidates =
      candidates_of({shuffled_latencies(200, latency_rng), shuffled_latencies(200, latency_rng)});
  const Sampler& sampler = sampler_named(GetParam());
  Rng first(11), again(11), other(12);
  const auto chosen = sampler.choose(candidates, 10, first);
  EXPECT_EQ(chosen, sampler.choose(candidates, 10, again));
  EXPECT_NE(chosen, sampler.choose(candidates, 10, other));
}

TEST_P(EverySampler, NeverChoosesWhatIsMeasured) {
  Rng rng(8);
  Candidates candidates = candidates_of({shuffled_latencies(30, rng)});
  for (std::size_t i = 0; i < 20; ++i) candidates.measured.push_back(i);
  for (int round = 0; round < 20; ++round) {
    for (const std::size_t index : sampler_named(GetParam()).choose(candidates, 10, rng)) EXPECT_GE(index, 20u);
  }
}

TEST_P(EverySampler, SaysSoWhenThereAreTooFewCandidates) {
  Rng rng(8);
  Candidates candidates = candidates_of({{1, 2, 3, 4}});
  candidates.measured = {0};
  try {
    sampler_named(GetParam()).choose(candidates, 4, rng);
    FAIL() << "four of three were chosen";
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("only 3 candidates"), std::string::npos) << error.what();
  }
}

INSTANTIATE_TEST_SUITE_P(Samplers, EverySampler, ::testing::Values("random", "targeted-uniform"),
                         [](const auto& info) { return info.param == "random" ? "random" : "targeted_uniform"; });

TEST(RandomSampler, ReachesEveryCandidate) {
  const Candidates candidates = candidates_of({{1, 2, 3, 4, 5}});
  std::set<std::size_t> reached;
  Rng rng(1);
  for (int i = 0; i < 100; ++i) reached.insert(sampler_named("random").choose(candidates, 1, rng)[0]);
  EXPECT_EQ(reached.size(), 5u);
}

TEST(SamplerNamed, ListsTheNamesWhenItKnowsNone) {
  try {
    sampler_named("best");
    FAIL() << "there is no such sampler";
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("targeted-uniform"), std::string::npos);
  }
}

TEST(WithClones, PresentsEachIndexKTimes) {
  EXPECT_EQ(with_clones(3, 2), (std::vector<std::size_t>{0, 0, 1, 1, 2, 2}));
  EXPECT_EQ(with_clones(2, 1), (std::vector<std::size_t>{0, 1}));
}

TEST(ListedSampler, TakesTheFirstThatAreNotMeasured) {
  Candidates candidates = candidates_of({{5, 1, 4, 2, 3}});
  candidates.measured = {1, 2};
  Rng rng(1);
  EXPECT_EQ(sampler_named("listed").choose(candidates, 2, rng), (std::vector<std::size_t>{0, 3}));
  EXPECT_THROW(sampler_named("listed").choose(candidates, 4, rng), InputError);
}

}  // namespace
}  // namespace tenshot::sampling
