#include "trainer/report/plot.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "nasbench/support/numbers_below.h"
#include "trainer/report/drawing.h"
#include "trainer/report/report_text.h"

namespace tenshot::trainer::report {
namespace {

using Anchor = Drawing::Anchor;
using Point = Drawing::Point;

constexpr double width = 460, wide = 1200, plot_height = 270;
constexpr std::size_t marked_points = 12;    ///< a line with more points than this has no marks
constexpr std::size_t hinted_points = 1500;  ///< in a cloud of more points only the farthest off have hints
constexpr std::size_t farthest_points = 200;

/// Whether a value has a place: a finite one, whose axis can be divided too.
bool can_be_drawn(double value) {
  constexpr double largest = 1e30;
  return std::abs(value) <= largest;  // not, where it is NaN
}

/// The points of a series that can be drawn, on an axis that may be logarithmic.
Series drawable(const Series& series, bool logarithmic_x = false) {
  Series result{series.name, {}, {}, {}, {}};
  for (std::size_t i = 0; i < std::min(series.x.size(), series.y.size()); ++i) {
    const bool beyond = logarithmic_x && !(series.x[i] > 1e-30);
    if (beyond || !can_be_drawn(series.x[i]) || !can_be_drawn(series.y[i])) continue;
    result.x.push_back(series.x[i]);
    result.y.push_back(series.y[i]);
    if (i < series.spread.size()) result.spread.push_back(can_be_drawn(series.spread[i]) ? series.spread[i] : 0);
    if (i < series.names.size()) result.names.push_back(series.names[i]);
  }
  if (result.spread.size() != result.x.size()) result.spread.clear();
  if (result.names.size() != result.x.size()) result.names.clear();
  return result;
}

std::vector<Series> drawable(const std::vector<Series>& all, bool logarithmic_x = false) {
  std::vector<Series> result;
  for (const Series& series : all) {
    Series points = drawable(series, logarithmic_x);
    if (!points.x.empty()) result.push_back(std::move(points));
  }
  return result;
}

/// The least and the greatest of what was added; 0 to 1 where nothing was.
class Span {
 public:
  void add(double value) {
    if (!can_be_drawn(value)) return;
    low_ = std::min(low_, value);
    high_ = std::max(high_, value);
  }
  void add(const std::vector<double>& values) {
    for (const double value : values) add(value);
  }
  double low() const { return low_ <= high_ ? low_ : 0; }
  double high() const { return low_ <= high_ ? high_ : 1; }
  Scale scale(double margin = 0.04) const {
    const double around = margin * (high() - low());
    return {low() - around, high() + around};
  }
  Scale from_zero() const { return {std::min(low(), 0.0), high() > 0 ? 1.05 * high() : 1}; }

