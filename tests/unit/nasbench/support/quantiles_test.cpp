#include "nasbench/support/quantiles.h"

#include <gtest/gtest.h>

#include <limits>

namespace tenshot {
namespace {

TEST(NormalQuantile, IsWhatTablesSay) {
  EXPECT_EQ(normal_quantile(0.5), 0);
  EXPECT_NEAR(normal_quantile(0.95), 1.6448536269514722, 1e-14);
  EXPECT_NEAR(normal_quantile(0.025), -1.9599639845400545, 1e-14);
  EXPECT_NEAR(normal_quantile(1e-9), -5.9978070150076865, 1e-13);
  EXPECT_EQ(normal_quantile(1), std::numeric_limits<double>::infinity());
  EXPECT_EQ(normal_quantile(0), -std::numeric_limits<double>::infinity());
}

TEST(StudentQuantile, IsWhatTablesSay) {
  EXPECT_NEAR(t_quantile(0.975, 1), 12.706204736174698, 1e-11);
  EXPECT_NEAR(t_quantile(0.95, 2), 2.919985580353726, 1e-12);
  EXPECT_NEAR(t_quantile(0.95, 10), 1.812461122811676, 1e-12);
  EXPECT_NEAR(t_quantile(0.975, 1000), 1.9623390808264078, 1e-12);
}

}  // namespace
}  // namespace tenshot
