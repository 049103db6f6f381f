#include <gtest/gtest.h>

#include <cmath>

#include "nasbench/support/random.h"
#include "trainer/predictors/cold_stages/cold_predictor.h"

namespace tenshot::trainer::cold_stages {
namespace {

TEST(FamilyErrors, OfNothingAreNothing) {
  EXPECT_EQ(error_of_new_family({}).spread, 0);
  EXPECT_EQ(error_of_new_family({}).middle, 0);
}

TEST(FamilyErrors, HaveAMiddleWhereItCarriesOver) {
  const FamilyError alike = error_of_new_family({{0.2, 0.22}, {0.18, 0.2}, {0.21, 0.19}});
  EXPECT_NEAR(alike.middle, 0.2, 1e-12);
  const FamilyError unlike = error_of_new_family({{0.3, 0.3}, {-0.3, -0.3}, {0.1, 0.1}});
  EXPECT_EQ(unlike.middle, 0) << "the mean of any two families is farther from the third than nothing";
}

TEST(FamilyErrors, SpreadAsMeansOfFamiliesDo) {
  // Four families, two networks each, which differ by families alone: t of three degrees of freedom, 2.353.
  const FamilyError error = error_of_new_family({{0.1, 0.1}, {-0.1, -0.1}, {0.1, 0.1}, {-0.1, -0.1}});
  EXPECT_EQ(error.middle, 0);
  EXPECT_NEAR(error.spread, 2.353363434801823 * std::sqrt(4 * 0.01 / 3 * 1.25), 1e-12);
  const FamilyError small = error_of_new_family({{0.01, 0.01}, {-0.01, -0.01}, {0.01, 0.01}, {-0.01, -0.01}});
  EXPECT_NEAR(small.spread, 0.1 * error.spread, 1e-12);
}

TEST(FamilyErrors, OfOneFamilyAreThoseOfItsNetworks) {
  const FamilyError together = error_of_new_family({{0.3, -0.1, 0.05}}),
                    apart = error_of_new_family({{0.3}, {-0.1}, {0.05}});
  EXPECT_EQ(together.middle, apart.middle);
  EXPECT_EQ(together.spread, apart.spread);
  EXPECT_NEAR(error_of_new_family({{0.1}}).spread, 0.6313751514675043, 1e-12) << "one error says little";
}

/// What nine of ten means: of new families, drawn as those that were seen.
TEST(FamilyErrors, HoldNineOfTenNetworksOfNewFamilies) {
  Rng rng(7);
  const auto draw = [&](std::size_t networks) {
    const double family = 0.1 + 0.3 * rng.normal();
    std::vector<double> errors;
    for (std::size_t i = 0; i < networks; ++i) errors.push_back(family + 0.1 * rng.normal());
    return errors;
  };
  for (const std::size_t families : {4U, 6U, 12U, 20U}) {
    int held = 0;
    constexpr int trials = 4000;
    for (int trial = 0; trial < trials; ++trial) {
      std::vector<std::vector<double>> errors;
      for (std::size_t f = 0; f < families; ++f) errors.push_back(draw(3));
      const FamilyError error = error_of_new_family(std::move(errors));
      held += std::abs(draw(1).front() - error.middle) <= error.spread;
    }
    EXPECT_NEAR(held / static_cast<double>(trials), 0.9, 0.035) << families << " families";
  }
}

}  // namespace
}  // namespace tenshot::trainer::cold_stages