 private:
  double low_ = HUGE_VAL, high_ = -HUGE_VAL;
};

Legend legend_of(const std::vector<Series>& series) {
  Legend legend;
  for (std::size_t i = 0; i < series.size(); ++i) legend.emplace_back(series[i].name, series_colour(i));
  return legend;
}

std::string name_of(const Series& series, std::size_t point) {
  return series.names.empty() ? std::string() : series.names[point] + "\n";
}

/// What a point of a predicted-against-measured plot says.
std::string comparison(const Series& series, std::size_t i, const std::string& unit) {
  const double error = 100 * (series.y[i] / series.x[i] - 1);
  return name_of(series, i) + "measured " + significant(series.x[i]) + " " + unit + ", predicted " +
         significant(series.y[i]) + " " + unit + " (" + (error < 0 ? "" : "+") + decimals(error, 1) + " %)";
}

/// Indices of the points whose y is farthest from their x, relatively.
std::vector<std::size_t> farthest(const Series& series, std::size_t count) {
  std::vector<std::size_t> order = numbers_below(series.x.size());
  const auto off = [&](std::size_t i) { return std::abs(std::log(std::max(series.y[i] / series.x[i], 1e-30))); };
  count = std::min(count, order.size());
  std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(count), order.end(),
                    [&](std::size_t a, std::size_t b) { return off(a) > off(b); });
  order.resize(count);
  return order;
}

std::vector<Point> places_of(const Frame& frame, const std::vector<double>& x, const std::vector<double>& y) {
  std::vector<Point> points;
  for (std::size_t i = 0; i < x.size(); ++i) points.push_back(frame.at(x[i], y[i]));
  return points;
}

void draw_cloud(Drawing& drawing, const Frame& frame, const Series& series, const std::string& colour,
                const std::string& unit) {
  constexpr std::size_t few = 60;
  const std::size_t count = series.x.size();
  if (count <= hinted_points) {
    for (std::size_t i = 0; i < count; ++i) {
      drawing.circle(frame.at(series.x[i], series.y[i]), count <= few ? 4 : 2.6, colour, count <= few ? 0.9 : 0.5,
                     comparison(series, i, unit));
    }
    return;
  }
  const std::vector<Point> points = places_of(frame, series.x, series.y);
  drawing.dots(points, 3, colour, 0.3);
  for (const std::size_t i : farthest(series, farthest_points)) {
    drawing.circle(points[i], 2.6, colour, 0.5, comparison(series, i, unit));
  }
}

/// The outline of the band within ten percent: where y = 1.1 x and y = 0.9 x are between the ends of both axes.
std::vector<Point> band_within_ten_percent(const Frame& frame, double low, double high) {
  return {frame.at(low, low),         frame.at(low, std::min(1.1 * low, high)),
          frame.at(high / 1.1, high), frame.at(high, high),
          frame.at(high, 0.9 * high), frame.at(low / 0.9, low)};
}

/// One zone for each x that the lines have, which says all their values there.
void draw_zones(Drawing& drawing, const Frame& frame, const std::vector<Series>& series, const std::string& x_name) {
  constexpr std::size_t most_zones = 120;
  std::map<double, std::string> hints;
  for (const Series& s : series) {
    for (std::size_t i = 0; i < s.x.size(); ++i) {
      std::string& hint = hints[s.x[i]];
      if (hint.empty()) hint = x_name + ": " + significant(s.x[i]);
      hint += "\n" + name_of(s, i) + s.name + ": " + significant(s.y[i]);
      if (!s.spread.empty()) hint += " ± " + significant(s.spread[i]);
    }
  }
  if (hints.size() > most_zones) return;
  std::vector<double> middles;
  for (const auto& entry : hints) middles.push_back(frame.at(entry.first, 0).x);
  std::size_t i = 0;
  for (const auto& entry : hints) {
    const double from = i == 0 ? frame.left() : (middles[i - 1] + middles[i]) / 2;
    const double to = i + 1 == middles.size() ? frame.right() : (middles[i] + middles[i + 1]) / 2;
    drawing.zone({from, frame.top()}, to - from, frame.bottom() - frame.top(), entry.second);
    ++i;
  }
}

void draw_line(Drawing& drawing, const Frame& frame, const Series& series, const std::string& colour) {
  const std::vector<Point> points = places_of(frame, series.x, series.y);
  for (std::size_t i = 0; i < series.x.size(); ++i) {
    if (series.spread.empty() || !(series.spread[i] > 0)) continue;
    drawing.whisker(frame.at(series.x[i], series.y[i] - series.spread[i]),
                    frame.at(series.x[i], series.y[i] + series.spread[i]), colour);
  }
  drawing.polyline(points, colour);
  if (points.size() > marked_points) return;
  for (const Point& point : points) drawing.circle(point, 3, colour, 1);
}

/// The x of all points, each once, where they are few enough to be the axis's numbers.
std::vector<double> common_ticks(const std::vector<Series>& series) {
  constexpr std::size_t most_ticks = 8;
  std::vector<double> values;
  for (const Series& s : series) values.insert(values.end(), s.x.begin(), s.x.end());
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
  return values.size() <= most_ticks ? values : std::vector<double>();
}

}  // namespace

