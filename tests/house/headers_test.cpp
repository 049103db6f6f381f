// Headers include what they name: whoever includes one needs nothing before it.

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace {

namespace fs = std::filesystem;

const std::vector<std::string> folders = {"nasbench", "descriptor", "datasets", "sampling", "trainer"};

/// What is named, and the headers of which one has to be included for it.
const std::map<std::string, std::vector<std::string>> headers_of = {
    {"std::string", {"string"}},
    {"std::string_view", {"string_view"}},
    {"std::vector", {"vector"}},
    {"std::array", {"array"}},
    {"std::map", {"map"}},
    {"std::set", {"set"}},
    {"std::unordered_map", {"unordered_map"}},
    {"std::unordered_set", {"unordered_set"}},
    {"std::optional", {"optional"}},
    {"std::variant", {"variant"}},
    {"std::function", {"functional"}},
    {"std::unique_ptr", {"memory"}},
    {"std::shared_ptr", {"memory"}},
    {"std::mutex", {"mutex"}},
    {"std::uint64_t", {"cstdint"}},
    {"std::int64_t", {"cstdint"}},
    {"std::uint32_t", {"cstdint"}},
    {"std::filesystem", {"filesystem"}},
    {"std::runtime_error", {"stdexcept"}},
    {"std::ostream", {"ostream", "iosfwd", "iostream"}},
    {"nlohmann::json", {"nlohmann/json.hpp", "nlohmann/json_fwd.hpp"}},
};

struct Header {
  std::string name;  ///< relative to the repository
  std::string code;  ///< without comments
  std::set<std::string> includes;
};

Header read_header(const std::string& name, std::istream& input) {
  static const std::regex include_line("^#include [<\"]([^>\"]+)[>\"]");
  Header header{name, "", {}};
  for (std::string line; std::getline(input, line);) {
    std::smatch match;
    if (std::regex_search(line, match, include_line)) {
      header.includes.insert(match[1]);
    } else {
      header.code += line.substr(0, line.find("//")) + "\n";
    }
  }
  return header;
}

std::vector<Header> headers() {
  std::vector<Header> all;
  const fs::path root = TENSHOT_SOURCE_DIR;
  for (const std::string& folder : folders) {
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(root / folder)) {
      if (entry.path().extension() != ".h") continue;
      std::ifstream input(entry.path());
      all.push_back(read_header(fs::relative(entry.path(), root).generic_string(), input));
    }
  }
  return all;
}

bool names(const Header& header, const std::string& what) {
  return std::regex_search(header.code, std::regex("(^|[^\\w:])" + what + "\\b"));
}

/// What the header names and does not include.
std::vector<std::string> missing_of(const Header& header) {
  std::vector<std::string> missing;
  for (const auto& [what, possible] : headers_of) {
    bool included = false;
    for (const std::string& one : possible) included = included || header.includes.count(one) != 0;
    if (!included && names(header, what)) missing.push_back(what);
  }
  for (const std::string& folder : folders) {
    bool included = header.name.rfind(folder + "/", 0) == 0;
    for (const std::string& file : header.includes) included = included || file.rfind(folder + "/", 0) == 0;
    const std::regex declares("namespace (tenshot::)?" + folder + " \\{");  // what is only pointed to needs no more
    included = included || std::regex_search(header.code, declares);
    if (!included && names(header, folder + "::")) missing.push_back(folder + "::");
  }
  return missing;
}

TEST(Headers, ThatLackAnIncludeAreFound) {
  std::istringstream lacking("#include <vector>\nstd::vector<std::string> a(nasbench::Cell cell);  // std::map\n");
  EXPECT_EQ(missing_of(read_header("trainer/a.h", lacking)), (std::vector<std::string>{"std::string", "nasbench::"}));
  std::istringstream whole(
      "#include <string>\n#include \"nasbench/spaces/cell.h\"\nstd::string a(nasbench::Cell cell);\n");
  EXPECT_TRUE(missing_of(read_header("trainer/a.h", whole)).empty());
}

TEST(Headers, IncludeWhatTheyName) {
  const std::vector<Header> all = headers();
  ASSERT_GT(all.size(), 150U) << "the headers were not found";
  for (const Header& header : all) {
    for (const std::string& what : missing_of(header)) ADD_FAILURE() << header.name << " names " << what;
  }
}

}  // namespace
