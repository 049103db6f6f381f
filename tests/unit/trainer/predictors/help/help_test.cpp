#include "trainer/predictors/help/help.h"

#include <gtest/gtest.h>

#include "nasbench/support/error.h"
#include "tests/unit/trainer/fixtures.h"
#include "trainer/core/metrics.h"
#include "trainer/predictors/help/meta_network.h"
#include "trainer/predictors/registry.h"

namespace tenshot::trainer {
namespace {

const SearchSpace& space = nasbench::nasbench201();

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

TEST(MetaNetwork, FoldsItsEmbeddingIntoLayersThatPredictTheSame) {
  const auto network = make_meta_network(static_cast<int>(space.encoding_width()), 3);
  const MetaTask task = task_of("a", 2, 1);
  const std::vector<float> predicted = evaluate_layers(network->adapted(task.support, 2), task.query.inputs);
  double loss = 0;
  for (std::size_t i = 0; i < predicted.size(); ++i) {
    const double error = (predicted[i] - task.query.targets[i]) / task.query.targets[i];
    loss += error * error / static_cast<double>(predicted.size());
  }
  EXPECT_NEAR(loss, network->loss(task, 2), 1e-4 * loss);
}

TEST(MetaNetwork, AdaptingLowersTheLossOnTheSupport) {
  const auto network = make_meta_network(static_cast<int>(space.encoding_width()), 3);
  const MetaTask task = task_of("a", 2, 1);
  const MetaTask on_support{task.support, task.support};
  EXPECT_LT(network->loss(on_support, 3), network->loss(on_support, 0));
}

TEST(MetaNetwork, MetaTrainingLowersTheLossAfterAdaptation) {
  const auto network = make_meta_network(static_cast<int>(space.encoding_width()), 3);
  const MetaTask held_out = task_of("new", 3, 9);
  const double before = network->loss(held_out, 2);
  for (std::uint64_t episode = 0; episode < 60; ++episode) {
    network->meta_step({task_of("a", 2, episode), task_of("b", 5, 100 + episode)}, 2, 1e-3);
  }
  EXPECT_LT(network->loss(held_out, 2), 0.5 * before);
}

TEST(MetaNetwork, TakesBackItsParametersAndRefusesOthers) {
  const int inputs = static_cast<int>(space.encoding_width());
  const auto network = make_meta_network(inputs, 3);
  const auto other = make_meta_network(inputs, 4);
  const MetaTask task = task_of("a", 2, 1);
  EXPECT_NE(network->loss(task, 2), other->loss(task, 2));
  other->load(network->parameters());
  EXPECT_EQ(network->loss(task, 2), other->loss(task, 2));
  std::vector<float> few = network->parameters();
  few.pop_back();
  EXPECT_THROW(other->load(few), FormatError);
  few.resize(few.size() + 2);
  EXPECT_THROW(other->load(few), FormatError);
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