std::string scatter_plot(const std::vector<Series>& all, const std::string& alternative_text,
                         datasets::Quantity quantity) {
  const std::vector<Series> series = drawable(all, true);
  Span span;
  for (const Series& s : series) {
    span.add(s.x);
    span.add(s.y);
  }
  const std::string unit(datasets::unit(quantity)), what = std::string(title(quantity)) + ", " + unit;
  Legend legend = legend_of(series);
  legend.emplace_back("within ±10 %", band_colour);
  constexpr double square = width - 68;
  const double low = 0.9 * std::max(span.low(), 0.0), high = span.high() > 0 ? 1.05 * span.high() : 1;
  Drawing drawing(width, Frame::height(width, legend, square));
  const Scale scale(low, high);
  const Frame frame(drawing, scale, scale, {"measured " + what, "predicted " + what}, legend, square);
  if (!series.empty()) drawing.area(band_within_ten_percent(frame, scale.low(), scale.high()), band_colour);
  drawing.line(frame.at(scale.low(), scale.low()), frame.at(scale.high(), scale.high()), guide_colour);
  for (std::size_t i = 0; i < series.size(); ++i) draw_cloud(drawing, frame, series[i], series_colour(i), unit);
  return drawing.element(alternative_text);
}

std::string line_plot(const std::vector<Series>& all, const Axes& axes, const std::string& alternative_text,
                      bool diagonal) {
  const std::vector<Series> series = drawable(all, axes.logarithmic_x);
  Span x, y;
  for (const Series& s : series) {
    x.add(s.x);
    for (std::size_t i = 0; i < s.y.size(); ++i) {
      const double spread = s.spread.empty() ? 0 : s.spread[i];
      y.add(s.y[i] - spread);
      y.add(s.y[i] + spread);
    }
  }
  const Scale x_scale(series.empty() ? 1 : x.low(), x.high(), axes.logarithmic_x);
  const Scale y_scale = axes.y_range ? Scale(axes.y_range->first, axes.y_range->second) : y.scale();
  const Legend legend = legend_of(series);
  Drawing drawing(width, Frame::height(width, legend, plot_height));
  Frame::Labels labels{axes.x, axes.y};
  if (axes.logarithmic_x) labels.x_ticks = common_ticks(series);
  const Frame frame(drawing, x_scale, y_scale, labels, legend, plot_height);
  if (diagonal) {
    const double from = std::max(x_scale.low(), y_scale.low()), to = std::min(x_scale.high(), y_scale.high());
    drawing.line(frame.at(from, from), frame.at(to, to), guide_colour, 1.5, true);
  }
  for (std::size_t i = 0; i < series.size(); ++i) draw_line(drawing, frame, series[i], series_colour(i));
  draw_zones(drawing, frame, series, axes.x);
  return drawing.element(alternative_text);
}

std::string band_plot(const Banded& curve, const Axes& axes, const std::string& alternative_text) {
  const Series middle = drawable(curve.middle);
  const bool banded = middle.x.size() == curve.middle.x.size() && curve.lower.size() == middle.x.size() &&
                      curve.upper.size() == middle.x.size();
  Span x, y;
  x.add(middle.x);
  y.add(middle.y);
  if (banded) {
    y.add(curve.lower);
    y.add(curve.upper);
  }
  Legend legend = {{middle.name, series_colour(0)}};
  if (banded) legend.emplace_back("90 % interval", band_colour);
  Drawing drawing(width, Frame::height(width, legend, plot_height));
  const Frame frame(drawing, x.scale(0), y.from_zero(), {axes.x, axes.y}, legend, plot_height);
  if (banded) {
    std::vector<Point> corners = places_of(frame, middle.x, curve.upper);
    for (std::size_t i = middle.x.size(); i-- > 0;) corners.push_back(frame.at(middle.x[i], curve.lower[i]));
    drawing.area(corners, band_colour);
  }
  draw_line(drawing, frame, middle, series_colour(0));
  draw_zones(drawing, frame, {middle}, axes.x);
  return drawing.element(alternative_text);
}

