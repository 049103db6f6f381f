#include "trainer/trees/tree_ensemble.h"

#include <gtest/gtest.h>

#include <cmath>

#include "nasbench/support/error.h"
#include "nasbench/support/random.h"

namespace tenshot::trainer {
namespace {

/// Forty points of a staircase with steps at 10, 20 and 30, and a second feature that says nothing.
struct Staircase {
  Staircase() {
    Rng rng(3);
    for (int i = 0; i < 40; ++i) {
      features.insert(features.end(), {static_cast<float>(i), static_cast<float>(rng.uniform())});
      targets.push_back(1 + i / 10);
    }
  }
  std::vector<float> features;
  std::vector<double> targets;
};

/// One tree that sees everything.
TreeOptions one_tree() {
  TreeOptions options;
  options.trees = 1;
  options.row_share = 1;
  return options;
}

class Trees : public testing::Test {
 protected:
  void SetUp() override {
    if (!has_xgboost()) GTEST_SKIP() << "trees are trained by XGBoost: install libxgboost-dev";
  }
};

TEST(TreeEnsemble, PredictsTheBaseAndTheSumOfItsLeaves) {
  TreeEnsemble ensemble;
  ensemble.base = 10;
  ensemble.trees = {{{{1, 2.5F, 1, 2, 0}, {-1, 0, 1, 1, 1}, {-1, 0, 2, 2, 2}}}, {{{-1, 0, 0, 0, 0.5F}}}};
  const float below[] = {0, 2.4F}, at[] = {0, 2.5F};
  EXPECT_DOUBLE_EQ(ensemble.predict(below), 11.5);
  EXPECT_DOUBLE_EQ(ensemble.predict(at), 12.5);  // less than the threshold, not equal to it
}

TEST_F(Trees, OneTreeFindsTheStepsOfAStaircase) {
  const Staircase staircase;
  const TreeEnsemble tree = train_trees(staircase.features, 2, staircase.targets, {}, one_tree());
  ASSERT_EQ(tree.trees.size(), 1U);
  for (std::size_t i = 0; i < 40; ++i) {
    EXPECT_NEAR(tree.predict(staircase.features.data() + 2 * i), staircase.targets[i], 1e-6) << i;
  }
  for (const SplitNode& node : tree.trees[0].nodes) EXPECT_NE(node.feature, 1);
}

TEST_F(Trees, LeavesAreWeightedMeans) {
  const std::vector<float> same = {1, 1};
  const TreeEnsemble tree = train_trees(same, 1, {1, 4}, {3, 1}, one_tree());
  EXPECT_NEAR(tree.predict(same.data()), (3 * 1 + 1 * 4) / 4.0, 1e-6);
}

TEST_F(Trees, DepthAndSmallestLeafBoundTheTree) {
  const Staircase staircase;
  TreeOptions options = one_tree();
  options.depth = 1;
  EXPECT_EQ(train_trees(staircase.features, 2, staircase.targets, {}, options).trees[0].nodes.size(), 3U);
  options.depth = 0;
  options.smallest_leaf = 21;  // of 40: no split leaves as many on both sides
  EXPECT_EQ(train_trees(staircase.features, 2, staircase.targets, {}, options).trees[0].nodes.size(), 1U);
}

TEST_F(Trees, AForestIsTheMeanOfItsTreesAndSeeded) {
  const Staircase staircase;
  TreeOptions options;
  options.trees = 25;
  const TreeEnsemble forest = train_trees(staircase.features, 2, staircase.targets, {}, options);
  EXPECT_EQ(forest.trees.size(), 25U);
  const float middle[] = {15, 0.5F};
  EXPECT_NEAR(forest.predict(middle), 2, 0.3);
  const TreeEnsemble again = train_trees(staircase.features, 2, staircase.targets, {}, options);
  EXPECT_EQ(again.predict(middle), forest.predict(middle));
  options.seed = 2;
  const TreeEnsemble other = train_trees(staircase.features, 2, staircase.targets, {}, options);
  double difference = 0;
  for (std::size_t i = 0; i < 40; ++i) {
    const float* row = staircase.features.data() + 2 * i;
    difference += std::abs(other.predict(row) - forest.predict(row));
  }
  EXPECT_GT(difference, 0);
}

TEST_F(Trees, BoostingComesCloserRoundByRound) {
  const Staircase staircase;
  TreeOptions options = one_tree();
  options.depth = 1;
  options.learning_rate = 0.3;
  const auto error = [&](int rounds) {
    options.rounds = rounds;
    const TreeEnsemble boosted = train_trees(staircase.features, 2, staircase.targets, {}, options);
    double sum = 0;
    for (std::size_t i = 0; i < 40; ++i) {
      sum += std::abs(boosted.predict(staircase.features.data() + 2 * i) - staircase.targets[i]);
    }
    return sum / 40;
  };
  EXPECT_LT(error(60), 0.05);
  EXPECT_GT(error(5), 2 * error(60));
}

TEST_F(Trees, RefuseNoRowsAndWrongSizes) {
  EXPECT_THROW(train_trees({}, 1, {}, {}, {}), InputError);
  EXPECT_THROW(train_trees({1, 2, 3}, 2, {1, 2}, {}, {}), InputError);
  EXPECT_THROW(train_trees({1, 2}, 1, {1, 2}, {1}, {}), InputError);
}

TEST(TreeEnsemble, SaysWhatToInstallWhereXgboostIsAbsent) {
  if (has_xgboost()) GTEST_SKIP() << "XGBoost is there";
  try {
    train_trees({1}, 1, {1}, {}, {});
    ADD_FAILURE() << "trees were trained";
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("libxgboost-dev"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace tenshot::trainer
