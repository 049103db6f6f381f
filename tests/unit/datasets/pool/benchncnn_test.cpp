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
  EXPECT_EQ(findings.first()[2].message(), "bench.txt:8: '1,2,3' is not a number; left out");
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

}  // namespace
}  // namespace tenshot::datasets
