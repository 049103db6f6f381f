#include "datasets/tables/measurements.h"

#include <gtest/gtest.h>

#include <cmath>
#include <ostream>

#include "nasbench/support/files.h"
#include "tests/unit/datasets/fixtures.h"

namespace tenshot::datasets {
namespace {

Measurements parse(const std::string& text) { return parse_measurements(text, "m.csv", space()); }

TEST(Findings, CountEveryEntryAndKeepTheFirstHundred) {
  Findings findings;
  for (int i = 0; i < 150; ++i) findings.add({Problem::zero, "f", 2, "c", "0"});
  Findings more;
  more.add({Problem::duplicate, "g", 3, "architecture", "x"});
  findings.add(more);
  EXPECT_EQ(findings.total(), 151U);
  EXPECT_EQ(findings.counts().at(Problem::zero), 150U);
  EXPECT_EQ(findings.counts().count(Problem::negative), 0U);
  EXPECT_EQ(findings.first().size(), Findings::kept);
  EXPECT_EQ(findings.summary(), "151 entries left out: 150 zero, 1 duplicate");
  EXPECT_EQ(Findings().summary(), "");
}

TEST(Findings, ShowValuesFitForOneLine) {
  EXPECT_EQ(excerpt("plain µ"), "plain µ");
  EXPECT_EQ(excerpt(std::string_view("a\0b\nc\x7F", 6)), "a?b?c?");
  EXPECT_EQ(excerpt("\xFF\xC3|\xED\xA0\x80\xF4\x90\x80\x80"), "??|???????");
  EXPECT_EQ(excerpt(std::string(61, 'x')), std::string(60, 'x') + "…");
  EXPECT_EQ(excerpt(std::string(60, 'x')), std::string(60, 'x'));
}

TEST(Measurements, ReadsEveryColumnAndIgnoresOthers) {
  const Measurements m = parse("note,runs,latency_ms,architecture,stddev_ms\nx,50,1.5," + text_of(7) + ",0.25\n");
  ASSERT_EQ(m.rows.size(), 1U);
  EXPECT_EQ(m.rows[0].architecture, space().at(7));
  EXPECT_EQ(m.rows[0].latency_ms, 1.5);
  EXPECT_EQ(m.rows[0].stddev_ms, 0.25);
  EXPECT_EQ(m.rows[0].runs, 50);
  EXPECT_EQ(m.entries, 1U);
  EXPECT_TRUE(m.findings.empty());
}

TEST(Measurements, LeavesOptionalColumnsUnknownWhereTheyAreEmpty) {
  const Measurements m = parse("architecture,latency_ms,stddev_ms,runs\n" + text_of(7) + ",1.5,,\n");
  ASSERT_EQ(m.rows.size(), 1U);
  EXPECT_TRUE(std::isnan(m.rows[0].stddev_ms));
  EXPECT_EQ(m.rows[0].runs, 0);
  EXPECT_TRUE(m.findings.empty());
}

struct BadEntry {
  std::string row;  ///< "A" stands for an architecture
  Problem problem;
  std::string message;  ///< without "m.csv:3: "
};

void PrintTo(const BadEntry& entry, std::ostream* stream) { *stream << entry.message; }

class BadEntries : public ::testing::TestWithParam<BadEntry> {};

TEST_P(BadEntries, BecomeOneFindingAndTheRestIsRead) {
  std::string row = GetParam().row;
  if (const auto place = row.find('A'); place != std::string::npos) row.replace(place, 1, text_of(2));
  const Measurements m = parse("architecture,latency_ms\n" + text_of(1) + ",4\n" + row + "\n" + text_of(3) + ",5.5\n");
  ASSERT_EQ(m.rows.size(), 2U);
  EXPECT_EQ(m.rows[0].latency_ms, 4);
  EXPECT_EQ(m.rows[1].latency_ms, 5.5);
  EXPECT_EQ(m.rows[0].architecture, space().at(1));
  EXPECT_EQ(m.rows[1].architecture, space().at(3));
  EXPECT_EQ(m.entries, 3U);
  ASSERT_EQ(m.findings.total(), 1U);
  EXPECT_EQ(m.findings.counts().at(GetParam().problem), 1U);
  EXPECT_EQ(m.findings.first()[0].message(), "m.csv:3: " + GetParam().message + "; left out");
}

INSTANTIATE_TEST_SUITE_P(
    Latency, BadEntries,
    ::testing::Values(BadEntry{"A,", Problem::missing, "column latency_ms: no value"},
                      BadEntry{"A,  ", Problem::missing, "column latency_ms: no value"},
                      BadEntry{"A,nan", Problem::missing, "column latency_ms: 'nan' is a missing value"},
                      BadEntry{"A,-NaN", Problem::missing, "column latency_ms: '-NaN' is a missing value"},
                      BadEntry{"A,NA", Problem::missing, "column latency_ms: 'NA' is a missing value"},
                      BadEntry{"A,n/a", Problem::missing, "column latency_ms: 'n/a' is a missing value"},
                      BadEntry{"A,0", Problem::zero, "column latency_ms: '0' is zero"},
                      BadEntry{"A,-0.0", Problem::zero, "column latency_ms: '-0.0' is zero"},
                      BadEntry{"A,-3", Problem::negative, "column latency_ms: '-3' is negative"},
                      BadEntry{"A,inf", Problem::not_finite, "column latency_ms: 'inf' is not finite"},
                      BadEntry{"A,-inf", Problem::not_finite, "column latency_ms: '-inf' is not finite"},
                      BadEntry{"A,12 ms", Problem::not_a_number, "column latency_ms: '12 ms' is not a number"},
                      BadEntry{"A,0x10", Problem::not_a_number, "column latency_ms: '0x10' is not a number"},
                      BadEntry{"A,\"1,5\"", Problem::not_a_number,
                               "column latency_ms: '1,5' is not a number: decimals are written with a point"},
                      BadEntry{std::string("A,\0", 3), Problem::not_a_number,
                               "column latency_ms: '?' is not a number"}));

INSTANTIATE_TEST_SUITE_P(
    Row, BadEntries,
    ::testing::Values(BadEntry{",5", Problem::missing, "column architecture: no value"},
                      BadEntry{"resnet50,5", Problem::unknown_architecture,
                               "column architecture: 'resnet50' is no architecture of this space"},
                      BadEntry{text_of(1) + ",9", Problem::duplicate,
                               "column architecture: '" + excerpt(text_of(1)) + "' stood in an earlier row"},
                      BadEntry{"A", Problem::field_count, "the row has 1 field where the header has 2"},
                      BadEntry{"A,5,6", Problem::field_count, "the row has 3 fields where the header has 2"}));

TEST(Measurements, KeepARowWhoseOptionalColumnsAreUnusable) {
  const Measurements m =
      parse("architecture,latency_ms,stddev_ms,runs\n" + text_of(1) + ",4,-1,many\n" + text_of(2) + ",5,0,-2\n");
  ASSERT_EQ(m.rows.size(), 2U);
  EXPECT_TRUE(std::isnan(m.rows[0].stddev_ms));
  EXPECT_EQ(m.rows[1].stddev_ms, 0);
  ASSERT_EQ(m.findings.total(), 3U);
  EXPECT_EQ(m.findings.first()[0].column, "stddev_ms");
  EXPECT_EQ(m.findings.first()[1].column, "runs");
  EXPECT_EQ(m.findings.first()[1].value, "many");
  EXPECT_EQ(m.findings.counts().at(Problem::negative), 2U);
}

TEST(Measurements, ARowBehindAnUnusableOneOfTheSameArchitectureCounts) {
  const Measurements m = parse("architecture,latency_ms\n" + text_of(1) + ",nan\n" + text_of(1) + ",5\n");
  ASSERT_EQ(m.rows.size(), 1U);
  EXPECT_EQ(m.rows[0].latency_ms, 5);
  EXPECT_EQ(m.findings.total(), 1U);
}

TEST(Measurements, RecogniseWholeMillisecondsFromFiveValues) {
  EXPECT_TRUE(are_whole_milliseconds({1, 2, 3, 4, 5}));
  EXPECT_FALSE(are_whole_milliseconds({1, 2, 3, 4}));
  EXPECT_FALSE(are_whole_milliseconds({1, 2, 3, 4, 5.5}));
  EXPECT_FALSE(are_whole_milliseconds({}));
  EXPECT_TRUE(are_whole_milliseconds({1, 2, std::nan(""), 4, 5}));
}

TEST(Measurements, RefuseATableWithoutItsColumns) {
  EXPECT_EQ(
      message_of([] { parse("architecture,latency\nx,1\n"); }),
      "m.csv:1: the header has no column 'latency_ms'; found 'architecture', 'latency', expected "
      "architecture,latency_ms[,stddev_ms,runs]; dataset import --table reads tables of devices, and benchncnn's logs");
  EXPECT_NE(message_of([] { parse(text_of(1) + ",5\n"); }).find("no column 'architecture'"), std::string::npos);
  EXPECT_NE(message_of([] { parse(""); }).find("m.csv: is empty"), std::string::npos);
}

TEST(Measurements, ReadBackExactlyWhatWasWritten) {
  Rng rng(4);
  const DeviceRuntime device = random_device("d", 500, rng);
  const TemporaryFolder folder;
  const auto path = folder.path() / "m.csv";
  write_measurements(path, device.latencies, space());
  const Measurements read = read_measurements(path, space());
  EXPECT_TRUE(read.findings.empty());
  ASSERT_EQ(read.rows.size(), device.latencies.size());
  for (std::size_t i = 0; i < read.rows.size(); ++i) {
    const Measurement& written = device.latencies[i];
    EXPECT_EQ(read.rows[i].architecture, written.architecture);
    EXPECT_EQ(read.rows[i].latency_ms, written.latency_ms);
    EXPECT_EQ(read.rows[i].runs, written.runs);
    EXPECT_TRUE(read.rows[i].stddev_ms == written.stddev_ms ||
                (std::isnan(read.rows[i].stddev_ms) && std::isnan(written.stddev_ms)));
  }
}

TEST(Measurements, KeepTheSentinelOfTheRowsThatHaveOne) {
  const TemporaryFolder folder;
  const auto path = folder.path() / "m.csv";
  std::vector<Measurement> rows = {{space().at(1), 1.5, 0.1, 7}, {space().at(2), 2.5, 0.1, 7, 0.75}};
  write_measurements(path, rows, space());
  const Measurements read = read_measurements(path, space());
  EXPECT_TRUE(read.findings.empty());
  ASSERT_EQ(read.rows.size(), 2u);
  EXPECT_TRUE(std::isnan(read.rows[0].sentinel_ms));
  EXPECT_EQ(read.rows[1].sentinel_ms, 0.75);
  rows.pop_back();
  write_measurements(path, rows, space());
  EXPECT_EQ(read_file(path).find("sentinel"), std::string::npos) << "a table without sentinels has no column for them";
}

TEST(Measurements, NameTheFileThatIsNotThere) {
  EXPECT_THROW(read_measurements("no/such/file.csv", space()), FileError);
}

TEST(ReadArchitectures, TakesEachOnceInTheFilesOrder) {
  const TemporaryFolder folder;
  const auto path = folder.path() / "archs.csv";
  write_file_atomically(
      path, "rank,architecture\n1," + text_of(9) + "\n2," + text_of(4) + "\n3," + text_of(9) + "\n4,|bogus|\n5,\n");
  const ArchitectureList list = read_architectures(path, space());
  EXPECT_EQ(list.architectures, (std::vector<Architecture>{space().at(9), space().at(4)}));
  EXPECT_EQ(list.findings.total(), 3U);
  EXPECT_EQ(list.findings.counts().at(Problem::duplicate), 1U);
  EXPECT_EQ(list.findings.counts().at(Problem::unknown_architecture), 1U);
  EXPECT_EQ(list.findings.counts().at(Problem::missing), 1U);
}

}  // namespace
}  // namespace tenshot::datasets
