#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace tenshot::trainer::report {

// Colours of a drawing are the page's CSS variables (page.h): one picture fits light and dark.
constexpr const char* ink = "var(--ink)";
constexpr const char* grid_colour = "var(--grid)";
constexpr const char* band_colour = "var(--band)";
constexpr const char* guide_colour = "var(--guide)";
constexpr const char* unseen = "transparent";  ///< of what shows nothing but its hint
/// One of eight, in turn.
std::string series_colour(std::size_t index);

/// Width of `text` in a drawing's letters, about; in the drawing's units.
double text_width(const std::string& text);

/// An <svg> element in the making, in its own units from the top left. A `hint` shows under the pointer (<title>).
class Drawing {
 public:
  struct Point {
    double x = 0, y = 0;
  };
  enum class Anchor { start, middle, end };

  Drawing(double width, double height) : width_(width), height_(height) {}

  void line(Point from, Point to, const std::string& colour, double thickness = 1, bool dashed = false);
  void polyline(const std::vector<Point>& points, const std::string& colour, double thickness = 2);
  void area(const std::vector<Point>& corners, const std::string& colour);
  void rectangle(Point corner, double width, double height, const std::string& colour, const std::string& hint = "");
  void circle(Point centre, double radius, const std::string& colour, double opacity, const std::string& hint = "");
  /// Very many points as one path, without hints.
  void dots(const std::vector<Point>& points, double diameter, const std::string& colour, double opacity);
  /// An interval with caps at both ends, lying or standing.
  void whisker(Point from, Point to, const std::string& colour);
  void text(Point at, const std::string& text, Anchor anchor = Anchor::start);

  /// The element; `alternative_text` says what it shows to who cannot see it.
  std::string element(const std::string& alternative_text) const;

 private:
  double width_, height_;
  std::string body_;
};

/// Numbers as places along a line, evenly or by their logarithms.
class Scale {
 public:
  /// From `low` to `high`, which are widened where they are one number. On a logarithmic scale both are positive.
  Scale(double low, double high, bool logarithmic = false);

  double low() const { return low_; }
  double high() const { return high_; }
  /// 0 at `low`, 1 at `high`.
  double share(double value) const;
  /// About five round numbers between the ends: 1, 2 or 5 times a power of ten apart; on a logarithmic scale, those.
  std::vector<double> ticks() const;

 private:
  double low_, high_;
  bool logarithmic_;
};

/// A series' name and its colour.
using Legend = std::vector<std::pair<std::string, std::string>>;

/// A drawing with axes, on which a plot draws its marks.
class Frame : public Drawing {
 public:
  struct Labels {
    std::string x;
    std::string y;                     ///< empty: that axis has neither numbers nor lines across
    std::vector<double> x_ticks = {};  ///< instead of round numbers
    double left = 52;                  ///< room for the numbers, or for what stands there instead
  };

  /// Draws the legend in rows at the top, names of axes, the grid and its numbers; `plot_height` is inside the axes.
  Frame(double width, Scale x, Scale y, const Labels& labels, const Legend& legend, double plot_height);

  /// The place of two values; at the edge where they are outside.
  Point at(double x, double y) const;

  const double left, right, top, bottom;  ///< the edges of the area inside the axes

 private:
  Scale x_, y_;
};

}  // namespace tenshot::trainer::report
