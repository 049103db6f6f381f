#include "trainer/predictors/cold_stages/cold_predictor.h"

#include <gtest/gtest.h>

#include <cmath>

#include "nasbench/support/error.h"
#include "nasbench/support/random.h"

namespace tenshot::trainer::cold_stages {
namespace {

using descriptor::ColdKind;
using descriptor::ColdLayer;
using descriptor::ColdNetwork;
using descriptor::ColdStages;
using descriptor::KernelStages;
using descriptor::LayerStages;

/// A chain of 3 × 3 convolutions on 16 × 16 images.
ColdNetwork chain(const std::vector<int>& channels) {
  ColdNetwork network;
  for (const int c : channels) network.tensors.push_back({1, c, 16, 16});
  for (std::size_t i = 0; i + 1 < channels.size(); ++i) {
    ColdLayer layer;
    layer.kind = ColdKind::convolution;
    layer.name = "conv" + std::to_string(i);
    layer.kernel = {3, 3};
    layer.inputs = {static_cast<int>(i)};
    layer.output = static_cast<int>(i) + 1;
    network.layers.push_back(layer);
  }
  network.output = static_cast<int>(channels.size()) - 1;
  return network;
}

/// What stages cost in a world where every cost is a sum over measures: "direct" needs no transformation, "winograd" is
/// stored four times as large, and runs in half the time.
LayerStages stages_of(const ColdNetwork& network, const ColdLayer& layer) {
  const auto m = measures_of(network, layer).measures;  // one, arithmetic, read, written, weights
  LayerStages stages;
  stages.raw_bytes = static_cast<std::uint64_t>(std::llround(m[4] * 1e6));
  stages.read_raw_ms = 0.02 + 2 * m[4];
  KernelStages direct;
  direct.name = "direct";
  direct.create_ms = 0.3;
  direct.create_again_ms = 0.05;
  direct.execute_ms = 0.01 + 0.2 * m[1] + 0.1 * m[2];
  direct.first_ms = 2 * direct.execute_ms;
  KernelStages winograd = direct;
  winograd.name = "winograd";
  winograd.transforms = true;
  winograd.cached_bytes = 4 * stages.raw_bytes;
  winograd.transform_ms = 0.1 + 9 * m[4];
  winograd.read_cached_ms = 0.02 + 2 * 4 * m[4];
  winograd.write_cached_ms = 0.1 + 4 * 4 * m[4];
  winograd.execute_ms = 0.5 * direct.execute_ms;
  winograd.first_ms = 0.5 * direct.first_ms;
  stages.kernels = {direct, winograd};
  return stages;
}

ColdStages measured(const std::string& name, const std::vector<int>& channels) {
  ColdStages stages;
  stages.model = "models/" + name + ".onnx";
  stages.machine = "a board";
  stages.network = chain(channels);
  stages.start_ms = 0.5 + 0.1 * static_cast<double>(stages.network.layers.size());
  for (std::size_t i = 0; i < stages.network.layers.size(); ++i) {
    stages.layers.push_back(stages_of(stages.network, stages.network.layers[i]));
    stages.layers.back().shape = static_cast<int>(i);
  }
  return stages;
}

std::vector<ColdStages> library(std::size_t families) {
  Rng rng(3);
  std::vector<ColdStages> files;
  for (std::size_t family = 0; family < families; ++family) {
    for (const char* size : {"_small", "_large"}) {
      std::vector<int> channels = {3};
      for (int i = 0; i < 6 + static_cast<int>(family); ++i)
        channels.push_back(8 + static_cast<int>(rng.uniform() * 120));
      files.push_back(measured(std::string(1, static_cast<char>('a' + family)) + size, channels));
    }
  }
  return files;
}

TEST(ColdFamily, IsTheLettersThatTheFileNameBeginsWith) {
  EXPECT_EQ(family_of("some/where/MobileNet_v2_w1.0.onnx"), "mobilenet");
  EXPECT_EQ(family_of("resnet18.onnx"), "resnet");
  EXPECT_EQ(family_of("18.onnx"), "");
}

TEST(StageModel, FindsTheCostsOfMeasures) {
  const std::vector<ColdStages> files = library(2);
  StageTimes times;
  for (const ColdStages& file : files) {
    for (const ColdLayer& layer : file.network.layers) {
      const LayerMeasures measures = measures_of(file.network, layer);
      times.add(measures, 0.25 + 3 * measures.measures[1]);
    }
  }
  const StageModel sums(times, Learner::operators);
  const ColdNetwork other = chain({77, 200});
  const LayerMeasures unseen = measures_of(other, other.layers[0]);
  EXPECT_NEAR(sums.predict(unseen), 0.25 + 3 * unseen.measures[1], 1e-3 * (0.25 + 3 * unseen.measures[1]));
  if (!has_xgboost()) GTEST_SKIP() << "no XGBoost";
  const StageModel forest(times, Learner::forest);
  double predicted = 0, truth = 0;
  for (std::size_t i = 0; i < times.layers.size(); ++i) {
    predicted += forest.predict(times.layers[i]);
    truth += times.ms[i];
  }
  EXPECT_NEAR(predicted, truth, 1e-6 * truth) << "layers sum to what they took";
}

TEST(LayerMeasures, CountArithmeticAndBytes) {
  const ColdNetwork network = chain({4, 8});
  const LayerMeasures measures = measures_of(network, network.layers[0]);
  EXPECT_EQ(measures.group, "convolution");
  EXPECT_DOUBLE_EQ(measures.measures[0], 1);
  EXPECT_DOUBLE_EQ(measures.measures[1], 16 * 16 * 8 * 4 * 9 / 1e6);
  EXPECT_DOUBLE_EQ(measures.measures[2], 4 * 4 * 16 * 16 / 1e6);
  EXPECT_DOUBLE_EQ(measures.measures[3], 4 * 8 * 16 * 16 / 1e6);
  EXPECT_DOUBLE_EQ(measures.measures[4], 4 * (8 * 4 * 9 + 8) / 1e6);
}

TEST(StageModels, PredictTheStagesOfANetworkThatWasNotMeasured) {
  const std::vector<ColdStages> files = library(3);
  std::vector<const ColdStages*> pointers;
  for (const ColdStages& file : files) pointers.push_back(&file);
  Learners learners;
  learners.fill(Learner::operators);
  const StageModels models(pointers, learners);
  const ColdStages truth = measured("new", {3, 50, 60, 50, 60});
  const ColdStages predicted = models.predict(truth.network, {});
  ASSERT_EQ(predicted.layers.size(), 4U);
  EXPECT_EQ(predicted.layers[3].shape, 1) << "the second and the last layer compute the same";
  EXPECT_NEAR(predicted.start_ms, truth.start_ms, 1e-3);
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(predicted.layers[i].raw_bytes, truth.layers[i].raw_bytes);
    ASSERT_EQ(predicted.layers[i].kernels.size(), 2U);
    for (std::size_t k = 0; k < 2; ++k) {
      const KernelStages &a = predicted.layers[i].kernels[k], &b = truth.layers[i].kernels[k];
      EXPECT_EQ(a.name, b.name);
      EXPECT_EQ(a.transforms, b.transforms);
      EXPECT_EQ(a.cached_bytes, b.cached_bytes);
      for (const Stage stage : all_stages) {
        const double expected = time_of(truth.layers[i], b, stage);
        EXPECT_NEAR(time_of(predicted.layers[i], a, stage), expected, 0.02 * expected) << name(stage);
      }
    }
  }
}

TEST(StageModels, TakeTheKernelsThatAreOffered) {
  const std::vector<ColdStages> files = library(2);
  Learners learners;
  learners.fill(Learner::operators);
  const StageModels models({&files[0], &files[1]}, learners);
  const ColdNetwork network = chain({3, 50});
  const ColdStages one = models.predict(network, [](const ColdNetwork&, const ColdLayer&) {
    return std::vector<std::string>{"winograd", "never measured"};
  });
  ASSERT_EQ(one.layers[0].kernels.size(), 1U);
  EXPECT_EQ(one.layers[0].kernels[0].name, "winograd");
  const auto none = [](const ColdNetwork&, const ColdLayer&) { return std::vector<std::string>{"never measured"}; };
  try {
    models.predict(network, none);
    FAIL();
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("layer 'conv0'"), std::string::npos) << error.what();
  }
  ColdNetwork linear = network;
  linear.layers[0].kind = ColdKind::linear;
  EXPECT_THROW(models.predict(linear, {}), InputError) << "no layer of its group was measured";
}

