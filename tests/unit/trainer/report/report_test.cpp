#include "trainer/report/report.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "datasets/tables/measurements.h"
#include "descriptor/machine/child_process.h"
#include "nasbench/support/error.h"
#include "tests/unit/trainer/fixtures.h"
#include "trainer/evaluation/experiment.h"
#include "trainer/predictors/registry.h"
#include "trainer/report/page.h"
#include "trainer/report/plot.h"
#include "trainer/report/text.h"

namespace tenshot::trainer::report {
namespace {

std::size_t occurrences(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

TEST(ReportPage, EscapesWhatItIsGiven) {
  EXPECT_EQ(escaped("<a href=\"x\">&'"), "&lt;a href=&quot;x&quot;&gt;&amp;&#39;");
  Page page("<script>");
  page.table({"<b>", {"<i>"}, {{"**<1>** ± 2"}}});
  page.list({"<li>"});
  const std::string html = page.html();
  EXPECT_EQ(html.find("<script"), std::string::npos);
  EXPECT_NE(html.find("<td><strong>&lt;1&gt;</strong> ± 2</td>"), std::string::npos);
}

TEST(ReportPage, NeedsNoNetworkAndFitsLightAndDark) {
  const std::string html = Page("t").html();
  EXPECT_NE(html.find("prefers-color-scheme: dark"), std::string::npos);
  EXPECT_NE(html.find("width=device-width"), std::string::npos);
  EXPECT_EQ(html.find("http"), std::string::npos);
}

TEST(ReportPage, ShadesAHeatMapFromItsLowestValue) {
  Page page("t");
  page.heat_map({"c", {"a", "b"}, {{1, 0.5}, {std::nan(""), 1}}});
  const std::string html = page.html();
  EXPECT_NE(html.find("rgba(var(--heat), 0.60)\">1.00"), std::string::npos);
  EXPECT_NE(html.find("rgba(var(--heat), 0.00)\">0.50"), std::string::npos);
  EXPECT_NE(html.find("<td></td>"), std::string::npos);
}

TEST(ReportPlot, BecomesAnElementInThePagesColours) {
  const std::string svg =
      "<?xml?>\n<svg \n viewBox='0 0 1 1'><title>Gnuplot</title><desc>x</desc><path id='gpPt1' "
      "stroke='rgb(  1,   1,  10)' fill=\"rgb(1,1,2)\"/><use xlink:href='#gpPt1' color='rgb(200, 1, 1)'/></svg>";
  const std::string text = inlined(svg, "f1-", "a < b");
  EXPECT_EQ(text,
            "<svg role=\"img\" aria-label=\"a &lt; b\" \n viewBox='0 0 1 1'><path id='f1-gpPt1' stroke='var(--p10)' "
            "fill=\"var(--p2)\"/><use xlink:href='#f1-gpPt1' color='rgb(200, 1, 1)'/></svg>");
  EXPECT_THROW(inlined("nothing", "f1-", ""), FormatError);
}

TEST(ReportPlot, DistributionCountsErrorsWithinEachBound) {
  // Errors of 0, 10 and 60 percent.
  const Series series = error_distribution("m", {1, 10, 10}, {1, 11, 4});
  const auto at = [&](double error) {
    return series.y[static_cast<std::size_t>(std::find(series.x.begin(), series.x.end(), error) - series.x.begin())];
  };
  EXPECT_NEAR(at(0), 100.0 / 3, 1e-9);
  EXPECT_NEAR(at(10.5), 200.0 / 3, 1e-9);
  EXPECT_NEAR(at(50), 200.0 / 3, 1e-9);
}

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

  test::Folder folder_;
};

TEST_F(Report, OnAPredictorShowsCostsErrorsAndIntervals) {
  adapt("structured");
  const Page page = make_report(path("device.tenshot"), path("truth.csv"));
  const std::string html = page.html();
  for (const char* part : {"Structure and operator costs", "nor_conv_3x3", "Predicted against measured",
                           "Do the intervals hold?", "The whole space", "90 % intervals hold"}) {
    EXPECT_NE(html.find(part), std::string::npos) << part;
  }
  EXPECT_EQ(occurrences(html, "<svg role=\"img\" aria-label=\""), 5u);
  EXPECT_EQ(occurrences(html, "<svg"), 5u);
  EXPECT_EQ(html.find("rgb(1,1,"), std::string::npos);
  std::vector<std::string> names;
  for (const Page::Picture& picture : page.pictures()) {
    names.push_back(picture.name);
    EXPECT_EQ(picture.svg.compare(0, 16, "<svg role=\"img\" "), 0);
    EXPECT_NE(picture.svg.find("prefers-color-scheme: dark"), std::string::npos);
    EXPECT_NE(picture.svg.find("xmlns=\"http://www.w3.org/2000/svg\""), std::string::npos);
  }
  EXPECT_EQ(names, (std::vector<std::string>{"costs", "predicted-against-measured", "errors", "intervals", "space"}));
  // Without measurements of its own: no errors, no calibration.
  EXPECT_EQ(make_report(path("device.tenshot"), {}).html().find("Do the intervals hold?"), std::string::npos);
}

TEST_F(Report, OnAPredictorWithoutIntervalsLeavesThemOut) {
  adapt("flops");
  const std::string html = make_report(path("device.tenshot"), path("truth.csv")).html();
  EXPECT_EQ(html.find("intervals"), std::string::npos);
  EXPECT_NE(html.find("The whole space"), std::string::npos);
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
  const std::string html = make_report(path("out"), {}).html();
  for (const char* part : {"Experiment made-up", "&lt;made&gt; up", "Accuracy against samples", "Error distribution",
                           "Do the intervals hold?", "How alike the devices rank", "<strong>"}) {
    EXPECT_NE(html.find(part), std::string::npos) << part;
  }
  EXPECT_EQ(occurrences(html, "<svg role=\"img\""), 1u + 1u + 3u + 1u);
  EXPECT_THROW(make_report(path("out"), path("truth.csv")), InputError);
}

TEST_F(Report, RefusesWhatIsNeither) {
  EXPECT_THROW(make_report(path("nothing"), {}), FileError);
  EXPECT_THROW(make_report(folder_.path(), {}), FileError);
  test::write(path("results.json"), "[]");
  EXPECT_THROW(make_report(folder_.path(), {}), FormatError);
}

TEST(ReportPlot, DrawsWhatIsFiniteAndNothingElse) {
  if (descriptor::find_program("gnuplot").empty()) GTEST_SKIP() << "gnuplot is not installed";
  const double nan = std::nan(""), inf = HUGE_VAL;
  const Series broken{"broken", {1, nan, inf, 3, 1e308}, {1, 2, 3, -inf, 1e308}, {inf, 1, 1, 1, 1}};
  const Series nothing{"nothing", {nan, inf}, {1, 1}};
  Axes axes{"x", "y"};
  for (const bool logarithmic : {false, true}) {
    axes.logarithmic_x = logarithmic;
    EXPECT_NE(line_plot({broken, nothing}, axes, "lines").find("<svg"), std::string::npos);
    EXPECT_NE(line_plot({nothing}, axes, "lines").find("<svg"), std::string::npos);
    EXPECT_NE(line_plot({{"zero", {0}, {1}}}, axes, "lines").find("<svg"), std::string::npos);
  }
  EXPECT_NE(scatter_plot({broken}, "points").find("<svg"), std::string::npos);
  EXPECT_NE(scatter_plot({nothing}, "points").find("<svg"), std::string::npos);
  EXPECT_NE(scatter_plot({}, "points").find("<svg"), std::string::npos);
  EXPECT_NE(bar_plot({"a", "b", "c", "d", "e"}, broken, axes, "bars").find("<svg"), std::string::npos);
  EXPECT_NE(bar_plot({"a", "b"}, nothing, axes, "bars").find("<svg"), std::string::npos);
  EXPECT_NO_THROW(error_distribution("broken", {1, 1, 1}, {nan, 1, inf}));
}

}  // namespace
}  // namespace tenshot::trainer::report
