#include <gtest/gtest.h>

#include <cstdlib>

#include "nasbench/support/error.h"
#include "trainer/evaluation/experiment.h"
#include "trainer/evaluation/spec.h"

namespace tenshot::trainer::evaluation {
namespace {

const char* const smallest = R"({
  "format": "tenshot.experiment/1", "name": "small", "data": {"pool": "pool"},
  "split": {"train": "0:60", "test": "60:120"}, "targets": ["*"], "pools": ["others"],
  "samplers": ["random"], "samples": [10], "methods": ["flops"], "trials": 2})";

/// `smallest` with a JSON merge patch over it.
std::string with(const std::string& patch) {
  nlohmann::json document = nlohmann::json::parse(smallest);
  document.merge_patch(nlohmann::json::parse(patch));
  return document.dump();
}

std::string refusal(const std::string& text) {
  try {
    parse_spec(text, "spec.json", false);
  } catch (const FormatError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(ExperimentSpec, ReadsWhatItSays) {
  const ExperimentSpec spec = parse_spec(
      with(R"({"clones": [1, 7], "seed": 5, "pools": ["same-runtime", {"name": "one", "one_at_a_time": true}],
               "methods": ["structured", {"name": "fine", "predictor": "maple", "mode": "fine-tune", "hidden": [8],
               "normalise": true, "samples": "all", "sampler": "information"}]})"),
      "spec.json", false);
  EXPECT_EQ(spec.split.train.end, 60);
  EXPECT_EQ(spec.trials, 2);
  EXPECT_EQ(spec.seed, 5u);
  ASSERT_EQ(spec.clones.size(), 2u);
  EXPECT_EQ(spec.clones[1], 7);
  EXPECT_EQ(spec.pools[0].of, "same-runtime");
  EXPECT_TRUE(spec.pools[1].one_at_a_time);
  EXPECT_EQ(spec.methods[0].name, "structured");
  EXPECT_EQ(spec.methods[1].mode, "fine-tune");
  EXPECT_EQ(spec.methods[1].settings.at("hidden"), nlohmann::json({8}));
  EXPECT_TRUE(spec.methods[1].settings.at("normalise"));
  EXPECT_FALSE(spec.methods[1].settings.at("scale_latencies")) << "as maple has it, unless told otherwise";
  EXPECT_EQ(spec.methods[1].samples, every_sample);
  EXPECT_EQ(spec.methods[1].sampler, "information");
}

TEST(ExperimentSpec, RefusesWhatGoesNotTogether) {
  EXPECT_NE(refusal(with(R"({"methods": [{"predictor": "maple-edge", "mode": "set-encoder"}]})"))
                .find("\"pretraining_epochs\""),
            std::string::npos);
  EXPECT_EQ(refusal(with(R"({"methods": [{"predictor": "maple-edge", "mode": "set-encoder",
                                          "pretraining_epochs": 2}]})")),
            "accepted");
  EXPECT_NE(refusal(with(R"({"methods": [{"predictor": "structured", "descriptor": false,
                                          "shuffled_descriptor": true}]})"))
                .find("no \"descriptor\": false"),
            std::string::npos);
  EXPECT_NE(refusal(with(R"({"methods": [{"predictor": "structured", "pretraining_epochs": 2}]})"))
                .find("pretraining_epochs"),
            std::string::npos);
  EXPECT_NE(refusal(with(R"({"methods": [{"predictor": "structured", "profiled": true}]})")).find("profiled"),
            std::string::npos);
  EXPECT_NE(refusal(with(R"({"methods": [{"predictor": "structured", "ensemble": 3}]})")).find("ensemble"),
            std::string::npos);
  EXPECT_NE(refusal(with(R"({"methods": [{"predictor": "maple-edge", "ensemble": 0}]})")), "accepted");
  EXPECT_NE(refusal(with(R"({"methods": [{"predictor": "maple-edge", "weight_decay": -1}]})")), "accepted");
  EXPECT_EQ(refusal(with(R"({"methods": [{"predictor": "maple-edge", "weight_decay": 0.1, "ensemble": 3}]})")),
            "accepted");
  EXPECT_NE(refusal(with(R"({"methods": [{"predictor": "structured", "descriptor_kind": "counters"}]})")), "accepted");
}

