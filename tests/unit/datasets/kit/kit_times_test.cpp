#include <gtest/gtest.h>

#include "datasets/kit/board_results.h"
#include "nasbench/support/error.h"
#include "nasbench/support/files.h"
#include "tests/unit/datasets/fixtures.h"

namespace tenshot::datasets {
namespace {

using Times = std::vector<double>;

TEST(KitTimes, OfTrtexecAreTheGpusComputing) {
  // The keys of trtexec --exportTimes (NVIDIA TensorRT, samples/common/sampleReporting.cpp).
  const std::string text = R"([
    {"startInMs": 1.0, "endInMs": 1.5, "startComputeMs": 1.5, "endComputeMs": 3.0, "startOutMs": 3.0, "endOutMs": 3.25,
     "inMs": 0.5, "computeMs": 1.5, "outMs": 0.25, "latencyMs": 2.25},
    {"inMs": 0.5, "computeMs": 1.75, "outMs": 0.25, "latencyMs": 2.5}])";
  EXPECT_EQ(times_from_json(text, "times.json"), (Times{1.5, 1.75}));
  EXPECT_EQ(times_from_json(R"([{"latencyMs": 2.5}])", "times.json"), Times{2.5});
}

TEST(KitTimes, OfTheRunnersAreAList) {
  EXPECT_EQ(times_from_json(R"({"format":"tenshot.times/1","times_ms":[1.5,2],"version":"1.20"})", "t"),
            (Times{1.5, 2}));
  EXPECT_NE(message_of([] { times_from_json(R"({"format":"tenshot.times/2","times_ms":[1]})", "t"); }).find("newer"),
            std::string::npos);
}

TEST(KitTimes, OfACommandAreOneALine) {
  EXPECT_EQ(times_from_lines("1.5\n\n 2.25 \r\n", "t"), (Times{1.5, 2.25}));
  EXPECT_EQ(message_of([] { times_from_lines("1.5\nfast\n", "t.txt"); }), "t.txt:2: 'fast' is no number of ms");
}

TEST(KitTimes, OfPerfTestAreSecondsFourthFromTheRight) {
  EXPECT_EQ(times_from_perf_test("net,0.0015,7168000,24,0\nnet,a,b,0.002,7168000,25,1\nMin Latency: 0.0015 s\n", "t"),
            (Times{1.5, 2}));
}

std::string fixture(const std::string& name) {
  return read_file(std::filesystem::path(TENSHOT_SOURCE_DIR) / "tests" / "kit" / "fixtures" / name);
}

TEST(KitTimes, OfEveryBackendsDocumentedFormat) {
  EXPECT_EQ(times_from_json(fixture("trtexec.times.json"), "t", 200).front(), 1.72998);
  EXPECT_EQ(times_from_lines(fixture("custom.times.txt"), "t"), (Times{1.5, 1.51, 1.49}));
  EXPECT_EQ(times_from_json(fixture("run_onnx.times.json"), "t"), (Times{0.174797, 0.165754, 0.287001, 0.1}));
  const Times perf_test = times_from_perf_test(fixture("perf_test.txt"), "t");
  ASSERT_EQ(perf_test.size(), 4u);
  EXPECT_DOUBLE_EQ(perf_test[0], 2.51304);
  EXPECT_DOUBLE_EQ(perf_test[3], 2.5);
}

TEST(KitTimes, OfTrtexecLeaveItsWarmUpOut) {
  const std::string text = fixture("trtexec_with_warmup.times.json");
  const Times all = times_from_json(text, "t"), timed = times_from_json(text, "t", 200);
  EXPECT_EQ(all.size(), timed.size() + 2);
  EXPECT_EQ(all.front(), 9.1);
  EXPECT_EQ(timed, Times(all.begin() + 2, all.end()));
}

TEST(KitTimes, RefusesWhatIsNoTime) {
  for (const char* text :
       {"", "[]", "{", "17", "[{}]", "[1]", R"([{"computeMs":"1"}])", R"([{"computeMs":0}])", R"([{"computeMs":-1}])",
        R"({"times_ms":[1]})", R"({"format":"tenshot.times/1"})", R"({"format":"tenshot.times/1","times_ms":["1"]})"}) {
    EXPECT_THROW(times_from_json(text, "times.json"), FormatError) << text;
  }
  for (const char* text : {"", "\n\n", "0\n", "-1\n", "nan\n", "inf\n"}) {
    EXPECT_THROW(times_from_lines(text, "times.txt"), FormatError) << text;
  }
  for (const char* text : {"", ",,,", "a,b,c,d,e\n", "1,2,3"}) {
    EXPECT_THROW(times_from_perf_test(text, "perf_test.txt"), FormatError) << text;
  }
}

}  // namespace
}  // namespace tenshot::datasets
