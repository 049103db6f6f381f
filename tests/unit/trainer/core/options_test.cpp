#include "trainer/core/options.h"

#include <gtest/gtest.h>

#include <cmath>

namespace tenshot::trainer {

struct MadeUpGroup {
  double step = 0.5;
};

struct MadeUpOptions {
  double share = 0.5;
  std::size_t count = 3;
  std::vector<int> widths = {8, 4};
  std::string kind = "near";
  bool scaled = true;
  std::vector<std::string> left_out;
  MadeUpGroup group;
};

const Declaration<MadeUpGroup>& declared(const MadeUpGroup&) {
  static const Declaration<MadeUpGroup> group({{"step", &MadeUpGroup::step, Allowed(1e-3, 1e300), "A step."}});
  return group;
}

const Declaration<MadeUpOptions>& declared(const MadeUpOptions&) {
  using Made = MadeUpOptions;
  static const Declaration<Made> options(
      {
          {"share", &Made::share, Allowed(0.25, 1, Allowed::or_zero), "A share.", "share"},
          {"count", [](auto& made) -> auto& { return made.count;
}
, Allowed(1, 10), "A count."
}  // namespace tenshot::trainer
, {"widths", &Made::widths, Allowed(1, 1'000'000), "Widths."},
    {"kind", &Made::kind, Allowed({"near", "far"}), "A kind."},
    {"scaled", &Made::scaled, Allowed(), "Whether it is scaled."}, {"left_out", &Made::left_out, Allowed(), "Names."},
    {"group", &Made::group, Allowed(), "A group."},
},
      [](const Made& made) {
  if (made.widths.size() > made.count) throw BadOption({"widths"}, "at most count of them");
      });
return options;
}

namespace {

const nlohmann::json all = {{"share", 0.5},
                            {"count", 3},
                            {"widths", {8, 4}},
                            {"kind", "near"},
                            {"scaled", true},
                            {"left_out", nlohmann::json::array()},
                            {"group", {{"step", 0.5}}}};

const Declaration<MadeUpOptions>& made_up() { return declared(MadeUpOptions()); }

std::string refusal(const nlohmann::json& given) {
  try {
    made_up().read(given);
  } catch (const BadOption& bad) {
    return bad.what();
  }
  return "";
}

TEST(Options, AreWrittenByTheirNamesAndReadAgain) {
  EXPECT_EQ(option_json(MadeUpOptions()), all);
  nlohmann::json other = {{"share", 0},      {"count", 1},           {"widths", {2}},         {"kind", "far"},
                          {"scaled", false}, {"left_out", {"base"}}, {"group", {{"step", 7}}}};
  EXPECT_EQ(option_json(made_up().read(other)), other);
}

TEST(Options, ThatAreNotGivenAreTheDefaultsAndUnknownOnesAreIgnored) {
  EXPECT_EQ(option_json(made_up().read(nullptr)), all);
  EXPECT_EQ(option_json(made_up().read({{"of_a_later_release", 1}})), all);
  EXPECT_EQ(made_up().read({{"count", 5}}).count, 5U);
}

TEST(Options, OutOfRangeAreNamedWithWhatTheyShouldBe) {
  EXPECT_EQ(refusal({{"share", 0.1}}), "share must be 0, or a number from 0.25 to 1");
  EXPECT_EQ(refusal({{"share", "much"}}), "share must be 0, or a number from 0.25 to 1");
  EXPECT_EQ(refusal({{"share", std::nan("")}}), "share must be 0, or a number from 0.25 to 1");
  EXPECT_EQ(refusal({{"count", 2.5}}), "count must be a whole number from 1 to 10");
  EXPECT_EQ(refusal({{"count", -1}}), "count must be a whole number from 1 to 10");
  EXPECT_EQ(refusal({{"count", 1ULL << 63U}}), "count must be a whole number from 1 to 10");
  EXPECT_EQ(refusal({{"widths", nlohmann::json::array()}}), "widths must be a list of whole numbers from 1 to 1000000");
  EXPECT_EQ(refusal({{"widths", {4, 0}}}), "widths.1 must be a whole number from 1 to 1000000");
  EXPECT_EQ(refusal({{"kind", "close"}}), "kind must be one of: near, far");
  EXPECT_EQ(refusal({{"scaled", 1}}), "scaled must be true or false");
  EXPECT_EQ(refusal({{"left_out", {1}}}), "left_out.0 must be a text");
  EXPECT_EQ(refusal({{"group", {{"step", 0}}}}), "group.step must be a number of 0.001 or more");
  EXPECT_EQ(refusal({{"group", 3}}), "group must be an object with the keys: step");
  EXPECT_EQ(refusal({{"widths", {1, 2, 3, 4}}}), "widths must be at most count of them");
}

TEST(Options, OfACardAreRefusedByThePathOfTheField) {
  Archive archive;
  const auto refused = [&](const nlohmann::json& settings) -> std::string {
    archive.card = {{"settings", settings}};
    try {
      read_settings(made_up(), JsonField(archive).at("settings"));
    } catch (const FormatError& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(refused({{"widths", {4, 0}}}),
            "its card: settings.widths[1] is 0, expected a whole number from 1 to 1000000");
  EXPECT_EQ(refused({{"group", {{"step", true}}}}),
            "its card: settings.group.step is true, expected a number of 0.001 or more");
  EXPECT_EQ(refused(all), "");
}

TEST(Options, SayWhatTheyAre) {
  const std::vector<OptionText> texts = made_up().texts();
  ASSERT_EQ(texts.size(), all.size());
  EXPECT_EQ(texts[0].argument, "share");
  EXPECT_EQ(texts[0].meaning, "A share.");
  EXPECT_EQ(texts[2].otherwise, nlohmann::json({8, 4}));
  ASSERT_EQ(texts[6].options.size(), 1U);
  EXPECT_EQ(texts[6].options[0].expected, "a number of 0.001 or more");
}

}  // namespace
}  // namespace tenshot::trainer
