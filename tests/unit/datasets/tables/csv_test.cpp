#include "datasets/tables/csv.h"

#include <gtest/gtest.h>

#include "tests/unit/datasets/fixtures.h"

namespace tenshot::datasets {
namespace {

using Rows = std::vector<std::vector<std::string>>;

Rows rows_of(std::string_view text) {
  CsvReader csv(text, "t.csv");
  Rows rows;
  while (csv.next()) rows.emplace_back(csv.fields().begin(), csv.fields().end());
  return rows;
}

TEST(CsvReader, SplitsRowsAndKeepsEmptyFields) {
  EXPECT_EQ(rows_of("a,b,c\n1,,3\n,,\n"), (Rows{{"1", "", "3"}, {"", "", ""}}));
}

/// The same from pieces of `piece` bytes.
Rows rows_in_pieces(std::string_view text, std::size_t piece) {
  CsvReader csv(
      [text, piece](std::string& buffer, std::size_t) mutable {
        const std::size_t given = std::min(piece, text.size());
        buffer.append(text.substr(0, given));
        text.remove_prefix(given);
        return given > 0;
      },
      "t.csv");
  Rows rows;
  while (csv.next()) rows.emplace_back(csv.fields().begin(), csv.fields().end());
  return rows;
}

TEST(CsvReader, ReadsPiecesOfAnySizeAsTheWhole) {
  const std::string tables[] = {"a,b\n1,2\n3,4\n",
                                "\xEF\xBB\xBF"
                                "a,b\r\n1,2\r\n\r\n3,\"4\"\r\n",
                                "a,b\n\"1,5\",\"two\nlines\"\n\"say \"\"x\"\"\",\"\"\n",
                                "a,b,c\n1,,3\n,,\n\n\n7,\"\",\"\"\"\"", "a\n\"\r\n\"\r\nlast"};
  for (const std::string& table : tables) {
    for (std::size_t piece = 1; piece <= table.size(); ++piece) {
      EXPECT_EQ(rows_in_pieces(table, piece), rows_of(table)) << table << " in pieces of " << piece;
    }
  }
}

TEST(CsvReader, NamesTheSameLineOfAPieceAsOfTheWhole) {
  for (const std::string& table :
       {std::string("a,b\n1,\"x\ny\"\n\"2,3\n"), std::string("a,b\n\n1,2\n3,\"x\"y\n"), std::string()}) {
    const std::string expected = message_of([&] { rows_of(table); });
    for (std::size_t piece = 1; piece <= 3; ++piece) {
      const std::string found = message_of([&] { rows_in_pieces(table, piece); });
      EXPECT_EQ(found.substr(0, found.find('\'')), expected.substr(0, expected.find('\'')));
    }
  }
}

TEST(CsvReader, TreatsBothLineEndsAndAMissingLastOneAlike) {
  const Rows expected = {{"1", "2"}, {"3", "4"}};
  EXPECT_EQ(rows_of("a,b\n1,2\n3,4\n"), expected);
  EXPECT_EQ(rows_of("a,b\r\n1,2\r\n3,4\r\n"), expected);
  EXPECT_EQ(rows_of("a,b\r\n1,2\r\n3,4"), expected);
  EXPECT_EQ(rows_of("a,b\n1,\"2\"\r\n3,\"4\"\r"), expected);
}

TEST(CsvReader, SkipsTheByteOrderMarkAndTrimsNames) {
  const CsvReader csv("\xEF\xBB\xBF latency_ms ,b\n", "t.csv");
  EXPECT_EQ(csv.header(), (std::vector<std::string>{"latency_ms", "b"}));
}

TEST(CsvReader, UnquotesFieldsThatHoldSeparatorsLineEndsAndQuotes) {
  EXPECT_EQ(rows_of("a,b\n\"1,5\",\"two\nlines\"\n\"say \"\"x\"\"\",\"\"\n"),
            (Rows{{"1,5", "two\nlines"}, {"say \"x\"", ""}}));
}

TEST(CsvReader, CountsLinesThroughBlankOnesAndQuotedLineEnds) {
  CsvReader csv("\n\na,b\n1,\"x\n\ny\"\n   \n2,z\n", "t.csv");
  EXPECT_EQ(csv.header_line(), 3U);
  ASSERT_TRUE(csv.next());
  EXPECT_EQ(csv.line(), 4U);
  ASSERT_TRUE(csv.next());
  EXPECT_EQ(csv.line(), 8U);
  EXPECT_EQ(csv.fields()[0], "2");
  EXPECT_FALSE(csv.next());
}

TEST(CsvReader, PointsIntoTheTextWhereNothingIsEscaped) {
  const std::string text = "a,b\nplain,\"quoted\"\n";
  CsvReader csv(text, "t.csv");
  ASSERT_TRUE(csv.next());
  EXPECT_EQ(csv.fields()[0].data(), text.data() + 4);
  EXPECT_EQ(csv.fields()[1].data(), text.data() + 11);
}

TEST(CsvReader, ReadsVeryLongFieldsAndNulBytes) {
  const std::string field(5'000'000, 'x');
  const std::string nul("\0\0", 2);
  EXPECT_EQ(rows_of("a,b\n" + field + "," + nul + "\n"), (Rows{{field, nul}}));
}

TEST(CsvReader, RefusesTextWithoutRows) {
  for (const char* text : {"", "\n\r\n  \n", "\xEF\xBB\xBF"}) {
    EXPECT_EQ(message_of([&] { CsvReader(text, "t.csv"); }), "t.csv: is empty, expected CSV with a header");
  }
}

TEST(CsvReader, RefusesUtf16) {
  EXPECT_NE(message_of([] { CsvReader("\xFF\xFE\x61", "t.csv"); }).find("UTF-16"), std::string::npos);
}

TEST(CsvReader, NamesTheLineOfAQuotedFieldThatNeverEnds) {
  EXPECT_EQ(message_of([] { rows_of("a,b\n1,2\n3,\"4\n5,6\n"); }).substr(0, 35), "t.csv:3: a quoted field is never cl");
}

TEST(CsvReader, NamesWhatFollowsAClosingQuote) {
  EXPECT_NE(message_of([] { rows_of("a,b\n\"1\"x,2\n"); }).find("t.csv:2: 'x' follows the closing quote"),
            std::string::npos);
}

TEST(CsvReader, NamesTheColumnsFoundAndExpectedWhenOneIsMissing) {
  EXPECT_EQ(message_of([] { CsvReader("arch,ms\n", "t.csv").require("latency_ms", "architecture,latency_ms"); }),
            "t.csv:1: the header has no column 'latency_ms'; found 'arch', 'ms', expected architecture,latency_ms");
}

TEST(CsvReader, RefusesANeededColumnThatIsThereTwice) {
  EXPECT_NE(message_of([] { CsvReader("a,b,a\n", "t.csv").require("a", "a"); }).find("column 'a' twice"),
            std::string::npos);
}

}  // namespace
}  // namespace tenshot::datasets
