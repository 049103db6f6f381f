#include "trainer/predictors/kernels/learners.h"

#include <gtest/gtest.h>

#include <cmath>
#include <utility>
#include <vector>

#include "nasbench/graph/network_builder.h"
#include "nasbench/support/error.h"
#include "nasbench/support/random.h"
#include "trainer/predictors/kernels/operation_features.h"
#include "trainer/trees/tree_ensemble.h"

namespace tenshot::trainer::kernels {
namespace {

using nasbench::OperatorSpecification;
using trainer::has_xgboost;
using trainer::kernels::LatencyLearner;
using trainer::kernels::LatencyRows;
using trainer::kernels::operation_features;

/// One convolution of an image of `in` channels, 3×3.
OperatorSpecification convolution(int in, int out, int size) {
  nasbench::NetworkBuilder b;
  b.convolution("conv", b.input("input", {1, in, size, size}), out, {nasbench::same_window(3)});
  return b.network().nodes[0].operation;
}

/// Convolutions whose latency is .1 ms and a ms for each 10⁶ multiply-adds.
LatencyRows convolution_rows(int count, std::uint64_t seed) {
  LatencyRows rows;
  Rng rng(seed);
  for (int i = 0; i < count; ++i) {
    const OperatorSpecification op = convolution(
        static_cast<int>(8 + rng.below(57)), static_cast<int>(8 + rng.below(57)), static_cast<int>(7 + rng.below(22)));
    rows.features.push_back(operation_features(op));
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
  const LatencyRows training = convolution_rows(300, 1), others = convolution_rows(100, 2);
  const std::pair<const char*, double> bounds[] = {
      {"lasso", 0.01}, {"forest", 0.3}, {"boosting", 0.2}, {"perceptron", 0.2}};
  for (const auto& [kind, bound] : bounds) {
    const LearnerKind learner = learner_kind(kind);
    EXPECT_EQ(name(learner), kind);
    const bool trees = learner == LearnerKind::forest || learner == LearnerKind::boosting;
    if (trees && !has_xgboost()) continue;
    const auto trained = train_learner(learner, training, 7);
    EXPECT_LT(mean_error(*trained, others), bound) << kind;
    const auto again = train_learner(learner, training, 7);
    EXPECT_EQ(again->predict_ms(others.features[0]), trained->predict_ms(others.features[0])) << kind;
  }
}

TEST(LatencyLearner, APerceptronDoesNotExtrapolateWhatNeverVaried) {
  // A third cannot be added up without rounding, so that its deviation over the rows is not quite zero.
  LatencyRows rows = convolution_rows(40, 1);
  for (std::vector<double>& row : rows.features) row.push_back(1.0 / 3);
  const auto learner = train_learner(LearnerKind::perceptron, rows, 7);
  std::vector<double> other = rows.features[0];
  const double same_ms = learner->predict_ms(other);
  other.back() = 1;
  EXPECT_EQ(learner->predict_ms(other), same_ms);
}

TEST(LatencyLearner, RefusesWhatItCannotLearnFrom) {
  EXPECT_THROW(train_learner(LearnerKind::lasso, {}, 1), InputError);
  EXPECT_THROW(train_learner(LearnerKind::lasso, {{{1}, {2}}, {1, -1}}, 1), InputError);
  EXPECT_THROW(train_learner(LearnerKind::lasso, {{{1}, {2, 3}}, {1, 1}}, 1), InputError);
  EXPECT_THROW(learner_kind("oracle"), InputError);
}

}  // namespace
}  // namespace tenshot::trainer::kernels
