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
  ASSERT_EQ(joined.measured.doubts.size(), 1u);
  EXPECT_EQ(joined.measured.doubts[0].find("rounds of one board contradict each other, typically by 22 %"), 0u);
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

TEST_F(JoinedMeasurements, OfKitsOfSeveralBoardsAreOfTheTypicalOne) {
  const MeasuredKit a, b, c;
  for (const auto& [kit, board] : {std::pair{&a, "aaa"}, std::pair{&b, "bbb"}, std::pair{&c, "aaa"}}) {
    for (const char* file : {"before.txt", "after.txt"}) {
      kit->put(file, std::string("machine=aarch64\nboard_id=") + board + "\n");
    }
  }
  for (std::size_t m = 0; m < b.manifest.models.size(); ++m) b.measure(m, 1.21 * static_cast<double>(m + 1));
  const JoinedSources joined = read_joined({a.path(), b.path()}, space(), Quantity::latency);
  ASSERT_TRUE(joined.measured.fleet);
  EXPECT_NEAR(joined.measured.latency_ms[1], 2 * 1.1, 1e-9);
  const std::string said = joined.remarks(Quantity::latency).front();
  EXPECT_EQ(said, "measurements of 2 boards, which share 3 networks: they differ by 13 % (standard deviations); " +
                      a.path().string() + " is 9.1 % faster, " + b.path().string() + " is 10 % slower");
  EXPECT_EQ(device_of(*joined.measured.kit, "fleet").environment.find("board_id"), std::string::npos);
  const MeasuredSource rounds = read_joined({a.path(), c.path()}, space(), Quantity::latency).measured;
  EXPECT_FALSE(rounds.fleet) << "rounds of one board";
  EXPECT_EQ(rounds.kit->before.at("board_id"), "aaa");
  const JoinedSources three = read_joined({a.path(), b.path(), c.path()}, space(), Quantity::latency);
  EXPECT_EQ(three.measured.fleet->boards.size(), 2u);
  const auto more = table("more.csv", {{7, 1.5}});
  EXPECT_NE(message_of([&] {
              read_joined({a.path(), b.path(), more}, space(), Quantity::latency);
            }).find("more.csv: does not say which board it is of, and the others are of 2"),
            std::string::npos);
  EXPECT_NE(message_of([&] {
              read_joined({a.path(), c.path()}, space(), Quantity::latency, true);
            }).find("all of these are of one"),
            std::string::npos);
}

TEST_F(JoinedMeasurements, OfBoardsThatAreTooFarApart_AreRefusedByTheirNamesAndTheFactor) {
  const auto a = table("a.csv", {{7, 10}, {8, 20}}), b = table("b.csv", {{7, 24}, {8, 48}});
  const auto refusal = [&](const std::vector<std::filesystem::path>& tables) {
    return message_of([&] { read_joined(tables, space(), Quantity::latency, true); });
  };
  EXPECT_EQ(refusal({a, b}).find(b.string() + ": over the networks that boards share, it has 2.4 times the values of " +
                                 a.string() + ":"),
            0u)
      << refusal({a, b});
  EXPECT_NE(refusal({a, table("us.csv", {{7, 10000}, {8, 20000}})}).find("are they in another unit"),
            std::string::npos);
  const auto c = table("c.csv", {{7, 10.5}, {8, 21}}), d = table("d.csv", {{7, 9.5}, {8, 19}});
  EXPECT_EQ(read_joined({a, b, c, d}, space(), Quantity::latency, true).measured.fleet->compared(), 4u)
      << "four tell more of a fifth";
  EXPECT_FALSE(read_joined({a, b}, space(), Quantity::latency).measured.fleet);
}

TEST_F(JoinedMeasurements, OfTablesAreOfAFleetWhereOneSaysSo) {
  const std::vector<std::filesystem::path> tables = {table("a.csv", {{7, 10}, {8, 20}}),
                                                     table("b.csv", {{8, 24.2}, {9, 33}})};
  EXPECT_FALSE(read_joined(tables, space(), Quantity::latency).measured.fleet);
  const JoinedSources joined = read_joined(tables, space(), Quantity::latency, true);
  EXPECT_EQ(joined.measured.fleet->shared, 1u);
  EXPECT_NEAR(joined.measured.latency_ms[0], 11, 1e-9);
  EXPECT_NEAR(joined.measured.latency_ms[1], 22, 1e-9);
  EXPECT_NEAR(joined.measured.latency_ms[2], 30, 1e-9);
  EXPECT_NE(message_of([&] {
              read_joined({tables[0], tables[0]}, space(), Quantity::latency, true);
            }).find("is given twice"),
            std::string::npos);
  const auto apart = table("c.csv", {{11, 24}});
  EXPECT_NE(message_of([&] {
              read_joined({tables[0], apart}, space(), Quantity::latency, true);
            }).find("no network in common"),
            std::string::npos);
  const JoinedSources three = read_joined({tables[0], tables[1], apart}, space(), Quantity::latency, true);
  EXPECT_EQ(three.remarks(Quantity::latency)[1],
            apart.string() +
                ": this board measured no network that the others did, so that nobody knows how far it "
                "differs; measure some networks on all boards");
}

