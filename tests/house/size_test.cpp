// How large things may be: a function fits on a screen, a file holds one idea, no room is a house of its own.

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <regex>
#include <string>
#include <vector>

namespace {

namespace fs = std::filesystem;

const std::vector<std::string> folders = {"nasbench", "descriptor", "datasets", "sampling", "trainer", "experiments"};

constexpr std::size_t longest_function = 60;     ///< lines from its name to its closing brace
constexpr std::size_t longest_file = 400;        ///< lines
constexpr std::size_t largest_product = 63'170;  ///< lines of the five folders that are not blank
constexpr std::size_t largest_trainer = 28'170;  ///< the same of trainer

struct Source {
  std::string name;  ///< relative to the repository
  std::vector<std::string> lines;
};

std::vector<Source> sources_of(const std::vector<std::string>& roots) {
  std::vector<Source> sources;
  for (const std::string& root : roots) {
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(fs::path(TENSHOT_SOURCE_DIR) / root)) {
      const std::string extension = entry.path().extension();
      if (extension != ".h" && extension != ".cpp") continue;
      Source source;
      source.name = fs::relative(entry.path(), TENSHOT_SOURCE_DIR).generic_string();
      std::ifstream input(entry.path());
      for (std::string line; std::getline(input, line);) source.lines.push_back(line);
      sources.push_back(std::move(source));
    }
  }
  return sources;
}

std::size_t indentation(const std::string& line) { return std::min(line.find_first_not_of(' '), line.size()); }

bool begins_with(const std::string& text, const std::string& beginning) { return text.rfind(beginning, 0) == 0; }

/// Whether a block that opens at the end of this statement is a function's body. The sources are formatted, so that a
/// body opens at the end of a line and closes at the indentation of its first line.
bool opens_function(const std::string& statement) {
  for (const char* other : {"namespace", "class", "struct", "enum", "union", "extern", "if ", "for ", "while ",
                            "switch ", "do ", "else", "try", "case ", "}", "#", "//", "return "}) {
    if (begins_with(statement, other)) return false;
  }
  return statement.find('(') != std::string::npos && statement.find(" = {") == std::string::npos;
}

struct Function {
  std::string place;  ///< "file:line: how it begins"
  std::size_t length = 0;
};

/// The functions of a source that are members of nothing but namespaces and classes.
std::vector<Function> functions_of(const Source& source) {
  std::vector<Function> functions;
  for (std::size_t i = 0; i < source.lines.size(); ++i) {
    const std::string& first = source.lines[i];
    const std::size_t indent = indentation(first);
    const bool statement = indent < first.size() && std::isalpha(static_cast<unsigned char>(first[indent])) != 0;
    if (!statement || indent % 2 != 0 || !opens_function(first.substr(indent))) continue;
    std::size_t open = i;
    while (open < source.lines.size() && source.lines[open].find_last_of(";{}") != source.lines[open].size() - 1)
      ++open;
    if (open == source.lines.size() || source.lines[open].back() != '{') continue;
    const std::string closing = std::string(indent, ' ') + "}";
    std::size_t close = open + 1;
    while (close < source.lines.size() && !begins_with(source.lines[close], closing)) ++close;
    functions.push_back({source.name + ":" + std::to_string(i + 1) + ": " + first.substr(indent), close - i + 1});
    i = close;
  }
  return functions;
}

TEST(Size, FunctionsAreFoundWithTheirLengths) {
  const Source source = {"a.cpp",
                         {"namespace a {", "int one() {", "  return 1;", "}", "class B {", "  void two(int x,",
                          "           int y) const {", "    if (x) {", "    }", "  }", "};", "int declared();", "}"}};
  const std::vector<Function> found = functions_of(source);
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].length, 3U);
  EXPECT_EQ(found[1].place, "a.cpp:6: void two(int x,");
  EXPECT_EQ(found[1].length, 5U);
}

TEST(Size, AFunctionFitsOnAScreen) {
  std::size_t functions = 0;
  std::vector<std::string> all = folders;
  all.push_back("tests");
  for (const Source& source : sources_of(all)) {
    for (const Function& function : functions_of(source)) {
      ++functions;
      EXPECT_LE(function.length, longest_function) << function.place;
    }
  }
  EXPECT_GT(functions, 3000U) << "the functions were not found";
}

TEST(Size, AFileHoldsOneIdea) {
  std::vector<std::string> all = folders;
  all.push_back("tests");
  std::size_t over_300 = 0, files = 0;
  for (const Source& source : sources_of(all)) {
    ++files;
    over_300 += source.lines.size() > 300 ? 1 : 0;
    EXPECT_LE(source.lines.size(), longest_file) << source.name;
  }
  EXPECT_LT(over_300, files / 16) << "few files are over 300 lines";
}

TEST(Size, TheTourSaysHowLongItsFilesAre) {
  static const std::regex row(R"(\]\(\.\./([^)]+)\) \| (\d+) \|)");
  std::ifstream tour(fs::path(TENSHOT_SOURCE_DIR) / "tests/tour.md");
  std::size_t files = 0;
  std::smatch match;
  for (std::string line; std::getline(tour, line);) {
    if (!std::regex_search(line, match, row)) continue;
    ++files;
    std::ifstream input(fs::path(TENSHOT_SOURCE_DIR) / match[1].str());
    const auto lines = std::count(std::istreambuf_iterator<char>(input), {}, '\n');
    EXPECT_NEAR(std::stod(match[2]), static_cast<double>(lines), 10 + 0.25 * static_cast<double>(lines)) << match[1];
  }
  EXPECT_GT(files, 15U);
}

std::size_t lines_that_say_something(const std::vector<std::string>& roots) {
  std::size_t lines = 0;
  for (const Source& source : sources_of(roots)) {
    for (const std::string& line : source.lines) lines += line.find_first_not_of(" \t") == std::string::npos ? 0 : 1;
  }
  return lines;
}

TEST(Size, TheProductDoesNotGrowWithoutEnd) {
  const std::size_t product = lines_that_say_something({"nasbench", "descriptor", "datasets", "sampling", "trainer"});
  EXPECT_GT(product, 30'000U) << "the sources were not found";
  EXPECT_LE(product, largest_product) << "what adds lines takes others away: tests/README.md, Style";
  EXPECT_LE(lines_that_say_something({"trainer"}), largest_trainer);
}

TEST(Size, TheBiggestRoomIsUnderAThirdOfTheCode) {
  std::map<std::string, std::size_t> lines_of;
  std::size_t all = 0;
  for (const Source& source : sources_of({"nasbench", "descriptor", "datasets", "sampling", "trainer"})) {
    lines_of[fs::path(source.name).parent_path().generic_string()] += source.lines.size();
    all += source.lines.size();
  }
  ASSERT_GT(lines_of.size(), 30U);
  for (const auto& [room, lines] : lines_of) EXPECT_LT(3 * lines, all) << room;
}

}  // namespace