TEST(StageModels, ALayerWithoutWeightsCostsWhatTheMostAlikeOneDoes) {
  std::vector<ColdStages> files = library(1);
  ColdStages& file = files[0];
  file.network.layers[0].kind = ColdKind::concatenate;
  KernelStages joins;
  joins.name = "joins";
  joins.execute_ms = joins.first_ms = joins.create_ms = 0.5;
  file.layers[0] = LayerStages();
  file.layers[0].kernels = {joins};
  Learners learners;
  learners.fill(Learner::operators);
  const StageModels models({&file}, learners);
  ColdNetwork shuffles = chain({3, 50});
  shuffles.layers[0].kind = ColdKind::shuffle;
  const auto offered = [](const ColdNetwork&, const ColdLayer&) { return std::vector<std::string>{"shuffles"}; };
  const ColdStages predicted = models.predict(shuffles, offered);
  ASSERT_EQ(predicted.layers[0].kernels.size(), 1U);
  EXPECT_EQ(predicted.layers[0].kernels[0].name, "shuffles") << "the engine's own name, which a plan can be run by";
  EXPECT_FALSE(predicted.layers[0].kernels[0].transforms);
  EXPECT_GT(predicted.layers[0].kernels[0].execute_ms, 0);
  EXPECT_EQ(models.predict(shuffles, {}).layers[0].kernels[0].name, "joins");
}

