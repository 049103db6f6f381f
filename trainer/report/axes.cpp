#include "trainer/report/axes.h"

#include <algorithm>
#include <cmath>

#include "trainer/report/report_text.h"

namespace tenshot::trainer::report {
namespace {

constexpr double legend_margin = 4, right_margin = 16, row_height = 19, bottom_margin = 42, top_margin = 8;
constexpr double swatch = 22, gap = 16;  ///< widths in a legend's entry
constexpr double below_legend = 6;

/// The largest of 1, 2 and 5 times a power of ten that cuts `span` into no more than `count` or so.
double round_step(double span, int count) {
  const double rough = span / count, power = std::pow(10, std::floor(std::log10(rough)));
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

double legend_height(double width, const Legend& legend) {
  const auto places = legend_places(width, legend);
  return places.empty() ? 0 : row_height * (places.back().first + 1) + below_legend;
}

}  // namespace

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

std::vector<double> Scale::ticks(int count) const {
  std::vector<double> values;
  if (logarithmic_) {
    for (double power = std::pow(10, std::floor(std::log10(low_))); power <= high_; power *= 10) {
      for (const double factor : {1.0, 2.0, 5.0}) {
        if (factor * power >= low_ && factor * power <= high_) values.push_back(factor * power);
      }
    }
    return values;
  }
  const double step = round_step(high_ - low_, count);
  for (double k = std::ceil(low_ / step - 1e-9); k * step <= high_ + 1e-9 * step && values.size() < 50; k += 1) {
    values.push_back(k * step);
  }
  return values;
}

double Frame::height(double width, const Legend& legend, double plot_height) {
  return top_margin + legend_height(width - legend_margin, legend) + row_height + plot_height + bottom_margin;
}

Frame::Frame(Drawing& drawing, Scale x, Scale y, const Labels& labels, const Legend& legend, double plot_height)
    : x_(x), y_(y), left_(labels.left), right_(drawing.width() - right_margin) {
  const double width = drawing.width() - legend_margin;
  top_ = top_margin + legend_height(width, legend) + row_height;
  bottom_ = top_ + plot_height;
  const auto places = legend_places(width, legend);
  for (std::size_t i = 0; i < legend.size(); ++i) {
    const double row = top_margin + row_height * places[i].first + 8, start = legend_margin + places[i].second;
    drawing.rectangle({start, row - 5}, 14, 10, legend[i].second);
    drawing.text({start + swatch, row + 5}, legend[i].first);
  }
  drawing.text({4, top_ - 8}, labels.y);
  drawing.text({right_, bottom_ + 36}, labels.x, Drawing::Anchor::end);
  draw_grid(drawing, labels);
}

void Frame::draw_grid(Drawing& drawing, const Labels& labels) const {
  const std::vector<double> x_ticks = labels.x_ticks.empty() ? x_.ticks() : labels.x_ticks;
  double free_from = -HUGE_VAL;  // of the numbers below the axis
  for (const double tick : x_ticks) {
    const double x = at(tick, y_.low()).x, half = text_width(tick_label(tick)) / 2;
    drawing.line({x, top_}, {x, bottom_}, grid_colour);
    if (x - half < free_from) continue;
    drawing.text({x, bottom_ + 18}, tick_label(tick), Drawing::Anchor::middle);
    free_from = x + half + 6;
  }
  for (const double tick : labels.y_numbers ? y_.ticks() : std::vector<double>()) {
    const double y = at(x_.low(), tick).y;
    drawing.line({left_, y}, {right_, y}, grid_colour);
    drawing.text({left_ - 6, y + 4.5}, tick_label(tick), Drawing::Anchor::end);
  }
  drawing.line({left_, bottom_}, {right_, bottom_}, ink);
}

Drawing::Point Frame::at(double x, double y) const {
  const double right = std::clamp(x_.share(x), 0.0, 1.0), up = std::clamp(y_.share(y), 0.0, 1.0);
  return {left_ + (right_ - left_) * right, bottom_ - (bottom_ - top_) * up};
}

}  // namespace tenshot::trainer::report
