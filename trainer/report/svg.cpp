#include "trainer/report/svg.h"

#include <cstdio>

#include "trainer/report/page.h"

namespace tenshot::trainer::report {
namespace {

constexpr std::size_t series_colours = 8;

/// With at most one decimal, which is a tenth of a pixel or so.
std::string number(double value) {
  char text[48];
  std::snprintf(text, sizeof text, "%.1f", value);
  std::string result = text;
  if (result.size() > 2 && result.compare(result.size() - 2, 2, ".0") == 0) result.resize(result.size() - 2);
  return result == "-0" ? "0" : result;
}

std::string attribute(const char* name, double value) { return std::string(" ") + name + "=\"" + number(value) + "\""; }
std::string attribute(const char* name, const std::string& value) {
  return std::string(" ") + name + "=\"" + value + "\"";
}

std::string opacity_attribute(const char* name, double value) {
  char text[48];
  std::snprintf(text, sizeof text, " %s=\"%.2g\"", name, value);
  return value < 1 ? text : "";
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
           (dashed ? attribute("stroke-dasharray", std::string("5 4")) : "") + "/>\n";
}

void Drawing::polyline(const std::vector<Point>& points, const std::string& colour, double thickness) {
  body_ += "<polyline" + attribute("points", list_of(points)) + attribute("fill", std::string("none")) +
           attribute("stroke", colour) + attribute("stroke-width", thickness) +
           attribute("stroke-linejoin", std::string("round")) + "/>\n";
}

void Drawing::area(const std::vector<Point>& corners, const std::string& colour, double opacity) {
  body_ += "<polygon" + attribute("points", list_of(corners)) + attribute("fill", colour) +
           opacity_attribute("fill-opacity", opacity) + "/>\n";
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
  body_ += "<path" + attribute("d", path) + attribute("fill", std::string("none")) + attribute("stroke", colour) +
           attribute("stroke-width", diameter) + attribute("stroke-linecap", std::string("round")) +
           opacity_attribute("stroke-opacity", opacity) + "/>\n";
}

void Drawing::whisker(Point from, Point to, const std::string& colour) {
  constexpr double cap = 3.5, thickness = 1.3;
  const bool lying = from.y == to.y;
  line(from, to, colour, thickness);
  for (const Point& end : {from, to}) {
    line({end.x - (lying ? 0 : cap), end.y - (lying ? cap : 0)}, {end.x + (lying ? 0 : cap), end.y + (lying ? cap : 0)},
         colour, thickness);
  }
}

void Drawing::zone(Point corner, double width, double height, const std::string& hint) {
  body_ += "<rect" + attribute("x", corner.x) + attribute("y", corner.y) + attribute("width", width) +
           attribute("height", height) + attribute("fill", std::string("transparent")) + ended("rect", hint);
}

void Drawing::text(Point at, const std::string& text, Anchor anchor) {
  body_ += "<text" + attribute("x", at.x) + attribute("y", at.y) + attribute("fill", std::string(ink));
  if (anchor == Anchor::middle) body_ += attribute("text-anchor", std::string("middle"));
  if (anchor == Anchor::end) body_ += attribute("text-anchor", std::string("end"));
  body_ += ">" + escaped(text) + "</text>\n";
}

std::string Drawing::element(const std::string& alternative_text) const {
  return "<svg role=\"img\" aria-label=\"" + escaped(alternative_text) +
         "\" xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 " + number(width_) + " " + number(height_) +
         "\" font-family=\"system-ui, sans-serif\" font-size=\"13\">\n" + body_ + "</svg>";
}

}  // namespace tenshot::trainer::report
