#include "trainer/report/report.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "datasets/tables/measurements.h"
#include "nasbench/support/error.h"
#include "tests/unit/trainer/fixtures.h"
#include "tests/unit/trainer/report/occurrences.h"
#include "trainer/evaluation/experiment.h"
#include "trainer/predictors/registry.h"
#include "trainer/report/page.h"

namespace tenshot::trainer::report {
namespace {

using test::occurrences;

class Report : public ::testing::Test {
 protected:
  std::filesystem::path path(const std::string& name) const { return folder_.path() / name; }

  void adapt(const std::string& kind) {
    const datasets::Pool pool = test::synthetic_pool(120);
    const auto device = test::synthetic_device("new", 5, 1.0, 0.01, 120, 9);
    AdaptationSet set;
    for (std::size_t i = 0; i < 10; ++i) {
      set.architectures.push_back(device.latencies[i].architecture);
      set.latency_ms.push_back(device.latencies[i].latency_ms);
    }
    save(train_pool_model(kind, pool, {}, {})->adapt(set, {})->to_archive(), path("device.tenshot"));
    datasets::write_measurements(path("truth.csv"), device.latencies, nasbench::nasbench201());
  }

  DeviceReportOptions with_truth() const {
    DeviceReportOptions options;
    options.measured = {path("truth.csv")};
    return options;
  }

