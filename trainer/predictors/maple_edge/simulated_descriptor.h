#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "datasets/pool/pool.h"
#include "nasbench/support/random.h"
#include "trainer/core/predictor.h"
#include "trainer/predictors/library/library.h"
#include "trainer/predictors/maple_edge/simulated_devices.h"

namespace tenshot::trainer {

/// The kinds of a descriptor that a network is told of for a descriptor kind of `train` and of an experiment: "auto"
/// (all), "in-network", "latency", "counters" (operators alone and their counters), "inferred" (none). They add up: a
/// device may have any of them. Throws InputError that lists the names.
///
/// Of in_network a network is told what one more of an operation costs inside a network, as shares; of latency,
/// operators measured alone less an empty call, as shares, and the empty call's share; of counters, for each operator
/// its rate of instructions less the device's mean, and other events an instruction.
std::vector<DescriptorKind> descriptor_inputs(std::string_view kind);

/// Draws the descriptor that a made-up device would have: the logarithm of each described number is a line in the
/// logarithm of the cost of its operation, fitted to the pool, and an error like those that lines fitted without a
/// runtime make on that runtime. Nothing of it has a unit or a scale: costs are shares of their sum, events are counted
/// by the instruction, and rates are less their mean over the device's operators. Events of an operator are summed over
/// its shapes, so that each shape weighs as much as it costs.
class SimulatedDescriptor {
 public:
  /// Fits the lines to the devices of `pool` that have the kind; kinds that none of them has are left out. `library`
  /// must outlive this.
  SimulatedDescriptor(const datasets::Pool& pool, const structured::StructuredLibrary& library,
                      const std::vector<DescriptorKind>& kinds);

  /// The number of values; zero where no device of the pool has a kind asked for.
  std::size_t size() const { return lines_.size(); }
  /// The kind of each value.
  DescriptorKind kind(std::size_t value) const { return lines_[value].kind; }
  const std::vector<DescriptorKind>& kinds() const { return kinds_; }

  /// Standardised values, [size()]; NaN where the descriptor lacks the kind or the number, and for counters that do not
  /// compare with the pool's: of other events or operators, or simulated where the pool's are not.
  std::vector<float> values(const datasets::HardwareDescriptor& descriptor) const {
    return standardised(raw(descriptor));
  }
  /// The values of a made-up device, [size()].
  std::vector<float> draw(const SimulatedDevice& device, Rng& rng) const;
  /// `values` with kinds left out, each with probability `share`, as if they had not been measured.
  std::vector<float> masked(std::vector<float> values, double share, Rng& rng) const;

 private:
  /// value = offset + slope · log cost share of `feature` + error.
  struct Line {
    DescriptorKind kind = DescriptorKind::in_network;
    std::size_t place = 0;          ///< among the described costs, or the values of counters
    int feature = -1;               ///< of the structures; -1: owes nothing to a cost
    double expected_slope = 0;      ///< before the pool is seen
    double expected_deviation = 0;  ///< of the error, before the pool is seen
    double offset = 0;
    double slope = 0;
    double mean = 0;  ///< over the pool
    double unit = 1;  ///< by which values less the mean are divided
  };
  void fit(const std::vector<std::vector<double>>& log_shares, const std::vector<std::vector<double>>& raw,
           const std::vector<bool>& used, std::vector<Line>& lines) const;
  bool has(const datasets::HardwareDescriptor& descriptor, DescriptorKind kind) const;
  void add_lines(const datasets::HardwareDescriptor& descriptor, DescriptorKind kind);
  std::vector<double> raw(const datasets::HardwareDescriptor& descriptor) const;
  std::vector<double> log_shares(const std::vector<double>& costs) const;
  std::vector<float> standardised(std::vector<double> raw) const;

  const structured::StructuredLibrary& library_;
  std::vector<DescriptorKind> kinds_;
  datasets::HardwareDescriptor counted_;  ///< the pool's first with counters: others must count the same
  std::vector<Line> lines_;
  std::vector<std::vector<double>> errors_;  ///< [device][value] of lines that have not seen its runtime; NaN: none
};

}  // namespace tenshot::trainer