TEST(ExperimentSpec, SaysWhichQuantityIsPredicted) {
  EXPECT_FALSE(parse_spec(smallest, "spec.json", false).data.quantity.has_value());
  const ExperimentSpec spec = parse_spec(with(R"({"data": {"quantity": "cold"}})"), "spec.json", false);
  EXPECT_EQ(spec.data.quantity, datasets::Quantity::cold);
}

TEST(ExperimentSpec, QuickMergesItsChangesOverTheSpec) {
  const std::string text = with(R"({"trials": 9, "quick": {"trials": 1, "methods": ["structured"]}})");
  EXPECT_EQ(parse_spec(text, "spec.json", false).trials, 9);
  const ExperimentSpec quick = parse_spec(text, "spec.json", true);
  EXPECT_EQ(quick.trials, 1);
  EXPECT_EQ(quick.name, parse_spec(text, "spec.json", false).name + " (quick)");
  EXPECT_NE(quick.description.find("not a result to report"), std::string::npos);
  EXPECT_EQ(quick.json.at("name"), quick.name);
  EXPECT_EQ(quick.methods.front().predictor, "structured");
  EXPECT_EQ(parse_spec(smallest, "spec.json", true).trials, 1);  // without the key: one trial
}

TEST(ExperimentSpec, NamesFilePointerValueAndWhatIsAllowed) {
  const struct {
    std::string text, expected;
  } cases[] = {
      {"{", "spec.json:1: is not valid JSON here"},
      {"[]", "spec.json: the spec is an empty list, expected a JSON object"},
      {with(R"({"trials": 0})"), "spec.json: /trials is 0, expected a whole number from 1 to 10000"},
      {with(R"({"trials": "3"})"), "/trials is \"3\", expected a whole number"},
      {with(R"({"trials": 18446744073709551615})"), "/trials is 18446744073709551615, expected"},
      {with(R"({"format": "tenshot.experiment/9"})"), "/format is \"tenshot.experiment/9\", expected one of"},
      {with(R"({"colour": 1})"), "/colour is not known here; the keys are: format"},
      {with(R"({"data": {"pool": "a", "table": "b"}})"), "/data is an object, expected either the key 'pool'"},
      {with(R"({"data": {"pool": null, "table": "t", "space": "chess"}})"), "/data/space is \"chess\""},
      {with(R"({"data": {"quantity": "speed"}})"), "/data/quantity is \"speed\", expected one of"},
      {with(R"({"data": {"pool": "${TENSHOT_NO_SUCH}/x"}})"), "environment variable TENSHOT_NO_SUCH"},
      {with(R"({"data": {"pool": "${OPEN"}})"), "/data/pool is \"${OPEN\""},
      {with(R"({"split": {"test": "50:70"}})"), "/split/test is \"50:70\", expected rows that are not also training"},
      {with(R"({"split": {"train": "x"}})"), "/split/train is \"x\", expected rows from:to"},
      {with(R"({"targets": []})"), "/targets is an empty list, expected a list with at least one entry"},
      {with(R"({"pools": ["mine"]})"), "/pools/0 is \"mine\", expected one of: others, same-runtime, other-runtimes"},
      {with(R"({"pools": ["others", "others"]})"), "/pools/1 is \"others\", expected a name that no entry before"},
      {with(R"({"samplers": ["best"]})"), "/samplers/0 is \"best\", expected one of: information"},
      {with(R"({"samples": [10, -1]})"), "/samples/1 is -1"},
      {with(R"({"methods": [{"predictor": "structured", "descriptor_kind": "counters"}]})"),
       "/methods/0/descriptor_kind is \"counters\", expected one of: auto, in-network"},
      {with(R"({"methods": [{"predictor": "operators", "planning_noise": 0}]})"),
       "/methods/0/planning_noise is 0, expected a number from 1e-04 to 10"},
      {with(R"({"methods": [{"predictor": "structured", "planning_descriptor": true}]})"),
       "/methods/0/planning_descriptor is true, expected \"sampler\": \"information\""},
      {with(R"({"methods": ["oracle"]})"), "/methods/0 is \"oracle\", expected one of: structured"},
      {with(R"({"methods": [{"predictor": "flops", "hidden": [3]}]})"), "/methods/0/hidden is not known here"},
      {with(R"({"methods": [{"name": "x"}]})"), "/methods/0/predictor is missing"},
      {with(R"({"methods": [{"predictor": "maple", "hidden": [0]}]})"), "/methods/0/hidden/0 is 0"},
      {with(R"({"methods": [{"predictor": "maple", "a/b~c": 0}]})"), "/methods/0/a~1b~0c is not known"},
      {with(R"({"methods": [{"predictor": "maple", "hidd\n": 0}]})"), "/methods/0/hidd"},
      {with(R"({"methods": null})"), "/methods is missing"},
      {with(R"({"pools": ["other-families"]})"), "/pools/0 is \"other-families\", expected an object that names the"},
      {with(R"({"pools": [{"name": "p", "of": "other-families"}]})"),
       "/pools/0 is an object, expected the key 'families'"},
      {with(R"({"pools": [{"name": "p", "families": [["a"]]}]})"),
       "/pools/0 is an object, expected the key 'families'"},
      {with(R"({"methods": [{"predictor": "structured", "rounds": [4, 6]}]})"),
       "/methods/0/rounds is a list, expected no"},
      {with(R"({"methods": [{"predictor": "flops", "posterior": {}}]})"), "/methods/0/posterior is not known here"},
      {with(R"({"methods": [{"predictor": "structured", "posterior": {"step": 1}}]})"), "/posterior/step is not known"},
      {with(R"({"methods": [{"predictor": "structured", "posterior": {"noises": 1}}]})"),
       "/posterior/noises is 1, expected a list of numbers"},
      {with(R"({"methods": [{"predictor": "structured", "posterior": {"noises": []}}]})"), "/posterior/noises is"},
      {with(R"({"methods": [{"predictor": "maple-edge", "simulation": {"most_noise": 0.001}}]})"),
       "/methods/0/simulation is an object, expected a least_noise of at most most_noise"},
      {with(R"({"methods": [{"predictor": "maple-edge", "simulation": {"rows": 0.5}}]})"),
       "/methods/0/simulation/rows is 0.5, expected a whole number from 1 to 10000000"},
      {with(R"({"methods": [{"predictor": "maple-edge", "normalise": false}]})"), "/normalise is not known here"},
      {with(R"({"methods": [{"predictor": "help", "seed": 3}]})"), "/methods/0/seed is not known here"},
  };
  for (const auto& bad : cases) {
    EXPECT_NE(refusal(bad.text).find(bad.expected), std::string::npos) << refusal(bad.text);
    EXPECT_EQ(refusal(bad.text).find('\n'), std::string::npos) << "a message is one line: " << refusal(bad.text);
  }
}

TEST(ExperimentSpec, PathsNameEnvironmentVariables) {
  ::setenv("TENSHOT_SPEC_TEST", "/tables", 1);
  EXPECT_EQ(parse_spec(with(R"({"data": {"pool": "${TENSHOT_SPEC_TEST}/a"}})"), "s", false).data.path, "/tables/a");
  ::unsetenv("TENSHOT_SPEC_TEST");
}

TEST(ExperimentShard, IsWrittenAsPartOfParts) {
  EXPECT_EQ(parse_shard("2/8").index, 2);
  EXPECT_EQ(parse_shard("2/8").count, 8);
  for (const char* bad : {"", "2", "0/3", "4/3", "a/b", "1/", "/2", "1/2/3", "-1/2"}) {
    EXPECT_THROW(parse_shard(bad), InputError) << bad;
  }
}

}  // namespace
}  // namespace tenshot::trainer::evaluation