std::string bar_plot(const std::vector<std::string>& labels, const Series& all, const std::string& unit,
                     const std::string& alternative_text) {
  const Series bars = drawable(all);
  constexpr double row = 26, longest_label = 190;
  double label_width = 0, value_width = 0;
  Span span;
  std::vector<std::string> values;
  for (std::size_t i = 0; i < bars.y.size(); ++i) {
    const double spread = bars.spread.empty() ? 0 : bars.spread[i];
    span.add(bars.y[i] + spread);
    values.push_back(significant(bars.y[i]) + (spread > 0 ? " ± " + significant(spread) : "") + " " + unit);
    value_width = std::max(value_width, text_width(values.back()));
  }
  for (const std::string& label : labels) label_width = std::max(label_width, text_width(label));
  label_width = std::min(label_width, longest_label) + 12;
  const double room = width - label_width - value_width - 14;
  const double most = std::max(span.high(), 1e-30);
  Drawing drawing(width, row * static_cast<double>(std::max<std::size_t>(bars.y.size(), 1)) + 8);
  for (std::size_t i = 0; i < bars.y.size(); ++i) {
    const double top = 4 + row * static_cast<double>(i), middle = top + row / 2;
    const auto label = static_cast<std::size_t>(bars.x[i]);
    const std::string name = label < labels.size() ? labels[label] : "";
    const double length = std::max(room * bars.y[i] / most, 0.0);  // what is below zero is drawn at zero
    drawing.text({label_width - 8, middle + 4.5}, name, Anchor::end);
    drawing.rectangle({label_width, top + 5}, length, row - 10, series_colour(0), name + ": " + values[i]);
    double end = length;
    if (!bars.spread.empty() && bars.spread[i] > 0) {
      const double half = room * bars.spread[i] / most, centre = room * bars.y[i] / most;
      end = std::max(centre + half, 0.0);
      drawing.whisker({label_width + std::max(centre - half, 0.0), middle}, {label_width + end, middle}, ink);
    }
    drawing.text({label_width + end + 8, middle + 4.5}, values[i]);
  }
  return drawing.element(alternative_text);
}

std::string column_plot(const std::vector<Column>& columns, const std::vector<std::string>& groups, const Axes& axes,
                        const std::string& unit, const std::string& alternative_text) {
  constexpr double height = 220;
  constexpr std::size_t most_ticks = 12;
  Span y;
  std::set<std::size_t> present;
  for (const Column& column : columns) {
    y.add(column.value + column.spread);
    present.insert(column.group);
  }
  Legend legend;
  for (const std::size_t group : present) legend.emplace_back(groups.at(group), series_colour(group));
  std::vector<double> ticks;
  for (std::size_t i = 0; columns.size() <= most_ticks && i < columns.size(); ++i) {
    ticks.push_back(static_cast<double>(i + 1));
  }
  Drawing drawing(wide, Frame::height(wide, legend, height));
  const auto count = static_cast<double>(columns.size());
  const Frame frame(drawing, Scale(0.5, count + 0.5), y.from_zero(), {axes.x, axes.y, ticks}, legend, height);
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const Column& column = columns[i];
    if (!can_be_drawn(column.value)) continue;
    const double spread = can_be_drawn(column.spread) ? column.spread : 0, place = static_cast<double>(i + 1);
    const Point left = frame.at(place - 0.4, column.value), right = frame.at(place + 0.4, column.value);
    drawing.rectangle(left, right.x - left.x, frame.bottom() - left.y, series_colour(column.group));
    const bool has_room = right.x - left.x >= 5;
    if (spread > 0 && has_room) {
      drawing.whisker(frame.at(place, std::max(column.value - spread, 0.0)), frame.at(place, column.value + spread),
                      ink);
    }
    drawing.zone({left.x, frame.top()}, right.x - left.x, frame.bottom() - frame.top(),
                 std::to_string(i + 1) + ". " + column.name + "\n" + significant(column.value) + " ± " +
                     significant(spread) + " " + unit);
  }
  return drawing.element(alternative_text);
}

