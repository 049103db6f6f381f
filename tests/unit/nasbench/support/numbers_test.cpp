#include "nasbench/support/numbers.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <string>

#include "nasbench/support/random.h"

namespace tenshot {
namespace {

TEST(Shortest, KnownValues_AreWrittenShort) {
  EXPECT_EQ(shortest(0.1), "0.1");
  EXPECT_EQ(shortest(1e-7), "1e-07");
  EXPECT_EQ(shortest(3), "3");
  EXPECT_EQ(shortest(-2.5), "-2.5");
  EXPECT_EQ(shortest(std::numeric_limits<double>::infinity()), "inf");
}

TEST(Shortest, NotANumber_HasNoSign) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(shortest(nan), "nan");
  EXPECT_EQ(shortest(std::copysign(nan, -1.0)), "nan");
}

TEST(Shortest, AppendKeepsWhatWasThere) {
  std::string text = "a,";
  append_shortest(text, 0.25);
  EXPECT_EQ(text, "a,0.25");
}

TEST(Shortest, RandomBitPatterns_ReadBackToTheSameValue) {
  Rng rng(1);
  int tried = 0;
  while (tried < 20000) {
    const std::uint64_t bits = rng.bits();
    double value = 0;
    std::memcpy(&value, &bits, sizeof value);
    if (!std::isnormal(value)) continue;
    ++tried;
    const auto back = parse_number(shortest(value));
    ASSERT_TRUE(back.has_value()) << shortest(value);
    ASSERT_EQ(*back, value);
  }
}

TEST(ParseNumber, WholeText_IsTheNumber) {
  EXPECT_EQ(parse_number("12.5"), 12.5);
  EXPECT_EQ(parse_number("+12.5"), 12.5);
  EXPECT_EQ(parse_number(" \t-3e2 "), -300.0);
  EXPECT_EQ(parse_number(".5"), 0.5);
  EXPECT_TRUE(std::isnan(parse_number("nan").value_or(0)));
  EXPECT_TRUE(std::isinf(parse_number("inf").value_or(0)));
}

TEST(ParseNumber, AnythingElse_IsNothing) {
  for (const char* text : {"", " ", "+", "-", "+-5", "-+5", "++5", "5 6", "5x", "x5", "1,5", "0x10", "1e", "1e999"}) {
    EXPECT_FALSE(parse_number(text).has_value()) << text;
  }
}

TEST(ParseInteger, WholeText_IsTheInteger) {
  EXPECT_EQ(parse_integer("-42"), -42);
  EXPECT_EQ(parse_integer(" 900 "), 900);
  EXPECT_EQ(parse_integer("9223372036854775807"), std::numeric_limits<long long>::max());
  for (const char* text : {"", "1.0", "1e3", "9223372036854775808", "7 7", "abc"}) {
    EXPECT_FALSE(parse_integer(text).has_value()) << text;
  }
}

TEST(Trimmed, RemovesBlanksAtBothEndsOnly) {
  EXPECT_EQ(trimmed(" \ta b\t "), "a b");
  EXPECT_EQ(trimmed("a"), "a");
  EXPECT_EQ(trimmed(" \t "), "");
  EXPECT_EQ(trimmed(""), "");
}

// FIPS 180-4 and the examples NIST publishes with it.
TEST(Sha256, KnownVectors) {
  EXPECT_EQ(sha256_hex(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(sha256_hex("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(sha256_hex("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(sha256_hex(std::string(1'000'000, 'a')),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

}  // namespace
}  // namespace tenshot
