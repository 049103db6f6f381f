#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <ostream>
#include <set>

#include "datasets/pool/pool.h"
#include "datasets/pool/wide_table_file.h"
#include "datasets/tables/quantity.h"
#include "nasbench/support/files.h"
#include "tests/unit/datasets/fixtures.h"

namespace tenshot::datasets {
namespace {

Pool parse(const std::string& text, const WideTableOptions& options = {}) {
  return parse_wide_table(text, "w.csv", space(), options);
}

std::vector<std::string> ids_of(const Pool& pool) {
  std::vector<std::string> ids;
  for (const DeviceRuntime& device : pool.devices) ids.push_back(device.id);
  return ids;
}

std::vector<double> latencies_of(const DeviceRuntime& device) {
  std::vector<double> values;
  for (const Measurement& row : device.latencies) values.push_back(row.latency_ms);
  return values;
}

/// Three devices, four rows, indices 10, 11, 12, 13.
std::string small_table() {
  return "index,architecture,a,b,c\n10," + text_of(0) + ",1,2,3\n11," + text_of(1) + ",4,5,6\n12," + text_of(2) +
         ",7,8,9\n13," + text_of(3) + ",10,11,12\n";
}

TEST(WideTable, MakesADeviceOfEveryColumn) {
  const Pool pool = parse(small_table());
  EXPECT_EQ(pool.space, &space());
  EXPECT_EQ(ids_of(pool), (std::vector<std::string>{"a", "b", "c"}));
  EXPECT_EQ(latencies_of(pool.devices[1]), (std::vector<double>{2, 5, 8, 11}));
  EXPECT_EQ(pool.devices[2].latencies[3].architecture, space().at(3));
  EXPECT_EQ(pool.devices[0].descriptor.source, "none");
  EXPECT_TRUE(pool.findings.empty());
}

TEST(WideTable, ReadsLatenciesInTheirUnit) {
  WideTableOptions options;
  options.unit_ms = milliseconds_of("us");
  EXPECT_EQ(latencies_of(parse(small_table(), options).devices[1]), (std::vector<double>{2e-3, 5e-3, 8e-3, 11e-3}));
  EXPECT_EQ(milliseconds_of("s"), 1000);
  EXPECT_EQ(message_of([] { milliseconds_of("minutes"); }), "unit 'minutes': expected s, ms or us");
}

TEST(WideTable, ReadsTheDevicesAskedForInThatOrder) {
  const Pool pool = parse(small_table(), {{"c", "a"}, {}});
  EXPECT_EQ(ids_of(pool), (std::vector<std::string>{"c", "a"}));
  EXPECT_EQ(latencies_of(pool.devices[0]), (std::vector<double>{3, 6, 9, 12}));
}

TEST(WideTable, TakesNothingBesideTheMeasurementsForADevice) {
  std::string table = "architecture,board,stddev_ms,runs,sentinel_ms\n" + text_of(0) + ",1,0.1,20,3\n";
  EXPECT_EQ(ids_of(parse(table)), (std::vector<std::string>{"board"}));
  table = "architecture,params_m,gflops,top1,board,board_std,board_fps\n" + text_of(0) + ",1,2,70,3,0.1,333\n";
  EXPECT_EQ(ids_of(parse(table)), (std::vector<std::string>{"board"}));
  table = "architecture,Index,id,row,Accuracy,Params,FLOPs,Board\n" + text_of(0) + ",1,2,3,70,4,5,3\n";
  EXPECT_EQ(ids_of(parse(table)), (std::vector<std::string>{"Board"}));
}

TEST(WideTable, RefusesATableOfARowForEachDevice) {
  for (const char* column : {"device", "Device", "device_id"}) {
    const auto read = [&] {
      parse("architecture," + std::string(column) + ",latency_ms\n" + text_of(0) + ",board,3\n");
    };
    EXPECT_NE(message_of(read).find("expected a column for each device"), std::string::npos);
  }
}

TEST(WideTable, ReadsMicrosecondsWhereThatIsSaid) {
  WideTableOptions options;
  options.unit_ms = milliseconds_of("us");
  EXPECT_EQ(latencies_of(parse("architecture,board_us\n" + text_of(0) + ",2\n", options).devices[0]),
            (std::vector<double>{2e-3}));
}

TEST(WideTable, RefusesAColumnOfAnotherUnitThanIsSaid) {
  WideTableOptions options;
  options.unit_ms = milliseconds_of("us");
  for (const char* column : {"cpu_ms", "CPU_s"}) {
    EXPECT_NE(message_of([&] {
                parse("architecture," + std::string(column) + "\n" + text_of(0) + ",2\n", options);
              }).find("seems to be in another unit; say"),
              std::string::npos);
  }
}

TEST(WideTable, AnArchitectureWithoutAValueMayComeAgain) {
  const Pool pool = parse("architecture,a,b\n" + text_of(0) + ",nan,\n" + text_of(0) + ",3,4\n");
  EXPECT_EQ(latencies_of(pool.devices[0]), (std::vector<double>{3}));
  EXPECT_EQ(pool.findings.total(), 2u);
}

TEST(WideTable, IgnoresAnUnnamedColumn) {
  EXPECT_EQ(ids_of(parse(",architecture,a\n0," + text_of(0) + ",1\n")), (std::vector<std::string>{"a"}));
}

TEST(WideTable, SelectsRowsByTheirIndex) {
  EXPECT_EQ(latencies_of(parse(small_table(), {{"a"}, RowRange{11, 13}}).devices[0]), (std::vector<double>{4, 7}));
}

TEST(WideTable, SelectsRowsByTheirPositionWithoutAnIndex) {
  const std::string text = "architecture,a\n" + text_of(0) + ",1\n" + text_of(1) + ",2\n" + text_of(2) + ",3\n";
  EXPECT_EQ(latencies_of(parse(text, {{}, RowRange{1, 3}}).devices[0]), (std::vector<double>{2, 3}));
}

TEST(WideTable, CountsARowThatIsCutShortAsAPosition) {
  const std::string text = "architecture,a\n" + text_of(0) + "\n" + text_of(1) + ",2\n" + text_of(2) + ",3\n";
  const Pool pool = parse(text, {{}, RowRange{1, 2}});
  EXPECT_EQ(latencies_of(pool.devices[0]), (std::vector<double>{2}));
}

TEST(WideTable, LeavesOutTheEntryNotTheRow) {
  const std::string text =
      "architecture,a,b\n" + text_of(0) + ",0,2\n" + text_of(1) + ",-4,nan\n" + text_of(2) + ",inf,x\n";
  const Pool pool = parse(text);
  EXPECT_TRUE(pool.devices[0].latencies.empty());
  EXPECT_EQ(latencies_of(pool.devices[1]), (std::vector<double>{2}));
  EXPECT_EQ(pool.findings.summary(), "5 entries left out: 1 missing, 1 not a number, 1 zero, 1 negative, 1 not finite");
  EXPECT_EQ(pool.findings.first()[1].message(), "w.csv:3: column a: '-4' is negative; left out");
}

TEST(WideTable, CountsTheFirstRowOfAnArchitecture) {
  const Pool pool = parse("architecture,a\n" + text_of(0) + ",1\n" + text_of(0) + ",2\n|x|,3\n" + text_of(1) + "\n");
  EXPECT_EQ(latencies_of(pool.devices[0]), (std::vector<double>{1}));
  EXPECT_EQ(pool.findings.summary(), "3 entries left out: 1 duplicate, 1 unknown architecture, 1 field count");
}

TEST(WideTable, NamesARowWithoutAnIndexWhenRowsAreSelected) {
  const Pool pool =
      parse("index,architecture,a\n0," + text_of(0) + ",1\nx," + text_of(1) + ",2\n", {{}, RowRange{0, 9}});
  ASSERT_EQ(pool.findings.total(), 1U);
  EXPECT_EQ(pool.findings.first()[0].message(), "w.csv:3: column index: 'x' is not a number; left out");
}

struct BadTable {
  std::string text;
  std::vector<std::string> devices;
  std::optional<RowRange> rows;
  std::string fragment;
};

void PrintTo(const BadTable& table, std::ostream* stream) { *stream << table.fragment; }

class BadTables : public ::testing::TestWithParam<BadTable> {};

TEST_P(BadTables, AreRefusedWithAMessageThatNamesTheFault) {
  const std::string message = message_of([] {
    WideTableOptions options;
    options.devices = GetParam().devices;
    options.rows = GetParam().rows;
    parse(GetParam().text, options);
  });
  EXPECT_EQ(message.substr(0, 5), "w.csv") << message;
  EXPECT_NE(message.find(GetParam().fragment), std::string::npos) << message;
  EXPECT_EQ(message.find('\n'), std::string::npos) << message;
}

INSTANTIATE_TEST_SUITE_P(
    Table, BadTables,
    ::testing::Values(
        BadTable{"", {}, {}, "is empty"},
        BadTable{"architecture,latency_s\n" + text_of(0) + ",1\n", {}, {}, "'latency_s' seems to be in another unit"},
        BadTable{"arch,a\nx,1\n", {}, {}, "no column 'architecture'; found 'arch', 'a'"},
        BadTable{"architecture,index\n", {}, {}, "no column of latencies"},
        BadTable{"architecture;a\n", {}, {}, "columns are separated by ';'; save the table with commas"},
        BadTable{"architecture\ta\n", {}, {}, "columns are separated by tabs"},
        BadTable{
            "architecture,energy_mj\n", {}, {}, "'energy_mj' is of energy, asked for latency; say --quantity energy"},
        BadTable{"architecture,board_us\n", {}, {}, "'board_us' seems to be in another unit; say"},
        BadTable{"architecture,a,b,a\n", {}, {}, "column 'a' twice"},
        BadTable{"architecture,a,../evil\n", {}, {}, "column '../evil' cannot name a device-runtime"},
        BadTable{"architecture,Titan RTX\n", {}, {}, "column 'Titan RTX' cannot name"},
        BadTable{small_table(), {"a", "z"}, {}, "no column 'z'; the devices of this table are 'a', 'b', 'c'"},
        BadTable{small_table(), {"a", "a"}, {}, "'a' is asked for twice"},
        BadTable{small_table(), {}, RowRange{0, 10}, "no row from 0 up to 10 (exclusive); its rows are 10 to 13"},
        BadTable{"architecture,a\n", {}, RowRange{0, 10}, "the table has no rows"},
        BadTable{"architecture,a\n\"x", {}, {}, "w.csv:2: a quoted field is never closed"}));

TEST(ParseRowRange, ReadsHalfOpenRanges) {
  EXPECT_EQ(parse_row_range("0:900").begin, 0);
  EXPECT_EQ(parse_row_range("1800:2700").end, 2700);
}

TEST(ParseRowRange, RefusesEverythingElse) {
  for (const char* text : {"", ":", "5", "5:5", "9:3", "-1:3", "a:b", "0:9:2", ":900", "0:99999999999999999999"}) {
    EXPECT_THROW(parse_row_range(text), InputError) << text;
  }
}

TEST(PublicTable, HasTwentySevenDevicesOverTheWholeSpace) {
  TENSHOT_REQUIRE_PUBLIC_TABLE(table);
  const Pool pool = read_wide_table(*table, space(), {});
  EXPECT_TRUE(pool.findings.empty()) << pool.findings.summary();
  ASSERT_EQ(pool.devices.size(), 27U);
  std::set<std::string> whole_milliseconds;
  for (const DeviceRuntime& device : pool.devices) {
    EXPECT_EQ(device.latencies.size(), 15625U) << device.id;
    if (are_whole_milliseconds(latencies_of(device))) whole_milliseconds.insert(device.id);
  }
  EXPECT_EQ(whole_milliseconds, (std::set<std::string>{"essential_ph_1", "pixel2", "samsung_a50", "samsung_s7"}));
  EXPECT_EQ(pool.find("fpga")->latencies.front().latency_ms, 2.57296);
  EXPECT_EQ(pool.find("titanxp_32")->latencies.back().latency_ms, 11.0207);
  EXPECT_EQ(latency_matrix(pool).architectures.size(), 15625U);
}

TEST(PublicTable, GivesTheRowsSelected) {
  TENSHOT_REQUIRE_PUBLIC_TABLE(table);
  const Pool pool = read_wide_table(*table, space(), {{"pixel3", "raspi4"}, parse_row_range("0:900")});
  EXPECT_EQ(ids_of(pool), (std::vector<std::string>{"pixel3", "raspi4"}));
  for (const DeviceRuntime& device : pool.devices) EXPECT_EQ(device.latencies.size(), 900U);
}

TEST(PublicTable, SurvivesThePoolFolder) {
  TENSHOT_REQUIRE_PUBLIC_TABLE(table);
  const Pool pool = read_wide_table(*table, space(), {{"raspi4", "pixel2", "1080ti_1"}, {}});
  const TemporaryFolder folder;
  write_pool(folder.path(), pool);
  EXPECT_EQ(content_hash(read_pool(folder.path())), content_hash(pool));
}

std::map<std::string, std::string> files_below(const std::filesystem::path& folder) {
  std::map<std::string, std::string> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (entry.is_regular_file()) {
      files[std::filesystem::relative(entry.path(), folder).string()] = read_file(entry.path());
    }
  }
  return files;
}

TEST(WideTableFile, WritesThePoolThatTheTableIs) {
  const TemporaryFolder folder;
  const std::string text = small_table() + "14," + text_of(4) + ",,nan,-1\n15,nonsense,1,2,3\n16," + text_of(1) +
                           ",7,7,7\n17," + text_of(6) + ",5,4.5,\n";
  write_file_atomically(folder.path() / "w.csv", text);
  const Pool pool = parse(text);
  write_pool(folder.path() / "whole", pool);
  const WideTableFile file(folder.path() / "w.csv", space(), {}, folder.path() / "pieces");
  file.write_pool(folder.path() / "pieces");
  EXPECT_EQ(files_below(folder.path() / "pieces"), files_below(folder.path() / "whole"));
  EXPECT_EQ(file.findings().summary(), pool.findings.summary());
  EXPECT_TRUE(file.columns()[0].whole_milliseconds);
  EXPECT_FALSE(file.columns()[1].whole_milliseconds);
  EXPECT_FALSE(file.columns()[2].whole_milliseconds);  // four are too few to tell
}

TEST(WideTableFile, LeavesOutAColumnWithoutLatencies) {
  const TemporaryFolder folder;
  write_file_atomically(folder.path() / "w.csv", "architecture,a,b\n" + text_of(3) + ",1,\n" + text_of(4) + ",2,x\n");
  const WideTableFile file(folder.path() / "w.csv", space(), {}, folder.path() / "pool");
  file.write_pool(folder.path() / "pool");
  EXPECT_EQ(file.columns()[1].usable, 0U);
  EXPECT_EQ(ids_of(read_pool(folder.path() / "pool")), (std::vector<std::string>{"a"}));
}

TEST(ColumnSpool, GivesColumnsBackFromDiskAndMemory) {
  const TemporaryFolder folder;
  constexpr std::size_t columns = 700, rows = 7000;  // two blocks of 16 MB, and a part of one
  ColumnSpool spool(folder.path() / "not" / "there", columns);
  std::vector<double> row(columns);
  for (std::size_t r = 0; r < rows; ++r) {
    for (std::size_t c = 0; c < columns; ++c) row[c] = static_cast<double>(r * columns + c);
    spool.append(row);
  }
  for (const std::size_t c : {std::size_t{0}, std::size_t{1}, columns - 1}) {
    const std::vector<double> column = spool.column(c);
    ASSERT_EQ(column.size(), rows);
    for (std::size_t r = 0; r < rows; ++r) ASSERT_EQ(column[r], static_cast<double>(r * columns + c));
  }
  EXPECT_TRUE(files_below(folder.path()).empty());
}

}  // namespace
}  // namespace tenshot::datasets
