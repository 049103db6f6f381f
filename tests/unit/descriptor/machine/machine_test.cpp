#include "descriptor/machine/machine.h"

#include <gtest/gtest.h>

#include <regex>

namespace tenshot::descriptor {
namespace {

TEST(CpuPin, KeepsTheThreadOnTheLastProcessorAndRestores) {
  const std::vector<int> before = allowed_cpus();
  if (before.empty()) GTEST_SKIP() << "the system does not show which processors the thread may use";
  {
    const CpuPin pin(1);
    if (pin.cpus().empty()) GTEST_SKIP() << "the system refuses to pin threads";
    EXPECT_EQ(pin.cpus(), std::vector<int>{before.back()});
    EXPECT_EQ(allowed_cpus(), pin.cpus());
  }
  EXPECT_EQ(allowed_cpus(), before);
}

TEST(CpuPin, TakesAllWhenMoreAreAskedForThanThereAre) {
  const std::vector<int> before = allowed_cpus();
  const CpuPin pin(100000);
  if (pin.cpus().empty()) GTEST_SKIP() << "the system refuses to pin threads";
  EXPECT_EQ(pin.cpus(), before);
}

TEST(CpuPin, OfNoProcessorsPinsNothing) {
  const std::vector<int> before = allowed_cpus();
  const CpuPin pin(0);
  EXPECT_TRUE(pin.cpus().empty());
  EXPECT_EQ(allowed_cpus(), before);
}

TEST(Machine, TellsProcessorsOfOneNameApart) {
  const std::string revision = cpu_revision();
  if (revision.empty()) GTEST_SKIP() << "the system does not say";
  EXPECT_TRUE(std::regex_match(revision, std::regex("family \\d+ model \\d+ stepping \\d+"))) << revision;
}

TEST(Machine, FactsAreThereAndPlausible) {
  EXPECT_FALSE(cpu_model().empty());
  EXPECT_GE(usable_cpus(), 1);
  EXPECT_NE(kernel_release().find(' '), std::string::npos);
  for (const double load : load_average()) EXPECT_GE(load, 0);
  if (const auto celsius = temperature_c()) {
    EXPECT_GT(*celsius, -100);
    EXPECT_LT(*celsius, 200);
  }
}

}  // namespace
}  // namespace tenshot::descriptor
