#include "trainer/predictors/help/help.h"

#include <gtest/gtest.h>

#include <cmath>

#include "nasbench/support/error.h"
#include "tests/unit/trainer/fixtures.h"
#include "trainer/core/metrics.h"
#include "trainer/predictors/help/meta_network.h"
#include "trainer/predictors/registry.h"

namespace tenshot::trainer {
namespace {

const SearchSpace& space = nasbench::nasbench201();

constexpr int inputs = 30;  // of a cell's encoding

MetaBatch batch_of(const datasets::DeviceRuntime& device, std::size_t begin, std::size_t end, double unit_ms) {
  MetaBatch batch;
  std::vector<float> encoding(space.encoding_width());
  for (std::size_t i = begin; i < end; ++i) {
    space.encode(device.latencies[i].architecture, encoding.data());
    batch.inputs.insert(batch.inputs.end(), encoding.begin(), encoding.end());
    batch.targets.push_back(static_cast<float>(device.latencies[i].latency_ms / unit_ms));
  }
  return batch;
}

MetaTask task_of(const std::string& id, double speed, std::uint64_t seed) {
  const auto device = test::synthetic_device(id, speed, 1.2, 0.01, 60, seed);
  return {batch_of(device, 0, 10, 4 * speed), batch_of(device, 10, 40, 4 * speed)};
}

/// Mean squared error on the query after adaptation.
double loss_of(const MetaNetwork& network, const MetaTask& task, int steps) {
  const std::vector<float> predicted = evaluate_layers(network.adapted(task.support, steps), task.query.inputs);
  double loss = 0;
  for (std::size_t i = 0; i < predicted.size(); ++i) loss += std::pow(predicted[i] - task.query.targets[i], 2);
  return loss / static_cast<double>(predicted.size());
}

/// With cells as graphs and without.
class MetaNetworks : public testing::TestWithParam<bool> {
 protected:
  std::unique_ptr<MetaNetwork> network_ = make_meta_network(inputs, GetParam(), 3);
};
INSTANTIATE_TEST_SUITE_P(Encoders, MetaNetworks, testing::Bool(),
                         [](const auto& info) { return info.param ? "Graph" : "Connected"; });

TEST_P(MetaNetworks, FoldItsEmbeddingIntoLayersThatPredictTheSame) {
  const MetaTask task = task_of("a", 2, 1);
  const double folded = loss_of(*network_, task, 2);
  EXPECT_NEAR(folded, network_->meta_step({task}, 2, 0), 1e-4 * folded);
}

TEST_P(MetaNetworks, LowerTheLossOnTheSupportByAdapting) {
  const MetaTask task = task_of("a", 2, 1);
  const MetaTask on_support{task.support, task.support};
  EXPECT_LT(loss_of(*network_, on_support, 3), loss_of(*network_, on_support, 0));
}

TEST_P(MetaNetworks, LowerTheLossAfterAdaptationByMetaTraining) {
  const MetaTask held_out = task_of("new", 3, 9);
  const double before = loss_of(*network_, held_out, 2);
  for (std::uint64_t episode = 0; episode < 60; ++episode) {
    network_->meta_step({task_of("a", 2, episode), task_of("b", 5, 100 + episode)}, 2, 1e-3);
  }
  EXPECT_LT(loss_of(*network_, held_out, 2), 0.5 * before);
}

/// How the loss changes along its own gradient by the parameters from `begin` to before `end`, over how it should: 1,
/// or what the gradient was scaled down by. Differences of four points, which cancel what is of third order.
double change_along_gradient(MetaNetwork& network, const MetaTask& task, int steps, std::size_t begin,
                             std::size_t end) {
  const AdamState before = network.state();
  network.meta_step({task}, steps, 0);
  const std::vector<float> tenth = network.state().first_moment;  // of the gradient, after the first step of Adam
  double squares = 0, change = 0;
  for (std::size_t i = begin; i < end; ++i) squares += 100 * tenth[i] * tenth[i];
  for (const auto& [weight, distance] : {std::pair(-8, -1e-3), {8, 1e-3}, {1, -2e-3}, {-1, 2e-3}}) {
    AdamState moved = before;
    for (std::size_t i = begin; i < end; ++i) {
      moved.parameters[i] += static_cast<float>(distance * 10 * tenth[i] / std::sqrt(squares));
    }
    network.restore(moved);
    change += weight * loss_of(network, task, steps) / 12e-3;
  }
  network.restore(before);
  return change / std::sqrt(squares);
}

TEST_P(MetaNetworks, HaveTheGradientThroughTheAdaptation) {
  const MetaTask task = task_of("a", 2, 1);
  const std::size_t all = network_->state().parameters.size(), modulator = 100 * 32 + 100 * 101;
  const std::size_t encoder = modulator + 100 * 101 + (GetParam() ? 7 : 5) * 101, steps = (all + encoder) / 2;
  const double whole = change_along_gradient(*network_, task, 0, 0, all);
  EXPECT_GE(whole, 0.95);
  EXPECT_NEAR(change_along_gradient(*network_, task, 0, 0, modulator) / whole, 1, 0.05);
  EXPECT_NEAR(change_along_gradient(*network_, task, 0, modulator, encoder) / whole, 1, 0.05);
  EXPECT_NEAR(change_along_gradient(*network_, task, 0, encoder, steps) / whole, 1, 0.05);
  // A step of adaptation jumps where a unit starts to answer for a sample, but not by the sizes of the steps.
  const double adapted = change_along_gradient(*network_, task, 1, steps, all);
  EXPECT_NEAR(change_along_gradient(*network_, task, 1, encoder, all) / adapted, 1, 0.5);
  EXPECT_NEAR(change_along_gradient(*network_, task, 1, 0, encoder) / adapted, 1, 0.5);
}

TEST_P(MetaNetworks, TakeBackTheirStateAndRefuseOthers) {
  const auto other = make_meta_network(inputs, GetParam(), 4);
  const MetaTask task = task_of("a", 2, 1);
  EXPECT_NE(loss_of(*network_, task, 2), loss_of(*other, task, 2));
  other->restore(network_->state());
  EXPECT_EQ(loss_of(*network_, task, 2), loss_of(*other, task, 2));
  AdamState few = network_->state();
  few.parameters.pop_back();
  EXPECT_THROW(other->restore(few), FormatError);
  EXPECT_THROW(other->restore(make_meta_network(inputs, !GetParam(), 3)->state()), FormatError);
}

/// ReLU(W · sum + b) of each node, in words of the cell: whom a node hears. `values` at `next` has W, then b.
std::vector<std::vector<double>> convolved(const std::vector<std::vector<double>>& nodes,
                                           const std::vector<std::vector<int>>& heard, const std::vector<float>& values,
                                           std::size_t& next) {
  constexpr std::size_t width = 100;
  const std::size_t of = nodes[0].size();
  std::vector<std::vector<double>> result;
  for (const std::vector<int>& others : heard) {
    result.emplace_back(width);
    for (std::size_t o = 0; o < width; ++o) {
      double sum = values[next + width * of + o];
      for (const int other : others) {
        for (std::size_t i = 0; i < of; ++i)
          sum += values[next + o * of + i] * nodes[static_cast<std::size_t>(other)][i];
      }
      result.back()[o] = std::max(0.0, sum);
    }
  }
  next += width * (of + 1);
  return result;
}

TEST(MetaNetwork, ConvolvesOverTheOperationsOfACell) {
  // The operations 0→1, 0→2, 1→2, 0→3, 1→3, 2→3 are nodes 0 to 5, the input 6, the output 7, all of it 8.
  const std::vector<std::vector<int>> heard = {
      {0, 6}, {1, 6}, {2, 0}, {3, 6}, {4, 0}, {5, 1, 2}, {6}, {7, 3, 4, 5}, {0, 1, 2, 3, 4, 5, 6, 7, 8}};
  const auto network = make_meta_network(inputs, true, 5);
  const std::vector<float> values = network->state().parameters;
  const Architecture cell = {3, 0, 2, 1, 4, 3};
  std::vector<std::vector<double>> nodes(9, std::vector<double>(8));
  for (std::size_t e = 0; e < 6; ++e) nodes[e][cell[e]] = 1;
  for (std::size_t node = 6; node < 9; ++node) nodes[node][node - 1] = 1;
  std::size_t next = 100 * 32 + 2 * 100 * 101 + 7 * 101;  // behind the set encoder and the modulator
  for (int layer = 0; layer < 4; ++layer) nodes = convolved(nodes, heard, values, next);

  std::vector<float> encoding(inputs);
  space.encode(cell, encoding.data());
  const std::vector<DenseLayer> layers = network->adapted(task_of("a", 2, 1).support, 0);
  ASSERT_EQ(layers.size(), 7u);
  std::vector<double> hidden(encoding.begin(), encoding.end());
  for (std::size_t l = 0; l < 4; ++l) {
    std::vector<double> outputs(layers[l].bias.begin(), layers[l].bias.end());
    for (std::size_t o = 0; o < outputs.size(); ++o) {
      for (std::size_t i = 0; i < hidden.size(); ++i) outputs[o] += layers[l].weight[o * hidden.size() + i] * hidden[i];
      outputs[o] = std::max(0.0, outputs[o]);
    }
    hidden = outputs;
  }
  ASSERT_EQ(hidden.size(), nodes[8].size());
  for (std::size_t i = 0; i < hidden.size(); ++i) EXPECT_NEAR(hidden[i], nodes[8][i], 1e-4 + 1e-4 * nodes[8][i]) << i;
}

TEST(Help, WithReferencesAdaptsOnThePoolsFirstArchitectures) {
  HelpSettings settings;
  settings.episodes = 3;
  settings.devices_per_episode = 2;
  const datasets::Pool pool = test::synthetic_pool(120);
  const auto any = train_help(pool, settings, {});
  settings.references = true;
  const auto first = train_help(pool, settings, {});
  EXPECT_NE(any->to_archive().serialise(), first->to_archive().serialise());
  const test::Folder folder;
  save(first->to_archive(), folder.path() / "pool");
  EXPECT_EQ(load_pool_model(folder.path() / "pool")->to_archive().card.at("settings").at("references"), true);
}

TEST(Help, LearnsNothingFromDevicesOfValidation) {
  HelpSettings settings;
  settings.episodes = 25;  // after which the one state is judged
  settings.devices_per_episode = 2;
  datasets::Pool pool = test::synthetic_pool(120);
  const std::string judge = pool.devices.back().id;
  settings.validation = {judge};
  const auto judged = train_help(pool, settings, {});
  pool.devices.pop_back();
  EXPECT_THROW(train_help(pool, settings, {}), InputError) << "its judge is not in the pool";
  settings.validation = {pool.devices[0].id, pool.devices[1].id};
  EXPECT_THROW(train_help(pool, settings, {}), InputError) << "nobody is left to learn from";
  settings.validation.clear();
  const auto without = train_help(pool, settings, {});
  EXPECT_EQ(judged->to_archive().floats("parameters"), without->to_archive().floats("parameters"));
}

TEST(Help, KeepsTheStateThatItsJudgesRankBest) {
  HelpSettings settings;
  settings.episodes = 75;
  settings.devices_per_episode = 2;
  datasets::Pool pool = test::synthetic_pool(60);
  for (datasets::Measurement& row : pool.devices[0].latencies) row.latency_ms = 1000 / row.latency_ms;
  datasets::Pool learning = pool;
  learning.devices.erase(learning.devices.begin(), learning.devices.begin() + 2);
  const auto last = train_help(learning, settings, {});
  settings.validation = {pool.devices[0].id, pool.devices[1].id};  // the first turns the order round
  const auto best = train_help(pool, settings, {});
  EXPECT_NE(best->to_archive().floats("parameters"), last->to_archive().floats("parameters"));
  const test::Folder folder;
  TrainingControl control;
  control.state_file = folder.path() / "state.partial";
  control.on_epoch = [](const TrainingProgress& now) { return now.epoch < 60; };
  EXPECT_THROW(train_help(pool, settings, control), Interrupted);
  control.on_epoch = nullptr;
  EXPECT_EQ(train_help(pool, settings, control)->to_archive().serialise(), best->to_archive().serialise());
}

TEST(Help, TrainsAdaptsSavesAndLoadsToTheSameBytes) {
  HelpSettings settings;
  settings.episodes = 5;
  settings.devices_per_episode = 2;
  const datasets::Pool pool = test::synthetic_pool(120);
  const auto model = train_help(pool, settings, {});
  const auto again = train_help(pool, settings, {});
  EXPECT_EQ(model->to_archive().serialise(), again->to_archive().serialise());
  AdaptationSet set;
  for (std::size_t i = 0; i < 10; ++i) {
    set.architectures.push_back(pool.devices[0].latencies[i].architecture);
    set.latency_ms.push_back(pool.devices[0].latencies[i].latency_ms);
  }
  const test::Folder folder;
  save(model->to_archive(), folder.path() / "pool");
  const auto predictor = load_pool_model(folder.path() / "pool")->adapt(set, {});
  EXPECT_EQ(predictor->kind(), "help");
  EXPECT_EQ(predictor->to_archive().serialise(), model->adapt(set, {})->to_archive().serialise());
  save(predictor->to_archive(), folder.path() / "device");
  EXPECT_EQ(load_predictor(folder.path() / "device")->predict(set.architectures, 0.9).latency_ms,
            predictor->predict(set.architectures, 0.9).latency_ms);
  EXPECT_EQ(model->predict_pool(set.architectures).size(), 3u);
  EXPECT_THROW(model->adapt({}, {}), InputError);
}

TEST(Help, ResumedTrainingHasTheSameBytes) {
  HelpSettings settings;
  settings.episodes = 6;
  settings.devices_per_episode = 2;
  const datasets::Pool pool = test::synthetic_pool(60);
  const test::Folder folder;
  TrainingControl control;
  control.state_file = folder.path() / "state.partial";
  int seen = 0;
  control.on_epoch = [&](const TrainingProgress&) { return ++seen < 3; };
  EXPECT_THROW(train_help(pool, settings, control), Interrupted);
  seen = 100;
  control.on_epoch = [&](const TrainingProgress& now) {
    if (seen == 100) {
      EXPECT_EQ(now.epoch, 4);
    }
    return ++seen > 0;
  };
  const std::string resumed = train_help(pool, settings, control)->to_archive().serialise();
  EXPECT_EQ(seen, 103);
  EXPECT_EQ(resumed, train_help(pool, settings, {})->to_archive().serialise());
}

TEST(Help, StopsWhenToldAndNeedsArchitectures) {
  HelpSettings settings;
  settings.episodes = 5;
  TrainingControl control;
  int seen = 0;
  control.on_epoch = [&](const TrainingProgress& now) {
    seen = now.epoch;
    return now.epoch < 2;
  };
  EXPECT_THROW(train_help(test::synthetic_pool(60), settings, control), Interrupted);
  EXPECT_EQ(seen, 2);
  EXPECT_THROW(train_help(test::synthetic_pool(8), settings, {}), InputError);
}

}  // namespace
}  // namespace tenshot::trainer
