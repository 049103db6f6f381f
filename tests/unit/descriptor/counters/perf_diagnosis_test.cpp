#include <gtest/gtest.h>

#include <cerrno>
#include <ostream>

#include "descriptor/counters/counters.h"
#include "tests/unit/descriptor/fake_tree.h"

namespace tenshot::descriptor {
namespace {

constexpr auto no_paranoid_setting = std::nullopt;

struct Case {
  const char* name;
  OpenFailure failure;
  WhyNotCounted why;
  const char* says;
};

void PrintTo(const Case& tried, std::ostream* out) { *out << tried.name; }

class Diagnose : public ::testing::TestWithParam<Case> {};

TEST_P(Diagnose, SaysWhichItIsInOneLine) {
  const Diagnosis diagnosis = diagnose(GetParam().failure);
  EXPECT_EQ(diagnosis.why, GetParam().why) << diagnosis.text;
  EXPECT_NE(diagnosis.text.find(GetParam().says), std::string::npos) << diagnosis.text;
  EXPECT_EQ(diagnosis.text.find('\n'), std::string::npos);
}

// errno, perf_event_paranoid, a PMU of the cores, seccomp, in the kernel
INSTANTIATE_TEST_SUITE_P(
    Reasons, Diagnose,
    ::testing::Values(
        Case{"NoEntryWithoutPmu", {ENOENT, 2, false, false}, WhyNotCounted::no_pmu, "virtual"},
        Case{"NoEntryWithoutPmuUnderSeccomp", {ENOENT, 2, false, true}, WhyNotCounted::no_pmu, "virtual"},
        Case{"NotSupportedWithoutPmu", {EOPNOTSUPP, -1, false, false}, WhyNotCounted::no_pmu, "virtual"},
        Case{"NoDeviceWithoutPmu", {ENODEV, 2, false, false}, WhyNotCounted::no_pmu, "virtual"},
        Case{"NoEntryWithPmu", {ENOENT, 2, true, false}, WhyNotCounted::event_unknown, "no such event"},
        Case{"NotSupportedWithPmu", {EOPNOTSUPP, 2, true, false}, WhyNotCounted::event_unknown, "no such event"},
        Case{"InvalidWithPmu", {EINVAL, 2, true, false}, WhyNotCounted::event_unknown, "no such event"},
        Case{"InvalidWithoutPmu", {EINVAL, 2, false, false}, WhyNotCounted::other, "Invalid argument"},
        Case{
            "DeniedAtLevel3", {EACCES, 3, true, false}, WhyNotCounted::paranoid, "perf_event_paranoid is 3, 2 or less"},
        Case{"DeniedAtLevel4UnderSeccomp", {EACCES, 4, true, true}, WhyNotCounted::paranoid, "paranoid is 4"},
        Case{"NotPermittedAtLevel3", {EPERM, 3, true, false}, WhyNotCounted::paranoid, "paranoid is 3"},
        Case{"KernelDeniedAtLevel2", {EACCES, 2, true, false, true}, WhyNotCounted::paranoid, "is 2, 1 or less"},
        Case{"KernelDeniedAtLevel1", {EACCES, 1, true, false, true}, WhyNotCounted::other, "security module"},
        Case{"NotPermittedUnderSeccomp", {EPERM, 2, true, true}, WhyNotCounted::seccomp, "seccomp"},
        Case{"NotPermittedAtLevel3UnderSeccomp", {EPERM, 3, true, true}, WhyNotCounted::seccomp, "seccomp"},
        Case{"DeniedAtLevel2UnderSeccomp", {EACCES, 2, true, true}, WhyNotCounted::seccomp, "seccomp"},
        Case{"DeniedAtLevel2", {EACCES, 2, true, false}, WhyNotCounted::other, "security module"},
        Case{"NotPermittedWithoutSetting", {EPERM, no_paranoid_setting, true, false}, WhyNotCounted::other, "absent"},
        Case{"NoSystemCallUnderSeccomp", {ENOSYS, 2, true, true}, WhyNotCounted::seccomp, "seccomp"},
        Case{"NoSystemCall",
             {ENOSYS, no_paranoid_setting, false, false},
             WhyNotCounted::no_kernel_support,
             "CONFIG_PERF_EVENTS"},
        Case{"NoSystemCallNorSettingUnderSeccomp",
             {ENOSYS, no_paranoid_setting, false, true},
             WhyNotCounted::no_kernel_support,
             "CONFIG_PERF_EVENTS"},
        Case{"FilesOfTheProcess", {EMFILE, 2, true, false}, WhyNotCounted::file_limit, "ulimit -n"},
        Case{"FilesOfTheSystem", {ENFILE, 2, true, false}, WhyNotCounted::file_limit, "too many open files"},
        Case{"Busy", {EBUSY, 2, true, false}, WhyNotCounted::other, "busy"}),
    [](const ::testing::TestParamInfo<Case>& tried) { return tried.param.name; });

TEST(ObserveFailure, ReadsTheSystemsFiles) {
  const FakeTree proc, sys;
  proc.write("sys/kernel/perf_event_paranoid", "3\n");
  proc.write("self/status", "Name:\ttenshot\nSeccomp:\t2\nSeccomp_filters:\t1\n");
  sys.write("cpu/type", "4\n");
  const OpenFailure failure = observe_failure(EPERM, true, proc.root(), sys.root());
  EXPECT_EQ(failure.error, EPERM);
  EXPECT_EQ(failure.paranoid, 3);
  EXPECT_TRUE(failure.seccomp);
  EXPECT_TRUE(failure.hardware_pmu);
  EXPECT_TRUE(failure.kernel_mode);
}

TEST(ObserveFailure, WithoutFilterOrPmu) {
  const FakeTree proc, sys;
  proc.write("sys/kernel/perf_event_paranoid", "-1\n");
  proc.write("self/status", "Seccomp:\t0\nSeccomp_filters:\t0\n");
  sys.write("software/type", "1\n");
  const OpenFailure failure = observe_failure(ENOENT, false, proc.root(), sys.root());
  EXPECT_EQ(failure.paranoid, -1);
  EXPECT_FALSE(failure.seccomp);
  EXPECT_FALSE(failure.hardware_pmu);
}

TEST(ObserveFailure, WithoutAnyOfTheFiles) {
  const FakeTree empty;
  const OpenFailure failure = observe_failure(ENOSYS, false, empty.root(), empty.root());
  EXPECT_FALSE(failure.paranoid);
  EXPECT_FALSE(failure.seccomp);
  EXPECT_FALSE(failure.hardware_pmu);
}

}  // namespace
}  // namespace tenshot::descriptor
