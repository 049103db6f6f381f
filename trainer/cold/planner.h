#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "descriptor/cold/cold_files.h"

namespace tenshot::trainer {

/// Which kernels a plan takes.
enum class KernelPolicy {
  planned,        ///< those that make the cold start fast
  warm,           ///< for each layer the fastest once it is warm: what engines take
  preferred,      ///< for each layer the first that the library offers
  untransformed,  ///< for each layer the fastest, once warm, of those that take the weights as they are
  compiled        ///< for each layer the fastest, once warm, of those that were compiled with the program
};

/// Whether transformed weights are read instead of being made.
enum class CachePolicy { planned, none, all };

struct ColdPlanOptions {
  KernelPolicy kernels = KernelPolicy::planned;
  CachePolicy cache = CachePolicy::planned;
  /// Cores that only prepare; 0: one core prepares all layers, then executes all ("sequential").
  int preparing_cores = 1;
  /// Whether later runs are to have the kernels that are fastest once warm (Yi et al., §3.5): more is stored, and the
  /// preparing cores go on working after the start.
  bool switches = false;
  /// Only Algorithm 1, with few combinations, and no bound: for many plans, each of which may be a little slower.
  bool quick = false;
};

/// "planned", "warm", "preferred", "untransformed", and "planned", "none", "all". Throw InputError that lists them.
KernelPolicy kernel_policy(std::string_view name);
CachePolicy cache_policy(std::string_view name);

/// A plan, and how far it is from the best there can be.
struct ColdPlanning {
  descriptor::ColdPlan plan;
  double algorithm_1_ms = 0;       ///< predicted for what Algorithm 1 alone finds; 0 where it was not asked
  std::uint64_t cached_bytes = 0;  ///< that the plan stores beside the raw weights
};

/// The plan of a cold start. Where kernels and cores are to be planned it is the faster, as simulated, of Algorithm 1's
/// (Yi et al., §3.3) and the optimum over dominated states; with given kernels only what is left open is searched.
ColdPlanning plan_cold_start(const descriptor::ColdStages& stages, const ColdPlanOptions& options);

/// What these stages say a plan takes, milliseconds. Throws InputError where the plan has other layers or kernels.
double predicted_cold_ms(const descriptor::ColdStages& stages, const descriptor::ColdPlan& plan);

/// The place of the kernel of that name among those of a layer. Throws InputError where it is none of them.
std::size_t kernel_called(const descriptor::ColdStages& stages, std::size_t layer, const std::string& name);

/// A start of a plan in a fresh process, milliseconds.
struct MeasuredStart {
  double cold_ms = 0;
  double start_ms = 0;  ///< before the first layer
  std::vector<descriptor::LayerTimes> layers;
};

/// Which layers are said to have waited for the disk: a start waits a few times, and another plan waits elsewhere.
enum class ReadTimes {
  spread,     ///< over all layers, in proportion to what reading them was expected to take: for other plans
  as_started  ///< those that did: for what these starts took
};

/// Stages as starts of a plan show them (Yi et al., §3.3: "re-profiling"). Stages are measured one by one in a process
/// that has used the library before; in a start its code is touched for the first time, and the other core works too.
/// What the plan's kernels took replaces their stages: the median of the starts. The stages of all other kernels are
/// multiplied by the ratio of the measured to the expected sums, for each kind of stage; so is the reading of all,
/// where it is spread. What is measured this way holds the interference of the cores, so that `interference` becomes 1.
/// Throws InputError where a start has not the plan's number of layers, or there is none.
descriptor::ColdStages calibrated(const descriptor::ColdStages& stages, const descriptor::ColdPlan& plan,
                                  const std::vector<MeasuredStart>& starts, ReadTimes read_times = ReadTimes::spread);

}  // namespace tenshot::trainer
