#include "datasets/kit/joined_sources.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "tests/unit/datasets/kit/kit_fixture.h"

namespace tenshot::datasets {
namespace {

using Rows = std::vector<std::pair<std::uint64_t, double>>;

class JoinedMeasurements : public testing::Test {
 protected:
  std::filesystem::path table(const std::string& name, const Rows& rows) {
    std::string text = "architecture,latency_ms\n";
    for (const auto& [ordinal, ms] : rows) {
      text += space().format(space().at(ordinal)) + "," + std::to_string(ms) + "\n";
    }
    write_file_quickly(folder_.path() / name, text);
    return folder_.path() / name;
  }

  TemporaryFolder folder_;
};

TEST_F(JoinedMeasurements, OfOneSourceAreThatSource) {
  const JoinedSources joined = read_joined({table("a.csv", {{7, 1.5}, {8, 2}})}, space(), Quantity::latency);
  EXPECT_EQ(joined.measured.latency_ms, (std::vector<double>{1.5, 2}));
  EXPECT_TRUE(joined.remarks(Quantity::latency).empty());
}

TEST_F(JoinedMeasurements, CountEveryNetworkOnceByItsMedian) {
  const JoinedSources joined = read_joined(
      {table("a.csv", {{7, 10}, {8, 20}}), table("b.csv", {{8, 22}, {9, 30}}), table("c.csv", {{8, 21}, {7, 11}})},
      space(), Quantity::latency);
  EXPECT_EQ(joined.measured.architectures,
            (std::vector<nasbench::Architecture>{space().at(7), space().at(8), space().at(9)}));
  EXPECT_EQ(joined.measured.latency_ms, (std::vector<double>{10.5, 21, 30}));
  ASSERT_EQ(joined.repeated.size(), 2u);
  EXPECT_EQ(joined.repeated[1].values, (std::vector<double>{20, 22, 21}));
  EXPECT_NEAR(joined.repeated[1].disagreement, 0.1, 1e-12) << "22 / 20 - 1";
}

TEST_F(JoinedMeasurements, SayHowFarTheyAgreeAndHowFarBoardsDiffer) {
  const JoinedSources joined = read_joined({table("a.csv", {{7, 10}, {8, 20}}), table("b.csv", {{7, 11}, {8, 22}}),
                                            table("c.csv", {{7, 9}, {8, 18}, {9, 5}})},
                                           space(), Quantity::latency);
  const std::vector<std::string> remarks = joined.remarks(Quantity::latency);
  ASSERT_EQ(remarks.size(), 2u);
  EXPECT_EQ(remarks[0],
            "2 networks were measured more than once, and the median of each counts: they agree within 22 % typically "
            "and 22 % at worst (" +
                space().format(space().at(7)) + ": 10, 11, 9 ms)");
  const std::string folder = folder_.path().string();
  EXPECT_EQ(remarks[1], "over the networks that they share, compared with the median: " + folder +
                            "/a.csv is typical, " + folder + "/b.csv is 10 % slower, " + folder +
                            "/c.csv is 10 % faster");
}

TEST_F(JoinedMeasurements, WithoutANetworkInCommonSayNothing) {
  const JoinedSources joined =
      read_joined({table("a.csv", {{7, 10}}), table("b.csv", {{8, 22}})}, space(), Quantity::latency);
  EXPECT_EQ(joined.measured.latency_ms.size(), 2u);
  EXPECT_TRUE(joined.remarks(Quantity::latency).empty());
}

TEST_F(JoinedMeasurements, KeepTheDescriptorOfAKitAndCountWhatEachLeftOut) {
  const MeasuredKit kit;
  const MeasuredSource alone = read_measured(kit.path(), space(), Quantity::latency);
  write_file_quickly(folder_.path() / "more.csv",
                     "architecture,latency_ms\nnonsense,2\n" + space().format(space().at(9)) + ",3\n");
  const JoinedSources joined = read_joined({kit.path(), folder_.path() / "more.csv"}, space(), Quantity::latency);
  EXPECT_TRUE(joined.measured.descriptor.has_latencies());
  EXPECT_EQ(joined.measured.latency_ms.size(), alone.latency_ms.size() + 1);
  EXPECT_EQ(joined.measured.left_out(), alone.left_out() + 1);
}

TEST_F(JoinedMeasurements, AskForTheUnitWhereSourcesDifferByAThousand) {
  const auto folder = folder_.path().string();
  const auto last_remark = [&](const Rows& a, const Rows& b) {
    return read_joined({table("a.csv", a), table("b.csv", b)}, space(), Quantity::latency)
        .remarks(Quantity::latency)
        .back();
  };
  EXPECT_EQ(last_remark({{7, 10}, {8, 20}}, {{7, 11000}, {8, 19000}}),
            folder + "/b.csv has about a thousand times the latencies of " + folder +
                "/a.csv for the same networks: are they in another unit? Latencies are in ms");
  EXPECT_EQ(last_remark({{7, 10}, {8, 20}}, {{7, 1000}, {8, 2000}}).find("unit"), std::string::npos);
}

}  // namespace
}  // namespace tenshot::datasets
