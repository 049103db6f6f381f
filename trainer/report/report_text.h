#pragma once

#include <string>
#include <vector>

#include "nasbench/support/number_text.h"
#include "trainer/report/plot.h"

namespace tenshot::trainer::report {

/// "12.3 %" of a share.
std::string percent(double share);
/// `value` with three significant digits, from a thousand on with all before the point.
std::string significant(double value);

/// The share of errors |predicted − measured| / measured that do not exceed each of some errors, in percent, up to 50
/// %.
Series error_distribution(const std::string& name, const std::vector<double>& measured_ms,
                          const std::vector<double>& predicted_ms);
std::string error_distribution_plot(const std::vector<Series>& series, const std::string& alternative_text);
/// How often intervals held against how often they were asked to.
std::string calibration_plot(const std::vector<Series>& series, const std::string& alternative_text);

}  // namespace tenshot::trainer::report
