#include "nasbench/support/text.h"

#include <gtest/gtest.h>

#include <set>
#include <vector>

namespace tenshot {
namespace {

TEST(Joined, PutsTheSeparatorBetweenAndNotAround) {
  EXPECT_EQ(joined(std::vector<std::string>{"a", "b", "c"}), "a, b, c");
  EXPECT_EQ(joined(std::vector<std::string_view>{"a"}), "a");
  EXPECT_EQ(joined(std::set<std::string>{"y", "x"}, "+"), "x+y");
  EXPECT_EQ(joined(std::vector<std::string>{}), "");
  EXPECT_EQ(joined(std::vector<std::string>{"", "a", ""}, ";"), ";a;");
}

}  // namespace
}  // namespace tenshot