TEST_F(JoinedMeasurements, AtAnotherClockAreDoubted) {
  const MeasuredKit a, b;
  const auto doubts_at = [&](const std::string& clock) {
    for (std::size_t i = 0; i < 3; ++i) {
      a.measure(i, 1, "clocks_before=918\nclocks_moved=no\n");
      b.measure(i, 1, "clocks_before=" + clock + "\nclocks_moved=no\n");
    }
    return read_joined({a.path(), b.path()}, space(), Quantity::latency).measured.doubts;
  };
  EXPECT_TRUE(doubts_at("900").empty());
  ASSERT_EQ(doubts_at("483").size(), 1u);
  EXPECT_EQ(doubts_at("483")[0], b.path().string() +
                                     ": its networks ran at a clock of 483, those of the kit before it at 918; measure "
                                     "both at one");
}

TEST_F(JoinedMeasurements, OfOtherSettingsAreRefusedOrDoubted) {
  const MeasuredKit a, b;
  const auto joined = [&] { return read_joined({a.path(), b.path()}, space(), Quantity::latency); };
  EXPECT_TRUE(joined().measured.doubts.empty());
  const std::size_t left_out = joined().measured.left_out();
  b.put("before.txt", "machine=aarch64\npower_mode=15W\n");
  ASSERT_EQ(joined().measured.doubts.size(), 1u);
  EXPECT_EQ(joined().measured.doubts[0].find(b.path().string() +
                                             ": its power mode is '15W', that of the sources before it 'MAXN'"),
            0u)
      << joined().measured.doubts[0];
  EXPECT_EQ(joined().warnings().front(), joined().measured.doubts[0]);
  EXPECT_EQ(joined().measured.left_out(), left_out + 1) << "which --strict refuses";
  b.put("before.txt", "machine=aarch64\npower_mode=MAXN\n");
  b.put("kit.txt", "kit=" + b.manifest.id + "\nbackend=trtexec\nprecision=fp32\nthreads=1\n");
  EXPECT_EQ(joined().measured.doubts.size(), 1u) << "another runtime";
  for (const char* settings : {"precision=fp16\nthreads=1\n", "precision=fp32\nthreads=4\n",
                               "precision=fp32\nthreads=1\noptimization=basic\n"}) {
    b.put("kit.txt", "kit=" + b.manifest.id + "\nbackend=custom\n" + settings);
    const std::string message = message_of([&] { joined(); });
    EXPECT_EQ(message.find(b.path().string() + ": its precision is '"), 0u) << settings << message;
  }
  b.put("kit.txt", "kit=" + b.manifest.id + "\nbackend=unknown\n");  // as of what was imported from a CSV
  EXPECT_EQ(joined().measured.doubts.size(), 0u);
}

TEST_F(JoinedMeasurements, OfRoundsThatContradictEachOtherAreDoubted) {
  const auto joined = [&](double factor) {
    return read_joined(
        {table("a.csv", {{7, 10}, {8, 20}, {9, 5}}), table("b.csv", {{7, 10 * factor}, {8, 20 * factor}, {9, 5.1}})},
        space(), Quantity::latency);
  };
  EXPECT_TRUE(joined(1.1).measured.doubts.empty());
  EXPECT_EQ(joined(1.1).measured.left_out(), 0u);
  EXPECT_EQ(joined(1.6).measured.doubts.size(), 1u);
  EXPECT_EQ(joined(1.6).measured.left_out(), 1u);
}

TEST_F(JoinedMeasurements, WarnOfWhatIsLeftOutOrDoubtfulOfAnySource) {
  const MeasuredKit kit;
  write_file_quickly(kit.result(0) / "failed.txt", "no memory\n");
  write_file_quickly(folder_.path() / "more.csv",
                     "architecture,latency_ms\nnonsense,2\n" + space().format(space().at(9)) + ",3\n");
  const std::vector<std::string> warnings =
      read_joined({kit.path(), folder_.path() / "more.csv"}, space(), Quantity::latency).warnings();
  EXPECT_NE(warnings.front().find("failed on the device: no memory"), std::string::npos) << warnings.front();
  EXPECT_NE(warnings.back().find("'nonsense' is no architecture"), std::string::npos) << warnings.back();
  EXPECT_TRUE(read_joined({table("a.csv", {{7, 10}})}, space(), Quantity::latency).warnings().empty());
}

}  // namespace
}  // namespace tenshot::datasets
