#include "nasbench/support/suggestion.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace tenshot {
namespace {

TEST(EditDistance, CountsALetterOrASwapAsOne) {
  EXPECT_EQ(edit_distance("plan", "plan"), 0U);
  EXPECT_EQ(edit_distance("pln", "plan"), 1U);
  EXPECT_EQ(edit_distance("paln", "plan"), 1U);
  EXPECT_EQ(edit_distance("plan", "train"), 3U);
}

TEST(NearestNames, ComeInTheOrderOfTheirLikeness) {
  const std::vector<std::string> known = {"raspberry-pi-5_cpu_t4", "pixel4_gpu_float", "raspberry-pi-4_cpu_t4"};
  EXPECT_EQ(nearest_names("Raspberry Pi 4", known, 2),
            (std::vector<std::string>{"raspberry-pi-4_cpu_t4", "raspberry-pi-5_cpu_t4"}));
  EXPECT_EQ(nearest_names("gpu", known, 1), std::vector<std::string>{"pixel4_gpu_float"});
  EXPECT_EQ(nearest_names("pixel4_gpu_flaot", known, 1), std::vector<std::string>{"pixel4_gpu_float"});
  EXPECT_EQ(nearest_names("raspberry-pi-5_t4", {"radxa-5_t4", "raspberry-pi-5-model-b-with-a-fan_cpu_t4"}, 1),
            std::vector<std::string>{"raspberry-pi-5-model-b-with-a-fan_cpu_t4"});
  EXPECT_TRUE(nearest_names("x", {}, 3).empty());
}

}  // namespace
}  // namespace tenshot
