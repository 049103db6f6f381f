#pragma once

#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "datasets/tables/quantity.h"

namespace tenshot::trainer::report {

// Pictures as <svg> elements to stand inside a page. Their colours are the page's CSS variables (page.h), so that one
// picture fits light and dark; what is under the pointer says its values. Values that are not finite are left out.

/// A point of a series.
struct Mark {
  double x = 0, y = 0;
  double spread = NAN;           ///< half-length of an error bar; NaN: it has none
  std::string name = {};         ///< for its hint
  double low = NAN, high = NAN;  ///< the ends of its interval
};

/// What is drawn in one colour.
struct Series {
  std::string name;
  std::vector<Mark> marks = {};
};

struct Axes {
  std::string x;
  std::string y;
  bool logarithmic_x = false;
  std::optional<std::pair<double, double>> y_range = std::nullopt;  ///< nothing: what the data spans
  bool from_zero = false;                                           ///< what the data spans, and zero
};

/// Predicted (y) against measured (x) with the band of ±10 % and the diagonal; both axes span the same.
std::string scatter_plot(const std::vector<Series>& series, const std::string& alternative_text,
                         datasets::Quantity quantity = datasets::Quantity::latency);
/// Lines with points, and error bars where points have them; a single line inside the band of its 90 % intervals, where
/// all of its points have one. With `diagonal`, the line y = x.
std::string line_plot(const std::vector<Series>& series, const Axes& axes, const std::string& alternative_text,
                      bool diagonal = false);

/// One lying bar of the length y for each, its name before it and behind it y, the spread if it has one, and `unit`.
std::string bar_plot(const std::vector<Mark>& bars, const std::string& unit, const std::string& alternative_text);

/// One standing bar for each part of a sequence, in order, coloured by its group.
struct Column {
  std::string name;
  std::size_t group = 0;
  double value = 0;
  double spread = 0;
};
/// `groups` are the names of the groups that occur.
std::string column_plot(const std::vector<Column>& columns, const std::vector<std::string>& groups, const Axes& axes,
                        const std::string& unit, const std::string& alternative_text);

/// Rows of points on one axis: y of a series is the index of a row.
std::string dot_plot(const std::vector<std::string>& rows, const std::vector<Series>& series, const std::string& axis,
                     const std::string& alternative_text);

/// What is cheaper (x) and better (y): all networks, the ascending `front` that none beats, and a line at x = `limit`.
std::string front_plot(const std::vector<Mark>& networks, const std::vector<Mark>& front, double limit,
                       const Axes& axes, const std::string& alternative_text);

/// The percentage of errors |y − x| / x below each of some, up to 50 %: a line for each series of predicted y, true x.
std::string error_distribution_plot(const std::vector<Series>& series, const std::string& alternative_text);
/// How often intervals held against how often they were asked to.
std::string calibration_plot(const std::vector<Series>& series);

}  // namespace tenshot::trainer::report
