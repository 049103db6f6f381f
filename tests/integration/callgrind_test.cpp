// Operators under valgrind's callgrind, as `tenshot run-operators` runs them.

#include "descriptor/callgrind/callgrind.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <string>
#include <utility>

#include "nasbench/spaces/search_space.h"
#include "nasbench/support/error.h"
#include "tests/integration/program.h"

namespace tenshot::test {
namespace {

constexpr std::size_t instructions = 1, loads = 4;  // of OperatorCounts::events

descriptor::CallgrindOptions eager_options(std::size_t operators) {
  descriptor::CallgrindOptions options;
  options.program = TENSHOT_PROGRAM;
  options.arguments = {"run-operators", "--runtime", "libtorch-eager", "--resolution", "8", "--runs", "2"};
  options.operators = operators;
  options.runs = 2;
  options.time_limit_s = 600;
  return options;
}

/// Why nothing can be counted here; empty where it can.
std::string obstacle() {
#ifdef __SANITIZE_ADDRESS__
  return "valgrind runs no program that was built with AddressSanitizer";
#else
  return descriptor::why_no_valgrind();
#endif
}

TEST(SimulatedCounters, OfEveryOperatorAndRepeatable) {
  if (!obstacle().empty()) GTEST_SKIP() << obstacle();
  const auto operators = nasbench::nasbench201().operators({8, 10}, 1);
  descriptor::OperatorCounts counts, again;
  try {
    counts = descriptor::count_by_callgrind(eager_options(operators.size()));
    again = descriptor::count_by_callgrind(eager_options(operators.size()));
  } catch (const Error& error) {
    if (std::string(error.what()).find("without valgrind's headers") == std::string::npos) throw;
    GTEST_SKIP() << error.what();
  }
  ASSERT_EQ(counts.per_run.size(), 15u);
  ASSERT_EQ(again.per_run.size(), 15u);
  EXPECT_EQ(counts.events[instructions], "instructions");
  EXPECT_EQ(counts.events[loads], "L1-dcache-loads");
  std::map<std::pair<std::string, int>, double> executed;
  for (std::size_t i = 0; i < operators.size(); ++i) {
    const double count = counts.per_run[i][instructions];
    executed[{operators[i].name, operators[i].key.channels()}] = count;
    EXPECT_GT(count, 0) << operators[i].name;
    // Addresses differ a little from one process to the next, and some code depends on alignment.
    EXPECT_NEAR(again.per_run[i][instructions] / count, 1, 1e-3)
        << operators[i].name << " " << operators[i].key.channels();
    EXPECT_NEAR(again.per_run[i][loads] / counts.per_run[i][loads], 1, 1e-3) << operators[i].name;
  }
  for (const int channels : {16, 32, 64}) {
    EXPECT_GT((executed[{"nor_conv_3x3", channels}]), (executed[{"nor_conv_1x1", channels}])) << channels;
    EXPECT_GT((executed[{"nor_conv_1x1", channels}]), (executed[{"skip_connect", channels}])) << channels;
  }
}

TEST(SimulatedCounters, SayWhyTheProgramFailed) {
  if (!obstacle().empty()) GTEST_SKIP() << obstacle();
  descriptor::CallgrindOptions options = eager_options(15);
  options.program = "/bin/sh";
  options.arguments = {"-c", "echo the reason >&2; exit 3"};
  try {
    descriptor::count_by_callgrind(options);
    FAIL() << "counted what failed";
  } catch (const Error& error) {
    const std::string message = error.what();
    if (message.find("without valgrind's headers") != std::string::npos) GTEST_SKIP() << message;
    EXPECT_NE(message.find("exit code 3; the end of its output: the reason"), std::string::npos) << message;
  }
}

TEST(SimulatedCounters, TellLibrariesOfNoInstructionsThatValgrindLacks) {
  if (!obstacle().empty()) GTEST_SKIP() << obstacle();
  descriptor::CallgrindOptions options = eager_options(15);
  options.program = "/bin/sh";
  options.arguments = {"-c", "echo blas $OPENBLAS_CORETYPE >&2; exit 3"};
  const char* named = std::getenv("OPENBLAS_CORETYPE");
  const std::string before = named == nullptr ? "" : named;
  for (const auto& [told, expected] : {std::pair{"SkylakeX", "blas Haswell"}, std::pair{"Nehalem", "blas Nehalem"}}) {
    setenv("OPENBLAS_CORETYPE", told, 1);
    try {
      descriptor::count_by_callgrind(options);
      ADD_FAILURE() << "counted what failed";
    } catch (const Error& error) {
      const std::string message = error.what();
      if (message.find("without valgrind's headers") != std::string::npos) GTEST_SKIP() << message;
      EXPECT_NE(message.find(expected), std::string::npos) << message;
    }
  }
  named == nullptr ? unsetenv("OPENBLAS_CORETYPE") : setenv("OPENBLAS_CORETYPE", before.c_str(), 1);
}

TEST(SimulatedCounters, AreWhatCollectWritesAndLabels) {
  if (!obstacle().empty()) GTEST_SKIP() << obstacle();
  const Folder folder;
  const Outcome outcome =
      run("tenshot collect --attempts 1 --resolution 8 --archs 1 --descriptor --counters callgrind --out " +
          quoted(folder.path()));
  if (outcome.err.find("without valgrind's headers") != std::string::npos) GTEST_SKIP() << outcome.err;
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const auto device = datasets::read_device(folder.path() / "libtorch-eager_t1_b1_r8").device;
  EXPECT_EQ(device.descriptor.source, "callgrind");
  const Outcome validated = run("tenshot dataset validate " + quoted(folder.path()));
  EXPECT_EQ(validated.exit_code, 0) << validated.out << validated.err;
  EXPECT_EQ(device.descriptor.conditions.count("simulated_caches"), 1u);
  EXPECT_EQ(device.descriptor.conditions.count("in_network_date"), 1u);
  EXPECT_EQ(device.descriptor.in_network.size(), 18u);
  ASSERT_EQ(device.descriptor.operators.size(), 15u);
  for (const auto& profile : device.descriptor.operators) {
    ASSERT_EQ(profile.counts.size(), 6u) << profile.name;
    EXPECT_GT(profile.counts[instructions], 0) << profile.name;
    EXPECT_GT(profile.latency_ms, 0) << profile.name;
  }
  EXPECT_NE(slurp(folder.path() / "libtorch-eager_t1_b1_r8" / "device.json").find("\"simulated\": true"),
            std::string::npos);
}

TEST(RunOperators, SaysHowManyRanOutsideValgrind) {
  const Outcome outcome = run("tenshot run-operators --resolution 8 --runs 1");
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_EQ(outcome.out, "");
  EXPECT_EQ(outcome.err, "15 operators of nasbench201 ran 1 times each\n");
}

}  // namespace
}  // namespace tenshot::test
