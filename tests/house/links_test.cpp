// Links of the committed Markdown that point into the project lead somewhere: to a file or folder, and to a heading of
// the page that is named. Every page is reached from the top README in two clicks.

#include <gtest/gtest.h>

#include <cctype>
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

const std::vector<std::string> folders = {"checkpoints", "datasets", "descriptor", "experiments",
                                          "nasbench",    "sampling", "tests",      "trainer"};

struct Link {
  std::string target;
  std::size_t line = 0;
};

struct Page {
  std::vector<Link> links;
  std::set<std::string> anchors;
};

/// How a heading is named in a link (as GitHub names it), less all that is no ASCII.
std::string anchor_of(const std::string& heading) {
  std::string anchor;
  for (const char c : heading) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 128 && (std::isalnum(byte) != 0 || c == '_' || c == '-'))
      anchor += static_cast<char>(std::tolower(byte));
    if (c == ' ') anchor += '-';
  }
  return anchor;
}

/// The same of what a link says after '#'.
std::string ascii(const std::string& text) {
  std::string result;
  for (const char c : text) {
    if (static_cast<unsigned char>(c) < 128) result += c;
  }
  return result;
}

Page read_page(std::istream& input) {
  static const std::regex code("`[^`]*`"), link(R"(\]\(([^()\s]+(?:\([^()]*\))?)(?:\s+"[^"]*")?\))"),
      address(R"(\[([^\]]*)\]\([^)]*\))");
  Page page;
  bool fenced = false;
  std::size_t number = 0;
  for (std::string line; std::getline(input, line);) {
    ++number;
    if (line.rfind("```", 0) == 0) fenced = !fenced;
    if (fenced) continue;
    const std::size_t level = line.find_first_not_of('#');
    if (level != std::string::npos && level > 0 && line[level] == ' ') {
      const std::string anchor = anchor_of(std::regex_replace(line.substr(level + 1), address, "$1"));
      std::string own = anchor;
      for (int again = 1; !page.anchors.insert(own).second; ++again) own = anchor + "-" + std::to_string(again);
    }
    const std::string text = std::regex_replace(line, code, "``");
    for (std::sregex_iterator found(text.begin(), text.end(), link), end; found != end; ++found) {
      page.links.push_back({(*found)[1], number});
    }
  }
  return page;
}

/// All pages by their paths, relative to the project.
std::map<std::string, Page> pages() {
  const fs::path root = TENSHOT_SOURCE_DIR;
  std::vector<fs::path> files;
  for (const fs::directory_entry& entry : fs::directory_iterator(root)) files.push_back(entry.path());
  for (const std::string& folder : folders) {
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(root / folder)) {
      files.push_back(entry.path());
    }
  }
  std::map<std::string, Page> all;
  for (const fs::path& file : files) {
    if (file.extension() != ".md") continue;
    std::ifstream input(file);
    all[fs::relative(file, root).generic_string()] = read_page(input);
  }
  return all;
}

/// What is wrong with a link of the page at `path`; "" where it leads somewhere, or out of the project.
std::string fault_of(const std::map<std::string, Page>& all, const std::string& path, const std::string& target) {
  if (target.find("://") != std::string::npos || target.rfind("mailto:", 0) == 0) return "";
  const std::size_t hash = target.find('#');
  const std::string file = target.substr(0, hash);
  std::string named = path;
  if (!file.empty()) {
    named = (fs::path(path).parent_path() / file).lexically_normal().generic_string();
    if (named.rfind("..", 0) == 0 || !fs::exists(fs::path(TENSHOT_SOURCE_DIR) / named)) return "there is no " + named;
  }
  if (hash == std::string::npos) return "";
  const auto page = all.find(named);
  if (page == all.end()) return named + " has no headings";
  if (page->second.anchors.count(ascii(target.substr(hash + 1))) == 0) return named + " has no such heading";
  return "";
}

