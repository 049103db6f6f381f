#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <vector>

#include "nasbench/spaces/cell.h"
#include "nasbench/spaces/search_space.h"
#include "nasbench/support/error.h"

namespace tenshot::nasbench {
namespace {

constexpr auto none = Operation::none;
constexpr auto skip = Operation::skip_connect;
constexpr auto conv1 = Operation::nor_conv_1x1;
constexpr auto conv3 = Operation::nor_conv_3x3;
constexpr auto pool = Operation::avg_pool_3x3;

const std::string mixed_text =
    "|avg_pool_3x3~0|+|nor_conv_1x1~0|skip_connect~1|+|nor_conv_3x3~0|none~1|skip_connect~2|";
const Cell mixed_cell = {pool, conv1, skip, conv3, none, skip};

std::string rejection(const std::string& text) {
  try {
    nasbench201().parse(text);
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

Cell canonical(const Cell& cell) { return cell_of(nasbench201().canonical(architecture_of(cell))); }
bool connected(const Cell& cell) { return nasbench201().connected(architecture_of(cell)); }

/// Nodes that operations other than none reach from `start`, along the edges or against them.
std::array<bool, node_count> reached(const Cell& cell, int start, bool against) {
  std::array<bool, node_count> reached{};
  reached[static_cast<std::size_t>(start)] = true;
  for (int round = 0; round < node_count; ++round) {
    for (std::size_t e = 0; e < edge_count; ++e) {
      const auto from = static_cast<std::size_t>(against ? edges[e].target : edges[e].source);
      const auto to = static_cast<std::size_t>(against ? edges[e].source : edges[e].target);
      if (cell[e] != none && reached[from]) reached[to] = true;
    }
  }
  return reached;
}

TEST(NasBench201String, IsReadEdgeByEdge) {
  EXPECT_EQ(cell_of(nasbench201().parse(mixed_text)), mixed_cell);
  EXPECT_EQ(nasbench201().format(architecture_of(mixed_cell)), mixed_text);
}

TEST(NasBench201String, AppendsToText) {
  std::string text = "1,";
  nasbench201().append_format(text, architecture_of(mixed_cell));
  EXPECT_EQ(text, "1," + mixed_text);
}

TEST(NasBench201String, AllArchitectures_RoundTrip) {
  std::set<std::string> distinct;
  for (const Architecture& architecture : nasbench201().all()) {
    const std::string text = nasbench201().format(architecture);
    ASSERT_EQ(nasbench201().parse(text), architecture) << text;
    distinct.insert(text);
  }
  EXPECT_EQ(distinct.size(), 15625U);
}

TEST(NasBench201String, Parts_SayTheEdgesOfOneNodeEach) {
  EXPECT_EQ(nasbench201().part_separator(), '+');
  std::array<std::set<std::string>, 3> spellings;
  for (const Architecture& architecture : nasbench201().all()) {
    const std::string text = nasbench201().format(architecture);
    const std::size_t first = text.find('+');
    const std::size_t second = text.find('+', first + 1);
    ASSERT_EQ(text.find('+', second + 1), std::string::npos);
    spellings[0].insert(text.substr(0, first));
    spellings[1].insert(text.substr(first + 1, second - first - 1));
    spellings[2].insert(text.substr(second + 1));
  }
  EXPECT_EQ(spellings[0].size(), 5U);
  EXPECT_EQ(spellings[1].size(), 25U);
  EXPECT_EQ(spellings[2].size(), 125U);
}

TEST(NasBench201String, EveryCutAndEveryExtension_IsRefused) {
  for (std::size_t length = 0; length < mixed_text.size(); ++length) {
    EXPECT_NE(rejection(mixed_text.substr(0, length)), "") << length;
    EXPECT_NE(rejection(mixed_text.substr(length + 1)), "") << length;
  }
  for (const char* extra : {" ", "|", "\n", "+|none~0|"}) {
    EXPECT_NE(rejection(mixed_text + extra), "") << extra;
    EXPECT_NE(rejection(extra + mixed_text), "") << extra;
  }
}

TEST(NasBench201String, EveryChangedCharacter_IsRefusedOrAnotherArchitecture) {
  for (std::size_t i = 0; i < mixed_text.size(); ++i) {
    for (int c = 0; c < 256; ++c) {
      std::string text = mixed_text;
      text[i] = static_cast<char>(c);
      if (rejection(text).empty()) {
        ASSERT_EQ(nasbench201().format(nasbench201().parse(text)), text);
      }
    }
  }
}

TEST(NasBench201String, UnknownOperation_IsShownWithItsPlaceAndTheKnownOnes) {
  const std::string message =
      rejection("|avg_pool_3x3~0|+|sep_conv_3x3~0|skip_connect~1|+|none~0|none~1|skip_connect~2|");
  EXPECT_NE(message.find("character 19"), std::string::npos) << message;
  EXPECT_NE(message.find("sep_conv_3x3"), std::string::npos) << message;
  for (const std::string_view name : operation_names) EXPECT_NE(message.find(name), std::string::npos) << message;
}

TEST(NasBench201String, WrongSource_IsShownWithTheRightOne) {
  const std::string message = rejection("|none~0|+|none~0|none~0|+|none~0|none~1|none~2|");
  EXPECT_NE(message.find("character 22"), std::string::npos) << message;
  EXPECT_NE(message.find("expected '~1|+|'"), std::string::npos) << message;
}

TEST(NasBench201String, Message_ShowsACorrectStringAndIsOneShortLine) {
  const std::string message = rejection(std::string(1000, '\n') + "\xc3\xa9");
  const std::size_t example = message.find("write it like ");
  ASSERT_NE(example, std::string::npos) << message;
  EXPECT_EQ(rejection(message.substr(example + std::string("write it like ").size())), "") << message;
  EXPECT_EQ(message.find('\n'), std::string::npos);
  EXPECT_LT(message.size(), 400U);
}

TEST(NasBench201Cell, ForeignArchitecture_IsRefused) {
  EXPECT_THROW(cell_of({0, 1, 2, 3, 4}), InputError);
  EXPECT_THROW(cell_of({0, 1, 2, 3, 4, 5}), InputError);
  EXPECT_THROW(nasbench201().format({0, 1, 2, 3, 4, 5}), InputError);
  EXPECT_EQ(cell_of({0, 1, 2, 3, 4, 0}), (Cell{none, skip, conv1, conv3, pool, none}));
}

TEST(NasBench201Counts, CountEveryOperationButNone) {
  const std::vector<std::string> names = {"skip_connect", "nor_conv_1x1", "nor_conv_3x3", "avg_pool_3x3"};
  EXPECT_EQ(nasbench201().counted_operations(), names);
  EXPECT_EQ(nasbench201().operation_counts(architecture_of(mixed_cell)), (std::vector<double>{2, 1, 1, 1}));
  EXPECT_EQ(nasbench201().operation_counts(Architecture(6)), (std::vector<double>{0, 0, 0, 0}));
}

TEST(NasBench201Connected, KnownCells) {
  EXPECT_FALSE(connected({none, none, none, none, none, none}));
  EXPECT_TRUE(connected({none, none, none, skip, none, none}));
  EXPECT_TRUE(connected({conv1, none, none, none, pool, none}));
  EXPECT_TRUE(connected({none, conv1, none, none, none, pool}));
  EXPECT_TRUE(connected({skip, none, skip, none, none, skip}));
  EXPECT_FALSE(connected({conv3, conv3, conv3, none, none, none}));
  EXPECT_FALSE(connected({none, none, conv3, none, conv3, conv3}));
  EXPECT_FALSE(connected({conv3, none, none, none, none, conv3}));
}

TEST(NasBench201Canonical, KnownCells) {
  // All edges on a path stay.
  EXPECT_EQ(canonical({pool, conv1, skip, conv3, conv1, skip}), (Cell{pool, conv1, skip, conv3, conv1, skip}));
  // Node 1 ends nowhere: the edge into it goes.
  EXPECT_EQ(canonical({conv3, conv1, none, none, none, skip}), (Cell{none, conv1, none, none, none, skip}));
  // Node 1 comes from nowhere: its edges go, into node 2 and node 3.
  EXPECT_EQ(canonical({none, conv1, conv3, skip, pool, skip}), (Cell{none, conv1, none, skip, none, skip}));
  // Node 2 ends nowhere, and with it the way from node 1 to it.
  EXPECT_EQ(canonical({conv3, conv1, conv3, none, pool, none}), (Cell{conv3, none, none, none, pool, none}));
  // Nothing connects.
  EXPECT_EQ(canonical({conv3, none, none, none, none, conv3}), (Cell{none, none, none, none, none, none}));
}

TEST(NasBench201Canonical, KeepsExactlyTheEdgesBetweenReachedNodes) {
  for (const Architecture& architecture : nasbench201().all()) {
    const Cell cell = cell_of(architecture);
    const auto forward = reached(cell, 0, false);
    const auto backward = reached(cell, node_count - 1, true);
    Cell expected = cell;
    for (std::size_t e = 0; e < edge_count; ++e) {
      const bool live =
          forward[static_cast<std::size_t>(edges[e].source)] && backward[static_cast<std::size_t>(edges[e].target)];
      if (!live) expected[e] = none;
    }
    ASSERT_EQ(canonical(cell), expected) << nasbench201().format(architecture);
    ASSERT_EQ(connected(cell), forward[node_count - 1]) << nasbench201().format(architecture);
  }
}

TEST(NasBench201Canonical, IsIdempotentAndKeepsConnectedness) {
  const Architecture nothing(edge_count);
  for (const Architecture& architecture : nasbench201().all()) {
    const Architecture once = nasbench201().canonical(architecture);
    ASSERT_EQ(nasbench201().canonical(once), once);
    ASSERT_EQ(nasbench201().connected(once), nasbench201().connected(architecture));
    ASSERT_EQ(once == nothing, !nasbench201().connected(architecture));
  }
}

/// The architectures of the published table, which need not be in the space's order.
std::vector<std::string> table_architectures(const std::filesystem::path& path) {
  std::ifstream stream(path);
  std::vector<std::string> architectures;
  std::string line;
  std::getline(stream, line);
  while (std::getline(stream, line)) {
    const std::size_t begin = line.find(',') + 1;
    architectures.push_back(line.substr(begin, line.find(',', begin) - begin));
  }
  return architectures;
}

TEST(NasBench201Table, EveryArchitectureRoundTripsAndAllOrdinalsOccurOnce) {
  const char* tables = std::getenv("TENSHOT_TABLES");
  if (tables == nullptr) {
    GTEST_SKIP() << "TENSHOT_TABLES does not name a folder with help-nasbench201/latency_ms.csv, the table of HELP "
                    "(Lee et al., NeurIPS 2021)";
  }
  const std::vector<std::string> texts =
      table_architectures(std::filesystem::path(tables) / "help-nasbench201" / "latency_ms.csv");
  ASSERT_EQ(texts.size(), 15625U);
  std::vector<int> seen(15625);
  for (const std::string& text : texts) {
    const Architecture architecture = nasbench201().parse(text);
    ASSERT_EQ(nasbench201().format(architecture), text);
    ++seen[nasbench201().ordinal(architecture)];
  }
  EXPECT_TRUE(std::all_of(seen.begin(), seen.end(), [](int count) { return count == 1; }));
}

}  // namespace
}  // namespace tenshot::nasbench
