// Devices that a checkpoint knows: predicted without a measurement, taken as a prior, and added to by a pool of one's
// own.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "nasbench/spaces/networks.h"
#include "nasbench/support/error.h"
#include "tests/unit/trainer/fixtures.h"
#include "tests/unit/trainer/predictors/kept_knowledge.h"
#include "tests/unit/trainer/predictors/operators/specifications.h"
#include "trainer/core/knowledge.h"
#include "trainer/predictors/registry.h"

namespace tenshot::trainer {
namespace {

using test::all_networks;
using test::first_of;
using test::Kept;
using test::networks;
using test::of_cells;
using test::of_networks;
using test::one_source;
using test::through_a_file;

/// The share of the intervals of a known device that hold, and of predictions within ±10 %, on networks new to it.
std::pair<double, double> on_new_networks(const Predictor& predictor, const datasets::DeviceRuntime& truth,
                                          std::size_t first) {
  double held = 0, near = 0, count = 0;
  for (std::size_t i = first; i < truth.latencies.size(); ++i) {
    const Predictions found = predictor.predict({truth.latencies[i].architecture}, 0.9);
    const double latency_ms = truth.latencies[i].latency_ms;
    held += found.lower_ms[0] <= latency_ms && latency_ms <= found.upper_ms[0];
    near += std::abs(found.latency_ms[0] / latency_ms - 1) <= 0.1;
    ++count;
  }
  return {held / count, near / count};
}

TEST(KnownDevice, PredictsNewNetworksWithoutAMeasurement) {
  double held = 0;
  for (const datasets::DeviceRuntime& truth : of_networks().pool.devices) {
    const datasets::DeviceRuntime& on_all = *all_networks().find(truth.id);
    const auto predictor = of_networks().knowledge->known_device(truth.id);
    const auto [share_held, near] = on_new_networks(*predictor, on_all, 61);
    EXPECT_GE(near, 0.8) << truth.id;
    held += share_held / static_cast<double>(all_networks().devices.size());
    EXPECT_NE(test::explanation_text(*predictor).find("61 networks of a table"), std::string::npos);
  }
  EXPECT_GE(held, 0.8);
}

TEST(KnownDevice, OfFewNetworks_IsPredictedBetterAmongOthersOfItsKind) {
  datasets::Pool pool = all_networks();
  const std::vector<datasets::Measurement> truth = pool.devices[1].latencies;
  pool.devices[1].latencies.resize(9);
  const auto error_where = [&](const std::string& runtime) {
    for (datasets::DeviceRuntime& device : pool.devices) device.runtime = "a runtime";
    pool.devices[1].runtime = runtime;
    pool.devices[5].runtime = "another";
    const Kept few = test::kept(pool, "operators");
    const auto predictor = few.knowledge->known_device(pool.devices[1].id);
    double error = 0;
    for (std::size_t i = 9; i < truth.size(); ++i) {
      error += std::abs(std::log(predictor->predict({truth[i].architecture}, 0.9).latency_ms[0] / truth[i].latency_ms));
    }
    return error;
  };
  EXPECT_LT(error_where("a runtime"), 0.8 * error_where("one of its own"));
}

TEST(KnownDevice, OfCells_PredictsNewCellsWithoutAMeasurement) {
  const datasets::DeviceRuntime truth = test::synthetic_device("slow", 10, 1.5, 0.01, 400, 1);
  const auto [held, near] = on_new_networks(*of_cells().knowledge->known_device("slow"), truth, 61);
  EXPECT_GE(near, 0.95);
  EXPECT_GE(held, 0.8);
}

TEST(KnownDevice, ComesBackFromItsFile) {
  for (const Kept* kept : {&of_cells(), &of_networks()}) {
    const auto predictor = kept->knowledge->known_device(kept->pool.devices[0].id);
    const test::Folder folder;
    save(predictor->to_archive(), folder.path() / "device.tenshot");
    const auto back = load_predictor(folder.path() / "device.tenshot");
    const std::vector<Architecture> some = known_architectures(kept->pool);
    EXPECT_EQ(back->predict(some, 0.9).upper_ms, predictor->predict(some, 0.9).upper_ms);
  }
}

/// Knowledge keeps of the residuals what devices have in common.
TEST(KnownDevice, OfAModelWithItsRows_IsNearlyTheSame) {
  const Kept& kept = of_networks();
  const std::vector<Architecture> some = known_architectures(kept.pool);
  const Predictions expected = kept.model->known_device("board1_cpu")->predict(some, 0.9);
  const Predictions found = kept.knowledge->known_device("board1_cpu")->predict(some, 0.9);
  for (std::size_t i = 0; i < some.size(); ++i) {
    EXPECT_NEAR(found.latency_ms[i] / expected.latency_ms[i], 1, 0.02);
    EXPECT_NEAR(found.upper_ms[i] / expected.upper_ms[i], 1, 0.03);
  }
}

/// A linear layer of so many features, of which the pool has none.
nasbench::OperatorSpecification linear_layer(std::int64_t features) {
  nasbench::OperatorSpecification linear;
  linear.kind = nasbench::OperatorKind::linear;
  linear.inputs = {{1, features}};
  linear.output = {1, features};
  return linear;
}

TEST(KnownDevice, AskedWithAnOperatorThatNobodyMeasured_NamesItAndWidensTheInterval) {
  const nasbench::OperatorSpecification plain = test::convolution(3, 1, 64, 64, 28), linear = linear_layer(4096);
  const std::vector<Architecture> two = {
      nasbench::add_network(nasbench::named_network("all-known", {plain, plain}, "test")),
      nasbench::add_network(nasbench::named_network("with-an-unknown", {plain, plain, linear}, "test"))};
  const auto predictor = of_networks().knowledge->known_device("board1_cpu");
  const std::vector<Unfamiliar> unfamiliar = predictor->unfamiliar(two);
  EXPECT_TRUE(unfamiliar[0].operators.empty());
  EXPECT_EQ(unfamiliar[1].operators, std::vector<std::string>{"linear"});
  const Predictions found = predictor->predict(two, 0.9);
  EXPECT_GT(found.upper_ms[1] / found.lower_ms[1], found.upper_ms[0] / found.lower_ms[0]);
}

TEST(KnownDevice, AskedWithMoreUnknownOperators_NeverNarrowsTheInterval) {
  const nasbench::OperatorSpecification plain = test::convolution(3, 256, 256, 256, 56);
  const auto predictor = of_networks().knowledge->known_device("board1_cpu");
  double width = 0;
  for (const std::size_t count : {0U, 1U, 4U}) {
    std::vector<nasbench::OperatorSpecification> operators(10, plain);
    operators.resize(10 + count, linear_layer(256));
    const auto network = nasbench::add_network(
        nasbench::named_network("unknown-" + std::to_string(count), std::move(operators), "test"));
    const Predictions found = predictor->predict({network}, 0.9);
    EXPECT_GT(found.upper_ms[0] / found.lower_ms[0], (count == 1 ? 1.001 : 1 - 1e-6) * width) << count;
    width = found.upper_ms[0] / found.lower_ms[0];
  }
}

/// A third of made-up layers are depthwise; two networks that differ by ten of them.
std::vector<Architecture> with_and_without_depthwise() {
  const nasbench::OperatorSpecification plain = test::convolution(3, 1, 64, 64, 28);
  std::vector<nasbench::OperatorSpecification> with = {plain, plain};
  with.resize(12, test::convolution(3, 256, 256, 256, 56));
  return {nasbench::add_network(nasbench::named_network("without-depthwise", {plain, plain}, "test")),
          nasbench::add_network(nasbench::named_network("with-depthwise", with, "test"))};
}

TEST(KnownDevice, AskedWithANetworkThatHasMoreOfAnOperatorThanAnyOther_WidensTheInterval) {
  const auto predictor = of_networks().knowledge->known_device("board1_cpu");
  const Predictions found = predictor->predict(with_and_without_depthwise(), 0.9);
  EXPECT_GT(found.upper_ms[1] / found.lower_ms[1], 1.5 * found.upper_ms[0] / found.lower_ms[0]);
  const std::vector<Architecture> known = known_architectures(of_networks().pool);
  const Predictions of_known = predictor->predict(known, 0.9);
  for (std::size_t n = 0; n < known.size(); ++n) {
    EXPECT_LT(of_known.upper_ms[n] / of_known.lower_ms[n], found.upper_ms[1] / found.lower_ms[1]);
  }
}

TEST(KnownDevice, AskedWithOperatorsThatOthersMeasuredAndItDidNot_NamesThemAndWidensTheInterval) {
  datasets::Pool pool = of_networks().pool;
  std::vector<datasets::Measurement>& rows = pool.devices[2].latencies;
  const auto has_depthwise = [](const datasets::Measurement& row) {
    const auto operators = nasbench::networks().operator_list(row.architecture);
    return std::any_of(operators.begin(), operators.end(), [](const auto& op) { return op.groups > 1; });
  };
  for (int n = 1; n <= 20; ++n) {  // of plain convolutions alone
    rows.push_back(
        {nasbench::add_network(nasbench::named_network(
             "plain-" + std::to_string(n),
             std::vector<nasbench::OperatorSpecification>(
                 static_cast<std::size_t>(n), test::convolution(n % 2 == 0 ? 1 : 3, 1, 64, 64, 7 * (1 + n % 4))),
             "test")),
         0});
    rows.back().latency_ms = 0.3 + 0.1 * n;
  }
  rows.erase(std::remove_if(rows.begin(), rows.end(), has_depthwise), rows.end());
  const test::Kept kept = test::kept(pool, "operators");
  const std::vector<Architecture> two = with_and_without_depthwise();
  for (const PoolModel* model : {kept.model.get(), kept.knowledge.get()}) {
    const test::Folder folder;
    save(model->known_device("board2_cpu")->to_archive(), folder.path() / "device.tenshot");
    const auto predictor = load_predictor(folder.path() / "device.tenshot"), other = model->known_device("board1_cpu");
    EXPECT_TRUE(predictor->unfamiliar(two)[0].operators.empty());
    EXPECT_EQ(predictor->unfamiliar(two)[1].operators, std::vector<std::string>{"depthwise_convolution"});
    EXPECT_TRUE(other->unfamiliar(two)[1].operators.empty());
    const Predictions found = predictor->predict(two, 0.9), of_other = other->predict(two, 0.9);
    EXPECT_GT(found.upper_ms[1] / found.lower_ms[1], 3 * found.upper_ms[0] / found.lower_ms[0]);
    EXPECT_LT(of_other.upper_ms[1] / of_other.lower_ms[1], 0.5 * found.upper_ms[1] / found.lower_ms[1]);
    EXPECT_GT(found.latency_ms[1], 2 * found.latency_ms[0]) << "as others say";
  }
}

TEST(KnownDevice, WhoseTableListsNoActivationsElementwiseOperatorsAndNorms_HasTheirCostsInTheOthers) {
  datasets::Pool pool = of_networks().pool;
  const nasbench::OperatorSpecification plain = test::convolution(3, 1, 64, 64, 28);
  std::vector<nasbench::OperatorSpecification> apart(3, plain);
  apart[0].kind = nasbench::OperatorKind::activation;
  apart[1].kind = nasbench::OperatorKind::add;
  apart[2].kind = nasbench::OperatorKind::batch_norm;
  for (int n = 1; n <= 12; ++n) {
    std::vector<nasbench::OperatorSpecification> operators(static_cast<std::size_t>(n), plain);
    for (int l = 0; l < 1 + n * n % 7; ++l) operators.insert(operators.end(), apart.begin(), apart.end());
    const Architecture network =
        nasbench::add_network(nasbench::named_network("listed-" + std::to_string(n), operators, "test"));
    for (std::size_t d = 1; d < pool.devices.size(); ++d) {
      pool.devices[d].latencies.push_back({network, 1 + 0.2 * n + 3.0 * (1 + n * n % 7)});
    }
  }
  const test::Kept kept = test::kept(pool, "operators");
  std::vector<nasbench::OperatorSpecification> with(8, plain);
  with.insert(with.end(), apart.begin(), apart.end());
  const std::vector<Architecture> two = {
      nasbench::add_network(nasbench::named_network("eight", {8, plain}, "test")),
      nasbench::add_network(nasbench::named_network("eight-and-three", with, "test"))};
  const auto predictor = kept.knowledge->known_device("board0_cpu"), other = kept.knowledge->known_device("board1_cpu");
  EXPECT_TRUE(predictor->unfamiliar(two)[1].operators.empty());
  const Predictions found = predictor->predict(two, 0.9), of_other = other->predict(two, 0.9);
  EXPECT_NEAR(found.latency_ms[1] / found.latency_ms[0], 1, 0.1);
  EXPECT_GT(of_other.latency_ms[1], of_other.latency_ms[0] + 1);
}

TEST(KnownDevice, ThatNobodyKnowsOrNoModelCanSay_IsRefused) {
  EXPECT_THROW(of_networks().knowledge->known_device("board7_cpu"), InputError);
  EXPECT_THROW(train_pool_model("flops", of_cells().pool, {}, {})->known_device("slow"), InputError);
  EXPECT_THROW(train_pool_model("flops", of_cells().pool, {}, {})->without_rows(one_source()), InputError);
}

TEST(AdaptLike, WithoutMeasurementsIsTheDeviceItself) {
  for (const Kept* kept : {&of_cells(), &of_networks()}) {
    AdaptOptions options;
    options.like = kept->pool.devices[1].id;
    const std::vector<Architecture> some = known_architectures(kept->pool);
    EXPECT_EQ(kept->knowledge->adapt({}, options)->predict(some, 0.9).latency_ms,
              kept->knowledge->known_device(options.like)->predict(some, 0.9).latency_ms);
  }
}

TEST(AdaptLike, TakesThatDeviceAsItsPrior) {
  for (const Kept* kept : {&of_cells(), &of_networks()}) {
    AdaptOptions options;
    options.like = kept->pool.devices[2].id;
    const AdaptationSet set = first_of(kept->pool.devices[2], 10);  // 1.3 times as slow
    const auto predictor = kept->knowledge->adapt(set, options);
    EXPECT_EQ(test::explanation_text(*predictor).find(kept->pool.devices[0].id), std::string::npos);
    double near = 0;
    for (const datasets::Measurement& row : kept->pool.devices[2].latencies) {
      const double found = predictor->predict({row.architecture}, 0.9).latency_ms[0];
      near += std::abs(found / (1.3 * row.latency_ms) - 1) <= 0.1;
    }
    EXPECT_GE(near / static_cast<double>(kept->pool.devices[2].latencies.size()), 0.85) << options.like;
  }
}

/// A device of the user's own, whose networks have an operator that the knowledge has not.
datasets::Pool own_pool() {
  const auto grouped = test::convolution(3, 4, 64, 64, 14), plain = test::convolution(1, 1, 64, 64, 14);
  datasets::Pool own;
  own.space = &nasbench::networks();
  datasets::DeviceRuntime device;
  device.id = device.device = "mine_cpu";
  for (int n = 1; n <= 24; ++n) {
    std::vector<nasbench::OperatorSpecification> operators(static_cast<std::size_t>(1 + n % 7), grouped);
    operators.insert(operators.end(), static_cast<std::size_t>(n), plain);
    datasets::Measurement row;
    row.architecture =
        nasbench::add_network(nasbench::named_network("own-" + std::to_string(n), std::move(operators), "own"));
    row.latency_ms = 1 + 0.5 * (1 + n % 7) + 0.2 * n;
    device.latencies.push_back(row);
  }
  own.devices = {device};
  return own;
}

TEST(GrownKnowledge, HasThePoolsDevicesBesideItsOwn) {
  const datasets::Pool own = own_pool();  // shares no network with the knowledge
  const auto grown = through_a_file(of_networks().knowledge->grown_by(own, {})->to_archive());
  ASSERT_EQ(grown->pool().devices.size(), 7U);
  EXPECT_EQ(grown->pool().devices.back().id, "mine_cpu");
  EXPECT_EQ(grown->knowledge()->sources.back().name, "your own pool");
  EXPECT_EQ(grown->own_fits().devices.back().networks, 24U);
  const auto mine = grown->known_device("mine_cpu");
  for (const datasets::Measurement& row : own.devices[0].latencies) {
    EXPECT_NEAR(mine->predict({row.architecture}, 0.9).latency_ms[0] / row.latency_ms, 1, 0.1);
  }
  const std::vector<Architecture> some(networks().begin(), networks().begin() + 61);
  const auto before = of_networks().knowledge->predict_pool(some), after = grown->predict_pool(some);
  for (std::size_t d = 0; d < before.size(); ++d) {
    for (std::size_t i = 0; i < some.size(); ++i) EXPECT_NEAR(after[d][i] / before[d][i], 1, 1e-3);
  }
}

double width(const Predictor& predictor, const Architecture& architecture) {
  const Predictions found = predictor.predict({architecture}, 0.9);
  return found.upper_ms[0] / found.lower_ms[0];
}

/// What one device measured does not make a network known on another.
TEST(GrownKnowledge, LeavesTheIntervalsOfOtherDevicesAsWide) {
  datasets::Pool own = all_networks();
  own.devices = {own.devices[4]};
  own.devices[0].id = own.devices[0].device = "mine_cpu";
  std::vector<datasets::Measurement>& rows = own.devices[0].latencies;
  rows.erase(rows.begin(), rows.begin() + 61);  // which the knowledge has
  const PoolModel& knowledge = *of_networks().knowledge;
  const auto grown = knowledge.grown_by(own, {});
  const AdaptationSet ten = first_of(all_networks().devices[1], 10);
  const auto known_before = knowledge.known_device("board1_cpu"), known = grown->known_device("board1_cpu");
  const auto adapted_before = knowledge.adapt(ten, {}), adapted = grown->adapt(ten, {});
  for (const datasets::Measurement& row : rows) {
    EXPECT_NEAR(width(*known, row.architecture), width(*known_before, row.architecture), 1e-3);
    EXPECT_GE(width(*adapted, row.architecture), 0.98 * width(*adapted_before, row.architecture));
  }
}

TEST(GrownKnowledge, SaysWhereTheDevicesComeFrom) {
  const KnowledgeSource bench{"my bench", "", "MIT", {"mine_*"}};
  const auto grown = through_a_file(of_networks().knowledge->grown_by(own_pool(), {bench})->to_archive());
  const Knowledge& knowledge = *grown->knowledge();
  EXPECT_EQ(knowledge.sources[knowledge.source_of.back()].name, "my bench");
  EXPECT_EQ(knowledge.sources.size(), of_networks().knowledge->knowledge()->sources.size() + 1);
  EXPECT_THROW(of_networks().knowledge->grown_by(own_pool(), {{"other", "", "MIT", {"other_*"}}}), InputError);
}

/// The costs of a device with few networks are those that the knowledge is adapted to. Intervals from three networks
/// are still too narrow.
TEST(GrownKnowledge, PredictsNewNetworksOfADeviceOfFew) {
  for (const std::size_t few : {3U, 10U, 20U}) {
    datasets::Pool own = all_networks();
    own.devices = {own.devices[4]};
    own.devices[0].id = own.devices[0].device = "mine_cpu";
    for (datasets::Measurement& row : own.devices[0].latencies) row.latency_ms *= 1.3;
    const std::vector<datasets::Measurement> all = own.devices[0].latencies;
    own.devices[0].latencies.resize(few);
    const auto mine = of_networks().knowledge->grown_by(own, {})->known_device("mine_cpu");
    double near = 0, held = 0, count = 0;
    for (std::size_t i = 61; i < all.size(); ++i) {  // which neither knows
      const Predictions found = mine->predict({all[i].architecture}, 0.9);
      near += std::abs(found.latency_ms[0] / all[i].latency_ms - 1) <= 0.1;
      held += found.lower_ms[0] <= all[i].latency_ms && all[i].latency_ms <= found.upper_ms[0];
      EXPECT_LT(found.upper_ms[0] / found.lower_ms[0], 10) << few;
      ++count;
    }
    EXPECT_GE(near / count, 0.8) << few;
    EXPECT_GE(held / count, few < 10 ? 0.5 : 0.8) << few;
  }
}

TEST(GrownKnowledge, AdaptsToADeviceLikeOnesOwn) {
  const datasets::Pool own = own_pool();
  const auto grown = of_networks().knowledge->grown_by(own, {});
  const auto predictor = grown->adapt(first_of(own.devices[0], 6), {});
  for (const datasets::Measurement& row : own.devices[0].latencies) {
    EXPECT_NEAR(predictor->predict({row.architecture}, 0.9).latency_ms[0] / (1.3 * row.latency_ms), 1, 0.1);
  }
}

TEST(GrownKnowledge, OfOperatorsNewToIt_LetsItsOtherDevicesNameThem) {
  const auto grown = through_a_file(of_networks().knowledge->grown_by(own_pool(), {})->to_archive());
  const std::vector<nasbench::OperatorSpecification> operators(12, test::convolution(3, 4, 64, 64, 14));
  const std::vector<Architecture> grouped = {
      nasbench::add_network(nasbench::named_network("all-grouped", operators, "test")), networks()[0]};
  EXPECT_TRUE(grown->known_device("mine_cpu")->unfamiliar(grouped)[0].operators.empty());
  const auto known = grown->known_device("board1_cpu");
  EXPECT_EQ(known->unfamiliar(grouped)[0].operators, std::vector<std::string>{"grouped_convolution"});
  const Predictions found = known->predict(grouped, 0.9);
  EXPECT_TRUE(known->unfamiliar(grouped)[1].operators.empty());
  EXPECT_GT(found.upper_ms[0] / found.lower_ms[0], 1.5 * found.upper_ms[1] / found.lower_ms[1]);
  const double stood_in = of_networks().knowledge->known_device("board1_cpu")->predict(grouped, 0.9).latency_ms[0];
  EXPECT_GT(found.latency_ms[0], 0.2 * stood_in);
  EXPECT_LT(found.latency_ms[0], 5 * stood_in);
}

TEST(GrownKnowledge, OfADeviceThatIsThereOrAnotherSpace_IsRefused) {
  datasets::Pool own = own_pool();
  own.devices[0].id = "board3_cpu";
  try {
    of_networks().knowledge->grown_by(own, {});
    FAIL();
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("'board3_cpu'"), std::string::npos) << error.what();
  }
  EXPECT_THROW(of_networks().knowledge->grown_by(test::synthetic_pool(20), {}), InputError);
  EXPECT_THROW(of_networks().model->grown_by(own_pool(), {}), InputError);  // which carries its rows
  EXPECT_THROW(of_cells().knowledge->grown_by(test::synthetic_pool(20), {}), InputError);
}

}  // namespace
}  // namespace tenshot::trainer
