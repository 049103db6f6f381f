#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace tenshot::trainer::report {

// Colours of a drawing are the page's CSS variables (page.h): one picture fits light and dark.
constexpr const char* ink = "var(--ink)";
constexpr const char* grid_colour = "var(--grid)";
constexpr const char* band_colour = "var(--band)";
constexpr const char* guide_colour = "var(--guide)";
/// One of eight, in turn.
std::string series_colour(std::size_t index);

/// Width of `text` in a drawing's letters, about; in the drawing's units.
double text_width(const std::string& text);

/// An <svg> element in the making. Coordinates are in its own units, from the top left. What has a `hint` shows it when
/// the pointer rests there (<title>), without any script.
class Drawing {
 public:
  struct Point {
    double x = 0;
    double y = 0;
  };
  enum class Anchor { start, middle, end };

  Drawing(double width, double height) : width_(width), height_(height) {}
  double width() const { return width_; }
  double height() const { return height_; }

  void line(Point from, Point to, const std::string& colour, double thickness = 1, bool dashed = false);
  void polyline(const std::vector<Point>& points, const std::string& colour, double thickness = 2);
  void area(const std::vector<Point>& corners, const std::string& colour, double opacity = 1);
  void rectangle(Point corner, double width, double height, const std::string& colour, const std::string& hint = "");
  void circle(Point centre, double radius, const std::string& colour, double opacity, const std::string& hint = "");
  /// Very many points as one path, without hints.
  void dots(const std::vector<Point>& points, double diameter, const std::string& colour, double opacity);
  /// An interval with caps at both ends, lying or standing.
  void whisker(Point from, Point to, const std::string& colour);
  /// Nothing to see; the pointer finds the hint.
  void zone(Point corner, double width, double height, const std::string& hint);
  void text(Point at, const std::string& text, Anchor anchor = Anchor::start);

  /// The element; `alternative_text` says what it shows to who cannot see it.
  std::string element(const std::string& alternative_text) const;

 private:
  double width_, height_;
  std::string body_;
};

}  // namespace tenshot::trainer::report
