#include "trainer/predictors/operators/network_groups.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "nasbench/support/error.h"
#include "nasbench/support/random.h"
#include "trainer/predictors/operators/cost_planning.h"
#include "trainer/predictors/operators/cost_posterior.h"
#include "trainer/predictors/operators/operators_archive.h"

namespace tenshot::trainer::operators {
namespace {

using Eigen::Index;

constexpr Index networks = 16, boards = 30;

Eigen::MatrixXd some_networks() {
  Rng rng(3);
  Eigen::MatrixXd features = Eigen::MatrixXd::Ones(networks, 3);
  for (Index n = 0; n < networks; ++n) {
    features(n, 1) = std::exp(0.5 * rng.normal());
    features(n, 2) = std::exp(0.5 * rng.normal());
  }
  return features;
}

/// A board's log latencies, beside its speed: the odd networks are slow together on some boards, for a reason that no
/// feature shows.
Eigen::VectorXd log_latency_of_board(Rng& rng) {
  const double speed = 0.5 * rng.normal(), odd = 0.5 * rng.normal();
  Eigen::VectorXd log_latency = some_networks().rowwise().sum().array().log() + speed;
  for (Index n = 0; n < networks; ++n) log_latency[n] += (n % 2 == 1 ? odd : 0) + 0.01 * rng.normal();
  return log_latency;
}

PoolNumbers many_boards() {
  PoolNumbers pool;
  Rng rng(4);
  pool.features = some_networks();
  pool.operator_features = 3;
  pool.scale = {{0, 1, 2}, Eigen::VectorXd::Zero(3)};
  pool.latency_ms.resize(boards, networks);
  for (Index d = 0; d < boards; ++d) {
    pool.latency_ms.row(d) = log_latency_of_board(rng).array().exp();
    pool.labels.kind.push_back(d < 20 ? "processors" : "gpus");
    pool.labels.board.push_back("board" + std::to_string(d));
  }
  return pool;
}

const CostLibrary& library_of_boards() {
  static const CostLibrary library = fit_library(many_boards());
  return library;
}

AdaptationFeatures measured(const PoolNumbers& pool, const Eigen::VectorXd& log_latency, Index count) {
  AdaptationFeatures set;
  set.features = pool.features.topRows(count);
  for (Index n = 0; n < count; ++n) set.latency_ms.push_back(std::exp(log_latency[n]));
  return set;
}

/// Mean absolute error of log latency over twenty new boards, of which some networks were measured.
double mean_error(const PosteriorOptions& options, Index count) {
  constexpr int new_boards = 20;
  const PoolNumbers pool = many_boards();
  Rng rng(8);
  double sum = 0;
  for (int board = 0; board < new_boards; ++board) {
    const Eigen::VectorXd truth = log_latency_of_board(rng);
    const CostPosterior posterior = adapt(library_of_boards(), measured(pool, truth, count), options);
    const Index left = networks - count;
    const LogLatency found = predict(posterior, table_of(pool.features.bottomRows(left)));
    sum += (found.mean - truth.tail(left)).cwiseAbs().mean();
  }
  return sum / new_boards;
}

TEST(NetworkGroups, AreOfNetworksThatManyBoardsMeasuredTogether) {
  PoolNumbers pool = many_boards();
  ASSERT_EQ(fit_groups(pool.latency_ms, pool.labels).size(), 1U);
  const NetworkGroup group = fit_groups(pool.latency_ms, pool.labels).front();
  EXPECT_EQ(group.networks.size(), static_cast<std::size_t>(networks));
  ASSERT_EQ(group.kinds.size(), 3U) << "all, and each kind";
  EXPECT_EQ(group.kinds[1].name, "gpus");
  EXPECT_GT(group.kinds[0].covariance(1, 3) - group.kinds[0].covariance(1, 2), 0.05)
      << "odd networks vary together beside the speed";
  for (std::string& board : pool.labels.board) board = "the only board";
  EXPECT_TRUE(fit_groups(pool.latency_ms, pool.labels).empty());
}

TEST(NetworkGroups, ExplainWhatNoCostDoes) {
  PosteriorOptions without;
  without.group_share = 0;
  const double with = mean_error({}, 6);
  EXPECT_LT(with, 0.06);
  EXPECT_LT(with, 0.5 * mean_error(without, 6));
}

TEST(NetworkGroups, SayNothingOfNetworksThatAreNotOfThem) {
  const CostLibrary& library = library_of_boards();
  Eigen::MatrixXd features = many_boards().features.topRows(3);
  const auto near = [&] { return similarity(library.places.of(features), library.known); };
  ASSERT_TRUE(places_in(library.groups.front(), near()).has_value());
  EXPECT_EQ(*places_in(library.groups.front(), near()), (std::vector<Index>{0, 1, 2}));
  features(1, 2) *= 1.5;
  EXPECT_FALSE(places_in(library.groups.front(), near()).has_value());
}

TEST(NetworkGroups, ComeBackFromTheirFile) {
  Archive archive;
  FeatureMap map;
  map.raw = {0, 1, 2};
  map.unit = Eigen::VectorXd::Ones(3);
  put_library(archive, library_of_boards());
  const CostLibrary back = get_library(archive, map);
  ASSERT_EQ(back.groups.size(), 1U);
  EXPECT_EQ(back.groups[0].networks, library_of_boards().groups[0].networks);
  ASSERT_EQ(back.groups[0].kinds.size(), 3U);
  EXPECT_TRUE(back.groups[0].kinds[2].covariance.isApprox(library_of_boards().groups[0].kinds[2].covariance, 1e-9));
  EXPECT_TRUE(back.groups[0].kinds[2].log_costs.isApprox(library_of_boards().groups[0].kinds[2].log_costs));
  archive.card["network_groups"][0]["networks"][3] = networks;
  EXPECT_THROW(get_library(archive, map), FormatError);
}

TEST(NetworkGroups, OfSomeDevicesAreEstimatedFromThoseAlone) {
  const std::vector<NetworkGroup> part =
      groups_of_devices(library_of_boards().groups, {20, 21, 22, 23, 24, 25, 26, 27, 0, 1});
  ASSERT_EQ(part.size(), 1U);
  ASSERT_EQ(part[0].kinds.size(), 2U) << "two processors are too few";
  EXPECT_EQ(part[0].kinds[1].name, "gpus");
  EXPECT_TRUE(groups_of_devices(library_of_boards().groups, {0, 1}).empty());
}

TEST(NetworkGroups, LeaveOutADeviceThatMeasuredNoneOfTheirNetworks) {
  PoolNumbers pool = many_boards();
  constexpr Index own = 3;  // networks that two device-runtimes alone measured, one of which measured nothing else
  Eigen::MatrixXd latency_ms = Eigen::MatrixXd::Constant(boards + 1, networks + own, std::nan(""));
  latency_ms.topLeftCorner(boards, networks) = pool.latency_ms;
  latency_ms.row(0).tail(own).setOnes();
  latency_ms.row(boards).tail(own).setOnes();
  pool.labels.kind.push_back("processors");
  pool.labels.board.push_back("board0");
  const std::vector<NetworkGroup> groups = fit_groups(latency_ms, pool.labels);
  ASSERT_EQ(groups.size(), 1U);
  EXPECT_EQ(groups[0].kinds[0].members.size(), static_cast<std::size_t>(boards));
  EXPECT_TRUE(groups[0].kinds[0].log_costs.allFinite());
}

/// Forty boards of one runtime: of every second one the odd networks take twice as long.
PoolNumbers boards_of_two_sorts() {
  PoolNumbers pool = many_boards();
  Rng rng(6);
  pool.latency_ms.resize(40, networks);
  pool.labels = {};
  for (Index d = 0; d < 40; ++d) {
    const double speed = 0.5 * rng.normal();
    for (Index n = 0; n < networks; ++n) {
      pool.latency_ms(d, n) = std::exp(speed + (n % 2 * d % 2 == 1 ? std::log(2) : 0) + 0.02 * rng.normal());
    }
    pool.labels.kind.emplace_back("processors");
    pool.labels.board.push_back("board" + std::to_string(d));
  }
  return pool;
}

TEST(NetworkGroups, HaveClustersOfBoardsThatAreAlike) {
  const PoolNumbers pool = boards_of_two_sorts();
  const std::vector<NetworkGroup> groups = fit_groups(pool.latency_ms, pool.labels);
  ASSERT_EQ(groups.size(), 1U);
  ASSERT_EQ(groups[0].kinds.size(), 3U) << "all boards, and two clusters of twenty";
  for (std::size_t k : {1U, 2U}) {
    const DeviceKind& cluster = groups[0].kinds[k];
    EXPECT_EQ(cluster.name, "processors");
    ASSERT_EQ(cluster.members.size(), 20U);
    for (const KindMember& member : cluster.members) EXPECT_EQ(member.device % 2, cluster.members[0].device % 2);
    const double factor = std::exp(cluster.log_costs[1] - cluster.log_costs[0]);
    EXPECT_NEAR(factor, cluster.members[0].device % 2 == 1 ? 2 : 1, 0.1);
  }
}

TEST(NetworkGroups, ExpectLessNoiseOfAPlanThanCostsDo) {
  const Eigen::MatrixXd features = many_boards().features;
  PosteriorOptions without;
  without.group_share = 0;
  EXPECT_LT(prior_view(library_of_boards(), features).options.noise,
            prior_view(library_of_boards(), features, without).options.noise);
}

TEST(NetworkGroups, MakeAPlanByHowTheirLatenciesVary) {
  const sampling::LatencyCovariance prior = prior_view(library_of_boards(), many_boards().features).covariance;
  Rng rng(1);
  std::vector<std::size_t> all;
  for (std::size_t n = 0; n < static_cast<std::size_t>(networks); ++n) all.push_back(n);
  const std::vector<std::size_t> chosen = sampling::choose_informative(prior, all, 2, rng, {});
  EXPECT_NE(chosen[0] % 2, chosen[1] % 2) << "an odd one and an even one tell both parts";
}

}  // namespace
}  // namespace tenshot::trainer::operators
