#include "nasbench/support/text.h"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

namespace tenshot {
namespace {

TEST(Joined, PutsTheSeparatorBetweenAndNotAround) {
  EXPECT_EQ(joined(std::vector<std::string>{"a", "b", "c"}), "a, b, c");
  EXPECT_EQ(joined(std::vector<std::string_view>{"a"}), "a");
  EXPECT_EQ(joined(std::set<std::string>{"y", "x"}, "+"), "x+y");
  EXPECT_EQ(joined(std::vector<std::string>{}), "");
  EXPECT_EQ(joined(std::vector<std::string>{"", "a", ""}, ";"), ";a;");
}

TEST(Excerpt, IsShortAndHoldsNoControlCharacters) {
  const std::string megabyte(1 << 20, 'x');
  EXPECT_EQ(excerpt(megabyte).size(), 60 + std::string("…").size());
  EXPECT_EQ(excerpt("a\x1B[2Jb\r\n"), "a?[2Jb??");
  EXPECT_EQ(excerpt("\xC2\x9B"
                    "31m \xC2\xB5s"),
            "?31m \xC2\xB5s");  // U+009B begins a terminal's command too
}

TEST(MarkdownEscaped, LeavesNoMarkupAndNoEndOfTheCell) {
  EXPECT_EQ(markdown_escaped("gold_6226"), "gold_6226");
  EXPECT_EQ(markdown_escaped("libtorch-int8_t1_b1, 10 samples"), "libtorch-int8_t1_b1, 10 samples");
  EXPECT_EQ(markdown_escaped("a|b"), "a\\|b");
  EXPECT_EQ(markdown_escaped("**bold** _em_ `code` [link](x) <b>"),
            "\\*\\*bold\\*\\* \\_em\\_ \\`code\\` \\[link\\](x) \\<b\\>");
  EXPECT_EQ(markdown_escaped("a\n|b\\"), "a?\\|b\\\\");
}

TEST(FitsPattern, AStarStandsForAnyCharactersAlsoNone) {
  EXPECT_TRUE(fits_pattern("pixel4_gpu", "pixel4_*"));
  EXPECT_TRUE(fits_pattern("pixel4_", "pixel4_*"));
  EXPECT_TRUE(fits_pattern("a_gpu_b_gpu_t4", "*_gpu*_t*"));
  EXPECT_TRUE(fits_pattern("", "*"));
  EXPECT_FALSE(fits_pattern("pixel4", "pixel4_*"));
  EXPECT_FALSE(fits_pattern("my_pixel4_gpu", "pixel4_*"));
  EXPECT_FALSE(fits_pattern("pixel4_gpu", "pixel4"));
  EXPECT_FALSE(fits_pattern(std::string(200, 'a'), "*a*a*a*a*a*a*a*a*a*b"));  // in no time
}

}  // namespace
}  // namespace tenshot
