#include "trainer/report/plot.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/unit/trainer/report/occurrences.h"
#include "trainer/report/drawing.h"
#include "trainer/report/page.h"

namespace tenshot::trainer::report {
namespace {

using test::occurrences;

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
  page.heat_map("c", {"a", "b"}, {{1, 0.5}, {std::nan(""), 1}});
  const std::string html = page.html();
  EXPECT_NE(html.find("rgba(var(--heat), 0.60)\">1.00"), std::string::npos);
  EXPECT_NE(html.find("rgba(var(--heat), 0.00)\">0.50"), std::string::npos);
  EXPECT_NE(html.find("<td></td>"), std::string::npos);
}

TEST(ReportScale, HasRoundTicksBetweenItsEnds) {
  EXPECT_EQ(Scale(0, 10).ticks(), (std::vector<double>{0, 2, 4, 6, 8, 10}));
  EXPECT_EQ(Scale(1, 100, true).ticks(), (std::vector<double>{1, 2, 5, 10, 20, 50, 100}));
  EXPECT_DOUBLE_EQ(Scale(2, 4).share(3), 0.5);
  EXPECT_DOUBLE_EQ(Scale(1, 100, true).share(10), 0.5);
  EXPECT_LT(Scale(3, 3).low(), 3);
  EXPECT_GT(Scale(3, 3).high(), 3);
}

TEST(ReportFrame, LegendStandsAboveThePlotAndNeverInIt) {
  Legend legend;
  for (int i = 0; i < 6; ++i) legend.emplace_back("a rather long name of a method", "var(--s0)");
  const Frame frame(460, Scale(0, 1), Scale(0, 1), {"x", "y"}, legend, 200);
  EXPECT_GT(frame.top, Frame(460, Scale(0, 1), Scale(0, 1), {"x", "y"}, {}, 200).top + 3 * 15);
  EXPECT_DOUBLE_EQ(frame.bottom - frame.top, 200);
  EXPECT_DOUBLE_EQ(frame.at(0.5, 1).y, frame.top);
  EXPECT_DOUBLE_EQ(frame.at(0.5, 7).y, frame.top) << "what is outside stays at the edge";
}

TEST(ReportPlot, HintsSayTheValues) {
  EXPECT_NE(scatter_plot({{"s", {{2, 2.2, NAN, "net"}}}}, "").find("net\nmeasured 2 ms, predicted 2.2 ms (+10.0 %)"),
            std::string::npos);
  EXPECT_NE(bar_plot({{0, 2, 0.5, "pool"}}, "ms", "").find("<title>pool: 2 ± 0.5 ms</title>"), std::string::npos);
  // Of −0.1 ± 0.3 the bar is at zero and the whisker ends at 0.2, a tenth of the dearest bar.
  const std::string below = bar_plot({{0, 2, 0, "a"}, {0, -0.1, 0.3, "b"}}, "ms", "");
  const std::size_t zero = below.find("width=\"0\"");
  ASSERT_NE(zero, std::string::npos);
  const auto number_at = [&](const char* name, std::size_t from) {
    return std::stod(below.substr(below.find(name, from) + std::string(name).size()));
  };
  const double bar = number_at(" width=\"", below.find("<rect"));
  const std::size_t whisker = below.find("<line", zero);
  EXPECT_NEAR(number_at("x2=\"", whisker) - number_at("x1=\"", whisker), 0.1 * bar, 0.2);
  EXPECT_NE(column_plot({{"conv", 0, 3, 0.1}}, {"convolution"}, {"x", "y"}, "ms", "").find("1. conv\n3 ± 0.1 ms"),
            std::string::npos);
}

TEST(ReportPlot, OfManyPointsOnlyTheFarthestHaveHints) {
  Series series{"s"};
  for (double i = 1; i <= 5000; ++i) series.marks.push_back({i, i == 77 ? 2 * i : 1.01 * i});
  const std::string svg = scatter_plot({series}, "");
  EXPECT_EQ(occurrences(svg, "<title>"), 200u);
  EXPECT_NE(svg.find("measured 77 ms, predicted 154 ms (+100.0 %)"), std::string::npos);
  EXPECT_LT(svg.size(), 150'000u);
}

TEST(ReportPlot, DistributionCountsErrorsWithinEachBound) {
  // Errors of 0, 10 and 60 percent.
  const std::string svg = error_distribution_plot({{"m", {{1, 1}, {10, 11}, {10, 4}}}}, "");
  for (const char* share : {"0\nm: 33.3", "10.5\nm: 66.7", "50\nm: 66.7"}) {
    EXPECT_NE(svg.find(std::string("error, percent of measured: ") + share + "<"), std::string::npos) << share;
  }
}

TEST(ReportPlot, DrawsWhatIsFiniteAndNothingElse) {
  const double nan = std::nan(""), inf = HUGE_VAL;
  const std::vector<Mark> marks = {{1, 1, inf}, {nan, 2, 1}, {inf, 3, 1}, {3, -inf, 1}, {1e308, 1e308, 1}};
  const Series broken{"broken", marks}, nothing{"nothing", {{nan, 1}, {inf, 1}}}, zero{"zero", {{0, 1}}};
  const Series banded{"banded", {{1, 1, nan, "", 0, 2}, {2, 2, nan, "", nan, inf}}};
  Axes axes{"x", "y"};
  std::vector<std::string> drawn = {scatter_plot({broken}, ""),
                                    scatter_plot({nothing}, ""),
                                    scatter_plot({}, ""),
                                    bar_plot(broken.marks, "ms", ""),
                                    bar_plot(nothing.marks, "ms", ""),
                                    dot_plot({"a", "b"}, {broken, nothing}, "x", ""),
                                    dot_plot({}, {}, "x", ""),
                                    column_plot({{"a", 0, inf, nan}, {"b", 0, 1, nan}}, {"g"}, axes, "ms", ""),
                                    column_plot({}, {}, axes, "ms", ""),
                                    line_plot({banded}, axes, ""),
                                    front_plot(broken.marks, nothing.marks, nan, axes, "")};
  for (const bool logarithmic : {false, true}) {
    axes.logarithmic_x = logarithmic;
    for (const auto& series : {std::vector{broken, nothing}, std::vector{nothing}, std::vector{zero}}) {
      drawn.push_back(line_plot(series, axes, ""));
    }
  }
  for (const std::string& svg : drawn) {
    EXPECT_EQ(svg.compare(0, 4, "<svg"), 0);
    EXPECT_EQ(svg.find("nan"), std::string::npos) << svg;
    EXPECT_EQ(svg.find("inf"), std::string::npos) << svg;
  }
  EXPECT_NO_THROW(error_distribution_plot({{"broken", {{1, nan}, {1, 1}, {1, inf}}}}, ""));
}

}  // namespace
}  // namespace tenshot::trainer::report
