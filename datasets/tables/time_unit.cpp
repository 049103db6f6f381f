#include "datasets/tables/time_unit.h"

#include <cmath>
#include <utility>

#include "nasbench/support/error.h"
#include "nasbench/support/median.h"
#include "nasbench/support/text.h"

namespace tenshot::datasets {

double milliseconds_of(std::string_view unit) {
  if (unit == "s") return 1000;
  if (unit == "ms") return 1;
  if (unit == "us") return 1e-3;
  throw InputError("unit '" + excerpt(unit) + "': expected s, ms or us");
}

std::string unit_doubt(std::vector<double> ratios, const std::string& first, const std::string& second) {
  if (ratios.empty()) return "";
  const double decades = std::log10(median(std::move(ratios)));
  constexpr double near = 0.15;  // of a decade: a board that is 1.4 times as slow today
  for (const int unit : {3, 6}) {
    if (std::abs(std::abs(decades) - unit) > near) continue;
    const std::string& larger = decades > 0 ? first : second;
    return larger + " has about " + (unit == 3 ? "a thousand" : "a million") + " times the latencies of " +
           (decades > 0 ? second : first) + " for the same networks: are they in another unit? Latencies are in ms";
  }
  return "";
}

}  // namespace tenshot::datasets
