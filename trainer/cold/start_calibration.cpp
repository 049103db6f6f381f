#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "nasbench/support/error.h"
#include "nasbench/support/median.h"
#include "trainer/cold/planner.h"

namespace tenshot::trainer {
namespace {

using descriptor::ColdStages;
using descriptor::KernelStages;
using descriptor::LayerTimes;

/// Sums over layers of what one kind of stage took and of what it was expected to take.
struct Ratio {
  double measured = 0, expected = 0;
  bool is_known() const { return measured > 0 && expected > 0; }
  double value() const { return is_known() ? measured / expected : 1; }
};

double reading_ms(const MeasuredStart& start) {
  double sum = 0;
  for (const LayerTimes& layer : start.layers) sum += layer.read_ms;
  return sum;
}

/// The start with what its layers would have waited for the disk alone. Two cores wait for it at once, so that together
/// they may wait longer than the start took; the disk did not work for longer.
MeasuredStart with_disk_times(MeasuredStart start) {
  const double waited = reading_ms(start), most = std::max(0.0, start.cold_ms - start.start_ms);
  if (waited <= most) return start;
  for (LayerTimes& layer : start.layers) layer.read_ms *= most / waited;
  return start;
}

/// Ratios of the kernels whose code a start generates, or of those that were compiled before.
struct KernelRatios {
  Ratio create, transform, execute;
};

class Calibration {
 public:
  Calibration(const ColdStages& stages, const descriptor::ColdPlan& plan, const std::vector<MeasuredStart>& starts,
              ReadTimes read_times)
      : stages_(stages), plan_(plan), read_times_(read_times) {
    if (starts.empty()) throw InputError("stages are calibrated by starts, and there is none");
    for (const MeasuredStart& start : starts) {
      if (start.layers.size() != stages.layers.size() || plan.layers.size() != stages.layers.size()) {
        throw InputError("a start has " + std::to_string(start.layers.size()) + " layers, expected " +
                         std::to_string(stages.layers.size()));
      }
      starts_.push_back(with_disk_times(start));
    }
  }

  ColdStages run() {
    std::set<std::pair<int, std::string>> made;  // shape and kernel
    for (std::size_t i = 0; i < stages_.layers.size(); ++i) {
      used_.push_back(kernel_called(stages_, i, plan_.layers[i].kernel));
      is_first_.push_back(made.emplace(stages_.layers[i].shape, plan_.layers[i].kernel).second);
      compare(i);
    }
    read_.measured = median_of(reading_ms);  // medians of single layers miss it: in each start others wait
    for (std::size_t i = 0; i < stages_.layers.size(); ++i) {
      for (KernelStages& kernel : stages_.layers[i].kernels) scale(kernel);
      stages_.layers[i].read_raw_ms *= read_.value();
      take_measured(i);
    }
    take_once();
    stages_.interference = {};
    stages_.start_ms = median_of([](const MeasuredStart& start) { return start.start_ms; });
    return std::move(stages_);
  }

 private:
  template <class Value>
  double median_of(const Value& value) const {
    std::vector<double> values;
    for (const MeasuredStart& start : starts_) values.push_back(value(start));
    return median(std::move(values));
  }

  double measured(std::size_t layer, double LayerTimes::*stage) const {
    return median_of([&](const MeasuredStart& start) { return start.layers[layer].*stage; });
  }

  void compare(std::size_t i) {
    const descriptor::LayerStages& layer = stages_.layers[i];
    const KernelStages& kernel = layer.kernels[used_[i]];
    KernelRatios& ratios = ratios_[descriptor::is_compiled(kernel.name) ? 1 : 0];
    const auto add = [&](Ratio& ratio, double LayerTimes::*stage, double expected) {
      ratio.measured += measured(i, stage);
      ratio.expected += expected;
    };
    if (is_first_[i]) add(ratios.create, &LayerTimes::create_ms, kernel.create_ms);
    read_.expected += plan_.layers[i].cached ? kernel.read_cached_ms : layer.read_raw_ms;
    if (kernel.transforms && !plan_.layers[i].cached)
      add(ratios.transform, &LayerTimes::transform_ms, kernel.transform_ms);
    if (kernel.once_ms > 0 && !once_layer_) {
      once_layer_ = i;  // its first execution holds what the family's kernels cost once
    } else {
      add(ratios.execute, &LayerTimes::execute_ms, kernel.first_ms);
    }
  }

  /// What the kernels that cost something once took for that: their first layer, less what it takes otherwise.
  void take_once() {
    if (!once_layer_) return;
    KernelStages& first = stages_.layers[*once_layer_].kernels[used_[*once_layer_]];
    const double took = measured(*once_layer_, &LayerTimes::execute_ms);
    const double once = std::max(0.0, took - first.first_ms);
    for (descriptor::LayerStages& layer : stages_.layers) {
      for (KernelStages& kernel : layer.kernels) {
        if (kernel.once_ms > 0) kernel.once_ms = once;
      }
    }
    first.first_ms = took - once;
  }

  void scale(KernelStages& kernel) const {
    const std::size_t compiled = descriptor::is_compiled(kernel.name) ? 1 : 0;
    const KernelRatios &ratios = ratios_[compiled], &others = ratios_[1 - compiled];
    kernel.create_ms *= ratios.create.value();
    kernel.create_again_ms *= ratios.create.value();
    kernel.read_cached_ms *= read_.value();
    kernel.transform_ms *= ratios.transform.value();
    // What makes first executions slow in a start, such as memory that was never touched, all kernels have in common.
    kernel.first_ms *= (ratios.execute.is_known() ? ratios : others).execute.value();
  }

  void take_measured(std::size_t i) {
    descriptor::LayerStages& layer = stages_.layers[i];
    KernelStages& kernel = layer.kernels[used_[i]];
    const double create = measured(i, &LayerTimes::create_ms), transform = measured(i, &LayerTimes::transform_ms);
    if (is_first_[i]) {
      kernel.create_ms = create;
      kernel.create_again_ms = std::min(kernel.create_again_ms, create);
    } else {
      kernel.create_again_ms = create;
      kernel.create_ms = std::max(kernel.create_ms, create);
    }
    if (read_times_ == ReadTimes::as_started) {
      (plan_.layers[i].cached ? kernel.read_cached_ms : layer.read_raw_ms) = measured(i, &LayerTimes::read_ms);
    }
    if (kernel.transforms && !plan_.layers[i].cached) kernel.transform_ms = transform;
    if (once_layer_ != i) kernel.first_ms = measured(i, &LayerTimes::execute_ms);
  }

  ColdStages stages_;
  const descriptor::ColdPlan& plan_;
  std::vector<MeasuredStart> starts_;
  ReadTimes read_times_;
  std::vector<std::size_t> used_;  ///< kernel of each layer
  std::vector<bool> is_first_;     ///< whether no earlier layer of its shape takes the same kernel
  std::optional<std::size_t> once_layer_;
  Ratio read_;
  std::array<KernelRatios, 2> ratios_;  ///< generated, compiled
};

}  // namespace

ColdStages calibrated(const ColdStages& stages, const descriptor::ColdPlan& plan,
                      const std::vector<MeasuredStart>& starts, ReadTimes read_times) {
  return Calibration(stages, plan, starts, read_times).run();
}

}  // namespace tenshot::trainer
