#include "trainer/report/plot.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include "nasbench/support/number_text.h"
#include "nasbench/support/numbers_below.h"
#include "trainer/report/drawing.h"
#include "trainer/report/page.h"

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

std::vector<Mark> drawable(const std::vector<Mark>& marks, bool logarithmic_x = false) {
  std::vector<Mark> result;
  for (Mark mark : marks) {
    const bool beyond = logarithmic_x && !(mark.x > 1e-30);
    if (beyond || !can_be_drawn(mark.x) || !can_be_drawn(mark.y)) continue;
    if (!can_be_drawn(mark.spread)) mark.spread = NAN;
    result.push_back(std::move(mark));
  }
  return result;
}

std::vector<Series> drawable(const std::vector<Series>& all, bool logarithmic_x = false) {
  std::vector<Series> result;
  for (const Series& series : all) {
    std::vector<Mark> marks = drawable(series.marks, logarithmic_x);
    if (!marks.empty()) result.push_back({series.name, std::move(marks)});
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
  double low() const { return low_ <= high_ ? low_ : 0; }
  double high() const { return low_ <= high_ ? high_ : 1; }
  Scale scale() const {
    const double around = 0.04 * (high() - low());
    return {low() - around, high() + around};
  }
  Scale from_zero() const { return {std::min(low(), 0.0), high() > 0 ? 1.05 * high() : 1}; }

 private:
  double low_ = HUGE_VAL, high_ = -HUGE_VAL;
};

void add(const std::vector<Series>& all, Span& x, Span& y) {
  for (const Series& series : all) {
    for (const Mark& mark : series.marks) {
      x.add(mark.x);
      for (const double value : {mark.y, mark.y - mark.spread, mark.y + mark.spread, mark.low, mark.high}) y.add(value);
    }
  }
}

Legend legend_of(const std::vector<Series>& series) {
  Legend legend;
  for (std::size_t i = 0; i < series.size(); ++i) legend.emplace_back(series[i].name, series_colour(i));
  return legend;
}

std::string name_of(const Mark& mark) { return mark.name.empty() ? "" : mark.name + "\n"; }

std::string comparison(const Mark& mark, const std::string& unit) {
  const double error = 100 * (mark.y / mark.x - 1);
  return name_of(mark) + "measured " + significant(mark.x) + " " + unit + ", predicted " + significant(mark.y) + " " +
         unit + " (" + (error < 0 ? "" : "+") + decimals(error, 1) + " %)";
}

/// Indices of the points whose y is farthest from their x, relatively.
std::vector<std::size_t> farthest(const std::vector<Mark>& marks, std::size_t count) {
  std::vector<std::size_t> order = numbers_below(marks.size());
  const auto off = [&](std::size_t i) { return std::abs(std::log(std::max(marks[i].y / marks[i].x, 1e-30))); };
  count = std::min(count, order.size());
  std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(count), order.end(),
                    [&](std::size_t a, std::size_t b) { return off(a) > off(b); });
  order.resize(count);
  return order;
}

std::vector<Point> places_of(const Frame& frame, const std::vector<Mark>& marks, double Mark::*y = &Mark::y) {
  std::vector<Point> points;
  for (const Mark& mark : marks) points.push_back(frame.at(mark.x, mark.*y));
  return points;
}

void draw_cloud(Frame& frame, const std::vector<Mark>& marks, const std::string& colour, const std::string& unit) {
  constexpr std::size_t few = 60;
  const std::vector<Point> points = places_of(frame, marks);
  const bool are_few = marks.size() <= few, all_hinted = marks.size() <= hinted_points;
  if (!all_hinted) frame.dots(points, 3, colour, 0.3);
  for (const std::size_t i : all_hinted ? numbers_below(marks.size()) : farthest(marks, farthest_points)) {
    frame.circle(points[i], are_few ? 4 : 2.6, colour, are_few ? 0.9 : 0.5, comparison(marks[i], unit));
  }
}