TEST(ColdPrediction, PredictsThePlannedStartOfANewNetworkAndHowSureThatIs) {
  const ColdStages truth = measured("new", {3, 40, 90, 30, 100, 20});
  const double expected = plan_cold_start(truth, {}).plan.predicted_ms;
  const PredictedStart start = predict_cold_start(truth.network, {}, library(5), {});
  EXPECT_EQ(start.held_out, 10U);
  EXPECT_NEAR(start.cold_ms, expected, 0.03 * expected);
  EXPECT_LE(start.low_ms, start.cold_ms);
  EXPECT_GE(start.high_ms, start.cold_ms);
  EXPECT_LT(start.high_ms, 1.2 * start.low_ms);
  EXPECT_EQ(start.stages.machine, "a board");
  EXPECT_EQ(start.planning.plan.layers.size(), 5U);
}

TEST(ColdPrediction, LearnsHowFarItsPredictionsAreOff) {
  std::vector<ColdStages> files = library(5);
  Rng rng(1);
  for (ColdStages& file : files) {  // each network has a speed of its own
    const double speed = std::exp(0.4 * rng.normal());
    for (LayerStages& layer : file.layers) {
      layer.read_raw_ms *= speed;
      for (KernelStages& kernel : layer.kernels) {
        for (const Stage stage : all_stages) {
          if (stage != Stage::read_raw) time_of(layer, kernel, stage) *= speed;
        }
      }
    }
  }
  const ColdNetwork network = chain({3, 40, 90, 30});
  const PredictedStart wide = predict_cold_start(network, {}, files, {}),
                       narrow = predict_cold_start(network, {}, library(5), {});
  EXPECT_GT(wide.high_ms / wide.low_ms, 1.3);
  EXPECT_GT(wide.high_ms / wide.low_ms, 2 * (narrow.high_ms / narrow.low_ms) - 1);
}

TEST(ColdPrediction, HasNoIntervalFromOneNetworkAndRefusesNoneAndUnlikeMachines) {
  const ColdNetwork network = chain({3, 40});
  const PredictedStart start = predict_cold_start(network, {}, {library(1)[0]}, {});
  EXPECT_EQ(start.held_out, 0U);
  EXPECT_EQ(start.low_ms, start.cold_ms);
  EXPECT_EQ(start.high_ms, start.cold_ms);
  EXPECT_THROW(predict_cold_start(network, {}, {}, {}), InputError);
  std::vector<ColdStages> unlike = library(2);
  unlike[2].machine = "another board";
  EXPECT_THROW(predict_cold_start(network, {}, unlike, {}), InputError);
}

}  // namespace
}  // namespace tenshot::trainer::cold_stages
