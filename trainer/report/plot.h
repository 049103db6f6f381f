#pragma once

#include <string>
#include <vector>

#include "datasets/tables/quantity.h"

namespace tenshot::trainer::report {

// Pictures by gnuplot, as <svg> elements to stand inside a page. Their colours are the page's CSS variables (page.h),
// so that one picture fits light and dark. All throw FileError where gnuplot is not installed.

/// What is drawn in one colour.
struct Series {
  std::string name;
  std::vector<double> x;
  std::vector<double> y;
  std::vector<double> spread = {};  ///< half-length of an error bar at each point; empty: none
};

struct Axes {
  std::string x;
  std::string y;
  bool logarithmic_x = false;
  std::string y_range = {};      ///< gnuplot's, such as "[0:100]"; empty: what the data spans
  std::string key = "top left";  ///< where the legend stands, in gnuplot's words
};

/// Predicted (y) against measured (x) with the band of ±10 % and the diagonal; both axes span the same.
std::string scatter_plot(const std::vector<Series>& series, const std::string& alternative_text,
                         datasets::Quantity quantity = datasets::Quantity::latency);
/// Lines with points, and error bars where a series has them. With `diagonal`, the line y = x.
std::string line_plot(const std::vector<Series>& series, const Axes& axes, const std::string& alternative_text,
                      bool diagonal = false);
/// One bar a label, with error bars where `spread` is not empty.
std::string bar_plot(const std::vector<std::string>& labels, const Series& bars, const Axes& axes,
                     const std::string& alternative_text);

/// Makes gnuplot's SVG an element of a page: its colours become the page's variables, its ids get `prefix`, its prolog
/// and titles go, the text alternative comes.
std::string inlined(const std::string& svg, const std::string& prefix, const std::string& alternative_text);

}  // namespace tenshot::trainer::report
