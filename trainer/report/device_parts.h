#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "datasets/kit/conditions.h"
#include "datasets/tables/quantity.h"
#include "nasbench/spaces/network_space.h"
#include "trainer/core/predictor.h"
#include "trainer/predictors/verdict.h"
#include "trainer/report/page.h"
#include "trainer/report/plot.h"
#include "trainer/report/report.h"

namespace tenshot::trainer::report {

/// What the sections of a page on a predictor are made from.
struct Device {
  const Predictor& predictor;
  const DeviceReportOptions& options;
  AdaptationSet used = {};                             ///< adapted on
  AdaptationSet others = {};                           ///< measured, and not adapted on: architectures and latencies
  Predictions of_others = {};                          ///< with intervals of `judged_confidence`
  std::vector<datasets::OperatorLatency> layers = {};  ///< times of operators inside networks that were measured
  std::vector<Architecture> own = options.own;         ///< networks by name that the user named or measured
  datasets::MeasuringConditions conditions = {};       ///< how those were measured that it was adapted on
  double promise = 0;  ///< nine of ten predictions are expected within ± this share; NaN of one without intervals
  std::size_t pool_devices = 0;
  std::vector<std::string> lines = {};     ///< lines of the predictor's explanation, without its warnings
  std::vector<std::string> warnings = {};  ///< without their "Warning: "

  const NetworkSpace& space() const { return predictor.space(); }
  std::string unit() const { return std::string(datasets::unit(predictor.quantity())); }
  std::string quantity() const { return std::string(title(predictor.quantity())); }
  bool in_time() const { return unit() == "ms"; }
  std::string value(double number) const { return significant(number) + " " + unit(); }  ///< "1.23 ms"
};

/// Architectures that speak for the space: all of a small one, draws from a large one; of networks by name, the user's.
struct Crowd {
  std::vector<Architecture> architectures;
  std::string words;  ///< "All 15625 architectures", "2000 architectures drawn from the space"
};
Crowd crowd_of(const Device& device);

/// The points (x, y) of networks, with their names.
std::vector<Mark> marks_of(const Device& device, const std::vector<Architecture>& architectures,
                           const std::vector<double>& x, const std::vector<double>& y);

// Sections, each of one card or none.
void add_costs(Page& page, const Device& device);
void add_layers(Page& page, const Device& device);
void add_explained(Page& page, const Device& device);
void add_space(Page& page, const Device& device, const Crowd& crowd, const Predictions& predictions);
void add_front(Page& page, const Device& device);
void add_next(Page& page, const Device& device, const Crowd& crowd);

}  // namespace tenshot::trainer::report
