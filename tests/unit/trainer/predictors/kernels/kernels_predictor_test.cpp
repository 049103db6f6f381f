#include "trainer/predictors/kernels/kernels_predictor.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "experiments/kernels/published_cnn.h"
#include "nasbench/kernels/kernel_network.h"
#include "nasbench/support/error.h"
#include "nasbench/support/files.h"
#include "nasbench/support/temporaries.h"
#include "trainer/networks/exporting.h"
#include "trainer/predictors/kernels/kernel_model.h"
#include "trainer/predictors/registry.h"
#include "trainer/trees/tree_ensemble.h"

namespace tenshot::trainer {
namespace {

using kernels::KernelModel;
using kernels::KernelOrigin;
using kernels::KernelSample;
using kernels::LearnerKind;

/// A made-up runtime: a microsecond for each 10,000 multiply-adds or 1,000 elements written.
double made_up_ms(const nasbench::OperatorSpecification& op) {
  return 1e-7 * static_cast<double>(multiply_adds(op)) +
         1e-6 * static_cast<double>(nasbench::element_count(op.output)) + 1e-4;
}

std::vector<KernelSample> samples() {
  std::vector<KernelSample> samples;
  for (const std::string type : {"convolution++relu", "max_pool"}) {
    for (const int image : {7, 14, 28, 56}) {
      for (const int channels : {8, 16, 32, 64, 128}) {
        const auto kernel = nasbench::made_kernel(type, {image, channels, channels, 3, 1});
        samples.push_back({type, leading_operator(kernel), made_up_ms(leading_operator(kernel))});
      }
    }
  }
  return samples;
}

nasbench::Architecture resnet18() {
  return nasbench::add_network(
      nasbench::named_network("resnet18", experiments::published_cnn("resnet18"), "kernels_predictor_test.cpp"));
}

TEST(KernelModel, SaysHowAKernelIsKnown) {
  if (!has_xgboost()) GTEST_SKIP() << "needs XGBoost";
  const KernelModel model(samples(), 0.5, 1), by_lasso(samples(), 0.5, 1, LearnerKind::lasso);
  const auto origin = [](const KernelModel& of, const std::string& type) {
    return of.kernel({type, leading_operator(nasbench::made_kernel(type, {14, 16, 16, 3, 1}))}).origin;
  };
  EXPECT_EQ(origin(model, "convolution++relu"), KernelOrigin::measured_type);
  EXPECT_EQ(origin(by_lasso, "convolution++hard_swish"), KernelOrigin::stand_in);
  EXPECT_EQ(origin(model, "convolution++hard_swish"), KernelOrigin::measured_type) << "forests tell no tails apart";
  EXPECT_EQ(model.types.count("convolution++*"), 1U);
  EXPECT_TRUE(model.type_of("convolution++hard_swish", "convolution") == model.types.find("convolution++*"));
  EXPECT_EQ(origin(model, "linear"), KernelOrigin::unknown);
  const auto known = samples().front();
  EXPECT_NEAR(std::log(model.kernel({known.kernel, known.leading}).latency_ms / known.latency_ms), 0, 0.7);
  EXPECT_EQ(model.network_ms({}), 0.5);
}

TEST(KernelModel, LearnsOperatorsOfOneTypeApartThatHaveOtherFeatures) {
  // Rules may execute a convolution of one position as a linear layer.
  std::vector<KernelSample> all;
  for (const int channels : {8, 16, 32, 64, 128}) {
    for (const char* type : {"linear", "convolution"}) {
      const auto leading = leading_operator(nasbench::made_kernel(type, {1, channels, 2 * channels, 1, 1}));
      all.push_back({"fully_connected", leading, made_up_ms(leading)});
    }
  }
  for (const LearnerKind learner : {LearnerKind::lasso, LearnerKind::forest}) {
    if (learner == LearnerKind::forest && !has_xgboost()) continue;
    KernelModel model(all, 0, 1, learner);
    model.find_errors(all, 1, learner);
    EXPECT_EQ(model.types.size(), 2U);
    for (std::size_t i = 0; i < 2; ++i) {
      const auto found = model.kernel({"fully_connected", all[i].leading});
      EXPECT_EQ(found.origin, KernelOrigin::measured_type) << all[i].kernel;
      EXPECT_TRUE(model.type_of("fully_connected", kernels::operation_category(all[i].leading)) != model.types.end());
      EXPECT_NEAR(std::log(found.latency_ms / all[i].latency_ms), 0, 0.7);
    }
  }
}

TEST(KernelModel, AForestLearnsThemApartWhateverIsFusedWithThem) {
  if (!has_xgboost()) GTEST_SKIP() << "needs XGBoost";
  std::vector<KernelSample> all;
  for (const int channels : {8, 16, 32, 64}) {
    for (const char* type : {"convolution", "depthwise_convolution"}) {
      const auto leading = leading_operator(nasbench::made_kernel(type, {14, channels, channels, 3, 1}));
      all.push_back({"conv2d++relu", leading, made_up_ms(leading)});
    }
  }
  const KernelModel model(all, 0, 1);
  EXPECT_EQ(model.types.size(), 2U);
  for (const KernelSample& sample : all) {
    EXPECT_EQ(model.kernel({"conv2d++clip", sample.leading}).origin, KernelOrigin::measured_type);
  }
}

TEST(KernelModel, RefusesWhatItCannotLearnFrom) {
  EXPECT_THROW(KernelModel(std::vector<KernelSample>(), 0, 1), InputError);
  auto wrong = samples();
  wrong.front().latency_ms = -1;
  EXPECT_THROW(KernelModel(wrong, 0, 1), InputError);
}

TEST(KernelsPredictor, PredictsTheSameFromItsFile) {
  if (!has_xgboost()) GTEST_SKIP() << "needs XGBoost";
  const TemporaryFolder folder;
  const auto predictor =
      make_kernels_predictor(KernelModel(samples(), 0.5, 1), nasbench::fusion_rules("activation"), 40, 1);
  save(predictor->to_archive(), folder.path() / "kernels.tenshot");
  const auto loaded = load_predictor(folder.path() / "kernels.tenshot");
  EXPECT_EQ(loaded->kind(), "kernels");
  const std::vector<Architecture> networks = {resnet18()};
  EXPECT_EQ(loaded->predict(networks, 0.9).latency_ms, predictor->predict(networks, 0.9).latency_ms);
  EXPECT_GT(loaded->predict(networks, 0.9).latency_ms.front(), 0.5);
  // ResNet-18 has an addition and a linear layer, and convolutions of 512 channels.
  const Unfamiliar unfamiliar = loaded->unfamiliar(networks).front();
  EXPECT_NE(std::find(unfamiliar.operators.begin(), unfamiliar.operators.end(), "linear"), unfamiliar.operators.end());
  EXPECT_GT(unfamiliar.size, 1);
  EXPECT_NO_THROW(export_torchscript(*loaded, folder.path() / "kernels.pt"));
  EXPECT_EQ(loaded->to_document().at("forests").size(), 2U);
}

TEST(KernelsPredictor, BoostedTreesAndACompositionAreTheSameFromTheirFile) {
  if (!has_xgboost()) GTEST_SKIP() << "needs XGBoost";
  const TemporaryFolder folder;
  const std::vector<Architecture> networks = {resnet18()};
  std::vector<KernelSample> all = samples();
  all.push_back({"max_pool", all.back().leading, 0});
  const KernelModel model(all, 0.5, 1, kernels::LearnerKind::boosted);
  const std::size_t width = model.network({}).composition.size();
  kernels::WholeNetworks whole;
  whole.line = {std::vector<double>(width, 0.5), std::vector<double>(width, 2), std::vector<double>(width, 0.1), 0.2};
  const auto predictor = make_kernels_predictor(model, nasbench::fusion_rules("activation"), 41, 1, whole);
  save(predictor->to_archive(), folder.path() / "kernels.tenshot");
  const auto loaded = load_predictor(folder.path() / "kernels.tenshot");
  EXPECT_EQ(loaded->predict(networks, 0.9).latency_ms, predictor->predict(networks, 0.9).latency_ms);
  const auto document = loaded->to_document();
  EXPECT_NEAR(document.at("boosted").at("max_pool").at("share").get<double>(), 20. / 21, 1e-12);
  EXPECT_EQ(document.at("line").at("weight").size(), width);
  Archive torn = predictor->to_archive();
  torn.put("whole.weight", to_array(std::vector<double>(width - 1, 0.1), {static_cast<std::int64_t>(width - 1)}));
  EXPECT_THROW(load_kernels_predictor(torn), FormatError);
}

TEST(KernelsPredictor, IntervalsAreWiderByKernelsWithoutRows) {
  const TemporaryFolder folder;
  const auto predictor_of = [&](const kernels::WholeNetworks& whole, bool with_errors) {
    KernelModel model(samples(), 0.5, 1, kernels::LearnerKind::lasso);
    if (with_errors) model.find_errors(samples(), 1, kernels::LearnerKind::lasso);
    const auto predictor = make_kernels_predictor(model, nasbench::fusion_rules("activation"), 40, 1, whole);
    save(predictor->to_archive(), folder.path() / "kernels.tenshot");
    return load_predictor(folder.path() / "kernels.tenshot");
  };
  const std::vector<Architecture> networks = {resnet18()};
  EXPECT_FALSE(predictor_of({}, false)->has_intervals());
  const auto half = [&](const Predictor& predictor) {
    const Predictions found = predictor.predict(networks, 0.9);
    EXPECT_NEAR(found.upper_ms.front() * found.lower_ms.front(), std::pow(found.latency_ms.front(), 2), 1e-6);
    return std::log(found.upper_ms.front() / found.latency_ms.front());
  };
  const kernels::WholeNetworks whole{2, 0, 0, std::vector<double>(20, 0.1)};
  const auto plain = predictor_of({}, true), corrected = predictor_of(whole, true);
  EXPECT_TRUE(corrected->has_intervals());
  EXPECT_GT(half(*corrected), 0.1);  // ResNet-18 has a linear layer and additions, which were not measured
  EXPECT_NEAR(corrected->predict(networks, 0.9).latency_ms.front(),
              2 * plain->predict(networks, 0.9).latency_ms.front(), 1e-9);
  EXPECT_EQ(corrected->to_document().at("held_out_errors").size(), 20U);
  EXPECT_EQ(corrected->to_document().at("lines").size(), 2U);
  EXPECT_GT(half(*plain), 0);
  EXPECT_THROW(plain->predict(networks, 1), InputError);
}

TEST(KernelsPredictor, RefusesCraftedTrees) {
  if (!has_xgboost()) GTEST_SKIP() << "needs XGBoost";
  const Archive sound =
      make_kernels_predictor(KernelModel(samples(), 0.5, 1), nasbench::fusion_rules("none"), 40, 1)->to_archive();
  const auto with_node = [&](std::size_t at, double value) {
    Archive archive = sound;
    std::vector<double> nodes = archive.doubles("forest0.nodes");
    nodes.at(at) = value;
    archive.put("forest0.nodes", to_array(nodes, {static_cast<std::int64_t>(nodes.size() / 5), 5}));
    return archive;
  };
  EXPECT_NO_THROW(load_kernels_predictor(sound));
  EXPECT_THROW(load_kernels_predictor(with_node(0, 1000)), FormatError);  // no such feature
  EXPECT_THROW(load_kernels_predictor(with_node(2, 0)), FormatError);     // its own child
  EXPECT_THROW(load_kernels_predictor(with_node(4, 1e9)), FormatError);   // e to the billionth
  Archive narrow = sound;
  narrow.card["types"][0]["width"] = 3;
  EXPECT_THROW(load_kernels_predictor(narrow), FormatError);
  Archive none = sound;
  none.card["types"] = nlohmann::json::array();
  EXPECT_THROW(load_kernels_predictor(none), FormatError);
}

TEST(KernelsPredictor, IsNotTrainedOnAPool) {
  try {
    train_pool_model("kernels", {}, {}, {});
    FAIL();
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("tenshot kernels train"), std::string::npos) << error.what();
  }
}

TEST(KernelSampling, DrawsTheZoosSizesAndRefinesChannels) {
  if (!has_xgboost()) GTEST_SKIP() << "needs XGBoost";
  std::vector<nasbench::KernelSizes> zoo;
  for (const int channels : {8, 16, 32, 64}) zoo.push_back({14, channels, 2 * channels, 3, 1});
  sampling::AdaptiveOptions options;
  options.initial = 12;
  options.around = 3;
  options.threshold = 0.01;
  options.most_rounds = 2;
  std::size_t measured = 0;
  const auto found = kernels::sample_kernels(
      "convolution", zoo,
      [&](const nasbench::KernelSizes& sizes) {
        ++measured;
        EXPECT_EQ(sizes.image, 14);
        EXPECT_EQ(sizes.window, 3);
        return made_up_ms(leading_operator(nasbench::made_kernel("convolution", sizes)));
      },
      options);
  EXPECT_GT(measured, options.initial);
  EXPECT_EQ(found.training.latency_ms.size() + found.test.latency_ms.size(), measured);
  EXPECT_THROW(kernels::sample_kernels(
                   "softmax", zoo, [](const auto&) { return 1.0; }, options),
               InputError);
}

}  // namespace
}  // namespace tenshot::trainer
