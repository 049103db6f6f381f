#include "trainer/predictors/kernels/learners.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "nasbench/graph/network_builder.h"
#include "nasbench/support/error.h"
#include "nasbench/support/random.h"
#include "trainer/trees/tree_ensemble.h"

namespace tenshot::trainer::kernels {
namespace {

using nasbench::OperatorSpecification;

/// One convolution of an image of `in` channels, 3×3.
OperatorSpecification convolution(int in, int out, int size) {
  nasbench::NetworkBuilder b;
  b.convolution("conv", b.input("input", {1, in, size, size}), out, {nasbench::same_window(3)});
  return b.network().nodes[0].operation;
}

/// Convolutions whose latency is .1 ms and a ms for each 10⁶ multiply-adds.
LatencyRows convolution_rows(int count, std::uint64_t seed, LearnerKind learner = LearnerKind::lasso) {
  LatencyRows rows;
  Rng rng(seed);
  for (int i = 0; i < count; ++i) {
    const OperatorSpecification op = convolution(
        static_cast<int>(8 + rng.below(57)), static_cast<int>(8 + rng.below(57)), static_cast<int>(7 + rng.below(22)));
    rows.features.push_back(operation_features(op, learner));
    rows.latency_ms.push_back(0.1 + 1e-6 * static_cast<double>(multiply_adds(op)));
  }
  return rows;
}

double mean_error(const LatencyLearner& learner, const LatencyRows& rows) {
  double sum = 0;
  for (std::size_t i = 0; i < rows.latency_ms.size(); ++i) {
    sum += std::abs(learner.predict_ms(rows.features[i]) / rows.latency_ms[i] - 1);
  }
  return sum / static_cast<double>(rows.latency_ms.size());
}

TEST(LatencyLearner, EachLearnsWhatConvolutionsCost) {
  const std::pair<const char*, double> bounds[] = {{"lasso", 0.01},       {"forest", 0.3},        {"small-forest", 0.3},
                                                   {"boosted", 0.01},     {"small-boosted", 0.2}, {"perceptron", 0.2},
                                                   {"whole-forest", 0.3}, {"whole-boosted", 0.2}};
  for (const auto& [kind, bound] : bounds) {
    const LearnerKind learner = learner_kind(kind);
    const LatencyRows training = convolution_rows(300, 1, learner), others = convolution_rows(100, 2, learner);
    EXPECT_EQ(name(learner), kind);
    const bool trees = learner != LearnerKind::lasso && learner != LearnerKind::perceptron;
    if (trees && !has_xgboost()) continue;
    const auto trained = train_learner(learner, training, "convolution", 7);
    EXPECT_LT(mean_error(*trained, others), bound) << kind;
    const auto again = train_learner(learner, training, "convolution", 7);
    EXPECT_EQ(again->predict_ms(others.features[0]), trained->predict_ms(others.features[0])) << kind;
  }
}

TEST(LatencyLearner, EachIsTheSameFromItsFile) {
  for (const char* kind : {"lasso", "forest", "boosted", "perceptron"}) {
    const LearnerKind learner = learner_kind(kind);
    if ((learner == LearnerKind::forest || learner == LearnerKind::boosted) && !has_xgboost()) continue;
    const LatencyRows training = convolution_rows(60, 1, learner), others = convolution_rows(20, 2, learner);
    const auto trained = train_learner(learner_kind(kind), training, "convolution", 7);
    Archive archive;
    archive.card = trained->put(archive, "forest0");
    const std::size_t width = training.features.front().size();
    const auto loaded = load_learner(archive, "forest0", JsonField(archive), width);
    for (const auto& row : others.features) EXPECT_EQ(loaded->predict_ms(row), trained->predict_ms(row)) << kind;
    EXPECT_EQ(loaded->to_document(), trained->to_document());
    EXPECT_THROW(load_learner(archive, "forest0", JsonField(archive), width - 4), FormatError) << kind;
    archive.card["form"] = "oracle";
    EXPECT_THROW(load_learner(archive, "forest0", JsonField(archive), width), FormatError);
  }
}

TEST(LatencyLearner, BoostedTreesFollowTheLineBeyondTheirRowsAndCorrectItWithin) {
  if (!has_xgboost()) GTEST_SKIP() << "needs XGBoost";
  LatencyRows rows = convolution_rows(300, 1, LearnerKind::boosted),
              others = convolution_rows(100, 2, LearnerKind::boosted);
  const auto large = operation_features(convolution(256, 256, 56), LearnerKind::boosted);
  const auto line = train_learner(LearnerKind::boosted, rows, "convolution", 7);
  const double large_ms = 0.1 + 1e-6 * 9 * 256 * 256 * 56 * 56;
  EXPECT_NEAR(line->predict_ms(large) / large_ms, 1, 0.05);
  // Twice as slow where the filters do not fill up vectors, which no line over counts can say.
  const std::vector<std::string> names = feature_names("convolution", LearnerKind::boosted);
  const auto filled = std::find(names.begin(), names.end(), "filters_filled") - names.begin();
  for (LatencyRows* each : {&rows, &others}) {
    for (std::size_t i = 0; i < each->latency_ms.size(); ++i) {
      if (each->features[i][static_cast<std::size_t>(filled)] > 1.2) each->latency_ms[i] *= 2;
    }
  }
  EXPECT_LT(mean_error(*train_learner(LearnerKind::boosted, rows, "convolution", 7), others), 0.1);
}

TEST(LatencyLearner, APerceptronDoesNotExtrapolateWhatNeverVaried) {
  // A third cannot be added up without rounding, so that its deviation over the rows is not quite zero.
  LatencyRows rows = convolution_rows(40, 1);
  for (std::vector<double>& row : rows.features) row.push_back(1.0 / 3);
  const auto learner = train_learner(LearnerKind::perceptron, rows, "convolution", 7);
  std::vector<double> other = rows.features[0];
  const double same_ms = learner->predict_ms(other);
  other.back() = 1;
  EXPECT_EQ(learner->predict_ms(other), same_ms);
}

TEST(LatencyLearner, RefusesAKindThatThereIsNot) { EXPECT_THROW(learner_kind("oracle"), InputError); }

/// Convolutions at the points of a grid but those that `left_out` names by their channels; a ms for each 10⁶
/// multiply-adds, twice that on large images.
LatencyRows grid_rows(const std::set<std::pair<int, int>>& left_out) {
  LatencyRows rows;
  for (const int image : {7, 28}) {
    for (const int in : {8, 16, 32}) {
      for (const int out : {8, 64}) {
        if (image == 28 && left_out.count({in, out}) != 0) continue;
        const OperatorSpecification op = convolution(in, out, image);
        rows.features.push_back(operation_features(op));
        rows.latency_ms.push_back((image == 28 ? 2e-6 : 1e-6) * static_cast<double>(multiply_adds(op)));
      }
    }
  }
  return rows;
}

TEST(GridLearner, InterpolatesWhatAMultiplyAddCosts) {
  const auto grid = train_learner(LearnerKind::grid, grid_rows({}), "convolution", 1);
  const OperatorSpecification between = convolution(20, 36, 14);
  const double expected = (1 + 7.0 / 21) * 1e-6 * static_cast<double>(multiply_adds(between));
  EXPECT_NEAR(grid->predict_ms(operation_features(between)), expected, 1e-9);
  EXPECT_EQ(grid->remark(), "");
  Archive archive;
  archive.card = grid->put(archive, "forest0");
  const auto loaded = load_learner(archive, "forest0", JsonField(archive), 10);
  EXPECT_EQ(loaded->predict_ms(operation_features(between)), grid->predict_ms(operation_features(between)));
  // Axes of 10⁶ points and of 10⁶ points again are more than a file may ask for.
  archive.card["axes"] = nlohmann::json::array();
  for (int axis = 0; axis < 2; ++axis) {
    nlohmann::json points = nlohmann::json::array();
    for (int i = 0; i < 2000; ++i) points.push_back(i);
    archive.card["axes"].push_back({{"name", "x"}, {"feature", 0}, {"points", points}});
  }
  EXPECT_THROW(load_learner(archive, "forest0", JsonField(archive), 10), FormatError);
}

TEST(GridLearner, FillsHolesAndRefusesWhatIsNoGrid) {
  const auto grid = train_learner(LearnerKind::grid, grid_rows({{16, 8}}), "convolution", 1);
  EXPECT_EQ(grid->remark().rfind("1 of 12 points of the grid were not measured", 0), 0U) << grid->remark();
  const OperatorSpecification hole = convolution(16, 8, 28);  // its neighbours cost the same
  EXPECT_NEAR(grid->predict_ms(operation_features(hole)), 2e-6 * static_cast<double>(multiply_adds(hole)), 1e-9);
  try {
    train_learner(LearnerKind::grid, convolution_rows(60, 1), "convolution", 1);
    FAIL();
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("are no grid: 60 of "), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace tenshot::trainer::kernels