/// One zone for each x that the lines have, which says all their values there.
void draw_zones(Frame& frame, const std::vector<Series>& series, const std::string& x_name) {
  constexpr std::size_t most_zones = 120;
  std::map<double, std::string> hints;
  for (const Series& s : series) {
    for (const Mark& mark : s.marks) {
      std::string& hint = hints[mark.x];
      if (hint.empty()) hint = x_name + ": " + significant(mark.x);
      hint += "\n" + name_of(mark) + s.name + ": " + significant(mark.y);
      if (!std::isnan(mark.spread)) hint += " ± " + significant(mark.spread);
    }
  }
  if (hints.size() > most_zones) return;
  double from = frame.left;
  for (auto entry = hints.begin(); entry != hints.end(); ++entry) {
    const auto next = std::next(entry);
    const double middle = frame.at(entry->first, 0).x;
    const double to = next == hints.end() ? frame.right : (middle + frame.at(next->first, 0).x) / 2;
    frame.rectangle({from, frame.top}, to - from, frame.bottom - frame.top, unseen, entry->second);
    from = to;
  }
}

void draw_line(Frame& frame, const std::vector<Mark>& marks, const std::string& colour) {
  for (const Mark& mark : marks) {
    if (!(mark.spread > 0)) continue;
    frame.whisker(frame.at(mark.x, mark.y - mark.spread), frame.at(mark.x, mark.y + mark.spread), colour);
  }
  const std::vector<Point> points = places_of(frame, marks);
  frame.polyline(points, colour);
  if (points.size() > marked_points) return;
  for (const Point& point : points) frame.circle(point, 3, colour, 1);
}

/// The x of all points, each once, where they are few enough to be the axis's numbers.
std::vector<double> common_ticks(const std::vector<Series>& series) {
  constexpr std::size_t most_ticks = 8;
  std::set<double> values;
  for (const Series& s : series) {
    for (const Mark& mark : s.marks) values.insert(mark.x);
  }
  if (values.size() > most_ticks) return {};
  return {values.begin(), values.end()};
}

double width_of(const std::vector<std::string>& names, double most) {
  double widest = 0;
  for (const std::string& name : names) widest = std::max(widest, text_width(name));
  return std::min(widest, most);
}

}  // namespace

std::string scatter_plot(const std::vector<Series>& all, const std::string& alternative_text,
                         datasets::Quantity quantity) {
  const std::vector<Series> series = drawable(all, true);
  Span span;
  add(series, span, span);
  const std::string unit(datasets::unit(quantity)), what = std::string(title(quantity)) + ", " + unit;
  Legend legend = legend_of(series);
  legend.emplace_back("within ±10 %", band_colour);
  const double low = 0.9 * std::max(span.low(), 0.0), high = span.high() > 0 ? 1.05 * span.high() : 1;
  const Scale scale(low, high);
  Frame frame(width, scale, scale, {"measured " + what, "predicted " + what}, legend, width - 68);  // square
  const double from = scale.low(), to = scale.high();
  if (!series.empty()) {  // the band is where y = 1.1 x and y = 0.9 x are between the ends of both axes
    frame.area({frame.at(from, from), frame.at(from, std::min(1.1 * from, to)), frame.at(to / 1.1, to),
                frame.at(to, to), frame.at(to, 0.9 * to), frame.at(from / 0.9, from)},
               band_colour);
  }
  frame.line(frame.at(from, from), frame.at(to, to), guide_colour);
  for (std::size_t i = 0; i < series.size(); ++i) draw_cloud(frame, series[i].marks, series_colour(i), unit);
  return frame.element(alternative_text);
}