std::string dot_plot(const std::vector<std::string>& rows, const std::vector<Series>& all, const std::string& axis,
                     const std::string& alternative_text) {
  const std::vector<Series> series = drawable(all);
  constexpr double row = 24;
  double label_width = 0;
  Span span;
  for (const Series& s : series) span.add(s.x);
  for (const std::string& name : rows) label_width = std::max(label_width, text_width(name));
  label_width = std::min(label_width, 200.0);
  const Legend legend = legend_of(series);
  const double inside = row * static_cast<double>(std::max<std::size_t>(rows.size(), 1));
  Drawing drawing(width, Frame::height(width, legend, inside));
  const Scale x = span.scale(), y(0, static_cast<double>(rows.size()) + 1e-9);
  const Frame frame(drawing, x, y, {axis, "", {}, false, label_width + 16}, legend, inside);
  for (std::size_t r = 0; r < rows.size(); ++r) {
    const double middle = frame.top() + row * (static_cast<double>(r) + 0.5);
    drawing.text({frame.left() - 8, middle + 4.5}, rows[r], Anchor::end);
    drawing.line({frame.left(), middle}, {frame.right(), middle}, grid_colour);
  }
  for (std::size_t i = 0; i < series.size(); ++i) {
    for (std::size_t k = 0; k < series[i].x.size(); ++k) {
      const double middle = frame.top() + row * (series[i].y[k] + 0.5);
      drawing.circle({frame.at(series[i].x[k], 0).x, middle}, 5, series_colour(i), 0.85,
                     series[i].name + ": " + decimals(series[i].x[k], 1) +
                         (series[i].spread.empty() ? "" : " ± " + decimals(series[i].spread[k], 1)));
    }
  }
  return drawing.element(alternative_text);
}

std::string front_plot(const Front& front, const Axes& axes, const std::string& alternative_text) {
  const Series all = drawable(front.all), best = drawable(front.best);
  Span x, y;
  x.add(all.x);
  y.add(all.y);
  const bool limited = front.limit && can_be_drawn(*front.limit);
  if (limited) x.add(*front.limit);
  Legend legend = {{"Pareto front", series_colour(1)}, {"others", series_colour(0)}};
  if (limited) legend.emplace_back("limit", guide_colour);
  Drawing drawing(width, Frame::height(width, legend, plot_height));
  const Frame frame(drawing, x.scale(), y.scale(), {axes.x, axes.y}, legend, plot_height);
  const std::vector<Point> points = places_of(frame, all.x, all.y);
  drawing.dots(points, 4, series_colour(0), points.size() > hinted_points ? 0.25 : 0.5);
  if (limited) {
    drawing.line({frame.at(*front.limit, y.low()).x, frame.top()}, {frame.at(*front.limit, y.low()).x, frame.bottom()},
                 guide_colour, 1.5, true);
  }
  std::vector<Point> steps;  // a front is a staircase: between two of its points nothing is better
  for (std::size_t i = 0; i < best.x.size(); ++i) {
    if (i > 0) steps.push_back(frame.at(best.x[i], best.y[i - 1]));
    steps.push_back(frame.at(best.x[i], best.y[i]));
  }
  drawing.polyline(steps, series_colour(1), 1.5);
  for (std::size_t i = 0; i < best.x.size(); ++i) {
    drawing.circle(
        frame.at(best.x[i], best.y[i]), 4, series_colour(1), 1,
        name_of(best, i) + axes.x + ": " + significant(best.x[i]) + "\n" + axes.y + ": " + significant(best.y[i]));
  }
  return drawing.element(alternative_text);
}

}  // namespace tenshot::trainer::report
