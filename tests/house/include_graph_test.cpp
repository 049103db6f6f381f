// The order of the house, read from its own include lines: a folder includes only folders below it, and the rooms of a
// folder form no circle.

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <vector>

namespace {

namespace fs = std::filesystem;

const std::vector<std::string> folders = {"nasbench", "descriptor", "datasets", "sampling", "trainer"};

/// Which rooms each room includes, and one file that does: room → included room → file.
using IncludeGraph = std::map<std::string, std::map<std::string, std::string>>;

std::string room_of(const std::string& path) { return fs::path(path).parent_path().generic_string(); }

std::string folder_of(const std::string& room) { return room.substr(0, room.find('/')); }

IncludeGraph read_include_graph() {
  const fs::path root = TENSHOT_SOURCE_DIR;
  const std::regex include_line("^#include \"([^\"]+)\"");
  IncludeGraph graph;
  for (const std::string& folder : folders) {
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(root / folder)) {
      const std::string extension = entry.path().extension();
      if (extension != ".h" && extension != ".cpp") continue;
      const std::string file = fs::relative(entry.path(), root).generic_string();
      std::ifstream input(entry.path());
      graph[room_of(file)];
      for (std::string line; std::getline(input, line);) {
        std::smatch match;
        if (!std::regex_search(line, match, include_line)) continue;
        const std::string included = room_of(match[1]);
        if (included != room_of(file)) graph[room_of(file)].emplace(included, file);
      }
    }
  }
  return graph;
}

std::size_t level_of(const std::string& room) {
  return std::find(folders.begin(), folders.end(), folder_of(room)) - folders.begin();
}

/// Rooms that can be reached from `room` over include lines.
std::set<std::string> reached_from(const IncludeGraph& graph, const std::string& room) {
  std::set<std::string> reached;
  std::vector<std::string> open = {room};
  while (!open.empty()) {
    const auto found = graph.find(open.back());
    open.pop_back();
    if (found == graph.end()) continue;
    for (const auto& [included, file] : found->second) {
      if (reached.insert(included).second) open.push_back(included);
    }
  }
  return reached;
}

TEST(IncludeGraph, AFolderIncludesOnlyFoldersBelowIt) {
  const IncludeGraph graph = read_include_graph();
  ASSERT_GT(graph.size(), 15U);
  for (const auto& [room, included] : graph) {
    for (const auto& [other, file] : included) {
      ASSERT_LT(level_of(other), folders.size()) << file << " includes " << other << ", which is no room of the house";
      EXPECT_LE(level_of(other), level_of(room)) << file << " includes " << other;
    }
  }
}

TEST(IncludeGraph, TheRoomsFormNoCircle) {
  const IncludeGraph graph = read_include_graph();
  for (const auto& [room, included] : graph) {
    for (const auto& [other, file] : included) {
      EXPECT_EQ(reached_from(graph, other).count(room), 0U) << file << " includes " << other << ", which leads back";
    }
  }
}

TEST(IncludeGraph, EverySourceStandsInARoom) {
  const IncludeGraph graph = read_include_graph();
  for (const auto& [room, included] : graph) {
    EXPECT_NE(room, folder_of(room)) << "sources of " << room << " belong into one of its sub-folders";
  }
}

}  // namespace
