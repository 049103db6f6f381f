#include "datasets/collect/start_sample.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "nasbench/support/error.h"

namespace tenshot::datasets {
namespace {

descriptor::Timing summary_of(const std::vector<FreshStart>& starts, double FreshStart::*part) {
  std::vector<double> values;
  for (const FreshStart& start : starts) values.push_back(start.*part);
  return descriptor::summarise(std::move(values));
}

}  // namespace

void StartSample::add(const FreshStart& start) {
  all.push_back(start);
  if (!start.contended) quiet.push_back(start);
}

bool median_within(double relative_precision, const std::vector<FreshStart>& starts, Quantity quantity) {
  std::vector<double> values;
  for (const FreshStart& one : starts) {
    values.push_back(quantity == Quantity::cold ? one.cold_ms : one.peak_memory_mib.value_or(std::nan("")));
  }
  std::sort(values.begin(), values.end());
  const descriptor::Interval interval = descriptor::median_interval(values);
  const double median = descriptor::summarise(std::move(values)).median_ms;
  return std::max(interval.upper - median, median - interval.lower) <= relative_precision * median;
}

StartRow row_of(const std::vector<FreshStart>& starts, const std::vector<double>& memory_mib, Quantity quantity) {
  StartRow row;
  if (quantity != Quantity::cold) {
    if (memory_mib.empty()) throw Error("this system does not say how much memory a process took (VmHWM)");
    row.value = descriptor::summarise(memory_mib);
    return row;
  }
  row.value = summary_of(starts, &FreshStart::cold_ms);
  for (const auto part : {&FreshStart::load_ms, &FreshStart::prepare_ms, &FreshStart::first_ms, &FreshStart::warm_ms}) {
    row.parts.push_back(summary_of(starts, part).median_ms);
  }
  row.parts.push_back(memory_mib.empty() ? std::nan("") : descriptor::summarise(memory_mib).median_ms);
  return row;
}

}  // namespace tenshot::datasets
