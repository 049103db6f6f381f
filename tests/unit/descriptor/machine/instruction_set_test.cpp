#include "descriptor/machine/instruction_set.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "nasbench/support/error.h"

namespace tenshot::descriptor {
namespace {

TEST(InstructionSet, NativeNeedsNothing) {
  EXPECT_TRUE(instruction_set_environment("native").empty());
  EXPECT_TRUE(instruction_set_in_force("native"));
}

TEST(InstructionSet, EveryOtherThanNativeCapsAllThreeLibraries) {
  for (const std::string& name : instruction_sets()) {
    EXPECT_EQ(instruction_set_environment(name).size(), name == "native" ? 0u : 3u) << name;
  }
}

TEST(InstructionSet, IsInForceOnlyUnderAllItsVariables) {
  for (const auto& [variable, value] : instruction_set_environment("avx2")) unsetenv(variable.c_str());
  for (const auto& [variable, value] : instruction_set_environment("avx2")) {
    EXPECT_FALSE(instruction_set_in_force("avx2")) << variable;
    setenv(variable.c_str(), value.c_str(), 1);
  }
  EXPECT_TRUE(instruction_set_in_force("avx2"));
  EXPECT_FALSE(instruction_set_in_force("sse4.1"));
  for (const auto& [variable, value] : instruction_set_environment("avx2")) unsetenv(variable.c_str());
}

TEST(InstructionSet, ListsTheNamesWhenItDoesNotKnowOne) {
  try {
    instruction_set_environment("mmx");
    FAIL() << "knew mmx";
  } catch (const InputError& error) {
    const std::string message = error.what();
    EXPECT_NE(message.find("'mmx'"), std::string::npos);
    for (const std::string& name : instruction_sets()) EXPECT_NE(message.find(name), std::string::npos);
  }
}

}  // namespace
}  // namespace tenshot::descriptor
