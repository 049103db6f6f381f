#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "nasbench/spaces/architecture.h"
#include "nasbench/support/random.h"

namespace tenshot::sampling {

/// The architectures that may be measured, and what the pool says of them.
struct Candidates {
  std::vector<nasbench::Architecture> architectures;
  /// Latency [device][candidate] on each device of the pool, of any scale, complete; may be empty without ranks.
  std::vector<std::vector<double>> pool_latency;
  /// Indices into `architectures` that have been measured already; they are not chosen again.
  std::vector<std::size_t> measured;
};

/// Chooses which architectures to measure on a device nobody has profiled.
struct Sampler {
  std::string_view name;
  bool ranks;  ///< whether choose() looks at Candidates::pool_latency
  /// `samples` distinct indices of unmeasured candidates, best first where the sampler has an order. Throws InputError
  /// when there are fewer candidates left than samples.
  std::vector<std::size_t> (*choose)(const Candidates& candidates, std::size_t samples, Rng& rng);
};

/// The sampler of that name. Throws InputError that lists the names.
///
/// "random": uniform without replacement, MAPLE's choice (MAPLE-Edge §2.1.1).
///
/// "targeted-uniform": targeted uniform adaptation sampling (MAPLE-Edge §2.1.1). For each of the M pool devices the X
/// candidates are ranked by latency and the ranking is dealt evenly into N bins; each bin thus holds M·X/N entries, and
/// one architecture is drawn from each. An architecture that an earlier bin already gave is drawn again, so that N
/// differ. Measured candidates count as drawn: N is then their number plus `samples`, and the bins they fill best are
/// passed over.
///
/// "listed": the first unmeasured ones in the candidates' own order, for lists that are to be measured as they are.
const Sampler& sampler_named(std::string_view name);
std::vector<std::string> sampler_names();

/// The bins of targeted uniform sampling: for each of `bins` bins, the candidates that the devices' rankings put there,
/// an architecture once for every device that does. Ties rank in candidate order.
std::vector<std::vector<std::size_t>> latency_bins(const std::vector<std::vector<double>>& pool_latency,
                                                   std::size_t bins);

/// Each index of {0, …, size − 1} present `factor` times, the copies adjacent: augmentation factor K means K − 1 clones
/// (MAPLE-Edge §2.4).
std::vector<std::size_t> with_clones(std::size_t size, int factor);

}  // namespace tenshot::sampling
