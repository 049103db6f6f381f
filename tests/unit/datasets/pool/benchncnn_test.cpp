#include "datasets/pool/benchncnn.h"

#include "nasbench/graph/network_builder.h"
#include "nasbench/spaces/networks.h"
#include "tests/unit/datasets/fixtures.h"

namespace tenshot::datasets {
namespace {

void know(const std::string& name) {
  nasbench::NetworkBuilder b;
  b.output(b.linear("fc", b.input("x", {1, 8}), static_cast<std::int64_t>(name.size())));
  nasbench::add_network(nasbench::named_network(name, b.take(), name + ".param"));
}

const std::string printed =
    "loop_count = 4\n"
    "num_threads = 2\n"
    "gpu_device = -1\n"
    "          bench_squeeze  min =    2.93  max =    3.92  avg =    3.16\n"
    "/sdcard/bench_mobile.param  min =   10,50  max =   12,00  avg =   11,25\n"
    "          bench_unknown  min =    1.00  max =    1.00  avg =    1.00\n"
    "          bench_squeeze  min =    2.00  max =    2.00  avg =    2.00\n"
    "          bench_broken   min =    2.00  max =    2.00  avg =    1,2,3\n";

TEST(Benchncnn, Lines_BecomeTheMeansOfADevice) {
  know("bench_squeeze");
  know("bench_mobile");
  EXPECT_TRUE(is_benchncnn_output(printed));
  Findings findings;
  const DeviceRuntime device = parse_benchncnn(printed, "bench.txt", "phone", findings);
  EXPECT_EQ(device.id, "phone");
  EXPECT_EQ(device.runtime, "ncnn");
  EXPECT_EQ(device.threads, 2);
  ASSERT_EQ(device.latencies.size(), 2U);
  EXPECT_EQ(nasbench::networks().format(device.latencies[0].architecture), "bench_squeeze");
  EXPECT_EQ(device.latencies[0].latency_ms, 3.16);
  EXPECT_EQ(nasbench::networks().format(device.latencies[1].architecture), "bench_mobile");
  EXPECT_EQ(device.latencies[1].latency_ms, 11.25) << "a decimal comma is read, never cut";
  ASSERT_EQ(findings.total(), 3U);
  EXPECT_EQ(findings.first()[0].message(), "bench.txt:6: 'bench_unknown' is no architecture of this space; left out");
  EXPECT_EQ(findings.first()[1].message(), "bench.txt:7: 'bench_squeeze' stood in an earlier row; left out");
  EXPECT_EQ(findings.first()[2].message(),
            "bench.txt:8: '1,2,3' is not a number: decimals are written with a point; left out");
}

TEST(Benchncnn, BlanksInsideNumbers_AreReadWhereTheMeanHasNoneElseNamed) {
  for (const char* name : {"blank_min", "blank_mean", "blank_thousands", "blank name", "blank_cut"}) know(name);
  const std::string text =
      "   blank_min  min =  12 .34  max =   13.00  avg =   12.50\n"
      "  blank_mean  min =   12.34  max =   13.00  avg =   12 .50\n"
      "blank_thousands  min = 1 234.00  max = 1 300.00  avg = 1 250,50\r\n"
      "  blank name  min =    1.00  max =    2.00  avg =    1.50\n"
      "   blank_cut  min =    1.00  max =\n";
  EXPECT_TRUE(is_benchncnn_output(text));
  Findings findings;
  const DeviceRuntime device = parse_benchncnn(text, "bench.txt", "phone", findings);
  ASSERT_EQ(device.latencies.size(), 2U);
  EXPECT_EQ(nasbench::networks().format(device.latencies[0].architecture), "blank_min");
  EXPECT_EQ(device.latencies[0].latency_ms, 12.5);
  EXPECT_EQ(nasbench::networks().format(device.latencies[1].architecture), "blank name");
  ASSERT_EQ(findings.total(), 3U);
  EXPECT_EQ(findings.first()[0].message(), "bench.txt:2: '12 .50' is not a number; left out");
  EXPECT_EQ(findings.first()[1].message(),
            "bench.txt:3: '1 250,50' is not a number: decimals are written with a point; left out");
  EXPECT_EQ(findings.first()[2].message().rfind("bench.txt:5: ", 0), 0U) << findings.first()[2].message();
}

TEST(Benchncnn, OtherTexts_AreNone) {
  EXPECT_FALSE(is_benchncnn_output("architecture,phone\nbench_squeeze,3.16\n"));
  EXPECT_FALSE(is_benchncnn_output(""));
  Findings findings;
  const std::string message =
      message_of([&] { parse_benchncnn("nobody  min = 1.0  max = 1.0  avg = 1.0\n", "bench.txt", "phone", findings); });
  EXPECT_NE(message.find("bench.txt"), std::string::npos) << message;
  EXPECT_NE(message.find("--networks"), std::string::npos) << message;
}

TEST(Benchncnn, RunsOfOtherThreads_AreRefusedAndAGpuIsNamed) {
  know("bench_squeeze");
  const std::string row = " bench_squeeze  min = 2.93  max = 3.92  avg = 3.16\n", two = "num_threads = 2\n";
  Findings findings;
  const auto runtime = [&](const std::string& gpu) {
    return parse_benchncnn(two + "gpu_device = " + gpu + "\n" + row, "bench.txt", "phone", findings).runtime;
  };
  EXPECT_EQ(runtime("-1"), "ncnn");
  EXPECT_EQ(runtime("0"), "ncnn, Vulkan");
  EXPECT_EQ(parse_benchncnn(two + row + two, "bench.txt", "phone", findings).threads, 2);
  const std::string message =
      message_of([&] { parse_benchncnn(two + row + "num_threads = 4\n" + row, "bench.txt", "phone", findings); });
  EXPECT_EQ(message, "bench.txt:3: num_threads is 4 here, and 2 above; split the log");
  for (const std::string setting : {"gpu_device = ", "powersave = "}) {
    const std::string both = setting + "1\n" + row + setting + "0\n" + row;
    EXPECT_THROW(parse_benchncnn(both, "bench.txt", "phone", findings), InputError) << setting;
  }
  const DeviceRuntime indented =
      parse_benchncnn("    num_threads = 4\n    gpu_device = 0\n  " + row, "bench.txt", "phone", findings);
  EXPECT_EQ(indented.runtime, "ncnn, Vulkan");
  EXPECT_EQ(indented.threads, 4);
}

}  // namespace
}  // namespace tenshot::datasets