std::string line_plot(const std::vector<Series>& all, const Axes& axes, const std::string& alternative_text,
                      bool diagonal) {
  const std::vector<Series> series = drawable(all, axes.logarithmic_x);
  Span x, y;
  add(series, x, y);
  const Scale x_scale(series.empty() ? 1 : x.low(), x.high(), axes.logarithmic_x);
  Scale y_scale = axes.from_zero ? y.from_zero() : y.scale();
  if (axes.y_range) y_scale = Scale(axes.y_range->first, axes.y_range->second);
  Frame::Labels labels{axes.x, axes.y};
  if (axes.logarithmic_x) labels.x_ticks = common_ticks(series);
  const auto has_interval = [](const Mark& mark) { return can_be_drawn(mark.low) && can_be_drawn(mark.high); };
  const bool banded = series.size() == 1 && std::all_of(series[0].marks.begin(), series[0].marks.end(), has_interval);
  Legend legend = legend_of(series);
  if (banded) legend.emplace_back("90 % interval", band_colour);
  Frame frame(width, x_scale, y_scale, labels, legend, plot_height);
  if (banded) {
    std::vector<Point> corners = places_of(frame, series[0].marks, &Mark::high);
    const std::vector<Point> below = places_of(frame, series[0].marks, &Mark::low);
    corners.insert(corners.end(), below.rbegin(), below.rend());
    frame.area(corners, band_colour);
  }
  if (diagonal) {
    const double from = std::max(x_scale.low(), y_scale.low()), to = std::min(x_scale.high(), y_scale.high());
    frame.line(frame.at(from, from), frame.at(to, to), guide_colour, 1.5, true);
  }
  for (std::size_t i = 0; i < series.size(); ++i) draw_line(frame, series[i].marks, series_colour(i));
  draw_zones(frame, series, axes.x);
  return frame.element(alternative_text);
}

