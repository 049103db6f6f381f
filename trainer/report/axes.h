#pragma once

#include <string>
#include <utility>
#include <vector>

#include "trainer/report/svg.h"

namespace tenshot::trainer::report {

/// Numbers as places along a line, evenly or by their logarithms.
class Scale {
 public:
  /// From `low` to `high`, which are widened where they are one number. On a logarithmic scale both are positive.
  Scale(double low, double high, bool logarithmic = false);

  double low() const { return low_; }
  double high() const { return high_; }
  /// 0 at `low`, 1 at `high`.
  double share(double value) const;
  /// Round numbers between the ends, about `count` of them: 1, 2 or 5 times a power of ten apart; on a logarithmic
  /// scale, those numbers themselves.
  std::vector<double> ticks(int count = 5) const;

 private:
  double low_, high_;
  bool logarithmic_;
};

/// A series' name and its colour.
using Legend = std::vector<std::pair<std::string, std::string>>;

/// Where the axes of a drawing are, once they are drawn.
class Frame {
 public:
  struct Labels {
    std::string x;
    std::string y;
    std::vector<double> x_ticks = {};  ///< instead of round numbers
    bool y_numbers = true;             ///< and lines across; without them `y` has none
    double left = 52;                  ///< room for the numbers, or for what stands there instead
  };

  /// Draws the legend in rows at the top, then the names of the axes, the grid and its numbers. `plot_height` is that
  /// of the area inside the axes; a drawing with them is as high as height() says.
  Frame(Drawing& drawing, Scale x, Scale y, const Labels& labels, const Legend& legend, double plot_height);
  /// Height of a drawing with this legend.
  static double height(double width, const Legend& legend, double plot_height);

  /// The place of two values; at the edge where they are outside.
  Drawing::Point at(double x, double y) const;
  double left() const { return left_; }
  double right() const { return right_; }
  double top() const { return top_; }
  double bottom() const { return bottom_; }

 private:
  void draw_grid(Drawing& drawing, const Labels& labels) const;

  Scale x_, y_;
  double left_, right_, top_, bottom_;
};

}  // namespace tenshot::trainer::report
