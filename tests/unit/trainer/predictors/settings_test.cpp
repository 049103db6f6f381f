// What predictors declare of their settings, and trainer/settings.md, which says it.

#include <gtest/gtest.h>

#include <cstdlib>

#include "nasbench/support/error.h"
#include "nasbench/support/files.h"
#include "tests/unit/trainer/fixtures.h"
#include "trainer/predictors/registry.h"

namespace tenshot::trainer {
namespace {

TEST(Settings, OfEveryPredictorAreExplainedAndTheirDefaultsAreValid) {
  std::size_t settings = 0;
  for (const PredictorRow& row : predictor_registry()) {
    EXPECT_FALSE(row.meaning.empty()) << row.name;
    const nlohmann::json defaults = row.complete(nullptr);
    EXPECT_EQ(row.complete(defaults), defaults) << row.name;
    for (const OptionText& option : row.settings) {
      SCOPED_TRACE(row.name + ", " + option.name);
      ++settings;
      EXPECT_EQ(option.meaning.back(), '.');
      EXPECT_EQ(defaults.at(option.name), option.otherwise);
      const nlohmann::json bad = option.otherwise.is_string() ? nlohmann::json(7) : nlohmann::json("none");
      EXPECT_THROW(row.complete({{option.name, bad}}), BadOption);
    }
  }
  EXPECT_GT(settings, 30U);
}

TEST(Settings, ThatAPredictorHasNotAreRefused) {
  const datasets::Pool pool = test::synthetic_pool(20);
  for (const char* name : {"flops", "structured"}) {
    try {
      train_pool_model(name, pool, {{"epochs", 3}}, {});
      FAIL() << name;
    } catch (const InputError& error) {
      EXPECT_NE(std::string(error.what()).find("'" + std::string(name) + "' has no setting 'epochs'"),
                std::string::npos);
    }
  }
  EXPECT_THROW(train_pool_model("maple", pool, {{"epochs", 0}}, {}), BadOption);
}

TEST(Settings, ReachTheCheckpointSeedIncluded) {
  const datasets::Pool pool = test::synthetic_pool(20);
  const auto card = [&](const char* name, nlohmann::json settings) {
    settings["seed"] = 7;
    const nlohmann::json written = train_pool_model(name, pool, settings, {})->to_archive().card;
    EXPECT_EQ(written.at("seed"), 7) << name;
    return written.at("settings");
  };
  EXPECT_EQ(card("help", {{"episodes", 1}, {"support", 3}}).at("support"), 3);
  EXPECT_EQ(card("structured", {{"posterior", {{"kept", 9}}}}).at("kept"), 9);
  EXPECT_EQ(card("maple", {{"hidden", {4}}, {"epochs", 1}}).at("hidden"), nlohmann::json({4}));
  EXPECT_EQ(card("maple-edge", {{"simulation", {{"rows", 99}}}}).at("simulation").at("rows"), 99);
}

std::string shown(const nlohmann::json& value) { return value.is_string() ? value.get<std::string>() : value.dump(); }

void add_rows(std::string& page, const std::vector<OptionText>& options, const std::string& holder) {
  for (const OptionText& option : options) {
    const bool holds = !option.options.empty();
    page += "| `" + holder + option.name + "` | " + (option.argument.empty() ? "" : "`--" + option.argument + "`") +
            " | " + (holds ? "" : "`" + shown(option.otherwise) + "`") + " | " +
            (holds ? "the settings below" : option.expected) + " | " + option.meaning + " |\n";
    add_rows(page, option.options, holder + option.name + ".");
  }
}

std::string settings_page() {
  std::string page =
      "# Settings of predictors\n\n"
      "What the method of an [experiment](evaluation/spec.h) may say beside its predictor's name: "
      "`{\"predictor\": \"structured\", \"posterior\": {\"kept\": 30}}`. A setting that is an object may name some of "
      "its "
      "own. Some are options of `tenshot train` as well. The seed of a method is the experiment's. Predictors that are "
      "not listed have no settings.\n\n"
      "This page is made from the declarations in the sources: `TENSHOT_WRITE_PAGES=1 build/tests/test_trainer "
      "--gtest_filter='Settings.*'`.\n";
  for (const PredictorRow& row : predictor_registry()) {
    if (row.settings.empty()) continue;
    page += "\n## " + row.name + "\n\n" + row.meaning +
            ".\n\n| setting | `train` | default | may be | what it does |\n"
            "|---|---|---|---|---|\n";
    add_rows(page, row.settings, "");
  }
  return page;
}

TEST(Settings, AreOnTheirPage) {
  const std::filesystem::path path = std::filesystem::path(TENSHOT_SOURCE_DIR) / "trainer/settings.md";
  if (std::getenv("TENSHOT_WRITE_PAGES") != nullptr) write_file_atomically(path, settings_page());
  EXPECT_EQ(read_file(path), settings_page()) << "TENSHOT_WRITE_PAGES=1 writes it again";
}

}  // namespace
}  // namespace tenshot::trainer
