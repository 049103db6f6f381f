#include "trainer/report/drawing.h"

#include <algorithm>
#include <cmath>

#include "nasbench/support/number_text.h"
#include "trainer/report/page.h"

namespace tenshot::trainer::report {
namespace {

constexpr std::size_t series_colours = 8;

/// With at most one decimal, which is a tenth of a pixel or so.
std::string number(double value) {
  std::string text = decimals(value, 1);
  if (text.size() > 2 && text.compare(text.size() - 2, 2, ".0") == 0) text.resize(text.size() - 2);
  return text == "-0" ? "0" : text;
}

std::string attribute(const std::string& name, const std::string& value) { return " " + name + "=\"" + value + "\""; }
std::string attribute(const std::string& name, double value) { return attribute(name, number(value)); }

std::string opacity_attribute(const std::string& name, double value) {
  return value < 1 ? attribute(name, significant_digits(value, 2)) : "";
}

/// Ends an element that was begun: with its hint inside where there is one.
std::string ended(const char* tag, const std::string& hint) {
  if (hint.empty()) return "/>\n";
  return "><title>" + escaped(hint) + "</title></" + tag + ">\n";
}

std::string list_of(const std::vector<Drawing::Point>& points) {
  std::string list;
  for (const Drawing::Point& point : points) {
    list += (list.empty() ? "" : " ") + number(point.x) + "," + number(point.y);
  }
  return list;
}

constexpr double legend_margin = 4, right_margin = 16, row_height = 19, bottom_margin = 42, top_margin = 8;
constexpr double swatch = 22, gap = 16;  ///< widths in a legend's entry
constexpr double below_legend = 6;

/// The least of 1, 2 and 5 times a power of ten that cuts `span` into no more than five or so.
double round_step(double span) {
  const double rough = span / 5, power = std::pow(10, std::floor(std::log10(rough)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (rough <= factor * power) return factor * power;
  }
  return 10 * power;
}

std::string tick_label(double value) {
  constexpr double largest_in_full = 1e5;
  if (value == 0) return "0";
  return std::abs(value) >= 1 && std::abs(value) < largest_in_full && value == std::round(value) ? decimals(value, 0)
                                                                                                 : significant(value);
}

/// How the entries of a legend stand: in which row, and where it begins.
std::vector<std::pair<int, double>> legend_places(double width, const Legend& legend) {
  std::vector<std::pair<int, double>> places;
  int row = 0;
  double x = 0;
  for (const auto& entry : legend) {
    const double wide = swatch + text_width(entry.first) + gap;
    if (x > 0 && x + wide > width) {
      ++row;
      x = 0;
    }
    places.emplace_back(row, x);
    x += wide;
  }
  return places;
}

/// Where the area inside the axes begins, below the legend and the name of the y axis.
double top_of(double width, const Legend& legend) {
  const auto places = legend_places(width - legend_margin, legend);
  const double legend_height = places.empty() ? 0 : row_height * (places.back().first + 1) + below_legend;
  return top_margin + legend_height + row_height;
}

}  // namespace

std::string series_colour(std::size_t index) { return "var(--s" + std::to_string(index % series_colours) + ")"; }

double text_width(const std::string& text) {
  constexpr double letter = 7.9;  // of DejaVu Sans, one of the wider ones
  std::size_t letters = 0;
  for (const char c : text) letters += (static_cast<unsigned char>(c) & 0xC0U) != 0x80U ? 1 : 0;  // UTF-8
  return letter * static_cast<double>(letters);
}

void Drawing::line(Point from, Point to, const std::string& colour, double thickness, bool dashed) {
  body_ += "<line" + attribute("x1", from.x) + attribute("y1", from.y) + attribute("x2", to.x) + attribute("y2", to.y) +
           attribute("stroke", colour) + attribute("stroke-width", thickness) +
           (dashed ? attribute("stroke-dasharray", "5 4") : "") + "/>\n";
}

void Drawing::polyline(const std::vector<Point>& points, const std::string& colour, double thickness) {
  body_ += "<polyline" + attribute("points", list_of(points)) + attribute("fill", "none") +
           attribute("stroke", colour) + attribute("stroke-width", thickness) + attribute("stroke-linejoin", "round") +
           "/>\n";
}

void Drawing::area(const std::vector<Point>& corners, const std::string& colour) {
  body_ += "<polygon" + attribute("points", list_of(corners)) + attribute("fill", colour) + "/>\n";
}

void Drawing::rectangle(Point corner, double width, double height, const std::string& colour, const std::string& hint) {
  body_ += "<rect" + attribute("x", corner.x) + attribute("y", corner.y) + attribute("width", width) +
           attribute("height", height) + attribute("fill", colour) + ended("rect", hint);
}

void Drawing::circle(Point centre, double radius, const std::string& colour, double opacity, const std::string& hint) {
  body_ += "<circle" + attribute("cx", centre.x) + attribute("cy", centre.y) + attribute("r", radius) +
           attribute("fill", colour) + opacity_attribute("fill-opacity", opacity) + ended("circle", hint);
}

void Drawing::dots(const std::vector<Point>& points, double diameter, const std::string& colour, double opacity) {
  std::string path;
  for (const Point& point : points) path += "M" + number(point.x) + " " + number(point.y) + "h0";
  body_ += "<path" + attribute("d", path) + attribute("fill", "none") + attribute("stroke", colour) +
           attribute("stroke-width", diameter) + attribute("stroke-linecap", "round") +
           opacity_attribute("stroke-opacity", opacity) + "/>\n";
}

void Drawing::whisker(Point from, Point to, const std::string& colour) {
  constexpr double cap = 3.5, thickness = 1.3;
  const double x = from.y == to.y ? 0 : cap, y = cap - x;
  line(from, to, colour, thickness);
  for (const Point& end : {from, to}) line({end.x - x, end.y - y}, {end.x + x, end.y + y}, colour, thickness);
}

void Drawing::text(Point at, const std::string& text, Anchor anchor) {
  body_ += "<text" + attribute("x", at.x) + attribute("y", at.y) + attribute("fill", ink);
  if (anchor == Anchor::middle) body_ += attribute("text-anchor", "middle");
  if (anchor == Anchor::end) body_ += attribute("text-anchor", "end");
  body_ += ">" + escaped(text) + "</text>\n";
}

std::string Drawing::element(const std::string& alternative_text) const {
  return "<svg role=\"img\" aria-label=\"" + escaped(alternative_text) +
         "\" xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 " + number(width_) + " " + number(height_) +
         "\" font-family=\"system-ui, sans-serif\" font-size=\"13\">\n" + body_ + "</svg>";
}

Scale::Scale(double low, double high, bool logarithmic) : low_(low), high_(high), logarithmic_(logarithmic) {
  if (low_ < high_) return;
  const double widening = low_ == 0 ? 1 : 0.1 * std::abs(low_);
  high_ = low_ + widening;
  low_ -= logarithmic_ ? 0.5 * widening : widening;
}

double Scale::share(double value) const {
  if (logarithmic_) return std::log(value / low_) / std::log(high_ / low_);
  return (value - low_) / (high_ - low_);
}

std::vector<double> Scale::ticks() const {
  std::vector<double> values;
  if (logarithmic_) {
    for (double power = std::pow(10, std::floor(std::log10(low_))); power <= high_; power *= 10) {
      for (const double factor : {1.0, 2.0, 5.0}) {
        if (factor * power >= low_ && factor * power <= high_) values.push_back(factor * power);
      }
    }
    return values;
  }
  const double step = round_step(high_ - low_);
  for (double k = std::ceil(low_ / step - 1e-9); k * step <= high_ + 1e-9 * step && values.size() < 50; k += 1) {
    values.push_back(k * step);
  }
  return values;
}

Frame::Frame(double width, Scale x, Scale y, const Labels& labels, const Legend& legend, double plot_height)
    : Drawing(width, top_of(width, legend) + plot_height + bottom_margin),
      left(labels.left),
      right(width - right_margin),
      top(top_of(width, legend)),
      bottom(top + plot_height),
      x_(x),
      y_(y) {
  const auto places = legend_places(width - legend_margin, legend);
  for (std::size_t i = 0; i < legend.size(); ++i) {
    const double row = top_margin + row_height * places[i].first + 8, start = legend_margin + places[i].second;
    rectangle({start, row - 5}, 14, 10, legend[i].second);
    text({start + swatch, row + 5}, legend[i].first);
  }
  text({4, top - 8}, labels.y);
  text({right, bottom + 36}, labels.x, Anchor::end);
  double free_from = -HUGE_VAL;  // of the numbers below the axis
  for (const double tick : labels.x_ticks.empty() ? x_.ticks() : labels.x_ticks) {
    const double place = at(tick, y_.low()).x, half = text_width(tick_label(tick)) / 2;
    line({place, top}, {place, bottom}, grid_colour);
    if (place - half < free_from) continue;
    text({place, bottom + 18}, tick_label(tick), Anchor::middle);
    free_from = place + half + 6;
  }
  for (const double tick : labels.y.empty() ? std::vector<double>() : y_.ticks()) {
    const double place = at(x_.low(), tick).y;
    line({left, place}, {right, place}, grid_colour);
    text({left - 6, place + 4.5}, tick_label(tick), Anchor::end);
  }
  line({left, bottom}, {right, bottom}, ink);
}

Drawing::Point Frame::at(double x, double y) const {
  const double to_right = std::clamp(x_.share(x), 0.0, 1.0), up = std::clamp(y_.share(y), 0.0, 1.0);
  return {left + (right - left) * to_right, bottom - (bottom - top) * up};
}

}  // namespace tenshot::trainer::report
