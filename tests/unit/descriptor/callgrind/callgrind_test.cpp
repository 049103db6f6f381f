#include "descriptor/callgrind/callgrind.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>

#include "descriptor/callgrind/callgrind_dump.h"
#include "descriptor/machine/child_process.h"
#include "nasbench/support/error.h"
#include "nasbench/support/files.h"
#include "nasbench/support/temporaries.h"

namespace tenshot::descriptor {
namespace {

/// Hand-written fixture after the manual's "Callgrind Format Specification", with the events of --cache-sim=yes; as in
/// real dumps, "totals:" holds something of the warm-up.
const std::string dump_text = R"(# callgrind format
version: 1
creator: callgrind-3.19.0
pid: 4711
cmd:  ./tenshot run-operators
part: 1


desc: I1 cache: 32768 B, 64 B, 8-way associative
desc: D1 cache: 49152 B, 64 B, 12-way associative
desc: LL cache: 2097152 B, 64 B, 16-way associative

desc: Timerange: Basic block 10 - 20
desc: Trigger: Client Request: operator 0, 2 runs

positions: line
events: Ir Dr Dw I1mr D1mr D1mw ILmr DLmr DLmw
summary: 2000 600 300 4 20 6 2 4 8

fl=(1) convolution.cpp
fn=(1) convolution
10 2000 600 300 4 20 6 2 4 8

totals: 2100 650 300 4 20 6 2 4 8
)";

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

void write(const std::filesystem::path& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

/// What parsing `text` says is wrong with it.
std::string complaint(const std::string& text) {
  try {
    parse_callgrind_dump(text, "counts.1");
  } catch (const FormatError& error) {
    return error.what();
  }
  return "nothing";
}

bool holds(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

TEST(CallgrindDump, HoldsCreatorTriggerAndCounts) {
  const CallgrindDump dump = parse_callgrind_dump(dump_text, "counts.1");
  EXPECT_EQ(dump.creator, "callgrind-3.19.0");
  EXPECT_EQ(dump.trigger, "operator 0, 2 runs");
  ASSERT_EQ(dump.counts.size(), 9u);
  EXPECT_EQ(dump.counts.at("Ir"), 2000);
  EXPECT_EQ(dump.counts.at("Dw"), 300);
  EXPECT_EQ(dump.counts.at("DLmw"), 8);
}

TEST(CallgrindDump, ReadsTheZerosThatTheFormatLeavesOut) {
  const CallgrindDump dump = parse_callgrind_dump(
      replaced(dump_text, "summary: 2000 600 300 4 20 6 2 4 8", "summary: 2000 600 300 4"), "counts.1");
  EXPECT_EQ(dump.counts.at("I1mr"), 4);
  EXPECT_EQ(dump.counts.at("D1mr"), 0);
  EXPECT_EQ(dump.counts.at("DLmw"), 0);
}

TEST(CallgrindDump, HasNoTriggerWhenTheProgramEnded) {
  const std::string text = replaced(dump_text, "Client Request: operator 0, 2 runs", "Program termination");
  EXPECT_EQ(parse_callgrind_dump(text, "counts.1").trigger, "");
}

TEST(CallgrindDump, NamesTheFileThatIsNone) {
  EXPECT_TRUE(holds(complaint(""), "counts.1: not a callgrind dump"));
  EXPECT_TRUE(holds(complaint("architecture,latency_ms\n"), "counts.1: not a callgrind dump"));
  EXPECT_TRUE(holds(complaint(replaced(dump_text, "callgrind-3.19.0", "massif-3.19.0")), "'massif-3.19.0'"));
}

TEST(CallgrindDump, PointsToTheLineThatIsDamaged) {
  EXPECT_TRUE(holds(complaint(replaced(dump_text, "events: Ir", "things: Ir")), "expected lines 'events:'"));
  EXPECT_TRUE(holds(complaint(replaced(dump_text, "events: Ir Dr", "events: Ir Ir")), "counts.1:17: 'events:' names"));
  EXPECT_TRUE(
      holds(complaint(replaced(dump_text, "summary: 2000", "summary: 20x0")), "counts.1:18: 'summary:' has '20x0'"));
  EXPECT_TRUE(holds(complaint(replaced(dump_text, "summary: 2000", "summary: -2000")), "'-2000'"));
  EXPECT_TRUE(holds(complaint(replaced(dump_text, "summary: 2000", "summary: 1 2000")), "has 10 counts"));
  EXPECT_TRUE(holds(complaint(replaced(dump_text, "summary: 2000", "summary: 99999999999999999999")), "99999"));
}

TEST(CallgrindDump, CutShortAnywhereIsRefused) {
  for (std::size_t length = 0; length < dump_text.size(); ++length) {
    EXPECT_NE(complaint(dump_text.substr(0, length)), "nothing") << length << " bytes of " << dump_text.size();
  }
}

TEST(CallgrindDump, AnyAlteredByteIsRefusedOrRead) {
  for (std::size_t i = 0; i < dump_text.size(); ++i) {
    for (const char byte : {'\0', '\n', ' ', '9', '\xff'}) {
      std::string text = dump_text;
      text[i] = byte;
      const std::string message = complaint(text);
      EXPECT_TRUE(message == "nothing" || holds(message, "counts.1")) << message;
    }
  }
}

/// Stands in for valgrind: a shell script that finds what --callgrind-out-file is and then runs `body`.
class CallgrindCounts : public ::testing::Test {
 protected:
  void SetUp() override {
    const std::string message = complaint(options("exit 1"));
    if (holds(message, "without valgrind's headers")) GTEST_SKIP() << message;
  }
  CallgrindOptions options(const std::string& body, std::size_t operators = 1) {
    const auto script = folder_.path() / "valgrind";
    write(script,
          "#!/bin/sh\nfor argument; do case $argument in --callgrind-out-file=*) out=${argument#*=};; esac; done\n" +
              body + "\n");
    std::filesystem::permissions(script, std::filesystem::perms::owner_all);
    write(path("dump"), dump_text);
    CallgrindOptions options;
    options.valgrind = script.string();
    options.program = "tenshot";
    options.operators = operators;
    options.runs = 2;
    return options;
  }
  std::filesystem::path path(const std::string& name) const { return folder_.path() / name; }
  std::string copy_dump() const { return "cp '" + path("dump").string() + "' $out.3"; }

  /// What counting says is wrong.
  template <class Failure = Error>
  static std::string complaint(const CallgrindOptions& options) {
    try {
      count_by_callgrind(options);
    } catch (const Failure& error) {
      return error.what();
    }
    return "nothing";
  }

 private:
  const TemporaryFolder folder_;
};

TEST_F(CallgrindCounts, AreThoseOfOneRun) {
  const OperatorCounts counts = count_by_callgrind(options(copy_dump()));
  EXPECT_EQ(counts.source, "callgrind");
  const std::vector<std::string> events = {"cycles",       "instructions",    "cache-references",
                                           "cache-misses", "L1-dcache-loads", "L1-dcache-load-misses"};
  EXPECT_EQ(counts.events, events);
  // Two runs: 2000 instructions, 4 + 20 + 6 first-level misses, 2 + 4 + 8 last-level misses.
  const std::vector<double> one_run = {1000 + 10 * 15 + 100 * 7, 1000, 15, 7, 300, 10};
  ASSERT_EQ(counts.per_run.size(), 1u);
  EXPECT_EQ(counts.per_run[0], one_run);
}

TEST_F(CallgrindCounts, SayHowTheyWereSimulated) {
  CallgrindOptions small = options("case \" $* \" in *' --LL=1048576,8,64 '*) " + copy_dump() + ";; esac");
  small.last_level = {1 << 20, 8};
  const auto conditions = count_by_callgrind(small).conditions;
  EXPECT_TRUE(holds(conditions.at("simulator"), "callgrind-3.19.0"));
  EXPECT_TRUE(holds(conditions.at("simulated_caches"), "LL 1024 KiB 8-way"));
  EXPECT_TRUE(holds(conditions.at("simulated_caches"), "D1 48 KiB 12-way"));
  EXPECT_TRUE(holds(conditions.at("simulated_cycles"), "estimate"));
  EXPECT_TRUE(holds(conditions.at("simulated_processor"), "AVX2"));
  EXPECT_TRUE(holds(conditions.at("runs"), "2"));
}

TEST_F(CallgrindCounts, NeedValgrindInstalled) {
  CallgrindOptions missing = options("");
  missing.valgrind = "no-such-valgrind";
  EXPECT_TRUE(holds(complaint(missing), "install valgrind")) << complaint(missing);
}

TEST_F(CallgrindCounts, NameTheOperatorsEndWhenItFails) {
  const std::string message = complaint(options("echo early >&2\necho the reason >&2\nexit 3"));
  EXPECT_TRUE(holds(message, "exit code 3")) << message;
  EXPECT_TRUE(holds(message, "early; the reason")) << message;
  EXPECT_EQ(message.find('\n'), std::string::npos);
  EXPECT_TRUE(holds(complaint(options("kill -SEGV $$")), "signal")) << complaint(options("kill -SEGV $$"));
}

TEST_F(CallgrindCounts, MissADumpForAnOperator) {
  const std::string message = complaint(options(copy_dump(), 2));
  EXPECT_TRUE(holds(message, "no dump 'operator 1, 2 runs'")) << message;
}

TEST_F(CallgrindCounts, RefuseADumpOfSomethingElse) {
  CallgrindOptions other = options(copy_dump());
  other.runs = 3;
  EXPECT_TRUE(holds(complaint<FormatError>(other), "expected 'operator 0, 3 runs'"));
  const CallgrindOptions damaged = options("echo damaged > $out.3");
  EXPECT_TRUE(holds(complaint<FormatError>(damaged), "counts.3: not a callgrind dump"));
  CallgrindOptions no_caches = options("sed 's/ILmr/Bc/' '" + path("dump").string() + "' > $out.3");
  EXPECT_TRUE(holds(complaint<FormatError>(no_caches), "'ILmr'"));
}

TEST_F(CallgrindCounts, StopOnRequestAndAfterTheTimeLimit) {
  // The stand-in leaves its process number, so that its end can be seen.
  CallgrindOptions endless = options("echo $$ > '" + path("process").string() + "'\nwhile :; do sleep 1; done");
  endless.go_on = [&](std::size_t counted) {
    EXPECT_EQ(counted, 0u);
    return !std::filesystem::exists(path("process"));
  };
  EXPECT_TRUE(holds(complaint<Interrupted>(endless), "on request"));
  endless.go_on = nullptr;
  endless.time_limit_s = 0.3;
  EXPECT_TRUE(holds(complaint(endless), "0.3 s"));
  std::ifstream file(path("process"));
  std::string process;
  ASSERT_TRUE(file >> process);
  EXPECT_FALSE(std::filesystem::exists("/proc/" + process));
}

TEST_F(CallgrindCounts, TellHowManyOperatorsAreCounted) {
  CallgrindOptions slow = options(copy_dump() + "\nsleep 5");
  slow.go_on = [](std::size_t counted) { return counted == 0; };
  EXPECT_TRUE(holds(complaint<Interrupted>(slow), "on request"));
}

TEST(ChildProcess, IsFoundInPathOrNowhere) {
  EXPECT_EQ(find_program("sh").filename(), "sh");
  EXPECT_TRUE(find_program("no-such-program").empty());
  EXPECT_TRUE(find_program("./no-such-program").empty());
}

TEST(ChildProcess, GetsItsArgumentsAsTheyAre) {
  const TemporaryFolder folder;
  const auto output = folder.path() / "output";
  run_child({{find_program("printf").string(), "%s|", "a b", "$HOME", "*"}, output, 60});
  EXPECT_EQ(read_file(output), "a b|$HOME|*|");
  EXPECT_THROW(run_child({{"/no/such/program"}, output, 60}), Error);
}

TEST(ChildProcess, GetsItsEnvironmentBesideTheCallers) {
  const TemporaryFolder folder;
  const auto output = folder.path() / "output";
  run_child({{find_program("sh").string(), "-c", "echo $HOME/$OMP_WAIT_POLICY; echo $PATH >&2"},
             output,
             60,
             {"HOME=nowhere", "OMP_WAIT_POLICY=passive"}});
  EXPECT_EQ(read_file(output), "nowhere/passive\n" + std::string(std::getenv("PATH")) + "\n");
}

/// Counts its runs.
class CountedNetwork final : public PreparedNetwork {
 public:
  explicit CountedNetwork(int& runs) : runs_(runs) {}
  void run() override { ++runs_; }
  std::vector<float> infer(const std::vector<float>&) override { return {}; }

 private:
  int& runs_;
};

TEST(RunForCallgrind, RunsEveryOperatorWithoutValgrindToo) {
  int first = 0, second = 0;
  std::vector<std::unique_ptr<PreparedNetwork>> operators;
  operators.push_back(std::make_unique<CountedNetwork>(first));
  operators.push_back(std::make_unique<CountedNetwork>(second));
  run_for_callgrind(operators, 7);
  EXPECT_GE(first, 7 + 1);  // warm-up comes first
  EXPECT_EQ(first, second);
  EXPECT_FALSE(under_valgrind());
}

}  // namespace
}  // namespace tenshot::descriptor