TEST(Links, AreFoundWithTheHeadingsThatTheyName) {
  std::istringstream text(
      "# A page\n## What `it` says: 90 %\n## A page\n[one](b.md#c), ![two](d.svg \"title\")\n```\n[no](e.md)\n```\n"
      "`[nor](f.md)` [three](#a-page-1)\n");
  const Page page = read_page(text);
  EXPECT_EQ(page.anchors, (std::set<std::string>{"a-page", "what-it-says-90-", "a-page-1"}));
  ASSERT_EQ(page.links.size(), 3U);
  EXPECT_EQ(page.links[0].target, "b.md#c");
  EXPECT_EQ(page.links[1].target, "d.svg");
  EXPECT_EQ(page.links[2].line, 8U);
}

TEST(Links, ThatAreDeadAreFound) {
  std::istringstream text("# A page\n");
  const std::map<std::string, Page> all = {{"tests/README.md", read_page(text)}};
  EXPECT_EQ(fault_of(all, "tests/README.md", "house/links_test.cpp"), "");
  EXPECT_EQ(fault_of(all, "tests/README.md", "#a-page"), "");
  EXPECT_EQ(fault_of(all, "tests/house/other.md", "../README.md#a-page"), "");
  EXPECT_EQ(fault_of(all, "tests/README.md", "https://example.org/#nothing"), "");
  EXPECT_EQ(fault_of(all, "tests/README.md", "house/nothing.cpp"), "there is no tests/house/nothing.cpp");
  EXPECT_EQ(fault_of(all, "tests/README.md", "../../outside.md"), "there is no ../outside.md");
  EXPECT_EQ(fault_of(all, "tests/README.md", "#another"), "tests/README.md has no such heading");
}

/// The pages that are reached from `first` by so many links, by what they lead to: a folder shows its README.md.
std::set<std::string> reached(const std::map<std::string, Page>& all, const std::string& first, int clicks) {
  std::set<std::string> known = {first};
  for (int click = 0; click < clicks; ++click) {
    for (const std::string& path : std::set<std::string>(known)) {
      for (const Link& link : all.at(path).links) {
        const fs::path target = link.target.substr(0, link.target.find('#'));
        const fs::path named = (fs::path(path).parent_path() / target).lexically_normal();
        for (const fs::path& page : {named, named / "README.md"}) {
          if (all.count(page.generic_string()) != 0) known.insert(page.generic_string());
        }
      }
    }
  }
  return known;
}

TEST(Links, ReachPagesByClicks) {
  std::istringstream first("[b](sub/b.md#x)\n"), second("[c](../c)\n"), third("# C\n");
  const std::map<std::string, Page> all = {
      {"README.md", read_page(first)}, {"sub/b.md", read_page(second)}, {"c/README.md", read_page(third)}};
  EXPECT_EQ(reached(all, "README.md", 1), (std::set<std::string>{"README.md", "sub/b.md"}));
  EXPECT_EQ(reached(all, "README.md", 2), (std::set<std::string>{"README.md", "c/README.md", "sub/b.md"}));
}

TEST(Links, ReachEveryPageInTwoClicks) {
  const std::map<std::string, Page> all = pages();
  const std::set<std::string> known = reached(all, "README.md", 2);
  for (const auto& [path, page] : all) {
    const bool piece = page.anchors.empty() || fs::path(path).filename() == "text.md";  // of a page of results
    EXPECT_TRUE(piece || known.count(path) == 1) << path << " is further from README.md than two clicks";
  }
  EXPECT_GT(known.size(), 80U);
}

TEST(Links, LeadSomewhere) {
  const std::map<std::string, Page> all = pages();
  std::size_t links = 0;
  for (const auto& [path, page] : all) {
    for (const Link& link : page.links) {
      ++links;
      const std::string fault = fault_of(all, path, link.target);
      EXPECT_EQ(fault, "") << path << ":" << link.line << ": (" << link.target << ")";
    }
  }
  EXPECT_GT(links, 150U) << "the links were not found";
}

}  // namespace
