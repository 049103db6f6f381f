#include "descriptor/counters/core_types.h"

#include <gtest/gtest.h>

#include "tests/unit/descriptor/fake_tree.h"

namespace tenshot::descriptor {
namespace {

using Names = std::vector<std::string>;

TEST(CoreTypes, OfBigLittle_AreTheUnitsThatListProcessors) {
  const FakeTree sys;
  sys.write("armv8_cortex_a55/cpus", "0-3\n");
  sys.write("armv8_cortex_a76/cpus", "4,6-7\n");
  sys.write("arm_dsu_0/cpumask", "0\n");
  sys.write("software/type", "1\n");
  EXPECT_EQ(core_types(sys.root()), (Names{"armv8_cortex_a55", "armv8_cortex_a76"}));
  EXPECT_EQ(core_type(0, sys.root()), "armv8_cortex_a55");
  EXPECT_EQ(core_type(3, sys.root()), "armv8_cortex_a55");
  EXPECT_EQ(core_type(4, sys.root()), "armv8_cortex_a76");
  EXPECT_EQ(core_type(5, sys.root()), "");
  EXPECT_EQ(core_type(7, sys.root()), "armv8_cortex_a76");
}

TEST(CoreTypes, OfHybridIntel_AreCoreAndAtom) {
  const FakeTree sys;
  sys.write("cpu_core/cpus", "0-11\n");
  sys.write("cpu_atom/cpus", "12-19\n");
  sys.write("uncore_imc_0/cpumask", "0\n");
  EXPECT_EQ(core_types(sys.root()), (Names{"cpu_atom", "cpu_core"}));
  EXPECT_EQ(core_type(11, sys.root()), "cpu_core");
  EXPECT_EQ(core_type(12, sys.root()), "cpu_atom");
  EXPECT_EQ(core_types_of({19, 0, 1}, sys.root()), "cpu_atom+cpu_core");
  EXPECT_EQ(core_types_of({2, 1}, sys.root()), "cpu_core");
}

TEST(CoreTypes, OfOneKindOfCore_IsCpuForEveryProcessor) {
  const FakeTree sys;
  sys.write("cpu/type", "4\n");
  sys.write("breakpoint/type", "5\n");
  EXPECT_EQ(core_types(sys.root()), Names{"cpu"});
  EXPECT_EQ(core_type(0, sys.root()), "cpu");
  EXPECT_EQ(core_type(63, sys.root()), "cpu");
}

TEST(CoreTypes, WithAllCoresOfATypeOffline_AreNotThatType) {
  const FakeTree sys;
  sys.write("cpu_core/cpus", "0-3\n");
  sys.write("cpu_atom/cpus", "\n");
  EXPECT_EQ(core_type(2, sys.root()), "cpu_core");
  EXPECT_EQ(core_type(4, sys.root()), "");
}

TEST(CoreTypes, OfAVirtualMachine_AreNone) {
  const FakeTree sys;
  for (const char* name : {"software/type", "msr/type", "power/cpumask"}) sys.write(name, "1\n");
  EXPECT_TRUE(core_types(sys.root()).empty());
  EXPECT_EQ(core_type(0, sys.root()), "");
  EXPECT_EQ(core_types_of({0, 1}, sys.root()), "unknown");
}

TEST(CoreTypes, WithoutSysfs_AreNone) {
  const FakeTree sys;
  EXPECT_TRUE(core_types(sys.root() / "absent").empty());
  EXPECT_EQ(core_types_of({0}, sys.root() / "absent"), "unknown");
}

}  // namespace
}  // namespace tenshot::descriptor
