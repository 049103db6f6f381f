// One name, one thing. Two types of one name in one namespace are undefined behaviour (the one-definition rule) that no
// compiler reports as long as no source includes both; names that stand for two things in different rooms mislead who
// reads them.

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

namespace {

namespace fs = std::filesystem;

const std::vector<std::string> folders = {"nasbench", "descriptor", "datasets", "sampling", "trainer", "experiments"};

/// Where each type is defined: "namespace::Type" → "file:line". Types of unnamed namespaces and types within types
/// are left out: they are nobody else's.
using Types = std::map<std::string, std::vector<std::string>>;

/// The sources are formatted, so that namespaces and types of namespaces begin at the beginning of a line, and a
/// namespace ends at "}  // namespace".
void add_types(const std::string& file, std::istream& input, Types& types) {
  static const std::regex opens(R"(^namespace ?([\w:]*) ?\{$)"), closes(R"(^\}  // namespace)"),
      defines(R"(^(?:struct|class|enum class|enum|union) (?:[A-Z_]+_API )?([\w:]+))");
  std::vector<std::string> within;
  std::size_t number = 0;
  for (std::string line; std::getline(input, line);) {
    ++number;
    std::smatch match;
    if (std::regex_search(line, match, opens)) {
      within.push_back(match[1]);
    } else if (std::regex_search(line, closes)) {
      if (!within.empty()) within.pop_back();
    } else if (std::regex_search(line, match, defines) && line.back() != ';') {
      if (std::find(within.begin(), within.end(), "") != within.end()) continue;
      std::string name;
      for (const std::string& outer : within) name += outer + "::";
      types[name + match[1].str()].push_back(file + ":" + std::to_string(number));
    }
  }
}

std::vector<fs::path> sources_of(const std::vector<std::string>& roots) {
  std::vector<fs::path> sources;
  for (const std::string& root : roots) {
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(fs::path(TENSHOT_SOURCE_DIR) / root)) {
      const fs::path extension = entry.path().extension();
      if (extension == ".h" || extension == ".cpp") sources.push_back(entry.path());
    }
  }
  return sources;
}

Types types_of(const std::vector<std::string>& roots) {
  Types types;
  for (const fs::path& source : sources_of(roots)) {
    std::ifstream input(source);
    add_types(fs::relative(source, TENSHOT_SOURCE_DIR).generic_string(), input, types);
  }
  return types;
}

std::string listed(const std::vector<std::string>& places) {
  std::string text;
  for (const std::string& place : places) text += (text.empty() ? "" : ", ") + place;
  return text;
}

TEST(Names, TypesAreFoundInTheirNamespaces) {
  std::istringstream source(
      "namespace a::b {\nstruct Declared;\nstruct One {\n  struct Within {\n  };\n};\nnamespace {\nclass Hidden {\n};\n"
      "}  // namespace\nclass One::Two : public Other {\n};\n}  // namespace a::b\nclass X_API Three {};\nenum class "
      "Four {\n");
  Types types;
  add_types("s.cpp", source, types);
  EXPECT_EQ(types, (Types{{"a::b::One", {"s.cpp:3"}}, {"a::b::One::Two", {"s.cpp:11"}}, {"Four", {"s.cpp:15"}}}));
}

TEST(Names, NoTypeIsDefinedTwiceInANamespace) {
  std::vector<std::string> roots = folders;
  roots.emplace_back("tests/unit");
  const Types types = types_of(roots);
  ASSERT_GT(types.size(), 400U) << "the types were not found";
  for (const auto& [name, places] : types) EXPECT_EQ(places.size(), 1U) << name << ": " << listed(places);
}

TEST(Names, ATypeIsCalledLikeNoOther) {
  std::map<std::string, std::vector<std::string>> named;
  for (const auto& [name, places] : types_of(folders)) {
    // What the installed headers give to others has their names for the same things.
    if (places.front().rfind("trainer/library/", 0) == 0) continue;
    const std::size_t last = name.find_last_of(':');
    named[last == std::string::npos ? name : name.substr(last + 1)].push_back(places.front());
  }
  for (const auto& [name, places] : named) {
    EXPECT_EQ(places.size(), 1U) << name << ": " << listed(places);
  }
}

TEST(Names, AHeaderIsCalledLikeNoOther) {
  std::map<std::string, std::vector<std::string>> named;
  for (const fs::path& source : sources_of(folders)) {
    const std::string room = fs::relative(source.parent_path(), TENSHOT_SOURCE_DIR).generic_string();
    if (source.extension() == ".h" && room != "trainer/library") named[source.filename()].push_back(room);
  }
  ASSERT_GT(named.size(), 150U) << "the headers were not found";
  for (const auto& [name, rooms] : named) {
    EXPECT_EQ(rooms.size(), 1U) << name << ": " << listed(rooms);
  }
}

}  // namespace
