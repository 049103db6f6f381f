#pragma once

#include <string_view>
#include <vector>

#include "descriptor/runtimes/runtime.h"
#include "descriptor/timing/timing.h"
#include "nasbench/graph/network.h"

namespace tenshot::descriptor {

/// How a layer is told from what surrounds it (Osterwind et al., MONNET, Fig. 2). The layer's time is that of all minus
/// that of what surrounds it, each a network of its own.
enum class Isolation : std::uint8_t {
  standalone,  ///< mode 0: the layer alone, less what a call costs
  fed,         ///< mode 1: behind a feeding convolution
  embedded     ///< mode 2: between a feeding and a consuming convolution
};
/// "0", "1", "2", as the paper counts.
std::string_view name(Isolation mode);

/// A timed network of one kernel.
struct IsolatedTiming {
  double latency_ms = 0;    ///< latency of the kernel, without what surrounds it
  double deviation_ms = 0;  ///< standard deviation over the rounds
  int rounds = 0;
  bool converged = false;  ///< the 95 % confidence interval of the mean is within the precision
  double seconds = 0;      ///< spent on it: building, compiling, warming up, running
};

struct IsolationOptions {
  Isolation mode = Isolation::standalone;
  int runs = 5;  ///< runs of each network in a round; their median counts
  int least_rounds = 3;
  int most_rounds = 10;
  double precision = 0.05;  ///< half of the confidence interval, over the mean, at which measuring stops
  RuntimeOptions runtime;
};

/// The kernel with what surrounds it in that mode: networks whose times are added with these signs. The first holds the
/// kernel. Throws InputError where the kernel does not take one image and give one, unless it stands alone.
struct SignedNetwork {
  nasbench::Network network;
  int sign = 1;
};
std::vector<SignedNetwork> surroundings(const nasbench::Network& kernel, Isolation mode);

/// Measures Σ sign · time of all networks in rounds, in each of which they take turns, until the mean is precise
/// (MONNET, §3). Throws InputError where the runtime refuses a network, or options are out of range.
IsolatedTiming time_signed(const Runtime& runtime, const std::vector<SignedNetwork>& networks,
                           const IsolationOptions& options);
/// The same of a kernel and its surroundings().
IsolatedTiming time_isolated(const Runtime& runtime, const nasbench::Network& kernel, const IsolationOptions& options);

}  // namespace tenshot::descriptor
