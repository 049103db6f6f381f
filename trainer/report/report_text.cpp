#include "trainer/report/report_text.h"

#include <algorithm>
#include <cmath>

namespace tenshot::trainer::report {

std::string percent(double share) { return decimals(100 * share, 1) + " %"; }

std::string significant(double value) {
  constexpr double in_full_from = 1e3, in_full_to = 1e7;
  if (std::abs(value) >= in_full_from && std::abs(value) < in_full_to) return decimals(value, 0);
  return significant_digits(value, 3);
}

Series error_distribution(const std::string& name, const std::vector<double>& measured_ms,
                          const std::vector<double>& predicted_ms) {
  std::vector<double> errors;
  for (std::size_t i = 0; i < measured_ms.size(); ++i) {
    const double error = 100 * std::abs(predicted_ms[i] - measured_ms[i]) / measured_ms[i];
    if (!std::isnan(error)) errors.push_back(error);
  }
  std::sort(errors.begin(), errors.end());
  Series series{name, {}, {}};
  constexpr double step = 0.5, most = 50;  // percent
  for (double error = 0; error <= most; error += step) {
    const auto within = std::upper_bound(errors.begin(), errors.end(), error) - errors.begin();
    series.x.push_back(error);
    series.y.push_back(100.0 * static_cast<double>(within) /
                       static_cast<double>(std::max<std::size_t>(errors.size(), 1)));
  }
  return series;
}

std::string error_distribution_plot(const std::vector<Series>& series, const std::string& alternative_text) {
  Axes axes{"error, percent of measured", "architectures within it, percent"};
  axes.y_range = {0, 100};
  return line_plot(series, axes, alternative_text);
}

std::string calibration_plot(const std::vector<Series>& series, const std::string& alternative_text) {
  Axes axes{"intervals asked to hold, percent", "intervals that held, percent"};
  axes.y_range = {40, 100};
  for (const Series& line : series) {
    for (const double held : line.y) axes.y_range->first = std::min(axes.y_range->first, 10 * std::floor(held / 10));
  }
  return line_plot(series, axes, alternative_text, true);
}

}  // namespace tenshot::trainer::report