std::string bar_plot(const std::vector<Mark>& all, const std::string& unit, const std::string& alternative_text) {
  const std::vector<Mark> bars = drawable(all);
  constexpr double row = 26, longest_label = 190;
  Span span;
  std::vector<std::string> labels, values;
  for (const Mark& bar : bars) {
    const bool spreads = bar.spread > 0;
    span.add(spreads ? bar.y + bar.spread : bar.y);
    labels.push_back(bar.name);
    values.push_back(significant(bar.y) + (spreads ? " ± " + significant(bar.spread) : "") + " " + unit);
  }
  const double label_width = width_of(labels, longest_label) + 12;
  const double room = width - label_width - width_of(values, width) - 14;
  const double most = std::max(span.high(), 1e-30);
  Drawing drawing(width, row * static_cast<double>(std::max<std::size_t>(bars.size(), 1)) + 8);
  for (std::size_t i = 0; i < bars.size(); ++i) {
    const Mark& bar = bars[i];
    const double top = 4 + row * static_cast<double>(i), middle = top + row / 2;
    const double length = std::max(room * bar.y / most, 0.0);  // what is below zero is drawn at zero
    drawing.text({label_width - 8, middle + 4.5}, bar.name, Anchor::end);
    drawing.rectangle({label_width, top + 5}, length, row - 10, series_colour(0), bar.name + ": " + values[i]);
    double end = length;
    if (bar.spread > 0) {
      const double half = room * bar.spread / most, centre = room * bar.y / most;
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
  std::vector<double> ticks(columns.size() <= most_ticks ? columns.size() : 0);
  std::iota(ticks.begin(), ticks.end(), 1.0);
  const auto count = static_cast<double>(columns.size());
  Frame frame(wide, Scale(0.5, count + 0.5), y.from_zero(), {axes.x, axes.y, ticks}, legend, height);
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const Column& column = columns[i];
    if (!can_be_drawn(column.value)) continue;
    const double spread = can_be_drawn(column.spread) ? column.spread : 0, place = static_cast<double>(i + 1);
    const Point left = frame.at(place - 0.4, column.value), right = frame.at(place + 0.4, column.value);
    frame.rectangle(left, right.x - left.x, frame.bottom - left.y, series_colour(column.group));
    if (spread > 0 && right.x - left.x >= 5) {  // a whisker has room
      frame.whisker(frame.at(place, std::max(column.value - spread, 0.0)), frame.at(place, column.value + spread), ink);
    }
    frame.rectangle({left.x, frame.top}, right.x - left.x, frame.bottom - frame.top, unseen,
                    std::to_string(i + 1) + ". " + column.name + "\n" + significant(column.value) + " ± " +
                        significant(spread) + " " + unit);
  }
  return frame.element(alternative_text);
}

std::string dot_plot(const std::vector<std::string>& rows, const std::vector<Series>& all, const std::string& axis,
                     const std::string& alternative_text) {
  const std::vector<Series> series = drawable(all);
  constexpr double row = 24;
  Span across, down;
  add(series, across, down);
  const double inside = row * static_cast<double>(std::max<std::size_t>(rows.size(), 1));
  const Scale x = across.scale(), y(0, static_cast<double>(rows.size()) + 1e-9);
  Frame frame(width, x, y, {axis, "", {}, width_of(rows, 200) + 16}, legend_of(series), inside);
  for (std::size_t r = 0; r < rows.size(); ++r) {
    const double middle = frame.top + row * (static_cast<double>(r) + 0.5);
    frame.text({frame.left - 8, middle + 4.5}, rows[r], Anchor::end);
    frame.line({frame.left, middle}, {frame.right, middle}, grid_colour);
  }
  for (std::size_t i = 0; i < series.size(); ++i) {
    for (const Mark& mark : series[i].marks) {
      const double middle = frame.top + row * (mark.y + 0.5);
      frame.circle({frame.at(mark.x, 0).x, middle}, 5, series_colour(i), 0.85,
                   series[i].name + ": " + decimals(mark.x, 1) +
                       (std::isnan(mark.spread) ? "" : " ± " + decimals(mark.spread, 1)));
    }
  }
  return frame.element(alternative_text);
}

std::string front_plot(const std::vector<Mark>& networks, const std::vector<Mark>& front, double limit,
                       const Axes& axes, const std::string& alternative_text) {
  const std::vector<Mark> all = drawable(networks), best = drawable(front);
  Span x, y;
  add({{"", all}}, x, y);
  x.add(limit);
  const bool limited = can_be_drawn(limit);
  Legend legend = {{"Pareto front", series_colour(1)}, {"others", series_colour(0)}};
  if (limited) legend.emplace_back("limit", guide_colour);
  Frame frame(width, x.scale(), y.scale(), {axes.x, axes.y}, legend, plot_height);
  frame.dots(places_of(frame, all), 4, series_colour(0), all.size() > hinted_points ? 0.25 : 0.5);
  if (limited) {
    const double at = frame.at(limit, y.low()).x;
    frame.line({at, frame.top}, {at, frame.bottom}, guide_colour, 1.5, true);
  }
  std::vector<Point> steps;  // a front is a staircase: between two of its points nothing is better
  for (std::size_t i = 0; i < best.size(); ++i) {
    if (i > 0) steps.push_back(frame.at(best[i].x, best[i - 1].y));
    steps.push_back(frame.at(best[i].x, best[i].y));
  }
  frame.polyline(steps, series_colour(1), 1.5);
  for (const Mark& mark : best) {
    frame.circle(frame.at(mark.x, mark.y), 4, series_colour(1), 1,
                 name_of(mark) + axes.x + ": " + significant(mark.x) + "\n" + axes.y + ": " + significant(mark.y));
  }
  return frame.element(alternative_text);
}

std::string error_distribution_plot(const std::vector<Series>& series, const std::string& alternative_text) {
  constexpr double step = 0.5, most = 50;  // percent
  std::vector<Series> shares;
  for (const Series& pairs : series) {
    std::vector<double> errors;
    for (const Mark& pair : pairs.marks) {
      const double error = 100 * std::abs(pair.y - pair.x) / pair.x;
      if (!std::isnan(error)) errors.push_back(error);
    }
    std::sort(errors.begin(), errors.end());
    const auto all = static_cast<double>(std::max<std::size_t>(errors.size(), 1));
    shares.push_back({pairs.name});
    for (double error = 0; error <= most; error += step) {
      const auto within = std::upper_bound(errors.begin(), errors.end(), error) - errors.begin();
      shares.back().marks.push_back({error, 100.0 * static_cast<double>(within) / all});
    }
  }
  Axes axes{"error, percent of measured", "architectures within it, percent"};
  axes.y_range = {0, 100};
  return line_plot(shares, axes, alternative_text);
}

std::string calibration_plot(const std::vector<Series>& series) {
  Span asked, held;
  add(series, asked, held);
  Axes axes{"intervals asked to hold, percent", "intervals that held, percent"};
  axes.y_range = {std::min(40.0, 10 * std::floor(held.low() / 10)), 100};
  return line_plot(series, axes, "Share of intervals that held against the share that was asked for", true);
}

}  // namespace tenshot::trainer::report