  test::Folder folder_;
};

TEST_F(Report, OnAPredictorShowsCostsErrorsAndIntervals) {
  adapt("structured");
  const Page page = make_report(path("device.tenshot"), with_truth());
  const std::string html = page.html();
  for (const char* part : {"nine of ten predictions", "What operators cost", "nor_conv_3x3",
                           "Predicted against measured", "Do the intervals hold?", "The whole space", "The fastest",
                           "Checked on 110 networks that it was not adapted on: ", "What the runtime executes",
                           "What to measure next", "board, runtime, date</dt><dd>not noted"}) {
    EXPECT_NE(html.find(part), std::string::npos) << part;
  }
  EXPECT_EQ(occurrences(html, "<svg role=\"img\" aria-label=\""), 5u);
  EXPECT_EQ(occurrences(html, "<svg"), 5u);
  std::vector<std::string> names;
  for (const Page::Figure& picture : page.pictures()) {
    names.push_back(picture.name);
    EXPECT_EQ(picture.svg.compare(0, 16, "<svg role=\"img\" "), 0);
    EXPECT_NE(picture.svg.find("prefers-color-scheme: dark"), std::string::npos);
    EXPECT_NE(picture.svg.find("xmlns=\"http://www.w3.org/2000/svg\""), std::string::npos);
  }
  EXPECT_EQ(names, (std::vector<std::string>{"predicted-against-measured", "errors", "costs", "space", "intervals"}));
  // Without measurements of its own: no errors, no calibration.
  EXPECT_EQ(make_report(path("device.tenshot")).html().find("Do the intervals hold?"), std::string::npos);
}

TEST_F(Report, PromisesWhatAdaptPromisedAndSaysHowItWasMeasured) {
  adapt("structured");
  Archive archive = load_archive(path("device.tenshot"));
  archive.card["verdict"] = {{"within_percent", 12.3}, {"measurements", 10}, {"warnings", 0}};
  archive.card["conditions"] = nlohmann::json::array({{"board", "<Orin>"}, {"power mode", "MAXN"}});
  save(archive, path("device.tenshot"));
  DeviceReportOptions options;
  options.commands = {{"Again", "tenshot report 'a<b'"}};
  const std::string html = make_report(path("device.tenshot"), options).html();
  EXPECT_NE(html.find("expect nine of ten predictions within ±12 %"), std::string::npos);
  EXPECT_NE(html.find("<dt>board</dt><dd>&lt;Orin&gt;</dd>"), std::string::npos);
  EXPECT_NE(html.find("<dt>power mode</dt><dd>MAXN</dd>"), std::string::npos);
  EXPECT_NE(html.find("<pre>tenshot report &#39;a&lt;b&#39;</pre>"), std::string::npos);
  EXPECT_EQ(html.find("Checked on"), std::string::npos);
  archive.card["conditions"] = nlohmann::json::array({nlohmann::json::array({"board"})});
  save(archive, path("device.tenshot"));
  EXPECT_THROW(make_report(path("device.tenshot")), FormatError);
}

TEST_F(Report, SaysFirstThatMeasurementsContradictThePromise) {
  adapt("structured");
  auto truth = test::synthetic_device("new", 5, 1.0, 0.01, 120, 9).latencies;
  for (std::size_t i = 0; i < truth.size(); i += 2) truth[i].latency_ms *= 1.7;
  datasets::write_measurements(path("truth.csv"), truth, nasbench::nasbench201());
  const std::string html = make_report(path("device.tenshot"), with_truth()).html();
  const std::size_t first = html.find("<div class=\"verdict poor\"><p>Contradicted by measurements: nine of ten");
  ASSERT_NE(first, std::string::npos);
  EXPECT_EQ(html.find("class=\"checked\">Checked on 110 networks", first), html.find("class=\"checked\""));
  truth.resize(13);  // three others are too few to tell
  datasets::write_measurements(path("truth.csv"), truth, nasbench::nasbench201());
  EXPECT_EQ(make_report(path("device.tenshot"), with_truth()).html().find("Contradicted"), std::string::npos);
}

TEST_F(Report, WithinALimitAreTheNearestAndTheMostAccurate) {
  adapt("structured");
  const std::string cheap = "|skip_connect~0|+|none~0|nor_conv_1x1~1|+|none~0|none~1|skip_connect~2|",
                    dear = "|nor_conv_3x3~0|+|nor_conv_3x3~0|nor_conv_3x3~1|+|none~0|none~1|nor_conv_3x3~2|";
  const auto predictor = load_predictor(path("device.tenshot"));
  const NetworkSpace& space = predictor->space();
  const std::vector<double> ms = predictor->predict({space.parse(cheap), space.parse(dear)}, 0.9).latency_ms;
  ASSERT_LT(ms[0], ms[1]);
  test::write(path("accuracies.csv"), "architecture,accuracy\n" + cheap + ",60\n" + dear + ",90\n");
  DeviceReportOptions options;
  options.accuracies = path("accuracies.csv");
  options.limit = (ms[0] + ms[1]) / 2;
  const std::string html = make_report(path("device.tenshot"), options).html();
  const std::size_t best = html.find("The most accurate within");
  ASSERT_NE(best, std::string::npos);
  EXPECT_NE(html.find("<span>60</span>", best), std::string::npos);
  EXPECT_EQ(html.find("<span>90</span>", best), std::string::npos);
  EXPECT_NE(html.find("The nearest within"), std::string::npos);
  options.limit = ms[0] / 1000;
  EXPECT_NE(make_report(path("device.tenshot"), options).html().find("None of them is predicted within"),
            std::string::npos);
}

TEST_F(Report, OnAPredictorWithoutIntervalsLeavesThemOut) {
  adapt("flops");
  const std::string html = make_report(path("device.tenshot"), with_truth()).html();
  EXPECT_EQ(html.find("intervals"), std::string::npos);
  EXPECT_NE(html.find("Checked on 110 networks"), std::string::npos);
  EXPECT_NE(html.find("The whole space"), std::string::npos);
}

TEST_F(Report, OnAPredictorWithAccuraciesShowsTheParetoFront) {
  adapt("structured");
  // The dearest of three is the least accurate: two are on the front.
  const std::string
      dear = "|nor_conv_3x3~0|+|nor_conv_3x3~0|nor_conv_3x3~1|+|nor_conv_3x3~0|nor_conv_3x3~1|nor_conv_3x3~2|",
      middle = "|nor_conv_3x3~0|+|none~0|nor_conv_3x3~1|+|none~0|none~1|nor_conv_3x3~2|",
      cheap = "|skip_connect~0|+|none~0|skip_connect~1|+|none~0|none~1|skip_connect~2|";
  test::write(path("accuracies.csv"),
              "architecture,accuracy\n" + dear + ",50\n" + middle + ",70\n" + cheap + ",60\nnonsense,3\n");
  DeviceReportOptions options;
  options.accuracies = path("accuracies.csv");
  const std::string html = make_report(path("device.tenshot"), options).html();
  EXPECT_NE(html.find("2 of 3 networks are more accurate than all that are predicted to take less"), std::string::npos);
  EXPECT_NE(html.find("accuracies.csv: left out: "), std::string::npos);
  test::write(path("accuracies.csv"), "architecture,accuracy\nnonsense,3\n");
  EXPECT_THROW(make_report(path("device.tenshot"), options), InputError);
}

TEST_F(Report, OnlyPredictorsOfOperatorsExplainANetwork) {
  adapt("structured");
  DeviceReportOptions options;
  options.explained = {"|none~0|+|none~0|none~1|+|none~0|none~1|none~2|"};
  EXPECT_THROW(make_report(path("device.tenshot"), options), InputError);
}

TEST_F(Report, WarningsOfAdaptingReachThePage) {
  adapt("structured");
  EXPECT_EQ(make_report(path("device.tenshot")).html().find("class=\"warnings\""), std::string::npos);
  const datasets::Pool pool = test::synthetic_pool(120);
  AdaptationSet set;
  for (std::size_t i = 0; i < 3; ++i) {
    set.architectures.push_back(pool.devices[0].latencies[i].architecture);
    set.latency_ms.push_back(pool.devices[0].latencies[i].latency_ms);
  }
  save(train_pool_model("structured", pool, {}, {})->adapt(set, {})->to_archive(), path("few.tenshot"));
  const std::string html = make_report(path("few.tenshot")).html();
  EXPECT_NE(html.find("<li>3 measurements: the answer leans on the pool; ten are recommended"), std::string::npos);
  EXPECT_NE(html.find("Doubtful: expect nine of ten"), std::string::npos);
}

TEST_F(Report, OnAnExperimentShowsItsTablesAndPictures) {
  datasets::write_pool(path("pool"), test::synthetic_pool(140));
  const nlohmann::json spec = {{"format", "tenshot.experiment/1"},
                               {"name", "made-up"},
                               {"description", "<made> up"},
                               {"data", {{"pool", path("pool").string()}}},
                               {"split", {{"train", "0:80"}, {"test", "80:140"}}},
                               {"targets", {"*"}},
                               {"pools", {"others"}},
                               {"samplers", {"random"}},
                               {"samples", {5, 10}},
                               {"methods", {"structured", "flops"}},
                               {"trials", 2}};
  evaluation::ExperimentOptions options;
  options.out = path("out");
  evaluation::run_experiment(evaluation::parse_spec(spec.dump(), "spec", false), options);
  const std::string html = make_report(path("out")).html();
  for (const char* part : {"Experiment made-up", "&lt;made&gt; up", "Accuracy against samples", "Error distribution",
                           "Do the intervals hold?", "How alike the devices rank", "<strong>"}) {
    EXPECT_NE(html.find(part), std::string::npos) << part;
  }
  EXPECT_EQ(occurrences(html, "<svg role=\"img\""), 1u + 1u + 1u + 3u + 1u);
  EXPECT_THROW(make_report(path("out"), with_truth()), InputError);
  DeviceReportOptions limited;
  limited.limit = 1;
  EXPECT_THROW(make_report(path("out"), limited), InputError);
}

TEST_F(Report, OfMoreMethodsThanColoursTheBestHasALine) {
  datasets::write_pool(path("pool"), test::synthetic_pool(140));
  const nlohmann::json spec = {{"format", "tenshot.experiment/1"},
                               {"name", "many"},
                               {"data", {{"pool", path("pool").string()}}},
                               {"split", {{"train", "0:80"}, {"test", "80:140"}}},
                               {"targets", {"*"}},
                               {"pools", {"others"}},
                               {"samplers", {"random", "targeted-uniform"}},
                               {"samples", {5, 10}},
                               {"methods", {"additive", "constant", "flops", "flops-memory", "structured"}},
                               {"trials", 1}};
  evaluation::ExperimentOptions options;
  options.out = path("out");
  evaluation::run_experiment(evaluation::parse_spec(spec.dump(), "spec", false), options);
  const std::string html = make_report(path("out")).html();
  EXPECT_NE(html.find("; the 8 best of 10"), std::string::npos);
  const std::size_t picture = html.find("Lines of the share predicted"), end = html.find("</svg>", picture);
  for (const char* sampler : {"random", "targeted-uniform"}) {
    EXPECT_LT(html.find(">structured, " + std::string(sampler) + "</text>", picture), end) << sampler;
  }
  EXPECT_EQ(occurrences(html.substr(picture, end - picture), "<polyline"), 8U);
}

TEST_F(Report, RefusesWhatIsNeither) {
  EXPECT_THROW(make_report(path("nothing")), FileError);
  EXPECT_THROW(make_report(folder_.path()), FileError);
  test::write(path("results.json"), "[]");
  EXPECT_THROW(make_report(folder_.path()), FormatError);
}

}  // namespace
}  // namespace tenshot::trainer::report
