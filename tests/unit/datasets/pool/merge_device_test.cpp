#include <gtest/gtest.h>

#include "datasets/pool/joined_pools.h"
#include "nasbench/support/error.h"
#include "tests/unit/datasets/fixtures.h"

namespace tenshot::datasets {
namespace {

DeviceRuntime board(std::vector<Measurement> latencies) {
  DeviceRuntime device;
  device.id = "board_trtexec";
  device.device = "board";
  device.runtime = "trtexec";
  device.latencies = std::move(latencies);
  return device;
}

TEST(AddEarlier, KeepsWhatWasNotMeasuredAgainAndSaysHowFarTheRestAgrees) {
  DeviceRuntime now = board({{space().at(1), 11}, {space().at(2), 20}});
  const std::string text = add_earlier(now, board({{space().at(1), 10}, {space().at(3), 30}}));
  ASSERT_EQ(now.latencies.size(), 3u);
  EXPECT_EQ(now.latencies[0].latency_ms, 11) << "the later value";
  EXPECT_EQ(now.latencies[2].latency_ms, 30);
  EXPECT_EQ(text,
            "board_trtexec: was in the pool; networks kept from there: 1, measured again: 1 (the new values count; "
            "they differ "
            "by 10 % typically and 10 % at most)");
}

TEST(AddEarlier, AsksForTheUnitWhereLatenciesDifferByAThousand) {
  DeviceRuntime now = board({{space().at(1), 0.0101}, {space().at(2), 0.019}});
  const std::string text = add_earlier(now, board({{space().at(1), 10}, {space().at(2), 20}}));
  EXPECT_NE(text.find("the earlier one has about a thousand times the latencies of the new one for the same networks"),
            std::string::npos)
      << text;
}

TEST(AddEarlier, RefusesAnotherBoardOfThatName) {
  DeviceRuntime now = board({{space().at(1), 11}}), other = board({{space().at(2), 20}});
  other.device = "another board";
  EXPECT_NE(message_of([&] { add_earlier(now, other); }).find("has the board 'another board', and this is of 'board'"),
            std::string::npos);
  EXPECT_EQ(now.latencies.size(), 1u);
}

TEST(AddEarlier, TakesTheSettingsThatATableDoesNotSay) {
  const DeviceRuntime said = board({{space().at(1), 11}});
  DeviceRuntime table = board({{space().at(2), 20}});
  table.device = table.id;
  table.runtime = "unknown";
  table.batch = 0;
  DeviceRuntime now = table;
  add_earlier(now, said);
  EXPECT_EQ(now.device, "board");
  EXPECT_EQ(now.runtime, "trtexec");
  EXPECT_EQ(now.batch, 1);
  now = said;
  add_earlier(now, table);
  EXPECT_EQ(now.device, "board");
  EXPECT_EQ(now.runtime, "trtexec");
}

TEST(AddEarlier, OfOneModelTellsBoardsApartWhereTheirKitsDo) {
  DeviceRuntime now = board({{space().at(1), 11}}), other = board({{space().at(2), 20}});
  now.environment = R"({"before":{"board_id":"aaa"},"after":{"board_id":"aaa"}})";
  other.environment = R"({"before":{"board_id":"bbb"}})";
  EXPECT_NE(message_of([&] { add_earlier(now, other); }).find("has the board 'bbb', and this is of 'aaa'"),
            std::string::npos);
  other.environment = now.environment;
  add_earlier(now, other);
  EXPECT_EQ(board_of(now), "aaa");
  other.environment = R"({"before":{}})";  // a fleet
  add_earlier(now, other);
  EXPECT_EQ(now.environment, R"({"after":{},"before":{}})");
}

}  // namespace
}  // namespace tenshot::datasets
