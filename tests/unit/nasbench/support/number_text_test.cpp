#include "nasbench/support/number_text.h"

#include <gtest/gtest.h>

#include <limits>

namespace tenshot {
namespace {

TEST(NumberText, LargeSharesAreFactors) {
  EXPECT_EQ(percent_or_factor(0.123), "12 %");
  EXPECT_EQ(percent_or_factor(2.14), "a factor of 3.1");
  EXPECT_EQ(percent_or_factor(32), "a factor of 33");
}

TEST(NumberText, HasAsManyDigitsAsAskedFor) {
  EXPECT_EQ(decimals(12.345, 1), "12.3");
  EXPECT_EQ(decimals(2, 3), "2.000");
  EXPECT_EQ(significant_digits(12.345, 3), "12.3");
  EXPECT_EQ(significant_digits(12345, 2), "1.2e+04");
  EXPECT_EQ(significant_digits(2, 3), "2");
  EXPECT_EQ(whole_percent(0.126), "13 %");
}

TEST(NumberText, IsNeverCutShort) { EXPECT_EQ(decimals(std::numeric_limits<double>::max(), 0).size(), 309U); }

}  // namespace
}  // namespace tenshot
