#include "trainer/networks/training.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "nasbench/support/error.h"
#include "nasbench/support/random.h"
#include "tests/unit/trainer/fixtures.h"

namespace tenshot::trainer {
namespace {

TrainingSet noisy_line(int rows) {
  Rng rng(1);
  TrainingSet set;
  set.width = 3;
  for (int i = 0; i < rows; ++i) {
    const double a = rng.uniform(), b = rng.uniform(), c = rng.uniform();
    for (const double value : {a, b, c}) set.inputs.push_back(static_cast<float>(value));
    set.targets.push_back(static_cast<float>(1 + a + 2 * b + 0.01 * rng.normal()));
    set.units.push_back(set.targets.back());
  }
  return set;
}

FitOptions options_of(int epochs) {
  FitOptions options;
  options.epochs = epochs;
  options.batch = 32;
  options.learning_rate = 5e-3;
  return options;
}

std::vector<float> trained(const TrainingControl& control, const std::string& fingerprint = "same") {
  static const TrainingSet set = noisy_line(100);
  RegressionNetwork network(3, {8}, 1);
  fit(
      network, [&](int) -> const TrainingSet& { return set; }, options_of(30), fingerprint, control);
  return network.state().parameters;
}

TEST(Fit, LearnsALine) {
  const TrainingSet set = noisy_line(500);
  RegressionNetwork network(3, {16}, 1);
  const double loss = fit(network, [&](int) -> const TrainingSet& { return set; }, options_of(120), "line", {});
  EXPECT_LT(loss, 3e-4);  // the noise alone is about 2e-5
}

TEST(Fit, GivesTheSameBytesHoweverOftenItIsInterrupted) {
  const test::Folder folder;
  const std::vector<float> straight = trained({});
  for (const int stop_after : {1, 7, 29}) {
    TrainingControl control;
    control.state_file = folder.path() / "state.partial";
    int calls = 0;
    control.on_epoch = [&](const TrainingProgress&) { return ++calls % stop_after != 0; };
    std::vector<float> resumed;
    int interruptions = 0;
    while (resumed.empty()) {
      try {
        resumed = trained(control);
      } catch (const Interrupted&) {
        ++interruptions;
      }
    }
    EXPECT_EQ(interruptions, stop_after == 29 ? 1 : 29 / stop_after);
    EXPECT_EQ(resumed, straight);
    EXPECT_EQ(trained(control), straight);  // the finished state is still there, and nothing is trained again
    std::filesystem::remove(control.state_file);
  }
}

TEST(Fit, StartsOverWhenTheUnfinishedStateIsOfOtherData) {
  const test::Folder folder;
  TrainingControl control;
  control.state_file = folder.path() / "state.partial";
  control.on_epoch = [](const TrainingProgress& now) { return now.epoch < 5; };
  EXPECT_THROW(trained(control, "other"), Interrupted);
  EXPECT_TRUE(std::filesystem::exists(control.state_file));
  control.on_epoch = nullptr;
  EXPECT_EQ(trained(control), trained({}));
}

TEST(Fit, StartsOverWhenTheUnfinishedStateIsDamaged) {
  const test::Folder folder;
  TrainingControl control;
  control.state_file = folder.path() / "state.partial";
  test::write(control.state_file, "TENSHOT\nnot a state");
  EXPECT_EQ(trained(control), trained({}));
}

TEST(Fit, ReportsEveryEpoch) {
  std::vector<int> epochs;
  TrainingControl control;
  control.on_epoch = [&](const TrainingProgress& now) {
    EXPECT_EQ(now.epochs, 30);
    EXPECT_GT(now.loss, 0);
    EXPECT_GE(now.seconds_left, 0);
    epochs.push_back(now.epoch);
    return true;
  };
  trained(control);
  ASSERT_EQ(epochs.size(), 30u);
  EXPECT_EQ(epochs.back(), 30);
}

TEST(Fit, SaysThatTrainingDiverged) {
  TrainingSet set = noisy_line(10);
  set.targets[3] = std::numeric_limits<float>::infinity();
  RegressionNetwork network(3, {4}, 1);
  EXPECT_THROW(fit(network, [&](int) -> const TrainingSet& { return set; }, options_of(3), "x", {}), Error);
}

TEST(Fit, RefusesOptionsThatTrainNothing) {
  const TrainingSet set = noisy_line(10);
  RegressionNetwork network(3, {4}, 1);
  FitOptions options = options_of(0);
  EXPECT_THROW(fit(network, [&](int) -> const TrainingSet& { return set; }, options, "x", {}), InputError);
}

}  // namespace
}  // namespace tenshot::trainer
